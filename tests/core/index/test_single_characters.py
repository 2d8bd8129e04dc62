"""A single character of an unspaced script has no postings of its own inside a run, and is found all the same."""

from __future__ import annotations

from collections import Counter

import pytest

from indexed_vault import IndexedVault
from second_brain.index.text import tokens

NOTES = {
    "alone.md": "# 山\n\n山。x 山 山",
    "inside.md": "# 小山道\n\n白い山小屋と山道、火山。",
    "last.md": "火山",
    "tags.md": "---\ntags: [登山計画, 山]\naliases: [雪山の記録]\n---\n海",
    "twice.md": "山山山",
    "thai.md": "น้ำ น",
    "none.md": "sea and 海",
}


@pytest.fixture(scope="module")
def vault(tmp_path_factory):
    return IndexedVault(tmp_path_factory.mktemp("single")).write_all(NOTES).index()


def body_places(text, letter):
    return [token.position for token in tokens(text) if token.term == letter]


@pytest.mark.parametrize("letter", ["山", "小", "海", "道", "น", "น้", "々"])
def test_a_character_is_found_wherever_it_stands_as_often_as_it_stands_there(vault, letter):
    with vault.reader() as reader:
        _, found = reader.occurrences(letter)
        names = dict(reader.connection.execute("SELECT doc, path FROM files"))
        texts = dict(reader.connection.execute("SELECT doc, text FROM texts"))
    expected = {names[doc]: body_places(text, letter) for doc, text in texts.items() if body_places(text, letter)}
    ends = found.body_tf.cumsum().tolist()
    starts = [0, *ends]
    placed = {
        names[doc]: found.positions[start:end].tolist()
        for doc, start, end in zip(found.docs.tolist(), starts, ends, strict=False)
        if end > start
    }
    assert placed == expected
    assert sorted(found.docs.tolist()) == found.docs.tolist()


def test_a_character_counts_in_title_alias_and_tags_too(vault):
    with vault.reader() as reader:
        _, found = reader.occurrences("山")
        names = dict(reader.connection.execute("SELECT doc, path FROM files"))
    times = {
        names[doc]: tuple(int(found.field_tf(field)[place]) for field in range(4))
        for place, doc in enumerate(found.docs.tolist())
    }
    # title (with a file name of its own), aliases, headings, tags
    assert times["alone.md"] == (1, 0, 1, 0)
    assert times["inside.md"] == (1, 0, 1, 0)
    assert times["tags.md"] == (0, 1, 0, 2)


def test_what_many_changes_left_of_the_segments_finds_it_too(tmp_path):
    vault = IndexedVault(tmp_path)
    for number in range(40):
        vault.write(f"{number}.md", f"第{number}章、山{'道' if number % 2 else '山'}")
        vault.sync()
    vault.write("0.md", "川")
    vault.sync()
    with vault.reader() as reader:
        _, found = reader.occurrences("山")
    assert Counter(found.body_tf.tolist()) == {1: 20, 2: 19}
