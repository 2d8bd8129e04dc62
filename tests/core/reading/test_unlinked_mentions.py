from __future__ import annotations

import random
import re
import time
import unicodedata

import pytest

from second_brain.index.text import exact
from second_brain.reading.kept_blocks import Runs
from second_brain.reading.mentions import find_mentions
from second_brain.reading.unlinked import PlainNames


def nfd(text):
    return unicodedata.normalize("NFD", text)


def found_in(names, text, endings=()):
    """What stands at the mentions of *names* in *text* as one run: (line, column, last line)."""
    rows = range(text.count("\n") + 1)
    found = PlainNames(names, endings).mentions_in(text, Runs([0], [len(rows)]), rows)
    return [mention[:3] for mention in found]


@pytest.mark.requirement("SV-10")
@pytest.mark.parametrize(
    ("name", "text", "count"),
    [
        ("Art", "Art, art and ART; state-of-the-art", 4),
        ("Art", "Party Artful apart Artés art1 1art", 0),
        ("Art", "snake_art art_ _art_ __art__ art_case", 3),
        ("Ünder", nfd("Ünder ünder"), 2),
        (nfd("Ünder"), "Ünder x", 1),
        ("Unter", "Ünter", 0),
        ("nder", nfd("Ünder"), 0),
        ("resum", nfd("resumé"), 0),
        ("resume", nfd("resumé"), 0),
        ("Straße", "STRASSE strasse Straßen", 2),
        ("घर", "घर और घर।", 2),
        ("घर", "घरों घरा घर्", 0),
        ("कत", "किताब", 0),
        ("كتب", "كتب الكتب كتبت كتبٌ", 1),
        ("كتبٌ", "كتبٌ", 1),
        ("東京", "昨日東京都で", 1),
        ("カ", "カガ", 1),
        ("か", "が か", 1),
        ("서울", "서울에서", 1),
        ("ไทย", "ภาษาไทยง่าย", 1),
        ("Mira", "我和Mira一起", 1),
        ("C++", "C++, c++11 and C+++ but not ABC++", 3),
        ("3.1", "3.1 and 3.1, not 13.1 or 3.10", 2),
        (".env", ".env x.env", 2),
        ("C#", "C# and c#.", 2),
        ("👩", "👩 👩\u200d🚀 👩🏽", 1),
        ("Mira", "Mira's mira\u2019s Miras", 2),
        ("Grand Duke", "grand  duke, Grand\tDuke, grand\u00a0duke, Grand\nDuke, granduke", 4),
        ("Grand Duke", "Grand\n\nDuke Grand \n \n Duke", 0),
        ("Grand Duke", "> the Grand\n> Duke and Grand  \nDuke", 2),
        ("a b", "a a b b a b", 2),
        ("aa aa", "xaa aa aa", 1),
        ("ああ", "あああああ", 2),
        ("…", "well… yes", 1),
        ("İ", "i\u0307 x", 1),
    ],
)
def test_a_name_stands_where_words_begin_and_end(name, text, count):
    assert len(found_in([name], text)) == count


@pytest.mark.requirement("SV-10")
@pytest.mark.parametrize(
    ("endings", "count"),
    [((), 1), (("s",), 2), (("'s", "en"), 2), (("s", "'s", "en"), 3), (("S",), 2), (("sch",), 1)],
)
def test_endings_may_follow_a_name(endings, count):
    assert len(found_in(["Mira"], "Mira, Miras, Miraen, Mirasen, Mirast", endings)) == count


def test_an_ending_belongs_to_the_mention():
    names = PlainNames(["Mira", "s x"], ["\u2019s"])
    assert len(names.mentions_in("Mira's x", Runs([0], [1]), [0])) == 1
    assert len(names.mentions_in("Mira\u2019s x", Runs([0], [1]), [0])) == 1


@pytest.mark.requirement("SV-10")
@pytest.mark.parametrize(
    ("names", "text", "places"),
    [
        (["Grand Duke", "Duke"], "the Grand Duke, a duke", [(1, 4, 1), (1, 18, 1)]),
        (["Duke", "Grand Duke", "Duke of Salt"], "Grand Duke of Salt", [(1, 6, 1)]),
        (["Art", "Art Deco"], "Art Decoration", [(1, 0, 1)]),
        (["Art", "art", "ART "], "art", [(1, 0, 1)]),
        (["", "  ", "x"], "x", [(1, 0, 1)]),
        (["Ö"], nfd("so schön ist Ö"), [(1, 14, 1)]),
        (["x y"], nfd("äöü\nüx x\ny x"), [(2, 4, 3)]),
        (["ss", "x"], "ß x ss x", [(1, 0, 1), (1, 2, 1), (1, 4, 1), (1, 7, 1)]),
    ],
)
def test_of_names_that_overlap_the_longest_counts_once(names, text, places):
    assert found_in(names, text) == places


VAULT = {
    "People/Mira.md": "---\ntitle: Mira of the Boats\naliases: [Captain, Old Salt]\n---\nMira writes of Mira.\n",
    "n.md": "---\nwith: Mira\n---\n# Mira\n\nShe.\n\nThe captain\nand Mira, [[Mira]], `Mira`.\n",
    "quiet.md": "Nobody, but [[Mira]] and [Mira](People/Mira.md).\n",
}


@pytest.mark.requirement("SV-10")
def test_title_file_name_and_aliases_are_found_in_other_notes(index_of):
    found = find_mentions(index_of(VAULT).reader, "Mira", unlinked=True)
    assert [(one.path, one.line, one.text, one.mentions) for one in found.shown] == [
        ("n.md", 4, "# Mira\nShe.", 1),
        ("n.md", 8, "The captain\nand Mira, [[Mira]], `Mira`.", 2),
    ]
    assert found.message == "Mira of the Boats: 3 mentions in 1 note; 3 shown (13 of 4,000 tokens)"


@pytest.mark.requirement("SV-10")
@pytest.mark.parametrize(
    "text",
    [
        "[[Mira]] ![[Mira]] [[Mira|Mira]] [[People/Mira#Mira]]",
        "[Mira](x.md) ![Mira](x.png) [x](Mira.md) [x](<a Mira.md>)",
        "[Mira]: https://example.org/Mira",
        "[![Mira](Mira.png)](Mira.md)",
        "`Mira` ``a ` Mira``",
        "```\nMira\n```",
        "````\n```\nMira\n````",
        "> ```\n> Mira\n> ```",
        "- x\n  ```\n  Mira",
        "text\n\n    Mira",
        "%%Mira%% <!-- Mira -->",
        "%%\nMira\n%%",
        "$Mira$ $$Mira$$",
        "$$\nMira\n$$",
        "<a title='Mira'> <Mira>",
        "<script>\nMira\n</script>",
        "https://example.org/Mira/x www.Mira.org ftp://x.Mira/ mailto:Mira@example.org",
        "<https://example.org/Mira>",
        "#Mira #a/Mira",
        "---\na: Mira\n---\n",
        "Miranda",
    ],
)
def test_links_code_tags_urls_and_frontmatter_are_no_plain_text(index_of, text):
    vault = index_of({"Mira.md": "", "n.md": text})
    found = find_mentions(vault.reader, "Mira", unlinked=True)
    assert (found.total, found.message) == (0, "Mira: 0 notes mention it in plain text")


@pytest.mark.requirement("SV-10")
@pytest.mark.parametrize(
    "text",
    [
        "Mira",
        "**Mira**, ==Mira==",
        "\\[[Mira]]",
        "`x`Mira`y`",
        "$5 Mira $6",
        "100 % Mira %% no end",
        "<b>Mira</b>",
        "[Mira] and Mira]",
        "[[Mira",
        "[[Mira\n]]",
        "| Mira | b |\n|---|---|",
        "- [ ] Mira",
        "> [!tip] Mira",
        "x[^1]\n\n[^1]: Mira",
        "# Mira",
        "see https://example.org Mira",
        "````\n```\n````\nMira",
        "---\na: 1\n---\nMira",
        "<div>\nMira\n</div>",
        "[x](y) Mira [x](y)",
        "\\`Mira\\`",
    ],
)
def test_everything_else_is(index_of, text):
    vault = index_of({"Mira.md": "", "n.md": text})
    found = find_mentions(vault.reader, "Mira", unlinked=True)
    assert found.total >= 1
    assert all("Mira" in one.text for one in found.shown)


def test_a_name_over_two_lines_is_in_no_two_cells_or_items(index_of):
    vault = index_of(
        {
            "Grand Duke.md": "",
            "n.md": "| a | Grand\n| - | -\n| b | Grand\n Duke | c\n\n- Grand\n- Duke\n\n# Grand\nDuke\n",
        }
    )
    assert find_mentions(vault.reader, "Grand Duke", unlinked=True).total == 0


def test_a_mention_over_two_lines_keeps_both_when_its_block_is_trimmed(index_of):
    lines = ["and so on and on and on and on and on and on and on and on"] * 60
    lines[30:32] = ["here the Grand", "Duke goes"]
    vault = index_of({"Grand Duke.md": "", "n.md": "\n".join(lines)})
    (shown,) = find_mentions(vault.reader, "Grand Duke", unlinked=True).shown
    assert shown.text.splitlines()[1:3] == ["here the Grand", "Duke goes"]
    assert (shown.line, shown.lines, shown.mentions) == (31, (31,), 1)


@pytest.mark.requirement("SV-10")
def test_endings_are_asked_for_by_the_caller(index_of):
    vault = index_of({"Mira.md": "", "n.md": "Miras Boot"})
    assert find_mentions(vault.reader, "Mira", unlinked=True).total == 0
    assert find_mentions(vault.reader, "Mira", unlinked=True, name_endings=("s",)).total == 1


def test_an_unwritten_note_is_found_in_plain_text_too(index_of):
    vault = index_of({"a.md": "[[Old/Ghost]]", "b.md": "a ghost"})
    found = find_mentions(vault.reader, "Ghost", unlinked=True)
    assert (found.resolved_path, [one.path for one in found.shown]) == (None, ["b.md"])


@pytest.mark.requirement("SV-10")
@pytest.mark.parametrize("seed", range(15))
def test_nothing_is_missed_that_a_plain_reading_finds(index_of, seed):
    """Against a slow reading that takes the text apart by hand: words, wikilinks and code spans only."""
    dice = random.Random(seed)
    words = (
        "Ünder",
        nfd("Ünder"),
        "ünder",
        "Vale",
        "vale.",
        "(Vale)",
        "Vales",
        "[[Vale]]",
        "[[x|Vale]]",
        "`Vale`",
        "tide",
    )
    files = {"Vale.md": "---\naliases: [Ünder, Vale tide]\n---\n"}
    for number in range(8):
        lines = [" ".join(dice.choice(words) for _ in range(dice.randint(1, 9))) for _ in range(dice.randint(1, 30))]
        files[f"{number}.md"] = "\n\n".join(lines)
    found = find_mentions(index_of(files).reader, "Vale", unlinked=True, budget_tokens=10**6)
    counts = {path: sum(one.mentions for one in found.shown if one.path == path) for path in files}
    for path, text in files.items():
        if path != "Vale.md":
            plain = re.sub(r"\[\[.*?\]\]|`.*?`", "\0", exact(text))
            assert counts[path] == len(re.findall(r"(?<!\w)(?:vale tide|vale|ünder)(?!\w)", plain)), path


@pytest.mark.parametrize(
    "line",
    [
        "Grand Duke ",
        "Grand ",
        "Grand Grand Duk",
        "Grand" + " " * 50,
        "[[Grand Duke]] ",
        "[[Grand Duke ",
        "`Grand Duke ",
        "<a Grand Duke ",
        "größer Grand Duké ",
        "gra\u0301nd duke",
        "g_",
        "www.",
        "Grand-",
        "東京",
    ],
)
def test_the_time_is_linear_in_the_text(index_of, line):
    """Five times the text takes far less than the twenty-five times that a square would make of it."""
    names = PlainNames(["Grand Duke", "Grand", "東京"], ["s"])

    def seconds(length):
        text = (line * (length // len(line)))[:length]
        best = 10.0
        for _ in range(3):
            started = time.process_time()
            names.rows_in(exact(text))
            names.mentions_in(text, Runs([0], [1]), [0])
            best = min(best, time.process_time() - started)
        return best

    assert seconds(200_000) < 15 * max(seconds(40_000), 0.004)
