from __future__ import annotations

import json
import random
import unicodedata
from collections import Counter
from dataclasses import asdict

import pytest

from second_brain.errors import Ambiguous, InvalidParameter, NotFound
from second_brain.model import Scope
from second_brain.reading.mentions import BUDGET, find_mentions
from second_brain.vault.markdown import parse

VAULT = {
    "People/Mira.md": "---\ntitle: Mira of the Boats\naliases: [Captain]\n---\n# Mira\n\n[[Mira]] herself.\n",
    "Log/2026-01-01.md": "# Day\n\nSaw [[Mira]].\n\n## Later\n\n- [[Captain|she]] left\n\nMira again, the Captain.\n",
    "Log/2026-01-02.md": "---\nwith: '[[Mira]]'\n---\nNothing else.\n",
    "todo.md": "- ask [[People/Mira]]\n- [[Ghost]] and [[ghost#x|g]]\n- [[Old/Ghost]]\n",
    "other.md": "Nobody.\n",
}


@pytest.fixture
def vault(index_of):
    return index_of(VAULT)


def total_of(found):
    return sum(one.mentions for one in found.shown) + sum(note.count for note in found.map)


@pytest.mark.requirement("SV-1", "SV-2")
def test_the_answer_tells_all_that_was_found(vault):
    found = find_mentions(vault.reader, "Mira", budget_tokens=9)
    assert json.loads(json.dumps(asdict(found))) == {
        "note": "Mira of the Boats",
        "resolved_path": "People/Mira.md",
        "ambiguous": [],
        "total": 4,
        "notes": 3,
        "shown": [
            {
                "path": "Log/2026-01-01.md",
                "line": 3,
                "heading_path": ["Day"],
                "text": "Saw [[Mira]].",
                "mentions": 1,
                "lines": [3],
                "trimmed": False,
                "part": 1,
                "parts": 1,
                "tokens": 4,
            },
            {
                "path": "Log/2026-01-02.md",
                "line": 2,
                "heading_path": [],
                "text": "with: '[[Mira]]'",
                "mentions": 1,
                "lines": [2],
                "trimmed": False,
                "part": 1,
                "parts": 1,
                "tokens": 4,
            },
        ],
        "map": [
            {"path": "Log/2026-01-01.md", "lines": [7], "count": 1},
            {"path": "todo.md", "lines": [1], "count": 1},
        ],
        "tokens": 8,
        "budget_tokens": 9,
        "message": "Mira of the Boats: 4 mentions in 3 notes; 2 shown (8 of 9 tokens)",
        "next": {
            "paths": ["Log/2026-01-01.md", "todo.md"],
            "after": ["Log/2026-01-01.md:3"],
            "budget_tokens": 9,
        },
        "warnings": [],
    }


@pytest.mark.parametrize(
    ("shown", "paths", "after"),
    [
        pytest.param({"a": 1}, (), ("a.md:1",), id="one begun"),
        pytest.param({"a": 2}, (), ("b.md:0",), id="the first whole"),
        pytest.param({"b": 2, "c": 1}, ("a.md", "c.md"), ("a.md:0", "c.md:1"), id="two shown behind the first"),
        pytest.param({"a": 2, "b": 2}, ("c.md",), ("c.md:0",), id="one left"),
    ],
)
def test_going_on_names_what_is_shorter_the_notes_that_are_left_or_the_places_shown(index_of, shown, paths, after):
    files = {f"{name}.md": "[[Kiln]]\n\n[[Kiln]] and" for name in "abc"}
    vault = index_of(files | {"Kiln.md": ""})
    counts = {f"{name}.md": count for name, count in shown.items()}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "second_brain.reading.mentions.fill", lambda notes, costs, _: {p: c for p, c in counts.items() if costs(p)}
        )
        found = find_mentions(vault.reader, "Kiln")
    assert (found.next.paths, found.next.after) == (paths, after)


@pytest.mark.requirement("SV-1")
def test_without_a_budget_four_thousand_tokens_are_filled(vault):
    found = find_mentions(vault.reader, "Mira")
    assert (found.budget_tokens, BUDGET) == (4_000, 4_000)
    assert (found.map, found.next, len(found.shown)) == ((), None, 4)


@pytest.mark.requirement("SV-14")
@pytest.mark.parametrize(
    "name",
    [
        "Mira",
        "mira",
        "MIRA.md",
        "People/Mira",
        "People/Mira.md",
        "./People/Mira.md",
        "/People/Mira/",
        "People\\Mira",
        "[[Mira]]",
        "[[People/Mira|her]]",
        "Mira|her",
        "Mira#Mira",
        "[[Mira#^x]]",
        "People/Mira.md:6",
        "People%2FMira",
        "Captain",
        "mira of the boats",
        "  Mira ",
        unicodedata.normalize("NFD", "Mira"),
    ],
)
def test_a_name_is_taken_in_every_form(vault, name):
    found = find_mentions(vault.reader, name)
    assert (found.resolved_path, found.total) == ("People/Mira.md", 4)


@pytest.mark.requirement("SV-14")
@pytest.mark.parametrize(
    ("paths", "total"),
    [
        ("todo", 1),
        (["todo"], 1),
        (["todo.md", "[[2026-01-02]]"], 2),
        (["./Log/2026-01-01.md:7"], 2),
        ("other", 0),
        ((), 4),
    ],
)
def test_notes_to_look_in_are_one_or_several_in_every_form(vault, paths, total):
    found = find_mentions(vault.reader, "Mira", paths=paths)
    assert found.total == total_of(found) == total


@pytest.mark.parametrize(("paths", "error"), [(["todo", "nowhere"], NotFound), ("twin", Ambiguous)])
def test_an_unknown_note_to_look_in_is_an_error_that_says_so(index_of, paths, error):
    vault = index_of(VAULT | {"a/twin.md": "", "b/twin.md": ""})
    with pytest.raises(error) as raised:
        find_mentions(vault.reader, "Mira", paths=paths)
    assert raised.value.parameter == "paths"


@pytest.mark.requirement("SV-14")
@pytest.mark.parametrize(
    ("name", "note", "total"),
    [
        ("Ghost", "Ghost", 3),
        ("[[ghost|x]]", "ghost", 3),
        ("ghost.md", "ghost", 3),
        ("./Ghost#there", "Ghost", 3),
        ("old/ghost", "old/ghost", 1),
        ("%47host", "Ghost", 3),
    ],
)
def test_an_unwritten_note_has_the_mentions_of_the_links_to_it(vault, name, note, total):
    found = find_mentions(vault.reader, name)
    assert (found.note, found.resolved_path, found.total) == (note, None, total)
    assert found.message.startswith(f"{note} (no note of this name here): {total} mention")


@pytest.mark.requirement("SV-14")
@pytest.mark.parametrize("unlinked", [False, True])
@pytest.mark.parametrize("name", ["Nobody at all", "", "../Mira", "[[]]", "Nobody.", "x" * 3000])
def test_what_nothing_bears_or_links_to_is_not_found(vault, name, unlinked):
    with pytest.raises(NotFound):
        find_mentions(vault.reader, name, unlinked=unlinked)


def test_of_several_notes_the_shortest_path_is_taken_and_that_is_told(index_of):
    vault = index_of({"long/Twin.md": "", "b/Twin.md": "", "n.md": "[[b/Twin]] [[long/Twin]]"})
    found = find_mentions(vault.reader, "Twin")
    assert (found.resolved_path, found.ambiguous, found.total) == ("b/Twin.md", ("b/Twin.md", "long/Twin.md"), 1)
    assert found.message.endswith("; the name fits 2 notes, this is b/Twin.md")


@pytest.mark.requirement("SV-14")
@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, "Kiln: 0 notes link here"),
        ({"a.md": "[[Kiln]]"}, "Kiln: 1 mention in 1 note; 1 shown (2 of 4,000 tokens)"),
        ({"a.md": "[[Kiln]] [[Kiln]]"}, "Kiln: 2 mentions in 1 note; 2 shown (5 of 4,000 tokens)"),
        ({"a.md": "[[Kiln]]", "b.md": "[[Kiln]]"}, "Kiln: 2 mentions in 2 notes; 2 shown (4 of 4,000 tokens)"),
    ],
)
def test_the_message_counts_in_the_right_number(index_of, files, message):
    assert find_mentions(index_of({"Kiln.md": ""} | files).reader, "Kiln").message == message


def test_a_message_without_mentions_says_what_was_looked_for(vault):
    assert find_mentions(vault.reader, "other").message == "other: 0 notes link here"
    assert find_mentions(vault.reader, "todo", unlinked=True).message == "todo: 0 notes mention it in plain text"
    assert find_mentions(vault.reader, "Mira", paths="other").message == "Mira of the Boats: 0 mentions in 0 notes"


@pytest.mark.parametrize(
    ("folders", "total"),
    [
        (("Log",), 1),
        (("Log/",), 1),
        (("/Log",), 1),
        (("Lo",), 4),
        (("log",), 4),
        (("",), 4),
        (("Log/2026-01-01.md",), 4),
    ],
)
def test_notes_below_folders_to_skip_are_left_out(vault, folders, total):
    assert find_mentions(vault.reader, "Mira", skip_folders=folders).total == total
    assert find_mentions(vault.reader, "Captain", unlinked=True, skip_folders=folders).total == (0 if total == 1 else 2)


def test_a_folder_to_skip_may_be_written_in_another_unicode_form(index_of):
    vault = index_of({"Kiln.md": "", unicodedata.normalize("NFD", "Übung/a.md"): "[[Kiln]]"})
    assert find_mentions(vault.reader, "Kiln", skip_folders=["Übung"]).total == 0


# -- going on -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("after", "places"),
    [
        (
            "Log/2026-01-01.md:2",
            [("Log/2026-01-01.md", 3), ("Log/2026-01-01.md", 7), ("Log/2026-01-02.md", 2), ("todo.md", 1)],
        ),
        ("Log/2026-01-01.md:3", [("Log/2026-01-01.md", 7), ("Log/2026-01-02.md", 2), ("todo.md", 1)]),
        ("Log/2026-01-01.md:L3", [("Log/2026-01-01.md", 7), ("Log/2026-01-02.md", 2), ("todo.md", 1)]),
        ("2026-01-01:3", [("Log/2026-01-01.md", 7), ("Log/2026-01-02.md", 2), ("todo.md", 1)]),
        (
            "Log/2026-01-01.md:3:3",
            [("Log/2026-01-01.md", 3), ("Log/2026-01-01.md", 7), ("Log/2026-01-02.md", 2), ("todo.md", 1)],
        ),
        ("Log/2026-01-01.md:3:4", [("Log/2026-01-01.md", 7), ("Log/2026-01-02.md", 2), ("todo.md", 1)]),
        ("Log/2026-01-02.md:9", [("todo.md", 1)]),
        (["Log/2026-01-01.md:3", "todo.md:1"], [("Log/2026-01-01.md", 7), ("Log/2026-01-02.md", 2)]),
        (["todo.md:0", "Log/2026-01-01.md:7"], [("Log/2026-01-02.md", 2), ("todo.md", 1)]),
        ("todo.md:1", []),
    ],
)
def test_after_a_place_comes_what_is_behind_it_in_path_order(vault, after, places):
    found = find_mentions(vault.reader, "Mira", after=after)
    assert [(one.path, one.line) for one in found.shown] == places
    assert found.total == total_of(found) == len(places)
    assert found.next is None


@pytest.mark.parametrize(
    "after",
    [
        "todo",
        "todo.md:",
        "todo.md:x",
        ":3",
        "nowhere:3",
        "Gone away.md:9",
        "todo.md:-1",
        "todo.md:1:2:3",
        "../todo:3",
        "3",
    ],
)
def test_what_is_no_place_is_refused(vault, after):
    with pytest.raises(InvalidParameter) as raised:
        find_mentions(vault.reader, "Mira", after=after)
    assert raised.value.parameter == "after"


@pytest.mark.parametrize("name", ["a:3.md", "b:1:2.md", "c.md:7.md"])
def test_a_path_may_hold_a_colon_and_a_number(index_of, name):
    vault = index_of({"Kiln.md": "", name: "[[Kiln]]\n\n[[Kiln]] [[Kiln]]", "z.md": "[[Kiln]]"})
    assert find_mentions(vault.reader, "Kiln", after=f"{name}:1").total == 3
    assert find_mentions(vault.reader, "Kiln", after=f"{name}:3:0").total == 2


def test_within_one_line_it_goes_on_behind_the_column(index_of):
    line = " ".join(["[[Kiln]]", *["and so on"] * 80] * 30)
    vault = index_of({"Kiln.md": "", "n.md": line})
    found = find_mentions(vault.reader, "Kiln", budget_tokens=800)
    assert found.next.after == (f"n.md:1:{line.find('[[Kiln]]') + (found.total - found.map[0].count - 1) * 809}",)


def test_a_budget_that_is_too_small_for_any_excerpt_names_one_that_is_not(vault):
    found = find_mentions(vault.reader, "Mira", budget_tokens=0)
    assert (found.shown, total_of(found)) == ((), 4)
    assert (found.next.after, found.next.budget_tokens) == (("Log/2026-01-01.md:0",), 4)


# -- what always holds ----------------------------------------------------------------------------------------------------


def random_vault(seed):
    """Notes that link to and name ``Aria Vale`` in all kinds of blocks, and how often each note links to it."""
    dice = random.Random(seed)
    folders = ("", "x/", "y/", "y/z/", "Ü/")
    files = {"People/Aria Vale.md": "---\naliases: [Vale]\n---\n# Aria Vale\n\n[[Aria Vale]] Vale\n"}
    for number in range(dice.randint(0, 14)):
        body = "\n\n".join(_block(dice) for _ in range(dice.randint(0, 6)))
        links = "".join(f"\n  - '{_link(dice)}'" for _ in range(dice.choice((0, 0, 1, 3, 40))))
        head = f"---\nsee:{links}\nas: ['{_link(dice)}', '{_link(dice)}']\n---\n" if dice.random() < 0.3 else ""
        files[f"{dice.choice(folders)}note {number}.md"] = head + body
    return files


def _link(dice):
    return dice.choice(("[[Aria Vale]]", "[[Vale]]", "![[aria vale]]", "[[People/Aria Vale|her]]", "[[Else]]"))


def _words(dice, most):
    words = ("tide", "lantern", "größer", "e\u0301te\u0301", "茶" * 9, "Vale", "Aria Vale", "`Vale`", "Aria")
    return " ".join(dice.choice((*words, _link(dice))) for _ in range(dice.randint(1, most)))


def _block(dice):
    kind, many = dice.randrange(6), dice.choice((1, 2, 5, 30))
    if kind == 0:
        return _words(dice, 700)
    if kind == 1:
        return "\n".join(_words(dice, 30) for _ in range(many))
    if kind == 2:
        return "\n".join(f"{'  ' * dice.randrange(4)}- {_words(dice, 20)}" for _ in range(many))
    if kind == 3:
        return "\n".join(["| a | b |", "|---|---|", *(f"| {_words(dice, 20)} | x |" for _ in range(many))])
    if kind == 4:
        return "\n".join(["> [!note] " + _words(dice, 5), *(f"> {_words(dice, 20)}" for _ in range(many))])
    return f"## {_words(dice, 5)}\n\n```\n{_words(dice, 5)}\n```"


def counted(answer):
    """How many mentions of each note an answer tells."""
    found = Counter()
    for one in answer.shown:
        found[one.path] += one.mentions
    for note in answer.map:
        found[note.path] += note.count
    return found


def lines(answer):
    """On which lines of which notes an answer tells mentions."""
    return {(one.path, line) for one in (*answer.shown, *answer.map) for line in one.lines}


def linked_in(files):
    """How often each note links to the one in question, by the parser."""
    names = ("aria vale", "vale", "people/aria vale")
    links = [(path, link.target.casefold()) for path, text in files.items() for link in parse(path, text).links]
    return Counter(path for path, target in links if target in names and path != "People/Aria Vale.md")


@pytest.mark.requirement("SV-3", "SV-5")
@pytest.mark.parametrize("seed", range(25))
def test_shown_and_map_are_all_mentions_for_any_budget(index_of, seed):
    """In both modes with six budgets for each vault."""
    files = random_vault(seed)
    reader = index_of(files).reader
    dice = random.Random(seed)
    assert counted(find_mentions(reader, "Vale", budget_tokens=10**9)) == linked_in(files)
    for unlinked in (False, True):
        everything = find_mentions(reader, "Vale", budget_tokens=10**9, unlinked=unlinked)
        assert (everything.map, everything.next) == ((), None)
        for budget in (0, -7, 1, dice.randint(2, 300), dice.randint(300, 3000), dice.randint(3000, 9000)):
            check(find_mentions(reader, "Vale", budget_tokens=budget, unlinked=unlinked), everything)


def check(found, everything):
    """*found*, with another budget, tells the same mentions as *everything*, which shows all."""
    assert counted(found) == counted(everything)
    assert lines(found) == lines(everything)
    assert (found.total, found.notes) == (everything.total, everything.notes)
    assert found.tokens == sum(one.tokens for one in found.shown) <= max(found.budget_tokens, 0)
    assert all(len(one.text) <= 1_500 for one in found.shown)
    assert (found.next is None) == (found.map == ())
    for path in {one.path for one in found.shown}:  # of each note a beginning is shown
        seen = [one for one in found.shown if one.path == path]
        assert seen == [one for one in everything.shown if one.path == path][: len(seen)]


@pytest.mark.requirement("SV-3")
@pytest.mark.parametrize("seed", range(25))
def test_going_on_shows_every_mention_exactly_once(index_of, seed):
    reader = index_of(random_vault(seed)).reader
    dice = random.Random(seed)
    for unlinked in (False, True):
        everything = find_mentions(reader, "Vale", budget_tokens=10**9, unlinked=unlinked)
        options = {"budget_tokens": dice.choice((0, 40, 300, 900, 2500)), "paths": (), "after": ""}
        shown = []
        for _ in range(2 + everything.total):
            found = find_mentions(reader, "Vale", unlinked=unlinked, **options)
            shown += [(one.path, one.line, one.text, one.mentions) for one in found.shown]
            if found.next is None:
                break
            options = asdict(found.next)
            assert len({place.partition(".md:")[0] for place in options["after"]}) == len(options["after"])
        assert found.next is None
        assert sorted(shown) == sorted((one.path, one.line, one.text, one.mentions) for one in everything.shown)


@pytest.mark.requirement("SV-3")
@pytest.mark.parametrize("head", ["[[Kiln|key]] ", ""])
def test_going_on_within_a_property_loses_and_repeats_nothing(index_of, head):
    """All its mentions have the line of its key, and most of them one column."""
    values = "".join(f"\n  - '[[Kiln|{number} {'and so on ' * 12}]]'" for number in range(60))
    reader = index_of({"Kiln.md": "", "n.md": f"---\na: 1\nsee: {head}{values}\n---\n[[Kiln]]\n"}).reader
    options, shown = {"budget_tokens": 600}, []
    while options is not None:
        found = find_mentions(reader, "Kiln", **options)
        assert found.total == total_of(found) == 61 + bool(head) - sum(one.mentions for one in shown)
        shown += found.shown
        options = asdict(found.next) if found.next else None
    numbers = [
        line.split()[1].partition("|")[2] for one in shown for line in one.text.splitlines() if line.startswith("  - ")
    ]
    assert numbers == [str(number) for number in range(60)]


@pytest.mark.parametrize("unlinked", [False, True])
@pytest.mark.parametrize("scope", [Scope(folders=("x", "y")), Scope(excluded=("hidden",)), Scope(tags=("seen",))])
def test_notes_outside_the_scope_change_no_byte_of_an_answer(index_of, unlinked, scope):
    seen = {
        "y/Vale.md": "---\ntags: [seen]\n---\n",
        "x/a.md": "---\ntags: [seen]\n---\nTo [[Vale]], Vale and [[Plan]].\n",
        "x/b.md": "---\ntags: [seen]\n---\n[[hidden/Vale]] [[y/Vale]] Vale\n",
    }
    hidden = {
        "hidden/Vale.md": "---\naliases: [Vale]\n---\n[[y/Vale]] [[Vale]] Vale\n",
        "hidden/Plan.md": "[[Plan]] Vale",
        "hidden/Aaa.md": "---\naliases: [Vale, Plan]\n---\n",
    }
    answers = []
    for files in (seen, seen | hidden):
        reader = index_of(files, scope).reader
        for options in ({}, {"budget_tokens": 9}, {"after": "x/a.md:4"}, {"paths": "x/b"}):
            answers += [find_mentions(reader, name, unlinked=unlinked, **options) for name in ("Vale", "Plan")]
        for name, options in (
            ("Aaa", {}),
            ("hidden/Plan", {}),
            ("Vale", {"paths": "Aaa"}),
            ("Vale", {"after": "hidden/Aaa:1"}),
        ):
            with pytest.raises((NotFound, InvalidParameter)) as raised:
                find_mentions(reader, name, unlinked=unlinked, **options)
            answers.append(raised.value.as_json())
    assert repr(answers[: len(answers) // 2]) == repr(answers[len(answers) // 2 :])


@pytest.mark.requirement("SV-15")
def test_unreadable_and_empty_notes_disable_nothing(index_of):
    vault = index_of(
        VAULT
        | {"empty.md": "", "blank.md": "\n\n", "broken.md": "---\na: [\n---\n[[Mira]]\n", "nul.md": "\0[[Mira]]\0"}
    )
    (vault.root / "bytes.md").write_bytes(b"\xff\xfe\x00[[Mira]] \xe9")
    (vault.root / "latin.md").write_bytes("naïve [[Mira]]".encode("latin-1"))
    (vault.root / "locked.md").write_text("[[Mira]]", "utf-8")
    (vault.root / "locked.md").chmod(0)
    vault.indexer.sync()
    found = find_mentions(vault.reader, "Mira")
    assert {"broken.md", "latin.md", "todo.md"} <= {one.path for one in found.shown}
    assert total_of(found) == found.total
    assert find_mentions(vault.reader, "empty").total == 0


def test_an_edit_between_two_calls_is_seen_once_it_is_indexed(vault):
    assert find_mentions(vault.reader, "Mira", paths="todo").shown[0].text == "- ask [[People/Mira]]"
    vault.write({"todo.md": "Later\n\n- tell [[Mira]]\n"})
    vault.indexer.sync()
    (shown,) = find_mentions(vault.reader, "Mira", paths="todo").shown
    assert (shown.line, shown.text) == (3, "- tell [[Mira]]")


def test_blocks_that_are_kept_are_few_enough(vault, monkeypatch):
    monkeypatch.setattr("second_brain.reading.kept_blocks.MOST", 60)
    monkeypatch.setattr("second_brain.reading.kept_blocks.MOST_RUNS", 1)
    before = find_mentions(vault.reader, "Mira"), find_mentions(vault.reader, "Mira", unlinked=True)
    assert (find_mentions(vault.reader, "Mira"), find_mentions(vault.reader, "Mira", unlinked=True)) == before
    assert len(vault.reader.held["runs"]) == 1
    assert len(vault.reader.held["blocks"]._notes) == 1


@pytest.mark.requirement("SV-3", "SV-12")
@pytest.mark.parametrize("text", ["漢字と仮名", "лодка "], ids=["japanese", "russian"])
def test_long_paragraphs_of_dense_scripts_are_shown_by_the_first_call(index_of, text):
    notes = {f"{number}.md": f"{text * (1_400 // len(text))} [[Mira]]\n" for number in range(5)}
    found = find_mentions(index_of(notes | {"Mira.md": ""}).reader, "Mira")
    assert len(found.shown) >= 2
