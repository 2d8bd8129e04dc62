"""`mentions` of a note: the Markdown around each, and where the others are."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

import click

from second_brain.cli.commands import command, examples, pass_session
from second_brain.cli.output import harmless

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from second_brain.cli.session import Session
    from second_brain.reading.mentions import Mapped, Mentions, Shown


@command("mentions", short_help="Print what other notes say about a note.")
@click.argument("target", metavar="NOTE")
@click.option("--unlinked", is_flag=True, help="Look for its names in plain text instead of links to it.")
@click.option("--budget", "budget_tokens", type=int, metavar="TOKENS", help="About the most tokens to print of notes.")
@click.option("--in", "paths", multiple=True, metavar="NOTE", help="Look only in this note; repeatable.")
@click.option(
    "--after", multiple=True, metavar="PATH:LINE", help="Go on behind this place, in the order of paths; repeatable."
)
@examples(
    "second-brain mentions Mira",
    "second-brain mentions Mira --unlinked",
    'second-brain mentions "Home Server" --in "03-People/Edda.md" --json',
    "second-brain mentions Mira --after 02-Areas/Boat/Wagtail.md:1",
)
@pass_session
def mentions_(
    session: Session,
    *,
    target: str,
    unlinked: bool,
    budget_tokens: int | None,
    paths: tuple[str, ...],
    after: tuple[str, ...],
) -> None:
    """Print the paragraph, list item, table row or callout around each link to a note, and where the other links stand.

    NOTE is a title, alias, path or [[wikilink]], or a name that links use and no note bears yet.
    """
    options: dict[str, Any] = {"unlinked": unlinked, "paths": paths, "after": after}
    if budget_tokens is not None:
        options["budget_tokens"] = budget_tokens
    found = session.asking.mentions(target, **options)
    if session.as_json:
        from dataclasses import asdict  # noqa: PLC0415 - cheap start

        session.out.json(asdict(found))
        return
    session.out.line(session.out.style(harmless(found.message), "bold"))
    session.out.lines(line for excerpt in found.shown for line in _excerpt(session, excerpt))
    if found.map:
        session.out.line("\n-- not shown --")
        session.out.lines(_mapped(session, note) for note in found.map)
    for warning in found.warnings:
        session.out.warn(warning)
    if found.next is not None:
        command_line = _next(target, found, unlinked=unlinked)
        session.out.line(f"next: {session.typable(harmless(command_line) if session.out.terminal else command_line)}")


def _excerpt(session: Session, excerpt: Shown) -> Iterator[str]:
    out = session.out
    where = out.place(excerpt.path, excerpt.line, session.root)
    headings = out.style(harmless(f"  [{' > '.join(excerpt.heading_path)}]"), "dim") if excerpt.heading_path else ""
    yield f"\n== {where}{headings}"
    yield harmless(excerpt.text) if out.terminal else excerpt.text


def _mapped(session: Session, note: Mapped) -> str:
    return f"{session.out.place(note.path, 0, session.root)}: {', '.join(_ranges(note.lines))} ({note.count})"


def _ranges(lines: Sequence[int]) -> Iterator[str]:
    """Runs of lines as ``L40-44``."""
    first = last = 0
    for line in (*sorted(lines), 0):
        if line != last + 1 or not first:
            if first:
                yield f"L{first}" if first == last else f"L{first}-{last}"
            first = line
        last = line


def _next(target: str, found: Mentions, *, unlinked: bool) -> str:
    """The command that goes on."""
    going_on = found.next
    if going_on is None:
        return ""
    words = ["second-brain", "mentions", *(["--unlinked"] if unlinked else [])]
    if going_on.budget_tokens != found.budget_tokens or not _is_default(found.budget_tokens):
        words += ["--budget", str(going_on.budget_tokens)]
    words += [word for path in going_on.paths for word in ("--in", path)]
    words += [word for place in going_on.after for word in ("--after", place)]
    return shlex.join([*words, *(["--"] if target.startswith("-") else []), target])


def _is_default(budget: int) -> bool:
    from second_brain.reading.mentions import BUDGET  # noqa: PLC0415 - cheap start

    return budget == BUDGET
