"""Every check of the project, in order; stops at the first that fails and says which.

python tests/gate.py [--only NAME …]      names: format lint types layers tests coverage cases requirements
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import time
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "build"
CASES = ROOT.parent / "shared" / "acceptance" / "run_cases.py"
SKIPPED_CASES = ROOT / "tests" / "acceptance" / "skipped.txt"
STEPS_DONE = ("engine", "reading-and-graph")
COVERED = 90  # per cent of the branches of core/


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", choices=list(STEPS))
    chosen = parser.parse_args().only or list(STEPS)
    BUILD.mkdir(exist_ok=True)
    os.chdir(ROOT)
    started = time.monotonic()
    for name in chosen:
        print(f"== {name}", flush=True)
        before = time.monotonic()
        if not STEPS[name]():
            print(f"gate: {name} failed", flush=True)
            return 1
        print(f"   {name}: {time.monotonic() - before:.0f} s", flush=True)
    print(f"gate: all passed in {time.monotonic() - started:.0f} s", flush=True)
    return 0


def tool(*arguments: str, **environment: str) -> bool:
    """Run a Python module or program of this environment; True when it succeeded."""
    return subprocess.run(arguments, env=os.environ | environment, check=False).returncode == 0


def module(*arguments: str, **environment: str) -> bool:
    return tool(sys.executable, "-m", *arguments, **environment)


def types() -> bool:
    packages = ("second_brain", "second_brain_desktop", "second_brain_resources")
    return module("mypy", *(word for name in packages for word in ("-p", name))) and module("mypy", "benchmarks")


def layers() -> bool:
    return tool(str(Path(sys.executable).with_name("lint-imports")), "--no-logo")


def run_tests() -> bool:
    for old in BUILD.glob(".coverage*"):
        old.unlink()
    return module(
        "pytest",
        "-n2",
        "--dist=loadfile",
        "-q",
        "--cov=second_brain",
        "--cov-report=",
        COVERAGE_FILE=str(BUILD / ".coverage"),
        PYTHONDONTWRITEBYTECODE="1",
    )


def coverage() -> bool:
    return module("coverage", "report", f"--fail-under={COVERED}", COVERAGE_FILE=str(BUILD / ".coverage"))


def cases() -> bool:
    """The acceptance cases, where they are; only the listed ones may be skipped, and each of these must be."""
    if not CASES.exists():
        print("   the acceptance cases (../shared/acceptance) are not here: not run")
        return True
    adapter = ROOT / "tests" / "acceptance"
    done = subprocess.run(
        [sys.executable, str(CASES), "adapter:Adapter"],
        cwd=adapter,
        env=os.environ | {"PYTHONPATH": str(adapter)},
        capture_output=True,
        text=True,
        check=False,
    )
    print(done.stdout, done.stderr[-2000:])
    skipped = set(re.findall(r"^skip\s+(\d+)-", done.stdout, re.MULTILINE))
    listed = set(re.findall(r"^(\d+)", SKIPPED_CASES.read_text("utf-8"), re.MULTILINE))
    if skipped != listed:
        print(f"   skipped {sorted(skipped)}, listed {sorted(listed)}")
    return done.returncode == 0 and skipped == listed


def requirements() -> bool:
    """Print every requirement with its tests or the step that brings it; one with neither fails."""
    record = BUILD / "requirements.json"
    record.unlink(missing_ok=True)
    if not module("pytest", "--collect-only", "-qq", "--no-header", SECOND_BRAIN_REQUIREMENTS=str(record)):
        return False
    tests: dict[str, list[str]] = json.loads(record.read_text("utf-8"))
    steps = tomllib.loads((ROOT / "docs" / "requirements.toml").read_text("utf-8"))
    known = {key for ids in steps.values() for key in ids}
    missing = [key for step in STEPS_DONE for key in steps[step] if key not in tests]
    for step, ids in steps.items():
        for key, text in ids.items():
            where = ", ".join(_short(name) for name in tests[key][:3]) if key in tests else f"arrives with: {step}"
            more = f" and {len(tests[key]) - 3} more" if len(tests.get(key, ())) > 3 else ""
            print(f"   {key:7} {text} | {'MISSING' if key in missing else where + more}")
    unknown = sorted(set(tests) - known)
    if unknown:
        print(f"   tests name requirements that do not exist: {', '.join(unknown)}")
    if missing:
        print(f"   no test verifies: {', '.join(missing)}")
    return not (missing or unknown)


def _short(name: str) -> str:
    return name.removeprefix("tests/").replace("::", " ")


STEPS = {
    "format": lambda: module("ruff", "format", "--check", "--quiet", "."),
    "lint": lambda: module("ruff", "check", "--quiet", "."),
    "types": types,
    "layers": layers,
    "tests": run_tests,
    "coverage": coverage,
    "cases": cases,
    "requirements": requirements,
}

if __name__ == "__main__":
    raise SystemExit(main())
