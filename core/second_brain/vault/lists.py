"""Lists: one block for the own lines of each item, fences and formulas inside them as blocks of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from second_brain.model import BlockKind
from second_brain.vault.line_forms import ITEM, START, closes, indent_of

if TYPE_CHECKING:
    from second_brain.vault.blocks import BlockScanner

_STEP = 2  # columns that make a child; below "1." CommonMark would want three, people write two


class ListScanner:
    """Reads one list into *blocks*; depth 0 are the outermost items, what stands below an item lies one deeper."""

    def __init__(self, blocks: BlockScanner) -> None:
        self._blocks = blocks
        self._lines = blocks.lines
        self._limits: list[int] = []  # per open item: from this column on a line is below it
        self._open: tuple[BlockKind, int, int] | None = None  # kind, first line, depth of the block being read
        self._end = 0
        self._run = -1

    def scan(self, index: int) -> int:
        """The list that begins at line *index*; returns the index behind it."""
        after_blank = False
        while index < len(self._lines):
            line = self._lines[index]
            if not line or line.isspace():
                self._close_run(index)
                index, after_blank = index + 1, True
                continue
            indent = indent_of(line) if line[0] in " \t" else 0
            if ITEM.match(line) and not self._is_rule(line):
                self._begin_item(index, indent)
            elif self._leaves(index, indent, after_blank=after_blank):
                break
            elif indent >= self._limits[0] and (end := self._behind_fenced(index, indent)):
                self._take_fenced(index, end)
                index, after_blank = end, False
                continue
            else:
                self._take_text(index, indent, after_blank=after_blank)
            index, after_blank = index + 1, False
        self._close(index)
        return self._end

    def _begin_item(self, index: int, indent: int) -> None:
        self._close(index)
        while self._limits and indent < self._limits[-1]:
            self._limits.pop()
        self._begin(BlockKind.LIST_ITEM, index, len(self._limits))
        self._limits.append(indent + _STEP)
        self._blocks.add_task(index, self._lines[index])

    def _leaves(self, index: int, indent: int, *, after_blank: bool) -> bool:
        """True when the line is no longer part of the list."""
        if indent >= self._limits[0]:
            return False
        return after_blank or self._open is None or self._blocks.interrupts(index)

    def _take_text(self, index: int, indent: int, *, after_blank: bool) -> None:
        if after_blank or self._open is None:
            while len(self._limits) > 1 and indent < self._limits[-1]:
                self._limits.pop()
            depth = len(self._limits)
            if self._open is None or self._depth_below(self._open) != depth:
                self._close(index)
                self._begin(BlockKind.PARAGRAPH, index, depth)
                return
        if self._run < 0:
            self._run = index
        self._end = index + 1

    def _depth_below(self, block: tuple[BlockKind, int, int]) -> int:
        """The depth of text below the open block: below an item one more, beside a paragraph the same."""
        return block[2] + (block[0] is BlockKind.LIST_ITEM)

    def _behind_fenced(self, index: int, indent: int) -> int:
        """The index behind the fence or formula that the line opens inside its item, 0 when it opens none.

        Without an end a fence runs as far as the item, and a formula is none.
        """
        stripped = self._lines[index].lstrip()
        match = START.match(stripped) if stripped[0] in "`~$" else None
        if match is None or (match["math"] and "$$" in stripped[2:]):
            return 0
        limit = next((limit for limit in reversed(self._limits) if limit <= indent), self._limits[0])
        last = index + 1
        for end in range(index + 1, len(self._lines)):
            line = self._lines[end]
            if not line.strip():
                continue
            if indent_of(line) < limit:
                break
            last = end + 1
            if closes(match["fence"], line.lstrip()) if match["fence"] else "$$" in line:
                return last
        return last if match["fence"] else 0

    def _take_fenced(self, index: int, end: int) -> None:
        indent = indent_of(self._lines[index])
        while len(self._limits) > 1 and indent < self._limits[-1]:
            self._limits.pop()
        self._close(index)
        kind = BlockKind.MATH if self._lines[index].lstrip().startswith("$") else BlockKind.FENCE
        self._blocks.add(kind, index, end, len(self._limits))
        self._end = end

    def _is_rule(self, line: str) -> bool:
        match = START.match(line.lstrip())
        return match is not None and match.lastgroup == "rule"

    def _begin(self, kind: BlockKind, index: int, depth: int) -> None:
        self._open = (kind, index, depth)
        self._run = index
        self._end = index + 1

    def _close_run(self, index: int) -> None:
        if self._run >= 0:
            self._blocks.runs.append((self._run, min(index, self._end)))
            self._run = -1

    def _close(self, index: int) -> None:
        self._close_run(index)
        if self._open is not None:
            kind, start, depth = self._open
            self._blocks.add(kind, start, self._end, depth)
            self._open = None
