"""Data of the product: model files, the demo vault, default texts."""
