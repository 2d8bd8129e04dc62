"""The numbers of contracts 1.6."""

from __future__ import annotations

import numpy as np
import pytest

from graph_vault import edge, unit, vault
from second_brain.graph.edges import all_edges
from second_brain.graph.formulas import Edges, comention, gives_pairs, jaccard, link, semantic
from second_brain.graph.settings import Settings

pytestmark = pytest.mark.requirement("RG-5")

PLAIN = Settings()


def only_edge(facts, settings=PLAIN):
    (found,) = all_edges(facts, settings)
    return found


def test_the_defaults_are_those_of_the_contract():
    shown = (PLAIN.knn_k, PLAIN.semantic_min, PLAIN.min_edge_score, PLAIN.comention_cap, PLAIN.comention_max_fanout)
    weights = (PLAIN.weight_semantic, PLAIN.weight_link, PLAIN.weight_tag, PLAIN.weight_comention)
    assert shown == (8, 0.35, 0.15, 3, 20)
    assert weights == (0.5, 0.25, 0.15, 0.10)


@pytest.mark.parametrize(
    ("there", "back", "value"), [(True, True, 1.0), (True, False, 0.7), (False, True, 0.7), (False, False, 0)]
)
def test_a_link_both_ways_counts_one_and_one_way_seven_tenths(there, back, value):
    assert link(np.array([there]), np.array([back])).tolist() == [value]


@pytest.mark.parametrize(("cosine", "value"), [(0.62, 0.62), (0.0, 0.0), (-0.4, 0.0), (float("nan"), 0.0), (1.0, 1.0)])
def test_similarity_is_the_cosine_and_never_below_zero(cosine, value):
    assert semantic(np.array([cosine])).tolist() == [value]


@pytest.mark.parametrize(
    ("left", "right", "value"),
    [("", "", 0), ("a", "", 0), ("a", "a", 1), ("ab", "bc", 1 / 3), ("abc", "bc", 2 / 3), ("a", "b", 0)],
)
def test_tags_count_by_the_part_that_is_shared(left, right, value):
    assert jaccard(set(left), set(right)) == value


@pytest.mark.parametrize(
    ("count", "cap", "value"),
    [(0, 3, 0), (1, 3, 1 / 3), (2, 3, 2 / 3), (3, 3, 1), (9, 3, 1), (1, 0, 1), (0, 0, 0), (2, -1, 1)],
)
def test_common_mentions_count_up_to_the_cap(count, cap, value):
    assert comention(np.array([count]), Settings(comention_cap=cap)).tolist() == [value]


@pytest.mark.parametrize(("targets", "does"), [(0, False), (1, False), (2, True), (20, True), (21, False)])
def test_a_note_with_one_target_or_more_than_the_fanout_gives_no_pairs(targets, does):
    assert gives_pairs(targets, PLAIN) is does


def test_the_composite_is_the_weighted_sum_of_all_four():
    vectors = unit([[1, 0], [3, 4], [0, 0]])
    facts = vault(3, [(0, 1), (2, 0), (2, 1)], {0: ["Boat", "wood"], 1: ["boat"]}, vectors)
    found = next(e for e in all_edges(facts, PLAIN) if (e.a, e.b) == (0, 1))
    signals = found.signals
    assert (signals.semantic, signals.link, signals.tag, signals.comention) == (0.6, 0.7, 0.5, 1 / 3)
    assert found.composite == pytest.approx(0.5 * 0.6 + 0.25 * 0.7 + 0.15 * 0.5 + 0.10 / 3)
    assert (found.a_to_b, found.b_to_a, found.comention_count) == (True, False, 1)


def test_a_link_the_other_way_is_told_from_one_that_way():
    found = only_edge(vault(2, [(1, 0)]))
    assert (found.a_to_b, found.b_to_a) == (False, True)


def test_tags_alone_make_no_edge():
    assert len(all_edges(vault(2, tags={0: ["boat"], 1: ["boat"]}), PLAIN)) == 0


def test_a_candidate_by_meaning_needs_the_least_composite():
    facts = vault(2, vectors=unit([[1, 0], [0.36, (1 - 0.36**2) ** 0.5]]))
    assert only_edge(facts).composite == pytest.approx(0.18)
    assert len(all_edges(facts, Settings(min_edge_score=0.2))) == 0


@pytest.mark.parametrize("links", [[(0, 1)], [(2, 0), (2, 1)]])
def test_links_and_common_mentions_stay_whatever_they_score(links):
    strict = Settings(min_edge_score=2.0)
    assert (0, 1) in {(e.a, e.b) for e in all_edges(vault(3, links), strict)}


def test_opposite_vectors_take_nothing_from_a_link():
    found = only_edge(vault(2, [(0, 1)], vectors=unit([[1, 0], [-1, 0]])))
    assert found.signals.semantic == 0
    assert found.composite == pytest.approx(0.175)


def test_a_pair_that_is_linked_has_its_cosine_also_outside_of_the_lists():
    found = only_edge(vault(2, [(0, 1)], vectors=unit([[1, 0], [3, 4]]), settings=Settings(knn_k=0)), Settings(knn_k=0))
    assert found.signals.semantic == 0.6


def test_with_all_weights_zero_links_are_still_edges():
    nothing = Settings(weight_semantic=0, weight_link=0, weight_tag=0, weight_comention=0)
    assert only_edge(vault(2, [(0, 1)]), nothing).composite == 0


def test_columns_give_back_the_edges_they_are_made_of_in_order():
    edges = [edge(1, 2, 0.5), edge(0, 3, 0.25, link=0.7), edge(0, 2, 0.75, count=2)]
    assert list(Edges.of(edges)) == [edges[2], edges[1], edges[0]]
    assert list(Edges.of([])) == []
