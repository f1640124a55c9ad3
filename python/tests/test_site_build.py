"""What brings documents into docs/site, and what checks its pages, on small examples."""

import pytest

from docs.site import documents, links


@pytest.fixture
def root(tmp_path, monkeypatch):
    """A repository with two documents, a picture and a file that is no page."""
    names = ["docs/exact.md", "docs/new.md", "docs/a.svg", "examples/gnn.py", "README.md"]
    for name in [*names, "docs/site/moving/pandas.md", "docs/site/build.py"]:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("# A title\n")
    monkeypatch.setattr(documents, "ROOT", tmp_path)
    return tmp_path


def brought(root, name, text):
    (root / name).write_text(f"# A title\n\n{text}\n")
    source = root / "source"
    (source / documents.page_of(name)).parent.mkdir(parents=True, exist_ok=True)
    return documents.as_page(name, source).partition("\n\n")[2].strip()


@pytest.mark.parametrize(
    ("name", "text", "page"),
    [
        ("README.md", "[sums](docs/exact.md#rules)", "[sums](../reference/exact.md#rules)"),
        ("docs/exact.md", "[the `start`](../README.md)", "[the `start`](../project/readme.md)"),
        ("docs/exact.md", "[here](#rules), [there](https://a.b/c.md)", None),
        ("docs/exact.md", "[train](../examples/gnn.py)", "train (`examples/gnn.py`)"),
        ("docs/exact.md", "[examples/gnn.py](../examples/gnn.py)", "examples/gnn.py"),
        ("README.md", "[moving](docs/site/moving/pandas.md#a)", "[moving](../moving/pandas.md#a)"),
        ("docs/exact.md", "[moving](site/moving/pandas.md)", "[moving](../moving/pandas.md)"),
        ("docs/exact.md", "[building](site/build.py)", "building (`docs/site/build.py`)"),
        ("README.md", "![bars](docs/a.svg)", "![bars](a.svg)"),
        ("README.md", "`[no](link.md)`", None),
        ("README.md", "```text\n[no](link.md)\n```", None),
    ],
)
def test_links_of_documents_become_those_of_pages(root, name, text, page):
    assert brought(root, name, text) == (text if page is None else page)


def test_pictures_come_along(root):
    brought(root, "README.md", "![bars](docs/a.svg)")
    assert (root / "source/project/a.svg").exists()


def test_a_link_of_a_document_that_leads_nowhere(root):
    with pytest.raises(SystemExit, match=r"README.md: the link docs/none.md leads nowhere"):
        brought(root, "README.md", "[text](docs/none.md)")


def test_a_document_that_the_table_does_not_name_is_a_page(root):
    assert documents.page_of("docs/new.md") == "reference/new"
    assert documents.page_of("docs/none.md") is None
    assert documents.page_of("docs/site/none.md") is None


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ('<a href="b.html#there">', None),
        ('<a href="https://example.org">', None),
        ('<link rel="canonical" href="https://example.org">', None),
        ('<img src="data:image/png;base64,AA">', None),
        ('<a href="c.html">', "a.html: c.html leads nowhere"),
        ('<img src="c.png">', "a.html: c.png leads nowhere"),
        ('<a href="b.html#here">', "a.html: b.html#here names a place that is not there"),
        ('<a href="#here">', "a.html: #here names a place that is not there"),
        ('<script src="https://example.org/a.js">', "a.html loads https://example.org/a.js from"),
        ('<link rel="stylesheet" href="//example.org/a.css">', "a.html loads //example.org/a.css"),
    ],
)
def test_faults_of_links(tmp_path, body, fault):
    (tmp_path / "a.html").write_text(body)
    (tmp_path / "b.html").write_text('<p id="there">')
    found = links.check(tmp_path)
    assert [one.startswith(fault or "") for one in found] == [True] * (fault is not None)
