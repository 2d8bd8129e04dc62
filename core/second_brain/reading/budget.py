"""Cut a selection of lines to a budget of tokens so that reading can go on exactly where it stopped."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from second_brain.tokencount import estimate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from second_brain.model import Block

_WORTH = 0.5
"""A cut moves up to the end of a block when at least this share of the lines stays."""


@dataclass(frozen=True, slots=True)
class Span:
    """A run of lines under a label ("" without one); `column` characters of its first line are left out."""

    start: int
    end: int
    label: str = ""
    column: int = 0


@dataclass(frozen=True, slots=True)
class Cut:
    """What fits: its text, the last line shown, and where to go on (line, column), None at the end."""

    text: str
    start_line: int
    end_line: int
    going_on: tuple[int, int] | None


def behind(spans: Iterable[Span], line: int, column: int) -> list[Span]:
    """What of *spans* comes after *line* and *column* characters of the next line."""
    rest = [Span(max(span.start, line + 1), span.end, span.label) for span in spans if span.end > line]
    if rest and column and rest[0].start == line + 1:
        rest[0] = Span(rest[0].start, rest[0].end, rest[0].label, column)
    return rest


def fit(lines: Sequence[str], spans: Sequence[Span], blocks: Sequence[Block], budget: int) -> Cut:
    """As much of *spans* (not empty) as *budget* tokens hold: whole blocks where possible, at least a piece of a line."""
    done = _most(len(spans), lambda count: _rendered(lines, spans[:count]), budget)
    whole = list(spans[:done])
    if done == len(spans):
        return Cut(_rendered(lines, whole), spans[0].start, spans[-1].end, None)
    span = spans[done]
    count = span.end - span.start + 1
    fitting = _most(count, lambda n: _rendered(lines, [*whole, _first(span, n)]), budget)
    if fitting and _rendered(lines, [Span(span.start, span.start + fitting - 1)]).strip():
        last = _end_of_block(blocks, span, span.start + fitting - 1)
        return Cut(_rendered(lines, [*whole, _first(span, last - span.start + 1)]), spans[0].start, last, (last + 1, 0))
    if whole:
        return Cut(_rendered(lines, whole), spans[0].start, whole[-1].end, (span.start, span.column))
    return _piece(lines, [_from_text(lines, span), *spans[1:]], budget)


def _from_text(lines: Sequence[str], span: Span) -> Span:
    """*span* without the blank lines at its beginning."""
    start = next(line for line in range(span.start, span.end + 1) if lines[line - 1].strip())
    return span if start == span.start else Span(start, span.end, span.label)


def _piece(lines: Sequence[str], spans: Sequence[Span], budget: int) -> Cut:
    """The beginning of a line that is too long on its own."""
    span = spans[0]
    head = f"{span.label}\n" if span.label else ""
    rest = lines[span.start - 1][span.column :]
    shown = max(1, _most(len(rest), lambda count: head + rest[:count], budget))
    if shown >= len(rest):
        following = behind(spans, span.start, 0)
        return Cut(head + rest, span.start, span.start, (following[0].start, 0) if following else None)
    space = rest.rfind(" ", shown // 2, shown)
    shown = space + 1 if space > 0 else shown
    return Cut(head + rest[:shown], span.start, span.start, (span.start, span.column + shown))


def _most(count: int, text_of: Callable[[int], str], budget: int) -> int:
    """The largest number up to *count* whose text fits, by halving: sizes grow with the text, nearly always."""
    if estimate(text_of(count)) <= budget:
        return count
    low, high = 0, count
    while high - low > 1:
        middle = (low + high) // 2
        if estimate(text_of(middle)) <= budget:
            low = middle
        else:
            high = middle
    return low


def _first(span: Span, count: int) -> Span:
    return Span(span.start, span.start + count - 1, span.label, span.column)


def _rendered(lines: Sequence[str], spans: Iterable[Span]) -> str:
    parts = []
    for span in spans:
        text = "\n".join(lines[span.start - 1 : span.end])[span.column :]
        parts.append(f"{span.label}\n{text}" if span.label else text)
    return "\n\n".join(parts)


def _end_of_block(blocks: Sequence[Block], span: Span, last: int) -> int:
    """The last line of *span* up to *last* at which a block ends, unless that costs too much."""
    least = span.start + int((last - span.start) * _WORTH)
    return max((block.end for block in blocks if least <= block.end <= last), default=last)
