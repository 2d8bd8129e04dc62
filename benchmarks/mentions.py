"""Mentions of the most linked notes: how long a call takes, what it shows, and what reading by them saves.

Warm means that the process has asked for other notes before.  A call on a current index is measured, as a watcher keeps it; with the look
at all time stamps that every call of the program makes first it stands beside, and so does that look alone.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import TYPE_CHECKING, Any

from measure import Row, finish, milliseconds, percentile, timed
from second_brain.index import catalog
from second_brain.network import network_of
from second_brain.reading.mentions import find_mentions
from second_brain.tokencount import estimate
from stage import Stage, opened
from yardsticks import SHARED

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from second_brain.reading.mentions import Mentions
    from second_brain.service import SecondBrain

HUBS = 10
LARGE_HUBS = "hubs6571"
SMALL_HUBS = ("hubs469", "hubs469-2", "hubs469-3", "hubs469-4", "jackyzha0")


@dataclass(frozen=True, slots=True)
class Figures:
    """What default calls show in one vault.

    `complete` is the share of linked notes whose mentions are all shown; `excerpts` and `call` are tokens of the biggest hub's first
    call without and with labels and map; `folders` the share of top-level folders with mentions that it reaches; `largest` the most
    that one note takes of the excerpts of a first call which leaves something out; `ladder` how many times more the linking notes cost.
    """

    linked: int
    complete: float
    excerpts: int
    call: int
    folders: float
    largest: float
    ladder: float


def latency(stage: Stage) -> Iterator[Row]:
    """The ten most linked notes of the large vault, by links and by their names in plain text."""
    vault = stage.vault(LARGE_HUBS)
    brain = opened(vault, stage.words_db(LARGE_HUBS))
    hubs = list(linking(brain))[:HUBS]
    plain, plain_stat_pass = _yardstick(stage, vault, hubs)
    passes = [milliseconds(brain.vault.scan) for _ in range(5)]
    whole = [milliseconds(partial(brain.mentions, hub)) for _ in range(stage.times(20, 2)) for hub in hubs]
    beside = {
        "stat pass": min(passes),
        "its stat pass": plain_stat_pass,
        "links with stat pass p95": percentile(whole, 0.95),
    }
    for name, what, target, options in (
        ("linked", "links", 35.0, {}),
        ("unlinked", "names in plain text", 300.0, {"unlinked": True}),
    ):
        first, busy, again = _times(brain, hubs, stage.times(50, 5), **options)
        yield Row(
            f"mentions.{name}",
            f"Mentions by {what} warm, {LARGE_HUBS}, worst p95 of its ten biggest hubs",
            "ms",
            max(percentile(times, 0.95) for times in first),
            target,
            yardstick=plain,
            yardstick_name="mentions.py (links, its slowest hub)",
            spread={
                "p50": median(ms for times in first for ms in times),
                "max": max(map(max, first)),
                "CPU worst p95": max(percentile(times, 0.95) for times in busy),
                "again p50": median(ms for times in again for ms in times),
                "again worst p95": max(percentile(times, 0.95) for times in again),
                **beside,
            },
        )
    brain.close()


def _times(brain: SecondBrain, hubs: Sequence[str], times: int, **options: Any) -> tuple[list[list[float]], ...]:
    """Milliseconds of *times* calls for each hub: in turns, so that nothing of the call before helps, then of CPU, then one by one."""
    asks = [partial(find_mentions, brain.reader, hub, **options) for hub in hubs]
    for ask in asks:
        ask()
    rounds = [[timed(ask) for ask in asks] for _ in range(times)]
    in_turns = [[[took[kind] for took in own] for own in zip(*rounds, strict=True)] for kind in (0, 1)]
    return *in_turns, [[milliseconds(ask) for _ in range(times)] for ask in asks]


def _yardstick(stage: Stage, vault: Path, hubs: Sequence[str]) -> tuple[float, float]:
    """Milliseconds of the plain scan of ``../shared/bench`` for the links to its slowest hub, and of its stat pass."""
    script = SHARED / "bench" / "mentions.py"
    found = json.loads(finish(stage.child("mentions", script, vault, json.dumps(list(hubs)))).out)
    return max(found["warm_ms"].values()), found["stat_pass_ms"]


def figures(stage: Stage) -> Iterator[Row]:
    """What is shown in vaults of a few hundred notes, each made with another seed, and in a real one."""
    for name in SMALL_HUBS[: stage.times(len(SMALL_HUBS), 1)]:
        brain = opened(stage.vault(name), stage.words_db(name))
        found = figures_of(brain)
        brain.close()
        facts = {
            "linked notes": found.linked,
            "tokens of the first excerpts": found.excerpts,
            "of the call": found.call,
        }
        rows = (
            ("complete", "linked notes complete in one call", found.complete, 0.9, "higher"),
            ("folders", "top-level folders that the biggest hub's first call reaches", found.folders, 1.0, "higher"),
            ("largest", "largest part of one note in a first call", found.largest, 0.27, "lower"),
            ("ladder", "times fewer tokens through mentions than through whole notes", found.ladder, 10.0, "higher"),
        )
        for kind, what, value, target, better in rows:
            more = facts if kind == "complete" else {}
            yield Row(f"mentions.{name}.{kind}", f"Mentions, {name}: {what}", "", value, target, better, facts=more)  # type: ignore[arg-type]


def linking(brain: SecondBrain) -> dict[str, set[str]]:
    """Every linked note with those that link to it, the one with the most links first."""
    links: Counter[str] = Counter()
    sources: defaultdict[str, set[str]] = defaultdict(set)
    with brain.reader.snapshot():
        for row, target in network_of(brain.reader).everything():
            if target is not None:
                links[target] += 1
                sources[target].add(row.source)
    return {path: sources[path] for path, _ in links.most_common()}


def figures_of(brain: SecondBrain) -> Figures:
    """The figures of the vault that *brain* has."""
    sources = linking(brain)
    calls = {path: brain.mentions(path) for path in sources}
    hub = next(iter(sources))
    first = calls[hub]
    shares = [_largest(calls[path]) for path in list(sources)[:HUBS] if calls[path].map]
    return Figures(
        linked=len(sources),
        complete=sum(not call.map for call in calls.values()) / len(calls),
        excerpts=first.tokens,
        call=estimate(as_text(first)),
        folders=len({_folder(one.path) for one in first.shown}) / len(set(map(_folder, sources[hub]))),
        largest=max(shares, default=0.0),
        ladder=_whole(brain, {hub, *sources[hub]}) / _ladder(brain, hub, first),
    )


def _largest(call: Mentions) -> float:
    tokens: Counter[str] = Counter()
    for one in call.shown:
        tokens[one.path] += one.tokens
    return max(tokens.values(), default=0) / max(1, call.tokens)


def _folder(path: str) -> str:
    return path.partition("/")[0] if "/" in path else ""


def _whole(brain: SecondBrain, paths: set[str]) -> int:
    """Tokens of whole notes."""
    with brain.reader.snapshot():
        notes = [catalog.note_at(brain.reader, path) for path in paths]
        return sum(estimate(catalog.text_of(brain.reader, note.doc)) for note in notes if note is not None)


def _ladder(brain: SecondBrain, hub: str, first: Mentions) -> int:
    """Tokens of the mentions, the note or its outline, and two of its sections."""
    note = brain.read(hub)
    outline = sum(estimate(f"{entry.text} L{entry.line} {entry.tokens}\n") for entry in note.outline)
    sections = [" > ".join(entry.path) for entry in note.outline if entry.level > 1][:2]
    read = brain.read(hub, sections=sections).tokens if sections else 0
    return estimate(as_text(first)) + note.tokens + outline + read


def as_text(call: Mentions) -> str:
    """The answer as text, with all lines of the map."""
    lines = [call.message]
    for one in call.shown:
        lines += [f"== {one.path}:{one.line}  [{' > '.join(one.heading_path)}]", one.text]
    lines += [f"{note.path}: {', '.join(f'L{line}' for line in note.lines)} ({note.count})" for note in call.map]
    return "\n".join(lines)
