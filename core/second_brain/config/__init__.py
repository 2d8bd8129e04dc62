"""The configuration: options declared once, read by one precedence, written with comments kept."""

from __future__ import annotations

from second_brain.config.configuration import Config, NamedScope, VaultEntry
from second_brain.config.loader import load
from second_brain.config.options import OPTIONS, Option
from second_brain.config.scopes import parse_scope, select_scope

__all__ = ["OPTIONS", "Config", "NamedScope", "Option", "VaultEntry", "load", "parse_scope", "select_scope"]
