"""Inspect AI logs: `.eval` archives and `.json` documents; an epoch is a repeat."""

from __future__ import annotations

import io
import json
import os
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import zstandard

from blade.ingest import cells
from blade.ingest.decode import Row, Unusable, decode_any, decode_whole, encode
from blade.ingest.formats import FileHead, Format, RunFacts
from blade.ingest.jsonl import Record, Torn, open_regular, whole_bytes
from blade.model.limits import read_limits, too_long, unpacks_too_far

_LETTERS = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0, "yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
_NO_ANSWER = "N"
_VERDICT = ("accuracy", "correct", "score", "overall", "passed", "success")
_ZIP = b"PK\x03\x04"
_ZSTD_METHOD = 93
_LOCAL_HEADER = 30
_UNREADABLE = (
    zipfile.BadZipFile,
    zlib.error,
    zstandard.ZstdError,
    NotImplementedError,
    RuntimeError,
    OSError,
    KeyError,
)


class _Log(msgspec.Struct):
    """The parts of a `.json` log; samples stay raw."""

    eval: Any = None
    results: Any = None
    status: Any = None
    samples: list[msgspec.Raw] = []


_log = msgspec.json.Decoder(_Log)


def recognizes(head: FileHead) -> bool:
    """A zip archive, or a document that names an evaluation."""
    if head.start.startswith(_ZIP):
        return head.path.suffix == ".eval"
    text = head.start.lstrip()
    return text.startswith(b"{") and b'"eval"' in text and b'"task"' in text and not head.rows


def records(path: Path, start: int, end: int | None) -> Iterator[Sequence[Record]]:
    """The samples, in order of their names or places; raises `Torn` when the log cannot be opened."""
    if path.suffix == ".eval":
        with _archive(path) as archive:
            unpacked = 0
            for name in sorted(n for n in archive.namelist() if n.startswith("samples/") and n.endswith(".json")):
                unpacked += archive.getinfo(name).file_size
                if unpacked > read_limits().unpacked:
                    raise Torn(unpacks_too_far("the archive"))
                yield (_record(archive, name),)
    else:
        for index, raw in enumerate(_document(path).samples):
            name, fits = f"samples[{index}]", len(raw) <= read_limits().line
            yield (Record(bytes(raw) if fits else b"", None, None, name, "" if fits else too_long("the sample")),)


def _record(archive: zipfile.ZipFile, name: str) -> Record:
    try:
        data = _member(archive, name)
        return Record(
            data if data is not None else b"", None, None, name, "" if data is not None else too_long("the sample")
        )
    except _UNREADABLE as error:
        return Record(b"", None, None, name, f"the sample cannot be taken out of the archive ({error})")


def fetch(path: Path, members: Sequence[str]) -> Iterator[bytes]:
    """Some samples, in the order asked for; raises `Torn` when the log cannot be opened any more."""
    if path.suffix == ".eval":
        with _archive(path) as archive:
            for name in members:
                yield _record(archive, name).data
    else:
        samples = _document(path).samples
        for name in members:
            place = int(name.removeprefix("samples[").rstrip("]"))
            yield bytes(samples[place]) if place < len(samples) else b""


def _archive(path: Path) -> zipfile.ZipFile:
    try:
        with open_regular(path):
            return zipfile.ZipFile(path)
    except (zipfile.BadZipFile, OSError, ValueError) as error:
        raise Torn(f"no readable .eval archive: {error} (was the run cut short?)") from None


def _member(archive: zipfile.ZipFile, name: str) -> bytes | None:
    """The bytes of a member, None where they are more than are read of one.

    What zstd packed, which newer logs use and `zipfile` may not know, is taken apart here.
    """
    entry, most = archive.getinfo(name), read_limits().line
    if entry.file_size > most:
        return None
    if entry.compress_type != _ZSTD_METHOD or archive.fp is None:
        return archive.read(name)
    archive.fp.seek(entry.header_offset)
    header = archive.fp.read(_LOCAL_HEADER)
    skip = int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little")
    archive.fp.seek(skip, os.SEEK_CUR)
    packed = io.BytesIO(archive.fp.read(entry.compress_size))
    # The entry may say less than its frames hold.
    data = zstandard.ZstdDecompressor().stream_reader(packed, read_across_frames=True).read(most + 1)
    return data if len(data) <= most else None


def _document(path: Path) -> _Log:
    data = whole_bytes(path)
    try:
        return _log.decode(data)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return _lenient_document(data)


def _lenient_document(data: bytes) -> _Log:
    try:
        row, _ = decode_whole(data)
    except Unusable as why:
        raise Torn(f"no readable Inspect log: {why}") from None
    parts = {name: decode_any(row[name]) for name in ("eval", "results", "status", "samples") if name in row}
    samples = parts.pop("samples", None)
    return _Log(**parts, samples=[msgspec.Raw(encode(one)) for one in samples] if isinstance(samples, list) else [])


def facts(path: Path) -> RunFacts:
    """Task, model, settings, expected samples and recorded scores of a log; what cannot be read is left out."""
    header = _header(path)
    spec, results = _object(header.get("eval")), _object(header.get("results"))
    config = _object(spec.get("config"))
    limits = {name: config[name] for name in ("epochs", "limit", "message_limit") if name in config}
    numbers = _object(spec.get("model_generate_config")) | limits
    status = header.get("status")
    return RunFacts(
        benchmark=cells.text(spec.get("task")),
        model=cells.text(spec.get("model")),
        settings={name: f"{value:g}" for name, item in numbers.items() if (value := cells.number(item)) is not None},
        expected=_expected(spec, config, results),
        source="inspect",
        recorded=_recorded(results),
        note="" if status in (None, "success") else f"the log's status is {status!r}",
    )


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _header(path: Path) -> dict[str, Any]:
    try:
        if path.suffix != ".eval":
            log = _document(path)
            return {"eval": log.eval, "results": log.results, "status": log.status}
        with _archive(path) as archive:
            name = "header.json" if "header.json" in archive.namelist() else "_journal/start.json"
            return _object(json.loads(_member(archive, name) or b"{}"))
    except (Torn, ValueError, RecursionError, *_UNREADABLE):
        return {}


def _expected(spec: Mapping[str, Any], config: Mapping[str, Any], results: Mapping[str, Any]) -> dict[str, int] | None:
    ids = _object(spec.get("dataset")).get("sample_ids")
    if not isinstance(ids, list) or not ids:
        return None
    epochs = cells.integer(config.get("epochs"))
    total = cells.integer(results.get("total_samples"))
    if not epochs:
        epochs = total // len(ids) if total and total % len(ids) == 0 else 1
    return {str(sample): epochs for sample in ids}


def _recorded(results: Mapping[str, Any]) -> dict[str, float]:
    scores = results.get("scores")
    first = _object(scores[0]) if isinstance(scores, list) and scores else {}
    accuracy = cells.number(_object(_object(first.get("metrics")).get("accuracy")).get("value"))
    return {"accuracy": accuracy} if accuracy is not None else {}


def as_row(sample: Row) -> Row:
    """The sample under the names that rows have, attachments put back; the epoch, counted from 1, becomes the repeat."""
    value: dict[str, Any] = {n: decode_any(raw) for n, raw in sample.items() if n not in ("events", "transcript")}
    attachments = _object(value.get("attachments")) or _content(sample)
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
    named = {name: item.get("value") for name, item in scores.items() if isinstance(item, dict)}
    values = {name: _number(value) for name, value in _parts(named).items()}
    found: dict[str, Any] = {
        "reward": _number(_main(first.get("value"))),
        "extracted_answer": first.get("answer"),
        "explanation": first.get("explanation"),
        "verdict": "no_answer" if first.get("value") == _NO_ANSWER else None,
    }
    others = {name: value == 1.0 for name, value in values.items() if value in (0, 1)}
    return found | ({"checks": others} if len(others) > 1 else {})


def _main(value: Any) -> Any:
    """The verdict among the values of a scorer that gives several: the only one, or one that is named so."""
    if not isinstance(value, dict):
        return value
    only = next(iter(value.values())) if len(value) == 1 else value
    return next((value[name] for name in _VERDICT if name in value), only)


def _parts(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values by name; a scorer that gives several has one for each."""
    found: dict[str, Any] = {}
    for name, value in values.items():
        found |= {f"{name}/{part}": one for part, one in value.items()} if isinstance(value, dict) else {name: value}
    return found


def _number(value: Any) -> Any:
    return _LETTERS.get(value, _LETTERS.get(value.lower(), value)) if isinstance(value, str) else value


def _end(value: Mapping[str, Any]) -> dict[str, Any]:
    limit, output = value.get("limit"), value.get("output")
    choices = output.get("choices") if isinstance(output, dict) else None
    first = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
    stop = limit.get("type") if isinstance(limit, dict) else first.get("stop_reason")
    error = value.get("error")
    return {"stop_reason": stop, "error": error.get("message") or "error" if isinstance(error, dict) else error}


def _usage(value: Mapping[str, Any]) -> dict[str, Any]:
    usage = value.get("model_usage")
    spent = [item for item in usage.values() if isinstance(item, dict)] if isinstance(usage, dict) else []
    output = value.get("output")
    if not spent and isinstance(output, dict) and isinstance(output.get("usage"), dict):
        spent = [output["usage"]]
    if not spent:
        return {}
    names = ("input_tokens", "output_tokens")
    return {"usage": {name: sum(cells.count(item.get(name)) or 0 for item in spent) for name in names}}


FORMAT = Format(
    name="inspect",
    order=10,
    recognizes=recognizes,
    records=records,
    as_row=as_row,
    fetch=fetch,
    facts=facts,
)
