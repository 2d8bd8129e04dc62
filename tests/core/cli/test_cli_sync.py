from __future__ import annotations

import signal

import pytest

from fake_ollama import Mode
from second_brain.errors import NoteUnreadable
from second_brain.vault.vault import Vault

FIELDS = [
    "processed",
    "skipped",
    "deleted",
    "errors",
    "graph_edges_updated",
    "moved",
    "embedded",
    "waiting",
    "warnings",
]


@pytest.fixture
def sync(cli, vault):
    return lambda *args: cli("--vault", vault, "--json", "sync", *args)


@pytest.mark.requirement("RG-10", "RG-16")
def test_each_mode_prints_what_it_did(sync, vault):
    first = sync("--words-only").json
    assert list(first) == FIELDS
    assert (first["processed"], first["skipped"], first["graph_edges_updated"]) == (5, 0, 0)
    again = sync("--words-only", "--mode", "incremental").json
    assert (again["processed"], again["skipped"]) == (0, 5)
    assert sync("--words-only", "--mode", "full").json["processed"] == 5
    (vault / "Inbox.md").unlink()
    (vault / "Home" / "Boiler.md").rename(vault / "Boiler.md")
    changed = sync("--words-only").json
    assert (changed["deleted"], changed["moved"]) == (1, 1)


@pytest.mark.requirement("RG-11")
def test_file_mode_takes_relative_and_absolute_paths_inside_the_vault(sync, vault):
    sync("--words-only")
    (vault / "Inbox.md").write_text("Sell the joists.\n", "utf-8")
    assert sync("--words-only", "--mode", "file", "--file-path", "Inbox.md").json["processed"] == 1
    (vault / "Inbox.md").write_text("Sell the felt.\n", "utf-8")
    assert sync("--words-only", "--mode", "file", "--file-path", vault / "Inbox.md").json["processed"] == 1
    (vault / "Inbox.md").unlink()
    assert sync("--words-only", "--mode", "file", "--file-path", "Inbox.md").json["deleted"] == 1
    outside = sync("--words-only", "--mode", "file", "--file-path", vault.parent / "x.md")
    assert (outside.code, outside.error["parameter"]) == (1, "file_path")


@pytest.mark.parametrize(
    ("flags", "parameter"),
    [(["--mode", "fast"], "mode"), (["--mode", "file"], "file_path"), (["--file-path", "Inbox.md"], "file_path")],
)
def test_wrong_modes_are_named(sync, flags, parameter):
    result = sync(*flags)
    assert (result.code, result.out, result.error["parameter"]) == (1, "", parameter)


def test_the_text_says_what_was_done_and_nothing_more(cli, vault, snapshot):
    result = cli("--vault", vault, "sync", "--words-only")
    assert (result.code, result.err) == (0, "")
    snapshot("sync", result.out)


def test_a_note_that_cannot_be_read_is_named_and_fails_nothing(cli, vault, monkeypatch):
    real = Vault.read

    def read(self, path, *args):
        if path == "Inbox.md":
            raise NoteUnreadable("Inbox.md cannot be read: permission denied.")
        return real(self, path, *args)

    monkeypatch.setattr(Vault, "read", read)
    result = cli("--vault", vault, "sync", "--words-only")
    assert result.code == 0
    assert "4 notes read" in result.out
    assert "Inbox.md" in result.err


def test_an_embedder_that_does_not_answer_is_a_warning(cli, vault, fake_ollama, monkeypatch):
    monkeypatch.setenv("SECOND_BRAIN_OLLAMA_URL", fake_ollama.url)
    fake_ollama.mode = Mode.DEAD
    result = cli("--vault", vault, "--json", "sync")
    assert (result.code, result.json["processed"], result.json["embedded"]) == (0, 5, 0)
    assert len(result.json["warnings"]) == 1
    text = cli("--vault", vault, "sync")
    assert (text.code, text.err.startswith("warning: ")) == (0, True)


def test_passages_are_embedded_and_counted(cli, vault, fake_ollama):
    result = cli("--vault", vault, "--embedder", "ollama", "sync", "--json")
    assert result.code == 0 or fake_ollama.url
    config = vault.parent / "settings.toml"
    config.write_text(f'ollama_url = "{fake_ollama.url}"\n', "utf-8")
    embedded = cli("--config", config, "--vault", vault, "--json", "sync").json
    assert embedded["embedded"] >= 5
    assert embedded["waiting"] == 0
    found = cli("--config", config, "--vault", vault, "--json", "search", "boiler pressure").json
    assert found["ranking"] == "best"
    assert found["hits"][0]["path"] == "Home/Boiler.md"
    assert found["hits"][0]["semantic_score"] > 0


@pytest.mark.slow
def test_ctrl_c_stops_cleanly_and_the_next_sync_goes_on(start, finished, vault, fake_ollama):
    for number in range(80):
        (vault / f"n{number}.md").write_text(f"# Note {number}\n\nSomething about joists, {number}.\n", "utf-8")
    fake_ollama.delay_s = 1.0
    fake_ollama.mode = Mode.SLOW
    env = {"SECOND_BRAIN_OLLAMA_URL": fake_ollama.url}
    process = start("--vault", vault, "sync", "--json", env=env)
    while not fake_ollama.embed_calls:
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert '"waiting"' in out
    assert "the next sync goes on" in err
    assert "Traceback" not in err
    fake_ollama.mode = Mode.OK
    after = finished("--vault", vault, "sync", "--json", env=env).json
    assert (after["processed"], after["waiting"]) == (0, 0)
    assert after["embedded"] > 0


def test_interrupted_while_reading_notes_it_ends_with_130(cli, vault, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("second_brain.service.SecondBrain.sync", interrupted)
    result = cli("--vault", vault, "sync")
    assert (result.code, result.out) == (130, "")
    assert "the next sync goes on" in result.err
