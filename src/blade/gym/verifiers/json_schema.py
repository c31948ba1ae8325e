"""The message is JSON, alone or in a fence, and satisfies the task's schema.

Row
    `schema` (an object) or `schema_str` (its text). `example_answer`: a value that satisfies it, for proving the verifier.

Config
    `fence`: `forbidden` takes bare JSON alone; default `allowed`.

Fields
    `extracted_answer`, `json_valid`, `checks` (a verdict for each place of the schema that was not met, at
    most 20), `failure_reason`.
"""

from __future__ import annotations

import json
from typing import Any

from blade.gym.answers import fenced, shown
from blade.gym.environment import NoVerdict, Row, Verdict
from blade.gym.sandbox.worker import OutOfBounds, Worker
from blade.gym.single_turn import Config

SECONDS = 6.0
LONGEST_JSON = 1 << 20
DEEPEST = 100
MOST_ERRORS = 20
_WORKER = Worker(__name__, seconds=SECONDS, packages=["jsonschema"])


def gold(row: Row) -> str | None:
    """The row's example, where it has one."""
    example = row.get("example_answer")
    return None if example is None else example if isinstance(example, str) else json.dumps(example)


def verify(row: Row, text: str, config: Config) -> Verdict:
    """1 for JSON that satisfies the schema, else 0."""
    inside = None if config.get("fence") == "forbidden" else fenced(text)
    written = (inside if inside is not None else text).strip()
    value, reason = _read(written)
    problems = _problems(_schema(row), written) if reason is None else []
    reason = reason or (problems[0]["message"] if problems else None)
    fields: dict[str, Any] = {
        "extracted_answer": shown(written) or None,
        "json_valid": value,
        "checks": problems,
        "failure_reason": reason,
    }
    return Verdict(reward=float(reason is None), fields=fields)


def _schema(row: Row) -> Any:
    schema = row.get("schema", row.get("schema_str"))
    return json.loads(schema) if isinstance(schema, str) else schema


def _read(written: str) -> tuple[bool, str | None]:
    """Whether a text is JSON that may be judged; else why not."""
    if not written:
        return False, "the message is empty"
    if len(written) > LONGEST_JSON:
        return False, "the message is too long"
    if _depth(written) > DEEPEST:
        return False, "the JSON is nested too deep"
    try:
        json.loads(written)
    except (ValueError, RecursionError) as problem:
        return False, f"the message is not JSON: {problem}"
    return True, None


def _depth(written: str) -> int:
    depth = deepest = 0
    for letter in written:
        depth += (letter in "{[") - (letter in "}]")
        deepest = max(deepest, depth)
    return deepest


def _problems(schema: Any, written: str) -> list[dict[str, Any]]:
    try:
        found: list[dict[str, Any]] = _WORKER.ask("problems", schema, written)
    except OutOfBounds:
        return [{"name": "limits", "passed": False, "message": "checking the schema ran out of time or memory"}]
    except ValueError as problem:
        raise NoVerdict(f"the task's schema cannot be used: {problem}", terminal=True) from problem
    return found


def warm() -> None:
    """In the child: load the library before the doors are shut."""
    problems({"type": "object", "properties": {"a": {"type": "string", "format": "date"}}}, "{}")


def problems(schema: Any, written: str) -> list[dict[str, Any]]:
    """In the child: what the value does not satisfy, place by place, in the order of the places."""
    from jsonschema import Draft202012Validator, FormatChecker

    Draft202012Validator.check_schema(schema)
    checker = Draft202012Validator(schema, format_checker=FormatChecker())
    found = sorted(checker.iter_errors(json.loads(written)), key=lambda one: (one.json_path, str(one.validator)))
    return [
        {"name": f"{one.json_path} {one.validator}", "passed": False, "message": one.message[:300]}
        for one in found[:MOST_ERRORS]
    ]
