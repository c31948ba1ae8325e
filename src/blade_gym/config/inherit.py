"""`_inherit_from` moves another block here, `_copy` copies it, `_delete_key` drops keys; own keys win.

`${inherit_from:a.b}` and `${copy:a.b}` say the same in the place of a value. What a block inherits may itself inherit.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from blade_gym.config.problem import ConfigProblem, suggestion
from blade_gym.config.tree import Absent as _Absent
from blade_gym.config.tree import Tree, lookup, merged, parts, without

MOVE, COPY, DELETE = "_inherit_from", "_copy", "_delete_key"
_FORM = re.compile(r"\$\{(inherit_from|copy):\s*([^{}]+?)\s*\}")


def inherited(tree: Tree) -> tuple[Tree, dict[str, str], list[ConfigProblem]]:
    """The tree with every block filled in; which key took its values from where; what could not be found."""
    work = _Work(tree=tree)
    result = work.filled(tree, ())
    for source in work.moved:
        result = without(result, parts(source))
    return _trimmed(result), work.origins, work.problems


@dataclass(kw_only=True)
class _Work:
    tree: Tree
    moved: list[str] = field(default_factory=list)
    origins: dict[str, str] = field(default_factory=dict)
    problems: list[ConfigProblem] = field(default_factory=list)
    _under_way: list[str] = field(default_factory=list)

    def filled(self, node: Any, at: tuple[str, ...]) -> Any:
        """`node` with what it inherits, all the way down."""
        if isinstance(node, str) and (form := _FORM.fullmatch(node.strip())):
            return self._taken(form[2], at, move=form[1] == "inherit_from")
        if isinstance(node, list):
            return [self.filled(value, (*at, str(index))) for index, value in enumerate(node)]
        if not isinstance(node, Mapping):
            return node
        own = {str(key): self.filled(value, (*at, str(key))) for key, value in node.items() if key not in (MOVE, COPY)}
        for directive in (COPY, MOVE):
            if directive in node:
                own = merged(self._taken(str(node[directive]), at, move=directive == MOVE), own)
        return own

    def _taken(self, source: str, at: tuple[str, ...], *, move: bool) -> Any:
        target = ".".join(at)
        if source in self._under_way or f"{target}.".startswith(f"{source}."):
            self._wrong(target, f"inherits from itself by way of {source}")
            return {}
        self._under_way.append(source)
        try:
            found = self.filled(self._source(source), at)
        except _Absent as absent:
            hint = suggestion(parts(source)[-1] if parts(source) else source, absent.known)
            self._wrong(target, f"inherits from {source}, which no config defines", hint)
            return {}
        finally:
            self._under_way.pop()
        self.origins[target] = source
        if move:
            self.moved.append(source)
        return found

    def _source(self, source: str) -> Any:
        """The block as it stands in the files; a block on the way to it is filled in where the key is not its own."""
        node: Any = self.tree
        for depth, part in enumerate(parts(source)):
            if isinstance(node, Mapping) and part not in node and (MOVE in node or COPY in node):
                node = self.filled(node, tuple(parts(source)[:depth]))
            node = lookup(node, part)
        return node

    def _wrong(self, key: str, message: str, hint: str = "") -> None:
        self.problems.append(ConfigProblem(kind="inherit", key=key, message=message, hint=hint))


def _trimmed(node: Any) -> Any:
    """Without the keys that `_delete_key` names, and without that key."""
    if isinstance(node, list):
        return [_trimmed(value) for value in node]
    if not isinstance(node, Mapping):
        return node
    named = node.get(DELETE, "")
    names = named if isinstance(named, list) else [name.strip() for name in str(named).split(",")]
    return {key: _trimmed(value) for key, value in node.items() if key not in names and key != DELETE}
