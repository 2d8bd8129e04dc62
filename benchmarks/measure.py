"""Clocks, counters and the row that a figure is reported in.

Linux only: memory and CPU of other processes come from ``/proc``.  Seconds are wall seconds where nothing else is said.
"""

from __future__ import annotations

import math
import os
import subprocess
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, Literal, Self

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

_LOOK_S = 0.02
_STILL_S = 0.02


class Skipped(Exception):
    """A figure cannot be had here; the sentence says why."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the report.  `load` is the load average of one minute before and after the measurement.

    `spread` holds further figures of the same measurement, `facts` what was measured on.
    """

    name: str
    what: str
    unit: str
    ours: float
    target: float | None = None
    better: Literal["lower", "higher"] = "lower"
    yardstick: float | None = None
    yardstick_name: str = ""
    spread: Mapping[str, float] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)
    load: tuple[float, float] = (0.0, 0.0)

    @property
    def ratio(self) -> float | None:
        """Ours by the yardstick's."""
        return self.ours / self.yardstick if self.yardstick else None

    @property
    def met(self) -> bool | None:
        """Whether the target is reached; None without one."""
        if self.target is None:
            return None
        return self.ours <= self.target if self.better == "lower" else self.ours >= self.target


@dataclass(frozen=True, slots=True)
class Cost:
    """What a finished process took; `cpu_s` counts its children, `peak_mb` (VmHWM) does not, 0 when not asked for."""

    wall_s: float
    cpu_s: float
    peak_mb: float
    out: str


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least *share* (0..1) of *values* do not exceed (nearest rank)."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def spread(values: Sequence[float], prefix: str = "") -> dict[str, float]:
    """Median, p95, largest and count, each name beginning with *prefix*."""
    found = {"p50": median(values), "p95": percentile(values, 0.95), "max": max(values), "n": float(len(values))}
    return {prefix + name: value for name, value in found.items()}


def load_average() -> float:
    """The load average of the last minute."""
    return os.getloadavg()[0]


def milliseconds(call: Callable[[], object]) -> float:
    """How long *call* takes."""
    return timed(call)[0]


def timed(call: Callable[[], object]) -> tuple[float, float]:
    """Milliseconds of wall time and of this process's CPU time that *call* takes."""
    busy, started = time.process_time(), time.perf_counter()
    call()
    return 1000 * (time.perf_counter() - started), 1000 * (time.process_time() - busy)


def finish(command: Sequence[str], *, env: Mapping[str, str] | None = None, peak: bool = False) -> Cost:
    """Run *command* to its end; raises `Skipped` with the end of its error output when it fails.

    The peak is read from ``/proc`` while it runs: the maximum that wait4 gives begins with the size of the parent.
    """
    started = time.perf_counter()
    process = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    watch = _PeakWatch(process.pid) if peak else None
    errors: list[str] = []
    reader = threading.Thread(target=lambda: errors.append(process.stderr.read() if process.stderr else ""))
    reader.start()
    out = process.stdout.read() if process.stdout else ""
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    reader.join()
    for stream in (process.stdout, process.stderr):
        if stream is not None:
            stream.close()
    if process.returncode:
        raise Skipped(f"{' '.join(command)[:120]} ended with {process.returncode}: {''.join(errors)[-300:]}")
    return Cost(wall, usage.ru_utime + usage.ru_stime, watch.end() if watch else 0.0, out)


class _PeakWatch:
    """Reads the high-water mark of a process until it is gone."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._peak = 0.0
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while mark := memory_mb(self._pid, "VmHWM"):
            self._peak = mark
            time.sleep(_LOOK_S)

    def end(self) -> float:
        self._thread.join()
        return self._peak


def memory_mb(pid: int, key: str) -> float:
    """A field of ``/proc/PID/status`` (VmRSS, VmHWM) or Pss; 0 for a process that is gone."""
    file = "smaps_rollup" if key == "Pss" else "status"
    try:
        lines = Path(f"/proc/{pid}/{file}").read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith(f"{key}:")), 0.0)


def cpu_seconds(pid: int) -> float:
    """CPU time of the living threads of a running process, to the microsecond."""
    spent = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        with suppress(OSError):  # a thread may end at any time
            spent += int((task / "schedstat").read_text(encoding="ascii").split()[0])
    return spent / 1e9


class Running:
    """A process for the length of a ``with`` block; its output goes to *log*."""

    def __init__(self, command: Sequence[str], log: Path, *, env: Mapping[str, str] | None = None) -> None:
        self._command = command
        self._env = env
        self.log = log

    def __enter__(self) -> Self:
        with self.log.open("w", encoding="utf-8") as out:
            self._process = subprocess.Popen(self._command, env=self._env, stdout=out, stderr=subprocess.STDOUT)
        self.pid = self._process.pid
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        try:
            self._process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def wait_for(self, text: str, timeout_s: float) -> None:
        """Until its output holds *text*; raises `Skipped` when that does not come."""
        until = time.monotonic() + timeout_s
        while text not in self.log.read_text("utf-8"):
            if self._process.poll() is not None or time.monotonic() > until:
                raise Skipped(
                    f"{' '.join(self._command)[:120]} never said {text!r}: {self.log.read_text('utf-8')[-300:]}"
                )
            time.sleep(0.05)

    def settle(self, timeout_s: float = 120.0) -> None:
        """Until it did next to nothing for two seconds."""
        until = time.monotonic() + timeout_s
        while time.monotonic() < until:
            before = cpu_seconds(self.pid)
            time.sleep(2.0)
            if cpu_seconds(self.pid) - before <= _STILL_S:
                return
