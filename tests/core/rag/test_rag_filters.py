from __future__ import annotations

from datetime import UTC, datetime
from itertools import combinations

import pytest

NOW = 1_780_000_000.0
DAY = 86_400.0
NEAR = 8
FAR = "Fields/far.md"

# Eight notes that say just what is asked for, and one that passes the filters.
DISTRACTORS = {
    f"Ponds/near{number}.md": (
        f"---\nstatus: done\nproject: Lake\ntags: [fish]\ndue: 2026-01-15\nrating: 1\n---\nherons at the pond {number}",
        90,
    )
    for number in range(NEAR)
}
FAR_TEXT = """---
status: Open
project: Survey
context: field
tags: [Birds/Wading, water]
due: 2026-02-28T10:00
rating: 5
flag: true
people: [Ann, Ben]
---
A long walk over meadows and hills, past ladders and windows, until herons came in sight of the far pond. [[Owl|x]] #seen
"""
NOTES = {**DISTRACTORS, FAR: (FAR_TEXT, 2)}

FILTERS = {
    "tags": "birds/wading",
    "path_prefix": "Fields/",
    "date_range": {"start": "2026-02-01", "end": "2026-02-28"},
    "modified_since": datetime.fromtimestamp(NOW - 3 * DAY, UTC).isoformat(),
    "frontmatter_contains": {"rating": 5},
    "exclude_status": ["DONE"],
    "status": "OPEN",
    "project": "Survey",
    "note_title": "far",
    "heading_path": "root",
    "people": "Ben",
}
ALL_PASS = {"heading_path"}


@pytest.fixture
def vault(open_rag):
    return open_rag(NOTES)


@pytest.mark.requirement("RG-2")
@pytest.mark.parametrize("name", sorted(set(FILTERS) - ALL_PASS))
@pytest.mark.parametrize("min_score", [None, -1.0])
def test_each_filter_finds_the_far_match_behind_eight_near_distractors(vault, name, min_score):
    query = "herons at the pond"
    assert FAR not in vault.paths(query, top_k=1)
    assert vault.paths(query, top_k=1, filters={name: FILTERS[name]}, min_score=min_score) == [FAR]


@pytest.mark.requirement("RG-2")
@pytest.mark.parametrize("names", list(combinations(sorted(FILTERS), 2)), ids="+".join)
def test_two_filters_must_both_pass(vault, names):
    first, second = ({name: FILTERS[name]} for name in names)
    both = {**first, **second}
    assert vault.paths("herons", top_k=1, filters=both) == ([FAR] if set(names) - ALL_PASS else [])
    assert vault.paths("*", top_k=50, filters={**both, "path": "Ponds/near0.md"}) == []


@pytest.mark.requirement("RG-2")
def test_all_filters_together_pass_what_passes_each(vault):
    assert vault.paths("herons", filters=FILTERS) == [FAR]


FOUND = [FAR]
NOTHING = []


@pytest.mark.requirement("RG-2")
@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"tags": ["water", "#SEEN"]}, FOUND),
        ({"tags": ["water", "fish"]}, NOTHING),
        ({"tags": "birds"}, FOUND),
        ({"tags": "=birds"}, NOTHING),
        ({"tags": "bird"}, NOTHING),
        ({"tags": "nowhere"}, NOTHING),
        ({"path_prefix": "Fiel"}, FOUND),
        ({"path_prefix": "fields"}, NOTHING),
        ({"path_prefix": "%"}, NOTHING),
        ({"frontmatter_contains": {"rating": 5.0}}, FOUND),
        ({"frontmatter_contains": {"rating": "5"}}, FOUND),
        ({"frontmatter_contains": {"rating": True}}, NOTHING),
        ({"frontmatter_contains": {"flag": True}}, FOUND),
        ({"frontmatter_contains": {"flag": 1}}, NOTHING),
        ({"frontmatter_contains": {"project": "survey"}}, NOTHING),
        ({"frontmatter_contains": {"Project": "Survey", "status": "Open"}}, FOUND),
        ({"frontmatter_contains": {"people": ["Ann", "Ben"]}}, FOUND),
        ({"frontmatter_contains": {"people": ["Ben", "Ann"]}}, NOTHING),
        ({"frontmatter_contains": {"people": "Ann"}}, FOUND),
        ({"frontmatter_contains": {"people": "An"}}, NOTHING),
        ({"frontmatter_contains": {"rating": 5, "project": "Lake"}}, NOTHING),
        ({"status": "open", "project": "Survey", "context": "field"}, FOUND),
        ({"context": "boat"}, NOTHING),
        ({"note_title": "FAR"}, NOTHING),
        ({"path": FAR}, FOUND),
        ({"links": "Owl"}, FOUND),
        ({"links": ["Owl"]}, FOUND),
        ({"links": "owl"}, NOTHING),
        ({"derived_fields": {"status": "open", "project": "Survey", "context": "field"}}, FOUND),
        ({"mtime": NOW - 2 * DAY}, FOUND),
        ({"mtime": "then"}, NOTHING),
        ({"mtime": 10**400}, NOTHING),
        ({"flag": True}, FOUND),
        ({"raw_frontmatter": {}}, NOTHING),
    ],
    ids=str,
)
def test_what_a_filter_lets_through(vault, filters, expected):
    assert vault.paths("herons", top_k=50, filters=filters) == expected


@pytest.mark.requirement("RG-2")
@pytest.mark.parametrize(
    "filters",
    [
        None,
        {},
        {"tags": []},
        {"path_prefix": ""},
        {"date_range": {}},
        {"date_range": {"start": None, "end": None}},
        {"frontmatter_contains": {}},
        {
            "tags": None,
            "date_range": None,
            "modified_since": None,
            "exclude_status": None,
            "frontmatter_contains": None,
        },
    ],
    ids=str,
)
def test_an_empty_filter_restricts_nothing(vault, filters):
    assert len(vault.paths("herons", top_k=50, filters=filters)) == NEAR + 1


@pytest.mark.requirement("RG-2")
@pytest.mark.parametrize(
    ("head", "bounds", "passes"),
    [
        ("due: 2026-02-28T10:00", {"end": "2026-02-28"}, True),
        ("due: 2026-02-28T23:59:59", {"end": "2026-02-28"}, True),
        ("due: 2026-03-01T00:00:00", {"end": "2026-02-28"}, False),
        ("due: 2026-02-28", {"end": "2026-02-28"}, True),
        ("due: 2026-02-28", {"start": "2026-02-28", "end": "2026-02-28"}, True),
        ("due: 2026-02-28", {"start": "2026-02-28T10:00"}, True),
        ("due: 2026-02-28T09:00", {"start": "2026-02-28T10:00"}, False),
        ("due: 2026-02-28T09:00Z", {"end": "2026-02-28T10:30+02:00"}, False),
        ("due: 2026-02-28T09:00+01:00", {"end": "2026-02-28T08:00Z"}, True),
        ("due: 2026-02", {"start": "2026-02-10", "end": "2026-02-11"}, True),
        ("due: 2026-02-27", {"start": "2026-02"}, True),
        ("due: 2026-03-01\ncreated: 2026-02-01", {"end": "2026-02-28"}, False),
        ("deadline: 2026-02-01\nstart: 2026-05-01", {"end": "2026-02-28"}, True),
        ("start: 2026-02-01\ncreated: 2026-05-01", {"end": "2026-02-28"}, True),
        ("created: 2026-02-01\ndate: 2026-05-01", {"end": "2026-02-28"}, True),
        ("date: 2026-02-01", {"end": "2026-02-28"}, True),
        ("due:\ndate: 2026-02-01", {"end": "2026-02-28"}, True),
        ("Due: 2026-02-01", {"end": "2026-02-28"}, True),
        ("due: someday", {"start": "1900-01-01"}, False),
        ("published: 2026-02-01", {"start": "1900-01-01"}, False),
        ("title: no date", {"end": "2999-01-01"}, False),
    ],
    ids=str,
)
def test_a_date_range_includes_the_whole_of_its_first_and_last_day(open_rag, head, bounds, passes):
    rag = open_rag({"note.md": f"---\n{head}\n---\nherons"}, embed=False)
    assert bool(rag.paths("herons", filters={"date_range": bounds})) is passes


@pytest.mark.requirement("RG-2")
@pytest.mark.parametrize(
    ("since", "passes"),
    [
        ("2026-06-10", True),
        ("2026-06-10T00:00:00Z", True),
        ("2026-06-10T00:00:01", False),
        ("2026-06-10T02:00+02:00", True),
        ("2026-06-09T23:00-02:00", False),
        ("2026-06-11", False),
    ],
)
def test_modified_since_counts_in_utc_and_includes_its_own_moment(open_rag, since, passes):
    midnight = datetime(2026, 6, 10, tzinfo=UTC).timestamp()
    rag = open_rag({"note.md": ("herons", (NOW - midnight) / DAY)}, embed=False)
    assert rag.search("herons")["hits"][0]["metadata"]["mtime"] == midnight
    assert bool(rag.paths("herons", filters={"modified_since": since})) is passes


@pytest.mark.requirement("RG-2", "RG-14")
def test_excluded_statuses_of_a_query_replace_the_configured_ones(open_rag):
    notes = {f"{name}.md": f"---\nstatus: {name}\n---\nherons" for name in ("archived", "Draft", "open")}
    rag = open_rag({**notes, "none.md": "herons"})
    rag.defaults["exclude_status"] = ("ARCHIVED",)
    assert sorted(rag.paths("herons")) == ["Draft.md", "none.md", "open.md"]
    assert sorted(rag.paths("herons", filters={"exclude_status": ["draft "]})) == ["archived.md", "none.md", "open.md"]
    assert len(rag.paths("herons", filters={"exclude_status": []})) == 4
    assert len(rag.paths("herons", filters={"exclude_status": None})) == 3


@pytest.mark.requirement("RG-2")
@pytest.mark.parametrize("heading", ["Birds > Herons", "Herons"])
@pytest.mark.parametrize("min_score", [None, -1.0])
def test_a_heading_lets_single_chunks_through_before_the_cut(open_rag, heading, min_score):
    filler = "plain words stand here " * 5
    near = "".join(f"# Near {number}\n\nwading wading wading\n{filler}\n\n" for number in range(NEAR))
    rag = open_rag({"note.md": f"{near}# Birds\n\n{filler}\n\n## Herons\n\nwading {filler * 2}\n"}, size=30, overlap=0)
    answer = rag.search("wading", top_k=1, filters={"heading_path": heading}, min_score=min_score)
    assert [hit["metadata"]["heading_path"] for hit in answer["hits"]] == ["Birds > Herons"]
    assert answer["hits"][0]["semantic_score"] is not None
    assert rag.search("wading", filters={"heading_path": 5})["hits"] == []


@pytest.mark.requirement("RG-2")
def test_null_asks_for_notes_without_the_field(open_rag):
    rag = open_rag({"with.md": "---\nproject: Lake\n---\nherons", "without.md": "herons"})
    assert rag.paths("herons", filters={"project": None}) == ["without.md"]
    assert rag.paths("herons", filters={"frontmatter_contains": {"project": None}}) == ["without.md"]


def test_a_field_that_no_note_has_is_named_in_a_warning(vault):
    answer = vault.search("herons", filters={"projct": "Survey"})
    assert answer["hits"] == []
    assert "filters.projct" in answer["warnings"][0]
    assert "warnings" not in vault.search("herons", filters={"project": "Nobody's"})


@pytest.mark.requirement("RG-2")
def test_filters_are_applied_without_reading_the_vectors_of_other_notes(vault):
    counters = vault.reader.counters
    before = counters.vectors_read
    vault.search("walk", filters={"project": "Survey"})
    assert counters.vectors_read - before <= 2


@pytest.mark.parametrize("text", ["\ud800", "a\0b", "x" * 100_000, "'; DROP TABLE files; --"])
@pytest.mark.parametrize("name", ["tags", "path_prefix", "project", "path", "links", "heading_path", "status"])
def test_any_text_is_only_a_value(vault, name, text):
    assert vault.search("herons", filters={name: text})["hits"] == []


@pytest.mark.parametrize("key", ["\ud800", "a\0b", "", "a.b", "'"])
def test_any_text_is_only_a_name(vault, key):
    assert vault.search("herons", filters={key: 1})["hits"] == []
    assert vault.search("herons", filters={"frontmatter_contains": {key: "x"}})["hits"] == []
