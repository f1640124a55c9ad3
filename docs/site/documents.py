"""The documents of the repository that are pages of the site, and their links in it.

The site holds no second version of a document: `bring` writes each one into the site's sources,
with its links rewritten. A document under docs/ that the table does not name is a page, too.
"""

from __future__ import annotations

import os
import posixpath
import re
import shutil
from pathlib import Path

ROOT = Path(os.environ.get("STREW_ROOT") or Path(__file__).resolve().parents[2])

DOCUMENTS = {
    "begin": ["docs/which.md"],
    "reference": [
        "docs/tour.md",
        "docs/aggregates.md",
        "docs/inputs.md",
        "docs/exact.md",
        "docs/accumulator.md",
        "docs/dask.md",
        "docs/cubed.md",
        "docs/flox.md",
        "docs/larger_than_memory.md",
        "docs/files.md",
        "docs/torch.md",
        "docs/torch_scatter.md",
        "docs/gpu.md",
        "docs/jax.md",
        "docs/explain.md",
    ],
    "rules": ["COMPARE.md", "conformance/README.md"],
    "benchmarks": [
        "docs/bench.md",
        "docs/sweep.md",
        "docs/plans.md",
        "docs/statistics.md",
        "docs/tables.md",
        "docs/scaling.md",
    ],
    "project": [
        "README.md",
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "SECURITY.md",
        "docs/stability.md",
        "docs/robustness.md",
        "docs/fuzzing.md",
        "CHANGELOG.md",
    ],
}
"""The documents of each section, in the order of the sidebar."""

FILTERED = {
    "COMPARE.md",
    "docs/bench.md",
    "docs/statistics.md",
    "docs/aggregates.md",
    "docs/which.md",
}
"""Documents whose tables get a field to search in."""

FILTER = '<div class="table-filter"></div>'


def table() -> dict[str, list[str]]:
    """`DOCUMENTS`, with the documents under docs/ that it does not name among the reference."""
    known = {name for names in DOCUMENTS.values() for name in names}
    others = [f"docs/{path.name}" for path in sorted((ROOT / "docs").glob("*.md"))]
    others = [name for name in others if name not in known]
    return DOCUMENTS | {"reference": DOCUMENTS["reference"] + others}


def page_of(name: str) -> str | None:
    """The page that a document is, without its suffix; None if it is no page.

    A page of this folder is one under its own name.
    """
    path = Path(name)
    if path.is_relative_to("docs/site"):
        return path.relative_to("docs/site").with_suffix("").as_posix() if _is_page(path) else None
    for section, names in table().items():
        if name in names:
            stem = "conformance" if name == "conformance/README.md" else Path(name).stem.lower()
            return f"{section}/{stem}"
    return None


def _is_page(path: Path) -> bool:
    """Whether a file of this folder is a page: a text or a notebook."""
    return path.suffix in {".md", ".ipynb"} and (ROOT / path).exists()


def bring(source: Path) -> None:
    """Writes all documents into the site's sources."""
    for names in table().values():
        for name in names:
            page = source / f"{page_of(name)}.md"
            page.parent.mkdir(parents=True, exist_ok=True)
            page.write_text(as_page(name, source), encoding="utf-8")


def as_page(name: str, source: Path) -> str:
    """The text of a document with its links rewritten. Copies the pictures that it shows."""
    text = (ROOT / name).read_text(encoding="utf-8")
    # Code shows brackets that are no links.
    parts = re.split(r"(^```.*?^```$|``[^`]+``|`[^`\n]+`)", text, flags=re.M | re.S)
    # A link's text may hold code, so links are looked for in the whole text; what begins in code
    # is left alone.
    inside = _spans([len(part) for part in parts])

    def rewrite(link: re.Match[str]) -> str:
        if any(begin <= link.start() < end for begin, end in inside):
            return link[0]
        return _rewritten(link, name, source)

    text = re.sub(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)", rewrite, text)
    if name in FILTERED:
        head, title, rest = text.partition("\n")
        text = f"{head}{title}\n{FILTER}\n{rest}"
    return text


def _spans(lengths: list[int]) -> list[tuple[int, int]]:
    """Where every second part begins and ends: the parts that are code."""
    spans, at = [], 0
    for number, length in enumerate(lengths):
        if number % 2:
            spans.append((at, at + length))
        at += length
    return spans


def _rewritten(link: re.Match[str], name: str, source: Path) -> str:
    shown, text, target = link.groups()
    if re.match(r"[a-z]+:", target) or target.startswith("#"):
        return link[0]
    path, hash_mark, fragment = target.partition("#")
    path = posixpath.normpath(posixpath.join(posixpath.dirname(name), path))
    if not (ROOT / path).exists():
        raise SystemExit(f"{name}: the link {target} leads nowhere")
    here = posixpath.dirname(page_of(name) or "")
    if shown:
        shutil.copy(ROOT / path, source / here)
        return f"![{text}]({posixpath.basename(path)})"
    page = page_of(path)
    if page is not None:
        return f"[{text}]({posixpath.relpath(f'{page}.md', here)}{hash_mark}{fragment})"
    # What is not in the site is named by its place in the repository.
    return text if path in text else f"{text} (`{path}`)"
