"""The pages of docs/site that need no package but NumPy: their examples give what the pages say."""

import re

import numpy as np
import pytest
import site_pages
import strew


@pytest.mark.parametrize("page", site_pages.pages_of("alone"), ids=site_pages.name_of)
def test_the_examples_of_a_page(page):
    assert site_pages.run(page) > 0 or page.parent.name == "moving"


def test_every_page_is_tested_somewhere():
    tested = [page for stage in site_pages.STAGES for page in site_pages.pages_of(stage)]
    assert sorted(tested) == site_pages.pages()


def test_every_call_of_the_table_of_names():
    cells, width = np.array([2, 0, 2, 1]), 4
    values = np.array([1.0, 5.0, 2.0, 6.0])
    rows = np.arange(8.0).reshape(4, 2)
    known = {
        **dict(np=np, strew=strew, values=values, weights=values, scores=values, data=values),
        **dict.fromkeys(["groups", "numbers", "source", "target", "batch", "tokens"], cells),
        **dict.fromkeys(["rows", "columns", "truth", "guess", "row", "column"], cells),
        **dict.fromkeys(["x_bin", "y_bin", "i", "j", "k", "x", "y", "z", "labels", "slots"], cells),
        **dict.fromkeys(["points", "features", "nodes", "grad", "table", "new"], rows),
        **dict(cache=rows.copy(), indptr=np.array([0, 1, 4]), array=values.copy(), indices=cells),
        **dict(index=cells, dates=np.array(["2020-01-31", "2020-02-01"] * 2, "M8[D]")),
        **dict(ones=np.ones(4, int), edges=np.arange(4.0), keys=["b", "a", "b", "c"]),
        **dict(classes=width, vocabulary=width, shape=(3, 3), size=3),
    }
    special = {"slice_scatter": "([0, 1, 2, 3], [9], [0], [1], [1])"}
    special["onnx.scatter_nd"] = "([1.0, 2.0], [[0]], [3.0])"
    text = (site_pages.SITE.parent / "which.md").read_text()
    calls = re.findall(r"^\|[^|]*\| `(strew\.[^`]*\))`", text, flags=re.M)
    assert len(calls) > 35
    for call in calls:
        if call.startswith("strew.dask.") or "(frame, " in call:
            continue  # Its page runs where Dask, or pandas, is installed.
        for name, arguments in special.items():
            if name in call:
                call = call.partition("(")[0] + arguments
        assert eval(call, {"strew": strew}, known) is not None, call


@pytest.mark.parametrize(
    ("comment", "found"),
    [("3", "here: 2"), ("ValueError", "here: no ValueError"), ("2, 2", "here: 2")],
)
def test_a_wrong_comment_is_found(comment, found):
    with pytest.raises(AssertionError, match=found):
        site_pages.check(compile("1 + 1", "page", "eval"), comment, {}, "here")


@pytest.mark.parametrize("page", site_pages.moving("alone"), ids=site_pages.name_of)
def test_the_calls_of_a_row_give_the_same(page):
    rows = site_pages.pairs(page)
    assert len(rows) > 9
    for calls in rows:
        site_pages.compare_calls(page, calls)
