"""Unknown words are taken for typing errors where that is likely, and only there."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="module")
def desk(open_desk):
    return open_desk(
        {
            "a.md": "The room was full of kettle and roofs.",
            "b.md": "They want weekly releases.",
            "c.md": "Nothing else.",
        },
        embed=False,
    )


@pytest.mark.parametrize("word", ["root", "fall", "wann", "wand", "roam"])
def test_a_word_of_four_letters_is_no_other_word_with_one_other_letter(desk, word):
    answer = desk.ask(word)
    assert answer.corrections == ()
    assert not answer.hits


@pytest.mark.parametrize(
    ("typed", "meant"), [("rooom", "room"), ("romo", "room"), ("wnat", "want"), ("kettel", "kettle")]
)
def test_swapped_letters_and_errors_in_longer_words_are_typing_errors(desk, typed, meant):
    (correction,) = desk.ask(typed).corrections
    assert correction[0] == typed
    assert correction[1].startswith(meant)


@pytest.mark.parametrize("query", ['"rooom"', '"weekly relaeses"', '"kettels" nothing'])
def test_what_is_quoted_is_never_corrected(desk, query):
    answer = desk.ask(query)
    assert answer.corrections == ()
    assert not answer.hits


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ('"weekly releases" -want', 'every note that holds "weekly releases" is left out by -want'),
        ('"weekly releases" -"they want"', 'is left out by -"they want"'),
        ('"weekly relishes" -want', 'no note holds "weekly relishes"'),
    ],
)
def test_an_empty_answer_says_what_left_out_the_notes_that_hold_a_quoted_piece(desk, query, told):
    assert told in desk.ask(query).message
