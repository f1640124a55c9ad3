"""The pages of docs/site that need pandas, xarray, Dask and others: their examples give what the pages say. And its notebooks."""

import pytest
import site_pages

from docs.site import notebooks


@pytest.mark.parametrize("page", site_pages.pages_of("libraries"), ids=site_pages.name_of)
def test_the_examples_of_a_page(page):
    assert site_pages.run(page) > 0 or page.parent.name == "moving"


@pytest.mark.parametrize("page", site_pages.moving("libraries"), ids=site_pages.name_of)
def test_the_calls_of_a_row_give_the_same(page):
    rows = site_pages.pairs(page)
    assert len(rows) > 9
    for calls in rows:
        site_pages.compare_calls(page, calls)


@pytest.mark.parametrize("path", notebooks.notebooks(), ids=lambda path: path.stem)
def test_a_notebook_has_the_outputs_that_its_file_keeps(path):
    cells = 0
    for cell, output in notebooks.run(path):
        kept = notebooks.kept(cell)
        assert output.text == kept.text
        assert len(output.pictures) == len(kept.pictures)
        cells += 1
    assert cells > 2
    assert path.stat().st_size < 150_000
