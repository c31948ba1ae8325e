"""Inspect AI logs: `.eval` archives and `.json` documents; an epoch is a repeat."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from blade.core.errors import ArtifactError
from blade.core.finding import Look
from blade.core.rollout import Rollout, RolloutKey, Source
from blade.ingest.decode import Row, decode_any, decode_row, encode
from blade.ingest.formats import Facts, Format, Head
from blade.ingest.jsonl import Record
from blade.ingest.light import Light
from blade.ingest.row import RowReader, rollout_of

_LETTERS = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
_ZIP = b"PK\x03\x04"


class _Log(msgspec.Struct):
    """The parts of a `.json` log; samples stay raw."""

    eval: Any = None
    results: Any = None
    status: Any = None
    samples: list[msgspec.Raw] = []


_log = msgspec.json.Decoder(_Log)


def recognizes(head: Head) -> bool:
    """A zip archive, or a document that names an evaluation."""
    if head.start.startswith(_ZIP):
        return head.path.suffix == ".eval"
    text = head.start.lstrip()
    return text.startswith(b"{") and b'"eval"' in text and b'"task"' in text and not head.rows


def records(path: Path, start: int, end: int | None) -> Iterator[Record]:
    """The samples, in order of their names or places."""
    if path.suffix == ".eval":
        with _archive(path) as archive:
            for name in sorted(n for n in archive.namelist() if n.startswith("samples/") and n.endswith(".json")):
                yield Record(archive.read(name), None, None, name)
    else:
        for index, raw in enumerate(_document(path).samples):
            yield Record(bytes(raw), None, None, f"samples[{index}]")


def fetch(path: Path, member: str) -> bytes:
    """One sample."""
    if path.suffix == ".eval":
        with _archive(path) as archive:
            return archive.read(member)
    return bytes(_document(path).samples[int(member.removeprefix("samples[").rstrip("]"))])


def _archive(path: Path) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(path)
    except zipfile.BadZipFile as error:
        raise ArtifactError(
            f"{path.name} is no readable .eval archive: {error}", hint="was the run cut short?"
        ) from None


def _document(path: Path) -> _Log:
    try:
        return _log.decode(path.read_bytes())
    except msgspec.MsgspecError:
        return _lenient_document(path)


def _lenient_document(path: Path) -> _Log:
    try:
        row, _ = decode_row(path.read_bytes())
        samples = decode_any(row["samples"]) if "samples" in row else []
    except Exception as error:
        raise ArtifactError(f"{path.name} is no readable Inspect log: {error}", hint="see docs/artifacts.md") from None
    raws = [msgspec.Raw(encode(sample)) for sample in samples] if isinstance(samples, list) else []
    header = {name: decode_any(row[name]) for name in ("eval", "results", "status") if name in row}
    return _Log(**header, samples=raws)


def facts(path: Path) -> Facts:
    """Task, model, settings, expected samples and recorded scores of a log."""
    header = _header(path)
    spec: dict[str, Any] = header.get("eval") or {}
    config: dict[str, Any] = spec.get("config") or {}
    settings = {
        name: f"{value:g}"
        for name, value in (spec.get("model_generate_config") or {}).items()
        if isinstance(value, int | float)
    }
    status = header.get("status")
    return Facts(
        benchmark=spec.get("task"),
        model=spec.get("model"),
        settings=settings
        | {n: str(config[n]) for n in ("epochs", "limit", "message_limit") if config.get(n) is not None},
        expected=_expected(spec, config, header.get("results") or {}),
        recorded=_recorded(header.get("results") or {}),
        note="" if status in (None, "success") else f"the log's status is {status!r}",
    )


def _header(path: Path) -> dict[str, Any]:
    if path.suffix != ".eval":
        log = _document(path)
        return {"eval": log.eval, "results": log.results, "status": log.status}
    with _archive(path) as archive:
        name = "header.json" if "header.json" in archive.namelist() else "_journal/start.json"
        try:
            value = json.loads(archive.read(name))
        except (KeyError, ValueError):
            return {}
    return value if isinstance(value, dict) else {}


def _expected(spec: Mapping[str, Any], config: Mapping[str, Any], results: Mapping[str, Any]) -> dict[str, int] | None:
    ids = (spec.get("dataset") or {}).get("sample_ids")
    if not isinstance(ids, list) or not ids:
        return None
    epochs = config.get("epochs")
    total = results.get("total_samples")
    if not isinstance(epochs, int):
        epochs = total // len(ids) if isinstance(total, int) and total and total % len(ids) == 0 else 1
    return {str(sample): epochs for sample in ids}


def _recorded(results: Mapping[str, Any]) -> dict[str, float]:
    scores = results.get("scores")
    first = scores[0] if isinstance(scores, list) and scores and isinstance(scores[0], dict) else {}
    accuracy = (first.get("metrics") or {}).get("accuracy")
    value = accuracy.get("value") if isinstance(accuracy, dict) else None
    return {"accuracy": float(value)} if isinstance(value, int | float) else {}


class SampleReader(RowReader):
    """Reads a sample as if it were a row: its fields get the names that rows have."""

    def __init__(self, *, role: str, threshold: float, look: Look | None, trajectories: bool) -> None:
        super().__init__(role="rollouts", threshold=threshold, look=look, trajectories=trajectories)

    def read(self, row: Row, source: Source) -> tuple[Light | None, str | None]:
        """As `RowReader.read`; the epoch, counted from 1 in the log, becomes the repeat, counted from 0."""
        return super().read(as_row(row), source)


def as_row(sample: Row) -> Row:
    """The sample under our foreign names, attachments put back."""
    value = {name: decode_any(raw) for name, raw in sample.items() if name not in ("events", "transcript")}
    attachments = value.get("attachments") or _content(sample)
    if attachments:
        value = _resolve(value, attachments)
    row: dict[str, Any] = {
        "task_id": value.get("id"),
        "messages": value.get("messages") or [],
        "input": value.get("input"),
    }
    epoch = value.get("epoch")
    row["repeat"] = epoch - 1 if isinstance(epoch, int) and epoch > 0 else None
    row["target"] = value.get("target")
    row["metadata"] = value.get("metadata")
    row["duration"] = value.get("total_time", value.get("working_time"))
    row |= _score(value.get("scores", value.get("score"))) | _end(value) | _usage(value)
    return {name: msgspec.Raw(encode(item)) for name, item in row.items() if item is not None}


def _content(sample: Row) -> dict[str, Any]:
    transcript = decode_any(sample["transcript"]) if "transcript" in sample else None
    content = transcript.get("content") if isinstance(transcript, dict) else None
    return content if isinstance(content, dict) else {}


def _resolve(value: Any, attachments: Mapping[str, Any]) -> Any:
    if isinstance(value, dict):
        return {name: item if name == "attachments" else _resolve(item, attachments) for name, item in value.items()}
    if isinstance(value, list):
        return [_resolve(item, attachments) for item in value]
    if isinstance(value, str) and value.startswith(("attachment://", "tc://")):
        return attachments.get(value.partition("://")[2], value)
    return value


def _score(scores: Any) -> dict[str, Any]:
    """The first scorer's verdict; the others are kept as checks."""
    if not isinstance(scores, dict) or not scores:
        return {}
    if "value" in scores:
        scores = {"score": scores}
    first = next(iter(scores.values()))
    if not isinstance(first, dict):
        return {"reward": _number(first)}
    others = {name: _number(item.get("value")) == 1.0 for name, item in scores.items() if isinstance(item, dict)}
    found: dict[str, Any] = {"reward": _number(first.get("value")), "extracted_answer": first.get("answer")}
    return found | ({"checks": others} if len(others) > 1 else {})


def _number(value: Any) -> Any:
    return _LETTERS.get(value, value) if isinstance(value, str) else value


def _end(value: Mapping[str, Any]) -> dict[str, Any]:
    limit, output = value.get("limit"), value.get("output")
    choices = output.get("choices") if isinstance(output, dict) else None
    first = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
    stop = limit.get("type") if isinstance(limit, dict) else first.get("stop_reason")
    error = value.get("error")
    return {"stop_reason": stop, "error": error.get("message", "error") if isinstance(error, dict) else error}


def _usage(value: Mapping[str, Any]) -> dict[str, Any]:
    usage = value.get("model_usage")
    spent = [item for item in usage.values() if isinstance(item, dict)] if isinstance(usage, dict) else []
    if not spent:
        return {}
    names = ("input_tokens", "output_tokens")
    return {"usage": {name: sum(int(item.get(name) or 0) for item in spent) for name in names}}


def rollout(row: Row, light: Light, key: RolloutKey, source: Source) -> Rollout:
    """The rollout of a sample that is read again."""
    return rollout_of(as_row(row), light, key, source)


FORMAT = Format(
    name="inspect",
    order=10,
    recognizes=recognizes,
    records=records,
    reader=SampleReader,
    rollout=rollout,
    fetch=fetch,
    facts=facts,
)
