"""Standard output and error of a process: nothing that becomes of them ends in a traceback.

What cannot be written to standard output is an error that a person can act on; a reader that goes away stays a
`BrokenPipeError`.  What cannot be written to standard error is lost, for there is nobody to tell.
"""

from __future__ import annotations

import errno
import io
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, TextIO

from second_brain.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Iterator

_STANDARD = (0, 1, 2)


class _Output(io.TextIOWrapper):
    """Standard output; raises `Unavailable` for what the system refuses."""

    def write(self, text: str) -> int:
        try:
            return super().write(text)
        except OSError as error:
            raise _lost(error) from error

    def flush(self) -> None:
        try:
            super().flush()
        except OSError as error:
            raise _lost(error) from error


class _Messages(io.TextIOWrapper):
    """Standard error; never raises."""

    def write(self, text: str) -> int:
        with suppress(OSError, ValueError):
            return super().write(text)
        return len(text)

    def flush(self) -> None:
        with suppress(OSError, ValueError):
            super().flush()


def take_standard_streams() -> None:
    """Make both streams take every character, whatever the locale says, and fail in words or not at all.

    Descriptors that were closed before the start are taken first: else the next file that is opened would be one of
    them, and what libraries print would land in it.
    """
    for descriptor in _closed():
        # One that cannot be written: what is printed there is lost, and the process says so.
        os.open(os.devnull, os.O_RDONLY if descriptor == 1 else os.O_RDWR)
    sys.stdout = _Output(*_parts(sys.stdout, 1))
    sys.stderr = _Messages(*_parts(sys.stderr, 2))
    # Whoever asks how wide the terminal is asks these, and they have just been detached.
    sys.__stdout__, sys.__stderr__ = sys.stdout, sys.stderr  # type: ignore[misc]  # final only for those who do not replace them


def let_go() -> None:
    """Deliver what can be delivered and send the rest nowhere, so that the end of the process finds nothing to complain of."""
    with suppress(OSError, ValueError, AttributeError, Unavailable):
        sys.stdout.flush()
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _closed() -> Iterator[int]:
    for descriptor in _STANDARD:
        try:
            os.fstat(descriptor)
        except OSError:
            yield descriptor


def _parts(stream: TextIO | None, descriptor: int) -> tuple[io.BufferedWriter, str, str, None, bool, bool]:
    """The arguments of a `TextIOWrapper` in the place of *stream*; it replaces what its encoding lacks."""
    if not isinstance(stream, io.TextIOWrapper):
        return io.BufferedWriter(io.FileIO(descriptor, "w", closefd=False)), "utf-8", "replace", None, False, False
    encoding, by_line, at_once = stream.encoding, stream.line_buffering, stream.write_through
    return stream.detach(), encoding, "replace", None, by_line, at_once


def _lost(error: OSError) -> Exception:
    if isinstance(error, BrokenPipeError):
        return error
    reason = "it is closed" if error.errno == errno.EBADF else error.strerror or str(error)
    return Unavailable(f"Standard output cannot be written: {reason}.", hint="Send the output to another place.")
