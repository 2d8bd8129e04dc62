"""Nearest notes: exact, and the same whatever is computed beside them."""

from __future__ import annotations

import numpy as np
import pytest

from graph_vault import unit
from second_brain.graph.neighbours import NOBODY, Lists, cosines, nearest, stale_rows

pytestmark = pytest.mark.requirement("RG-5", "RG-6")


def brute(matrix, row, k, least):
    others = [other for other in range(len(matrix)) if other != row]
    values = {other: float(cosines(matrix, [row], [other])[0]) for other in others}
    found = sorted((-value, other) for other, value in values.items() if value >= least)
    return {other: -value for value, other in found[:k]}


def same(left, right):
    return np.array_equal(left.numbers, right.numbers) and np.array_equal(left.cosines, right.cosines)


def clustered(rng, size, width):
    return unit(rng.integers(0, 3, (size, width)) + rng.random((size, width)) * rng.integers(0, 2, (size, 1)))


@pytest.mark.parametrize(
    ("size", "width", "k", "least"), [(700, 5, 8, 0.35), (900, 24, 3, 0.0), (300, 3, 20, 0.9), (40, 2, 60, -1)]
)
def test_lists_equal_those_of_brute_force_with_ties(size, width, k, least):
    matrix = clustered(np.random.default_rng(size), size, width)
    matrix[5], matrix[17] = 0.0, np.nan
    found = nearest(matrix, np.arange(size), k, least)
    for row in range(0, size, 13):
        assert list(found.of(row).items()) == list(brute(matrix, row, k, least).items())
    assert found.of(5) == found.of(17) == {}
    assert not {5, 17} & set(found.numbers.ravel().tolist())


def test_a_few_rows_get_the_lists_they_have_among_all():
    matrix = clustered(np.random.default_rng(2), 600, 6)
    every = nearest(matrix, np.arange(600), 8, 0.35)
    for rows in ([599], [3, 1, 2], list(range(100, 130))):
        found = nearest(matrix, rows, 8, 0.35)
        assert same(found, Lists(every.numbers[rows], every.cosines[rows]))


def test_a_cosine_does_not_depend_on_what_is_computed_with_it():
    rng = np.random.default_rng(3)
    matrix = unit(rng.normal(size=(5000, 384)))
    a, b = rng.integers(0, 5000, (2, 5000))
    together = cosines(matrix, a, b)
    assert np.array_equal(together, cosines(matrix, b, a))
    assert together[:50].tolist() == [
        float(cosines(matrix, [one], [other])[0]) for one, other in zip(a[:50], b[:50], strict=True)
    ]
    assert np.array_equal(together, np.round(together, 6))


def test_a_cosine_is_close_to_that_of_exact_arithmetic():
    matrix = unit(np.random.default_rng(4).normal(size=(50, 384)))
    exact = matrix.astype(np.float64) @ matrix.T.astype(np.float64)
    found = cosines(matrix, np.repeat(np.arange(50), 50), np.tile(np.arange(50), 50)).reshape(50, 50)
    assert np.abs(found - exact).max() <= 0.51e-6


def test_of_equal_notes_the_first_paths_are_nearest():
    matrix = np.repeat(unit([[1, 0], [1, 1]]), [400, 50], axis=0)
    found = nearest(matrix, np.arange(450), 4, 0.35)
    assert found.numbers[0].tolist() == [1, 2, 3, 4]
    assert found.numbers[2].tolist() == [0, 1, 3, 4]
    assert found.numbers[399].tolist() == [0, 1, 2, 3]
    assert found.numbers[449].tolist() == [400, 401, 402, 403]


@pytest.mark.parametrize("size", [0, 1, 3])
def test_without_places_or_others_lists_are_empty(size):
    matrix = unit([[1, 0]] * size) if size else np.zeros((0, 2), dtype=np.float32)
    assert nearest(matrix, np.arange(size), 0, 0.35).numbers.shape == (size, 0)
    if size == 1:
        assert nearest(matrix, [0], 8, 0.35).numbers.tolist() == [[NOBODY] * 8]


def test_the_least_cosine_itself_is_near_enough():
    matrix = unit([[1, 0], [3, 4]])
    assert nearest(matrix, [0], 8, 0.6).of(0) == {1: 0.6}
    assert nearest(matrix, [0], 8, 0.600001).of(0) == {}


def test_equal_scores_are_decided_by_the_rounded_cosine_not_by_the_noise_of_the_product():
    rng = np.random.default_rng(6)
    base = rng.normal(size=384)
    near = base + rng.normal(size=(200, 384)) * 1e-6
    matrix = unit(np.vstack([base[None], near, rng.normal(size=(500, 384))]))
    found = nearest(matrix, np.arange(len(matrix)), 8, 0.35)
    assert list(found.of(0).items()) == list(brute(matrix, 0, 8, 0.35).items())
    assert found.numbers[150].tolist() == [0, 1, 2, 3, 4, 5, 6, 7]


GONE = -2


def stale_in(matrix, lists, changed, k, least):
    """The stale rows of *lists*, in which `GONE` stands for a note that has no row any more."""
    changed = np.asarray(changed, dtype=np.int64)
    holding = np.isin(lists.numbers, [*changed, GONE]).any(axis=1)
    full = lists.numbers[:, -1] >= 0 if k else np.ones(len(matrix), dtype=bool)
    bounds = np.where(full, lists.cosines[:, -1] if k else 2.0, least)
    return stale_rows(matrix, bounds, holding, changed)


def redone(matrix, lists, changed, k, least):
    """The lists after an edit: those of stale rows anew, the others as they were."""
    stale = stale_in(matrix, lists, changed, k, least)
    fresh = nearest(matrix, stale, k, least)
    numbers, values = lists.numbers.copy(), lists.cosines.copy()
    numbers[stale], values[stale] = fresh.numbers, fresh.cosines
    return Lists(numbers, values)


def edited(rng, matrix):
    """The matrix after one edit of up to three notes, and who was edited: new text, another's text, gone, or back."""
    after, size = matrix.copy(), len(matrix)
    changed = rng.choice(size, int(rng.integers(1, 4)), replace=False)
    for row in changed:
        kind = rng.integers(0, 4)
        after[row] = [unit(rng.integers(-1, 2, matrix.shape[1]))[0], matrix[rng.integers(size)], 0.0, np.nan][kind]
    return after, changed


@pytest.mark.parametrize("width", [1, 2, 3])
@pytest.mark.parametrize("k", [0, 1, 3, 8])
def test_lists_computed_anew_where_stale_equal_lists_from_nothing(k, width):
    for seed in range(60):
        rng = np.random.default_rng([seed, k, width])
        size, least = int(rng.integers(4, 40)), float(rng.choice([-1.0, 0.0, 0.35, 0.7]))
        matrix = unit(rng.integers(-1, 2, (size, width)))
        lists = nearest(matrix, np.arange(size), k, least)
        for _ in range(6):
            matrix, changed = edited(rng, matrix)
            lists = redone(matrix, lists, changed, k, least)
            assert same(lists, nearest(matrix, np.arange(size), k, least)), (seed, k, width)


def test_a_note_that_lost_its_row_makes_the_lists_stale_that_held_it():
    for seed in range(100):
        rng = np.random.default_rng(seed)
        matrix = unit(rng.integers(-1, 2, (20, 3)))
        lists = nearest(matrix, np.arange(20), 3, 0.35)
        out = int(rng.integers(20))
        renumbered = np.where(lists.numbers == out, GONE, lists.numbers - (lists.numbers > out))
        left = np.delete(np.arange(20), out)
        lists = redone(matrix[left], Lists(renumbered[left], lists.cosines[left]), [], 3, 0.35)
        assert same(lists, nearest(matrix[left], np.arange(19), 3, 0.35))


def test_an_edit_leaves_most_lists_alone():
    rng = np.random.default_rng(8)
    centres = rng.normal(size=(40, 64))
    matrix = unit(centres[rng.integers(0, 40, 1000)] + rng.normal(size=(1000, 64)) * 0.5)
    lists = nearest(matrix, np.arange(1000), 8, 0.35)
    matrix[7] = unit(centres[3] + rng.normal(size=64) * 0.5)[0]
    assert len(stale_in(matrix, lists, [7], 8, 0.35)) < 60
