"""Databases as the first version left them, of every age."""

from __future__ import annotations

import json

import apsw
import numpy as np

EXTRACTED = {
    "Home/Cluster.md": json.dumps({"title": "Cluster", "tags": ["homelab", "#k8s", "Area/Home"], "h2s": ["Upgrade"]}),
    "Home/Router.md": json.dumps({"tags": "homelab, network"}),
    "Work/Plan.md": json.dumps({"title": "Plan", "tags": None}),
    "Work/Odd.md": '{"tags": ["broken"',
    "Work/List.md": json.dumps(["no", "object"]),
    "Work/Surrogate.md": '{"tags": ["\\ud800", "kept"]}',
    "Work/Numbers.md": json.dumps({"tags": [2024, None, "dated", {"a": 1}]}),
    "Work/Bytes.md": b'{"tags": ["\xff"]}',
    "Work/Nothing.md": None,
    "Work/Deep.md": "[" * 100_000,
}

AGES = {
    "newest": {"files": "path TEXT PRIMARY KEY, content_hash TEXT, content_mtime REAL, mtime REAL, size INTEGER,"
               " extracted TEXT, summary TEXT, indexed_at REAL", "tags": "with source"},
    "without hashes": {"files": "path TEXT PRIMARY KEY, mtime REAL, extracted TEXT, summary TEXT", "tags": None},
    "without models": {"files": "path TEXT PRIMARY KEY, content_hash TEXT, mtime REAL, extracted TEXT, summary TEXT",
                       "embeddings": "path TEXT PRIMARY KEY, vector BLOB", "tags": "half"},
    "without rowids": {"files": "path TEXT PRIMARY KEY, content_hash TEXT, content_mtime REAL, mtime REAL,"
                       " extracted TEXT, summary TEXT", "tags": "without rowid", "rowid": False},
    "without embeddings": {"files": "path TEXT PRIMARY KEY, mtime REAL, extracted TEXT", "embeddings": None, "tags": None},
    "bare": {"files": "path TEXT PRIMARY KEY", "embeddings": None, "tags": None},
    "with more columns": {"files": "path TEXT PRIMARY KEY, mtime REAL, extracted TEXT, summary TEXT, mood TEXT",
                          "tags": "plain"},
}  # fmt: skip

VALUES = {
    "content_hash": lambda n: f"{n:064x}",
    "content_mtime": lambda n: None if n % 2 else 1_700_000_000.25 + n,
    "mtime": lambda n: 1_750_000_000.5 + n,
    "size": lambda n: 100 + n,
    "summary": lambda n: f"summary {n}",
    "indexed_at": lambda n: 1_760_000_000.0 + n,
    "mood": lambda n: "calm",
}


def first_version(path, age):
    """Write a database as the first version left it, with a stale embedding and a stale tag row."""
    path.parent.mkdir(parents=True, exist_ok=True)
    form = AGES[age]
    connection = apsw.Connection(str(path))
    connection.execute(f"CREATE TABLE files({form['files']})" + ("" if form.get("rowid", True) else " WITHOUT ROWID"))
    columns = [row[1] for row in connection.execute("PRAGMA table_info(files)")]
    for number, (note, extracted) in enumerate(EXTRACTED.items()):
        row = {"path": note, "extracted": extracted}
        values = [row[name] if name in row else VALUES[name](number) for name in columns]
        connection.execute(f"INSERT INTO files({','.join(columns)}) VALUES({','.join('?' * len(columns))})", values)
    if isinstance(EXTRACTED["Work/Bytes.md"], bytes) and "extracted" in columns:
        connection.execute("UPDATE files SET extracted = CAST(extracted AS TEXT) WHERE path = 'Work/Bytes.md'")
    embeddings = form.get(
        "embeddings", "path TEXT PRIMARY KEY, model TEXT, dim INTEGER, vector BLOB, content_hash TEXT"
    )
    if embeddings:
        connection.execute(f"CREATE TABLE embeddings({embeddings})")
        for number, note in enumerate([*EXTRACTED, "Gone/Old.md"]):
            row = {"path": note, "vector": unit(number).tobytes()}
            if "model" in embeddings:
                row |= {"model": "nomic-embed-text", "dim": 8}
            connection.execute(
                f"INSERT INTO embeddings({','.join(row)}) VALUES({','.join('?' * len(row))})", list(row.values())
            )
    if form["tags"]:
        source = ", source TEXT NOT NULL DEFAULT 'frontmatter'" if form["tags"] == "with source" else ""
        end = " WITHOUT ROWID" if form["tags"] == "without rowid" else ""
        connection.execute(
            f"CREATE TABLE tags(path TEXT NOT NULL, tag TEXT NOT NULL{source}, PRIMARY KEY(path, tag)){end}"
        )
        connection.execute("INSERT INTO tags(path, tag) VALUES('Gone/Old.md', 'homelab')")
        if form["tags"] == "half":
            connection.execute("INSERT INTO tags(path, tag) VALUES('Home/Cluster.md', 'homelab')")
    connection.close()
    return path


def unit(number):
    vector = np.zeros(8, dtype="<f4")
    vector[number % 8] = 1.0
    vector[(number + 1) % 8] = 0.25 * number / 10
    return vector / np.linalg.norm(vector)
