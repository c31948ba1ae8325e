"""Rows of a data set, read from lines; a line that cannot be used is an error with its place, before anything runs."""

from __future__ import annotations

import codecs
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from string import Formatter
from typing import Any

import msgspec

from blade.model.errors import RequestError
from blade_gym.config import yaml_file
from blade_gym.config.roots import find


class RowsToRun(msgspec.Struct, frozen=True, kw_only=True):
    """A file of rows, and how its rows are run."""

    path: Path
    shown: str
    """The path as it was given."""
    agent: str | None = None
    """For rows that name none."""
    repeats: int = 1
    prompt: PromptTemplate | None = None


class SourceLine(msgspec.Struct, frozen=True, kw_only=True):
    """One line of a data set."""

    source: RowsToRun
    number: int
    text: bytes
    row: dict[str, Any]

    @property
    def place(self) -> str:
        """File and line."""
        return f"{self.source.shown}:{self.number}"


def lines(source: RowsToRun) -> Iterator[SourceLine]:
    """The rows in order; blank lines are passed over."""
    if not source.path.is_file():
        raise RequestError(f"no such file: {source.shown}", hint="check --input, or the data set's jsonl_fpath")
    data = source.path.read_bytes()
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise RequestError(
            f"{source.shown}: the file is not UTF-8 (it looks like UTF-16)",
            hint="convert it: iconv -f UTF-16 -t UTF-8 FILE > NEW",
        )
    for number, raw in enumerate(data.splitlines(), 1):
        text = raw.strip()
        if not text:
            continue
        try:
            row = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise RequestError(
                f"{source.shown}:{number}: not JSON: {error}", hint="each line is a JSON object"
            ) from None
        if not isinstance(row, dict):
            raise RequestError(f"{source.shown}:{number}: not an object", hint="each line is a JSON object")
        yield SourceLine(source=source, number=number, text=text, row=row)


class PromptTemplate(msgspec.Struct, frozen=True, kw_only=True):
    """Templates, and the file that they come from."""

    path: str
    sha256: str
    user: str
    system: str | None = None

    def fill(self, row: Mapping[str, Any], place: str) -> list[dict[str, str]]:
        """The messages for a row; raises for a field that it does not have."""
        system = [] if self.system is None else [{"role": "system", "content": _filled(self.system, row, place)}]
        return [*system, {"role": "user", "content": _filled(self.user, row, place)}]


def read_prompt(name: str, roots: Sequence[Path]) -> PromptTemplate:
    """The prompt config of that name under the roots; raises where it is none."""
    path = find(name, roots)
    if path is None:
        raise RequestError(f"no such prompt config: {name}", hint="a YAML file with `user`, and `system` if wanted")
    try:
        value = yaml_file.read(path)
    except yaml_file.Unreadable as error:
        raise RequestError(f"{path}: {error}", hint="a YAML file with `user`, and `system` if wanted") from None
    unknown = sorted(str(name) for name in value.keys() - {"user", "system"})
    if unknown:
        raise RequestError(
            f"{path}: nothing reads {', '.join(unknown)}", hint="a prompt config has `user` and `system`"
        )
    user, system = value.get("user"), value.get("system")
    if not isinstance(user, str) or not isinstance(system, str | None):
        raise RequestError(f"{path} has no text `user`", hint="user: the prompt, with {field} places")
    for text in (user, system or ""):
        _fields(text, str(path))
    return PromptTemplate(path=name, sha256=hashlib.sha256(path.read_bytes()).hexdigest(), user=user, system=system)


def _fields(text: str, path: str) -> list[str]:
    """The fields of a template. Anything cleverer than a name is refused: rows are flat, and a format would round in silence."""
    try:
        places = [place for place in Formatter().parse(text) if place[1] is not None]
    except ValueError as error:
        raise RequestError(f"{path}: {error}", hint="write {{ and }} for braces") from None
    odd = sorted(
        {str(name) for _, name, spec, conversion in places if not str(name).isidentifier() or spec or conversion}
    )
    if odd:
        raise RequestError(f"{path}: not a field: {', '.join(odd)}", hint="write {{ and }} for braces")
    return [str(name) for _, name, _, _ in places]


def _filled(text: str, row: Mapping[str, Any], place: str) -> str:
    """The template with the row's fields as Python prints them, which is how NeMo Gym fills it."""
    missing = [name for name in _fields(text, place) if name not in row]
    if missing:
        raise RequestError(
            f"{place}: the prompt wants the field {missing[0]}, which the row does not have",
            hint=f"it has: {', '.join(map(str, row))}",
        )
    return text.format_map(row)
