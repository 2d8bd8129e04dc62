"""One question to an HTTP server that ends in time and in size, whatever the server does.

The timeouts of HTTP clients count from byte to byte, so a server that drips is never late for them, and a name that is looked
up knows none at all.  Here the question is asked in a thread of its own; who waits for it leaves at the deadline, or at once
when another thread cuts the exchange off.  Cutting shuts the sockets down, which ends the thread too.
"""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    import httpx

T = TypeVar("T")


class ExchangeLateError(Exception):
    """There was no whole answer at the deadline."""


class ExchangeCutError(Exception):
    """Another thread wants the answer no more."""


class AnswerRefusedError(Exception):
    """The answer is larger than can be meant, or packed although we asked for it plain; its text says which."""


class Exchange(Generic[T]):
    """Asks once; make a new one for the next question."""

    def __init__(self, *, timeout_s: float, max_bytes: int) -> None:
        self._timeout_s = timeout_s
        self._max_bytes = max_bytes
        self._lock = threading.Lock()
        self._sockets: list[socket.socket] = []
        self._ended = threading.Event()
        self._cut = False
        self._answers: list[T] = []
        self._errors: list[Exception] = []

    def run(self, ask: Callable[[httpx.BaseTransport], T]) -> T:
        """What *ask* gives, which has to send all its requests through the transport that it gets.

        Raises what *ask* raises, and `ExchangeLateError`, `ExchangeCutError` or `AnswerRefusedError`.
        """
        threading.Thread(target=self._work, args=(ask,), name="embedder-exchange", daemon=True).start()
        try:
            in_time = self._ended.wait(self._timeout_s)
        finally:
            was_cut = self._cut
            self._hang_up()
        if was_cut:
            raise ExchangeCutError
        if not in_time:
            raise ExchangeLateError
        if self._errors:
            raise self._errors[0]
        return self._answers[0]

    def cut(self) -> None:
        """End the exchange at once, from another thread."""
        self._cut = True
        self._ended.set()
        self._hang_up()

    def _work(self, ask: Callable[[httpx.BaseTransport], T]) -> None:
        transport = _Transport(self._opened, self._max_bytes)
        try:
            self._answers.append(ask(cast("httpx.BaseTransport", transport)))
        except Exception as error:  # noqa: BLE001 - handed over to the thread that asked
            self._errors.append(error)
        finally:
            transport.close()
            self._ended.set()

    def _opened(self, connection: socket.socket) -> None:
        with self._lock:
            self._sockets.append(connection)
        if self._ended.is_set():
            self._hang_up()

    def _hang_up(self) -> None:
        """Wake whoever reads from the sockets; `close` would not."""
        self._ended.set()
        with self._lock:
            for connection in self._sockets:
                with suppress(OSError):
                    # Not that of an SSL socket, which would pull its state away under the reading thread.
                    socket.socket.shutdown(connection, socket.SHUT_RDWR)


class _Transport:
    """As `httpx.BaseTransport`: a connection per request, told to *opened*; answers come plain and limited in size."""

    def __init__(self, opened: Callable[[socket.socket], None], max_bytes: int) -> None:
        self._opened = opened
        self._left = max_bytes
        self._real: httpx.HTTPTransport | None = None

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        import httpx  # noqa: PLC0415 - lazy, 100 ms

        if self._real is None:
            # Without TLS no certificates are needed, and reading them takes 20 ms.
            secure = request.url.scheme == "https"
            limits = httpx.Limits(max_keepalive_connections=0)
            self._real = httpx.HTTPTransport(verify=secure, trust_env=False, limits=limits)
        request.headers["Accept-Encoding"] = "identity"
        request.extensions = {**request.extensions, "trace": self._trace}
        response = self._real.handle_request(request)
        if response.headers.get("Content-Encoding", "identity").lower() != "identity":
            raise AnswerRefusedError("its answer is packed although a plain one was asked for")
        return httpx.Response(response.status_code, headers=response.headers, content=self._limited(response))

    def close(self) -> None:
        """Close the connections, whether or not their answers were read to the end."""
        if self._real is not None:
            self._real.close()

    def _trace(self, event: str, info: Mapping[str, Any]) -> None:
        if event in ("connection.connect_tcp.complete", "connection.start_tls.complete"):
            self._opened(info["return_value"].get_extra_info("socket"))

    def _limited(self, response: httpx.Response) -> Iterator[bytes]:
        for part in response.iter_raw():
            self._left -= len(part)
            if self._left < 0:
                raise AnswerRefusedError("its answer is larger than any that can be meant")
            yield part
