"""The last message is JSON, alone or in a fence, and satisfies the task's schema as it is written, formats included.

A check that runs out of time or memory, and a schema that is not one, give no verdict.

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

from blade_gym.answers import fenced, shown
from blade_gym.environment import Row, Verdict
from blade_gym.sandbox.worker import Worker
from blade_gym.single_turn import Config, needed
from blade_gym.verifier_kit.schemas import asked, problems

SECONDS = 6.0
_WORKER = Worker(__name__, seconds=SECONDS, packages=["jsonschema"])


def ready() -> None:
    """Raise RequestError where a package is missing."""
    needed("jsonschema")


def gold(row: Row) -> str | None:
    """The row's example, where it has one."""
    example = row.get("example_answer")
    return None if example is None else example if isinstance(example, str) else json.dumps(example)


def verify(row: Row, text: str, config: Config) -> Verdict:
    """1 for JSON that satisfies the schema, else 0."""
    inside = None if config.get("fence") == "forbidden" else fenced(text)
    written = (inside if inside is not None else text).strip()
    unreadable, checks = asked(_WORKER, "checked", _schema(row), written) if written else ("the message is empty", [])
    reason = unreadable or (checks[0]["message"] if checks else None)
    fields: dict[str, Any] = {
        "extracted_answer": shown(written) or None,
        "json_valid": unreadable is None,
        "checks": checks,
        "failure_reason": reason,
    }
    return Verdict(reward=float(reason is None), fields=fields)


def _schema(row: Row) -> Any:
    schema = row.get("schema", row.get("schema_str"))
    return json.loads(schema) if isinstance(schema, str) else schema


def warm() -> None:
    """In the child: load the library before the doors are shut."""
    checked({"type": "object", "properties": {"a": {"type": "string", "format": "date"}}}, "{}")


def checked(schema: Any, written: str) -> tuple[str | None, list[dict[str, Any]]]:
    """In the child: why a text is not JSON, or what its value does not satisfy."""
    try:
        value = json.loads(written)
    except RecursionError:
        return "the JSON is nested too deep", []
    except ValueError as problem:
        return f"the message is not JSON: {problem}", []
    return None, problems(schema, value, formats=True)
