from __future__ import annotations

from pathlib import Path

import pytest

from second_brain.cli.app import run
from second_brain.service import SecondBrain


@pytest.fixture
def complete(monkeypatch, capsys):
    """The words that bash is offered behind a command line, as the completion script asks for them."""

    def complete(line):
        monkeypatch.setenv("_SECOND_BRAIN_COMPLETE", "bash_complete")
        monkeypatch.setenv("COMP_WORDS", f"second-brain {line}")
        monkeypatch.setenv("COMP_CWORD", str(len(f"second-brain {line}".split()) - (not line.endswith(" "))))
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            run([])
        monkeypatch.delenv("_SECOND_BRAIN_COMPLETE")
        said = capsys.readouterr()
        assert (ended.value.code, said.err) == (0, "")
        return [tuple(item.split(",", 1)) for item in said.out.splitlines() if item]

    return complete


@pytest.fixture
def configured(cli, vault):
    for name in ("notes", "work"):
        cli("vaults", "add", name, vault)
    cli("config", "set", "scopes.job.folders", "Home")


def plain(items):
    return [value for kind, value in items if kind == "plain"]


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("search --ranking ", ["best", "meaning", "words"]),
        ("search boiler --ranking m", ["meaning"]),
        ("sync --mode ", ["full", "incremental", "file"]),
        ("search --vault ", ["notes", "work", "demo"]),
        ("--vault w", ["work"]),
        ("--name ", ["notes", "work"]),
        ("search --scope ", ["job"]),
        ("vaults remove ", ["notes", "work"]),
        ("config set chunk_", ["chunk_size", "chunk_overlap"]),
        ("config get scopes.job.f", ["scopes.job.folders"]),
        ("config unset vaults.w", ["vaults.work.path", "vaults.work.db"]),
        ("config set ranking ", ["best", "meaning", "words"]),
        ("config set inline_tags ", ["true", "false"]),
        ("config set scopes.job.allow_sync t", ["true"]),
        ("config set chunk_size ", []),
        ("--embedder b", ["builtin"]),
    ],
)
def test_values_are_completed(complete, configured, line, offered):
    assert plain(complete(line)) == offered


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("--vault /t", "dir"),
        ("try /t", "dir"),
        ("vaults add x /t", "dir"),
        ("--config /t", "file"),
        ("--db /t", "file"),
    ],
)
def test_folders_and_files_are_left_to_the_shell(complete, configured, line, kind):
    assert complete(line) == [(kind, "/t")]


@pytest.mark.parametrize("content", ["chunk_size = [", "chunk_size = -1\n", "\xff"])
def test_a_broken_configuration_only_has_no_names(complete, content):
    Path("rag_config.toml").write_bytes(content.encode("latin-1"))
    assert plain(complete("search --vault ")) == ["demo"]
    assert complete("vaults remove ") == []
    assert plain(complete("config set chunk_s")) == ["chunk_size"]
    assert plain(complete("search --ranking b")) == ["best"]


def test_the_file_that_was_named_is_read(complete, vault):
    Path("mine.toml").write_text(f'[vaults.elsewhere]\npath = "{vault}"\n', "utf-8")
    assert plain(complete("--config mine.toml search --vault e")) == ["elsewhere"]
    assert plain(complete("--config none.toml search --vault ")) == ["demo"]


def test_no_index_is_opened_to_complete(complete, configured, monkeypatch):
    monkeypatch.setattr(SecondBrain, "__init__", None)
    assert plain(complete("search --vault n")) == ["notes"]
