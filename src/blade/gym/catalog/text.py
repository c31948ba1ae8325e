"""Listings as lines of text. Nothing is cut."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

from blade.gym.catalog.entry import CATEGORIES, Benchmark, Component

NARROWEST = 40
BELOW = 4


def benchmark_lines(entries: Sequence[Benchmark], width: int, *, ranked: bool = False) -> Iterator[str]:
    """The table of benchmarks: by category, or in the order that they are given in."""
    yield f"Available benchmarks ({len(entries)})"
    for category in (None,) if ranked else CATEGORIES:
        rows = [_benchmark_row(entry) for entry in entries if category in (None, entry.category)]
        if rows:
            yield ""
            yield from [category] if category else []
            yield from table(("name", "domain", "repeats", "offline", "agent", "description"), rows, width)


def _benchmark_row(entry: Benchmark) -> tuple[str, ...]:
    offline = "yes" if entry.offline else "no"
    return entry.name, entry.domain, str(entry.num_repeats), offline, entry.agent_name, entry.description


def component_lines(entries: Sequence[Component], kind: str, width: int) -> Iterator[str]:
    """The table of another listing."""
    yield f"Available {kind.replace('-', ' ')} ({len(entries)})"
    yield ""
    keys = list(entries[0].row)
    rows = [tuple(_cell(entry.row[key]) for key in keys) for entry in entries]
    yield from table(tuple(key.replace("_", " ") for key in keys), rows, width)


def table(head: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> Iterator[str]:
    """Columns side by side; the last one is broken into lines, below its row where the screen has no room beside it."""
    lines = [head, *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head) - 1)]
    indent = sum(size + 2 for size in widths)
    beside = width - indent >= NARROWEST
    room = width - indent if beside else max(width - BELOW, NARROWEST)
    for line in lines:
        left = "".join(text.ljust(size + 2) for text, size in zip(line, widths, strict=False))
        parts = textwrap.wrap(line[-1], room, break_long_words=False, break_on_hyphens=False) or [""]
        if beside:
            yield (left + parts[0]).rstrip()
            yield from (" " * indent + part for part in parts[1:])
        else:
            yield left.rstrip()
            yield from (" " * BELOW + part for part in parts if part)


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
