"""Keep little memory: give back what is free, and do not spread over many heaps."""

from __future__ import annotations

import ctypes
import gc
import sys

_M_ARENA_MAX = -8  # malloc.h of glibc


def use_one_heap() -> None:
    """Let all threads to come share one heap: glibc gives each its own otherwise, and none has what another one freed."""
    if mallopt := _libc("mallopt"):
        mallopt(_M_ARENA_MAX, 1)


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
