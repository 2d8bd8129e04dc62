from __future__ import annotations

import shlex

import click
import pytest

from second_brain.cli.app import program, run

ASKING = ("try", "search", "query", "read", "links", "mentions", "tags", "folders")


def _examples():
    """The examples of the commands that ask, as arguments; those that name a vault of one's own are left out."""
    root = click.Context(program, info_name="second-brain")
    lines = [line for name in ASKING for line in program.get_command(root, name).examples]
    return [shlex.split(line)[1:] for line in lines if "~/" not in line]


@pytest.fixture(scope="module")
def demo_index(tmp_path_factory):
    """The index of the demo vault with the built-in model."""
    database = tmp_path_factory.mktemp("demo") / "demo.db"
    assert run(["sync", "--vault", "demo", "--db", str(database), "--embedder", "builtin"]) == 0
    return database


@pytest.mark.slow
@pytest.mark.parametrize("args", _examples(), ids=" ".join)
def test_each_example_of_a_help_finds_something_in_the_demo_vault(cli, demo_index, args):
    where = ["--db", demo_index, "--embedder", "builtin", *([] if args[0] == "try" else ["--vault", "demo"])]
    result = cli(*args, *where)
    assert result.code == 0
    assert "warning: " not in result.err
    if args[0] in ("try", "search", "query") and not {"--json", "--paths"} & set(args):
        assert "\n1. " in result.out
    elif "--json" in args:
        assert result.json.get("chunks", result.json)
    else:
        assert result.out.strip()
