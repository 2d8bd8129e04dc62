from __future__ import annotations

import random
from collections import Counter

import apsw
import numpy as np
import pytest

from indexed_vault import IndexedVault
from second_brain.indexing.embed import Embedding
from second_brain.model import Scope
from stub_embedder import StubEmbedder

WORDS = ("heron", "pond", "reed", "otter", "kettle", "saddle", "gravel", "lantern", "moss", "copper", "valve", "winter")
QUERIES = ("heron pond", "copper valve in winter", "a lantern", "unheard of")


def random_notes(count, seed=7):
    dice = random.Random(seed)
    return {
        f"{('A', 'B', 'A/C', 'B/D')[number % 4]}/{WORDS[number % 11]} {number // 22}.md": " ".join(
            dice.choices(WORDS, k=dice.randint(5, 90))
        )
        for number in range(count)
    }


@pytest.fixture(scope="module")
def desk(open_desk):
    return open_desk(random_notes(66) | {"A/twin.md": "heron heron pond", "B/twin.md": "heron heron pond"})


def rows_of(vault, prefix=""):
    """(path, whole-note vector) of every living note, from the tables themselves."""
    connection = apsw.Connection(str(vault.db), flags=apsw.SQLITE_OPEN_READONLY)
    rows = connection.execute("SELECT f.path, e.vector FROM embeddings e JOIN files f ON f.path = e.path").fetchall()
    connection.close()
    return sorted((path, np.frombuffer(blob, "<f4")) for path, blob in rows if path.startswith(prefix))


def plain_wikilinks(rows, query, top_k, paths=None):
    """The first version's ranker: cosine of whole notes, ties by path; literal wikilinks."""
    stems = Counter(path.split("/")[-1][:-3] for path in (paths or [path for path, _ in rows]))
    scored = [
        (-float(v.astype(float) @ query / np.linalg.norm(v.astype(float)) / np.linalg.norm(query)), p) for p, v in rows
    ]
    links = []
    for _, path in sorted((round(minus, 9), path) for minus, path in scored)[:top_k]:
        stem = path.split("/")[-1][:-3]
        links.append(f"[[{stem}]]" if stems[stem] == 1 else f"[[{path[:-3]}]]")
    return links


@pytest.mark.requirement("T-8")
@pytest.mark.parametrize("top_k", [1, 5, 50])
@pytest.mark.parametrize("query", QUERIES)
def test_meaning_gives_the_wikilinks_of_a_plain_ranker_over_whole_notes(desk, query, top_k):
    expected = plain_wikilinks(rows_of(desk.vault), desk.vault.embedder.embed_query(query).astype(float), top_k)
    answer = desk.ask(query, ranking="meaning", top_k=top_k)
    assert [hit.wikilink for hit in answer.hits] == expected
    assert answer.total == 68
    assert all(hit.matched == "meaning" for hit in answer.hits)


@pytest.mark.requirement("T-8")
def test_meaning_within_a_folder_and_a_scope_ranks_just_these_notes(open_desk, desk):
    query = desk.vault.embedder.embed_query("heron pond").astype(float)
    inside = rows_of(desk.vault, "A/")
    everything = [path for path, _ in rows_of(desk.vault)]
    answer = desk.ask("heron pond", ranking="meaning", top_k=50, folder="A")
    assert [hit.wikilink for hit in answer.hits] == plain_wikilinks(inside, query, 50, everything)
    scoped = open_desk(None, vault=desk.vault, scope=Scope(folders=("A",)))
    answer = scoped.ask("heron pond", ranking="meaning", top_k=50)
    assert [hit.wikilink for hit in answer.hits] == plain_wikilinks(inside, query, 50)
    assert "[[twin]]" in [hit.wikilink for hit in answer.hits]


FIRST_VERSION = {
    "Notes/Heron.md": (3.0, 0.0, 0.0),
    "Notes/Pond.md": (1.0, 1.0, 0.0),
    "Archive/Pond.md": (2.0, 2.0, 0.0),
    "Ignored/Pöl.md": (0.0, 1.0, 0.0),
    "Far.md": (-1.0, 0.0, 0.0),
    "Zero.md": (0.0, 0.0, 0.0),
    "Broken.md": (float("nan"), 0.0, 0.0),
}


@pytest.fixture
def first_version(tmp_path):
    """An index whose only vectors are a first version's: not normalised, keyed by path."""
    vault = IndexedVault(tmp_path, embedder=StubEmbedder(3)).write_all(
        {path: f"Note {path}" for path in FIRST_VERSION} | {"Other.md": "short", "Without.md": "none"}
    )
    vault.sync()
    with vault.writer() as writer:
        writer.connection.executemany(
            "INSERT INTO embeddings(path, model, dim, vector) VALUES(?, ?, ?, ?)",
            [
                *((path, "old-model", 3, np.array(v, dtype="<f4").tobytes()) for path, v in FIRST_VERSION.items()),
                ("Other.md", "old-model", 2, np.ones(2, dtype="<f4").tobytes()),
                ("Without.md", "newer-model", 3, np.array((1, 0, 0), dtype="<f4").tobytes()),
                ("Gone.md", "old-model", 3, np.array((9, 0, 0), dtype="<f4").tobytes()),
            ],
        )
    return vault


class Fixed:
    """Always the same direction."""

    languages = None

    def embed_query(self, text):
        return np.array((1.0, 0.0, 0.0), dtype=np.float32)


@pytest.mark.requirement("T-8", "AC-5")
def test_a_first_version_database_ranks_by_its_own_vectors(open_desk, first_version):
    desk = open_desk(None, vault=first_version)
    desk.embedders = {"v1:old-model": Fixed()}
    answer = desk.ask("anything", ranking="meaning", top_k=50)
    assert [hit.wikilink for hit in answer.hits] == [
        "[[Heron]]",
        "[[Archive/Pond]]",
        "[[Notes/Pond]]",
        "[[Pöl]]",
        "[[Far]]",
    ]
    assert [round(hit.score, 6) for hit in answer.hits] == [1.0, 0.707107, 0.707107, 0.0, -1.0]
    assert answer.warnings == ()


def test_while_a_first_version_model_is_being_replaced_it_goes_on_answering(open_desk, first_version):
    first_version.embedder = StubEmbedder(3, name="new")
    first_version.embed(should_stop=lambda: True)
    desk = open_desk(None, vault=first_version)
    desk.embedders = {"v1:old-model": Fixed(), **desk.embedders}
    assert desk.ask("anything", ranking="meaning").hits[0].wikilink == "[[Heron]]"
    first_version.embed()
    desk.embedders.pop("v1:old-model")
    assert {hit.path for hit in desk.ask("note without", ranking="meaning", top_k=50).hits} >= {"Without.md", "Zero.md"}


@pytest.mark.requirement("NFR-3")
@pytest.mark.parametrize("ranking", ["best", "meaning"])
def test_a_dead_embedder_leaves_the_ranking_by_words_and_says_so(open_desk, desk, ranking):
    dead = StubEmbedder(64)
    dead.fail = True
    broken = open_desk(None, vault=desk.vault)
    broken.embedders = {desk.vault.embedder.fingerprint: dead}
    by_words = desk.ask("heron pond", ranking="words", folder="A")
    answer = broken.ask("heron pond", ranking=ranking, folder="A")
    assert [(hit.path, hit.score, hit.snippet) for hit in answer.hits] == [
        (hit.path, hit.score, hit.snippet) for hit in by_words.hits
    ]
    assert answer.warnings == ("The embedder cannot be reached: ranked by words alone.",)
    assert dead.calls == 1
    assert {hit.matched for hit in answer.hits} == {"words"}


@pytest.mark.requirement("NFR-3")
def test_a_dead_embedder_does_not_touch_filters_alone_and_words_alone(open_desk, desk):
    dead = StubEmbedder(64)
    dead.fail = True
    broken = open_desk(None, vault=desk.vault)
    broken.embedders = {desk.vault.embedder.fingerprint: dead}
    assert broken.ask(folder="A") == desk.ask(folder="A")
    assert broken.ask("heron", ranking="words") == desk.ask("heron", ranking="words")
    assert dead.calls == 0


@pytest.mark.parametrize("ranking", ["best", "meaning"])
def test_without_any_vector_words_rank_and_the_answer_says_why(open_desk, ranking):
    desk = open_desk({"a.md": "A heron.", "b.md": "A pond."}, embed=False)
    answer = desk.ask("heron", ranking=ranking)
    assert [hit.path for hit in answer.hits] == ["a.md"]
    assert answer.warnings == ("Nothing is embedded yet: ranked by words alone.",)
    assert answer.embedded == (0, 0)


def stop_after(embedder, calls):
    return lambda: embedder.calls >= calls


def test_a_half_embedded_vault_says_how_much_is_embedded_and_which_hits_are_not(open_desk, tmp_path):
    vault = IndexedVault(tmp_path, embedder=StubEmbedder(64)).write_all(
        {f"{number:02}.md": f"The heron number {number}." for number in range(40)}
    )
    vault.sync()
    vault.embed(should_stop=stop_after(vault.embedder, 1))
    desk = open_desk(None, vault=vault)
    answer = desk.ask("heron", top_k=50)
    assert answer.embedded == (32, 40)
    assert len(answer.hits) == 40
    waiting = {hit.path for hit in answer.hits if hit.note == "not embedded yet"}
    assert waiting == {f"{number}.md" for number in range(32, 40)}
    assert {hit.matched for hit in answer.hits if hit.path in waiting} == {"words"}
    assert {hit.matched for hit in answer.hits if hit.path not in waiting} == {"both"}
    assert {hit.path for hit in desk.ask("heron", ranking="meaning", top_k=50).hits}.isdisjoint(waiting)
    vault.embed()
    answer = desk.ask("heron", top_k=50)
    assert answer.embedded == (40, 40)
    assert {hit.note for hit in answer.hits} == {""}


def test_during_a_model_switch_the_old_model_answers_and_then_the_new_one(open_desk, tmp_path):
    old, new = StubEmbedder(48, name="old"), StubEmbedder(32, name="new")
    vault = IndexedVault(tmp_path, embedder=old).write_all(random_notes(40))
    vault.index()
    desk = open_desk(None, vault=vault)
    desk.embedders = {each.fingerprint: each for each in (old, new)}
    before = {ranking: desk.ask("heron pond", ranking=ranking) for ranking in ("best", "meaning")}
    vault.embedder = new
    vault.embed(should_stop=stop_after(new, 2))
    asked = new.calls
    for ranking, answer in before.items():
        assert desk.ask("heron pond", ranking=ranking) == answer
    assert new.calls == asked
    desk.embedders.pop(old.fingerprint)
    for ranking in before:
        assert desk.ask("heron pond", ranking=ranking).warnings == (
            "The model that made the vectors is not configured: ranked by words alone.",
        )
    vault.embed()
    asked = new.calls
    for ranking in before:
        assert desk.ask("heron pond", ranking=ranking).warnings == ()
    assert new.calls == asked + 2


def test_meaning_brings_notes_without_any_of_the_words_but_only_near_ones(open_desk):
    embedder = StubEmbedder(64)
    desk = open_desk(
        {
            "a.md": "Plum cake with crumbs.",
            "b.md": "Kettle.",
            "c.md": "Gravel.",
        },
        embedder=embedder,
    )
    meanings = {"cake": "Plum cake with crumbs.", "pastry": "plum cake crumbs"}

    class Knowing(StubEmbedder):
        def embed_query(self, text):
            return self._vector(meanings[text])

    desk.embedders = {embedder.fingerprint: Knowing(64)}
    answer = desk.ask("pastry")
    assert [(hit.path, hit.matched) for hit in answer.hits] == [("a.md", "meaning")]
    (alone,) = desk.ask("pastry path:a").hits
    assert alone.score > 0.3
    assert [(hit.path, hit.matched) for hit in desk.ask("cake").hits] == [("a.md", "both")]


def rivals(open_desk, languages, query, far):
    """*words.md* holds the words of *query*, *meaning.md* is what an embedder that knows better calls nearest."""
    embedder = StubEmbedder(64)
    embedder.languages = languages
    desk = open_desk(
        {
            "meaning.md": f"{query.split()[0]} quite another thing",
            "words.md": f"{query} {query} {far}",
            "x.md": "kettle",
        },
        embedder=embedder,
    )

    class Misled(StubEmbedder):
        def embed_query(self, text):
            return self._vector("quite another thing")

    misled = Misled(64)
    misled.languages = languages
    desk.embedders = {embedder.fingerprint: misled}
    return desk.paths(query, top_k=50)[0]


@pytest.mark.parametrize(
    ("languages", "query", "first"),
    [
        (None, "heron pond", "meaning.md"),
        (None, "Reiher ist nicht am Teich", "meaning.md"),
        (frozenset({"en"}), "heron and the pond", "meaning.md"),
        (frozenset({"en"}), "Reiher ist nicht am Teich", "words.md"),
        (frozenset({"de"}), "heron and the pond", "words.md"),
        (None, "DEC-0054", "words.md"),
        (None, "R2D2", "words.md"),
    ],
)
def test_meaning_counts_little_in_a_language_that_the_model_lacks_and_for_identifiers(
    open_desk, languages, query, first
):
    assert rivals(open_desk, languages, query, "slate " * 4) == first


def test_a_search_reads_one_state_of_the_index_even_while_another_is_written(open_desk, tmp_path):
    vault = IndexedVault(tmp_path, embedder=StubEmbedder(64)).write_all({"a.md": "A heron.", "b.md": "A heron too."})
    vault.index()
    desk = open_desk(None, vault=vault)
    with vault.writer() as writer:

        def write_and_read(path):
            vault.write("c.md", "A third heron.")
            vault.indexer(writer).sync()
            Embedding(writer, vault.embedder, vault.layout).run()
            return vault.outline(path)

        desk.read = write_and_read
        first = desk.ask("heron")
        assert {hit.path for hit in first.hits} == {"a.md", "b.md"}
        assert first.embedded == (2, 2)
        second = desk.ask("heron")
        assert len(second.hits) == 3
        assert second.embedded == (3, 3)
