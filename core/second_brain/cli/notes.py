"""`read` of one note; `tags` and `folders` of all."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import click

from second_brain.cli.commands import command, examples, pass_session
from second_brain.cli.output import harmless

if TYPE_CHECKING:
    from collections.abc import Mapping

    from second_brain.cli.session import Session
    from second_brain.reading.notes import NoteText


def _lines(_: click.Context, param: click.Parameter, text: str | None) -> tuple[int, int] | None:
    """``A-B`` or ``A``: lines, both ends included."""
    if text is None:
        return None
    match = re.fullmatch(r"L?(\d{1,9})(?:-L?(\d{1,9}))?", text)
    if match is None:
        raise click.BadParameter(f"{text!r} is no range of lines such as 10-25.", param=param)
    return int(match[1]), int(match[2] or match[1])


@command("read", short_help="Print a note, its outline, or sections of it.")
@click.argument("target", metavar="NOTE")
@click.option("--outline", is_flag=True, help="Print only the beginning and the headings with their sizes.")
@click.option("--section", "sections", multiple=True, metavar="HEADING", help="Print only this section; repeatable.")
@click.option("--full", is_flag=True, help="Print the whole note, however large.")
@click.option("--lines", callback=_lines, metavar="A-B", help="Print only these lines, such as 10-25.")
@click.option("--budget", type=int, metavar="TOKENS", help="About the most tokens to print.")
@examples(
    'second-brain read "Quiet Radiators"',
    "second-brain read 02-Areas/Boat/Wagtail.md --outline",
    'second-brain read Wagtail --section "Things she does" --section Papers',
    'second-brain read "[[Wagtail#Papers]]" --json',
)
@pass_session
def read_(
    session: Session,
    *,
    target: str,
    outline: bool,
    sections: tuple[str, ...],
    full: bool,
    lines: tuple[int, int] | None,
    budget: int | None,
) -> None:
    """Print a note as it is on disk now: a small one whole, of a large one the outline unless --full is given.

    NOTE is a title, alias, path, [[wikilink]], NOTE#heading or path:line. Into a file or a pipe goes the text alone.
    """
    if sum((outline, bool(sections), full, lines is not None)) > 1:
        raise click.UsageError("Only one of --outline, --section, --full and --lines can be used.")
    view = "outline" if outline else "full" if full else "auto"
    options: dict[str, Any] = {"view": view, "sections": sections, "lines": lines}
    if budget is not None:
        options["budget_tokens"] = budget
    note = session.asking.read(target, **options)
    if session.as_json:
        session.out.json(_note_json(note))
    else:
        _show_note(session, note)


def _note_json(note: NoteText) -> dict[str, Any]:
    from dataclasses import asdict  # noqa: PLC0415 - cheap start

    return asdict(note)


def _show_note(session: Session, note: NoteText) -> None:
    out = session.out
    if out.terminal:
        size = f"lines {note.start_line}-{note.end_line} of {note.total_lines}, about {note.tokens:,} tokens"
        out.line(f"{out.place(note.path, note.start_line, session.root)}  {out.style(size, 'dim')}")
    # Into a file goes the note as it is; a terminal must not obey it.
    text = harmless(note.text) if out.terminal else note.text
    if text:
        out.line(text)
    if note.view == "outline":
        out.lines(_outline(note))
        out.note("only the beginning and the outline: --section HEADING prints a part, --full all of it.")
    for name in note.ambiguous:
        out.warn(f"Several headings are called {name!r}; all are shown.")
    for name in note.missing:
        out.warn(f"There is no section {name!r}.")
    for warning in note.warnings:
        out.warn(warning)
    if note.truncated and note.next_line is not None:
        out.note(f"cut here; it goes on with: --lines {note.next_line}-{note.total_lines}")


def _outline(note: NoteText) -> list[str]:
    lines = ["", f"Sections ({note.path}):"] if note.outline else []
    for entry in note.outline:
        depth = "  " * max(0, entry.level - 1)
        lines.append(harmless(f"  {depth}{entry.text}  [line {entry.line}, about {entry.tokens:,} tokens]"))
    return lines


@command("tags", short_help="Print all tags with the number of their notes.")
@examples("second-brain tags", "second-brain tags --scope 02-Areas --json")
@pass_session
def tags_(session: Session) -> None:
    """Print all tags, the most used first, with the number of notes that carry them."""
    _show_counts(session, session.asking.facets().tags, sign="#")


@command("folders", short_help="Print all folders with the number of their notes.")
@examples("second-brain folders", "second-brain folders --json")
@pass_session
def folders_(session: Session) -> None:
    """Print all folders with the number of notes in and below them."""
    _show_counts(session, session.asking.facets().folders, sign="")


def _show_counts(session: Session, counts: Mapping[str, int], *, sign: str) -> None:
    if session.as_json:
        session.out.json(dict(counts))
        return
    for name, count in counts.items():
        session.out.line(f"{count:>6,}  {sign}{harmless(name)}")
