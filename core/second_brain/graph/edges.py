"""The edges of the note graph, at one note or at all.

`edges_of` every note and `all_edges` give the same edges with the same bits: an index may keep all and compute anew only those at
the notes of a change.  Candidates, as in contracts 1.6: a note is in the other's list of nearest ones, links to it, or a third
one links to both; tags alone make no edge.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from second_brain.graph.formulas import Candidates, Edges, Flags, Nodes, Numbers, gives_pairs, jaccard, scored
from second_brain.graph.neighbours import cosines

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from second_brain.graph.facts import Complete, Facts
    from second_brain.graph.settings import Settings


def edges_of(facts: Facts, settings: Settings, node: int) -> Edges:
    """All edges at *node*, by (a, b).  Asks for the facts of its neighbours and of no other note."""
    targets, sources = facts.links_from(node), facts.links_to(node)
    counts = _mentioned_with(facts, settings, node)
    others = sorted({*facts.nearest(node), *facts.nearest_to(node), *targets, *sources, *counts})
    numbers = np.array(others, dtype=np.int64)
    after = numbers > node
    there, back = _members(others, targets), _members(others, sources)
    found = Candidates(
        a=np.where(after, node, numbers),
        b=np.where(after, numbers, node),
        cosines=np.array(facts.cosines(node, others), dtype=np.float64),  # None becomes NaN
        tag=_shared_tags(facts, node, others),
        a_to_b=np.where(after, there, back),
        b_to_a=np.where(after, back, there),
        counts=np.array([counts[other] for other in others], dtype=np.int64),
    )
    return scored(found, settings)


def all_edges(complete: Complete, settings: Settings) -> Edges:
    """All edges of a vault, by (a, b)."""
    size = max(1, len(complete.paths))
    near, near_cosines = _near_pairs(complete, size)
    forward, backward = _link_pairs(complete.outgoing, size)
    both, counts = _mentioned_together(complete.outgoing, settings, size)
    pairs = np.unique(np.concatenate([near, forward, backward, both]))
    a, b = np.divmod(pairs, size)
    known = _spread(pairs, near, near_cosines, np.nan)
    missing = np.isnan(known)
    known[missing] = cosines(complete.matrix, a[missing], b[missing])
    found = Candidates(
        a=a,
        b=b,
        cosines=known,
        tag=_tag_signals(complete.tag_names, a, b),
        a_to_b=np.isin(pairs, forward, assume_unique=True),
        b_to_a=np.isin(pairs, backward, assume_unique=True),
        counts=_spread(pairs, both, counts, 0),
    )
    return scored(found, settings)


def _mentioned_with(facts: Facts, settings: Settings, node: int) -> Counter[int]:
    """How many notes link to *node* and to another one, per other one."""
    counts: Counter[int] = Counter()
    for targets in facts.links_from_each(sorted(facts.links_to(node))):
        if gives_pairs(len(targets), settings):
            counts.update(targets)
    del counts[node]
    return counts


def _members(others: Sequence[int], linked: frozenset[int]) -> Flags:
    return np.array([other in linked for other in others], dtype=np.bool_)


def _shared_tags(facts: Facts, node: int, others: Sequence[int]) -> Numbers:
    ours = facts.tags(node).keys()
    if not ours:
        return np.zeros(len(others))
    return np.array([jaccard(ours, tags.keys()) for tags in facts.tags_of_each(others)], dtype=np.float64)


# A pair of notes is one number below: a * size + b with a < b.  So sets of pairs are sorted arrays.


def _keys(one: Nodes, other: Nodes, size: int) -> Nodes:
    return np.minimum(one, other) * size + np.maximum(one, other)


def _spread(pairs: Nodes, some: Nodes, values: Nodes | Numbers, default: float) -> Any:
    """The *values* of *some* pairs at their places among all *pairs*."""
    spread = np.full(len(pairs), default, dtype=values.dtype)
    spread[np.searchsorted(pairs, some)] = values
    return spread


def _near_pairs(complete: Complete, size: int) -> tuple[Nodes, Numbers]:
    """The pairs of which one is in the other's list, each once, with their cosines."""
    rows, places = np.nonzero(complete.lists.numbers >= 0)
    keys = _keys(rows, complete.lists.numbers[rows, places], size)
    pairs, first = np.unique(keys, return_index=True)
    return pairs, complete.lists.cosines[rows, places][first]


def _link_pairs(outgoing: Sequence[Collection[int]], size: int) -> tuple[Nodes, Nodes]:
    """The pairs linked from the smaller number to the larger, and those linked the other way."""
    sources = np.repeat(np.arange(len(outgoing)), [len(targets) for targets in outgoing])
    targets = np.array([target for found in outgoing for target in found], dtype=np.int64)
    keys, forward = _keys(sources, targets, size), sources < targets
    return np.unique(keys[forward]), np.unique(keys[~forward])


def _mentioned_together(outgoing: Sequence[Collection[int]], settings: Settings, size: int) -> tuple[Nodes, Nodes]:
    """The pairs that notes link to both of, and by how many; notes with equally many targets are taken together."""
    by_number: dict[int, list[list[int]]] = {}
    for targets in outgoing:
        if gives_pairs(len(targets), settings):
            by_number.setdefault(len(targets), []).append(sorted(targets))
    found = [np.empty(0, dtype=np.int64)]
    for number, rows in by_number.items():
        one, other = np.triu_indices(number, 1)
        table = np.array(rows, dtype=np.int64)
        found.append((table[:, one] * size + table[:, other]).ravel())
    pairs, counts = np.unique(np.concatenate(found), return_counts=True)
    return pairs, counts.astype(np.int64)


def _tag_signals(tags: Sequence[Mapping[str, str]], a: Nodes, b: Nodes) -> Numbers:
    """The Jaccard of each pair; notes have few different sets of tags, so each two sets are compared once."""
    numbers: dict[frozenset[str], int] = {frozenset(): 0}
    of_note = np.array([numbers.setdefault(frozenset(found), len(numbers)) for found in tags], dtype=np.int64)
    signals, sets = np.zeros(len(a)), list(numbers)
    some = np.flatnonzero((of_note[a] > 0) & (of_note[b] > 0)) if len(a) else np.empty(0, dtype=np.int64)
    pairs, at = np.unique(_keys(of_note[a[some]], of_note[b[some]], len(sets)), return_inverse=True)
    values = [
        jaccard(sets[one], sets[other])
        for one, other in zip(*(x.tolist() for x in np.divmod(pairs, len(sets))), strict=True)
    ]
    signals[some] = np.array(values, dtype=np.float64)[at]
    return signals
