"""The command line: a thin face over `second_brain.service`.

Text for people on standard output, progress and warnings on standard error; ``--json`` prints one object.  A command ends
with 0, 1 (a `SecondBrainError`), 2 (misuse: no such command or option, or a value that can never be used), 130
(interrupted), and never with a traceback unless ``-v`` asks for one.
"""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command that the process was started with, and end the process."""
    # Here, for the package stays free of imports for those who want one module of it.  Signals come first: they may
    # arrive while all else is being imported.
    from second_brain.cli import interrupts  # noqa: PLC0415

    try:
        interrupts.interrupt_by_signals()
        from second_brain.cli.streams import let_go, take_standard_streams  # noqa: PLC0415

        take_standard_streams()
        from second_brain.cli.app import run  # noqa: PLC0415

        code = run(sys.argv[1:])
        let_go()
        interrupts.end_by_signals()
    except BaseException:
        if not interrupts.was_interrupted():
            raise
        code = interrupts.say_interrupted()
    sys.exit(code)
