from __future__ import annotations

import pytest

from second_brain.model import LinkKind
from second_brain.vault.links import LinkResolver, NoteNames, is_attachment, key

NOTES = [
    ("test.md", ()),
    ("sample/test.md", ()),
    ("sample/sample-1.md", ()),
    ("todo.md", ()),
    ("another-todo.md", ()),
    ("people/Mira Voss.md", ("the Ferrywoman", "Todo", "MV")),
    ("a/Twin.md", ()),
    ("b/Twin.md", ()),
    ("b/deep/Twin.md", ()),
    ("c/deep/Twin.md", ()),
    ("x/case.md", ()),
    ("y/z/Case.md", ()),
    ("U\u0308berfahrt.md", ()),
    ("v1.9.10.md", ()),
    ("[.md", ()),
    ("odd/double  space.md", ()),
    ("🍀 garden/map.md", ()),
    ("100% done.md", ()),
    ("C#.md", ()),
    ("F.md", ()),
    ("files/Scan.pdf.md", ()),
    ("UP.MD", ()),
]


@pytest.fixture(scope="module")
def resolver():
    return LinkResolver(NoteNames(NOTES))


@pytest.mark.requirement("SV-9")
@pytest.mark.parametrize(
    ("target", "source", "found"),
    [
        ("todo", "in.md", "todo.md"),
        ("test", "root-link.md", "test.md"),
        ("test", "sample/sample-1.md", "test.md"),
        ("sample/test", "sample/sample-1.md", "sample/test.md"),
        ("./test", "sample/sample-1.md", "sample/test.md"),
        ("../test", "sample/sample-1.md", "test.md"),
        ("../../test", "sample/sample-1.md", None),
        ("/test", "sample/sample-1.md", "test.md"),
        ("/z/Case", "x/s.md", "y/z/Case.md"),
        ("/nowhere/Case", "x/s.md", None),
        ("Mira Voss", "log/s1.md", "people/Mira Voss.md"),
        ("mira voss", "log/s1.md", "people/Mira Voss.md"),
        ("Mira Voss.md", "log/s1.md", "people/Mira Voss.md"),
        ("people/Mira Voss", "log/s1.md", "people/Mira Voss.md"),
        ("people\\Mira Voss", "log/s1.md", "people/Mira Voss.md"),
        (" Mira Voss ", "log/s1.md", "people/Mira Voss.md"),
        ("Mira Voss#Early life", "log/s1.md", "people/Mira Voss.md"),
        ("Mira Voss#^b1", "log/s1.md", "people/Mira Voss.md"),
        ("Mira Voss^b1", "log/s1.md", "people/Mira Voss.md"),
        ("Mira%20Voss", "log/s1.md", "people/Mira Voss.md"),
        ("the ferrywoman", "log/s1.md", "people/Mira Voss.md"),
        ("Todo", "log/s1.md", "todo.md"),
        ("#Heading", "todo.md", "todo.md"),
        ("#Heading", "unknown.md", None),
        ("Twin", "b/s.md", "b/Twin.md"),
        ("Twin", "b/deep/s.md", "b/deep/Twin.md"),
        ("Twin", "elsewhere/s.md", "a/Twin.md"),
        ("deep/Twin", "elsewhere/s.md", "b/deep/Twin.md"),
        ("deep/Twin", "c/s.md", "c/deep/Twin.md"),
        ("eep/Twin", "c/s.md", None),
        ("Case", "x/s.md", "y/z/Case.md"),
        ("case", "y/z/s.md", "x/case.md"),
        ("CASE", "y/z/s.md", "y/z/Case.md"),
        ("\u00dcberfahrt", "l.md", "U\u0308berfahrt.md"),
        ("\u00fcberfahrt", "l.md", "U\u0308berfahrt.md"),
        ("v1.9.10", "l.md", "v1.9.10.md"),
        ("v1.9", "l.md", None),
        ("[", "l.md", "[.md"),
        ("double  space", "l.md", "odd/double  space.md"),
        ("double space", "l.md", None),
        ("🍀 garden/map", "l.md", "🍀 garden/map.md"),
        ("100% done", "l.md", "100% done.md"),
        ("C#", "l.md", "C#.md"),
        ("F#", "l.md", "F.md"),
        ("Scan.pdf", "l.md", None),
        ("Scan.pdf.md", "l.md", "files/Scan.pdf.md"),
        ("up", "l.md", "UP.MD"),
        ("img.png", "l.md", None),
        ("Nowhere", "l.md", None),
        ("", "l.md", None),
        ("..", "l.md", None),
        ("/", "l.md", None),
    ],
)
def test_a_target_resolves_as_in_obsidian(resolver, target, source, found):
    assert resolver.resolve(target, source) == found
    assert resolver.resolve(target, source) == found  # and again from memory


@pytest.mark.parametrize(
    ("target", "source", "found"),
    [
        ("test.md", "sample/sample-1.md", "sample/test.md"),
        ("test.md", "in.md", "test.md"),
        ("../test.md", "sample/sample-1.md", "test.md"),
        ("deep/Twin.md", "c/s.md", "c/deep/Twin.md"),
        ("todo.md", "sample/sample-1.md", "todo.md"),
        ("../../../x.md", "sample/sample-1.md", None),
    ],
)
def test_a_markdown_link_looks_beside_its_source_first(resolver, target, source, found):
    assert resolver.resolve(target, source, kind=LinkKind.MARKDOWN) == found


@pytest.mark.parametrize(
    ("target", "attachment"),
    [
        ("img.png", True),
        ("Folder/Scan 1.PDF#page=3", True),
        ("board.canvas", True),
        ("v1.9.10", False),
        ("Node.js", False),
        ("note.md", False),
        ("note", False),
        ("a.png/b", False),
        ("#h.png", False),
    ],
)
def test_attachments_are_told_by_their_extension(target, attachment):
    assert is_attachment(target) is attachment


@pytest.mark.parametrize(
    ("name", "folded"),
    [
        ("Foo.md", "foo"),
        ("Foo.MD ", "foo"),
        ("A\\B//C.md", "a/b/c"),
        ("/a/", "a"),
        ("U\u0308ber", "\u00fcber"),
        ("STRASSE", key("straße")),
        ("x.md.md", "x.md"),
    ],
)
def test_names_are_compared_folded(name, folded):
    assert key(name) == folded
