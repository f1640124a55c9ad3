"""The public surface of strew, as lines of text that can be compared before and after a change.

    python xtask/surface.py > before.txt
    python xtask/surface.py | diff before.txt -

Needs the installed package. A line for each public function, class and method of Python with its
signature and the first line of its documentation, for each operator by name, and for each public
item of the Rust crates.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import strew

ROOT = Path(__file__).parent.parent
CRATES = ("strew", "strew-engine", "strew-kernel")


def modules() -> Iterator[ModuleType]:
    """strew and its public modules."""
    yield strew
    for found in pkgutil.walk_packages(strew.__path__, "strew."):
        if not any(part.startswith("_") for part in found.name.split(".")):
            yield importlib.import_module(found.name)


def python() -> Iterator[str]:
    for module in modules():
        names = getattr(module, "__all__", None)
        if names is None:
            names = [name for name in vars(module) if not name.startswith("_")]
        for name in names:
            thing = getattr(module, name)
            if inspect.ismodule(thing):
                continue
            yield described(f"{module.__name__}.{name}", thing)
            if inspect.isclass(thing):
                for method in sorted(vars(thing)):
                    if not method.startswith("_"):
                        path = f"{module.__name__}.{name}.{method}"
                        yield described(path, getattr(thing, method))


def described(path: str, thing: Any) -> str:
    """A function or class by its signature and what is said of it first; others by their type."""
    try:
        signature = str(inspect.signature(thing))
    except (TypeError, ValueError):
        signature = f": {type(thing).__name__}"
    first = (inspect.getdoc(thing) or "").partition("\n")[0]
    return f"python {path}{signature} | {first}"


def rust() -> Iterator[str]:
    """Public items of the crates, wherever they lie in them."""
    item = re.compile(r"^ *pub (?:const fn|unsafe fn|fn|struct|enum|trait|const|static|type) [^{;=]*", re.M)
    for crate in CRATES:
        for file in (ROOT / "crates" / crate / "src").rglob("*.rs"):
            for found in item.findall(file.read_text()):
                yield f"rust {crate} {' '.join(found.split())}"


def main() -> None:
    """Prints all lines, sorted."""
    operators = (f"operator {name}" for name in strew._strew.operators())
    print("\n".join(sorted([*python(), *operators, *rust()])))


if __name__ == "__main__":
    main()
