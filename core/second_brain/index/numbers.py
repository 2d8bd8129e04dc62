"""Hand many numbers to SQL at once: ``… IN carray(?)``."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import apsw

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_NONE = array("q", [-1])  # SQLite takes no empty array; no note, chunk or term has this number


def numbers(values: Sequence[int] | NDArray[np.int64]) -> Any:
    """A value to bind for ``carray(?)``; an empty one matches nothing."""
    if not len(values):
        return apsw.carray(_NONE)
    if isinstance(values, Sequence):
        return apsw.carray(array("q", values))
    import numpy as np  # noqa: PLC0415 - loaded already where there is such an array

    return apsw.carray(np.ascontiguousarray(values, dtype=np.int64))
