"""The response is JSON, YAML, XML, TOML or CSV, or the arguments of one tool call, and satisfies the task's schema.

The whole text of all messages is read, without a fence or other words around it. The schema (Draft 2020-12, formats not
checked) is made strict first: every property is required and no other is allowed, in all objects but those inside lists
such as `anyOf`. Texts in XML and CSV become numbers and booleans where the schema asks for them. NaN and Infinity are
numbers, and of a key that is written twice the last value counts, as Python reads them. A CSV text of one line is a
header without rows, which satisfies any schema of a list that has no `minItems`.

Hostile texts are read in a sandboxed process: XML entities are refused, YAML makes plain values only, and a YAML text
whose aliases stand for more than a million values gives no verdict. Neither do checks that run out of time or memory,
schemas that are not one, and schemas with an OpenAPI `discriminator`.

Row
    `schema_str`: the schema's text. `schema_type`: `json` (the default), `yaml`, `xml`, `toml` or `csv`. `response_mode`:
    `text` (the default) or `tool_call`; then exactly one call may be made, of the tool `tool_name` where the row names one,
    and `tool_payload_key` names the argument that holds the value. `example_answer`: a text, or a call's value, that
    satisfies the schema, for proving the verifier.

Config
    `xml_coerce_types`: false leaves all values of XML texts; default true.

Fields
    `schema_type`, `error_type` (`empty_response`, `parse_error`, `validation_error`, or of a call `missing_tool_call`,
    `multiple_tool_calls`, `wrong_tool_name`, `tool_arguments_parse_error`, `missing_tool_payload_key`), `error_message`,
    `checks` (the places of the schema that were not met, at most 20), `failure_reason`.
"""

from __future__ import annotations

import csv
import io
import json
import math
import tomllib
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

from blade_gym.answers import message
from blade_gym.environment import NoVerdict, Row, Verdict
from blade_gym.sandbox.inside.wire import usual_numbers
from blade_gym.sandbox.worker import OutOfBounds, Worker
from blade_gym.single_turn import Config, needed
from blade_gym.verifier_kit.calls import call_item, calls_of
from blade_gym.verifier_kit.schemas import asked, problems

SECONDS = 10.0
MOST_VALUES = 1_000_000
"""Values that a YAML text may stand for, aliases written out."""
LONGEST_MESSAGE = 200
_TOO_MANY = "too many values"
_WORKER = Worker(__name__, seconds=SECONDS, packages=["jsonschema", "xmltodict"])
_REASONS = {
    "empty_response": "the response is empty",
    "parse_error": "the response cannot be read as {}",
    "missing_tool_call": "no tool call was made",
    "multiple_tool_calls": "more than one tool call was made",
    "wrong_tool_name": "a different tool was called",
    "tool_arguments_parse_error": "the arguments of the call are not JSON",
    "missing_tool_payload_key": "the argument that holds the value is missing",
}

Error = tuple[str, str]
"""The reference's name of what is wrong, and a message."""


def ready() -> None:
    """Raise RequestError where a package is missing."""
    needed("jsonschema", "xmltodict")


def gold(row: Row) -> Sequence[Row] | None:
    """The row's example, where it has one."""
    example = row.get("example_answer")
    if example is None:
        return None
    if row.get("response_mode") == "tool_call":
        key = row.get("tool_payload_key")
        return (call_item(str(row.get("tool_name") or "answer"), {key: example} if key else example),)
    return (message(example if isinstance(example, str) else json.dumps(example)),)


def verify(row: Row, output: Sequence[Row], config: Config) -> Verdict:
    """1 for a response that satisfies the schema, else 0."""
    kind = str(row.get("schema_type", "json"))
    if kind not in PARSERS:
        raise NoVerdict(f"unknown schema_type {kind!r}", failure_class="skipped", terminal=True)
    if not isinstance(row.get("schema_str"), str):
        raise NoVerdict("the row has no schema_str", failure_class="skipped", terminal=True)
    error, checks = (
        _judged_call(row, output) if row.get("response_mode") == "tool_call" else _judged_text(row, output, config)
    )
    error_type, told = error or (None, None)
    reason = checks[0]["message"] if checks else _REASONS[error_type].format(kind) if error_type else None
    fields = {
        "schema_type": kind,
        "error_type": error_type,
        "error_message": told,
        "checks": checks,
        "failure_reason": reason,
    }
    return Verdict(reward=float(error is None), fields=fields)


def _judged_text(row: Row, output: Sequence[Row], config: Config) -> tuple[Error | None, list[dict[str, Any]]]:
    text = _whole_text(output)
    if not text.strip():
        return ("empty_response", "the response holds no text"), []
    coerced = bool(config.get("xml_coerce_types", True))
    return _asked("judged", row["schema_str"], row.get("schema_type", "json"), text, coerced)


def _judged_call(row: Row, output: Sequence[Row]) -> tuple[Error | None, list[dict[str, Any]]]:
    calls, wanted = calls_of(output), row.get("tool_name")
    names = ", ".join(name for name, _ in calls)[:LONGEST_MESSAGE]
    if len(calls) != 1:
        return ("multiple_tool_calls" if calls else "missing_tool_call", f"calls: {names or 'none'}"), []
    if wanted and calls[0][0] != wanted:
        return ("wrong_tool_name", f"expected {wanted}, got {names}"), []
    return _asked("judged_call", row["schema_str"], calls[0][1], row.get("tool_payload_key"))


def _asked(function: str, *arguments: object) -> tuple[Error | None, list[dict[str, Any]]]:
    error, checks = asked(_WORKER, function, *arguments)
    if error == _TOO_MANY:
        raise OutOfBounds(f"the aliases of the YAML text stand for more than {MOST_VALUES} values")
    return error and (str(error[0]), str(error[1])), checks


def _whole_text(output: Sequence[Row]) -> str:
    """The text of all messages, one after the other."""
    contents = [item.get("content") for item in output if item.get("type") == "message"]
    parts = [part for content in contents if isinstance(content, list) for part in content if isinstance(part, Mapping)]
    return "".join(str(part.get("text") or "") for part in parts if part.get("type") == "output_text")


def warm() -> None:
    """In the child: load the libraries before the doors are shut."""
    for kind, text in (("json", "{}"), ("yaml", "{}"), ("xml", "<a/>"), ("toml", ""), ("csv", "a\n1\n")):
        judged('{"type": "object"}', kind, text, True)


@usual_numbers()
def judged(schema_str: str, kind: str, text: str, coerce_xml: bool) -> tuple[Error | str | None, list[dict[str, Any]]]:
    """In the child: what is wrong with a text."""
    schema = _strict(json.loads(schema_str))
    try:
        value = PARSERS[kind](text)
    except MemoryError:
        raise
    except Exception as problem:  # noqa: BLE001 - whatever a parser raises, it could not read the text
        return ("parse_error", f"{type(problem).__name__}: {str(problem)[:LONGEST_MESSAGE]}"), []
    if kind == "yaml" and _values(value, {}) > MOST_VALUES:
        return _TOO_MANY, []
    if kind == "xml" and coerce_xml:
        value = _typed_xml(value, schema)
    return _checked(schema, _typed_csv(value, schema) if kind == "csv" else value)


@usual_numbers()
def judged_call(schema_str: str, arguments: str, key: str | None) -> tuple[Error | str | None, list[dict[str, Any]]]:
    """In the child: what is wrong with the arguments of a call."""
    schema = _strict(json.loads(schema_str))
    try:
        value = json.loads(arguments)
    except (ValueError, RecursionError) as problem:
        return ("tool_arguments_parse_error", f"{type(problem).__name__}: {str(problem)[:LONGEST_MESSAGE]}"), []
    if key and not (isinstance(value, dict) and key in value):
        return ("missing_tool_payload_key", f"there is no argument {key}"), []
    return _checked(schema, value[key] if key else value)


def _checked(schema: Any, value: Any) -> tuple[Error | None, list[dict[str, Any]]]:
    found = problems(schema, value, formats=False)
    return (("validation_error", found[0]["message"][:LONGEST_MESSAGE]) if found else None), found


def _strict(schema: Any) -> Any:
    """A schema in which every property is required and no other allowed; what stands in a list is left as it is."""
    if isinstance(schema, dict):
        if "discriminator" in schema and any(name in schema for name in ("anyOf", "oneOf", "allOf")):
            raise ValueError("a schema with a discriminator cannot be judged as the reference does")
        if "properties" in schema:
            schema |= {"required": list(schema["properties"]), "additionalProperties": False}
        for inner in schema.values():
            _strict(inner)
    return schema


def _values(value: Any, known: dict[int, float]) -> float:
    """How many values stand in one, each counted as often as it is referred to; infinite for one that holds itself."""
    if not isinstance(value, dict | list | set):
        return 1
    if id(value) not in known:
        known[id(value)] = math.inf
        inner = [*value.keys(), *value.values()] if isinstance(value, dict) else list(value)
        known[id(value)] = 1 + sum(_values(each, known) for each in inner)
    return known[id(value)]


def _typed_xml(value: Any, schema: Any) -> Any:
    """The texts of an XML document in the types of the schema; a text that is none of its type stays."""
    kind = schema.get("type") if isinstance(schema, dict) else None
    if kind == "object" and isinstance(value, dict):
        properties = schema.get("properties", {})
        return {name: _typed_xml(inner, properties.get(name)) for name, inner in value.items()}
    if kind == "array":
        # Elements of a list stand below one element for the list, under a name of their own.
        items = next(iter(value.values())) if isinstance(value, dict) and len(value) == 1 else value
        listed = items if isinstance(items, list) else [] if items is None else [items]
        return [_typed_xml(item, schema.get("items", {})) for item in listed]
    if value is None and kind == "string":
        return ""
    return _scalar(value, kind) if isinstance(value, str) else value


def _typed_csv(rows: list[dict[str, Any]], schema: dict[str, Any]) -> list[dict[str, Any]]:
    """The cells of a table in the types of the schema's items."""
    properties = schema.get("items", schema).get("properties", {})
    return [
        {name: _cell(cell, properties.get(name, {}).get("type", "string")) for name, cell in row.items()}
        for row in rows
    ]


def _cell(cell: Any, kind: Any) -> Any:
    """A cell in the first type that it can have; an empty one is null where the schema allows that."""
    if not isinstance(kind, list):
        return _scalar(cell, kind) if isinstance(cell, str) and cell else cell
    if cell in (None, "") and "null" in kind:
        return None
    typed = ((name, _cell(cell, name)) for name in kind if name != "null")
    return next((value for name, value in typed if not isinstance(value, str) or name == "string"), cell)


def _scalar(text: str, kind: Any) -> Any:
    if kind == "boolean":
        return {"true": True, "1": True, "false": False, "0": False}.get(text.lower(), text)
    try:
        return int(text) if kind == "integer" else float(text) if kind == "number" else text
    except ValueError:
        return text


def _yaml(text: str) -> Any:
    import yaml

    return yaml.safe_load(text)


PARSERS: Mapping[str, Callable[[str], Any]] = {
    "json": json.loads,
    "yaml": _yaml,
    "xml": lambda text: import_module("xmltodict").parse(text, disable_entities=True),
    "toml": tomllib.loads,
    "csv": lambda text: list(csv.DictReader(io.StringIO(text))),
}
