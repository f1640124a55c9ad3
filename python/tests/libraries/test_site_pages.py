"""docs/site: it builds without a warning, its links lead somewhere, and a browser finds no fault in its pages.

Needs the packages of docs/site/requirements.txt. Where there is no Chromium, the pages are not opened.
"""

import os
import subprocess
import sys

import pytest
import site_pages


def script(name, *arguments):
    """Runs a script of docs/site. Gives what it says."""
    command = [sys.executable, site_pages.SITE / name, *arguments]
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert run.returncode == 0, run.stdout
    return run.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The folder of the pages, and what their builder said."""
    out = tmp_path_factory.mktemp("site")
    tool = os.environ.get("STREW_TOOL")
    return out / "html", script("build.py", out, *(["--command", tool] if tool else []))


def test_the_pages_build_and_their_links_lead_somewhere(built):
    html, said = built
    assert " 0 faults of links" in said
    for page in ("index", "which", "glossary", "api/strew.torch", "rules/compare"):
        assert (html / f"{page}.html").exists()


def test_a_browser_finds_no_fault(built):
    html, _ = built
    said = script("browser.py", html)
    if "No browser" in said:
        pytest.skip(said.strip())
    assert said.strip().endswith("0 faults")
