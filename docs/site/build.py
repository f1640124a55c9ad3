"""Builds the documentation site: ``python docs/site/build.py OUT [--command STREW]``.

The pages are brought together in OUT/source: those of this folder, the documents of the
repository, and a page for each public module. Sphinx makes OUT/html of them. Its warnings are
errors. strew must be installed, and the packages of requirements.txt.
"""

from __future__ import annotations

import argparse
import pkgutil
import re
import shutil
import subprocess
import sys
from pathlib import Path

import charts
import documents
import links
import notebooks
import strew
from sphinx.cmd import build as sphinx_build

HERE = Path(__file__).resolve().parent
NOT_PAGES = ("*.py", "*.ipynb", "drive.html", "requirements.txt", "__pycache__")


def public_modules() -> list[str]:
    """The package and its modules whose names have no underscore in front."""
    found = [module.name for module in pkgutil.walk_packages(strew.__path__, "strew.")]
    return ["strew", *(name for name in found if "._" not in name)]


def write_api(folder: Path) -> None:
    """A page for each public module, made from its docstrings."""
    for name in public_modules():
        text = f"# {name}\n\n```{{eval-rst}}\n.. automodule:: {name}\n   :members:\n```\n"
        (folder / f"{name}.md").write_text(text, encoding="utf-8")


def write_operators(folder: Path) -> None:
    """A page of all operators of `strew run`, from the table that the command reads, too."""
    lines = ["# Operators", "", documents.FILTER, ""]
    lines += ["`strew run NAME` takes each argument as an option: `--dim 0`.", ""]
    lines += ["| operator | arguments | results |", "|---|---|---|"]
    for name in strew._strew.operators():
        operator = strew._strew.Operator(name)
        arguments = [
            f"`{argument}`" if default is None else f"`{argument}={default}`"
            for argument, _, default in operator.arguments
        ]
        results = ", ".join(f"`{one}`" for one in operator.returns)
        lines.append(f"| `{name}` | {', '.join(arguments)} | {results} |")
    (folder / "operators.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_command(folder: Path, command: Path) -> None:
    """A page of what the command line's own help says."""

    def help_of(*words: str) -> str:
        run = [str(command), *words, "--help"]
        return subprocess.run(run, check=True, capture_output=True, text=True).stdout

    general = help_of()
    listed = general.partition("Commands:\n")[2].partition("\n\n")[0]
    names = re.findall(r"^  (\w+)", listed, flags=re.M)
    text = "# Command line\n\n[Operators](operators.md) lists what `strew run` takes.\n"
    for words in ([], *([name] for name in names)):
        title = " ".join(["strew", *words])
        text += f"\n## {title}\n\n```text\n{help_of(*words).rstrip()}\n```\n"
    (folder / "command_line.md").write_text(text, encoding="utf-8")


def fill_index(page: Path) -> None:
    """Puts the pages of each section of documents into the table of contents."""
    text = page.read_text(encoding="utf-8")
    for section, names in documents.table().items():
        listed = "\n".join(
            # The title of the README is the site's own.
            f"README <{documents.page_of(name)}>"
            if name == "README.md"
            else f"{documents.page_of(name)}"
            for name in names
        )
        mark = f"(documents: {section})"
        if mark not in text:
            raise SystemExit(f"index.md has no line {mark}")
        text = text.replace(mark, listed)
    page.write_text(text, encoding="utf-8")


def gather(source: Path, command: Path | None) -> None:
    """Brings all pages together."""
    if source.exists():
        shutil.rmtree(source)
    shutil.copytree(HERE, source, ignore=shutil.ignore_patterns(*NOT_PAGES))
    documents.bring(source)
    for notebook in notebooks.notebooks():
        notebooks.write_page(notebook, source / "notebooks")
    charts.fill(source / "benchmarks" / "charts.md")
    fill_index(source / "index.md")
    write_api(source / "api")
    write_operators(source / "api")
    if command is not None:
        write_command(source / "api", command)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("out", type=Path, metavar="OUT")
    parser.add_argument("--command", type=Path, help="the program strew, whose help is a page")
    given = parser.parse_args()
    source, html = given.out.resolve() / "source", given.out.resolve() / "html"
    gather(source, given.command)
    if html.exists():
        shutil.rmtree(html)
    strict = ["--fail-on-warning", "--keep-going", "--quiet"]
    folders = ["-c", str(HERE), "-d", str(given.out / "doctrees"), str(source), str(html)]
    status = sphinx_build.main([*strict, "-b", "html", *folders])
    if status:
        return status
    faults = links.check(html)
    print(*faults, sep="\n", end="\n" if faults else "")
    print(f"{len(list(html.rglob('*.html')))} pages, {len(faults)} faults of links: {html}")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
