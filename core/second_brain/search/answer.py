"""What a search gives back."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any


@dataclass(frozen=True, slots=True)
class Snippet:
    """A stretch of a note as it is on disk now; `marks` are (start, end) offsets into `text` of what matched."""

    text: str = ""
    start_line: int = 0
    end_line: int = 0
    marks: tuple[tuple[int, int], ...] = ()
    heading_path: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Evidence:
    """Why a hit is where it is: shares are 0..1 of the best of this search, `cosine` is -1..1."""

    words: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()
    word_share: float = 0.0
    cosine: float | None = None
    named: bool = False


@dataclass(frozen=True, slots=True)
class Hit:
    """One note of an answer.  `score` is None where nothing was ranked; `matched`: words, meaning, both or filters."""

    path: str
    title: str
    wikilink: str
    folder: str
    tags: tuple[str, ...]
    modified: float
    score: float | None
    matched: str
    snippet: Snippet = field(default_factory=Snippet)
    note: str = ""
    evidence: Evidence = field(default_factory=Evidence)

    def as_json(self) -> dict[str, Any]:
        """The fields that every face shows, `modified` as ISO 8601 UTC to the second."""
        return {
            "wikilink": self.wikilink,
            "score": None if self.score is None else round(self.score, 4),
            "folder": self.folder,
            "tags": list(self.tags),
            "modified": iso_utc(self.modified),
            "snippet": self.snippet.text,
            "path": self.path,
            "title": self.title,
            "heading": list(self.snippet.heading_path),
            "line": self.snippet.start_line,
            "matched": self.matched,
            **({"note": self.note} if self.note else {}),
        }


@dataclass(frozen=True, slots=True)
class Answer:
    """The hits, best first; `message` says what an empty answer means; `embedded` counts (done, all) passages."""

    hits: tuple[Hit, ...] = ()
    message: str = ""
    warnings: tuple[str, ...] = ()
    corrections: tuple[tuple[str, str], ...] = ()
    ranking: str = "best"
    total: int = 0
    embedded: tuple[int, int] = (0, 0)

    def as_json(self) -> dict[str, Any]:
        """`{results, message?, warnings?, …}`."""
        return {
            "results": [hit.as_json() for hit in self.hits],
            **({"message": self.message} if self.message else {}),
            **({"warnings": list(self.warnings)} if self.warnings else {}),
            **({"corrected": dict(self.corrections)} if self.corrections else {}),
            "ranking": self.ranking,
            "total": self.total,
        }


def iso_utc(seconds: float) -> str:
    """ISO 8601 in UTC, to the second."""
    return datetime.fromtimestamp(int(seconds), UTC).isoformat().replace("+00:00", "Z")
