"""Counters of a trajectory, the tools that it calls, and the fingerprint by which two outputs are the same."""

from __future__ import annotations

from blade.ingest.fingerprints import fingerprint
from blade.model.rollout import LONGEST_UNMARKED, Features, Step

Counted = tuple[Features, list[str], int, int | None]
"""What one walk over a trajectory gives: its counters; the tool of each call, in order; the characters that the agent wrote
in messages and arguments; the fingerprint of its output, the same for the same sequence of assistant texts, tool names and
arguments, and None when there is none."""


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
        agent_messages=agent_messages,
        user_messages=user_messages,
        refusals=refusals,
        empty_final=empty_final,
        answered=answer is not None and answer != "" and not answer.isspace(),
        stop=stop,
    )
    output = fingerprint("".join(said)) if said else None
    return features, tools, agent_chars, output
