from __future__ import annotations

import pytest

from second_brain.vault.inline import placed_property_links, plain_stretches, property_links


@pytest.mark.requirement("SV-10")
@pytest.mark.parametrize(
    ("run", "plain"),
    [
        ("", []),
        ("all of it", ["all of it"]),
        ("a [[b|c]] d ![[e]] f", ["a ", " d ", " f"]),
        ("[a](b.md) c [d] e", [" c [d] e"]),
        ("a `b` c ``d ` e`` f ` g", ["a ", " c ", " f ` g"]),
        ("a %%b%% c <!-- d --> e %% f", ["a ", " c ", " e %% f"]),
        ("a $b$ c $$d$$ e $5", ["a ", " c ", " e $5"]),
        ("a <b c='d'>e</b> f < g", ["a ", "e", " f < g"]),
        ("a #b c # d e#f", ["a ", " c # d e#f"]),
        ("a https://b.c/d e www.f.g h mailto:i@j k", ["a ", " e ", " h ", " k"]),
        ("a x-https://b c awww.d", ["a ", " c awww.d"]),
        ("[a]: b.md 'c'\nd", [" 'c'\nd"]),
        ("a \\[[b]] \\`c\\` d", ["a \\[[b]] \\`c\\` d"]),
        ("[[a]] https://x/[[b]] c", [" ", " c"]),
        ("a [[b `c]] d` e", ["a ", " d` e"]),
    ],
)
def test_plain_is_what_no_construct_takes(run, plain):
    assert [run[start:end] for start, end in plain_stretches(run)] == plain


def test_links_of_properties_are_told_where_they_stand_and_by_their_key():
    lines = ["---", "a: '[[A]]'", "b:", "  - '[[B]]' '[[C]]'", "# [[no]]", "- '[[D]]'"]
    assert [(link.target, link.line, link.column, key) for link, key in placed_property_links(lines)] == [
        ("A", 2, 4, 2),
        ("B", 4, 5, 3),
        ("C", 4, 13, 3),
        ("D", 6, 3, 3),
    ]
    assert [(link.target, link.line, link.column) for link in property_links(lines)] == [
        ("A", 2, 4),
        ("B", 3, 0),
        ("C", 3, 0),
        ("D", 3, 0),
    ]
