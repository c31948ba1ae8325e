"""`${key}`, `${.sibling}`, `${oc.env:NAME,default}`; `???` is a value that somebody must still give."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from blade_gym.config.problem import ConfigProblem, suggestion
from blade_gym.config.tree import Absent, Tree, leaves, lookup

MISSING = "???"
SECRET = "policy_api_key"
_MODEL = "policy_model.responses_api_models"
OPTIONS = {
    "policy_base_url": "--model-url URL",
    "policy_model_name": "--model NAME",
    f"{_MODEL}.scripted_model.policy": "--model NAME (`gym list models scripted_model` has the names)",
    f"{_MODEL}.replay_model.replay_path": "--model FILE, of rollouts,",
}
"""Settings that have an option of their own."""
_INNERMOST = re.compile(r"(?<!\\)\$\{([^${}]*)\}")


def interpolated(tree: Tree) -> tuple[Tree, list[ConfigProblem]]:
    """The tree with every reference replaced by its value; one problem for each value that is not there."""
    work = _Work(tree=tree)
    result = work.walk(tree, ())
    missing = [".".join(at) for at, value in leaves(result) if value == MISSING]
    needed = [key for key in missing if key not in work.passed_on]
    work.problems += [_missing(key) for key in needed]
    return result, work.problems


def _missing(key: str) -> ConfigProblem:
    return ConfigProblem(kind="missing", key=key, message="has no value", hint=_how_to_give(key))


def _how_to_give(key: str) -> str:
    if key == SECRET:
        return f"set --model-api-key, POLICY_API_KEY or {SECRET} in env.yaml (use an empty value if the endpoint needs no key)"
    return f"{OPTIONS.get(key, f'+{key}=VALUE')} gives it, or env.yaml"


@dataclass(kw_only=True)
class _Work:
    tree: Tree
    problems: list[ConfigProblem] = field(default_factory=list)
    passed_on: set[str] = field(default_factory=set)
    """Keys whose value is missing because another key's is; the other one is named."""
    _under_way: list[str] = field(default_factory=list)

    def walk(self, node: Any, at: tuple[str, ...]) -> Any:
        if isinstance(node, Mapping):
            return {key: self.walk(value, (*at, str(key))) for key, value in node.items()}
        if isinstance(node, list):
            return [self.walk(value, (*at, str(index))) for index, value in enumerate(node)]
        return self.text(node, at) if isinstance(node, str) else node

    def text(self, text: str, at: tuple[str, ...]) -> Any:
        """A string with its references replaced; a string that is one reference takes the value's type."""
        for _ in range(100):
            found = _INNERMOST.search(text)
            if found is None:
                return text.replace("\\${", "${")
            value = self.value(found[1].strip(), at)
            if value == MISSING and isinstance(value, str):
                self.passed_on.add(".".join(at))
                return MISSING
            if found.span() == (0, len(text)):
                return value
            text = text[: found.start()] + ("" if value is None else _shown(value)) + text[found.end() :]
        self._wrong(at, "refers to other keys without an end")
        return MISSING

    def value(self, reference: str, at: tuple[str, ...]) -> Any:
        """What a reference stands for; MISSING, with a problem noted, where there is nothing."""
        if reference.startswith("oc.env:"):
            return self._variable(reference.removeprefix("oc.env:"), at)
        key = _absolute(reference, at)
        if key in self._under_way:
            self._wrong(at, f"refers to itself by way of {key}")
            return MISSING
        self._under_way.append(key)
        try:
            return self.walk(lookup(self.tree, key), tuple(key.split(".")))
        except Absent as absent:
            self._wrong(at, f"needs {key}, which nothing defines", _remedy(key, list(absent.known)))
            return MISSING
        finally:
            self._under_way.pop()

    def _variable(self, words: str, at: tuple[str, ...]) -> Any:
        name, comma, default = words.partition(",")
        found = os.environ.get(name.strip(), default.strip() if comma else None)
        if found is None:
            self._wrong(at, f"needs the environment variable {name.strip()}, which is not set")
            return MISSING
        return found

    def _wrong(self, at: tuple[str, ...], message: str, hint: str = "") -> None:
        self.passed_on.add(".".join(at))
        problem = ConfigProblem(kind="interpolation", key=".".join(at), message=message, hint=hint)
        if problem not in self.problems:
            self.problems.append(problem)


def _remedy(key: str, known: list[str]) -> str:
    named = key in OPTIONS or key == SECRET
    close = "" if named else suggestion(key.rsplit(".", maxsplit=1)[-1], known)
    return close or _how_to_give(key)


def _absolute(reference: str, at: tuple[str, ...]) -> str:
    """`.x` is a sibling of the key, `..x` a sibling of its parent."""
    name = reference.lstrip(".")
    up = len(reference) - len(name)
    return ".".join((*at[: len(at) - up], name)) if up else name


def _shown(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
