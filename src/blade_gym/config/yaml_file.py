"""YAML as configs need it: dates stay text, `1e-6` is a number, and a key can be traced to its line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import yaml

_FLOAT = re.compile(
    r"^(?:[-+]?\d[\d_]*\.[\d_]*(?:[eE][-+]?\d+)?|[-+]?\d[\d_]*[eE][-+]?\d+|[-+]?\.\d[\d_]*(?:[eE][-+]?\d+)?"
    r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$"
)
_DEEPEST = 40
"""Values inside of one another: real configs have 10, and OmegaConf ends with a RecursionError at about 70."""
_SETS_ASIDE = ("tag:yaml.org,2002:timestamp", "tag:yaml.org,2002:float")


class Unreadable(Exception):
    """A file that holds no mapping; `line` says where reading stopped."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line


@cache
def _loader() -> type[yaml.SafeLoader]:
    fastest: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    loader: Any = type("ConfigLoader", (fastest,), {})
    loader.yaml_implicit_resolvers = {
        first: [(tag, pattern) for tag, pattern in resolvers if tag not in _SETS_ASIDE]
        for first, resolvers in fastest.yaml_implicit_resolvers.items()
    }
    loader.add_implicit_resolver(_SETS_ASIDE[1], _FLOAT, list("-+0123456789."))
    made: type[yaml.SafeLoader] = loader
    return made


def parse(text: str) -> Any:
    """The value of a YAML text; raises Unreadable."""
    try:
        value = yaml.load(text, Loader=_loader())  # noqa: S506 - the loader is a SafeLoader
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise Unreadable(error.problem or "no valid YAML", mark.line + 1 if mark else None) from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        first_line = str(error).partition("\n")[0]
        raise Unreadable(f"no valid YAML: {first_line}") from None
    if fault := _fault(value, set(), set()):
        raise Unreadable(fault)
    return value


def read(path: Path) -> dict[str, Any]:
    """The mapping in a file, empty for an empty file; raises Unreadable."""
    try:
        value = parse(path.read_text("utf-8-sig"))
    except UnicodeDecodeError:
        raise Unreadable("no UTF-8 text") from None
    except OSError as error:
        raise Unreadable(f"cannot be read: {error.strerror or error}") from None
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise Unreadable("no mapping of keys to values", 1)
    return {str(key): inner for key, inner in value.items()}


def _fault(node: Any, above: set[int], done: set[int]) -> str:
    """Why a value cannot be used: an alias leads back to a value that holds it, or it is too deep to be walked."""
    if not isinstance(node, dict | list) or id(node) in done:
        return ""
    if id(node) in above:
        return "a value that holds itself"
    if len(above) > _DEEPEST:
        return f"more than {_DEEPEST} values inside of one another"
    above.add(id(node))
    inside = node.values() if isinstance(node, dict) else node
    fault = next((fault for value in inside if (fault := _fault(value, above, done))), "")
    above.discard(id(node))
    done.add(id(node))
    return fault


def repeated(path: Path) -> list[tuple[str, int]]:
    """Keys that one mapping of the file has twice, of which the last would win in silence; with their lines."""
    try:
        node = _composed(path.read_text("utf-8-sig"))
    except (OSError, ValueError):
        return []
    return list(_repeated(node, (), set()))


def _repeated(node: yaml.Node | None, at: tuple[str, ...], met: set[int]) -> Iterator[tuple[str, int]]:
    if id(node) in met:  # an alias
        return
    met.add(id(node))
    if isinstance(node, yaml.SequenceNode):
        for index, inner in enumerate(node.value):
            yield from _repeated(inner, (*at, str(index)), met)
    elif isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, inner in node.value:
            name = str(key.value)
            if name in seen and name != "<<":
                yield ".".join((*at, name)), key.start_mark.line + 1
            seen.add(name)
            yield from _repeated(inner, (*at, name), met)


def line_of(path: Path, key: Sequence[str]) -> tuple[int, int]:
    """How many parts of a dotted key the file has, and the line (from 1) of the last of them."""
    try:
        node = _composed(path.read_text("utf-8-sig"))
    except (OSError, ValueError):
        return 0, 1
    depth, line = 0, 1
    for part in key:
        if isinstance(node, yaml.MappingNode):
            named, node = next(((name, value) for name, value in node.value if name.value == part), (None, None))
        elif isinstance(node, yaml.SequenceNode) and part.isdecimal() and int(part) < len(node.value):
            named = node = node.value[int(part)]
        else:
            break
        if named is None:
            break
        depth, line = depth + 1, named.start_mark.line + 1
    return depth, line


@cache
def _composed(text: str) -> yaml.Node | None:
    try:
        node: yaml.Node | None = yaml.compose(text, Loader=_loader())
    except (yaml.YAMLError, ValueError, RecursionError):
        return None
    return node


def dump(value: Mapping[str, Any]) -> str:
    """YAML text in the order of the keys; the same value gives the same text."""
    text: str = yaml.dump(_plain(value), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=120)
    return text


class _Dumper(yaml.SafeDumper):
    """Writes each value in full: no anchors."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


# Text that reads as a number here is quoted.
_Dumper.add_implicit_resolver(_SETS_ASIDE[1], _FLOAT, list("-+0123456789."))


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return value if isinstance(value, bool | int | float | str) or value is None else str(value)
