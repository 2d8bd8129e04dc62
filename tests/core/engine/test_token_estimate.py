from __future__ import annotations

import pytest

from second_brain.tokencount import estimate


@pytest.mark.requirement("FR-32")
@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("a", 1),
        ("abcd", 1),
        ("abcde", 2),
        ("x" * 400, 100),
        ("naïve café " * 4, 11),  # 44 Latin characters
        ("größer als üblich und schön", 9),  # German: 27 / 3
        ("çok güzel şey ve iyi bir gün", 14),  # Turkish: 28 / 2
        ("пример", 5),  # 6 / 1.2
        ("עברית", 5),  # 5 / 1.2
        ("冬夜读书", 6),  # 4 / .75
        ("味噌汁 soup", 6),  # 3 / .75 + 5 / 4
        ("한국어", 4),
        ("Ⅻ", 1),
    ],
)
def test_tokens_are_estimated_by_script(text, tokens):
    assert estimate(text) == tokens


@pytest.mark.parametrize("text", ["heron pond ", "Straße und Brücke ", "冬夜", "слово ", "güneş ağaç "])
def test_a_longer_text_never_has_fewer_tokens(text):
    counts = [estimate(text * times) for times in range(1, 40)]
    assert counts == sorted(counts)
    assert counts[-1] > 30 * counts[0] * 0.8


def test_one_foreign_letter_in_a_long_text_does_not_make_it_another_language():
    plain = "x" * 1_000
    assert estimate(plain + "ü") == 251
    assert estimate(plain + "ü" * 6) == 336
