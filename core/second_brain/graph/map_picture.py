"""The picture of a vault's map: a disc per cluster with its most connected notes, and a legend that counts everything."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from second_brain.graph import packing
from second_brain.graph.drawing import Disc, Dot, Line, Picture, Shape, Theme, Tone, Words, draw
from second_brain.graph.lettering import ABOVE, Box, Label, Wish, place, shortened
from second_brain.graph.map_legend import HEIGHT, LEGEND, MARGIN, WIDTH, colour, count, description, heading, legend

if TYPE_CHECKING:
    from collections.abc import Sequence

    from second_brain.graph.formulas import Edges, Nodes
    from second_brain.graph.overview import Cluster, Node, Overview

MOST_NOTES = 100
MOST_CLUSTERS = 24

_FRAME = Box(MARGIN, 84, WIDTH - LEGEND - MARGIN, HEIGHT - MARGIN)
_FRAME_OF_NAMES = Box(8, 60, WIDTH - LEGEND - 8, HEIGHT - 8)
_GAP = 30.0
_ROOM = 1.2  # a disc is as large as that many more notes, else the name of a small one would not fit
_RIM = 12.0  # between the outermost notes and the edge of a disc
_TIES_OF_NOTE, _TIES_OF_DISC = 2, 2

_Ties = dict[tuple[int, int], float]
_Round = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class _Spot:
    """A note that is shown."""

    node: int
    cluster: int
    x: float
    y: float
    radius: float
    shape: Shape

    @property
    def box(self) -> Box:
        reach = self.radius * (1.4 if self.shape == "diamond" else 1.0)
        return Box(self.x - reach, self.y - reach, self.x + reach, self.y + reach)


def draw_map(found: Overview, nodes: Sequence[Node], edges: Edges, theme: Theme = "auto") -> str:
    """The SVG of the map *found* of *nodes* and *edges*.

    It shows the `MOST_CLUSTERS` largest clusters and about `MOST_NOTES` of their notes, the most connected ones: half of them from
    each cluster by its size, half over all.  Bridges are diamonds.  Names of clusters, hubs and bridges always stand, shortened or with a
    line that leads to them; another note's name stands where it meets no other.  The legend counts what is not shown.
    """
    strong = edges.where(edges.composite >= found.least)
    degrees = np.bincount(np.concatenate([strong.a, strong.b]), minlength=len(nodes))
    clusters = found.clusters[:MOST_CLUSTERS]
    chosen = _chosen(clusters, degrees)
    ties = _between(clusters, strong, len(nodes))
    rounds = packing.discs([len(notes) + _ROOM for notes in chosen], ties, _FRAME, _GAP)
    spots = _spots(chosen, rounds, {bridge.node for bridge in found.bridges}, degrees)
    words, leads = _names(clusters, rounds, spots, nodes)
    told = legend(found, len(clusters), sum(spot.shape == "diamond" for spot in spots))
    discs = [
        Disc(*at, colour(one.id), tip=f"{one.label}: {count(one.size, 'note')}")
        for one, at in zip(clusters, rounds, strict=True)
    ]
    picture = Picture(
        WIDTH,
        HEIGHT,
        title=f"Map of {len(nodes):,} notes",
        description=description(found),
        under=_disc_ties(ties, rounds),
        discs=discs,
        lines=[*_note_ties(spots, strong), *leads],
        dots=[*_dots(spots, nodes, degrees), *told.dots],
        words=[*heading(found), *words, *told.words],
    )
    return draw(picture, theme)


def _chosen(clusters: Sequence[Cluster], degrees: Nodes) -> list[list[int]]:
    """The notes to show of each cluster by (-degree, number): its first one, then half by its size and half by degree."""
    ordered = [sorted(cluster.members, key=lambda node: (-degrees[node], node)) for cluster in clusters]
    total = max(1, sum(map(len, ordered)))
    sure = [max(1, MOST_NOTES * len(notes) // (2 * total)) for notes in ordered]
    others = sorted(
        (-degrees[node], node) for notes, first in zip(ordered, sure, strict=True) for node in notes[first:]
    )
    most = {node for _, node in others[: max(0, MOST_NOTES - sum(sure))]}
    return [
        [node for place, node in enumerate(notes) if place < first or node in most]
        for notes, first in zip(ordered, sure, strict=True)
    ]


def _between(clusters: Sequence[Cluster], edges: Edges, size: int) -> _Ties:
    """How strongly two clusters are tied: the sum of composites between them, for the sizes they have."""
    of_note = np.full(size, -1, dtype=np.int64)
    for place_of, cluster in enumerate(clusters):
        of_note[list(cluster.members)] = place_of
    a, b = of_note[edges.a], of_note[edges.b]
    ties: defaultdict[tuple[int, int], float] = defaultdict(float)
    across = (a != b) & (a >= 0) & (b >= 0)
    for one, other, score in zip(a[across].tolist(), b[across].tolist(), edges.composite[across].tolist(), strict=True):
        ties[min(one, other), max(one, other)] += score
    return {
        (one, other): total / math.sqrt(clusters[one].size * clusters[other].size)
        for (one, other), total in sorted(ties.items())
    }


def _spots(chosen: Sequence[Sequence[int]], rounds: Sequence[_Round], bridges: set[int], degrees: Nodes) -> list[_Spot]:
    """The hub of each cluster in the middle of its disc, the others around it, less connected ones farther out."""
    spots = []
    top = max((int(degrees[node]) for notes in chosen for node in notes), default=1)
    for cluster, (notes, (x, y, radius)) in enumerate(zip(chosen, rounds, strict=True)):
        for node, (dx, dy) in zip(notes, packing.in_disc(len(notes), max(0.0, radius - _RIM)), strict=True):
            size = 3.0 + 3.5 * math.sqrt(degrees[node] / max(1, top))
            spots.append(_Spot(node, cluster, x + dx, y + dy, size, "diamond" if node in bridges else "circle"))
    return spots


def _dots(spots: Sequence[_Spot], nodes: Sequence[Node], degrees: Nodes) -> list[Dot]:
    dots = []
    for spot in spots:
        role = ", a bridge" if spot.shape == "diamond" else ""
        ties = count(int(degrees[spot.node]), "tie")
        tip = f"{nodes[spot.node].path} ({ties}{role})"
        dots.append(Dot(spot.x, spot.y, spot.radius, colour(spot.cluster), spot.shape, tip))
    return dots


def _disc_ties(ties: _Ties, rounds: Sequence[_Round]) -> list[Line]:
    """Lines from rim to rim for the strongest ties of each disc."""
    shown: set[tuple[int, int]] = set()
    for disc in range(len(rounds)):
        own = sorted((-weight, pair) for pair, weight in ties.items() if disc in pair)
        shown.update(pair for _, pair in own[:_TIES_OF_DISC])
    most = max(ties.values(), default=1.0)
    return [_rim_to_rim(rounds[a], rounds[b], 1 + 4 * ties[a, b] / max(most, 1e-9)) for a, b in sorted(shown)]


def _rim_to_rim(one: _Round, other: _Round, thickness: float) -> Line:
    (x1, y1, r1), (x2, y2, r2) = one, other
    length = max(1e-6, math.hypot(x2 - x1, y2 - y1))
    dx, dy = (x2 - x1) / length, (y2 - y1) / length
    return Line(x1 + dx * r1, y1 + dy * r1, x2 - dx * r2, y2 - dy * r2, thickness, "faint")


def _note_ties(spots: Sequence[_Spot], edges: Edges) -> list[Line]:
    """The strongest ties of each shown note within its cluster."""
    places = {spot.node: spot for spot in spots}
    shown = np.isin(edges.a, list(places)) & np.isin(edges.b, list(places))
    columns = (column[shown].tolist() for column in (edges.composite, edges.a, edges.b))
    drawn: defaultdict[int, int] = defaultdict(int)
    lines = []
    for _, a, b in sorted((-score, a, b) for score, a, b in zip(*columns, strict=True)):
        one, other = places[a], places[b]
        if one.cluster == other.cluster and min(drawn[a], drawn[b]) < _TIES_OF_NOTE:
            drawn[a], drawn[b] = drawn[a] + 1, drawn[b] + 1
            lines.append(Line(one.x, one.y, other.x, other.y, 1.0, colour(one.cluster), opacity=0.35))
    return lines


def _names(
    clusters: Sequence[Cluster], rounds: Sequence[_Round], spots: Sequence[_Spot], nodes: Sequence[Node]
) -> tuple[list[Words], list[Line]]:
    """The names of clusters and notes, and the lines to those that stand far off."""
    hubs = {next(spot.node for spot in spots if spot.cluster == number) for number in range(len(clusters))}
    of_discs = [
        Wish(_called(one), x, y, r + 3, 260.0, 13, bold=True, must=True, directions=ABOVE)
        for one, (x, y, r) in zip(clusters, rounds, strict=True)
    ]
    ranked = sorted(spots, key=lambda spot: (spot.node not in hubs, -spot.radius, spot.node))
    of_notes = [
        Wish(
            _name(nodes[spot.node]), spot.x, spot.y, spot.radius + 4, must=spot.node in hubs or spot.shape == "diamond"
        )
        for spot in ranked
    ]
    wishes = [*of_discs, *of_notes]
    labels = place(wishes, [spot.box for spot in spots], _FRAME_OF_NAMES)
    placed = [(wish, label) for wish, label in zip(wishes, labels, strict=True) if label]
    return [_words(label) for _, label in placed], [_lead(wish, label) for wish, label in placed if label.far]


def _called(cluster: Cluster) -> str:
    return f"{shortened(cluster.label, 13, 170, bold=True)} · {cluster.size:,}"


def _name(node: Node) -> str:
    return node.title.strip() or node.path


def _words(label: Label) -> Words:
    box = label.box
    ground = (box.left, box.top, box.right, box.bottom)
    tone: Tone = "first" if label.bold else "second"
    return Words(label.x, label.baseline, label.text, label.size, tone, label.bold, anchor="middle", backed=ground)


def _lead(wish: Wish, label: Label) -> Line:
    """From the point that a name belongs to, to the nearest point of the name."""
    x = min(max(wish.x, label.box.left), label.box.right)
    y = min(max(wish.y, label.box.top), label.box.bottom)
    return Line(wish.x, wish.y, x, y, 0.8, "line")
