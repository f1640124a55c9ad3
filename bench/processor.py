"""What the machine is called."""

from __future__ import annotations

import platform
from pathlib import Path

__all__ = ["processor"]


def processor() -> str:
    """What the system calls the processor."""
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()
