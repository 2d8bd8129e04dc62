"""Show ranked chunks as the ``rag`` tools do."""

from __future__ import annotations

import hashlib
import json
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from second_brain.index import catalog, chunk_parts
from second_brain.model import stem_of
from second_brain.search.rag_fields import derived, heading_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from second_brain.index.chunk_parts import ChunkPart
    from second_brain.index.reader import Reader


@dataclass(frozen=True, slots=True)
class RankedChunk:
    """A chunk and why it is here: `score` fused, `cosine` None without a vector, `words` (BM25) None without a match."""

    id: int
    score: float
    cosine: float | None
    words: float | None


def show(reader: Reader, ranked: Sequence[RankedChunk], *, verbose: bool) -> list[dict[str, Any]]:
    """One object per chunk, in order; flat and without metadata unless *verbose*."""
    parts = chunk_parts.read(reader, [chunk.id for chunk in ranked])
    if verbose:
        metadata = _metadata(reader, parts)
        return [
            {
                **_scores(chunk, parts[chunk.id]),
                "source": "hybrid",
                "text": parts[chunk.id].text,
                "metadata": metadata[chunk.id],
            }
            for chunk in ranked
        ]
    return [
        {**_scores(chunk, parts[chunk.id]), "text": parts[chunk.id].text, **_place(parts[chunk.id])} for chunk in ranked
    ]


def chunk_id(part: ChunkPart) -> str:
    """A UUID of what the chunk is and where it stands: the same in every index of the same notes."""
    identity = hashlib.sha256(f"{part.path}\0{part.content_hash}".encode("utf-8", "surrogateescape"))
    name = [part.path, identity.hexdigest()[:16], heading_text(part.heading_path), part.ordinal, part.text]
    return str(uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(name)))


def _scores(chunk: RankedChunk, part: ChunkPart) -> dict[str, Any]:
    return {
        "chunk_id": chunk_id(part),
        "score": chunk.score,
        "semantic_score": chunk.cosine,
        "keyword_score": chunk.words,
    }


def _place(part: ChunkPart) -> dict[str, Any]:
    return {"path": part.path, "note_title": stem_of(part.path), "heading_path": heading_text(part.heading_path)}


def _metadata(reader: Reader, parts: dict[int, ChunkPart]) -> dict[int, dict[str, Any]]:
    docs = sorted({part.doc for part in parts.values()})
    tags = catalog.tags_of(reader, sorted({part.path for part in parts.values()}))
    links = chunk_parts.link_targets(reader, docs)
    tasks = chunk_parts.tasks(reader, docs)
    return {
        number: {
            **_place(part),
            "tags": tags[part.path],
            "links": links[part.doc],
            "tasks": [
                {"text": task.text, "done": task.done, "line": task.line}
                for task in tasks[part.doc]
                if part.start_line <= task.line <= part.end_line
            ],
            "raw_frontmatter": part.properties,
            "derived_fields": derived(part.properties),
            "mtime": part.mtime,
        }
        for number, part in parts.items()
    }
