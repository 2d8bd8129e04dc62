"""A note's text with its headings, told without taking apart what nobody asked for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from second_brain.vault import head
from second_brain.vault.blocks import BlockScanner

if TYPE_CHECKING:
    from collections.abc import Sequence

    from second_brain.model import Block, Heading


@dataclass(frozen=True, slots=True)
class Outline:
    """*text* as `parse` takes it; `head_end` is the line that closes the frontmatter, 0 without one."""

    text: str
    head_end: int = field(init=False)

    def __post_init__(self) -> None:
        """Find the frontmatter."""
        object.__setattr__(self, "head_end", head.end_line(self.text))

    def heading_path(self, line: int) -> tuple[str, ...]:
        """The headings above *line*, outermost first, itself included when it is one."""
        path: tuple[str, ...] = ()
        for heading in self.headings(line):
            if heading.line > line:
                break
            path = heading.path
        return path

    def headings(self, until: int | None = None) -> Sequence[Heading]:
        """The headings in the order of the text; all that begin in the lines up to *until*, and few beyond."""
        return self._scanned(until).headings

    def heading_blocks(self) -> Sequence[Block]:
        """The lines of all headings, underlines included."""
        return [block for block in self._scanned(None).blocks if block.kind == "heading"]

    def _scanned(self, until: int | None) -> BlockScanner:
        return BlockScanner(self.text.split("\n"), self.head_end, until)
