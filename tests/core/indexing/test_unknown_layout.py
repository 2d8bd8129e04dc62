"""An Ollama that cannot be asked costs nothing later: words never wait for it, and nothing is embedded by a guess."""

from __future__ import annotations

import threading
import time

import pytest

from fake_ollama import FakeOllama, Mode
from index_dump import logical_dump
from second_brain.config import load
from second_brain.service import SecondBrain
from told import Told

LONG = "\n\n".join(f"Paragraph {n} is about joists, felt and the eaves of house number {n}." for n in range(120))


@pytest.fixture
def brain(tmp_path, fake_ollama):
    (tmp_path / "vault").mkdir()
    for number in range(6):
        (tmp_path / f"vault/{number}.md").write_text(f"# Roof {number}\n\n{LONG}", "utf-8")

    def brain(db="index.db"):
        flags = {
            "db_path": str(tmp_path / db),
            "embedder": "ollama",
            "ollama_url": fake_ollama.url,
        }
        return SecondBrain(load(flags=flags, env={}, vault=str(tmp_path / "vault")))

    return brain


@pytest.mark.requirement("NFR-3")
@pytest.mark.parametrize("context_tokens", [8192, 512, 100])
def test_a_first_sync_without_ollama_ends_like_one_with_it_and_embeds_every_passage_once(
    brain, tmp_path, fake_ollama, context_tokens
):
    fake_ollama.context_tokens = context_tokens
    fake_ollama.mode = Mode.DEAD
    first = brain().sync()
    assert first.vectors.unavailable
    assert brain().search(brain().request(query="eaves", ranking="words")).hits
    fake_ollama.mode = Mode.OK
    second = brain().sync()
    assert (second.notes.processed, second.vectors.waiting) == (0, 0)
    texts = [text for text in fake_ollama.texts if text != "dimension"]
    assert len(texts) == len(set(texts)) == second.vectors.embedded
    fake_ollama.forget()
    assert brain().sync().vectors.embedded == 0
    assert fake_ollama.texts == []
    brain("other.db").sync()
    assert logical_dump(tmp_path / "index.db") == logical_dump(tmp_path / "other.db")


@pytest.mark.requirement("NFR-3")
def test_ollama_that_comes_up_under_a_running_watch_makes_no_layout_that_a_restart_undoes(
    brain, fake_ollama, eventually, monkeypatch
):
    monkeypatch.setattr("second_brain.indexing.worker.RETRY_EMBEDDER_S", 0.1)
    fake_ollama.context_tokens = 100
    fake_ollama.mode = Mode.DEAD
    stop, told = threading.Event(), Told()
    watching = threading.Thread(target=brain().watch, args=(stop, told))
    watching.start()
    eventually(lambda: any(kind == "trouble" for kind, _ in told.events), 20)
    time.sleep(0.4)
    assert [kind for kind, _ in told.events] == ["changed", "trouble"], "the same trouble is told once"
    fake_ollama.mode = Mode.OK
    eventually(lambda: told.events[-1][0] == "embedded", 20)
    stop.set()
    watching.join(20)
    fake_ollama.forget()
    assert brain().sync().vectors.embedded == 0
    assert fake_ollama.texts == []


@pytest.mark.requirement("NFR-3", "RG-10")
def test_words_are_found_and_changes_followed_while_ollama_does_not_answer(brain, tmp_path, fake_ollama, eventually):
    fake_ollama.delay_s = 600
    fake_ollama.mode = Mode.SLOW
    stop, told = threading.Event(), Told()
    watching = threading.Thread(target=brain().watch, args=(stop, told))
    watching.start()
    eventually(lambda: fake_ollama.requests, 20)
    assert told.events == [("changed", 6)], "the words come first"
    (tmp_path / "vault/late.md").write_text("A quincunx of lanterns.", "utf-8")
    eventually(lambda: ("changed", 1) in told.events, 20)
    asking = brain()
    assert asking.search(asking.request(query="quincunx", ranking="words")).hits[0].path == "late.md"
    asking.close()
    started = time.monotonic()
    stop.set()
    watching.join(20)
    assert not watching.is_alive()
    assert time.monotonic() - started < 10, "and no stop waits for it"


def test_notes_that_change_while_a_batch_is_embedded_come_out_right(brain, tmp_path, eventually):
    with FakeOllama(dimension=64) as slow:
        slow.delay_s, slow.mode = 0.4, Mode.SLOW
        watched = brain()
        watched.config = load(
            flags={"db_path": str(tmp_path / "w.db"), "embedder": "ollama", "ollama_url": slow.url},
            env={},
            vault=str(tmp_path / "vault"),
        )
        stop, told = threading.Event(), Told()
        watching = threading.Thread(target=watched.watch, args=(stop, told))
        watching.start()
        eventually(lambda: slow.embed_calls, 20)
        (tmp_path / "vault/0.md").write_text("# Changed\n\nEntirely new.", "utf-8")
        (tmp_path / "vault/1.md").unlink()
        (tmp_path / "vault/2.md").rename(tmp_path / "vault/moved.md")
        eventually(lambda: sum(kind == "changed" for kind, _ in told.events) >= 2, 20)
        slow.mode = Mode.OK
        eventually(lambda: told.events[-1][0] == "embedded", 20)
        stop.set()
        watching.join(20)
    other = brain("fresh.db")
    other.sync()
    assert logical_dump(tmp_path / "w.db") == logical_dump(tmp_path / "fresh.db")
