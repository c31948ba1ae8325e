"""Trajectories of the agents that write patches: SWE-agent (`.traj`), mini-swe-agent (`.traj.json`), OpenHands (`output.jsonl`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from blade.ingest.folder_files import json_object
from blade.ingest.trajectories.items import Item, call, message, reasoning, result, text_of

_TERMINAL = "bash"


def items_of(trajectory: Mapping[str, Any]) -> list[Item]:
    """What the agent did; empty where the document is none of the three."""
    if isinstance(trajectory.get("trajectory"), list):
        return list(_turns(trajectory["trajectory"]))
    if isinstance(trajectory.get("messages"), list):
        return list(_messages(trajectory["messages"]))
    if isinstance(trajectory.get("history"), list):
        return list(_history(trajectory["history"]))
    return []


def _turns(turns: list[Any]) -> Iterator[Item]:
    """SWE-agent: a thought, an action and what was observed a turn."""
    for place, turn in enumerate(map(json_object, turns)):
        if thought := text_of(turn.get("thought")):
            yield reasoning(thought)
        elif response := text_of(turn.get("response")):
            yield message("assistant", response)
        action = text_of(turn.get("action")).strip()
        if action:
            yield call(action.split(None, 1)[0], action, f"turn-{place}")
        if action or turn.get("observation"):
            yield result(text_of(turn.get("observation")), f"turn-{place}")


def _messages(messages: list[Any]) -> Iterator[Item]:
    """mini-swe-agent: chat messages; the answers of the user after the agent's first turn are what its commands printed."""
    acted = False
    for place, one in enumerate(map(json_object, messages)):
        role, text = one.get("role"), text_of(one.get("content"))
        if role in ("assistant", "exit"):
            acted = True
            yield message("assistant" if role == "assistant" else "system", text)
            calls = one.get("tool_calls")
            for made in map(json_object, calls if isinstance(calls, list) else []):
                function = json_object(made.get("function"))
                yield call(str(function.get("name") or _TERMINAL), function.get("arguments"), made.get("id"))
            actions = json_object(one.get("extra")).get("actions")
            for action in map(json_object, actions if isinstance(actions, list) and not calls else []):
                yield call(_TERMINAL, text_of(action.get("command")), f"message-{place}")
        elif acted:
            yield result(text, one.get("tool_call_id"))


def _history(history: list[Any]) -> Iterator[Item]:
    """OpenHands: events of an agent, its user and its environment; an observation names the action that it answers."""
    acted = False
    for event in map(json_object, history):
        made, arguments = event.get("action"), json_object(event.get("args"))
        by_agent = event.get("source") == "agent"
        acted = acted or by_agent
        if not acted:
            continue
        if isinstance(made, str) and by_agent:
            yield from _acted(made, arguments, event)
        elif isinstance(event.get("observation"), str):
            yield result(text_of(event.get("content")), event.get("cause"))
        elif isinstance(made, str) and made == "message":
            yield message("user", text_of(arguments.get("content") or event.get("message")))


def _acted(made: str, arguments: Mapping[str, Any], event: Mapping[str, Any]) -> Iterator[Item]:
    if thought := text_of(arguments.get("thought")):
        yield reasoning(thought)
    if made in ("message", "finish"):
        yield message("assistant", text_of(arguments.get("content") or event.get("message")))
    elif made not in ("system", "change_agent_state", "recall"):
        kept = {name: value for name, value in arguments.items() if name not in ("thought", "hidden", "blocking")}
        yield call(made, kept, event.get("id"))
