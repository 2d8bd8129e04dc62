"""A note's text to everything that the index wants to know of it: a pure function that never raises."""

from __future__ import annotations

from typing import TYPE_CHECKING

from second_brain.model import Frontmatter, Link, ParsedNote, Tag, TagSource, stem_of
from second_brain.vault import frontmatter, inline
from second_brain.vault.blocks import BlockScanner
from second_brain.vault.tags import fold

if TYPE_CHECKING:
    from collections.abc import Iterable


def parse(path: str, text: str, *, inline_tags: bool = True) -> ParsedNote:
    """The structure of a note; *text* is as `Vault.read` gives it.

    Blocks, links and headings come in the order of the text (links of the frontmatter first).  Without *inline_tags*
    only the frontmatter gives tags.
    """
    head = frontmatter.parse(text)
    lines = text.split("\n")
    links = inline.property_links(lines[: head.end_line - 1]) if head.end_line else []
    structure = BlockScanner(lines, head.end_line)
    names = _scan_runs(structure, links, inline_tags=inline_tags)
    own_title = head.title or next((h.text for h in structure.headings if h.level == 1 and h.text), "")
    return ParsedNote(
        path=path,
        text=text,
        title=own_title or stem_of(path),
        own_title=own_title,
        frontmatter=head,
        headings=tuple(structure.headings),
        blocks=tuple(structure.blocks),
        links=tuple(links),
        tags=_tags(head, names),
        aliases=head.aliases,
        tasks=tuple(structure.tasks),
        problems=(head.problem,) if head.problem else (),
    )


def _scan_runs(structure: BlockScanner, links: list[Link], *, inline_tags: bool) -> list[str]:
    """Add the links of the running text to *links*; returns its tags."""
    names: list[str] = []
    tags = names if inline_tags else None
    for start, end in structure.runs:
        run = structure.lines[start] if end == start + 1 else "\n".join(structure.lines[start:end])
        if "[" in run or (inline_tags and "#" in run):
            inline.scan(run, start + 1, links, tags)
    return names


def _tags(head: Frontmatter, names: Iterable[str]) -> tuple[Tag, ...]:
    unique = {fold(name): Tag(name, TagSource.FRONTMATTER) for name in head.tags}
    for name in names:
        unique.setdefault(fold(name), Tag(name, TagSource.INLINE))
    return tuple(unique.values())
