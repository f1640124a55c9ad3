"""What the machine is called, and how a page says where and when it was measured."""

from __future__ import annotations

import datetime
import os
import platform
from pathlib import Path

__all__ = ["here_and_today", "processor"]


def processor() -> str:
    """What the system calls the processor."""
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def here_and_today() -> str:
    """The cores that may be used, the processor and the date."""
    cores = len(os.sched_getaffinity(0))
    date = datetime.date.today().isoformat()
    return f"{cores} cores of a virtual server ({processor()}), {date}"
