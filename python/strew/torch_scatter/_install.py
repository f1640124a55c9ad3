"""Puts strew in torch_scatter's place, for code that cannot be changed."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, NoReturn

from .._arrays.dispatch import above

#: The release of torch_scatter whose public names these are.
_VERSION = "2.1.2"

#: The same of pyg_lib. It cannot be parsed, so that torch_geometric's tests take pyg_lib's other
#: functions as missing, which they are.
_PYG_LIB_VERSION = "0.9.0 (by strew: scatters, segments, gathers and softmax)"

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
        torch_geometric uses torch's own scatters on the CPU, and the scatters, segments, gathers
        and softmax of ``pyg_lib.ops``. If pyg_lib is not installed, ``import pyg_lib`` gives these
        functions only. This imports torch_geometric.

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
    _tell_torch_geometric(torch_scatter=modules["torch_scatter"], WITH_TORCH_SCATTER=True)
    if pyg:
        _rebind(_torch_geometric_functions())
        _serve_pyg_lib()


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
        from .. import torch_scatter as ours

        rest = above("strew._torch.torch_scatter.drop_in")
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
        submodules = {part: _made_part(part, names) for part, names in parts.items()}
        within = {
            part: _made_part(f"composite.{part}", names) for part, names in composites.items()
        }
        composed = {
            name: function for names in composites.values() for name, function in names.items()
        }
        submodules["composite"] = _made_part("composite", {**within, **composed}, package=True)
        functions = parts["scatter"] | segments | composed
        constants = {
            "__version__": _VERSION,
            "__all__": [*functions, "__version__"],
            "cuda_version": -1,
        }
        # Functions hide the submodules of their names, as in torch_scatter.
        _made_part("", submodules | functions | constants, package=True)
    return _made


def _made_part(part: str, names: dict[str, Any], package: bool = False) -> ModuleType:
    """Makes the submodule of torch_scatter of that name, or itself for an empty one."""
    name = f"torch_scatter.{part}".rstrip(".")
    _made[name] = _module(name, names, package)
    return _made[name]


def _module(name: str, names: dict[str, Any], package: bool = False) -> ModuleType:
    """Makes the module of that name."""
    package_name = name.partition(".")[0]
    module = ModuleType(name, f"strew's functions under {package_name}'s names.")
    module.__spec__ = ModuleSpec(name, None, origin=__file__, is_package=package)
    module.__file__ = __file__
    module.__package__ = name if package else name.rpartition(".")[0]
    if package:
        module.__path__ = []
    vars(module).update(names)
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


def _tell_torch_geometric(**names: object) -> None:
    """Tells its loaded modules, which look for other packages only when they are loaded."""
    for name, loaded in list(sys.modules.items()):
        if name.partition(".")[0] != "torch_geometric" or not isinstance(loaded, ModuleType):
            continue
        for known, value in names.items():
            if known in vars(loaded):
                _set(vars(loaded), known, value)


def _torch_geometric_functions() -> Iterator[tuple[object, object]]:
    """Pairs of torch_geometric's functions and those that replace them."""
    utils = sys.modules["torch_geometric.utils"]
    ours = above("strew._torch.torch_geometric")
    for name in ours.FUNCTIONS:
        theirs = getattr(utils, name)
        if theirs is not getattr(ours, name):
            ours.theirs[name] = theirs
            _replacements.append((getattr(ours, name), theirs))
            yield theirs, getattr(ours, name)


def _serve_pyg_lib() -> None:
    """Replaces the functions of an installed pyg_lib, or makes a pyg_lib of strew's."""
    try:
        theirs = import_module("pyg_lib.ops")
    except (ImportError, OSError):
        # OSError: it was built for another torch.
        modules = _pyg_lib_modules()
        for name, module in modules.items():
            _set(sys.modules, name, module)
        _tell_torch_geometric(pyg_lib=modules["pyg_lib"])
    else:
        if theirs is not _pyg_lib.get("pyg_lib.ops"):
            _rebind(_pyg_lib_functions(theirs))


_pyg_lib: dict[str, ModuleType] = {}


def _pyg_lib_modules() -> dict[str, ModuleType]:
    """A pyg_lib that has strew's functions and no others; made only once, and then kept."""
    if not _pyg_lib:
        ours = above("strew.pyg_lib")
        functions = {name: getattr(ours, name) for name in ours.__all__}
        rest = {"__getattr__": _missing_in_pyg_lib}
        ops = _module("pyg_lib.ops", {**functions, **rest, "__all__": list(functions)})
        names = {"ops": ops, **rest, "__version__": _PYG_LIB_VERSION, "__all__": ["__version__"]}
        _pyg_lib.update({"pyg_lib": _module("pyg_lib", names, package=True), "pyg_lib.ops": ops})
    return _pyg_lib


def _missing_in_pyg_lib(name: str) -> NoReturn:
    raise AttributeError(
        f"strew's pyg_lib has no {name!r}: it has scatters, segments, gathers and softmax, in"
        " pyg_lib.ops. Install pyg_lib for all others"
    )


#: By the number of a function of pyg_lib: the function itself, and the one beside it.
_beside: dict[int, tuple[object, object]] = {}


def _pyg_lib_functions(theirs: ModuleType) -> Iterator[tuple[object, object]]:
    """Pairs of an installed pyg_lib's functions and those that replace them."""
    ours = above("strew._torch.pyg_lib")
    made = {id(replacement) for _, replacement in _beside.values()}
    for name in above("strew.pyg_lib").__all__:
        function = getattr(theirs, name, None)
        if function is None or id(function) in made:
            continue
        if id(function) not in _beside:
            _beside[id(function)] = (function, ours.beside(function, name))
            made.add(id(_beside[id(function)][1]))
        _replacements.append((_beside[id(function)][1], function))
        yield _beside[id(function)]
