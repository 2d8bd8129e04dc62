from __future__ import annotations

import re

import pytest

OUTSIDE = ("Cluster", "Inbox", "Upgrade", "Draining", "5 notes", "3 notes")
SCOPED = [
    ["status"],
    ["health"],
    ["doctor"],
    ["config", "show"],
    ["vaults", "list"],
    ["search", "boiler"],
    ["query", "boiler"],
    ["read", "Boiler"],
    ["links", "Boiler"],
    ["tags"],
    ["folders"],
    ["search", "boiler", "--why-not", "Boiler"],
    ["sync"],
    ["watch"],
    ["try", "", "boiler"],
]


@pytest.mark.requirement("FR-44")
@pytest.mark.parametrize("as_json", [[], ["--json"]], ids=["text", "json"])
@pytest.mark.parametrize("command", SCOPED, ids=" ".join)
def test_a_scoped_call_says_the_same_whatever_lies_outside(cli, vault, command, as_json):
    said = []
    for change in ("none", "more", "broken"):
        if change == "more":
            (vault / "Cluster" / "More.md").write_text("# More\n\nboiler #secret [[Boiler]]\n", "utf-8")
        if change == "broken":
            (vault / "Cluster" / "More.md").chmod(0)
            (vault / "Cluster" / "Upgrade.md").unlink()
        assert cli("--vault", vault, "sync", "--words-only").code == 0
        result = cli("--vault", vault, "--scope", "Home", *command, *as_json)
        text = re.sub(r"\d+ ms|ago|just now", "", result.out + result.err)
        said.append((result.code, re.sub(r"process \d+", "", text)))
    assert said[0] == said[1] == said[2]
    assert not [word for word in OUTSIDE if word in said[0][1]]


@pytest.mark.requirement("FR-44")
@pytest.mark.parametrize(
    "command", [["sync"], ["sync", "--mode", "file", "--file-path", "Inbox.md"], ["watch"], ["try", "", "x"]]
)
def test_what_works_on_the_whole_vault_refuses_a_scope_before_it_says_anything(cli, vault, command):
    result = cli("--vault", vault, "--scope", "Home", *command, "--json")
    assert (result.code, result.out) == (1, "")
    assert result.error["parameter"] == "scope"
    assert "without it" in result.error["hint"]
    assert cli("--vault", vault, "status").code == 1  # nothing was made


def test_doctor_in_a_scope_counts_the_scope_alone(ask):
    assert "5 notes in" in ask("--embedder", "builtin", "doctor").out
    scoped = ask("--embedder", "builtin", "--scope", "Home", "doctor").out
    assert "ok    index             2 notes: " in scoped
    assert not re.search(r"[^2] notes|folders: ", scoped)


@pytest.mark.requirement("FR-44")
@pytest.mark.parametrize("target", ["Cluster/Upgrade.md", "Upgrade", "Cluster/Nothing.md", "Nothing"])
@pytest.mark.parametrize(
    "command", [["search", "boiler", "--why-not"], ["read"], ["links"]], ids=lambda command: command[-1]
)
def test_a_note_outside_the_scope_looks_like_none(ask, command, target):
    hidden = ask("--scope", "Home", *command, target)
    absent = ask("--scope", "Home", *command, target.replace("Upgrade", "Nothing"))
    assert (hidden.code, hidden.out) == (1, "")
    assert hidden.err.replace("Upgrade", "Nothing") == absent.err


@pytest.mark.parametrize(
    "filters",
    [
        ["--folder", "nosuch"],
        ["--exclude-folder", "nosuch"],
        ["folder:nosuch"],
        ["x -folder:nosuch"],
        ["--tag", "nosuch"],
        ["--exclude-tag", "nosuch"],
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("target", ["Boiler", "nothing"])
def test_why_not_checks_the_filters_as_a_search_does(ask, filters, target):
    plain = ask("search", "boiler", *filters)
    asked = ask("search", "boiler", *filters, "--why-not", target)
    assert (asked.code, asked.out, asked.err) == (plain.code, plain.out, plain.err)
    assert plain.code == 1


@pytest.mark.requirement("FR-44")
@pytest.mark.parametrize(
    "command",
    [
        ["search", "boiler"],
        ["query", "boiler"],
        ["read", "Boiler"],
        ["links", "Boiler"],
        ["tags"],
        ["folders"],
        ["status"],
    ],
)
def test_a_misspelt_scope_is_named_and_no_folder_is_given_away(ask, command):
    err = ask("--scope", "Hom", *command).err
    assert err.startswith("warning: No note lies in the scope Hom.")
    assert "Home" not in err
    assert "embedded" not in err


def test_a_misspelt_scope_is_near_a_configured_one(ask, cli):
    cli("config", "set", "scopes.household.folders", "Home")
    assert "Did you mean the scope household?" in ask("--scope", "houshold", "search", "boiler").err
    assert ask("--scope", "household", "search", "boiler", "--ranking", "words").err == ""
