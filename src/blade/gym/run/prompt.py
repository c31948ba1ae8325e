"""Prompt configs: `{user, system?}` with `{field}` places, filled from a row."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Formatter
from typing import Any

from blade.core.errors import RequestError
from blade.gym.config import yaml_file
from blade.gym.config.roots import find


@dataclass(frozen=True, kw_only=True)
class Prompt:
    """Templates, and the file that they come from."""

    path: str
    sha256: str
    user: str
    system: str | None = None

    def fill(self, row: Mapping[str, Any], place: str) -> list[dict[str, str]]:
        """The messages for a row; raises for a field that it does not have."""
        system = [{"role": "system", "content": _filled(self.system, row, place)}] if self.system else []
        return [*system, {"role": "user", "content": _filled(self.user, row, place)}]


def read_prompt(name: str, roots: Sequence[Path]) -> Prompt:
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
    return Prompt(path=name, sha256=hashlib.sha256(path.read_bytes()).hexdigest(), user=user, system=system)


def _fields(text: str, path: str) -> list[tuple[str, str | None]]:
    """Texts and the plain fields after them; anything cleverer than a name is refused."""
    try:
        pieces = [(before, field) for before, field, spec, conversion in Formatter().parse(text)]
    except ValueError as error:
        raise RequestError(f"{path}: {error}", hint="write {{ and }} for braces") from None
    odd = sorted({field for _, field in pieces if field is not None and not field.isidentifier()})
    if odd:
        raise RequestError(f"{path}: not a field: {', '.join(odd)}", hint="write {{ and }} for braces")
    return pieces


def _filled(text: str, row: Mapping[str, Any], place: str) -> str:
    filled = []
    for before, field in _fields(text, place):
        filled.append(before)
        if field is None:
            continue
        if field not in row:
            raise RequestError(
                f"{place}: the prompt wants the field {field}, which the row does not have",
                hint=f"it has: {', '.join(map(str, row))}",
            )
        value = row[field]
        filled.append(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
    return "".join(filled)
