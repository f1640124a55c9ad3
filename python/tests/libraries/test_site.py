"""The pages of docs/site that need pandas, xarray, Dask and others: their examples give what the pages say."""

import pytest
import site_pages


@pytest.mark.parametrize("page", site_pages.pages_of("libraries"), ids=site_pages.name_of)
def test_the_examples_of_a_page(page):
    assert site_pages.run(page) > 0 or page.parent.name == "moving"


@pytest.mark.parametrize("page", site_pages.moving("libraries"), ids=site_pages.name_of)
def test_the_calls_of_a_row_give_the_same(page):
    rows = site_pages.pairs(page)
    assert len(rows) > 9
    for calls in rows:
        site_pages.compare_calls(page, calls)
