"""Where a note is mentioned: the Markdown around each mention within a budget of tokens, and a map of all the others.

All comes from one state of the index: the stored texts are the very ones whose links it has.  No file is read.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from second_brain import memory
from second_brain.reading.excerpts import excerpts_of
from second_brain.reading.filling import fill, fill_in_order
from second_brain.reading.going_on import Cursor, Next, Place, cursor_of, place_of
from second_brain.reading.kept_blocks import blocks_of
from second_brain.reading.mentioned import resolved_paths, sources_of, target_of
from second_brain.reading.sources import lines_of, narrowed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from second_brain.index.reader import Reader
    from second_brain.reading.excerpts import Excerpt
    from second_brain.reading.mentioned import Target
    from second_brain.reading.sources import Source
    from second_brain.reading.trimming import Mention

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
    """Where `note` is mentioned.  `shown` and `map`, both in path order, together are `total` mentions in `notes` notes, each once.

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
    warnings: tuple[str, ...] = ()


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
    with reader.snapshot(), memory.without_cycle_search():
        target = target_of(reader, name)
        cursor = cursor_of(reader, after)
        only = resolved_paths(reader, (paths,) if isinstance(paths, str) else paths)
        sources = sources_of(reader, target, name_endings if unlinked else None)
        asked = narrowed(sources, only, skip_folders, cursor)
        return _Answer(reader, asked, cursor, budget_tokens).of(target, only, unlinked=unlinked)


class _Answer:
    """Fills the budget; texts are read of notes that may be shown, and of no others."""

    def __init__(self, reader: Reader, sources: Mapping[str, Source], cursor: Cursor, budget: int) -> None:
        self._reader = reader
        self._sources = sources
        self._cursor = cursor
        self._budget = budget
        self._made: dict[str, list[Excerpt]] = {}
        if cursor:
            counts = fill_in_order(sources, self._costs, budget)
        else:
            counts = fill(list(sources.values()), self._costs, budget)
        self._shown = {path: self._made[path][: counts[path]] for path in sources if counts.get(path)}

    def of(self, target: Target, only: tuple[str, ...], *, unlinked: bool) -> Mentions:
        """The answer about *target*, of the notes *only* or of all."""
        shown = tuple(_told(path, excerpt) for path, excerpts in self._shown.items() for excerpt in excerpts)
        left = tuple(self._left())
        answer = Mentions(
            note=target.note,
            resolved_path=target.path,
            ambiguous=target.ambiguous,
            total=sum(source.total for source in self._sources.values()),
            notes=len(self._sources),
            shown=shown,
            map=left,
            tokens=sum(excerpt.tokens for excerpt in shown),
            budget_tokens=self._budget,
            message="",
            next=self._next(left, only) if left else None,
        )
        return replace(answer, message=_message(answer, narrowed=bool(self._cursor or only), unlinked=unlinked))

    def _costs(self, path: str) -> list[int]:
        return [excerpt.tokens for excerpt in self._excerpts(path)]

    def _excerpts(self, path: str) -> list[Excerpt]:
        if path not in self._made:
            source = self._sources[path]
            excerpts = excerpts_of(blocks_of(self._reader, source.doc), source.mentions())
            self._made[path] = list(_behind(excerpts, source.before)) if source.before else excerpts
        return self._made[path]

    def _left(self) -> Iterator[Mapped]:
        """What is not shown, in path order."""
        for path, source in self._sources.items():
            if path not in self._shown:
                yield Mapped(path, source.lines(), source.total)
            elif unseen := self._seen_and_unseen(path)[1]:
                yield Mapped(path, lines_of(unseen), len(unseen))

    def _seen_and_unseen(self, path: str) -> tuple[Sequence[Mention], Sequence[Mention]]:
        """The mentions of a note up to the last that was shown, now or before, and the others."""
        source = self._sources[path]
        mentions = source.mentions()
        place = source.before + sum(len(excerpt.mentions) for excerpt in self._shown.get(path, ()))
        return mentions[:place], mentions[place:]

    def _next(self, left: Sequence[Mapped], only: tuple[str, ...]) -> Next:
        """How to go on: in the notes that are left, or in all behind the places up to which they were shown; what is shorter."""
        first = left[0].path
        budget = max(self._budget, self._costs(first)[len(self._shown.get(first, ()))])
        start = self._place(first)
        if self._cursor:
            later = [place for path, place in self._cursor.places.items() if path > first]
            return Next(only, (str(start), *map(str, later)), budget)
        begun = [str(self._place(note.path)) for note in left[1:] if note.path in self._shown]
        told = [str(self._place(path)) for path in self._shown if path > first]
        if len(left) + len(begun) <= len(only) + len(told) + 1:
            return Next(tuple(note.path for note in left), (str(start), *begun), budget)
        return Next(only, (str(start), *told), budget)

    def _place(self, path: str) -> Place:
        """Behind what was shown of a note, now or before."""
        seen, unseen = self._seen_and_unseen(path)
        return place_of(path, seen[-1], unseen[0] if unseen else None) if seen else Place(path, 0)


def _behind(excerpts: Iterable[Excerpt], count: int) -> Iterator[Excerpt]:
    """The excerpts without the first *count* mentions."""
    for excerpt in excerpts:
        rest = excerpt.mentions[count:]
        count = max(0, count - len(excerpt.mentions))
        if rest:
            yield excerpt if len(rest) == len(excerpt.mentions) else replace(excerpt, mentions=rest)


def _told(path: str, excerpt: Excerpt) -> Shown:
    return Shown(
        path=path,
        line=excerpt.mentions[0].line,
        heading_path=excerpt.heading_path,
        text=excerpt.text,
        mentions=len(excerpt.mentions),
        lines=lines_of(excerpt.mentions),
        trimmed=excerpt.trimmed,
        part=excerpt.part,
        parts=excerpt.parts,
        tokens=excerpt.tokens,
    )


# -- in words -------------------------------------------------------------------------------------------------------------


def _message(answer: Mentions, *, narrowed: bool, unlinked: bool) -> str:
    named = answer.note if answer.resolved_path else f"{answer.note} (no note of this name here)"
    counts = f"{_plural(answer.total, 'mention')} in {_plural(answer.notes, 'note')}"
    if not answer.total and not narrowed:
        counts = "0 notes mention it in plain text" if unlinked else "0 notes link here"
    elif answer.total:
        shown = sum(one.mentions for one in answer.shown)
        counts += f"; {shown:,} shown ({answer.tokens:,} of {answer.budget_tokens:,} tokens)"
    if answer.ambiguous:
        counts += f"; the name fits {len(answer.ambiguous)} notes, this is {answer.resolved_path}"
    return " ".join(f"{named}: {counts}".split())


def _plural(count: int, what: str) -> str:
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"
