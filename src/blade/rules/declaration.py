"""What a rule declares: its code, what it reads, what it suggests, and what must hold before it is worth running."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from blade.model.finding import Cause, Evidence
from blade.model.rollout import Features, Rollout
from blade.rules.phrases import Ref

Kind = Literal["direct", "associated"]
Scope = Literal["rollout", "task", "run"]
Status = Literal["preview", "stable"]
When = Callable[[Features], bool]
Body = Callable[[Rollout], Iterator[Evidence]]

_PLAIN_READS = ("steps", "stop", "error", "answer", "expected", "outcome", "reward", "tokens", "seconds")
_VERDICT_OR_KEY = ("outcome", "reward", "expected")


@dataclass(frozen=True, kw_only=True)
class Rule:
    """What a reader may know about a rule."""

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

    @property
    def blind(self) -> bool:
        """Reads neither verdict nor key, so that its lift over outcomes means something."""
        names = [name for need in self.reads for name in need.split("|")]
        return not any(name in _VERDICT_OR_KEY or name.startswith("row.") for name in names)


@dataclass(frozen=True, kw_only=True)
class Detector:
    """A rule's function with what it declares; made by `detector`."""

    code: str
    suggests: Cause
    kind: Kind
    reads: tuple[str, ...]
    scope: Scope
    when: When | None
    phrases: tuple[str, ...]
    within: Ref | None
    status: Status
    body: Body


def detector(
    code: str,
    *,
    suggests: Cause,
    kind: Kind,
    reads: tuple[str, ...],
    scope: Scope = "rollout",
    when: When | None = None,
    phrases: tuple[str, ...] = (),
    within: Ref | None = None,
    status: Status = "preview",
) -> Callable[[Body], Detector]:
    """Declare a rule: what it reads, and what must hold before it is worth reading.

    `reads` names fields of the rollout, `steps`, or `row.<path>`; `"steps|error"` asks for one of the two. Where one
    of them is absent the rule could not look; an `error` that is absent did not happen. A rule that reads the row
    makes every row be decoded. The gate is open when `when` says so, or one of `phrases` is in the error or `within`
    the place of the trajectory where the rule looks for them; without either it is always open.
    """
    if re.fullmatch(r"[A-Z]{3}\d{3}", code) is None:
        raise ValueError(f"{code}: a code is three letters of family and three digits")
    if scope != "rollout":
        raise ValueError(f"{code}: no engine serves rules of scope {scope!r} yet")
    names = [name for need in reads for name in need.split("|")]
    unknown = [name for name in names if name not in _PLAIN_READS and not re.match(r"row\.[^.]", name)]
    if unknown or not names:
        raise ValueError(f"{code}: reads must name {', '.join(_PLAIN_READS)} or row.<path>, got {reads}")
    if phrases and any(name in ("answer", "expected") or name.startswith("row.") for name in names):
        raise ValueError(f"{code}: phrases are searched for in trajectory and error only, but the rule reads {reads}")
    if bool(phrases) != (within is not None):
        raise ValueError(f"{code}: phrases and the place that they are searched for in go together")

    def declare(body: Body) -> Detector:
        return Detector(
            code=code,
            suggests=suggests,
            kind=kind,
            reads=reads,
            scope=scope,
            when=when,
            phrases=phrases,
            within=within,
            status=status,
            body=body,
        )

    return declare
