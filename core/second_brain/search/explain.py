"""Why a note is not among the hits."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from second_brain.index import catalog, exact, selection
from second_brain.search import engine, narrowing

if TYPE_CHECKING:
    from second_brain.index.reader import Reader
    from second_brain.search.engine import Tools
    from second_brain.search.request import Request


@dataclass(frozen=True, slots=True)
class WhyNot:
    """`reasons` in sentences, the decisive first; `rank` counts from 1, None when the note is not ranked at all."""

    path: str
    rank: int | None
    reasons: tuple[str, ...]


def why_not(reader: Reader, request: Request, path: str, tools: Tools) -> WhyNot:
    """Explain where the visible note *path* stands for *request*: which filter drops it, which words it lacks, its rank.

    Raises `InvalidParameter` as `engine.search` does.
    """
    asked = engine.embed(reader, request, tools)
    with reader.snapshot():
        narrowing.check(reader, request.query.filters)
        row = catalog.note_at(reader, path)
        if row is None:
            return WhyNot(path, None, ("The index has no such note.",))
        places, _ = reader.columns.places(np.array([row.doc], dtype=np.int64))
        place = int(places[0])
        reasons = _filters_failed(reader, request, place) + _pieces_failed(reader, request, place)
        if narrowing.has_status(reader, tools.settings.exclude_status)[place]:
            reasons.append("Its status is one of those that the configuration leaves out (exclude_status).")
        if reasons:
            return WhyNot(path, None, tuple(reasons))
        allowed = narrowing.allowed(reader, request.query, tools.settings.exclude_status)
        wide = replace(request, top_k=len(reader.columns))
        scored = engine.rank(reader, wide, tools, allowed, asked)
        rank = scored.places.index(place) + 1 if place in scored.places else None
        return WhyNot(path, rank, tuple(_ranked(request, place, rank, scored)))


def _filters_failed(reader: Reader, request: Request, place: int) -> list[str]:
    return [
        f"The filter {name} leaves it out."
        for name, condition in narrowing.named_conditions(reader, request.query.filters)
        if not selection.passing(reader, [condition])[place]
    ]


def _pieces_failed(reader: Reader, request: Request, place: int) -> list[str]:
    lacking = [
        f'It does not hold "{phrase}".' for phrase in request.query.phrases if not exact.holders(reader, phrase)[place]
    ]
    holding = [
        f"It holds {term.text!r}, which is excluded."
        for term in request.query.excluded
        if narrowing.holding(reader, term)[place]
    ]
    return lacking + holding


def _ranked(request: Request, place: int, rank: int | None, scored: engine.Scored) -> list[str]:
    said = []
    if rank is not None and rank <= request.top_k:
        said.append(f"It is hit {rank}.")
    elif rank is not None:
        said.append(f"It is ranked {rank}, below the {request.top_k} that were asked for.")
    ranking = scored.word_ranking
    if ranking is not None:
        missing = [
            concept.word
            for number, concept in enumerate(ranking.concepts)
            if not int(ranking.matched[place]) >> number & 1
        ]
        if missing:
            said.append("It lacks: " + ", ".join(missing) + ".")
    cosine = scored.cosines.get(place)
    if cosine is not None:
        said.append(
            f"Its meaning is {cosine:.2f} near (1 is the same, the nearest note has {max(scored.cosines.values()):.2f})."
        )
    if cosine is not None and rank is None:
        said.append(
            "A note that holds none of the words is left out when its meaning is not half as near as the nearest one's."
        )
    if cosine is None and request.ranking != "words" and request.query.text.strip():
        said.append("Its meaning was not compared: it is not embedded yet, or the embedder is not there.")
    return said or ["Neither its words nor its meaning fit the query."]
