from __future__ import annotations

import hashlib
from pathlib import Path

import pytest


def fingerprint(folder):
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return hashlib.sha256(b"".join(str(path).encode() + path.read_bytes() for path in files)).hexdigest()


@pytest.mark.requirement("RG-15")
def test_init_writes_a_configuration_and_a_data_folder_here(cli, vault, tmp_path):
    result = cli("init", "--vault", vault, "--json")
    made = result.json
    assert (result.code, result.err) == (0, "")
    assert made["initialized"] is True
    assert made["overwritten"] is False
    assert made["config_path"] == str(tmp_path / "work" / "rag_config.toml")
    assert Path(made["data_dir"]).is_dir()
    assert cli("config", "get", "vault_path").out == f"{vault}\n"
    assert cli("sync", "--words-only").code == 0
    assert (tmp_path / "work" / "data" / "second-brain.db").is_file()


@pytest.mark.requirement("RG-15")
def test_an_existing_configuration_is_kept_unless_forced(cli, vault):
    cli("init", "--vault", vault)
    refused = cli("init", "--vault", vault)
    assert refused.code == 1
    assert "--force" in refused.err
    assert cli("init", "--vault", vault, "--force", "--json").json["overwritten"] is True


def test_init_in_a_vault_writes_nothing_into_it(cli, vault, monkeypatch, home, snapshot):
    monkeypatch.chdir(vault)
    before = fingerprint(vault)
    result = cli("init")
    assert fingerprint(vault) == before
    assert str(home / "conf" / "second-brain" / "config.toml") in result.out
    assert str(home / "share" / "second-brain") in result.out
    snapshot("init-in-vault", result.out)


def test_the_values_and_where_they_came_from(cli, vault, monkeypatch):
    cli("init", "--vault", vault)
    cli("config", "set", "chunk_size", "300")
    monkeypatch.setenv("SECOND_BRAIN_SNIPPET_CHARS", "200")
    values = cli("--embedder", "builtin", "config", "show", "--json").json["values"]
    shown = {name: (values[name]["value"], values[name]["origin"]) for name in values}
    assert shown["chunk_size"] == (300, "file")
    assert shown["snippet_chars"] == (200, "env")
    assert shown["embedder"] == ("builtin", "flag")
    assert shown["hotkey"][1] == "default"
    assert "chunk_size = 300  # file\n" in cli("config", "show").out


def test_set_and_unset_keep_the_file_and_its_comments(cli, vault):
    cli("init", "--vault", vault)
    text = Path("rag_config.toml").read_text("utf-8")
    assert cli("config", "set", "exclude_status", "archived, done").code == 0
    assert cli("config", "get", "exclude_status").out == "archived\ndone\n"
    assert cli("config", "unset", "exclude_status").code == 0
    assert "# The folder of the vault" in Path("rag_config.toml").read_text("utf-8")
    assert len(Path("rag_config.toml").read_text("utf-8").splitlines()) >= len(text.splitlines()) - 1


@pytest.mark.parametrize(
    ("args", "parameter"),
    [
        (["set", "chunk_sise", "3"], "chunk_sise"),
        (["set", "chunk_size", "many"], "chunk_size"),
        (["get", "nope"], "key"),
    ],
)
def test_unknown_keys_and_wrong_values_are_named(cli, args, parameter):
    result = cli("config", *args, "--json")
    assert (result.code, result.out, result.error["parameter"]) == (1, "", parameter)


def test_a_broken_file_can_be_mended_by_set(cli, tmp_path):
    file = tmp_path / "work" / "rag_config.toml"
    file.write_text('chunk_size = "many"\n', "utf-8")
    broken = cli("config", "show", "--json")
    assert (broken.code, broken.error["parameter"]) == (1, "chunk_size")
    assert cli("config", "set", "chunk_size", "300").code == 0
    assert cli("config", "show").code == 0


def test_the_path_of_the_configuration(cli, vault, home):
    missing = cli("config", "path")
    assert missing.out == f"{home / 'conf' / 'second-brain' / 'config.toml'}\n"
    assert "second-brain init" in missing.err
    cli("init", "--vault", vault)
    assert cli("config", "path", "--json").json == {"config_path": str(Path.cwd() / "rag_config.toml"), "exists": True}


def test_vaults_are_added_chosen_and_removed(cli, vault, tmp_path):
    other = tmp_path / "Other"
    other.mkdir()
    (other / "a.md").write_text("# Alpha\n", "utf-8")
    assert cli("vaults", "add", "notes", vault).code == 0
    assert cli("vaults", "add", "other", other).code == 0
    listed = cli("vaults", "list", "--json").json
    assert listed == {"chosen": "notes", "vaults": {"notes": str(vault), "other": str(other)}}
    assert cli("vaults", "list").out.startswith(f"* notes            {vault}\n")
    assert cli("--name", "other", "sync", "--words-only", "--json").json["processed"] == 1
    assert cli("--vault", "other", "search", "alpha", "--ranking", "words", "--paths").out == "a.md\n"
    assert cli("vaults", "remove", "other").code == 0
    assert cli("vaults", "list", "--json").json["vaults"] == {"notes": str(vault)}
    assert (other / "a.md").is_file()


@pytest.mark.parametrize(
    "args", [["vaults", "remove", "none"], ["vaults", "add", "x", "/no/such/folder"], ["--name", "none", "status"]]
)
def test_what_does_not_exist_is_named(cli, vault, args):
    cli("vaults", "add", "notes", vault)
    result = cli(*args)
    assert result.code == 1
    assert result.err.startswith("error: ")


def test_a_named_scope_brings_its_vault_and_ranking(cli, vault, tmp_path):
    other = tmp_path / "Other"
    (other / "Job").mkdir(parents=True)
    (other / "Job" / "a.md").write_text("# Boiler alpha\n", "utf-8")
    cli("vaults", "add", "notes", vault)
    cli("vaults", "add", "other", other)
    for key, value in (("vault", "other"), ("folders", "Job"), ("ranking", "words")):
        assert cli("config", "set", f"scopes.work.{key}", value).code == 0
    cli("--vault", "other", "sync", "--words-only")
    found = cli("--scope", "work", "search", "boiler", "--json").json
    assert [hit["path"] for hit in found["hits"]] == ["Job/a.md"]
    assert found["ranking"] == "words"


def test_every_vault_and_scope_is_shown_under_the_keys_that_set_takes(cli, vault):
    cli("vaults", "add", "notes", vault)
    given = {"folders": ["Home", "Cluster"], "tags": ["home"], "vault": "notes", "ranking": "words", "allow_sync": True}
    for key, value in given.items():
        text = ",".join(value) if isinstance(value, list) else str(value)
        assert cli("config", "set", f"scopes.at work.{key}", text).code == 0
    shown = cli("config", "show").out.splitlines()
    assert f'vaults.notes.path = "{vault}"  # file' in shown
    assert "vaults.notes.db = (not set)  # file" in shown
    assert 'scopes.at work.folders = ["Home", "Cluster"]  # file' in shown
    values = cli("config", "show", "--json").json["values"]
    for key, value in {**given, "excluded": [], "profile": "core"}.items():
        assert values[f"scopes.at work.{key}"] == {"value": value, "origin": "file"}
        assert cli("config", "get", f"scopes.at work.{key}", "--json").json["value"] == value


def test_a_change_tells_the_former_value(cli):
    first = cli("config", "set", "exclude_globs", "Templates/**").out
    assert 'It was [".obsidian/**"' in first
    assert 'It was ["Templates/**"] before.' in cli("config", "set", "exclude_globs", "Archive/**").out
    assert "before" not in cli("config", "set", "exclude_globs", "Archive/**").out
    cli("config", "set", "scopes.a.b.folders", "Home")
    assert 'It was ["Home"] before.' in cli("config", "set", "scopes.a.b.folders", "Cluster").out
    assert "It was" not in cli("config", "set", "vault_path", ".").out


def test_the_former_value_is_told_without_a_password(cli):
    cli("config", "set", "ollama_url", "http://user:hunter2@127.0.0.1:9")
    told = cli("config", "set", "ollama_url", "http://127.0.0.1:9").out
    assert 'It was "http://***@127.0.0.1:9" before.' in told


@pytest.mark.parametrize(
    ("key", "value", "again"),
    [
        ("inline_tags", "false", True),
        ("redact_patterns", "secret[0-9]+", True),
        ("chunk_size", "100", False),
        ("exclude_status", "draft", False),
        ("exclude_globs", "Templates/**", False),
        ("embedder", "ollama", False),
        ("follow_symlinks", "true", False),
    ],
)
def test_a_change_that_makes_all_notes_be_read_again_says_so(cli, vault, key, value, again):
    cli("init", "--vault", vault)
    cli("sync", "--words-only")
    told = cli("config", "set", key, value).out
    assert ("The next sync reads all notes again." in told) is again
    assert cli("sync", "--words-only", "--json").json["processed"] == (5 if again else 0)
