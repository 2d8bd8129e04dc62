"""What of a note is shown: the passage that fits the query best, read from the text as it is now."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING

from second_brain.index.text import exact, fold, occurrences
from second_brain.search.answer import Snippet

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from second_brain.vault.outline import Outline

MOST_LINES = 8
LONG_LINE = 4_000
PHRASE_GAIN = 4.0
_BLANK = re.compile(r"\s*\Z")
_SPACED = re.compile(r"[0-9a-z\u00df-\u024f\u0370-\u052f]+")
"""Terms of scripts whose words stand between word boundaries."""


@dataclass(frozen=True, slots=True)
class Sought:
    """What a passage should hold: terms (`weights`: term -> weight) and `phrases`; `wanted` is the weight of the whole query."""

    weights: Mapping[str, float]
    phrases: Sequence[str]
    wanted: float


def beginning(note: Outline, limit: int) -> Snippet:
    """The first *limit* characters of the body: no frontmatter, no headings, no blank start."""
    lines = note.text.split("\n")
    under = {line for block in note.heading_blocks() for line in range(block.start, block.end + 1)}
    shown: list[tuple[int, str]] = []
    for number in range(note.head_end + 1, len(lines) + 1):
        line = lines[number - 1]
        if number in under or (_BLANK.match(line) and (not shown or _BLANK.match(shown[-1][1]))):
            continue
        shown.append((number, line))
        if sum(len(text) + 1 for _, text in shown) > limit:
            break
    if not shown:
        shown = [(heading.line, heading.text) for heading in note.headings()[:5]]
    if not shown:
        return Snippet()
    text = _cut("\n".join(line for _, line in shown).rstrip(), limit)
    last = shown[min(text.count("\n"), len(shown) - 1)][0]
    return Snippet(text, shown[0][0], last, (), note.heading_path(shown[0][0]))


def best_passage(
    note: Outline,
    sought: Sought,
    *,
    limit: int,
    near: tuple[int, int] | None = None,
    within: tuple[int, int] | None = None,
) -> Snippet:
    """The lines around the densest matches of what is *sought*; at most *limit* characters.

    *within*: lines that the index thinks hold them; elsewhere is looked only when they do not (any more).

    *near*: lines (first, last) of the passage whose meaning was nearest; it is shown when no lines hold half of what is wanted,
    and preferred when words match as well elsewhere.
    """
    weights = sought.weights
    lines = note.text.split("\n")
    near, within = _still_there(near, lines), _still_there(within, lines)
    starts = [0, *accumulate(len(line) + 1 for line in lines)][:-1]
    pieces = [span for phrase in sought.phrases for span in _phrase_spans(note.text, phrase)]
    looked_at = {line for span in (within, near) if span for line in range(span[0], span[1] + 1)} if within else None
    gains = _gains(lines, weights, looked_at)
    if within and not any(line in gains for line in range(within[0], within[1] + 1)):
        gains = _gains(lines, weights, None)
    for number, (start, _) in enumerate(pieces):
        gains.setdefault(bisect_right(starts, start), {})[f"\0{number}"] = PHRASE_GAIN
    if not gains:
        return beginning(note, limit) if near is None else _window(note, lines, starts, near[0], limit, weights, ())
    line = _best_line(gains, near, note.head_end + 1, sought.wanted)
    return _window(note, lines, starts, line, limit, weights, pieces)


def _still_there(span: tuple[int, int] | None, lines: Sequence[str]) -> tuple[int, int] | None:
    """Lines that the index knows, as far as the text of now has them."""
    if span is None or span[0] > len(lines):
        return None
    return span[0], min(span[1], len(lines))


def _gains(
    lines: Sequence[str], weights: Mapping[str, float], looked_at: set[int] | None
) -> dict[int, dict[str, float]]:
    """Per line, of those *looked_at* or of all, the terms it holds, with their weights.

    Whole words are looked for first, which is fast; parts of names only when there is none.
    """
    if not weights:
        return {}
    chosen = [
        (number, lines[number - 1])
        for number in (range(1, len(lines) + 1) if looked_at is None else sorted(looked_at))
        if number <= len(lines)
    ]
    words = _pattern(tuple(sorted(weights)))
    gains = {}
    for number, line in chosen:
        found = words.findall(fold(line))
        if found:
            gains[number] = {term: weights[term] for term in found}
    if gains:
        return gains
    for number, line in chosen:
        parts = [term for term, _, _ in _matches(line, weights)]
        if parts:
            gains[number] = {term: weights[term] for term in parts}
    return gains


@lru_cache(maxsize=16)
def _pattern(terms: tuple[str, ...]) -> re.Pattern[str]:
    """Finds *terms* in folded text, between word boundaries where their script has such."""
    whole = "|".join(re.escape(term) for term in terms if _SPACED.fullmatch(term))
    free = [re.escape(term) for term in terms if not _SPACED.fullmatch(term)]
    return re.compile("|".join(([rf"\b(?:{whole})\b"] if whole else []) + free))


def _best_line(
    gains: Mapping[int, Mapping[str, float]], near: tuple[int, int] | None, body_from: int, wanted: float
) -> int:
    """The line from which a few lines hold the most different words; the body before the frontmatter."""

    def worth(line: int) -> float:
        seen: dict[str, float] = {}
        for offset in range(4):
            for term, weight in gains.get(line + offset, {}).items():
                seen.setdefault(term, weight * (1.0 - 0.1 * offset))
        value = sum(seen.values())
        if near is not None and near[0] <= line <= near[1]:
            value *= 1.3
        return value if line >= body_from else value * 0.5

    best = min(gains, key=lambda line: (-worth(line), line))
    if near is None or near[0] <= best <= near[1] or worth(best) >= wanted / 2:
        return best
    inside = [line for line in gains if near[0] <= line <= near[1]]
    return min(inside, key=lambda line: (-worth(line), line)) if inside else near[0]


def _window(
    note: Outline,
    lines: Sequence[str],
    starts: Sequence[int],
    first: int,
    limit: int,
    weights: Mapping[str, float],
    pieces: Sequence[tuple[int, int]],
) -> Snippet:
    """Whole lines from *first* on, as many as fit, a little context before; a very long line is cut around its match."""
    stop = len(lines)
    if first > note.head_end:
        while first < stop and _BLANK.match(lines[first - 1]):
            first += 1
    end = first
    size = len(lines[first - 1])
    while end < stop and end - first < MOST_LINES - 1 and size + len(lines[end]) + 1 <= limit:
        size += len(lines[end]) + 1
        end += 1
    before = first
    if before > note.head_end + 1 and lines[before - 2].strip() and size + len(lines[before - 2]) < limit:
        before -= 1
    spans = {*pieces}
    for number in range(before, end + 1):
        shift = starts[number - 1]
        spans |= {(shift + start, shift + end) for start, end in _marks(lines[number - 1], weights, limit)}
    begin = starts[before - 1]
    finish = starts[end - 1] + len(lines[end - 1])
    heading_path = note.heading_path(first)
    if finish - begin <= limit:
        text = note.text[begin:finish].rstrip()
        marks = _inside(sorted(spans), begin, begin + len(text))
        return Snippet(text, before, before + text.count("\n"), marks, heading_path)
    return _cut_line(note.text, starts, first, limit, sorted(spans), heading_path)


def _marks(line: str, weights: Mapping[str, float], limit: int) -> list[tuple[int, int]]:
    """Where *line* holds terms; of a very long line only around the first, which is what will be shown."""
    start = 0
    if len(line) > LONG_LINE and weights:
        found = _pattern(tuple(sorted(weights))).search(line.lower() if line.isascii() else line.casefold())
        start = max(0, (found.start() if found else 0) - 2 * limit)
        line = line[start : start + 6 * limit]
    return [(start + a, start + b) for _, a, b in _matches(line, weights)]


def _matches(line: str, weights: Mapping[str, float]) -> list[tuple[str, int, int]]:
    """The terms of *weights* in *line*, with start and end; most lines hold none, and are not taken apart to learn that."""
    if not weights:
        return []
    any_term = _anywhere(tuple(sorted(weights)))
    return occurrences(line, weights, any_term) if any_term.search(fold(line)) else []


@lru_cache(maxsize=16)
def _anywhere(terms: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(map(re.escape, terms)))


def _cut_line(
    text: str,
    starts: Sequence[int],
    line: int,
    limit: int,
    spans: Sequence[tuple[int, int]],
    heading_path: tuple[str, ...],
) -> Snippet:
    begin = starts[line - 1]
    finish = text.find("\n", begin)
    finish = len(text) if finish < 0 else finish
    inside = [span for span in spans if begin <= span[0] < finish]
    centre = inside[0][0] if inside else begin
    left = max(begin, min(centre - limit // 4, finish - limit))
    if left > begin:
        space = text.find(" ", left, centre)
        left = space + 1 if space >= 0 else left
    right = min(finish, left + limit - 2)
    head, tail = ("…" if left > begin else ""), ("…" if right < finish else "")
    shift = len(head)
    marks = tuple((start + shift, stop + shift) for start, stop in _inside(spans, left, right))
    return Snippet(f"{head}{text[left:right]}{tail}", line, line, marks, heading_path)


def _inside(spans: Sequence[tuple[int, int]], begin: int, end: int) -> tuple[tuple[int, int], ...]:
    """Spans within a stretch, relative to it, overlapping ones joined."""
    marks: list[tuple[int, int]] = []
    for start, stop in spans:
        if start < begin or stop > end:
            continue
        if marks and start - begin < marks[-1][1]:
            marks[-1] = (marks[-1][0], max(marks[-1][1], stop - begin))
        else:
            marks.append((start - begin, stop - begin))
    return tuple(marks)


def _phrase_spans(text: str, phrase: str) -> list[tuple[int, int]]:
    """Where *phrase* stands in *text*, compared as `exact.holders` does; empty where folding moves the offsets."""
    needle, hay = exact(phrase), exact(text)
    if not needle:
        return []
    if len(hay) != len(text):
        return _phrase_spans_by_line(text, needle)
    spans = []
    place = hay.find(needle)
    while place >= 0:
        spans.append((place, place + len(needle)))
        place = hay.find(needle, place + len(needle))
    return spans


def _phrase_spans_by_line(text: str, needle: str) -> list[tuple[int, int]]:
    """As above for texts whose folded form is longer or shorter: lines that keep their length, else the whole line."""
    spans = []
    offset = 0
    for line in text.split("\n"):
        hay = exact(line)
        place = hay.find(needle)
        if place >= 0:
            same = len(hay) == len(line)
            spans.append((offset + place, offset + place + len(needle)) if same else (offset, offset + len(line)))
        offset += len(line) + 1
    return spans


def _cut(text: str, limit: int) -> str:
    """At most *limit* characters, cut between words where there is a space near the end."""
    if len(text) <= limit:
        return text
    cut = text[: max(0, limit - 1)]
    space = cut.rfind(" ", max(0, len(cut) - 40))
    return (cut[:space] if space > 0 else cut).rstrip() + "…"


def shortened(snippet: Snippet, limit: int) -> Snippet:
    """The same snippet in at most *limit* characters, its first mark kept in view."""
    if len(snippet.text) <= limit:
        return snippet
    start = 0
    if snippet.marks and snippet.marks[0][1] > limit:
        start = max(0, snippet.marks[0][0] - limit // 4)
    skipped = snippet.text[:start].count("\n")
    text = _cut(snippet.text[start:], limit)
    marks = tuple((a - start, b - start) for a, b in snippet.marks if a >= start and b - start <= len(text))
    if snippet.end_line - snippet.start_line != snippet.text.count("\n"):
        # A beginning leaves headings out, so its lines do not follow one another.
        return Snippet(text, snippet.start_line, snippet.end_line, marks, snippet.heading_path)
    line = snippet.start_line + skipped
    return Snippet(text, line, line + text.count("\n"), marks, snippet.heading_path)
