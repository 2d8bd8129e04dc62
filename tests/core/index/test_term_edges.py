"""Chunks tell where the terms of a text are cut, and have no say in what the terms are."""

from __future__ import annotations

import itertools
from types import SimpleNamespace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from indexed_vault import IndexedVault
from second_brain.index import exact, note_rows, words
from second_brain.index import text as text_module
from second_brain.index.note_rows import _terms_and_edges
from second_brain.index.terms import pair_names, position_starts, terms
from second_brain.index.text import tokens
from second_brain.model import Layout

LETTERS = "abZ9_ .\n'é½ﬁe\u0301山小屋味噌\U00020000\U00020001プｶﾞ한국ไทยน้ำहि\u200d"


def cut(text, edges):
    return {1: [SimpleNamespace(start=start, end=end) for start, end in itertools.pairwise(edges)]}


@given(st.text(LETTERS, max_size=40), st.lists(st.integers(0, 40), max_size=6))
@example("山小屋の予約", [2, 3, 5])
@example("a\U00020000\U00020001b", [2])
@example("getUserName", [3])
@example("½½", [1])
def test_terms_and_positions_are_those_of_the_whole_text_wherever_it_is_cut(text, places):
    edges = sorted({0, len(text), *(min(place, len(text)) for place in places)})
    placed, before = _terms_and_edges(text, cut(text, edges))
    found = [*zip(placed.names, placed.positions.tolist(), strict=True)]
    found += zip(pair_names(placed.pairs), placed.pair_positions.tolist(), strict=True)
    assert sorted(found) == sorted(terms(text))
    for edge in edges:
        assert before[edge] == len({token.position for token in tokens(text) if token.start < edge})


class Counting:
    """A pattern that counts the characters it went over."""

    def __init__(self, pattern):
        self.pattern = pattern
        self.characters = 0

    def match(self, *given):
        found = self.pattern.match(*given)
        self.characters += found.end() - found.start() if found else 1
        return found


@pytest.mark.parametrize("letter", ["山", "A", "é", "_"])
def test_a_word_as_long_as_a_note_is_cut_many_times_in_no_more_than_linear_work(monkeypatch, letter):
    text = letter * 60_000
    pattern = Counting(note_rows.in_word())
    monkeypatch.setattr(note_rows, "in_word", lambda: pattern)
    taken_apart = []
    starts = note_rows.position_starts
    monkeypatch.setattr(note_rows, "position_starts", lambda word: taken_apart.append(len(word)) or starts(word))
    _terms_and_edges(text, cut(text, list(range(0, 60_001, 100))))
    assert pattern.characters < 3 * len(text)
    assert sum(taken_apart) <= len(text)


@pytest.mark.parametrize("word", ["a" * 300, "_" * 300 + "word", "_" * 300 + "aB" * 100, "12ab" * 100, "a_" * 200])
def test_of_encoded_data_the_same_counts_however_long_it_is(word):
    assert text_module.analyse(word + "a" * 100_000) == text_module.analyse(word + "a" * 200)
    assert text_module.analyse(word + "a" * 200)[0][0][0] == text_module.analyse(word + "a" * 200 + "é")[0][0][0]
    assert text_module.analyse("_" * 300 + "word")[0][0][0] == "word"


@pytest.mark.parametrize("pattern", ["a_", "a_b", "A_b__", "a1_", "_", "aB"])
@pytest.mark.parametrize("start", range(5))
def test_a_long_name_has_one_term_beside_whatever_letters_it_stands(pattern, start):
    for size in range(120, 140):
        word = (pattern * 200)[start : start + size] + "xyz"
        beside = text_module.analyse(word + "z" * 40 + "é")[0]
        same = text_module.analyse(word + "z" * 41)[0]
        assert [piece[0] for piece in beside if len(piece[0]) > 100] == [
            piece[0] for piece in same if len(piece[0]) > 100
        ]


@given(st.text(LETTERS, min_size=1, max_size=30))
def test_positions_of_a_run_begin_where_its_tokens_do(text):
    for match in text_module.WORD.finditer(text):
        first = {}
        for token in tokens(match[0]):
            first.setdefault(token.position, token.start)
        assert list(position_starts(match[0])) == [first[position] for position in sorted(first)]


@pytest.mark.parametrize("size", [30, 60])
def test_every_pair_of_an_unspaced_text_finds_its_note_whatever_the_layout(tmp_path, size):
    text = "".join(chr(0x5000 + number) for number in range(400))
    vault = IndexedVault(tmp_path, layout=Layout(size, 8)).write_all({"long.md": text, "other.md": "river"}).index()
    with vault.reader() as reader:
        for place in range(len(text) - 1):
            pair = text[place : place + 2]
            assert words.holders(reader, pair).sum() == exact.holders(reader, pair).sum() == 1
            assert len(reader.occurrences(pair)[0]) == 1


@pytest.mark.parametrize(
    ("text", "english"),
    [
        ("山小屋の予約を取る。天気を見る。", 0),
        ("山小屋の予約を取る。天気を見る。" * 6 + " Generals of the army.", 0),
        ("We met at the hut 山小屋 and it was good to see all of them there.", 1),
    ],
)
def test_a_note_is_english_by_all_of_its_terms(tmp_path, text, english):
    vault = IndexedVault(tmp_path).write_all({"n.md": text}).index()
    with vault.reader() as reader:
        assert [row[0] for row in reader.connection.execute("SELECT english FROM files")] == [english]
