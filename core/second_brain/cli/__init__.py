"""The command line: a thin face over `second_brain.service`.

Text for people on standard output, progress and warnings on standard error; ``--json`` prints one object.  A command ends
with 0, 1 (a `SecondBrainError`), 2 (misuse), 130 (interrupted), and never with a traceback unless ``-v`` asks for one.
"""

from __future__ import annotations


def main() -> None:
    """Run the command that the process was started with, and end the process."""
    import sys  # noqa: PLC0415 - the package stays free of imports for those who want one module of it

    from second_brain.cli.app import run  # noqa: PLC0415

    sys.exit(run(sys.argv[1:]))
