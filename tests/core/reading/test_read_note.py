from __future__ import annotations

import pytest

from second_brain.errors import Ambiguous, InvalidParameter, NotFound
from second_brain.model import Scope
from second_brain.reading.notes import CAP, LEAD, SMALL, View, outline, read_note
from second_brain.tokencount import estimate

RUNBOOK = """---
tags: [ops]
---
# Runbook

What to do, and when.

## Restart (`~/svc/pump/run.sh`)

Wait ten seconds.

### After `config.yaml` edit

Reload only.

## C#

managed

## Done ##

closed

Careful now
-----------

Setext too.

## **Bold** [[Kiln|the kiln]] and [docs](kiln.md)

marked

## TCP/IP

wires

## Größe

wide
"""


@pytest.fixture
def runbook(index_of):
    vault = index_of({"r.md": RUNBOOK})
    return lambda name="r", **options: read_note(vault.reader, name, vault.read, **options)


@pytest.mark.requirement("SV-7", "SV-1")
@pytest.mark.parametrize(
    ("asked", "lines"),
    [
        ("Restart (`~/svc/pump/run.sh`)", (8, 14)),
        ("Restart (~/svc/pump/run.sh)", (8, 14)),
        ("restart (~/SVC/pump/run.sh)", (8, 14)),
        ("After `config.yaml` edit", (12, 14)),
        ("After config.yaml edit", (12, 14)),
        ("### After `config.yaml` edit", (12, 14)),
        ("Runbook > After config.yaml edit", (12, 14)),
        ("Runbook/After config.yaml edit", (12, 14)),
        ("Runbook#After config.yaml edit", (12, 14)),
        ("Runbook > Restart (`~/svc/pump/run.sh`) > After `config.yaml` edit", (12, 14)),
        ("C#", (16, 18)),
        ("## C#", (16, 18)),
        ("Runbook > C#", (16, 18)),
        ("Done", (20, 22)),
        ("Careful now", (24, 27)),
        ("careful   NOW", (24, 27)),
        ("Bold the kiln and docs", (29, 31)),
        ("**Bold** [[Kiln|the kiln]] and [docs](kiln.md)", (29, 31)),
        ("TCP/IP", (33, 35)),
        ("Runbook > tcp/ip", (33, 35)),
        ("TCP IP", (33, 35)),
        ("Grosse", (37, 39)),
        ("runbook grosse", (37, 39)),
        ("Runbook / TCP/IP", (33, 35)),
        ("Runbook", (4, 39)),
    ],
)
def test_a_section_is_found_by_any_way_to_write_its_heading(runbook, asked, lines):
    found = runbook(sections=[asked])
    assert (found.start_line, found.end_line) == lines
    assert found.text == "\n".join(RUNBOOK.split("\n")[lines[0] - 1 : lines[1]])
    assert (found.view, found.truncated, found.missing, found.ambiguous) == (View.SECTIONS, False, (), ())


@pytest.mark.requirement("SV-7")
def test_a_section_ends_at_the_next_heading_of_the_same_or_a_higher_level(index_of):
    text = "# A\n\n## B\n\n### C\n\nc\n\n#### D\n\nd\n\n### E\n\ne\n\n# F\n\n```\n# no heading\n```\n\nf\n"
    vault = index_of({"n.md": text})
    bounds = {entry.text: (entry.line, entry.end_line) for entry in outline(vault.reader, "n", vault.read)}
    assert bounds == {"A": (1, 15), "B": (3, 15), "C": (5, 11), "D": (9, 11), "E": (13, 15), "F": (17, 23)}


def test_the_name_itself_may_carry_the_section(runbook):
    assert "ten seconds" in runbook("r#Restart (`~/svc/pump/run.sh`)").text
    assert "ten seconds" not in runbook("[[r#Runbook#C#|sharp]]").text
    assert runbook("[[r#Runbook#Done|x]]").text == "## Done ##\n\nclosed"


def test_a_single_string_is_one_section(runbook):
    assert runbook(sections="Done").text == "## Done ##\n\nclosed"


def test_several_sections_come_labelled_in_the_order_of_the_note(runbook):
    found = runbook(sections=["Done", "C#"])
    assert (
        found.text
        == "== r.md:16  [Runbook > C#]\n## C#\n\nmanaged\n\n== r.md:20  [Runbook > Done]\n## Done ##\n\nclosed"
    )
    assert (found.start_line, found.end_line) == (16, 22)


def test_a_section_inside_another_asked_one_is_shown_once(runbook):
    found = runbook(sections=["After config.yaml edit", "Restart (~/svc/pump/run.sh)"])
    assert found.text.count("Reload only.") == 1
    assert (found.start_line, found.end_line) == (8, 14)


@pytest.mark.requirement("SV-7")
def test_sections_of_one_name_are_all_shown_under_their_parents(index_of):
    vault = index_of({"d.md": "# Mon\n\n## Notes\n\nred kite\n\n# Tue\n\n## Notes\n\nblack kite\n"})
    found = read_note(vault.reader, "d", vault.read, sections=["notes"])
    assert found.text == (
        "== d.md:3  [Mon > Notes]\n## Notes\n\nred kite\n\n== d.md:9  [Tue > Notes]\n## Notes\n\nblack kite"
    )
    assert found.ambiguous == ("notes",)
    one = read_note(vault.reader, "d", vault.read, sections=["Tue > Notes"])
    assert (one.text, one.ambiguous) == ("## Notes\n\nblack kite", ())


def test_a_heading_as_written_goes_before_one_that_differs_in_case(index_of):
    vault = index_of({"d.md": "# todo\n\nlow\n\n# Todo\n\nhigh\n\n# `Todo`\n\ncode\n"})
    assert read_note(vault.reader, "d", vault.read, sections=["Todo"]).text == "# Todo\n\nhigh"
    assert read_note(vault.reader, "d", vault.read, sections=["TODO"]).ambiguous == ("TODO",)


def test_an_unknown_section_is_not_found_with_the_headings_to_choose_from(runbook):
    with pytest.raises(NotFound) as caught:
        runbook(sections=["Restrat"])
    assert caught.value.parameter == "sections"
    assert caught.value.options[0] == "Restart (`~/svc/pump/run.sh`)"
    assert len(caught.value.options) == 9
    with pytest.raises(NotFound) as caught:
        runbook("r#Nowhere")
    assert caught.value.parameter == "target"


def test_options_tell_sections_of_one_name_apart(index_of):
    vault = index_of({"d.md": "# Mon\n\n## Notes\n\n# Tue\n\n## Notes\n"})
    with pytest.raises(NotFound) as caught:
        read_note(vault.reader, "d", vault.read, sections=["Nottes"])
    assert set(caught.value.options) == {"Mon", "Tue", "Mon > Notes", "Tue > Notes"}
    for option in caught.value.options:
        assert read_note(vault.reader, "d", vault.read, sections=[option]).ambiguous == ()


def test_the_known_sections_are_shown_and_the_unknown_ones_named(runbook):
    found = runbook(sections=["Done", "Nowhere"])
    assert found.text == "## Done ##\n\nclosed"
    assert found.missing == ("Nowhere",)


@pytest.mark.requirement("SV-14")
def test_a_note_without_headings_answers_a_section_with_what_it_has(index_of):
    vault = index_of({"bare.md": "just a line\n"})
    found = read_note(vault.reader, "bare", vault.read, sections=["Anything"])
    assert (found.text, found.missing) == ("just a line", ("Anything",))


# -- whole notes and outlines ---------------------------------------------------------------------------------------------

LONG = "".join(f"## Part {number}\n\n{'lorem ipsum dolor ' * 40}\n\n" for number in range(12))


@pytest.mark.requirement("FR-33")
def test_a_small_note_is_shown_whole_with_its_frontmatter(runbook):
    found = runbook()
    assert found.text == RUNBOOK.rstrip("\n")
    assert (found.view, found.start_line, found.end_line, found.total_lines) == (View.FULL, 1, 39, 39)
    assert (found.title, found.path, found.truncated, found.next_line) == ("Runbook", "r.md", False, None)
    assert found.tokens == estimate(found.text)


def test_a_big_note_is_shown_as_lead_and_outline_with_sizes(index_of):
    vault = index_of({"big.md": f"---\na: 1\n---\n\n# Big\n\nThe lead.\n\n{LONG}"})
    found = read_note(vault.reader, "big", vault.read)
    assert (found.view, found.text) == (View.OUTLINE, "# Big\n\nThe lead.")
    assert [entry.text for entry in found.outline[:2]] == ["Big", "Part 0"]
    first = found.outline[1]
    assert (first.level, first.path, first.line, first.end_line) == (2, ("Big", "Part 0"), 9, 11)
    whole = read_note(vault.reader, "big", vault.read, sections=["Part 0"])
    assert first.tokens == whole.tokens
    assert found.outline[0].tokens > SMALL


def test_the_border_between_whole_and_outline_is_the_small_size(index_of):
    text = "# T\n\n" + "a" * (SMALL * 4 - 5)
    vault = index_of({"just.md": text, "over.md": text + "b"})
    assert estimate(text) == SMALL
    assert read_note(vault.reader, "just", vault.read).view is View.FULL
    assert read_note(vault.reader, "over", vault.read).view is View.OUTLINE


@pytest.mark.requirement("SV-14")
def test_a_big_note_without_headings_gives_its_lead_and_blocks(index_of):
    text = "\n\n".join(["- one\n  - two\n\n- three", "```\ncode\n```", *("word " * 100 for _ in range(20))])
    vault = index_of({"bare.md": text})
    found = read_note(vault.reader, "bare", vault.read)
    assert found.view is View.OUTLINE
    assert found.text.startswith("- one")
    assert 0 < found.tokens <= LEAD
    assert [(entry.level, entry.text, entry.line, entry.end_line) for entry in found.outline[:2]] == [
        (0, "- one", 1, 4),
        (0, "```", 6, 8),
    ]
    assert found.truncated
    rest = read_note(vault.reader, "bare", vault.read, after_line=found.next_line - 1)
    assert (rest.start_line, rest.end_line, rest.view) == (found.next_line, rest.total_lines, View.FULL)


def test_an_outline_can_be_asked_of_a_small_note(runbook):
    found = runbook(view="outline")
    assert found.text == "# Runbook\n\nWhat to do, and when."
    assert len(found.outline) == 9
    assert [entry.text for entry in found.outline] == [entry.text for entry in runbook().outline]


def test_a_note_that_begins_with_a_section_has_an_empty_lead_and_an_outline(index_of):
    vault = index_of({"n.md": "## A\n\na\n"})
    found = read_note(vault.reader, "n", vault.read, view="outline")
    assert (found.text, len(found.outline), found.truncated) == ("", 1, False)


@pytest.mark.parametrize("text", ["", "\n", "---\na: 1\n---\n", "---\na: 1\n---"])
def test_a_note_without_a_body_can_be_read_and_outlined(index_of, text):
    vault = index_of({"empty.md": text})
    for view in ("auto", "full"):
        assert read_note(vault.reader, "empty", vault.read, view=view).text == text.removesuffix("\n")
    assert outline(vault.reader, "empty", vault.read) == ()


# -- budgets and going on -------------------------------------------------------------------------------------------------

WILD = "\n".join(
    [
        "# Wild",
        "",
        "para one",
        "para two",
        "",
        "```",
        *(f"code {n}" for n in range(30)),
        "```",
        "",
        "x" * 700,
        "",
        "# End",
    ]
    + [f"größer Satz {n} 日本語のテキスト" for n in range(40)]
)


@pytest.mark.requirement("FR-33")
@pytest.mark.parametrize("budget", [1, 2, 7, 40, 100, 333, 5_000])
@pytest.mark.parametrize("options", [{"view": "full"}, {"sections": ["Wild"]}, {"lines": (3, 60)}])
def test_reading_on_gives_every_character_once_and_never_more_than_the_budget(index_of, budget, options):
    vault = index_of({"w.md": WILD})
    whole = read_note(vault.reader, "w", vault.read, **options)
    assert not whole.truncated
    pieces, after, column = "", 0, 0
    for _ in range(len(WILD)):
        part = read_note(
            vault.reader, "w", vault.read, **options, budget_tokens=budget, after_line=after, after_column=column
        )
        assert part.tokens <= max(budget, 2)
        assert part.text or not whole.text
        pieces += part.text
        if not part.truncated:
            break
        pieces += "\n" if not part.next_column else ""
        after, column = part.next_line - 1, part.next_column
    assert pieces.replace("\n", "") == whole.text.replace("\n", "")


@pytest.mark.requirement("FR-33")
def test_a_note_beyond_the_cap_is_cut_with_its_outline_and_where_to_go_on(index_of):
    vault = index_of({"huge.md": "# Huge\n\n" + LONG * 12})
    found = read_note(vault.reader, "huge", vault.read, view="full")
    assert CAP * 0.9 < found.tokens <= CAP
    assert found.truncated
    assert found.next_line == found.end_line + 1
    assert len(found.outline) == 1 + 12 * 12


def test_a_cut_keeps_a_code_block_whole_where_it_can(index_of):
    text = "\n\n".join([*("plain words here " * 8 for _ in range(20)), "```\n" + "code\n" * 20 + "```"])
    vault = index_of({"c.md": text})
    found = read_note(vault.reader, "c", vault.read, view="full", budget_tokens=estimate(text) - 10)
    assert "```" not in found.text
    assert read_note(vault.reader, "c", vault.read, after_line=found.next_line - 1).text.strip().startswith("```")


def test_a_line_longer_than_the_budget_is_read_in_pieces(index_of):
    vault = index_of({"line.md": "word " * 4_000})
    found = read_note(vault.reader, "line", vault.read, view="full", budget_tokens=100)
    assert 0 < found.tokens <= 100
    assert (found.next_line, found.next_column) == (1, len(found.text))
    assert found.text.endswith(" ")


def test_reading_on_behind_the_end_is_empty_and_says_so(runbook):
    found = runbook(view="full", after_line=39)
    assert (found.text, found.truncated, found.next_line) == ("", False, None)


# -- lines and blocks -----------------------------------------------------------------------------------------------------


def test_a_range_of_lines_includes_both_ends_and_stops_at_the_end(runbook):
    assert runbook(lines=(16, 18)).text == "## C#\n\nmanaged"
    assert (runbook(lines=(38, 400)).start_line, runbook(lines=(38, 400)).end_line) == (38, 39)


@pytest.mark.parametrize(
    ("options", "parameter"),
    [
        ({"lines": (0, 3)}, "lines"),
        ({"lines": (4, 3)}, "lines"),
        ({"lines": (40, 41)}, "lines"),
        ({"lines": (1, 2), "sections": ["Done"]}, "lines"),
        ({"view": "half"}, "view"),
        ({"view": "sections"}, "view"),
        ({"budget_tokens": 0}, "budget_tokens"),
        ({"after_line": -1}, "after_line"),
        ({"after_column": -1}, "after_column"),
    ],
)
def test_impossible_requests_are_refused_by_name(runbook, options, parameter):
    with pytest.raises(InvalidParameter) as caught:
        runbook(**options)
    assert caught.value.parameter == parameter


BLOCKS = """# B

First words. ^p1

- item one ^i1
  - child
    more
- item two

> quoted
> lines

^q1

| a | b |
|---|---|
| 1 | 2 |

^t1

## Named ^h1

below
"""


@pytest.mark.parametrize(
    ("anchor", "text"),
    [
        ("p1", "First words. ^p1"),
        ("P1", "First words. ^p1"),
        ("i1", "- item one ^i1\n  - child\n    more"),
        ("q1", "> quoted\n> lines\n\n^q1"),
        ("t1", "| a | b |\n|---|---|\n| 1 | 2 |\n\n^t1"),
        ("h1", "## Named ^h1\n\nbelow"),
    ],
)
def test_a_block_is_read_by_its_id(index_of, anchor, text):
    vault = index_of({"b.md": BLOCKS})
    found = read_note(vault.reader, f"b#^{anchor}", vault.read)
    assert (found.text, found.view) == (text, View.BLOCK)


def test_an_unknown_block_is_not_found_with_the_ids_of_the_note(index_of):
    vault = index_of({"b.md": BLOCKS})
    with pytest.raises(NotFound) as caught:
        read_note(vault.reader, "b#^nope", vault.read)
    assert caught.value.options == ("^p1", "^i1", "^q1", "^t1", "^h1")


def test_a_label_with_a_line_shows_the_place_in_a_big_note(index_of):
    vault = index_of({"big.md": f"# Big\n\n{LONG}\n## Last\n\nfirst\nsecond\n\nthird\n\n## After\n"})
    line = (vault.root / "big.md").read_text(encoding="utf-8").split("\n").index("second") + 1
    found = read_note(vault.reader, f"big.md:{line}", vault.read)
    assert (found.text, found.view) == ("first\nsecond\n\nthird", View.LINES)
    assert read_note(vault.reader, "big.md:99999", vault.read).view is View.OUTLINE


def test_a_label_with_a_line_shows_a_small_note_whole(runbook):
    assert runbook("r.md:9").text == runbook().text


# -- the file and the index -----------------------------------------------------------------------------------------------


def test_the_text_is_what_stands_on_disk_now(index_of):
    vault = index_of({"n.md": "# Old\n"})
    vault.write({"n.md": "# New\n\nnow\n"})
    assert read_note(vault.reader, "n", vault.read, sections=["New"]).text == "# New\n\nnow"


def test_a_note_whose_file_has_gone_is_not_found(index_of):
    vault = index_of({"n.md": "x"})
    (vault.root / "n.md").unlink()
    with pytest.raises(NotFound) as caught:
        read_note(vault.reader, "n", vault.read)
    assert caught.value.parameter == "target"


def test_names_that_fit_several_notes_are_not_read(index_of):
    vault = index_of({"a/n.md": "x", "b/n.md": "y"})
    with pytest.raises(Ambiguous):
        read_note(vault.reader, "n", vault.read)


@pytest.mark.requirement("FR-40", "FR-33", "T-7")
@pytest.mark.parametrize("name", ["02-Private/q.md", "q", "[[q]]", "../02-Private/q.md", "q#Secret", "q:1", "q#^b"])
def test_only_rows_of_the_scope_are_ever_opened(index_of, name):
    vault = index_of(
        {"01-Projects/p.md": "plan", "02-Private/q.md": "# Secret\n\nCANARY ^b\n"}, Scope(folders=("01-Projects",))
    )
    opened = []
    with pytest.raises(NotFound) as caught:
        read_note(vault.reader, name, opened.append)
    assert opened == []
    assert "CANARY" not in str(caught.value.as_json())


def test_heading_lines_of_endless_markup_are_compared_in_no_time(index_of):
    vault = index_of({"evil.md": "# " + "**a`[[(" * 20_000 + "\n\nbody\n"})
    with pytest.raises(NotFound):
        read_note(vault.reader, "evil", vault.read, sections=["x"])
