"""Finding the rules: one file each, whose docstring is the rule's page."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable
from typing import NamedTuple, Protocol, TypeVar

from blade.rules.declaration import Detector, Rule

HEADINGS = ("Why it matters", "What to do", "Limits")
FAMILIES = {"answer": "ANS", "behavior": "BEH", "data": "DAT", "infra": "INF", "task": "TSK"}


class Loaded(NamedTuple):
    """A rule and what runs it."""

    rule: Rule
    detector: Detector


class Declared(Protocol):
    """What a decorator of rules makes of a function."""

    @property
    def code(self) -> str: ...
    @property
    def body(self) -> Callable[..., object]: ...


class File(NamedTuple):
    """What a rule's file says about it: its name, its family, its message and its sections."""

    name: str
    family: str
    message: str
    sections: tuple[tuple[str, str], ...]


D = TypeVar("D", bound=Declared)


def rule_files(package: str, kind: type[D]) -> list[tuple[File, D]]:
    """Every rule of a kind under `package`, by code; ValueError when a file breaks the form or a code is used twice."""
    path = importlib.import_module(package).__path__
    modules = [module.name for module in pkgutil.walk_packages(path, package + ".") if not module.ispkg]
    found = [_rule_file(package, name, kind) for name in modules if not name.rpartition(".")[2].startswith("_")]
    owners: dict[str, str] = {}
    for file, declared in sorted(found, key=lambda one: one[0].name):
        if declared.code in owners:
            raise ValueError(f"{declared.code} is the code of both {owners[declared.code]} and {file.name}")
        owners[declared.code] = file.name
    return sorted(found, key=lambda one: one[1].code)


def _rule_file(package: str, path: str, kind: type[D]) -> tuple[File, D]:
    family, _, name = path.removeprefix(package + ".").rpartition(".")
    module = importlib.import_module(path)
    declared = getattr(module, name, None)
    if not isinstance(declared, kind) or declared.body.__name__ != name:
        raise ValueError(f"{path}: no function {name} under its decorator; file and function have one name")
    if not declared.code.startswith(FAMILIES.get(family, "?")):
        raise ValueError(f"{path}: {declared.code} is no code of the family {family!r}")
    message, sections = _read_docstring(path, module.__doc__)
    return File(name.replace("_", "-"), family, message, sections), declared


def load(package: str) -> tuple[Loaded, ...]:
    """Every rule over rollouts under `package`, by code; ValueError when a file breaks the form or a code is used twice."""
    return tuple(_loaded(file, declared) for file, declared in rule_files(package, Detector))


def _loaded(file: File, declared: Detector) -> Loaded:
    rule = Rule(
        code=declared.code,
        cause=declared.suggests,
        kind=declared.kind,
        reads=declared.reads,
        scope=declared.scope,
        status=declared.status,
        **file._asdict(),
    )
    return Loaded(rule, declared)


def _read_docstring(path: str, docstring: str | None) -> tuple[str, tuple[tuple[str, str], ...]]:
    message, _, rest = inspect.cleandoc(docstring or "").partition("\n")
    sections: list[tuple[str, list[str]]] = []
    for line in rest.splitlines():
        if line and not line.startswith(" "):
            sections.append((line, []))
        elif sections:
            sections[-1][1].append(line)
    texts = tuple((heading, inspect.cleandoc("\n".join(["", *lines])).strip()) for heading, lines in sections)
    if not message or tuple(heading for heading, text in texts if text) != HEADINGS:
        raise ValueError(f"{path}: the docstring is a message and the sections {', '.join(HEADINGS)}")
    return message, texts
