from __future__ import annotations

import os
import re
import stat
import tomllib
from concurrent.futures import ThreadPoolExecutor

import pytest

from second_brain.config import load, writer
from second_brain.config.options import OPTIONS
from second_brain.config.writer import init, set_value, unset
from second_brain.errors import ConfigError, UnusableValue

S4_FILE = """\
# Path to the notes
vault_path = "$CWD"

# Chunking
chunk_size    = 500
chunk_overlap = 80

graph_enabled = true             # set false to skip graph computation
graph_knn_k = 8                  # neighbours
                                  # (second line of that comment)
exclude_globs = [
  "Old/**",  # an old folder
]

[scopes.work]  # for the agent
folders = ["Jobs"]
"""


# --- init


@pytest.mark.requirement("RG-15")
def test_init_elsewhere_writes_the_file_and_the_data_folder_beside_it(tmp_path, vault):
    place = tmp_path / "work"
    place.mkdir()
    result = init(place, vault=vault)
    assert (result.config_path, result.data_dir) == (place / "rag_config.toml", place / "data")
    assert (result.vault_path, result.overwritten, result.in_vault) == (vault, False, False)
    assert result.data_dir.is_dir()
    config = load(env={}, cwd=place)
    assert (config.source, config.vault_path) == (result.config_path, vault)
    assert config.db_path == place / "data" / "second-brain.db"


@pytest.mark.requirement("RG-15")
def test_init_writes_the_working_directory_of_that_moment_in_place_of_cwd(tmp_path):
    place = tmp_path / "empty $HOME"
    place.mkdir()
    result = init(place)
    assert "$CWD" not in tomllib.loads(result.config_path.read_text("utf-8"))["vault_path"]
    assert load(config_path=result.config_path, cwd=tmp_path).vault_path == place


@pytest.mark.requirement("RG-15", "NG1")
@pytest.mark.parametrize("where", ["", "Areas", "Areas/deep"])
@pytest.mark.parametrize(
    ("marked", "named"),
    [(True, True), (True, False), (False, True), (False, False)],
    ids=["Obsidian, --vault", "Obsidian", "notes, --vault", "notes"],
)
def test_init_in_or_below_a_vault_makes_no_file_there(vault, fingerprint, where, marked, named):
    (vault / "Areas" / "deep").mkdir()
    (vault / "Areas" / "deep" / "leaf.MD").write_text("x", "utf-8")
    if not marked:
        (vault / ".obsidian").rmdir()
    before = fingerprint(vault)
    result = init(vault / where, vault=vault if named else None)
    config = load(env={}, cwd=vault / where)
    assert fingerprint(vault) == before
    assert config.source == result.config_path
    assert config.vault_path == (vault if named else vault / where)
    assert config.db_path.parent == result.data_dir


@pytest.mark.requirement("RG-15")
def test_init_in_a_vault_writes_to_the_platforms_folders(vault, home):
    result = init(vault)
    assert result.config_path == home / "conf" / "second-brain" / "config.toml"
    assert result.data_dir == home / "share" / "second-brain"
    assert result.in_vault


@pytest.mark.requirement("NG1")
def test_init_in_another_vault_makes_no_file_there_either(tmp_path, vault, fingerprint):
    other = tmp_path / "other"
    other.mkdir()
    before = fingerprint(vault)
    assert init(vault, vault=other).in_vault
    assert fingerprint(vault) == before


@pytest.mark.requirement("NG1")
def test_init_refuses_a_named_file_inside_the_vault(vault, fingerprint):
    before = fingerprint(vault)
    with pytest.raises(ConfigError) as caught:
        init(vault, config_path=vault / "Areas" / "rag_config.toml")
    assert str(vault) in caught.value.message
    assert fingerprint(vault) == before


@pytest.mark.parametrize(("name", "local"), [("rag_config.toml", True), ("mine.toml", False)])
def test_init_writes_to_the_named_file(tmp_path, vault, home, name, local):
    result = init(vault, config_path=tmp_path / "far" / name)
    assert result.config_path == tmp_path / "far" / name
    assert result.data_dir == (tmp_path / "far" / "data" if local else home / "share" / "second-brain")
    assert load(config_path=result.config_path, env={}).db_path.parent == result.data_dir


@pytest.mark.requirement("RG-15")
def test_an_existing_file_needs_force(tmp_path, vault):
    place = tmp_path / "work"
    place.mkdir()
    path = init(place, vault=vault).config_path
    set_value(path, "chunk_size", 321)
    before = path.read_bytes()
    with pytest.raises(ConfigError, match="exists already") as caught:
        init(place, vault=vault)
    assert "--force" in caught.value.hint
    assert path.read_bytes() == before
    assert init(place, vault=vault, force=True).overwritten
    assert load(config_path=path, env={}).chunk_size == 500


@pytest.mark.parametrize("argument", ["directory", "vault"])
def test_init_refuses_a_folder_that_is_not_there(tmp_path, argument):
    folders = {"directory": tmp_path, argument: tmp_path / "nowhere"}
    with pytest.raises(ConfigError, match="nowhere"):
        init(**folders)


@pytest.mark.requirement("RG-15")
def test_the_written_file_explains_every_option_and_changes_nothing(tmp_path, vault):
    place = tmp_path / "work"
    place.mkdir()
    path = init(place, vault=vault).config_path
    text = path.read_text("utf-8")
    given = tomllib.loads(text)
    for option in OPTIONS:
        assert f"# {option.help}\n" in text
        assert not (option.advanced and option.name in given)
        assert option.name in given or f"# {option.name} = " in text or option.kind == "table"
    written, default = load(config_path=path, env={}), load(env={}, cwd=vault, vault=str(vault))
    names = {option.name for option in OPTIONS} - {"db_path"}
    assert {name: getattr(written, name) for name in names} == {name: getattr(default, name) for name in names}
    assert written.warnings == ()
    assert written.embedder_kind() == "builtin"


def test_the_commented_lines_of_the_written_file_are_valid_too(tmp_path, vault, home):
    place = tmp_path / "work"
    place.mkdir()
    path = init(place, vault=vault).config_path
    lines = path.read_text("utf-8").splitlines()
    code = re.compile(r"# (\[.*\]|\w+ = .*)")
    path.write_text("\n".join(code.sub(r"\1", line) if code.fullmatch(line) else line for line in lines), "utf-8")
    config = load(config_path=path, env={})
    assert config.warnings == ()
    assert config.scopes["work"].scope.folders == ("Projects", "Areas/Home")
    assert config.db_path == home / "indexes" / "notes.db"


# --- set and unset


@pytest.mark.parametrize(
    ("key", "value", "old", "new"),
    [
        ("chunk_size", "300", "chunk_size    = 500\n", "chunk_size    = 300\n"),
        ("graph_enabled", "off", "graph_enabled = true             # set", "graph_enabled = false             # set"),
        ("graph_knn_k", 3, "graph_knn_k = 8   ", "graph_knn_k = 3   "),
        ("scopes.work.folders", ["A", "B/**"], 'folders = ["Jobs"]', 'folders = ["A", "B/**"]'),
        ("scopes.work.tags", "x, y", '["Jobs"]\n', '["Jobs"]\ntags = ["x", "y"]\n'),
    ],
)
def test_setting_a_value_changes_only_its_line(write, key, value, old, new):
    path = write(S4_FILE)
    set_value(path, key, value)
    assert path.read_text("utf-8") == S4_FILE.replace(old, new)


def test_a_new_key_goes_before_the_tables(write):
    path = write(S4_FILE)
    assert set_value(path, "poll_seconds", "2") == 2.0
    given = tomllib.loads(path.read_text("utf-8"))
    assert given["poll_seconds"] == 2.0
    assert given["scopes"] == {"work": {"folders": ["Jobs"]}}
    assert all(line in path.read_text("utf-8") for line in S4_FILE.splitlines())


def test_a_commented_default_becomes_the_value_under_its_sentence(tmp_path, vault):
    place = tmp_path / "work"
    place.mkdir()
    path = init(place, vault=vault).config_path
    before = path.read_text("utf-8")
    set_value(path, "graph_knn_k", 5)
    assert path.read_text("utf-8") == before.replace("# graph_knn_k = 8", "graph_knn_k = 5")


def test_setting_makes_missing_tables_files_and_folders(tmp_path):
    path = tmp_path / "new" / "config.toml"
    set_value(path, "vaults.my.notes.path", "/notes")
    set_value(path, "scopes.work.allow_sync", "yes")
    set_value(path, "inline_tags", False)
    given = tomllib.loads(path.read_text("utf-8"))
    assert given == {
        "inline_tags": False,
        "vaults": {"my.notes": {"path": "/notes"}},
        "scopes": {"work": {"allow_sync": True}},
    }
    assert load(config_path=path, env={}).vault_name == "my.notes"


@pytest.fixture
def here(tmp_path, monkeypatch):
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.parametrize(
    ("key", "value", "written"),
    [
        ("vault_path", "sub", "{cwd}/sub"),
        ("vault_path", "~/sub", "~/sub"),
        ("vault_path", "/x/$PLACE", "/x/$PLACE"),
        ("db_path", "../x.db", "{parent}/x.db"),
        ("embedder", "builtin", "builtin"),
        ("embedder", "models/tiny", "{cwd}/models/tiny"),
    ],
)
def test_a_relative_path_is_meant_from_the_working_directory(write, here, key, value, written):
    path = write("")
    set_value(path, key, value)
    assert tomllib.loads(path.read_text("utf-8"))[key] == written.format(cwd=here, parent=here.parent)


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("chunk_size", "10", "at least 20"),
        ("chunk_size", "ten", "whole number"),
        ("chunk_size", 80, "smaller than chunk_size"),
        ("chunk_overlap", 500, "smaller than chunk_size"),
        ("redact_patterns", ["("], "'('"),
        ("ollama_url", "localhost", "http://"),
        ("watch_enabled", "perhaps", "true or false"),
        ("embedder", "olama", "auto, builtin, ollama"),
        ("chunk_sise", 100, "no option (did you mean chunk_size?)"),
        ("qdrant_path", "x", "no effect"),
        ("scopes", {}, "no option"),
        ("scopes.work", {}, "no option"),
        ("scopes.work.folder", "x", "scopes.NAME.folders"),
        ("scopes.work.folders", "x*", "wildcard"),
        ("scopes.work.instructions", "x" * 601, "601"),
    ],
)
def test_what_is_not_acceptable_is_refused_and_the_file_stays(write, key, value, said):
    path = write(S4_FILE)
    with pytest.raises(ConfigError) as caught:
        set_value(path, key, value)
    assert said in caught.value.message
    assert caught.value.parameter in (key, "chunk_overlap")
    assert path.read_text("utf-8") == S4_FILE
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


def test_a_broken_file_is_not_changed(write):
    path = write("chunk_size = = 3\n")
    with pytest.raises(ConfigError, match="line 1"):
        set_value(path, "inline_tags", value=True)
    assert path.read_text("utf-8") == "chunk_size = = 3\n"


def test_a_wrong_value_can_be_mended(write):
    path = write('chunk_size = "many"\nranking = "cosine"\n')
    set_value(path, "chunk_size", 200)
    set_value(path, "ranking", "best")
    assert load(config_path=path, env={}).chunk_size == 200


@pytest.mark.requirement("NG1")
def test_setting_makes_no_file_in_a_vault_but_changes_one_that_is_there(vault):
    path = vault / "rag_config.toml"
    with pytest.raises(ConfigError, match="inside the vault"):
        set_value(path, "chunk_size", 300)
    assert not path.exists()
    path.write_text(S4_FILE, "utf-8")
    set_value(path, "chunk_size", 300)
    assert sorted(entry.name for entry in vault.iterdir()) == [".obsidian", "Areas", "rag_config.toml"]


@pytest.mark.parametrize(
    ("key", "gone"),
    [
        ("graph_enabled", "graph_enabled = true             # set false to skip graph computation\n"),
        ("scopes.work", '[scopes.work]  # for the agent\nfolders = ["Jobs"]\n'),
    ],
)
def test_unset_takes_one_key_out(write, key, gone):
    path = write(S4_FILE)
    assert unset(path, key)
    assert path.read_text("utf-8").strip() == S4_FILE.replace(gone, "").strip()
    assert not unset(path, key)


@pytest.mark.parametrize("key", ["poll_seconds", "scopes.none.tags", "chunk_size.x", "misspelt"])
def test_unset_of_what_is_not_there_is_no_error(write, tmp_path, key):
    path = write(S4_FILE)
    assert not unset(path, key)
    assert not unset(tmp_path / "none.toml", key)
    assert path.read_text("utf-8") == S4_FILE


def test_a_key_that_no_option_has_can_be_taken_out(write):
    path = write("old_name = 3\nchunk_size = 90\n")
    assert unset(path, "old_name")
    assert path.read_text("utf-8") == "chunk_size = 90\n"


def test_unset_refuses_what_would_leave_a_wrong_rest(write):
    path = write("chunk_size = 60\nchunk_overlap = 10\n")
    with pytest.raises(ConfigError, match="smaller than chunk_size"):
        unset(path, "chunk_overlap")


def test_mode_link_and_newlines_of_the_file_are_kept(write, tmp_path):
    real = write("chunk_size = 90\r\n")
    real.write_bytes(b"# mine\r\nchunk_size = 90\r\n")
    real.chmod(0o640)
    link = tmp_path / "link.toml"
    link.symlink_to(real)
    set_value(link, "chunk_size", 100)
    assert link.is_symlink()
    assert real.read_bytes() == b"# mine\r\nchunk_size = 100\r\n"
    assert stat.S_IMODE(real.stat().st_mode) == 0o640


def test_changes_at_the_same_time_are_all_kept(write):
    path = write("")
    keys = [option.name for option in OPTIONS if option.kind == "int" and option.name.startswith(("graph", "schema"))]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda key: set_value(path, key, 7), keys))
    assert tomllib.loads(path.read_text("utf-8")) == dict.fromkeys(keys, 7)


def test_a_place_that_cannot_be_written_is_told(tmp_path):
    (tmp_path / "file").write_text("x", "utf-8")
    with pytest.raises(UnusableValue, match="lies below a file"):
        set_value(tmp_path / "file" / "config.toml", "chunk_size", 300)


def test_a_folder_whose_name_is_no_text_is_told(tmp_path):
    place = tmp_path / "work"
    odd = tmp_path / os.fsdecode(b"n\xf6tes")
    for folder in (place, odd):
        folder.mkdir()
    with pytest.raises(ConfigError, match="not valid Unicode"):
        init(place, vault=odd)
    assert list(place.iterdir()) == []


def test_a_key_below_what_is_no_table_is_refused(write):
    path = write("[scopes]\nwork = 3\n")
    with pytest.raises(ConfigError, match="work is not a table"):
        set_value(path, "scopes.work.tags", "x")


def test_a_writer_that_waits_too_long_says_so(write, monkeypatch):
    path = write("")
    monkeypatch.setattr("second_brain.config.writer._LOCK_SECONDS", 0.05)
    with writer._locked(path), pytest.raises(ConfigError, match="Another program is changing"):
        set_value(path, "chunk_size", 300)
    assert set_value(path, "chunk_size", 300) == 300


@pytest.mark.parametrize("first", ["folders", "tags", "excluded"])
def test_the_last_limit_of_a_scope_is_not_taken_out(tmp_path, first):
    path = tmp_path / "c.toml"
    path.write_text(f'[scopes.work]\n{first} = ["x"]\ninstructions = "i"\n')
    before = path.read_bytes()
    with pytest.raises(ConfigError, match="would show the whole vault") as refused:
        unset(path, f"scopes.work.{first}")
    assert "config unset scopes.work" in refused.value.hint
    assert path.read_bytes() == before
    other = "tags" if first != "tags" else "folders"
    set_value(path, f"scopes.work.{other}", "y")
    assert unset(path, f"scopes.work.{first}")
    assert unset(path, "scopes.work.instructions")
    assert unset(path, "scopes.work")
