"""The two scripted agents of the desk-assistant example, and the rollouts that they make.

Nothing here is a model. A `Profile` says how often an agent slips, by category, and which slips it is prone to; the
trajectory, the tool results and the reward then follow from its calls to the simulated office.
"""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from desk import TOOLS, Office, tool_schema
from desk_tasks import TASKS, Call, Slip, Task

Item = dict[str, Any]
Row = dict[str, Any]

AGENT = {"type": "responses_api_agents", "name": "desk_assistant_simple_agent"}
CLOCK = 1772438400  # 2 March 2026, 08:00 UTC: the clock of the examples stands still
MAX_OUTPUT_TOKENS = 1024
HARDER = {"easy": -0.25, "medium": 0.0, "hard": 0.3}
RULES = (
    "You are the desk assistant of Jo Reyes at Larch. Today is Monday, 2 March 2026. Use the tools; look things up "
    "instead of guessing. Meetings lie between 09:00 and 17:30, and a room holds one meeting at a time. Do exactly "
    "what is asked: no other change, no other mail. If a tool returns an error, it did nothing. Nobody can answer "
    "questions, so finish the job in one go and then say what you did."
)
TOOL_SCHEMAS = [tool_schema(name) for name in TOOLS]


@dataclass(frozen=True, kw_only=True)
class Profile:
    model: str
    slips: dict[str, float]  # how often it slips on a medium task, by category
    overreach: float  # added on tasks that want no change
    taste: dict[str, float]  # which kinds of slip it is prone to
    parallel: bool  # makes neighbouring look-ups in one turn
    thinks: bool  # emits reasoning items
    tokens_per_second: float

    def risk(self, task: Task) -> float:
        restraint = 0.0 if task.key else self.overreach
        return self.slips[task.category] + HARDER[task.difficulty] + restraint


SPARROW = Profile(
    model="sparrow-8b",
    slips={"calendar": 0.55, "mail": 0.4, "directory": 0.2, "tickets": 0.75},
    overreach=-0.2,
    taste={"ignore": 4, "skip": 4, "wrong": 2, "loop": 2, "ask": 2, "extra": 1},
    parallel=False,
    thinks=False,
    tokens_per_second=90,
)
HERON = Profile(
    model="heron-70b",
    slips={"calendar": 0.2, "mail": 0.15, "directory": 0.1, "tickets": 0.25},
    overreach=0.4,
    taste={"ignore": 1, "skip": 1, "wrong": 2, "loop": 0.5, "ask": 0.5, "extra": 4},
    parallel=True,
    thinks=True,
    tokens_per_second=45,
)
PROFILES = (SPARROW, HERON)

# Faults of the machinery, planted by hand: (model, task, repeat).
TRUNCATED = {("sparrow-8b", "mail-4", 2)}
OUTAGES = {("heron-70b", "calendar-3", 1): "calendar"}

OPENERS = {
    "directory_find": ("Let me look them up.", "I will check the directory.", "First, the directory."),
    "calendar_search": ("Let me find the meeting.", "I will look at the calendar.", "Checking the calendar."),
    "mail_search": ("Let me find that mail.", "I will search the mailbox.", "Looking through the inbox."),
    "ticket_search": ("Let me find the ticket.", "I will search the tickets.", "Checking the tickets."),
}
THOUGHTS = (
    "I need the facts before I change anything.",
    "One step at a time: look up, act, report.",
    "The rules ask for no change beyond the request.",
    "Look first, then make the single call that does it.",
)
UNFINISHED = (
    "I found the timetable and the people in Finance. Before I forward it, let me go through everything that is known "
    "about each of them, one by one, so that nobody is left out and nobody gets it twice. First there is Gus Ferro at "
    "desk 41, whose manager is Hana Sato; then there is Hana Sato herself, who must not"
)


class Transcript:
    """A trajectory in the making: Responses items, and the tokens that each model call would have cost."""

    def __init__(self, rng: random.Random, task: Task) -> None:
        self.rng = rng
        self.items: list[Item] = []
        self.context = tokens_of(TOOL_SCHEMAS) + tokens_of(RULES + task.request)
        self.input_tokens = 0
        self.output_tokens = 0
        self.reasoning_tokens = 0

    def identifier(self, prefix: str) -> str:
        return f"{prefix}_{self.rng.getrandbits(48):012x}"

    def turn(self, items: list[Item]) -> None:
        """The agent's items of one model call."""
        made = sum(tokens_of(item) for item in items)
        self.input_tokens += self.context
        self.output_tokens += made
        self.reasoning_tokens += sum(tokens_of(item) for item in items if item["type"] == "reasoning")
        self.context += made
        self.items += items

    def result(self, call_id: str, value: Any) -> None:
        item = {"type": "function_call_output", "call_id": call_id, "output": dumps(value)}
        self.context += tokens_of(item)
        self.items.append(item)

    def message(self, text: str, status: str = "completed") -> Item:
        content = [{"type": "output_text", "text": text, "annotations": []}]
        return {
            "type": "message",
            "id": self.identifier("msg"),
            "role": "assistant",
            "status": status,
            "content": content,
        }

    def thought(self) -> Item:
        summary = [{"type": "summary_text", "text": self.rng.choice(THOUGHTS)}]
        return {"type": "reasoning", "id": self.identifier("rs"), "summary": summary}

    def call(self, call: Call) -> Item:
        arguments = dumps(call.arguments)
        return {
            "type": "function_call",
            "name": call.name,
            "arguments": arguments,
            "call_id": self.identifier("call"),
            "status": "completed",
        }

    def usage(self) -> dict[str, Any]:
        return {
            "input_tokens": self.input_tokens,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": self.output_tokens,
            "output_tokens_details": {"reasoning_tokens": self.reasoning_tokens},
            "total_tokens": self.input_tokens + self.output_tokens,
        }


def dumps(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def tokens_of(value: Any) -> int:
    """About four characters a token."""
    return len(value if isinstance(value, str) else dumps(value)) // 4 + 1


def choose_slip(profile: Profile, task: Task, rng: random.Random) -> Slip | None:
    if rng.random() >= profile.risk(task):
        return None
    return rng.choices(task.slips, [profile.taste[slip.kind] for slip in task.slips])[0]


def turns_of(plan: tuple[Call, ...], parallel: bool) -> Iterator[list[Call]]:
    """The calls of each turn. Look-ups may share one; a change always has its own, because errors must be seen."""
    for reads, calls in itertools.groupby(plan, key=lambda call: call.reads):
        group = list(calls)
        if reads and parallel and len(set(map(repr, group))) == len(group):
            yield group
        else:
            yield from ([call] for call in group)


def play(profile: Profile, plan: tuple[Call, ...], office: Office, transcript: Transcript) -> None:
    """Makes the calls of the plan. The plan knows what the tools will say; the office decides what they did."""
    for calls in turns_of(plan, profile.parallel):
        items = [transcript.call(call) for call in calls]
        before = [transcript.thought()] if profile.thinks and not transcript.items else []
        if calls[0].reads and transcript.rng.random() < 0.5:
            before.append(transcript.message(transcript.rng.choice(OPENERS[calls[0].name])))
        transcript.turn(before + items)
        for item, call in zip(items, calls, strict=True):
            transcript.result(item["call_id"], office.call(call.name, call.arguments))


def task_fields(task: Task) -> Row:
    """What the dataset says about the task; every artifact row carries it."""
    key = [{"name": call.name, "arguments": call.arguments} for call in task.key]
    return {
        "task_id": task.task_id,
        "category": task.category,
        "difficulty": task.difficulty,
        "expected_actions": key,
    }


def input_row(task: Task, index: int, repeat: int) -> Row:
    """The materialized input of one rollout."""
    params = {
        "input": [
            {"role": "system", "content": RULES, "type": "message"},
            {"role": "user", "content": task.request, "type": "message"},
        ],
        "max_output_tokens": MAX_OUTPUT_TOKENS,
        "parallel_tool_calls": True,
        "temperature": 1.0,
        "tool_choice": "auto",
        "tools": TOOL_SCHEMAS,
    }
    return {
        "responses_create_params": params,
        **task_fields(task),
        "agent_ref": AGENT,
        "_ng_task_index": index,
        "_ng_rollout_index": repeat,
    }


def expected_office(task: Task) -> Office:
    office = Office()
    for call in task.key:
        office.call(call.name, call.arguments)
    return office


def verify(task: Task, office: Office) -> Row:
    """The verifier: reward 1 if the office is as the expected actions would have left it."""
    expected = expected_office(task)
    matches = office.fingerprint() == expected.fingerprint()
    return {
        "reward": 1.0 if matches else 0.0,
        "db_match": matches,
        "num_changes": office.changes,
        "expected_num_changes": expected.changes,
        "num_tool_errors": office.errors,
    }


def rollout(profile: Profile, index: int, repeat: int, seed: int) -> Row:
    """One row of the rollouts file."""
    task = TASKS[index]
    place = (profile.model, task.task_id, repeat)
    rng = random.Random(f"{seed}/{'/'.join(map(str, place))}")
    transcript = Transcript(rng, task)
    office = Office(down=OUTAGES.get(place))
    if place in TRUNCATED:
        play(profile, tuple(call for call in task.plan if call.reads), office, transcript)
        transcript.turn([transcript.message(UNFINISHED, status="incomplete")])
        transcript.output_tokens = MAX_OUTPUT_TOKENS
    elif office.down:
        play(profile, task.plan, office, transcript)
        transcript.turn([transcript.message(f"The {office.down} service does not answer, so I could not do this.")])
    else:
        slip = choose_slip(profile, task, rng)
        play(profile, slip.spoil(task.plan) if slip else task.plan, office, transcript)
        transcript.turn([transcript.message(slip.says if slip and slip.says else task.says)])
    seconds = round(1.5 + transcript.output_tokens / profile.tokens_per_second + 3 * rng.random(), 3)
    return (
        input_row(task, index, repeat)
        | {"response": response(profile, transcript, place in TRUNCATED)}
        | verify(task, office)
        | {"agent_run_time": seconds}
    )


def response(profile: Profile, transcript: Transcript, truncated: bool) -> Row:
    return {
        "id": transcript.identifier("resp"),
        "created_at": float(CLOCK),
        "error": None,
        "incomplete_details": {"reason": "max_output_tokens"} if truncated else None,
        "model": profile.model,
        "object": "response",
        "output": transcript.items,
        "status": "incomplete" if truncated else "completed",
        "usage": transcript.usage(),
    }
