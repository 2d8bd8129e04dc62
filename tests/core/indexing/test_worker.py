"""A worker outlives what happens to its index and to its disk, leaves an idle index alone, and says how it is."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
import time

import apsw
import pytest

from index_dump import graph_dump
from indexed_vault import IndexedVault
from second_brain.config import load
from second_brain.errors import IndexUnavailable, SecondBrainError
from second_brain.index import worker_file
from second_brain.index.connection import OpenedFiles
from second_brain.indexing import worker as worker_module
from second_brain.service import SecondBrain
from stub_embedder import StubEmbedder
from told import Told


class Watched:
    """A vault of three notes, and a `watch` of it in a thread."""

    def __init__(self, folder):
        self.root = folder / "vault"
        self.db = folder / "data" / "index.db"
        self.root.mkdir(parents=True)
        for name in ("heron", "kettle", "joists"):
            (self.root / f"{name}.md").write_text(f"# {name}\n\nAbout the {name}.", "utf-8")
        self.embedder = StubEmbedder(16)
        self.stop, self.told, self.errors = threading.Event(), Told(), []
        self.thread = threading.Thread(target=self._run)

    def brain(self):
        flags = {"db_path": str(self.db)}
        return SecondBrain(load(flags=flags, env={}, vault=str(self.root)), embedder=self.embedder)

    def _run(self):
        try:
            self.brain().watch(self.stop, self.told)
        except SecondBrainError as error:
            self.errors.append(error)

    def end(self):
        self.stop.set()
        self.thread.join(30)
        assert not self.thread.is_alive()

    def found(self, query):
        brain = self.brain()
        try:
            answer = brain.search(brain.request(query=query, ranking="words"))
            return [hit.path for hit in answer.hits]
        except IndexUnavailable:
            return None
        finally:
            brain.close()


@pytest.fixture
def watched(tmp_path, monkeypatch, eventually):
    monkeypatch.setattr(worker_module, "CHECK_FILES_S", 0.1)
    monkeypatch.setattr(worker_module, "HEARTBEAT_S", 0.2)
    monkeypatch.setattr(worker_module, "RETRY_VAULT_S", 0.3)
    monkeypatch.setattr(worker_module, "RETRY_EMBEDDER_S", 0.3)
    made = Watched(tmp_path)
    made.thread.start()
    eventually(lambda: made.told.count("embedded"), 30)
    yield made
    made.end()


def remove(database, suffixes):
    for suffix in suffixes:
        database.with_name(database.name + suffix).unlink(missing_ok=True)


@pytest.mark.requirement("RG-17")
@pytest.mark.parametrize("suffixes", [[""], ["", "-wal", "-shm"], ["-wal"], ["-wal", "-shm"]])
def test_an_index_that_is_deleted_under_the_worker_is_told_and_built_anew(watched, eventually, suffixes):
    remove(watched.db, suffixes)
    eventually(lambda: any("deleted or replaced" in message for message in watched.told.troubles()), 30)
    (watched.root / "late.md").write_text("A quincunx of lanterns.", "utf-8")
    eventually(lambda: watched.found("quincunx") == ["late.md"], 30)
    assert watched.found("kettle") == ["kettle.md"]
    assert not watched.errors


@pytest.mark.requirement("RG-17")
def test_an_index_whose_folder_is_deleted_is_built_anew(watched, eventually):
    shutil.rmtree(watched.db.parent)
    eventually(lambda: watched.found("kettle") == ["kettle.md"], 30)
    assert len(watched.told.troubles()) == 1


@pytest.mark.requirement("RG-17")
def test_another_index_in_the_place_of_the_one_in_use_is_left_as_it_is(watched, tmp_path):
    other = IndexedVault(tmp_path / "other")
    other.write_all({f"{n}.md": f"another vault {n}" for n in range(9)}).index()
    before = other.dump()
    shutil.move(other.db, watched.db)
    watched.thread.join(30)
    assert "belongs to another vault" in watched.errors[0].message
    other.db = watched.db
    assert other.dump() == before


def test_what_is_no_index_in_its_place_ends_the_worker_with_a_clear_error(watched):
    remove(watched.db, ["", "-wal", "-shm"])
    watched.db.write_text("a shopping list")
    watched.thread.join(30)
    assert "is not a Second Brain index" in watched.errors[0].message
    assert watched.db.read_text() == "a shopping list"


def test_a_sync_stops_writing_when_its_index_is_deleted(tmp_path):
    vault = IndexedVault(tmp_path).write_all({"a.md": "a"}).index()
    with vault.writer() as writer:
        vault.write("b.md", "b")
        vault.db.unlink()
        with pytest.raises(IndexUnavailable, match="deleted or replaced") as caught:
            vault.indexer(writer).sync()
    assert caught.value.replaced
    assert caught.value.hint


def test_nobody_mistakes_the_own_files_for_others(tmp_path):
    vault = IndexedVault(tmp_path).write_all({"a.md": "a"}).index()
    with vault.writer() as writer:
        files = OpenedFiles(writer.path, writer.path)
        for command in ("VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)"):
            writer.connection.execute(command)
            files.check()
        vault.found = vault.dump()
        files.check()


@pytest.mark.requirement("RG-17")
@pytest.mark.parametrize("during", ["words", "meaning"])
def test_a_disk_that_is_full_is_told_once_and_all_is_made_good_when_there_is_room(
    watched, monkeypatch, eventually, during
):
    from second_brain.index.writer import Writer

    method = {"words": "put_notes", "meaning": "put_vectors"}[during]
    real = getattr(Writer, method)
    full = threading.Event()
    full.set()

    def no_room(self, *args):
        if full.is_set():
            self.connection.execute("PRAGMA max_page_count = 1")
            try:
                with self.transaction() as connection:
                    connection.execute("CREATE TABLE filler AS SELECT zeroblob(10000000)")
            finally:
                self.connection.execute("PRAGMA max_page_count = 1073741823")
        return real(self, *args)

    monkeypatch.setattr(Writer, method, no_room)
    (watched.root / "late.md").write_text("A quincunx of lanterns.", "utf-8")
    eventually(watched.told.troubles, 30)
    time.sleep(1)
    assert len(watched.told.troubles()) == 1
    assert "disk is full" in watched.told.troubles()[0]
    assert watched.thread.is_alive()
    full.clear()
    eventually(lambda: watched.found("quincunx") == ["late.md"], 30)
    eventually(lambda: watched.told.count("embedded") == 2, 30)


@pytest.mark.requirement("RG-17")
def test_an_idle_worker_writes_nothing_to_the_index_and_still_says_how_it_is(watched, monkeypatch, eventually):
    (watched.root / "odd.md").write_bytes(b"---\ntags: [unclosed\n---\ntext")
    eventually(lambda: watched.found("text") == ["odd.md"], 30)
    eventually(lambda: watched.told.count("embedded") == 2, 30)
    eventually(lambda: len(graph_dump(watched.db)["notes"]) == 4 and not graph_dump(watched.db)["waiting"], 30)
    reader = apsw.Connection(str(watched.db), flags=apsw.SQLITE_OPEN_READONLY)
    brain = watched.brain()
    version = reader.execute("PRAGMA data_version").get
    first = brain.status()
    seen = set()
    for _ in range(3):
        (watched.root / ".secondbrainignore").write_text(f"Nothing{len(seen)}/\n", "utf-8")  # asks for a whole look
        eventually(lambda: brain.status()["worker"]["at"] not in seen, 30)
        seen.add(brain.status()["worker"]["at"])
        time.sleep(0.8)
    last = brain.status()
    assert reader.execute("PRAGMA data_version").get == version
    assert last["last_sync_timestamp"] > first["last_sync_timestamp"]
    assert last["worker"]["pid"] == os.getpid()
    assert last["worker"]["last_event"] is not None
    assert last["worker"]["watched_folders"] == 1
    watched.end()
    after = brain.status()
    assert after["worker"] == {}
    assert after["last_sync_timestamp"] >= last["last_sync_timestamp"]
    assert not [file.name for file in watched.db.parent.iterdir() if ".worker" in file.name]
    brain.close()
    reader.close()


@pytest.mark.requirement("RG-17")
@pytest.mark.parametrize("hidden", ["Private/", "heron.md"])
def test_a_changed_ignore_file_takes_effect_at_once_in_both_directions(watched, eventually, hidden):
    def edit(path, text):
        (watched.root / path).parent.mkdir(exist_ok=True)
        (watched.root / path).write_text(text, "utf-8")

    note = "Private/secret.md" if hidden == "Private/" else "heron.md"
    edit(note, "A quincunx of lanterns.")
    eventually(lambda: watched.found("quincunx") == [note], 30)
    edit(".secondbrainignore", hidden + "\n")
    eventually(lambda: watched.found("quincunx") == [], 30)
    edit(note, "A quincunx of lamps.")
    edit("kettle.md", "The kettle whistles.")
    eventually(lambda: watched.found("whistles") == ["kettle.md"], 30)
    assert watched.found("quincunx") == []
    (watched.root / ".secondbrainignore").unlink()
    eventually(lambda: watched.found("lamps") == [note], 30)
    edit(note, "A quincunx of candles.")
    eventually(lambda: watched.found("candles") == [note], 30)


def test_a_worker_that_was_killed_is_not_told_as_running(tmp_path):
    database = tmp_path / "index.db"
    child = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True)
    state = {"pid": os.getpid(), "at": time.time(), "mode": "polling"}
    worker_file.tell(database, state)
    assert worker_file.told(database) == state
    worker_file.tell(database, {**state, "pid": int(child.stdout)})
    assert worker_file.told(database) == {}
    worker_file.tell(database, {**state, "at": time.time() - 1_000})
    assert worker_file.told(database) == {}


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", '{"pid": "x", "at": 1}', '{"pid": -1, "at": 1e12}', '{"at": 1e999}']
)
def test_what_nobody_wrote_so_says_nothing(tmp_path, text):
    (tmp_path / "index.db.worker").write_text(text)
    assert worker_file.told(tmp_path / "index.db") == {}


def test_a_folder_that_takes_no_file_is_no_reason_to_stop(tmp_path):
    missing = tmp_path / "none" / "index.db"
    worker_file.tell(missing, {"pid": 1, "at": 1})
    worker_file.forget(missing)
    assert worker_file.told(missing) == {}
    worker_file.tell(tmp_path / "index.db", {"pid": os.getpid(), "at": time.time()})
    assert json.loads((tmp_path / "index.db.worker").read_text())["pid"] == os.getpid()


@pytest.mark.requirement("RG-6")
def test_a_model_that_takes_over_without_a_new_vector_gets_its_graph(tmp_path):
    vault = IndexedVault(tmp_path, embedder=StubEmbedder(16, name="former")).write_all({"a.md": "boat", "b.md": "boat"})
    vault.index()
    vault.embedder = StubEmbedder(16, name="newer")
    vault.index().graph()
    flags = {"db_path": str(vault.db), "chunk_size": vault.layout.size, "chunk_overlap": vault.layout.overlap}
    former = StubEmbedder(16, name="former")
    brain = SecondBrain(load(flags=flags, env={}, vault=str(vault.root)), embedder=former)
    stop = threading.Event()
    thread = threading.Thread(target=brain.watch, args=(stop, Told()))
    thread.start()
    deadline = time.monotonic() + 20
    while "former" not in (graph_dump(vault.db)["form"] or "") and time.monotonic() < deadline:
        time.sleep(0.05)
    stop.set()
    thread.join(30)
    assert former.fingerprint in graph_dump(vault.db)["form"]
    assert graph_dump(vault.db)["waiting"] == []
