from __future__ import annotations

import hashlib
import json
import uuid

import pytest

from second_brain.errors import InvalidParameter
from second_brain.model import Scope
from second_brain.search.rag import rag_note_context, rag_query, rag_search
from stub_embedder import StubEmbedder

FULL = """---
status: Active
project: Pond Survey
context: [field, boat]
tags: [birds, water/pond]
due: 2026-06-01
---
Before any heading. #inline [[Owl|the owl]] and [[Lake#North]].

# Survey

## Herons

Herons stand still. See [[Owl]].

- [ ] count the nests
- [x] mend the boat
"""

HIT = ["chunk_id", "score", "semantic_score", "keyword_score", "source", "text", "metadata"]
METADATA = [
    "path",
    "note_title",
    "heading_path",
    "tags",
    "links",
    "tasks",
    "raw_frontmatter",
    "derived_fields",
    "mtime",
]
COMPACT = ["chunk_id", "score", "semantic_score", "keyword_score", "text", "path", "note_title", "heading_path"]


@pytest.mark.requirement("RG-1", "RG-4")
def test_a_verbose_hit_has_the_documented_fields(open_rag):
    rag = open_rag({"Field/pond.md": FULL}, size=12, overlap=0)
    answer = rag.search("herons stand still")
    assert list(answer) == ["query", "hits"]
    hit = answer["hits"][0]
    assert list(hit) == HIT
    assert list(hit["metadata"]) == METADATA
    assert hit["text"].startswith("## Herons")
    assert hit["metadata"] == {
        "path": "Field/pond.md",
        "note_title": "pond",
        "heading_path": "Survey > Herons",
        "tags": ["birds", "water/pond", "inline"],
        "links": ["Owl", "Lake#North"],
        "tasks": [{"text": "count the nests", "done": False, "line": 16}],
        "raw_frontmatter": {
            "status": "Active",
            "project": "Pond Survey",
            "context": ["field", "boat"],
            "tags": ["birds", "water/pond"],
            "due": "2026-06-01",
        },
        "derived_fields": {"status": "active", "project": "Pond Survey", "context": ["field", "boat"]},
        "mtime": 1_780_000_000.0,
    }
    first = next(hit for hit in rag.search("*")["hits"] if hit["text"].startswith("Before"))
    assert first["metadata"]["heading_path"] == "root"


def test_tasks_belong_to_the_chunk_in_which_they_stand(open_rag):
    filler = "plain words stand here " * 5
    text = f"# One\n\n{filler}\n\n- [ ] count the nests\n- [x] mend the boat\n\n# Two\n\n{filler}\n\n- [ ] rest\n"
    hits = open_rag({"pond.md": text}, size=45, overlap=0).search("*")["hits"]
    assert [[(task["text"], task["done"]) for task in hit["metadata"]["tasks"]] for hit in hits] == [
        [("count the nests", False), ("mend the boat", True)],
        [("rest", False)],
    ]


@pytest.mark.requirement("RG-1", "RG-4")
def test_a_compact_hit_is_flat(open_rag):
    rag = open_rag({"Field/pond.md": FULL})
    verbose = rag.search("herons")["hits"]
    compact = rag.search("herons", verbose=False)["hits"]
    assert [list(hit) for hit in compact] == [COMPACT]
    assert compact[0]["path"] == "Field/pond.md"
    assert [{key: hit[key] for key in COMPACT[:5]} for hit in compact] == [
        {key: hit[key] for key in COMPACT[:5]} for hit in verbose
    ]


@pytest.mark.requirement("RG-4")
def test_compact_is_at_most_forty_percent_of_verbose_where_metadata_is_heavy(open_rag):
    head = "".join(f"property-{number}: a value of some length, number {number}\n" for number in range(20))
    tags = ", ".join(f"topic/{number}" for number in range(20))
    links = " ".join(f"[[Some linked note number {number}]]" for number in range(4))
    rag = open_rag({f"{n}.md": f"---\n{head}tags: [{tags}]\n---\nherons {n} {links}" for n in range(5)})
    for ask in (rag.search, rag.query):
        verbose, compact = (len(json.dumps(ask("herons", verbose=flag))) for flag in (True, False))
        assert compact <= 0.4 * verbose


@pytest.mark.requirement("RG-1")
@pytest.mark.parametrize("verbose", [True, False])
def test_a_query_gives_citations_chunks_and_their_scores_and_writes_no_answer(open_rag, verbose):
    rag = open_rag({f"{number}.md": f"herons at pond {number}" for number in range(10)})
    answer = rag.query("herons at the pond", verbose=verbose)
    assert list(answer) == ["citations", "chunks", "debug_scores"]
    assert len(answer["chunks"]) == 8
    assert answer["chunks"] == rag.search("herons at the pond", top_k=8, verbose=verbose)["hits"]
    assert answer["debug_scores"] == [hit["score"] for hit in answer["chunks"]]
    assert answer["debug_scores"] == sorted(answer["debug_scores"], reverse=True)
    assert answer["citations"] == [
        {"chunk_id": hit["chunk_id"], "path": place["path"], "heading_path": place["heading_path"]}
        for hit, place in ((hit, hit["metadata"] if verbose else hit) for hit in answer["chunks"])
    ]


def test_nothing_found_means_three_empty_lists(open_rag):
    rag = open_rag({"a.md": "herons"})
    assert rag.query("herons", filters={"path_prefix": "nowhere"}) == {
        "citations": [],
        "chunks": [],
        "debug_scores": [],
    }
    assert open_rag({}).search("herons") == {"query": "herons", "hits": []}


def test_a_search_gives_ten_chunks_by_default_and_what_top_k_says_otherwise(open_rag):
    rag = open_rag({f"{number:02}.md": f"herons {number}" for number in range(60)})
    assert len(rag.search("herons")["hits"]) == 10
    assert len(rag.search("herons", top_k=50)["hits"]) == 50
    assert len(rag.search("herons", top_k=1)["hits"]) == 1


@pytest.mark.requirement("RG-12")
def test_identical_notes_and_identical_sections_have_chunks_of_their_own(open_rag):
    section = "# Log\n\nherons at the pond " + "and so on " * 15 + "\n\n"
    rag = open_rag({"a.md": section * 2, "b.md": section * 2}, size=60, overlap=0)
    hits = rag.search("herons", top_k=50)["hits"]
    assert [hit["metadata"]["path"] for hit in hits] == ["a.md", "a.md", "b.md", "b.md"]
    assert len({hit["chunk_id"] for hit in hits}) == 4
    alone = open_rag({"b.md": section * 2}, size=60, overlap=0).search("herons", top_k=50)["hits"]
    assert [hit["chunk_id"] for hit in alone] == [hit["chunk_id"] for hit in hits[2:]]


@pytest.mark.requirement("RG-12")
def test_a_chunk_id_is_a_uuid_of_path_note_heading_place_and_text(open_rag):
    rag = open_rag({"Field/pond.md": "# Herons\n\nstand still"})
    (hit,) = rag.search("herons")["hits"]
    content = hashlib.sha256(b"# Herons\n\nstand still").hexdigest()
    note = hashlib.sha256(f"Field/pond.md\0{content}".encode()).hexdigest()[:16]
    name = json.dumps(["Field/pond.md", note, "Herons", 0, "# Herons\n\nstand still"])
    assert hit["chunk_id"] == str(uuid.uuid5(uuid.NAMESPACE_URL, name))


@pytest.mark.requirement("RG-13")
def test_what_is_redacted_is_in_no_hit(open_rag):
    rag = open_rag({"a.md": "herons key-12345 at the pond"}, redact=(r"key-\d+",))
    answer = rag.search("herons")
    assert answer["hits"][0]["text"] == "herons [redacted] at the pond"
    assert "12345" not in json.dumps(answer)
    assert rag.search("12345", embedder_for=lambda _: None)["hits"] == []


# -- without meaning --------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("NFR-3")
def test_a_dead_embedder_leaves_the_hits_by_words_and_a_warning(open_rag):
    rag = open_rag({"a.md": "herons at the pond", "b.md": "comets"})
    rag.embedder.fail = True
    answer = rag.search("herons", filters={"path_prefix": "a"})
    assert [hit["metadata"]["path"] for hit in answer["hits"]] == ["a.md"]
    assert answer["hits"][0]["score"] == 1 / 61
    assert answer["hits"][0]["semantic_score"] is None
    assert answer["warnings"] == ["The embedder cannot be reached: found by words alone."]
    assert rag.query("herons")["warnings"] == answer["warnings"]


@pytest.mark.requirement("NFR-3")
def test_a_dead_embedder_with_a_threshold_finds_nothing_and_says_why(open_rag):
    rag = open_rag({"a.md": "herons"})
    rag.embedder.fail = True
    answer = rag.search("herons", min_score=0.1)
    assert answer["hits"] == []
    assert "min_score" in answer["warnings"][0]


@pytest.mark.parametrize(
    ("embed", "embedder_for", "words"),
    [(False, None, "Nothing is embedded yet"), (True, lambda _: None, "not configured")],
)
def test_an_index_without_usable_vectors_is_searched_by_words(open_rag, embed, embedder_for, words):
    rag = open_rag({"a.md": "herons"}, embed=embed)
    if embedder_for:
        rag.defaults["embedder_for"] = embedder_for
    answer = rag.search("herons")
    assert [hit["metadata"]["path"] for hit in answer["hits"]] == ["a.md"]
    assert words in answer["warnings"][0]


def test_the_embedder_is_asked_by_the_fingerprint_of_the_vectors_and_once_a_search(open_rag):
    rag = open_rag({"a.md": "herons"}, embedder=StubEmbedder(dimension=96, name="other"))
    asked = []
    rag.defaults["embedder_for"] = lambda fingerprint: asked.append(fingerprint) or rag.embedder
    calls = rag.embedder.calls
    rag.search("herons", min_score=-1.0)
    assert asked == ["stub:other:96"]
    assert rag.embedder.calls == calls + 1


# -- invalid arguments ------------------------------------------------------------------------------------------------------

NAN = float("nan")
INFINITE = float("inf")


def explode(_):
    raise AssertionError("the embedder was asked")


@pytest.mark.requirement("RG-1")
@pytest.mark.parametrize("ask", [rag_search, rag_query])
@pytest.mark.parametrize(
    ("parameter", "arguments"),
    [
        *(("query", {"query": value}) for value in ("", "  \n", "\0", None, 5)),
        *(("top_k", {"top_k": value}) for value in (0, 51, -1, True, "5", 5.0, None, NAN)),
        *(
            ("min_score", {"min_score": value})
            for value in (1.01, -1.01, True, False, "0.5", NAN, INFINITE, 10**400, [0.5])
        ),
        *(
            ("recency_boost", {"recency_boost": value})
            for value in (1.01, -0.01, True, False, "1", None, NAN, INFINITE, -INFINITE)
        ),
        *(("verbose", {"verbose": value}) for value in (None, 1, "true")),
        *(("filters", {"filters": value}) for value in ([], "tags", 5, {1: 2})),
        *(
            ("filters.exclude_status", {"filters": {"exclude_status": value}})
            for value in ("done", [1], {"a": 1}, 5, True)
        ),
        *(
            ("filters.modified_since", {"filters": {"modified_since": value}})
            for value in ("yesterday", "", 5, True, "2026-13-01", "2026-01-01T10:00+25:00", "2026-02-30", [])
        ),
        *(
            ("filters.date_range", {"filters": {"date_range": value}})
            for value in (
                "2026",
                [],
                ["2026-01-01"],
                {"start": "soon"},
                {"end": 5},
                {"from": "2026-01-01"},
                {"start": "2026-01-01", "stop": "2026-01-02"},
            )
        ),
        *(("filters.frontmatter_contains", {"filters": {"frontmatter_contains": value}}) for value in ("a", [], 5)),
        ("filters.frontmatter_contains.x", {"filters": {"frontmatter_contains": {"x": NAN}}}),
        *(("filters.tags", {"filters": {"tags": value}}) for value in (5, [5], {"a": 1}, "#", [""])),
        *(("filters.path_prefix", {"filters": {"path_prefix": value}}) for value in (5, ["a"])),
        ("filters.project", {"filters": {"project": INFINITE}}),
        ("filters.tasks", {"filters": {"tasks": []}}),
    ],
)
def test_an_invalid_argument_is_named_before_anything_is_embedded(open_rag, ask, parameter, arguments):
    rag = open_rag({"a.md": "herons"}, embed=False)
    given = {"query": "herons", "embedder_for": explode, "now": 0.0, **arguments}
    with pytest.raises(InvalidParameter) as caught:
        ask(rag.reader, **given)
    assert caught.value.parameter == parameter
    assert caught.value.message.startswith(parameter)
    assert caught.value.hint


@pytest.mark.requirement("RG-1")
def test_arguments_are_checked_in_their_documented_order(open_rag):
    rag = open_rag({"a.md": "herons"}, embed=False)
    filters = {
        "frontmatter_contains": 1,
        "date_range": 1,
        "modified_since": "x",
        "exclude_status": 1,
    }
    wrong = {"query": " ", "top_k": 0, "min_score": 2, "recency_boost": 2, "filters": filters}
    named = []
    for _ in range(8):
        with pytest.raises(InvalidParameter) as caught:
            rag_search(rag.reader, embedder_for=explode, now=0.0, **wrong)
        named.append(caught.value.parameter)
        group, _, name = named[-1].partition(".")
        if name:
            del filters[name]
        else:
            wrong[group] = {"query": "herons", "top_k": 5, "min_score": None, "recency_boost": 0}[group]
    assert named == [
        "query",
        "top_k",
        "min_score",
        "recency_boost",
        "filters.exclude_status",
        "filters.modified_since",
        "filters.date_range",
        "filters.frontmatter_contains",
    ]


# -- scope ------------------------------------------------------------------------------------------------------------------

INSIDE = {
    "in/one.md": FULL,
    "in/two.md": "herons and owls at the pond, [[one]]",
    "in/deep/three.md": "a pond without birds",
}
OUTSIDE = {
    "out/secret.md": "---\nstatus: canary\ncanary-key: 1\n---\nherons herons pond canary [[one]] [[two]]",
    "out/many.md": "pond " * 500,
    "aaa.md": "herons stand still at the pond",
}
ASKS = [
    {"query": "herons pond"},
    {"query": "pond", "top_k": 1},
    {"query": "*"},
    {"query": "herons", "min_score": 0.0},
    {"query": "pond", "filters": {"tags": "birds"}, "recency_boost": 1.0},
    {"query": "pond", "filters": {"heading_path": "root"}, "top_k": 2},
    {"query": "canary"},
    {"query": "pond", "filters": {"canary-key": 1}},
    {"query": "pond", "filters": {"path_prefix": "out"}},
]


@pytest.mark.requirement("NFR-5")
@pytest.mark.parametrize("arguments", ASKS, ids=str)
def test_a_scope_gives_the_same_answer_whether_or_not_notes_outside_exist(open_rag, arguments):
    scope = Scope(folders=("in",))
    alone, among = (open_rag(notes, scope=scope) for notes in (INSIDE, {**OUTSIDE, **INSIDE}))
    expected, given = (json.dumps(rag.search(**arguments)) for rag in (alone, among))
    assert given == expected
    assert json.dumps(alone.query(**arguments)) == json.dumps(among.query(**arguments))
    assert '"out/' not in given


@pytest.mark.requirement("NFR-5")
def test_the_context_of_a_note_ends_at_the_scope(open_rag):
    rag = open_rag({**OUTSIDE, **INSIDE}, scope=Scope(folders=("in",)))
    assert rag_note_context(rag.reader, "in/one.md")["backlinks"] == ["in/two.md"]
    assert rag_note_context(rag.reader, "out/secret.md")["chunk_count"] == 0


def test_an_answer_follows_what_is_written_after_the_reader_was_opened(open_rag, tmp_path):
    from second_brain.index.opening import open_writer

    rag = open_rag({"a.md": "herons", "b.md": "herons"})
    assert rag.paths("herons") == ["a.md", "b.md"]
    writer = open_writer(rag.database)
    writer.delete(["a.md"])
    writer.close()
    assert rag.paths("herons") == ["b.md"]


# -- the context of a note --------------------------------------------------------------------------------------------------


@pytest.mark.requirement("RG-1")
def test_a_notes_context_has_its_chunks_its_links_and_who_links_to_it(open_rag):
    rag = open_rag(
        {
            "Field/pond.md": FULL,
            "Owl.md": "---\naliases: [Night bird]\n---\nSee [[pond]] and [[pond#Herons|them]] and [[Owl]].",
            "a.md": "[the pond](Field/pond.md), [[Night bird]]",
            "b.md": "[[Field/pond]] ![[Owl#x]]",
        },
        size=12,
        overlap=0,
    )
    context = rag_note_context(rag.reader, "Field/pond.md")
    assert list(context) == ["note_path", "chunk_ids", "chunk_count", "outlinks", "backlinks"]
    chunks = [hit["chunk_id"] for hit in rag.search("*", filters={"path": "Field/pond.md"})["hits"]]
    assert context["chunk_ids"] == chunks
    assert context["chunk_count"] == len(chunks) > 1
    assert context["outlinks"] == ["Lake#North", "Owl"]
    assert context["backlinks"] == ["Owl.md", "a.md", "b.md"]
    assert rag_note_context(rag.reader, "Owl.md")["backlinks"] == ["Field/pond.md", "a.md", "b.md"]


def test_an_unknown_note_has_an_empty_context(open_rag):
    rag = open_rag({"a.md": "herons"})
    empty = {"chunk_ids": [], "chunk_count": 0, "outlinks": [], "backlinks": []}
    assert rag_note_context(rag.reader, "b.md") == {"note_path": "b.md", **empty}
    assert rag_note_context(rag.reader, "a.md", resolve=lambda _: None) == {"note_path": "a.md", **empty}


def test_another_resolver_may_know_names(open_rag):
    rag = open_rag({"Field/pond.md": "herons"})
    context = rag_note_context(rag.reader, "[[pond]]", resolve={"[[pond]]": "Field/pond.md"}.get)
    assert context["note_path"] == "Field/pond.md"
    assert context["chunk_count"] == 1


@pytest.mark.parametrize("note_path", ["", "  ", None, 5])
def test_a_blank_note_path_is_named(open_rag, note_path):
    rag = open_rag({"a.md": "herons"})
    with pytest.raises(InvalidParameter) as caught:
        rag_note_context(rag.reader, note_path)
    assert caught.value.parameter == "note_path"
