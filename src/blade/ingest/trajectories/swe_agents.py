"""Trajectories of the agents that write patches: SWE-agent (`.traj`), mini-swe-agent (`.traj.json`), OpenHands (`output.jsonl`)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from blade.ingest import cells
from blade.ingest.folder_files import json_object
from blade.ingest.trajectories.items import Item, call, message, reasoning, result, text_of

_TERMINAL = "bash"
_FENCED = re.compile(r"```(?:bash|sh|mswea_bash_command)[ \t]*\n(.*?)```", re.DOTALL)
"""The one block in which older versions of mini-swe-agent, and its text models, write a command."""
_NO_CALLS = ("system", "change_agent_state", "recall", "null")


class PatchRun(Struct, frozen=True, kw_only=True):
    """What a trajectory tells beside its items."""

    prompt: list[Item]
    items: list[Item]
    patch: str | None = None
    exit_status: str | None = None
    model: str | None = None
    cost: float | None = None
    usage: Mapping[str, int] | None = None
    steps: int | None = None
    """Calls of the model, as the agent counts them."""


def read_patch_run(document: Mapping[str, Any]) -> PatchRun | None:
    """What the agent did and what came of it; None where the document is none of the three."""
    if isinstance(document.get("trajectory"), list):
        prompt, items = _before_agent(document.get("history")), list(_turns(document["trajectory"]))
    elif isinstance(document.get("messages"), list):
        prompt, items = _before_agent(document["messages"]), list(_messages(document["messages"]))
    elif isinstance(document.get("history"), list):
        events = [json_object(one) for one in _flat(document["history"])]
        prompt, items = _asked(events, document), list(_events(events))
    else:
        return None
    about, spent = json_object(document.get("info")), json_object(json_object(document.get("info")).get("model_stats"))
    metrics = json_object(document.get("metrics"))
    tokens = json_object(metrics.get("accumulated_token_usage"))
    metadata = json_object(document.get("metadata"))
    settings = json_object(json_object(about.get("config")).get("model"))
    used = {
        "input_tokens": cells.count(spent.get("tokens_sent", tokens.get("prompt_tokens"))),
        "output_tokens": cells.count(spent.get("tokens_received", tokens.get("completion_tokens"))),
    }
    cost = next(
        (spent[name] for name in ("instance_cost", "total_cost") if name in spent), metrics.get("accumulated_cost")
    )
    llm = json_object(metadata.get("llm_config") or metadata.get("llm"))
    return PatchRun(
        prompt=prompt,
        items=items,
        patch=cells.text(about.get("submission"))
        or cells.text(json_object(document.get("test_result")).get("git_patch")),
        exit_status=cells.text(about.get("exit_status")),
        model=cells.text(settings.get("model_name")) or cells.text(llm.get("model")),
        cost=cells.number(cost),
        usage={name: count for name, count in used.items() if count} or None,
        steps=cells.count(spent.get("api_calls")),
    )


def _before_agent(messages: object) -> list[Item]:
    """What the agent was given: system and user messages before its first turn, demonstrations left out."""
    prompt: list[Item] = []
    for one in map(json_object, messages if isinstance(messages, list) else []):
        role = one.get("role")
        if one.get("is_demo"):
            continue
        if role not in ("system", "user"):
            break
        prompt.append(message(str(role), text_of(one.get("content"))))
    return prompt


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
            yield result(text_of(turn.get("observation")), f"turn-{place}")
        elif observed := text_of(turn.get("observation")):
            yield message("user", observed)


def _messages(messages: list[Any]) -> Iterator[Item]:
    """mini-swe-agent: chat messages, or items of the Responses API; what answers a command is its result."""
    acted, waiting = False, list[object]()
    for place, one in enumerate(map(json_object, messages)):
        role, text = one.get("role"), text_of(one.get("content"))
        if isinstance(one.get("output"), list) and role is None:
            acted = True
            yield from map(json_object, one["output"])
        elif one.get("type") == "function_call_output":
            yield result(text_of(one.get("output")), one.get("call_id"))
        elif role == "assistant":
            acted, waiting = True, []
            for item in _acted_in(one, text, place):
                waiting += [item["call_id"]] if item["type"] == "function_call" else []
                yield item
        elif role == "tool":
            waiting = [name for name in waiting if name != one.get("tool_call_id")]
            yield result(text, one.get("tool_call_id"), failed=_failed(one))
        elif acted and waiting:
            yield result(text, waiting.pop(0), failed=_failed(one))
        elif acted and text:
            # A word of the harness: a call that it could not read, a limit, the end.
            yield message("user" if role == "user" else "system", text)


def _acted_in(one: Mapping[str, Any], text: str, place: int) -> Iterator[Item]:
    """What the agent says, and its calls: of the API, as the harness took them from the text, or in the text's only block."""
    if thought := text_of(one.get("reasoning_content")):
        yield reasoning(thought)
    if text:
        yield message("assistant", text)
    calls = [json_object(made) for made in one.get("tool_calls") or []]
    actions = json_object(one.get("extra")).get("actions")
    commands = [json_object(action).get("command") for action in actions] if isinstance(actions, list) else []
    commands = commands or _FENCED.findall(text)
    for made in calls:
        function = json_object(made.get("function"))
        yield call(str(function.get("name") or _TERMINAL), function.get("arguments"), made.get("id"))
    if not calls and (len(commands) == 1 or isinstance(actions, list)):
        for number, command in enumerate(commands):
            yield call(_TERMINAL, text_of(command).strip(), f"message-{place}-{number}")


def _failed(one: Mapping[str, Any]) -> bool:
    code = json_object(one.get("extra")).get("returncode")
    return isinstance(code, int) and code != 0


def _flat(history: list[Any]) -> Iterator[Any]:
    """Events in order; older versions kept pairs of an action and its observation."""
    for event in history:
        yield from event if isinstance(event, list) else [event]


def _is_by_agent(event: Mapping[str, Any]) -> bool:
    return (
        event.get("source") == "agent" and event.get("action") != "system" and event.get("kind") != "SystemPromptEvent"
    )


def _asked(events: list[dict[str, Any]], document: Mapping[str, Any]) -> list[Item]:
    """What was said before the agent acted; else the instruction that the row holds."""
    prompt: list[Item] = []
    for event in events:
        if _is_by_agent(event):
            break
        said = json_object(event.get("llm_message"))
        text = text_of(said.get("content")) or text_of(json_object(event.get("args")).get("content"))
        if text and (event.get("action") == "message" or said):
            prompt.append(message("user", text))
    instruction = document.get("instruction")
    return prompt or ([message("user", instruction)] if isinstance(instruction, str) else [])


def _events(events: list[dict[str, Any]]) -> Iterator[Item]:
    """OpenHands: events of an agent, its user and its environment; an observation names the action that it answers."""
    acted, made_before = False, object()
    for event in events:
        acted = acted or _is_by_agent(event)
        made, arguments = event.get("action"), json_object(event.get("args"))
        if not acted:
            continue
        if "kind" in event:
            yield from _typed(event)
        elif isinstance(event.get("observation"), str):
            if event["observation"] not in _NO_CALLS and event["observation"] != "agent_state_changed":
                code = json_object(json_object(event.get("extras")).get("metadata")).get("exit_code")
                failed = event["observation"] == "error" or (isinstance(code, int) and code not in (0, -1))
                cause = event.get("cause")
                yield result(text_of(event.get("content")), made_before if cause is None else str(cause), failed=failed)
        elif isinstance(made, str) and event.get("source") == "agent":
            made_before = str(event.get("id", len(events)))
            yield from _acted(made, arguments, event, made_before)
        elif made == "message":
            yield message("user", text_of(arguments.get("content") or event.get("message")))


def _acted(made: str, arguments: Mapping[str, Any], event: Mapping[str, Any], name: str) -> Iterator[Item]:
    thought = text_of(arguments.get("thought"))
    if made in ("message", "finish"):
        outputs = arguments.get("outputs")
        words = arguments.get("content") or arguments.get("final_thought") or thought or event.get("message") or outputs
        yield message("assistant", text_of(words))
    elif made == "think":
        yield reasoning(thought)
    elif made not in _NO_CALLS:
        if thought:
            yield reasoning(thought)
        kept = {name: value for name, value in arguments.items() if name not in ("thought", "hidden", "blocking")}
        yield call(made, kept, name)


def _typed(event: Mapping[str, Any]) -> Iterator[Item]:
    """An event of the newer agent SDK: its kind says what it is, and a call has the id that the model gave it."""
    said, name = json_object(event.get("llm_message")), event.get("tool_call_id")
    observed, acted = json_object(event.get("observation")), json_object(event.get("action"))
    if said:
        yield message(str(said.get("role") or event.get("source")), text_of(said.get("content")))
    elif acted or (
        event.get("source") == "agent"
        and event.get("tool_name")
        and "observation" not in event
        and "error" not in event
    ):
        for thought in (text_of(event.get("reasoning_content")), text_of(event.get("thought"))):
            if thought:
                yield reasoning(thought)
        arguments = {field: value for field, value in acted.items() if field != "kind"}
        yield call(str(event.get("tool_name") or acted.get("kind") or ""), arguments, name)
    elif observed or event.get("error"):
        code = observed.get("exit_code", json_object(observed.get("metadata")).get("exit_code"))
        failed = bool(event.get("error") or observed.get("is_error")) or (isinstance(code, int) and code not in (0, -1))
        yield result(
            text_of(event.get("error") or observed.get("content") or observed.get("output")), name, failed=failed
        )
