from __future__ import annotations

import json

import numpy as np
import pytest

from second_brain.embedding import builtin
from second_brain.embedding.builtin import BuiltinEmbedder
from second_brain.embedding.folder import FolderEmbedder
from second_brain.errors import EmbedderUnavailable


@pytest.fixture
def folder(tmp_path):
    """The builtin model as if it were the user's own."""
    files = builtin._files()
    (tmp_path / "model.onnx").symlink_to(files.model)
    (tmp_path / "tokenizer.json").symlink_to(files.tokenizer)
    return tmp_path


def configure(folder, name, content):
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")


def test_a_folder_gives_the_vectors_of_its_model(folder):
    own, built_in = FolderEmbedder(folder), BuiltinEmbedder()
    texts = ["the tide turns at noon", "an unrelated invoice"]
    assert np.array_equal(own.embed_documents(texts), built_in.embed_documents(texts))
    assert own.dimension == 384
    assert own.languages is None
    own.close()
    built_in.close()


def test_the_fingerprint_names_the_model_by_its_hash_wherever_the_folder_lies(folder, tmp_path_factory):
    embedder = FolderEmbedder(folder)
    assert embedder.fingerprint == f"folder:{builtin._MODEL_SHA256[:16]}:384:mean"
    embedder.close()
    moved = tmp_path_factory.mktemp("elsewhere")
    for name in ("model.onnx", "tokenizer.json"):
        (moved / name).symlink_to((folder / name).resolve())
    (moved / "model.onnx_data").write_bytes(b"other weights")
    assert FolderEmbedder(moved).fingerprint not in {embedder.fingerprint, ""}


def test_pooling_by_the_first_token_is_another_vector_and_another_fingerprint(folder):
    mean = FolderEmbedder(folder)
    by_mean = mean.embed_query("harbour")
    configure(folder, "1_Pooling/config.json", {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False})
    cls = FolderEmbedder(folder)
    assert cls.fingerprint.endswith(":cls")
    assert not np.allclose(cls.embed_query("harbour"), by_mean, atol=1e-3)
    mean.close()
    cls.close()


@pytest.mark.parametrize(
    "config",
    [
        {"pooling_mode_lasttoken": True},
        {"pooling_mode_mean_tokens": True, "pooling_mode_max_tokens": True},
        {"pooling_mode": "max"},
    ],
)
def test_pooling_that_we_cannot_do_is_refused_rather_than_guessed(folder, config):
    configure(folder, "1_Pooling/config.json", config)
    with pytest.raises(EmbedderUnavailable, match="pools its tokens by"):
        FolderEmbedder(folder).embed_query("harbour")


@pytest.mark.parametrize(
    ("files", "tokens"),
    [
        ({}, 512),
        ({"sentence_bert_config.json": {"max_seq_length": 128}}, 128),
        ({"tokenizer_config.json": {"model_max_length": 384}}, 384),
        ({"tokenizer_config.json": {"model_max_length": 10**30}, "config.json": {"max_position_embeddings": 512}}, 512),
        ({"config.json": {"max_position_embeddings": 514, "model_type": "xlm-roberta"}}, 512),
        ({"config.json": {"max_position_embeddings": 8192}}, 2048),
        ({"sentence_bert_config.json": {"max_seq_length": 256}, "config.json": {"max_position_embeddings": 512}}, 256),
        ({"sentence_bert_config.json": {"max_seq_length": None}}, 512),
    ],
)
def test_the_length_is_the_smallest_limit_that_the_folder_tells(folder, files, tokens):
    for name, content in files.items():
        configure(folder, name, content)
    assert FolderEmbedder(folder).max_tokens == tokens


def test_a_text_beyond_the_limit_of_the_folder_is_embedded_to_its_last_word(folder):
    configure(folder, "sentence_bert_config.json", {"max_seq_length": 32})
    embedder = FolderEmbedder(folder)
    one, two = embedder.embed_documents(["harbour " * 99 + "violin", "harbour " * 99 + "winter"])
    embedder.close()
    assert not np.allclose(one, two, atol=1e-5)


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
def test_a_missing_file_is_named(folder, name):
    (folder / name).unlink()
    with pytest.raises(EmbedderUnavailable) as caught:
        FolderEmbedder(folder).embed_query("harbour")
    assert str(folder / name) in caught.value.message
    assert "embedder = builtin" in caught.value.hint


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json", "config.json", "1_Pooling/config.json"])
@pytest.mark.parametrize("content", ["", "[]", "{}{", "nonsense \x00\x01"])
def test_a_broken_file_is_named(folder, name, content):
    if name in {"model.onnx", "tokenizer.json"}:
        (folder / name).unlink()
    configure(folder, name, content)
    with pytest.raises(EmbedderUnavailable) as caught:
        FolderEmbedder(folder).embed_query("harbour")
    assert str(folder / name) in caught.value.message


def test_a_model_that_fails_on_a_text_is_named(folder):
    configure(folder, "tokenizer_config.json", {"model_max_length": 1024})  # more than the model has positions for
    embedder = FolderEmbedder(folder)
    with pytest.raises(EmbedderUnavailable) as caught:
        embedder.embed_query("harbour " * 900)
    assert str(folder / "model.onnx") in caught.value.message
    assert embedder.embed_query("harbour").shape == (384,)
    embedder.close()


def test_a_folder_that_does_not_exist_fails_on_use_and_works_once_it_is_there(folder, tmp_path_factory):
    later = tmp_path_factory.mktemp("parent") / "model"
    embedder = FolderEmbedder(later)
    with pytest.raises(EmbedderUnavailable, match=r"model\.onnx"):
        embedder.fingerprint  # noqa: B018 - reading it is what fails
    later.symlink_to(folder, target_is_directory=True)
    assert embedder.embed_query("harbour").shape == (384,)
    embedder.close()
