"""`links` of one note, and figures of all."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from second_brain.cli.commands import command, examples, pass_session
from second_brain.cli.output import harmless
from second_brain.cli.wording import plural

if TYPE_CHECKING:
    from collections.abc import Sequence

    from second_brain.cli.session import Session
    from second_brain.graph.queries import LinkFigures
    from second_brain.reading.links import NoteLink

_NAMES_SHOWN = 10


@command("links", short_help="Print the links of a note in both directions, or figures of all.")
@click.argument("target", metavar="[NOTE]", required=False)
@click.option("--unresolved", is_flag=True, help="Print all links that lead nowhere, and where they stand.")
@examples('second-brain links "Quiet Radiators"', "second-brain links Mira --json", "second-brain links --unresolved")
@pass_session
def links_(session: Session, *, target: str | None, unresolved: bool) -> None:
    """Print where a note links to, which notes link to it, and which of its links lead nowhere.

    NOTE is a title, alias, path or [[wikilink]]. Without it: the most linked notes of the vault and its links that lead nowhere.
    """
    if target is not None and unresolved:
        raise click.UsageError("--unresolved concerns all notes; leave NOTE or the option out.")
    if target is None:
        _show_figures(session, whole=unresolved)
    else:
        _show_note(session, target)


def _show_note(session: Session, target: str) -> None:
    found = session.asking.links(target)
    if session.as_json:
        from dataclasses import asdict  # noqa: PLC0415 - cheap start

        session.out.json(asdict(found))
        return
    out = session.out
    out.line(out.place(found.path, 0, session.root))
    lost = [link for link in found.links_out if link.target is None]
    led = [link for link in found.links_out if link.target is not None]
    _show_links(session, "links to", len(found.outgoing), [(link.target or "", link) for link in led])
    _show_links(session, "linked from", len(found.backlinks), [(link.source, link) for link in found.links_in])
    _show_links(session, "leads nowhere", len(found.unresolved), [(link.name, link) for link in lost])
    for warning in found.warnings:
        out.warn(warning)


def _show_links(session: Session, title: str, count: int, links: Sequence[tuple[str, NoteLink]]) -> None:
    """A block of links: the other end once, then the places where the links stand."""
    out = session.out
    out.line(f"\n{out.style(f'{title} ({count})', 'bold')}")
    by_name: dict[str, list[NoteLink]] = {}
    for name, link in links:
        by_name.setdefault(name, []).append(link)
    for name, places in by_name.items():
        at = dict.fromkeys((link.source, link.line) for link in places)
        where = ", ".join(out.place(path, line, session.root) for path, line in at)
        out.line(f"  {harmless(name)}  {out.style('at', 'dim')} {where}")


def _show_figures(session: Session, *, whole: bool) -> None:
    out, found = session.out, session.asking.link_figures()
    if session.as_json:
        out.json(_dead_json(found) if whole else _figures_json(found))
    elif whole:
        for name, places in found.unresolved:
            where = ", ".join(out.place(path, line, session.root) for path, line in places)
            out.line(f"{harmless(name)}  {out.style('at', 'dim')} {where}")
    else:
        dead = sum(len(places) for _, places in found.unresolved)
        verb = "leads" if dead == 1 else "lead"
        out.line(f"{plural(found.notes, 'note')}, {plural(found.links, 'link')}, {dead:,} of them {verb} nowhere;")
        out.line(f"{plural(len(found.orphans), 'note')} without a link in or out.")
        _show_counts(session, "most linked", [(out.place(path, 0, session.root), count) for path, count in found.hubs])
        names = [(harmless(name), len(places)) for name, places in found.unresolved[:_NAMES_SHOWN]]
        _show_counts(session, "lead nowhere", names)
        if len(found.unresolved) > _NAMES_SHOWN:
            out.note(f"all {len(found.unresolved):,} names: second-brain links --unresolved")
    for warning in found.warnings:
        out.warn(warning)


def _show_counts(session: Session, title: str, counts: Sequence[tuple[str, int]]) -> None:
    if counts:
        session.out.line(f"\n{session.out.style(title, 'bold')}")
    session.out.lines(f"{count:>6,}  {name}" for name, count in counts)


def _figures_json(found: LinkFigures) -> dict[str, object]:
    return {
        "notes": found.notes,
        "links": found.links,
        "unresolved": sum(len(places) for _, places in found.unresolved),
        "orphans": len(found.orphans),
        "hubs": [{"path": path, "links": count} for path, count in found.hubs],
    }


def _dead_json(found: LinkFigures) -> dict[str, object]:
    return {
        "unresolved": [
            {"name": name, "links": [{"path": path, "line": line} for path, line in places]}
            for name, places in found.unresolved
        ]
    }
