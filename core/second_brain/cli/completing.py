"""What a shell may complete behind an option or a command: fixed words, and names from the configuration.

No index is opened, and a configuration that cannot be read has no names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from second_brain.errors import SecondBrainError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import click
    from click.shell_completion import CompletionItem

    from second_brain.config import Config

    Completes = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def words(*choices: str, kind: str = "") -> Completes:
    """These words, and with *kind* ("dir" or "file") what the shell finds of that kind."""

    def complete(_: click.Context, __: click.Parameter, begun: str) -> list[CompletionItem]:
        return _items(choices, begun, kind)

    return complete


def _named(names: Callable[[Config], Iterable[str]], *fixed: str, kind: str = "") -> Completes:
    def complete(ctx: click.Context, _: click.Parameter, begun: str) -> list[CompletionItem]:
        config = _config(ctx)
        return _items(fixed if config is None else [*names(config), *fixed], begun, kind)

    return complete


def _vault_names(config: Config) -> Iterable[str]:
    return (name for name in dict.fromkeys((*config.vaults, config.vault_name)) if name)


def _keys(config: Config | None) -> list[str]:
    from second_brain.config.options import OPTIONS, SECTIONS  # noqa: PLC0415 - only to complete

    tables = {} if config is None else {"vaults": config.vaults, "scopes": config.scopes}
    keys = [option.name for option in OPTIONS if option.kind != "table"]
    for section, entries in tables.items():
        keys += [f"{section}.{name}.{option.name}" for name in entries for option in SECTIONS[section]]
    return keys


def option_key(ctx: click.Context, _: click.Parameter, begun: str) -> list[CompletionItem]:
    """Keys that `config` knows."""
    return _items(_keys(_config(ctx)), begun)


def option_value(ctx: click.Context, _: click.Parameter, begun: str) -> list[CompletionItem]:
    """What the key that was given before may be, where that can be listed."""
    from second_brain.config.options import BY_NAME, SECTIONS  # noqa: PLC0415 - only to complete

    key = str(ctx.params.get("key") or "")
    columns = {option.name: option for option in SECTIONS.get(key.partition(".")[0], ())}
    option = BY_NAME.get(key) or columns.get(key.rpartition(".")[2])
    if option is None:
        return []
    choices = ("true", "false") if option.kind == "bool" else option.choices
    return _items(choices, begun, "file" if option.kind == "path" else "")


def _config(ctx: click.Context) -> Config | None:
    from second_brain.cli.session import Session  # noqa: PLC0415 - which imports this module
    from second_brain.config import load  # noqa: PLC0415 - only to complete

    session = ctx.find_object(Session)
    try:
        return load(config_path=session.config_path if session else None)
    except SecondBrainError:
        return None


def _items(choices: Sequence[str], begun: str, kind: str = "") -> list[CompletionItem]:
    from click.shell_completion import CompletionItem  # noqa: PLC0415 - only to complete

    found = [CompletionItem(choice) for choice in choices if choice.startswith(begun)]
    return [*found, CompletionItem(begun, type=kind)] if kind else found


vault = _named(_vault_names, "demo", kind="dir")
vault_name = _named(_vault_names)
listed_vault = _named(lambda config: config.vaults)
scope = _named(lambda config: config.scopes)
