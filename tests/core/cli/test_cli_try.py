from __future__ import annotations

import shlex

import pytest

from second_brain.cli.trying import QUESTION


@pytest.fixture
def no_model(monkeypatch, fake_ollama):
    """Meaning from the stand-in for Ollama: quick, and by words that texts share."""
    monkeypatch.setenv("SECOND_BRAIN_OLLAMA_URL", fake_ollama.url)
    return fake_ollama


def suggestions(result):
    return [line.strip() for line in result.out.partition("Try next\n")[2].splitlines() if line.strip()]


def test_a_vault_and_a_question_of_ones_own(cli, vault, no_model):
    result = cli("try", vault, "boiler pressure")
    assert (result.code, result.err) == (0, "")
    assert "5 notes searchable by words after" in result.out
    assert "passages embedded in" in result.out
    assert "1. Boiler  Home/Boiler.md:" in result.out
    assert "why: has boiler, pressure in" in result.out


def test_the_demo_vault_and_its_question_are_the_default(cli, no_model, home):
    result = cli("try")
    assert result.code == 0
    assert f"\n{QUESTION}\n" in result.out
    assert "Wax on the Tablecloth" in result.out
    assert list((home / "share" / "second-brain").glob("demo_vault-*.db"))


def test_each_suggestion_works(cli, no_model):
    lines = suggestions(cli("try"))
    assert len(lines) == 3
    for line in lines:
        program, *args = shlex.split(line)
        assert program == "second-brain"
        assert cli(*args).code == 0


@pytest.mark.parametrize("chosen", ["argument", "option"])
def test_a_vault_of_ones_own_without_a_question_is_shown_at_a_glance(cli, vault, no_model, chosen):
    result = cli("try", vault) if chosen == "argument" else cli("try", "--vault", vault)
    assert (result.code, result.err) == (0, "")
    assert QUESTION not in result.out
    for said in ("5 notes, 2 folders, 4 tags", "Cluster (2), Home (2)", "#homelab (2)", "Inbox.md  1 day ago"):
        assert said in result.out
    how, *lines = suggestions(result)
    assert how == f'second-brain search "your question in your own words" --vault {vault}'
    assert len(lines) == 3
    assert all(cli(*shlex.split(line)[1:]).code == 0 for line in [how, lines[0], lines[1]])


def test_a_vault_at_a_glance_in_json(cli, vault, no_model):
    found = cli("try", vault, "--json").json
    assert (found["notes"], found["folders"]) == (5, {"Cluster": 2, "Home": 2})
    assert next(iter(found["tags"])) == "homelab"
    assert [hit["path"] for hit in found["newest"]][:2] == ["Inbox.md", "Home/Radiators.md"]


def test_an_empty_vault_at_a_glance(cli, tmp_path, no_model):
    (tmp_path / "Empty").mkdir()
    result = cli("try", tmp_path / "Empty")
    assert result.code == 0
    assert "0 notes, 0 folders, 0 tags" in result.out


@pytest.mark.parametrize("wait", ["-1", "86401", "1e9"])
def test_a_wait_that_is_out_of_range_is_told_in_words(cli, wait):
    result = cli("try", "--wait", wait)
    assert result.code == 2
    assert "is not between 0 and 86400 seconds" in result.err


def test_a_sentence_alone_is_a_question_for_the_demo_vault(cli, no_model):
    assert "\nhow do I splice a rope?\n" in cli("try", "how do I splice a rope?").out


def test_a_folder_that_does_not_exist_is_an_error(cli):
    result = cli("try", "/no/such/folder", "boiler")
    assert (result.code, result.out) == (1, "")


def test_without_an_embedder_words_answer(cli, vault, no_model):
    from fake_ollama import Mode

    no_model.mode = Mode.DEAD
    result = cli("try", vault, "boiler pressure")
    assert result.code == 0
    assert "Home/Boiler.md" in result.out
    assert result.err.startswith("warning: ")


def test_the_answer_comes_when_the_time_is_over(cli, vault, no_model):
    result = cli("try", vault, "boiler", "--wait", "0")
    assert "left for: second-brain sync" in result.out
    assert "Home/Boiler.md" in result.out


def test_the_database_of_another_vault_is_left_alone(cli, indexed, no_model, monkeypatch, tmp_path):
    database = cli("--vault", indexed, "status", "--json").json["database"]
    monkeypatch.setenv("SECOND_BRAIN_DB", database)
    cli("try")
    cli("try", tmp_path / "work", "boiler")
    assert cli("--vault", indexed, "status", "--json").json["notes"] == 5


def test_json_is_the_answer_alone(cli, vault, no_model):
    assert cli("try", vault, "boiler", "--json").json["hits"][0]["path"] == "Home/Boiler.md"


@pytest.mark.slow
def test_the_built_in_model_finds_the_answer_of_the_default_question(finished, home):
    result = finished("try")
    assert (result.code, result.err) == (0, "")
    assert "1. Wax on the Tablecloth" in result.out
