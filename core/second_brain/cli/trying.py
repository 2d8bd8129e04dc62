"""`try`: from nothing to a first answer in one command."""

from __future__ import annotations

import math
import os
import shlex
import time
from typing import TYPE_CHECKING, Any

import click

from second_brain.cli.command_lines import NAME, program
from second_brain.cli.commands import command, examples, pass_session
from second_brain.cli.completing import words
from second_brain.cli.output import harmless
from second_brain.cli.overview import overview_json, show_overview
from second_brain.cli.progress import shown_progress
from second_brain.cli.session import DEMO, demo_vault
from second_brain.cli.stopping import stopped_by_signals
from second_brain.cli.syncing import stoppable, sync_json
from second_brain.cli.wording import plural
from second_brain.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import Sequence

    from second_brain.cli.session import Session
    from second_brain.search.answer import Answer, Hit

QUESTION = "how do I get candle grease out of cloth?"
OTHER_QUESTION = "bring back the old version of the cluster"
SHOWN = 3
DAY = 86_400


@command("try", short_help="Index the demo vault (or yours) and answer a question.")
@click.argument("vault", default="", shell_complete=words(kind="dir"))
@click.argument("question", default="")
@click.option(
    "--wait",
    type=float,
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    callback=lambda _context, _parameter, value: _seconds(value),
    help="How long to compute meaning before answering, up to a day; Ctrl-C answers at once.",
)
@examples(
    "second-brain try",
    'second-brain try "" "what do we do when an upgrade goes wrong?"',
    'second-brain try ~/Notes "ideas for the garden"',
)
@pass_session
def try_(session: Session, *, vault: str, question: str, wait: float) -> None:
    """Index VAULT (default: the demo vault that comes with the program), answer QUESTION, and say what to try next.

    Without a question a vault of your own is shown at a glance. It is only ever read; its index goes to your account's
    data folder. --json prints the answer as search does, without a question {"notes", "folders", "tags", "newest"}.
    """
    folder, asked = _meant(vault, question)
    _choose(session, folder)
    session.brain.require_whole_vault("try")
    demo = session.root == demo_vault()
    asked = asked or (QUESTION if demo else "")
    if session.as_json:
        _index(session, wait)
        session.out.json(_answer_json(session, asked) if asked else overview_json(session))
        return
    out = session.out
    out.line(out.style("Second Brain", "bold") + f"  {harmless(str(session.root))}")
    _index(session, wait)
    hits = _answer(session, asked).hits if asked else show_overview(session)
    _suggest(session, hits, demo=demo, asked=bool(asked))


def _meant(vault: str, question: str) -> tuple[str, str]:
    """A single argument that is no folder and reads like a sentence is a question for the demo vault."""
    from second_brain.config import paths  # noqa: PLC0415 - cheap start

    if vault and not question and not paths.is_folder(paths.typed(vault)) and (" " in vault or vault.endswith("?")):
        return "", vault
    return vault, question


def _choose(session: Session, folder: str) -> None:
    """Point the session at the vault, with a database of its own whatever the environment names for others."""
    from second_brain.config import paths  # noqa: PLC0415 - cheap start

    if not folder:
        session.vault = session.vault or DEMO
        return
    chosen = paths.typed(folder)
    if not paths.is_folder(chosen):
        raise NotFound(
            f"There is no folder {paths.shown(chosen)}.",
            hint='Name a folder of Markdown notes, or "" for the demo vault.',
            parameter="vault",
        )
    session.vault = str(chosen)
    if os.environ.get("SECOND_BRAIN_DB"):
        session.flags.setdefault("db_path", paths.default_database(chosen))


def _seconds(value: float) -> float:
    if not math.isfinite(value):
        raise click.BadParameter("it is no number of seconds")
    if not 0 <= value <= DAY:
        raise click.BadParameter(f"{value:g} is not between 0 and {DAY} seconds, which is a day.")
    return value


def _index(session: Session, wait: float) -> None:
    """Words, then as much meaning as fits in *wait* seconds; an embedder that fails only means words alone."""
    started = time.monotonic()
    with stopped_by_signals() as stop:
        with shown_progress(quiet=session.as_json) as report:
            words = session.brain.sync(embed=False, report=stoppable(report, stop))
        known = plural(words.notes.processed + words.notes.skipped, "note")
        if not session.as_json:
            session.out.line(
                f"{known} searchable by words after {time.monotonic() - started:.1f} s; now their meaning."
            )
            session.out.flush()
        with shown_progress(quiet=session.as_json) as report:
            end = time.monotonic() + wait
            outcome = session.brain.sync(report=report, should_stop=lambda: stop.is_set() or time.monotonic() > end)
    vectors = outcome.vectors
    if vectors is not None and not session.as_json:
        if vectors.embedded:
            session.out.line(f"{plural(vectors.embedded, 'passage')} embedded in {vectors.seconds:.1f} s.")
        if vectors.waiting and not vectors.unavailable:
            left = f"{plural(vectors.waiting, 'passage')} left for: second-brain sync"
            session.out.line(harmless(session.typable(left)))
    for warning in sync_json(outcome)["warnings"]:
        session.out.warn(warning)


def _answer_json(session: Session, question: str) -> dict[str, Any]:
    from second_brain.cli.hit_text import answer_json  # noqa: PLC0415 - cheap start

    request = session.brain.request(query=question, top_k=SHOWN)
    return answer_json(question, session.brain.search(request, explain=True))


def _answer(session: Session, question: str) -> Answer:
    from second_brain.cli.hit_text import show_answer  # noqa: PLC0415 - cheap start

    out = session.out
    started = time.perf_counter()
    request = session.brain.request(query=question, top_k=SHOWN)
    answer = session.brain.search(request, explain=True)
    seconds = time.perf_counter() - started
    out.line()
    show_answer(out, request, answer, root=session.root, seconds=seconds, why=True)
    for warning in answer.warnings:
        out.warn(warning)
    return answer


def _suggest(session: Session, hits: Sequence[Hit], *, demo: bool, asked: bool) -> None:
    """Three commands that work as they stand; before them how to ask, where nothing was."""
    where = shlex.quote(session.vault or DEMO)
    tags = session.brain.facets().tags
    tag = next((name for name in tags if name.startswith("type/")), next(iter(tags), ""))
    commands = [f'second-brain search "{OTHER_QUESTION}" --why --vault {where}'] if demo else []
    commands += [f"second-brain read {shlex.quote(hit.wikilink[2:-2])} --vault {where}" for hit in hits[:1]]
    commands += [f"second-brain search --tag {shlex.quote(tag)} --top-k 5 --vault {where}"] if tag else []
    commands += [f"second-brain status --vault {where}", f"second-brain watch --vault {where}"]
    session.out.line()
    session.out.line(session.out.style("Try next", "bold"))
    called = program()
    if not asked:
        session.out.line(f'  {called} search "your question in your own words" --vault {harmless(where)}')
    session.out.lines(f"  {called}{harmless(line.removeprefix(NAME))}" for line in commands[:SHOWN])
