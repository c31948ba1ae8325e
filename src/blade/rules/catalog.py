"""The one catalog of rules: found in their files, listed, and shown as pages.

Adding a rule is adding a file `rollout/<family>/<name>.py` or `run/<family>/<name>.py` that holds a function of that
name under `@rule`; its docstring is the rule's page. Nothing is registered anywhere else.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Sequence
from functools import cache
from itertools import groupby

from blade.rules.declaration import Rule, Scope

HEADINGS = ("Why it matters", "What to do", "Limits")
_KINDS = {
    "direct": "by itself enough for failing",
    "associated": "may go with failing; how strongly is measured on each run",
}
_STATUSES = {
    "preview": "shown apart, and decides no cause",
    "stable": "takes part in deciding causes",
}


@cache
def rollout_rules() -> tuple[Rule, ...]:
    """Rules that check single rollouts, by code. Rules over runs are not loaded for them: a worker does without."""
    return load("blade.rules.rollout", "rollout")


@cache
def run_rules() -> tuple[Rule, ...]:
    """Rules that check a whole run and doubt the benchmark rather than the model, by code."""
    return load("blade.rules.run", "run")


@cache
def all_rules() -> tuple[Rule, ...]:
    """Every rule, by code; ValueError when two have one code."""
    return _by_code([*rollout_rules(), *run_rules()])


def load(package: str, scope: Scope) -> tuple[Rule, ...]:
    """Every rule under `package`, by code; ValueError when a file breaks the form or a code is used twice."""
    path = importlib.import_module(package).__path__
    modules = [module.name for module in pkgutil.walk_packages(path, package + ".") if not module.ispkg]
    return _by_code([_rule_in(name, scope) for name in modules if not name.rpartition(".")[2].startswith("_")])


def _by_code(rules: Sequence[Rule]) -> tuple[Rule, ...]:
    owners: dict[str, str] = {}
    for rule in sorted(rules, key=lambda rule: rule.name):
        if rule.code in owners:
            raise ValueError(f"{rule.code} is the code of both {owners[rule.code]} and {rule.name}")
        owners[rule.code] = rule.name
    return tuple(sorted(rules, key=lambda rule: rule.code))


def _rule_in(path: str, scope: Scope) -> Rule:
    """The rule of a file."""
    folder, _, name = path.rpartition(".")
    family = folder.rpartition(".")[2]
    rule = getattr(importlib.import_module(path), name, None)
    if not isinstance(rule, Rule) or rule.name != name.replace("_", "-"):
        raise ValueError(f"{path}: no function {name} under @rule; file and function have one name")
    if rule.family != family or rule.scope != scope:
        raise ValueError(f"{path}: {rule.code} is no code of the family {family!r} over a {scope}")
    if not rule.message or tuple(heading for heading, text in rule.sections if text) != HEADINGS:
        raise ValueError(f"{path}: the docstring is a message and the sections {', '.join(HEADINGS)}")
    return rule


def rule_in_words(code: str) -> str:
    """What a rule over rollouts sees, without its particulars: `the backend of a tool did not work`."""
    message = next(rule.message for rule in rollout_rules() if rule.code == code)
    return _inside_a_sentence(message.partition(":")[0])


def to_do(rule: Rule) -> str:
    """What the rule's page says to do, as part of a sentence."""
    return _inside_a_sentence(" ".join(dict(rule.sections)["What to do"].split()))


def _inside_a_sentence(text: str) -> str:
    text = text.rstrip(".")
    return text[0].lower() + text[1:]


def page(rule: Rule) -> str:
    """The page of one rule, in Markdown."""
    return "\n".join([f"# {_title(rule)}", "", *_body(rule, level=2)])


def catalog_page(rules: Sequence[Rule]) -> str:
    """A table of the rules by family, then the page of each, in Markdown."""
    lines = ["# Rules", "", "Made from the rules' own files; edit those.", ""]
    for family, group in groupby(sorted(rules, key=lambda rule: (rule.family, rule.code)), lambda rule: rule.family):
        lines += [f"## {family.capitalize()}", "", "| code | name | what it sees | suggests | kind | status |"]
        lines += ["| --- | --- | --- | --- | --- | --- |", *map(_row, group), ""]
    for rule in rules:
        lines += [f"## {_title(rule)}", "", *_body(rule, level=3)]
    return "\n".join(lines)


def _title(rule: Rule) -> str:
    return f"{rule.code} {rule.name}"


def _row(rule: Rule) -> str:
    message = rule.message.replace("|", "\\|")
    return f"| {rule.code} | {rule.name} | {message} | {rule.cause} | {rule.kind} | {rule.status} |"


def _body(rule: Rule, level: int) -> list[str]:
    lines = [
        rule.message,
        "",
        f"- suggests: {rule.cause} ({rule.cause.code})",
        f"- kind: {rule.kind} ({_KINDS[rule.kind]})",
        f"- reads: {', '.join(need.replace('|', ' or ') for need in rule.reads)}",
        f"- status: {rule.status} ({_STATUSES[rule.status]})",
        "",
    ]
    for heading, text in rule.sections:
        lines += [f"{'#' * level} {heading}", "", text, ""]
    return lines
