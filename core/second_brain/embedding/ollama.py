"""Embed through an Ollama server: the only module that imports `ollama`, and only when the first call is made.

It talks to the configured URL and to nothing else: no proxy from the environment, no redirects.
"""

from __future__ import annotations

import re
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

import numpy as np

from second_brain.embedding.base import DEFAULT_OLLAMA_URL, words_that_fit
from second_brain.embedding.exchange import AnswerRefusedError, Exchange, ExchangeCutError, ExchangeLateError
from second_brain.embedding.families import Family, family_of
from second_brain.embedding.texts import encodable, halves
from second_brain.embedding.vectors import pooled, unit_rows
from second_brain.errors import EmbedderUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import httpx
    from numpy.typing import NDArray
    from ollama import Client

T = TypeVar("T")

_CONNECT_S = 3.0
_PING_S = 2.0
_UNKNOWN_TOKENS = 512
_GROW_AFTER = 8
_MOST_DIMENSIONS = 65_536
_LEAST_TOKENS = 16  # no model takes less, whatever a server says
_NOT_FOUND = 404
_BAD_REQUEST = 400
_ANSWER_BYTES = 8 << 20  # what is told of a model or of all models, with their licences
_NUMBER_BYTES = 32  # a number of a vector as JSON, white space included
# Ollama's own words over its versions, and those of the runner below it.
_TOO_LONG = re.compile(r"context (length|size|window)|too (long|large) to process|physical batch size", re.IGNORECASE)
_NO_NUMBER = re.compile(r"\bNaN\b|\+Inf\b|-Inf\b")  # what Go says of a vector that JSON cannot hold


@dataclass(frozen=True, slots=True)
class OllamaState:
    """What a server says of itself; `problem` tells why it is not reachable."""

    reachable: bool
    version: str = ""
    model_present: bool = False
    models: tuple[str, ...] = ()
    problem: str = ""


class OllamaEmbedder:
    """The model *model* of the server at *url* ("" is the default URL); making one asks nothing.

    `fingerprint` is ``ollama:<model>:<dimension>:<prefix id>``, where the model loses a ``:latest``.  The digest of the
    model stays out of it on purpose: a model pulled again under its name is taken for the same one, or every pull would
    cost hours of embedding.  The dimension is asked once, unless *dimension* (from an earlier fingerprint) tells it:
    then the fingerprint is known while the server is down, and a model of another dimension is refused.

    A query has *timeout_s* seconds in all.  At most *batch* texts go into one request of so many seconds from its first to its
    last byte; after a timeout the next requests are a quarter as large, so that a slow machine gets through, and grow again when
    they succeed.
    """

    def __init__(
        self,
        url: str,
        model: str,
        *,
        timeout_s: float = 30.0,
        batch: int = 32,
        dimension: int | None = None,
        plain: bool = False,
    ) -> None:
        self._url = url or DEFAULT_OLLAMA_URL
        self._model = model
        self._timeout_s = timeout_s
        self._batch = self._most = self._limit = batch
        self._went_well = 0  # full requests since the last that was late
        self._expected = dimension
        self._lock = threading.Lock()
        self._own = (
            threading.local()
        )  # until: when the requests of this thread's query have to be answered, all of them
        self._running: set[Exchange[Any]] = set()
        self._known: _Facts | None = None
        self._family = Family(languages=family_of(model).languages) if plain else family_of(model)
        self.name = f"{short_name(model)} (Ollama)"
        self.languages = self._family.languages

    @property
    def fingerprint(self) -> str:
        """Stable for a model name; asks the server at most once."""
        return f"ollama:{short_name(self._model)}:{self.dimension}:{self._family.prefix_id}"

    @property
    def dimension(self) -> int:
        """As expected, else as the server says."""
        return self._expected or self._facts().dimension

    @property
    def max_tokens(self) -> int:
        """The context length of the model, or the shorter one that its parameters set."""
        return self._facts().max_tokens

    @property
    def max_words(self) -> int:
        """How many words of running text surely fit."""
        return words_that_fit(self.max_tokens)

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One unit row per text."""
        rows = np.empty((len(texts), self.dimension), dtype=np.float32)
        start = 0
        while start < len(texts):
            part = texts[start : start + self._batch]
            try:
                rows[start : start + len(part)] = self._embed(part, self._family.document)
            except _LateError:
                self._most = max(1, len(part) // 2)
                self._batch = max(1, len(part) // 4)
                self._went_well = 0
                raise
            start += len(part)
            if len(part) == self._batch:
                self._grow()
        return rows

    def _grow(self) -> None:
        """Let the next requests be larger: soon up to half of what was too much, and beyond that only after many good ones."""
        self._went_well += 1
        if self._went_well % _GROW_AFTER == 0:
            self._most = min(self._limit, 2 * self._most)
        self._batch = min(self._most, 2 * self._batch)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """The unit vector of a question."""
        self._own.until = time.monotonic() + self._timeout_s
        try:
            vector: NDArray[np.float32] = self._embed([text], self._family.query)[0]
        finally:
            self._own.until = None
        return vector

    def close(self) -> None:
        """Cut off what other threads are asking; the server unloads its models by its own rules."""
        with self._lock:
            running = list(self._running)
        for exchange in running:
            exchange.cut()

    def ping(self) -> OllamaState:
        """Whether the server is there and has the model, within seconds and without raising."""

        def question(transport: httpx.BaseTransport) -> tuple[str, list[Any]]:
            import httpx  # noqa: PLC0415 - lazy, 100 ms

            http = httpx.Client(
                base_url=base_url, transport=transport, timeout=_PING_S, trust_env=False, follow_redirects=False
            )
            version = http.get("/api/version").raise_for_status().json()["version"]
            return version, http.get("/api/tags").raise_for_status().json()["models"]

        try:
            base_url = _base_url(self._url)
            version, entries = self._exchange(question, timeout_s=_PING_S)
            models = tuple(sorted(short_name(entry.get("model") or entry["name"]) for entry in entries))
        except EmbedderUnavailable as error:
            return OllamaState(reachable=False, problem=error.message)
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
            return OllamaState(reachable=False, problem=f"What answers at {self._url} is not Ollama.")
        return OllamaState(
            reachable=True, version=str(version), model_present=short_name(self._model) in models, models=models
        )

    def _embed(self, texts: Sequence[str], prefix: str) -> NDArray[np.float32]:
        """Unit rows of *texts*; when one is too long, the others are embedded without it and it in pieces."""
        try:
            return self._request(texts, prefix)
        except _TooLongError:
            if len(texts) > 1:
                middle = len(texts) // 2
                return np.vstack([self._embed(texts[:middle], prefix), self._embed(texts[middle:], prefix)])
        rows, weights = zip(*self._pieces(texts[0], prefix), strict=True)
        return pooled(np.stack(rows), weights, source=self.name)[np.newaxis]

    def _pieces(self, text: str, prefix: str) -> Iterator[tuple[NDArray[np.float32], int]]:
        """Vector and length of the halves of a text that is too long, or of their halves."""
        for half in halves(text):
            if not half:
                raise EmbedderUnavailable(
                    f"{self.name} takes no text at all: even a single character is too long for it.",
                    hint="Choose another embedding model, or set embedder = builtin.",
                )
            try:
                yield self._request([half], prefix)[0], len(half)
            except _TooLongError:
                yield from self._pieces(half, prefix)

    def _request(self, texts: Sequence[str], prefix: str) -> NDArray[np.float32]:
        inputs = [prefix + encodable(text) for text in texts]
        room = _NUMBER_BYTES * self.dimension * len(inputs)
        answer = self._ask(lambda client: client.embed(model=self._model, input=inputs, truncate=False), room=room)
        return unit_rows(answer.embeddings, count=len(texts), dimension=self.dimension, source=self.name)

    def _facts(self) -> _Facts:
        known = self._known
        if known is None:
            shown = self._ask(lambda client: client.show(self._model))
            known = _facts_in(shown.modelinfo or {}, shown.parameters or "")
            if not 0 < known.dimension <= _MOST_DIMENSIONS:  # servers before 0.3 do not tell
                length = self._ask(lambda client: len(client.embed(self._model, ["dimension"]).embeddings[0]))
                known = _Facts(length, known.max_tokens)
            self._known = known
        return known

    def _ask(self, question: Callable[[Client], T], *, room: int = 0) -> T:
        """The answer to *question*, with *room* bytes for vectors; every failure becomes `EmbedderUnavailable`."""

        def asked(transport: httpx.BaseTransport) -> T:
            return question(_client(base_url, transport, self._timeout_s))

        base_url = _base_url(self._url)
        try:
            until = getattr(self._own, "until", None)
            return self._exchange(asked, timeout_s=self._timeout_s, until=until, room=room)
        # no JSON, or JSON of another shape: json, pydantic and ollama's own error parser each raise another of these
        except (ValueError, TypeError, AttributeError, LookupError, RecursionError) as error:
            raise self._no_ollama() from error

    def _exchange(
        self,
        question: Callable[[httpx.BaseTransport], T],
        *,
        timeout_s: float,
        until: float | None = None,
        room: int = 0,
    ) -> T:
        """The answer to *question* in *timeout_s* seconds, or in what is left of them *until* that moment.

        What goes wrong on the way becomes `EmbedderUnavailable`.
        """
        httpx, ollama = _libraries()
        left = timeout_s if until is None else max(0.0, until - time.monotonic())
        exchange: Exchange[T] = Exchange(timeout_s=left, max_bytes=_ANSWER_BYTES + room)
        with self._lock:
            self._running.add(exchange)
        try:
            return exchange.run(question)
        except ollama.ResponseError as error:
            raise self._refused(error.error, error.status_code) from error
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            raise self._unreachable(error) from error
        except (ExchangeLateError, httpx.TimeoutException) as error:
            raise self._late(timeout_s) from error
        except ExchangeCutError as error:
            raise _passing(f"{self.name} was told to stop.", hint="Ask again.") from error
        except AnswerRefusedError as error:
            raise self._no_ollama(f": {error}") from error
        except (OSError, httpx.HTTPError, httpx.InvalidURL) as error:
            raise self._unreachable(error) from error
        finally:
            with self._lock:
                self._running.discard(exchange)

    def _refused(self, reason: object, status: int) -> EmbedderUnavailable:
        told = str(reason).strip().partition("\n")[0][:200]
        if _TOO_LONG.search(told):
            return _TooLongError(f"{self.name} finds a text too long: {told}")
        if status == _NOT_FOUND and "not found" in told and "model" in told:
            return _passing(
                f"Ollama at {self._url} does not have the model {short_name(self._model)}.",
                hint=f"Pull it with: ollama pull {short_name(self._model)}",
            )
        if 300 <= status < 400:  # noqa: PLR2004 - HTTP
            return _passing(
                f"What answers at {self._url} sends us elsewhere, and we do not follow.",
                hint="Set ollama_url to the address of Ollama itself.",
            )
        error = EmbedderUnavailable(
            f"Ollama at {self._url} answered with an error ({status}): {told}",
            hint="Look into Ollama's own log; if the model is no embedding model, choose another one.",
        )
        error.passing = status != _BAD_REQUEST and not _NO_NUMBER.search(told)
        return error

    def _late(self, timeout_s: float) -> EmbedderUnavailable:
        return _LateError(
            f"Ollama at {self._url} did not answer within {timeout_s:.2g} seconds.",
            hint="It may be loading the model; it is asked again. If it stays slow, choose a smaller model.",
        )

    def _no_ollama(self, why: str = "") -> EmbedderUnavailable:
        return _passing(
            f"What answers at {self._url} does not speak like Ollama{why}.",
            hint="Check ollama_url, and update Ollama if it is old.",
        )

    def _unreachable(self, error: Exception) -> EmbedderUnavailable:
        told = str(error).partition(". ")[0].rstrip(".")[:200] or type(error).__name__
        return _passing(
            f"Ollama is not reachable at {self._url}: {told}.",
            hint="Start it with: ollama serve. Or check ollama_url, or set embedder = builtin.",
        )


class _LateError(EmbedderUnavailable):
    """The server was too slow, this time."""

    passing = True


class _TooLongError(EmbedderUnavailable):
    """The model takes less text than it was given."""


@dataclass(frozen=True, slots=True)
class _Facts:
    dimension: int  # 0: not told
    max_tokens: int


def short_name(model: str) -> str:
    """*model* without a ``:latest``, as Ollama prints it least."""
    return model.removesuffix(":latest")


def _facts_in(info: Mapping[str, Any], parameters: str) -> _Facts:
    """What /api/show tells; *parameters* are lines like ``num_ctx 256``."""
    architecture = info.get("general.architecture", "")

    def number(*names: str) -> int:
        keys = [f"{architecture}.{name}" for name in names]
        return next((value for key in keys if type(value := info.get(key)) is int), 0)

    limits = [number("context_length")]
    if found := re.search(r"^num_ctx\s+(\d+)", parameters, re.MULTILINE):
        limits.append(int(found[1]))
    told = [limit for limit in limits if limit >= _LEAST_TOKENS]
    return _Facts(number("embedding_length_out", "embedding_length"), min(told, default=_UNKNOWN_TOKENS))


def _libraries() -> tuple[Any, Any]:
    """The modules httpx and ollama, which are slow to load and may be missing."""
    try:
        import httpx  # noqa: PLC0415 - lazy, 100 ms
        import ollama  # noqa: PLC0415 - lazy, 265 ms
    except ImportError as error:
        raise EmbedderUnavailable(
            "The Python package ollama is not installed.",
            hint="Install it with: pip install ollama. Or set embedder = builtin.",
        ) from error
    return httpx, ollama


def _client(base_url: str, transport: httpx.BaseTransport, timeout_s: float) -> Client:
    httpx, ollama = _libraries()
    timeout = httpx.Timeout(timeout_s, connect=min(timeout_s, _CONNECT_S))
    client: Client = ollama.Client(
        base_url, transport=transport, timeout=timeout, follow_redirects=False, trust_env=False
    )
    return client


def _passing(message: str, *, hint: str) -> EmbedderUnavailable:
    error = EmbedderUnavailable(message, hint=hint)
    error.passing = True
    return error


def _base_url(url: str) -> str:
    """*url* with scheme and port, as Ollama's own tools complete it; `EmbedderUnavailable` for what is no URL."""
    full = url if "://" in url else f"http://{url}"
    try:
        split = urlsplit(full)
        port = split.port or {"http": 11434 if "://" not in url else 80, "https": 443}[split.scheme]
        host = f"[{split.hostname}]" if ":" in (split.hostname or "") else split.hostname or "127.0.0.1"
    except (ValueError, KeyError) as error:
        raise _no_address(url) from error
    return f"{split.scheme}://{host}:{port}{split.path.rstrip('/')}"


def _no_address(url: str) -> EmbedderUnavailable:
    return EmbedderUnavailable(
        f"ollama_url is no address that we can ask: {url}", hint=f"Write it like {DEFAULT_OLLAMA_URL}"
    )
