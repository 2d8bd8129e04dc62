from __future__ import annotations

import json
import random

import pytest

from second_brain import tokencount
from second_brain.config import load
from second_brain.service import SecondBrain
from stub_embedder import StubEmbedder

BODY_FIRST = {"ranking": "meaning"}
LONG = "Herons wait at the pond until the water is still. " * 30

NOTE = """---
tags: [birds]
secret: pond-key
---

# Herons

The first paragraph tells of the pond.
It has a second line.

Setext heading
==============

The second paragraph goes on.

## Later

The kingfisher dives near the bridge, blue and quick.
"""


@pytest.fixture(scope="module")
def desk(open_desk):
    return open_desk(
        {
            "birds.md": NOTE,
            "long.md": f"# Long\n\n{LONG}\n",
            "only headings.md": "# One\n\n## Two\n\n### Three\n",
            "empty.md": "",
            "meta.md": "---\ntags: [x]\n---\n",
        }
    )


def hit_of(answer, path):
    return next(hit for hit in answer.hits if hit.path == path)


@pytest.mark.requirement("FR-31", "T-10", "CNV-5")
@pytest.mark.parametrize("arguments", [{"query": "pond", **BODY_FIRST}, {"query": "path:birds"}])
def test_the_beginning_of_the_body_has_no_frontmatter_no_heading_and_no_blank_start(desk, arguments):
    snippet = hit_of(desk.ask(**arguments), "birds.md").snippet
    assert snippet.text == (
        "The first paragraph tells of the pond.\nIt has a second line.\n\nThe second paragraph goes on.\n\n"
        "The kingfisher dives near the bridge, blue and quick."
    )
    assert (snippet.start_line, snippet.heading_path) == (8, ("Herons",))


@pytest.mark.requirement("FR-31", "T-10")
@pytest.mark.parametrize("limit", [10, 40, 400, 10_000])
@pytest.mark.parametrize("ranking", ["words", "meaning", "best"])
def test_a_snippet_has_at_most_the_configured_characters(desk, limit, ranking):
    for hit in desk.ask("pond", ranking=ranking, settings={"snippet_chars": limit}).hits:
        assert len(hit.snippet.text) <= limit
    if limit >= 400:
        assert len(hit_of(desk.ask("pond", ranking=ranking), "long.md").snippet.text) > 300


@pytest.mark.requirement("FR-31", "T-10")
def test_a_cut_beginning_ends_between_words_with_a_mark(desk):
    text = hit_of(desk.ask("path:long", settings={"snippet_chars": 60}), "long.md").snippet.text
    assert text == "Herons wait at the pond until the water is still. Herons…"


@pytest.mark.requirement("FR-31", "T-10")
@pytest.mark.parametrize("arguments", [{"query": "path:a"}, {"query": "yy", "ranking": "meaning"}])
def test_a_word_longer_than_the_limit_is_cut_to_the_limit(open_desk, arguments):
    desk = open_desk({"a.md": "y" * 900})
    (hit,) = desk.ask(**arguments, settings={"snippet_chars": 50}).hits
    assert hit.snippet.text == "y" * 49 + "…"


@pytest.mark.requirement("FR-31", "T-10")
@pytest.mark.parametrize(("value", "limit"), [("37", 37), ("nonsense", 400)])
def test_the_environment_says_how_long_snippets_are(tmp_path, monkeypatch, value, limit):
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault/long.md").write_text(LONG, encoding="utf-8")
    config = load(
        flags={"db_path": str(tmp_path / "index.db")},
        env={"SECOND_BRAIN_SNIPPET_CHARS": value},
        vault=str(tmp_path / "vault"),
    )
    brain = SecondBrain(config, embedder=StubEmbedder())
    brain.sync()
    for ranking in ("words", "meaning"):
        (hit,) = brain.search(brain.request(query="pond", ranking=ranking)).hits
        assert limit - 45 < len(hit.snippet.text) <= limit
    brain.close()


@pytest.mark.requirement("FR-31", "T-10", "R-2")
def test_a_snippet_is_the_text_on_disk_now_and_a_vanished_file_has_none(open_desk):
    desk = open_desk({"a.md": "The heron is indexed.", "b.md": "The heron stays."})
    desk.vault.write("a.md", "The heron was edited since.")
    for arguments in ({"ranking": "words"}, {"ranking": "best"}, {"ranking": "meaning"}):
        assert hit_of(desk.ask("heron", **arguments), "a.md").snippet.text == "The heron was edited since."
    (desk.vault.root / "a.md").unlink()
    for arguments in ({"ranking": "words"}, {"ranking": "best"}, {"ranking": "meaning"}):
        answer = desk.ask("heron", **arguments)
        gone = hit_of(answer, "a.md")
        assert (gone.snippet.text, gone.snippet.start_line, gone.note) == ("", 0, "file moved — reindex")
        assert gone.as_json()["note"] == "file moved — reindex"
        assert "note" not in hit_of(answer, "b.md").as_json()


@pytest.mark.requirement("T-10")
@pytest.mark.parametrize("top_k", [1, 2, 5])
@pytest.mark.parametrize(
    "arguments",
    [
        {"query": "pond"},
        {"query": "pond", "ranking": "words"},
        {"query": "pond", "ranking": "meaning"},
        {"query": "-zebra"},
        {"query": '"pond"'},
    ],
)
def test_a_search_reads_the_files_that_it_shows_and_no_others(desk, arguments, top_k):
    desk.reads.clear()
    answer = desk.ask(**arguments, top_k=top_k)
    assert answer.hits
    assert desk.reads == [hit.path for hit in answer.hits]
    assert len(desk.reads) <= top_k


@pytest.mark.requirement("FR-31a")
@pytest.mark.parametrize("ranking", ["words", "best"])
def test_the_best_passage_is_the_one_that_holds_the_words(desk, ranking):
    hit = hit_of(desk.ask("kingfisher bridge", ranking=ranking), "birds.md")
    assert hit.snippet.text == "The kingfisher dives near the bridge, blue and quick."
    assert (hit.snippet.start_line, hit.snippet.end_line) == (18, 18)
    assert hit.snippet.heading_path == ("Setext heading", "Later")
    assert marked(hit.snippet) == ["kingfisher", "bridge"]


def marked(snippet):
    return [snippet.text[start:stop] for start, stop in snippet.marks]


SECTIONS = "# Trips\n\n" + "\n\n".join(
    f"## Stop {number}\n\n{' '.join([word] * 6)} filler {number} is here and goes on for a while, so that it stands alone."
    + " More words follow here to fill the passage up to its size, one after the other, until it is full." * 2
    for number, word in enumerate(("alder", "birch", "cedar", "hazel"))
)


@pytest.mark.requirement("FR-31a")
def test_without_a_matching_word_the_passage_nearest_in_meaning_is_shown(open_desk):
    embedder = StubEmbedder(64)
    desk = open_desk({"trips.md": SECTIONS, "x.md": "Kettle."}, embedder=embedder)

    class Knowing(StubEmbedder):
        def embed_query(self, text):
            return self._vector("cedar " * 6)

    desk.embedders = {embedder.fingerprint: Knowing(64)}
    hit = hit_of(desk.ask("evergreen"), "trips.md")
    assert hit.matched == "meaning"
    assert hit.snippet.heading_path == ("Trips", "Stop 2")
    assert "cedar" in hit.snippet.text
    assert hit.snippet.marks == ()


@pytest.mark.requirement("FR-31a")
@pytest.mark.parametrize(
    ("query", "shown", "marks"),
    [
        ("otter", "An otter alone.", ["otter"]),
        ("otter kettle", "The kettle of the otter.", ["kettle", "otter"]),
        ("otters", "An otter alone.", ["otter"]),
        ('"C++ code"', "Some C++ code here.", ["C++ code"]),
        ('"c++ CODE"', "Some C++ code here.", ["C++ code"]),
        ("STRASSE", "Die Straße ist nass.", ["Straße"]),
        ("汁", "味噌汁を飲む。", ["汁"]),
        ("case", "Then camelCase again.", ["Case"]),
    ],
)
def test_the_densest_line_is_shown_with_what_matched_marked(open_desk, query, shown, marks):
    lines = (
        "An otter alone.",
        "Die Straße ist nass.",
        "味噌汁を飲む。",
        "The kettle of the otter.",
        "Some C++ code here.",
        "Then camelCase again.",
    )
    desk = open_desk({"a.md": "\n\n".join(lines)}, embed=False)
    (hit,) = desk.ask(query, ranking="words", settings={"snippet_chars": 30}).hits
    assert shown in hit.snippet.text
    first = hit.snippet.text.index(shown)
    assert [hit.snippet.text[a:b] for a, b in hit.snippet.marks if a >= first][: len(marks)] == marks


@pytest.mark.requirement("FR-31a")
def test_a_very_long_line_is_cut_around_its_match(open_desk):
    line = f"{'gravel ' * 300}the samovar stands {'sand ' * 300}"
    desk = open_desk({"a.md": f"Intro.\n\n{line}\n\nOutro."}, embed=False)
    (hit,) = desk.ask("samovar", ranking="words", settings={"snippet_chars": 100}).hits
    assert hit.snippet.text.startswith("…")
    assert hit.snippet.text.endswith("…")
    assert marked(hit.snippet) == ["samovar"]
    assert (hit.snippet.start_line, hit.snippet.end_line) == (3, 3)


def test_frontmatter_is_shown_only_where_nothing_else_holds_the_word(open_desk):
    text = "---\nplace: samovar\n---\n\nThe first line.\n\nHere is a samovar in the body.\n"
    desk = open_desk({"body.md": text, "head.md": text.replace(" a samovar", "")}, embed=False)
    answer = desk.ask("samovar", ranking="words", settings={"snippet_chars": 40})
    assert hit_of(answer, "body.md").snippet.start_line == 7
    assert "place: samovar" in hit_of(answer, "head.md").snippet.text


@pytest.mark.parametrize("ranking", ["words", "best", "meaning"])
def test_every_snippet_is_a_piece_of_the_note_at_its_lines_with_marks_inside(open_desk, ranking):
    dice = random.Random(3)
    words = ["heron", "pond", "Straße", "味噌汁", "x_y", "\n", "\n\n", "\n## Head\n", "and", "the", "é", "- item"]
    notes = {f"{number}.md": " ".join(dice.choices(words, k=60)) for number in range(25)}
    desk = open_desk(notes)
    for query in ("heron pond", "straße 味噌", "item", '"the pond"'):
        for limit in (20, 120, 400):
            for hit in desk.ask(query, ranking=ranking, top_k=50, settings={"snippet_chars": limit}).hits:
                check(hit.snippet, notes[hit.path], whole=ranking != "meaning")


def check(snippet, text, *, whole):
    lines = text.split("\n")
    shown = "\n".join(lines[snippet.start_line - 1 : snippet.end_line])
    assert 1 <= snippet.start_line <= snippet.end_line <= len(lines)
    for part in snippet.text.strip("…").split("\n"):
        assert part in shown
    if whole:
        assert snippet.text.strip("…") in shown
    ends = [0, *(offset for mark in snippet.marks for offset in mark), len(snippet.text)]
    assert ends == sorted(ends)
    assert all(start < stop for start, stop in snippet.marks)


@pytest.mark.requirement("CNV-5", "FR-31")
@pytest.mark.parametrize(
    ("path", "text"),
    [("only headings.md", "One\nTwo\nThree"), ("empty.md", ""), ("meta.md", "")],
)
def test_a_note_without_paragraphs_shows_its_headings_and_an_empty_one_nothing(desk, path, text):
    (hit,) = desk.ask(f'path:"{path}"').hits
    assert hit.snippet.text == text
    assert hit.note == ""


@pytest.fixture(scope="module")
def fifty(open_desk):
    line = "The heron stands at the pond and waits for small fish until the evening comes. "
    return open_desk(
        {f"Birds of the pond/Heron number {number}.md": f"# Heron {number}\n\n{line * 60}" for number in range(50)}
    )


def tokens_of(answer):
    """What an agent reads of the answer: every field of each hit."""
    return sum(
        tokencount.estimate(json.dumps(hit.as_json(), ensure_ascii=False, separators=(",", ":"))) for hit in answer.hits
    )


@pytest.mark.requirement("FR-32")
@pytest.mark.parametrize("ranking", ["words", "best", "meaning"])
def test_fifty_hits_of_4000_characters_fit_in_the_budget_by_shorter_snippets_alone(fifty, ranking):
    answer = fifty.ask("heron pond", ranking=ranking, top_k=50, settings={"snippet_chars": 4_000})
    assert len(answer.hits) == 50
    assert 2_000 < tokens_of(answer) <= 4_000
    lengths = [len(hit.snippet.text) for hit in answer.hits]
    assert min(lengths) >= 40
    assert max(lengths) - min(lengths) <= 45
    if ranking != "meaning":
        assert all(hit.snippet.marks for hit in answer.hits)


@pytest.mark.requirement("FR-32")
def test_hits_are_dropped_last_and_from_the_end(fifty):
    arguments = {"top_k": 50, "ranking": "words"}
    whole = [hit.path for hit in fifty.ask("heron pond", **arguments).hits]
    answer = fifty.ask("heron pond", **arguments, settings={"snippet_chars": 4_000, "result_budget": 1_000})
    assert 5 < len(answer.hits) < 50
    assert [hit.path for hit in answer.hits] == whole[: len(answer.hits)]
    assert tokens_of(answer) <= 1_000
    assert max(len(hit.snippet.text) for hit in answer.hits) <= 80
    tiny = fifty.ask("heron pond", **arguments, settings={"result_budget": 1})
    assert [hit.path for hit in tiny.hits] == whole[:1]


@pytest.mark.requirement("FR-32")
def test_an_answer_within_the_budget_keeps_its_snippets_whole(fifty):
    few = fifty.ask("heron pond", top_k=3, ranking="words")
    assert all(len(hit.snippet.text) > 300 for hit in few.hits)


def test_redacted_text_is_in_no_snippet(open_desk):
    desk = open_desk({"a.md": "The key of the heron is K-12345 and stays."}, redact=(r"K-\d+",))
    for ranking in ("words", "best", "meaning"):
        assert "12345" not in desk.ask("heron key", ranking=ranking).hits[0].snippet.text
