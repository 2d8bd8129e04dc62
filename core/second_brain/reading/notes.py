"""Read a note of the scope, or just the parts of it that were asked for, within a budget of tokens.

A note is found in the index and shown as it is on disk now.  Whatever is cut says where to go on; an answer is never empty
unless the note is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, NoReturn

from second_brain.errors import InvalidParameter, NotFound
from second_brain.index.resolve import Resolved, resolve
from second_brain.reading import sections as parts
from second_brain.reading.budget import Span, behind, fit
from second_brain.tokencount import estimate

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from second_brain.index.reader import Reader
    from second_brain.model import ParsedNote
    from second_brain.reading.sections import OutlineEntry, Section

    Read = Callable[[str], ParsedNote | None]

CAP = 20_000
"""Tokens of a note that one call shows."""

SMALL = 1_500
"""A note of at most so many tokens is shown whole."""

LEAD = 600
"""Tokens of the lead above an outline."""


class View(StrEnum):
    """How a note is shown: the first three can be asked for, the others follow from sections, lines and ``^id``."""

    AUTO = "auto"
    FULL = "full"
    OUTLINE = "outline"
    SECTIONS = "sections"
    LINES = "lines"
    BLOCK = "block"


@dataclass(frozen=True, slots=True)
class NoteText:
    """What was read.

    `text` stands in the lines `start_line` to `end_line`; several sections stand there in the order of the note, each under
    a line ``== path:line  [heading path]``.  `outline` is always the whole note's.  When `truncated`, reading goes on with
    ``after_line=next_line - 1, after_column=next_column``.  `ambiguous` names the asked sections that several headings
    bear (all are shown), `missing` those that no heading bears, `warnings` what else is to be said.
    """

    path: str
    title: str
    text: str
    start_line: int
    end_line: int
    total_lines: int
    view: View
    outline: tuple[OutlineEntry, ...]
    truncated: bool
    next_line: int | None
    next_column: int
    tokens: int
    ambiguous: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Selection:
    view: View
    spans: tuple[Span, ...]
    budget: int
    ambiguous: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


def read_note(
    reader: Reader,
    name: str,
    read: Read,
    *,
    view: str = View.AUTO,
    sections: Sequence[str] = (),
    lines: tuple[int, int] | None = None,
    budget_tokens: int = CAP,
    after_line: int = 0,
    after_column: int = 0,
) -> NoteText:
    """The note *name* (any form that `resolve` takes), as *read* gives it now.

    *sections* are whole sections by heading or heading path; *lines* is a range, both ends included; a ``#heading``,
    ``#^block`` or ``:line`` of *name* asks for the same.  Without any, *view* decides: "full", "outline" (the lead and the
    sizes of the sections), or "auto": whole when small, else the outline.  *after_line* goes on behind that line (and
    *after_column* characters of the next) in what was asked for, in full where that was nothing particular.

    Raises `NotFound` and `Ambiguous` as `resolve` does, `NotFound` for sections when the note has none of them, and
    `InvalidParameter` for values out of range; what *read* raises passes through.
    """
    _check(view, sections, lines)
    _check_numbers(budget_tokens=(budget_tokens, 1), after_line=(after_line, 0), after_column=(after_column, 0))
    with reader.snapshot():
        found = resolve(reader, name)
        note = read(found.path)
    if note is None:
        raise NotFound(
            f"The file of the note {found.path} has gone since it was indexed.",
            hint="The next sync brings the index up to date.",
            parameter="target",
        )
    text = parts.lines_of(note)
    asked = (sections,) if isinstance(sections, str) else tuple(sections)
    selection: _Selection | None
    if lines is not None:
        selection = _lines(text, lines, budget_tokens)
    elif asked:
        selection = _sections(note, text, asked, "sections", budget_tokens)
    else:
        selection = _pointed(note, text, found, view, budget_tokens)
    if selection is None:
        selection = _viewed(note, text, View(view), budget_tokens, going_on=after_line > 0 or after_column > 0)
    return _shown(note, text, selection, after_line, after_column)


def outline(reader: Reader, name: str, read: Read) -> tuple[OutlineEntry, ...]:
    """The sections of the note *name* with their sizes; its blocks (`level` 0) when it has no headings."""
    return read_note(reader, name, read, view=View.OUTLINE).outline


def _check(view: str, sections: Sequence[str], lines: tuple[int, int] | None) -> None:
    views = (View.AUTO, View.FULL, View.OUTLINE)
    if view not in views:
        raise InvalidParameter(
            f"view is {view!r}.", hint="Choose one of the options.", parameter="view", options=tuple(map(str, views))
        )
    if sections and lines is not None:
        raise InvalidParameter(
            "sections and lines cannot be asked for together.", hint="Leave one of them out.", parameter="lines"
        )
    if lines is not None and not 1 <= lines[0] <= lines[1]:
        raise InvalidParameter(
            f"lines are {lines[0]} to {lines[1]}.",
            hint="Lines count from 1; the first comes before the last.",
            parameter="lines",
        )


def _check_numbers(**numbers: tuple[int, int]) -> None:
    for parameter, (value, least) in numbers.items():
        if value < least:
            raise InvalidParameter(f"{parameter} is {value}.", hint=f"Give at least {least}.", parameter=parameter)


# -- what to show ---------------------------------------------------------------------------------------------------------


def _lines(text: Sequence[str], lines: tuple[int, int], budget: int) -> _Selection:
    first, last = lines
    if first > max(1, len(text)):
        raise InvalidParameter(
            f"The note has {len(text)} lines; {first} is beyond its end.",
            hint="Ask for lines within the note.",
            parameter="lines",
        )
    return _Selection(View.LINES, (Span(first, min(last, len(text))),), budget)


def _pointed(note: ParsedNote, text: Sequence[str], found: Resolved, view: str, budget: int) -> _Selection | None:
    """What the name itself points at, None for the whole note."""
    if found.fragment.startswith("^"):
        place = parts.block_with_children(note, found.fragment[1:])
        if place is None:
            raise NotFound(
                f'The note {note.path} has no block "{found.fragment}".',
                hint="Leave the block out to read the note.",
                parameter="target",
                options=parts.anchors_of(note),
            )
        return _Selection(View.BLOCK, (Span(*place),), budget)
    if found.fragment:
        return _sections(note, text, (found.fragment,), "target", budget)
    small = view == View.AUTO and _is_small(note, budget)
    if found.line is None or view == View.OUTLINE or small or not 1 <= found.line <= len(text):
        return None
    return _Selection(View.LINES, (_around(note, text, found.line),), budget)


def _around(note: ParsedNote, text: Sequence[str], line: int) -> Span:
    """From the block that holds *line* to the end of its section."""
    start = next((block.start for block in note.blocks if block.start <= line <= block.end), line)
    ends = [part.end_line for part in parts.sections_of(note, text) if part.line <= line <= part.end_line]
    headings = [heading.line - 1 for heading in note.headings if heading.line > line]
    last = ends[-1] if ends else parts.last_text_line(text, line, min(headings, default=len(text)))
    return Span(start, max(line, last))


def _sections(
    note: ParsedNote, text: Sequence[str], asked: Sequence[str], parameter: str, budget: int
) -> _Selection | None:
    """The asked sections in the order of the note; None when the note has no headings at all to choose from."""
    known = parts.sections_of(note, text)
    found = {name: parts.find(known, name) for name in asked}
    chosen = _without_nested({part.line: part for matches in found.values() for part in matches})
    missing = tuple(name for name, matches in found.items() if not matches)
    if not chosen and known:
        _unknown_section(note, known, missing[0], parameter)
    if not chosen:
        headless = _viewed(note, text, View.AUTO, budget, going_on=False)
        return replace(headless, missing=missing)
    spans = [
        Span(part.line, part.end_line, f"== {note.path}:{part.line}  [{part.label}]" if len(chosen) > 1 else "")
        for part in chosen
    ]
    ambiguous = tuple(name for name, matches in found.items() if len(matches) > 1)
    return _Selection(View.SECTIONS, tuple(spans), budget, ambiguous, missing)


def _without_nested(chosen: dict[int, Section]) -> list[Section]:
    kept: list[Section] = []
    for _, part in sorted(chosen.items()):
        if not kept or part.line > kept[-1].end_line:
            kept.append(part)
    return kept


def _unknown_section(note: ParsedNote, known: Sequence[Section], asked: str, parameter: str) -> NoReturn:
    raise NotFound(
        f'The note {note.path} has no section "{asked[:200]}".',
        hint="Name a heading of the note, or read its outline.",
        parameter=parameter,
        options=parts.near(known, asked),
    )


def _viewed(note: ParsedNote, text: Sequence[str], view: View, budget: int, *, going_on: bool) -> _Selection:
    if view is View.FULL or going_on or (view is View.AUTO and _is_small(note, budget)):
        return _Selection(View.FULL, (Span(1, len(text)),), budget)
    first, last = parts.lead_of(note, text)
    spans = (Span(first, last),) if last >= first else ()
    return _Selection(View.OUTLINE, spans, min(LEAD, budget))


def _is_small(note: ParsedNote, budget: int) -> bool:
    return estimate(note.text) <= min(SMALL, budget)


# -- showing it -----------------------------------------------------------------------------------------------------------


def _shown(
    note: ParsedNote, text: Sequence[str], selection: _Selection, after_line: int, after_column: int
) -> NoteText:
    spans = behind(selection.spans, after_line, after_column) if text else []
    cut = fit(text, spans, note.blocks, selection.budget) if spans else None
    start = cut.start_line if cut else min(after_line + 1, len(text))
    end = cut.end_line if cut else start
    going_on = cut.going_on if cut else None
    shown = cut.text if cut else ""
    return NoteText(
        path=note.path,
        title=note.title,
        text=shown,
        start_line=start,
        end_line=end,
        total_lines=len(text),
        view=selection.view,
        outline=parts.outline_of(note, text),
        truncated=going_on is not None,
        next_line=going_on[0] if going_on else None,
        next_column=going_on[1] if going_on else 0,
        tokens=estimate(shown),
        ambiguous=selection.ambiguous,
        missing=selection.missing,
    )
