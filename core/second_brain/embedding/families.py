"""What is known of embedding models that Ollama serves: the prefixes they were trained with, the languages they cover.

The prefixes are those of the models' own cards.  Ollama adds none by itself.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

_REPRESENT = "Represent this sentence for searching relevant passages: "
_REPRESENT_ZH = "为这个句子生成表示以用于检索相关文章："  # noqa: RUF001 - the full-width colon is part of it
_INSTRUCT = "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:"

_ENGLISH = frozenset({"en"})
_CHINESE = frozenset({"zh"})


@dataclass(frozen=True, slots=True)
class Family:
    """`query` and `document` stand before a text as they are; `languages` is None for many or unknown ones."""

    query: str = ""
    document: str = ""
    languages: frozenset[str] | None = None

    @property
    def prefix_id(self) -> str:
        """Part of a fingerprint: changes with the prefixes, "plain" without any."""
        if not (self.query or self.document):
            return "plain"
        return hashlib.sha256(f"{self.query}\0{self.document}".encode()).hexdigest()[:8]


# The first pattern that fits the beginning of "name:tag" (lower case, without registry and namespace) decides.
_FAMILIES: tuple[tuple[str, Family], ...] = (
    (r"nomic-embed-text-v2", Family("search_query: ", "search_document: ")),
    (r"nomic-embed-text", Family("search_query: ", "search_document: ", _ENGLISH)),
    (r"embeddinggemma", Family("task: search result | query: ", "title: none | text: ")),
    (r"mxbai-embed-large", Family(_REPRESENT, "", _ENGLISH)),
    (r"snowflake-arctic-embed2|snowflake-arctic-embed-\w+-v2", Family("query: ")),
    (r"snowflake-arctic-embed", Family(_REPRESENT, "", _ENGLISH)),
    (r"bge-m3|bge-multilingual", Family()),
    (r"bge\b.*\bzh\b", Family(_REPRESENT_ZH, "", _CHINESE)),
    (r"bge\b", Family(_REPRESENT, "", _ENGLISH)),
    (r"qwen3-embedding", Family(_INSTRUCT)),
    (r"(intfloat-)?multilingual-e5\b.*\binstruct", Family(_INSTRUCT + " ")),
    (r"(intfloat-)?multilingual-e5\b", Family("query: ", "passage: ")),
    (r"(intfloat-)?e5-(small|base|large)\b", Family("query: ", "passage: ", _ENGLISH)),
    (r"all-minilm", Family(languages=_ENGLISH)),
)


def family_of(model: str) -> Family:
    """What is known of the model that Ollama calls *model*; an unknown one gets no prefix and no restriction."""
    name = model.rpartition("/")[2].lower().replace("_", "-")
    return next((family for pattern, family in _FAMILIES if re.match(pattern, name)), Family())
