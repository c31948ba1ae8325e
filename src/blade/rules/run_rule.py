"""How a rule over a run is declared, found and run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from blade.evidence.context import RunContext
from blade.model.diagnosis import Doubt
from blade.model.finding import Cause
from blade.rules import Rule, Status, rule_files

Body = Callable[[RunContext], Iterator[Doubt]]

PACKAGE = "blade.rules.run"


class Declared(Struct, frozen=True, kw_only=True):
    """A rule's function with what it declares; made by `run_rule`."""

    code: str
    suggests: Cause
    strong: bool
    status: Status
    body: Body


class RunRule(Struct, frozen=True, kw_only=True):
    """A rule over a run: what a reader may know, and what runs it."""

    rule: Rule
    strong: bool
    """Enough by itself for a cause; two weak ones of different kinds are needed otherwise."""
    body: Body


def run_rule(
    code: str, *, suggests: Cause, strong: bool = False, status: Status = "preview"
) -> Callable[[Body], Declared]:
    """Declare a rule over a run: it yields one doubt for each thing it sees, with the tasks it is about.

    It is stable when it has fired, and rightly, on data that was not written for it; until then it decides no cause.
    """

    def declare(body: Body) -> Declared:
        return Declared(code=code, suggests=suggests, strong=strong, status=status, body=body)

    return declare


@cache
def run_rules() -> tuple[RunRule, ...]:
    """Every rule over runs, by code; ValueError when a file breaks the form or a code is used twice."""
    return tuple(_loaded(file._asdict(), declared) for file, declared in rule_files(PACKAGE, Declared))


def _loaded(file: dict[str, Any], declared: Declared) -> RunRule:
    rule = Rule(
        code=declared.code,
        cause=declared.suggests,
        kind="associated" if declared.suggests is Cause.BEHAVIOR else "direct",
        reads=("rollouts",),
        scope="run",
        status=declared.status,
        **file,
    )
    return RunRule(rule=rule, strong=declared.strong, body=declared.body)


def doubts(context: RunContext) -> tuple[Doubt, ...]:
    """What every rule over runs sees, strong rules first, each doubt with the code of its rule."""
    ordered = sorted(run_rules(), key=lambda one: (not one.strong, one.rule.code))
    return tuple(
        replace(doubt, code=one.rule.code, strong=one.strong, preview=one.rule.status == "preview")
        for one in ordered
        for doubt in one.body(context)
    )
