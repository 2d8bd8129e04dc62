from __future__ import annotations

import json

import pytest


def paths(result):
    return [hit["path"] for hit in result.json["hits"]]


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("search", ["search", "boiler pressure"]),
        ("search-why", ["search", "boiler radiators", "--why", "--top-k", "2"]),
        ("search-filters-only", ["search", "--folder", "Home"]),
        ("search-grammar", ["search", '"a quarter turn" -kubernetes tag:home folder:Home [tags:howto]']),
        ("search-corrected", ["search", "kuberntes"]),
        ("search-nothing", ["search", "boiler", "--folder", "Cluster", "--tag", "homelab"]),
        ("search-why-not", ["search", "boiler pressure", "--why-not", "Upgrade"]),
        ("query", ["query", "boiler pressure"]),
    ],
)
def test_the_text_of_an_answer_is_as_stored(ask, snapshot, name, args):
    result = ask(*args, *(["--ranking", "words"] if args[0] == "search" else []))
    assert result.code == 0
    snapshot(name, result.out)


@pytest.mark.requirement("RG-16")
def test_json_is_one_object_with_the_fields_of_rag_search_and_ours(ask):
    result = ask("search", "boiler", "pressure", "--json", "--ranking", "words")
    assert result.err == ""
    found = result.json
    assert (found["query"], found["ranking"]) == ("boiler pressure", "words")
    hit = found["hits"][0]
    assert hit["path"] == "Home/Boiler.md"
    assert {"score", "text", "path", "note_title", "heading_path", "semantic_score", "keyword_score", "source"} <= set(
        hit
    )
    assert {"wikilink", "folder", "tags", "modified", "snippet", "line", "matched"} <= set(hit)
    assert (hit["text"], hit["note_title"], hit["semantic_score"]) == (hit["snippet"], "Boiler", None)
    assert result.out.startswith('{\n  "query"')


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        (["--folder", "Home"], {"Home/Boiler.md", "Home/Radiators.md"}),
        (
            ["--folder", "Home", "--folder", "Cluster", "--exclude-tag", "homelab"],
            {"Home/Boiler.md", "Home/Radiators.md"},
        ),
        (["--tag", "home"], {"Home/Boiler.md", "Home/Radiators.md"}),
        (["--tag", "home", "--tag", "howto"], {"Home/Radiators.md"}),
        (["--exclude-folder", "Home", "--exclude-folder", "Cluster"], {"Inbox.md"}),
        (["--tag", "home", "after:10d"], {"Home/Radiators.md"}),
        (["--tag", "homelab", "--after", "2000-01-01"], {"Cluster/Draining.md", "Cluster/Upgrade.md"}),
        (["--scope", "Home", "--scope", "Cluster", "#homelab"], {"Cluster/Draining.md", "Cluster/Upgrade.md"}),
        (["--scope", "Home", "after:1y"], {"Home/Boiler.md", "Home/Radiators.md"}),
    ],
)
def test_filters_alone_list_what_passes(ask, flags, expected):
    assert set(paths(ask("search", *flags, "--json"))) == expected


def test_paths_prints_nothing_but_paths(ask):
    assert ask("search", "--folder", "Home", "--paths").out == "Home/Radiators.md\nHome/Boiler.md\n"


def test_why_adds_the_evidence_to_json(ask):
    hit = ask("search", "boiler radiators", "--why", "--json", "--ranking", "words").json["hits"][0]
    assert set(hit["evidence"]["words"]) | set(hit["evidence"]["missing"]) == {"boiler", "radiators"}


def test_why_not_as_json(ask):
    found = ask("search", "boiler", "--folder", "Cluster", "--why-not", "Boiler", "--json").json
    assert (found["path"], found["rank"]) == ("Home/Boiler.md", None)
    assert "folder" in found["reasons"][0]


@pytest.mark.requirement("FR-13")
def test_an_empty_answer_names_each_filter(ask):
    result = ask("search", "tag:homelab folder:Home", "--json")
    assert result.code == 0
    assert all(name in result.json["message"] for name in ("folder=Home", "tags=homelab"))


@pytest.mark.requirement("FR-14", "RG-16")
@pytest.mark.parametrize(
    ("flags", "parameter", "option"),
    [
        (["--folder", "Hoem"], "folder", "Home"),
        (["--tag", "homelb"], "tags", "homelab"),
        (["--after", "some week"], "modified_after", None),
        (["--before", "2026-13-01"], "modified_before", None),
        (["--top-k", "51"], "top_k", None),
        (["--ranking", "fast"], "ranking", "best"),
        ([], "query", None),
    ],
)
def test_a_wrong_argument_is_named_with_the_way_out(ask, flags, parameter, option):
    flags = flags and ["boiler", *flags]
    result = ask("search", *flags, "--json")
    assert (result.code, result.out) == (1, "")
    assert result.error["parameter"] == parameter
    assert option is None or option in result.error["options"]
    text = ask("search", *flags)
    assert (text.code, text.out) == (1, "")
    assert text.err.startswith("error: ")


def test_best_without_vectors_answers_by_words_and_says_so(ask):
    result = ask("search", "boiler")
    assert "Home/Boiler.md" in result.out
    assert result.err.startswith("warning: ")
    assert ask("search", "boiler", "--json").json["warnings"]


def test_query_prints_the_object_of_rag_query(ask):
    found = ask("query", "boiler pressure", "--json").json
    assert {"citations", "chunks", "debug_scores"} <= set(found)
    assert found["citations"][0]["path"] == "Home/Boiler.md"
    compact = ask("query", "boiler pressure", "--json", "--compact").json
    assert "metadata" not in compact["chunks"][0]


def test_query_joins_its_filters(ask):
    found = ask(
        "query", "boiler", "--json", "--compact", "--tag", "home", "--filters", json.dumps({"status": "active"})
    )
    assert {chunk["path"] for chunk in found.json["chunks"]} == {"Home/Boiler.md"}
    assert ask("query", "boiler", "--folder", "Cluster").out == "boiler\nNothing was found.\n"


def test_the_configured_maximum_of_passages_holds_for_query(ask, cli):
    config = ask("config", "set", "max_context_chunks", "1", "--json").json["config_path"]
    assert len(ask("--config", config, "query", "boiler", "--json").json["chunks"]) == 1


@pytest.mark.parametrize("text", ["{", "[1]", "3"])
def test_filters_that_are_no_object_are_refused(ask, text):
    result = ask("query", "boiler", "--filters", text, "--json")
    assert (result.code, result.error["parameter"]) == (1, "filters")


def test_rag_prints_the_object_of_rag_search(ask):
    found = ask("search", "boiler", "--rag", "--folder", "Home", "--tag", "home", "--top-k", "1").json
    assert found["query"] == "boiler"
    assert [hit["metadata"]["path"] for hit in found["hits"]] == ["Home/Boiler.md"]


@pytest.mark.parametrize(
    "flags",
    [["--rag", "--exclude-tag", "home"], ["--rag", "--paths"], ["--json", "--paths"], ["--rag", "--ranking", "words"]],
)
def test_flags_that_exclude_each_other_are_misuse(ask, flags):
    assert ask("search", "boiler", *flags).code == 2


def test_marks_and_colours_only_where_they_are_wanted(ask, monkeypatch):
    assert "\033" not in ask("search", "boiler", "--ranking", "words").out
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\033[1;33mboiler\033[0m" in ask("search", "boiler", "--ranking", "words").out
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\033" not in ask("search", "boiler", "--ranking", "words").out


def test_control_characters_of_a_note_do_not_reach_the_terminal(cli, vault):
    (vault / "evil.md").write_text("# Evil\n\nboiler \x1b]0;owned\x07 \x9b2J end\n", "utf-8")
    cli("--vault", vault, "sync", "--words-only")
    out = cli("--vault", vault, "search", "boiler", "--ranking", "words").out
    assert "evil.md" in out
    assert not {"\x1b", "\x07", "\x9b"} & set(out)
