from __future__ import annotations

import os
import subprocess
import sys

import pytest

ALONE = """
import importlib, pkgutil, sys

BLOCKED = {"ollama", "mcp", "PySide6", "httpx"}

class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in BLOCKED:
            raise ModuleNotFoundError(f"{name} is blocked", name=name)
        return None

sys.meta_path.insert(0, Blocker())
try:
    import ollama
except ModuleNotFoundError:
    pass
else:
    raise SystemExit("the blocker does not block")

import second_brain
count = 0
for module in pkgutil.walk_packages(second_brain.__path__, "second_brain."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
        count += 1
assert count > 70, count

from second_brain.config import load
from second_brain.service import SecondBrain
from stub_embedder import StubEmbedder

folder = sys.argv[1]
config = load(flags={"db_path": folder + "/index.db"}, env={}, vault=folder + "/vault")
brain = SecondBrain(config, embedder=StubEmbedder())
outcome = brain.sync()
assert (outcome.notes.processed, outcome.vectors.embedded) == (2, 2), outcome
for ranking in ("best", "words", "meaning"):
    answer = brain.search(brain.request(query="heron pond", ranking=ranking))
    assert answer.hits[0].path == "heron.md", answer
    assert "pond" in answer.hits[0].snippet.text
    assert answer.warnings == (), answer
print(brain.read("heron").text)
brain.close()
assert not BLOCKED & set(sys.modules)
"""


@pytest.mark.requirement("AC-4", "NFR-4")
def test_every_module_imports_and_a_search_answers_without_ollama_mcp_pyside6_and_httpx(tmp_path):
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault/heron.md").write_text("# Heron\n\nThe heron stands at the pond.", encoding="utf-8")
    (tmp_path / "vault/kettle.md").write_text("A kettle.", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", ALONE, str(tmp_path)],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert "The heron stands at the pond." in done.stdout
