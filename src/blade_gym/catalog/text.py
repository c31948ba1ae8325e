"""Listings as lines of text. Nothing is cut."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from blade_gym.catalog.entry import CATEGORIES, Benchmark, Component

NARROWEST = 40
BELOW = 4


def benchmark_lines(entries: Sequence[Benchmark], width: int, *, ranked: bool = False) -> Iterator[str]:
    """The table of benchmarks: by category, or in the order that they are given in."""
    yield f"Available benchmarks ({len(entries)})"
    head = ("name", "domain", "repeats", "offline", "agent", "description")
    rows = [_benchmark_row(entry) for entry in entries]
    shape = _Shape.of([head, *rows], width)
    for category in (None,) if ranked else CATEGORIES:
        listed = [row for row, entry in zip(rows, entries, strict=True) if category in (None, entry.category)]
        if listed:
            yield ""
            yield from [category] if category else []
            yield from table(head, listed, shape)


def _benchmark_row(entry: Benchmark) -> tuple[str, ...]:
    offline = "yes" if entry.offline else "no"
    return entry.name, entry.domain, str(entry.num_repeats), offline, entry.agent_name, entry.description


def component_lines(entries: Sequence[Component], kind: str, width: int) -> Iterator[str]:
    """The table of another listing."""
    yield f"Available {kind.replace('-', ' ')} ({len(entries)})"
    yield ""
    keys = list(entries[0].row)
    rows = [tuple(_cell(entry.row[key]) for key in keys) for entry in entries]
    head = tuple(key.replace("_", " ") for key in keys)
    yield from table(head, rows, _Shape.of([head, *rows], width))


class _Shape(msgspec.Struct, frozen=True, kw_only=True):
    """Widths of all columns but the last; the last stands beside them, or below where the screen has no room."""

    widths: tuple[int, ...]
    room: int
    beside: bool

    @classmethod
    def of(cls, lines: Sequence[Sequence[str]], width: int) -> _Shape:
        widths = tuple(max(len(line[column]) for line in lines) for column in range(len(lines[0]) - 1))
        left = width - sum(size + 2 for size in widths)
        beside = left >= NARROWEST
        return cls(widths=widths, room=left if beside else max(width - BELOW, NARROWEST), beside=beside)


def table(head: Sequence[str], rows: Sequence[Sequence[str]], shape: _Shape) -> Iterator[str]:
    """Columns side by side; the last one is broken into lines and never cut."""
    indent = sum(size + 2 for size in shape.widths) if shape.beside else BELOW
    for number, line in enumerate([head, *rows]):
        left = "".join(text.ljust(size + 2) for text, size in zip(line, shape.widths, strict=False))
        parts = textwrap.wrap(line[-1], shape.room, break_long_words=False, break_on_hyphens=False)
        if shape.beside:
            left += "".join(parts[:1])
            parts = parts[1:]
        yield left.rstrip()
        if number or shape.beside:
            yield from (" " * indent + part for part in parts)


def inspected(entry: Benchmark) -> Iterator[str]:
    """Everything that is known of a benchmark, and how to run it."""
    yield f"The {entry.name} benchmark (domain: {entry.domain or 'unknown'})"
    if entry.description:
        yield entry.description
    yield ""
    yield "Details"
    for label, value in _details(entry):
        yield f"  {label.ljust(14)}{value}"
    if entry.reported:
        yield ""
        yield "Reported"
        for one in entry.reported:
            yield f"  {one.model}: {one.metric} {one.value:g} ({one.source})"
    yield ""
    yield "Usage"
    yield from (f"  {command}" for command in usage(entry))


def usage(entry: Benchmark) -> list[str]:
    """The commands that make and run it."""
    model = "local_model" if entry.offline else "vllm_model"
    output = f"results/{entry.name.replace('/', '_')}.jsonl"
    return [
        f"gym eval prepare --benchmark {entry.name}",
        f"gym eval run --benchmark {entry.name} --model-type {model} --split benchmark --output {output}",
    ]


def component_inspected(entry: Component) -> Iterator[str]:
    """Everything that is known of a component."""
    yield f"{entry.name} ({entry.kind})"
    if entry.description:
        yield entry.description
    yield ""
    for key, value in entry.more.items():
        yield f"  {key.replace('_', ' ').ljust(14)}{_cell(value)}"
    yield f"  {'config'.ljust(14)}{entry.path}"


def _details(entry: Benchmark) -> Iterator[tuple[str, str]]:
    yield "config", str(entry.config)
    yield "agent", entry.agent_name
    yield "repeats", str(entry.num_repeats)
    yield "data set", entry.dataset
    yield "prepare", entry.prepare_script
    yield "data", f"{entry.data} ({'there' if entry.data.is_file() else 'not made yet'})"
    if entry.prompt_config:
        yield "prompt", entry.prompt_config
    yield "category", entry.category
    yield "harness", entry.harness
    yield "verifier", entry.verifier or "unknown"
    yield "requires", ", ".join(entry.requires) or "nothing special"
    yield "offline", "yes" if entry.offline else "no: its data comes from a hub"


def _cell(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(str(one) for one in value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else " ".join(str(value).split())
