"""How a command of this program is made: global options anywhere, examples in its help, the session as first argument."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import click

from second_brain.cli.global_options import GLOBAL_HINT, global_options
from second_brain.cli.session import Session

if TYPE_CHECKING:
    from collections.abc import Callable

Made = TypeVar("Made", bound="Callable[..., Any] | click.Command")

pass_session = click.make_pass_decorator(Session)


def examples(*lines: str) -> Callable[[Made], Made]:
    """Command lines that the help of the command shows."""

    def keep(made: Made) -> Made:
        function = made.callback if isinstance(made, click.Command) else made
        function.examples = lines  # type: ignore[union-attr]  # functions take attributes
        return made

    return keep


class GlobalOptions(click.Command):
    """Adds the global options; only the program itself lists them in its help."""

    def __init__(self, *args: Any, **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        self.own_params = list(self.params)
        self.params += global_options()

    def invoke(self, ctx: click.Context) -> Any:
        """Run it; the session learns how its options are written, for errors that name an argument."""
        session = ctx.find_object(Session)
        if session is not None:
            own = (param for param in self.own_params if isinstance(param, click.Option))
            session.options = {param.name: param.opts[-1] for param in own if param.name}
        return super().invoke(ctx)

    @property
    def examples(self) -> tuple[str, ...]:
        """See `examples`."""
        lines: tuple[str, ...] = getattr(self.callback, "examples", ())
        return lines

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The command's own options, and of a group its commands."""
        options = self.params if ctx.parent is None else self.own_params
        shown = [option for option in (*options, self.get_help_option(ctx)) if isinstance(option, click.Option)]
        records = [record for option in shown if (record := option.get_help_record(ctx))]
        if isinstance(self, click.Group):
            self.format_commands(ctx, formatter)
        with formatter.section("Options"):
            formatter.write_dl(records)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The examples."""
        if self.examples:
            with formatter.section("Examples"):
                for line in self.examples:
                    formatter.write(f"{'':>{formatter.current_indent}}{line}\n")
        if ctx.parent is not None:
            formatter.write_paragraph()
            formatter.write_text(GLOBAL_HINT)


class Command(GlobalOptions):
    """A command."""


class Group(GlobalOptions, click.Group):
    """A command with commands of its own."""

    command_class = Command


def command(name: str, *, short_help: str) -> Callable[[Callable[..., Any]], Command]:
    """A command of the program."""
    return click.command(name, cls=Command, short_help=short_help)


def group(name: str, *, short_help: str) -> Callable[[Callable[..., Any]], Group]:
    """A command with commands of its own."""
    return click.group(name, cls=Group, short_help=short_help)
