from __future__ import annotations
def plain_mentions(reader, names, endings):
    return iter(())
