"""The first signal ends a command with a short line, the next one at once, and none with a traceback.

Loaded before everything else, for a signal may come while the rest is being imported: this module imports next to nothing.
"""

from __future__ import annotations

import os
import signal
import sys

TYPE_CHECKING = False  # as in `typing`, which takes too long here
if TYPE_CHECKING:
    from types import FrameType

INTERRUPTED = 130
"""The exit code of a command that a signal ended."""

SIGNALS = (signal.SIGINT, signal.SIGTERM)
_came: list[int] = []


def interrupt_by_signals() -> None:
    """From now on the first SIGINT or SIGTERM raises `KeyboardInterrupt`, and the next one ends the process at once."""
    for number in SIGNALS:
        signal.signal(number, _interrupt)
    sys.unraisablehook = _unraisable


def end_by_signals() -> None:
    """From now on a signal ends the process at once: all is done, and nobody is left to catch an exception."""
    for number in SIGNALS:
        signal.signal(number, _end)


def was_interrupted() -> bool:
    """Whether a signal has come, whatever became of the exception on its way through foreign code."""
    return bool(_came)


def say_interrupted() -> int:
    """The one line that an interrupted command ends with, and its exit code."""
    if sys.stderr is not None:
        sys.stderr.write("interrupted\n")
        sys.stderr.flush()
    return INTERRUPTED


def _interrupt(number: int, frame: FrameType | None) -> None:
    if _came:
        _end(number, frame)
    _came.append(number)
    raise KeyboardInterrupt


def _end(number: int, frame: FrameType | None) -> None:
    del number, frame
    os._exit(INTERRUPTED)


def _unraisable(lost: sys.UnraisableHookArgs) -> None:
    """Python drops exceptions in finalizers and callbacks: an interrupt there would be printed and forgotten."""
    if not issubclass(lost.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(lost)
        return
    say_interrupted()
    os._exit(INTERRUPTED)
