"""Puts strew in torch_scatter's place, for code that cannot be changed."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

__all__ = ["install", "uninstall"]

#: The release of torch_scatter whose public names these are.
_VERSION = "2.1.2"

_REDUCES = ("sum", "add", "mean", "min", "max")
_SCATTERS = ("scatter", "scatter_mul", *(f"scatter_{reduce}" for reduce in _REDUCES))
_COMPOSITES = {
    "std": ("scatter_std",),
    "logsumexp": ("scatter_logsumexp",),
    "softmax": ("scatter_softmax", "scatter_log_softmax"),
}

_MISSING = object()

#: Every change, for `uninstall`: a namespace, the name in it, the value before and the one after.
_changes: list[tuple[dict[str, object], str, object, object]] = []

#: Each module or function of strew that replaces one of torch_scatter, and the one it replaces.
_replacements: list[tuple[object, object]] = []


def install(pyg: bool = False) -> None:
    """Make ``import torch_scatter`` give strew's functions, wherever it is imported from now on.

    It has all public names of torch_scatter 2.1.2, with submodules and ``__version__``. In modules
    that have already imported torch_scatter, or names from it, strew's take their place.
    torch_geometric is told that torch_scatter is available.

    Parameters
    ----------
    pyg : bool, default False
        Also replace ``torch_geometric.utils.scatter``, ``segment`` and ``softmax``, for which
        torch_geometric uses torch's own scatters on the CPU. This imports torch_geometric.

    Raises
    ------
    ImportError
        If torch cannot be imported, or with `pyg` torch_geometric.

    Functions that are kept elsewhere than in a module's names, for example in a class or a closure,
    are not replaced. `install` may be called any number of times, before and after other imports;
    `uninstall` undoes it.
    """
    _import_for("install()", "torch")
    if pyg:
        # Before anything is changed, since it may be missing.
        _import_for("install(pyg=True)", "torch_geometric.utils")
    modules = _modules()
    _rebind(_replaced(modules))
    for name, module in modules.items():
        _set(sys.modules, name, module)
    _tell_torch_geometric(modules["torch_scatter"])
    if pyg:
        _rebind(_torch_geometric_functions())


def uninstall() -> None:
    """Undo `install`: restore everything that it replaced.

    What was imported from torch_scatter by name since then stays strew's.
    """
    _undo()
    # Modules that were loaded in the meantime have names for strew's functions.
    _rebind(_replacements)
    _replacements.clear()
    _changes.clear()


def _undo() -> None:
    while _changes:
        namespace, name, before, after = _changes.pop()
        if namespace.get(name, _MISSING) is not after:
            continue
        if before is _MISSING:
            del namespace[name]
        else:
            namespace[name] = before


def _import_for(caller: str, module: str) -> ModuleType:
    """Imports a module, or says which function needs it."""
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise ImportError(
            f"strew.torch_scatter.{caller} needs {package}, which cannot be imported: {error}"
            f" (pip install {package})"
        ) from error


def _set(namespace: dict[str, Any], name: str, value: object) -> None:
    before = namespace.get(name, _MISSING)
    if before is not value:
        _changes.append((namespace, name, before, value))
        namespace[name] = value


def _rebind(pairs: Iterable[tuple[object, object]]) -> None:
    """Replaces the first of each pair by the second, under every name in every loaded module."""
    after = {id(before): (before, after) for before, after in pairs if before is not after}
    if not after:
        return
    for module in list(sys.modules.values()):
        if not isinstance(module, ModuleType) or module.__name__.startswith("strew."):
            continue
        names = vars(module)
        for name, value in list(names.items()):
            if id(value) in after:
                _set(names, name, after[id(value)][1])


_made: dict[str, ModuleType] = {}


def _modules() -> dict[str, ModuleType]:
    """strew's torch_scatter and its submodules by name; made only once, and then kept."""
    if not _made:
        from . import torch_scatter as ours

        rest = import_module("strew._torch.torch_scatter.drop_in")
        composites = {
            part: {name: getattr(ours, name) for name in names}
            for part, names in _COMPOSITES.items()
        }
        segments = {
            name: getattr(ours, name)
            for name in ours.__all__
            if name.startswith(("segment", "gather"))
        }
        parts = {
            "scatter": {name: getattr(ours, name) for name in _SCATTERS},
            "segment_coo": {
                name: function for name, function in segments.items() if name.endswith("_coo")
            },
            "segment_csr": {
                name: function for name, function in segments.items() if name.endswith("_csr")
            },
            "utils": {"broadcast": rest.broadcast},
            "placeholder": rest.PLACEHOLDERS,
            "testing": rest.TESTING,
        }
        submodules = {part: _module(part, names) for part, names in parts.items()}
        within = {part: _module(f"composite.{part}", names) for part, names in composites.items()}
        composed = {
            name: function for names in composites.values() for name, function in names.items()
        }
        submodules["composite"] = _module("composite", {**within, **composed}, package=True)
        functions = parts["scatter"] | segments | composed
        constants = {
            "__version__": _VERSION,
            "__all__": [*functions, "__version__"],
            "cuda_version": -1,
        }
        # Functions hide the submodules of their names, as in torch_scatter.
        _module("", submodules | functions | constants, package=True)
    return _made


def _module(part: str, names: dict[str, Any], package: bool = False) -> ModuleType:
    """Makes the submodule of that name, or torch_scatter itself for an empty one."""
    name = f"torch_scatter.{part}".rstrip(".")
    module = ModuleType(name, "strew's functions under torch_scatter's names.")
    module.__spec__ = ModuleSpec(name, None, origin=__file__, is_package=package)
    module.__file__ = __file__
    module.__package__ = name if package else name.rpartition(".")[0]
    if package:
        module.__path__ = []
    vars(module).update(names)
    _made[name] = module
    return module


def _replaced(modules: dict[str, ModuleType]) -> list[tuple[object, object]]:
    """Pairs of what a loaded torch_scatter has, and what replaces it."""
    pairs: list[tuple[object, object]] = []
    for name, ours in modules.items():
        theirs = sys.modules.get(name)
        if theirs is None or theirs is ours:
            continue
        pairs.append((theirs, ours))
        _replacements.append((ours, theirs))
        for part, value in vars(theirs).items():
            if callable(value) and part in vars(ours):
                pairs.append((value, vars(ours)[part]))
    return pairs


def _tell_torch_geometric(module: ModuleType) -> None:
    """Tells its loaded modules, which look for torch_scatter only when they are loaded."""
    for name, loaded in list(sys.modules.items()):
        if name.partition(".")[0] != "torch_geometric" or not isinstance(loaded, ModuleType):
            continue
        for known, value in (("torch_scatter", module), ("WITH_TORCH_SCATTER", True)):
            if known in vars(loaded):
                _set(vars(loaded), known, value)


def _torch_geometric_functions() -> Iterator[tuple[object, object]]:
    """Pairs of torch_geometric's functions and those that replace them."""
    utils = sys.modules["torch_geometric.utils"]
    ours = import_module("strew._torch.torch_geometric")
    for name in ours.FUNCTIONS:
        theirs = getattr(utils, name)
        if theirs is not getattr(ours, name):
            ours.theirs[name] = theirs
            _replacements.append((getattr(ours, name), theirs))
            yield theirs, getattr(ours, name)
