"""Places among the mentions of a note, and from where the next call goes on.

A place is written ``path:line`` (all of that line is behind it) or ``path:line:column``.  Of several places the first in path order
says where to go on: it leaves out the notes before its own; each further one leaves out what its own note shows up to it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from second_brain.errors import InvalidParameter, SecondBrainError
from second_brain.index import catalog
from second_brain.index.resolve import resolve

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from second_brain.index.reader import Reader
    from second_brain.reading.trimming import Mention

_PLACE = re.compile(r"(.+?):L?(\d{1,9})(?::(\d{1,9}))?", re.DOTALL)
_WITH_LINE = re.compile(r"(.+):L?(\d{1,9})", re.DOTALL)
_WHOLE_LINE = 1 << 31


class Place(NamedTuple):
    """Behind *column* of *line*; in the order of the text."""

    path: str
    line: int
    column: int = _WHOLE_LINE

    def __str__(self) -> str:
        shown = f"{self.path}:{self.line}"
        return shown if self.column == _WHOLE_LINE else f"{shown}:{self.column}"


@dataclass(frozen=True, slots=True)
class Next:
    """The arguments of the call that goes on; `budget_tokens` is larger than before when the next excerpt needs it."""

    paths: tuple[str, ...]
    after: tuple[str, ...]
    budget_tokens: int


class Cursor:
    """What was shown before."""

    def __init__(self, places: Iterable[Place] = ()) -> None:
        self.places: dict[str, Place] = {}
        for place in sorted(places):
            self.places[place.path] = place
        self._first = min(self.places, default="")

    def __bool__(self) -> bool:
        return bool(self.places)

    def shown(self, path: str, mentions: Sequence[Mention]) -> int:
        """How many of the *mentions* of a note it leaves out; they are in the order of the text."""
        if path < self._first:
            return len(mentions)
        place = self.places.get(path)
        return bisect_right(mentions, place[1:], key=lambda mention: mention[:2]) if place else 0


def cursor_of(reader: Reader, after: str | Sequence[str]) -> Cursor:
    """Read *after*.  Raises `InvalidParameter` for what is no place in a note."""
    given = (after,) if isinstance(after, str) else tuple(after)
    return Cursor(_place(reader, text) for text in given if text)


def place_of(path: str, last: Mention, following: Mention | None) -> Place:
    """The place behind the mention *last*, before *following*."""
    same_line = following is not None and following.line == last.line
    return Place(path, last.line, last.column) if same_line else Place(path, last.line)


def _place(reader: Reader, text: str) -> Place:
    for form in (_PLACE, _WITH_LINE):  # a path may hold a colon and a number itself
        match = form.fullmatch(text)
        if match is not None and (path := _path(reader, match[1])):
            column = match[3] if form is _PLACE else None
            return Place(path, int(match[2]), _WHOLE_LINE if column is None else int(column))
    raise InvalidParameter(
        f"{text[:200]!r} is no place in a note.",
        hint="Give path:line or path:line:column, as the answer before told it.",
        parameter="after",
    )


def _path(reader: Reader, name: str) -> str:
    """The path that *name* means, "" for what is no note: to take it for one would leave out others without a word."""
    if catalog.note_at(reader, name) is not None:
        return name
    try:
        found = resolve(reader, name)
    except SecondBrainError:
        return ""
    return found.path if found.line is None else ""
