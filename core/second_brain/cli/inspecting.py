"""`status`, `health` and `doctor`; `completion` for shells."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import click

from second_brain.cli.commands import command, examples, pass_session
from second_brain.cli.output import harmless
from second_brain.cli.wording import ago, plural, size

if TYPE_CHECKING:
    from collections.abc import Iterator

    from second_brain.cli.session import Session

_SHOWN_PROBLEMS = 10
_PLACES = {
    "bash": "second-brain completion bash > ~/.local/share/bash-completion/completions/second-brain   (after mkdir -p of that folder)",
    "zsh": "second-brain completion zsh > ~/.zfunc/_second-brain   (with ~/.zfunc in fpath, before compinit)",
    "fish": "second-brain completion fish > ~/.config/fish/completions/second-brain.fish",
}


@command("status", short_help="How the index and the vault are.")
@examples("second-brain status", "second-brain status --json")
@pass_session
def status_(session: Session) -> None:
    """Print how far the index is, what of the vault it lacks, and who keeps it. Reads no note and changes nothing.

    --json prints the fields of the tool rag_status and ours.
    """
    found = session.asking.status(count_edges=session.as_json)
    if session.as_json:
        session.out.json(found)
        return
    for name, value in _status_rows(session, found):
        session.out.line(f"{session.out.style(f'{name:<10}', 'bold')}{harmless(value)}")
    for problem in found["problems"][:_SHOWN_PROBLEMS]:
        session.out.warn(f"{problem['path']}: {problem['reason']}")


def _status_rows(session: Session, found: dict[str, Any]) -> Iterator[tuple[str, str]]:
    synced = found["last_sync_timestamp"]
    lag = ((found["untracked_files"], "new"), (found["stale_files"], "changed"), (found["missing_files"], "gone"))
    behind = ", ".join(f"{count:,} {what}" for count, what in lag if count)
    yield "vault", found["vault"]
    if not session.scope.scope.whole_vault:
        yield "scope", session.scope_text
    yield "notes", f"{found['notes']:,} indexed, {plural(found['links'], 'link')}"
    yield (
        "changes",
        f"{behind} since the last sync: {session.typable('second-brain sync')}"
        if behind
        else "none since the last sync",
    )
    waiting = f", {found['pending']:,} waiting" if found["pending"] else ""
    yield "meaning", f"{found['embedded']:,} of {plural(found['passages'], 'passage')} embedded{waiting}"
    yield "model", found["model"] or "none yet"
    if session.scope.scope.whole_vault:  # a scope does not tell what happens outside of it
        yield "last sync", ago(synced, time.time()) if synced else "never"
    worker = found["worker"]
    yield "watching", f"process {worker['pid']} keeps it current ({worker['mode']})" if worker else "nobody now"
    of_size = "" if found["database_bytes"] is None else f" ({size(found['database_bytes'])})"
    yield "index", f"{found['database']}{of_size}"


@command("health", short_help="Whether the parts of the index answer.")
@examples("second-brain health", "second-brain health --json")
@pass_session
def health_(session: Session) -> None:
    """Print whether the vector store, Ollama (only when it is the embedder) and the word index answer.

    --json prints exactly {"qdrant", "ollama", "fts"} as the tool rag_health does; "qdrant" stands for the vector store.
    """
    found = session.brain.health()
    if session.as_json:
        session.out.json(found)
        return
    used = session.config.embedder_kind() == "ollama"
    for name, key, asked in (("vector store", "qdrant", True), ("word index", "fts", True), ("Ollama", "ollama", used)):
        answer = "ok" if found[key] else "does not answer" if asked else "not used"
        session.out.line(f"{name:<14}{answer}")


@command("doctor", short_help="Check everything that could keep the program from working.")
@examples("second-brain doctor", "second-brain doctor --vault ~/Notes --json")
@pass_session
def doctor_(session: Session) -> None:
    """Check the installation, the vault, the index and the embedder one by one. Ends with 1 when something failed."""
    checks = session.brain.doctor()
    out = session.out
    failed = [check for check in checks if not check.passed]
    if session.as_json:
        listed = [{"name": check.name, "passed": check.passed, "detail": check.detail} for check in checks]
        out.json({"passed": not failed, "checks": listed})
    else:
        for check in checks:
            state = out.style("ok  ", "green") if check.passed else out.style("FAIL", "red")
            out.line(f"{state}  {check.name:<17} {harmless(check.detail)}")
    if failed:
        raise click.exceptions.Exit(1)


@command("completion", short_help="Print the completion script of a shell.")
@click.argument("shell", type=click.Choice(tuple(_PLACES)))
@examples(*(place.partition("   ")[0] for place in _PLACES.values()))
@pass_session
def completion_(session: Session, *, shell: str) -> None:
    """Print the script that lets a shell complete commands and options; its first lines say where it belongs."""
    from click.shell_completion import get_completion_class  # noqa: PLC0415 - cheap start

    from second_brain.cli.app import program  # noqa: PLC0415 - which imports this module

    kind = get_completion_class(shell)
    if kind is None:
        raise click.UsageError(f"There is no completion for {shell}.")
    script = kind(program, {}, "second-brain", "_SECOND_BRAIN_COMPLETE").source_template
    names = {
        "complete_func": "_second_brain_completion",
        "complete_var": "_SECOND_BRAIN_COMPLETE",
        "prog_name": "second-brain",
    }
    head, _, rest = (script % names).strip().partition("\n")
    # The first line of zsh's script must stay the first.
    lines = [head, rest] if head.startswith("#compdef") else [f"{head}\n{rest}"]
    lines.insert(len(lines) - 1, f"# Install: {_PLACES[shell]}")
    session.out.lines(lines)
