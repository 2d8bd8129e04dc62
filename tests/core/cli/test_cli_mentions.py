from __future__ import annotations

import shlex

import pytest


@pytest.fixture
def hub(cli, vault):
    """The vault with more notes about radiators, indexed by words."""
    lines = [f"Day {number}: looked at [[Radiators]] and at the valve on the landing.\n" for number in range(12)]
    (vault / "Home" / "Log.md").write_text("# Log\n\n## Winter\n\n" + "\n".join(lines), "utf-8")
    (vault / "Plan.md").write_text("---\nabout:\n  - '[[Radiators]]'\n---\n- [ ] the radiators, again\n", "utf-8")
    assert cli("--vault", vault, "sync", "--words-only").code == 0
    return lambda *args: cli("--vault", vault, *args)


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("mentions", ["mentions", "Radiators"]),
        ("mentions-budget", ["mentions", "Radiators", "--budget", "90"]),
        ("mentions-unlinked", ["mentions", "Heating", "--unlinked"]),
        ("mentions-unwritten", ["mentions", "Nowhere"]),
        ("mentions-none", ["mentions", "Inbox"]),
    ],
)
def test_the_text_is_as_stored(hub, snapshot, name, args):
    result = hub(*args)
    assert (result.code, result.err) == (0, "")
    snapshot(name, result.out)


def test_the_mentions_of_the_demo_vault_are_as_stored(cli, tmp_path, snapshot):
    where = ("--vault", "demo", "--db", tmp_path / "demo.db")
    assert cli("sync", "--words-only", *where).code == 0
    snapshot("mentions-demo", cli("mentions", "Mira", "--budget", "420", *where).out)


def test_json_is_the_whole_answer(hub):
    found = hub("mentions", "Radiators", "--json", "--budget", "90").json
    assert (found["resolved_path"], found["total"], found["notes"]) == ("Home/Radiators.md", 14, 3)
    assert sum(one["mentions"] for one in found["shown"]) + sum(note["count"] for note in found["map"]) == 14
    assert set(found["next"]) == {"paths", "after", "budget_tokens"}


@pytest.mark.parametrize("flags", [[], ["--unlinked"]])
def test_the_last_line_is_the_command_that_goes_on(hub, flags):
    told = []
    line = shlex.join(["mentions", "Radiators", "--budget", "70", *flags])
    while line:
        result = hub(*shlex.split(line))
        assert result.code == 0
        told += [text for text in result.out.splitlines() if text.startswith(("Day", "Top it up", "  - '[[", "- [ ]"))]
        line = result.out.splitlines()[-1].partition("next: second-brain ")[2]
    assert len(told) == (14 if not flags else 1)
    assert len(set(told)) == len(told)


def test_notes_to_look_in_and_a_place_to_go_on_from(hub):
    assert hub("mentions", "Radiators", "--in", "Plan", "--json").json["total"] == 1
    assert hub("mentions", "Radiators", "--in", "Plan", "--in", "Boiler", "--json").json["total"] == 2
    assert hub("mentions", "Radiators", "--after", "Home/Log.md:9", "--json").json["total"] == 10


@pytest.mark.requirement("SV-14")
@pytest.mark.parametrize(
    "args",
    [["mentions", "Nobody"], ["mentions", "Radiators", "--in", "Nobody"], ["mentions", "Radiators", "--after", "x"]],
)
def test_what_cannot_be_found_is_an_error(hub, args):
    result = hub(*args)
    assert (result.code, result.out) == (1, "")
    assert result.err.startswith("error: ")


def test_a_budget_must_be_a_number(hub):
    assert hub("mentions", "Radiators", "--budget", "much").code == 2


def test_folders_to_skip_and_endings_come_from_the_configuration(hub, monkeypatch):
    monkeypatch.setenv("VAULT_SKIP_FOLDERS", "Home")
    assert hub("mentions", "Radiators", "--json").json["total"] == 1
    monkeypatch.setenv("VAULT_SKIP_FOLDERS", "")
    before = hub("mentions", "Plan", "--unlinked", "--json").json["total"]
    monkeypatch.setenv("VAULT_NAME_ENDINGS", "e,t")
    assert before == 0
    assert hub("mentions", "Boiler", "--unlinked", "--json").json["total"] == 1


def test_control_characters_of_notes_never_reach_a_terminal(hub, vault, monkeypatch):
    (vault / "Evil.md").write_text("[[Radiators]] \x1b[2J\x07", "utf-8")
    assert hub("sync", "--words-only").code == 0
    monkeypatch.setattr("second_brain.cli.output.sys.stdout.isatty", lambda: True, raising=False)
    assert "\x1b[2J" not in hub("mentions", "Radiators", "--in", "Evil").out


def test_a_note_whose_name_looks_like_an_option_can_be_asked_for(hub, vault):
    (vault / "--all.md").write_text("x", "utf-8")
    (vault / "n.md").write_text("[[--all]]\n\n[[--all]] and more", "utf-8")
    assert hub("sync", "--words-only").code == 0
    result = hub("mentions", "--budget", "4", "--", "--all")
    line = result.out.splitlines()[-1].partition("next: second-brain ")[2]
    assert hub(*shlex.split(line)).code == 0
