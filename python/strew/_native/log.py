"""One line for each call, under the name "strew" of `logging`, at the level DEBUG.

```text
scatter: reduce=sum, src=float64 (4,), index=int64 (4,), result=float64 (2,), threads=2, ...
```

A call asks whether the level is enabled, which takes some tens of nanoseconds, and does nothing
else here if it is not. A line also names the strategy where the run has one. It is found after the
time of the call has been taken, which may read the index once more.
"""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING

from .._strew import get_num_threads

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .._strew import Plan

# When a call began.
clock = time.perf_counter
_logger = logging.getLogger("strew")
_is_enabled = _logger.isEnabledFor


def is_on() -> bool:
    """Whether lines are wanted."""
    return _is_enabled(logging.DEBUG)


# torch.compile would look into `logging`, which it does not know: the answer at that time is kept.
setattr(is_on, "_dynamo_marked_constant", True)  # noqa: B010


def call(
    name: str, begun: float, strategy: Callable[[], str | None] | None = None, **what: Any
) -> None:
    """Logs a call that began at `begun` and ends now. Arrays are shown by dtype and shape."""
    _say(name, clock() - begun, strategy, what)


def run_of_plan(
    plan: Plan, method: str, reduces: list[str], src: Any, dim: int, seconds: float
) -> None:
    """Logs a run of a plan, which calls this."""
    reduce: Any = reduces[0] if len(reduces) == 1 else reduces or None
    what = {"reduce": reduce, "src": src, "updates": len(plan), "rows": plan.size}
    _say(method, seconds, lambda: of_plan(plan, reduces, src, dim) if reduces else None, what)


def _say(
    name: str, seconds: float, strategy: Callable[[], str | None] | None, what: dict[str, Any]
) -> None:
    shown = [f"{argument}={_shown(value)}" for argument, value in what.items() if value is not None]
    shown.append(f"threads={get_num_threads()}")
    found = None if strategy is None else strategy()
    if found is not None:
        shown.append(f"strategy={found}")
    _logger.debug("%s: %s, time=%.1f us", name, ", ".join(shown), seconds * 1e6)


def of_plan(plan: Plan, reduce: Any, src: Any, dim: int) -> str | None:
    """The strategy of a plan's run; None where it has none."""
    try:
        shape = tuple(src.shape)
        told = plan.explain(shape, str(src.dtype), reduce, dim=dim, measure=False)
    except (AttributeError, IndexError, TypeError, ValueError):
        return None
    return told_strategy(told)


def told_strategy(told: str) -> str | None:
    """The strategy in an explanation."""
    for line in told.splitlines():
        name, _, value = line.partition("  ")
        if name == "strategy":
            return value.strip()
    return None


def _shown(value: Any) -> str:
    if isinstance(value, (str, int)):
        return str(value)
    if isinstance(value, list) and any(isinstance(one, str) or callable(one) for one in value):
        # Names of reductions, or keys: the first ones tell which.
        return f"[{', '.join(map(_shown, value[:4]))}{', ...' if len(value) > 4 else ''}]"
    if isinstance(value, tuple):
        return f"({', '.join(map(_shown, value))})"
    dtype, shape = getattr(value, "dtype", None), getattr(value, "shape", None)
    if dtype is not None and shape is not None:
        return f"{dtype} {tuple(shape)}"
    if callable(value):
        return getattr(value, "__name__", type(value).__name__)
    return type(value).__name__
