"""Walks along plain links, in either direction.

Links are given as two mappings, what each note links to and what links to it; a note that is no key has none.  Answers do not
depend on the order of either.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

Links = Mapping[int, Collection[int]]


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The notes around one: (note, distance) with itself first at 0, and the links among them as (from, to), ascending.

    `left_out`: notes within the depth that did not fit into the limit.
    """

    nodes: tuple[tuple[int, int], ...]
    links: tuple[tuple[int, int], ...]
    left_out: int = 0


def path_between(links_from: Links, links_to: Links, a: int, b: int, max_hops: int = 6) -> list[int] | None:
    """The notes of a shortest way from *a* to *b*, both included; of equal ways that whose notes come first.

    None when there is no way of at most *max_hops* links.
    """
    left = _distances(links_from, links_to, b, max_hops)
    if a not in left:
        return None
    way = [a]
    while way[-1] != b:
        nearer = left[way[-1]] - 1
        way.append(min(note for note in _around(links_from, links_to, way[-1]) if left.get(note) == nearer))
    return way


def within(links_from: Links, links_to: Links, node: int, depth: int, limit: int = 50) -> Surroundings:
    """The at most *limit* notes (*node* is one of them) at most *depth* links away, and the links among them.

    Nearest first, then those with most links in the vault, then by path.
    """
    found = _distances(links_from, links_to, node, depth)
    number = {note: len(links_from.get(note, ())) + len(links_to.get(note, ())) for note in found}
    ordered = sorted(found.items(), key=lambda item: (item[1], -number[item[0]], item[0]))
    chosen = ordered[: max(1, limit)]
    inside = {note for note, _ in chosen}
    among = sorted((note, target) for note in inside for target in links_from.get(note, ()) if target in inside)
    return Surroundings(tuple(chosen), tuple(among), len(ordered) - len(chosen))


def _distances(links_from: Links, links_to: Links, start: int, most: int) -> dict[int, int]:
    """The links between *start* and each note at most *most* links away."""
    distances, edge = {start: 0}, [start]
    for distance in range(1, most + 1):
        reached = {near for note in edge for near in _around(links_from, links_to, note)} - distances.keys()
        distances.update(dict.fromkeys(reached, distance))
        edge = sorted(reached)
    return distances


def _around(links_from: Links, links_to: Links, note: int) -> set[int]:
    return {*links_from.get(note, ()), *links_to.get(note, ())} - {note}
