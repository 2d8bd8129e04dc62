"""`second-brain-desktop`: says honestly that there is no window yet."""

from __future__ import annotations

import argparse

from second_brain import __version__


def main() -> int:
    """Answer ``--version``; anything else explains what to use instead.  Returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="second-brain-desktop",
        description="The windows of Second Brain are not part of this release; use `second-brain` in a terminal.",
    )
    parser.add_argument("--version", action="version", version=f"second-brain-desktop {__version__}")
    parser.parse_args()
    parser.print_help()
    return 2


if __name__ == "__main__":
    raise SystemExit(main())
