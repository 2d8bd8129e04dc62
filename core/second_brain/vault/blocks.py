"""The block structure of a note, in one pass over its lines.

Every non-blank line of the body ends up in exactly one block.  Beside the blocks come the headings, the tasks and the
*runs*: line ranges that hold running text, where links and tags count.  Code, comments and formulas are in no run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from second_brain.model import Block, BlockKind, Heading, Task
from second_brain.vault.line_forms import (
    ANCHOR_END,
    ANCHOR_LINE,
    DELIMITER_ROW,
    START,
    STARTERS,
    TASK,
    UNDERLINE,
    cells_of,
    closes,
    heading_text,
    indent_of,
)
from second_brain.vault.lists import ListScanner
from second_brain.vault.quotes import QuoteScanner

if TYPE_CHECKING:
    import re
    from collections.abc import Callable

_CODE_INDENT = 4


class BlockScanner:
    """The structure of *lines* from index *first* on; the results stand in the attributes.

    With *until* what begins at that index or later may be missing.  Indices count from 0, the line numbers of the results from 1; runs are index ranges without their end.
    """

    def __init__(self, lines: list[str], first: int, until: int | None = None) -> None:
        self.lines = lines
        self.blocks: list[Block] = []
        self.headings: list[Heading] = []
        self.tasks: list[Task] = []
        self.runs: list[tuple[int, int]] = []
        self._outline: list[Heading] = []
        self._unclosed: set[str] = set()
        self._scan(first, len(lines) if until is None else min(until, len(lines)))

    def add(self, kind: BlockKind, start: int, end: int, depth: int = 0) -> None:
        """Record the block of the lines *start* to *end* (excluded)."""
        anchor = ""
        if "^" in self.lines[end - 1] and kind not in (BlockKind.FENCE, BlockKind.RULE):
            found = ANCHOR_END.search(self.lines[end - 1])
            anchor = found[1] if found else ""
        self.blocks.append(Block(kind, start + 1, end, depth, anchor))

    def add_task(self, index: int, line: str) -> None:
        """Record the task that *line*, freed of quote marks, may be."""
        if match := TASK.match(line):
            self.tasks.append(Task(match[2].rstrip(), match[1] in "xX", index + 1))

    def interrupts(self, index: int) -> bool:
        """True when the line begins a block of its own even right below running text."""
        match = self._start(self.lines[index])
        if match is None or match.lastgroup == "tag":
            return False
        if match.lastgroup == "item":
            rest = self.lines[index][match.end() :].strip()
            return bool(rest) and match["item"] in ("-", "*", "+", "1.", "1)")
        if match.lastgroup in ("math", "comment"):
            return self._closed_end(index, match) > 0
        return True

    def _scan(self, index: int, stop: int) -> None:
        after_blank = True
        while index < stop:
            line = self.lines[index]
            if not line or line.isspace():
                index, after_blank = index + 1, True
                continue
            match = self._start(line)
            if match is not None:
                index = self._OPENERS[str(match.lastgroup)](self, index, match)
            elif after_blank and line[0] in " \t" and indent_of(line) >= _CODE_INDENT:
                index = self._indented_code(index)
            elif "^" in line and self.blocks and self._takes_anchor(line):
                index += 1
            else:
                index = self._paragraph(index)
            after_blank = False

    def _start(self, line: str) -> re.Match[str] | None:
        stripped = line.lstrip(" ")
        return START.match(line) if stripped and stripped[0] in STARTERS else None

    def _takes_anchor(self, line: str) -> bool:
        """Give the block before a line that is nothing but ``^id`` that name and that line."""
        found = ANCHOR_LINE.match(line)
        last = self.blocks[-1]
        if found is None or last.anchor or last.kind in (BlockKind.HEADING, BlockKind.RULE):
            return False
        end = last.end + 1
        while not self.lines[end - 1].strip():
            end += 1
        self.blocks[-1] = Block(last.kind, last.start, end, last.depth, found[1])
        return True

    def _heading(self, index: int, match: re.Match[str]) -> int:
        self.add(BlockKind.HEADING, index, index + 1)
        self._add_heading(len(match["heading"]), heading_text(self.lines[index]), index)
        self.runs.append((index, index + 1))
        return index + 1

    def _add_heading(self, level: int, text: str, index: int) -> None:
        text = ANCHOR_END.sub("", text).strip() if "^" in text else text
        while self._outline and self._outline[-1].level >= level:
            self._outline.pop()
        path = (*self._outline[-1].path, text) if self._outline else (text,)
        heading = Heading(level, text, index + 1, path)
        self._outline.append(heading)
        self.headings.append(heading)

    def _paragraph(self, index: int) -> int:
        lines = self.lines
        end = index + 1
        while end < len(lines):
            line = lines[end]
            if not line or line.isspace():
                break
            first = line.lstrip(" ")[0]
            if first in "=-" and (underline := UNDERLINE.match(line)):
                self._add_setext(index, end, 1 if underline[1] else 2)
                return end + 1
            if first in "|:-" and self._is_table_below(end - 1):
                if end - 1 > index:
                    self._add_text(BlockKind.PARAGRAPH, index, end - 1)
                return self._table(end - 1)
            if first in STARTERS and self.interrupts(end):
                break
            end += 1
        self._add_text(BlockKind.PARAGRAPH, index, end)
        return end

    def _add_text(self, kind: BlockKind, start: int, end: int) -> None:
        self.add(kind, start, end)
        self.runs.append((start, end))

    def _add_setext(self, start: int, underline: int, level: int) -> None:
        text = " ".join(line.strip() for line in self.lines[start:underline])
        self._add_heading(level, text, start)
        self.blocks.append(Block(BlockKind.HEADING, start + 1, underline + 1))
        self.runs.append((start, underline))

    def _is_table_below(self, header: int) -> bool:
        row, delimiters = self.lines[header], self.lines[header + 1]
        return "|" in row and DELIMITER_ROW.match(delimiters) is not None and cells_of(row) == cells_of(delimiters)

    def _table(self, index: int) -> int:
        end = index + 2
        while end < len(self.lines):
            line = self.lines[end]
            if not line.strip() or ANCHOR_LINE.match(line) or self.interrupts(end):
                break
            end += 1
        self.add(BlockKind.TABLE, index, end)
        # A code span never reaches over the end of a row.
        self.runs.extend((row, row + 1) for row in range(index, end) if row != index + 1)
        return end

    def _rule(self, index: int, _: re.Match[str]) -> int:
        self.add(BlockKind.RULE, index, index + 1)
        return index + 1

    def _indented_code(self, index: int) -> int:
        end = last = index + 1
        while end < len(self.lines):
            line = self.lines[end]
            if line.strip():
                if indent_of(line) < _CODE_INDENT:
                    break
                last = end + 1
            end += 1
        self.add(BlockKind.FENCE, index, last)
        return last

    def _fence(self, index: int, match: re.Match[str]) -> int:
        fence = match["fence"]
        end = index + 1
        while end < len(self.lines) and not closes(fence, self.lines[end]):
            end += 1
        end = min(end + 1, len(self.lines))
        self.add(BlockKind.FENCE, index, end)
        return end

    def _math(self, index: int, match: re.Match[str]) -> int:
        end = self._closed_end(index, match)
        if not end:
            return self._paragraph(index)
        self.add(BlockKind.MATH, index, end)
        return end

    def _comment(self, index: int, match: re.Match[str]) -> int:
        end = self._closed_end(index, match)
        if not end:
            return self._paragraph(index)
        self.add(BlockKind.COMMENT, index, end)
        return end

    def _closed_end(self, index: int, match: re.Match[str]) -> int:
        """Where a formula or comment ends, 0 when it is none: never closed, or with text behind it on its only line.

        An HTML comment that is never closed runs to the end of the note, as browsers have it.
        """
        opener = match[str(match.lastgroup)]
        closer = "-->" if opener == "<!--" else opener
        rest = self.lines[index][match.end() :]
        if closer in rest:
            return 0 if rest.partition(closer)[2].strip() else index + 1
        if closer not in self._unclosed:
            for end in range(index + 1, len(self.lines)):
                if closer in self.lines[end]:
                    return end + 1
            self._unclosed.add(closer)
        return len(self.lines) if closer == "-->" else 0

    def _verbatim(self, index: int, match: re.Match[str]) -> int:
        closer = f"</{match['verbatim'][1:].lower()}>"
        end = index
        while end < len(self.lines) and closer not in self.lines[end].lower():
            end += 1
        end = min(end + 1, len(self.lines))
        self.add(BlockKind.HTML, index, end)
        return end

    def _html(self, index: int, _: re.Match[str]) -> int:
        end = index + 1
        while end < len(self.lines) and self.lines[end].strip():
            end += 1
        self._add_text(BlockKind.HTML, index, end)
        return end

    def _list(self, index: int, _: re.Match[str]) -> int:
        return ListScanner(self).scan(index)

    def _quote(self, index: int, _: re.Match[str]) -> int:
        return QuoteScanner(self).scan(index)

    _OPENERS: ClassVar[dict[str, Callable[[BlockScanner, int, re.Match[str]], int]]] = {
        "heading": _heading,
        "fence": _fence,
        "quote": _quote,
        "rule": _rule,
        "item": _list,
        "math": _math,
        "comment": _comment,
        "verbatim": _verbatim,
        "html": _html,
        "tag": _html,
    }
