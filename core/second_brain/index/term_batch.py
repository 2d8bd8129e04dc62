"""The terms of several notes together, as they come out of the text and go into one segment of the word index."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from second_brain.index.terms import pair_names

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from second_brain.index.terms import PlacedTerms

N = TypeVar("N", bound=np.generic)

FIELDS = ("title", "alias", "heading", "tag")
MOST_TIMES = 0xFF


@dataclass(frozen=True, slots=True)
class Terms:
    """The terms of some notes.  `names` are all of them, each once; codes are places in `names`.

    The bodies come twice, for pairs of characters and for all other terms: in that of the note ``docs[i % len(docs)]`` stand the
    next ``body_sizes[i]`` of `codes` at `positions`.  Its fields hold the next ``field_sizes[i]`` of `field_codes` as often as
    `field_values`, packed by `pack_fields`, says.
    """

    names: Sequence[str]
    docs: NDArray[np.int64]
    body_sizes: NDArray[np.int64]
    codes: NDArray[np.uint32]
    positions: NDArray[np.uint32]
    field_sizes: NDArray[np.int64]
    field_codes: NDArray[np.uint32]
    field_values: NDArray[np.uint32]


class TermsBuilder:
    """Collects `Terms`, note by note."""

    def __init__(self) -> None:
        self._code: defaultdict[str, int] = defaultdict()
        self._code.default_factory = self._code.__len__
        self._docs: list[int] = []
        self._codes: list[NDArray[np.uint32]] = []
        self._bodies: list[PlacedTerms] = []
        self._fields: list[Mapping[str, int]] = []

    def add(self, doc: int, body: PlacedTerms, fields: Mapping[str, int]) -> None:
        """Add the note *doc*, greater than those before."""
        self._docs.append(doc)
        self._codes.append(np.fromiter(map(self._code.__getitem__, body.names), dtype=np.uint32, count=len(body.names)))
        self._bodies.append(replace(body, names=[]))
        self._fields.append(fields)

    def terms(self) -> Terms:
        """What was added."""
        pairs, place = np.unique(_joined([body.pairs for body in self._bodies], np.uint64), return_inverse=True)
        pair_codes = np.array([self._code[name] for name in pair_names(pairs)], dtype=np.uint32)
        field_codes = [self._code[term] for fields in self._fields for term in fields]
        values = [value for fields in self._fields for value in fields.values()]
        positions = [body.pair_positions for body in self._bodies] + [body.positions for body in self._bodies]
        return Terms(
            names=list(self._code),
            docs=np.array(self._docs, dtype=np.int64),
            body_sizes=np.array([len(part) for part in positions], dtype=np.int64),
            codes=_joined([pair_codes[place], *self._codes], np.uint32),
            positions=_joined(positions, np.uint32),
            field_sizes=np.array([len(fields) for fields in self._fields], dtype=np.int64),
            field_codes=np.array(field_codes, dtype=np.uint32),
            field_values=np.array(values, dtype=np.uint32),
        )


def _joined(parts: Sequence[NDArray[N]], kind: type[N]) -> NDArray[N]:
    return np.concatenate(parts) if parts else np.empty(0, dtype=kind)


def pack_fields(fields: Iterable[Iterable[str]]) -> dict[str, int]:
    """The terms of title, aliases, headings and tags (in the order of `FIELDS`) as packed frequencies."""
    packed: dict[str, int] = {}
    for number, terms in enumerate(fields):
        shift = 8 * number
        for term in terms:
            value = packed.get(term, 0)
            if (value >> shift) & MOST_TIMES < MOST_TIMES:
                packed[term] = value + (1 << shift)
    return packed
