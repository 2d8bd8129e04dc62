"""Which block of a note a line belongs to, and what of the note must stand beside it to be understood.

A pure function of the note's text; the structure is that of `BlockScanner`.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

from second_brain.model import BlockKind
from second_brain.vault import head, inline
from second_brain.vault.blocks import BlockScanner

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


@dataclass(frozen=True, slots=True)
class Extract:
    """What to show for mentions in one block, as line numbers in order.

    `shown` is all of it, `frame` those that stand in every part of it when it is too long; `start` and `end` are the lines
    that the block runs.
    """

    start: int
    end: int
    shown: tuple[int, ...]
    frame: tuple[int, ...] = ()


class NoteBlocks:
    """The lines of a text with its blocks; lines count from 1 as everywhere.

    Many are kept at a time, so the blocks are columns instead of objects.
    """

    def __init__(self, text: str) -> None:
        self.lines = text.split("\n")
        self._head_end = head.end_line(text)
        structure = BlockScanner(self.lines, self._head_end)
        blocks = sorted(structure.blocks, key=lambda block: block.start)
        self._kinds = [block.kind for block in blocks]
        self._starts = [block.start for block in blocks]
        self._ends = [block.end for block in blocks]
        self._depths = [block.depth for block in blocks]
        self._heading_lines = [heading.line for heading in structure.headings]
        self._heading_paths = [heading.path for heading in structure.headings]
        self._parents: list[int] | None = None

    def heading_path(self, line: int) -> tuple[str, ...]:
        """The headings above *line*, outermost first, itself included when it is one."""
        place = bisect_right(self._heading_lines, line)
        return self._heading_paths[place - 1] if place else ()

    def block_of(self, line: int) -> int:
        """A number for the block of *line*, rising with the text; in the frontmatter for the property whose key it holds."""
        if line <= self._head_end:
            return line - self._head_end - 1
        place = bisect_right(self._starts, line) - 1
        if place < 0 or line > self._ends[place]:
            return len(self._starts) + line  # in no block, as the text is not the one of the mention: the line alone
        return place

    def heads(self, number: int) -> int | None:
        """The block that the heading *number* is shown with, None for what is no heading or has nothing below it."""
        if not 0 <= number < len(self._starts) or self._kinds[number] is not BlockKind.HEADING:
            return None
        for place in range(number + 1, len(self._starts)):
            kind = self._kinds[place]
            if kind is BlockKind.HEADING:
                return None
            if kind is not BlockKind.RULE:
                return place
        return None

    def extract(self, number: int, mentioned: Iterable[int]) -> Extract:
        """What to show for the lines *mentioned* in the block *number* (of `block_of`), and in the one that it heads."""
        if number < 0:
            return self._property(number + self._head_end + 1, mentioned)
        if number >= len(self._starts):
            line = number - len(self._starts)
            return Extract(line, line, (line,))
        if self._kinds[number] is BlockKind.HEADING:
            return self._heading(number, mentioned)
        return self._body(number, mentioned)

    def property_places(self, line: int, targets: Iterable[str]) -> list[tuple[int, int]]:
        """Line and column of the links to any of *targets* in the property whose key stands on *line*, in their order."""
        wanted = set(targets)
        first, last = self._key_lines(line)
        links = inline.placed_property_links(self.lines[first - 1 : last])
        return [(link.line + first - 1, link.column) for link, _ in links if link.target in wanted]

    def _key_lines(self, line: int) -> tuple[int, int]:
        """The lines of the property whose key stands on *line*."""
        last = line
        while last + 1 < self._head_end and not inline.begins_property(self.lines[last]):
            last += 1
        return line, last

    def _property(self, line: int, mentioned: Iterable[int]) -> Extract:
        first, last = self._key_lines(line)
        return Extract(first, last, tuple(sorted({first, *mentioned})), (first,))

    def _heading(self, number: int, mentioned: Iterable[int]) -> Extract:
        start, end = self._starts[number], self._ends[number]
        own = tuple(range(start, end + 1))
        below = self.heads(number)
        if below is None:
            return Extract(start, end, own, own)
        lines = [line for line in mentioned if line > end]
        body = self._body(below, lines or self._lines_of(below))
        return Extract(start, body.end, (*own, *body.shown), (*own, *(body.frame or body.shown[:1])))

    def _body(self, number: int, mentioned: Iterable[int]) -> Extract:
        start, end, own = self._starts[number], self._ends[number], tuple(self._lines_of(number))
        kind = self._kinds[number]
        if kind is BlockKind.TABLE:
            return Extract(start, end, tuple(sorted({*own[:2], *mentioned})), own[:2])
        if above := self._ancestors(number):
            whole = tuple(line for item in above for line in self._lines_of(item))
            return Extract(start, end, (*whole, *own), tuple(self._starts[item] for item in above))
        return Extract(start, end, own, own[:1] if kind is BlockKind.CALLOUT else ())

    def _lines_of(self, number: int) -> range:
        return range(self._starts[number], self._ends[number] + 1)

    def _ancestors(self, number: int) -> list[int]:
        """The list items that the block *number* stands below, outermost first."""
        if self._parents is None:
            self._parents = list(_parents(self._kinds, self._depths))
        found: list[int] = []
        while (number := self._parents[number]) >= 0:
            found.append(number)
        return found[::-1]


def _parents(kinds: Sequence[BlockKind], depths: Sequence[int]) -> Iterator[int]:
    """For each block the number of the list item that it stands below, -1 for none."""
    open_items: list[int] = []
    for number, (kind, depth) in enumerate(zip(kinds, depths, strict=True)):
        while open_items and depths[open_items[-1]] >= depth:
            open_items.pop()
        yield open_items[-1] if open_items else -1
        if kind is BlockKind.LIST_ITEM:
            open_items.append(number)
