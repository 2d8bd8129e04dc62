"""Quotes and callouts: one block with all that they hold; fences inside them are kept out of the running text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from second_brain.model import BlockKind
from second_brain.vault.line_forms import CALLOUT, QUOTE_MARK, QUOTE_MARKS, START, closes

if TYPE_CHECKING:
    from second_brain.vault.blocks import BlockScanner

_TEXT = frozenset((None, "item", "tag"))  # what a line may open and still be text that the next line can go on with


class QuoteScanner:
    """Reads one quote into *blocks*."""

    def __init__(self, blocks: BlockScanner) -> None:
        self._blocks = blocks
        self._lines = blocks.lines
        self._run = -1
        self._text_above = False

    def scan(self, index: int) -> int:
        """The quote that begins at line *index*; returns the index behind it."""
        kind = BlockKind.CALLOUT if CALLOUT.match(self._lines[index]) else BlockKind.QUOTE
        end = index
        while end < len(self._lines):
            line = self._lines[end]
            marks = QUOTE_MARKS.match(line)
            if marks is not None:
                end = self._take(end, line[marks.end() :], marks[0].count(">"))
            elif self._text_above and line.strip() and not self._blocks.interrupts(end):
                end += 1
            else:
                break
        self._close_run(end)
        self._blocks.add(kind, index, end)
        return end

    def _take(self, index: int, content: str, level: int) -> int:
        """One line of the quote, without its marks; a fence is taken whole."""
        if not content.strip():
            self._text_above = False
            self._close_run(index)
            return index + 1
        opened = START.match(content.lstrip())
        kind = opened.lastgroup if opened is not None else None
        self._text_above = kind in _TEXT
        if opened is not None and kind == "fence":
            self._close_run(index)
            return self._behind_fence(index + 1, opened["fence"], level)
        if self._run < 0:
            self._run = index
        if kind == "item":
            self._blocks.add_task(index, content)
        return index + 1

    def _behind_fence(self, index: int, fence: str, level: int) -> int:
        """The fence ends at its closing line, or where its level of quoting ends."""
        while index < len(self._lines):
            inside = _unquoted(self._lines[index], level)
            if inside is None:
                return index
            index += 1
            if closes(fence, inside.lstrip()):
                return index
        return index

    def _close_run(self, index: int) -> None:
        if self._run >= 0:
            self._blocks.runs.append((self._run, index))
            self._run = -1


def _unquoted(line: str, level: int) -> str | None:
    """*line* without its first *level* quote marks, None when it has fewer."""
    position = 0
    for _ in range(level):
        match = QUOTE_MARK.match(line, position)
        if match is None:
            return None
        position = match.end()
    return line[position:]
