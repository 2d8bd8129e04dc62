from __future__ import annotations

import time

import pytest

from second_brain.model import Link, LinkKind, TagSource
from second_brain.vault import markdown


def tags(text: str) -> list[str]:
    return [tag.name for tag in markdown.parse("n.md", text).tags]


def targets(text: str) -> list[tuple[str, str]]:
    return [(link.kind.value, link.target) for link in markdown.parse("n.md", text).links]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("#start and #middle, #end", ["start", "middle", "end"]),
        ("#a/b-c_d/9", ["a/b-c_d/9"]),
        (
            "#größe #übung #日本 #हिन्दी #тег #🌱seedling #👩‍🌾",
            ["größe", "übung", "日本", "हिन्दी", "тег", "🌱seedling", "👩‍🌾"],
        ),
        ("#标签\uff0c后面 #中文。", ["标签", "中文"]),
        ("#1984 #y1984 #2026/01", ["y1984", "2026/01"]),
        ("#-- #/ #_", []),
        ("#tail/ #C++", ["tail", "C"]),
        ('a#no (#no) "#no" *#no* `#no`', []),
        ("\\#no", []),
        ("https://example.org/#no <https://example.org/ #no>", []),
        ("[text #no](page.md) [[Note #no]] [[#no]] [x](#no)", []),
        ('<span style="color: #fff">x</span>', []),
        ("$a #no b$ costs $5 #yes and $6", ["yes"]),
        ("$$\n#no\n$$\n%%\n#no\n%%\n<!-- #no -->", []),
        ("a %% #no %% #yes <!-- #no --> #too", ["yes", "too"]),
        ("a `code #no\nover #no` #yes", ["yes"]),
        ("a `open #yes\n\nnot `over #too", ["yes", "too"]),
        ("``a ` #no`` #yes", ["yes"]),
        ("\\` #yes `", ["yes"]),
        ("## Heading #yes ##", ["yes"]),
        ("- item #yes\n  - [ ] task #too", ["yes", "too"]),
        ("> quote #yes\n> ```\n> #no\n> ```\n> #too", ["yes", "too"]),
        ("| a | b |\n|---|---|\n| #yes | `x #no` |\n| `y | #too |", ["yes", "too"]),
        ("```c\n#include\n```\n\n    #no\n", []),
        ("- a\n  ```\n  #no\n  ```\n", []),
        ("<pre>\n#no\n</pre>", []),
        ("#Orchard #orchard #ORCHARD", ["Orchard"]),
        ("# Title", []),
        ("#", []),
        ("#{{tag}}", []),
    ],
)
def test_inline_tags_are_those_of_obsidian(text, found):
    assert tags(text) == found


@pytest.mark.requirement("CNV-3")
def test_tags_of_frontmatter_and_text_are_merged_frontmatter_first():
    text = "---\ntags: [Orchard, type/note]\n---\nGraft on #rootstock/M9 and #orchard.\n"
    note = markdown.parse("n.md", text)
    assert [(tag.name, tag.source) for tag in note.tags] == [
        ("Orchard", TagSource.FRONTMATTER),
        ("type/note", TagSource.FRONTMATTER),
        ("rootstock/M9", TagSource.INLINE),
    ]
    assert [tag.name for tag in markdown.parse("n.md", text, inline_tags=False).tags] == ["Orchard", "type/note"]


@pytest.mark.requirement("SV-9")
@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("[[A]] [[A|text]] [[A#h]] [[A#^b]]", [("wikilink", t) for t in ("A", "A", "A#h", "A#^b")]),
        ("![[img.png]] ![[A#h|300]]", [("embed", "img.png"), ("embed", "A#h")]),
        ("[[#Heading]] [[ A ]]", [("wikilink", "#Heading"), ("wikilink", "A")]),
        ("| [[A\\|b]] |\n|---|\n| [[C\\|d]] |", [("wikilink", "A"), ("wikilink", "C")]),
        ("[[]] [[|x]] [[a\nb]] [[a", []),
        ("\\[[x]] [\\[y]] `[[z]]`", []),
        ("\\\\[[x]]", [("wikilink", "x")]),
        ("\\![[x]]", [("wikilink", "x")]),
        ("[[A|see [1] here]]", [("wikilink", "A")]),
        ("[[[A]]]", [("wikilink", "A")]),
        ("[t](page.md) [t](../a/page.md#sec)", [("markdown", "page.md"), ("markdown", "../a/page.md#sec")]),
        ("[t](my%20page.md) [t](<my page.md>)", [("markdown", "my page.md"), ("markdown", "my page.md")]),
        ('[t](a.md "title") [t](f(x).md) [t](a\\_b.md)', [("markdown", t) for t in ("a.md", "f(x).md", "a_b.md")]),
        ("[t](#sec)", [("markdown", "#sec")]),
        ("![alt](img.png)", [("embed", "img.png")]),
        ("[![alt](img.png)](page.md)", [("markdown", "page.md"), ("embed", "img.png")]),
        ("[see [[A]]](page.md) [![[b.png]]](c.md)", [("wikilink", "A"), ("embed", "b.png")]),
        ("[t](https://example.org/a.md) [t](mailto:x@example.org) [t](obsidian://x) [t](//example.org)", []),
        ("[t](two words.md) [t]()", []),
        (
            "[a]: page.md\n[b]: <my page.md>\n[c]: https://example.org\n[^1]: note.md",
            [("markdown", "page.md"), ("markdown", "my page.md")],
        ),
        ("%%[[x]]%% <!-- [[y]] --> $[[z]]$ [[A]]", [("wikilink", "A")]),
        ("```\n[[x]]\n```\n\n    [[y]]\n\n~~~\n[z](z.md)\n~~~", []),
        ("> [!note] [[A]]\n> - ![[B]]", [("wikilink", "A"), ("embed", "B")]),
        ("# On [[A]]\n\nTitle [[B]]\n===", [("wikilink", "A"), ("wikilink", "B")]),
        ("<div>[[A]]</div>", [("wikilink", "A")]),
        ("[[Price $5]] and [[Cost $6]]", [("wikilink", "Price $5"), ("wikilink", "Cost $6")]),
    ],
)
def test_links_of_every_form_are_found(text, found):
    assert targets(text) == found


def test_a_link_knows_its_place_and_text():
    text = "---\ntags: [a]\n---\nsee [[A|the\tA]]\n- über [[B]] and\n  ![[C|d|100]]\n\n[e e](f.md)\n"
    assert markdown.parse("n.md", text).links == (
        Link("A", LinkKind.WIKILINK, 4, 4, "the\tA"),
        Link("B", LinkKind.WIKILINK, 5, 7, ""),
        Link("C", LinkKind.EMBED, 6, 2, "d|100"),
        Link("f.md", LinkKind.MARKDOWN, 8, 0, "e e"),
    )


@pytest.mark.requirement("SV-8")
def test_links_in_properties_stand_at_the_line_of_their_key():
    text = (
        '---\nup: "[[A|a]]"\nrelated:\n  - "[[B#h]]"\n  - \'[t](c%20c.md)\'\n# no: [[D]]\n'
        "site: https://example.org/[x]\nbroken: [[E]]: x\n---\n[[F]]\n"
    )
    assert markdown.parse("n.md", text).links == (
        Link("A", LinkKind.PROPERTY, 2, 5, "a"),
        Link("B#h", LinkKind.PROPERTY, 3, 0, ""),
        Link("c c.md", LinkKind.PROPERTY, 3, 0, "t"),
        Link("E", LinkKind.PROPERTY, 8, 8, ""),
        Link("F", LinkKind.WIKILINK, 10, 0, ""),
    )


@pytest.mark.requirement("CNV-4")
@pytest.mark.parametrize(
    ("path", "text", "title", "own"),
    [
        ("a/Some note.md", "text", "Some note", ""),
        ("a/v1.9.md", "", "v1.9", ""),
        ("n.md", "## Two\n\n# One\n\n# Other", "One", "One"),
        ("n.md", "---\ntitle: Front\n---\n# One", "Front", "Front"),
        ("n.md", "---\ntitle: 2020-06-03\n---\ntext", "2020-06-03", "2020-06-03"),
        ("n.md", "#\n\nReal\n====", "Real", "Real"),
    ],
)
def test_the_title_comes_from_frontmatter_then_heading_then_name(path, text, title, own):
    note = markdown.parse(path, text)
    assert (note.title, note.own_title) == (title, own)


def test_a_problem_of_the_frontmatter_is_a_problem_of_the_note():
    note = markdown.parse("n.md", "---\ntitle: a: b\naliases: [x]\n---\nbody\n")
    assert note.problems == (note.frontmatter.problem,)
    assert note.problems[0]
    assert note.aliases == ("x",)
    assert markdown.parse("n.md", "body\n").problems == ()


@pytest.mark.parametrize(
    "piece",
    [
        "[",
        "[[",
        "![",
        "[a](",
        "[[a|",
        "`",
        "`` ` ",
        "$",
        "$$",
        "%%",
        "<!--",
        "<a ",
        "(",
        "#",
        "\\",
        "> ",
        "- ",
        "*",
        "![a]",
        "[a] ",
        "^",
        "\t",
        "| ",
        "%% x\n",
        "<!-- x -->y\n",
        "- ```\n",
        "> ```\n",
        "a\n---\n",
        "[x]:",
    ],
)
def test_no_text_takes_quadratic_time(piece):
    many = piece * 20_000
    start = time.process_time()
    markdown.parse("n.md", f"# {many}\n\nx {many}\n\n---\n{many}")
    assert time.process_time() - start < 5  # linear needs half a second, 20,000 squared minutes
