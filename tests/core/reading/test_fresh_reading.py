"""An edit, a new name or a deletion between two calls is seen by the second, whoever keeps the index."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest

from second_brain.config import load
from second_brain.errors import NotFound, VaultUnavailable
from second_brain.service import SecondBrain
from stub_embedder import StubEmbedder


class Quiet:
    """A listener that keeps nothing."""

    def changed(self, report):
        """Nothing to tell."""

    def embedded(self, report):
        """Nothing to tell."""

    def trouble(self, message):
        """Nothing to tell."""


@contextmanager
def _watched(brain, *, watched):
    """Someone keeps the index meanwhile, or nobody does."""
    stop = threading.Event()
    keeper = SecondBrain(brain.config, embedder=StubEmbedder(8))
    thread = threading.Thread(target=keeper.watch, args=(stop, Quiet()))
    if watched:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        if watched:
            thread.join()
        keeper.close()


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "vault"
    folder.mkdir()
    (folder / "Mira.md").write_text("---\naliases: [the ferrywoman]\n---\n# Mira\n", "utf-8")
    (folder / "log.md").write_text("Saw [[Mira]].\n", "utf-8")
    return folder


@pytest.fixture
def brain(root, tmp_path):
    settings = load(flags={"db_path": str(tmp_path / "index.db")}, env={}, vault=str(root))
    brain = SecondBrain(settings, embedder=StubEmbedder(8))
    brain.sync()
    yield brain
    brain.close()


def _mentioned_in(brain, name, **options):
    return [one.path for one in brain.mentions(name, **options).shown]


@pytest.mark.requirement("SV-11")
@pytest.mark.parametrize("watched", [False, True], ids=["nobody watches", "watched"])
def test_what_happens_between_two_calls_is_seen_by_the_second(brain, root, watched):
    with _watched(brain, watched=watched):
        assert _mentioned_in(brain, "Mira") == ["log.md"]
        (root / "new.md").write_text("Also [[the ferrywoman]] and Mira again.\n", "utf-8")
        assert _mentioned_in(brain, "Mira") == ["log.md", "new.md"]
        assert _mentioned_in(brain, "Mira", unlinked=True) == ["new.md"]
        (root / "log.md").write_text("Nothing.\n", "utf-8")
        assert _mentioned_in(brain, "Mira") == ["new.md"]
        (root / "new.md").rename(root / "newer.md")
        assert _mentioned_in(brain, "Mira") == ["newer.md"]
        assert brain.read("newer").text.startswith("Also")
        with pytest.raises(NotFound):
            brain.read("new")
        (root / "Mira.md").rename(root / "Mira Voss.md")
        assert _mentioned_in(brain, "Mira Voss") == ["newer.md"]  # by the alias
        (root / "newer.md").unlink()
        assert brain.mentions("Mira Voss").total == 0
        assert brain.links("Mira Voss").backlinks == ()
        assert [one.path for one in brain.related("Mira Voss").neighbours if one.evidence.linked_from] == []
        assert brain.map().overview.note_count == 2


@pytest.mark.requirement("SV-11")
def test_the_same_size_and_another_text_are_seen_by_the_time_stamp(brain, root):
    assert _mentioned_in(brain, "Mira") == ["log.md"]
    (root / "log.md").write_text("Saw [[Oskr]].\n", "utf-8")
    assert brain.mentions("Mira").total == 0


def test_readers_and_an_editor_do_not_disturb_each_other(brain, root):
    done = threading.Event()

    def edit():
        for number in range(60):
            (root / f"{number % 7}.md").write_text(f"[[Mira]] {number}\n", "utf-8")
            if number % 5 == 0:
                (root / f"{(number + 3) % 7}.md").unlink(missing_ok=True)
        done.set()

    def ask():
        answers = 0
        while not done.is_set():
            found = brain.mentions("Mira")
            assert sum(one.mentions for one in found.shown) + sum(note.count for note in found.map) == found.total
            brain.links("Mira")
            answers += 1
        return answers

    with ThreadPoolExecutor(4) as pool:
        asked = [pool.submit(ask) for _ in range(3)]
        pool.submit(edit).result()
        assert all(one.result() >= 1 for one in asked)
    assert brain.mentions("Mira").total == len(list(root.glob("[0-6].md"))) + 1


def test_a_vault_that_is_away_is_told_by_every_question(brain, root):
    root.rename(root.parent / "away")
    for ask in (brain.mentions, brain.read, brain.links, brain.related):
        with pytest.raises(VaultUnavailable):
            ask("Mira")


def test_what_is_no_longer_ignored_can_be_read_at_once(root, brain):
    (root / "hidden.md").write_text("[[Mira]]", "utf-8")
    (root / ".secondbrainignore").write_text("hidden.md\n", "utf-8")
    assert _mentioned_in(brain, "Mira") == ["log.md"]
    (root / ".secondbrainignore").unlink()
    assert _mentioned_in(brain, "Mira") == ["hidden.md", "log.md"]
    assert brain.read("hidden").text == "[[Mira]]"


def test_what_is_too_much_to_be_read_is_told(brain, root, monkeypatch):
    monkeypatch.setattr("second_brain.indexing.freshness.MOST", 1)
    for number in range(3):
        (root / f"{number}.md").write_text("[[Mira]]", "utf-8")
    for found in (brain.mentions("Mira"), brain.links("Mira"), brain.related("Mira"), brain.read("Mira"), brain.map()):
        assert found.warnings[0] == (
            "3 notes changed since the last sync: what is told is how things were then. Run: second-brain sync"
        )
    with pytest.raises(NotFound) as told:
        brain.read("1")
    assert "changed since the last sync" in told.value.hint
