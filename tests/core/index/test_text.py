# ruff: noqa: RUF001 - characters that look alike are the subject
from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from second_brain.index.terms import terms
from second_brain.index.text import (
    STOP_WORDS,
    begins,
    begins_pairs,
    exact,
    fold,
    is_english,
    query_terms,
    stem,
    tokens,
)

ALPHABETS = (
    "abcXYZ019_",
    "éÜßñÅﬁﬀıİǅ½²Ⅷ",
    "e\u0301u\u0308o\u0302",
    "αΆΐςᾳ",
    "йЁжд",
    "日本語山小屋々",
    "がプﾌﾟｶﾞーリ",
    "한국어\u1112\u1161\u11ab",
    "हिन्दी",
    "ไทยน้ำ",
    "مرحبا\u064e",
    "\u00ad\u200d\ufe0f",
)
WORDS = st.sampled_from(ALPHABETS).flatmap(lambda letters: st.text(letters, min_size=1, max_size=12))
MIXED = st.text("".join(ALPHABETS) + " -'#.≠\u0338", max_size=30) | st.text(max_size=30)


def index_terms(text):
    return {term for term, _ in terms(text)}


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("Hello", "hello"),
        ("Châtelier", "chatelier"),
        ("Cha\u0302telier", "chatelier"),
        ("STRASSE", "strasse"),
        ("Straße", "strasse"),
        ("İstanbul ısı", "istanbul isi"),
        ("ΆΛΦΑ ς", "αλφα σ"),
        ("ﬁn ＡＢＣ", "fin abc"),
        ("ế", "e"),
        ("co\u00adoperate", "cooperate"),
        ("がぎ", "がぎ"),
        ("か\u3099", "が"),
        ("ｶﾞ", "ガ"),
        ("हिन्दी", "हिन्दी"),
        ("Йод", "йод"),
        ("مَرْحَبًا", "مَرْحَبًا"),
    ],
)
def test_folding_drops_case_and_latin_accents_but_no_letters_of_other_scripts(text, folded):
    assert fold(text) == folded


@given(MIXED)
@example("ᾴ\u0345\u0301")
@example("\u1e9b\u0323")
def test_folding_is_idempotent_and_blind_to_the_unicode_form(text):
    assert fold(fold(text)) == fold(text)
    assert fold(unicodedata.normalize("NFC", text)) == fold(unicodedata.normalize("NFD", text)) == fold(text)


@given(MIXED)
@example("ΐ")
def test_the_exact_form_is_idempotent_and_blind_to_the_unicode_form(text):
    assert exact(exact(text)) == exact(text)
    assert exact(unicodedata.normalize("NFC", text)) == exact(unicodedata.normalize("NFD", text))


def test_the_exact_form_keeps_accents_and_drops_nul():
    assert exact("CAFÉ\0 C++") == "café c++"


def stored_terms(text):
    return [(token.term, token.position) for token in tokens(text) if token.stored]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Two words", [("two", 0), ("words", 1)]),
        ("don't", [("don", 0), ("t", 1)]),
        ("l’été", [("l", 0), ("ete", 1)]),
        ("_emphasis_ __init__", [("emphasis", 0), ("init", 1)]),
        ("____", []),
        ("getUserName x", [("getusername", 0), ("get", 0), ("user", 0), ("name", 0), ("x", 1)]),
        ("HTTPServer2", [("httpserver2", 0), ("http", 0), ("server", 0), ("2", 0)]),
        ("snake_case", [("snake_case", 0), ("snake", 0), ("case", 0)]),
        ("DEC-0054", [("dec", 0), ("0054", 1)]),
        ("v1.9", [("v1", 0), ("v", 0), ("1", 0), ("9", 1)]),
        ("C++ AND NOT ^*", [("c", 0), ("and", 1), ("not", 2)]),
        ("½ cup", [("1", 0), ("2", 1), ("cup", 2)]),
        ("山小屋", [("山小", 0), ("山", 0), ("小屋", 1), ("小", 1), ("屋", 2)]),
        ("山。x", [("山", 0), ("x", 1)]),
        ("使用Python3", [("使用", 0), ("使", 0), ("用", 1), ("python3", 2), ("python", 2), ("3", 2)]),
        ("हिन्दी में", [("हिन्दी", 0), ("में", 1)]),
        ("น้ำ", [("น้\u0e4dา", 0), ("น้", 0), ("\u0e4dา", 1)]),
        ("a≠b a=\u0338b", [("a", 0), ("b", 1), ("a", 2), ("b", 3)]),
        ("", []),
        ("... 😀 --", []),
    ],
)
def test_a_text_becomes_these_terms_at_these_positions(text, expected):
    assert [(token.term, token.position) for token in tokens(text)] == expected
    assert sorted(terms(text)) == sorted(stored_terms(text))


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("山小屋", [("山小", 0), ("小屋", 1)]),
        ("山", [("山", 0)]),
        ("getUserName", [("getusername", 0)]),
        ("Debian 12.4", [("debian", 0), ("12", 1), ("4", 2)]),
    ],
)
def test_a_query_asks_for_whole_words_and_pairs_only(query, expected):
    assert query_terms(query) == expected


@given(MIXED)
@example("ｶﾞ한")
@example("Aᾼ_Ǆ")
def test_both_unicode_forms_of_a_text_have_the_same_terms(text):
    composed, decomposed = unicodedata.normalize("NFC", text), unicodedata.normalize("NFD", text)
    assert sorted(terms(composed)) == sorted(terms(decomposed)) == sorted(terms(text))


@given(MIXED)
@example("日本ﾌﾟAbc한ไทย\u0301")
@example("𠀀𠀁x\U0001d165")
def test_the_bulk_way_and_the_marking_way_agree(text):
    assert sorted(terms(text)) == sorted(stored_terms(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("山小屋", ["山小", "小屋", "屋"]),
        ("山", ["山"]),
        ("น้ำ", ["น้\u0e4dา", "น้", "\u0e4dา"]),  # as the pair is written, the mark would belong to the letter before
        ("ໜາ", ["ຫນາ", "ຫນ", "າ"]),
        ("getName", ["getname", "get", "name"]),
    ],
)
def test_a_character_that_begins_a_pair_has_no_term_of_its_own(text, expected):
    assert sorted(term for term, _ in terms(text)) == sorted(expected)


@pytest.mark.parametrize(
    ("term", "is_letter"), [("山", True), ("น้", True), ("𠀀", True), ("山小", False), ("a", False), ("é", False)]
)
def test_only_a_single_character_of_an_unspaced_script_begins_pairs(term, is_letter):
    assert begins_pairs(term) is is_letter


@pytest.mark.parametrize(
    ("letter", "pair", "is_beginning"),
    [
        ("山", "山小", True),
        ("山", "山", True),
        ("น", "น้\u0e4dา", False),
        ("น้", "น้ก", True),
        ("小", "山小", False),
    ],
)
def test_a_pair_begins_with_a_whole_character(letter, pair, is_beginning):
    assert begins(letter, pair) is is_beginning


@given(st.lists(WORDS, min_size=1, max_size=6), st.data())
def test_words_typed_from_a_text_are_terms_of_it_at_the_same_distances(words, data):
    first = data.draw(st.integers(0, len(words) - 1))
    last = data.draw(st.integers(first, len(words) - 1))
    stored = set(terms(" ".join(words)))
    before = len({position for _, position in terms(" ".join(words[:first]))})
    for term, position in query_terms(" ".join(words[first : last + 1])):
        assert (term, position + before) in stored


@given(WORDS, WORDS)
def test_case_and_latin_accents_do_not_separate_a_query_from_a_text(before, after):
    text = f"{before} Crème {after}"
    assert {term for term, _ in query_terms("CREME")} <= index_terms(text)
    assert {term for term, _ in query_terms("cre\u0300me")} <= index_terms(text)


@given(MIXED)
def test_a_token_lies_where_its_term_was_read(text):
    for token in tokens(text):
        piece = text[token.start : token.end]
        assert piece
        assert fold(piece) == token.term or token.term in fold(piece) or fold(piece) == fold(token.term)


def test_parts_of_a_name_are_marked_alone():
    text = "call getUserName()"
    assert [text[token.start : token.end] for token in tokens(text) if token.part] == ["get", "User", "Name"]


def test_a_run_of_encoded_data_is_cut_and_has_no_parts():
    found = tokens("aB3" * 5000)
    assert [(len(token.term), token.position) for token in found] == [(128, 0)]


@pytest.mark.parametrize(
    ("text", "english"),
    [
        ("The boat is kept in the shed until spring, when we paint it again.", True),
        ("Das Boot liegt im Schuppen, bis wir es im Frühjahr wieder streichen.", False),
        ("El barco se queda en el cobertizo hasta que lo pintamos de nuevo.", False),
        ("Le bateau reste dans le hangar jusqu'au printemps avec la voile.", False),
        ("sourdough schedule", True),
        ("Dünger Rosen", True),  # folded, it is ASCII and tells nothing
        ("山小屋の予約", False),
        ("alpha beta gamma delta epsilon zeta eta theta iota kappa", False),
        ("", True),
    ],
)
def test_a_language_shows_in_its_function_words(text, english):
    assert is_english(term for term, _ in query_terms(text)) is english


def test_stop_words_are_terms_as_the_index_has_them():
    assert {language: len(words) > 60 for language, words in STOP_WORDS.items()} == dict.fromkeys(STOP_WORDS, True)
    for words in STOP_WORDS.values():
        assert {query_terms(word)[0][0] for word in words} == words


@pytest.mark.parametrize(
    ("word", "root"),
    [("running", "run"), ("notes", "note"), ("is", "is"), ("über", "über"), ("v2s", "v2s"), ("山小屋", "山小屋")],
)
def test_only_english_looking_words_are_stemmed(word, root):
    assert stem(word) == root
