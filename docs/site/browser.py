"""Opens every page in a browser: ``python docs/site/browser.py HTML [--screenshots FOLDER]``.

The pages are served to a headless Chromium on this machine. Each is opened on a wide and on a
narrow screen by `drive.html`, which watches for errors, missing pictures and pages wider than the
screen, tries the search, the fields that filter, and the charts, and sends what it saw. Without
Chromium nothing is tested: this says so, and the exit status is 0.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import http.server
import json
import queue
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
NAMES = ("chromium", "chromium-browser", "google-chrome")
QUIET = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]
TIMEOUT = 150
"""Seconds for all pages."""

PICTURED = ["index.html", "begin/which.html", "api/strew.torch.html", "rules/compare.html"]
PICTURED += ["benchmarks/charts.html", "notebooks/climate.html"]
SIZES = {"wide": "1400,1000", "narrow": "420,900"}

PROBE = b"""<script>
window.faults = [];
addEventListener("error", (event) => {
  faults.push(event.message || `not loaded: ${event.target.src || event.target.href}`);
}, true);
addEventListener("unhandledrejection", (event) => faults.push(`rejected: ${event.reason}`));
for (const level of ["error", "warn"]) {
  console[level] = (...said) => faults.push(said.join(" "));
}
</script>"""
"""What sees faults of a page: it runs before the page's own scripts."""


class Pages(http.server.SimpleHTTPRequestHandler):
    """Serves the pages with the probe in front of their own scripts, and takes the report."""

    reports: queue.Queue[dict[str, Any]] = queue.Queue()

    def do_GET(self) -> None:
        path = Path(self.translate_path(self.path))
        if self.path == "/drive.html":
            path = HERE / "drive.html"
        elif self.path == "/favicon.ico":
            self.send_error(404)
            return
        if path.suffix != ".html" or not path.exists():
            super().do_GET()
            return
        text = path.read_bytes()
        if self.path != "/drive.html":
            text = text.replace(b"<head>", b"<head>" + PROBE, 1)
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def do_POST(self) -> None:
        length = int(self.headers["Content-Length"])
        self.reports.put(json.loads(self.rfile.read(length)))
        self.send_response(204)
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing."""


@contextlib.contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address of a server of the pages."""
    handler = functools.partial(Pages, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def visit(browser: str, folder: Path) -> dict[str, Any]:
    """Opens all pages, and gives the report of `drive.html`."""
    pages = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.html"))
    with tempfile.TemporaryDirectory() as profile, served(folder) as address:
        command = [browser, *QUIET, f"--user-data-dir={profile}", "--window-size=1500,1200"]
        place = f"{address}/drive.html#{','.join(pages)}"
        running = subprocess.Popen(
            [*command, "--remote-debugging-port=0", place], stderr=subprocess.DEVNULL
        )
        try:
            return Pages.reports.get(timeout=TIMEOUT)
        except queue.Empty:
            return {"pages": 0, "faults": [f"the browser sent no report in {TIMEOUT} s"]}
        finally:
            running.terminate()
            running.wait()


def picture(browser: str, folder: Path, target: Path) -> None:
    """Takes pictures of some pages, wide and narrow, for people to look at."""
    target.mkdir(parents=True, exist_ok=True)
    with served(folder) as address:
        for page in PICTURED:
            for name, size in SIZES.items():
                file = target / f"{page.removesuffix('.html').replace('/', '-')}-{name}.png"
                with tempfile.TemporaryDirectory() as profile:
                    options = [*QUIET, f"--user-data-dir={profile}", "--hide-scrollbars"]
                    options += [f"--window-size={size}", f"--screenshot={file}"]
                    subprocess.run(
                        [browser, *options, f"{address}/{page}"],
                        check=True,
                        capture_output=True,
                        timeout=60,
                    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("html", type=Path, metavar="HTML", help="the folder of the built pages")
    parser.add_argument("--screenshots", type=Path, metavar="FOLDER")
    given = parser.parse_args()
    browser = next(filter(None, map(shutil.which, NAMES)), None)
    if browser is None:
        print(f"No browser: none of {', '.join(NAMES)} is on the path. Nothing was tested.")
        return 0
    report = visit(browser, given.html.resolve())
    print(*report["faults"], sep="\n", end="\n" if report["faults"] else "")
    print(f"{report['pages']} pages opened, wide and narrow: {len(report['faults'])} faults")
    if given.screenshots is not None:
        picture(browser, given.html.resolve(), given.screenshots.resolve())
    return int(bool(report["faults"]) or report["pages"] == 0)


if __name__ == "__main__":
    sys.exit(main())
