"""The program `second-brain`: its commands by name, and the one edge where errors become words and exit codes."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from second_brain.cli.command_lines import typable
from second_brain.cli.commands import GlobalOptions, examples
from second_brain.cli.interrupts import say_interrupted, was_interrupted
from second_brain.cli.output import as_json, prepare_streams, say_error
from second_brain.cli.session import Session
from second_brain.errors import InvalidParameter, SecondBrainError, UnusableValue

if TYPE_CHECKING:
    from collections.abc import Sequence

_COMMANDS = {
    "try": "trying",
    "search": "finding",
    "query": "finding",
    "read": "notes",
    "links": "links",
    "mentions": "mentions",
    "related": "graph",
    "connections": "graph",
    "map": "graph",
    "orphans": "graph",
    "tags": "notes",
    "folders": "notes",
    "init": "configuring",
    "sync": "syncing",
    "watch": "watching",
    "status": "inspecting",
    "health": "inspecting",
    "doctor": "inspecting",
    "config": "configuring",
    "vaults": "configuring",
    "completion": "inspecting",
}
"""Command -> module, in the order of use; a module is imported when one of its commands is."""


class Program(GlobalOptions, click.Group):
    """The group of all commands, imported when needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """In the order of use."""
        del ctx
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command, or None."""
        del ctx
        if cmd_name not in _COMMANDS:
            return None
        command: click.Command = getattr(import_module(f"second_brain.cli.{_COMMANDS[cmd_name]}"), f"{cmd_name}_")
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does, but a misspelt command names the nearest one."""
        if args and args[0] not in _COMMANDS and not args[0].startswith("-"):
            from difflib import get_close_matches  # noqa: PLC0415 - only on a mistake

            near = get_close_matches(args[0], _COMMANDS, 1)
            hint = f" Did you mean {near[0]}?" if near else f' To look for words: second-brain search "{args[0]}"'
            raise click.UsageError(f"No such command {args[0]!r}.{hint}", ctx)
        return super().resolve_command(ctx, args)


@click.command(
    cls=Program, name="second-brain", context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@examples(
    "second-brain try",
    'second-brain search "how do I get candle grease out of cloth?" --vault ~/Notes',
    "second-brain sync --vault ~/Notes",
)
def program() -> None:
    """Find the right passage in a vault of Markdown notes: local, offline, read-only."""


def run(args: Sequence[str]) -> int:
    """Run one command line; returns the exit code.  Nothing that a person can cause ends in a traceback."""
    prepare_streams()
    session = Session()
    try:
        try:
            code: Any = program.main(args=list(args), prog_name="second-brain", obj=session, standalone_mode=False)
            sys.stdout.flush()
        finally:
            session.close()
    except BrokenPipeError:
        return 1  # whoever read our output has gone, as ``head`` does: end quietly
    except (KeyboardInterrupt, click.Abort):
        return say_interrupted()
    except click.ClickException as error:
        return _misuse(error, as_object=session.as_json or "--json" in args)
    except SecondBrainError as error:
        return _failed(error, session)
    except Exception as error:  # noqa: BLE001 - the outermost edge of the process
        return _unexpected(error, session)
    return code if isinstance(code, int) else 0


def _misuse(error: click.ClickException, *, as_object: bool) -> int:
    ctx = getattr(error, "ctx", None)
    path = ctx.command_path if ctx is not None else "second-brain"
    hint = typable(_see(error, path))
    if as_object:
        problem = InvalidParameter(error.format_message(), hint=hint, parameter=_parameter(error))
        sys.stderr.write(as_json(problem.as_json(), sys.stderr, indent=2) + "\n")
    elif isinstance(error, click.exceptions.NoArgsIsHelpError):
        error.show()
    else:
        say_error(typable(error.format_message()), hint=hint)
    return error.exit_code


def _see(error: click.ClickException, path: str) -> str:
    if isinstance(error, click.NoSuchOption) and path.endswith(" search"):
        return f"See: {path} --help. A word to leave out stands inside the quotes: search 'boiler -draft'"
    return f"See: {path} --help"


def _parameter(error: click.ClickException) -> str | None:
    name = getattr(error, "option_name", None) or getattr(getattr(error, "param", None), "name", None)
    return str(name).lstrip("-").replace("-", "_") if name else None


def _failed(error: SecondBrainError, session: Session) -> int:
    error.hint = session.typable(error.hint)
    if session.as_json:
        sys.stderr.write(as_json(error.as_json(), sys.stderr, indent=2) + "\n")
    else:
        said, hint = (session.as_typed(text, error.parameter) for text in (error.message, error.hint))
        say_error(said, hint=hint, options=error.options)
    return 2 if isinstance(error, UnusableValue) else 1


def _unexpected(error: Exception, session: Session) -> int:
    if was_interrupted():  # foreign code made something else of it
        return say_interrupted()
    if session.verbose:
        import traceback  # noqa: PLC0415 - only when something is broken

        sys.stderr.write(traceback.format_exc())
    reason = f" ({error.strerror})" if isinstance(error, OSError) and error.strerror else ""
    problem = SecondBrainError(
        f"Unexpected {type(error).__name__}{reason}; this is a fault of the program.",
        hint="The same command with -v shows the details to report.",
    )
    return _failed(problem, session)
