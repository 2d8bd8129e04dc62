"""The notes that mention another one, and which of their mentions are asked for.

A hub has thousands: until a note is shown, its links stay the rows that the index gave.
"""

from __future__ import annotations

import unicodedata
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from second_brain.index.catalog import LinkRow
from second_brain.model import LinkKind
from second_brain.reading.trimming import Mention

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from second_brain.reading.going_on import Cursor


class Source(NamedTuple):
    """A note with what it says of another: its link rows (one alone without a list), or mentions in the order of the text.

    The first `before` of them are not asked for; excerpts of the others cost `least` tokens or more.
    """

    path: str
    doc: int
    said: LinkRow | Sequence[LinkRow | Mention]
    total: int
    least: int
    before: int = 0

    def mentions(self) -> Sequence[Mention]:
        """All its mentions in the order of the text, no two at one place."""
        if isinstance(self.said, LinkRow):
            return [_mention(self.said)]
        return _distinct([_mention(one) for one in self.said])

    def lines(self) -> tuple[int, ...]:
        """The lines of those that are asked for."""
        if isinstance(self.said, LinkRow):
            return (self.said.line,)
        return lines_of(self.mentions()[self.before :])


def lines_of(mentions: Iterable[Mention]) -> tuple[int, ...]:
    """On which lines they stand, each line once."""
    return tuple(dict.fromkeys(mention.line for mention in mentions))


def linked(rows: Iterable[LinkRow]) -> Iterator[Source]:
    """The notes that *rows* stand in, in their order."""
    by_path: dict[str, LinkRow | list[LinkRow]] = {}
    for row in rows:
        path = row[0]
        before = by_path.get(path)
        if before is None:
            by_path[path] = row
        elif isinstance(before, list):
            before.append(row)
        else:
            by_path[path] = [before, row]
    for path, said in by_path.items():
        if isinstance(said, list):
            yield Source(path, said[0].doc, said, len(said), sum(len(row.target) for row in said) // 4)
        else:
            yield Source(path, said[5], said, 1, len(said[1]) // 4)


def narrowed(
    sources: Iterable[Source], only: Sequence[str], skipped_folders: Sequence[str], cursor: Cursor
) -> Mapping[str, Source]:
    """The *sources* by path: of the notes *only* (all without any), outside of some folders, behind the cursor."""
    if wanted := frozenset(only):
        sources = (source for source in sources if source.path in wanted)
    if folders := tuple(f"{_composed(folder).strip('/')}/" for folder in skipped_folders if folder.strip("/")):
        sources = (source for source in sources if not _composed(source.path).startswith(folders))
    if cursor:
        sources = (rest for source in sources if (rest := _behind(source, cursor)).total)
    return {source.path: source for source in sources}


def _behind(source: Source, cursor: Cursor) -> Source:
    before = cursor.shown(source.path, source.mentions())
    return source._replace(before=before, total=source.total - before)


def _composed(path: str) -> str:
    return path if path.isascii() else unicodedata.normalize("NFC", path)


def _mention(said: LinkRow | Mention) -> Mention:
    if isinstance(said, Mention):
        return said
    return Mention(said.line, said.column, said.line, said.target if said.kind == LinkKind.PROPERTY else "")


def _distinct(mentions: list[Mention]) -> list[Mention]:
    """In the order of the text.  Links of one property may have one place: their columns are made to rise."""
    if len(mentions) == 1:
        return mentions
    mentions.sort(key=itemgetter(0, 1))
    for place in range(1, len(mentions)):
        before, mention = mentions[place - 1], mentions[place]
        if mention[:2] <= before[:2]:
            mentions[place] = mention._replace(column=before.column + 1)
    return mentions
