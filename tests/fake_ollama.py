"""A stand-in for Ollama on loopback, for tests: the fixture ``fake_ollama``, or the class.

    from fake_ollama import FakeOllama, Mode

    with FakeOllama(dimension=64) as server:
        embedder = OllamaEmbedder(server.url, "nomic-embed-text")
        server.mode = Mode.DEAD      # connections are refused; Mode.OK revives it on the same port
        server.context_words = 50    # longer texts get Ollama's "exceeds the context length"
        server.texts, server.embed_calls, server.requests

It answers `/api/version`, `/api/tags`, `/api/show` and `/api/embed` as Ollama does.  Vectors are made of hashes of the
folded words of a text: the same text gives the same vector everywhere, texts that share words are similar, and word
order does not count.  `mode` may be changed at any time and holds for the requests that come after; every mode but
DEAD, SLOW and MODEL_MISSING spoils only `/api/embed`, or the other endpoints too where `spoil_all` is set.  SLOW
answers after `delay_s`.  `requests` records every request with its Host header, `foreign_hosts` those that were meant
for somebody else (an absolute URL or another Host: what a client that uses a proxy sends).
"""

from __future__ import annotations

import hashlib
import json
import re
import socket
import threading
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self

import numpy as np


class Mode(StrEnum):
    OK = "ok"
    DEAD = "dead"
    SLOW = "slow"
    WRONG_DIMENSION = "wrong dimension"
    TOO_FEW = "too few vectors"
    NAN = "nan"
    ZERO = "zero"
    ERROR_500 = "error 500"
    INVALID_JSON = "invalid json"
    OTHER_JSON = "json of another shape"
    REDIRECT = "redirect to another host"
    MODEL_MISSING = "model missing"


@dataclass(frozen=True, slots=True)
class Request:
    method: str
    path: str
    host: str
    body: dict = field(default_factory=dict)


class FakeOllama:
    """The server; `start` and `stop` are also what `with` does."""

    def __init__(self, *, dimension=64, models=("nomic-embed-text:latest",), version="0.12.0"):
        self.dimension = dimension
        self.models = list(models)
        self.version = version
        self.context_words = None
        self.context_tokens = 2048
        self.parameters = ""
        self.tells_dimension = True
        self.told_dimension = None  # instead of the true one
        self.delay_s = 1.0
        self.spoil_all = False
        self.redirect_to = "http://elsewhere.example.invalid"
        self.requests: list[Request] = []
        self._mode = Mode.OK
        self._port = 0
        self._server = None
        self._thread = None
        self._lock = threading.Lock()
        self._woken = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    @property
    def mode(self) -> Mode:
        return self._mode

    @mode.setter
    def mode(self, mode: Mode) -> None:
        self._mode = mode
        if mode is Mode.DEAD:
            self.stop()
        elif self._server is None:
            self.start()

    @property
    def texts(self) -> list[str]:
        """Every text of every `/api/embed` request in order, prefixes included."""
        return [text for request in self._embeds() for text in _inputs(request.body)]

    @property
    def embed_calls(self) -> int:
        return len(self._embeds())

    @property
    def batch_sizes(self) -> list[int]:
        return [len(_inputs(request.body)) for request in self._embeds()]

    @property
    def foreign_hosts(self) -> list[str]:
        own = f"127.0.0.1:{self._port}"
        return [r.host for r in self.requests if r.host != own or not r.path.startswith("/")]

    def forget(self) -> None:
        """Start counting anew."""
        with self._lock:
            self.requests.clear()

    def vector(self, text: str) -> list[float]:
        """The vector that the server gives for *text* in mode OK."""
        return vector(text, self.dimension)

    def start(self) -> Self:
        self._woken.clear()
        self._server = _Server(("127.0.0.1", self._port), self)
        self._port = self._server.server_port
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self._thread.start()
        return self

    def stop(self) -> None:
        if self._server is None:
            return
        self._woken.set()
        self._server.shutdown()
        self._server.hang_up()
        self._server.server_close()
        self._thread.join()
        self._server = None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_exc) -> None:
        self.stop()

    def _embeds(self) -> list[Request]:
        with self._lock:
            return [request for request in self.requests if request.path == "/api/embed"]

    def record(self, request: Request) -> None:
        with self._lock:
            self.requests.append(request)

    def answer(self, request: Request) -> tuple[int, bytes, dict[str, str]]:
        """Status, body and extra headers for *request*."""
        if self._mode is Mode.SLOW:
            self._woken.wait(self.delay_s)
        spoilt = self.spoil_all or request.path == "/api/embed"
        if spoilt and self._mode is Mode.ERROR_500:
            return _json({"error": "the runner broke down"}, 500)
        if spoilt and self._mode is Mode.INVALID_JSON:
            return 200, b"<html>this is no JSON", {}
        if spoilt and self._mode is Mode.OTHER_JSON:
            return 200, b"[1, 2, 3]", {}
        if spoilt and self._mode is Mode.REDIRECT:
            return 307, b"", {"Location": self.redirect_to + request.path}
        routes = {
            ("GET", "/api/version"): self._version,
            ("GET", "/api/tags"): self._tags,
            ("POST", "/api/show"): self._show,
            ("POST", "/api/embed"): self._embed,
        }
        route = routes.get((request.method, request.path))
        return route(request.body) if route else _json({"error": "not found"}, 404)

    def _version(self, _body):
        return _json({"version": self.version})

    def _tags(self, _body):
        names = [] if self._mode is Mode.MODEL_MISSING else self.models
        return _json({"models": [{"name": name, "model": name, "digest": "f" * 64, "size": 1} for name in names]})

    def _show(self, body):
        if not self._has(body.get("model", "")):
            return _json({"error": f"model '{body.get('model')}' not found"}, 404)
        info = {"general.architecture": "fake", "fake.context_length": self.context_tokens}
        if self.tells_dimension:
            info["fake.embedding_length"] = self.dimension if self.told_dimension is None else self.told_dimension
        return _json({"model_info": info, "parameters": self.parameters, "capabilities": ["embedding"]})

    def _embed(self, body):
        if not self._has(body.get("model", "")):
            return _json({"error": f'model "{body.get("model")}" not found, try pulling it first'}, 404)
        texts = _inputs(body)
        if self.context_words is not None and any(len(text.split()) > self.context_words for text in texts):
            if body.get("truncate", True):
                texts = [" ".join(text.split()[: self.context_words]) for text in texts]
            else:
                return _json({"error": "the input length exceeds the context length"}, 400)
        rows = [self._spoilt(self.vector(text)) for text in texts]
        if self._mode is Mode.TOO_FEW:
            rows = rows[1:]
        return _json({"model": body.get("model"), "embeddings": rows, "prompt_eval_count": len(texts)})

    def _spoilt(self, row):
        if self._mode is Mode.WRONG_DIMENSION:
            return [*row, 0.5]
        if self._mode is Mode.NAN:
            return [float("nan"), *row[1:]]
        if self._mode is Mode.ZERO:
            return [0.0] * len(row)
        return row

    def _has(self, name) -> bool:
        return self._mode is not Mode.MODEL_MISSING and _full(name) in {_full(model) for model in self.models}


def vector(text: str, dimension: int) -> list[float]:
    """The unit vector of *text*: the sum of the vectors of its words."""
    words = re.findall(r"\w+", text.casefold()) or ["\0"]
    total = np.sum([_word_vector(word, dimension) for word in words], axis=0)
    length = np.linalg.norm(total)
    return [round(number, 7) for number in (total / (length or 1.0)).tolist()]


@cache
def _word_vector(word: str, dimension: int) -> np.ndarray:
    digest = hashlib.shake_256(word.encode("utf-8", "replace")).digest(2 * dimension)
    return np.frombuffer(digest, dtype="<i2").astype(np.float64)


def _inputs(body: dict) -> list[str]:
    given = body.get("input", [])
    return [given] if isinstance(given, str) else list(given)


def _full(name: str) -> str:
    return name if ":" in name else f"{name}:latest"


def _json(content, status=200):
    return status, json.dumps(content).encode(), {"Content-Type": "application/json"}


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, address, fake):
        super().__init__(address, _Handler)
        self.fake = fake
        self._open: set[socket.socket] = set()

    def process_request(self, request, client_address):
        self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request):
        self._open.discard(request)
        super().shutdown_request(request)

    def hang_up(self):
        """Cut the connections that clients keep open."""
        for connection in list(self._open):
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                self._open.discard(connection)

    def handle_error(self, request, client_address):
        """A client that hangs up is none of our business."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_args):
        pass

    def do_GET(self):
        self._serve({})

    def do_POST(self):
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self._serve(json.loads(raw or b"{}"))

    def _serve(self, body):
        request = Request(self.command, self.path, self.headers.get("Host", ""), body)
        self.server.fake.record(request)
        status, content, headers = self.server.fake.answer(request)
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
