"""A server that drips, never ends, hangs, packs or lies costs one deadline at most, and a stop ends the wait at once."""

from __future__ import annotations

import gzip
import json
import socket
import threading
import time
from contextlib import suppress

import numpy as np
import pytest

from fake_ollama import FakeOllama
from second_brain.embedding import ollama
from second_brain.embedding.ollama import OllamaEmbedder
from second_brain.errors import EmbedderUnavailable

OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
BOMB = gzip.compress(b"0" * 30_000_000)
GOOD = json.dumps({"embeddings": [[0.5] * 8]}).encode()


def drip(connection, data):
    for byte in data:
        connection.sendall(bytes([byte]))
        time.sleep(0.02)


def endless(connection, piece):
    while True:
        connection.sendall(piece)


def hang(connection):
    while connection.recv(1024):
        pass


SILENT = {
    "silent": hang,
    "hangs within headers": lambda c: (c.sendall(OK), hang(c)),
    "hangs after headers": lambda c: (c.sendall(OK + b"Content-Length: 20\r\n\r\n"), hang(c)),
    "hangs within the body": lambda c: (c.sendall(OK + b"Content-Length: 900\r\n\r\n" + GOOD[:20]), hang(c)),
    "drips headers": lambda c: drip(c, OK + b"X: " + b"x" * 50_000),
    "drips a body": lambda c: (c.sendall(OK + b"Content-Length: 90000\r\n\r\n"), drip(c, b" " * 90_000)),
    "goes on with 102": lambda c: endless(c, b"HTTP/1.1 102 Processing\r\n\r\n"),
}
LYING = {
    "endless body": lambda c: (c.sendall(OK + b"\r\n"), endless(c, b" " * 65_536)),
    "endless chunks": lambda c: (
        c.sendall(OK + b"Transfer-Encoding: chunked\r\n\r\n"),
        endless(c, b"10000\r\n" + b" " * 65_536 + b"\r\n"),
    ),
    "endless headers": lambda c: (c.sendall(OK), endless(c, b"X-Filler: " + b"x" * 1000 + b"\r\n")),
    "gzip bomb": lambda c: c.sendall(OK + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(BOMB) + BOMB),
    "deep json": lambda c: c.sendall(OK + b"Content-Length: 400000\r\n\r\n" + b"[" * 400_000),
    "garbage": lambda c: c.sendall(b"\x00\xff\xfe garbage \r\n\r\n" * 50),
    "another protocol": lambda c: c.sendall(b"220 mail.example.invalid ready\r\n"),
    "cut short": lambda c: c.sendall(OK + b"Content-Length: 900\r\n\r\n" + GOOD[:20]),
    "huge number": lambda c: c.sendall(OK + b"Content-Length: 100000\r\n\r\n" + b"9" * 100_000),
    "redirect loop": lambda c: c.sendall(b"HTTP/1.1 307 Go\r\nLocation: /api/embed\r\nContent-Length: 0\r\n\r\n"),
}


@pytest.fixture
def serve():
    """Start a server that behaves as told towards everyone who asks; returns its address."""
    listeners = []

    def start(behave):
        listener = socket.create_server(("127.0.0.1", 0))
        listeners.append(listener)

        def answer(connection):
            with connection, suppress(OSError):
                connection.recv(1 << 16)
                behave(connection)

        def accept():
            with suppress(OSError):
                while True:
                    connection, _ = listener.accept()
                    threading.Thread(target=answer, args=(connection,), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        return f"http://127.0.0.1:{listener.getsockname()[1]}"

    yield start
    for listener in listeners:
        with suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
        listener.close()


def exchanges():
    return [thread for thread in threading.enumerate() if thread.name == "embedder-exchange"]


@pytest.mark.requirement("NFR-3")
@pytest.mark.parametrize("kind", SILENT)
def test_a_server_that_does_not_come_to_an_end_costs_one_deadline_and_is_no_fault_of_the_text(serve, kind, eventually):
    embedder = OllamaEmbedder(serve(SILENT[kind]), "m", timeout_s=0.3, dimension=8)
    started = time.monotonic()
    with pytest.raises(EmbedderUnavailable, match=r"did not answer within 0\.3 seconds") as caught:
        embedder.embed_query("a")
    assert time.monotonic() - started < 5
    assert caught.value.passing
    eventually(lambda: not exchanges())


@pytest.mark.requirement("NFR-3")
@pytest.mark.parametrize("kind", LYING)
def test_an_answer_that_no_server_should_give_ends_long_before_the_deadline(serve, kind, eventually):
    embedder = OllamaEmbedder(serve(LYING[kind]), "m", timeout_s=60, dimension=8)
    started = time.monotonic()
    with pytest.raises(EmbedderUnavailable) as caught:
        embedder.embed_query("a")
    assert time.monotonic() - started < 30
    assert caught.value.passing
    assert caught.value.hint
    eventually(lambda: not exchanges())


@pytest.mark.requirement("NFR-3")
@pytest.mark.parametrize("kind", [*SILENT, *LYING])
def test_ping_and_the_first_question_meet_the_same_limits(serve, kind, monkeypatch):
    monkeypatch.setattr(ollama, "_PING_S", 0.3)
    embedder = OllamaEmbedder(serve({**SILENT, **LYING}[kind]), "m", timeout_s=1)
    assert embedder.ping().reachable is False
    with pytest.raises(EmbedderUnavailable):
        _ = embedder.max_words


@pytest.mark.parametrize("kind", SILENT)
def test_closing_ends_what_other_threads_ask_and_the_next_question_is_answered(serve, kind, eventually):
    embedder = OllamaEmbedder(serve(SILENT[kind]), "m", timeout_s=600, dimension=8)
    failures = []

    def ask():
        try:
            embedder.embed_query("a")
        except EmbedderUnavailable as error:
            failures.append(error)

    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    eventually(lambda: embedder._running)  # a thread of the test before may still be ending
    embedder.close()
    asking.join(5)
    assert [failure.passing for failure in failures] == [True]
    eventually(lambda: not exchanges())
    with FakeOllama(dimension=8, models=["m"]) as honest:
        embedder._url = honest.url
        assert embedder.embed_query("a").shape == (8,)


def test_a_name_that_is_looked_up_for_ever_costs_one_deadline(monkeypatch):
    woken = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: woken.wait(20) and [])
    embedder = OllamaEmbedder("http://somewhere.example.invalid", "m", timeout_s=0.2, dimension=8)
    started = time.monotonic()
    with pytest.raises(EmbedderUnavailable, match="did not answer"):
        embedder.embed_query("a")
    assert time.monotonic() - started < 5
    woken.set()


def test_the_largest_answer_that_can_be_meant_is_taken():
    with FakeOllama(dimension=4096, models=["m"]) as server:
        embedder = OllamaEmbedder(server.url, "m", batch=128, timeout_s=60)
        server.vector = lambda _text: [-0.123456789012345678e-10] * 4096
        rows = embedder.embed_documents(["a"] * 128)
        assert rows.shape == (128, 4096)
        assert np.isfinite(rows).all()


@pytest.mark.parametrize(
    ("status", "told", "passing"),
    [
        (500, "the runner broke down", True),
        (503, "server busy, please try again", True),
        (429, "too many requests", True),
        (500, "failed to encode response: json: unsupported value: NaN", False),
        (400, "invalid input type", False),
    ],
)
def test_an_error_of_the_server_is_told_from_a_text_that_it_cannot_take(serve, status, told, passing):
    body = json.dumps({"error": told}).encode()
    head = f"HTTP/1.1 {status} Error\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    embedder = OllamaEmbedder(serve(lambda c: c.sendall(head.encode() + body)), "m", dimension=8)
    with pytest.raises(EmbedderUnavailable) as caught:
        embedder.embed_query("a")
    assert caught.value.passing is passing
