"""Embedders: text to unit vectors, offline or through Ollama."""
