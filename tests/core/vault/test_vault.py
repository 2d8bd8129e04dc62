from __future__ import annotations

import hashlib
import os
import unicodedata
from pathlib import Path

import pytest

from second_brain.errors import InvalidParameter, NoteUnreadable, NotFound, VaultUnavailable
from second_brain.vault import vault as vault_module
from second_brain.vault.ignore import IgnoreRules
from second_brain.vault.vault import Vault, read_ignore_file

NOT_ROOT = pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")


def make(root: Path, files: dict[str, bytes | str]) -> Path:
    for path, content in files.items():
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content.encode() if isinstance(content, str) else content)
    return root


@pytest.fixture
def root(tmp_path):
    return make(tmp_path / "vault", {"a.md": "alpha\n", "Deep/er/b.md": "beta\n", "c.txt": "no", ".hidden/d.md": "no"})


@pytest.fixture
def vault(root):
    return Vault(root, IgnoreRules(["Templates/**"]))


def test_a_scan_lists_the_notes_with_their_stamps(vault, root):
    make(root, {"Templates/t.md": "x", "Deep/UPPER.MD": "x"})
    scan = vault.scan()
    assert sorted(scan.files) == ["Deep/UPPER.MD", "Deep/er/b.md", "a.md"]
    assert scan.files["a.md"] == vault.stat("a.md")
    assert scan.files["a.md"].size == 6
    assert scan.files["a.md"].mtime_ns == (root / "a.md").stat().st_mtime_ns
    assert (scan.folders, scan.problems, scan.incomplete_folders) == (3, {}, ())


def test_a_folder_that_only_looks_like_a_note_is_none(vault, root):
    (root / "folder.md").mkdir()
    make(root, {"folder.md/inner.md": "x"})
    assert "folder.md" not in vault.scan().files
    assert "folder.md/inner.md" in vault.scan().files
    assert vault.stat("folder.md") is None
    with pytest.raises(NotFound):
        vault.read("folder.md")


def test_an_unreadable_folder_is_a_problem_and_its_notes_are_not_taken_for_deleted(vault, monkeypatch):
    real = os.scandir

    def refuse(place):
        if str(place).endswith("er"):
            raise PermissionError(13, "Permission denied")
        return real(place)

    monkeypatch.setattr(os, "scandir", refuse)
    scan = vault.scan()
    assert sorted(scan.files) == ["a.md"]
    assert scan.incomplete_folders == ("Deep/er",)
    assert "Permission denied" in scan.problems["Deep/er"]


def test_a_name_that_no_file_can_have_is_no_note(vault):
    name = "a" * 3_000 + ".md"
    assert vault.stat(name) is None
    with pytest.raises(NotFound):
        vault.read(name)
    with pytest.raises(InvalidParameter) as refused:
        vault.relative("b/" * 5_000)
    assert len(refused.value.message) < 4_500


@NOT_ROOT
def test_a_note_without_read_permission_is_named_with_its_reason(vault, root):
    (root / "a.md").chmod(0)
    with pytest.raises(NoteUnreadable, match=r"a\.md.*Permission denied"):
        vault.read("a.md")


def test_a_read_error_becomes_a_note_unreadable(vault, monkeypatch):
    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(NoteUnreadable, match=r"a\.md.*Permission denied"):
        vault.read("a.md")


@pytest.mark.parametrize("name", ["missing", "a.md"])
def test_a_root_that_is_no_folder_is_refused_by_name(root, name):
    with pytest.raises(VaultUnavailable, match=name):
        Vault(root / name, IgnoreRules())


def test_a_vault_that_goes_away_does_not_look_empty(vault, root):
    root.rename(root.with_name("elsewhere"))
    for call in (vault.scan, lambda: vault.read("a.md"), lambda: vault.stat("a.md")):
        with pytest.raises(VaultUnavailable):
            call()


def test_a_root_that_goes_away_in_the_middle_of_a_scan_does_not_look_empty(vault, monkeypatch):
    monkeypatch.setattr(Vault, "_list_root", lambda self: None)
    vault.root.rename(vault.root.with_name("elsewhere"))
    with pytest.raises(VaultUnavailable):
        vault.scan()


def test_a_deleted_note_is_not_found_and_has_no_stamp(vault, root):
    (root / "a.md").unlink()
    assert vault.stat("a.md") is None
    with pytest.raises(NotFound, match=r"a\.md"):
        vault.read("a.md")


@pytest.mark.requirement("FR-33", "T-7")
@pytest.mark.parametrize(
    "path",
    [
        "../outside.md",
        "Deep/../../outside.md",
        "Deep/../a.md",
        "./a.md",
        "/etc/hosts.md",
        "//a.md",
        "Deep//er/b.md",
        "..\\outside.md",
        "%2e%2e/outside.md",
        "a.md\0.txt",
        "a\0.md",
        "a.md ",
        "a.md.",
        "A.MD",
        "",
        ".hidden/d.md",
        "c.txt",
        "Deep",
    ],
)
def test_nothing_but_a_note_of_the_vault_is_read(vault, tmp_path, path):
    (tmp_path / "outside.md").write_text("secret")
    assert vault.stat(path) is None
    with pytest.raises(NotFound):
        vault.read(path)


@pytest.mark.requirement("T-7")
def test_links_are_not_followed_by_default(vault, root, tmp_path):
    make(tmp_path, {"out/secret.md": "secret"})
    (root / "link.md").symlink_to(tmp_path / "out" / "secret.md")
    (root / "folder").symlink_to(tmp_path / "out")
    (root / "loop").symlink_to(root)
    (root / "inner.md").symlink_to(root / "a.md")
    assert sorted(vault.scan().files) == ["Deep/er/b.md", "a.md"]
    for path in ("link.md", "folder/secret.md", "loop/a.md", "inner.md"):
        assert vault.stat(path) is None
        with pytest.raises(NotFound):
            vault.read(path)


def test_followed_links_behave_as_in_obsidian(root, tmp_path):
    make(tmp_path, {"out/note.md": "x", "out/sub/deep.md": "x", "other/o.md": "x", "single.md": "secret"})
    (root / "folder").symlink_to(tmp_path / "out")
    (root / "zoverlap").symlink_to(tmp_path / "out" / "sub")
    (root / "loop").symlink_to(root)
    (root / "ancestor").symlink_to(tmp_path)
    (root / "inside").symlink_to(root / "Deep")
    (root / "single.md").symlink_to(tmp_path / "single.md")
    (root / "twin.md").symlink_to(root / "a.md")
    (root / "hidden.md").symlink_to(root / ".hidden" / "d.md")
    (root / "broken.md").symlink_to(root / "nowhere.md")
    (tmp_path / "out" / "again").symlink_to(tmp_path / "out")
    (tmp_path / "out" / "further").symlink_to(tmp_path / "other")
    vault = Vault(root, IgnoreRules(), follow_symlinks=True)
    expected = ["Deep/er/b.md", "a.md", "folder/further/o.md", "folder/note.md", "folder/sub/deep.md", "twin.md"]
    assert vault.read("folder/note.md").text == "x"
    assert sorted(vault.scan().files) == expected
    assert [vault.read(path).stat for path in expected] == [vault.stat(path) for path in expected]
    for path in ("loop/a.md", "zoverlap/deep.md", "ancestor/single.md", "single.md", "hidden.md", "inside/er/b.md"):
        assert vault.stat(path) is None
        with pytest.raises(NotFound):
            vault.read(path)


def test_a_pipe_is_no_note_and_never_blocks(vault, root):
    os.mkfifo(root / "pipe.md")
    assert "pipe.md" not in vault.scan().files
    assert vault.stat("pipe.md") is None
    with pytest.raises(NotFound):
        vault.read("pipe.md")


def test_a_pipe_that_takes_the_place_of_a_note_while_it_is_opened_never_blocks(vault, root, monkeypatch):
    located = vault._locate("a.md")
    monkeypatch.setattr(vault, "_locate", lambda path: located)
    (root / "a.md").unlink()
    os.mkfifo(root / "a.md")
    with pytest.raises(NoteUnreadable, match="not a regular file"):
        vault.read("a.md")


def test_a_folder_swapped_for_a_link_while_a_note_is_opened_leaks_nothing(vault, root, tmp_path, monkeypatch):
    make(tmp_path, {"out/b.md": "secret"})
    located = vault._locate("Deep/er/b.md")
    monkeypatch.setattr(vault, "_locate", lambda path: located)
    (root / "Deep" / "er").rename(tmp_path / "er")
    (root / "Deep" / "er").symlink_to(tmp_path / "out")
    with pytest.raises(NoteUnreadable, match="moved"):
        vault.read("Deep/er/b.md")


def test_a_note_beyond_the_limit_is_refused_with_the_figure(vault, root, monkeypatch):
    monkeypatch.setattr(vault_module, "MAX_NOTE_BYTES", 1024 * 1024)
    make(root, {"big.md": b"x" * (1024 * 1024 + 1), "fits.md": b"x" * 1024 * 1024})
    assert len(vault.read("fits.md").text) == 1024 * 1024
    with pytest.raises(NoteUnreadable, match="larger than 1 MB"):
        vault.read("big.md")


def test_a_name_that_is_not_utf8_is_a_problem_of_its_own(vault, root):
    (root / os.fsdecode(b"caf\xe9.md")).write_bytes(b"x")
    scan = vault.scan()
    assert sorted(scan.files) == ["Deep/er/b.md", "a.md"]
    assert scan.problems == {"caf\ufffd.md": "the name is not valid UTF-8; rename it to have it indexed"}


@pytest.mark.parametrize(
    ("raw", "text", "problem"),
    [
        (b"plain\n", "plain\n", ""),
        (b"", "", ""),
        (b"\xef\xbb\xbf# T\n", "# T\n", ""),
        ("\ufeff# Größe\n".encode("utf-16-le"), "# Größe\n", ""),
        ("\ufeff# Größe\n".encode("utf-16-be"), "# Größe\n", ""),
        ("\ufeff# Größe\n".encode("utf-32-le"), "# Größe\n", ""),
        ("# Wide capstan\n".encode("utf-16-le"), "# Wide capstan\n", "read as utf-16-le"),
        ("# Wide capstan\n".encode("utf-16-be"), "# Wide capstan\n", "read as utf-16-be"),
        ("\ufeffodd".encode("utf-16-le") + b"x", "odd\ufffd", "broken utf-16-le"),
        ("Café naïve".encode("cp1252"), "Café naïve", "not UTF-8; read as cp1252"),
        (b"smart \x93quotes\x94 \x81", "smart \u201cquotes\u201d \ufffd", "not UTF-8; read as cp1252"),
        (b"a\r\nb\rc\n", "a\nb\nc\n", ""),
        (b"before \x00 after\x07", "before \ufffd after\x07", ""),
        ("日本語".encode(), "日本語", ""),
    ],
)
def test_bytes_become_text(vault, root, raw, text, problem):
    (root / "e.md").write_bytes(raw)
    note = vault.read("e.md")
    assert note.text == text
    assert problem in note.problem
    assert bool(problem) == bool(note.problem)
    assert note.content_hash == hashlib.sha256(raw).hexdigest()
    assert note.stat == vault.stat("e.md")


@pytest.mark.requirement("RG-11")
@pytest.mark.parametrize("argument", ["Deep/er/b.md", "./Deep/er/b.md", "Deep/../Deep/er/b.md", "{root}/Deep/er/b.md"])
def test_a_typed_path_becomes_a_vault_path(vault, root, argument):
    assert vault.relative(argument.format(root=root)) == "Deep/er/b.md"
    assert vault.absolute("Deep/er/b.md") == root / "Deep" / "er" / "b.md"


@pytest.mark.requirement("RG-11")
@pytest.mark.parametrize("argument", ["", "  ", "../x.md", "/etc/passwd", ".", "a\0b", "{root}-old/a.md", "leak/s.md"])
def test_a_typed_path_outside_the_vault_is_refused_by_parameter(vault, root, tmp_path, argument):
    make(tmp_path, {"out/s.md": "secret"})
    (root / "leak").symlink_to(tmp_path / "out")
    with pytest.raises(InvalidParameter) as caught:
        vault.relative(argument.format(root=root))
    assert caught.value.parameter == "file_path"


def test_a_typed_path_need_not_exist_and_may_go_through_a_link_to_the_root(vault, root, tmp_path):
    (tmp_path / "alias").symlink_to(root)
    assert vault.relative("gone.md") == "gone.md"
    assert vault.relative(str(tmp_path / "alias" / "a.md")) == "a.md"
    assert Vault(tmp_path / "alias", IgnoreRules()).root == root.resolve()


def test_a_typed_path_is_spelt_as_on_disk(vault, root):
    name = unicodedata.normalize("NFD", "Überfahrt.md")
    make(root, {name: "x"})
    assert vault.relative("Überfahrt.md") == name
    assert vault.relative("Überweg.md") == "Überweg.md"


def test_eligibility_asks_the_rules_and_not_the_disk(vault):
    assert vault.eligible("not/there yet.md")
    assert not vault.eligible("Templates/a.md")
    assert not vault.eligible("../a.md")


def test_the_ignore_file_of_a_vault_is_read_when_it_is_there(root):
    assert read_ignore_file(root) == ""
    make(root, {".secondbrainignore": b"\xef\xbb\xbfdrafts/\r\n"})
    assert read_ignore_file(root) == "drafts/\n"


def test_an_ignore_file_that_cannot_be_read_stops_the_vault(root, monkeypatch):
    make(root, {".secondbrainignore": "private/"})

    def refuse(self):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", refuse)
    with pytest.raises(VaultUnavailable, match=r"\.secondbrainignore"):
        read_ignore_file(root)
