from __future__ import annotations

import apsw
import pytest

from second_brain.embedding.ollama import OllamaEmbedder, OllamaState

STATUS_FIELDS = {
    "watch_enabled",
    "watcher_state",
    "watcher_last_event",
    "max_context_chunks",
    "model",
    "model_available",
    "index_size",
    "last_sync_timestamp",
    "last_tracked_files",
    "stale_files",
    "untracked_files",
    "missing_files",
    "graph_nodes",
    "graph_edges",
    "graph_last_built",
}


@pytest.mark.requirement("RG-9")
def test_status_has_the_15_fields_and_changes_nothing(ask, indexed):
    before = {path: path.stat().st_mtime_ns for path in indexed.rglob("*")}
    found = ask("status", "--json").json
    assert set(found) >= STATUS_FIELDS
    assert (found["last_tracked_files"], found["stale_files"], found["untracked_files"]) == (5, 0, 0)
    assert found["last_sync_timestamp"] > 0
    (indexed / "Inbox.md").write_text("changed\n", "utf-8")
    (indexed / "New.md").write_text("new\n", "utf-8")
    (indexed / "Home" / "Boiler.md").unlink()
    after = ask("status", "--json").json
    assert (after["stale_files"], after["untracked_files"], after["missing_files"]) == (1, 1, 1)
    assert before.keys() - {indexed / "Home" / "Boiler.md"} <= set(indexed.rglob("*"))


def test_status_as_text(ask, snapshot, indexed):
    (indexed / "New.md").write_text("new\n", "utf-8")
    result = ask("status")
    assert (result.code, result.err) == (0, "")
    assert "notes     5 indexed, 3 links\nchanges   1 new since the last sync" in result.out
    snapshot("status", result.out)


@pytest.mark.requirement("FR-44")
def test_status_tells_the_scope_and_warns_when_it_is_empty(ask):
    inside = ask("status", "--scope", "Home")
    assert "Home" in inside.out
    assert "2 indexed" in inside.out
    empty = ask("status", "--scope", "Nowhere")
    assert empty.code == 0
    assert "No note lies in the scope Nowhere" in empty.err


@pytest.mark.requirement("RG-16")
def test_health_prints_exactly_three_keys(ask):
    assert ask("health", "--json").json == {"qdrant": False, "ollama": False, "fts": True}
    assert "word index    ok" in ask("health").out


def test_health_of_no_index_is_an_answer(cli, vault):
    assert cli("--vault", vault, "health", "--json").json["fts"] is False


def test_doctor_ends_with_1_when_something_failed(cli, vault, tmp_path):
    failed = cli("--vault", vault, "--embedder", tmp_path / "work" / ".", "doctor", "--json")
    assert failed.code == 1
    checks = {check["name"]: check for check in failed.json["checks"]}
    assert not checks["index"]["passed"]
    assert not checks["embedder"]["passed"]
    assert checks["vault"]["passed"]
    text = cli("--vault", vault, "--embedder", tmp_path / "work" / ".", "doctor")
    assert text.code == 1
    assert "FAIL  index" in text.out


@pytest.mark.requirement("NFR-3")
def test_doctor_looks_at_every_value_and_names_the_way_out(cli, indexed, cli_db):
    connection = apsw.Connection(str(cli_db))
    connection.execute("UPDATE links SET kind = 'none of ours'")
    connection.close()
    said = cli("--vault", indexed, "doctor")
    assert said.code == 1
    assert "FAIL  index" in said.out
    assert "sync --mode full" in said.out


def test_doctor_asks_a_server_that_is_not_there_no_more_than_once(cli, indexed, monkeypatch):
    pings = []
    hangs = OllamaState(reachable=False, problem="It hangs.")
    monkeypatch.setattr(OllamaEmbedder, "ping", lambda self: pings.append(self) or hangs)
    monkeypatch.setattr(OllamaEmbedder, "embed_query", lambda self, text: pytest.fail("asked for a vector"))
    said = cli("--vault", indexed, "--embedder", "ollama", "doctor")
    assert said.code == 1
    assert "FAIL  embedder" in said.out
    assert "It hangs." in said.out
    assert len(pings) == 1


def test_the_size_of_the_index_counts_what_stands_in_its_log(cli, indexed, cli_db):
    log = cli_db.with_name(cli_db.name + "-wal")
    reader = apsw.Connection(str(cli_db))
    reader.execute("BEGIN; SELECT count(*) FROM files")
    try:
        (indexed / "New.md").write_text("new words\n" * 20_000, "utf-8")
        cli("--vault", indexed, "sync", "--words-only")
        assert log.stat().st_size > 100_000
        found = cli("--vault", indexed, "status", "--json").json
        assert found["database_bytes"] >= cli_db.stat().st_size + log.stat().st_size
    finally:
        reader.close()


def test_what_a_killed_watch_left_is_gone_after_the_next_sync(cli, indexed, cli_db):
    left = cli_db.with_name(cli_db.name + ".worker")
    left.write_text("{}")
    cli("--vault", indexed, "sync", "--words-only")
    assert not left.exists()


def test_without_an_index_the_way_out_is_named(cli, vault):
    for command in (["status"], ["search", "boiler"], ["read", "Boiler"], ["query", "boiler"], ["tags"]):
        result = cli("--vault", vault, *command)
        assert result.code == 1
        assert "second-brain sync" in result.err


def test_without_a_vault_the_way_out_is_named(cli):
    result = cli("sync")
    assert result.code == 1
    assert "--vault" in result.err


def test_the_last_sync_is_told_of_the_whole_vault_alone(ask):
    assert "\nlast sync just now\n" in ask("status").out
    assert "\nlast sync" not in ask("status", "--scope", "Home").out


def test_one_note_in_one_folder_is_said_so(cli, tmp_path):
    (tmp_path / "One" / "Only").mkdir(parents=True)
    (tmp_path / "One" / "a.md").write_text("# Alpha\n", "utf-8")
    cli("--vault", tmp_path / "One", "sync", "--words-only")
    said = cli("--vault", tmp_path / "One", "doctor").out
    assert " 1 note in 2 folders: " in said
    assert " 1 note: " in said


def test_where_a_hit_stands_is_said_once(ask):
    told = ask("search", "boiler", "--why-not", "Boiler", "--ranking", "words")
    assert told.out == "Home/Boiler.md:\n  It is hit 1.\n"


def test_notes_that_are_shut_out_later_are_not_called_removed(cli, indexed):
    (indexed / ".secondbrainignore").write_text("Cluster/\n", "utf-8")
    assert cli("--vault", indexed, "sync", "--words-only").out.startswith(
        "0 notes read, 3 unchanged, 2 no longer indexed."
    )
