"""Checks the built pages: every link leads somewhere, and nothing is loaded from a network."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src"}
"""Elements that a browser loads by itself, and the attribute that says from where."""

NOT_LOADED = {"canonical", "next", "prev", "index", "search", "author"}
"""What a `link` element says that makes a browser load nothing."""


class Page(HTMLParser):
    """The links of a page, what it loads, and the names that links can lead to."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.names: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.names.update(given[name] for name in ("id", "name") if name in given)
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if tag in LOADED and LOADED[tag] in given and given.get("rel") not in NOT_LOADED:
            self.loads.append(given[LOADED[tag]])


def check(folder: Path) -> list[str]:
    """What is wrong with the pages of a folder, one line for each fault."""
    pages = {path: Page(path) for path in sorted(folder.rglob("*.html"))}
    faults = []
    for path, page in pages.items():
        name = path.relative_to(folder)
        for link in page.links + page.loads:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                if link in page.loads and parts.scheme != "data":
                    faults.append(f"{name} loads {link} from a network")
                continue
            target = path if not parts.path else (path.parent / unquote(parts.path)).resolve()
            if target.is_dir():
                target /= "index.html"
            if not target.exists():
                faults.append(f"{name}: {link} leads nowhere")
            elif target in pages and unquote(parts.fragment) not in {"", *pages[target].names}:
                faults.append(f"{name}: {link} names a place that is not there")
    return faults
