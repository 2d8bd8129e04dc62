from __future__ import annotations

import pytest


@pytest.mark.parametrize("when", ["30d", "3w", "1m", "last month", "2000-01-01", "today"])
def test_a_date_means_the_same_as_an_option_and_in_the_query(ask, when):
    in_query = ask("search", f'after:"{when}"', "--json").json["hits"]
    as_option = ask("search", "--after", when, "--json").json["hits"]
    assert [hit["path"] for hit in as_option] == [hit["path"] for hit in in_query]
    earlier_in_query = ask("search", f'before:"{when}"', "--json").json
    earlier = ask("search", "--before", when, "--json").json
    assert [hit["path"] for hit in earlier["hits"]] == [hit["path"] for hit in earlier_in_query["hits"]]


def test_a_search_after_a_time_ago(ask):
    assert set(ask("search", "--after", "30d", "--paths").out.split()) == {
        "Inbox.md",
        "Home/Radiators.md",
        "Home/Boiler.md",
    }


@pytest.mark.parametrize("command", [["query", "boiler"], ["search", "boiler", "--rag"]], ids=" ".join)
def test_passages_take_a_time_ago_and_name_the_option(ask, command):
    assert ask(*command, "--after", "30d").code == 0
    refused = ask(*command, "--after", "soon")
    assert refused.err.startswith("error: --after: 'soon' is not a date\n")
    assert "30d" in refused.err
    assert ask(*command, "--after", "soon", "--json").error["parameter"] == "filters.modified_since"


def test_an_empty_answer_names_filters_in_the_words_of_the_query(ask):
    args = ["search", "--before", "2000-01-01", "--folder", "Home"]
    told = ask(*args)
    assert "0 matches for filters: folder=Home, before=2000-01-01 (alone: folder 2, before 0)" in told.out
    assert "before=2000-01-01" in ask(*args, "--paths").err
    assert "modified_before=2000-01-01" in ask(*args, "--json").json["message"]


@pytest.fixture
def many(cli, tmp_path):
    """A vault of 14 notes with one word each in common."""
    root = tmp_path / "Many"
    root.mkdir()
    for number in range(14):
        (root / f"{number:02}.md").write_text(f"# Draught {number}\n\nThe draught.\n", "utf-8")
    assert cli("--vault", root, "sync", "--words-only").code == 0
    return root


@pytest.mark.parametrize("words", [["draught", "--ranking", "words"], ["after:1d"]], ids=" ".join)
def test_paths_say_how_many_more_there_are(cli, many, words):
    cut = cli("--vault", many, "search", *words, "--paths")
    assert len(cut.out.splitlines()) == 10
    assert cut.err == "10 of 14 notes; --top-k shows more, at most 50.\n"
    whole = cli("--vault", many, "search", *words, "--paths", "--top-k", "14")
    assert (len(whole.out.splitlines()), whole.err) == (14, "")


def test_a_vault_without_meaning_is_ranked_by_words_and_says_so(ask):
    assert "notes by words, " in ask("search", "boiler").out
    assert "by words and meaning" not in ask("search", "boiler").out


@pytest.fixture
def embedded(cli, vault, monkeypatch, fake_ollama):
    monkeypatch.setenv("SECOND_BRAIN_OLLAMA_URL", fake_ollama.url)
    assert cli("--vault", vault, "sync").code == 0
    return vault


NOTHING_BY_WORDS = "No note has any of these words; these are the nearest in meaning."


def test_that_no_note_has_a_word_of_the_query_is_said(cli, embedded):
    told = cli("--vault", embedded, "search", "xqzzyv")
    assert NOTHING_BY_WORDS in told.err
    assert " by meaning, " in told.out
    found = cli("--vault", embedded, "search", "xqzzyv", "--json").json
    assert found["warnings"] == [NOTHING_BY_WORDS]
    assert found["hits"]


def test_that_no_note_that_passes_the_filters_has_a_word_is_said(cli, embedded):
    told = cli("--vault", embedded, "search", "kubectl", "--folder", "Home").err
    assert "No note that passes the filters has any of these words; these are the nearest in meaning." in told


@pytest.mark.parametrize("query", ["boiler", "xqzzyv boiler", "Heating"])
def test_a_query_with_a_known_word_has_no_such_warning(cli, embedded, query):
    told = cli("--vault", embedded, "search", query)
    assert told.err == ""
    assert "1. " in told.out
