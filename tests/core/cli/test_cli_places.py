from __future__ import annotations

import os
from pathlib import Path

import pytest

COMMANDS = [["search", "boiler"], ["sync", "--words-only"], ["status"], ["health"], ["doctor"], ["query", "boiler"]]
LONG = "n" * 5_000


def fingerprint(folder):
    return sorted((str(path), path.lstat().st_mtime_ns) for path in folder.rglob("*"))


@pytest.fixture
def odd(tmp_path):
    """What is no file, by name."""
    (tmp_path / "pipe").unlink(missing_ok=True)
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "file").write_text("x", "utf-8")
    (tmp_path / "knot").symlink_to(tmp_path / "knot")
    return {
        "root": Path("/"),
        "folder": tmp_path,
        "pipe": tmp_path / "pipe",
        "device": Path("/dev/null"),
        "long name": tmp_path / LONG,
        "long path": tmp_path / ("d/" * 3_000),
        "below a file": tmp_path / "file" / "index.db",
        "knot": tmp_path / "knot",
        "no Unicode": tmp_path / os.fsdecode(b"\xff.db"),
    }


@pytest.mark.requirement("RG-16")
@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
@pytest.mark.parametrize(
    "what",
    ["root", "folder", "pipe", "device", "long name", "long path", "below a file", "knot", "no Unicode"],
)
def test_what_can_be_no_database_is_named_with_its_option(cli, vault, odd, tmp_path, what, command):
    before = fingerprint(tmp_path)
    result = cli("--vault", vault, "--db", odd[what], *command)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("error: The database ")
    assert "(--db)" in result.err
    assert len(result.err) < 900
    assert fingerprint(tmp_path) == before


@pytest.mark.requirement("RG-16")
@pytest.mark.parametrize("giver", ["env", "file", "entry"])
def test_a_database_that_is_a_folder_is_named_with_the_place_that_says_so(cli, vault, tmp_path, monkeypatch, giver):
    lines = {
        "file": f'vault_path = "{vault}"\ndb_path = "{tmp_path}"',
        "entry": f'[vaults.v]\npath = "{vault}"\ndb = "{tmp_path}"',
    }
    if giver == "env":
        monkeypatch.setenv("SECOND_BRAIN_DB", str(tmp_path))
    Path("rag_config.toml").write_text(lines.get(giver, f'vault_path = "{vault}"') + "\n", "utf-8")
    result = cli("status")
    assert result.code == 2
    named = {"env": "(SECOND_BRAIN_DB)", "file": "rag_config.toml, line 2)", "entry": "rag_config.toml, line 3)"}
    assert named[giver] in result.err


@pytest.mark.parametrize("what", ["folder", "pipe", "long name", "long path", "below a file", "knot"])
@pytest.mark.parametrize(
    "command",
    [
        ["status"],
        ["config", "get", "ranking"],
        ["config", "set", "ranking", "words"],
        ["config", "unset", "ranking"],
        ["init"],
    ],
    ids=" ".join,
)
def test_what_can_be_no_configuration_is_named(cli, vault, odd, tmp_path, what, command):
    before = fingerprint(tmp_path)
    result = cli("--vault", vault, "--config", odd[what], *command)
    assert (result.code, result.out) == (2, "")
    assert "--config" in result.err
    assert fingerprint(tmp_path) == before


def test_no_configuration_at_all_can_be_asked_for(cli, indexed):
    assert cli("--config", os.devnull, "--vault", indexed, "status").code == 0


@pytest.mark.parametrize("what", ["pipe", "device", "long name", "long path", "below a file", "knot"])
@pytest.mark.parametrize("command", [["status"], ["sync"], ["init"]], ids=" ".join)
def test_what_can_be_no_vault_is_named(cli, odd, what, command):
    result = cli("--vault", odd[what], *command)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("error: The vault ")


@pytest.mark.parametrize("option", ["--config", "--vault", "--db", "--name", "--scope", "--embedder"])
@pytest.mark.parametrize("value", ["", " "])
def test_an_empty_global_option_is_misuse(cli, option, value, tmp_path):
    before = fingerprint(tmp_path)
    result = cli(option, value, "status")
    assert (result.code, result.out) == (2, "")
    assert option in result.err
    assert "empty" in result.err
    assert fingerprint(tmp_path) == before


def test_a_path_with_a_null_character_is_named(cli):
    Path("rag_config.toml").write_text('vault_path = "a\\u0000b"\n', "utf-8")
    result = cli("status")
    assert result.code == 2
    assert "rag_config.toml, line 1: vault_path must be a path without a null character" in result.err


@pytest.mark.parametrize(
    ("key", "value"),
    [("hotkey", "\udcff"), ("\udcff", "x"), ("scopes.\udcff.folders", "Home"), ("exclude_globs", "a,\udcff")],
)
def test_what_is_no_unicode_is_never_written(cli, key, value):
    result = cli("config", "set", key, value)
    assert result.code == 1
    assert "Rename that folder" not in result.err
    assert not Path("rag_config.toml").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "SECOND_BRAIN_DB",
        "SECOND_BRAIN_CONFIG",
        "XDG_DATA_HOME",
        "XDG_CONFIG_HOME",
        "HOME",
        "SECOND_BRAIN_OLLAMA_URL",
        "SECOND_BRAIN_EMBED_MODEL",
        "SECOND_BRAIN_SNIPPET_CHARS",
        "VAULT_SKIP_FOLDERS",
        "COLUMNS",
        "TERM",
        "LANG",
        "TZ",
    ],
)
def test_environment_variables_that_are_no_unicode_crash_nothing(finished, vault, tmp_path, name):
    value = os.fsdecode(os.fsencode(tmp_path) + b"/\xff")
    for args in (["sync", "--words-only"], ["search", "boiler", "--ranking", "words"], ["config", "show", "--json"]):
        result = finished("--vault", vault, *args, env={name: value})
        assert result.code in (0, 1, 2)
        assert "Traceback" not in result.err
        assert "Unexpected" not in result.err


# --- nothing is ever written into a vault


@pytest.mark.requirement("NG1")
@pytest.mark.parametrize("variable", ["XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"])
@pytest.mark.parametrize(
    "command",
    [
        ["init"],
        ["init", "--force"],
        ["config", "set", "ranking", "words"],
        ["vaults", "add", "x", "VAULT"],
        ["sync", "--words-only"],
    ],
    ids=" ".join,
)
def test_account_folders_inside_the_vault_are_never_written(cli, vault, monkeypatch, variable, command):
    monkeypatch.chdir(vault)
    monkeypatch.setenv(variable, str(vault / "Home"))
    before = fingerprint(vault)
    result = cli("--vault", vault, *[str(vault) if word == "VAULT" else word for word in command])
    assert fingerprint(vault) == before
    if result.code:
        assert result.code == 1
        assert variable in result.err
        assert str(vault) in result.err


@pytest.mark.requirement("NG1")
@pytest.mark.parametrize("link", [False, True])
@pytest.mark.parametrize("command", [["set", "ranking", "words"], ["unset", "ranking"]], ids=" ".join)
def test_a_configuration_inside_its_own_vault_is_not_changed(cli, vault, tmp_path, link, command):
    file = vault / "settings.toml"
    file.write_text(f'vault_path = "{vault}"\nranking = "best"\n', "utf-8")
    named = file
    if link:
        named = tmp_path / "linked.toml"
        named.symlink_to(file)
    before = fingerprint(vault)
    result = cli("--config", named, "config", *command)
    assert result.code == 1
    assert f"inside the vault {vault}" in result.err
    assert fingerprint(vault) == before


@pytest.mark.requirement("NG1")
@pytest.mark.parametrize("key", ["db_path", "log_file", "lock"])
def test_nothing_of_one_vault_is_written_into_another(cli, vault, tmp_path, key):
    other = tmp_path / "Other"
    other.mkdir()
    place = other / "file"
    lines = [
        f'vault_path = "{vault}"',
        f'log_file = "{place}"' if key == "log_file" else "",
        f'[vaults.other]\npath = "{other}"',
    ]
    Path("rag_config.toml").write_text("\n".join(lines), "utf-8")
    if key == "lock":
        (tmp_path / "index.db.lock").symlink_to(place)
    database = {"db_path": ["--db", place], "lock": ["--db", tmp_path / "index.db"]}.get(key, [])
    result = cli(*database, "sync", "--words-only")
    assert result.code == 1
    assert f"inside the vault {other}" in result.err
    assert not list(other.iterdir())


@pytest.mark.requirement("RG-15", "NG1")
def test_init_in_an_empty_folder_says_where_the_index_will_be(cli, home):
    made = cli("init", "--json").json
    assert not list(Path.cwd().iterdir())
    database = Path(cli("config", "get", "db_path").out.strip())
    assert database.parent == Path(made["data_dir"])
    assert Path(made["data_dir"]).is_dir()


@pytest.mark.requirement("NG1")
def test_init_beside_a_vault_that_the_account_knows_writes_nothing_into_it(cli, vault, tmp_path, monkeypatch):
    other = tmp_path / "Other"
    other.mkdir()
    cli("vaults", "add", "other", other)
    monkeypatch.chdir(other)
    refused = cli("init", "--vault", vault)
    assert "exists already" in refused.err
    assert cli("init", "--vault", vault, "--force").code == 0
    assert not list(other.iterdir())


@pytest.mark.requirement("RG-15")
def test_a_forced_init_keeps_a_copy_of_every_former_configuration(cli, vault):
    former = []
    for number in range(3):
        made = cli("init", "--vault", vault, "--force", "--json").json
        assert [Path(name).read_text("utf-8") for name in ([made["backup_path"]] if number else [])] == former[-1:]
        cli("config", "set", "chunk_size", 300 + number)
        former.append(Path("rag_config.toml").read_text("utf-8"))
    kept = sorted(path.name for path in Path.cwd().glob("*.bak*"))
    assert kept == ["rag_config.toml.bak", "rag_config.toml.bak2"]
    assert "rag_config.toml.bak3" in cli("init", "--vault", vault, "--force").out
