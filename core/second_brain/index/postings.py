"""The inverted index: for each term the notes that hold it, how often in which field, and where in the text.

A transaction writes one immutable *segment*; notes that changed or vanished are skipped by their `doc` number, which is never
used twice.  Segments of like size are merged as in a log-structured tree, so a term is spread over a few dozen rows at most.

Row format, little-endian uint32: ``n | docs[n] | fields[n] | body_tf[n] | positions[sum(body_tf)]``.  `fields` packs the term's
frequency (capped at 255) in title, aliases, headings and tags, one byte each, title lowest.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import apsw
import numpy as np

from second_brain.index.term_batch import FIELDS, MOST_TIMES
from second_brain.index.text import begins, stem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from second_brain.index.term_batch import Terms

MOST_WRITTEN = 300_000
"""So many terms are remembered as written, some 30 MB."""

MERGE_WIDTH = 16
"""So many segments of one size class are merged into one of the next."""


@dataclass(frozen=True, slots=True)
class Postings:
    """The occurrences of one term; arrays of equal length but `positions`, which holds `body_tf[i]` numbers per note."""

    docs: NDArray[np.uint32]
    fields: NDArray[np.uint32]
    body_tf: NDArray[np.uint32]
    positions: NDArray[np.uint32]

    def field_tf(self, number: int) -> NDArray[np.uint32]:
        """Frequencies in one field."""
        return (self.fields >> np.uint32(8 * number)) & np.uint32(0xFF)

    def keep(self, mask: NDArray[np.bool_]) -> Postings:
        """Only the notes where *mask* is true."""
        if mask.all():
            return self
        return Postings(
            self.docs[mask], self.fields[mask], self.body_tf[mask], self.positions[np.repeat(mask, self.body_tf)]
        )


def _decode(data: bytes) -> Postings:
    """A row; raises `apsw.CorruptError` for one that does not add up, as SQLite does for a page."""
    if not isinstance(data, bytes) or len(data) % 4:
        raise apsw.CorruptError
    numbers = np.frombuffer(data, dtype="<u4")
    n = int(numbers[0]) if len(numbers) else 0
    if not 0 < 3 * n < len(numbers):
        raise apsw.CorruptError
    found = Postings(
        numbers[1 : n + 1], numbers[n + 1 : 2 * n + 1], numbers[2 * n + 1 : 3 * n + 1], numbers[3 * n + 1 :]
    )
    if len(found.positions) != int(found.body_tf.sum(dtype=np.int64)):
        raise apsw.CorruptError
    return found


def _concatenate(parts: Sequence[Postings]) -> Postings:
    if len(parts) == 1:
        return parts[0]
    return Postings(
        np.concatenate([part.docs for part in parts]),
        np.concatenate([part.fields for part in parts]),
        np.concatenate([part.body_tf for part in parts]),
        np.concatenate([part.positions for part in parts]),
    )


_NOTHING = np.empty(0, dtype=np.uint32)
EMPTY = Postings(_NOTHING, _NOTHING, _NOTHING, _NOTHING)


def verify(connection: apsw.Connection) -> None:
    """Look at every row; raises `apsw.CorruptError` for one that does not add up."""
    for (data,) in connection.execute("SELECT data FROM postings"):
        _decode(data)


def read(connection: apsw.Connection, databases: Sequence[str], term: str) -> Postings:
    """All occurrences of *term* in *databases*, those of dead notes included: the caller keeps only live notes of its scope."""
    parts = [
        _decode(data)
        for database in databases
        for (data,) in connection.execute(
            f"SELECT p.data FROM {database}.segments s CROSS JOIN {database}.postings p"
            " ON p.segment = s.id AND p.term = ? ORDER BY s.id",
            (term,),
        )
    ]
    return _concatenate(parts) if parts else EMPTY


def read_beginning(connection: apsw.Connection, databases: Sequence[str], letter: str) -> Postings:
    """As `read`, of a character of an unspaced script: by itself and as the beginning of pairs."""
    parts = [
        _decode(data)
        for database in databases
        for term, data in connection.execute(
            f"SELECT p.term, p.data FROM {database}.segments s CROSS JOIN {database}.postings p ON p.segment = s.id"
            " AND p.term >= ? AND p.term < ? ORDER BY s.id",
            (letter, letter + "\U0010ffff"),
        )
        if begins(letter, term)
    ]
    return _united(parts) if parts else EMPTY


def _united(parts: Sequence[Postings]) -> Postings:
    """The occurrences of several terms as those of one."""
    found = _concatenate(parts)
    docs, place = np.unique(found.docs, return_inverse=True)
    fields = np.zeros(len(docs), dtype=np.uint32)
    for number in range(len(FIELDS)):
        times = np.bincount(place, weights=found.field_tf(number), minlength=len(docs))
        fields |= np.minimum(times, MOST_TIMES).astype(np.uint32) << np.uint32(8 * number)
    order = np.lexsort((found.positions, np.repeat(place, found.body_tf)))
    tf = np.bincount(place, weights=found.body_tf, minlength=len(docs))
    return Postings(docs, fields, tf.astype(np.uint32), found.positions[order])


def write(connection: apsw.Connection, terms: Terms, written: set[str]) -> None:
    """Write one segment; inside the caller's transaction.

    *written* are terms that the vocabulary surely has; it gains those of the segment, so empty it after a rollback.
    """
    if not len(terms.docs):
        return
    order = sorted(range(len(terms.names)), key=terms.names.__getitem__)
    names = [terms.names[place] for place in order]
    number = np.empty(len(order), dtype=np.int64)
    number[order] = np.arange(len(order))
    pairs = _gather(
        (number[terms.codes] << 32) | np.repeat(np.tile(terms.docs, 2), terms.body_sizes),
        terms.positions.astype(np.int64),
        (number[terms.field_codes] << 32) | np.repeat(terms.docs, terms.field_sizes),
        terms.field_values.astype(np.int64),
    )
    connection.executemany(
        "INSERT OR IGNORE INTO terms(term, stem) VALUES(?, ?)",
        [(name, root if (root := stem(name)) != name else None) for name in names if name not in written],
    )
    if len(written) > MOST_WRITTEN:
        written.clear()
    written.update(names)
    segment = (connection.execute("SELECT max(id) FROM segments").get or 0) + 1
    connection.execute("INSERT INTO segments(id, docs) VALUES(?, ?)", (segment, len(terms.docs)))
    _insert(connection, segment, names, pairs)


@dataclass(frozen=True, slots=True)
class _Pairs:
    """All (term, note) pairs of a segment: `keys` ascending hold the term's number above and the doc below bit 32."""

    keys: NDArray[np.int64]
    fields: NDArray[np.int64]
    tf: NDArray[np.int64]
    positions: NDArray[np.int64]  # in the order of `keys`, `tf` of each


def _gather(
    body_keys: NDArray[np.int64],
    positions: NDArray[np.int64],
    field_keys: NDArray[np.int64],
    field_values: NDArray[np.int64],
) -> _Pairs:
    order = np.lexsort((positions, body_keys))
    body_keys, positions = body_keys[order], positions[order]
    # A part that reads like its whole word stands at the same position; once is enough.
    fresh = _differs(body_keys) | _differs(positions)
    body_keys, positions = body_keys[fresh], positions[fresh]
    starts = np.flatnonzero(_differs(body_keys))
    in_body, counts = body_keys[starts], np.diff(starts, append=len(body_keys))
    field_order = np.argsort(field_keys)
    field_keys, field_values = field_keys[field_order], field_values[field_order]
    keys = np.concatenate((in_body, field_keys[~is_among(field_keys, in_body)]))
    keys.sort()
    tf = np.zeros(len(keys), dtype=np.int64)
    tf[np.searchsorted(keys, in_body)] = counts
    fields = np.zeros(len(keys), dtype=np.int64)
    fields[np.searchsorted(keys, field_keys)] = field_values
    return _Pairs(keys, fields, tf, positions)


def _differs(values: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which of *values* are not equal to the one before."""
    fresh = np.ones(len(values), dtype=np.bool_)
    fresh[1:] = values[1:] != values[:-1]
    return fresh


def _insert(connection: apsw.Connection, segment: int, terms: Sequence[str], pairs: _Pairs) -> None:
    """Write all rows of a segment; they are laid out in one buffer and cut from it.  *terms*: by number."""
    if not len(pairs.keys):
        return
    first = np.flatnonzero(_differs(pairs.keys >> 32))
    numbers, notes = pairs.keys[first] >> 32, np.diff(first, append=len(pairs.keys))
    before = np.concatenate(([0], np.cumsum(pairs.tf)))
    placed = before[np.append(first, len(pairs.keys))]
    sizes = 1 + 3 * notes + np.diff(placed)
    starts = np.concatenate(([0], np.cumsum(sizes)))
    buffer = np.empty(int(starts[-1]), dtype="<u4")
    buffer[starts[:-1]] = notes
    slot = np.repeat(starts[:-1] + 1 - first, notes) + np.arange(len(pairs.keys))
    stride = np.repeat(notes, notes)
    buffer[slot] = pairs.keys & 0xFFFFFFFF
    buffer[slot + stride] = pairs.fields
    buffer[slot + 2 * stride] = pairs.tf
    shift = np.repeat(starts[:-1] + 1 + 3 * notes - placed[:-1], np.diff(placed))
    buffer[shift + np.arange(len(pairs.positions))] = pairs.positions
    data = buffer.tobytes()
    edges = (starts * 4).tolist()
    connection.executemany(
        "INSERT INTO postings(segment, term, data) VALUES(?, ?, ?)",
        (
            (segment, terms[number], data[start:stop])
            for number, start, stop in zip(numbers.tolist(), edges, edges[1:], strict=False)
        ),
    )


def merge_if_due(connection: apsw.Connection, live: NDArray[np.int64]) -> bool:
    """Merge segments where a size class is full; everything when many notes in them are dead.  *live*: docs, sorted.

    Returns whether terms may have been forgotten.
    """
    segments: list[Any] = connection.execute("SELECT id, docs FROM segments ORDER BY id").fetchall()
    total = sum(docs for _, docs in segments)
    if len(segments) > 1 and total - len(live) > 100 + total // 3:
        merge(connection, [segment for segment, _ in segments], live)
        purge_terms(connection)
        return True
    classes: defaultdict[int, list[int]] = defaultdict(list)
    for segment, docs in segments:
        classes[_size_class(docs)].append(segment)
    for _, members in sorted(classes.items()):
        if len(members) >= MERGE_WIDTH:
            merge(connection, members, live)
    return False


def _size_class(docs: int) -> int:
    size = 0
    while docs >= MERGE_WIDTH:
        docs //= MERGE_WIDTH
        size += 1
    return size


def merge(connection: apsw.Connection, segments: Sequence[int], live: NDArray[np.int64]) -> None:
    """Replace *segments* by one that holds their live notes."""
    target = connection.execute("SELECT max(id) + 1 FROM segments").get
    terms, pairs = _live_pairs(connection, segments, live)
    docs = len(np.unique(pairs.keys & 0xFFFFFFFF))
    if docs:
        connection.execute("INSERT INTO segments(id, docs) VALUES(?, ?)", (target, docs))
        _insert(connection, target, terms, pairs)
    for segment in segments:
        connection.execute("DELETE FROM postings WHERE segment = ?", (segment,))
        connection.execute("DELETE FROM segments WHERE id = ?", (segment,))


def _live_pairs(
    connection: apsw.Connection, segments: Sequence[int], live: NDArray[np.int64]
) -> tuple[list[str], _Pairs]:
    """What *segments* hold of living notes, and their terms by number; a note is in one segment only."""
    rows = [
        row
        for segment in segments
        for row in connection.execute("SELECT term, data FROM postings WHERE segment = ?", (segment,))
    ]
    terms = sorted({term for term, _ in rows})
    number_of = {term: number for number, term in enumerate(terms)}
    if not all(isinstance(data, bytes) and data and len(data) % 4 == 0 for _, data in rows):
        raise apsw.CorruptError
    numbers = np.frombuffer(b"".join(data for _, data in rows), dtype="<u4").astype(np.int64)
    sizes = np.array([len(data) // 4 for _, data in rows], dtype=np.int64)
    starts = np.cumsum(sizes) - sizes
    notes = numbers[starts] if len(starts) else starts
    _check_sizes(sizes, 1 + 3 * notes)
    rank = np.arange(int(notes.sum())) - np.repeat(np.cumsum(notes) - notes, notes)
    slot = np.repeat(starts + 1, notes) + rank
    stride = np.repeat(notes, notes)
    keys = (np.repeat(np.array([number_of[term] for term, _ in rows], dtype=np.int64), notes) << 32) | numbers[slot]
    fields, tf = numbers[slot + stride], numbers[slot + 2 * stride]
    _check_sizes(
        sizes, 1 + 3 * notes + np.bincount(np.repeat(np.arange(len(rows)), notes), tf, len(rows)), exactly=True
    )
    is_position = np.ones(len(numbers), dtype=np.bool_)
    is_position[starts] = False
    for part in range(3):
        is_position[slot + part * stride] = False
    positions = numbers[is_position]
    keep = is_among(keys & 0xFFFFFFFF, live)
    positions = positions[np.repeat(keep, tf)]
    keys, fields, tf = keys[keep], fields[keep], tf[keep]
    order = np.argsort(keys, kind="stable")
    ends = np.cumsum(tf)
    tf_sorted = tf[order]
    source = np.repeat((ends - tf)[order], tf_sorted) + (
        np.arange(int(tf_sorted.sum())) - np.repeat(np.cumsum(tf_sorted) - tf_sorted, tf_sorted)
    )
    return terms, _Pairs(keys[order], fields[order], tf_sorted, positions[source])


def _check_sizes(sizes: NDArray[np.int64], needed: NDArray[Any], *, exactly: bool = False) -> None:
    """Raises `apsw.CorruptError` when a row is shorter than *needed*, or has another length at all."""
    if (needed > sizes).any() or (needed == 1).any() or (exactly and (needed != sizes).any()):
        raise apsw.CorruptError


def purge_terms(connection: apsw.Connection) -> None:
    """Forget terms that no segment holds."""
    connection.execute("DELETE FROM terms WHERE term NOT IN (SELECT term FROM postings)")


def is_among(values: NDArray[np.int64], sorted_values: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which of *values* occur in *sorted_values*."""
    if not len(sorted_values):
        return np.zeros(len(values), dtype=np.bool_)
    where = np.searchsorted(sorted_values, values)
    where[where == len(sorted_values)] = 0
    return np.asarray(sorted_values[where] == values, dtype=np.bool_)
