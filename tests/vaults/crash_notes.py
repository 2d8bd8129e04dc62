"""A small vault of many kinds of notes, for tests that index it over and over."""

from __future__ import annotations

TOPICS = (
    "tide tables", "lantern repair", "kitchen clock", "river survey", "paper boats", "winter bread", "signal flags",
    "orchard notes", "harbour office", "rope splicing",
)  # fmt: skip


def notes(count=60):
    """{path: text}; the same for every call."""
    found = {}
    for number in range(count):
        topic = TOPICS[number % len(TOPICS)]
        folder = ("", "Areas/Home", "Projects/2026 Boat", "Größe")[number % 4]
        path = f"{folder}/{topic} {number}.md".lstrip("/")
        found[path] = (
            f"---\ntags: [area/{topic.split()[0]}, n{number % 5}]\naliases: [alias {number}]\nstatus: open\n---\n"
            f"# {topic.title()} {number}\n\nThe {topic} were checked on day {number}. See [[{topic} {number - 1}]].\n\n"
            f"## Details\n\n- [ ] measure {topic} #inline{number % 3}\n- [x] write down {number * 7}\n\n"
            + " ".join(f"word{(number * 31 + k * 17) % 211}" for k in range(80))
            + f"\n\n> quoted from {TOPICS[(number + 3) % len(TOPICS)]} ^block{number}\n"
        )
    found["empty.md"] = ""
    found["[.md"] = ""
    found["latin.md"] = "caf\u00e9 by the quay"
    return found


def as_bytes():
    """As `notes`, one of them not UTF-8, one with broken frontmatter."""
    found = {path: text.encode() for path, text in notes().items()}
    found["latin.md"] = "caf\u00e9 by the quay".encode("cp1252")
    found["broken.md"] = b"---\ntags: [unclosed\n---\nstill text"
    return found
