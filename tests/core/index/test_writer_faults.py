"""Locked, full, read-only, damaged and missing databases: each has a clear message, and nothing of value is lost."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import shutil
import subprocess
import threading
import time
from types import SimpleNamespace

import apsw
import pytest

from crashing import CrashServer
from indexed_vault import IndexedVault
from second_brain.config import load
from second_brain.errors import IndexUnavailable, OutOfDate, SecondBrainError, WriterBusy
from second_brain.index import catalog, exact, words
from second_brain.index.connection import set_aside
from second_brain.index.reader import open_reader
from second_brain.index.writer import open_writer
from second_brain.model import Scope
from second_brain.search.engine import search
from second_brain.search.request import from_arguments
from second_brain.search.vocabulary import facets, schema_block
from second_brain.service import SecondBrain
from stub_embedder import StubEmbedder
from vaults import crash_notes

pytestmark = pytest.mark.requirement("IDX")


@pytest.fixture
def vault(tmp_path):
    return IndexedVault(tmp_path).write_all({"a.md": "# A\n\nriver text", "in/b.md": "---\ntags: [t]\n---\nlantern"}).index()


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


def _hold(path, ready):
    open_writer(path)
    ready.set()
    time.sleep(60)


@pytest.mark.slow
def test_the_lock_of_a_killed_process_is_free(vault):
    context = multiprocessing.get_context("spawn")
    ready = context.Event()
    holder = context.Process(target=_hold, args=(vault.db, ready))
    holder.start()
    try:
        assert ready.wait(30)
        with pytest.raises(WriterBusy):
            open_writer(vault.db)
        assert note_count(vault) == 2
    finally:
        holder.kill()
        holder.join()
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
                        assert {doc for (doc,) in reader.connection.execute("SELECT doc FROM texts")} == docs
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
    from datetime import UTC, datetime

    return datetime(2026, 6, 1, tzinfo=UTC)


# -- places


def test_a_database_in_a_missing_folder_is_made(tmp_path):
    place = tmp_path / "not" / "there" / "yet" / "index.db"
    open_writer(place).close()
    open_reader(place, Scope()).close()


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


def as_nobody(act):
    """Run *act* without root's powers in a process of its own; returns the error's text, "" for none."""
    if os.getuid():
        try:
            act()
        except SecondBrainError as error:
            return f"{error.message} {error.hint}"
        return ""
    context = multiprocessing.get_context("spawn")
    told, tell = context.Pipe(duplex=False)
    child = context.Process(target=_dropped, args=(act, tell))
    child.start()
    said = told.recv() if told.poll(30) else "no answer"
    child.join()
    return said


def _dropped(act, tell):
    os.setgid(65534)
    os.setuid(65534)
    try:
        act()
    except SecondBrainError as error:
        tell.send(f"{error.message} {error.hint}")
    else:
        tell.send("")


class Opening:
    """Open a database as reader or writer; can be sent to another process."""

    def __init__(self, path, kind):
        self.path, self.kind = path, kind

    def __call__(self):
        if self.kind == "write":
            open_writer(self.path).close()
            return
        reader = open_reader(self.path, Scope())
        with reader.snapshot():
            assert catalog.note_count(reader) == 2
        reader.close()


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
        assert as_nobody(Opening(vault.db, "read")) == ""
        told = as_nobody(Opening(vault.db, "write"))
        assert str(vault.db) in told
        assert "cannot be written" in told or "cannot be opened" in told
    finally:
        folder.chmod(0o755)
        vault.db.chmod(0o644)


# -- damage


def damage_garbage(path):
    path.write_bytes(b"this is no database, it is a text\n" * 400)


def damage_cut(path):
    os.truncate(path, path.stat().st_size * 2 // 3 // 4096 * 4096)


def damage_header(path):
    with path.open("r+b") as file:
        file.write(b"\0" * 100)


def damage_tables(path):
    connection = apsw.Connection(str(path))
    connection.execute("DROP TABLE texts; DROP TABLE tags")
    connection.close()


@pytest.mark.requirement("FR-23")
@pytest.mark.parametrize("damage", [damage_garbage, damage_cut, damage_header, damage_tables], ids=lambda f: f.__name__)
def test_a_damaged_database_is_named_kept_aside_and_rebuilt_by_a_full_sync(tmp_path, damage):
    vault = IndexedVault(tmp_path).write_all({f"{n}.md": f"river {n} " + "words " * 300 for n in range(30)}).index()
    brain = second_brain(vault)
    damage(vault.db)
    damaged = vault.db.read_bytes()
    with pytest.raises(IndexUnavailable) as refused:
        use(vault)
    assert str(vault.db) in refused.value.message
    assert "sync --mode full" in refused.value.hint
    with brain.writer(rebuild_damaged=True) as writer:
        vault.indexer(writer).sync(full=True)
    kept = list(vault.db.parent.glob("index.db.damaged-*"))
    assert [place.read_bytes() for place in kept] == [damaged]
    assert note_count(vault) == 30
    brain.close()


def second_brain(vault):
    config = load(flags={"vault_path": str(vault.root), "db_path": str(vault.db)}, environment={})
    return SecondBrain(config, embedder=vault.embedder)


def use(vault):
    """Everything that is done with an index."""
    with vault.writer() as writer:
        writer.connection.execute("SELECT 1")
        vault.indexer(writer).sync()
    with vault.reader() as reader:
        for ranking in ("words", "best", "meaning"):
            search(reader, from_arguments(query='river words "er 1"', ranking=ranking, now=now()), vault.tools())
        search(reader, from_arguments(tags=["t"], now=now()), vault.tools())
        facets(reader)
        schema_block(reader)
        catalog.links(reader)
        catalog.problems(reader)


@pytest.mark.slow
def test_a_zeroed_page_anywhere_is_told_or_harmless_and_always_found_by_a_full_check(tmp_path):
    vault = IndexedVault(tmp_path)
    vault.write_all({f"{n}.md": f"---\ntags: [t]\n---\nriver {n} [[{n}]]" + f" words w{n}" * 300 for n in range(12)}).index()
    whole = vault.db.read_bytes()
    size = int.from_bytes(whole[16:18], "big")
    told = 0
    for page in range(1, len(whole) // size):
        vault.db.write_bytes(whole[: page * size] + b"\0" * size + whole[(page + 1) * size :])
        for suffix in ("-wal", "-shm"):
            vault.db.with_name(vault.db.name + suffix).unlink(missing_ok=True)
        try:
            use(vault)
        except IndexUnavailable as error:
            assert error.damaged, error.message
            assert str(vault.db) in error.message
            told += 1
    assert told > 20


def test_a_zeroed_page_is_found_before_a_writer_that_verifies(tmp_path):
    vault = IndexedVault(tmp_path)
    vault.write_all({f"{n}.md": f"river {n}" + " words" * 300 for n in range(12)}).index()
    whole = vault.db.read_bytes()
    root = apsw.Connection(str(vault.db)).execute("SELECT rootpage FROM sqlite_schema WHERE name = 'vectors'").get
    vault.db.write_bytes(whole[: (root - 1) * 4096] + b"\0" * 4096 + whole[root * 4096 :])
    open_writer(vault.db).close()
    with pytest.raises(IndexUnavailable) as refused:
        open_writer(vault.db, verify=True)
    assert refused.value.damaged


# -- a full disk


def fill(writer):
    writer.connection.execute("PRAGMA max_page_count = 1")  # means: as many pages as there are


def test_a_disk_that_is_full_from_the_start_keeps_what_was_there(vault):
    before = vault.dump()
    vault.write("large.md", "\n".join(f"line {n} of a large note" for n in range(3_000)))
    with vault.writer() as writer:
        indexer = vault.indexer(writer)
        fill(writer)
        with pytest.raises(IndexUnavailable) as refused:
            indexer.sync()
        assert "disk is full" in refused.value.message
        assert "kept" in refused.value.message
        assert not writer.connection.in_transaction
        writer.connection.execute("PRAGMA max_page_count = 1000000")
        after = vault.dump()
        assert after == before
        indexer.sync()
    assert note_count(vault) == 3


@pytest.fixture
def tiny_disk(tmp_path):
    place = tmp_path / "tiny"
    place.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=600k", "tmpfs", place], capture_output=True, check=False)
    if mounted.returncode:
        pytest.skip("no file system can be mounted here")
    yield place
    subprocess.run(["umount", "-l", place], check=True)


@pytest.mark.slow
def test_a_file_system_without_space_is_told_in_words_and_used_again_when_there_is_some(tiny_disk, tmp_path):
    vault = IndexedVault(tmp_path)
    vault.db = tiny_disk / "index.db"
    vault.write("a.md", "river")
    vault.sync()
    for number in range(12):
        vault.write(f"large {number}.md", "\n".join(f"line {n} of a large note {number}" for n in range(1_000)))
    with pytest.raises(IndexUnavailable) as refused:
        vault.sync()
    assert "disk is full" in refused.value.message
    with vault.reader() as reader:
        assert exact.holders(reader, "river").any()
    for number in range(12):
        (vault.root / f"large {number}.md").unlink()
    vault.write("b.md", "more river")
    vault.sync()
    assert note_count(vault) == 2


@pytest.mark.slow
def test_a_new_index_on_a_full_disk_is_told_in_words(tiny_disk, tmp_path):
    (tiny_disk / "ballast").write_bytes(b"x" * 590 * 1024)
    vault = IndexedVault(tmp_path).write_all(crash_notes.as_bytes())
    vault.db = tiny_disk / "index.db"
    with CrashServer() as server:
        server_side = SimpleNamespace(
            db=tmp_path / "data" / "index.db", root=vault.root, layout=vault.layout, embedder=StubEmbedder(16)
        )
        (tmp_path / "data").symlink_to(tiny_disk)
        ended = server.run("index", server_side)
    assert not ended["killed"]
    assert "disk is full" in ended["error"] or "No space left" in ended["error"]
