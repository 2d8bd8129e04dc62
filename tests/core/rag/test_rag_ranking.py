from __future__ import annotations

import apsw
import numpy as np
import pytest

from second_brain.index import chunk_table, chunk_words
from second_brain.index.text import query_terms
from second_brain.search.rag import rag_note_context
from stub_embedder import StubEmbedder

SIXTY_FIRST = 1 / 61

POND = "Herons stand at the pond and wait for small fish."
NOTES = {
    "Birds/heron.md": POND,
    "Birds/owl.md": "Owls hunt voles over dark meadows, and herons never meet them.",
    "Stars/comet.md": "A comet has a bright tail that points away from the sun.",
}


def only(answer, path):
    return next(hit for hit in answer["hits"] if hit["metadata"]["path"] == path)


@pytest.mark.requirement("RG-3")
def test_a_chunk_that_leads_both_lists_scores_two_sixty_firsts(open_rag):
    best = open_rag(NOTES).search("herons stand at the pond")["hits"][0]
    assert best["metadata"]["path"] == "Birds/heron.md"
    assert best["score"] == 2 * SIXTY_FIRST
    assert best["source"] == "hybrid"


@pytest.mark.requirement("RG-3")
def test_each_list_gives_one_over_sixty_plus_rank(open_rag):
    rag = open_rag(NOTES)
    hits = rag.search("comet tail", top_k=3)["hits"]
    assert [hit["score"] for hit in hits] == [2 / 61, 1 / 62, 1 / 63]
    assert [hit["keyword_score"] is not None for hit in hits] == [True, False, False]


@pytest.mark.requirement("RG-3")
def test_a_chunk_in_both_lists_stands_above_chunks_that_lead_only_one(open_rag):
    both = "alpha beta gamma delta"
    rag = open_rag(
        {
            "a-words.md": "alpha beta " * 6 + "unrelated river stone window",
            "b-both.md": both,
            "c-meaning.md": "alpha alpha gamma delta",
        }
    )
    assert rag.paths("alpha beta gamma delta", top_k=2)[0] == "b-both.md"


# What leads by words is last by meaning and the other way round; the third is second in both lists.
RIVALS = {
    "a-words.md": "zebra comet " * 6 + "river " * 12,
    "b-meaning.md": "comet",
    "c-second.md": "zebra comet meadow ladder window",
}


@pytest.mark.requirement("RG-3")
@pytest.mark.parametrize(
    ("top_k", "expected"),
    [(1, [("a-words.md", 1 / 61)]), (2, [("c-second.md", 2 / 62), ("a-words.md", 1 / 61)])],
)
def test_both_lists_are_cut_at_top_k_before_they_are_fused(open_rag, top_k, expected):
    rag = open_rag(RIVALS, embedder=StubEmbedder(384))
    hits = rag.search("zebra comet", top_k=top_k)["hits"]
    assert [(hit["metadata"]["path"], hit["score"]) for hit in hits] == expected


@pytest.mark.requirement("RG-3")
def test_what_is_first_by_meaning_gains_nothing_from_a_place_by_words_beyond_the_cut(open_rag):
    rag = open_rag({"a.md": RIVALS["a-words.md"], "b.md": "zebra comet"}, embedder=StubEmbedder(384))
    assert [(hit["metadata"]["path"], hit["score"]) for hit in rag.search("zebra comet", top_k=1)["hits"]] == [
        ("a.md", 1 / 61)
    ]


def test_every_hit_with_a_vector_has_its_cosine_also_when_words_alone_found_it(open_rag):
    rag = open_rag(RIVALS, embedder=StubEmbedder(384))
    (hit,) = rag.search("zebra comet", top_k=1)["hits"]
    vectors = [rag.embedder.embed_query(text) for text in ("zebra comet", RIVALS["a-words.md"])]
    assert hit["semantic_score"] == pytest.approx(float(np.dot(*vectors)), abs=1e-6)
    assert hit["keyword_score"] > 0


def test_a_chunk_without_a_vector_is_found_by_words_and_the_answer_says_how_many_are_like_it(open_rag):
    rag = open_rag(NOTES)
    writer = apsw.Connection(str(rag.database))
    writer.execute(
        "DELETE FROM vectors WHERE chunk = (SELECT c.id FROM chunks c JOIN files USING(doc) WHERE path LIKE '%owl%')"
    )
    writer.close()
    answer = rag.search("owls hunt")
    assert only(answer, "Birds/owl.md")["semantic_score"] is None
    assert only(answer, "Birds/owl.md")["score"] == 1 / 61
    assert answer["warnings"] == ["2 of 3 passages are embedded; the others are found by words alone."]
    assert "Birds/owl.md" not in [hit["metadata"]["path"] for hit in rag.search("owls hunt", min_score=-1.0)["hits"]]


@pytest.mark.requirement("RG-3")
def test_chunks_below_the_threshold_and_those_without_a_cosine_are_dropped_before_the_cut(open_rag):
    rag = open_rag(NOTES)
    everything = rag.search("herons stand at the pond", top_k=3)["hits"]
    cosines = sorted((hit["semantic_score"] for hit in everything), reverse=True)
    threshold = (cosines[0] + cosines[1]) / 2
    kept = rag.search("herons stand at the pond", top_k=3, min_score=threshold)["hits"]
    assert [hit["metadata"]["path"] for hit in kept] == ["Birds/heron.md"]
    assert rag.search("herons", min_score=0.999)["hits"] == []
    assert len(rag.search("herons", top_k=3, min_score=-1.0)["hits"]) == 3


@pytest.mark.requirement("RG-3")
def test_the_threshold_does_not_change_the_ranks_of_what_it_keeps(open_rag):
    rag = open_rag({f"{number}.md": f"heron {'pond ' * number}" for number in range(1, 9)})
    free = {hit["chunk_id"]: hit["score"] for hit in rag.search("pond", top_k=8)["hits"]}
    kept = rag.search("pond", top_k=3, min_score=0.1)["hits"]
    assert len(kept) == 3
    assert all(hit["score"] == free[hit["chunk_id"]] for hit in kept)


class LongEmbedder(StubEmbedder):
    """Vectors of questions ten times too long: their dot product with anything is ten times its cosine."""

    def embed_query(self, text):
        return super().embed_query(text) * 10


@pytest.mark.requirement("RG-3")
def test_the_threshold_is_a_cosine_and_not_a_dot_product(open_rag):
    rag = open_rag(NOTES, embedder=LongEmbedder())
    hits = rag.search("herons stand at the pond", min_score=0.9)["hits"]
    assert hits == []
    best = rag.search("herons stand at the pond")["hits"][0]
    assert 0.5 < best["semantic_score"] <= 1.0


@pytest.mark.requirement("RG-3")
@pytest.mark.parametrize(
    ("age", "boost", "bonus"),
    [
        (0, 1.0, 1 / 61),
        (30, 1.0, 1 / 122),
        (60, 1.0, 1 / 244),
        (30, 0.5, 1 / 244),
        (-5, 1.0, 1 / 61),
        (0, 0.0, 0.0),
        (0, 1, 1 / 61),
    ],
)
def test_recency_adds_its_share_of_a_first_rank_and_halves_in_thirty_days(open_rag, age, boost, bonus):
    rag = open_rag({"note.md": ("herons at the pond", age)})
    (hit,) = rag.search("herons", recency_boost=boost)["hits"]
    assert hit["score"] == pytest.approx(2 / 61 + bonus, abs=1e-12)


@pytest.mark.requirement("RG-3")
def test_recency_reorders_what_was_found_and_finds_nothing_else(open_rag):
    notes = {"old.md": ("comet comet comet", 400), "new.md": ("comet and many other plain words here", 1)}
    notes |= {f"other{number}.md": (f"unrelated text {number}", 0) for number in range(4)}
    rag = open_rag(notes)
    assert rag.paths("comet", top_k=2) == ["old.md", "new.md"]
    assert rag.paths("comet", top_k=2, recency_boost=1.0) == ["new.md", "old.md"]


@pytest.mark.requirement("RG-3")
def test_a_note_without_a_time_stamp_gets_no_bonus(open_rag):
    rag = open_rag({"note.md": "herons"})
    writer = apsw.Connection(str(rag.database))
    writer.execute("UPDATE files SET mtime = NULL")
    writer.close()
    (hit,) = rag.search("herons", recency_boost=1.0)["hits"]
    assert hit["score"] == 2 / 61
    assert hit["metadata"]["mtime"] is None


@pytest.mark.requirement("RG-3")
def test_equal_chunks_come_by_path_then_by_place_also_when_only_some_of_them_fit(open_rag):
    text = "# Same\n\nherons wait\n"
    rag = open_rag({f"{name}.md": text for name in "gbfadce"})
    assert rag.paths("herons wait", top_k=3) == ["a.md", "b.md", "c.md"]
    rag = open_rag({"one.md": f"# Same\n\n{'heron ' * 40}\n\n" * 6}, size=45, overlap=0)
    in_order = rag_note_context(rag.reader, "one.md")["chunk_ids"]
    assert len(in_order) == 6
    assert [hit["chunk_id"] for hit in rag.search("heron", top_k=4)["hits"]] == in_order[:4]


def test_words_must_all_stand_in_one_chunk_and_not_just_in_one_note(open_rag):
    filler = "plain filler words here " * 12
    rag = open_rag(
        {"note.md": f"# One\n\nheron {filler}\n\n# Two\n\ncomet {filler}\n"}, size=50, overlap=0, embed=False
    )
    assert [hit["metadata"]["heading_path"] for hit in rag.search("heron")["hits"]] == ["One"]
    assert [hit["metadata"]["heading_path"] for hit in rag.search("comet")["hits"]] == ["Two"]
    assert rag.search("heron comet")["hits"] == []


@pytest.mark.parametrize(
    "query", ["HERONS  Pond", "  herons pond ", "herons, pond!", '"herons" AND-pond'.replace("AND-", "")]
)
def test_case_spaces_and_signs_of_a_query_make_no_difference(open_rag, query):
    answer = open_rag(NOTES, embed=False).search(query)
    assert [hit["metadata"]["path"] for hit in answer["hits"]] == ["Birds/heron.md"]
    assert answer["query"] == query


@pytest.mark.parametrize("query", ["OR", "heron*", 'say "', "a:b", "NEAR(x", "😀", "***", "-", "(", "\0heron"])
def test_what_full_text_engines_take_for_operators_is_only_text(open_rag, query):
    answer = open_rag(NOTES).search(query)
    assert answer["query"] == query
    assert len(answer["hits"]) == 3


@pytest.mark.requirement("NFR-3")
def test_a_star_lists_chunks_in_path_order_and_asks_no_embedder(open_rag):
    rag = open_rag(NOTES)
    calls = rag.embedder.calls
    answer = rag.search(" * ")
    assert [hit["metadata"]["path"] for hit in answer["hits"]] == sorted(NOTES)
    assert [(hit["semantic_score"], hit["keyword_score"]) for hit in answer["hits"]] == [(None, 0.0)] * 3
    assert rag.paths("*", filters={"path_prefix": "Stars"}) == ["Stars/comet.md"]
    assert rag.embedder.calls == calls
    assert "warnings" not in answer


def fts5_scores(texts, query):
    """What SQLite itself says of these chunks."""
    database = apsw.Connection(":memory:")
    database.execute("CREATE VIRTUAL TABLE t USING fts5(text)")
    database.executemany("INSERT INTO t(rowid, text) VALUES(?, ?)", enumerate(texts))
    match = " ".join(f'"{word}"' for word in query.split())
    return dict(database.execute("SELECT rowid, -bm25(t) FROM t WHERE t MATCH ?", (match,)).fetchall())


@pytest.mark.parametrize("query", ["heron", "pond", "heron pond", "stone", "pond heron owl", "absent", "heron absent"])
def test_keyword_scores_are_those_of_sqlites_own_bm25_over_the_visible_chunks(open_rag, query):
    random = np.random.default_rng(7)
    words = ["heron", "pond", "owl", "stone", "river", "comet", "meadow", "ladder", "window", "garden"]
    weights = np.arange(10, 0, -1) / 55
    notes = {
        f"{number:02}.md": "".join(
            f"# Part {part}\n\n" + " ".join(random.choice(words, size=25, p=weights)) + "\n\n" for part in range(3)
        )
        for number in range(15)
    }
    rag = open_rag(notes, size=30, overlap=8, embed=False)
    with rag.reader.snapshot():
        table = chunk_table.of(rag.reader)
        found = chunk_words.scores(rag.reader, table, [term for term, _ in query_terms(query)])
    hits = {hit["chunk_id"]: hit for hit in rag.search("*", top_k=50)["hits"]}
    assert len(table) == len(hits) >= 45
    expected = fts5_scores([hit["text"] for hit in hits.values()], query)
    assert dict(enumerate(found[found > 0].tolist())).keys() == dict(enumerate(expected)).keys()
    assert {row: found[row] for row in np.flatnonzero(found).tolist()} == pytest.approx(expected, rel=1e-6)


def test_a_word_in_the_overlap_counts_in_both_chunks(open_rag):
    lines = "\n".join(f"line{number} " + "filler words stand here " * 4 for number in range(8))
    rag = open_rag({"note.md": lines}, size=60, overlap=20, embed=False)
    chunks = rag.search("*")["hits"]
    for number in range(8):
        holding = {hit["chunk_id"] for hit in chunks if f"line{number} " in hit["text"]}
        assert {hit["chunk_id"] for hit in rag.search(f"line{number}")["hits"]} == holding
    assert sum(hit["text"].count("line") for hit in chunks) > 8


def test_a_script_without_spaces_is_found_by_its_words(open_rag):
    rag = open_rag({"zh.md": "他在图书馆里读书。", "other.md": "天空很蓝。"}, embed=False)
    assert rag.paths("图书馆") == ["zh.md"]
