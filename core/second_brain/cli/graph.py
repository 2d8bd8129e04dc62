"""`related`, `connections`, `map` and `orphans`: how notes belong together."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from second_brain.cli.commands import command, examples, pass_session
from second_brain.cli.completing import words
from second_brain.cli.output import harmless
from second_brain.cli.wording import listed, plural
from second_brain.errors import InvalidParameter

if TYPE_CHECKING:
    from collections.abc import Callable

    from second_brain.cli.session import Session
    from second_brain.graph.formulas import Signals
    from second_brain.graph.overview import Cluster
    from second_brain.graph.queries import Connected, Step, VaultMap
    from second_brain.graph.related import Neighbour

THEMES = ("auto", "light", "dark")
_ORPHANS_SHOWN = 10

_svg = click.option(
    "--svg", metavar="FILE", help="Draw it: write an SVG picture to this file instead, - for standard output."
)
_theme = click.option(
    "--theme",
    metavar="|".join(THEMES),
    default="auto",
    show_default=True,
    help="Colours of the picture; auto follows whoever shows it.",
    shell_complete=words(*THEMES),
)


@command("related", short_help="Print the notes that belong to a note, and why.")
@click.argument("target", metavar="NOTE")
@click.option("--top-k", type=int, default=10, show_default=True, help="The most notes to show, 1 to 50.")
@_svg
@_theme
@examples(
    'second-brain related "Quiet Radiators"',
    "second-brain related Wagtail --top-k 5 --json",
    "second-brain related Wagtail --svg wagtail.svg",
)
@pass_session
def related_(session: Session, *, target: str, top_k: int, svg: str | None, theme: str) -> None:
    """Print the notes that belong to a note, the strongest first, with the reasons.

    What counts is similar text (0.5), links (0.25, of which 0.7 for a link one way), common tags (0.15) and notes that link to both
    (0.1, full with three; notes that link to more than 20 do not count). Tags alone relate nothing. --json prints what the tool rag_related answers, and the reasons in words; a note that is not there is an error here.
    """
    found = session.asking.related(target, top_k=top_k)
    if svg is not None:
        from second_brain.graph.note_picture import draw_note  # noqa: PLC0415 - cheap start
        from second_brain.graph.overview import Node  # noqa: PLC0415

        centre = Node(found.path, found.title, {})
        _write_picture(
            session, svg, theme, lambda it: draw_note(centre, found.neighbours, session.brain.graph_settings, it)
        )
    elif session.as_json:
        neighbours = [_neighbour_json(neighbour) for neighbour in found.neighbours]
        session.out.json({"note_path": found.path, "found": True, "neighbors": neighbours})
    else:
        session.out.line(session.out.place(found.path, 0, session.root))
        for neighbour in found.neighbours:
            _show_neighbour(session, neighbour)
        if not found.neighbours:
            session.out.note("No other note belongs to it.")
    _warn(session, found.warnings)


def _show_neighbour(session: Session, neighbour: Neighbour) -> None:
    out = session.out
    reasons = harmless(" · ".join(neighbour.because))
    out.line(
        f"\n{neighbour.composite:.2f}  {out.style(harmless(neighbour.title), 'bold')}  {out.style(reasons, 'dim')}"
    )
    out.line(f"      {out.place(neighbour.path, 0, session.root)}")


def _neighbour_json(neighbour: Neighbour) -> dict[str, Any]:
    evidence = neighbour.evidence
    return {
        "path": neighbour.path,
        "title": neighbour.title,
        "composite": neighbour.composite,
        "evidence": {
            "links_to": evidence.links_to,
            "linked_from": evidence.linked_from,
            "shared_tags": list(evidence.shared_tags),
            "comention_count": evidence.comention_count,
        },
        "signals": signals_json(neighbour.signals),
        "because": list(neighbour.because),
    }


def signals_json(signals: Signals) -> dict[str, float]:
    """The four signals by name."""
    return {
        "semantic": signals.semantic,
        "link": signals.link,
        "tag": signals.tag,
        "comention": signals.comention,
    }


@command("connections", short_help="Print how two notes are connected.")
@click.argument("note_a", metavar="NOTE")
@click.argument("note_b", metavar="NOTE")
@examples('second-brain connections "Quiet Radiators" Wagtail', "second-brain connections Mira Wagtail --json")
@pass_session
def connections_(session: Session, *, note_a: str, note_b: str) -> None:
    """Print how two notes are connected: directly, or by the strongest chain of notes between them.

    The closeness of a chain is the product of its scores, so long chains are weak.

    --json prints what the tool rag_connections answers; a note that is not there is an error here.
    """
    found = session.asking.connections(note_a, note_b)
    if session.as_json:
        session.out.json(_connected_json(found))
    elif not found.connected:
        session.out.line(f"{harmless(found.note_a)} and {harmless(found.note_b)} are not connected.")
    else:
        _show_connected(session, found)
    _warn(session, found.warnings)


def _show_connected(session: Session, found: Connected) -> None:
    out = session.out
    out.line(f"connected {_how(found)}, closeness {found.closeness:.2g}\n")
    out.line(out.place(found.note_a, 0, session.root))
    for step in [found.direct] if found.direct else found.steps:
        reasons = out.style(harmless(" · ".join(step.because)), "dim")
        out.line(f"  {step.composite:.2f}  {reasons}")
        out.line(out.place(step.dst, 0, session.root))


def _how(found: Connected) -> str:
    if found.direct is None:
        return f"by a chain of {plural(len(found.path), 'note')}"
    linked = found.direct.evidence.links_to or found.direct.evidence.linked_from
    return "directly" if linked else "directly, without a link"


def _connected_json(found: Connected) -> dict[str, Any]:
    direct = found.direct
    return {
        "note_a": found.note_a,
        "note_b": found.note_b,
        "found_a": True,
        "found_b": True,
        "connected": found.connected,
        "direct_edge": _direct_json(direct) if direct else None,
        "closeness": found.closeness,
        "path": list(found.path) or None,
        "path_edges": [
            {"src": step.src, "dst": step.dst, "composite": step.composite, "signals": signals_json(step.signals)}
            for step in found.steps
        ],
    }


def _direct_json(step: Step) -> dict[str, Any]:
    evidence = step.evidence
    return {
        "composite": step.composite,
        "signals": signals_json(step.signals),
        "evidence": {
            "shared_tags": list(evidence.shared_tags),
            "comention_count": evidence.comention_count,
            "link_src_to_dst": evidence.links_to,
            "link_dst_to_src": evidence.linked_from,
        },
    }


@command("map", short_help="Print the map of the vault: clusters, hubs, bridges, orphans.")
@click.option("--min-score", type=float, help="Only edges at least so strong, 0 to 1; the configured least score.")
@_svg
@_theme
@examples("second-brain map", "second-brain map --scope 02-Areas --json", "second-brain map --svg map.svg --theme dark")
@pass_session
def map_(session: Session, *, min_score: float | None, svg: str | None, theme: str) -> None:
    """Print which notes form clusters, which one is the hub of each, which notes hold clusters together, and which stand alone.

    Clusters are groups of notes with more edges among them than to others, named by the tag that most of their notes carry, else by
    their hub. Alone is a note without an edge; a note without links may still be near others by its text. Nothing is stored: the map is that of the notes as they are now. --json prints exactly what the tool rag_map answers.
    """
    found = session.asking.map(min_score=min_score)
    if svg is not None:
        from second_brain.graph.map_picture import draw_map  # noqa: PLC0415 - cheap start

        _write_picture(session, svg, theme, lambda it: draw_map(found.overview, found.nodes, found.edges, it))
    elif session.as_json:
        session.out.json(_map_json(found))
    else:
        _show_map(session, found)
    _warn(session, found.warnings)


def _map_json(found: VaultMap) -> dict[str, Any]:
    overview = found.overview
    return {
        "note_count": overview.note_count,
        "edge_count": overview.edge_count,
        "clusters": [
            {
                "id": cluster.id,
                "label": cluster.label,
                "size": cluster.size,
                "notes": list(cluster.notes),
                "top_tags": list(cluster.top_tags),
                "hub": cluster.hub,
            }
            for cluster in overview.clusters
        ],
        "orphans": list(overview.orphans),
        "bridges": [
            {"path": bridge.path, "note": bridge.title, "connects_clusters": list(bridge.connects_clusters)}
            for bridge in overview.bridges
        ],
    }


def _show_map(session: Session, found: VaultMap) -> None:
    out, overview = session.out, found.overview
    out.line(
        f"{plural(overview.note_count, 'note')}, {plural(overview.edge_count, 'edge')},"
        f" {plural(len(overview.clusters), 'cluster')}"
    )
    for cluster in overview.clusters:
        _show_cluster(session, cluster)
    if overview.bridges:
        out.line(f"\n{out.style(f'bridges ({len(overview.bridges)})', 'bold')}: without them a part falls off")
        labels = {cluster.id: cluster.label for cluster in overview.clusters}
        for bridge in overview.bridges:
            joined = harmless(", ".join(labels[number] for number in bridge.connects_clusters))
            out.line(f"  {out.place(bridge.path, 0, session.root)}  {out.style(joined, 'dim')}")
    if overview.orphans:
        out.line(f"\n{out.style(f'alone ({len(overview.orphans)})', 'bold')}: {_some(overview.orphans)}")


def _show_cluster(session: Session, cluster: Cluster) -> None:
    out = session.out
    tags = harmless(" ".join(f"#{tag}" for tag in cluster.top_tags))
    out.line(
        f"\n{out.style(harmless(cluster.label), 'bold')} ({plural(cluster.size, 'note')})"
        + (f"  {out.style(tags, 'dim')}" if tags else "")
    )
    out.line(f"  hub: {out.place(cluster.hub, 0, session.root)}")
    rest = [path for path in cluster.notes if path != cluster.hub]
    if rest:
        out.line(
            f"  {harmless(listed(rest, 4) if cluster.size <= len(cluster.notes) else listed(rest[:4], 4) + ', …')}"
        )


def _some(paths: tuple[str, ...]) -> str:
    return harmless(listed(paths, _ORPHANS_SHOWN))


@command("orphans", short_help="Print the notes without links.")
@click.option("--folder", default="", help="Only notes in or below this folder.")
@examples("second-brain orphans", "second-brain orphans --folder 02-Areas --json")
@pass_session
def orphans_(session: Session, *, folder: str) -> None:
    """Print the notes that link to no note and that no note links to."""
    found = session.asking.link_figures()
    below = tuple(f"{name}/" for name in session.brain.folders_named(folder)) if folder else ("",)
    paths = [path for path in found.orphans if path.startswith(below)]
    if session.as_json:
        session.out.json({"orphans": paths, "count": len(paths), "notes": found.notes})
    else:
        session.out.lines(harmless(path) if session.out.terminal else path for path in paths)
        session.out.note(f"{plural(len(paths), 'note')} of {found.notes:,} without a link in or out.")
    _warn(session, found.warnings)


def _write_picture(session: Session, file: str, theme: str, draw: Callable[[Any], str]) -> None:
    from second_brain.config.guard import refuse_in_vault  # noqa: PLC0415 - cheap start
    from second_brain.config.paths import shown  # noqa: PLC0415

    if theme not in THEMES:
        raise InvalidParameter(
            f"There is no theme {theme[:200]!r}.", hint="Choose one of the options.", parameter="theme", options=THEMES
        )
    if file == "-":
        session.out.line(draw(theme))
        return
    if "\0" in file:
        raise InvalidParameter("A file name holds no NUL.", hint="Name another file.", parameter="svg")
    place, config = Path(file), session.config
    vaults = (config.vault_path, *(entry.path for entry in config.vaults.values()))
    refuse_in_vault("The picture", place, vaults, way_out="name a file outside it", parameter="svg")
    _refuse_to_replace(place)
    picture = draw(theme)
    part = place.with_name(f".{place.name}.part")
    try:
        # In another file first: the name may be a second one of a file elsewhere, which must not change.
        part.write_text(picture, encoding="utf-8")
        part.replace(place)
    except OSError as error:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        raise InvalidParameter(
            f"The picture cannot be written to {shown(place)}: {error.strerror or error}.",
            hint="Name a file in a folder that you may write to.",
            parameter="svg",
        ) from error
    session.out.note(f"written to {shown(place)}")


def _refuse_to_replace(place: Path) -> None:
    """Raises `InvalidParameter` when something lies there that is no picture."""
    if place.exists() and not (place.is_file() and _is_picture(place)):
        raise InvalidParameter(
            f"{str(place)[:200]} is there already and is no SVG picture.", hint="Name another file.", parameter="svg"
        )


def _is_picture(file: Path) -> bool:
    try:
        with file.open("rb") as there:
            return there.read(4) == b"<svg"
    except OSError:
        return False


def _warn(session: Session, warnings: tuple[str, ...]) -> None:
    for warning in warnings:
        session.out.warn(warning)
