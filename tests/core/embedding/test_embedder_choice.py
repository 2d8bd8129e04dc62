from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from second_brain.embedding import QUERY_TIMEOUT_S, TIMEOUT_S, EmbedderSpec, embedder_for, make_embedder
from second_brain.embedding.embedders import Embedders
from second_brain.errors import EmbedderUnavailable

BLOCK_OLLAMA = """
import sys
class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"ollama", "httpx"}:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Blocker())
from second_brain.embedding import EmbedderSpec, make_embedder
from second_brain.embedding.embedders import Embedders
from second_brain.errors import EmbedderUnavailable
"""


def run(code):
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout.strip()


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        (EmbedderSpec(), "all-MiniLM-L6-v2 (built in)"),
        (EmbedderSpec(kind="builtin"), "all-MiniLM-L6-v2 (built in)"),
        (EmbedderSpec(kind="ollama", ollama_model="bge-m3:latest"), "bge-m3 (Ollama)"),
        (EmbedderSpec(kind="folder", folder=Path("models/mine")), "the model in models/mine"),
    ],
)
def test_a_specification_makes_its_embedder_without_loading_or_asking(spec, name):
    assert make_embedder(spec).name == name


@pytest.mark.parametrize("kind", ["ollama", "folder"])
def test_a_specification_that_lacks_its_model_is_told_what_to_set(kind):
    with pytest.raises(EmbedderUnavailable) as caught:
        make_embedder(EmbedderSpec(kind=kind))
    assert "Set" in caught.value.hint


@pytest.mark.parametrize(
    "made_from", [EmbedderSpec(), EmbedderSpec(kind="ollama", ollama_model="nomic-embed-text:v1.5")]
)
def test_the_embedder_of_an_older_fingerprint_is_made_again(fake_ollama, made_from):
    fake_ollama.models = ["nomic-embed-text:v1.5"]
    old = make_embedder(EmbedderSpec(made_from.kind, fake_ollama.url, made_from.ollama_model))
    again = embedder_for(old.fingerprint, EmbedderSpec(kind="builtin", ollama_url=fake_ollama.url))
    assert again is not None
    assert again.fingerprint == old.fingerprint
    assert again.embed_query("tide") == pytest.approx(old.embed_query("tide"))
    old.close()
    again.close()


@pytest.mark.parametrize(
    "fingerprint",
    [
        "folder:0123456789abcdef:384:mean",
        "builtin:a-model-of-tomorrow:512:mean",
        "ollama:nomic-embed-text:768:otherprefix",
        "ollama:nomic-embed-text",
        "",
    ],
)
def test_vectors_of_unknown_origin_have_no_embedder(fingerprint):
    assert embedder_for(fingerprint, EmbedderSpec()) is None


def test_importing_the_package_loads_neither_numpy_nor_a_model_nor_a_client():
    heavy = run(
        "import sys, second_brain.embedding as e; e.EmbedderSpec();"
        "print(sorted({'numpy','onnxruntime','tokenizers','ollama','httpx'} & set(sys.modules)))"
    )
    assert heavy == "[]"


def test_making_an_embedder_loads_neither_a_model_nor_a_client():
    heavy = run(
        "import sys; from second_brain.embedding import *; make_embedder(EmbedderSpec());"
        "make_embedder(EmbedderSpec('ollama', ollama_model='bge-m3'));"
        "print(sorted({'onnxruntime','tokenizers','ollama','httpx'} & set(sys.modules)))"
    )
    assert heavy == "[]"


@pytest.mark.requirement("NFR-4")
def test_the_builtin_embedder_works_without_ollama():
    assert run(BLOCK_OLLAMA + "print(make_embedder(EmbedderSpec()).embed_query('tide').shape)") == "(384,)"


@pytest.mark.requirement("NFR-4")
def test_without_the_ollama_package_its_embedder_says_what_to_install():
    told = run(
        BLOCK_OLLAMA
        + "made = make_embedder(EmbedderSpec('ollama', ollama_model='bge-m3'))\n"
        + "print(made.ping().reachable)\n"
        + "try: made.embed_query('tide')\n"
        + "except EmbedderUnavailable as error: print(error.message, error.hint)"
    )
    assert told.startswith("False\n")
    assert "pip install ollama" in told


@pytest.mark.requirement("RG-18")
def test_the_builtin_embedder_opens_no_connection():
    assert (
        run(
            "import sys\n"
            "def hook(event, args):\n"
            "    if event in {'socket.connect', 'socket.getaddrinfo', 'socket.sendto'}: raise SystemExit(event)\n"
            "sys.addaudithook(hook)\n"
            "from second_brain.embedding import *\n"
            "print(make_embedder(EmbedderSpec()).embed_query('tide').shape)"
        )
        == "(384,)"
    )


def test_vectors_of_the_first_version_are_asked_for_without_prefixes(fake_ollama):
    spec = EmbedderSpec("ollama", ollama_url=fake_ollama.url, ollama_model="nomic-embed-text")
    with_prefix = embedder_for("ollama:nomic-embed-text:768:whatever", spec)
    assert with_prefix is None
    for fingerprint in ("v1:nomic-embed-text", "v1:"):
        plain = embedder_for(fingerprint, spec)
        plain.embed_query("tide table")
        assert fake_ollama.texts[-1] == "tide table"
        plain.close()
    assert embedder_for("v1:", EmbedderSpec("builtin")) is None


@pytest.mark.parametrize("fingerprint", ["ollama:nomic-embed-text:768:nomic", "v1:nomic-embed-text"])
def test_a_query_is_waited_for_less_long_than_the_passages_of_an_index(monkeypatch, fingerprint):
    given = []
    monkeypatch.setattr("second_brain.embedding._ollama", lambda *_, **options: given.append(options["timeout_s"]))
    embedder_for(fingerprint, EmbedderSpec())
    assert given == [QUERY_TIMEOUT_S]
    assert QUERY_TIMEOUT_S < TIMEOUT_S


def test_a_model_that_was_away_once_is_looked_for_again(monkeypatch):
    answers = [None, "an embedder"]
    monkeypatch.setattr("second_brain.embedding.embedders.embedder_for", lambda *_: answers.pop(0))
    embedders = Embedders(EmbedderSpec(kind="ollama", ollama_model="m"))
    assert embedders.that_made("ollama:m:768:x") is None
    assert embedders.that_made("ollama:m:768:x") == "an embedder"
    assert embedders.that_made("ollama:m:768:x") == "an embedder"
