"""Counters of a trajectory, and the fingerprint by which two outputs are the same."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

from blade.core.rollout import LONGEST_UNMARKED, Features, Kind, Step


def count(steps: tuple[Step, ...], stop: str | None) -> Features:
    """The counters of a trajectory, in one walk."""
    calls = results = tool_errors = agent_messages = agent_chars = user_messages = refusals = 0
    longest = streak = answered = long_results = 0
    alike = True
    first: str | None = None
    previous: tuple[str | None, str | None] | None = None
    last_agent: Step | None = None
    for step in steps:
        kind: Kind = step.kind
        if kind == "call":
            calls += 1
            agent_chars += len(step.arguments or "")
            this = (step.tool, step.arguments)
            streak = streak + 1 if this == previous else 1
            longest = max(longest, streak)
            previous = this
            last_agent = step
        elif kind == "result":
            results += 1
            first = step.text if first is None else first
            alike = alike and step.text == first
            long_results += len(step.text) > LONGEST_UNMARKED
            tool_errors += step.failed
            answered += step.answers is not None
        elif step.party == "agent":
            if kind in ("message", "refusal"):
                last_agent = step
                refusals += kind == "refusal"
                agent_messages += bool(step.text.strip())
                agent_chars += len(step.text)
        elif step.party == "user":
            user_messages += 1
    return Features(
        steps=len(steps),
        calls=calls,
        results=results,
        tool_errors=tool_errors,
        longest_repeat=longest,
        alike_results=results if alike else 0,
        long_results=long_results,
        orphan_calls=calls - answered,
        agent_messages=agent_messages,
        agent_chars=agent_chars,
        user_messages=user_messages,
        refusals=refusals,
        empty_final=last_agent is None or (last_agent.kind == "message" and not last_agent.text.strip()),
        stop=stop,
    )


def fingerprint(steps: Iterable[Step]) -> int | None:
    """The same for the same sequence of assistant texts, tool names and arguments; None when there is none."""
    parts: list[str] = []
    for step in steps:
        if step.kind == "call":
            parts += ("\x01", step.tool or "", "\x02", step.arguments or "")
        elif step.party == "agent" and step.text and step.kind in ("message", "refusal"):
            parts += ("\x03", step.text)
    if not parts:
        return None
    return int.from_bytes(blake2b("".join(parts).encode("utf-8", "replace"), digest_size=8).digest())
