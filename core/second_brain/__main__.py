"""``python -m second_brain``: the command line."""

from __future__ import annotations

from second_brain.cli import main

if __name__ == "__main__":
    main()
