"""What many notes have says nothing about any of them."""

from __future__ import annotations

import numpy as np
import pytest

from indexed_vault import IndexedVault
from second_brain.index import boilerplate, graph_rows, graph_vectors
from second_brain.index.line_marks import line_marks
from second_brain.model import Layout
from stub_embedder import StubEmbedder

OWN = ["boat", "sail", "oar", "harbour", "tide", "rope", "knot", "lamp", "stove", "tea"]
FOOTER = "## Navigation\n\n" + "\n".join(
    " ".join(f"{word}{line}" for word in ("back", "over", "roof", "garden", "house")) for line in "abc"
)


def _own(word):
    return f"# {word}\n\n{' '.join(f'{word}{number}' for number in range(22))}\n\n"


def _reduced(folder, notes, *, size=40):
    vault = IndexedVault(folder, embedder=StubEmbedder(64), layout=Layout(size, 0)).write_all(notes).index()
    with vault.reader() as reader:
        model = graph_rows.note_model(reader.connection)
        whole = graph_vectors.of_notes(reader.connection, model)
        return boilerplate.reduced(reader.connection, model), {
            path: np.frombuffer(vector, dtype="<f4") for path, vector in whole.items()
        }


@pytest.mark.requirement("RG-5")
@pytest.mark.parametrize(
    ("bearers", "others", "left_out"),
    [(4, 0, False), (5, 0, True), (5, 495, True), (5, 496, False), (6, 500, True)],
    ids=["four notes", "five notes", "one in a hundred", "fewer", "six of 506"],
)
def test_a_passage_of_many_notes_is_left_out_of_their_vectors(tmp_path, bearers, others, left_out):
    notes = {f"{word}.md": _own(word) + FOOTER for word in OWN[:bearers]}
    found, whole = _reduced(tmp_path, notes | {f"other/{number}.md": f"alone{number}" for number in range(others)})
    assert sorted(found) == (sorted(notes) if left_out else [])
    embedder = StubEmbedder(64)
    for path, vector in found.items():
        (alone,) = embedder.embed_documents([f"{path[:-3]}\n{_own(path[:-3]).rstrip()}"])
        assert vector == pytest.approx(alone, abs=1e-6)
        assert vector @ whole[path] < 0.99


def test_a_note_of_nothing_else_has_no_vector(tmp_path):
    found, whole = _reduced(tmp_path, {f"{number}.md": FOOTER for number in range(6)})
    assert found == {f"{number}.md": None for number in range(6)}
    assert len(whole) == 6


def test_what_small_notes_have_in_common_is_taken_off(tmp_path):
    notes = {f"{word}.md": _own(word) + FOOTER for word in OWN}
    found, whole = _reduced(tmp_path, notes, size=300)  # each is one passage
    assert sorted(found) == sorted(notes)

    def likeness(vectors):
        rows = np.array([vectors[path] for path in sorted(notes)])
        return (rows @ rows.T)[np.triu_indices(len(rows), 1)].mean()

    bare, _ = _reduced(tmp_path / "bare", {f"{word}.md": _own(word) for word in OWN} | {"x.md": ""}, size=300)
    assert not bare
    assert likeness(whole) > 0.25
    assert abs(likeness(found)) < likeness(whole) / 3


def test_headings_that_many_notes_have_change_nothing(tmp_path):
    notes = {f"{word}.md": f"## Notes\n\n{_own(word)}\n## Links\n\n{_own(word[::-1])}" for word in OWN}
    assert _reduced(tmp_path, notes)[0] == {}


def test_blanks_and_lines_without_a_word_make_no_difference():
    assert line_marks("  a b \n\n---\n```\n| - |\nc") == line_marks("a b\nc")
    assert line_marks("") == b""
    marks = np.frombuffer(line_marks("日本語\nx"), dtype="<u4").reshape(-1, 2)
    assert marks[:, 1].tolist() == [3, 1]
