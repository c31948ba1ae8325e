"""What a failure mode is, and how its file declares it: `@mode(...)` over the function that says whether it applies."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Literal

from msgspec import Struct

from blade.model.attribution import Responsible, Stage
from blade.model.finding import Cause
from blade.modes.evidence import Candidate, RolloutEvidence

Applies = Callable[[RolloutEvidence], Candidate | None]
Group = Literal["machinery", "benchmark", "limit", "user simulator", "agent conduct", "agent result", "package"]
GROUPS: tuple[Group, ...] = (
    "machinery",
    "benchmark",
    "limit",
    "user simulator",
    "agent conduct",
    "agent result",
    "package",
)
"""In the order of decision."""
HEADINGS = ("Evidence", "Contradicted by", "False alarms", "Example")
CHECKED = "Checked on"
"""A last section that says on what the mode was checked by reading, where it was."""
_CODE = re.compile(r"[a-z]+(?:-[a-z]+)*")


class FailureMode(Struct, frozen=True, kw_only=True):
    """A way in which a rollout can fail to pass: what a reader may know of it, and the function that detects it."""

    code: str
    definition: str
    """One sentence."""
    group: Group
    order: int
    """Modes are tried in this order; the first that applies is the mode of the rollout."""
    party: Responsible
    stage: Stage
    """The furthest stage that such a rollout reached."""
    valid: bool
    """Whether such a rollout was validly graded."""
    cause: Cause | None
    """None: knowledge or unreliable, as the other rollouts of the task tell; or, where nobody knows whose it is, no cause."""
    row: str
    """What happened, for the table of failure modes."""
    title: str
    """What a finding says; `{subject}` stands for what it is about."""
    action: str
    owner: str
    """Who does it: harness, environment, test author, task author, tool author, user simulator, prompt, training."""
    sections: tuple[tuple[str, str], ...]
    applies: Applies

    @property
    def result(self) -> bool:
        """Whether it only says what the verifier's verdict says: it explains a failure where it has a subject."""
        return self.group == "agent result"

    def titled(self, subject: str) -> str:
        """The title of a finding about a subject."""
        if subject:
            return self.title.replace("{subject}", subject)
        whole = self.title.removesuffix(" ({subject})").removesuffix(": {subject}")
        return self.row if "{subject}" in whole else whole


def mode(
    code: str,
    *,
    group: Group,
    order: int,
    party: Responsible,
    stage: Stage,
    row: str,
    title: str,
    action: str,
    owner: str,
    valid: bool = True,
    cause: Cause | None = None,
) -> Callable[[Applies], FailureMode]:
    """Declare a failure mode: the function returns a candidate where the mode applies to a rollout, else None.

    The docstring of the file is its page: the definition in one sentence, then the sections of `HEADINGS`.
    """
    if _CODE.fullmatch(code) is None or group not in GROUPS:
        raise ValueError(f"{code}: a code is lower-case words with hyphens, and the group one of {', '.join(GROUPS)}")

    def declare(applies: Applies) -> FailureMode:
        definition, sections = _page_of(getattr(applies, "__globals__", {}).get("__doc__") or "")
        return FailureMode(
            code=code,
            definition=definition,
            group=group,
            order=order,
            party=party,
            stage=stage,
            valid=valid,
            cause=cause,
            row=row,
            title=title,
            action=action,
            owner=owner,
            sections=sections,
            applies=applies,
        )

    return declare


def _page_of(docstring: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    """The definition and the sections of a mode's page."""
    definition, _, rest = inspect.cleandoc(docstring).partition("\n")
    sections: list[tuple[str, list[str]]] = []
    for line in rest.splitlines():
        if line and not line.startswith(" "):
            sections.append((line, []))
        elif sections:
            sections[-1][1].append(line)
    return definition, tuple((name, inspect.cleandoc("\n".join(["", *lines])).strip()) for name, lines in sections)
