"""Values of a config, with the rules of OmegaConf: words of the command line, `${key}`, `${oc.env:NAME,default}`, `???`.

OmegaConf is imported where it is first needed: listing benchmarks does without it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from blade.model.errors import RequestError
from blade_gym.config import yaml_file
from blade_gym.config.compose import MISSING, Absent, Tree, lookup, parts
from blade_gym.config.problem import ConfigProblem, suggestion

SECRET = "policy_api_key"
_MODEL = "policy_model.responses_api_models"
OPTIONS = {
    "policy_base_url": "--model-url URL",
    "policy_model_name": "--model NAME",
    f"{_MODEL}.scripted_model.policy": "--model NAME (`gym list models scripted_model` has the names)",
    f"{_MODEL}.replay_model.replay_path": "--model FILE, of rollouts,",
}
"""Settings that have an option of their own."""
_OBJECTS = {"allow_objects": True}
"""YAML may hold a date or a set."""
_ABSENT = re.compile(r"Interpolation key '([^']*)' not found(?: \(resolved to '([^']*)'\))?")
_VARIABLE = re.compile(r"Environment variable '([^']*)' not found")
_REFERENCE = re.compile(r"\$\{\s*([^${}]*?)\s*\}")
_NESTED = re.compile(r"\$\{[^{}]*\$\{")
_DEEPEST = 100
"""Mappings inside of one another by way of references; real configs reach 6."""


def overridden(tree: Tree, tokens: Sequence[str]) -> tuple[Tree, list[ConfigProblem]]:
    """The tree with every token applied in order. A bare `key=value` changes a key that is there and `~key` drops
    one; `+` and `++` also add one. A mapping merges with the mapping that is there.
    """
    tree, problems = _readable(tree)
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException

    config = OmegaConf.create(tree, flags=_OBJECTS)
    for token in tokens:
        drop = token.startswith("~")
        name, equals, text = token.lstrip("~" if drop else "+").partition("=")
        path = parts(name)
        if not path or not (equals or drop):
            hint = "options are --name value, or +key=value"
            problems.append(ConfigProblem(kind="override", message=f"unexpected argument: {token}", hint=hint))
            continue
        try:
            if not token.startswith("+"):
                lookup(_plain(config), name)
        except Absent as absent:
            hint = suggestion(absent.part, absent.known) or (
                "there is nothing to drop" if drop else f"+{token} adds it"
            )
            problems.append(ConfigProblem(kind="override", key=name, message="no config has this key", hint=hint))
            if drop:
                continue
        try:
            if drop:
                holder = OmegaConf.select(config, ".".join(path[:-1])) if path[1:] else config
                del holder[int(path[-1]) if OmegaConf.is_list(holder) else path[-1]]
            else:
                OmegaConf.update(config, ".".join(path), override_value(text), force_add=True)
        except (OmegaConfBaseException, LookupError, TypeError, ValueError) as error:
            message = f"cannot be set to {text}: {_first_line(error)}"
            problems.append(ConfigProblem(kind="override", key=name, message=message))
    return _plain(config), problems


def override_value(text: str) -> Any:
    """The value that a person meant: YAML where it is a number, a word, `[...]` or `{...}`; else the text itself."""
    if not text.strip():
        return ""
    try:
        value = yaml_file.parse(text)
    except yaml_file.Unreadable:
        return text
    if text.lstrip().startswith("{") and isinstance(value, dict):
        # `{a:2}` without a space is `a: 2` to whoever types it.
        pairs = [(str(key), *str(key).partition(":"), inner) for key, inner in value.items()]
        return {
            name if colon and inner is None else key: override_value(rest) if colon and inner is None else inner
            for key, name, colon, rest, inner in pairs
        }
    if isinstance(value, dict) or (isinstance(value, list) and not text.lstrip().startswith("[")):
        return text
    return value


def interpolated(tree: Tree) -> tuple[Tree, list[ConfigProblem]]:
    """The tree with every reference replaced by its value; one problem for each value that is not there."""
    tree, problems = _readable(tree)
    from omegaconf import OmegaConf

    work = _Interpolation(tree=tree, problems=problems)
    result = work.filled(OmegaConf.create(tree, flags=_OBJECTS), (), [])
    return result, list(dict.fromkeys([*problems, *work.missing]))


class _Interpolation(msgspec.Struct, kw_only=True):
    tree: Tree
    problems: list[ConfigProblem]
    missing: list[ConfigProblem] = []

    def filled(self, node: Any, at: tuple[str, ...], above: list[Any], *, noting: bool = True) -> Any:
        """A mapping or list of OmegaConf without references. Behind a reference nothing is noted: it is where it stands itself."""
        from omegaconf import Container, OmegaConf
        from omegaconf.errors import InterpolationToMissingValueError, MissingMandatoryValue, OmegaConfBaseException

        mapping = OmegaConf.is_dict(node)
        result = {}
        for key in list(node) if mapping else range(len(node)):
            where = (*at, str(key)) if noting else at
            try:
                value: Any = node[key]
                if isinstance(value, Container):
                    referred = not noting or OmegaConf.is_interpolation(node, key)
                    if any(value is one for one in above) or len(above) > _DEEPEST:
                        raise RecursionError
                    value = self.filled(value, where, [*above, value], noting=not referred)
            except InterpolationToMissingValueError:
                value = MISSING  # noted where it is missing
            except MissingMandatoryValue:
                value, name = MISSING, ".".join(where)
                if noting:
                    hint = _how_to_give(name)
                    self.missing.append(ConfigProblem(kind="missing", key=name, message="has no value", hint=hint))
            except (OmegaConfBaseException, RecursionError) as error:
                value = MISSING
                if noting or isinstance(error, RecursionError):
                    self._note(where, error, raw=str(_plain(node)[key]))
            result[key] = value
        return result if mapping else list(result.values())

    def _note(self, at: tuple[str, ...], error: Exception, raw: str) -> None:
        """What is wrong with the value of a key, unless the fault is that of a key that it refers to."""
        text, hint = _first_line(error), ""
        if (variable := _VARIABLE.search(text)) is not None:
            culprit, message = variable[1], f"needs the environment variable {variable[1]}, which is not set"
        elif (absent := _ABSENT.match(text)) is not None:
            culprit, key = absent[1], absent[2] or absent[1]
            message, hint = f"needs {key}, which nothing defines", self._remedy(key)
        elif isinstance(error, RecursionError) or "Recurs" in text or "parent node" in text:
            culprit = next(iter(_REFERENCE.findall(raw)), "")
            message = f"refers to itself by way of {culprit}"
        else:
            culprit, message = "", f"cannot be filled in: {text}"
        if culprit in raw or _NESTED.search(raw):
            self.problems.append(ConfigProblem(kind="interpolation", key=".".join(at), message=message, hint=hint))

    def _remedy(self, key: str) -> str:
        if key not in OPTIONS and key != SECRET:
            try:
                lookup(self.tree, key)
            except Absent as absent:
                if close := suggestion(key.rsplit(".", maxsplit=1)[-1], absent.known):
                    return close
        return _how_to_give(key)


def _how_to_give(key: str) -> str:
    if key == SECRET:
        return f"set --model-api-key, POLICY_API_KEY or {SECRET} in env.yaml (use an empty value if the endpoint needs no key)"
    return f"{OPTIONS.get(key, f'+{key}=VALUE')} gives it, or env.yaml"


def _readable(tree: Tree) -> tuple[Tree, list[ConfigProblem]]:
    """A copy without the texts that OmegaConf cannot parse as references, with a problem for each.

    Raises RequestError where OmegaConf is not installed.
    """
    try:
        from omegaconf import OmegaConf
        from omegaconf.errors import GrammarParseError
    except ImportError:
        message = "resolving a config needs omegaconf, which is not installed"
        raise RequestError(message, hint="pip install 'blade-bench[gym]'") from None

    problems = []

    def copied(node: Any, at: tuple[str, ...]) -> Any:
        if isinstance(node, Mapping):
            return {str(key): copied(value, (*at, str(key))) for key, value in node.items()}
        if isinstance(node, list | tuple):
            return [copied(value, (*at, str(index))) for index, value in enumerate(node)]
        if isinstance(node, str) and "${" in node:
            try:
                OmegaConf.create([node])
            except GrammarParseError:
                hint = "${key} refers to a key, \\${ is text"
                message = f"holds a reference that cannot be read: {node}"
                problems.append(ConfigProblem(kind="interpolation", key=".".join(at), message=message, hint=hint))
                return None
        return node

    return copied(tree, ()), problems


def _plain(config: Any) -> Any:
    from omegaconf import OmegaConf

    return OmegaConf.to_container(config)


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]
