"""Notebooks of the site: runs their cells, keeps small outputs in the files, makes pages of them.

``python docs/site/notebooks.py`` runs all notebooks and writes their outputs into their files. It
needs strew, matplotlib and what the notebooks import. A cell is run by `exec`, without a kernel:
its outputs are what it prints, and the pictures that it leaves open, or the value of its last line.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent / "notebooks"
DPI = 72


@dataclass
class Output:
    """What a cell shows: its text, and its pictures as PNG files."""

    text: str = ""
    pictures: list[bytes] = field(default_factory=list)


def notebooks() -> list[Path]:
    return sorted(FOLDER.glob("*.ipynb"))


def read(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8"))


def source_of(cell: dict[str, Any]) -> str:
    return "".join(cell["source"])


def run(path: Path) -> Iterator[tuple[dict[str, Any], Output]]:
    """Runs the cells of code one after the other. Gives each with its output."""
    import matplotlib

    matplotlib.use("Agg")
    namespace: dict[str, Any] = {"__name__": path.stem}
    for number, cell in enumerate(read(path)["cells"]):
        if cell["cell_type"] == "code":
            yield cell, _run_cell(source_of(cell), f"{path.name}[{number}]", namespace)


def _run_cell(source: str, place: str, namespace: dict[str, Any]) -> Output:
    import matplotlib.pyplot as plt

    *statements, last = ast.parse(source, place).body
    printed, value = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        exec(compile(ast.Module(statements, []), place, "exec"), namespace)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), place, "eval"), namespace)
        else:
            exec(compile(ast.Module([last], []), place, "exec"), namespace)
    output = Output(printed.getvalue())
    # Behind a picture the value is an object of matplotlib.
    if value is not None and not plt.get_fignums():
        output.text += f"{value!r}\n"
    for number in plt.get_fignums():
        file = io.BytesIO()
        plt.figure(number).savefig(file, format="png", dpi=DPI, metadata={"Software": None})
        output.pictures.append(file.getvalue())
    plt.close("all")
    return output


def kept(cell: dict[str, Any]) -> Output:
    """The output that the file keeps of a cell."""
    output = Output()
    for entry in cell["outputs"]:
        if entry["output_type"] == "stream":
            output.text += "".join(entry["text"])
        else:
            output.pictures.append(base64.b64decode("".join(entry["data"]["image/png"])))
    return output


def keep(path: Path) -> None:
    """Runs a notebook and writes the outputs into its file."""
    notebook = read(path)
    outputs = iter([output for _, output in run(path)])
    for number, cell in enumerate(notebook["cells"]):
        cell["id"] = f"cell-{number}"
        if cell["cell_type"] != "code":
            continue
        output = next(outputs)
        cell["execution_count"] = None
        cell["outputs"] = []
        if output.text:
            lines = output.text.splitlines(keepends=True)
            cell["outputs"].append({"output_type": "stream", "name": "stdout", "text": lines})
        for picture in output.pictures:
            data = {"image/png": base64.b64encode(picture).decode()}
            entry = {"output_type": "display_data", "data": data, "metadata": {}}
            cell["outputs"].append(entry)
    text = json.dumps(notebook, indent=1, ensure_ascii=False)
    path.write_text(text + "\n", encoding="utf-8")


def write_page(path: Path, folder: Path) -> None:
    """Writes the page of a notebook, and its pictures beside it."""
    parts = []
    for number, cell in enumerate(read(path)["cells"]):
        if cell["cell_type"] == "markdown":
            parts.append(source_of(cell))
            continue
        parts.append(f"```python\n{source_of(cell)}\n```")
        output = kept(cell)
        if output.text:
            parts.append(f"```text\n{output.text.rstrip()}\n```")
        for place, picture in enumerate(output.pictures):
            name = f"{path.stem}-{number}-{place}.png"
            (folder / name).write_bytes(picture)
            parts.append(f"![The picture that this cell draws]({name})")
    parts.append(f"The file is `docs/site/notebooks/{path.name}`.")
    (folder / f"{path.stem}.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")


if __name__ == "__main__":
    for each in notebooks():
        keep(each)
        print(f"{each.name}: {each.stat().st_size} bytes")
