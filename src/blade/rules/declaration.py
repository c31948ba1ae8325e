"""What a rule is, and how its file declares it: `@rule(code, scope="rollout" | "run", ...)` over the function that checks.

This module knows no engine, so that a rule over rollouts stays light enough for a worker.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Literal, overload

from msgspec import Struct

from blade.model.diagnosis import Doubt
from blade.model.finding import Cause, Evidence
from blade.model.rollout import Features, Rollout

if TYPE_CHECKING:
    from blade.evidence.context import RunContext

    CheckRun = Callable[[RunContext], Iterator[Doubt]]

CheckRollout = Callable[[Rollout], Iterator[Evidence]]
Kind = Literal["direct", "associated"]
Scope = Literal["rollout", "run"]
Status = Literal["preview", "stable"]
When = Callable[[Features], bool]
Within = Literal["errors", "closing"]
"""The part of a trajectory in which a rule's phrases stand: results that may be errors, or what the agent said last."""

FAMILIES = {"ANS": "answer", "BEH": "behavior", "DAT": "data", "INF": "infra", "TSK": "task"}
"""The family of a rule, by the letters of its code."""

_PLAIN_READS = ("steps", "stop", "error", "answer", "expected", "outcome", "reward", "tokens", "seconds")
_VERDICT_OR_KEY = ("outcome", "reward", "expected")


class Rule(Struct, frozen=True, kw_only=True):
    """A rule: what a reader may know about it, when it is worth running, and the function that checks."""

    code: str
    name: str
    """The bad thing itself: `repeated-tool-call`."""
    family: str
    message: str
    sections: tuple[tuple[str, str], ...]
    """Heading and text, in the order of the rule's file."""
    cause: Cause
    """What the rule suggests; it does not decide it."""
    kind: Kind
    """direct: by itself enough for failing; associated: may go with failing."""
    reads: tuple[str, ...]
    scope: Scope
    status: Status
    strong: bool = False
    """Of a rule over runs: enough by itself for a cause; two weak ones of different kinds are needed otherwise."""
    check: Callable[[Any], Iterator[Any]] | None = None
    """The function under the decorator; None for a label of a package, which the language of custom rules checks."""
    when: When | None = None
    phrases: tuple[str, ...] = ()
    within: Within | None = None

    @property
    def blind(self) -> bool:
        """Reads neither verdict nor key, so that its lift over outcomes means something."""
        names = [name for need in self.reads for name in need.split("|")]
        return not any(name in _VERDICT_OR_KEY or name.startswith("row.") for name in names)


@overload
def rule(
    code: str,
    *,
    scope: Literal["rollout"],
    suggests: Cause,
    kind: Kind,
    reads: tuple[str, ...],
    status: Status = "preview",
    when: When | None = None,
    phrases: tuple[str, ...] = (),
    within: Within | None = None,
) -> Callable[[CheckRollout], Rule]: ...


@overload
def rule(
    code: str, *, scope: Literal["run"], suggests: Cause, strong: bool = False, status: Status = "preview"
) -> Callable[[CheckRun], Rule]: ...


def rule(
    code: str,
    *,
    scope: Scope,
    suggests: Cause,
    kind: Kind | None = None,
    reads: tuple[str, ...] = (),
    strong: bool = False,
    status: Status = "preview",
    when: When | None = None,
    phrases: tuple[str, ...] = (),
    within: Within | None = None,
) -> Callable[[Callable[[Any], Iterator[Any]]], Rule]:
    """Declare a rule: the function yields evidence for each place in a rollout, or a doubt for each thing in a run.

    A rule is stable when it has fired, and rightly, on data that was not written for it; until then it decides no cause.

    `reads` names fields of the rollout, `steps`, or `row.<path>`; `"steps|error"` asks for one of the two. Where one of
    them is absent the rule cannot check; an `error` that is absent did not happen. A rule that reads the row makes every
    row be decoded.

    Gates only save time, as nearly all rollouts can be passed over without a call (`engine.py` says how much): the rule
    runs where `when` says so, or where one of `phrases` is in the error or `within` its part of the trajectory. A rule
    with neither runs on every rollout.
    """
    if re.fullmatch(r"[A-Z]{3}\d{3}", code) is None or code[:3] not in FAMILIES:
        raise ValueError(f"{code}: a code is three letters of a family ({', '.join(FAMILIES)}) and three digits")
    if scope == "run":
        if kind or reads or when or phrases or within:
            raise ValueError(f"{code}: kind, reads and gates are for rules over rollouts")
        kind, reads = "associated" if suggests is Cause.BEHAVIOR else "direct", ("rollouts",)
    elif scope == "rollout":
        _refuse_what_cannot_be_served(code, reads, phrases, within)
    else:
        raise ValueError(f"{code}: a rule is over a rollout or a run, not over a {scope}")

    def declare(check: Callable[[Any], Iterator[Any]]) -> Rule:
        message, sections = _page_of(getattr(check, "__globals__", {}).get("__doc__") or "")
        return Rule(
            code=code,
            name=check.__name__.replace("_", "-"),
            family=FAMILIES[code[:3]],
            message=message,
            sections=sections,
            cause=suggests,
            kind=kind or "associated",
            reads=reads,
            scope=scope,
            status=status,
            strong=strong,
            check=check,
            when=when,
            phrases=phrases,
            within=within,
        )

    return declare


def _refuse_what_cannot_be_served(
    code: str, reads: tuple[str, ...], phrases: tuple[str, ...], within: Within | None
) -> None:
    names = [name for need in reads for name in need.split("|")]
    unknown = [name for name in names if name not in _PLAIN_READS and not re.match(r"row\.[^.]", name)]
    if unknown or not names:
        raise ValueError(f"{code}: reads must name {', '.join(_PLAIN_READS)} or row.<path>, got {reads}")
    if phrases and any(name in ("answer", "expected") or name.startswith("row.") for name in names):
        raise ValueError(f"{code}: phrases are searched for in trajectory and error only, but the rule reads {reads}")
    if bool(phrases) != (within is not None):
        raise ValueError(f"{code}: phrases and the part of the trajectory that holds them go together")


def _page_of(docstring: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    """The message and the sections of a rule's page, which is the docstring of its file."""
    message, _, rest = inspect.cleandoc(docstring).partition("\n")
    sections: list[tuple[str, list[str]]] = []
    for line in rest.splitlines():
        if line and not line.startswith(" "):
            sections.append((line, []))
        elif sections:
            sections[-1][1].append(line)
    return message, tuple((heading, inspect.cleandoc("\n".join(["", *lines])).strip()) for heading, lines in sections)
