from __future__ import annotations

import numpy as np
import pytest

from second_brain.search import fusion
from second_brain.search.fusion import Candidates, fuse, meaning_weight, reciprocal_ranks, worth_showing

NAN = float("nan")


def candidates(words, cosines):
    return Candidates(np.arange(len(words)), np.array(words, dtype=float), np.array(cosines, dtype=float))


@pytest.mark.parametrize(
    ("words", "cosines", "weight", "expected"),
    [
        ([4.0, 2.0, 0.0], [0.2, 0.6, 0.4], 0.5, [0.5, 0.75, 0.25]),
        ([4.0, 2.0, 0.0], [0.2, 0.6, 0.4], 0.0, [1.0, 0.5, 0.0]),
        ([4.0, 2.0, 0.0], [0.2, 0.6, 0.4], 1.0, [0.0, 1.0, 0.5]),
        ([4.0, 1.0], [NAN, 0.9], 0.25, [1.0, 0.4375]),
        ([0.0, 0.0], [0.6, 0.6], 0.5, [0.5, 0.5]),
        ([3.0, 0.0], [NAN, NAN], 0.5, [1.0, 0.0]),
        ([0.0, 0.0], [-0.5, 0.5], 0.5, [0.0, 0.5]),
        ([], [], 0.5, []),
    ],
)
def test_both_rankings_are_brought_to_one_scale_and_weighed(words, cosines, weight, expected):
    assert fuse(candidates(words, cosines), weight) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("words", "cosines", "shown"),
    [
        ([0.1, 0.0, 0.0], [0.0, 0.8, 0.1], [True, True, False]),
        ([0.0, 0.0], [0.8, 0.8 * fusion.FAR], [True, True]),
        ([0.0, 0.0], [0.8, 0.8 * fusion.FAR - 0.001], [True, False]),
        ([0.0, 0.0], [0.8, NAN], [True, False]),
        ([0.0, 2.0], [-0.2, NAN], [False, True]),
        ([], [], []),
    ],
)
def test_a_note_without_any_of_the_words_must_be_near_the_nearest(words, cosines, shown):
    assert worth_showing(candidates(words, cosines)).tolist() == shown


@pytest.mark.parametrize(
    ("covered", "named", "complete", "expected"),
    [
        (True, 0.0, 1.0, fusion.MEANING_COVERED),
        (True, 0.0, 0.0, fusion.MEANING_COVERED + fusion.MEANING_GAIN),
        (True, 0.5, 1.0, fusion.MEANING_COVERED / 2),
        (True, 1.0, 0.0, fusion.MEANING_LEAST),
        (False, 0.0, 1.0, fusion.MEANING_UNCOVERED),
        (False, 0.0, 0.0, fusion.MEANING_UNCOVERED),
        (False, 0.9, 0.0, fusion.MEANING_LEAST),
    ],
)
def test_meaning_counts_by_language_by_what_is_named_and_by_what_words_leave_open(covered, named, complete, expected):
    assert meaning_weight(covered=covered, named=named, complete=complete) == pytest.approx(expected)
    assert fusion.MEANING_LEAST < fusion.MEANING_UNCOVERED < fusion.MEANING_COVERED < 1


@pytest.mark.requirement("RG-3")
def test_reciprocal_ranks_count_from_one_over_sixty():
    assert reciprocal_ranks([[7, 3], [3]]) == {7: 1 / 61, 3: 1 / 62 + 1 / 61}
