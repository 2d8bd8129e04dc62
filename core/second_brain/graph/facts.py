"""What edges are computed from: the vectors, links and tags of notes.

Notes are numbers 0..n-1 in the order of their paths, so the smaller number is the smaller path.  `Facts` is what the graph asks
for, few notes at a time; `Complete` holds all of a vault and answers from memory.  Both must say the same, to the last bit.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import numpy as np

from second_brain.graph.neighbours import Lists, Matrix, cosines

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence


class Facts(Protocol):
    """The facts of a vault; a note that does not exist is the caller's error.

    Links are those between notes of the vault, distinct, and never from a note to itself.
    """

    def path(self, node: int) -> str:
        """Its path in the vault."""
        ...

    def title(self, node: int) -> str:
        """Its title as people see it."""
        ...

    def nearest(self, node: int) -> Mapping[int, float]:
        """The notes of its list of nearest ones and their cosines, those that `cosines` gives; the order does not matter."""
        ...

    def nearest_to(self, node: int) -> Collection[int]:
        """The notes whose list holds it."""
        ...

    def links_from(self, node: int) -> frozenset[int]:
        """The notes that it links to."""
        ...

    def links_to(self, node: int) -> frozenset[int]:
        """The notes that link to it."""
        ...

    def tags(self, node: int) -> Mapping[str, str]:
        """Its tags: folded (what is compared) to as typed (what is shown)."""
        ...

    def links_from_each(self, nodes: Sequence[int]) -> Sequence[Collection[int]]:
        """`links_from` of each of *nodes*, in their order: of a hub, thousands are asked for at once."""
        ...

    def tags_of_each(self, nodes: Sequence[int]) -> Sequence[Mapping[str, str]]:
        """`tags` of each of *nodes*, in their order."""
        ...

    def cosines(self, node: int, others: Sequence[int]) -> Sequence[float | None]:
        """The cosine with each of *others* as `neighbours.cosines` gives it; None where one of the two has no vector."""
        ...


@dataclass(frozen=True, slots=True)
class Complete:
    """The facts of all notes at once, one entry of each field per note.

    `lists` are the nearest of all rows of `matrix`, made with the `knn_k` and `semantic_min` of the settings in use.
    """

    paths: Sequence[str]
    titles: Sequence[str]
    outgoing: Sequence[frozenset[int]]
    tag_names: Sequence[Mapping[str, str]]
    matrix: Matrix
    lists: Lists
    incoming: Sequence[frozenset[int]] = field(init=False, repr=False)
    holders: Sequence[Collection[int]] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "incoming", [frozenset(notes) for notes in _turned(self.outgoing)])
        held = (filter(_is_note, line) for line in self.lists.numbers.tolist())
        object.__setattr__(self, "holders", _turned([list(line) for line in held]))

    def path(self, node: int) -> str:
        """See `Facts`, as with all that follow."""
        return self.paths[node]

    def title(self, node: int) -> str:
        """See `Facts`."""
        return self.titles[node]

    def nearest(self, node: int) -> Mapping[int, float]:
        """See `Facts`; best first."""
        return self.lists.of(node)

    def nearest_to(self, node: int) -> Collection[int]:
        """See `Facts`."""
        return self.holders[node]

    def links_from(self, node: int) -> frozenset[int]:
        """See `Facts`."""
        return self.outgoing[node]

    def links_to(self, node: int) -> frozenset[int]:
        """See `Facts`."""
        return self.incoming[node]

    def tags(self, node: int) -> Mapping[str, str]:
        """See `Facts`."""
        return self.tag_names[node]

    def links_from_each(self, nodes: Sequence[int]) -> Sequence[Collection[int]]:
        """See `Facts`."""
        return [self.outgoing[node] for node in nodes]

    def tags_of_each(self, nodes: Sequence[int]) -> Sequence[Mapping[str, str]]:
        """See `Facts`."""
        return [self.tag_names[node] for node in nodes]

    def cosines(self, node: int, others: Sequence[int]) -> Sequence[float | None]:
        """See `Facts`."""
        found = cosines(self.matrix, np.full(len(others), node), np.asarray(others, dtype=np.int64))
        return [None if value != value else value for value in found.tolist()]  # noqa: PLR0124 - only NaN differs from itself


def _is_note(number: int) -> bool:
    return number >= 0


def _turned(targets: Sequence[Collection[int]]) -> list[list[int]]:
    """For each note those that have it among their *targets*, ascending."""
    sources: list[list[int]] = [[] for _ in targets]
    for source, notes in enumerate(targets):
        for note in notes:
            sources[note].append(source)
    return sources
