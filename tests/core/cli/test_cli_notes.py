from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("read", ["read", "Heating"]),
        ("read-outline", ["read", "Radiators", "--outline"]),
        ("read-section", ["read", "Radiators", "--section", "Bleeding"]),
        ("links", ["links", "Boiler"]),
        ("tags", ["tags"]),
        ("folders", ["folders"]),
    ],
)
def test_the_text_is_as_stored(ask, snapshot, name, args):
    result = ask(*args)
    assert result.code == 0
    snapshot(name, result.out)


def test_the_whole_note_goes_into_a_pipe_unchanged(ask, indexed):
    assert ask("read", "Home/Boiler.md", "--full").out == (indexed / "Home" / "Boiler.md").read_text("utf-8")


def test_lines_of_a_note(ask):
    assert ask("read", "Radiators", "--lines", "11-12").out.splitlines()[0].startswith("Lowest floor first")
    assert ask("read", "Radiators", "--json", "--lines", "11").json["end_line"] == 11


def test_a_budget_cuts_and_says_how_to_go_on(ask):
    result = ask("read", "Radiators", "--full", "--budget", "20")
    assert result.code == 0
    assert "--lines " in result.err


@pytest.mark.parametrize(
    "flags",
    [["--lines", "x"], ["--lines", "3", "--full"], ["--outline", "--section", "Bleeding"], ["--budget", "much"]],
)
def test_misuse_ends_with_2(ask, flags):
    assert ask("read", "Radiators", *flags).code == 2


@pytest.mark.parametrize("command", ["read", "links"])
def test_an_unknown_note_is_an_error_with_near_names(ask, command):
    result = ask(command, "Radiatros", "--json")
    assert (result.code, result.error["code"]) == (1, "not_found")
    assert result.error["options"]


@pytest.mark.parametrize("target", ["../../etc/passwd", "/etc/passwd", "Home/../../x"])
def test_nothing_outside_the_vault_is_read(ask, target):
    assert ask("read", target).code == 1


def test_links_as_json_hold_both_directions(ask):
    found = ask("links", "Radiators", "--json").json
    assert (found["outgoing"], found["backlinks"]) == ([], ["Home/Boiler.md"])
    assert ask("links", "Boiler", "--json").json["unresolved"] == ["Nowhere"]


def test_a_scope_hides_other_notes(ask):
    assert ask("read", "Upgrade", "--scope", "Home").code == 1
    assert ask("tags", "--scope", "Home", "--json").json == {"home": 1, "home/repairs": 1, "howto": 1}
