from __future__ import annotations

import unicodedata

import pytest

from second_brain.reading.mentions import find_mentions

LONG = "the tide had gone out and left the boats lying on their sides in the mud " * 2


@pytest.fixture
def excerpts(index_of):
    """The excerpts of a note ``n.md`` of this text that mentions ``Kiln.md``: (line, headings, text, mentions, lines)."""

    def excerpts(text, **options):
        vault = index_of({"Kiln.md": "---\naliases: [Oven, Big Oven]\n---\n# Kiln\n", "n.md": text})
        found = find_mentions(vault.reader, "Kiln", budget_tokens=100_000, **options)
        assert found.map == ()
        assert all(excerpt.path == "n.md" for excerpt in found.shown)
        return [(one.line, one.heading_path, one.text, one.mentions, one.lines) for one in found.shown]

    return excerpts


def texts(excerpts):
    return [(line, text) for line, _, text, _, _ in excerpts]


@pytest.mark.requirement("SV-2", "SV-8")
@pytest.mark.parametrize(
    ("note", "expected"),
    [
        pytest.param(
            "One.\n\nTwo lines\nwith [[Kiln]].\n\nThree.\n", [(4, "Two lines\nwith [[Kiln]].")], id="paragraph"
        ),
        pytest.param(
            "[[Kiln]] and\n[[Oven]]\n\n[[Kiln]]", [(1, "[[Kiln]] and\n[[Oven]]"), (4, "[[Kiln]]")], id="shared"
        ),
        pytest.param(
            "- a\n- b\n  - c\n    more of c\n    - d [[Kiln]]\n      tail\n  - e\n- f\n",
            [(5, "- b\n  - c\n    more of c\n    - d [[Kiln]]\n      tail")],
            id="item with its ancestors",
        ),
        pytest.param(
            "- a [[Kiln]]\n  - b [[Kiln]]\n",
            [(1, "- a [[Kiln]]"), (2, "- a [[Kiln]]\n  - b [[Kiln]]")],
            id="both items",
        ),
        pytest.param(
            "1. a\n   - b\n\n   below [[Kiln]]\n2. c\n", [(4, "1. a\n   below [[Kiln]]")], id="text below an item"
        ),
        pytest.param("- a\n- [ ] do [[Kiln]]\n- b", [(2, "- [ ] do [[Kiln]]")], id="task"),
        pytest.param(
            "| a | b |\n|---|---|\n| 1 | 2 |\n| [[Kiln\\|k]] | 3 |\n| 4 | 5 |\n| 6 | [[Oven]] |\n",
            [(4, "| a | b |\n|---|---|\n| [[Kiln\\|k]] | 3 |\n| 6 | [[Oven]] |")],
            id="table rows",
        ),
        pytest.param(
            "| [[Kiln]] | b |\n|---|---|\n| 1 | 2 |\n", [(1, "| [[Kiln]] | b |\n|---|---|")], id="table header"
        ),
        pytest.param(
            "> [!tip] Firing\n> slow\n>\n> - [[Kiln]]\n\nafter",
            [(4, "> [!tip] Firing\n> slow\n>\n> - [[Kiln]]")],
            id="callout",
        ),
        pytest.param("> said\n> [[Kiln]]\n", [(2, "> said\n> [[Kiln]]")], id="quote"),
        pytest.param("<div>\n[[Kiln]]\n</div>\n", [(2, "<div>\n[[Kiln]]\n</div>")], id="html"),
        pytest.param("x[^1]\n\n[^1]: see [[Kiln]]\n", [(3, "[^1]: see [[Kiln]]")], id="footnote"),
        pytest.param("Text ^x1\n\n[[Kiln]] ^x2\n", [(3, "[[Kiln]] ^x2")], id="block id"),
        pytest.param(
            "---\ntags: [a]\nsee: '[[Kiln]]'\nnot: '[[Else]]'\n---\nx", [(3, "see: '[[Kiln]]'")], id="property"
        ),
        pytest.param(
            "---\nsee:\n  - '[[Else]]'\n  - '[[Kiln]]'\n  - x\n  - '[[Oven]]'\nb: 1\n---\n",
            [(2, "see:\n  - '[[Kiln]]'\n  - '[[Oven]]'")],
            id="values of a property",
        ),
        pytest.param(
            "---\nsee: '[[Kiln]]'\ntoo: '[[Kiln]]'\n---\n[[Kiln]]\n",
            [(2, "see: '[[Kiln]]'"), (3, "too: '[[Kiln]]'"), (5, "[[Kiln]]")],
            id="two properties",
        ),
    ],
)
def test_an_excerpt_is_the_block_and_what_frames_it(excerpts, note, expected):
    assert texts(excerpts(note)) == expected


@pytest.mark.requirement("SV-6", "SV-2")
@pytest.mark.parametrize(
    ("note", "expected"),
    [
        ("# [[Kiln]]\n\nFirst.\n\nSecond.\n", [(1, "# [[Kiln]]\nFirst.")]),
        ("[[Kiln]]\n===\nFirst\nstill\n\nSecond.\n", [(1, "[[Kiln]]\n===\nFirst\nstill")]),
        ("## [[Kiln]]\n- a\n  - b\n- c\n", [(1, "## [[Kiln]]\n- a")]),
        ("## [[Kiln]]\n---\nfirst\n", [(1, "## [[Kiln]]\nfirst")]),
        ("## [[Kiln]]\n## Next\nfirst\n", [(1, "## [[Kiln]]")]),
        ("## [[Kiln]]", [(1, "## [[Kiln]]")]),
        ("## [[Kiln]]\n```\n[[Kiln]]\n```\n\nx\n", [(1, "## [[Kiln]]\n```\n[[Kiln]]\n```")]),
        ("## [[Kiln]]\n|a|b|\n|-|-|\n|1|2|\n|3|4|\n", [(1, "## [[Kiln]]\n|a|b|\n|-|-|\n|1|2|\n|3|4|")]),
        ("## [[Kiln]]\n|a|b|\n|-|-|\n|1|2|\n|3|[[Kiln]]|\n", [(1, "## [[Kiln]]\n|a|b|\n|-|-|\n|3|[[Kiln]]|")]),
        ("## [[Kiln]]\n\nFirst [[Oven]].\n\n[[Oven]]\n", [(1, "## [[Kiln]]\nFirst [[Oven]]."), (5, "[[Oven]]")]),
        ("# [[Kiln]]\n# [[Oven]]\nx\n", [(1, "# [[Kiln]]"), (2, "# [[Oven]]\nx")]),
    ],
)
def test_a_mention_in_a_heading_is_the_heading_and_its_first_block(excerpts, note, expected):
    assert texts(excerpts(note)) == expected


@pytest.mark.requirement("SV-2")
def test_an_excerpt_tells_its_line_its_headings_and_how_many_mentions_it_shows(excerpts):
    found = excerpts("[[Kiln]]\n\n# A\n\n## B [[Oven]]\n\nfirst\n\n# C\n\nsome\n[[Kiln]] [[Big Oven]]\nand [[Kiln]]\n")
    assert [(line, path, count, lines) for line, path, _, count, lines in found] == [
        (1, (), 1, (1,)),
        (5, ("A", "B [[Oven]]"), 1, (5,)),
        (12, ("C",), 3, (12, 13)),
    ]


@pytest.mark.requirement("SV-8")
@pytest.mark.parametrize(
    "note",
    [
        "`[[Kiln]]`",
        "```\n[[Kiln]]\n```",
        "````\n```\n[[Kiln]]\n```\n[[Kiln]]\n````",
        "```\n[[Kiln]]\n~~~\n[[Kiln]]\n``` x\n[[Kiln]]\n```",
        "> [!note]\n> ```\n> [[Kiln]]\n> ```\n",
        "- item\n  ```\n  [[Kiln]]\n  ```",
        "text\n\n    [[Kiln]]",
        "%% [[Kiln]] %%",
        "<!-- [[Kiln]] -->",
        "$$\n[[Kiln]]\n$$",
        "\\[[Kiln]]",
        "[[Kiln.png]] ![[Kiln.pdf]]",
    ],
)
def test_code_comments_formulas_and_attachments_mention_nothing(index_of, note):
    vault = index_of({"Kiln.md": "", "n.md": note})
    assert find_mentions(vault.reader, "Kiln").total == 0


@pytest.mark.requirement("SV-8")
@pytest.mark.parametrize(
    ("note", "line"),
    [
        ("````\n```\n````\n[[Kiln]]", 4),
        ("```\na\n``` b\n```\n[[Kiln]]", 5),
        ("~~~\n```\n~~~\n[[Kiln]]", 4),
        ("> [!note]\n> ```\n> [[Kiln]]\n\n[[Kiln]]", 5),
        ("> ```\n> x\n> ```\n> [[Kiln]]", 4),
    ],
)
def test_a_fence_ends_where_commonmark_has_it(excerpts, note, line):
    assert [found for found, _ in texts(excerpts(note))] == [line]


@pytest.mark.requirement("SV-8", "SV-9")
@pytest.mark.parametrize("aliases", ["aliases: [Oven]", "aliases: Oven", "alias: Oven", "aliases:\n  - x\n  - Oven"])
@pytest.mark.parametrize("asked", ["Kiln", "Oven", "oven", "[[Oven|x]]"])
def test_an_alias_is_a_name_and_a_target(index_of, aliases, asked):
    vault = index_of({"a/Kiln.md": f"---\n{aliases}\n---\n", "n.md": "[[Oven]] [[Kiln]]"})
    assert find_mentions(vault.reader, asked).total == 2


@pytest.mark.requirement("SV-9")
@pytest.mark.parametrize(
    "link",
    [
        "[[Größe]]",
        unicodedata.normalize("NFD", "[[GRÖSSE]]").replace("SS", "ß"),
        "[[a/Größe]]",
        "[[Größe.md]]",
        "[[Größe#Teil]]",
        "[[Größe^x]]",
        "[[Größe|so]]",
        "![[Größe]]",
        "[x](a/Größe.md)",
        "[x](<a/Größe.md>)",
        "[x](a/Gr%C3%B6%C3%9Fe.md#y)",
        "![x](a/Größe.md)",
        "[[Maß]]",
    ],
)
def test_every_form_of_a_link_is_a_mention(index_of, link):
    vault = index_of({"a/Größe.md": "---\naliases: Maß\n---\n", "n.md": f"so {link} da"})
    (shown,) = find_mentions(vault.reader, "Größe").shown
    assert shown.text == f"so {link} da"


def test_what_two_links_to_different_notes_share_is_shown_for_either(index_of):
    vault = index_of({"A.md": "", "B.md": "", "n.md": "[[A]] [[B]] [[A]]"})
    assert [find_mentions(vault.reader, name).total for name in "AB"] == [2, 1]


def test_an_item_far_below_its_ancestors_takes_no_longer(index_of):
    lines = ["- top", *(f"  - child {number} [[Kiln]]" for number in range(3000))]
    vault = index_of({"Kiln.md": "", "n.md": "\n".join(lines)})
    found = find_mentions(vault.reader, "Kiln", budget_tokens=10**6)
    assert len(found.shown) == 3000
    assert found.shown[-1].text == "- top\n  - child 2999 [[Kiln]]"
