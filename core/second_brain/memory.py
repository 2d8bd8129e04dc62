"""Give memory that is free back to the system."""

from __future__ import annotations

import ctypes
import sys


def trim() -> None:
    """Hand freed memory to the system: glibc keeps 110 MB of an unloaded builtin model otherwise, 50 MB of a first index."""
    if sys.platform == "linux":
        trim_heap = getattr(ctypes.CDLL(None), "malloc_trim", None)  # musl has none
        if trim_heap is not None:
            trim_heap(0)
