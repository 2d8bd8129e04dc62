"""Where chunks stand in their notes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from second_brain.index.numbers import numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from second_brain.index.reader import Reader


def of(reader: Reader, chunks: Sequence[int]) -> dict[int, tuple[int, int]]:
    """First and last line of each visible chunk."""
    if not chunks:
        return {}
    rows = reader.connection.execute(
        "SELECT id, start_line, end_line FROM chunks WHERE id IN carray(?)",
        (numbers(chunks),),
    )
    return {chunk: (first, last) for chunk, first, last in rows}
