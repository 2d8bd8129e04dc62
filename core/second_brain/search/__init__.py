"""The read side: queries, rankings, snippets and explanations."""
