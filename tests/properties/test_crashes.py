"""Kill -9 at any point, then a rerun gives exactly the index of a fresh run."""

from __future__ import annotations

import random
import shutil

import pytest

from crashing import CrashServer
from index_dump import graph_dump
from indexed_vault import IndexedVault
from second_brain.indexing import indexer as indexing
from stub_embedder import StubEmbedder
from vaults import crash_notes

pytestmark = [pytest.mark.slow, pytest.mark.requirement("RG-10", "IDX")]

KILLS = 100
NOTE = "Areas/Home/lantern repair 1.md"


@pytest.fixture(scope="module")
def server():
    with CrashServer() as running:
        yield running


def set_back(vault, copy):
    shutil.rmtree(vault.db.parent, ignore_errors=True)
    shutil.copytree(copy, vault.db.parent)


def edit(vault):
    vault.write(
        NOTE, "---\ntags: [new, area/lantern]\naliases: [other]\n---\n# Lantern\n\n" + "bright words " * 90 + "\n"
    )


def break_yaml(vault):
    vault.write(NOTE, "---\ntags: [unclosed\n---\n# Lantern\n\ntext of it\n")


def add(vault):
    vault.write("Areas/new.md", "# New\n\nA new note with [[lantern repair 1]] and #tag.\n\n" + "more of it " * 60)


def rename(vault):
    (vault.root / NOTE).rename(vault.root / "Areas/renamed lantern.md")


def move(vault):
    (vault.root / "Areas/Home").rename(vault.root / "Areas/Boat")


def delete(vault):
    (vault.root / NOTE).unlink()


def touch(vault):
    text = (vault.root / NOTE).read_bytes()
    vault.write(NOTE, text, mtime=1_700_000_000)


@pytest.mark.parametrize("change", [edit, break_yaml, add, rename, move, delete, touch], ids=lambda f: f.__name__)
def test_a_sync_killed_at_every_statement_ends_as_a_fresh_index(tmp_path, server, change):
    vault = IndexedVault(tmp_path / "killed").write_all(dict(list(crash_notes.as_bytes().items())[:4])).index()
    shutil.copytree(vault.db.parent, tmp_path / "before")
    change(vault)
    expected = vault.fresh_dump(tmp_path / "fresh")
    number = 0
    while True:
        number += 1
        set_back(vault, tmp_path / "before")
        ended = server.run("index", vault, kill_at=number)
        assert ended["error"] == ""
        if not ended["killed"]:
            break
        vault.dump()  # in every state whole
        assert vault.index().dump() == expected, f"killed at statement {number}"
    assert vault.dump() == expected
    assert number > 20


def test_embedding_killed_at_every_statement_resumes_and_embeds_nothing_twice(tmp_path, server):
    vault = IndexedVault(tmp_path / "killed").write_all(dict(list(crash_notes.as_bytes().items())[:2]))
    vault.sync()
    shutil.copytree(vault.db.parent, tmp_path / "before")
    expected = vault.fresh_dump(tmp_path / "fresh")
    passages = sum(len(chunks) for chunks in expected["chunks"].values())
    number = 0
    while True:
        number += 1
        set_back(vault, tmp_path / "before")
        if not server.run("embed", vault, kill_at=number)["killed"]:
            break
        stored = vault.dump()["vectors"]
        vault.embedder = StubEmbedder(16)
        vault.embed()
        assert vault.embedder.texts == passages - len(stored)
        assert vault.dump() == expected, f"killed at statement {number}"
    assert number > 40


@pytest.mark.requirement("RG-6")
def test_an_update_of_the_graph_killed_at_every_statement_is_done_by_the_next(tmp_path, server):
    vault = IndexedVault(tmp_path / "killed").write_all(dict(list(crash_notes.as_bytes().items())[:6])).index()
    vault.graph()
    for change in (edit, add, move):
        change(vault)
    vault.index()
    shutil.copytree(vault.db.parent, tmp_path / "before")
    before = graph_dump(vault.db)
    vault.graph()
    expected = graph_dump(vault.db)
    assert expected["neighbours"] != before["neighbours"]
    kills = 0
    while True:
        set_back(vault, tmp_path / "before")
        ended = server.run("graph", vault, kill_at=kills + 1)
        assert ended["error"] == ""
        if not ended["killed"]:
            break
        kills += 1
        assert graph_dump(vault.db) in (before, expected)  # all of it, or nothing
        vault.graph()
        assert graph_dump(vault.db) == expected
    assert kills > 20


def test_a_model_switch_killed_at_every_statement_resumes(tmp_path, server):
    vault = IndexedVault(tmp_path / "killed").write_all(dict(list(crash_notes.as_bytes().items())[:2])).index()
    shutil.copytree(vault.db.parent, tmp_path / "before")
    vault.embedder = StubEmbedder(16, "second")
    expected = vault.fresh_dump(tmp_path / "fresh")
    number = 0
    while True:
        number += 1
        set_back(vault, tmp_path / "before")
        if not server.run("embed", vault, kill_at=number, embedder="second")["killed"]:
            break
        embeddings = vault.dump()["embeddings"]
        assert len({model for model, _ in embeddings.values()}) == 1
        assert len(embeddings) == len(expected["embeddings"])
        vault.embed()
        assert vault.dump() == expected, f"killed at statement {number}"
    assert number > 40


def test_kills_at_random_moments_of_a_whole_run_end_as_a_fresh_index(tmp_path, server):
    chance = random.Random(20260601)
    vault = IndexedVault(tmp_path / "killed").write_all(crash_notes.as_bytes())
    expected = vault.fresh_dump(tmp_path / "fresh")
    vault.sync()
    shutil.rmtree(vault.db.parent)
    seconds = server.run("index", vault)["seconds"]
    killed = rounds = 0
    while killed < KILLS:
        shutil.rmtree(vault.db.parent, ignore_errors=True)
        for _ in range(5):
            ended = server.run("index", vault, kill_after=chance.uniform(0, 0.9 * seconds))
            assert ended["error"] == ""
            killed += ended["killed"]
        rounds += 1
        assert rounds < 2 * KILLS
        assert vault.index().dump() == expected


def test_a_kill_between_the_batches_of_a_first_sync_keeps_what_is_done(tmp_path, server, monkeypatch):
    vault = IndexedVault(tmp_path / "killed").write_all(crash_notes.as_bytes())
    full = server.run("sync", vault)["statements"]
    shutil.rmtree(vault.db.parent)
    server.run("sync", vault, kill_at=full - 60)
    kept = len(vault.dump()["files"])
    assert indexing.FIRST_BATCH <= kept < len(crash_notes.as_bytes())
    report = vault.sync()
    assert report.processed == len(crash_notes.as_bytes()) - kept


@pytest.mark.parametrize("action", ["sync", "embed"])
def test_a_disk_that_fills_at_any_statement_is_told_in_words_and_loses_nothing(tmp_path, server, action):
    vault = IndexedVault(tmp_path / "full").write_all(dict(list(crash_notes.as_bytes().items())[:4])).index()
    shutil.copytree(vault.db.parent, tmp_path / "before")
    for number in range(2):
        vault.write(f"Large {number}.md", f"# Large {number}\n\n" + f"- some words of text {number}\n" * 1000)
    if action == "embed":
        vault.sync()
        shutil.rmtree(tmp_path / "before")
        shutil.copytree(vault.db.parent, tmp_path / "before")
    expected = vault.fresh_dump(tmp_path / "fresh")
    statements = server.run(action, vault)["statements"]
    full = 0
    for number in range(1, statements, max(1, statements // 25)):
        set_back(vault, tmp_path / "before")
        before = vault.dump()
        ended = server.run(action, vault, fill_disk_at=number)
        assert not ended["killed"]
        if ended["error"]:
            full += 1
            assert "disk is full" in ended["error"]
            assert str(vault.db) in ended["error"]
            after = vault.dump()
            assert {path: after["files"][path] for path in before["files"]} == before["files"]
        assert vault.index().dump() == expected
    assert full > 5
