"""Rollouts as rules see them: what is kept of a row, with its steps, its prompt and the row itself to be read on demand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec

from blade.ingest import cells, columns, verdict
from blade.ingest.batch import Batch, batch_of
from blade.ingest.columns import Column
from blade.ingest.decode import Row, decode_any, encode
from blade.ingest.expected import read_due
from blade.ingest.features import count
from blade.ingest.row_table import Light
from blade.ingest.shapes import UsualItem
from blade.ingest.steps import after_prompt, before_agent, given_to_agent, plain_messages, read_steps
from blade.model.rollout import Outcome, Rollout, RolloutKey, RowSource, Step
from blade.model.tools import NOTHING_OFFERED, Offered

LONGEST_ANSWER = 200

_OUTCOMES = {str(outcome): outcome for outcome in Outcome}


def steps_of(output: msgspec.Raw | list[UsualItem], messages: msgspec.Raw | None) -> tuple[Step, ...]:
    """The steps of a trajectory; where it is the row's chat messages, those from the agent's first turn on."""
    if output is messages:
        values = decode_any(messages)
        return read_steps(encode(after_prompt(values))) if isinstance(values, list) else read_steps(output)
    return read_steps(output)


def offered_tools(value: Any) -> Offered:
    """The tools of a request, as the Responses API or chat completions have them."""
    given = [tool.get("function", tool) for tool in value if isinstance(tool, dict)] if isinstance(value, list) else []
    named = [tool for tool in given if isinstance(tool, dict) and isinstance(tool.get("name"), str)]
    return Offered({tool["name"]: tool.get("parameters", tool.get("input_schema")) for tool in named})


def agent_spoke(steps: tuple[Step, ...]) -> bool:
    """Whether the agent called a tool or said anything."""
    return any(step.party == "agent" and (step.kind == "call" or step.text.strip()) for step in steps)


def expected_texts(values: Column) -> Sequence[str | None]:
    """The answers that the verifier wants; a list of objects is none."""
    answers = [None if isinstance(one, list) and one and isinstance(one[0], dict) else one for one in values]
    return columns.cut(columns.as_texts(answers), LONGEST_ANSWER)


def prompt_steps(raw: bytes | msgspec.Raw | None) -> tuple[Step, ...]:
    """What the agent was given before its first turn, as steps."""
    return _given_steps(raw, before_agent)


def request_steps(raw: bytes | msgspec.Raw | None) -> tuple[Step, ...]:
    """What a request gave to the agent, worked examples and all, as steps."""
    return _given_steps(raw, given_to_agent)


def _given_steps(raw: bytes | msgspec.Raw | None, choose: Callable[[list[object]], list[object]]) -> tuple[Step, ...]:
    value = decode_any(raw) if raw is not None else None
    if isinstance(value, list):
        given = choose(value)
        return plain_messages(given) or read_steps(encode(given))
    return (Step(index=0, party="user", kind="message", text=cells.as_text(value)),) if value is not None else ()


class _Reread(NamedTuple):
    """A row that was read again."""

    raws: Row
    batch: Batch

    def row(self) -> dict[str, object]:
        return {name: decode_any(raw) for name, raw in self.raws.items()}

    def prompt(self) -> tuple[Step, ...]:
        asked = self.batch.requests[0].input
        return request_steps(asked) if cells.has(asked) else prompt_steps(self.batch.prompts[0])


def rollout_of(row: Row, light: Light, key: RolloutKey, source: RowSource) -> Rollout:
    """The rollout of a row that was read again, with its steps."""
    batch = batch_of([b""], [row])
    output = batch.trajectories[0]
    steps = steps_of(output, row.get("messages")) if output is not None else None
    return Rollout(
        key=key,
        outcome=_OUTCOMES[light.outcome or "unscored"],
        reward=light.reward,
        answer=light.answer,
        expected=batch.first(batch.paths["expected"], expected_texts)[0],
        stop=light.stop,
        error=verdict.errors(batch)[0],
        tokens=light.output_tokens,
        seconds=light.seconds,
        source=source,
        features=count(steps, light.stop, light.answer)[0] if steps is not None else None,
        steps=steps,
        due=read_due(row),
        origin=_Reread(row, batch),
        offered=NOTHING_OFFERED if batch.tools[0] is None else _offered(bytes(batch.tools[0])),
    )


@lru_cache(maxsize=32)
def _offered(raw: bytes) -> Offered:
    """The tools of a raw request: a run offers the same ones again and again, and their schemas take long to compile."""
    return offered_tools(decode_any(raw))
