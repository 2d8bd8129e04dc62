"""Databases of the first version, of every age, come up to date without losing anything."""

from __future__ import annotations

import logging
import shutil
from datetime import UTC, datetime
from types import SimpleNamespace

import apsw
import numpy as np
import pytest

from crashing import CrashServer
from first_version import AGES, EXTRACTED, first_version, unit
from index_dump import logical_dump
from indexed_vault import IndexedVault
from second_brain.errors import IndexUnavailable, OutOfDate
from second_brain.index import catalog, vectors
from second_brain.index.opening import open_writer
from second_brain.index.reader import open_reader
from second_brain.index.schema import SCHEMA_VERSION
from second_brain.model import Scope
from second_brain.search.engine import search
from second_brain.search.request import from_arguments

NOW = datetime(2026, 6, 1, tzinfo=UTC)


def raw(path, tables=("files", "embeddings", "tags")):
    """Every table of the first version as bytes, by its own columns."""
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    found = {}
    for table in tables:
        columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
        if columns:
            quoted = ", ".join(f"typeof({name}), CAST({name} AS BLOB)" for name in columns)
            found[table] = (columns, connection.execute(f"SELECT {quoted} FROM {table} ORDER BY path").fetchall())
    connection.close()
    return found


def columns_then(path, before):
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    found = {}
    for table, (columns, _) in before.items():
        quoted = ", ".join(f"typeof({name}), CAST({name} AS BLOB)" for name in columns)
        found[table] = (columns, connection.execute(f"SELECT {quoted} FROM {table} ORDER BY path").fetchall())
    connection.close()
    return found


def migrate(path):
    open_writer(path).close()
    return path


def tags(path):
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    rows = connection.execute("SELECT path, tag, key FROM tags ORDER BY path, tag").fetchall()
    connection.close()
    return rows


@pytest.mark.requirement("FR-04", "IDX")
@pytest.mark.parametrize("age", AGES)
def test_every_column_of_the_first_version_is_byte_equal_after_the_migration(tmp_path, age):
    path = first_version(tmp_path / "v1.db", age)
    before = raw(path)
    migrate(path)
    after = columns_then(path, before)
    assert after["files"] == before["files"]
    assert after.get("embeddings") == before.get("embeddings")
    if "tags" in before:
        assert set(before["tags"][1]) <= set(after["tags"][1])


@pytest.mark.requirement("FR-01", "FR-03", "R-4")
@pytest.mark.parametrize("age", [age for age in AGES if "extracted" in AGES[age]["files"]])
def test_tags_come_from_the_stored_metadata_and_bad_rows_are_skipped_with_a_warning(tmp_path, age, caplog):
    path = first_version(tmp_path / "v1.db", age)
    with caplog.at_level(logging.WARNING, "second_brain.index.schema"):
        migrate(path)
    found = {(note, tag): key for note, tag, key in tags(path) if not note.startswith("Gone")}
    assert found == {
        ("Home/Cluster.md", "homelab"): "homelab",
        ("Home/Cluster.md", "k8s"): "k8s",
        ("Home/Cluster.md", "Area/Home"): "area/home",
        ("Home/Router.md", "homelab"): "homelab",
        ("Home/Router.md", "network"): "network",
        ("Work/Surrogate.md", "kept"): "kept",
        ("Work/Numbers.md", "dated"): "dated",
    }
    warned = {record.getMessage().split(":")[0] for record in caplog.records}
    assert warned == {"Work/Odd.md", "Work/Bytes.md", "Work/Deep.md"}


@pytest.mark.requirement("FR-01")
def test_the_index_on_tags_exists_after_opening_any_database(tmp_path):
    for path in (first_version(tmp_path / "v1.db", "bare"), tmp_path / "new.db"):
        migrate(path)
        connection = apsw.Connection(str(path))
        indexed = {
            tuple(row[2] for row in connection.execute(f"PRAGMA index_info({name})"))
            for _, name, *_ in connection.execute("PRAGMA index_list(tags)")
        }
        assert {("path", "tag"), ("tag",), ("key", "path")} <= indexed
        connection.close()


@pytest.mark.requirement("FR-03")
def test_tags_are_backfilled_only_once(tmp_path):
    path = migrate(first_version(tmp_path / "v1.db", "newest"))
    connection = apsw.Connection(str(path))
    connection.execute("DELETE FROM tags")
    connection.close()
    migrate(path)
    assert tags(path) == []


@pytest.mark.requirement("FR-03", "FR-10")
@pytest.mark.parametrize("age", [age for age in AGES if "extracted" in AGES[age]["files"]])
def test_a_search_by_tag_works_on_migrated_rows_before_any_sync(tmp_path, age):
    reader = open_reader(migrate(first_version(tmp_path / "v1.db", age)), Scope())
    request = from_arguments(tags=["homelab"], now=NOW)
    answer = search(reader, request, SimpleNamespace(read=lambda path: None, embedder_for=None, settings=settings()))
    assert {hit.path for hit in answer.hits} == {"Home/Cluster.md", "Home/Router.md"}
    reader.close()


def settings():
    from second_brain.search.engine import Settings

    return Settings()


@pytest.mark.requirement("FR-05", "T-9")
def test_rows_of_no_note_are_ignored_and_the_next_sync_prunes_them(tmp_path):
    vault = IndexedVault(tmp_path)
    first_version(vault.db, "newest")
    migrate(vault.db)
    with vault.reader() as reader:
        assert "Gone/Old.md" not in catalog.aliases(reader)
        assert catalog.tag_counts(reader)["homelab"] == 2
        places, _ = vectors.note_cosines(reader, "v1:nomic-embed-text", unit(0), allowed=None)
        assert len(places) == len(EXTRACTED)
    vault.write("Home/Cluster.md", "---\ntags: [homelab]\n---\ntext")
    vault.write("Home/Router.md", "text")
    vault.sync()
    assert {note for note, *_ in tags(vault.db)} == {"Home/Cluster.md"}
    assert not [path for path in vault.dump()["embeddings"] if path.startswith("Gone")]


@pytest.mark.requirement("AC-5", "T-8")
@pytest.mark.parametrize(("age", "fingerprint"), [("newest", "v1:nomic-embed-text"), ("without models", "v1:")])
def test_meaning_is_answered_from_the_first_versions_vectors_as_that_version_did(tmp_path, age, fingerprint):
    reader = open_reader(migrate(first_version(tmp_path / "v1.db", age)), Scope())
    query = unit(3) + np.float32(0.1) * unit(5)
    with reader.snapshot():
        assert vectors.note_model(reader) == fingerprint
    stub = SimpleNamespace(fingerprint=fingerprint, languages=None, embed_query=lambda text: query)
    request = from_arguments(query="anything", ranking="meaning", top_k=5, now=NOW)
    tools = SimpleNamespace(read=lambda path: None, embedder_for={fingerprint: stub}.get, settings=settings())
    answer = search(reader, request, tools)
    cosines = {note: float(unit(n) @ query / np.linalg.norm(query)) for n, note in enumerate(EXTRACTED)}
    expected = sorted(cosines, key=lambda note: (-round(cosines[note], 5), note))[:5]
    assert [hit.path for hit in answer.hits] == expected
    assert [hit.score for hit in answer.hits] == pytest.approx([cosines[note] for note in expected], abs=1e-6)
    reader.close()


@pytest.mark.requirement("IDX", "FR-04")
@pytest.mark.parametrize("age", AGES)
def test_a_sync_after_the_migration_leaves_the_index_of_a_fresh_run(tmp_path, age):
    vault = IndexedVault(tmp_path / "old")
    first_version(vault.db, age)
    for note in ("Home/Cluster.md", "Work/Plan.md", "Elsewhere/New.md"):
        vault.write(note, f"---\ntags: [fresh]\n---\n# {note}\n\nwords of {note}")
    vault.index()
    found, fresh = vault.dump(), vault.fresh_dump(tmp_path / "new")
    strip_summaries(found)
    assert found == fresh


def strip_summaries(dump):
    """Summaries are the first version's own; we keep them and never make any."""
    dump["files"] = {path: (*row[:4], None, *row[5:]) for path, row in dump["files"].items()}


@pytest.mark.requirement("FR-04")
def test_the_first_versions_vectors_answer_until_ours_are_complete(tmp_path):
    vault = IndexedVault(tmp_path)
    first_version(vault.db, "newest")
    for note in list(EXTRACTED)[:6]:
        vault.write(note, f"# {note}\n\n" + "many words " * 300)
    vault.sync()
    steps = iter([False])
    stopped = vault.embed(should_stop=lambda: next(steps, True))
    assert stopped.embedded
    assert stopped.waiting
    with vault.reader() as reader:
        assert vectors.note_model(reader) == "v1:nomic-embed-text"
    vault.embed()
    with vault.reader() as reader:
        assert vectors.note_model(reader) == vault.embedder.fingerprint
    assert {model for model, _ in vault.dump()["embeddings"].values()} == {vault.embedder.fingerprint}


@pytest.mark.requirement("IDX")
def test_a_row_that_the_first_versions_program_adds_later_waits_for_the_next_sync(tmp_path):
    path = migrate(first_version(tmp_path / "v1.db", "newest"))
    connection = apsw.Connection(str(path))
    connection.execute("INSERT INTO files(path, mtime) VALUES('Late.md', 1)")
    connection.close()
    reader = open_reader(path, Scope())
    with reader.snapshot():
        assert len(reader.columns) == len(EXTRACTED)
        assert catalog.note_count(reader) == len(EXTRACTED)
    reader.close()


@pytest.mark.requirement("IDX")
def test_a_newer_database_is_refused_naming_both_versions(tmp_path):
    path = migrate(tmp_path / "index.db")
    connection = apsw.Connection(str(path))
    connection.execute("UPDATE meta SET value = '7' WHERE key IN ('index_schema_version', 'min_reader_version')")
    connection.close()
    for open_it in (open_writer, lambda path: open_reader(path, Scope())):
        with pytest.raises(OutOfDate) as refused:
            open_it(path)
        for part in (str(path), "7", str(SCHEMA_VERSION)):
            assert part in refused.value.message
        assert refused.value.hint
    assert logical_dump(path)["files"] == {}


@pytest.mark.requirement("IDX")
def test_a_newer_database_that_we_can_still_read_is_read_but_not_written(tmp_path):
    path = migrate(first_version(tmp_path / "index.db", "newest"))
    connection = apsw.Connection(str(path))
    connection.execute("UPDATE meta SET value = ? WHERE key = 'index_schema_version'", (str(SCHEMA_VERSION + 1),))
    connection.close()
    open_reader(path, Scope()).close()
    with pytest.raises(OutOfDate):
        open_writer(path)


@pytest.mark.requirement("IDX")
def test_an_unmigrated_database_tells_a_reader_what_to_run(tmp_path):
    path = first_version(tmp_path / "v1.db", "newest")
    with pytest.raises(OutOfDate) as refused:
        open_reader(path, Scope())
    assert str(path) in refused.value.message
    assert "second-brain sync" in refused.value.hint


@pytest.mark.requirement("IDX")
@pytest.mark.parametrize(
    "table",
    [
        "CREATE TABLE songs(name TEXT)",
        "CREATE TABLE files(id INTEGER PRIMARY KEY, name TEXT)",
        "CREATE TABLE meta(name TEXT, content TEXT)",
        "CREATE TABLE meta(key TEXT, value TEXT); INSERT INTO meta VALUES('index_schema_version', 'many')",
        "CREATE TABLE embeddings(path TEXT, vector BLOB)",
    ],
)
def test_a_foreign_database_is_refused_and_left_alone(tmp_path, table):
    path = tmp_path / "foreign.db"
    connection = apsw.Connection(str(path))
    connection.execute(table)
    connection.close()
    for open_it in (open_writer, lambda path: open_reader(path, Scope())):
        with pytest.raises(OutOfDate) as refused:
            open_it(path)
        assert str(path) in refused.value.message
    connection = apsw.Connection(str(path))
    assert connection.execute("SELECT count(*) FROM sqlite_schema WHERE type = 'table'").get == 1
    connection.close()


@pytest.mark.requirement("IDX")
def test_an_empty_file_becomes_an_index(tmp_path):
    path = tmp_path / "index.db"
    path.touch()
    with pytest.raises(IndexUnavailable, match="is empty"):
        open_reader(path, Scope())
    migrate(path)
    reader = open_reader(path, Scope())
    assert (catalog.note_count(reader), reader.connection.execute("SELECT count(path) FROM tags").get) == (0, 0)
    reader.close()


@pytest.mark.slow
@pytest.mark.requirement("IDX", "FR-03", "FR-04")
@pytest.mark.parametrize("age", ["newest", "without models"])
def test_a_migration_killed_at_any_statement_and_run_again_equals_an_undisturbed_one(tmp_path, age):
    vault = IndexedVault(tmp_path / "killed")
    first_version(tmp_path / "v1.db", age)
    vault.db.parent.mkdir(parents=True)
    shutil.copy(tmp_path / "v1.db", tmp_path / "calm.db")
    expected = logical_dump(migrate(tmp_path / "calm.db"))
    with CrashServer() as server:
        number = 0
        while True:
            number += 1
            shutil.copy(tmp_path / "v1.db", vault.db)
            ended = server.run("migrate", vault, kill_at=number)
            if not ended["killed"]:
                break
            assert raw(vault.db)["files"][1][0][:2] == raw(tmp_path / "v1.db")["files"][1][0][:2]
            assert logical_dump(migrate(vault.db)) == expected, f"killed at statement {number}"
            for left in vault.db.parent.glob("index.db-*"):
                left.unlink()
    assert ended["error"] == ""
    assert number > 60


def test_an_index_of_the_version_before_the_graph_gets_what_a_new_one_has(tmp_path):
    vault = IndexedVault(tmp_path)
    vault.write_all(
        {
            "One.md": "---\nsee: '[[sub/Two#x|t]]'\n---\n# One\n\n[[Two]] [a](sub/Two.md)\n",
            "sub/Two.md": "Text [[C#]].\n",
        }
    )
    vault.index()
    expected = vault.dump()
    connection = apsw.Connection(str(vault.db))
    for statement in (
        "DROP INDEX links_key",
        "ALTER TABLE links DROP COLUMN key",
        "ALTER TABLE chunks DROP COLUMN lines",
        *(f"DROP TABLE {table}" for table in ("graph_nodes", "neighbours", "graph_changed")),
        "UPDATE meta SET value = '2' WHERE key = 'index_schema_version'",
    ):
        connection.execute(statement)
    connection.close()
    with pytest.raises(OutOfDate):
        open_reader(vault.db, Scope())
    migrate(vault.db)
    assert vault.dump() == expected
