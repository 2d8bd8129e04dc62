"""Vectors are made in small steps, never twice, and whatever the embedder does the words go on working."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pytest

from indexed_vault import IndexedVault
from second_brain.errors import EmbedderUnavailable
from second_brain.index.reader import open_reader
from second_brain.index.writer import NOT_EMBEDDED
from second_brain.indexing.embed import BATCH
from second_brain.model import Scope
from second_brain.search.engine import search
from second_brain.search.request import from_arguments
from second_brain.vault.changes import Batch
from stub_embedder import StubEmbedder
from vaults import crash_notes

NOW = datetime(2026, 6, 1, tzinfo=UTC)


@pytest.fixture
def vault(tmp_path):
    return IndexedVault(tmp_path).write_all(crash_notes.as_bytes())


def ask(vault, query, ranking="best", **arguments):
    reader = open_reader(vault.db, Scope())
    try:
        return search(reader, from_arguments(query=query, ranking=ranking, now=NOW, **arguments), vault.tools())
    finally:
        reader.close()


def passages(vault):
    return sum(len(chunks) for chunks in vault.dump()["chunks"].values())


@pytest.mark.requirement("NFR-3", "RG-10")
def test_a_dead_embedder_leaves_notes_waiting_and_words_working_and_the_next_run_catches_up(vault):
    vault.embedder.fail = True
    vault.sync()
    report = vault.embed()
    assert report.unavailable
    assert (report.embedded, report.waiting) == (0, passages(vault))
    answer = ask(vault, "lantern repair")
    assert answer.hits
    assert answer.warnings
    vault.embedder.fail = False
    report = vault.embed()
    assert (report.unavailable, report.waiting, report.embedded) == ("", 0, passages(vault))
    assert not ask(vault, "lantern repair").warnings


@pytest.mark.requirement("RG-10")
def test_an_embedder_that_dies_on_the_way_keeps_what_it_made(vault):
    class Mortal(StubEmbedder):
        def embed_documents(self, texts):
            if self.calls == 2:
                self.fail = True
            return super().embed_documents(texts)

    vault.embedder = Mortal(16)
    vault.sync()
    report = vault.embed()
    assert report.unavailable
    assert report.embedded == 2 * BATCH
    vault.embedder = StubEmbedder(16)
    vault.embed()
    assert vault.embedder.texts == passages(vault) - 2 * BATCH


@pytest.mark.requirement("RG-10")
def test_an_edit_that_cannot_be_embedded_keeps_the_other_notes_vectors(vault):
    vault.index()
    before = vault.dump()["embeddings"]
    vault.write("latin.md", "an entirely new text")
    vault.embedder.fail = True
    vault.index()
    after = vault.dump()["embeddings"]
    assert after == {path: row for path, row in before.items() if path != "latin.md"}


class Odd(StubEmbedder):
    """Gives something else than promised for every text, or for those with a certain word."""

    def __init__(self, spoil, word=""):
        super().__init__(16)
        self._spoil, self._word = spoil, word

    def embed_documents(self, texts):
        found = super().embed_documents(texts)
        return self._spoil(found) if any(self._word in text for text in texts) else found

    def embed_query(self, text):
        found = super().embed_query(text)
        return found if self._word else self._spoil(found[None, :])[0]


def refuse(_):
    raise EmbedderUnavailable("The model choked.", hint="Try another.")


SPOILT = {
    "not a number": lambda found: np.full_like(found, np.nan),
    "infinite": lambda found: found / 0.0 if False else np.full_like(found, np.inf),
    "another dimension": lambda found: found[:, :8],
    "too few": lambda found: found[:-1],
    "too many": lambda found: np.vstack([found, found]),
    "refused": refuse,
}


@pytest.mark.requirement("RG-10", "NFR-3")
@pytest.mark.parametrize("kind", ["not a number", "infinite", "another dimension", "refused"])
def test_an_embedder_whose_vectors_are_of_no_use_counts_as_unavailable(vault, kind):
    vault.embedder = Odd(SPOILT[kind])
    vault.sync()
    report = vault.embed()
    assert report.unavailable
    assert vault.dump()["vectors"] == {}
    assert ask(vault, "lantern", "words").hits
    vault.embedder = StubEmbedder(16)
    assert vault.embed().embedded == passages(vault)


@pytest.mark.requirement("RG-10")
@pytest.mark.parametrize("kind", SPOILT)
def test_one_text_that_cannot_be_embedded_blocks_no_other_and_is_named(vault, kind):
    vault.write("poison.md", "# Poisoned\n\nthe text with poisonword in it")
    vault.sync()
    vault.embedder = Odd(SPOILT[kind], "poisonword")
    with vault.writer() as writer:
        from second_brain.indexing.embed import Embedding

        run = Embedding(writer, vault.embedder, vault.layout)
        report = run.run()
        assert not report.unavailable
        assert report.embedded == passages(vault) - 1
        assert [error.split(":")[0] for error in report.errors] == ["poison.md"]
        assert NOT_EMBEDDED in vault.dump()["problems"]["poison.md"][0]
        asked = vault.embedder.texts
        again = run.run()
        assert (again.embedded, vault.embedder.texts) == (0, asked), "a refused text is not asked for again in this run"
        assert again.errors
    assert ask(vault, "poisonword", "words").hits[0].path == "poison.md"
    vault.embedder = StubEmbedder(16)
    assert vault.embed().embedded == 1
    assert "poison.md" not in vault.dump()["problems"]


def test_a_problem_of_the_note_itself_is_not_hidden_by_one_of_its_vectors(vault):
    vault.write("broken.md", b"---\ntags: [unclosed\n---\npoisonword")
    vault.embedder = Odd(refuse, "poisonword")
    vault.index()
    assert NOT_EMBEDDED not in vault.dump()["problems"]["broken.md"][0]


# -- what is never embedded twice


@pytest.mark.requirement("RG-17", "FR-02", "FR-10")
@pytest.mark.parametrize(
    "change",
    ["move", "rename", "move folder", "touch", "full sync", "delete and return", "swap", "copy", "watched move"],
)
def test_nothing_is_embedded_anew_by(vault, tmp_path, change):
    vault.index()
    made = vault.embedder.texts
    one, two = vault.root / "Areas/Home/lantern repair 1.md", vault.root / "Areas/Home/rope splicing 9.md"
    contents = {place: place.read_bytes() for place in (one, two)}
    if change == "move":
        one.rename(vault.root / one.name)
    elif change == "rename":
        one.rename(one.with_name("Another name entirely.md"))
    elif change == "move folder":
        (vault.root / "Areas").rename(vault.root / "Regions")
    elif change == "touch":
        vault.write("Areas/Home/lantern repair 1.md", contents[one], mtime=1_600_000_000)
    elif change == "delete and return":
        one.unlink()
        vault.index()
        one.write_bytes(contents[one])
    elif change == "swap":
        one.write_bytes(contents[two])
        two.write_bytes(contents[one])
    elif change == "copy":
        (vault.root / "Copy.md").write_bytes(contents[one])
    elif change == "watched move":
        one.rename(one.with_name("Watched.md"))
        vault.look_at(Batch(paths=frozenset({"Areas/Home/lantern repair 1.md", "Areas/Home/Watched.md"})))
    vault.sync(full=change == "full sync")
    vault.embed()
    assert vault.embedder.texts == made
    assert vault.dump() == vault.fresh_dump(tmp_path / "fresh")


@pytest.mark.requirement("RG-17", "T-9")
def test_a_moved_note_keeps_its_vectors_answering_in_the_same_commit(vault):
    vault.index()
    (vault.root / "Areas/Home/lantern repair 1.md").rename(vault.root / "moved.md")
    vault.sync()
    before = vault.embedder.texts
    answer = ask(vault, "lantern repair day 1", "meaning", top_k=50)
    assert "moved.md" in {hit.path for hit in answer.hits}
    assert vault.embedder.texts == before + 1


def test_only_the_changed_passages_of_a_long_note_are_embedded(vault):
    sections = [f"## Part {n}\n\n" + f"words of part {n} " * 12 for n in range(10)]
    vault.write("long.md", "# Long\n\n" + "\n\n".join(sections))
    vault.index()
    made = vault.embedder.texts
    sections[4] += " and one word more"
    vault.write("long.md", "# Long\n\n" + "\n\n".join(sections))
    vault.index()
    assert vault.embedder.texts - made == 1


def test_forgetting_a_note_finds_its_vectors_through_the_index(vault):
    vault.index()
    with vault.writer() as writer:
        seen = []
        writer.connection.exec_trace = lambda _, sql, values: (seen.append(sql), True)[1]
        writer.delete(["latin.md"])
        writer.connection.exec_trace = None
        (release,) = [sql for sql in seen if sql.startswith("UPDATE vectors")]
        plan = [row[3] for row in writer.connection.execute(f"EXPLAIN QUERY PLAN {release}", (1,))]
    assert any("vectors_chunk" in step and "SEARCH" in step for step in plan)
    assert not any("SCAN vectors" in step for step in plan)


@pytest.mark.requirement("NFR-2", "FR-11")
def test_a_filter_reads_fewer_vectors_and_none_reads_more_than_there_are(vault):
    vault.index()
    read = {}
    for name, arguments in {"all": {}, "folder": {"folder": "Projects"}, "tag": {"tags": ["area/lantern"]}}.items():
        for ranking in ("best", "meaning"):
            reader = open_reader(vault.db, Scope())
            search(reader, from_arguments(query="signal", ranking=ranking, now=NOW, **arguments), vault.tools())
            read[name, ranking] = reader.counters.vectors_read
            reader.close()
    notes = len(vault.dump()["embeddings"])
    assert read["all", "meaning"] == notes
    for ranking in ("best", "meaning"):
        assert 0 < read["folder", ranking] < read["all", ranking]
        assert 0 < read["tag", ranking] < read["all", ranking]
    # Passages of notes that only the words proposed may be compared a second time.
    assert read["all", "best"] <= 2 * passages(vault)
