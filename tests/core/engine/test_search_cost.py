"""What a search does to the database and the vault, in statements, plans and reads."""

from __future__ import annotations

import apsw
import pytest

from second_brain.index import selection
from second_brain.model import Scope


def notes(count):
    return {
        f"{'AB'[number % 2]}/{number:03}.md": (
            f"---\ntags: [t{number % 5}, all]\nstatus: s{number % 3}\n---\n# Note {number}\n\nHeron pond number {number}."
        )
        for number in range(count)
    }


@pytest.fixture(scope="module")
def small(open_desk):
    return open_desk(notes(50))


@pytest.fixture(scope="module")
def large(open_desk):
    return open_desk(notes(300))


def statements(desk, **arguments):
    """The SQL of one search of a fresh reader state, and of the same search again."""
    seen = []
    desk.reader.connection.exec_trace = lambda cursor, sql, bindings: seen.append(sql) or True
    try:
        desk.ask(**arguments)
        first = list(seen)
        seen.clear()
        desk.ask(**arguments)
    finally:
        desk.reader.connection.exec_trace = None
    return first, seen


CASES = [
    {"query": "heron pond", "ranking": "best"},
    {"query": "heron pond", "ranking": "words"},
    {"query": "heron pond", "ranking": "meaning"},
    {"query": "herno pond", "ranking": "words"},
    {"query": '"heron pond"', "ranking": "best"},
    {"query": "heron -samovar", "ranking": "best", "folder": "A", "tags": ["all"], "modified_after": "2001"},
    {"query": "title:note", "ranking": "best"},
    {"query": "[status:s1]", "ranking": "best"},
]


@pytest.mark.requirement("NFR-1")
@pytest.mark.parametrize("arguments", CASES, ids=str)
def test_a_search_makes_as_many_statements_in_300_notes_as_in_50(open_desk, small, large, arguments):
    # Beyond the pool of the fusion, two more ask once for the vectors of what words alone found.
    more = 2 if arguments.get("ranking") == "best" and "heron pond" in arguments["query"] else 0
    few, many = (
        [len(each) for each in statements(open_desk(None, vault=desk.vault), **arguments)] for desk in (small, large)
    )
    assert few[1] <= few[0] <= 60
    assert few[0] <= many[0] <= few[0] + more
    assert few[1] <= many[1] <= few[1] + more


@pytest.mark.requirement("NFR-1", "T-10")
@pytest.mark.parametrize("arguments", CASES, ids=str)
def test_a_search_reads_no_more_files_than_it_shows(large, arguments):
    large.reads.clear()
    answer = large.ask(**arguments, top_k=4)
    assert len(large.reads) == len(answer.hits) == 4


def tag_plan(reader, condition):
    with reader.snapshot():
        rows = reader.connection.execute(
            f"EXPLAIN QUERY PLAN SELECT doc FROM files WHERE {condition.sql}", condition.values
        ).fetchall()
    return [row[3] for row in rows]


@pytest.mark.requirement("R-1")
@pytest.mark.parametrize(
    "scope",
    [Scope(), Scope(folders=("A",)), Scope(excluded=("B",)), Scope(tags=("all",))],
    ids=["vault", "folder", "excluded", "tag"],
)
@pytest.mark.parametrize(
    "condition",
    [selection.tagged("t1"), selection.tagged("t1", exactly=True), selection.tagged("t1").negated()],
    ids=["tag", "exact", "not"],
)
def test_tag_filters_use_the_index_of_tags(open_desk, large, condition, scope):
    reader = open_desk(None, vault=large.vault, scope=scope).reader
    plan = tag_plan(reader, condition)
    tags = [line for line in plan if "tags" in line]
    assert any("tags_key (key=?)" in line or "tags_key (key=? " in line for line in tags)
    assert not any(line.startswith("SCAN") and "tags" in line for line in plan), plan


@pytest.mark.requirement("R-2")
def test_the_tables_of_v1_hold_no_text_of_a_note(large):
    with large.reader.snapshot():
        rows = large.reader.connection.execute("SELECT * FROM files").fetchall()
        rows += large.reader.connection.execute("SELECT path, model, dim, content_hash FROM embeddings").fetchall()
        rows += large.reader.connection.execute("SELECT * FROM tags").fetchall()
    assert rows
    assert not [row for row in rows for value in row if isinstance(value, str) and "Heron pond" in value]


@pytest.mark.requirement("R-2")
def test_a_snippet_follows_the_file_while_the_index_stands_still(small):
    path = "A/004.md"
    before = small.vault.read(path).text
    try:
        small.vault.write(path, before.replace("Heron pond number", "Heron pond, rewritten, number"))
        hit = next(hit for hit in small.ask("heron pond 4", top_k=50).hits if hit.path == path)
        assert "rewritten" in hit.snippet.text
    finally:
        small.vault.write(path, before)


def steps_of_comparing(desk, **arguments):
    """What SQLite itself counts for the statements that compare vectors, and what the counter of the reader says."""
    seen = []

    def told(event):
        if "vec_distance" in event["sql"]:
            seen.append(event["stmt_status"]["SQLITE_STMTSTATUS_VM_STEP"])

    before = desk.reader.counters.vectors_read
    desk.reader.connection.trace_v2(apsw.SQLITE_TRACE_PROFILE, told)
    try:
        desk.ask(**arguments)
    finally:
        desk.reader.connection.trace_v2(0)
    return sum(seen), desk.reader.counters.vectors_read - before


@pytest.mark.requirement("NFR-2")
def test_a_filter_spares_sqlite_the_vectors_of_the_notes_outside(large):
    every, counted = steps_of_comparing(large, query="heron pond")
    same, counted_again = steps_of_comparing(large, query="heron pond", tags=["all"])
    some, fewer = steps_of_comparing(large, query="heron pond", tags=["t1"])
    assert counted == counted_again >= 300
    assert fewer == 60
    assert some < 0.5 * min(every, same)
