"""Labels of a picture: what may stand in one, how wide it is, and where it can stand without touching another.

Nothing here knows the font that a viewer has: widths are estimates on the large side, in pixels.
"""

from __future__ import annotations

import math
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_NARROW = frozenset("iIjlftr.,:;|!'`()[]{}/\\ ")
_BROAD = frozenset("mwMW@%—…")
BESIDE = ((1, 0), (-1, 0), (0, -1), (0, 1), (0.8, -0.8), (0.8, 0.8), (-0.8, -0.8), (-0.8, 0.8))
ABOVE = ((0, -1), (0, 1), (-0.5, -1), (0.5, -1), (1, 0), (-1, 0))
_RINGS = range(18, 420, 14)  # how far from its point a label goes that must stand somewhere
_LINE = 1.3  # height of a line in sizes
_SHORT, _SHORTEST = 100.0, 64.0  # pixels that a label keeps when there is no room for more, and when it must stand


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle of the picture."""

    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: Box) -> bool:
        """Whether they have a point in common; touching edges do not count."""
        return (
            self.left < other.right and other.left < self.right and self.top < other.bottom and other.top < self.bottom
        )

    def within(self, frame: Box) -> bool:
        """Whether all of it lies inside *frame*."""
        return (
            self.left >= frame.left
            and self.right <= frame.right
            and self.top >= frame.top
            and self.bottom <= frame.bottom
        )


@dataclass(frozen=True, slots=True)
class Wish:
    """A label for the point (x, y), at least `gap` from it and at most `widest` wide; one that `must` gets a place far off."""

    text: str
    x: float
    y: float
    gap: float
    widest: float = 150.0
    size: float = 11.0
    bold: bool = False
    must: bool = False
    directions: Sequence[tuple[float, float]] = BESIDE  # the best first


@dataclass(frozen=True, slots=True)
class Label:
    """A placed label: its text as shown, its box, and whether it stands so far off that a line should lead to it."""

    text: str
    box: Box
    size: float
    bold: bool
    far: bool

    @property
    def x(self) -> float:
        """The middle of the text."""
        return (self.box.left + self.box.right) / 2

    @property
    def baseline(self) -> float:
        """Where the letters stand."""
        return self.box.bottom - 0.32 * self.size


def clean(text: str) -> str:
    """*text* in one line without what XML 1.0 forbids and without marks that turn the direction of other text."""
    kept = (" " if char.isspace() else char for char in text)
    return " ".join("".join(char for char in kept if _may_stand(char)).split())


def width(text: str, size: float, *, bold: bool = False) -> float:
    """About how many pixels *text* takes at a font size of *size*."""
    return sum(map(_ems, text)) * size * (1.08 if bold else 1.0)


def shortened(text: str, size: float, widest: float, *, bold: bool = False) -> str:
    """*text*, cleaned, or its beginning and an ellipsis when it would be wider than *widest* pixels."""
    text = clean(text)
    if width(text, size, bold=bold) <= widest:
        return text
    end = len(text)
    while end and width(text[:end] + "…", size, bold=bold) > widest:
        end -= 1
    while end and _joins(text[end]):
        end -= 1
    return text[:end].rstrip() + "…"


def place(wishes: Sequence[Wish], taken: Sequence[Box], frame: Box) -> list[Label | None]:
    """A place for each of *wishes* that meets neither *taken* nor another label nor leaves *frame*; None without room.

    Those that must have one choose first, then in the given order.
    """
    labels: list[Label | None] = [None] * len(wishes)
    blocked = list(taken)
    for at in sorted(range(len(wishes)), key=lambda at: not wishes[at].must):
        label = next((one for one in _offers(wishes[at]) if _free(one.box, blocked, frame)), None)
        labels[at] = label
        if label:
            blocked.append(label.box)
    return labels


def _may_stand(char: str) -> bool:
    category = unicodedata.category(char)
    if category in {"Cc", "Cs", "Cn", "Co"}:
        return False
    return category != "Cf" or char in "\u200c\u200d"  # joiners belong to words and to emoji


def _ems(char: str) -> float:
    category = unicodedata.category(char)
    if category in {"Mn", "Me", "Cf"}:
        return 0.0
    if unicodedata.east_asian_width(char) in {"W", "F"}:
        return 1.08
    if char in _NARROW:
        return 0.36
    if char in _BROAD:
        return 0.95
    return 0.7 if category == "Lu" else 0.6


def _joins(char: str) -> bool:
    """Whether *char* belongs to the one before it."""
    return unicodedata.category(char) in {"Mn", "Mc", "Me", "Cf", "Sk"}


def _offers(wish: Wish) -> Iterator[Label]:
    """The places of a label from the best on: beside its point, shorter, and for one that must stand farther away."""
    for widest in (wish.widest, min(wish.widest, _SHORTEST if wish.must else _SHORT)):
        text = shortened(wish.text, wish.size, widest, bold=wish.bold)
        yield from (_at(wish, text, (dx, dy), wish.gap) for dx, dy in wish.directions)
    if wish.must:
        for ring in _RINGS:
            for step in range(16):
                turn = math.tau * step / 16
                yield _at(wish, text, (math.cos(turn), math.sin(turn)), wish.gap + ring)


def _at(wish: Wish, text: str, direction: tuple[float, float], gap: float) -> Label:
    """The label that begins *gap* away from its point in a direction."""
    wide, high = width(text, wish.size, bold=wish.bold), wish.size * _LINE
    dx, dy = direction
    middle_x = wish.x + dx * gap + _sign(dx) * wide / 2
    middle_y = wish.y + dy * gap + _sign(dy) * high / 2
    box = Box(middle_x - wide / 2, middle_y - high / 2, middle_x + wide / 2, middle_y + high / 2)
    return Label(text, box, wish.size, wish.bold, gap > wish.gap)


def _sign(value: float) -> float:
    return 0.0 if abs(value) < 0.2 else math.copysign(1.0, value)  # noqa: PLR2004 - nearly above or beside is above or beside


def _free(box: Box, blocked: Sequence[Box], frame: Box) -> bool:
    return box.within(frame) and not any(box.meets(other) for other in blocked)
