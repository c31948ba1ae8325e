"""A rule's page and the catalogue of all rules, made from the rules' own files."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from blade.rules.declaration import Rule
from blade.rules.engine import rules

_KINDS = {
    "direct": "by itself enough for failing",
    "associated": "may go with failing; how strongly is measured on each run",
}
_STATUSES = {
    "preview": "shown apart, and decides no cause",
    "stable": "takes part in deciding causes",
}


def page(rule: Rule) -> str:
    """The page of one rule, in Markdown."""
    return "\n".join([f"# {_title(rule)}", "", *_body(rule, level=2)])


def catalogue(every: Sequence[Rule] | None = None) -> str:
    """`docs/detectors.md`: a table of all rules, then the page of each; rules over rollouts unless others are given."""
    every = rules() if every is None else every
    lines = ["# Detectors", "", "Made from the rules' own files by `blade.rules.catalogue`; edit those.", ""]
    for family, group in groupby(sorted(every, key=lambda rule: (rule.family, rule.code)), lambda rule: rule.family):
        lines += [f"## {family.capitalize()}", "", "| code | name | what it sees | suggests | kind | status |"]
        lines += ["| --- | --- | --- | --- | --- | --- |", *map(_row, group), ""]
    for rule in every:
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
