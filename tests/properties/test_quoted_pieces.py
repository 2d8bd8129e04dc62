"""What a plain scan of the notes finds, a quoted piece finds; nothing less and nothing more."""

# ruff: noqa: RUF001 - characters that look alike are the point

from __future__ import annotations

import random
import unicodedata

import numpy as np
import pytest

from indexed_vault import IndexedVault
from second_brain.index import exact
from second_brain.vault.decode import decode
from second_brain.vault.redaction import Redaction
from vaults import crash_notes, scripts

REDACTED = (r"needle-\w+", r"(?i)straße", r"\d+\.\d+\.", r"日本|中文")


@pytest.fixture(scope="module", params=[(), REDACTED], ids=["as written", "redacted"])
def corpus(request, tmp_path_factory):
    """A reader over notes in every script among plain ones, and {path: what a plain scan sees}."""
    vault = IndexedVault(tmp_path_factory.mktemp("pieces"), redact=request.param)
    notes = crash_notes.as_bytes() | scripts.as_bytes()
    for path, raw in notes.items():
        vault.write(path, raw)
    vault.sync()
    redaction = Redaction(request.param)
    texts = {path: redaction.apply(decode(raw)[0]) for path, raw in notes.items()}
    with vault.reader() as reader:
        yield reader, texts


def found(reader, piece):
    docs = reader.columns.docs[exact.holders(reader, piece)].tolist()
    return {path for doc, path in reader.connection.execute("SELECT doc, path FROM files") if doc in docs}


def scanned(texts, piece):
    needle = scripts.scan_form(piece)
    return {path for path, text in texts.items() if needle in scripts.scan_form(text)}


def pieces(texts, count, seed):
    """Random stretches of random lines, of two characters or more; every note gives as many."""
    chance = random.Random(seed)
    lines = {path: [line for line in text.split("\n") if len(line) > 1] for path, text in texts.items()}
    notes = [path for path in sorted(lines) if lines[path]]
    for number in range(count):
        path = notes[number % len(notes)]
        line = unicodedata.normalize("NFC", chance.choice(lines[path]))  # half of a decomposed letter is no piece
        length = min(len(line), chance.choice((2, 2, 3, 4, 6, 10, 25, 60)))
        start = chance.choice((0, len(line) - length, chance.randrange(len(line) - length + 1)))
        yield path, line[start : start + length]


@pytest.mark.slow
@pytest.mark.requirement("RG-13")
def test_any_piece_of_a_line_finds_what_a_plain_scan_finds(corpus):
    reader, texts = corpus
    scan = {path: scripts.scan_form(text) for path, text in texts.items()}
    for path, piece in pieces(texts, 600, 1):
        for typed in (piece, piece.swapcase(), unicodedata.normalize("NFD", piece)):
            needle = scripts.scan_form(typed)
            expected = {note for note, text in scan.items() if needle in text}
            assert found(reader, typed) == expected, typed
        assert path in {note for note, text in scan.items() if scripts.scan_form(piece) in text}, piece


@pytest.mark.parametrize(
    ("piece", "path"),
    [
        ("C++", "latin.md"), ("3.1.", "latin.md"), ("rm -rf", "latin.md"), ("ubernet", None), ("übernet", "german.md"),
        ("中文", "chinese.md"), ("检索", "chinese.md"), ("文没", "chinese.md"), ("許可", "japanese.md"),
        ("needle-at-the-end äöü", "long.md"), ("ภาษา", "thai.md"), ("🎉", "emoji.md"), ("ﬁne", "ligatures.md"),
        ("fine offer", "ligatures.md"), ("strasse", "latin.md"), ("k å", "ligatures.md"), ("x1x1x1 b", "longword.md"),
        ("a " + "x1" * 150 + " b", "longword.md"), ("b " + "wordwithoutend" * 20 + " c", "longword.md"),
        ("ＡＢＣ", "fullwidth.md"), ("abc123", None), ("before\ufffdafter", "nul.md"), ("second line", "crlf.md"),
        ("line\nthird", "crlf.md"), ("no\u00a0break", "spaces.md"), ("no break", None), ("softhyphen", None),
        ('aliases:\n  - "die: s', "frontmatter.md"), ("2026-02", "frontmatter.md"), ("σίσυφοσ", "greek.md"),
        ("§nowhere§", None), ("\ud800", None), ("\ud83c\udf89", None),
    ],
)  # fmt: skip
def test_pieces_that_word_indexes_miss(tmp_path_factory, piece, path, plain):
    reader, texts = plain
    assert found(reader, piece) == scanned(texts, piece)
    assert (path in found(reader, piece)) if path else not found(reader, piece)


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    vault = IndexedVault(tmp_path_factory.mktemp("plain"))
    notes = scripts.as_bytes()
    for path, raw in notes.items():
        vault.write(path, raw)
    vault.sync()
    with vault.reader() as reader:
        yield reader, {path: decode(raw)[0] for path, raw in notes.items()}


@pytest.mark.requirement("RG-13")
def test_what_is_redacted_is_nowhere_in_the_index(tmp_path):
    vault = IndexedVault(tmp_path, redact=[r"sk-[a-z0-9]+", r"(?i)canary"])
    vault.write(
        "Note.md",
        "---\ntitle: Canary one\ntags: [canary]\naliases: [canary two]\nkey: sk-abc123\n---\n# Canary\n\n"
        "text sk-abc123 and [[canary link]] #canary\n\n- [ ] canary task ^canary\n" + "filler words " * 60,
    )
    vault.index()
    stored = b"".join(place.read_bytes() for place in vault.db.parent.glob("index.db*"))
    assert b"sk-abc" not in stored
    assert b"anary" not in stored.lower().replace(b"canary.md", b"")


@pytest.mark.requirement("RG-13")
def test_a_changed_pattern_reads_every_note_anew_also_one_that_moved_meanwhile(tmp_path):
    vault = IndexedVault(tmp_path).write_all({"a.md": "secret one", "b.md": "secret two", "in/c.md": "secret three"})
    vault.index()
    (vault.root / "in").rename(vault.root / "out")
    vault.redact = Redaction(["secret"])
    report = vault.sync()
    assert (report.processed, report.moved) == (2, 1)
    with vault.reader() as reader:
        assert not exact.holders(reader, "secret").any()
        assert np.count_nonzero(exact.holders(reader, "[redacted]")) == 3
    vault.embed()
    assert vault.dump() == vault.fresh_dump(tmp_path / "fresh")


def test_a_piece_of_white_space_or_nothing_narrows_as_a_scan_would(plain):
    reader, texts = plain
    for piece in ("", "  ", "\n", "\t", "\0", " \n"):
        assert found(reader, piece) == scanned(texts, piece)
