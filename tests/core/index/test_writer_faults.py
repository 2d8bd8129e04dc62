"""Locked, full, read-only, damaged and missing databases: each has a clear message, and nothing of value is lost."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import threading
import time
from datetime import UTC, datetime

import apsw
import pytest

from crashing import CrashServer
from indexed_vault import IndexedVault
from second_brain.errors import IndexUnavailable, OutOfDate, WriterBusy
from second_brain.index import catalog, exact, words
from second_brain.index.connection import set_aside
from second_brain.index.opening import open_writer
from second_brain.index.reader import open_reader
from second_brain.model import Scope
from second_brain.search.engine import search
from second_brain.search.request import from_arguments

pytestmark = pytest.mark.requirement("IDX")


@pytest.fixture
def vault(tmp_path):
    return (
        IndexedVault(tmp_path)
        .write_all({"a.md": "# A\n\nriver text", "in/b.md": "---\ntags: [t]\n---\nlantern"})
        .index()
    )


def note_count(vault):
    with vault.reader() as reader:
        return catalog.note_count(reader)


# -- the lock


def test_a_second_writer_is_refused_at_once(vault):
    with vault.writer():
        before = time.perf_counter()
        with pytest.raises(WriterBusy) as refused:
            open_writer(vault.db)
        assert time.perf_counter() - before < 0.5
    assert str(vault.db) in refused.value.message
    assert "Searching works meanwhile" in refused.value.hint
    open_writer(vault.db).close()


HOLD = "import sys, time; from pathlib import Path; from second_brain.index.opening import open_writer; "
HOLD += "writer = open_writer(Path(sys.argv[1])); print('ready', flush=True); time.sleep(60)"


@pytest.mark.slow
def test_the_lock_of_a_killed_process_is_free(vault):
    with subprocess.Popen([sys.executable, "-c", HOLD, vault.db], stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout.readline() == "ready\n"
        with pytest.raises(WriterBusy):
            open_writer(vault.db)
        assert note_count(vault) == 2
        holder.kill()
    open_writer(vault.db).close()


def test_a_failed_opening_gives_the_lock_back(vault):
    connection = apsw.Connection(str(vault.db))
    connection.execute("UPDATE meta SET value = '9' WHERE key LIKE '%version'")
    for _ in range(2):
        with pytest.raises(OutOfDate):
            open_writer(vault.db)
    connection.execute("UPDATE meta SET value = '2' WHERE key LIKE '%version'")
    connection.close()
    open_writer(vault.db).close()


def test_a_foreign_program_that_locks_the_file_is_named_as_such(vault, monkeypatch):
    from second_brain.index import connection as connections

    monkeypatch.setattr(connections, "BUSY_MS", 50)
    other = apsw.Connection(str(vault.db))
    other.execute("BEGIN IMMEDIATE")
    vault.write("c.md", "new")
    with pytest.raises(WriterBusy) as refused:
        vault.sync()
    assert "locked by another program" in refused.value.message
    assert note_count(vault) == 2
    other.execute("ROLLBACK")
    other.close()
    vault.sync()
    assert note_count(vault) == 3


# -- a reader beside a writer


@pytest.mark.slow
def test_readers_never_meet_a_lock_while_a_writer_comes_writes_and_goes(vault):
    failures, stop, reads = [], threading.Event(), []

    def read():
        try:
            while not stop.is_set():
                reader = open_reader(vault.db, Scope())
                for _ in range(5):
                    with reader.snapshot():
                        docs = {doc for (doc,) in reader.connection.execute("SELECT doc FROM files")}
                        assert {doc for doc, _ in reader.connection.execute("SELECT doc, text FROM texts")} == docs
                        assert len(words.visible(reader, "river")[0]) >= 1
                reader.close()
                reads.append(1)
        except BaseException as error:  # noqa: BLE001 - told by the test
            failures.append(error)

    readers = [threading.Thread(target=read) for _ in range(2)]
    for each in readers:
        each.start()
    for number in range(40):
        vault.write(f"c{number % 7}.md", f"river {number}")
        if number % 5 == 4:
            (vault.root / f"c{number % 7}.md").unlink()
        vault.sync()
    stop.set()
    for each in readers:
        each.join()
    assert failures == []
    assert len(reads) > 5


def test_a_snapshot_keeps_one_state_while_a_writer_commits(vault):
    reader = open_reader(vault.db, Scope())
    with reader.snapshot():
        assert catalog.note_count(reader) == 2
        vault.write("c.md", "river too")
        vault.sync()
        assert catalog.note_count(reader) == 2
        assert len(reader.columns) == 2
    with reader.snapshot():
        assert len(reader.columns) == 3
        assert exact.holders(reader, "river").sum() == 2
    reader.close()


def test_a_database_deleted_under_a_reader_is_told_and_a_new_one_is_taken(vault):
    reader = open_reader(vault.db, Scope())
    with reader.snapshot():
        assert catalog.note_count(reader) == 2
    shutil.rmtree(vault.db.parent)
    with pytest.raises(IndexUnavailable) as gone, reader.snapshot():
        pass
    assert str(vault.db) in gone.value.message
    vault.write("c.md", "river three")
    vault.index()
    with reader.snapshot():
        assert catalog.note_count(reader) == 3
        assert exact.holders(reader, "river").sum() == 2
    reader.close()


def test_a_rebuilt_index_is_seen_by_a_reader_that_has_the_old_one_open(vault):
    reader = open_reader(vault.db, Scope(folders=("in",)))
    tools = vault.tools()
    with reader.snapshot():
        search(reader, from_arguments(query="lantern", now=now()), tools)
    set_aside(vault.db)
    (vault.root / "in" / "c.md").write_text("another lantern")
    vault.index()
    answer = search(reader, from_arguments(query="lantern", now=now()), tools)
    assert [hit.path for hit in answer.hits] == ["in/b.md", "in/c.md"]
    reader.close()


def now():
    return datetime(2026, 6, 1, tzinfo=UTC)


# -- places


def test_a_database_in_a_missing_folder_is_made(tmp_path):
    place = tmp_path / "not" / "there" / "yet" / "index.db"
    open_writer(place).close()
    assert place.is_file()
    reader = open_reader(place, Scope())
    assert catalog.note_count(reader) == 0
    reader.close()


def test_no_index_yet_tells_what_to_run(tmp_path):
    with pytest.raises(IndexUnavailable) as refused:
        open_reader(tmp_path / "index.db", Scope())
    assert "second-brain sync" in refused.value.hint
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("place", ["folder", "file/index.db"])
def test_a_place_that_cannot_hold_a_database_is_named(tmp_path, place):
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("a file")
    with pytest.raises(IndexUnavailable) as refused:
        open_writer(tmp_path / place)
    assert str(tmp_path / place) in refused.value.message
    assert refused.value.hint


@pytest.fixture
def open_tmp_path(tmp_path):
    """A vault that another user may reach."""
    place = tmp_path
    while place != place.parent and place.stat().st_uid == os.getuid() and place != place.anchor:
        with contextlib.suppress(OSError):
            place.chmod(place.stat().st_mode | 0o755)
        place = place.parent
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("locked", ["folder", "file", "both"])
def test_a_read_only_index_is_read_but_not_written(open_tmp_path, vault, locked):
    folder = vault.db.parent
    folder.chmod(0o777)
    for each in folder.iterdir():
        each.chmod(0o666)
    if locked in ("folder", "both"):
        folder.chmod(0o555)
    if locked in ("file", "both"):
        vault.db.chmod(0o444)
        if os.getuid() == 0:
            os.chown(vault.db, 0, 0)
    try:
        with CrashServer() as server:
            assert server.run("read", vault, powerless=True)["error"] == ""
            told = server.run("open", vault, powerless=True)["error"]
        assert str(vault.db) in told
        assert "cannot be written" in told or "cannot be opened" in told
    finally:
        folder.chmod(0o755)
        vault.db.chmod(0o644)
