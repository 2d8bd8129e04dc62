from __future__ import annotations

import os
from xml.etree import ElementTree as ET

import pytest


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("related", ["related", "Radiators"]),
        ("related-none", ["related", "Inbox"]),
        ("connections", ["connections", "Boiler", "Radiators"]),
        ("connections-none", ["connections", "Boiler", "Upgrade"]),
        ("map", ["map"]),
        ("orphans", ["orphans"]),
        ("links-figures", ["links"]),
        ("links-unresolved", ["links", "--unresolved"]),
        ("related-json", ["related", "Radiators", "--json"]),
        ("connections-json", ["connections", "Boiler", "Radiators", "--json"]),
        ("map-json", ["map", "--json"]),
        ("orphans-json", ["orphans", "--json"]),
        ("links-json", ["links", "Boiler", "--json"]),
        ("links-figures-json", ["links", "--json"]),
        ("links-unresolved-json", ["links", "--unresolved", "--json"]),
    ],
)
def test_the_graph_is_told_as_stored(ask, snapshot, name, args):
    result = ask(*args)
    assert result.code == 0
    snapshot(name, result.out + result.err)


def test_a_chain_is_told_step_by_step(ask, indexed):
    (indexed / "House.md").write_text("[[Boiler]] and [[Inbox]]", "utf-8")
    found = ask("connections", "Inbox", "Radiators", "--json").json
    assert found["path"] == ["Inbox.md", "Home/Boiler.md", "Home/Radiators.md"]
    assert [(step["src"], step["dst"]) for step in found["path_edges"]] == [
        ("Inbox.md", "Home/Boiler.md"),
        ("Home/Boiler.md", "Home/Radiators.md"),
    ]
    text = ask("connections", "Inbox", "Radiators").out
    assert "by a chain of 3 notes" in text
    assert "1 note links to both" in text


@pytest.mark.parametrize("command", [["related", "Radiators"], ["map"]], ids=["related", "map"])
@pytest.mark.parametrize("theme", ["light", "dark", "auto"])
def test_a_picture_is_written(ask, command, theme, tmp_path):
    file = tmp_path / "picture.svg"
    result = ask(*command, "--svg", file, "--theme", theme)
    assert (result.code, result.out) == (0, "")
    assert str(file) in result.err
    picture = ET.fromstring(file.read_text("utf-8"))
    assert picture.tag == "{http://www.w3.org/2000/svg}svg"
    assert "Radiators" in "".join(picture.itertext())
    assert ("prefers-color-scheme" in file.read_text("utf-8")) == (theme == "auto")


def test_a_picture_goes_to_standard_output(ask):
    result = ask("map", "--svg", "-")
    assert result.code == 0
    assert result.out.startswith("<svg")


@pytest.mark.requirement("NG1")
def test_no_picture_is_written_into_the_vault(ask, indexed):
    result = ask("map", "--svg", indexed / "map.svg", "--json")
    assert (result.code, result.error["parameter"]) == (1, "svg")
    assert not (indexed / "map.svg").exists()


@pytest.mark.parametrize(
    ("args", "code", "parameter"),
    [
        (["map", "--svg", "/nowhere/at/all.svg"], 1, "svg"),
        (["map", "--svg", "a\0b"], 1, "svg"),
        (["map", "--svg", "-", "--theme", "blue"], 1, "theme"),
        (["map", "--min-score", "2"], 1, "min_score"),
        (["related", "Radiators", "--top-k", "0"], 1, "top_k"),
        (["related", "Radiatros"], 1, "target"),
        (["connections", "Boiler", "Boiler"], 1, "note_b"),
        (["connections", "Boiler", "Nobody"], 1, "note_b"),
        (["links", "Boiler", "--unresolved"], 2, None),
    ],
)
def test_what_cannot_be_done_is_named(ask, args, code, parameter):
    result = ask(*args, "--json")
    assert (result.code, result.error["parameter"]) == (code, parameter)
    assert result.error["hint"]


def test_orphans_of_a_folder(ask, indexed):
    (indexed / "Home" / "Alone.md").write_text("x", "utf-8")
    assert ask("orphans", "--folder", "Home").out == "Home/Alone.md\n"
    assert ask("orphans", "--folder", "/Home/", "--json").json["count"] == 1


@pytest.mark.requirement("FR-40")
@pytest.mark.parametrize("command", [["map"], ["related", "Upgrade"], ["orphans"], ["links"]])
def test_a_scope_tells_nothing_of_other_folders(ask, command):
    result = ask("--scope", "Cluster", *command, "--json")
    assert result.code == 0
    assert "Home" not in result.out
    assert "Radiators" not in result.out


def test_an_edit_between_two_calls_is_seen(ask, indexed):
    (indexed / "New.md").write_text("[[Radiators]] #howto", "utf-8")
    assert "New.md" in ask("related", "Radiators").out
    assert "New.md" in ask("links", "Radiators").out
    assert ask("read", "New").out.startswith("[[Radiators]]")
    (indexed / "Home" / "Boiler.md").unlink()
    assert "Boiler" not in ask("related", "Radiators").out
    assert ask("read", "Boiler").code == 1


@pytest.mark.requirement("NG1")
def test_a_picture_replaces_a_picture_and_nothing_else(ask, indexed, cli_db, tmp_path):
    linked = tmp_path / "hard.svg"
    linked.hardlink_to(indexed / "Inbox.md")
    os.mkfifo(tmp_path / "pipe")
    before = (indexed / "Inbox.md").read_bytes(), cli_db.read_bytes()
    for place in (linked, cli_db, tmp_path / "pipe", tmp_path):
        assert ask("map", "--svg", place, "--json").error["parameter"] == "svg"
    assert before == ((indexed / "Inbox.md").read_bytes(), cli_db.read_bytes())
    picture = tmp_path / "map.svg"
    assert ask("map", "--svg", picture).code == 0
    other = tmp_path / "other.svg"
    other.hardlink_to(picture)
    assert ask("related", "Radiators", "--svg", picture).code == 0
    assert picture.read_text("utf-8") != other.read_text("utf-8")
    assert not list(tmp_path.glob(".*.part"))
