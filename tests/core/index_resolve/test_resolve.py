from __future__ import annotations

import json
import unicodedata

import pytest

from second_brain.errors import Ambiguous, NotFound
from second_brain.index.resolve import LONGEST, Resolved, resolve
from second_brain.model import Scope

MIRA = "people/Mira Voss.md"
NFD = unicodedata.normalize("NFD", "Überfahrt")
VAULT = {
    MIRA: "---\naliases: [the Ferrywoman, TCP/IP]\n---\n# The Night Ferry\n\n## Ferry\n\nRuns it. ^b1\n",
    f"logs/{NFD}.md": "Die Fähre legt ab.\n",
    "lang/C#.md": "managed\n",
    "lang/C.md": "unmanaged\n",
    "todo.md": "short\n",
    "another-todo.md": "long\n",
    "100%25 wool.md": "knit\n",
    "Standup 10:30.md": "brief\n",
    "a/test.md": "inner\n",
    "test.md": "outer\n",
    "a/Plan.md": "# One plan\n",
    "b/Plan.md": "# Other plan\n",
    "b/case.md": "lower\n",
    "a/Case.md": "upper\n",
    "x/Ada.md": "---\naliases: Countess\n---\n",
    "x/Byron.md": "---\naliases: Countess\n---\n",
    "x/Same 1.md": "---\ntitle: Twin\n---\n",
    "x/Same 2.md": "# Twin\n",
    "x/Café notes.md": "# Café notes\n",
    "x/Ferry.md": "---\ntitle: Todo\naliases: [case]\n---\n",
}


@pytest.fixture
def vault(index_of):
    return index_of(VAULT)


@pytest.mark.requirement("SV-14", "SV-9", "RG-19", "FR-33")
@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("Mira Voss", MIRA),
        ("mira voss", MIRA),
        ("  Mira Voss\n", MIRA),
        ("Mira Voss.md", MIRA),
        ("Mira Voss.MD", MIRA),
        ("people/Mira Voss.md", MIRA),
        ("people/Mira Voss", MIRA),
        ("PEOPLE/mira voss", MIRA),
        ("./people/Mira Voss.md", MIRA),
        ("/people/Mira Voss.md", MIRA),
        ("people/Mira Voss/", MIRA),
        ("/Mira Voss/", MIRA),
        ("people\\Mira Voss.md", MIRA),
        (".\\people\\Mira Voss", MIRA),
        ("people//Mira Voss", MIRA),
        ("[[Mira Voss]]", MIRA),
        ("![[Mira Voss]]", MIRA),
        ("[[people/Mira Voss]]", MIRA),
        ("[[Mira Voss|x]]", MIRA),
        ("[[Mira Voss\\|x]]", MIRA),
        ("Mira Voss|x", MIRA),
        ("the Ferrywoman", MIRA),
        ("[[The ferrywoman]]", MIRA),
        ("TCP/IP", MIRA),
        ("The Night Ferry", MIRA),
        ("people/Mira%20Voss.md", MIRA),
        ("people%2FMira%20Voss", MIRA),
        (f"logs/{NFD}.md", f"logs/{NFD}.md"),
        ("Überfahrt", f"logs/{NFD}.md"),
        ("LOGS/ÜBERFAHRT", f"logs/{NFD}.md"),
        ("Uberfahrt", f"logs/{NFD}.md"),
        ("%C3%9Cberfahrt", f"logs/{NFD}.md"),
        ("C#", "lang/C#.md"),
        ("C", "lang/C.md"),
        ("todo", "todo.md"),
        ("100%25 wool", "100%25 wool.md"),
        ("Standup 10:30", "Standup 10:30.md"),
        ("Cafe Notes", "x/Café notes.md"),
    ],
)
def test_every_form_of_a_name_means_the_same_note(vault, name, path):
    assert resolve(vault.reader, name) == Resolved(path)


@pytest.mark.requirement("SV-14", "SV-9")
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Mira Voss#Ferry", Resolved(MIRA, "Ferry")),
        ("[[Mira Voss#Ferry|x]]", Resolved(MIRA, "Ferry")),
        ("people/Mira Voss.md#Ferry", Resolved(MIRA, "Ferry")),
        ("Mira Voss#A#B", Resolved(MIRA, "A#B")),
        ("Mira Voss#", Resolved(MIRA)),
        ("Mira Voss#^b1", Resolved(MIRA, "^b1")),
        ("Mira Voss^b1", Resolved(MIRA, "^b1")),
        ("Mira Voss#^", Resolved(MIRA)),
        ("Mira Voss#x^2", Resolved(MIRA, "x^2")),
        ("Mira%20Voss#The%20ferry", Resolved(MIRA, "The ferry")),
        ("C##Types", Resolved("lang/C#.md", "Types")),
        ("C#Types", Resolved("lang/C.md", "Types")),
        ("people/Mira Voss.md:40", Resolved(MIRA, "", 40)),
        ("Mira Voss:7", Resolved(MIRA, "", 7)),
        ("people/Mira Voss.md:L40-44", Resolved(MIRA, "", 40)),
        ("Standup 10:30:2", Resolved("Standup 10:30.md", "", 2)),
        ("Mira Voss#Ferry ../config", Resolved(MIRA, "Ferry ../config")),
    ],
)
def test_a_place_inside_the_note_is_told_apart_from_its_name(vault, name, expected):
    assert resolve(vault.reader, name) == expected


@pytest.mark.requirement("SV-9")
@pytest.mark.parametrize(
    ("name", "source", "path"),
    [
        ("test", "", "test.md"),
        ("a/test", "", "a/test.md"),
        ("./test", "a/Plan.md", "a/test.md"),
        ("../test", "a/Plan.md", "test.md"),
        ("../b/Plan.md", "a/Case.md", "b/Plan.md"),
        ("Plan", "b/case.md", "b/Plan.md"),
        ("plan", "a/test.md", "a/Plan.md"),
        ("case", "", "b/case.md"),
        ("Case", "", "a/Case.md"),
        ("Todo", "", "todo.md"),
        ("Ferry", "", "x/Ferry.md"),
    ],
)
def test_the_best_fit_wins_paths_before_names_before_aliases_before_titles(vault, name, source, path):
    assert resolve(vault.reader, name, source=source).path == path


def test_a_heading_alone_means_the_source_note(vault):
    assert resolve(vault.reader, "#Ferry", source=MIRA) == Resolved(MIRA, "Ferry")
    assert resolve(vault.reader, "[[#^b1]]", source=MIRA) == Resolved(MIRA, "^b1")
    with pytest.raises(NotFound):
        resolve(vault.reader, "#Ferry")


@pytest.mark.requirement("SV-14")
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("Plan", ("a/Plan.md", "b/Plan.md")),
        ("[[plan#One]]", ("a/Plan.md", "b/Plan.md")),
        ("CASE", ("a/Case.md", "b/case.md")),
        ("countess", ("x/Ada.md", "x/Byron.md")),
        ("Twin", ("x/Same 1.md", "x/Same 2.md")),
    ],
)
def test_a_name_that_several_notes_bear_is_reported_with_the_candidates(vault, name, options):
    with pytest.raises(Ambiguous) as caught:
        resolve(vault.reader, name)
    assert caught.value.options == options
    assert caught.value.parameter == "target"
    assert "2 notes" in caught.value.message


def test_at_most_ten_candidates_are_listed_and_all_are_counted(index_of):
    vault = index_of({f"f{number:02}/Log.md": "x" for number in range(12)})
    with pytest.raises(Ambiguous, match="12 notes") as caught:
        resolve(vault.reader, "log")
    assert caught.value.options == tuple(f"f{number:02}/Log.md" for number in range(10))


def test_an_unknown_name_is_not_found_with_near_names(vault):
    with pytest.raises(NotFound) as caught:
        resolve(vault.reader, "people/Mira Vos")
    assert caught.value.parameter == "target"
    assert caught.value.options[0] == MIRA
    assert '"people/Mira Vos"' in caught.value.message


CLIMBS = [
    "../secret.md",
    "../secret",
    "a/../../secret.md",
    "a/../inner.md",
    "..\\secret.md",
    "a\\..\\..\\secret",
    ".. /secret",
    "./../secret",
    "/../secret",
    "a/%2e%2e/%2e%2e/secret.md",
    "%2e%2e%2fsecret",
    "%252e%252e/secret",
    "..%5csecret",
    "[[../secret]]",
    "[[../secret#Head|text]]",
    "../secret.md:12",
    "/etc/secret",
    "~/secret",
    "C:\\vault\\secret.md",
    "c:/secret",
    "\\\\server\\share\\secret",
    "//server/share/secret",
    "\\\\?\\C:\\secret",
    "file:///etc/secret",
    "secret\0.md",
    "secret.md\0",
    "secret%00.md",
    "sec\nret",
    "sec\x1bret",
    "sec\ud800ret",
    "..",
    ".",
    "/",
    "\\",
    "",
    "   ",
    "#secret",
    "^secret",
    "|secret",
    ":12",
    "[[]]",
    "%",
    "secret.md.",
    "secret .md/..",
    "．．/secret",  # noqa: RUF001 - the full-width form is the point
    "s" * (LONGEST + 1),
]


@pytest.mark.requirement("T-7", "FR-33")
@pytest.mark.parametrize("name", CLIMBS)
def test_traversal_is_refused_in_the_same_bytes_as_an_unknown_name(index_of, name):
    vault = index_of({"a/inner.md": "inside", "wholly.md": "different"})
    (vault.root.parent / "secret.md").write_text("OUTSIDE", encoding="utf-8")
    refused, unknown = _refusal(vault, name), _refusal(vault, "qqqq")
    quoted = refused["message"].removeprefix('There is no note "').removesuffix('".')
    assert refused["message"] == unknown["message"].replace("qqqq", quoted)
    assert {**refused, "message": ""} == {**unknown, "message": ""} | {"options": refused["options"]}
    assert set(refused["options"]) <= {"a/inner.md", "wholly.md"}
    assert "OUTSIDE" not in json.dumps(refused)
    assert len(refused["message"]) < 250


@pytest.mark.requirement("T-7")
@pytest.mark.parametrize("name", ["../../secret", "../../../a/inner", "..\\..\\secret"])
def test_a_source_lets_a_path_climb_but_never_out_of_the_vault(index_of, name):
    vault = index_of({"a/inner.md": "inside"})
    with pytest.raises(NotFound):
        resolve(vault.reader, name, source="a/inner.md")


@pytest.mark.requirement("T-7")
@pytest.mark.parametrize("name", ["WHOLLY.MD", "wholly.md ", "%77holly.md", "wholly .md"])
def test_variants_of_a_visible_note_open_that_note_and_no_other(index_of, name):
    assert resolve(index_of({"wholly.md": "x"}).reader, name).path == "wholly.md"


SCOPED = {
    "01-Projects/p.md": "harpsichord [[q]]",
    "01-Projects/Shared.md": "inside",
}
OUTSIDE = {
    "01-Projects-old/hidden-note.md": "---\naliases: [the vault key]\ntitle: Deep Secret\n---\n",
    "02-Private/q.md": "# Queen\n",
    "02-Private/Shared.md": "outside",
    "p.md": "a root note of the same name",
}
SCOPE = Scope(folders=("01-Projects",))


@pytest.mark.requirement("FR-40", "NFR-5", "T-7", "FR-33")
@pytest.mark.parametrize(
    "name",
    [
        "hidden-note",
        "hidden-not",
        "01-Projects-old/hidden-note.md",
        "01-projects-old/hidden-note",
        "[[hidden-note]]",
        "the vault key",
        "Deep Secret",
        "02-Private/q.md",
        "q",
        "Queen",
        "02-Private/Shared",
        "../02-Private/q.md",
        "p/../../p",
        "02-Private/q.md:3",
    ],
)
def test_a_note_outside_the_scope_is_refused_as_if_it_did_not_exist(index_of, name):
    with_outside = index_of({**SCOPED, **OUTSIDE}, SCOPE)
    without = index_of(SCOPED, SCOPE)
    assert _refusal(with_outside, name) == _refusal(without, name)
    assert set(_refusal(with_outside, name)["options"]) <= set(SCOPED)


@pytest.mark.requirement("FR-40", "NFR-5")
@pytest.mark.parametrize(
    ("name", "path"), [("p", "01-Projects/p.md"), ("p.md", "01-Projects/p.md"), ("Shared", "01-Projects/Shared.md")]
)
def test_notes_outside_the_scope_make_no_name_ambiguous(index_of, name, path):
    assert resolve(index_of({**SCOPED, **OUTSIDE}, SCOPE).reader, name).path == path


@pytest.mark.requirement("FR-40")
def test_a_scope_by_tag_hides_the_other_notes(index_of):
    vault = index_of({"a.md": "#open", "b.md": "#closed"}, Scope(tags=("open",)))
    assert resolve(vault.reader, "a").path == "a.md"
    with pytest.raises(NotFound):
        resolve(vault.reader, "b")


def test_a_note_named_like_a_file_with_two_endings_is_found_by_either_spelling(index_of):
    vault = index_of({"x.md": "one", "x.md.md": "two", "Loud.MD": "three", "MAKE.md.md": "four"})
    assert resolve(vault.reader, "MAKE.md").path == resolve(vault.reader, "[[MAKE.md]]").path == "MAKE.md.md"
    assert resolve(vault.reader, "x.md.md").path == "x.md.md"
    assert resolve(vault.reader, "x.md").path == "x.md"
    assert resolve(vault.reader, "loud").path == "Loud.MD"


def test_names_follow_the_index_when_a_note_is_moved(index_of):
    vault = index_of({"old/Kiln.md": "fires"})
    (vault.root / "new").mkdir()
    (vault.root / "old/Kiln.md").rename(vault.root / "new/Kiln.md")
    vault.indexer.sync()
    assert resolve(vault.reader, "Kiln").path == "new/Kiln.md"


def _refusal(vault, name: str) -> dict:
    with pytest.raises(NotFound) as caught:
        resolve(vault.reader, name)
    return caught.value.as_json()["error"]


@pytest.mark.parametrize(
    "path",
    [
        "a\tb.md",
        "line\nbreak.md",
        " blank .md",
        "caf\u00e9.md",
        "cafe\u0301.md",
        "in/[[odd]].md",
        "50%25.md",
        "C#.md",
        "n:12.md",
    ],
)
def test_a_path_spelt_to_the_byte_is_that_note_and_no_twin_of_it(index_of, path):
    vault = index_of(dict.fromkeys((path, "café.md", "café.md", "a b.md", "C.md", "50%.md", "n.md"), "x"))
    assert resolve(vault.reader, path) == Resolved(path)
