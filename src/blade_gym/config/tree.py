"""Dotted keys and merging: mappings are merged key by key, everything else is replaced."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Tree = dict[str, Any]


class Absent(Exception):
    """No value under that key; `part` was not found among the names that are `known` there."""

    def __init__(self, key: str, part: str, known: Sequence[str]) -> None:
        super().__init__(key)
        self.part = part
        self.known = known


def merged(under: Any, over: Any) -> Any:
    """`over` on top of `under`; neither is changed, and lists are replaced whole."""
    if not (isinstance(under, Mapping) and isinstance(over, Mapping)):
        return over
    result = dict(under)
    for key, value in over.items():
        result[key] = merged(result[key], value) if key in result else value
    return result


def parts(key: str) -> list[str]:
    """`a.b.0` and `a.b[0]` as their parts."""
    return [part for part in key.replace("[", ".").replace("]", "").split(".") if part]


def lookup(tree: Any, key: str) -> Any:
    """The value under a dotted key; raises Absent."""
    node = tree
    for part in parts(key):
        if isinstance(node, Mapping) and part in node:
            node = node[part]
        elif isinstance(node, Sequence) and not isinstance(node, str) and part.isdigit() and int(part) < len(node):
            node = node[int(part)]
        else:
            raise Absent(key, part, [str(name) for name in node] if isinstance(node, Mapping) else [])
    return node


def assigned(tree: Any, path: Sequence[str], value: Any) -> Any:
    """A copy of `tree` with the value under that path; mappings are made as needed."""
    if not path:
        return value
    first, rest = path[0], path[1:]
    if isinstance(tree, list) and first.isdigit() and int(first) < len(tree):
        index = int(first)
        return [*tree[:index], assigned(tree[index], rest, value), *tree[index + 1 :]]
    inner = dict(tree) if isinstance(tree, Mapping) else {}
    inner[first] = assigned(inner.get(first), rest, value)
    return inner


def without(tree: Any, path: Sequence[str]) -> Any:
    """A copy of `tree` in which nothing stands under that path."""
    if isinstance(tree, list) and path and path[0].isdigit() and int(path[0]) < len(tree):
        index = int(path[0])
        kept = [] if len(path) == 1 else [without(tree[index], path[1:])]
        return [*tree[:index], *kept, *tree[index + 1 :]]
    if not isinstance(tree, Mapping) or not path or path[0] not in tree:
        return tree
    if len(path) == 1:
        return {key: value for key, value in tree.items() if key != path[0]}
    return {key: without(value, path[1:]) if key == path[0] else value for key, value in tree.items()}


def leaves(tree: Any, at: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every value that is neither mapping nor list, with its path."""
    if isinstance(tree, Mapping):
        for key, value in tree.items():
            yield from leaves(value, (*at, str(key)))
    elif isinstance(tree, list | tuple):
        for index, value in enumerate(tree):
            yield from leaves(value, (*at, str(index)))
    else:
        yield at, tree
