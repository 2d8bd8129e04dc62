"""What an index says, independent of how it came to say it.

Two indexes of the same vault are equal when their dumps are.  Left out are the numbers of notes, terms, chunks, segments and
models, spare vectors and the former model (a cache), `meta` (figures of the sync), and of `files` four columns: `doc`; `indexed_at` and `mtime`,
which tell when something was done (`mtime` stays when a file is only touched); `content_mtime`, which by design remembers the
first sight of a content that a fresh index cannot know.
"""

from __future__ import annotations

from collections import defaultdict

import apsw
import numpy as np

FILE_COLUMNS = "path, content_hash, mtime_ns, size, CAST(extracted AS BLOB), summary, title, own_title, words, english, form, properties"
PARTS = {
    "frontmatter": "key, value, folded",
    "names": "kind, name, folded",
    "headings": "level, line, text, path",
    "anchors": "anchor, start, stop",
    "tasks": "line, done, text",
    "links": "target, kind, line, col, text, key",
}


def logical_dump(db_path):
    """Everything that matters, keyed by path; comparing two of them with == shows the first difference in pytest."""
    connection = apsw.Connection(str(db_path), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        with connection:
            return _dump(connection)
    finally:
        connection.close()


def _dump(connection):
    path_of = dict(connection.execute("SELECT doc, path FROM files"))
    dump = {
        "files": {row[0]: row[1:] for row in connection.execute(f"SELECT {FILE_COLUMNS} FROM files")},
        "tags": _grouped(connection.execute("SELECT path, tag, source, key FROM tags ORDER BY path, tag")),
        "problems": {row[0]: row[1:] for row in connection.execute("SELECT path, reason, from_scan FROM problems")},
        "texts": {path_of[row[0]]: row[1:] for row in connection.execute("SELECT doc, text, exact FROM texts")},
        "embeddings": _embeddings(connection),
        "models": sorted(
            connection.execute(
                "SELECT m.fingerprint, m.dim, l.size, l.overlap, m.state FROM models m JOIN layouts l ON l.id = m.layout"
                " WHERE m.state <> 'former'"
            )
        ),
        "chunks": _chunks(connection, path_of),
        "vectors": _vectors(connection),
        "postings": _postings(connection, path_of),
    }
    for table, columns in PARTS.items():
        rows = connection.execute(f"SELECT doc, {columns} FROM {table} ORDER BY doc, ordinal")
        dump[table] = _grouped((path_of[doc], *rest) for doc, *rest in rows)
    return dump


def graph_dump(db_path):
    """The stored graph: the neighbours of every note in order, what was left out of its vector, what is boilerplate."""
    connection = apsw.Connection(str(db_path), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        path_of = dict(connection.execute("SELECT id, path FROM graph_nodes"))
        rows = connection.execute("SELECT node, other, cosine FROM neighbours ORDER BY node, other").fetchall()
        return {
            "notes": dict(connection.execute("SELECT path, hex(vector) FROM graph_nodes")),
            "neighbours": {(path_of[node], path_of[other]): cosine for node, other, cosine in rows},
            "waiting": connection.execute("SELECT path FROM graph_changed").fetchall(),
            "form": connection.execute("SELECT value FROM meta WHERE key = 'graph_form'").get,
        }
    finally:
        connection.close()


def _grouped(rows):
    found = defaultdict(list)
    for path, *rest in rows:
        found[path].append(tuple(rest))
    return dict(found)


def _embeddings(connection):
    rows = connection.execute("SELECT path, coalesce(model, ''), vector FROM embeddings")
    return {path: (model, vector) for path, model, vector in rows}


def _chunks(connection, path_of):
    rows = connection.execute(
        "SELECT c.doc, l.size, l.overlap, c.ordinal, c.heading_path, c.start, c.stop, c.start_line, c.end_line,"
        " c.first_token, c.last_token, c.prefix, hex(c.text_hash), hex(c.lines) FROM chunks c JOIN layouts l ON l.id = c.layout"
        " ORDER BY c.doc, l.size, l.overlap, c.ordinal"
    )
    return _grouped((path_of[doc], *rest) for doc, *rest in rows)


def _vectors(connection):
    """(fingerprint, layout, text hash) -> the vectors of living chunks; a set of one where all is well."""
    rows = connection.execute(
        "SELECT m.fingerprint, l.size, l.overlap, hex(v.text_hash), v.vector, c.text_hash = v.text_hash FROM vectors v"
        " JOIN models m ON m.id = v.model JOIN layouts l ON l.id = m.layout"
        " LEFT JOIN chunks c ON c.id = v.chunk WHERE v.chunk IS NOT NULL"
    )
    found = defaultdict(set)
    for fingerprint, size, overlap, text_hash, vector, fits in rows:
        assert fits, "a vector that answers for a chunk that is gone or has another text"
        found[fingerprint, size, overlap, text_hash].add(vector)
    return dict(found)


def _postings(connection, path_of):
    found = {}
    rows = connection.execute("SELECT term, data FROM postings")
    for term, data in rows:
        numbers = np.frombuffer(data, dtype="<u4")
        n = int(numbers[0])
        docs, fields, counts = (numbers[1 + part * n : 1 + (part + 1) * n].tolist() for part in range(3))
        positions = numbers[1 + 3 * n :].tolist()
        assert len(positions) == sum(counts)
        assert docs == sorted(set(docs))
        for doc, field, count in zip(docs, fields, counts, strict=True):
            here, positions = positions[:count], positions[count:]
            if doc in path_of:
                assert (term, path_of[doc]) not in found, "a note in two segments"
                found[term, path_of[doc]] = (field, tuple(here))
    assert not connection.execute("SELECT count(*) FROM postings WHERE term NOT IN (SELECT term FROM terms)").get
    return found
