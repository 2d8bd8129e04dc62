from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from second_brain.vault import frontmatter


def head(yaml: str):
    return frontmatter.parse(f"---\n{yaml}\n---\nbody\n")


@pytest.mark.requirement("CNV-1")
@pytest.mark.parametrize(
    ("text", "end_line"),
    [
        ("---\ntags: [a]\n---\nbody", 3),
        ("---  \ntags: [a]\n---\t\nbody", 3),
        ("---\ntags: [a]\n---", 3),
        ("---\ntags: [a]\n...\nbody", 3),
        ("---\n---\nbody", 2),
        ("---\n\n---\nbody", 3),
        ("---\ntags: [a]\nbody", 0),
        ("----\ntags: [a]\n---", 0),
        ("--- x\ntags: [a]\n---", 0),
        ("\n---\ntags: [a]\n---", 0),
        ("text\n---\ntags: [a]\n---", 0),
        ("---", 0),
        ("", 0),
        ("---\n- a\n- b\n---", 0),
        ("---\n\nJust prose between rules.\n\n---\n", 0),
        ("---\n\n# Plan\n\n---\n", 0),
        ("---\n\n# Plan\n\nPick the plums.\n\n## Jars\n\nForty.\n\n---\n", 0),
        (
            "---\nA sentence that goes on: and on\nand another line\nand a third one\nand a fourth\nand more: [\n---\n",
            0,
        ),
    ],
)
def test_only_a_mapping_between_the_fences_is_a_frontmatter(text, end_line):
    assert frontmatter.parse(text).end_line == end_line


@pytest.mark.requirement("CNV-2")
@pytest.mark.parametrize(
    ("yaml", "tags"),
    [
        ("tags: [a, b/c]", ("a", "b/c")),
        ("tags:\n  - a\n  - b", ("a", "b")),
        ("tags:\n- a\n- b", ("a", "b")),
        ("tags: a, b", ("a", "b")),
        ("tags: a b", ("a", "b")),
        ("tag: a", ("a",)),
        ("Tags: [a]", ("a",)),
        ('tags: ["#a", "#b/"]', ("a", "b")),
        ('tags: "#a #b"', ("a", "b")),
        ("tags: [a]\ntag: b", ("a", "b")),
        ("tags: [Orchard, orchard]", ("Orchard",)),
        ("tags:", ()),
        ('tags: [null, "", ~, real]', ("real",)),
        ("tags: [yes, no, on, 012, hinge]", ("yes", "no", "on", "hinge")),
        ("tags: [1984, y1984, 2026/01, 1e5]", ("y1984", "2026/01", "1e5")),
        ("tags: 2024", ()),
        ("tags: [two words, one]", ("one",)),
        ("tags: {a: {b: c}}", ()),
        ("tags: [[nested], real, {k: v}]", ("real",)),
        ('tags: ["🌱seedling", größe, 日記, हिन्दी]', ("🌱seedling", "größe", "日記", "हिन्दी")),
        ('tags: ["{{tag}}", a.b, "c,d"]', ("c", "d")),
        ("tags: [type/note, status/open]", ("type/note", "status/open")),
    ],
)
def test_tags_come_in_every_form(yaml, tags):
    assert head(yaml).tags == tags


@pytest.mark.requirement("SV-8")
@pytest.mark.parametrize(
    ("yaml", "aliases"),
    [
        ("aliases: [A, B C]", ("A", "B C")),
        ("aliases:\n  - A", ("A",)),
        ("aliases: the Ferry woman", ("the Ferry woman",)),
        ("aliases: One, Two", ("One", "Two")),
        ('aliases: ["One, Two"]', ("One, Two",)),
        ("alias: A", ("A",)),
        ("aliases:", ()),
        ("aliases: [~, '', 7, 2024-01-02]", ("7", "2024-01-02")),
        ("aliases: {a: b}", ()),
    ],
)
def test_aliases_are_a_list_or_one_string(yaml, aliases):
    assert head(yaml).aliases == aliases


@pytest.mark.parametrize(
    ("typed", "value", "row"),
    [
        ("text", "text", "text"),
        ("yes", "yes", "yes"),
        ("012", "012", "012"),
        ("1:30", "1:30", "1:30"),
        (".inf", ".inf", ".inf"),
        (".nan", ".nan", ".nan"),
        ("0x1f", "0x1f", "0x1f"),
        ("1_000", "1_000", "1_000"),
        ("7", 7, "7"),
        ("-7", -7, "-7"),
        ("1.10", 1.1, "1.10"),
        ("1e3", 1000.0, "1e3"),
        ("1e999", "1e999", "1e999"),
        ("12345678901234567890", "12345678901234567890", "12345678901234567890"),
        ("true", True, "true"),
        ("False", False, "false"),
        ('"true"', "true", "true"),
        ("'7'", "7", "7"),
        ("2026-01-02", "2026-01-02", "2026-01-02"),
        ("2026-1-2", "2026-01-02", "2026-01-02"),
        ("2026-01-02 10:20", "2026-01-02T10:20:00", "2026-01-02T10:20:00"),
        ("2026-01-02T10:20:30.5Z", "2026-01-02T10:20:30.5Z", "2026-01-02T10:20:30.5Z"),
        ("2026-01-02 10:20:30 +2", "2026-01-02T10:20:30+02:00", "2026-01-02T10:20:30+02:00"),
        ("2023-02-30", "2023-02-30", "2023-02-30"),
        ("2026-01-02 25:00", "2026-01-02 25:00", "2026-01-02 25:00"),
        ("1700000000000", 1700000000000, "1700000000000"),
        ("|\n  two\n  lines", "two\nlines", "two\nlines"),
        ("👩‍🌾", "👩‍🌾", "👩‍🌾"),
        ("!custom x", "x", "x"),
    ],
)
def test_scalars_stay_what_was_typed_unless_yaml_1_2_says_otherwise(typed, value, row):
    parsed = head(f"key: {typed}")
    assert parsed.values == {"key": value}
    assert type(parsed.values["key"]) is type(value)
    assert parsed.rows == (("key", row),)
    assert parsed.problem == ""


def test_rows_are_flat():
    parsed = head("a: [1, two, ~]\nb:\n  c: x\n  d: [y, {e: z}]\nempty:\n")
    assert parsed.rows == (("a", "1"), ("a", "two"), ("b.c", "x"), ("b.d", "y"), ("b.d.e", "z"))
    assert parsed.values == {"a": [1, "two", None], "b": {"c": "x", "d": ["y", {"e": "z"}]}, "empty": None}


def test_rows_are_capped():
    parsed = head(f"a: [{', '.join('x' for _ in range(900))}]\nb: {'y' * 5000}")
    assert len(parsed.rows) == 500
    assert len(head(f"b: {'y' * 5000}").rows[0][1]) == 2000


@pytest.mark.parametrize(
    ("yaml", "title"),
    [
        ("title: 2020-06-03", "2020-06-03"),
        ("title: 2020-6-3", "2020-6-3"),
        ("title: 007", "007"),
        ('title: " A  title "', "A title"),
        ("Title: A", "A"),
        ("title:", ""),
        ("title: [a]", ""),
        ("title: Budget: third quarter (draft: two)", "Budget: third quarter (draft: two)"),
    ],
)
def test_a_title_is_the_text_as_typed(yaml, title):
    assert head(yaml).title == title


@pytest.mark.parametrize(
    ("yaml", "problem", "tags"),
    [
        ("title: Budget: third quarter\ntags: [finance]", "invalid YAML in line 2", ("finance",)),
        ("a: 1\ntags:\n  - x\n  - y\nb: [", "invalid YAML in line", ("x", "y")),
        ("tags: x\n\tbad: tab", "invalid YAML in line 3", ("x",)),
        ("created: {{date:YYYY-MM-DD}}\ntags: [{{tag}}, real]", "template placeholders", ("real",)),
        ('id: <% tp.date.now("YYYY") %>\ntags: [a]', "template placeholders", ("a",)),
        ("tags: [a]\nkey: 1\ntags: [b]", "the key tags stands in the frontmatter more than once", ("a", "b")),
        ('tags: ["#a", b\nother: x', "invalid YAML", ("a", "b")),
        ("'tags': x\nbad: [", "invalid YAML", ("x",)),
        ("loop: &a [*a]\ntags: [t]", "refers to itself", ("t",)),
        ("x: *nowhere\ntags: [t]", "invalid YAML", ("t",)),
    ],
)
def test_what_is_wrong_is_told_and_what_is_sound_is_kept(yaml, problem, tags):
    parsed = head(yaml)
    assert problem in parsed.problem
    assert parsed.tags == tags
    assert parsed.end_line == yaml.count("\n") + 3


def test_a_broken_head_keeps_its_simple_values():
    parsed = head("title: a: b\nrating: 4\nwhen: 2026-01-02\nquoted: '7'\nlist: [x, 'y', 3]\n# note: no")
    assert parsed.values == {"title": "a: b", "rating": 4, "when": "2026-01-02", "quoted": "7", "list": ["x", "y", 3]}


def test_odd_keys_become_text():
    parsed = head("? [complex, key]\n: 1\n7: seven\n~: none\ntrue: t")
    assert parsed.values == {"[complex, key]": 1, "7": "seven", "~": "none", "true": "t"}


def test_control_characters_do_not_hide_the_rest():
    parsed = head("a: x\x07y\ntags: [t]\nb: p\u2028q")
    assert parsed.tags == ("t",)
    assert parsed.values["a"] == "x\ufffdy"


def test_an_alias_bomb_is_cut():
    bomb = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "\n".join(
        f"{name}: &{name} [{', '.join(f'*{before}' for _ in range(9))}]"
        for before, name in zip("abcdefgh", "bcdefghi", strict=True)
    )
    parsed = head(bomb)
    assert "too large" in parsed.problem
    assert len(json.dumps(parsed.values)) < 100_000


@pytest.mark.parametrize(
    "yaml",
    ["a: " + "[" * 5000, "a: " + "[" * 200 + "]" * 200, "? " * 5000, "\n".join(" " * n + "a:" for n in range(300))],
)
def test_deep_nesting_ends_in_a_problem_or_in_prose(yaml):
    parsed = head(yaml)
    assert parsed.problem or not parsed.end_line


YAMLISH = st.text(st.sampled_from("ab:-[]{}#&*!|>'\"%@`,?~\n\t .0129<{}é日\x07\u2028\U0001f331"), max_size=200)


@pytest.mark.requirement("SV-15")
@given(st.one_of(YAMLISH, st.text(max_size=100)))
def test_any_text_gives_a_frontmatter_that_json_can_hold(text):
    for note in (text, f"---\n{text}\n---\n", f"---\nkey: {text}\n---"):
        parsed = frontmatter.parse(note)
        json.dumps(parsed.values, allow_nan=False).encode()
        lines = note.split("\n")
        assert parsed.end_line <= len(lines)
        if parsed.end_line:
            assert lines[parsed.end_line - 1].strip() in ("---", "...")
