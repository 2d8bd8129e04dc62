from __future__ import annotations

import random
import unicodedata

import pytest

from second_brain.reading.excerpts import excerpts_of
from second_brain.reading.mentions import find_mentions
from second_brain.reading.note_blocks import NoteBlocks
from second_brain.reading.trimming import LIMIT, Mention
from second_brain.vault.markdown import parse

FILL = "the tide had gone out and left the boats lying on their sides in the mud"


def mentions_in(text, target="Kiln"):
    """The links to *target* in *text*."""
    links = [link for link in parse("n.md", text).links if link.target.partition("#")[0] == target]
    return [Mention(link.line, link.column, link.line, link.target) for link in links]


def excerpts(text, target="Kiln"):
    """The excerpts of the links to *target* in *text*, none too long and every link in one of them."""
    mentions = mentions_in(text, target)
    found = excerpts_of(NoteBlocks(text), mentions)
    assert [mention for one in found for mention in one.mentions] == mentions
    assert all(len(one.text) <= LIMIT for one in found)
    return found


def rows(*numbers, of=60, link="[[Kiln]]"):
    return [f"| {number} | {link if number in numbers else FILL} |" for number in range(1, of + 1)]


@pytest.mark.requirement("SV-5")
def test_a_block_of_just_the_limit_is_whole():
    text = "[[Kiln]] " + "x" * (LIMIT - 9)
    (one,) = excerpts(text)
    assert (one.text, one.trimmed, one.part, one.parts) == (text, False, 1, 1)
    (one,) = excerpts(text + "x")
    assert one.trimmed
    assert one.text.startswith("[[Kiln]] ")
    assert one.text.endswith("…\n[trimmed to its mentions; the block runs L1]")


@pytest.mark.requirement("SV-5")
def test_a_long_paragraph_keeps_the_lines_that_mention():
    lines = [FILL] * 30
    lines[3] = "first [[Kiln]]"
    lines[4] = "second [[Kiln]]"
    lines[20] = "third [[Kiln]]"
    (one,) = excerpts("\n".join(["# H", "", *lines, "", "after"]))
    assert one.text.splitlines() == [
        "…",
        "first [[Kiln]]",
        "second [[Kiln]]",
        "…",
        "third [[Kiln]]",
        "…",
        "[trimmed to its mentions; the block runs L3-32]",
    ]
    assert one.trimmed


@pytest.mark.requirement("SV-5")
@pytest.mark.parametrize(
    ("note", "kept"),
    [
        pytest.param(
            ["> [!tip] Firing", *[f"> {FILL}"] * 30, "> [[Kiln]]"],
            ["> [!tip] Firing", "…", "> [[Kiln]]", "[trimmed to its mentions; the block runs L1-32]"],
            id="callout",
        ),
        pytest.param(
            [f"- {FILL}", *[f"  {FILL}"] * 20, f"  - {FILL}", *[f"    {FILL}"] * 20, "    - a [[Kiln]]"],
            [f"- {FILL}", "…", f"  - {FILL}", "…", "    - a [[Kiln]]", "[trimmed to its mentions; the block runs L43]"],
            id="ancestors",
        ),
        pytest.param(
            ["## [[Kiln]]", *[FILL] * 30],
            ["## [[Kiln]]", FILL, "…", "[trimmed to its mentions; the block runs L1-31]"],
            id="heading",
        ),
        pytest.param(
            [
                "---",
                "see:",
                *["  - '[[Kiln|" + "o" * 400 + "]]'"] * 3,
                f"  - {FILL}",
                *["  - '[[Kiln|" + "o" * 400 + "]]'"],
                "---",
            ],
            None,
            id="property",
        ),
    ],
)
def test_what_frames_the_mentions_stays(note, kept):
    found = excerpts("\n".join(note))
    if kept is None:
        assert [one.text.splitlines()[0] for one in found] == ["see:"] * len(found)
        assert len(found) == 2
        assert found[0].text.endswith("[part 1 of 2, trimmed to its mentions; the block runs L2-7]")
    else:
        assert [one.text.splitlines() for one in found] == [kept]


@pytest.mark.requirement("SV-5")
def test_too_many_mentions_come_in_parts_that_each_have_their_frame():
    table = ["| a | b |", "|---|---|", *rows(*range(5, 61), link=f"[[Kiln]] {FILL}")]
    found = excerpts("\n".join(table))
    assert len(found) == 4
    assert [(one.part, one.parts, one.trimmed) for one in found] == [(number, 4, True) for number in range(1, 5)]
    for number, one in enumerate(found, 1):
        lines = one.text.splitlines()
        assert lines[:3] == ["| a | b |", "|---|---|", "…"]
        assert lines[-1] == f"[part {number} of 4, trimmed to its mentions; the block runs L1-62]"
    shown = [line for one in found for line in one.text.splitlines() if "[[Kiln]]" in line]
    assert shown == [line for line in table if "[[Kiln]]" in line]


@pytest.mark.requirement("SV-5")
def test_a_part_holds_as_many_mentions_as_fit():
    found = excerpts("\n".join(["[[Kiln]] " + FILL] * 100))
    assert all(len(one.text) > LIMIT - 2 * len(FILL) for one in found[:-1])


@pytest.mark.requirement("SV-5")
def test_a_very_long_line_is_shown_around_its_mentions():
    words = FILL.split() * 100
    words[300] = "[[Kiln]]"
    words[310] = "[[Kiln]]"
    words[900] = "[[Kiln]]"
    (one, other) = excerpts(" ".join(words))
    first, marker = one.text.splitlines()
    second, _ = other.text.splitlines()
    assert first.count("[[Kiln]]") == 2
    assert second.count("[[Kiln]]") == 1
    assert marker == "[part 1 of 2, trimmed to its mentions; the block runs L1]"
    for window in (first, second):
        assert window[0] == window[-1] == "…"
        assert set(window.strip("…").split()) <= {*FILL.split(), "[[Kiln]]"}
        assert 400 < len(window) < 800


@pytest.mark.requirement("SV-5")
def test_windows_of_one_line_repeat_nothing():
    words = [f"w{number}" for number in range(2000)]
    for place in range(100, 1900, 70):
        words[place] = "[[Kiln]]"
    found = excerpts(" ".join(words))
    shown = [word for one in found for word in one.text.replace("…", " ").split() if word.startswith("w")]
    assert len(shown) == len(set(shown))
    assert sum(one.text.count("[[Kiln]]") for one in found) == len(range(100, 1900, 70))


@pytest.mark.requirement("SV-5")
@pytest.mark.parametrize(
    "unit", ["e\u0301", "क\u094d\u0937\u093f", "\U0001f469\u200d\U0001f680", "\U0001f1e9\U0001f1ea", "n\u0303\u0323"]
)
@pytest.mark.parametrize("shift", range(4))
def test_a_window_never_cuts_through_a_character(unit, shift):
    line = "x" * shift + unit * 1500 + "[[Kiln]]" + unit * 1500
    (one,) = excerpts(line)
    window = one.text.splitlines()[0].strip("…")
    before, _, behind = window.partition("[[Kiln]]")
    assert before
    assert before.replace(unit, "") == ""
    assert behind.replace(unit, "") == ""


@pytest.mark.requirement("SV-5")
def test_the_column_of_decomposed_text_is_found():
    text = unicodedata.normalize("NFD", "größer über Bäume " * 200) + "[[Kiln]] Ende"
    (one,) = excerpts(text)
    assert "Bäume" in unicodedata.normalize("NFC", one.text)
    assert "[[Kiln]] Ende" in one.text


@pytest.mark.requirement("SV-5")
def test_a_link_with_a_very_long_text_is_begun():
    (one,) = excerpts(f"{FILL} [[Kiln|{'o' * 1900}]]")
    assert "[[Kiln|ooo" in one.text


@pytest.mark.requirement("SV-5")
def test_a_pile_of_marks_longer_than_the_limit_is_cut_all_the_same():
    (one,) = excerpts("a" + "\u0301" * 4000 + "[[Kiln]]" + "a" + "\u0301" * 4000)
    assert "[[Kiln]]" in one.text


@pytest.mark.requirement("SV-5")
def test_long_frames_are_cut_and_of_many_the_nearest_stay():
    lines = [f"{'  ' * depth}- {depth} {FILL * 5}" for depth in range(30)]
    (one,) = excerpts("\n".join([*lines, f"{'  ' * 30}- [[Kiln]]"]))
    assert "- 29 the" in one.text
    assert "- 21 " not in one.text
    assert f"{'  ' * 30}- [[Kiln]]" in one.text


@pytest.mark.requirement("SV-5")
@pytest.mark.parametrize("seed", range(120))
def test_no_excerpt_is_too_long_and_every_mention_is_in_one(seed):
    text = _note(random.Random(seed))
    found = excerpts_of(NoteBlocks(text), mentions_in(text))
    assert [mention for one in found for mention in one.mentions] == mentions_in(text)
    assert max((len(one.text) for one in found), default=0) <= LIMIT


def _note(dice):
    return "\n".join(line for _ in range(dice.randint(1, 6)) for line in [*_block(dice), ""])


def _words(dice, most=60):
    alphabet = (
        *FILL.split(),
        "größer",
        "e\u0301te\u0301",
        "茶" * 30,
        "क\u094d\u0937",
        "[[Kiln]]",
        "[[Else]]",
        "x" * 200,
    )
    return " ".join(dice.choice(alphabet) for _ in range(dice.randint(1, most)))


def _block(dice):
    many = range(dice.choice((1, 3, 40, 80)))
    table = ["|---|---|", *(f"| {_words(dice)} | {_words(dice, 9)} |" for _ in many)]
    return dice.choice(
        (
            [_words(dice, 400)],
            [_words(dice) for _ in many],
            [f"{'  ' * dice.randrange(6)}- {_words(dice)}" for _ in many],
            ["| a | b |", *table],
            [dice.choice(("> [!note] ", "> ")) + _words(dice), *(f"> {_words(dice)}" for _ in many)],
            [f"## {_words(dice, 9)}", *(_words(dice) for _ in many)],
            [f"## {_words(dice, 300)}", "", "| [[Kiln]] | x |", *table],
        )
    )


@pytest.mark.requirement("SV-5")
def test_a_property_of_many_values_comes_in_parts_with_its_key(index_of):
    values = [f"  - '[[Kiln|{number} {FILL}]]'" for number in range(60)]
    vault = index_of({"Kiln.md": "", "n.md": "\n".join(["---", "a: 1", "see:", *values, "---", ""])})
    found = find_mentions(vault.reader, "Kiln", budget_tokens=10**5)
    assert found.total == sum(one.mentions for one in found.shown) == 60
    assert len(found.shown) > 3
    for one in found.shown:
        assert one.text.splitlines()[0] == "see:"
        assert (one.line, one.lines) == (3, (3,))
        assert one.text.count("[[Kiln|") == one.mentions
    shown = [line for one in found.shown for line in one.text.splitlines() if "[[Kiln|" in line]
    assert shown == values
