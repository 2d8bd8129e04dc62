"""The links among the visible notes, resolved."""
