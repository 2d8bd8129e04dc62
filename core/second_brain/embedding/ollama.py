"""Embed through an Ollama server: the only module that imports `ollama`, and only when the first call is made.

It talks to the configured URL and to nothing else: no proxy from the environment, no redirects.
"""

from __future__ import annotations

import re
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

import numpy as np

from second_brain.embedding.base import DEFAULT_OLLAMA_URL, words_that_fit
from second_brain.embedding.families import Family, family_of
from second_brain.embedding.texts import encodable, halves
from second_brain.embedding.vectors import pooled, unit_rows
from second_brain.errors import EmbedderUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray
    from ollama import Client

T = TypeVar("T")

_CONNECT_S = 3.0
_PING_S = 2.0
_UNKNOWN_TOKENS = 512
_NOT_FOUND = 404
# Ollama's own words over its versions, and those of the runner below it.
_TOO_LONG = re.compile(r"context (length|size|window)|too (long|large) to process|physical batch size", re.IGNORECASE)


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

    At most *batch* texts go into one request of at most *timeout_s* seconds; after a timeout the next requests are a
    quarter as large, so that a slow machine gets through.  *client* replaces the `ollama.Client` (for tests).
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
        client: Client | None = None,
    ) -> None:
        self._url = url or DEFAULT_OLLAMA_URL
        self._model = model
        self._timeout_s = timeout_s
        self._batch = batch
        self._expected = dimension
        self._client = client
        self._lock = threading.Lock()
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
            rows[start : start + len(part)] = self._embed(part, self._family.document)
            start += len(part)
        return rows

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """The unit vector of a question."""
        vector: NDArray[np.float32] = self._embed([text], self._family.query)[0]
        return vector

    def close(self) -> None:
        """Close the connections; the server unloads its models by its own rules."""
        with self._lock:
            if self._client is not None:
                self._client.close()  # type: ignore[no-untyped-call]
            self._client = None

    def ping(self) -> OllamaState:
        """Whether the server is there and has the model, within seconds and without raising."""
        try:
            import httpx  # noqa: PLC0415 - lazy, 100 ms
        except ImportError:
            return OllamaState(reachable=False, problem="The Python package ollama is not installed.")
        try:
            with httpx.Client(
                base_url=_base_url(self._url), timeout=_PING_S, trust_env=False, follow_redirects=False
            ) as http:
                version = http.get("/api/version").raise_for_status().json()["version"]
                entries = http.get("/api/tags").raise_for_status().json()["models"]
            models = tuple(sorted(short_name(entry.get("model") or entry["name"]) for entry in entries))
        except EmbedderUnavailable as error:
            return OllamaState(reachable=False, problem=error.message)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            return OllamaState(reachable=False, problem=f"Ollama does not answer at {self._url}: {error}")
        except (ValueError, TypeError, KeyError, AttributeError):
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
        answer = self._ask(lambda client: client.embed(model=self._model, input=inputs, truncate=False))
        return unit_rows(answer.embeddings, count=len(texts), dimension=self.dimension, source=self.name)

    def _facts(self) -> _Facts:
        known = self._known
        if known is None:
            shown = self._ask(lambda client: client.show(self._model))
            known = _facts_in(shown.modelinfo or {}, shown.parameters or "")
            if not known.dimension:  # servers before 0.3 do not tell
                length = self._ask(lambda client: len(client.embed(self._model, ["dimension"]).embeddings[0]))
                known = _Facts(length, known.max_tokens)
            self._known = known
        return known

    def _ask(self, question: Callable[[Client], T]) -> T:
        """The answer to *question*; every failure becomes `EmbedderUnavailable`."""
        client = self._connected()
        import httpx  # noqa: PLC0415 - lazy, as above
        from ollama import ResponseError  # noqa: PLC0415

        try:
            return question(client)
        except ResponseError as error:
            raise self._refused(error.error, error.status_code) from error
        except httpx.ConnectTimeout as error:
            raise self._unreachable(error) from error
        except httpx.TimeoutException as error:
            self._batch = max(1, self._batch // 4)
            raise EmbedderUnavailable(
                f"Ollama at {self._url} did not answer within {self._timeout_s:g} seconds.",
                hint="It may be loading the model; it is asked again. If it stays slow, choose a smaller model.",
            ) from error
        # httpx raises a plain RuntimeError when another thread closed the client
        except (OSError, httpx.HTTPError, RuntimeError) as error:
            raise self._unreachable(error) from error
        # no JSON, or JSON of another shape: json, pydantic and ollama's own error parser each raise another of these
        except (ValueError, TypeError, AttributeError, LookupError) as error:
            raise EmbedderUnavailable(
                f"What answers at {self._url} does not speak like Ollama.",
                hint="Check ollama_url, and update Ollama if it is old.",
            ) from error

    def _connected(self) -> Client:
        with self._lock:
            if self._client is None:
                self._client = _connect(self._url, self._timeout_s)
            return self._client

    def _refused(self, reason: object, status: int) -> EmbedderUnavailable:
        told = str(reason).strip().partition("\n")[0][:200]
        if _TOO_LONG.search(told):
            return _TooLongError(f"{self.name} finds a text too long: {told}")
        if status == _NOT_FOUND and "not found" in told and "model" in told:
            return EmbedderUnavailable(
                f"Ollama at {self._url} does not have the model {short_name(self._model)}.",
                hint=f"Pull it with: ollama pull {short_name(self._model)}",
            )
        if 300 <= status < 400:  # noqa: PLR2004 - HTTP
            return EmbedderUnavailable(
                f"What answers at {self._url} sends us elsewhere, and we do not follow.",
                hint="Set ollama_url to the address of Ollama itself.",
            )
        return EmbedderUnavailable(
            f"Ollama at {self._url} answered with an error ({status}): {told}",
            hint="Look into Ollama's own log; if the model is no embedding model, choose another one.",
        )

    def _unreachable(self, error: Exception) -> EmbedderUnavailable:
        told = str(error).partition(". ")[0].rstrip(".")[:200]
        return EmbedderUnavailable(
            f"Ollama is not reachable at {self._url}: {told}.",
            hint="Start it with: ollama serve. Or check ollama_url, or set embedder = builtin.",
        )


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
        return next((value for key in keys if isinstance(value := info.get(key), int)), 0)

    limits = [number("context_length")]
    if found := re.search(r"^num_ctx\s+(\d+)", parameters, re.MULTILINE):
        limits.append(int(found[1]))
    told = [limit for limit in limits if limit > 0]
    return _Facts(number("embedding_length_out", "embedding_length"), min(told, default=_UNKNOWN_TOKENS))


def _connect(url: str, timeout_s: float) -> Client:
    try:
        import httpx  # noqa: PLC0415 - lazy, as above
        from ollama import Client  # noqa: PLC0415 - lazy, 265 ms
    except ImportError as error:
        raise EmbedderUnavailable(
            "The Python package ollama is not installed.",
            hint="Install it with: pip install ollama. Or set embedder = builtin.",
        ) from error
    timeout = httpx.Timeout(timeout_s, connect=min(timeout_s, _CONNECT_S))
    try:
        return Client(_base_url(url), timeout=timeout, follow_redirects=False, trust_env=False)
    except httpx.InvalidURL as error:
        raise _no_address(url) from error


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
