"""Give memory that is free back to the system."""

from __future__ import annotations

import ctypes
import gc
import sys


def trim() -> None:
    """Drop what only refers to itself, and hand what is free to the system.

    glibc keeps 110 MB of an unloaded builtin model otherwise, 50 MB of a first index.
    """
    gc.collect()
    if sys.platform == "linux":
        trim_heap = getattr(ctypes.CDLL(None), "malloc_trim", None)  # musl has none
        if trim_heap is not None:
            trim_heap(0)
