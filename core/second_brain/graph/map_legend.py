"""What a map says in words: heading, legend, and the description for those who do not see it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from second_brain.graph.drawing import COLOURS, Dot, Words
from second_brain.graph.lettering import shortened

if TYPE_CHECKING:
    from collections.abc import Sequence

    from second_brain.graph.overview import Cluster, Overview

WIDTH, HEIGHT, LEGEND, MARGIN = 1180.0, 780.0, 260.0, 24.0

_ROW = 21.0
_LEFT, _RIGHT = WIDTH - LEGEND + 8, WIDTH - MARGIN
_CLUSTERS_TOLD = 24


@dataclass(frozen=True, slots=True)
class Legend:
    """The legend at the right edge of the picture."""

    dots: Sequence[Dot]
    words: Sequence[Words]


def colour(cluster: int) -> str:
    """The colour of a cluster by its id; they repeat, so a cluster is always named as well."""
    return f"group-{cluster % COLOURS}"


def count(number: int, one: str) -> str:
    """*number* and the noun, in the plural unless it is one."""
    return f"{number:,} {one}" if number == 1 else f"{number:,} {one}s"


def heading(found: Overview) -> list[Words]:
    """The line above the map."""
    counts = (count(found.note_count, "note"), count(found.edge_count, "tie"), count(len(found.clusters), "cluster"))
    return [
        Words(MARGIN, 38, "Map of the vault", 18, "first", bold=True),
        Words(_RIGHT, 38, " · ".join(counts), 12, "third", anchor="end"),
    ]


def legend(found: Overview, shown: int, bridges: int) -> Legend:
    """The clusters with their sizes, of which *shown* are drawn, what is not drawn, and the shapes; *bridges* are drawn."""
    dots: list[Dot] = []
    words: list[Words] = []
    y = 84.0
    for cluster in found.clusters[:shown]:
        dots.append(Dot(_LEFT + 6, y - 4, 5, colour(cluster.id)))
        label = shortened(cluster.label, 12, _RIGHT - _LEFT - 76)
        words.append(Words(_LEFT + 20, y, label, 12, "first"))
        words.append(Words(_RIGHT, y, f"{cluster.size:,}", 12, "third", anchor="end"))
        y += _ROW
    for text, number in _rest(found, shown):
        words.append(Words(_LEFT + 20, y, text, 12))
        words.append(Words(_RIGHT, y, f"{number:,}", 12, "third", anchor="end"))
        y += _ROW
    shapes = [Dot(_LEFT + 6, y + 12, 5, "line")]
    words.append(Words(_LEFT + 20, y + 16, "note; larger with more ties", 12))
    if found.bridges:
        shapes.append(Dot(_LEFT + 6, y + 12 + _ROW, 5, "line", "diamond"))
        words.append(Words(_LEFT + 20, y + 16 + _ROW, f"bridge ({bridges:,} of {len(found.bridges):,} shown)", 12))
    return Legend([*dots, *shapes], words)


def description(found: Overview) -> str:
    """The map as sentences."""
    told = ", ".join(
        f"{one.label} ({count(one.size, 'note')}, hub {one.hub})" for one in found.clusters[:_CLUSTERS_TOLD]
    )
    clusters = f"{count(len(found.clusters), 'cluster')}: {told}." if told else "No clusters."
    rest = f"{count(len(found.orphans), 'orphan')}, {count(len(found.bridges), 'bridge')}."
    return f"{count(found.note_count, 'note')} and {count(found.edge_count, 'tie')}. {clusters} {rest}"


def _rest(found: Overview, shown: int) -> list[tuple[str, int]]:
    """What the map has and the picture does not show, with the number of notes."""
    smaller: Sequence[Cluster] = found.clusters[shown:]
    rows = []
    if smaller:
        clusters = count(len(smaller), "smaller cluster")
        rows.append((f"in {clusters}", sum(one.size for one in smaller)))
    if found.orphans:
        rows.append(("orphans, tied to no note", len(found.orphans)))
    return rows
