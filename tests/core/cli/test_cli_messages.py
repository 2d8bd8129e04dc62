from __future__ import annotations

import os
from pathlib import Path

import pytest

from second_brain.config import OPTIONS
from second_brain.errors import InvalidParameter

SECRET = "hunter2"
URL = f"http://user:{SECRET}@127.0.0.1:9"


@pytest.mark.parametrize(
    "command",
    [
        ["config", "show"],
        ["config", "show", "--json"],
        ["config", "get", "ollama_url"],
        ["config", "get", "ollama_url", "--json"],
        ["config", "set", "ollama_url", URL],
        ["config", "set", "ollama_url", URL, "--json"],
        ["config", "set", "ollama_url", f"htp://user:{SECRET}@host"],
        ["config", "set", "ollama_url", f"user:{SECRET}@host"],
        ["config", "set", "ollama_url", URL.replace("http://", "http:/")],
        ["sync"],
        ["sync", "--json"],
        ["search", "boiler"],
        ["status"],
        ["status", "--json"],
        ["doctor"],
        ["doctor", "--json"],
        ["-v", "sync"],
        ["-v", "query", "boiler"],
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("giver", ["file", "env"])
def test_a_password_in_a_url_is_never_shown_or_logged(cli, indexed, tmp_path, monkeypatch, command, giver):
    log = tmp_path / "log.txt"
    lines = [f'vault_path = "{indexed}"', f'log_file = "{log}"', 'log_level = "debug"']
    if giver == "env":
        monkeypatch.setenv("SECOND_BRAIN_OLLAMA_URL", URL)
    else:
        lines.append(f'ollama_url = "{URL}"')
    Path("rag_config.toml").write_text("\n".join(lines), "utf-8")
    result = cli(*command)
    said = result.out + result.err + (log.read_text("utf-8") if log.exists() else "")
    assert SECRET not in said.replace(f"set ollama_url {URL}", "")
    assert said != ""


@pytest.mark.parametrize("url", [f"http://user:{SECRET}@host with space", f"ftp://{SECRET}@host", f"{SECRET}@host"])
def test_a_wrong_url_is_refused_without_its_password(cli, monkeypatch, url):
    monkeypatch.setenv("SECOND_BRAIN_OLLAMA_URL", url)
    result = cli("config", "show")
    assert result.code == 1
    assert "SECOND_BRAIN_OLLAMA_URL must be a URL" in result.err
    assert SECRET not in result.err


@pytest.mark.parametrize(
    "option", [option for option in OPTIONS if option.kind != "table"], ids=lambda option: option.name
)
def test_a_wrong_value_is_told_as_a_person_would_write_it(cli, option):
    Path("rag_config.toml").write_text(f"{option.name} = [[1], -3]\n", "utf-8")
    result = cli("config", "show", "--config", "rag_config.toml")
    assert f"rag_config.toml, line 1: {option.name} must be " in result.err
    assert ("not [[1], -3]; it is ignored." if option.lenient else "it is [[1], -3].") in result.err
    assert (result.code == 0) is option.lenient
    for odd in ("(()", "((", "()", "None", "True", "False", ".."):
        assert odd not in result.err


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("chunk_size", "-5", "chunk_size must be at least 20; it is '-5'."),
        ("chunk_size", "many", "chunk_size must be a whole number; it is 'many'."),
        ("poll_seconds", "nan", "poll_seconds must be a number; it is 'nan'."),
        ("poll_seconds", "0", "poll_seconds must be greater than 0; it is '0'."),
        ("endpoint_port", "70000", "endpoint_port must lie between 0 and 65535; it is '70000'."),
        ("inline_tags", "perhaps", "inline_tags must be true or false; it is 'perhaps'."),
        ("max_context_chunks", "-1", "max_context_chunks must be at least 1; it is '-1'."),
    ],
)
def test_numbers_out_of_range_are_told(cli, key, value, said):
    assert said in cli("config", "set", key, "--", value).err


def test_message_and_hint_in_one_text_are_sentences():
    assert InvalidParameter("x: 3 is no text", hint="Give a text").sentences == "x: 3 is no text. Give a text."
    assert InvalidParameter("Is it?", hint="").sentences == "Is it?"
    assert InvalidParameter("No.", hint="Yes!").sentences == "No. Yes!"


@pytest.mark.parametrize(
    "command", [["config", "get", "ranking"], ["search", "boiler", "--ranking", "words"], ["status"]], ids=" ".join
)
@pytest.mark.parametrize("log", ["folder", "pipe", "below a file"])
def test_a_log_that_cannot_be_written_is_a_warning(cli, indexed, tmp_path, command, log):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "file").touch()
    path = {"folder": tmp_path, "pipe": tmp_path / "pipe", "below a file": tmp_path / "file" / "log"}[log]
    Path("settings.toml").write_text(f'log_file = "{path}"\n', "utf-8")
    result = cli("--config", "settings.toml", "--vault", indexed, *command)
    assert result.code == 0
    assert result.out != ""
    assert result.err.startswith(f"warning: The log {path} cannot be written: ")
    assert "log_file" in result.err


@pytest.mark.requirement("RG-16")
@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["query", "boiler", "--filters", "[" * 100_000], "--filters is no JSON object"),
        (["query", "boiler", "--filters", '{"x": ' + "1" * 6_000 + "}"], "--filters is no JSON object"),
        (["query", "boiler", "--folder", ""], "folder: '' names nothing"),
        (["try", "--wait", "nan"], "it is no number of seconds"),
        (["query", "boiler", "--folder", "/"], "folder: '/' names nothing"),
        (["search", "boiler", "--rag", "--folder", " "], "folder: ' ' names nothing"),
        (["search", "boiler", "-draft"], "inside the quotes"),
        (["vaults", "add", "", "."], "The name of the vault is empty"),
        (["vaults", "add", "x", ""], "The path of the vault is empty"),
        (["config", "get", ""], "An empty text is no option"),
        (["--scope", "n/" * 3_000 + "x", "tags"], "…"),
    ],
)
def test_odd_command_lines_are_told_what_is_wrong(ask, args, said):
    result = ask(*args)
    assert result.out == ""
    assert said in result.err
    assert len(result.err) < 900
    assert "fault of the program" not in result.err
