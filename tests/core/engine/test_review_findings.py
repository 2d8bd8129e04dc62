"""Faults that a review found, each as its whole kind."""

from __future__ import annotations

import os
import threading

import pytest

from second_brain.index import words


@pytest.mark.parametrize("short", ["one line now", ""])
def test_a_note_that_shrank_since_it_was_embedded_is_shown_as_it_is(open_desk, short):
    desk = open_desk({"long.md": "\n\n".join(f"The heron stood in pond {n}." for n in range(150))})
    (desk.vault.root / "long.md").write_text(short)
    for query in ("heron pond", "bird in the water"):
        for ranking in ("best", "words", "meaning"):
            for hit in desk.ask(query, ranking=ranking).hits:
                assert hit.snippet.text in short


@pytest.mark.parametrize("moment", [13_569_465_600, 99_999_999_999, -99_999_999_999, 0])
def test_no_time_stamp_stops_a_sync(open_desk, moment):
    desk = open_desk({"a.md": "heron", "b.md": "pond"}, embed=False)
    try:
        os.utime(desk.vault.root / "a.md", (moment, moment))
    except OverflowError:
        pytest.skip("this file system has no such time stamps")
    assert not desk.vault.sync().errors
    assert not desk.vault.sync().processed


@pytest.mark.parametrize(
    ("asked", "kept"),
    [
        ("cold war", ["cold", "war"]),
        ("red hat", ["red", "hat"]),
        ("the son of the sea", ["son", "sea"]),
        ("wie war die Lage im Hafen", ["lage", "hafen"]),
        ("como es la playa", ["playa"]),
    ],
)
def test_only_the_function_words_of_the_querys_language_are_dropped(asked, kept):
    terms = [term for term, _ in words.spoken(asked)]
    assert [term for term in terms if term not in words.stop_words_of(terms)] == kept


def test_what_is_excluded_is_the_word_as_one_piece(open_desk):
    desk = open_desk(
        {"a.md": "DEC-12 and ticket 0054", "b.md": "DEC-0054", "c.md": "東京と京都", "d.md": "東京都"}, embed=False
    )
    assert set(desk.paths("-DEC-0054")) == {"a.md", "c.md", "d.md"}
    assert set(desk.paths("-東京都")) == {"a.md", "b.md", "c.md"}


def test_hits_that_the_budget_leaves_out_are_told(open_desk):
    desk = open_desk({f"Folder of some length/Note number {n}.md": "heron " * 50 for n in range(50)}, embed=False)
    answer = desk.ask("heron", top_k=50, ranking="words", settings={"result_budget": 1_500})
    assert len(answer.hits) < 50
    assert f"{len(answer.hits)} of 50 hits are shown" in answer.warnings[-1]


def test_a_long_line_is_marked_where_it_is_shown(open_desk):
    desk = open_desk({"a.md": "filler words " * 40_000 + "the heron at last " + "more words " * 40_000}, embed=False)
    snippet = desk.ask("heron", ranking="words").hits[0].snippet
    assert [snippet.text[start:end] for start, end in snippet.marks] == ["heron"]


def test_closing_while_a_search_runs_ends(tmp_path, monkeypatch):
    from second_brain.config import load
    from second_brain.service import SecondBrain

    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "a.md").write_text("heron\n")
    brain = SecondBrain(load(flags={"db_path": str(tmp_path / "i.db")}, env={}, vault=str(vault)))
    brain.sync(embed=False)
    started, going = threading.Event(), threading.Event()

    def read(path):
        started.set()
        going.wait(5)
        assert brain.vault

    monkeypatch.setattr(brain.notes_on_disk, "outline", read)
    thread = threading.Thread(target=lambda: brain.search(brain.request(query="heron", ranking="words")), daemon=True)
    thread.start()
    assert started.wait(10)
    closer = threading.Thread(target=brain.close, daemon=True)
    closer.start()
    going.set()
    thread.join(10)
    closer.join(10)
    assert not thread.is_alive()
    assert not closer.is_alive()
