from __future__ import annotations

import os

import pytest

from second_brain.config import OPTIONS
from second_brain.config.former import written_value

DEFAULTS = {option.name: option.default for option in OPTIONS}


@pytest.mark.parametrize("kind", ["missing", "folder", "pipe", "broken"])
def test_what_cannot_be_read_has_the_default_at_once(tmp_path, kind):
    file = tmp_path / "settings.toml"
    if kind == "folder":
        file.mkdir()
    elif kind == "pipe":
        os.mkfifo(file)
    elif kind == "broken":
        file.write_text("chunk_size = [", "utf-8")
    assert written_value(file, "chunk_size") == DEFAULTS["chunk_size"]
    assert written_value(file, "scopes.work.folders") is None
