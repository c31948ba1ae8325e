"""Markdown from plain parts; everything that a rollout wrote passes through here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

LONGEST_CELL = 90
MOST_ROWS = 12
_SPECIAL = "\\`*_{}[]<>()#+!|~$"


def safe(text: str) -> str:
    """Text from an artifact as Markdown that shows just these characters, on one line."""
    flat = " ".join(text.split())
    return "".join("\\" + c if c in "\\`*[]<>|~$" or (c == "_" and _in_a_word_end(flat)) else c for c in flat)


def _in_a_word_end(text: str) -> bool:
    return text.startswith("_") or text.endswith("_")


def code(text: str) -> str:
    """Text from an artifact as inline code, on one line."""
    flat = " ".join(text.split()).replace("|", "\\|")
    ticks = "`"
    while ticks in flat:
        ticks += "`"
    pad = " " if flat.startswith("`") or flat.endswith("`") else ""
    return f"{ticks}{pad}{flat}{pad}{ticks}" if flat else ""


def cut(text: str, most: int = LONGEST_CELL) -> str:
    """At most so many characters; the cut shows."""
    return text if len(text) <= most else text[: most - 3] + "..."


def table(head: Sequence[str], rows: Iterable[Sequence[str]], more: str = "", most: int = MOST_ROWS) -> list[str]:
    """A Markdown table of at most `most` rows; `more` says where the rest is."""
    body = list(rows)
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    lines += ["| " + " | ".join(row) + " |" for row in body[:most]]
    if len(body) > most:
        lines.append("")
        lines.append(f"{len(body) - most:,} more{' in ' + more if more else ''}.")
    return [*lines, ""]
