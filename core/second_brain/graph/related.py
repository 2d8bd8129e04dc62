"""The notes that belong to one note, with the reasons in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from second_brain.graph.edges import edges_of

if TYPE_CHECKING:
    from second_brain.graph.facts import Facts
    from second_brain.graph.formulas import Edge, Signals
    from second_brain.graph.settings import Settings

_TAGS_SHOWN = 3
_TOLD_FROM = 0.1
"""A smaller cosine than this says nothing."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What speaks for an edge, seen from one of its notes: that one `links_to` the other or is `linked_from` it.

    `shared_tags` are without ``#``, as the note typed them, by their folded form.
    """

    links_to: bool
    linked_from: bool
    shared_tags: tuple[str, ...]
    comention_count: int


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A related note; `because`: phrases about it in which "here" is the note that was asked for."""

    node: int
    path: str
    title: str
    composite: float
    evidence: Evidence
    signals: Signals
    because: tuple[str, ...]


def related(facts: Facts, settings: Settings, node: int, top_k: int = 10) -> list[Neighbour]:
    """The at most *top_k* notes with an edge to *node*, by (-composite, path)."""
    edges = edges_of(facts, settings, node)
    others = np.where(edges.a == node, edges.b, edges.a)
    best = np.lexsort((others, -edges.composite))[:top_k]
    return [_neighbour(facts, settings, node, edge) for edge in edges.where(best)]


def evidence(facts: Facts, edge: Edge, node: int) -> Evidence:
    """What speaks for *edge*, seen from *node*, which is one of its ends."""
    ours, theirs = facts.tags(node), facts.tags(_other(edge, node))
    there, back = (edge.a_to_b, edge.b_to_a) if node == edge.a else (edge.b_to_a, edge.a_to_b)
    shared = tuple(ours[key] for key in sorted(ours.keys() & theirs.keys()))
    return Evidence(there, back, shared, edge.comention_count)


def because(found: Evidence, signals: Signals, settings: Settings) -> tuple[str, ...]:
    """The evidence in words: whatever counts, so that the reasons add up to the score."""
    phrases = (_of_links(found), _of_tags(found.shared_tags), _of_mentions(found.comention_count))
    return tuple(filter(None, (*phrases, _of_text(signals.semantic, settings))))


def _neighbour(facts: Facts, settings: Settings, node: int, edge: Edge) -> Neighbour:
    other, found = _other(edge, node), evidence(facts, edge, node)
    words = because(found, edge.signals, settings)
    return Neighbour(other, facts.path(other), facts.title(other), edge.composite, found, edge.signals, words)


def _other(edge: Edge, node: int) -> int:
    return edge.b if node == edge.a else edge.a


def _of_links(found: Evidence) -> str:
    if found.links_to and found.linked_from:
        return "both link to each other"
    return "linked from here" if found.links_to else "links here" if found.linked_from else ""


def _of_tags(tags: tuple[str, ...]) -> str:
    if not tags:
        return ""
    shown = [f"#{tag}" for tag in tags[:_TAGS_SHOWN]]
    if len(tags) > _TAGS_SHOWN:
        return f"shares {', '.join(shown)} and {len(tags) - _TAGS_SHOWN} more"
    return "shares " + (" and ".join([", ".join(shown[:-1]), shown[-1]]) if len(shown) > 1 else shown[0])


def _of_text(semantic: float, settings: Settings) -> str:
    if semantic < min(_TOLD_FROM, max(settings.semantic_min, 0)) or semantic <= 0:
        return ""
    return f"{'' if semantic >= settings.semantic_min else 'a little '}similar text ({semantic:.2f})"


def _of_mentions(count: int) -> str:
    if not count:
        return ""
    return "1 note links to both" if count == 1 else f"{count:,} notes link to both"
