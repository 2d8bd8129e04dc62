"""Keep little memory: give back what is free, do not spread over many heaps, and do not look for garbage at every turn."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_M_ARENA_MAX = -8  # malloc.h of glibc


def use_one_heap() -> None:
    """Let all threads to come share one heap: glibc gives each its own otherwise, and none has what another one freed."""
    if mallopt := _libc("mallopt"):
        mallopt(_M_ARENA_MAX, 1)


@contextlib.contextmanager
def without_cycle_search() -> Iterator[None]:
    """Put off Python's search for cyclic garbage to the end of the block.

    For work of some milliseconds that makes many values and no cycles: the search would look through all of them several times.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def trim() -> None:
    """Drop what only refers to itself, and hand what is free to the system.

    glibc keeps 110 MB of an unloaded builtin model otherwise, 50 MB of a first index.
    """
    gc.collect()
    if malloc_trim := _libc("malloc_trim"):
        malloc_trim(0)


def _libc(name: str) -> ctypes._NamedFuncPointer | None:
    """A function of the C library, None where it has no such (musl, macOS, Windows)."""
    return getattr(ctypes.CDLL(None), name, None) if sys.platform == "linux" else None
