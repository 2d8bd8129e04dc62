from __future__ import annotations

import socket

import numpy as np
import pytest

from fake_ollama import FakeOllama, Mode
from second_brain.embedding.ollama import OllamaEmbedder, OllamaState
from second_brain.errors import EmbedderUnavailable

MODEL = "nomic-embed-text"


@pytest.fixture
def embedder(fake_ollama):
    made = OllamaEmbedder(fake_ollama.url, MODEL, timeout_s=5)
    yield made
    made.close()


def unit(rows):
    rows = np.asarray(rows)
    return rows / np.linalg.norm(rows, axis=-1, keepdims=True)


def test_documents_and_queries_get_their_prefixes_and_come_back_as_unit_vectors(embedder, fake_ollama):
    rows = embedder.embed_documents(["tide table", "bread recipe"])
    query = embedder.embed_query("when is low tide")
    assert fake_ollama.texts == [
        "search_document: tide table",
        "search_document: bread recipe",
        "search_query: when is low tide",
    ]
    assert (rows.shape, rows.dtype, query.shape) == ((2, 64), np.float32, (64,))
    assert np.linalg.norm(rows, axis=1) == pytest.approx(np.ones(2), abs=1e-6)
    assert rows[0] == pytest.approx(unit(fake_ollama.vector("search_document: tide table")), abs=1e-6)


def test_many_texts_go_in_batches_and_are_never_truncated_by_the_server(fake_ollama):
    embedder = OllamaEmbedder(fake_ollama.url, MODEL, batch=32)
    rows = embedder.embed_documents([f"note {number}" for number in range(70)])
    embedder.close()
    assert rows.shape == (70, 64)
    assert fake_ollama.batch_sizes == [32, 32, 6]
    assert all(r.body["truncate"] is False for r in fake_ollama.requests if r.path == "/api/embed")


def test_no_texts_give_no_rows(embedder):
    assert embedder.embed_documents([]).shape == (0, 64)


def test_facts_of_the_model_are_asked_once_and_late(embedder, fake_ollama):
    assert fake_ollama.requests == []
    fake_ollama.parameters = 'stop "x"\nnum_ctx                        256'
    assert (embedder.dimension, embedder.max_tokens, embedder.max_words) == (64, 256, 179)
    embedder.embed_documents(["a"])
    assert [r.path for r in fake_ollama.requests] == ["/api/show", "/api/embed"]


def test_a_server_that_does_not_tell_the_dimension_is_asked_for_a_vector(embedder, fake_ollama):
    fake_ollama.tells_dimension = False
    assert embedder.dimension == 64
    assert embedder.embed_query("a").shape == (64,)


@pytest.mark.parametrize("told", [0, -5, "x", True, 10**12])
def test_a_dimension_that_can_be_none_is_asked_for_too(embedder, fake_ollama, told):
    fake_ollama.told_dimension = told
    assert embedder.embed_documents(["a", "b"]).shape == (2, 64)


@pytest.mark.parametrize("told", ["num_ctx 1", "num_ctx 0", "num_ctx 15"])
def test_a_context_that_no_model_has_is_not_believed(embedder, fake_ollama, told):
    fake_ollama.parameters = told
    assert embedder.max_tokens > 100


def test_the_fingerprint_is_one_for_a_name_with_and_without_latest(embedder, fake_ollama):
    tagged = OllamaEmbedder(fake_ollama.url, MODEL + ":latest")
    assert embedder.fingerprint == tagged.fingerprint
    assert embedder.fingerprint.startswith("ollama:nomic-embed-text:64:")
    tagged.close()


def test_a_known_dimension_makes_the_fingerprint_known_while_the_server_is_down(embedder, fake_ollama):
    expected = embedder.fingerprint
    fake_ollama.mode = Mode.DEAD
    offline = OllamaEmbedder(fake_ollama.url, MODEL, dimension=64)
    assert offline.fingerprint == expected


def test_another_dimension_than_the_known_one_is_refused(fake_ollama):
    embedder = OllamaEmbedder(fake_ollama.url, MODEL, dimension=768)
    with pytest.raises(EmbedderUnavailable, match="64 numbers instead of 768"):
        embedder.embed_query("a")
    embedder.close()


def test_a_text_beyond_the_context_is_split_at_words_and_its_pieces_are_averaged(embedder, fake_ollama):
    fake_ollama.context_words = 8  # the prefix is one word
    text = "alpha beta gamma delta epsilon zeta eta theta iota kappa"
    rows = embedder.embed_documents(["short one", text, "short two"])
    pieces = [sent.removeprefix("search_document: ") for sent in fake_ollama.texts[-3:-1]]
    assert " ".join(pieces) == text
    parts = np.array([fake_ollama.vector("search_document: " + piece) for piece in pieces])
    mean = np.average(unit(parts), axis=0, weights=[len(piece) for piece in pieces])
    assert rows[1] == pytest.approx(unit(mean), abs=1e-5)
    assert rows[0] == pytest.approx(unit(fake_ollama.vector("search_document: short one")), abs=1e-6)
    assert rows[2] == pytest.approx(unit(fake_ollama.vector("search_document: short two")), abs=1e-6)


@pytest.mark.parametrize("words", [5, 60, 700])
def test_the_last_word_of_a_long_text_changes_its_vector(embedder, fake_ollama, words):
    fake_ollama.context_words = 20
    one, two = embedder.embed_documents(["harbour " * words + "violin", "harbour " * words + "winter"])
    assert not np.allclose(one, two, atol=1e-5)


def test_a_model_that_takes_nothing_is_told_and_not_asked_for_ever(embedder, fake_ollama):
    fake_ollama.context_words = 0
    with pytest.raises(EmbedderUnavailable, match="single character"):
        embedder.embed_documents(["one two three four"])
    assert fake_ollama.embed_calls < 10


@pytest.mark.requirement("NFR-3")
@pytest.mark.parametrize(
    ("mode", "message", "hint"),
    [
        (Mode.DEAD, "not reachable", "ollama serve"),
        (Mode.ERROR_500, r"error \(500\): the runner broke down", "log"),
        (Mode.INVALID_JSON, "does not speak like Ollama", "ollama_url"),
        (Mode.OTHER_JSON, "does not speak like Ollama", "ollama_url"),
        (Mode.REDIRECT, "sends us elsewhere", "ollama_url"),
        (Mode.MODEL_MISSING, "does not have the model nomic-embed-text", "ollama pull nomic-embed-text"),
        (Mode.WRONG_DIMENSION, "65 numbers instead of 64", "builtin"),
        (Mode.TOO_FEW, "1 vectors for 2 texts", "builtin"),
        (Mode.NAN, "NaN", "builtin"),
        (Mode.ZERO, "all zeros", "builtin"),
    ],
)
def test_every_fault_of_the_server_is_unavailable_with_a_way_out_and_passes(embedder, fake_ollama, mode, message, hint):
    before = embedder.embed_documents(["one", "two"])
    fake_ollama.mode = mode
    with pytest.raises(EmbedderUnavailable, match=message) as caught:
        embedder.embed_documents(["one", "two"])
    assert hint in caught.value.hint
    assert caught.value.code == "unavailable"
    fake_ollama.mode = Mode.OK
    assert np.array_equal(embedder.embed_documents(["one", "two"]), before)


@pytest.mark.requirement("NFR-3")
@pytest.mark.parametrize("mode", [mode for mode in Mode if mode not in {Mode.OK, Mode.SLOW}])
def test_the_first_question_may_meet_any_fault(fake_ollama, mode):
    fake_ollama.spoil_all = True
    fake_ollama.mode = mode
    embedder = OllamaEmbedder(fake_ollama.url, MODEL)
    with pytest.raises(EmbedderUnavailable):
        embedder.embed_documents(["one", "two"])
    embedder.close()


@pytest.mark.requirement("NFR-3")
def test_a_slow_server_times_out_and_then_gets_smaller_requests(fake_ollama):
    embedder = OllamaEmbedder(fake_ollama.url, MODEL, timeout_s=0.15, dimension=64)
    texts = [f"note {number}" for number in range(10)]
    fake_ollama.mode = Mode.SLOW
    with pytest.raises(EmbedderUnavailable, match=r"within 0\.15 seconds"):
        embedder.embed_documents(texts)
    fake_ollama.mode = Mode.OK
    fake_ollama.forget()
    assert embedder.embed_documents(texts).shape == (10, 64)
    assert fake_ollama.batch_sizes == [2, 4, 4]
    embedder.close()


def test_requests_grow_again_when_the_server_is_quick_again(fake_ollama):
    embedder = OllamaEmbedder(fake_ollama.url, MODEL, timeout_s=0.15, dimension=64)
    texts = [f"note {number}" for number in range(100)]
    fake_ollama.mode = Mode.SLOW
    with pytest.raises(EmbedderUnavailable):
        embedder.embed_documents(texts)
    fake_ollama.mode = Mode.OK
    fake_ollama.forget()
    embedder.embed_documents(texts)
    assert fake_ollama.batch_sizes == [8, 16, 16, 16, 16, 16, 12]
    embedder.embed_documents(texts)
    embedder.embed_documents(texts)
    assert max(fake_ollama.batch_sizes) == 32
    embedder.close()


def test_a_slow_question_makes_no_request_for_passages_smaller_and_names_the_time_it_had(fake_ollama):
    embedder = OllamaEmbedder(fake_ollama.url, MODEL, timeout_s=0.2)
    fake_ollama.mode = Mode.SLOW
    for _ in range(2):
        with pytest.raises(EmbedderUnavailable, match=r"within 0\.2 seconds"):
            embedder.embed_query("note")
    fake_ollama.mode = Mode.OK
    fake_ollama.forget()
    embedder.embed_documents([f"note {number}" for number in range(32)])
    assert fake_ollama.batch_sizes == [32]
    embedder.close()


@pytest.mark.requirement("RG-18")
def test_proxies_of_the_environment_are_not_used(monkeypatch, fake_ollama):
    with FakeOllama() as proxy:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy.url)
        for name in ("NO_PROXY", "no_proxy"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("OLLAMA_HOST", proxy.url)
        embedder = OllamaEmbedder(fake_ollama.url, MODEL)
        embedder.embed_documents(["private thoughts"])
        embedder.ping()
        embedder.close()
        assert proxy.requests == []
    assert fake_ollama.foreign_hosts == []
    assert fake_ollama.embed_calls == 1


@pytest.mark.requirement("RG-18")
def test_a_redirect_to_another_host_is_not_followed(embedder, fake_ollama):
    with FakeOllama() as other:
        fake_ollama.redirect_to = other.url
        fake_ollama.spoil_all = True
        fake_ollama.mode = Mode.REDIRECT
        with pytest.raises(EmbedderUnavailable):
            embedder.embed_documents(["private thoughts"])
        assert embedder.ping().reachable is False
        assert other.requests == []


def test_ping_tells_version_and_models(embedder, fake_ollama):
    fake_ollama.models = ["nomic-embed-text:latest", "bge-m3:567m"]
    assert embedder.ping() == OllamaState(
        reachable=True, version="0.12.0", model_present=True, models=("bge-m3:567m", "nomic-embed-text")
    )
    fake_ollama.mode = Mode.MODEL_MISSING
    assert embedder.ping() == OllamaState(reachable=True, version="0.12.0")


@pytest.mark.parametrize("mode", [Mode.DEAD, Mode.ERROR_500, Mode.INVALID_JSON, Mode.OTHER_JSON, Mode.REDIRECT])
def test_ping_never_raises(embedder, fake_ollama, mode):
    fake_ollama.spoil_all = True
    fake_ollama.mode = mode
    state = embedder.ping()
    assert state.reachable is False
    assert fake_ollama.url in state.problem


def test_ping_gives_up_soon_on_a_server_that_hangs(monkeypatch, embedder, fake_ollama):
    monkeypatch.setattr("second_brain.embedding.ollama._PING_S", 0.1)
    fake_ollama.delay_s = 20
    fake_ollama.mode = Mode.SLOW
    assert embedder.ping().reachable is False


@pytest.mark.parametrize("url", ["ftp://somewhere", "http://host:port", "http://[broken", "http://a b:1", "::::"])
def test_what_is_no_address_is_unavailable_and_named(url):
    embedder = OllamaEmbedder(url, MODEL)
    with pytest.raises(EmbedderUnavailable) as caught:
        embedder.embed_query("a")
    assert url in caught.value.message
    assert embedder.ping().reachable is False


@pytest.mark.parametrize("form", ["127.0.0.1:{port}", "http://127.0.0.1:{port}/", "http://name:word@127.0.0.1:{port}"])
def test_an_address_may_be_written_in_the_usual_forms(fake_ollama, form):
    embedder = OllamaEmbedder(form.format(port=fake_ollama.url.rpartition(":")[2]), MODEL)
    assert embedder.embed_query("a").shape == (64,)
    assert embedder.ping().model_present
    embedder.close()


def test_something_that_hangs_up_without_an_answer_is_unavailable():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        embedder = OllamaEmbedder(f"http://127.0.0.1:{port}", MODEL, timeout_s=0.2, dimension=64)
        with pytest.raises(EmbedderUnavailable):
            embedder.embed_query("a")
        embedder.close()


def test_a_closed_embedder_connects_again(embedder, fake_ollama):
    embedder.embed_query("a")
    embedder.close()
    assert embedder.embed_query("a").shape == (64,)


def test_odd_characters_survive_the_way(embedder, fake_ollama):
    embedder.embed_documents(["caf\udce9 \0 😀"])
    assert fake_ollama.texts == ["search_document: caf? \0 😀"]
