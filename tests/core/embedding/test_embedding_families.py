from __future__ import annotations

import pytest

from second_brain.embedding.families import family_of

REPRESENT = "Represent this sentence for searching relevant passages: "
INSTRUCT = "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:"
EN = frozenset({"en"})


@pytest.mark.parametrize(
    ("model", "query", "document", "languages"),
    [
        ("nomic-embed-text", "search_query: ", "search_document: ", EN),
        ("nomic-embed-text:v1.5", "search_query: ", "search_document: ", EN),
        ("hf.co/someone/nomic-embed-text-v1.5-GGUF:F16", "search_query: ", "search_document: ", EN),
        ("nomic-embed-text-v2-moe:latest", "search_query: ", "search_document: ", None),
        ("embeddinggemma:300m", "task: search result | query: ", "title: none | text: ", None),
        ("mxbai-embed-large", REPRESENT, "", EN),
        ("snowflake-arctic-embed:335m", REPRESENT, "", EN),
        ("snowflake-arctic-embed2", "query: ", "", None),
        ("someone/snowflake-arctic-embed-l-v2.0:q8_0", "query: ", "", None),
        ("bge-m3", "", "", None),
        ("bge-large", REPRESENT, "", EN),
        ("someone/bge:large-en-v1.5-f16", REPRESENT, "", EN),
        ("someone/bge:large-zh-v1.5-f16", "为这个句子生成表示以用于检索相关文章：", "", frozenset({"zh"})),  # noqa: RUF001
        ("qwen3-embedding:0.6b", INSTRUCT, "", None),
        ("someone/Qwen3-Embedding-8B:Q4_K_M", INSTRUCT, "", None),
        ("someone/intfloat-multilingual-e5-large-instruct:q8_0", INSTRUCT + " ", "", None),
        ("someone/multilingual_e5_small", "query: ", "passage: ", None),
        ("someone/e5-base-v2", "query: ", "passage: ", EN),
        ("all-minilm:l6-v2", "", "", EN),
        ("paraphrase-multilingual", "", "", None),
        ("granite-embedding:278m", "", "", None),
        ("never-heard-of-it", "", "", None),
    ],
)
def test_a_model_gets_the_prefixes_it_was_trained_with(model, query, document, languages):
    family = family_of(model)
    assert (family.query, family.document, family.languages) == (query, document, languages)


def test_the_prefix_id_differs_exactly_with_the_prefixes():
    ids = {
        name: family_of(name).prefix_id
        for name in ("bge-m3", "all-minilm", "mxbai-embed-large", "bge-large", "e5-small")
    }
    assert ids["bge-m3"] == ids["all-minilm"] == "plain"
    assert ids["mxbai-embed-large"] == ids["bge-large"]
    assert len(set(ids.values())) == 3
