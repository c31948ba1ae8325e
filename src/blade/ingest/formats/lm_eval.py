"""Samples of the LM Evaluation Harness: a row a document and filter, scored by the first metric that it names.

Each filter reads the same response in its own way, so the rows of one filter are a run of their own.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from blade.ingest.decode import Row, decode_any, encode
from blade.ingest.formats import FileHead, Format, RunFacts
from blade.model.pattern import pattern_of

_NAMES = ("doc_id", "resps", "filtered_resps")
_METRICS = ("exact_match", "acc", "acc_norm", "pass@1", "em", "f1", "prompt_level_strict_acc")
"""What older rows, which do not name their metrics, are scored by."""
_FILE = pattern_of(r"samples_(?P<task>.+?)(?:_\d{4}-\d\d-\d\dT.*)?\.jsonl")
_INVALID = "[invalid]"
"""What a filter gives that found no answer."""


def recognizes(head: FileHead) -> bool:
    """Some row has the fields that only this harness writes."""
    return any(all(name in row for name in _NAMES) for row in head.rows)


def as_row(sample: Row) -> Row:
    """The sample under the names that rows have."""
    value = {name: decode_any(raw) for name, raw in sample.items()}
    answer = _innermost(value.get("filtered_resps"))
    row: dict[str, Any] = {
        "task_id": value.get("doc_id"),
        "agent_name": value.get("filter") if value.get("filter") != "none" else None,
        "prompt": _prompt(value.get("arguments")),
        "output": _text(_innermost(value.get("resps"))),
        "target": value.get("target"),
        "reward": _reward(value),
    }
    if isinstance(answer, str):
        row["extracted_answer"] = "" if answer == _INVALID else answer
    return {name: msgspec.Raw(encode(item)) for name, item in row.items() if item is not None}


def _reward(value: dict[str, Any]) -> Any:
    named = value.get("metrics")
    names = named if isinstance(named, list) and named else _METRICS
    return next((value[name] for name in names if isinstance(name, str) and name in value), None)


def _innermost(value: Any) -> Any:
    """The first of lists in lists: a sample may have several responses, and only the first is scored by most tasks."""
    while isinstance(value, list) and value:
        value = value[0]
    return value


def _text(value: Any) -> str | None:
    """What was generated; a choice that was scored by its likelihood has no words."""
    return value if isinstance(value, str) else None


def _prompt(arguments: Any) -> str | None:
    if isinstance(arguments, dict):
        first = next(iter(arguments.values()), None)
        return _text(next(iter(first.values()), None)) if isinstance(first, dict) else None
    return _text(_innermost(arguments))


def facts(path: Path) -> RunFacts:
    """The task, which stands in the file's name."""
    named = _FILE.match(path.name)
    return RunFacts(benchmark=named["task"] if named else None, source="name")


FORMAT = Format(
    name="lm-eval",
    order=30,
    recognizes=recognizes,
    as_row=as_row,
    facts=facts,
)
