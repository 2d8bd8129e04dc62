from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from second_brain.index.text import continues, exact, exact_places, in_spaced_word

CHARACTERS = "aAß ẞİıéÉ\n\u0301\u0308\u0323 가각각 か゛ガﾞ茶कर्षি\u09c7\u09be👩\u200d🚀🏽🇩🇪\u00ad_1½ﬁ"


@given(st.text(alphabet=CHARACTERS))
def test_the_form_is_the_exact_one_and_each_place_is_where_it_came_from(text):
    folded, places = exact_places(text)
    assert folded == exact(text)
    assert len(places) == len(folded) + 1
    assert list(places) == sorted(places)
    assert places[-1] == len(text)


@pytest.mark.parametrize(
    ("text", "folded", "places"),
    [
        ("Abc", "abc", [0, 1, 2, 3]),
        (unicodedata.normalize("NFD", "äb"), "äb", [0, 2, 3]),
        ("Maß", "mass", [0, 1, 2, 2, 3]),
        ("x\u0301y", "x\u0301y", [0, 1, 2, 3]),
    ],
)
def test_places_are_those_of_the_first_character(text, folded, places):
    assert (exact_places(text)[0], list(exact_places(text)[1])) == (folded, places)


@pytest.mark.parametrize(
    ("char", "word"),
    [("a", True), ("é", True), ("1", True), ("\u0301", True), ("_", False), ("茶", False), ("-", False), ("\n", False)],
)
def test_a_character_continues_a_word_or_does_not(char, word):
    assert in_spaced_word(char) is word


@pytest.mark.parametrize(
    ("char", "mark"),
    [
        ("\u0301", True),
        ("\u200d", True),
        ("\ufe0f", True),
        ("\U0001f3fd", True),
        ("a", False),
        ("é", False),
        ("茶", False),
        ("_", False),
    ],
)
def test_a_character_belongs_to_the_one_before_or_does_not(char, mark):
    assert continues(char) is mark
