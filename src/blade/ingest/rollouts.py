"""Rollouts as rules see them: what is kept of a row, with its steps and their counters, its prompt and the row itself to be read on demand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

import msgspec

from blade.ingest import cells, verdict
from blade.ingest.account import account_of
from blade.ingest.batch import Batch, batch_of
from blade.ingest.cells import Column
from blade.ingest.decode import Row, decode_any, encode
from blade.ingest.expected import read_due
from blade.ingest.fingerprints import fingerprint
from blade.ingest.row_table import Light
from blade.ingest.settings import offered_tools
from blade.ingest.shapes import UsualItem
from blade.ingest.steps import after_prompt, before_agent, given_to_agent, plain_messages, read_steps
from blade.model.account import Account
from blade.model.rollout import LONGEST_UNMARKED, Features, Outcome, Rollout, RolloutKey, RowSource, Step
from blade.model.tools import NOTHING_OFFERED, Offered

LONGEST_ANSWER = 200

_OUTCOMES = {str(outcome): outcome for outcome in Outcome}


Counted = tuple[Features, list[str], int, int | None]
"""What one walk over a trajectory gives: its counters; the tool of each call, in order; the characters that the agent wrote
in messages and arguments; the fingerprint of its output, the same for the same sequence of assistant texts, tool names and
arguments, and None when there is none."""


def steps_of(output: msgspec.Raw | list[UsualItem], messages: msgspec.Raw | None) -> tuple[Step, ...]:
    """The steps of a trajectory; where it is the row's chat messages, those from the agent's first turn on."""
    if output is messages:
        values = decode_any(messages)
        return read_steps(encode(after_prompt(values))) if isinstance(values, list) else read_steps(output)
    return read_steps(output)


def count(steps: tuple[Step, ...], stop: str | None, answer: str | None = None) -> Counted:
    """The counters, tools and fingerprint of a trajectory, in one walk."""
    tools: list[str] = []
    said: list[str] = []
    results = tool_errors = agent_messages = agent_chars = user_messages = refusals = 0
    longest = streak = answered = long_results = 0
    alike = True
    first: str | None = None
    previous: str | None = None
    empty_final = True
    for step in steps:
        kind = step.kind
        if kind == "call":
            tool, arguments = step.tool or "", step.arguments or ""
            streak = streak + 1 if arguments == previous and tools[-1] == tool else 1
            longest = max(longest, streak)
            previous = arguments
            tools.append(tool)
            said += ("\x01", tool, "\x02", arguments)
            agent_chars += len(arguments)
            empty_final = False
        elif kind == "result":
            text = step.text
            first = text if results == 0 else first
            results += 1
            alike = alike and text == first
            long_results += len(text) > LONGEST_UNMARKED
            tool_errors += step.failed
            answered += step.answers is not None
        elif step.party == "agent":
            if kind in ("message", "refusal"):
                text = step.text
                is_blank = not text or text.isspace()
                agent_messages += not is_blank
                refusals += kind == "refusal"
                agent_chars += len(text)
                empty_final = is_blank and kind == "message"
                if text:
                    said += ("\x03", text)
        elif step.party == "user":
            user_messages += 1
    features = Features(
        steps=len(steps),
        calls=len(tools),
        results=results,
        tool_errors=tool_errors,
        longest_repeat=longest,
        alike_results=results if alike else 0,
        long_results=long_results,
        orphan_calls=len(tools) - answered,
        orphan_results=results - answered,
        agent_messages=agent_messages,
        user_messages=user_messages,
        refusals=refusals,
        empty_final=empty_final,
        answered=answer is not None and answer != "" and not answer.isspace(),
        stop=stop,
    )
    output = fingerprint("".join(said)) if said else None
    return features, tools, agent_chars, output


def agent_spoke(steps: tuple[Step, ...]) -> bool:
    """Whether the agent called a tool or said anything."""
    return any(step.party == "agent" and (step.kind == "call" or step.text.strip()) for step in steps)


def expected_texts(values: Column) -> Sequence[str | None]:
    """The answers that the verifier wants; a list of objects is none."""
    answers = [None if isinstance(one, list) and one and isinstance(one[0], dict) else one for one in values]
    return cells.cut(cells.as_texts(answers), LONGEST_ANSWER)


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


class _Reread(msgspec.Struct, frozen=True, kw_only=True):
    """A row that was read again."""

    raws: Row
    batch: Batch

    def row(self) -> dict[str, object]:
        return {name: decode_any(raw) for name, raw in self.raws.items()}

    def prompt(self) -> tuple[Step, ...]:
        asked = self.batch.requests[0].input
        return request_steps(asked) if cells.has(asked) else prompt_steps(self.batch.prompts[0])

    def get(self, name: str, /) -> object:
        return decode_any(self.raws[name]) if name in self.raws else None

    def names(self) -> tuple[str, ...]:
        return tuple(self.raws)

    def account(self) -> Account:
        return account_of(self)


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
        origin=_Reread(raws=row, batch=batch),
        offered=NOTHING_OFFERED if batch.tools[0] is None else _offered(bytes(batch.tools[0])),
    )


@lru_cache(maxsize=32)
def _offered(raw: bytes) -> Offered:
    """The tools of a raw request: a run offers the same ones again and again, and their schemas take long to compile."""
    return offered_tools(decode_any(raw))
