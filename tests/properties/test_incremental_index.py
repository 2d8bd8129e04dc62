"""After any history of edits, moves, deletions and kills the index is that of a fresh run."""

from __future__ import annotations

import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crashing import CrashServer
from index_dump import logical_dump
from indexed_vault import IndexedVault
from second_brain.index import postings
from second_brain.vault.changes import Batch

pytestmark = [pytest.mark.slow, pytest.mark.requirement("RG-10", "RG-12", "RG-17", "FR-02", "T-9")]

NAMES = ("a.md", "b.md", "[.md", "Über uns.md", "c d.md")
FOLDERS = ("", "one", "one/deep", "two_", "twoX", "Ordner")
TEXTS = (
    "",
    "   \n",
    "# Same title\n\nsame words in several notes\n",
    "---\ntags: [a/b, c]\naliases: x\n---\nshort",
    "no heading at all, some words #inline",
    "# One\n\n" + "many different words here " * 30 + "\n\n## Two\n\n" + "other things entirely " * 30,
    "---\nbroken: [\n---\n# After\n",
    b"caf\xe9 in another code",
    b"\xff\xfeu\x00t\x00f\x00",
    "中文和日本語 mixed\n\n- [ ] task\n  - [[link|text]] ^anchor\n",
)

paths = st.builds(lambda folder, name: f"{folder}/{name}".lstrip("/"), st.sampled_from(FOLDERS), st.sampled_from(NAMES))
steps = st.one_of(
    st.tuples(st.just("write"), paths, st.sampled_from(TEXTS)),
    st.tuples(st.just("write"), paths, st.sampled_from(TEXTS)),
    st.tuples(st.just("append"), paths, st.sampled_from(["\nmore", "\n# Heading\n", " #tag"])),
    st.tuples(st.just("move"), paths, paths),
    st.tuples(st.just("swap"), paths, paths),
    st.tuples(st.just("move folder"), st.sampled_from(FOLDERS[1:]), st.sampled_from(FOLDERS[1:])),
    st.tuples(st.just("delete"), paths, st.none()),
    st.tuples(st.just("delete folder"), st.sampled_from(FOLDERS[1:]), st.none()),
    st.tuples(st.just("touch"), paths, st.integers(1_600_000_000, 1_700_000_000)),
    st.tuples(st.just("sync"), st.none(), st.none()),
    st.tuples(st.just("full sync"), st.none(), st.none()),
    st.tuples(st.just("look at"), st.sets(paths, max_size=6), st.none()),
    st.tuples(st.just("embed"), st.none(), st.none()),
    st.tuples(st.just("kill"), st.integers(1, 400), st.none()),
)


@dataclass
class History:
    """Carries the steps out, on the disk as a person or program would."""

    vault: IndexedVault
    server: CrashServer
    clock: int = 1_500_000_000

    def do(self, kind, one, other):
        getattr(self, kind.replace(" ", "_"))(one, other)

    def _stamp(self, place):
        """Every write gets a time of its own: what has the same size and time is the same to any indexer."""
        self.clock += 1
        os.utime(place, (self.clock, self.clock))

    def write(self, path, text):
        self._stamp(self.vault.write(path, text))

    def append(self, path, text):
        place = self.vault.root / path
        if place.exists():
            self.write(path, place.read_bytes() + text.encode())

    def move(self, path, new):
        place, target = self.vault.root / path, self.vault.root / new
        if place.exists() and not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            place.rename(target)

    def swap(self, path, other):
        one, two = self.vault.root / path, self.vault.root / other
        if path != other and one.exists() and two.exists():
            aside = one.with_suffix(".aside")
            one.rename(aside)
            two.rename(one)
            aside.rename(two)
            self._stamp(one)
            self._stamp(two)

    def move_folder(self, folder, new):
        place, target = self.vault.root / folder, self.vault.root / new
        if place.exists() and not target.exists() and not new.startswith(folder + "/"):
            target.parent.mkdir(parents=True, exist_ok=True)
            place.rename(target)

    def delete(self, path, _):
        (self.vault.root / path).unlink(missing_ok=True)

    def delete_folder(self, folder, _):
        shutil.rmtree(self.vault.root / folder, ignore_errors=True)

    def touch(self, path, when):
        place = self.vault.root / path
        if place.exists():
            os.utime(place, (when, when))

    def sync(self, *_):
        self.vault.sync()

    def full_sync(self, *_):
        self.vault.sync(full=True)

    def look_at(self, found, _):
        self.vault.look_at(Batch(paths=frozenset(found)))

    def embed(self, *_):
        self.vault.embed()

    def kill(self, statement, _):
        assert self.server.run("index", self.vault, kill_at=statement)["error"] == ""


@pytest.fixture(scope="module")
def server():
    with CrashServer() as running:
        yield running


@pytest.fixture
def narrow_merges(monkeypatch):
    monkeypatch.setattr(postings, "MERGE_WIDTH", 2)


def play(history, server, folder):
    vault = IndexedVault(folder, clock=iter(range(0, 10**9, 1000)).__next__)
    vault.write("stays.md", "a note that stays, so that no deletion looks like a lost disk")
    told = History(vault, server)
    for step in history:
        told.do(*step)
    vault.index()
    return vault


@pytest.mark.parametrize("width", [2, 12])
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(history=st.lists(steps, min_size=4, max_size=24))
def test_an_index_kept_through_any_history_equals_a_fresh_one(server, width, history):
    before = postings.MERGE_WIDTH
    postings.MERGE_WIDTH = width
    try:
        with tempfile.TemporaryDirectory() as folder:
            vault = play(history, server, folder)
            assert vault.dump() == vault.fresh_dump(Path(folder) / "fresh")
    finally:
        postings.MERGE_WIDTH = before


def test_merging_at_every_size_keeps_what_the_segments_held(tmp_path, narrow_merges):
    vault = IndexedVault(tmp_path)
    vault.write("nothing to index [.md", "")
    for number in range(40):
        vault.write(f"note {number % 13}.md", f"# Note {number}\n\nword{number} shared " + "text " * (number % 5))
        vault.write("!.md", "" if number % 2 else "?")
        vault.sync()
        if number % 7 == 3:
            (vault.root / f"note {(number * 5) % 13}.md").unlink(missing_ok=True)
    assert vault.index().dump() == vault.fresh_dump(tmp_path / "fresh")


def test_many_dead_notes_are_merged_away_with_their_terms(tmp_path):
    vault = IndexedVault(tmp_path).write_all({f"n{n}.md": f"unique{n} text" for n in range(260)})
    vault.sync()
    vault.write("stays.md", "stays")
    for number in range(240):
        (vault.root / f"n{number}.md").unlink()
    vault.sync()
    with vault.writer() as writer:
        assert writer.connection.execute("SELECT count(*) FROM terms WHERE term GLOB 'unique[0-9]*'").get == 20
        assert writer.connection.execute("SELECT sum(docs) FROM segments").get == 21
    assert vault.index().dump() == vault.fresh_dump(tmp_path / "fresh")


def test_a_dump_tells_two_indexes_apart(tmp_path):
    one = IndexedVault(tmp_path / "one").write_all({"a.md": "text of a", "b.md": "text of b"}).index()
    before = one.dump()
    for statement in (
        "UPDATE files SET title = 'other' WHERE path = 'a.md'",
        "DELETE FROM postings WHERE term = 'text'",
        "UPDATE texts SET text = 'text of c' WHERE doc = 1",
        "UPDATE vectors SET vector = zeroblob(64) WHERE id = 1",
        "DELETE FROM embeddings",
        "DELETE FROM chunks WHERE id = 1; DELETE FROM vectors WHERE chunk = 1",
        "INSERT INTO problems(path, reason) VALUES('a.md', 'odd')",
        "DELETE FROM names WHERE kind = 'stem'",
    ):
        shutil.copytree(one.db.parent, tmp_path / "changed")
        with IndexedVault(tmp_path / "scratch").writer():
            pass
        import apsw

        connection = apsw.Connection(str(tmp_path / "changed/index.db"))
        connection.execute(statement)
        connection.close()
        assert logical_dump(tmp_path / "changed/index.db") != before, statement
        shutil.rmtree(tmp_path / "changed")
