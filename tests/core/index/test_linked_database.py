"""A database that is reached through a link is one database: one lock, one log, one file to set aside."""

from __future__ import annotations

import os
import time

import pytest

from indexed_vault import IndexedVault
from second_brain.errors import IndexUnavailable, WriterBusy
from second_brain.index import worker_file
from second_brain.index.opening import open_writer
from second_brain.index.reader import open_reader
from second_brain.model import Scope

pytestmark = pytest.mark.requirement("IDX")


@pytest.fixture
def linked(tmp_path):
    """A vault's database, and another name for it in another folder."""
    vault = IndexedVault(tmp_path).write_all({"a.md": "river"}).index()
    link = tmp_path / "elsewhere" / "link.db"
    link.parent.mkdir()
    try:
        link.symlink_to(vault.db)
    except OSError:
        pytest.skip("links cannot be made here")
    return vault, link


@pytest.mark.parametrize("first", ["link", "file"])
def test_a_second_writer_is_refused_whichever_name_it_uses(linked, first):
    vault, link = linked
    names = (link, vault.db) if first == "link" else (vault.db, link)
    writer = open_writer(names[0])
    try:
        with pytest.raises(WriterBusy):
            open_writer(names[1])
        for name in names:
            open_reader(name, Scope()).close()
    finally:
        writer.close()
    assert [place.name for place in link.parent.iterdir()] == ["link.db"]
    assert link.is_symlink()


def test_a_writer_through_a_link_notices_that_its_database_was_deleted(linked):
    vault, link = linked
    writer = open_writer(link)
    vault.db.unlink()
    with pytest.raises(IndexUnavailable, match="deleted or replaced"):
        writer.set_meta({"a": "b"})
    writer.close()


def test_a_link_that_leads_elsewhere_by_now_is_noticed_by_reader_and_writer(linked, tmp_path):
    _, link = linked
    other = IndexedVault(tmp_path / "other").write_all({"a.md": "river", "b.md": "lantern"}).index()
    reader, writer = open_reader(link, Scope()), open_writer(link)
    link.unlink()
    link.symlink_to(other.db)
    with reader.snapshot():
        assert len(reader.columns) == 2
    with pytest.raises(IndexUnavailable, match="deleted or replaced"):
        writer.set_meta({"a": "b"})
    reader.close()
    writer.close()


def test_a_damaged_database_behind_a_link_is_set_aside_and_the_link_stays(linked):
    vault, link = linked
    vault.db.write_bytes(b"no database any more")
    open_writer(link, rebuild_damaged=True).close()
    assert link.is_symlink()
    assert [place.read_bytes() for place in vault.db.parent.glob("*.damaged-*")] == [b"no database any more"]
    assert [place.name for place in link.parent.iterdir()] == ["link.db"]


def test_a_link_to_no_file_yet_becomes_a_database(tmp_path):
    link = tmp_path / "link.db"
    link.symlink_to(tmp_path / "real.db")
    open_writer(link).close()
    assert (tmp_path / "real.db").exists()
    assert link.is_symlink()


def test_what_keeps_the_index_is_told_under_both_names(linked):
    vault, link = linked
    worker_file.tell(link, {"pid": os.getpid(), "at": time.time()})
    assert worker_file.told(vault.db)["pid"] == os.getpid()
    worker_file.forget(vault.db)
    assert worker_file.told(link) == {}
