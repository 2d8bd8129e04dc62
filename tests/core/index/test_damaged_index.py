"""Damaged and full: each has a clear message, and nothing of value is lost."""

from __future__ import annotations

import contextlib
import os
import random
import subprocess
from datetime import UTC, datetime
from types import SimpleNamespace

import apsw
import numpy as np
import pytest

from crashing import CrashServer
from indexed_vault import IndexedVault
from second_brain.config import load
from second_brain.errors import IndexUnavailable, InvalidParameter, NotFound
from second_brain.index import catalog, checking, exact, postings, vectors
from second_brain.index.opening import open_writer
from second_brain.index.reader import open_reader
from second_brain.model import Layout, Scope
from second_brain.search.engine import search
from second_brain.search.request import from_arguments
from second_brain.search.vocabulary import facets, schema_block
from second_brain.service import SecondBrain
from stub_embedder import StubEmbedder
from vaults import crash_notes

pytestmark = pytest.mark.requirement("IDX")


@pytest.fixture
def vault(tmp_path):
    return IndexedVault(tmp_path).write_all({"a.md": "# A\n\nriver text", "in/b.md": "lantern"}).index()


def note_count(vault):
    with vault.reader() as reader:
        return catalog.note_count(reader)


def now():
    return datetime(2026, 6, 1, tzinfo=UTC)


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


def damage_words(path):
    """What a page of zeros inside of a long row looks like, which SQLite's own check does not see."""
    connection = apsw.Connection(str(path))
    connection.execute("UPDATE postings SET data = zeroblob(length(data)) WHERE term = 'words'")
    connection.close()


def damage_a_row_of_words(path):
    connection = apsw.Connection(str(path))
    connection.execute("UPDATE postings SET data = substr(data, 1, length(data) - 3) WHERE term = 'words'")
    connection.close()


@pytest.mark.requirement("FR-23")
@pytest.mark.parametrize(
    "damage",
    [damage_garbage, damage_cut, damage_header, damage_tables, damage_words, damage_a_row_of_words],
    ids=lambda f: f.__name__,
)
def test_a_damaged_database_is_named_kept_aside_and_rebuilt_by_a_full_sync(tmp_path, damage):
    vault = IndexedVault(tmp_path).write_all({f"{n}.md": f"river {n} " + "words " * 300 for n in range(30)}).index()
    brain = second_brain(vault)
    damage(vault.db)
    with pytest.raises(IndexUnavailable) as refused:
        use(vault)
    damaged = vault.db.read_bytes()
    assert str(vault.db) in refused.value.message
    assert "sync --mode full" in refused.value.hint
    with brain.writer(rebuild_damaged=True) as writer:
        vault.indexer(writer).sync(full=True)
    kept = list(vault.db.parent.glob("index.db.damaged-*"))
    assert [place.read_bytes() for place in kept] == [damaged]
    assert note_count(vault) == 30
    brain.close()


def second_brain(vault):
    config = load(flags={"vault_path": str(vault.root), "db_path": str(vault.db)}, env={})
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


def words_of_ones(data):
    return b"\xff" * len(data)


def words_cut_behind_the_notes(data):
    return data[: 4 * (1 + int.from_bytes(data[:4], "little"))]


def words_of_another_count(data):
    return bytes([data[0] ^ 0x80]) + data[1:]


def words_and_more(data):
    return data + b"\0" * 4


def no_words(data):
    return b""


@pytest.mark.parametrize(
    "damage",
    [words_of_ones, words_cut_behind_the_notes, words_of_another_count, words_and_more, no_words],
    ids=lambda f: f.__name__,
)
def test_a_damaged_row_of_the_word_index_is_told_by_a_search_and_mended_by_a_full_sync(tmp_path, damage):
    vault = IndexedVault(tmp_path).write_all({f"{n}.md": f"#t river {n} words" for n in range(20)}).index()
    brain = second_brain(vault)
    connection = apsw.Connection(str(vault.db))
    before = connection.execute("SELECT data FROM postings WHERE term = 'words'").get
    connection.execute("UPDATE postings SET data = ? WHERE term = 'words'", (damage(before),))
    connection.close()
    with pytest.raises(IndexUnavailable) as told:
        use(vault)
    assert told.value.damaged
    with brain.writer(rebuild_damaged=True) as writer:
        vault.indexer(writer).sync(full=True)
    use(vault)


def test_random_bytes_in_the_word_index_give_an_answer_or_a_clear_error():
    dice = random.Random(5)
    told = 0
    for _ in range(3_000):
        head = dice.choice((b"", dice.randint(0, 6).to_bytes(4, "little")))
        data = head + b"".join(
            dice.choice((dice.randint(0, 3), dice.getrandbits(32))).to_bytes(4, "little")
            for _ in range(dice.randint(0, 14))
        )
        try:
            found = postings._decode(data)
        except apsw.CorruptError:
            told += 1
        else:
            assert len(found.docs) == len(found.fields) == len(found.body_tf) > 0
            assert len(found.positions) == found.body_tf.sum()
    assert 1_000 < told < 3_000


VECTOR = np.full(16, 0.25, dtype="<f4")


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("vector", (VECTOR * np.nan).tobytes()),
        ("vector", (VECTOR * np.inf).tobytes()),
        ("vector", (VECTOR * 0).tobytes()),
        ("vector", (VECTOR * 1e30).tobytes()),
        ("vector", VECTOR[:-1].tobytes()),
        ("vector", VECTOR.tobytes()[:-1]),
        ("vector", b""),
        ("text_hash", b"short"),
    ],
    ids=["not a number", "infinite", "zero", "huge", "a number short", "a byte short", "empty", "hash"],
)
@pytest.mark.parametrize("rows_first", [0, 10**9])
def test_a_damaged_vector_never_is_a_fault_of_the_program_and_alone_is_made_anew_by_a_full_sync(
    tmp_path, monkeypatch, column, value, rows_first
):
    monkeypatch.setattr(vectors, "ROWS_FIRST", rows_first)
    vault = IndexedVault(tmp_path).write_all({f"{n}.md": f"#t river {n} words" for n in range(6)})
    brain = second_brain(vault)
    brain.sync()
    whole = vault.dump()
    connection = apsw.Connection(str(vault.db))
    connection.execute(f"UPDATE vectors SET {column} = ? WHERE chunk = 3", (value,))
    if column == "vector":
        connection.execute("UPDATE embeddings SET vector = ? WHERE path = '2.md'", (value,))
    connection.close()
    with contextlib.suppress(IndexUnavailable):
        use(vault)
    outcome = brain.sync("full")
    assert not list(vault.db.parent.glob("*.damaged-*"))
    assert outcome.vectors.embedded == 1
    use(vault)
    assert vault.dump() == whole
    brain.close()


NOT_UTF8 = "CAST(x'41FF42' AS TEXT)"


@pytest.mark.parametrize(
    "damage",
    [
        f"UPDATE names SET name = {NOT_UTF8}",
        f"UPDATE files SET title = {NOT_UTF8}",
        f"UPDATE tags SET tag = tag || {NOT_UTF8}",
        f"UPDATE headings SET text = {NOT_UTF8}",
        "UPDATE headings SET path = 'no list'",
        f"UPDATE links SET target = {NOT_UTF8}",
        "UPDATE links SET kind = 'none of ours'",
        "UPDATE chunks SET heading_path = 'no list'",
        "UPDATE chunks SET doc = 'garden' || id",
        "UPDATE chunks SET start_line = 'garden'",
        "UPDATE chunks SET start_line = -9223372036854775807",
        "UPDATE chunks SET start = 5, stop = 3",
        "UPDATE headings SET path = 'null'",
        "UPDATE chunks SET heading_path = '-1'",
        "UPDATE files SET properties = '[]'",
        "UPDATE files SET properties = 'null'",
        "UPDATE files SET mtime = 9e999",
        "UPDATE files SET content_mtime = -1e300",
        "UPDATE links SET doc = -1 WHERE doc = 2",
        "DELETE FROM texts WHERE doc = 2",
        "DELETE FROM segments",
        "UPDATE segments SET id = 0 WHERE id = 1",
        "UPDATE models SET dim = -1",
        "UPDATE models SET dim = 4294967296",
        "UPDATE models SET dim = 17",
        "UPDATE embeddings SET vector = NULL",
        "UPDATE meta SET value = 'x' WHERE key = 'last_doc'",
        "UPDATE meta SET value = '0' WHERE key = 'last_doc'",
        "DELETE FROM meta WHERE key = 'last_doc'",
        "INSERT OR REPLACE INTO meta VALUES('missing_since', 'x')",
        "UPDATE files SET path = NULL WHERE doc = 3",
        "UPDATE files SET words = 'many'",
        "UPDATE files SET mtime = 'yesterday'",
        "UPDATE files SET properties = 'no map'",
        f"UPDATE problems SET reason = {NOT_UTF8}",
        f"UPDATE frontmatter SET value = {NOT_UTF8}, folded = {NOT_UTF8}",
        f"UPDATE terms SET term = term || {NOT_UTF8} WHERE term = 'words'",
    ],
)
def test_nonsense_in_any_column_never_is_a_fault_of_the_program_and_is_seen_by_doctor(tmp_path, damage):
    vault = IndexedVault(tmp_path)
    vault.write_all(
        {f"{n}.md": f"---\nmood: calm\n---\n# River\n\n#t river {n} words [[{n + 1}]]" for n in range(6)}
    ).index()
    brain = second_brain(vault)
    asked = [
        lambda: use(vault),
        lambda: brain.links("1"),
        lambda: brain.read("1"),
        lambda: brain.rag(answer=False, query="river words", filters={"properties": {"mood": "calm"}}),
        brain.status,
        brain.facets,
    ]
    for ask in asked:
        with contextlib.suppress(InvalidParameter):
            ask()
    with vault.writer() as writer:
        writer.put_unreadable("1.md", "the disk")
    connection = apsw.Connection(str(vault.db))
    connection.execute(damage)
    assert connection.changes()
    connection.close()
    for ask in asked[1:]:  # the first one writes, which may mend it
        try:
            ask()
        except (InvalidParameter, NotFound):
            continue
        except IndexUnavailable as error:
            assert error.damaged, error.message
    with pytest.raises(IndexUnavailable) as told:
        checking.check_file(vault.db)
    assert told.value.damaged
    with contextlib.suppress(IndexUnavailable):
        brain.sync()
    brain.sync("full")
    use(vault)
    checking.check_file(vault.db)
    brain.close()


def test_a_fault_of_the_program_is_not_taken_for_damage(vault):
    faults = [
        lambda: int("no number"),
        b"\xff".decode,
        lambda: {}["a fault of ours"],
        lambda: reader.connection.execute("SELECT vector FROM vectors v JOIN embeddings e"),
    ]
    with vault.reader() as reader:
        pass
    reader = open_reader(vault.db, Scope())
    for fault in faults:
        with pytest.raises((ValueError, KeyError, apsw.SQLError)), reader.snapshot():
            fault()
    reader.close()
    brain = second_brain(vault)
    with pytest.raises(KeyError), brain.writer():
        raise KeyError("a fault of ours")
    brain.close()


def test_a_state_is_looked_through_once_for_all_its_surprises(vault, monkeypatch):
    looked = []
    check_file = checking.check_file
    monkeypatch.setattr(checking, "check_file", lambda path: looked.append(path) or check_file(path))
    reader = open_reader(vault.db, Scope())
    for _ in range(3):
        with pytest.raises(KeyError), reader.snapshot(), reader.snapshot():
            raise KeyError("a fault of ours")
    assert len(looked) == 1
    reader.close()


def test_passages_that_point_everywhere_leave_their_note_without_a_direction_and_undamaged(tmp_path):
    class Opposite(StubEmbedder):
        def embed_documents(self, texts):
            self._count(len(texts))
            return np.array([[(-1.0) ** number] + [0.0] * 15 for number, _ in enumerate(texts)], dtype=np.float32)

    vault = IndexedVault(tmp_path, embedder=Opposite(16), layout=Layout(4, 0))
    vault.write("a.md", "# A\n\none one one one\n\n# B\n\ntwo two two two")
    vault.index()
    with vault.reader() as reader:
        assert vectors.embedded(reader, vectors.active_model(reader)) == (4, 4)
        assert reader.connection.execute("SELECT count(*) FROM embeddings").get == 0
    checking.check_file(vault.db)


def test_columns_that_others_added_are_theirs(tmp_path):
    vault = IndexedVault(tmp_path).write_all({"a.md": "river"}).index()
    connection = apsw.Connection(str(vault.db))
    connection.execute(
        'ALTER TABLE files ADD COLUMN "their own" VARCHAR(20); ALTER TABLE tags ADD COLUMN text_of_theirs TEXT'
    )
    connection.execute('UPDATE files SET "their own" = 3')
    connection.close()
    open_writer(vault.db, rebuild_damaged=True).close()
    assert not list(vault.db.parent.glob("*.damaged-*"))


@pytest.mark.slow
def test_a_zeroed_page_anywhere_is_told_or_harmless_and_always_found_by_a_full_check(tmp_path):
    vault = IndexedVault(tmp_path)
    vault.write_all(
        {f"{n}.md": f"---\ntags: [t]\n---\nriver {n} [[{n}]]" + f" words w{n}" * 300 for n in range(12)}
    ).index()
    brain = second_brain(vault)
    whole = vault.db.read_bytes()
    size = int.from_bytes(whole[16:18], "big")
    told = 0
    for page in range(1, len(whole) // size, 3):
        vault.db.write_bytes(whole[: page * size] + b"\0" * size + whole[(page + 1) * size :])
        for suffix in ("-wal", "-shm"):
            vault.db.with_name(vault.db.name + suffix).unlink(missing_ok=True)
        try:
            use(vault)
        except IndexUnavailable as error:
            assert error.damaged, error.message
            assert str(vault.db) in error.message
            told += 1
        with brain.writer(rebuild_damaged=True) as writer:
            vault.indexer(writer).sync(full=True)
        assert note_count(vault) == 12
        use(vault)
    assert told > 10


def test_a_zeroed_page_that_opening_does_not_meet_is_found_by_a_rebuilding_writer(tmp_path):
    vault = IndexedVault(tmp_path)
    vault.write_all({f"{n}.md": f"river {n}" + " words" * 300 for n in range(12)}).index()
    whole = vault.db.read_bytes()
    root = apsw.Connection(str(vault.db)).execute("SELECT rootpage FROM sqlite_schema WHERE name = 'vectors'").get
    vault.db.write_bytes(whole[: (root - 1) * 4096] + b"\0" * 4096 + whole[root * 4096 :])
    open_writer(vault.db).close()
    for count in (1, 2):
        open_writer(vault.db, rebuild_damaged=True).close()
        assert len(list(vault.db.parent.glob("index.db.damaged-*"))) == count
        vault.db.write_bytes(b"damaged again, within the same second")


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
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=600k", "tmpfs", place], capture_output=True, check=False
    )
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


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE postings SET data = 7 WHERE term = 'words'",
        "UPDATE files SET path = NULL WHERE path = '1.md'",
        "UPDATE tags SET tag = CAST(x'ff41' AS TEXT)",
        "UPDATE links SET kind = x'31'",
        "UPDATE chunks SET doc = x'0102' WHERE id = 3",
    ],
)
def test_a_value_of_another_kind_is_mended_by_a_full_sync(tmp_path, damage):
    text = "---\ntags: [t]\n---\nriver [[b]] words " + "words " * 100
    vault = IndexedVault(tmp_path).write_all({f"{n}.md": text for n in range(6)}).index()
    connection = apsw.Connection(str(vault.db))
    connection.execute(damage)
    connection.close()
    brain = second_brain(vault)
    with brain.writer(rebuild_damaged=True) as writer:
        vault.indexer(writer).sync(full=True)
    brain.close()
    assert len(list(vault.db.parent.glob("index.db.damaged-*"))) == 1
    vault.embed()
    assert vault.dump() == vault.fresh_dump(tmp_path / "fresh")


@pytest.mark.requirement("T-9", "FR-02")
@pytest.mark.parametrize("keeps_form", [True, False])
@pytest.mark.parametrize("count", [1, 60])
def test_rows_that_the_first_versions_program_wrote_in_between_are_read_anew(tmp_path, count, keeps_form):
    vault = IndexedVault(tmp_path).write_all({f"{n:02}.md": f"river {n}" for n in range(80)}).index()
    connection = apsw.Connection(str(vault.db))
    if keeps_form:
        connection.execute("UPDATE files SET doc = NULL WHERE path < ?", (f"{count:02}.md",))
    else:
        connection.execute(
            "INSERT OR REPLACE INTO files(path, content_hash, content_mtime, mtime, size, extracted, indexed_at)"
            " SELECT path, content_hash, content_mtime, mtime, size, extracted, indexed_at FROM files WHERE path < ?",
            (f"{count:02}.md",),
        )
    connection.close()
    assert vault.sync().processed == count
    assert note_count(vault) == 80
    assert vault.sync(full=True).processed == 80
