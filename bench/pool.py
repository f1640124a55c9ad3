"""Worker processes, one per contender and number of threads, of which one at a time is awake."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

from .contenders.table import CONTENDERS, one_thread

__all__ = ["Failed", "Process"]

ROOT = Path(__file__).parent.parent


class Failed(Exception):
    """A worker could not do what it was asked to."""


class Process:
    """A worker. It is stopped while it waits, so that its threads cannot spin beside another's."""

    def __init__(self, contender: str, threads: int, environments: Path, logs: Path) -> None:
        self.contender, self.threads = contender, threads
        self._environments, self._logs = environments, logs
        self._process: subprocess.Popen[bytes] | None = None
        self._start()

    def _start(self) -> None:
        known = CONTENDERS[self.contender]
        variables = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
        if self.threads == 1:
            variables |= one_thread()
        python = self._environments / known.environment / "bin" / "python"
        self._logs.mkdir(parents=True, exist_ok=True)
        with (self._logs / f"{self.contender}-{self.threads or 'all'}.log").open("ab") as log:
            self._process = subprocess.Popen(
                [python, "-m", "bench.worker", self.contender, str(self.threads)],
                cwd=ROOT,
                env=variables | known.variables,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                bufsize=0,
            )
        answer = self._answer(120)
        self._halt()
        if "error" in answer:
            self.end()
            raise Failed(f"{self.contender} does not start: {answer['error']}")

    def ask(self, do: str, timeout: float = 300, **what: Any) -> dict[str, Any]:
        """Wakes the worker up for one request. One that dies or hangs is started again."""
        if self._process is None:
            self._start()
        assert self._process is not None and self._process.stdin is not None
        os.kill(self._process.pid, signal.SIGCONT)
        try:
            self._process.stdin.write(json.dumps({"do": do, **what}).encode() + b"\n")
        except BrokenPipeError:
            self.end()
            raise Failed("the process had died") from None
        answer = self._answer(timeout)
        self._halt()
        if "error" in answer:
            raise Failed(answer["error"])
        return answer

    def _answer(self, timeout: float) -> dict[str, Any]:
        assert self._process is not None and self._process.stdout is not None
        pipe, line = self._process.stdout, b""
        until = time.monotonic() + timeout
        while not line.endswith(b"\n"):
            ready, _, _ = select.select([pipe], [], [], max(until - time.monotonic(), 0))
            part = os.read(pipe.fileno(), 1 << 16) if ready else b""
            if not part:
                status = self.end()
                why = f"the process died ({status})" if ready else f"no answer in {timeout:g} s"
                raise Failed(why)
            line += part
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _halt(self) -> None:
        if self._process is not None:
            os.kill(self._process.pid, signal.SIGSTOP)

    def end(self) -> int | None:
        """Ends the process; gives its exit status."""
        process, self._process = self._process, None
        if process is None:
            return None
        process.kill()
        status = process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()
        return status
