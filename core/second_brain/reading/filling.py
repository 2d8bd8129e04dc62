"""Which excerpts fit into a budget: a pure function of what each of them costs.

Costs are tokens.  Of every note a beginning is shown, so the answer is how many of its excerpts; what they cost is asked for note by
note, and of few more notes than can be shown.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    Costs = Callable[[str], Sequence[int]]

SHARE = 4
"""One note takes at most this part of the budget when not everything fits."""

_MISSES = 3
"""A folder has had its turn when so many of its notes in a row found no room."""


class Listed(Protocol):
    """A note with so many mentions, whose excerpts cost `least` tokens or more in all."""

    @property
    def path(self) -> str: ...  # noqa: D102 - said above
    @property
    def total(self) -> int: ...  # noqa: D102
    @property
    def least(self) -> int: ...  # noqa: D102


def fill(notes: Sequence[Listed], costs: Costs, budget: int) -> dict[str, int]:
    """How many excerpts of each note to show, so that every top-level folder is reached if the budget allows.

    *notes* are in path order.  Everything when it fits.  Else the folders take turns, an excerpt each; within one the notes with
    the most mentions come first.  A note ends at the first excerpt that would take it above its cap, a quarter of the budget or an
    even share of it, whichever is more (its very first may be dearer), or the whole above the budget.
    """
    if not notes:
        return {}
    ranked = sorted(notes, key=attrgetter("total"), reverse=True)  # equal ones stay in path order
    if _fits(ranked, costs, budget):
        return {note.path: len(costs(note.path)) for note in notes}
    cap = max(budget / SHARE, budget / len(notes))
    return _Rounds(costs, budget, cap).run(ranked)


def fill_in_order(paths: Iterable[str], costs: Costs, budget: int) -> dict[str, int]:
    """How many excerpts of each note to show when they are shown one after the other, up to the first that does not fit."""
    shown: dict[str, int] = {}
    for path in paths:
        shown[path] = 0
        for cost in costs(path):
            if cost > budget:
                return shown
            budget -= cost
            shown[path] += 1
    return shown


def _fits(notes: Sequence[Listed], costs: Costs, budget: int) -> bool:
    """Whether all excerpts fit; decided as soon as the least that the other notes cost is too much."""
    needed = sum(note.least for note in notes)
    for note in notes:
        if needed > budget:
            return False
        needed += sum(costs(note.path)) - note.least
    return needed <= budget


class _Rounds:
    """Folders that take turns."""

    def __init__(self, costs: Costs, budget: int, cap: float) -> None:
        self._costs = costs
        self._left = budget
        self._cap = cap
        self._shown: dict[str, int] = {}

    def run(self, ranked: Iterable[Listed]) -> dict[str, int]:
        folders: dict[str, deque[str]] = {}
        for note in ranked:
            folders.setdefault(note.path[: max(0, note.path.find("/"))], deque()).append(note.path)
        turns = deque((waiting, _Turn(self._cap)) for waiting in folders.values())
        while turns:
            waiting, turn = turns.popleft()
            if self._take(waiting, turn):
                turns.append((waiting, turn))
        return self._shown

    def _take(self, waiting: deque[str], turn: _Turn) -> bool:
        """Show one excerpt of the folder's current note, or of the next that has one which fits; False when none has."""
        while waiting and turn.misses < _MISSES:
            costs = self._costs(waiting[0])
            done = self._shown.get(waiting[0], 0)
            if done < len(costs) and costs[done] <= self._left and (costs[done] <= turn.cap_left or not done):
                self._shown[waiting[0]] = done + 1
                self._left -= costs[done]
                turn.cap_left -= costs[done]
                turn.misses = 0
                return True
            turn.misses += not done
            turn.cap_left = self._cap
            waiting.popleft()
        return False


@dataclass(slots=True)
class _Turn:
    """How a folder stands: what its current note may still take, and how many notes before it found no room."""

    cap_left: float
    misses: int = 0
