from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from second_brain.service import SecondBrain


@pytest.mark.requirement("RG-16")
@pytest.mark.parametrize(
    ("args", "code"),
    [
        (["--help"], 0),
        (["--version"], 0),
        (["search", "--version"], 0),
        ([], 2),
        (["serch", "x"], 2),
        (["search", "--nope"], 2),
        (["read"], 2),
        (["config"], 2),
        (["config", "nope"], 2),
        (["completion", "tcsh"], 2),
        (["--config", "none.toml", "status"], 1),
        (["--vault", "nowhere", "status"], 1),
        (["--scope", "*", "status"], 1),
    ],
)
def test_exit_codes(cli, args, code):
    result = cli(*args)
    assert result.code == code
    assert (result.out == "") is (code != 0)


@pytest.mark.requirement("RG-16")
@pytest.mark.parametrize(
    ("args", "code", "parameter"),
    [
        (["search", "x", "--nope", "--json"], 2, "nope"),
        (["--json", "read"], 2, "target"),
        (["--json", "serch"], 2, None),
        (["status", "--json", "--config", "none.toml"], 1, "config"),
    ],
)
def test_errors_with_json_are_one_object_on_standard_error(cli, args, code, parameter):
    result = cli(*args)
    assert (result.code, result.out) == (code, "")
    assert set(result.error) == {"code", "parameter", "message", "hint", "options"}
    assert result.error["parameter"] == parameter


def test_a_misspelt_command_names_the_nearest(cli):
    assert "Did you mean search?" in cli("serch", "x").err


@pytest.mark.requirement("RG-16")
def test_an_unexpected_exception_is_one_line_and_shows_itself_with_v(ask, monkeypatch, capsys, indexed):
    def broken(*_, **__):
        raise ZeroDivisionError("secret text of a note")

    monkeypatch.setattr(SecondBrain, "search", broken)
    result = ask("search", "boiler")
    assert (result.code, result.out) == (1, "")
    assert "ZeroDivisionError" in result.err
    assert "secret" not in result.err
    assert ask("search", "boiler", "--json").error["code"] == "internal"
    from second_brain.cli.app import run

    run(["-v", "--vault", str(indexed), "search", "boiler"])
    assert "Traceback" in capsys.readouterr().err


@pytest.mark.slow
def test_a_reader_that_goes_away_is_no_error(indexed):
    command = f"{shlex.quote(sys.executable)} -m second_brain --vault {shlex.quote(str(indexed))} config show | true"
    for _ in range(3):
        done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
        assert done.stderr == ""


@pytest.mark.slow
@pytest.mark.parametrize("env", [{"PYTHONIOENCODING": "ascii"}, {"LANG": "C", "LC_ALL": "C", "TERM": "dumb"}])
def test_a_terminal_without_unicode_gets_what_it_can_show(finished, vault, env):
    (vault / "Ümläut 茶.md").write_text("# Tee 茶\n\nboiler — größer\n", "utf-8")
    finished("--vault", vault, "sync", "--words-only", env=env)
    text = finished("--vault", vault, "search", "boiler", "--ranking", "words", env=env)
    assert (text.code, text.err) == (0, "")
    assert "boiler" in text.out
    found = finished("--vault", vault, "search", "boiler", "--ranking", "words", "--json", env=env).json
    assert "Ümläut 茶.md" in [hit["path"] for hit in found["hits"]]


@pytest.mark.slow
def test_a_locale_that_cannot_hold_a_file_name_crashes_nothing(finished, vault):
    (vault / "茶.md").write_text("# Tee 茶\n\nboiler\n", "utf-8")
    env = {"LANG": "C", "LC_ALL": "C", "PYTHONUTF8": "0"}
    for args in (
        ["sync", "--words-only"],
        ["search", "boiler", "--ranking", "words"],
        ["status"],
        ["folders", "--json"],
    ):
        result = finished("--vault", vault, *args, env=env)
        assert result.code == 0
        assert "Unexpected" not in result.err


@pytest.mark.slow
def test_arguments_that_are_no_unicode_do_not_crash(finished, indexed):
    odd = os.fsdecode(b"boil\xff")
    for args in (
        ["search", odd],
        ["read", odd],
        ["--scope", odd, "status"],
        ["config", "get", odd],
        ["--config", odd, "status"],
    ):
        for flags in ([], ["--json"]):
            result = finished("--vault", indexed, *args, *flags)
            assert result.code in (0, 1)
            assert "Traceback" not in result.err
            assert "Unexpected" not in result.err


@pytest.mark.slow
def test_output_that_cannot_be_written_is_an_error(start, indexed):
    with Path("/dev/full").open("w") as full:
        process = start("--vault", indexed, "folders", stdout=full)
        _, err = process.communicate(timeout=30)
    assert process.returncode == 1
    assert "Traceback" not in err


def test_the_log_holds_no_text_of_a_note(cli, vault, tmp_path):
    log = tmp_path / "logs" / "second-brain.log"
    config = tmp_path / "settings.toml"
    config.write_text(f'log_level = "debug"\nlog_file = "{log}"\n', "utf-8")
    common = ("--config", config, "--vault", vault)
    cli(*common, "sync", "--words-only")
    cli(*common, "search", "boiler", "--ranking", "words")
    cli(*common, "read", "Boiler")
    text = log.read_text("utf-8")
    assert "pressure falls" not in text
    assert "Lowest floor" not in text


def test_warnings_of_the_configuration_go_to_standard_error(cli, vault, tmp_path):
    config = tmp_path / "settings.toml"
    config.write_text('qdrant_path = "x"\nchunk_sise = 3\n', "utf-8")
    result = cli("--config", config, "--vault", vault, "sync", "--words-only", "--json")
    assert result.json["processed"] == 5
    assert "chunk_sise" in result.err
    assert "qdrant_path" in result.err


@pytest.mark.slow
def test_a_search_by_words_imports_nothing_heavy(indexed):
    code = (
        "import sys\nfrom second_brain.cli.app import run\n"
        f"run(['--vault', {str(indexed)!r}, 'search', 'boiler pressure', '--ranking', 'words', '--paths'])\n"
        "heavy = {'rich', 'tomlkit', 'rapidfuzz', 'watchdog', 'filelock', 'onnxruntime', 'ollama', 'tokenizers', 'asyncio'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.slow
def test_help_imports_nothing_of_the_library():
    code = (
        "import sys\nfrom second_brain.cli.app import run\nrun(['--help'])\n"
        "print(sorted(name for name in sys.modules if name.startswith('second_brain.') and '.cli' not in name), 'numpy' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "['second_brain.errors'] False"


def test_nothing_is_written_into_the_vault(cli, indexed, fake_ollama):
    before = sorted((str(path), path.stat().st_mtime_ns) for path in indexed.rglob("*"))
    for args in (
        ["sync", "--words-only"],
        ["search", "boiler"],
        ["status"],
        ["read", "Boiler"],
        ["links", "Boiler"],
        ["doctor"],
    ):
        cli("--vault", indexed, *args, "--embedder", "builtin")
    assert sorted((str(path), path.stat().st_mtime_ns) for path in indexed.rglob("*")) == before
