"""A new model takes over when it has its vectors, not while many passages wait for a better moment of the embedder."""

from __future__ import annotations

import pytest

from indexed_vault import IndexedVault
from second_brain.errors import EmbedderUnavailable
from second_brain.index import vectors
from second_brain.indexing.embed import MOST_POSTPONED, Embedding
from stub_embedder import StubEmbedder


class Late(StubEmbedder):
    """A model that does not answer in time for the texts that say "late", but for every other one."""

    def __init__(self):
        super().__init__(16, "late")
        self.patient = False

    def embed_documents(self, texts):
        if not self.patient and any("late" in text for text in texts):
            error = EmbedderUnavailable("It took too long.", hint="Wait.")
            error.passing = True
            raise error
        return super().embed_documents(texts)


def answering(vault):
    with vault.reader() as reader:
        model = vectors.active_model(reader)
        return model.fingerprint, vectors.embedded(reader, model)


@pytest.mark.requirement("RG-10", "NFR-3")
@pytest.mark.parametrize(("late", "takes_over"), [(MOST_POSTPONED, True), (MOST_POSTPONED + 1, False)])
def test_the_former_model_answers_until_all_but_a_few_passages_have_their_vector(tmp_path, late, takes_over):
    vault = IndexedVault(tmp_path)
    # A quick one between the late ones: many in a row would end the run.
    vault.write_all(
        {f"{n:02}.md": f"# N{n}\n\n{'late' if n % 3 == 0 and n // 3 < late else 'quick'} {n}" for n in range(30)}
    )
    vault.index()
    former = vault.embedder.fingerprint
    vault.embedder = Late()
    with vault.writer() as writer:
        run = Embedding(writer, vault.embedder, vault.layout)
        report = run.run()
        assert report.waiting == late
        assert answering(vault) == ((vault.embedder.fingerprint, (30 - late, 30)) if takes_over else (former, (30, 30)))
        vault.embedder.patient = True
        assert run.run().waiting == 0
    assert answering(vault) == (vault.embedder.fingerprint, (30, 30))
