from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def other(tmp_path):
    """A second folder of the same name as the vault."""
    folder = tmp_path / "elsewhere" / "Notes"
    folder.mkdir(parents=True)
    return folder


@pytest.mark.parametrize("command", [["vaults", "add", "Notes"], ["config", "set", "vaults.Notes.path"]], ids=" ".join)
def test_the_name_of_the_default_vault_is_not_given_to_another(cli, vault, other, command):
    cli("init", "--vault", vault)
    before = Path("rag_config.toml").read_text("utf-8")
    refused = cli(*command, other)
    assert refused.code == 1
    assert f"Notes is the name of the default vault {vault} already" in refused.err
    assert "vaults add OTHER-NAME PATH" in refused.err
    assert Path("rag_config.toml").read_text("utf-8") == before
    assert cli("vaults", "add", "other", other).code == 0
    assert cli("vaults", "list", "--json").json["vaults"] == {"Notes": str(vault), "other": str(other)}


def test_the_default_vault_is_not_chosen_by_a_name_that_another_has(cli, vault, other):
    cli("vaults", "add", "Notes", other)
    refused = cli("config", "set", "vault_path", vault)
    assert refused.code == 1
    assert str(other) in refused.err
    assert cli("config", "get", "vault_path").out == f"{other}\n"


def test_the_default_vault_gets_an_entry_under_its_own_or_another_name(cli, vault):
    cli("init", "--vault", vault)
    assert cli("vaults", "add", "Notes", vault).code == 0
    assert cli("vaults", "remove", "Notes").code == 0
    assert cli("vaults", "add", "home", vault).code == 0
    assert cli("vaults", "list", "--json").json == {"chosen": "home", "vaults": {"home": str(vault)}}


def test_a_vault_of_the_table_moves_to_another_folder(cli, vault, other):
    cli("vaults", "add", "mine", vault)
    assert cli("vaults", "add", "mine", other).code == 0
    assert cli("vaults", "list", "--json").json["vaults"] == {"mine": str(other)}
