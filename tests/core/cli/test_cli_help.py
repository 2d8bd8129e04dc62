from __future__ import annotations

import shlex

import click
import pytest

from second_brain.cli.app import program
from second_brain.cli.global_options import global_options
from second_brain.cli.session import Session


def _commands():
    root = click.Context(program, info_name="second-brain")
    pending = [((name,), program.get_command(root, name)) for name in program.list_commands(root)]
    found = {(): program}
    while pending:
        path, command = pending.pop()
        found[path] = command
        if isinstance(command, click.Group):
            pending += [((*path, name), child) for name, child in command.commands.items()]
    return dict(sorted(found.items()))


COMMANDS = _commands()
NAMES = [" ".join(path) or "second-brain" for path in COMMANDS]


@pytest.mark.parametrize("path", COMMANDS, ids=NAMES)
def test_the_help_of_each_command_is_as_stored(path, cli, snapshot):
    result = cli(*path, "--help")
    assert (result.code, result.err) == (0, "")
    snapshot("-".join(("help", *path)), result.out)


@pytest.mark.parametrize("command", COMMANDS.values(), ids=NAMES)
def test_each_command_and_option_has_help_and_an_example(command):
    assert command.help
    assert command.name == "second-brain" or command.short_help
    assert all(option.help for option in command.params if isinstance(option, click.Option))
    assert command.examples


def test_each_option_stands_in_an_example_or_is_global():
    shown = " ".join(line for command in COMMANDS.values() for line in command.examples)
    own = {name for command in COMMANDS.values() for option in command.own_params for name in option.opts}
    own = {name for name in own if name.startswith("--")}
    rarely = {"--before", "--exclude-folder", "--exclude-tag", "--ranking", "--why-not", "--rag", "--recency-boost"}
    rarely |= {"--filters", "--full", "--lines", "--budget", "--wait"}
    assert {name for name in own if name not in shown} <= rarely


@pytest.mark.parametrize("line", sorted({line for command in COMMANDS.values() for line in command.examples}))
def test_each_example_can_be_parsed(line):
    words = shlex.split(line.partition(" > ")[0].partition("&& ")[2] or line.partition(" > ")[0])
    assert words[0] == "second-brain"
    context = program.make_context("second-brain", words[1:], obj=Session())
    rest = [*context._protected_args, *context.args]
    while isinstance(context.command, click.Group):
        _, command, rest = context.command.resolve_command(context, rest)
        context = command.make_context(command.name, rest, parent=context)
        rest = [*context._protected_args, *context.args]


def test_the_global_options_stand_before_and_behind_the_subcommand(cli, indexed):
    before = cli("--vault", indexed, "--json", "folders")
    behind = cli("folders", "--vault", indexed, "--json")
    assert before == behind
    assert before.json == {"Cluster": 2, "Home": 2}


@pytest.mark.parametrize("command", [name for name in NAMES if name != "second-brain"])
def test_every_command_takes_every_global_option(command):
    taken = {name for option in COMMANDS[tuple(command.split())].params for name in option.opts}
    assert {name for option in global_options() for name in option.opts} <= taken


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_say_where_they_belong(cli, shell):
    result = cli("completion", shell)
    assert result.code == 0
    assert "# Install: second-brain completion" in result.out.split("\n\n")[0][:200]
    assert "_SECOND_BRAIN_COMPLETE" in result.out


def test_completion_knows_commands_and_options(finished):
    env = {"_SECOND_BRAIN_COMPLETE": "bash_complete", "COMP_WORDS": "second-brain search --why", "COMP_CWORD": "2"}
    assert "--why-not" in finished(env=env).out
