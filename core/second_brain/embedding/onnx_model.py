"""A sentence embedding model from an ONNX file and its ``tokenizer.json``, loaded to run on the CPU.

One text at a time: with the memory arena off that is as fast as batches and needs a third of their memory.
"""

from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING, Any

import numpy as np

from second_brain.embedding.onnx_files import file_sha256
from second_brain.embedding.texts import encodable
from second_brain.embedding.vectors import pooled, unit_rows
from second_brain.errors import EmbedderUnavailable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray
    from tokenizers import Encoding, Tokenizer

    from second_brain.embedding.onnx_files import OnnxFiles

_FILL = {"input_ids": 0, "attention_mask": 1, "token_type_ids": 0}  # the inputs that we can give; ids are put in later
_INTEGERS = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}
_TOKENS_AND_NUMBERS = 3  # axes of (batch, tokens, dimension)


class OnnxModel:
    """A loaded model: its session, its tokenizer and the special tokens around a text.

    Raises `EmbedderUnavailable` with *hint* when the files are missing, damaged or of no kind that we can run.
    """

    def __init__(self, files: OnnxFiles, *, threads: int, hint: str) -> None:
        self._hint = hint
        self._files = files
        self.source = f"the model {files.model}"
        self._check_files()
        self._tokenizer = self._open_tokenizer()
        self._head, self._tail = self._find_special()
        self._failures: tuple[type[Exception], ...] = ()
        self._session = self._open_session(threads)
        self._inputs = self._check_inputs()
        self._output = self._session.get_outputs()[0].name
        self.dimension = self._find_dimension()

    def pieces(self, text: str) -> Iterator[list[int]]:
        """The token ids of *text* without special tokens, in runs that the model takes, cut between words."""
        encoding = self._encoded(text, special=False)
        room = self._files.max_tokens - len(self._head) - len(self._tail)
        for start, end in cuts(encoding.word_ids, room):
            yield encoding.ids[start:end]

    def run(self, piece: Sequence[int]) -> NDArray[np.float32]:
        """The unit vector of one run of token ids."""
        answer = self._pool(self._raw(piece))[np.newaxis]
        vector: NDArray[np.float32] = unit_rows(answer, count=1, dimension=self.dimension, source=self.source)[0]
        return vector

    def joined(self, rows: Sequence[NDArray[np.float32]], weights: Sequence[int]) -> NDArray[np.float32]:
        """The unit vector of a text from those of its pieces, each with its length."""
        return rows[0] if len(rows) == 1 else pooled(np.stack(rows), weights, source=self.source)

    def matrix(self, rows: Sequence[NDArray[np.float32]]) -> NDArray[np.float32]:
        """One row per vector, shape (rows, dimension)."""
        return np.array(rows, dtype=np.float32).reshape(-1, self.dimension)

    def _raw(self, piece: Sequence[int]) -> NDArray[Any]:
        ids = [*self._head, *piece, *self._tail]
        feeds = {name: np.full((1, len(ids)), _FILL[name], dtype=kind) for name, kind in self._inputs.items()}
        if "input_ids" in feeds:
            feeds["input_ids"][0] = ids
        try:
            answer: NDArray[Any] = self._session.run([self._output], feeds)[0]
        except self._failures as error:
            raise self._broken(f"failed on a text of {len(ids)} tokens", error) from error
        return answer

    def _pool(self, answer: NDArray[Any]) -> NDArray[Any]:
        """The vector of a single text; its mask is all ones, so the masked mean is the plain mean."""
        if answer.ndim < _TOKENS_AND_NUMBERS:
            vector: NDArray[Any] = answer.reshape(-1)
        else:
            vector = answer[0, 0] if self._files.pooling == "cls" else answer[0].mean(axis=0)
        return vector

    def _find_dimension(self) -> int:
        declared = self._session.get_outputs()[0].shape
        if declared and isinstance(declared[-1], int) and declared[-1] > 0:
            return declared[-1]
        return len(self._pool(self._raw(self._encoded("a", special=False).ids)))

    def _find_special(self) -> tuple[list[int], list[int]]:
        """The special token ids before and after a text."""
        probe = self._encoded("a", special=True)
        marks = list(probe.special_tokens_mask)
        if 0 not in marks:
            raise EmbedderUnavailable(f"The tokenizer {self._files.tokenizer} knows no letters.", hint=self._hint)
        return probe.ids[: marks.index(0)], probe.ids[len(marks) - marks[::-1].index(0) :]

    def _encoded(self, text: str, *, special: bool) -> Encoding:
        return self._tokenizer.encode(encodable(text), add_special_tokens=special)

    def _check_files(self) -> None:
        for path in (self._files.model, self._files.tokenizer):
            if not path.is_file():
                raise EmbedderUnavailable(f"The embedding model lacks the file {path}.", hint=self._hint)
        if self._files.sha256 and file_sha256(self._files.model, hint=self._hint) != self._files.sha256:
            raise EmbedderUnavailable(
                f"The embedding model {self._files.model} is damaged: its checksum is not the published one.",
                hint=self._hint,
            )

    def _open_tokenizer(self) -> Tokenizer:
        try:
            from tokenizers import Tokenizer  # noqa: PLC0415 - so that its absence is told
        except ImportError as error:
            raise EmbedderUnavailable("The Python package tokenizers is not installed.", hint=self._hint) from error
        try:
            tokenizer = Tokenizer.from_file(str(self._files.tokenizer))
        except Exception as error:  # tokenizers raises the bare class for every fault of the file
            raise EmbedderUnavailable(
                f"The tokenizer {self._files.tokenizer} cannot be read: {_first_line(error)}", hint=self._hint
            ) from error
        tokenizer.no_truncation()
        tokenizer.no_padding()
        return tokenizer

    def _open_session(self, threads: int) -> Any:
        # Read once, at the import: without it version 1.32 asks for a server of its maker, and keeps a file in the cache folder.
        os.environ["ORT_DISABLE_TELEMETRY"] = "1"
        try:
            import onnxruntime  # noqa: PLC0415 - as above
            from onnxruntime.capi import onnxruntime_pybind11_state as state  # noqa: PLC0415
        except ImportError as error:
            raise EmbedderUnavailable("The Python package onnxruntime is not installed.", hint=self._hint) from error
        onnxruntime.disable_telemetry_events()
        # Its exceptions share no root but Exception.
        self._failures = tuple(
            kind for kind in vars(state).values() if isinstance(kind, type) and issubclass(kind, Exception)
        )
        try:
            return onnxruntime.InferenceSession(
                str(self._files.model), _options(onnxruntime, threads), providers=["CPUExecutionProvider"]
            )
        except self._failures as error:
            raise self._broken("cannot be loaded", error) from error

    def _check_inputs(self) -> dict[str, Any]:
        inputs = {entry.name: entry.type for entry in self._session.get_inputs()}
        for name, kind in inputs.items():
            if name not in _FILL or kind not in _INTEGERS:
                raise EmbedderUnavailable(
                    f"The model {self._files.model} wants the input {name} ({kind}): it is no sentence embedding model"
                    " of a kind that we can run.",
                    hint=self._hint,
                )
        return {name: _INTEGERS[kind] for name, kind in inputs.items()}

    def _broken(self, what: str, error: Exception) -> EmbedderUnavailable:
        return EmbedderUnavailable(f"The model {self._files.model} {what}: {_first_line(error)}", hint=self._hint)


def cuts(words: Sequence[int | None], room: int) -> list[tuple[int, int]]:
    """Where to cut a text of ``len(words)`` tokens into runs of at most *room*, about equal and between words.

    *words* gives the word of each token; a word longer than half a run is cut inside.  An empty text is one empty run.
    """
    total, start, runs = len(words), 0, []
    while total - start > room:
        size = math.ceil((total - start) / math.ceil((total - start) / room))
        end = start + size
        while end > start + size // 2 and words[end] == words[end - 1]:
            end -= 1
        if end <= start + size // 2:
            end = start + size
        runs.append((start, end))
        start = end
    return [*runs, (start, total)]


def _options(onnxruntime: Any, threads: int) -> Any:
    options = onnxruntime.SessionOptions()
    options.enable_cpu_mem_arena = False
    options.enable_mem_pattern = False
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 4  # failures come as exceptions; nothing may write to a stdio endpoint's streams
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # idle threads must not burn CPU
    return options


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0][:200]
