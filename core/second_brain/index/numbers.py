"""Hand many numbers to SQL at once: ``… IN carray(?)``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import apsw
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_NONE = np.array([-1], dtype=np.int64)  # SQLite takes no empty array; no note, chunk or term has this number


def numbers(values: Sequence[int] | NDArray[np.int64]) -> Any:
    """A value to bind for ``carray(?)``; an empty one matches nothing."""
    return apsw.carray(np.ascontiguousarray(values, dtype=np.int64) if len(values) else _NONE)
