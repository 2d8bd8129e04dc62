"""A stop takes effect soon at any moment, loses nothing that was done, and the next run goes on."""

from __future__ import annotations

import threading
import time

import pytest

from indexed_vault import IndexedVault
from second_brain.indexing import indexer as indexer_module
from second_brain.indexing.embed import Embedding, _next_batch
from second_brain.indexing.stopping import StoppedError, interruptible, interruptible_each, stopped_by
from second_brain.vault.vault import Vault
from stub_embedder import StubEmbedder

NOTES = 5_000


@pytest.fixture
def vault(tmp_path):
    return IndexedVault(tmp_path).write_all({f"{n % 7}/{n}.md": f"# Note {n}\n\nabout joists {n}" for n in range(40)})


class Turnstile:
    """Stands in for something slow: lets *free* calls pass, then nobody until it is opened."""

    def __init__(self, free):
        self.free, self.entered, self.opened = free, threading.Event(), threading.Event()

    def __call__(self):
        if self.free:
            self.free -= 1
            return
        self.entered.set()
        self.opened.wait(60)


@pytest.fixture
def turnstile(request):
    made = Turnstile(request.param)
    yield made
    made.opened.set()


def stopped_within_the_wait(turnstile, work):
    """Run *work* with a `should_stop` that is true once the turnstile is reached; it must end although that stays shut."""
    ended = threading.Event()
    results = []

    def run():
        results.append(work(turnstile.entered.is_set))
        ended.set()

    threading.Thread(target=run, daemon=True).start()
    assert turnstile.entered.wait(30)
    assert ended.wait(15), "the stop waits for what is slow"
    assert not turnstile.opened.is_set()
    return results[0]


@pytest.mark.requirement("RG-10")
@pytest.mark.parametrize("turnstile", [0], indirect=True)
def test_a_stop_does_not_wait_for_the_listing_of_the_vault(vault, tmp_path, turnstile, monkeypatch):
    scan = Vault.scan
    monkeypatch.setattr(Vault, "scan", lambda self: (turnstile(), scan(self))[1])

    def work(should_stop):
        with vault.writer() as writer:
            return vault.indexer(writer).sync(should_stop=should_stop)

    report = stopped_within_the_wait(turnstile, work)
    assert (report.stopped, report.processed) == (True, 0)
    turnstile.opened.set()
    assert vault.sync().processed == 40
    vault.embed()
    assert vault.dump() == vault.fresh_dump(tmp_path / "fresh")


@pytest.mark.requirement("RG-10")
@pytest.mark.parametrize("turnstile", [0, 3, 30], indirect=True)
@pytest.mark.parametrize("helped", [False, True])
def test_a_stop_keeps_the_notes_that_are_read_and_the_next_sync_reads_the_others(
    vault, tmp_path, turnstile, monkeypatch, helped
):
    if helped:
        monkeypatch.setattr(indexer_module, "PARALLEL_FROM", 1)
        monkeypatch.setattr(indexer_module, "FIRST_BATCH", 2)
        monkeypatch.setattr(indexer_module, "can_help", lambda: True)
        monkeypatch.setattr(indexer_module.Helper, "_receive", lambda self: None)  # it died: all is read here
    read = Vault.read
    stopping = threading.Event()

    def slow(self, path):
        if not turnstile.opened.is_set() and not turnstile.free:
            stopping.set()
            if helped:
                turnstile()
        turnstile.free = max(0, turnstile.free - 1)
        return read(self, path)

    monkeypatch.setattr(Vault, "read", slow)
    turnstile.entered = stopping

    def work(should_stop):
        with vault.writer() as writer:
            return vault.indexer(writer).sync(should_stop=should_stop)

    report = stopped_within_the_wait(turnstile, work)
    assert report.stopped
    assert report.processed < 40
    turnstile.opened.set()
    with vault.writer() as writer:
        assert writer.get_meta("last_sync") == "", "a sync that was stopped has not made the index equal"
    rest = vault.sync()
    assert rest.processed == 40 - report.processed
    vault.embed()
    assert vault.dump() == vault.fresh_dump(tmp_path / "fresh")


@pytest.mark.requirement("RG-10")
@pytest.mark.parametrize("turnstile", [0, 1], indirect=True)
@pytest.mark.parametrize("question", ["max_words", "embed_documents"])
def test_a_stop_does_not_wait_for_the_embedder_and_tells_it_to_end(vault, tmp_path, turnstile, question):
    class Slow(StubEmbedder):
        @property
        def max_words(self):
            if question == "max_words":
                turnstile.free = 0
                turnstile()
            return 300

        def embed_documents(self, texts):
            if question == "embed_documents":
                turnstile()
            return super().embed_documents(texts)

        def close(self):
            closed.append(1)

    closed = []
    vault.sync()

    def work(should_stop):
        with vault.writer() as writer:
            return Embedding(writer, Slow(16), vault.layout).run(should_stop)

    free = turnstile.free if question == "embed_documents" else 0
    report = stopped_within_the_wait(turnstile, work)
    assert (report.stopped, report.unavailable) == (True, "")
    assert report.embedded == 32 * free
    assert closed
    turnstile.opened.set()
    assert vault.embed().embedded == 40 - 32 * free
    assert vault.dump() == vault.fresh_dump(tmp_path / "fresh")


@pytest.mark.slow
@pytest.mark.requirement("RG-10")
def test_a_first_index_of_thousands_of_notes_may_be_stopped_anywhere_and_goes_on(tmp_path):
    vault = IndexedVault(tmp_path)
    vault.write_all({f"{n % 50}/{n}.md": f"# Note {n}\n\nabout joists and felt {n}" for n in range(NOTES)})
    slowest = 0.0
    processed = stops = 0
    for wait in (0.01, 0.3, 0.6, 1.0, 1.5, 2.0):
        stop = threading.Event()
        asked = []

        def should_stop(stop=stop, asked=asked):
            if stop.is_set():
                asked.append(time.monotonic())
            return stop.is_set()

        with vault.writer() as writer:
            timer = threading.Timer(wait, stop.set)
            timer.start()
            report = vault.indexer(writer).sync(should_stop=should_stop)
            timer.cancel()
            ended = time.monotonic()
        slowest = max([slowest, *(ended - moment for moment in asked[:1])])
        processed += report.processed
        stops += report.stopped
        if not report.stopped:
            break
    processed += vault.sync().processed
    assert processed == NOTES
    assert stops
    assert slowest < 20, "a bound against waiting for the whole sync, not a measurement"
    with vault.reader() as reader:
        texts = dict(reader.connection.execute("SELECT f.path, t.text FROM files f JOIN texts t USING(doc)"))
    assert texts == {f"{n % 50}/{n}.md": f"# Note {n}\n\nabout joists and felt {n}" for n in range(NOTES)}


@pytest.mark.parametrize(("took", "then"), [(0.0, 32), (1.9, 32), (4.0, 16), (8.0, 8), (900.0, 4)])
def test_a_slow_embedder_gets_smaller_batches_so_that_a_stop_throws_little_away(took, then):
    assert _next_batch(32, took) == then


def test_a_small_last_batch_makes_no_small_next_one():
    assert _next_batch(1, 0.05) == 32


def test_work_that_ended_is_not_thrown_away_by_a_stop():
    stop = threading.Event()

    def work():
        stop.set()
        return "done"

    assert interruptible(work, stopped_by(stop.is_set)) == "done"


def test_what_the_work_raises_is_raised_to_who_waits():
    with pytest.raises(ZeroDivisionError):
        interruptible(lambda: 1 / 0, stopped_by(lambda: False))
    source = (1 // n for n in (1, 0))
    items = interruptible_each(source, stopped_by(lambda: False))
    assert next(items) == 1
    with pytest.raises(ZeroDivisionError):
        next(items)


def test_items_come_in_order_until_the_stop():
    stop = threading.Event()
    items = interruptible_each(iter(range(10)), stopped_by(stop.is_set))
    assert [next(items) for _ in range(4)] == [0, 1, 2, 3]
    stop.set()
    with pytest.raises(StoppedError):
        next(items)
