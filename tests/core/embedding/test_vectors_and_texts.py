from __future__ import annotations

import numpy as np
import pytest

from second_brain.embedding.base import words_that_fit
from second_brain.embedding.onnx_model import cuts
from second_brain.embedding.texts import encodable, halves
from second_brain.embedding.vectors import pooled, unit_rows
from second_brain.errors import EmbedderUnavailable


def test_rows_come_out_with_length_one_and_the_same_direction():
    rows = unit_rows([[3.0, 4.0], [0.0, 1e-5]], count=2, dimension=2, source="m")
    assert rows.dtype == np.float32
    assert rows.tolist() == [pytest.approx([0.6, 0.8]), [0.0, 1.0]]


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ([[1.0, 0.0]], "1 vectors for 2 texts"),
        ([[1.0, 0.0, 0.0]] * 2, "3 numbers instead of 2"),
        ([[1.0, 0.0], [1.0]], "rows of numbers of one length"),
        ([["a", "b"], ["c", "d"]], "rows of numbers of one length"),
        ([[1.0, 0.0], [float("nan"), 0.0]], "NaN or infinity"),
        ([[1.0, 0.0], [float("-inf"), 0.0]], "NaN or infinity"),
        ([[1.0, 0.0], [0.0, 0.0]], "all zeros"),
        ([[1.0, 0.0], [1e300, 1e300]], "too large"),
        ([1.0, 2.0], "numbers instead of 2"),
        ([], "0 vectors for 2 texts"),
    ],
)
def test_an_answer_that_is_no_set_of_directions_is_refused_by_name(answer, words):
    with pytest.raises(EmbedderUnavailable) as caught:
        unit_rows(answer, count=2, dimension=2, source="model m")
    assert words in caught.value.message
    assert "model m" in caught.value.message
    assert caught.value.hint


def test_pooling_weighs_pieces_by_their_length():
    rows = np.array([[1.0, 0.0], [0.0, 1.0]], dtype=np.float32)
    vector = pooled(rows, [3, 1], source="m")
    assert vector.tolist() == pytest.approx([3 / 10**0.5, 1 / 10**0.5])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("one two three four", ("one two", "three four")),
        ("a bbbbbbbbbbbbbbbb", ("a", "bbbbbbbbbbbbbbbb")),
        ("aaaaaaaaaaaaaaaa b", ("aaaaaaaaaaaaaaaa", "b")),
        ("  padded\ntext  ", ("padded", "text")),
        ("山川草木", ("山川", "草木")),
        ("x", ("", "x")),
    ],
)
def test_a_text_is_halved_between_words(text, expected):
    assert halves(text) == expected


def test_halves_of_halves_lose_no_word():
    words = [f"w{number}" for number in range(101)]

    def leaves(text):
        return [text] if len(text) < 12 else [leaf for half in halves(text) for leaf in leaves(half)]

    assert " ".join(leaves(" ".join(words))).split() == words


def test_lone_surrogates_become_question_marks_and_all_else_stays():
    assert encodable("caf\udce9 é 😀") == "caf? é 😀"


@pytest.mark.parametrize(("length", "room"), [(0, 4), (1, 4), (4, 4), (5, 4), (9, 4), (255, 254), (1000, 254)])
def test_runs_cover_every_token_once_and_fit(length, room):
    runs = cuts(list(range(length)), room)
    assert [token for start, end in runs for token in range(start, end)] == list(range(length))
    assert all(end - start <= room for start, end in runs)
    assert len(runs) == max(1, -(-length // room))


def test_runs_are_cut_between_words_unless_a_word_fills_more_than_half_a_run():
    assert cuts([0, 0, 0, 1, 1, 1, 2, 2, 2, 3], 5) == [(0, 3), (3, 6), (6, 10)]
    assert cuts([7] * 10, 4) == [(0, 4), (4, 7), (7, 10)]


@pytest.mark.parametrize(("tokens", "words"), [(256, 179), (512, 358), (2048, 1433), (8192, 2000), (32768, 2000)])
def test_the_words_that_fit_stay_below_the_tokens_and_below_two_thousand(tokens, words):
    assert words_that_fit(tokens) == words
