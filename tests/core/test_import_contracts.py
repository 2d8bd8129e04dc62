"""The import contracts are checked by import-linter; here, that they forget no part of the core."""

from __future__ import annotations

import pkgutil
import tomllib
from pathlib import Path

import pytest

import second_brain

ROOT = Path(__file__).resolve().parents[2]
CONTRACTS = {
    contract["name"]: contract
    for contract in tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
}
PARTS = {f"second_brain.{part.name}" for part in pkgutil.iter_modules(second_brain.__path__)} - {
    "second_brain.__main__"
}


@pytest.mark.parametrize(
    ("name", "home"),
    [
        ("apsw only under index", "second_brain.index"),
        ("watchdog only in vault.watcher", "second_brain.vault"),
        ("ollama only in embedding.ollama", "second_brain.embedding"),
    ],
)
def test_a_library_is_forbidden_to_every_part_but_its_home(name, home):
    assert set(CONTRACTS[name]["source_modules"]) == PARTS - {home}


def test_every_part_has_its_layer():
    layers = next(contract["layers"] for contract in CONTRACTS.values() if contract["type"] == "layers")
    listed = {part.strip() for layer in layers for part in layer.split("|")}
    assert listed - {"second_brain_desktop"} == PARTS
