"""How often a sync opens the vault's files, and what becomes of tag rows."""

from __future__ import annotations

from collections import Counter

import apsw
import pytest

from indexed_vault import IndexedVault
from second_brain.vault.vault import Vault

NOTES = {
    "A/one.md": "---\ntags: [homelab, k8s]\naliases: [First]\n---\n# One\n\nText with #inline and [[two]].",
    "A/two.md": "---\ntags: [bird]\n---\nSee #heron.",
    "three.md": "No tags at all.",
}


class SpiedVault(IndexedVault):
    """Counts what the vault reads."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.reads = Counter()

    def vault(self):
        reads = self.reads

        class Spied(Vault):
            def read(self, path):
                reads[path] += 1
                return super().read(path)

        return Spied(self.root, super().vault()._rules)

    def reads_of_a_sync(self, **options):
        self.reads.clear()
        self.sync(**options)
        return dict(self.reads)


@pytest.fixture
def vault(tmp_path):
    return SpiedVault(tmp_path).write_all(NOTES)


def tag_rows(vault):
    connection = apsw.Connection(str(vault.db), flags=apsw.SQLITE_OPEN_READONLY)
    rows = connection.execute("SELECT path, tag, source FROM tags ORDER BY path, source, tag").fetchall()
    connection.close()
    return rows


@pytest.mark.requirement("FR-02")
def test_a_sync_reads_each_new_or_changed_file_once_and_no_other(vault):
    assert vault.reads_of_a_sync() == dict.fromkeys(NOTES, 1)
    assert vault.reads_of_a_sync() == {}
    vault.write("A/one.md", NOTES["A/one.md"] + " More.")
    vault.write("four.md", "A new one.")
    assert vault.reads_of_a_sync() == {"A/one.md": 1, "four.md": 1}
    assert vault.reads_of_a_sync(full=True) == dict.fromkeys([*NOTES, "four.md"], 1)


@pytest.mark.requirement("FR-02")
def test_embedding_reads_no_file(vault):
    vault.sync()
    vault.reads.clear()
    report = vault.embed()
    assert report.embedded == 3
    assert vault.reads == {}


@pytest.mark.requirement("FR-02")
def test_writing_a_note_again_replaces_its_tag_rows(vault):
    vault.sync()
    assert tag_rows(vault) == [
        ("A/one.md", "homelab", "frontmatter"),
        ("A/one.md", "k8s", "frontmatter"),
        ("A/one.md", "inline", "inline"),
        ("A/two.md", "bird", "frontmatter"),
        ("A/two.md", "heron", "inline"),
    ]
    vault.write("A/one.md", "---\ntags: [K8s, rack]\n---\nNow #other.")
    vault.write("A/two.md", "None any more.")
    vault.sync()
    assert tag_rows(vault) == [
        ("A/one.md", "K8s", "frontmatter"),
        ("A/one.md", "rack", "frontmatter"),
        ("A/one.md", "other", "inline"),
    ]


@pytest.mark.requirement("FR-02")
@pytest.mark.parametrize("new", ["B/one.md", "A/renamed.md", "B/renamed too.md"])
def test_a_move_re_keys_tag_rows_and_vectors_with_one_reading_and_no_embedding(vault, new):
    vault.index()
    before = tag_rows(vault)
    calls = vault.embedder.calls
    (vault.root / "B").mkdir()
    (vault.root / "A/one.md").rename(vault.root / new)
    assert vault.reads_of_a_sync() == {new: 1}
    assert tag_rows(vault) == sorted(
        ((new if path == "A/one.md" else path, tag, source) for path, tag, source in before),
        key=lambda row: (row[0], row[2], row[1]),
    )
    vault.embed()
    assert vault.embedder.calls == calls
    with vault.reader() as reader:
        paths = [path for (path,) in reader.connection.execute("SELECT path FROM embeddings ORDER BY path")]
    assert paths == sorted(["A/two.md", "three.md", new])


@pytest.mark.requirement("FR-02")
def test_notes_that_swap_places_swap_their_tag_rows(vault):
    vault.sync()
    one, two, aside = vault.root / "A/one.md", vault.root / "A/two.md", vault.root / "aside"
    one.rename(aside)
    two.rename(one)
    aside.rename(two)
    vault.sync()
    assert {path for path, tag, _ in tag_rows(vault) if tag in ("homelab", "k8s", "inline")} == {"A/two.md"}
    assert {path for path, tag, _ in tag_rows(vault) if tag in ("bird", "heron")} == {"A/one.md"}
