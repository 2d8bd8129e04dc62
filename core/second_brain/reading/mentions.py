"""Where a note is mentioned: the Markdown around each mention within a budget of tokens, and a map of all the others.

All comes from one state of the index: the stored texts are the very ones whose links it has.  No file is read.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from second_brain.errors import Ambiguous, NotFound
from second_brain.index import catalog
from second_brain.index.resolve import readings, resolve
from second_brain.model import LinkKind
from second_brain.network import network_of
from second_brain.reading.excerpts import excerpts_of
from second_brain.reading.filling import Listed, fill, fill_in_order
from second_brain.reading.going_on import Cursor, Next, Place, cursor_of, place_of
from second_brain.reading.kept_blocks import blocks_of
from second_brain.reading.trimming import Mention
from second_brain.reading.unlinked import plain_mentions

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from second_brain.index.catalog import LinkRow
    from second_brain.index.reader import Reader
    from second_brain.reading.excerpts import Excerpt

BUDGET = 4_000
"""Tokens of the excerpts of one call; labels and the map come on top."""


@dataclass(frozen=True, slots=True)
class Shown:
    """An excerpt of the note `path`, from `line` (of its first mention) under the headings `heading_path`.

    `mentions` counts those that it shows, `lines` are theirs; a mention in a property has the line of its key.  What was too long
    is `trimmed` to its mentions, in several `parts` if need be, of which it is number `part`.
    """

    path: str
    line: int
    heading_path: tuple[str, ...]
    text: str
    mentions: int
    lines: tuple[int, ...]
    trimmed: bool
    part: int
    parts: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Mapped:
    """Mentions of one note that are not shown: how many, and on which lines."""

    path: str
    lines: tuple[int, ...]
    count: int


@dataclass(frozen=True, slots=True)
class Mentions:
    """Where `note` is mentioned.  `shown` and `map` together are `total` mentions in `notes` notes, each once.

    `resolved_path` is None for a note that links name and nobody wrote; `ambiguous` names the notes that the name fits when there
    are several, of which the shortest path was taken.  `tokens` are those of the excerpts.  `next` leads on, None at the end.
    """

    note: str
    resolved_path: str | None
    ambiguous: tuple[str, ...]
    total: int
    notes: int
    shown: tuple[Shown, ...]
    map: tuple[Mapped, ...]
    tokens: int
    budget_tokens: int
    message: str
    next: Next | None


class _Target(NamedTuple):
    """What the mentions are of; `path` is None for an unwritten note, whose `names` are what was asked for."""

    note: str
    path: str | None
    names: tuple[str, ...]
    ambiguous: tuple[str, ...] = ()


class _Source(NamedTuple):
    """A note that mentions; the first `before` of its mentions are not asked for."""

    path: str
    doc: int
    mentions: Sequence[Mention]
    least: int
    before: int = 0

    @property
    def count(self) -> int:
        return len(self.mentions) - self.before


def find_mentions(
    reader: Reader,
    name: str,
    *,
    unlinked: bool = False,
    budget_tokens: int = BUDGET,
    paths: str | Sequence[str] = (),
    after: str | Sequence[str] = "",
    skip_folders: Sequence[str] = (),
    name_endings: Sequence[str] = (),
) -> Mentions:
    """The mentions of the note *name* in other notes, in path and text order: links to it, with *unlinked* its names as text.

    *name* and *paths*, the notes to look in, are as `resolve` takes them; *name* may also be that of an unwritten note which links
    name.  *after* shows what comes behind places that an answer told (see `going_on`), in path order; otherwise the notes with
    the most mentions come first and every top-level folder has its turn.  Notes below *skip_folders* are left out;
    *name_endings* may follow a name in plain text.

    Raises `NotFound` when nothing bears or links to *name* or to one of *paths*, `InvalidParameter` for another *after*.
    """
    with reader.snapshot():
        target = _target(reader, name)
        cursor = cursor_of(reader, after)
        only = _resolved_paths(reader, (paths,) if isinstance(paths, str) else paths)
        if unlinked:
            found = _plain(reader, target, name_endings)
        else:
            found = _linked(_links_to(reader, target))
        sources = list(_asked(found, only, skip_folders, cursor))
        return _Answer(reader, sources, cursor, budget_tokens).of(target, only, "mention" if unlinked else "link")


# -- which notes ----------------------------------------------------------------------------------------------------------


def _target(reader: Reader, name: str) -> _Target:
    ambiguous: tuple[str, ...] = ()
    try:
        path = resolve(reader, name).path
    except Ambiguous as error:
        ambiguous = error.options
        path = ambiguous[0]  # the shortest
    except NotFound:
        network = network_of(reader)
        unwritten = next((form for form in readings(name) if network.links_to_unwritten(form)), None)
        if unwritten is None:
            raise
        return _Target(unwritten, None, (unwritten,))
    note = catalog.note_at(reader, path)
    title = note.title if note else ""
    return _Target(title or name, path, (title, *catalog.names_of(reader, path)), ambiguous)


def _links_to(reader: Reader, target: _Target) -> list[LinkRow]:
    network = network_of(reader)
    return network.links_to_unwritten(target.note) if target.path is None else network.links_to(target.path)


def _linked(rows: Iterable[LinkRow]) -> Iterator[_Source]:
    for path, group in groupby(rows, key=lambda row: row[0]):
        links = list(group)
        mentions = [_of_link(links[0])] if len(links) == 1 else _distinct(links)
        yield _Source(path, links[0][5], mentions, sum(len(link[1]) for link in links) // 4)


def _of_link(link: LinkRow) -> Mention:
    _, target, kind, line, column, _ = link
    return Mention(line, column, line, target if kind == LinkKind.PROPERTY else "")


def _distinct(links: Sequence[LinkRow]) -> list[Mention]:
    """In the order of the text.  Links of one property may have one place: their columns are made to rise, so that each has its own."""
    mentions = [_of_link(link) for link in links]
    mentions.sort(key=lambda mention: (mention.line, 0 if mention.target else mention.column))
    for place in range(1, len(mentions)):
        before, mention = mentions[place - 1], mentions[place]
        if mention[:2] <= before[:2]:
            mentions[place] = mention._replace(column=before.column + 1)
    return mentions


def _plain(reader: Reader, target: _Target, endings: Sequence[str]) -> Iterator[_Source]:
    for path, doc, mentions, length in plain_mentions(reader, target.names, endings):
        if path != target.path:
            yield _Source(path, doc, mentions, length // 4)


def _resolved_paths(reader: Reader, names: Iterable[str]) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for name in names:
        try:
            found[resolve(reader, name).path] = None
        except (NotFound, Ambiguous) as error:
            raise type(error)(error.message, hint=error.hint, parameter="paths", options=error.options) from None
    return tuple(found)


def _asked(found: Iterable[_Source], only: Sequence[str], skipped: Sequence[str], cursor: Cursor) -> Iterator[_Source]:
    folders = tuple(f"{_composed(folder).strip('/')}/" for folder in skipped if folder.strip("/"))
    for source in found:
        path = source.path
        if (only and path not in only) or (folders and _composed(path).startswith(folders)):
            continue
        before = cursor.shown(path, source.mentions) if cursor else 0
        if before < len(source.mentions):
            yield source._replace(before=before, least=0) if before else source


def _composed(path: str) -> str:
    return path if path.isascii() else unicodedata.normalize("NFC", path)


# -- what of them ---------------------------------------------------------------------------------------------------------


class _Answer:
    """Fills the budget; texts are read of notes that may be shown, and of no others."""

    def __init__(self, reader: Reader, sources: Sequence[_Source], cursor: Cursor, budget: int) -> None:
        self._reader = reader
        self._sources = {source.path: source for source in sources}
        self._cursor = cursor
        self._budget = budget
        self._made: dict[str, list[Excerpt]] = {}
        if cursor:
            self._counts: Mapping[str, int] = fill_in_order(self._sources, self._costs, budget)
        else:
            listed = [Listed(source.path, source.count, source.least) for source in sources]
            self._counts = fill(listed, self._costs, budget)

    def of(self, target: _Target, only: tuple[str, ...], verb: str) -> Mentions:
        """The answer about *target*, of the notes *only* or of all."""
        shown = tuple(_shown(path, one) for path in self._sources for one in self._seen(path))
        total = sum(source.count for source in self._sources.values())
        answer = Mentions(
            note=target.note,
            resolved_path=target.path,
            ambiguous=target.ambiguous,
            total=total,
            notes=len(self._sources),
            shown=shown,
            map=tuple(self._map()),
            tokens=sum(one.tokens for one in shown),
            budget_tokens=self._budget,
            message="",
            next=self._next(only),
        )
        return replace(answer, message=_message(answer, verb, bool(self._cursor) or bool(only)))

    def _costs(self, path: str) -> list[int]:
        return [excerpt.tokens for excerpt in self._excerpts(path)]

    def _excerpts(self, path: str) -> list[Excerpt]:
        if path not in self._made:
            source = self._sources[path]
            excerpts = excerpts_of(blocks_of(self._reader, source.doc), source.mentions)
            self._made[path] = list(_behind(excerpts, source.before))
        return self._made[path]

    def _seen(self, path: str) -> list[Excerpt]:
        count = self._counts.get(path, 0)
        return self._excerpts(path)[:count] if count else []

    def _unseen(self, path: str) -> Sequence[Mention]:
        source = self._sources[path]
        return source.mentions[source.before + sum(len(one.mentions) for one in self._seen(path)) :]

    def _map(self) -> Iterator[Mapped]:
        for path in self._sources:
            if unseen := self._unseen(path):
                yield Mapped(path, tuple(dict.fromkeys(mention[0] for mention in unseen)), len(unseen))

    def _next(self, only: tuple[str, ...]) -> Next | None:
        """How to go on: in the notes that are left, or in all with the places up to which they were shown; what is shorter."""
        left = [path for path in self._sources if self._unseen(path)]
        if not left:
            return None
        needed = self._costs(left[0])[self._counts.get(left[0], 0)]
        budget = max(self._budget, needed)
        start = self._place(left[0])
        if self._cursor:
            later = [place for place in self._cursor.places.values() if place.path > start.path]
            return Next(only, (str(start), *map(str, later)), budget)
        partly = [str(self._place(path)) for path in left[1:] if self._counts.get(path)]
        whole = [str(self._place(path)) for path in self._sources if path > start.path and self._counts.get(path)]
        if len(left) + len(partly) <= len(only) + len(whole):
            return Next(tuple(left), (str(start), *partly), budget)
        return Next(only, (str(start), *whole), budget)

    def _place(self, path: str) -> Place:
        """Behind what was shown of a note, now or before."""
        mentions, unseen = self._sources[path].mentions, self._unseen(path)
        place = len(mentions) - len(unseen)
        return place_of(path, mentions[place - 1], unseen[0] if unseen else None) if place else Place(path, 0)


def _behind(excerpts: Iterable[Excerpt], count: int) -> Iterator[Excerpt]:
    """The excerpts without the first *count* mentions."""
    for excerpt in excerpts:
        rest = excerpt.mentions[count:]
        count = max(0, count - len(excerpt.mentions))
        if rest:
            yield excerpt if len(rest) == len(excerpt.mentions) else replace(excerpt, mentions=rest)


def _shown(path: str, excerpt: Excerpt) -> Shown:
    return Shown(
        path=path,
        line=excerpt.mentions[0].line,
        heading_path=excerpt.heading_path,
        text=excerpt.text,
        mentions=len(excerpt.mentions),
        lines=tuple(dict.fromkeys(mention.line for mention in excerpt.mentions)),
        trimmed=excerpt.trimmed,
        part=excerpt.part,
        parts=excerpt.parts,
        tokens=excerpt.tokens,
    )


# -- in words -------------------------------------------------------------------------------------------------------------


def _message(answer: Mentions, verb: str, narrowed: bool) -> str:
    named = answer.note if answer.resolved_path else f"{answer.note} (not written yet)"
    counts = f"{_plural(answer.total, 'mention')} in {_plural(answer.notes, 'note')}"
    if not answer.total and not narrowed:
        counts = f"0 notes {verb} here" if verb == "link" else "0 notes mention it in plain text"
    elif answer.total:
        shown = sum(one.mentions for one in answer.shown)
        counts += f"; {shown:,} shown ({answer.tokens:,} of {answer.budget_tokens:,} tokens)"
    if answer.ambiguous:
        counts += f"; the name fits {len(answer.ambiguous)} notes, this is {answer.resolved_path}"
    return " ".join(f"{named}: {counts}".split())


def _plural(count: int, what: str) -> str:
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"
