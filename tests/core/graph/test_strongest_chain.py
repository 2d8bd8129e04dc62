"""Connections: the direct edge, else the strongest chain, always the same one."""

from __future__ import annotations

import random
from itertools import pairwise, permutations

import pytest

from graph_vault import edge
from second_brain.graph.connections import connections
from second_brain.graph.formulas import Edges

pytestmark = pytest.mark.requirement("RG-8")


def graph(*edges):
    return Edges.of(edge(min(a, b), max(a, b), composite) for a, b, composite in edges)


def test_a_direct_edge_is_the_connection_even_when_a_chain_is_stronger():
    found = connections(graph((0, 1, 0.2), (0, 2, 0.99), (1, 2, 0.99)), 1, 0)
    assert (found.connected, found.closeness, found.path, found.path_edges) == (True, 0.2, (1, 0), ())
    assert found.direct_edge == edge(0, 1, 0.2)


def test_without_a_direct_edge_the_strongest_chain_counts_by_its_product():
    found = connections(graph((0, 1, 0.5), (1, 2, 0.5), (0, 3, 0.8), (3, 4, 0.9), (4, 2, 0.9)), 0, 2)
    assert found.path == (0, 3, 4, 2)
    assert found.direct_edge is None
    assert found.closeness == pytest.approx(0.8 * 0.9 * 0.9)
    assert [(e.a, e.b) for e in found.path_edges] == [(0, 3), (3, 4), (2, 4)]


def test_a_hop_costs_a_twentieth_however_strong_it_is():
    strong = [(0, 1, 1.0), (1, 2, 1.0), (2, 3, 1.0), (3, 4, 1.0)]
    assert connections(graph(*strong, (0, 5, 0.95), (5, 4, 0.95)), 0, 4).path == (0, 5, 4)


@pytest.mark.parametrize("ends", [(0, 3), (3, 0), (0, 9), (9, 8)])
def test_what_has_no_way_is_not_connected(ends):
    found = connections(graph((0, 1, 0.5), (3, 4, 0.5)), *ends)
    assert (found.connected, found.direct_edge, found.closeness, found.path, found.path_edges) == (
        False,
        None,
        0.0,
        None,
        (),
    )


def test_without_edges_nothing_is_connected():
    assert not connections(graph(), 0, 1).connected


def test_of_equal_chains_that_of_the_fewest_notes_is_taken():
    assert connections(graph((0, 1, 0.9), (1, 2, 0.9), (2, 5, 0.8), (0, 4, 0.8), (4, 5, 0.8)), 0, 5).path == (0, 4, 5)


@pytest.mark.parametrize(("ends", "path"), [((0, 9), (0, 2, 8, 9)), ((9, 0), (9, 7, 4, 0))])
def test_of_equal_chains_of_equal_length_the_smallest_paths_are_taken(ends, path):
    edges = graph((0, 4, 0.7), (4, 7, 0.7), (7, 9, 0.7), (0, 2, 0.7), (2, 8, 0.7), (8, 9, 0.7))
    assert connections(edges, *ends).path == path


def test_sums_of_floats_in_another_order_do_not_decide():
    for first in permutations([0.9, 0.8, 0.7]):
        for second in permutations([0.9, 0.8, 0.7]):
            one = list(zip([(0, 5), (5, 6), (6, 9)], first, strict=True))
            other = list(zip([(0, 2), (2, 8), (8, 9)], second, strict=True))
            found = connections(graph(*((a, b, score) for (a, b), score in one + other)), 0, 9)
            assert found.path == (0, 2, 8, 9)


def all_chains(adjacent, a, b, seen=()):
    if a == b:
        yield (*seen, b)
        return
    for near in adjacent.get(a, ()):
        if near not in seen:
            yield from all_chains(adjacent, near, b, (*seen, a))


def test_the_chain_is_the_best_of_all_chains():
    for seed in range(150):
        rng = random.Random(seed)
        pairs = {tuple(sorted(rng.sample(range(7), 2))): rng.randrange(1, 12) for _ in range(9)}
        pairs.pop((0, 6), None)
        adjacent = {}
        for a, b in pairs:
            adjacent.setdefault(a, set()).add(b)
            adjacent.setdefault(b, set()).add(a)

        def cost(chain, pairs=pairs):
            twentieths = (max(1, 20 - 2 * pairs[tuple(sorted(step))]) for step in pairwise(chain))
            return sum(twentieths), len(chain), chain

        best = min(all_chains(adjacent, 0, 6), key=cost, default=None)
        edges = [edge(a, b, 2 * tenth / 20) for (a, b), tenth in pairs.items()]
        assert connections(Edges.of(edges), 0, 6).path == best, seed
