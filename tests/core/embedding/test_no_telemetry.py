"""The runtime of the models reports to its maker unless it is told not to, before it is imported."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

EMBED = """
import os, time
from second_brain.embedding.builtin import BuiltinEmbedder
BuiltinEmbedder().embed_query("tide")
time.sleep(0.5)
sockets = [fd for fd in os.listdir("/proc/self/fd") if os.path.exists(f"/proc/self/fd/{fd}")
           and os.readlink(f"/proc/self/fd/{fd}").startswith("socket:")] if os.path.isdir("/proc/self/fd") else []
print(os.environ["ORT_DISABLE_TELEMETRY"], len(sockets))
"""


@pytest.mark.requirement("NG1")
def test_embedding_leaves_no_file_in_the_account_and_opens_no_socket(tmp_path):
    hidden = ("XDG_", "ORT_")
    environment = {key: value for key, value in os.environ.items() if not key.startswith(hidden)}
    found = subprocess.run(
        [sys.executable, "-c", EMBED],
        env={**environment, "HOME": str(tmp_path), "ORT_DISABLE_TELEMETRY": "0"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout.split() == ["1", "0"]
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
