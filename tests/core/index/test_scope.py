"""A scoped connection shows the scope's rows and nothing behind them."""

from __future__ import annotations

import unicodedata

import apsw
import pytest

from indexed_vault import IndexedVault
from second_brain.index.schema import NOTE_TABLES
from second_brain.model import Scope

NFD = unicodedata.normalize("NFD", "Größe")
MIXED = f"{NFD}/Über"
NOTES = {
    "01-Projects/a.md": "---\ntags: [Area/Home, x]\n---\na",
    "01-Projects/deep/b.md": "---\ntags: [area]\n---\nb",
    "01-Pro/c.md": "---\ntags: [areal]\n---\nc",
    "01-Projects.md": "d",
    "01-ProjectsX/e.md": "e",
    "a_b/f.md": "f",
    "aXb/g.md": "g",
    "100%/h.md": "h",
    "100/i.md": "i",
    f"{MIXED}/j.md": "---\nbroken: [\n---\nj",
    "root.md": "k",
}


@pytest.fixture(scope="module")
def vault(tmp_path_factory):
    return IndexedVault(tmp_path_factory.mktemp("scope")).write_all(NOTES).index()


def seen(vault, scope):
    with vault.reader(scope) as reader:
        return {path.rpartition("/")[2][0] for (path,) in reader.connection.execute("SELECT path FROM files")}


@pytest.mark.requirement("FR-40", "R-3")
@pytest.mark.parametrize(
    ("scope", "expected"),
    [
        (Scope(), "abc0efghijr"),
        (Scope(folders=("01-Projects",)), "ab"),
        (Scope(folders=("01-Projects/",)), "ab"),
        (Scope(folders=("01-Projects/deep",)), "b"),
        (Scope(folders=("01-Pro",)), "c"),
        (Scope(folders=("a_b",)), "f"),
        (Scope(folders=("100%",)), "h"),
        (Scope(folders=("%",)), ""),
        (Scope(folders=("a_b", "01-Pro")), "cf"),
        (Scope(folders=("Größe",)), "j"),
        (Scope(folders=("Größe/Über",)), "j"),
        (Scope(excluded=("Größe/Über", "01-Projects")), "c0efghir"),
        (Scope(excluded=(unicodedata.normalize("NFD", "Größe/Über"),)), "abc0efghir"),
        (Scope(folders=("01-Projects",), excluded=("01-Projects/deep",)), "a"),
        (Scope(tags=("area",)), "ab"),
        (Scope(tags=("AREA/home",)), "a"),
        (Scope(tags=("area", "x")), "a"),
        (Scope(tags=("#area",), folders=("01-Projects/deep",)), "b"),
        (Scope(folders=("x' OR 1 OR '",)), ""),
    ],
)
def test_a_scope_shows_just_its_notes(vault, scope, expected):
    assert seen(vault, scope) == set(expected)


@pytest.mark.requirement("FR-40", "NFR-5")
@pytest.mark.parametrize("table", ["files", "tags", "embeddings", "problems", *NOTE_TABLES])
@pytest.mark.parametrize(
    "statement",
    [
        "SELECT * FROM main.{0}",
        "SELECT count(*) FROM main.{0} WHERE rowid > 0",
        "WITH x AS (SELECT * FROM main.{0}) SELECT * FROM x",
        "SELECT * FROM (SELECT * FROM main.{0}) AS y",
        "SELECT 1 WHERE EXISTS (SELECT * FROM main.{0})",
    ],
)
def test_the_tables_themselves_are_denied(vault, table, statement):
    column = "path" if table in ("files", "tags", "embeddings", "problems") else "doc"
    with vault.reader(Scope(folders=("01-Pro",))) as reader, pytest.raises(apsw.AuthError):
        reader.connection.execute(statement.format(table).replace("*", column, 1)).fetchall()


@pytest.mark.requirement("NFR-5")
@pytest.mark.parametrize(
    "statement",
    [
        "SELECT sql FROM sqlite_schema", "SELECT name FROM sqlite_master", "SELECT sql FROM sqlite_temp_schema",
        "SELECT name FROM temp.sqlite_schema", "PRAGMA table_info(files)", "PRAGMA query_only = 0",
        "SELECT * FROM pragma_table_info('files')", "ATTACH ':memory:' AS other", "DETACH temp",
        "DROP VIEW temp.files", "CREATE TEMP VIEW mine AS SELECT * FROM main.files", "CREATE TEMP TABLE t(x)",
        "DELETE FROM main.files", "INSERT INTO main.meta VALUES('a', 'b')", "UPDATE main.terms SET term = ''",
        "ANALYZE", "REINDEX", "VACUUM",
    ],
)  # fmt: skip
def test_everything_but_reading_is_denied(vault, statement):
    for scope in (Scope(), Scope(folders=("01-Pro",))):
        with vault.reader(scope) as reader, pytest.raises((apsw.AuthError, apsw.SQLError, apsw.ReadOnlyError)):
            reader.connection.execute(statement).fetchall()


@pytest.mark.requirement("FR-40")
@pytest.mark.parametrize("table", ["tags", "embeddings", "problems", *NOTE_TABLES])
def test_every_note_table_is_cut_to_the_scope(vault, table):
    key = "path" if table in ("tags", "embeddings", "problems") else "doc"
    with vault.reader() as whole, vault.reader(Scope(folders=("01-Projects",))) as scoped:
        visible = {row[0] for row in scoped.connection.execute(f"SELECT {key} FROM files")}
        rows = whole.connection.execute(f"SELECT {key}, * FROM {table}").fetchall()
        if table == "problems":  # of files that are not in the index too, told by their folder
            visible = {row[0] for row in rows if row[0].startswith("01-Projects/")}
        expected = sorted(map(repr, (row for row in rows if row[0] in visible)))
        assert sorted(map(repr, scoped.connection.execute(f"SELECT {key}, * FROM {table}"))) == expected


def test_problems_of_unindexed_files_show_only_where_their_folder_is_in_the_scope(vault):
    with vault.writer() as writer:
        writer.put_unreadable("01-Projects/gone.md", "cannot be read")
    with vault.reader(Scope(folders=("01-Projects",))) as reader:
        assert reader.connection.execute("SELECT path FROM problems").fetchall() == [("01-Projects/gone.md",)]
    for scope in (Scope(folders=("01-Pro",)), Scope(tags=("area",)), Scope(excluded=("01-Projects", "Größe"))):
        with vault.reader(scope) as reader:
            assert reader.connection.execute("SELECT path FROM problems").fetchall() == []
