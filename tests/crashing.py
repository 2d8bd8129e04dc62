"""Kill a process that writes an index, at a chosen SQL statement or at a chosen moment.

`CrashServer` is one warm process that forks a child per job: a job costs milliseconds, and the test process itself, which has
threads, never forks.  Run as a script this file is that process.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent


class CrashServer:
    """A context manager; `run` does a job and tells how it ended."""

    def __enter__(self):
        environment = {
            **os.environ,
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
            "PYTHONPATH": os.pathsep.join([str(HERE), *filter(None, sys.path)]),
        }
        self._process = subprocess.Popen(
            [sys.executable, "-W", "ignore", str(HERE / "crashing.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )
        return self

    def __exit__(self, *_):
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait(timeout=10)

    def run(self, action, vault, *, kill_at=None, kill_after=None, fill_disk_at=None, embedder="stub", powerless=False):
        """Do *action* to an `IndexedVault`; returns {"killed", "statements", "error", "seconds"}.

        The process dies before its statement number *kill_at* (from 1), or *kill_after* seconds after it began.  After
        statement *fill_disk_at* the database may not grow any more.  *powerless* gives up what root may do.  `error` is
        what a person would read.
        """
        job = {
            "action": action,
            "folder": str(vault.db.parent.parent),
            "root": str(vault.root),
            "layout": [vault.layout.size, vault.layout.overlap],
            "kill_at": kill_at,
            "kill_after": kill_after,
            "fill_disk_at": fill_disk_at,
            "embedder": embedder,
            "powerless": powerless,
            "dimension": vault.embedder.dimension,
        }
        self._process.stdin.write(json.dumps(job) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())


def main():
    """Serve jobs from standard input until it closes."""
    import indexed_vault  # noqa: F401 - what the children need is loaded once
    import second_brain.indexing.embed
    import second_brain.vault.markdown  # noqa: F401

    for needed in ("Stemmer", "filelock", "sqlite_vec", "yaml"):
        __import__(needed)
    for line in sys.stdin:
        print(json.dumps(_serve(json.loads(line))), flush=True)


def _serve(job):
    told, tell = os.pipe()
    started = time.perf_counter()
    child = os.fork()
    if not child:
        os.close(told)
        _child(job, tell)
    os.close(tell)
    if job["kill_after"] is not None:
        time.sleep(job["kill_after"])
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    with os.fdopen(told) as pipe:
        said = json.loads(pipe.read() or "{}")
    return {
        "killed": os.WIFSIGNALED(status),
        "statements": said.get("statements"),
        "error": said.get("error", ""),
        "seconds": time.perf_counter() - started,
    }


def _child(job, tell):
    """Never returns."""
    counter = _Counter(job)
    said = {}
    try:
        from second_brain.errors import SecondBrainError

        try:
            _act(job, counter)
        except SecondBrainError as error:
            said["error"] = f"{error.code}: {error.message} {error.hint}"
        said["statements"] = counter.seen
    except BaseException as error:  # noqa: BLE001 - the edge of a process
        said["error"] = f"{type(error).__name__}: {error}"
    os.write(tell, json.dumps(said).encode())
    os._exit(0)


class _Counter:
    """Counts the statements of a connection and dies or fills the disk at the wanted one."""

    def __init__(self, job):
        self.seen = 0
        self._kill_at = job["kill_at"]
        self._fill_at = job["fill_disk_at"]

    def watch(self, connection):
        connection.exec_trace = self._before

    def _before(self, cursor, _sql, _values):
        self.seen += 1
        if self.seen == self._kill_at:
            os.kill(os.getpid(), signal.SIGKILL)
        if self.seen == self._fill_at:
            connection = cursor.connection if hasattr(cursor, "connection") else cursor
            connection.exec_trace = None
            connection.execute("PRAGMA max_page_count = 1")  # means: as many as there are
            connection.exec_trace = self._before
        return True


def _act(job, counter):
    from indexed_vault import IndexedVault
    from second_brain.graph.settings import Settings
    from second_brain.index import connection as connections
    from second_brain.indexing.embed import Embedding
    from second_brain.indexing.graph import bring_up_to_date
    from second_brain.model import Layout
    from stub_embedder import StubEmbedder

    if job["powerless"] and os.getuid() == 0:
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
    vault = IndexedVault(
        job["folder"], embedder=StubEmbedder(job["dimension"], job["embedder"]), layout=Layout(*job["layout"])
    )
    vault.root = Path(job["root"])
    if job["action"] == "migrate":
        connect = connections.connect

        def watched(path):
            connection = connect(path)
            counter.watch(connection)
            return connection

        connections.connect = watched
    if job["action"] == "read":
        with vault.reader() as reader:
            reader.connection.execute("SELECT count(*) FROM files")
        return
    with vault.writer() as writer:
        if job["action"] in ("migrate", "open"):
            return
        counter.watch(writer.connection)
        if job["action"] in ("sync", "index"):
            vault.indexer(writer).sync()
        if job["action"] in ("embed", "index"):
            Embedding(writer, vault.embedder, vault.layout).run()
        if job["action"] == "graph":
            bring_up_to_date(writer, Settings())


if __name__ == "__main__":
    main()
