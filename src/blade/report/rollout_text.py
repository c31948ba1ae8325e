"""One rollout in order, as plain text that a person or an agent can take in."""

from __future__ import annotations

from collections.abc import Sequence

from blade.model.rollout import Rollout, Step
from blade.report.numbers import amount
from blade.report.text import printable

BUDGET = 14_000
"""Characters of a whole rollout: under about 4,000 tokens."""
SHORTEST = 60
_MARKS = {"agent": "AGENT", "user": "USER", "tool": "TOOL", "system": "SYSTEM"}


def show(rollout: Rollout, *, steps: range | None = None, width: int | None = None) -> list[str]:
    """The rollout's head, its prompt and its steps; long texts are cut so that a whole rollout fits the budget."""
    chosen = [step for step in rollout.steps or () if steps is None or step.index in steps]
    prompt = [] if steps is not None else list(rollout.prompt)
    each = width if width is not None else _fitting([*prompt, *chosen])
    lines = _head(rollout)
    for step in prompt:
        lines += [f"[prompt] {_MARKS[step.party]}", *_indented(_cut(step.text, each))]
    for step in chosen:
        lines += _step(step, each)
    if rollout.steps is None:
        lines.append("no trajectory is recorded")
    return [printable(line) for line in lines]


def _head(rollout: Rollout) -> list[str]:
    facts = [f"reward {amount(rollout.reward)}" if rollout.reward is not None else "no reward"]
    facts += [
        f"{name} {value}"
        for name, value in (("stop", rollout.stop), ("tokens out", rollout.tokens))
        if value is not None
    ]
    facts += [f"{amount(rollout.seconds)} s"] if rollout.seconds is not None else []
    lines = [f"{rollout.key}  {rollout.outcome}  {', '.join(facts)}  ({rollout.source})"]
    for name, value in (("expected", rollout.expected), ("answer", rollout.answer), ("error", rollout.error)):
        if value:
            lines.append(f"{name}: {_cut(_flat(value), 200)}")
    return [*lines, ""]


def _fitting(steps: Sequence[Step]) -> int:
    """The most characters a step may have so that all fit the budget."""
    sizes = sorted(len(_body(step)) for step in steps)
    room = max(0, BUDGET - 40 * len(sizes))
    for place, size in enumerate(sizes):
        left = len(sizes) - place
        if size * left > room:
            return max(SHORTEST, room // left)
        room -= size
    return BUDGET


def _step(step: Step, width: int) -> list[str]:
    what = {
        "call": f"calls {step.tool}",
        "result": f"{step.tool or 'tool'} returns",
        "reasoning": "thinks",
        "refusal": "refuses",
    }
    label = f"[{step.index}] {_MARKS[step.party]} {what.get(step.kind, '')}".rstrip() + (
        " (error)" if step.failed else ""
    )
    return [label, *_indented(_cut(_body(step), width))]


def _body(step: Step) -> str:
    return (step.arguments or "") if step.kind == "call" else step.text


def _flat(text: str) -> str:
    return " ".join(text.split())


def _cut(text: str, width: int) -> str:
    """The beginning and the end of a long text, and how much is left out between them."""
    if width <= 0 or len(text) <= width:
        return text
    head, tail = width * 2 // 3, width // 3
    return f"{text[:head]} [... {len(text) - head - tail:,} characters left out ...] {text[len(text) - tail :]}"


def _indented(text: str) -> list[str]:
    return ["    " + line for line in text.strip("\n").splitlines()]
