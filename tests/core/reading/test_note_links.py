from __future__ import annotations

import dataclasses
import unicodedata

import pytest

from second_brain.errors import NotFound
from second_brain.model import LinkKind, Scope
from second_brain.reading.links import links_of

VAULT = {
    "journal/2026-01-15.md": "# Day\n\nMet about [[Kiln]] and [[Ghost]].\n\n## Later\n\n![[kiln#Heat|hot]] ![[photo.png]]\n",
    "craft/Kiln.md": "---\nsee: '[[journal/2026-01-15]]'\naliases: [Oven]\n---\n## Heat\n\n[[#Heat]] [[Kiln]] [x](../todo.md)\n",
    "todo.md": "[[Oven]] `[[Ghost]]` [y](missing/page.md) [[Archive/ghost]] [[GHOST#x]]\n",
    "another-todo.md": "[[C#]] [web](https://example.org)\n",
}


@pytest.fixture
def vault(index_of):
    return index_of(VAULT)


@pytest.mark.requirement("SV-9")
@pytest.mark.parametrize(
    ("name", "outgoing", "backlinks", "unresolved"),
    [
        ("journal/2026-01-15.md", ("craft/Kiln.md",), ("craft/Kiln.md",), ("Ghost",)),
        (
            "Kiln",
            ("journal/2026-01-15.md", "todo.md"),
            ("journal/2026-01-15.md", "todo.md"),
            (),
        ),
        ("[[Oven]]", ("journal/2026-01-15.md", "todo.md"), ("journal/2026-01-15.md", "todo.md"), ()),
        ("todo", ("craft/Kiln.md",), ("craft/Kiln.md",), ("ghost", "page")),
        ("another-todo", (), (), ("C",)),
    ],
)
def test_links_are_told_in_both_directions(vault, name, outgoing, backlinks, unresolved):
    found = links_of(vault.reader, name)
    assert (found.outgoing, found.backlinks, found.unresolved) == (outgoing, backlinks, unresolved)


def test_each_link_tells_where_it_stands(vault):
    found = links_of(vault.reader, "Kiln")
    assert [(link.source, link.line, link.kind, link.heading) for link in found.links_in] == [
        ("journal/2026-01-15.md", 3, LinkKind.WIKILINK, ("Day",)),
        ("journal/2026-01-15.md", 7, LinkKind.EMBED, ("Day", "Later")),
        ("todo.md", 1, LinkKind.WIKILINK, ()),
    ]
    assert [(link.name, link.target, link.line, link.kind) for link in found.links_out] == [
        ("2026-01-15", "journal/2026-01-15.md", 2, LinkKind.PROPERTY),
        ("todo", "todo.md", 7, LinkKind.MARKDOWN),
    ]


@pytest.mark.requirement("SV-9")
def test_a_path_link_and_a_root_note_of_the_same_name_are_kept_apart(index_of):
    vault = index_of(
        {"test.md": "outer", "root-link.md": "[[test]]", "sample/test.md": "inner", "sample/one.md": "[[sample/test]]"}
    )
    assert links_of(vault.reader, "sample/test.md").backlinks == ("sample/one.md",)
    assert links_of(vault.reader, "test.md").backlinks == ("root-link.md",)


def test_a_decomposed_file_name_is_linked_by_its_composed_form(index_of):
    name = unicodedata.normalize("NFD", "Überfahrt") + ".md"
    vault = index_of({name: "ab", "l.md": "siehe [[Überfahrt]]"})
    assert links_of(vault.reader, "l").outgoing == (name,)
    assert links_of(vault.reader, "l").unresolved == ()


SCOPE = Scope(folders=("01-Projects",))
INSIDE = {
    "01-Projects/p.md": "[[hidden-note]] [[02-Private/q]] [z](../02-Private/deep/r.md) [[o]]",
    "01-Projects/o.md": "[[p]]",
}


@pytest.mark.requirement("FR-40", "NFR-5")
def test_inside_a_scope_the_answer_is_the_same_whether_or_not_notes_outside_exist(index_of):
    outside = {
        "01-Projects-old/hidden-note.md": "[[p]]",
        "02-Private/q.md": "[[p]] [[01-Projects/o]]",
        "02-Private/deep/r.md": "r",
        "02-Private/o.md": "shadow",
        "o.md": "a root note that would win",
    }
    scoped = links_of(index_of({**INSIDE, **outside}, SCOPE).reader, "p")
    alone = links_of(index_of(INSIDE, SCOPE).reader, "p")
    assert scoped == alone
    assert scoped.outgoing == scoped.backlinks == ("01-Projects/o.md",)
    assert scoped.unresolved == ("hidden-note", "q", "r")
    assert "02-Private" not in str(dataclasses.asdict(scoped))


@pytest.mark.requirement("FR-40")
def test_links_of_a_note_outside_the_scope_are_refused(index_of):
    vault = index_of({**INSIDE, "02-Private/q.md": "[[p]]"}, SCOPE)
    with pytest.raises(NotFound):
        links_of(vault.reader, "q")


@pytest.mark.requirement("SV-11")
def test_the_next_call_sees_what_was_indexed_in_between(vault):
    assert links_of(vault.reader, "another-todo").backlinks == ()
    vault.write({"new.md": "[[another-todo]]", "Ghost.md": "written at last"})
    vault.indexer.sync()
    assert links_of(vault.reader, "another-todo").backlinks == ("new.md",)
    assert links_of(vault.reader, "2026-01-15").outgoing == ("Ghost.md", "craft/Kiln.md")
    assert links_of(vault.reader, "2026-01-15").unresolved == ()
