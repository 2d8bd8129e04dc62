"""The write side: from changed files to index rows and vectors."""
