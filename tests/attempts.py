"""Rollouts of coding and terminal agents in the fewest words, for tests of signs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from blade.evidence.signs.all_signs import signs
from blade.ingest.logs.parse import parse_log
from blade.ingest.rollouts import count
from blade.model.account import Account, LogText, Phase, Status
from blade.model.finding import Sign
from blade.model.rollout import Outcome, Rollout, RolloutKey, RowSource, Step
from builders import Row, call, result, said, steps


class Written(Struct, frozen=True, kw_only=True):
    """A row that a test wrote."""

    values: Mapping[str, Any]
    asked: str
    recorded: Account

    def row(self) -> dict[str, object]:
        return dict(self.values)

    def prompt(self) -> tuple[Step, ...]:
        return (Step(index=0, party="user", kind="message", text=self.asked),) if self.asked else ()

    def get(self, name: str, /) -> object:
        return self.values.get(name)

    def names(self) -> tuple[str, ...]:
        return tuple(self.values)

    def account(self) -> Account:
        return self.recorded


def ran(command: str, output: str | None = None, call_id: str = "c1", tool: str = "bash") -> tuple[Row, ...]:
    """A command with its output, or without any."""
    asked = call(tool, f'{{"command": {command!r}}}'.replace("'", '"'), call_id)
    return (asked,) if output is None else (asked, result(output, call_id))


def attempt(
    *items: Row,
    prompt: str = "Write the answer to /app/answer.txt.",
    passed: bool = False,
    grader: str = "",
    terminal: str = "",
    status: str = "",
    trajectory: bool = True,
    took: float | None = None,
    **values: Any,
) -> Rollout:
    """A rollout with these items; `grader` and `terminal` are what the grader and the agent's program printed, and `took`
    how many seconds the agent's part lasted.
    """
    logs = (
        *((LogText(field="printed.tests", text=grader, reader=parse_log),) if grader else ()),
        *((LogText(field="printed.agent", text=terminal, of_agent=True, reader=parse_log),) if terminal else ()),
    )
    statuses = (Status(field="how", value=status),) if status else ()
    phases = (Phase(name="agent", seconds=took, field="from"),) if took is not None else ()
    row = {"printed": {"tests": grader, "agent": terminal}, "how": status, **values}
    walked = steps(*items) if trajectory else None
    return Rollout(
        key=RolloutKey(run="r", task_id="t", repeat=0),
        outcome=Outcome.PASSED if passed else Outcome.FAILED,
        source=RowSource(artifact="run.jsonl", line=1),
        features=count(walked, None)[0] if walked is not None else None,
        steps=walked,
        origin=Written(values=row, asked=prompt, recorded=Account(statuses=statuses, logs=logs, phases=phases)),
    )


def seen(rollout: Rollout) -> dict[str, list[str]]:
    """The subjects of each kind of sign, after every quote was looked up in the row."""
    found: dict[str, list[str]] = defaultdict(list)
    for each in signs(rollout):
        look_up(each, rollout)
        found[each.kind].append(each.subject)
    return dict(found)


def look_up(found: Sign, rollout: Rollout) -> None:
    """Fails unless the quote stands word for word in the field that the sign names, and the sign is within its limits."""
    assert len(found.subject) <= 120
    assert len(found.quote) <= 200
    if not found.quote:
        assert found.field == ""
        return
    if found.step is not None:
        step = next(step for step in rollout.steps or () if step.index == found.step)
        assert found.quote in (getattr(step, found.field) or "")
        return
    value: Any = rollout.row
    for name in found.field.split("."):
        value = value[name]
    assert found.quote in value


__all__ = ["attempt", "call", "look_up", "ran", "result", "said", "seen"]
