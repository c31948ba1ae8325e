"""An entry of an agent's `datasets`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec

from blade_gym.config.problem import ConfigProblem, suggestion
from blade_gym.config.roots import find

TYPES = ("train", "validation", "example", "benchmark")
LICENSES = (
    "Apache 2.0",
    "MIT",
    "Creative Commons Attribution 4.0 International",
    "Creative Commons Attribution-ShareAlike 4.0 International",
    "CC BY-SA 4.0",
    "CC BY-NC 3.0",
    "GNU General Public License v3.0",
    "NVIDIA Internal Use Only, Do Not Distribute",
    "NVIDIA Evaluation Dataset License Agreement",
    "TBD",
)
SOURCES = ("gitlab", "huggingface")


class Dataset(msgspec.Struct, frozen=True, kw_only=True):
    """Rows for one agent; paths are as the config gives them, to be looked for under the search roots."""

    name: str
    type: str
    """train, validation, example or benchmark."""
    agent: str
    """The instance that the entry belongs to."""
    jsonl_fpath: str
    """The rows. Where a benchmark names none: `data/<name>_benchmark.jsonl` beside its prepare script."""
    num_repeats: int = 1
    prepare_script: str | None = None
    prepare_script_args: Mapping[str, Any] = {}
    prompt_config: str | None = None
    license: str | None = None
    source: Mapping[str, Any] | None = None
    fields: Mapping[str, Any] = {}
    """The whole entry, keys of ours included."""


def dataset(entry: Mapping[str, Any], agent: str) -> Dataset:
    """An entry as a value; what is wrong in it is left out (see `problems`)."""
    arguments, source = entry.get("prepare_script_args"), entry.get("source")
    return Dataset(
        name=str(entry.get("name", "")),
        type=str(entry.get("type", "")),
        agent=agent,
        jsonl_fpath=_rows(entry),
        num_repeats=int(entry["num_repeats"]) if _count(entry.get("num_repeats")) else 1,
        prepare_script=_text(entry, "prepare_script"),
        prepare_script_args=arguments if isinstance(arguments, Mapping) else {},
        prompt_config=_text(entry, "prompt_config"),
        license=_text(entry, "license"),
        source=source if isinstance(source, Mapping) else None,
        fields=entry,
    )


def problems(entry: Any, key: str) -> Iterator[ConfigProblem]:
    """Everything that is wrong in an entry."""
    if not isinstance(entry, Mapping):
        yield _wrong(key, "a data set is a mapping with name, type and jsonl_fpath")
        return
    kind = entry.get("type")
    if not _text(entry, "name"):
        yield _wrong(key, "has no name")
    if kind not in TYPES:
        yield _wrong(f"{key}.type", f"is one of {', '.join(TYPES)}, not {kind!r}", suggestion(str(kind), TYPES))
    if not _rows(entry):
        yield _wrong(key, "has no jsonl_fpath")
    if kind == "benchmark" and not _text(entry, "prepare_script"):
        yield _wrong(
            key, "a benchmark data set needs a prepare_script", "prepare(output) writes the rows and returns the path"
        )
    if "num_repeats" in entry and not _count(entry["num_repeats"]):
        yield _wrong(f"{key}.num_repeats", f"is a whole number of 1 or more, not {entry['num_repeats']!r}")
    if not isinstance(entry.get("prepare_script_args", {}), Mapping):
        yield _wrong(f"{key}.prepare_script_args", "is a mapping of argument names to values")
    given = entry.get("license")
    if given is None and kind in ("train", "validation"):
        yield _wrong(key, f"a {kind} data set needs a license", f"one of: {', '.join(LICENSES)}")
    elif given is not None and given not in LICENSES:
        hint = suggestion(str(given), LICENSES) or f"one of: {', '.join(LICENSES)}"
        yield _wrong(f"{key}.license", f"no known license: {given}", hint)
    source = entry.get("source")
    if source is not None and (not isinstance(source, Mapping) or source.get("type") not in SOURCES):
        yield _wrong(f"{key}.source", f"is a mapping whose type is one of {', '.join(SOURCES)}")
    if source is not None and any(f"{site}_identifier" in entry for site in SOURCES):
        yield _wrong(f"{key}.source", "stands beside an older *_identifier; give one of them")


def absent(rows: Dataset, key: str, roots: Sequence[Path]) -> Iterator[ConfigProblem]:
    """Files that an entry names and that no root has; the rows themselves may be made later."""
    for name in ("prepare_script", "prompt_config"):
        given = rows.fields.get(name)
        if isinstance(given, str) and find(given, roots) is None:
            yield _wrong(f"{key}.{name}", f"no such file: {given}")


def _rows(entry: Mapping[str, Any]) -> str:
    given, script = _text(entry, "jsonl_fpath"), _text(entry, "prepare_script")
    if given or not script or entry.get("type") != "benchmark":
        return given or ""
    return (PurePosixPath(script).parent / "data" / f"{entry.get('name')}_benchmark.jsonl").as_posix()


def _text(entry: Mapping[str, Any], key: str) -> str | None:
    given = entry.get(key)
    return given if isinstance(given, str) and given else None


def _count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def _wrong(key: str, message: str, hint: str = "") -> ConfigProblem:
    return ConfigProblem(kind="dataset", key=key, message=message, hint=hint)
