"""Second Brain: find the right passage in a vault of Markdown notes."""

__version__ = "0.1.0"
