"""The data of a split put together before it is run: each row with its prompt and its agent, as often as it is repeated.

For each data set `<stem>_prepare.jsonl` and `<stem>_metrics.json` beside its rows; for the split one file of all rows and
its metrics, in a folder named after the rollouts. The names are NeMo Gym's, and so are the names in the metrics.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from blade.model.errors import RequestError
from blade_gym.config.dataset import Dataset
from blade_gym.config.servers import AGENTS
from blade_gym.run.artifacts import write_document, write_rows
from blade_gym.run.dataset import RowsToRun, SourceLine, lines

SPLITS = ("train", "validation", "benchmark")
"""What is collated; examples are run as they stand."""
_PACKAGE = Path(__file__).parents[1]


def folder_of(rollouts: Path) -> Path:
    """`results/r.jsonl` to `results/r/preprocessed_datasets`."""
    return rollouts.with_suffix("") / "preprocessed_datasets"


def collated(rollouts: Path, split: str | None) -> Path | None:
    """The rows that an earlier run collated for that split; None where there are none."""
    path = folder_of(rollouts) / f"{split}.jsonl"
    return path if split in SPLITS and path.is_file() else None


def collate(sources: Sequence[RowsToRun], datasets: Sequence[Dataset], split: str, rollouts: Path) -> list[str]:
    """Write the files; gives a line for each data set beside whose rows nothing can be written."""
    every: list[dict[str, Any]] = []
    notices = []
    for source, dataset in zip(sources, datasets, strict=True):
        rows = list(_rows(source))
        every += rows
        try:
            _beside(source.path, dataset, rows)
        except RequestError as error:
            notices.append(f"nothing is collated beside {source.shown}: {error.message}")
    folder = folder_of(rollouts)
    write_rows(folder / f"{split}.jsonl", every)
    write_document(folder / f"{split}_metrics.json", metrics(every))
    return notices


def _beside(path: Path, dataset: Dataset, rows: Sequence[Mapping[str, Any]]) -> None:
    if path.resolve().is_relative_to(_PACKAGE):
        raise RequestError("it is a part of the installed package")
    about = {
        "name": dataset.name,
        "type": dataset.type,
        "jsonl_fpath": dataset.jsonl_fpath,
        "num_repeats": dataset.num_repeats,
        "license": dataset.license,
    }
    write_rows(path.with_name(f"{path.stem}_prepare.jsonl"), rows)
    write_document(path.with_name(f"{path.stem}_metrics.json"), about | metrics(rows))


def _rows(source: RowsToRun) -> Iterator[dict[str, Any]]:
    for line in lines(source):
        row = _row(line)
        yield from [row] * source.repeats


def _row(line: SourceLine) -> dict[str, Any]:
    named = line.row.get("agent_ref")
    agent = named if isinstance(named, Mapping) and named.get("name") else {"type": AGENTS, "name": line.source.agent}
    prompt = line.source.prompt
    if prompt is None:
        return {**line.row, "agent_ref": agent}
    params = {**(line.row.get("responses_create_params") or {}), "input": prompt.fill(line.row, line.place)}
    return {**line.row, "responses_create_params": params, "agent_ref": agent}


def metrics(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What a data set holds: how many rows, and how many tools, words and turns each has."""
    params = [row["responses_create_params"] for row in rows if isinstance(row.get("responses_create_params"), Mapping)]
    return {
        "Number of examples": len(rows),
        "Number of tools": _spread(len(one["tools"]) for one in params if isinstance(one.get("tools"), list)),
        "Json-dumped number of words (proxy for token count)": _spread(len(json.dumps(one).split()) for one in params),
        "Number of turns": _spread(turns for one in params if (turns := _turns(one.get("input")))),
        "Temperature": _spread(one["temperature"] for one in params if _is_number(one.get("temperature"))),
    }


def _turns(given: object) -> int:
    """Messages of the user."""
    if isinstance(given, str):
        return 1
    items = given if isinstance(given, list) else []
    return sum(isinstance(item, Mapping) and item.get("role") == "user" for item in items)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _spread(values: Iterable[float]) -> dict[str, Any]:
    """Count and spread; null where there is nothing to count."""
    found = [float(value) for value in values]
    return {
        "Total # non-null values": len(found),
        "Average": statistics.fmean(found) if found else None,
        "Min": min(found, default=None),
        "Max": max(found, default=None),
        "Median": statistics.median(found) if found else None,
        "Standard deviation": statistics.stdev(found) if len(found) > 1 else None,
    }
