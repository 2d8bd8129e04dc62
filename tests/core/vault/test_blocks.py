from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from second_brain.model import BlockKind
from second_brain.vault import markdown


def shape(text: str) -> list[tuple]:
    return [(block.kind.value, block.start, block.end) for block in markdown.parse("n.md", text).blocks]


def depths(text: str) -> list[tuple]:
    return [(b.kind.value, b.start, b.end, b.depth) for b in markdown.parse("n.md", text).blocks]


@pytest.mark.requirement("SV-2")
@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        ("one\ntwo\n\nthree\n", [("paragraph", 1, 2), ("paragraph", 4, 4)]),
        ("# H\ntext\n## I\n", [("heading", 1, 1), ("paragraph", 2, 2), ("heading", 3, 3)]),
        ("#tag is text\n", [("paragraph", 1, 1)]),
        ("Title\n===\ntext\n", [("heading", 1, 2), ("paragraph", 3, 3)]),
        ("Title\n---\n\n---\n", [("heading", 1, 2), ("rule", 4, 4)]),
        ("***\n_ _ _\n- - -\n", [("rule", 1, 1), ("rule", 2, 2), ("rule", 3, 3)]),
        ("a\n```py\n# no\n```\nb\n", [("paragraph", 1, 1), ("fence", 2, 4), ("paragraph", 5, 5)]),
        ("````\n```\n````\nb\n", [("fence", 1, 3), ("paragraph", 4, 4)]),
        ("```\n~~~\n```\nb\n", [("fence", 1, 3), ("paragraph", 4, 4)]),
        ("```\n``` x\n````  \nb\n", [("fence", 1, 3), ("paragraph", 4, 4)]),
        ("``` a`b\nb\n", [("paragraph", 1, 2)]),
        ("~~~ a`b\nb\n", [("fence", 1, 3)]),
        ("   ```\nx\n   ```\nb\n", [("fence", 1, 3), ("paragraph", 4, 4)]),
        ("```\nx\n    ```\n", [("fence", 1, 4)]),
        ("```\nnever closed\n\n# x\n", [("fence", 1, 5)]),
        ("a\n\n    code\n\n    code\n\nb\n", [("paragraph", 1, 1), ("fence", 3, 5), ("paragraph", 7, 7)]),
        ("\tcode\n", [("fence", 1, 1)]),
        ("a\n    more\n", [("paragraph", 1, 2)]),
        ("> q\nlazy\n\nb\n", [("quote", 1, 2), ("paragraph", 4, 4)]),
        ("> q\n# H\n", [("quote", 1, 1), ("heading", 2, 2)]),
        ("> [!note] T\n> x\n", [("callout", 1, 2)]),
        ("> [!note]- T\n> > [!tip]\n> > y\n", [("callout", 1, 3)]),
        ("> ```\n> # x\nout\n", [("quote", 1, 2), ("paragraph", 3, 3)]),
        ("> ```\n> x\n> ```\n> y\n", [("quote", 1, 4)]),
        ("> q\n>\nnot lazy\n", [("quote", 1, 2), ("paragraph", 3, 3)]),
        ("| a | b |\n|---|---|\n| 1 | 2 |\n\nt\n", [("table", 1, 3), ("paragraph", 5, 5)]),
        ("a | b\n:-- | --:\n1 | 2\n", [("table", 1, 3)]),
        ("text\n| a |\n| - |\n| 1 |\n", [("paragraph", 1, 1), ("table", 2, 4)]),
        ("| a | b |\n|---|\n", [("paragraph", 1, 2)]),
        ("| a \\| b |\n|---|\n| c |\n# H\n", [("table", 1, 3), ("heading", 4, 4)]),
        ("$$\nx\n$$\nb\n", [("math", 1, 3), ("paragraph", 4, 4)]),
        ("$$x$$\n", [("math", 1, 1)]),
        ("$$x$$ and text\n", [("paragraph", 1, 1)]),
        ("$$ never closed\n\nb\n", [("paragraph", 1, 1), ("paragraph", 3, 3)]),
        ("%%\n# hidden\n%%\nb\n", [("comment", 1, 3), ("paragraph", 4, 4)]),
        ("%% a %%\n", [("comment", 1, 1)]),
        ("%% a %% b\n", [("paragraph", 1, 1)]),
        ("%% never closed\n\n# H\n", [("paragraph", 1, 1), ("heading", 3, 3)]),
        ("<!-- a\n\n# b -->\nc\n", [("comment", 1, 3), ("paragraph", 4, 4)]),
        ("<!-- a --> b\n", [("paragraph", 1, 1)]),
        ("<!-- never closed\n\nx\n", [("comment", 1, 4)]),
        ("<div>\nx\n\ny\n", [("html", 1, 2), ("paragraph", 4, 4)]),
        ("<pre>\n\n# x\n</pre>\ny\n", [("html", 1, 4), ("paragraph", 5, 5)]),
        ("<u>word</u> goes on\n", [("paragraph", 1, 1)]),
        ("<my-tag a='b'>\nx\n", [("html", 1, 2)]),
        ("text\n<my-tag>\n", [("paragraph", 1, 2)]),
        ("<https://example.org>\n", [("paragraph", 1, 1)]),
        ("- a\n- b\n  more\n- c\n", [("list_item", 1, 1), ("list_item", 2, 3), ("list_item", 4, 4)]),
        ("- a\n\n  second\n\nout\n", [("list_item", 1, 3), ("paragraph", 5, 5)]),
        ("- a\nlazy\n# H\n", [("list_item", 1, 2), ("heading", 3, 3)]),
        ("- a\n---\n", [("list_item", 1, 1), ("rule", 2, 2)]),
        ("text\n- a\n", [("paragraph", 1, 1), ("list_item", 2, 2)]),
        ("text\n2. a\n", [("paragraph", 1, 2)]),
        ("text\n1. a\n", [("paragraph", 1, 1), ("list_item", 2, 2)]),
        ("-\n- \n", [("list_item", 1, 1), ("list_item", 2, 2)]),
        ("-no\n1.no\n", [("paragraph", 1, 2)]),
        ("", []),
        ("\n \n\t\n", []),
        ("---\na: b\n---\n# H\n", [("heading", 4, 4)]),
        ("---\na: b\n---", []),
        ("---\n\n# H\n\n---\n", [("rule", 1, 1), ("heading", 3, 3), ("rule", 5, 5)]),
    ],
)
def test_lines_form_blocks(text, blocks):
    assert shape(text) == blocks


@pytest.mark.requirement("SV-2")
@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        ("- a\n  - b\n    - c\n- d\n", [("list_item", n + 1, n + 1, d) for n, d in enumerate((0, 1, 2, 0))]),
        ("- a\n\t- b\n\t\t- c\n\t- d\n", [("list_item", n + 1, n + 1, d) for n, d in enumerate((0, 1, 2, 1))]),
        ("1. a\n  - b\n   - c\n 2. d\n", [("list_item", n + 1, n + 1, d) for n, d in enumerate((0, 1, 1, 0))]),
        ("- a\n  ```\n  - no\n  ```\n  b\n", [("list_item", 1, 1, 0), ("fence", 2, 4, 1), ("paragraph", 5, 5, 1)]),
        ("- a\n  ```\n  open\n- b\n", [("list_item", 1, 1, 0), ("fence", 2, 3, 1), ("list_item", 4, 4, 0)]),
        ("- a\n  ```\n  x\n  ```\nout\n", [("list_item", 1, 1, 0), ("fence", 2, 4, 1), ("paragraph", 5, 5, 0)]),
        ("- a\n  $$\n  x\n  $$\n", [("list_item", 1, 1, 0), ("math", 2, 4, 1)]),
        ("- a\n  $$ open\n  x\n", [("list_item", 1, 3, 0)]),
        ("- a\n  - b\n\n  of a\n", [("list_item", 1, 1, 0), ("list_item", 2, 2, 1), ("paragraph", 4, 4, 1)]),
        ("- a\n```\nx\n```\n", [("list_item", 1, 1, 0), ("fence", 2, 4, 0)]),
        ("- a\n\n      deep\n", [("list_item", 1, 3, 0)]),
    ],
)
def test_list_items_hold_their_own_lines_at_their_depth(text, blocks):
    assert depths(text) == blocks


@pytest.mark.parametrize(
    ("text", "anchors"),
    [
        ("text ^one\n", {1: "one"}),
        ("a\nb ^two-2\n\nc\n", {1: "two-2"}),
        ("text^no\n", {}),
        ("x ^2 y\n", {}),
        ("## Head ^h\n", {1: "h"}),
        ("- a ^i\n- b\n", {1: "i"}),
        ("| a |\n|---|\n| b |\n\n^tab\n\nx\n", {1: "tab"}),
        ("| a |\n|---|\n| b |\n^tab\n", {1: "tab"}),
        ("> q\n\n^quo\n", {1: "quo"}),
        ("> q ^in\n", {1: "in"}),
        ("- a\n- b\n\n^list\n", {2: "list"}),
        ("```\ncode ^no\n```\n\n^code\n", {1: "code"}),
        ("^alone\n", {1: "alone"}),
    ],
)
def test_block_ids_name_their_block(text, anchors):
    found = markdown.parse("n.md", text).blocks
    assert {block.start: block.anchor for block in found if block.anchor} == anchors


@pytest.mark.requirement("CNV-4")
@pytest.mark.parametrize(
    ("text", "headings"),
    [
        ("# A\n## B\n### C\n## D\n", [(1, "A"), (2, "B"), (3, "C"), (2, "D")]),
        ("## C#\n## F## \n## Done ##\n### x # y\n", [(2, "C#"), (2, "F##"), (2, "Done"), (3, "x # y")]),
        ("##\n## ##\n#\ttab\n", [(2, ""), (2, ""), (1, "tab")]),
        ("####### seven\n #x\n    # code\n", []),
        ("   ### three\n", [(3, "three")]),
        ("Languages\n=========\nSecond\n-\n", [(1, "Languages"), (2, "Second")]),
        ("two\nlines\n---\n", [(2, "two lines")]),
        ("## `config.yaml` [[x]] ^id\n", [(2, "`config.yaml` [[x]]")]),
        ("```\n# no\n```\n%%\n# no\n%%\n> # no\n\n- # no\n", []),
    ],
)
def test_headings_are_found_with_level_and_text(text, headings):
    assert [(h.level, h.text) for h in markdown.parse("n.md", text).headings] == headings


def test_a_heading_path_leads_from_the_outermost_heading_to_itself():
    text = "---\na: b\n---\n# One\n### Deep\n## Side\n# Two\n## Notes\n"
    found = markdown.parse("n.md", text).headings
    assert [h.path for h in found] == [("One",), ("One", "Deep"), ("One", "Side"), ("Two",), ("Two", "Notes")]
    assert [h.line for h in found] == [4, 5, 6, 7, 8]


def test_tasks_are_found_where_they_are_rendered():
    text = "- [ ] open ^t\n\t- [x] done\n1. [X] also\n* [-] dropped\n> - [ ] quoted\n\n```\n- [ ] code\n```\n[ ] no\n- [] no\n"
    found = [(task.text, task.done, task.line) for task in markdown.parse("n.md", text).tasks]
    assert found == [
        ("open ^t", False, 1),
        ("done", True, 2),
        ("also", True, 3),
        ("dropped", False, 4),
        ("quoted", False, 5),
    ]


MARKS = st.lists(
    st.one_of(
        st.sampled_from(
            [
                *("```", "````", "~~~", "  ```", "> ```", "$$", "%%", "<!--", "-->", "<div>", "<pre>", "</pre>", "---"),
                *("===", "- a", "  - b", "\t- c", "1. x", "2) y", "  text", "\ttext", "    code", "> q", "> > r", ">"),
                *("> [!note]", "| a | b |", "|---|---|", "# H", "## ", "#tag", "^id", "text ^id", "- [ ] t", "", " "),
                *("[[x]]", "![[y|z]]", "`", "``", "$", "\\", "---\n", "a: b", "\u3000", "\x0c", "<b", "- ```"),
            ]
        ),
        st.text(max_size=12),
    ),
    max_size=25,
).map("\n".join)


@pytest.mark.requirement("SV-15")
@given(st.one_of(MARKS, st.text(max_size=200)))
def test_every_line_of_any_text_is_in_exactly_one_block(text):
    text = text.replace("\r", "\n")
    note = markdown.parse("n.md", text)
    lines = text.split("\n")
    owners = [0] * (len(lines) + 1)
    for block in note.blocks:
        for number in range(block.start, block.end + 1):
            owners[number] += 1
    for number, line in enumerate(lines, 1):
        body = number > note.frontmatter.end_line
        if line.strip():
            assert owners[number] == body, (number, line)
        else:
            assert owners[number] <= body, (number, line)
    assert [block.start for block in note.blocks] == sorted(block.start for block in note.blocks)
    for link in note.links:
        assert 0 <= link.column <= len(lines[link.line - 1])
    assert all(lines[heading.line - 1].strip() for heading in note.headings)


def test_every_kind_of_block_is_produced():
    text = "# h\n\np\n\n- i\n\n| a |\n|---|\n\n```\n```\n\n> q\n\n> [!x]\n\n$$\na\n$$\n\n%%\nc\n%%\n\n<div>\n\n***\n"
    assert {block.kind for block in markdown.parse("n.md", text).blocks} == set(BlockKind)
