"""The picture of a note among its related notes: two arcs around it, each with its reasons in words."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from second_brain.graph.drawing import Anchor, Dash, Dot, Line, Picture, Shape, Theme, Words, draw
from second_brain.graph.lettering import shortened, width

if TYPE_CHECKING:
    from collections.abc import Sequence

    from second_brain.graph.overview import Node
    from second_brain.graph.related import Neighbour
    from second_brain.graph.settings import Settings

MOST = 30  # related notes in one picture

_WIDTH, _MARGIN = 1040.0, 24.0
_ROW, _HEAD, _FOOT = 40.0, 64.0, 56.0
_NEAR, _BOW = 130.0, 80.0  # how far the arcs are from the middle at their ends, and how much farther halfway
_NAME, _REASON = 13.0, 11.0


@dataclass(frozen=True, slots=True)
class _Kind:
    """The strongest evidence of a tie, as it is named and drawn."""

    name: str
    colour: str
    shape: Shape
    dash: Dash


_KINDS = (
    _Kind("linked", "group-0", "circle", "solid"),
    _Kind("similar text", "group-1", "ring", "dashed"),
    _Kind("shared tags", "group-5", "square", "dotted"),
    _Kind("linked to from the same notes", "group-4", "triangle", "dash-dot"),
)


def draw_note(centre: Node, neighbours: Sequence[Neighbour], settings: Settings, theme: Theme = "auto") -> str:
    """The SVG of *centre* with the first `MOST` of its related notes (as `related` gives them), grouped by strongest evidence.

    The thicker a line, the larger the composite.  The right arc is read from the top, then the left one.
    """
    shown = sorted(neighbours[:MOST], key=lambda one: _KINDS.index(_kind(one, settings)))  # stable: strongest first
    half = -(-len(shown) // 2)
    height = max(8, half) * _ROW + _HEAD + _FOOT
    middle = (_WIDTH / 2, _HEAD + (height - _HEAD - _FOOT) / 2)
    spots = [*_arc(half, 1, middle), *_arc(len(shown) - half, -1, middle)]
    lines, dots, words = [], [], []
    for one, spot in zip(shown, spots, strict=True):
        lines.append(_tie(one, spot, middle, _kind(one, settings)))
        dots.append(_mark(one, spot, _kind(one, settings)))
        words.extend(_told(one, spot, 1 if spot[0] > middle[0] else -1))
    legend = _legend({_kind(one, settings).name for one in shown}, height - _FOOT / 2 + 4)
    return draw(
        Picture(
            _WIDTH,
            height,
            title=f"Related notes of {centre.title}",
            description=_description(centre, shown),
            lines=[*lines, *legend[0]],
            dots=[*dots, *_centre(centre, middle), *legend[1]],
            words=[*words, *_centre_name(centre, middle), *_heading(centre, len(shown), len(neighbours)), *legend[2]],
        ),
        theme,
    )


def _kind(one: Neighbour, settings: Settings) -> _Kind:
    """A link where there is one, else the signal that gives most of the composite; of equal ones the first of `_KINDS`.

    Texts less alike than `semantic_min` are no kind, as they are no reason in words.
    """
    signals = one.signals
    if signals.link > 0:
        return _KINDS[0]
    alike = signals.semantic if signals.semantic >= settings.semantic_min else 0.0
    shares = (
        (settings.weight_link * signals.link, signals.link),
        (settings.weight_semantic * alike, alike),
        (settings.weight_tag * signals.tag, signals.tag),
        (settings.weight_comention * signals.comention, signals.comention),
    )
    return _KINDS[shares.index(max(shares))]


def _arc(number: int, side: int, middle: tuple[float, float]) -> list[tuple[float, float]]:
    """Points from top to bottom on one side of the middle, a row apart."""
    spots = []
    for row in range(number):
        offset = row - (number - 1) / 2
        along = offset / max(1.0, (number - 1) / 2)
        bow = _NEAR + _BOW * math.sqrt(1 - 0.9 * along * along)
        spots.append((middle[0] + side * bow, middle[1] + offset * _ROW))
    return spots


def _tie(one: Neighbour, spot: tuple[float, float], middle: tuple[float, float], kind: _Kind) -> Line:
    """From the rim of the centre to the mark."""
    reach = math.hypot(spot[0] - middle[0], spot[1] - middle[1])
    start = tuple(m + (s - m) * 20 / reach for s, m in zip(spot, middle, strict=True))
    thick = 0.8 + 5.0 * min(1.0, max(0.0, one.composite))
    tip = f"{one.composite:.2f}: {', '.join(one.because)}"
    return Line(start[0], start[1], *spot, thickness=thick, colour=kind.colour, dash=kind.dash, opacity=0.7, tip=tip)


def _mark(one: Neighbour, spot: tuple[float, float], kind: _Kind) -> Dot:
    return Dot(*spot, 6.5, kind.colour, kind.shape, tip=f"{one.path} ({one.composite:.2f}: {', '.join(one.because)})")


def _told(one: Neighbour, spot: tuple[float, float], side: int) -> list[Words]:
    """Title and reasons beside the mark, towards the rim of the picture, where no line goes."""
    x = spot[0] + side * 14
    room = (_WIDTH - _MARGIN - x) if side > 0 else (x - _MARGIN)
    name = shortened(one.title.strip() or one.path, _NAME, room)
    reason = shortened(" · ".join(one.because), _REASON, room)
    anchor: Anchor = "start" if side > 0 else "end"
    lines = [Words(x, spot[1] + (-2 if reason else 4), name, _NAME, "first", anchor=anchor)]
    return [*lines, *([Words(x, spot[1] + 14, reason, _REASON, "third", anchor=anchor)] if reason else [])]


def _centre(centre: Node, middle: tuple[float, float]) -> list[Dot]:
    return [Dot(*middle, 16, "accent", "ring", tip=centre.path), Dot(*middle, 11, "accent", tip=centre.path)]


def _centre_name(centre: Node, middle: tuple[float, float]) -> list[Words]:
    name = shortened(centre.title.strip() or centre.path, _NAME, 2 * _NEAR - 30, bold=True)
    half = width(name, _NAME, bold=True) / 2 + 11
    x, top = middle[0], middle[1] + 24
    ground = (x - half, top, x + half, top + 24)
    return [Words(x, top + 16.5, name, _NAME, "first", bold=True, anchor="middle", backed=ground, framed=True)]


def _heading(centre: Node, shown: int, number: int) -> list[Words]:
    name = shortened(f"Around {centre.title.strip() or centre.path}", 18, _WIDTH - 2 * _MARGIN - 220, bold=True)
    count = f"{number} related {'note' if number == 1 else 'notes'}"
    if shown < number:
        count += f", the closest {shown} shown"
    right = Words(_WIDTH - _MARGIN, 38, count, 12, "third", anchor="end")
    return [Words(_MARGIN, 38, name, 18, "first", bold=True), right]


def _legend(names: set[str], y: float) -> tuple[list[Line], list[Dot], list[Words]]:
    """The kinds that occur, each with its line and its mark."""
    lines, dots, words, x = [], [], [], _MARGIN
    for kind in (kind for kind in _KINDS if kind.name in names):
        lines.append(Line(x, y - 4, x + 26, y - 4, 2, kind.colour, kind.dash))
        dots.append(Dot(x + 38, y - 4, 5.5, kind.colour, kind.shape))
        words.append(Words(x + 50, y, kind.name, 12))
        x += 50 + width(kind.name, 12) + 24
    if names:
        words.append(Words(_WIDTH - _MARGIN, y, "thicker = closer", 12, "third", anchor="end"))
    return lines, dots, words


def _description(centre: Node, shown: Sequence[Neighbour]) -> str:
    """The picture for those who do not see it."""
    if not shown:
        return f"{centre.path} has no related notes."
    told = (f"{one.title.strip() or one.path}: {', '.join(one.because) or f'{one.composite:.2f}'}" for one in shown)
    return f"{centre.path} is related to {'; '.join(told)}."
