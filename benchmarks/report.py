"""Render the JSON of `run.py` as Markdown.

python benchmarks/report.py FIGURES.json [RESULTS.md]
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_HEAD = ("figure", "budget", "ours", "met", "yardstick", "ratio", "load before, after")
_NUMBER_COLUMNS = "|---|--:|--:|---|--:|--:|--:|"
_VERDICTS = {True: "yes", False: "**no**", None: ""}


def main(arguments: Sequence[str]) -> int:
    if not arguments:
        print(__doc__)
        return 2
    results = json.loads(Path(arguments[0]).read_text("utf-8"))
    to = Path(arguments[1]) if len(arguments) > 1 else Path(__file__).with_name("RESULTS.md")
    to.write_text(render(results), encoding="utf-8")
    return 0


def render(results: Mapping[str, Any]) -> str:
    """The page: one table of figures, what was measured beside each, what could not be measured."""
    machine = results["machine"]
    quick = " A quick run: few repetitions, for trying the harness only." if results["quick"] else ""
    text = [
        "# Figures",
        "",
        f"{machine['system']}, {machine['cpus']} CPUs, Python {machine['python']}, {machine['at']}.{quick}",
        "Made by `python benchmarks/run.py --json FILE` and `python benchmarks/report.py FILE`. Ratios compare with the",
        "yardstick in the same run; the load average tells how quiet the machine was.",
        "",
        f"| {' | '.join(_HEAD)} |",
        _NUMBER_COLUMNS,
        *(_line(row) for row in results["rows"]),
        "",
        "## Beside each figure",
        "",
        *(f"- **{row['what']}**: {_further(row)}" for row in results["rows"] if row["spread"] or row["facts"]),
    ]
    if results["skipped"]:
        text += ["", "## Not measured", "", *(f"- {name}: {why}" for name, why in results["skipped"].items())]
    return "\n".join(text) + "\n"


def figure(value: float, unit: str) -> str:
    """Three significant digits, whole numbers from 100 on."""
    digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2 if abs(value) >= 1 else 3
    return f"{value:,.{digits}f} {unit}".strip()


def _line(row: Mapping[str, Any]) -> str:
    limit = "<=" if row["better"] == "lower" else ">="
    cells = (
        row["what"],
        "" if row["target"] is None else f"{limit} {figure(row['target'], row['unit'])}",
        figure(row["ours"], row["unit"]),
        _VERDICTS[row["met"]],
        "" if row["yardstick"] is None else f"{figure(row['yardstick'], row['unit'])} ({row['yardstick_name']})",
        "" if row["ratio"] is None else f"{row['ratio']:.2f}",
        ", ".join(f"{load:.1f}" for load in row["load"]),
    )
    return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"


def _further(row: Mapping[str, Any]) -> str:
    figures = [f"{name} {figure(value, '')}" for name, value in row["spread"].items()]
    return "; ".join([*figures, *(f"{name}: {value}" for name, value in row["facts"].items())])


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
