"""What the benchmarks play on: the unpacked vaults, their indexes, and how the program is started."""

from __future__ import annotations

import hashlib
import os
import random
import shutil
import sys
import tarfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import second_brain
from measure import Skipped, finish
from queries import Queries, derive
from second_brain.config import load
from second_brain.service import SecondBrain
from yardsticks import SHARED, FakeOllama

if TYPE_CHECKING:
    from second_brain.config import Config

MEDIUM, LARGE = "medium-5k", "large-14k"
_NEWEST = 1_760_000_000
_APART_S = 6 * 3600
"""The archives give all notes one time; ours are this far apart, so that filters by date let a part through."""


def _state_of_the_code() -> str:
    """A hash of everything that decides what stands in an index."""
    digest = hashlib.sha256()
    for file in sorted(Path(second_brain.__file__).parent.rglob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:12]


_CODE = _state_of_the_code()


@dataclass(frozen=True, slots=True)
class Stage:
    """The work folder of a run; *quick* asks for few repetitions on the medium vault alone."""

    work: Path
    quick: bool = False

    @property
    def databases(self) -> Path:
        """The folder of the indexes that this state of the code made; those of other states are removed."""
        folder = self.work / f"db-{_CODE}"
        if not folder.is_dir():
            for old in self.work.glob("db-*"):
                shutil.rmtree(old)
            folder.mkdir(parents=True)
        return folder

    def sizes(self) -> tuple[str, ...]:
        """The vaults to measure on."""
        return (MEDIUM,) if self.quick else (MEDIUM, LARGE)

    def times(self, usual: int, quick: int) -> int:
        """How often to repeat."""
        return quick if self.quick else usual

    def vault(self, name: str) -> Path:
        """The unpacked or generated vault, never changed by a benchmark; raises `Skipped` without what it comes from."""
        vault, archive = self.work / "vaults" / name, SHARED / "vaults" / f"{name}.tar.xz"
        if vault.is_dir():
            return vault
        if name.startswith("hubs"):
            return self._hubs(vault)
        if (SHARED / "vaults" / name).is_dir():
            return SHARED / "vaults" / name
        if not archive.is_file():
            raise Skipped(f"The vault {name} is not here ({archive}).")
        part = vault.with_suffix(".part")
        shutil.rmtree(part, ignore_errors=True)
        with tarfile.open(archive) as tar:
            tar.extractall(part, filter="data")
        notes = sorted(part.rglob("*.md"))
        for age, note in enumerate(random.Random(1).sample(notes, len(notes))):
            os.utime(note, (_NEWEST - age * _APART_S,) * 2)
        (part / name).rename(vault)
        part.rmdir()
        return vault

    def _hubs(self, vault: Path) -> Path:
        """A vault of ``make_vault.py``, called by its kind and, behind a dash, its seed."""
        kind, _, seed = vault.name.partition("-")
        script = SHARED / "bench" / "make_vault.py"
        if not script.is_file():
            raise Skipped(f"The script that makes {kind} is not here ({script}).")
        part = vault.with_suffix(".part")
        shutil.rmtree(part, ignore_errors=True)
        part.parent.mkdir(parents=True, exist_ok=True)
        finish([sys.executable, str(script), kind, str(part), seed or "1"])
        return part.rename(vault)

    def copy(self, name: str, label: str) -> Path:
        """A fresh copy of the vault *name* that may be changed, its times kept."""
        to = self.work / "copies" / label
        shutil.rmtree(to, ignore_errors=True)
        return Path(shutil.copytree(self.vault(name), to))

    def fresh_db(self, label: str) -> Path:
        """A path for a database at which there is nothing."""
        path = self.databases / f"{label}.db"
        for file in path.parent.glob(f"{path.name}*"):
            file.unlink()
        return path

    def words_db(self, name: str) -> Path:
        """An up-to-date index of the vault *name* without vectors."""
        return self._indexed(name, "words", {"embedder": "builtin"}, embed=False)

    def meaning_db(self, name: str, server: FakeOllama) -> Path:
        """An up-to-date index of the vault *name* with the vectors of *server*."""
        return self._indexed(name, "meaning", server.settings(), embed=True)

    def _indexed(self, name: str, kind: str, flags: dict[str, Any], *, embed: bool) -> Path:
        db = self.databases / f"{name}.{kind}.db"
        brain = SecondBrain(config(self.vault(name), db, **flags))
        outcome = brain.sync(embed=embed)
        brain.close()
        if outcome.vectors is not None and (outcome.vectors.waiting or outcome.vectors.unavailable):
            raise Skipped(f"{name} could not be embedded: {outcome.vectors}")
        return db

    def queries(self, name: str) -> Queries:
        """What is asked of the vault *name*."""
        vault = self.vault(name)
        notes = {
            path.relative_to(vault).as_posix(): path.read_text("utf-8", errors="replace")
            for path in sorted(vault.rglob("*.md"))
        }
        return derive(notes, count=60 if self.quick else 150)

    def program(self, *arguments: str, vault: Path, db: Path) -> list[str]:
        """The command line that starts the program as installed."""
        script = Path(sys.executable).with_name("second-brain")
        start = [str(script)] if script.is_file() else [sys.executable, "-m", "second_brain"]
        return [*start, "--vault", str(vault), "--db", str(db), *arguments]

    def child(self, task: str, *arguments: object) -> list[str]:
        """The command line of a task of `child.py` in a process of its own."""
        return [sys.executable, str(Path(__file__).with_name("child.py")), task, *map(str, arguments)]

    def environment(self) -> dict[str, str]:
        """That of a user without a configuration of our program."""
        home = self.work / "home"
        home.mkdir(parents=True, exist_ok=True)
        kept = {
            key: value for key, value in os.environ.items() if not key.startswith(("SECOND_BRAIN_", "XDG_", "VAULT_"))
        }
        return {**kept, "HOME": str(home), "PYTHONDONTWRITEBYTECODE": ""}


def config(vault: Path, db: Path, **flags: Any) -> Config:
    """The defaults but for these values; nothing of the user's own."""
    return load(flags={"db_path": str(db), **flags}, env={}, cwd=db.parent, vault=str(vault))


def opened(vault: Path, db: Path, **flags: Any) -> SecondBrain:
    """The library on an existing index."""
    return SecondBrain(config(vault, db, **flags))
