"""Results of Harbor trials, one a line: the task by its name, the reward of the verifier, the exception that ended it."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec

from blade.ingest.decode import Row, decode_any, encode
from blade.ingest.formats import FileHead, Format

_NAMES = ("trial_name", "task_name", "agent_info")
_TRIAL = "id"
"""Names the trial and not the task, so it is left out."""


def recognizes(head: FileHead) -> bool:
    """Some row has the fields that only Harbor writes."""
    return any(all(name in row for name in _NAMES) for row in head.rows)


def as_row(trial: Row) -> Row:
    """The trial under the names that rows have; what else it holds stays as it is."""
    value = {name: decode_any(raw) for name, raw in trial.items()}
    agent, spent = _object(value.get("agent_info")), _object(value.get("agent_result"))
    usage = {"input_tokens": spent.get("n_input_tokens"), "output_tokens": spent.get("n_output_tokens")}
    row: dict[str, Any] = {
        "task_id": value.get("task_name"),
        "agent_name": agent.get("name"),
        "model": _object(agent.get("model_info")).get("name"),
        "reward": _reward(_object(_object(value.get("verifier_result")).get("rewards"))),
        "error": _object(value.get("exception_info")).get("exception_type"),
        "usage": usage if any(usage.values()) else None,
        "cost": spent.get("cost_usd"),
        "seconds": _seconds(value.get("started_at"), value.get("finished_at")),
    }
    kept = {name: raw for name, raw in trial.items() if name not in (_TRIAL, "task_id")}
    return {
        **kept,
        **{name: msgspec.Raw(encode(item)) for name, item in row.items() if item is not None or name == "reward"},
    }


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _reward(rewards: dict[str, Any]) -> Any:
    """The reward, or the one number that the verifier left under a name of its own."""
    return rewards.get("reward", next(iter(rewards.values())) if len(rewards) == 1 else None)


def _seconds(start: object, end: object) -> float | None:
    try:
        return (datetime.fromisoformat(str(end)) - datetime.fromisoformat(str(start))).total_seconds()
    except (ValueError, TypeError):
        return None


FORMAT = Format(
    name="harbor",
    order=40,
    recognizes=recognizes,
    as_row=as_row,
)
