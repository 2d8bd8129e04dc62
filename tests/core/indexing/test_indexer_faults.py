"""What can happen to a vault: the index follows what is sure, keeps what is doubtful, and says so."""

from __future__ import annotations

import os
import shutil

import apsw
import pytest

from indexed_vault import IndexedVault
from second_brain.errors import InvalidParameter, NoteUnreadable, NotFound, VaultUnavailable
from second_brain.index import connection as connections
from second_brain.indexing.indexer import FORMER_TEXTS_LEFT
from second_brain.vault.changes import CONFIRM_AFTER_S, Batch
from second_brain.vault.redaction import Redaction
from second_brain.vault.vault import Vault


class Clock:
    now = 1_000.0

    def __call__(self):
        return self.now


@pytest.fixture
def vault(tmp_path):
    vault = IndexedVault(tmp_path, clock=Clock())
    return vault.write_all(
        {f"{folder}/{n}.md": f"# {n}\n\ntext {n}" for folder in ("one", "two") for n in range(5)}
    ).index()


def paths(vault):
    return set(vault.dump()["files"])


@pytest.fixture
def unreadable(monkeypatch):
    """Paths that cannot be read for now; works for root too."""
    denied = set()
    read = Vault.read

    def guarded(self, path):
        if path in denied:
            raise NoteUnreadable(f"The note {path} cannot be read: Permission denied", hint="Check its permissions.")
        return read(self, path)

    monkeypatch.setattr(Vault, "read", guarded)
    return denied


@pytest.mark.requirement("RG-10", "SV-15")
def test_an_unreadable_note_keeps_what_the_index_has_stops_no_other_and_is_named(vault, unreadable):
    before = vault.dump()
    unreadable.add("one/1.md")
    vault.write("one/1.md", "changed but not readable")
    vault.write("one/2.md", "changed")
    report = vault.sync()
    assert report.errors == ["one/1.md: The note one/1.md cannot be read: Permission denied"]
    after = vault.dump()
    assert after["texts"]["one/1.md"] == before["texts"]["one/1.md"]
    assert after["texts"]["one/2.md"] != before["texts"]["one/2.md"]
    assert "Permission denied" in after["problems"]["one/1.md"][0]


@pytest.mark.requirement("RG-10")
@pytest.mark.parametrize("full", [True, False])
def test_a_note_that_can_be_read_again_is_a_problem_no_more_even_when_its_time_stamp_says_nothing(
    vault, unreadable, tmp_path, full
):
    unreadable.add("one/1.md")
    if not full:
        vault.write("one/1.md", "other", mtime=5)
    vault.sync(full=full)
    assert "one/1.md" in vault.dump()["problems"]
    unreadable.clear()
    vault.sync()
    assert vault.dump()["problems"] == {}
    vault.embed()
    assert vault.dump() == vault.fresh_dump(tmp_path / "fresh")


@pytest.mark.requirement("RG-10")
def test_an_unreadable_note_that_is_deleted_is_a_problem_no_more(vault, unreadable):
    unreadable.add("one/new.md")
    vault.write("one/new.md", "x")
    vault.sync()
    assert "one/new.md" in vault.dump()["problems"]
    (vault.root / "one/new.md").unlink()
    vault.sync()
    assert vault.dump()["problems"] == {}


@pytest.mark.requirement("RG-10")
def test_a_missing_vault_raises_and_the_index_stays(vault):
    before = vault.dump()
    shutil.move(vault.root, vault.root.with_name("away"))
    with pytest.raises(VaultUnavailable) as refused:
        vault.sync()
    assert str(vault.root) in refused.value.message
    assert vault.dump() == before


def test_a_vault_that_goes_away_under_a_look_raises_and_the_index_stays(vault):
    before = vault.dump()
    with vault.writer() as writer:
        indexer = vault.indexer(writer)
        shutil.move(vault.root, vault.root.with_name("away"))
        with pytest.raises(VaultUnavailable):
            indexer.look_at(Batch(paths=frozenset({"one/1.md"})))
    assert vault.dump() == before


@pytest.mark.requirement("RG-10")
@pytest.mark.parametrize("look", ["sync", "a few paths", "all paths"])
def test_an_empty_folder_in_the_vaults_place_deletes_nothing_however_long(vault, look):
    before = vault.dump()
    known = paths(vault)
    shutil.move(vault.root, vault.root.with_name("away"))
    vault.root.mkdir()
    for _ in range(3):
        vault.clock.now += 10 * CONFIRM_AFTER_S
        if look == "sync":
            report = vault.sync()
        else:
            chosen = sorted(known)[:2] if look == "a few paths" else known
            report = vault.look_at(Batch(paths=frozenset(chosen)))
        assert report.frozen
        assert "stay in the index" in report.frozen
    assert vault.dump() == before
    vault.root.rmdir()
    shutil.move(vault.root.with_name("away"), vault.root)
    assert not vault.sync().frozen
    assert vault.dump() == before


@pytest.mark.requirement("RG-10")
@pytest.mark.parametrize("look", ["sync", "all paths"])
def test_all_notes_gone_at_once_waits_for_a_second_look(vault, look):
    known = frozenset(paths(vault))
    for place in vault.root.iterdir():
        shutil.rmtree(place)

    def once():
        return vault.sync() if look == "sync" else vault.look_at(Batch(paths=known))

    assert "second look" in once().frozen
    assert paths(vault) == known
    vault.clock.now += CONFIRM_AFTER_S + 1
    report = once()
    assert (report.frozen, report.deleted) == ("", 10)
    assert paths(vault) == set()


def test_a_vault_copied_to_another_disk_is_the_same_vault(vault, tmp_path):
    shutil.copytree(vault.root, vault.root.with_name("copy"))
    shutil.rmtree(vault.root)
    vault.root.with_name("copy").rename(vault.root)
    report = vault.sync()
    assert (report.frozen, report.deleted, report.processed) == ("", 0, 0)
    (vault.root / "one/1.md").unlink()
    assert vault.sync().deleted == 1


@pytest.mark.requirement("RG-10")
def test_a_folder_that_cannot_be_listed_deletes_nothing_and_is_named(vault, monkeypatch):
    scandir = os.scandir

    def guarded(place):
        if str(place).endswith("/one"):
            raise PermissionError(13, "Permission denied")
        return scandir(place)

    monkeypatch.setattr(os, "scandir", guarded)
    (vault.root / "two/1.md").unlink()
    report = vault.sync()
    assert paths(vault) == {f"one/{n}.md" for n in range(5)} | {f"two/{n}.md" for n in (0, 2, 3, 4)}
    assert any("one" in error and "cannot be read" in error for error in report.errors)
    assert vault.dump()["problems"]["one"][1] == 1
    monkeypatch.undo()
    vault.sync()
    assert vault.dump()["problems"] == {}


def test_a_loop_of_links_ends(vault):
    (vault.root / "one/self").symlink_to(vault.root)
    (vault.root / "one/note.md").symlink_to(vault.root / "one/note.md")
    vault.sync()
    assert len(paths(vault)) == 10


# -- one file


@pytest.mark.requirement("RG-11")
@pytest.mark.parametrize("absolute", [True, False])
def test_one_file_is_written_changed_and_deleted(vault, absolute):
    argument = str(vault.root / "one/new.md") if absolute else "one/new.md"

    def sync():
        with vault.writer() as writer:
            return vault.indexer(writer).sync_file(argument)

    vault.write("one/new.md", "first")
    vault.write("two/0.md", "changed too, but not asked for")
    assert sync().processed == 1
    vault.write("one/new.md", "second")
    assert sync().processed == 1
    assert vault.dump()["texts"]["one/new.md"][0] == "second"
    assert sync().skipped == 1
    (vault.root / "one/new.md").unlink()
    assert sync().deleted == 1
    assert vault.dump()["texts"]["two/0.md"][0] == "# 0\n\ntext 0"
    with pytest.raises(NotFound):
        sync()


@pytest.mark.requirement("RG-11")
def test_a_file_that_is_excluded_by_now_is_removed(vault):
    vault.exclude = ("one/**",)
    with vault.writer() as writer:
        assert vault.indexer(writer).sync_file("one/1.md").deleted == 1
    assert "one/1.md" not in paths(vault)
    assert "one/2.md" in paths(vault)
    vault.sync()
    assert paths(vault) == {f"two/{n}.md" for n in range(5)}


@pytest.mark.requirement("RG-11")
@pytest.mark.parametrize("argument", ["../outside.md", "/etc/hosts", "one/../../x.md", "", "a\0b"])
def test_a_file_outside_the_vault_is_refused(vault, argument):
    with vault.writer() as writer, pytest.raises(InvalidParameter) as refused:
        vault.indexer(writer).sync_file(argument)
    assert refused.value.parameter == "file_path"


# -- identical notes, moves


@pytest.mark.requirement("RG-12")
def test_identical_notes_are_independent(vault, tmp_path):
    vault.write("one/twin.md", "the same text")
    vault.write("two/twin.md", "the same text")
    vault.write("three/other name.md", "the same text")
    vault.index()
    (vault.root / "one/twin.md").unlink()
    vault.write("two/twin.md", "not the same any more")
    vault.index()
    assert vault.dump() == vault.fresh_dump(tmp_path / "fresh")
    assert vault.dump()["texts"]["three/other name.md"][0] == "the same text"


@pytest.mark.requirement("FR-02", "RG-17", "T-9")
def test_a_moved_folder_is_re_keyed_without_a_second_reading(vault, monkeypatch):
    (vault.root / "one").rename(vault.root / "renamed")
    reads = []
    read = Vault.read
    monkeypatch.setattr(Vault, "read", lambda self, path: (reads.append(path), read(self, path))[1])
    report = vault.sync()
    assert (report.moved, report.processed, report.deleted) == (5, 0, 0)
    assert sorted(reads) == sorted(f"renamed/{n}.md" for n in range(5))


@pytest.mark.requirement("FR-10", "T-9")
def test_a_move_takes_tags_and_date_along(vault):
    vault.write("one/tagged.md", "---\ntags: [a/b]\n---\n#inline", mtime=1_700_000_000)
    vault.sync()

    def dates():
        with vault.reader() as reader:
            return reader.connection.execute("SELECT content_mtime FROM files WHERE path LIKE '%tagged.md'").get

    assert dates() == 1_700_000_000
    (vault.root / "two/sub").mkdir()
    (vault.root / "one/tagged.md").rename(vault.root / "two/sub/tagged.md")
    os.utime(vault.root / "two/sub/tagged.md", (1_800_000_000, 1_800_000_000))
    vault.sync()
    assert dates() == 1_700_000_000
    tags = vault.dump()["tags"]
    assert {row[0] for row in tags["two/sub/tagged.md"]} == {"a/b", "inline"}
    assert "one/tagged.md" not in tags


@pytest.mark.requirement("FR-02")
def test_a_changed_note_replaces_its_tags(vault):
    vault.write("one/0.md", "---\ntags: [first, both]\n---\n")
    vault.sync()
    vault.write("one/0.md", "---\ntags: [second, both]\n---\n")
    vault.sync()
    assert [row[0] for row in vault.dump()["tags"]["one/0.md"]] == ["both", "second"]


@pytest.mark.requirement("RG-17")
def test_a_look_at_both_ends_of_a_move_re_keys_the_note(vault, tmp_path):
    (vault.root / "one/1.md").rename(vault.root / "two/moved.md")
    report = vault.look_at(Batch(paths=frozenset({"one/1.md", "two/moved.md"})))
    assert (report.moved, report.deleted, report.processed) == (1, 0, 0)
    vault.embed()
    assert vault.dump() == vault.fresh_dump(tmp_path / "fresh")


def test_a_worker_that_outlives_a_model_switch_cuts_notes_for_the_new_model_only(vault, tmp_path):
    from second_brain.indexing.embed import Embedding
    from second_brain.model import Layout
    from stub_embedder import StubEmbedder

    vault.layout = Layout(20, 4)
    vault.embedder = StubEmbedder(8, "second")
    with vault.writer() as writer:
        indexer = vault.indexer(writer)
        indexer.sync()
        Embedding(writer, vault.embedder, vault.layout).run()
        vault.write("one/1.md", "changed after the switch " * 20)
        indexer.look_at(Batch(paths=frozenset({"one/1.md"})))
        Embedding(writer, vault.embedder, vault.layout).run()
    assert vault.dump() == vault.fresh_dump(tmp_path / "fresh")


def test_a_quiet_sync_reads_no_note(vault, monkeypatch):
    monkeypatch.setattr(Vault, "read", None)
    assert vault.sync().skipped == 10


def test_a_full_sync_replaces_the_index_of_another_vault(tmp_path):
    first = IndexedVault(tmp_path / "first")
    for number in range(8):
        first.write(f"{number}.md", f"heron {number}\n")
    first.sync()
    other = IndexedVault(tmp_path / "other")
    other.write("boat.md", "the boat\n")
    other.db = first.db
    with pytest.raises(InvalidParameter, match="another vault"):
        other.sync()
    report = other.sync(full=True)
    assert (report.processed, report.deleted, report.frozen) == (1, 8, "")
    assert other.sync().processed == 0


@pytest.mark.requirement("RG-13")
def test_a_note_that_is_redacted_later_alone_leaves_nothing_behind(tmp_path):
    vault = IndexedVault(tmp_path)
    vault.write("a.md", "the code is zanzibarite today\n")
    vault.write("b.md", "nothing here\n")
    vault.sync()
    careful = IndexedVault(tmp_path, redact=("zanzibarite",))
    careful.look_at(Batch(paths=frozenset({"a.md"})))
    vault_file = (vault.root / "a.md").read_text()
    (vault.root / "a.md").write_text(vault_file + "more\n")
    careful.look_at(Batch(paths=frozenset({"a.md"})))
    stored = b"".join(file.read_bytes() for file in vault.db.parent.iterdir())
    assert b"zanzibarite" not in stored


@pytest.mark.requirement("RG-13", "SV-15")
def test_a_pattern_that_never_ends_hides_its_note_and_stops_no_other(tmp_path, monkeypatch):
    monkeypatch.setattr("second_brain.vault.redaction.LIMIT_S", 0.2)
    vault = IndexedVault(tmp_path, redact=("(a|aa)+$",))
    vault.write("hostile.md", "a" * 60 + "!\n")
    vault.write("other.md", "the boat\n")
    report = vault.sync()
    assert report.processed == 1
    assert "takes longer" in report.errors[0]


@pytest.mark.requirement("RG-13")
def test_a_text_that_a_reader_keeps_in_the_file_is_told_and_removed_by_the_next_sync(tmp_path, monkeypatch):
    monkeypatch.setattr(connections, "BUSY_MS", 50)
    vault = IndexedVault(tmp_path).write_all({"a.md": "the secret lighthouse", "b.md": "harmless"}).index()
    reading = apsw.Connection(str(vault.db), flags=apsw.SQLITE_OPEN_READONLY)
    reading.execute("BEGIN; SELECT count(*) FROM texts")
    vault.redact = Redaction(["lighthouse"])
    assert FORMER_TEXTS_LEFT in vault.sync().errors
    reading.close()
    assert vault.sync().errors == []
    files = [path for path in vault.db.parent.iterdir() if path.name.startswith(vault.db.name)]
    assert all(b"lighthouse" not in path.read_bytes() for path in files)
