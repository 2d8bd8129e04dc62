"""Hits as text for people, and as JSON for programs."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, Any

from second_brain.cli.output import harmless
from second_brain.cli.wording import MATCHED, RANKED, ago, plain_words, plural
from second_brain.model import stem_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from second_brain.cli.output import Output
    from second_brain.search.answer import Answer, Evidence, Hit
    from second_brain.search.query import Query
    from second_brain.search.request import Request

BAR = "│ "
INDENT = "   "
WHY = "why: "
SHOWN_CHARS = 800
"""So much of a passage of `query` is shown; ``--full`` shows all."""


def show_answer(out: Output, request: Request, answer: Answer, *, root: Path | None, seconds: float, why: bool) -> None:
    """The whole answer as text."""
    out.line(_heading(out, request.query, answer, seconds))
    for wrong, right in answer.corrections:
        out.line(out.style(f"searched {right} for {wrong}", "yellow"))
    if not answer.hits:
        out.line(harmless(in_query_words(answer.message)))
    for number, hit in enumerate(answer.hits, start=1):
        out.line()
        show_hit(out, hit, number, root=root, why=why)


def in_query_words(message: str) -> str:
    """What an empty answer means, with the filters as the query grammar and the options call them."""
    return re.sub(r"\bmodified_(?=(?:after|before)[= ])", "", message)


def show_hit(out: Output, hit: Hit, number: int, *, root: Path | None, why: bool = False) -> None:
    """One hit: title and place, headings, passage, what is known of the note."""
    out.line(f"{number}. {out.style(harmless(hit.title), 'bold')}  {out.place(hit.path, hit.snippet.start_line, root)}")
    headings = [heading for heading in hit.snippet.heading_path if heading != hit.title]
    if headings:
        out.line(INDENT + out.style(harmless(" > ".join(headings)), "dim"))
    out.lines(passage(out, hit.snippet.text, hit.snippet.marks))
    facts = [
        MATCHED[hit.matched] + (f" {hit.score:.2f}" if hit.score is not None else ""),
        " ".join(f"#{tag}" for tag in hit.tags),
        ago(hit.modified, time.time()),
        hit.note,
    ]
    for line in _hanging(out, " · ".join(fact for fact in facts if fact)):
        out.line(INDENT + out.style(line, "dim"))
    if why:
        out.lines(INDENT + line for line in _hanging(out, f"{WHY}{reasons(hit.evidence)}", len(WHY)))


def reasons(evidence: Evidence) -> str:
    """Why a hit is where it is, in one line."""
    parts = []
    if evidence.named:
        parts.append("bears exactly this name")
    if evidence.words:
        parts.append(f"has {', '.join(evidence.words)} in {', '.join(evidence.fields) or 'the text'}")
    if evidence.missing:
        parts.append(f"lacks {', '.join(evidence.missing)}")
    if evidence.words:
        parts.append(f"{evidence.word_share:.0%} of the best score by words")
    if evidence.cosine is not None:
        parts.append(f"meaning {evidence.cosine:.2f} near (1 is the same)")
    return "; ".join(parts) or "passes the filters"


def passage(out: Output, text: str, marks: Sequence[tuple[int, int]] = (), *, indent: str = INDENT) -> Iterator[str]:
    """The lines of a passage behind a bar; on a terminal wrapped to its width."""
    if not text.strip():
        return
    text = harmless(text)
    bar = indent + out.style(BAR, "dim")
    room = max(20, out.width - len(indent) - len(BAR)) if out.terminal else 0
    for start, end in _stretches(text, room):
        inside = [(max(a, start) - start, min(b, end) - start) for a, b in marks if a < end and b > start]
        yield (bar + out.marked(text[start:end], inside)).rstrip()


def _hanging(out: Output, text: str, hang: int = 0) -> list[str]:
    """The lines of *text* behind `INDENT`, on a terminal wrapped to its width with *hang* columns before the later ones."""
    text = harmless(text)
    if not out.terminal:
        return [text]
    import textwrap  # noqa: PLC0415 - only on a terminal

    room = max(20, out.width - len(INDENT))
    return textwrap.wrap(text, room, subsequent_indent=" " * hang, break_on_hyphens=False)


def _stretches(text: str, room: int) -> Iterator[tuple[int, int]]:
    """(start, end) of each printed line: the lines of *text*, broken between words where longer than *room* (0: never)."""
    start = 0
    for line in text.split("\n"):
        end = start + len(line)
        while room and end - start > room:
            space = text.rfind(" ", start + 1, start + room + 1)
            cut = space if space > start else start + room
            yield start, cut
            start = cut + (space > start)
        yield start, end
        start = end + 1


def _heading(out: Output, query: Query, answer: Answer, seconds: float) -> str:
    asked = out.style(harmless(plain_words(query)), "bold")
    if not answer.hits:
        return asked
    how = f" {_ranked(answer)}" if query.terms else ", newest first"
    counted = f"{len(answer.hits)} of {plural(answer.total, 'note')}{how}, {seconds * 1000:.0f} ms"
    return f"{asked}\n{out.style(counted, 'dim')}"


def _ranked(answer: Answer) -> str:
    """By what the hits were really found: words or meaning may have had no part in it."""
    matched = {hit.matched for hit in answer.hits}
    if len(matched) == 1 and matched <= RANKED.keys():
        return RANKED[matched.pop()]
    return RANKED[answer.ranking]


def answer_json(query: str, answer: Answer) -> dict[str, Any]:
    """The answer under the names of ``rag.search``, with our own fields beside."""
    found = answer.as_json()
    source = "hybrid" if answer.ranking == "best" else answer.ranking
    hits = [_hit_json(hit, source) for hit in answer.hits]
    rest = {key: value for key, value in found.items() if key != "results"}
    return {"query": query, "hits": hits, **rest}


def _hit_json(hit: Hit, source: str) -> dict[str, Any]:
    by_words = hit.matched in ("words", "both")
    cosine = hit.evidence.cosine
    return {
        **hit.as_json(),
        "text": hit.snippet.text,
        "note_title": stem_of(hit.path),
        "heading_path": list(hit.snippet.heading_path),
        "semantic_score": None if cosine is None else round(cosine, 4),
        "keyword_score": round(hit.evidence.word_share, 4) if by_words else None,
        "source": source,
    }


def evidence_json(evidence: Evidence) -> dict[str, Any]:
    """What ``--why`` adds to a hit."""
    return {
        "words": list(evidence.words),
        "missing": list(evidence.missing),
        "fields": list(evidence.fields),
        "word_share": round(evidence.word_share, 4),
        "cosine": None if evidence.cosine is None else round(evidence.cosine, 4),
        "named": evidence.named,
    }


def show_chunks(
    out: Output, query: str, chunks: Sequence[dict[str, Any]], *, root: Path | None, seconds: float, full: bool
) -> None:
    """The passages of the ``rag`` tools as text; long ones are cut unless *full*."""
    out.line(out.style(harmless(query), "bold"))
    if not chunks:
        out.line("Nothing was found.")
        return
    out.line(out.style(f"{plural(len(chunks), 'passage')}, {seconds * 1000:.0f} ms", "dim"))
    for number, chunk in enumerate(chunks, start=1):
        out.line()
        _show_chunk(out, chunk, number, root=root, full=full)


def _show_chunk(out: Output, chunk: dict[str, Any], number: int, *, root: Path | None, full: bool) -> None:
    about = chunk.get("metadata", chunk)
    out.line(f"{number}. {out.style(harmless(about['note_title']), 'bold')}  {out.place(about['path'], 0, root)}")
    heading = about.get("heading_path") or ""
    if heading and heading != about["note_title"]:
        out.line(INDENT + out.style(harmless(heading), "dim"))
    text = chunk["text"]
    if not full and len(text) > SHOWN_CHARS:
        text = text[:SHOWN_CHARS].rsplit(" ", 1)[0] + " …"
    out.lines(passage(out, text))
    facts = [f"score {chunk['score']:.4f}"]
    if chunk.get("semantic_score") is not None:
        facts.append(f"meaning {chunk['semantic_score']:.2f}")
    if chunk.get("keyword_score") is not None:
        facts.append(f"words {chunk['keyword_score']:.2f}")
    out.line(INDENT + out.style(" · ".join(facts), "dim"))
