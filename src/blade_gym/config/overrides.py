"""`+key=value`, `++key=value`, `key=value` and `~key` from the command line; values are YAML."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from blade_gym.config import yaml_file
from blade_gym.config.problem import ConfigProblem, suggestion
from blade_gym.config.tree import Absent, Tree, assigned, lookup, parts, without


def overridden(tree: Tree, tokens: Iterable[str]) -> tuple[Tree, list[ConfigProblem]]:
    """The tree with every token applied in order. A bare `key=value` changes a key that is there and `~key` drops
    one; `+` also adds one.
    """
    problems: list[ConfigProblem] = []
    for token in tokens:
        if token.startswith("~"):
            name = token[1:].partition("=")[0]
            problems += _unknown(tree, name, "there is nothing to drop")
            tree = without(tree, parts(name))
            continue
        name, equals, text = token.lstrip("+").partition("=")
        if not equals or not parts(name):
            hint = "options are --name value, or +key=value"
            problems.append(ConfigProblem(kind="override", message=f"unexpected argument: {token}", hint=hint))
            continue
        if not token.startswith("+"):
            problems += _unknown(tree, name, f"+{token} adds it")
        tree = assigned(tree, parts(name), value(text))
    return tree, problems


def value(text: str) -> Any:
    """The value that a person meant: YAML where it is a number, a word, `[...]` or `{...}`; else the text itself."""
    if not text.strip():
        return ""
    try:
        found = yaml_file.parse(text)
    except yaml_file.Unreadable:
        return text
    if text.lstrip().startswith("{") and isinstance(found, dict):
        return dict(_pair(key, inner) for key, inner in found.items())
    if isinstance(found, dict) or (isinstance(found, list) and not text.lstrip().startswith("[")):
        return text
    return found


def _pair(key: Any, inner: Any) -> tuple[str, Any]:
    """`{a:2}` without a space is `a: 2` to whoever types it."""
    name, colon, rest = str(key).partition(":")
    return (name, value(rest)) if inner is None and colon else (str(key), inner)


def _unknown(tree: Tree, name: str, otherwise: str) -> list[ConfigProblem]:
    try:
        lookup(tree, name)
    except Absent as absent:
        hint = suggestion(absent.part, absent.known) or otherwise
        return [ConfigProblem(kind="override", key=name, message="no config has this key", hint=hint)]
    return []
