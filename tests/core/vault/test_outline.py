"""The outline of a note tells what its whole structure would, from less work."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from second_brain.vault import head
from second_brain.vault.markdown import parse
from second_brain.vault.outline import Outline

VAULTS = Path(__file__).parents[3] / "resources"
LINES = (
    "# One", "## Two", "###### Six ^anchor", "Text.", "", "   ", "===", "---", "...", "- item", "  - below", "> quote",
    "> # quoted", "```", "~~~ py", "    code", "%%", "<!-- open", "-->", "$$", "| a | b |", "|---|---|", "<div>", "</script>",
    "<script>", "1. one", "a: b", "a:", "date made: 1", "a b c d e f g: 1", "tags: [x]", "  - y", "# comment", "prose, not yaml", "a: b: c", "'q': 1", "{a: 1}",
    "\ta: 1", "%YAML 1.1", "a: &x", "b: *x", "{{title}}", "a.b-c: 1", "é: 1", "x: \u2028 y", "[a]: b", "- a\n- b",
)  # fmt: skip
notes = st.lists(st.sampled_from(LINES), max_size=14).flatmap(
    lambda body: st.sampled_from(
        ["\n".join(body), "---\n" + "\n".join(body), "---\n" + "\n".join(body) + "\n---\nEnd."]
    )
)


def assert_agrees(text, lines):
    whole, outline = parse("n.md", text), Outline(text)
    assert outline.head_end == whole.frontmatter.end_line
    assert head.has_body(text) is bool(whole.blocks)
    assert tuple(outline.headings()) == whole.headings
    assert list(outline.heading_blocks()) == [block for block in whole.blocks if block.kind == "heading"]
    for line in lines:
        above = [heading.path for heading in whole.headings if heading.line <= line]
        assert outline.heading_path(line) == (above[-1] if above else ())


@given(notes)
@settings(max_examples=250)
def test_an_outline_of_any_text_is_that_of_its_whole_structure(text):
    assert_agrees(text, range(1, text.count("\n") + 3))


def test_an_outline_of_real_notes_is_that_of_their_whole_structure():
    dice = random.Random(4)
    texts = [note.read_text("utf-8", "replace") for note in sorted(VAULTS.rglob("*.md"))]
    assert len(texts) > 20
    for text in texts:
        assert_agrees(text, [dice.randint(1, text.count("\n") + 1) for _ in range(8)])


@pytest.mark.parametrize(
    "source",
    [
        "a: 1\nb:\n  - c\n- d\n",
        "# first\n\ntitle: x: y\n",
        "a:\n\t- broken\n",
        "title: '\n",
        "a: {\n",
        "k: !!python/x y\n",
    ],
)
def test_a_head_of_key_lines_is_a_head_whatever_yaml_says(source):
    text = f"---\n{source}---\nBody.\n"
    assert head.end_line(text) == parse("n.md", text).frontmatter.end_line == source.count("\n") + 2
