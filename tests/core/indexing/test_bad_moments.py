"""A text that cannot be embedded is told from an embedder that had a bad moment, and neither holds up the others."""

from __future__ import annotations

import pytest

from indexed_vault import IndexedVault
from second_brain.errors import EmbedderUnavailable
from second_brain.index.writer import NOT_EMBEDDED
from second_brain.indexing.embed import BAD_MOMENTS, BATCH, Embedding
from stub_embedder import StubEmbedder


class Moody(StubEmbedder):
    """Fails for texts with "moody" in them as long as `bad` says so; `passing` tells whose fault that is."""

    def __init__(self, *, passing, times=10_000):
        super().__init__(16)
        self.passing, self.times = passing, times

    def embed_documents(self, texts):
        found = super().embed_documents(texts)
        if self.times and any("moody" in text for text in texts):
            self.times -= 1
            error = EmbedderUnavailable("It took too long.", hint="Wait.")
            error.passing = self.passing
            raise error
        return found


@pytest.fixture
def vault(tmp_path):
    vault = IndexedVault(tmp_path)
    return vault.write_all({f"{number:03}.md": f"# Note {number}\n\nabout joists" for number in range(2 * BATCH)})


def waiting(writer):
    return writer.connection.execute(
        "SELECT count(*) FROM chunks WHERE id NOT IN (SELECT chunk FROM vectors WHERE chunk IS NOT NULL)"
    ).get


@pytest.mark.requirement("RG-10", "NFR-3")
def test_a_bad_moment_is_made_good_by_the_next_run_of_the_same_process(vault):
    vault.write("000.md", "the moody one")
    vault.sync()
    vault.embedder = Moody(passing=True, times=2)
    with vault.writer() as writer:
        run = Embedding(writer, vault.embedder, vault.layout)
        first = run.run()
        assert (first.unavailable, first.waiting, first.embedded) == ("", 1, 2 * BATCH - 1)
        assert "It took too long." in first.errors[0]
        second = run.run()
        assert (second.embedded, second.waiting, second.errors) == (1, 0, [])
    assert "000.md" not in vault.dump()["problems"]


@pytest.mark.requirement("RG-10", "NFR-3")
@pytest.mark.parametrize(("times", "refused"), [(1, False), (2, False), (3, True)])
def test_a_text_is_refused_only_when_it_failed_alone_twice(vault, times, refused):
    vault.write("000.md", "the moody one")
    vault.sync()
    vault.embedder = Moody(passing=False, times=times)
    report = vault.embed()
    assert report.embedded == 2 * BATCH - refused
    assert bool(report.errors) is refused
    assert ("000.md" in vault.dump()["problems"]) is refused


@pytest.mark.requirement("NFR-3")
def test_an_embedder_that_is_too_slow_for_one_text_after_the_other_ends_the_run_and_keeps_what_it_made(vault):
    for number in range(1, 10):
        vault.write(f"{number:03}.md", f"moody {number}")
    vault.sync()
    vault.embedder = Moody(passing=True)
    with vault.writer() as writer:
        run = Embedding(writer, vault.embedder, vault.layout)
        report = run.run()
        assert report.unavailable
        assert report.embedded == 1
        calls = vault.embedder.calls
        assert calls < 4 * BAD_MOMENTS
        # Those that were late come last, so that all others get through in the end.
        for _ in range(9 // BAD_MOMENTS):
            run.run()
        assert waiting(writer) == 9


@pytest.mark.requirement("RG-10")
def test_a_text_that_always_makes_the_embedder_fail_keeps_no_model_from_being_finished(vault):
    vault.write("000.md", "the moody one")
    vault.index()
    vault.embedder = Moody(passing=True)
    vault.embedder.fingerprint = "stub:second:16"
    report = vault.embed()
    assert (report.waiting, report.embedded) == (1, 2 * BATCH - 1)
    assert [row[0] for row in vault.dump()["models"] if row[-1] == "active"] == ["stub:second:16"]
    assert NOT_EMBEDDED in report.errors[0]
