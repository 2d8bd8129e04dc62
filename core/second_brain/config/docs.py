"""The configuration table of docs/configuration.md, generated from the declared options."""

from __future__ import annotations

from second_brain.config.options import OPTIONS, RETIRED, SECTIONS, Option

_KINDS = {
    "str": "text",
    "int": "whole number",
    "float": "number",
    "bool": "true or false",
    "path": "path",
    "url": "URL",
    "list": "list of texts",
    "table": "table",
}


def table() -> str:
    """All options in Markdown, the retired ones last; ends with a newline."""
    rows = ["| key | value | default | environment | what it is |", "|---|---|---|---|---|"]
    plain = [option for option in OPTIONS if option.kind != "table"]
    for option in (*plain, *(column for columns in SECTIONS.values() for column in columns)):
        cells = (f"`{option.key}`", _kind(option), _default(option), _code(option.env), option.help)
        rows.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    rows.extend(f"| `{key}` | retired | | | Accepted and ignored, with a notice. |" for key in RETIRED)
    return "\n".join(rows) + "\n"


def _kind(option: Option) -> str:
    words = [f"`{word}`" for word in option.choices]
    return ", ".join(words if option.kind == "choice" else [*words, _KINDS[option.kind]])


def _default(option: Option) -> str:
    from second_brain.config.template import toml_value  # noqa: PLC0415  # needs tomlkit

    return "" if option.default is None else _code(toml_value(option.default))


def _code(text: str) -> str:
    return f"`{text}`" if text else ""
