"""`search` (notes, our own ranking) and `query` (passages with citations)."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from second_brain.cli.commands import command, examples, pass_session
from second_brain.cli.completing import words
from second_brain.cli.output import harmless
from second_brain.cli.wording import plural
from second_brain.errors import InvalidParameter

if TYPE_CHECKING:
    from second_brain.cli.session import Session
    from second_brain.search.request import Request

_RAG_TAKES = ("query", "folder", "tags", "modified_after", "top_k")


@dataclass(frozen=True, slots=True)
class _Show:
    """How the answer of a search is wanted."""

    why: bool
    why_not: str | None
    paths: bool
    rag: bool


@command("search", short_help="Search the notes by words and meaning.")
@click.argument("query", nargs=-1)
@click.option("--top-k", type=int, default=10, show_default=True, help="The most notes to show, 1 to 50.")
@click.option("--folder", multiple=True, help="Only notes in or below this folder; repeatable, any of them.")
@click.option("--tag", "tags", multiple=True, help="Only notes with this tag or one below it; repeatable, all of them.")
@click.option(
    "--after", "modified_after", metavar="DATE", help='Only notes changed then or later: an ISO date, 30d, "last week".'
)
@click.option("--before", "modified_before", metavar="DATE", help="Only notes changed then or before.")
@click.option("--exclude-folder", multiple=True, help="No notes in or below this folder; repeatable.")
@click.option("--exclude-tag", "exclude_tags", multiple=True, help="No notes with this tag; repeatable.")
@click.option(
    "--ranking",
    metavar="best|meaning|words",
    help="How to rank; the configured ranking, else best.",
    shell_complete=words("best", "meaning", "words"),
)
@click.option("--why", is_flag=True, help="Say for every hit why it was found.")
@click.option("--why-not", metavar="NOTE", help="Say instead why this note is not among the hits, or where it is.")
@click.option("--paths", is_flag=True, help="Print only the paths of the notes, one a line.")
@click.option("--rag", is_flag=True, help="Print exactly what the tool rag_search answers (passages, JSON).")
@examples(
    'second-brain search "how do I get candle grease out of cloth?"',
    "second-brain search 'tag:homelab after:2026-01-01 \"kubectl drain\" -draft'",
    "second-brain search boiler --folder 02-Areas --after 2026-01-01 --why",
    "second-brain search --tag type/howto --paths",
)
@pass_session
def search_(session: Session, /, *, why: bool, why_not: str | None, paths: bool, rag: bool, **arguments: Any) -> None:
    """Search the notes by words and meaning, and show the best passage of each.

    QUERY takes plain words, "a phrase", -word, folder:, tag: or #tag, after:, before:, path:, title: and
    [property:value]; put it in single quotes when it has any of these. Without words the newest notes that pass the
    filters are shown.

    --json prints {"query", "hits", "ranking", "total", ...}: one hit per note, with the fields of rag_search that a note
    has (score, text, path, note_title, heading_path, semantic_score, keyword_score, source) beside our own. The passages
    of rag_search itself come with --rag, with citations from the command query.
    """
    arguments["query"] = " ".join(arguments["query"])
    show = _Show(why, why_not, paths, rag)
    if sum((bool(why_not), paths, rag)) > 1 or (session.as_json and paths):
        raise click.UsageError("Only one of --why-not, --paths, --rag and (beside --paths) --json can be used.")
    if rag:
        session.out.json(_rag_search(session, arguments))
        return
    started = time.perf_counter()
    request = _request(session, arguments)
    if why_not is not None:
        _explain(session, request, arguments["query"], why_not)
    else:
        _answer(session, request, arguments["query"], show, started)


def _request(session: Session, arguments: dict[str, Any]) -> Request:
    given = {key: value for key, value in arguments.items() if value not in ((), None)}
    if session.scope.ranking:
        given.setdefault("ranking", session.scope.ranking)
    for name in ("modified_after", "modified_before"):
        if name in given:
            given[name] = _moment(name, given[name], end=name == "modified_before")
    return session.brain.request(**given)


def _moment(parameter: str, text: str, *, end: bool = False) -> str:
    """A date as the query grammar takes it, for tools, which take ISO 8601 alone.  Raises `InvalidParameter`."""
    from second_brain.search import dates  # noqa: PLC0415 - cheap start

    now = dates.local_now()
    if dates.moment_of(text, now=now, end=end) is None:
        raise InvalidParameter(
            f"{parameter}: {text[:80]!r} is not a date",
            hint=f'Give {dates.ACCEPTED}, or how long ago, as in 30d, yesterday, "last week".',
            parameter=parameter,
        )
    ago = dates.relative_moment(text, now=now, end=end)
    return text if ago is None else ago.isoformat()


def _answer(session: Session, request: Request, text: str, show: _Show, started: float) -> None:
    from second_brain.cli import hit_text  # noqa: PLC0415 - cheap start
    from second_brain.search.request import MOST_RESULTS  # noqa: PLC0415

    out = session.out
    answer = session.asking.search(request, explain=show.why or session.as_json)
    if session.as_json:
        found = hit_text.answer_json(text, answer)
        if show.why:
            for hit, shown in zip(answer.hits, found["hits"], strict=True):
                shown["evidence"] = hit_text.evidence_json(hit.evidence)
        out.json(found)
        return
    if show.paths:
        out.lines(harmless(hit.path) if out.terminal else hit.path for hit in answer.hits)
        if len(answer.hits) < answer.total:
            out.note(
                f"{len(answer.hits)} of {plural(answer.total, 'note')}; --top-k shows more, at most {MOST_RESULTS}."
            )
    else:
        seconds = time.perf_counter() - started
        hit_text.show_answer(out, request, answer, root=session.root, seconds=seconds, why=show.why)
    for warning in answer.warnings:
        out.warn(warning)
    done, total = answer.embedded
    if request.query.text and request.ranking != "words" and 0 < done < total:
        out.warn(f"{total - done} of {total} passages are not embedded yet: second-brain sync goes on with them.")
    if show.paths and not answer.hits:
        out.note(hit_text.in_query_words(answer.message))


def _explain(session: Session, request: Request, text: str, note: str) -> None:
    found = session.asking.why_not(request, note)
    if session.as_json:
        session.out.json({"query": text, "path": found.path, "rank": found.rank, "reasons": list(found.reasons)})
        return
    out = session.out
    absent = " is not among them" if found.rank is None else ""  # the reasons begin with the rank
    out.line(f"{out.place(found.path, 0, session.root)}{absent}:")
    out.lines(f"  {reason}" for reason in found.reasons)


def _rag_search(session: Session, arguments: dict[str, Any]) -> dict[str, Any]:
    refused = [key for key, value in arguments.items() if value not in ((), None, "") and key not in _RAG_TAKES]
    if refused:
        raise click.UsageError(f"--rag has no {', '.join(refused)}: rag_search knows folder, tag, after and top-k.")
    filters = _filters(session, arguments["folder"], arguments["tags"], arguments["modified_after"])
    return session.asking.rag(answer=False, query=arguments["query"], filters=filters, top_k=arguments["top_k"])


def _filters(
    session: Session, folders: tuple[str, ...], tags: tuple[str, ...], since: str | None, *, text: str = ""
) -> dict[str, Any] | None:
    """The filters object of the ``rag`` tools."""
    found = _object(text)
    if len(folders) > 1:
        raise click.UsageError("Passages can be narrowed to one folder only.")
    if folders and not folders[0].strip("/ "):
        raise InvalidParameter(
            f"folder: {folders[0]!r} names nothing inside the vault.",
            hint="Give a name as the vault has it, or leave --folder out.",
            parameter="folder",
        )
    if folders:
        found["path_prefix"] = folders[0].rstrip("/") + "/"
    if tags:
        found["tags"] = list(tags)
    if since:
        session.options["filters.modified_since"] = "--after"
        found["modified_since"] = _moment("filters.modified_since", since)
    return found or None


def _object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text) if text else {}
    except (ValueError, RecursionError) as error:  # also a number of thousands of digits, and brackets without end
        value = error
    if isinstance(value, dict):
        return value
    raise InvalidParameter(
        f"--filters is no JSON object: {text[:80]}",
        hint="""Write it as in: --filters '{"tags": ["homelab"], "status": "active"}'""",
        parameter="filters",
    )


@command("query", short_help="Passages that answer a question, with citations.")
@click.argument("query", nargs=-1)
@click.option("--top-k", type=int, default=8, show_default=True, help="The most passages to show, 1 to 50.")
@click.option("--min-score", type=float, help="Only passages whose meaning is at least so near, -1 to 1.")
@click.option("--recency-boost", type=float, default=0.0, show_default=True, help="Lift new notes, 0 to 1.")
@click.option("--folder", multiple=True, help="Only notes in or below this folder.")
@click.option("--tag", "tags", multiple=True, help="Only notes with this tag; repeatable, all of them.")
@click.option(
    "--after", "since", metavar="DATE", help='Only notes changed then or later: an ISO date, 30d, "last week".'
)
@click.option(
    "--filters", default="", metavar="JSON", help="The filters object of rag_query; the other filters join it."
)
@click.option("--compact", is_flag=True, help="With --json: without the metadata of the notes.")
@click.option("--full", is_flag=True, help="Show long passages whole.")
@examples(
    'second-brain query "What are my notes on system design?"',
    'second-brain query "project ideas" --top-k 5 --tag status/active',
    'second-brain query "node upgrade" --json --compact --min-score 0.3',
)
@pass_session
def query_(
    session: Session,
    *,
    query: tuple[str, ...],
    top_k: int,
    min_score: float | None,
    recency_boost: float,
    folder: tuple[str, ...],
    tags: tuple[str, ...],
    since: str | None,
    filters: str,
    compact: bool,
    full: bool,
) -> None:
    """Retrieve the passages that answer a question, with the notes and headings to cite.

    Words and meaning are ranked passage by passage, by words only where a passage holds them all; no answer is written. --json prints exactly what the tool rag_query
    answers: {"citations", "chunks", "debug_scores"}. The configuration's max_context_chunks is the most that is shown.
    """
    started = time.perf_counter()
    text = " ".join(query)
    found = session.asking.rag(
        answer=True,
        query=text,
        filters=_filters(session, folder, tags, since, text=filters),
        top_k=min(top_k, session.config.max_context_chunks) if top_k > 0 else top_k,
        min_score=min_score,
        verbose=not compact,
        recency_boost=recency_boost,
    )
    if session.as_json:
        session.out.json(found)
        return
    from second_brain.cli.hit_text import show_chunks  # noqa: PLC0415 - cheap start

    seconds = time.perf_counter() - started
    show_chunks(session.out, text, found["chunks"], root=session.root, seconds=seconds, full=full)
    for warning in found.get("warnings", ()):
        session.out.warn(warning)
