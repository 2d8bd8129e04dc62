"""Long work that ends soon when it is to stop, although what it waits for (a disk, a model, a server) cannot be hurried."""

from __future__ import annotations

import threading
from itertools import islice
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

T = TypeVar("T")

PULSE_S = 0.1
_LAST_WORDS_S = 1.0  # a model that was told to end may still be busy with one passage


class StoppedError(Exception):
    """The work was to stop.  Stays inside this package."""


def nothing() -> None:
    """The pulse of work that is never stopped."""


def stopped_by(should_stop: Callable[[], bool]) -> Callable[[], None]:
    """The pulse that raises `StoppedError` once *should_stop* is true."""

    def pulse() -> None:
        if should_stop():
            raise StoppedError

    return pulse


def interruptible(work: Callable[[], T], pulse: Callable[[], None], *, cancel: Callable[[], None] | None = None) -> T:
    """What *work* gives or raises, computed in another thread while this one calls *pulse* ten times a second.

    When *pulse* raises the work is told to end by *cancel*, or is left to itself without one: it must not write anywhere.  Work
    that is done by then is not thrown away because of a `StoppedError`; the next pulse will raise it again.
    """
    if pulse is nothing:
        return work()
    job = _Job(work)
    job.start()
    try:
        while not job.ended.wait(PULSE_S):
            pulse()
    except BaseException as error:
        if cancel is not None:
            cancel()
            job.ended.wait(_LAST_WORDS_S)
        if not (isinstance(error, StoppedError) and job.succeeded):
            raise
    return job.result()


def interruptible_each(source: Iterator[T], pulse: Callable[[], None]) -> Iterator[T]:
    """The items of *source*, each made as by `interruptible`."""
    while found := interruptible(lambda: list(islice(source, 1)), pulse):
        yield found[0]
        pulse()


class _Job(Generic[T]):
    def __init__(self, work: Callable[[], T]) -> None:
        self._work = work
        self._results: list[T] = []
        self._errors: list[BaseException] = []
        self.ended = threading.Event()

    def start(self) -> None:
        threading.Thread(target=self._run, name="interruptible", daemon=True).start()

    def _run(self) -> None:
        try:
            self._results.append(self._work())
        except BaseException as error:  # noqa: BLE001 - handed over to the thread that waits
            self._errors.append(error)
        finally:
            self.ended.set()

    @property
    def succeeded(self) -> bool:
        return bool(self._results)

    def result(self) -> T:
        if self._errors:
            raise self._errors[0]
        return self._results[0]
