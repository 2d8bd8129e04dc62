"""The nearest notes by the cosine of their vectors, exact and reproducible.

What `nearest` gives equals brute force over `cosines` including ties, whatever the blocks are; `stale_rows` says which lists
an edit can have changed, so that only these are computed anew.  No array of notes times notes is ever made: for 14,000 notes
of 384 numbers the peak is 25 MB above the matrix itself, and 41 MB when rows without or with equal vectors make it copy the rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from collections.abc import Iterator

    from second_brain.graph.formulas import Flags, Nodes, Numbers

Matrix = NDArray[np.float32]

NOBODY = -1  # an unused place of a list

_DECIMALS = 6
_BLOCK = 256  # rows of one product
_PAIRS = 2_048  # cosines computed at once
_GROUP = 32  # columns of which only the largest value is looked at first
_FEW = 32  # rows for which vectors that stand more than once need no care


@dataclass(frozen=True, slots=True)
class Lists:
    """The nearest notes of some rows, best first: one line per row, `NOBODY` and 0.0 in the places not used.

    `numbers` is int64, `cosines` float64, both of the shape (rows, k).
    """

    numbers: Nodes
    cosines: Numbers

    def of(self, line: int) -> dict[int, float]:
        """The notes of one line with their cosines, best first."""
        pairs = zip(self.numbers[line].tolist(), self.cosines[line].tolist(), strict=True)
        return {number: cosine for number, cosine in pairs if number >= 0}


def with_vector(matrix: Matrix) -> Flags:
    """Which rows are vectors: neither zero throughout nor with a NaN."""
    return np.asarray(matrix.any(axis=1) & ~np.isnan(matrix.sum(axis=1)))


def cosines(matrix: Matrix, a_rows: ArrayLike, b_rows: ArrayLike) -> Numbers:
    """The cosines of the pairs (a_rows[i], b_rows[i]), rounded to 6 decimals; NaN where one of them has no vector.

    A value depends on its two vectors alone: the product of two float32 is exact in float64, and numpy adds up each row in an
    order given by its length.  A matrix product would not do, for BLAS adds in another order for other shapes; then a value
    would change with the company it is computed in, and an edge with it.  Rounding makes the same of what is equal up to noise,
    such as a note and its copy with another summand last.
    """
    left, right = np.asarray(a_rows, dtype=np.int64), np.asarray(b_rows, dtype=np.int64)
    found = np.empty(len(left))
    for start in range(0, len(left), _PAIRS):
        part = slice(start, start + _PAIRS)
        ours, theirs = matrix[left[part]], matrix[right[part]]
        sums = np.multiply(ours, theirs, dtype=np.float64).sum(axis=1)
        found[part] = np.where(ours.any(axis=1) & theirs.any(axis=1), sums, np.nan)
    return np.round(found, _DECIMALS) + 0.0  # no -0.0


def nearest(matrix: Matrix, rows: ArrayLike, k: int, least: float) -> Lists:
    """For each of *rows* its up to *k* nearest other rows with a cosine >= *least*, by (-cosine, number).

    *matrix* holds a unit vector per note.  A row without one (zeros or NaN) has an empty list and stands in none.
    """
    asked = np.asarray(rows, dtype=np.int64)
    lists = Lists(np.full((len(asked), k), NOBODY, dtype=np.int64), np.zeros((len(asked), k)))
    columns = _columns(matrix, k, many=len(asked) > _FEW)
    if k and len(columns):
        others = matrix if len(columns) == len(matrix) else matrix[columns]
        for lines in _blocks(np.flatnonzero(with_vector(matrix[asked]))):
            at, found = _candidates(others, matrix[asked[lines]], k, least)
            _fill(lists, (lines[at], asked[lines][at], columns[found]), matrix, least)
    return lists


def stale_rows(matrix: Matrix, bounds: Numbers, holding: Flags, changed: Nodes) -> Nodes:
    """The rows whose list may be another when the vectors of the rows *changed* are new, others, moved or gone; ascending.

    *matrix* is that of now.  *bounds*: the cosine of the last one of a full list of before, else the least that is taken;
    *holding*: in the list of before stood one of *changed*, or a note that has no row any more.  Every other row keeps its list to
    the last bit.  Products of float32 with a margin tell whose list a changed row may enter.
    """
    nearest_changed = np.full(len(matrix), -np.inf, dtype=np.float32)
    for rows in _blocks(changed[with_vector(matrix[changed])]):
        np.maximum(nearest_changed, (matrix[rows] @ matrix.T).max(axis=0), out=nearest_changed)
    stale = holding | (with_vector(matrix) & (nearest_changed >= bounds - _margin(matrix)))
    stale[changed] = True
    return np.flatnonzero(stale)


def _columns(matrix: Matrix, k: int, *, many: bool) -> Nodes:
    """The rows that can stand in a list.

    Of a vector that stands more often than k + 1 times only the first ones: to every row they are as near as the later ones,
    and they come first.  Without that, thousands of equal notes are thousands of candidates for each of them.
    """
    there = np.flatnonzero(with_vector(matrix))
    if not many:
        return there
    seen: dict[bytes, int] = {}
    first = np.zeros(len(there), dtype=np.bool_)
    for place, row in enumerate(there):
        key = matrix[row].tobytes()
        count = seen.get(key, 0)
        first[place] = count <= k
        seen[key] = count + 1
    return there[first]


def _blocks(lines: Nodes) -> Iterator[Nodes]:
    for start in range(0, len(lines), _BLOCK):
        yield lines[start : start + _BLOCK]


def _candidates(others: Matrix, block: Matrix, k: int, least: float) -> tuple[Nodes, Nodes]:
    """(line of *block*, row of *others*) of all that can be among the k nearest, and few more; itself counts as one."""
    groups = -(-len(others) // _GROUP)
    products = np.full((len(block), groups * _GROUP), -np.inf, dtype=np.float32)
    np.matmul(block, others.T, out=products[:, : len(others)])
    grouped = products.reshape(len(block), groups, _GROUP)
    best, bound = grouped.max(axis=2), np.full(len(block), least)
    if groups > k:  # the largest of k + 1 groups: as many values are at least as large, one of them itself
        bound = np.maximum(bound, np.partition(best, groups - k - 1, axis=1)[:, groups - k - 1])
    bound = (bound - _margin(others)).astype(np.float32)
    lines, hit = np.nonzero(best >= bound[:, None])  # looking at every single value takes longer than the product
    which, place = np.nonzero(grouped[lines, hit] >= bound[lines, None])
    return lines[which], hit[which] * _GROUP + place


def _margin(matrix: Matrix) -> float:
    """How far a float32 product may mislead about the order of two rounded cosines.

    A sum of d products of unit vectors is wrong by at most d * 2**-24 (Higham, Accuracy and Stability of Numerical Algorithms,
    3.1), for both of the compared; then the rounding of both, and that of the bound itself.
    """
    return float(2.0 * matrix.shape[1] * 2.0**-24 + 2.0 * 0.1**_DECIMALS)


def _fill(lists: Lists, pairs: tuple[Nodes, Nodes, Nodes], matrix: Matrix, least: float) -> None:
    """Put the best of *pairs* (line, its row, another row) into the lines of *lists*."""
    lines, rows, others = (part[pairs[1] != pairs[2]] for part in pairs)
    exact = cosines(matrix, rows, others)
    order = np.lexsort((others, -exact, lines))
    order = order[exact[order] >= least]
    lines, others, exact = lines[order], others[order], exact[order]
    place = np.arange(len(lines)) - np.searchsorted(lines, lines)
    inside = place < lists.numbers.shape[1]
    lists.numbers[lines[inside], place[inside]] = others[inside]
    lists.cosines[lines[inside], place[inside]] = exact[inside]
