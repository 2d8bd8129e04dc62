"""Walks along links."""

from __future__ import annotations

import random

import pytest

from second_brain.graph.walks import path_between, within

pytestmark = pytest.mark.requirement("RG-5")


def both(*links):
    """The links in both directions, as mappings."""
    there, back = {}, {}
    for a, b in links:
        there.setdefault(a, set()).add(b)
        back.setdefault(b, set()).add(a)
    return there, back


CHAIN = both((0, 1), (2, 1), (2, 3), (3, 4))


@pytest.mark.parametrize(
    ("a", "b", "most", "path"),
    [
        (0, 4, 6, [0, 1, 2, 3, 4]),
        (4, 0, 6, [4, 3, 2, 1, 0]),
        (0, 4, 4, [0, 1, 2, 3, 4]),
        (0, 4, 3, None),
        (0, 9, 6, None),
        (1, 1, 6, [1]),
        (1, 2, 0, None),
    ],
)
def test_a_way_follows_links_in_either_direction_up_to_so_many(a, b, most, path):
    assert path_between(*CHAIN, a, b, most) == path


@pytest.mark.parametrize("seed", range(5))
def test_of_equal_ways_the_smallest_paths_are_taken_in_whatever_order_links_come(seed):
    links = [(0, 5), (5, 9), (0, 3), (8, 3), (8, 9), (0, 7), (9, 7), (4, 0), (4, 9)]
    random.Random(seed).shuffle(links)
    assert path_between(*both(*links), 0, 9) == [0, 4, 9]


def test_surroundings_are_nearest_first_then_by_number_of_links_then_by_path():
    links = both((0, 1), (0, 2), (3, 0), (3, 4), (3, 5), (4, 6))
    found = within(*links, 0, depth=2)
    assert found.nodes == ((0, 0), (3, 1), (1, 1), (2, 1), (4, 2), (5, 2))
    assert found.links == ((0, 1), (0, 2), (3, 0), (3, 4), (3, 5))
    assert found.left_out == 0


@pytest.mark.parametrize(("depth", "nodes"), [(1, [0, 1]), (2, [0, 1, 2]), (3, [0, 1, 2, 3])])
def test_surroundings_go_as_far_as_asked(depth, nodes):
    assert [node for node, _ in within(*CHAIN, 0, depth).nodes] == nodes


def test_of_too_many_notes_the_nearest_stay_with_the_links_among_them():
    found = within(*CHAIN, 2, depth=3, limit=3)
    assert found.nodes == ((2, 0), (1, 1), (3, 1))
    assert found.links == ((2, 1), (2, 3))
    assert found.left_out == 2


def test_a_note_without_links_is_alone_in_its_surroundings():
    assert within({}, {}, 7, depth=3).nodes == ((7, 0),)
