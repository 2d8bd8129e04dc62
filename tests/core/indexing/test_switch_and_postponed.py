"""A new model takes over when it has its vectors, not while many passages wait for a better moment of the embedder."""

from __future__ import annotations

import pytest

from indexed_vault import IndexedVault
from second_brain.errors import EmbedderUnavailable
from second_brain.index import vectors
from second_brain.indexing.embed import MOST_POSTPONED, Embedding
from second_brain.model import Layout
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


class Refusing(StubEmbedder):
    """A model that cannot embed the texts that hold a word."""

    def __init__(self, word):
        super().__init__(16, "refusing")
        self.word = word

    def embed_documents(self, texts):
        if any(self.word in text for text in texts):
            raise EmbedderUnavailable("It cannot read this.", hint="Change it.")
        return super().embed_documents(texts)


@pytest.mark.requirement("RG-10", "NFR-3")
@pytest.mark.parametrize(("refused", "takes_over"), [(0, True), (3, True), (4, False), (30, False)])
def test_a_new_model_that_refuses_many_passages_does_not_take_over_and_says_so(tmp_path, refused, takes_over):
    vault = IndexedVault(tmp_path)
    vault.write_all({f"{n:02}.md": f"# N{n}\n\n{'odd' if n < refused else 'plain'} {n}" for n in range(30)}).index()
    former = vault.embedder.fingerprint
    vault.embedder = Refusing("odd")
    report = vault.embed()
    if takes_over:
        assert not report.kept_former
        assert answering(vault) == (vault.embedder.fingerprint, (30 - refused, 30))
    else:
        assert f"refusing embeds {30 - refused} of 30 passages" in report.kept_former
        assert not report.unavailable
        assert answering(vault) == (former, (30, 30))


@pytest.mark.requirement("RG-10")
def test_a_first_model_answers_although_it_refuses_passages(tmp_path):
    vault = IndexedVault(tmp_path, embedder=Refusing("odd"))
    vault.write_all({f"{n:02}.md": f"{'odd' if n % 2 else 'plain'} {n}" for n in range(20)})
    vault.sync()
    report = vault.embed()
    assert (report.embedded, report.unavailable) == (10, "")
    assert answering(vault)[1] == (10, 20)


@pytest.mark.requirement("NFR-3")
@pytest.mark.parametrize("copies", [2, 3, 40])
def test_a_stuck_text_that_stands_in_many_notes_is_one_bad_moment_and_keeps_no_other_from_its_vector(tmp_path, copies):
    vault = IndexedVault(tmp_path, embedder=Late())
    vault.write_all({f"a{n:02}.md": "The late template." for n in range(copies)})
    vault.write_all({f"n{n:02}.md": f"quick {n}" for n in range(60)})
    vault.sync()
    report = vault.embed()
    assert (report.embedded, report.waiting, report.unavailable) == (60, copies, "")


@pytest.mark.requirement("RG-10")
@pytest.mark.parametrize("copies", [1, 4, 40])
def test_copies_of_one_stuck_text_are_no_reason_to_keep_the_former_model(tmp_path, copies):
    vault = IndexedVault(tmp_path)
    vault.write_all({f"a{n:02}.md": "The late template." for n in range(copies)})
    vault.write_all({f"n{n:02}.md": f"quick {n}" for n in range(60)}).index()
    vault.embedder = Late()
    report = vault.embed()
    assert (report.waiting, report.kept_former) == (copies, "")
    assert answering(vault) == (vault.embedder.fingerprint, (60, 60 + copies))


@pytest.mark.requirement("RG-10")
def test_another_size_of_passages_takes_over_whatever_the_model_refuses(tmp_path):
    vault = IndexedVault(tmp_path, embedder=Refusing("odd"))
    text = "\n\n".join(f"# Part {n}\n\n" + f"word{n} " * 30 for n in range(3))
    vault.write_all({f"{n:02}.md": f"{'odd' if n % 2 else 'plain'} {n}\n\n{text}" for n in range(10)})
    vault.index()
    vault.layout = Layout(20, 4)
    report = vault.embed()
    assert not report.kept_former
    with vault.reader() as reader:
        (size,) = reader.connection.execute(
            "SELECT l.size FROM models m JOIN layouts l ON l.id = m.layout WHERE m.state = 'active'"
        ).fetchone()
    assert size == 20


@pytest.mark.requirement("NFR-3")
@pytest.mark.parametrize("notes", [1, 2])
def test_a_bad_moment_in_a_small_vault_is_no_reason_to_choose_another_model(tmp_path, notes):
    vault = IndexedVault(tmp_path).write_all({f"{n}.md": f"late {n}" for n in range(notes)}).index()
    vault.embedder = Late()
    report = vault.embed()
    assert (report.waiting, report.kept_former, report.unavailable) == (notes, "", "")


def test_a_text_that_stands_in_many_notes_is_embedded_once_in_a_batch(tmp_path):
    vault = IndexedVault(tmp_path, embedder=StubEmbedder(16))
    vault.write_all({f"{n:02}.md": "The same template." for n in range(20)})
    vault.sync()
    assert vault.embed().embedded == 20
    assert vault.embedder.texts == 1
