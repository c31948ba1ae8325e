"""Samples of the LM Evaluation Harness: a row a document and filter, scored by the first metric that it names.

Each filter reads the same response in its own way, so the rows of one filter are a run of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from blade.ingest import cells
from blade.ingest.decode import Row, Unusable, decode_any, decode_whole, encode
from blade.ingest.folder_files import json_object, read_json
from blade.ingest.formats import FileHead, Format, RunFacts
from blade.ingest.jsonl import records
from blade.model.pattern import pattern_of

_NAMES = ("doc_id", "resps", "filtered_resps")
_METRICS = ("exact_match", "acc", "acc_norm", "pass@1", "em", "f1", "prompt_level_strict_acc")
"""What older rows, which do not name their metrics, are scored by."""
_FILE = pattern_of(r"samples_(?P<task>.+?)(?:_\d{4}-\d\d-\d\dT.*)?\.jsonl")
_TIME = pattern_of(r"\d{4}-\d\d-\d\dT[\d.:-]+\d")
_WITH_RESULTS = ("configs", "versions", "n-shot", "n-samples", "higher_is_better", "config")
_OF_A_SUMMARY = (b'"alias"', b'"configs"', b"_stderr,", b'"group_subtasks"')
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
    """The task, which stands in the file's name; the model and the metric of each filter, as the summary beside has them."""
    named = _FILE.match(path.name)
    task = named["task"] if named else None
    beside = _summary_of(path)
    whole = json_object(read_json(beside, beside.parent)[0]) if beside is not None else {}
    shots = cells.integer(json_object(whole.get("n-shot")).get(task or ""))
    return RunFacts(
        benchmark=task,
        model=cells.text(whole.get("model_name")),
        settings={"num_fewshot": str(shots)} if shots is not None else {},
        source="name",
        recorded_for=_stated(path, whole, task, beside.name) if beside is not None and task is not None else {},
    )


def _summary_of(path: Path) -> Path | None:
    """The summary that was written at the same time, else the only one in the folder."""
    found = sorted(one for one in path.parent.glob("results*.json") if one.is_file())
    same = [one for one in found if (time := _TIME.search(path.name)) and time[0] in one.name]
    return same[0] if same else found[0] if len(found) == 1 else None


def _stated(path: Path, whole: Mapping[str, Any], task: str, source: str) -> dict[str, dict[str, float]]:
    """The mean of the metric that rows are scored by, for each filter; another aggregate than the mean is left out."""
    first = next((row for row in _rows(path)), {})
    named = first.get("metrics")
    metric = next((name for name in (named if isinstance(named, list) and named else _METRICS) if name in first), None)
    listed = json_object(json_object(whole.get("configs")).get(task)).get("metric_list")
    kinds = {
        one.get("metric"): one.get("aggregation")
        for one in map(json_object, listed if isinstance(listed, list) else [])
    }
    if metric is None or kinds.get(metric, "mean") != "mean":
        return {}
    stated: dict[str, dict[str, float]] = {}
    for name, value in json_object(json_object(whole.get("results")).get(task)).items():
        measured, _, reader = name.partition(",")
        number = cells.number(value)
        if measured == metric and number is not None:
            stated["" if reader == "none" else reader] = {f"{source}, {name}": number}
    return stated


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    for record in records(path):
        try:
            row, _ = decode_whole(record.data)
        except Unusable:
            continue
        yield {name: decode_any(raw) for name, raw in row.items()}


def summary(head: FileHead) -> str | None:
    """The results of a run by task, with their configuration; the samples are written only when they are asked for."""
    if head.rows or b'"results"' not in head.start or not any(name in head.start for name in _OF_A_SUMMARY):
        return None
    value = json_object(read_json(head.path, None)[0])
    results = value.get("results")
    if not isinstance(results, dict) or sum(name in value for name in _WITH_RESULTS) < 2:
        return None
    if not all(
        "," in name or name in ("alias", "samples", "name") for one in results.values() for name in json_object(one)
    ):
        return None
    if any(head.path.parent.glob("samples_*.jsonl")):
        return ""
    return "it is the summary of a run of the LM Evaluation Harness, without its samples: --log_samples writes them beside it"


FORMAT = Format(
    name="lm-eval",
    order=30,
    recognizes=recognizes,
    as_row=as_row,
    facts=facts,
    summary=summary,
)
