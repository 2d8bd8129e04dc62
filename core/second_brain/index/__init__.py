"""The index: one SQLite file with the words, vectors and metadata of the notes."""
