"""More than 2^31 elements, and offsets past 2^32 bytes, in each form of destination. Run by hand,
with 5 GiB free:

    python python/tests/large.py

Every call goes to, or comes from, elements of one byte whose places are beyond both limits, and has
its like where an offset cut off at 32 bits would lead. Prints a line per form; the exit status is 1
if one is wrong.
"""

import sys
import time

import numpy as np
import strew

ROWS, WIDTH = (1 << 20) + 2, 4096
MANY = ROWS * WIDTH  # 2^32 and two rows more.
FAR = 1 << 32


def whole():
    """Zeros, for which memory is there only where they are touched."""
    return np.zeros(MANY, np.int8)


def only(flat, places, values):
    """Whether `flat` holds these values there, and zero everywhere else."""
    found = np.array([flat[p] for p in places])
    count = sum(
        int(np.count_nonzero(flat[a : a + (1 << 28)])) for a in range(0, flat.size, 1 << 28)
    )
    return (found == values).all() and count == np.count_nonzero(values)


def affine():
    x = whole().reshape(ROWS, WIDTH)
    rows = np.array([[3], [4]], np.int8) * np.ones((1, WIDTH), np.int8)
    made = strew.openvino.slice_scatter(x, rows, [ROWS - 2], [ROWS], [1], [0])
    return bool((made[-2:] == rows).all()) and not made[:-2].any()


def rows():
    x = whole().reshape(ROWS, WIDTH)
    updates = np.zeros((3, WIDTH), np.int8)
    updates[:, 7] = [1, 2, 4]
    strew.mindspore.scatter_add(x, [ROWS - 1, 1 << 19, ROWS - 1], updates)
    return only(
        x.reshape(-1), [(ROWS - 1) * WIDTH + 7, (1 << 19) * WIDTH + 7, 7, WIDTH + 7], [5, 2, 0, 0]
    )


def elements():
    x = whole()
    strew.torch.scatter_reduce_(
        x, 0, [FAR + 5, FAR - 1, FAR + 5, 1 << 31], np.int8([1, 2, 3, 7]), "sum"
    )
    return only(x, [FAR + 5, FAR - 1, 1 << 31, 5], [4, 2, 7, 0])


def elements_of_columns():
    x = whole().reshape(ROWS, WIDTH)
    strew.torch.scatter_reduce_(
        x, 0, [[ROWS - 1, ROWS - 2], [0, ROWS - 1]], np.int8([[1, 2], [3, 4]]), "sum"
    )
    return only(x.reshape(-1), [FAR + WIDTH, FAR + 1, 0, FAR + WIDTH + 1, 1], [1, 2, 3, 4, 0])


def elements_all_over():
    x = whole()
    index = np.arange(0, 10_000_000, dtype=np.int64) * 429
    strew.torch.scatter_add_(x, 0, index[::-1].copy(), np.ones(index.size, np.int8))
    assert index[-1] > 1 << 31
    return bool((x[index] == 1).all()) and int(np.count_nonzero(x)) == index.size


def picks():
    x = whole().reshape(2, ROWS // 2, WIDTH)
    x[1, ROWS // 2 - 1, 3], x[0, 0, 3] = 9, 1
    found = strew.openvino.gather(x, [[0], [ROWS // 2 - 1]], 1, 1)
    flat = strew.torch.gather(x.reshape(-1), 0, [FAR + WIDTH + 3, 3])
    return (
        found.shape == (2, 1, WIDTH)
        and found[1, 0, 3] == 9
        and found[0, 0, 3] == 1
        and flat.tolist() == [9, 1]
    )


def placed():
    x = whole().reshape(ROWS // 2, 2, WIDTH)
    made = strew.jax.at_add(
        x, ([ROWS // 2 - 1, ROWS // 2 - 1, 0], [1, 1, 0], [5, 5, 6]), np.int8([1, 2, 4])
    )
    return only(np.asarray(made).reshape(-1), [FAR + WIDTH + 5, 6, WIDTH + 5], [3, 4, 0])


def runs():
    x = whole()
    x[[0, (1 << 31) + 4, (1 << 31) + 5, FAR + 9]] = 1, 2, 4, 8
    sums = strew.torch_scatter.segment_csr(x, [0, (1 << 31) + 5, MANY])
    most, where = strew.torch_scatter.segment_max_csr(x, [0, (1 << 31) + 5, MANY])
    spread = strew.torch_scatter.gather_csr(np.int8([1, 0, 3]), [0, 1, FAR + 2, FAR + 4])
    right = only(spread, [0, FAR + 2, FAR + 3, 2], [1, 3, 3, 0])
    return (
        sums.tolist() == [3, 12]
        and most.tolist() == [2, 8]
        and where.tolist() == [(1 << 31) + 4, FAR + 9]
        and right
    )


def many_updates():
    n = (1 << 31) + 9
    ones, zeros = np.broadcast_to(np.float64(1), (n,)), np.broadcast_to(np.int64(0), (n,))
    return strew.torch_scatter.scatter(ones, zeros).tolist() == [n]


def positions_of_many():
    n = (1 << 31) + 9
    x = np.zeros(n, np.int8)
    x[n - 2] = 3
    most, where = strew.torch_scatter.scatter_max(x, np.broadcast_to(np.int64(0), (n,)))
    return most.tolist() == [3] and where.tolist() == [n - 2]


FORMS = [
    affine, rows, elements, elements_of_columns, elements_all_over, picks, placed, runs, many_updates, positions_of_many
]  # fmt: skip


def main():
    wrong = 0
    for form in FORMS:
        begin = time.monotonic()
        right = form()
        wrong += not right
        print(
            f"{form.__name__}: {'right' if right else 'WRONG'}, {time.monotonic() - begin:.1f} s",
            flush=True,
        )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
