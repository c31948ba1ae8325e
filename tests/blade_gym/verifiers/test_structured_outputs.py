"""Structured outputs: five formats and tool calls against a strict schema, whatever the text does to its parser."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from blade_gym.answers import message
from blade_gym.environment import NoVerdict, Row, Verdict
from blade_gym.sandbox.worker import OutOfBounds
from blade_gym.verifier_kit.calls import call_item
from blade_gym.verifiers import structured_outputs

PERSON = {"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer"}}}
ROOTED = {"type": "object", "properties": {"person": PERSON}}
TABLE = {"type": "array", "items": PERSON}
WRITTEN = {
    "json": (PERSON, '{"name": "Ada", "age": 3}'),
    "yaml": (PERSON, "name: Ada\nage: 3\n"),
    "xml": (ROOTED, "<person><name>Ada</name><age>3</age></person>"),
    "toml": (PERSON, 'name = "Ada"\nage = 3\n'),
    "csv": (TABLE, "name,age\nAda,3\n"),
}
BOMB = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{name}: &{name} [{','.join([f'*{before}'] * 9)}]\n" for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)
MERGES = "a: &a {x: 1}\n" + "".join(
    f"{name}: &{name} {{<<: [{','.join([f'*{before}'] * 9)}]}}\n"
    for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)


def _verdict(schema: Any, kind: str, text: str, **config: Any) -> Verdict:
    row = {"schema_str": json.dumps(schema), "schema_type": kind}
    return structured_outputs.verify(row, [message(text)], config)


@pytest.mark.parametrize("kind", WRITTEN)
def test_each_format_is_read_typed_and_held_against_the_strict_schema(kind: str) -> None:
    schema, text = WRITTEN[kind]
    assert _verdict(schema, kind, text).reward == 1.0
    for wrong, error_type in (
        (
            text.replace("3", "old") if kind in ("xml", "csv", "yaml") else text.replace("3", '"old"'),
            "validation_error",
        ),
        (text.replace("age", "years"), "validation_error"),
        (f"```{kind}\n{text}\n```", "validation_error" if kind == "csv" else "parse_error"),
        ("", "empty_response"),
    ):
        found = _verdict(schema, kind, wrong)
        assert (found.reward, found.fields["error_type"]) == (0.0, error_type), wrong
        assert found.fields["failure_reason"]


def test_every_property_is_required_and_no_other_allowed() -> None:
    loose = {**PERSON, "required": ["name"], "additionalProperties": True}
    missing = _verdict(loose, "json", '{"name": "Ada"}')
    assert missing.fields["failure_reason"] == "'age' is a required property"
    assert [check["name"] for check in missing.fields["checks"]] == ["$ required"]
    assert _verdict(loose, "json", '{"name": "Ada", "age": 3, "x": 1}').reward == 0.0
    assert _verdict({"anyOf": [PERSON]}, "json", '{"name": "Ada"}').reward == 1.0


def test_xml_keeps_texts_where_the_config_says_so() -> None:
    schema, text = WRITTEN["xml"]
    assert _verdict(schema, "xml", text, xml_coerce_types=False).reward == 0.0


def test_all_messages_are_one_text() -> None:
    row = {"schema_str": json.dumps(PERSON)}
    parts = [message('{"name": "Ada",'), message(' "age": 3}')]
    assert structured_outputs.verify(row, parts, {}).reward == 1.0


@pytest.mark.parametrize(
    ("calls", "error_type"),
    [
        ([("take", {"value": {"name": "Ada", "age": 3}})], None),
        ([("take", {"value": {"name": "Ada"}})], "validation_error"),
        ([("take", {"name": "Ada", "age": 3})], "missing_tool_payload_key"),
        ([("give", {"value": {"name": "Ada", "age": 3}})], "wrong_tool_name"),
        ([("take", {}), ("take", {})], "multiple_tool_calls"),
        ([], "missing_tool_call"),
    ],
)
def test_one_call_of_the_tool_holds_the_value(calls: list[tuple[str, Row]], error_type: str | None) -> None:
    row = {
        "schema_str": json.dumps(PERSON),
        "response_mode": "tool_call",
        "tool_name": "take",
        "tool_payload_key": "value",
        "example_answer": {"name": "Ada", "age": 3},
    }
    found = structured_outputs.verify(row, [call_item(name, arguments) for name, arguments in calls], {})
    assert (found.reward, found.fields["error_type"]) == (float(error_type is None), error_type)
    broken = {"type": "function_call", "name": "take", "arguments": "{"}
    assert structured_outputs.verify(row, [broken], {}).fields["error_type"] == "tool_arguments_parse_error"
    gold = structured_outputs.gold(row)
    assert gold is not None
    assert structured_outputs.verify(row, gold, {}).reward == 1.0


@pytest.mark.parametrize(
    ("schema", "kind", "why"),
    [
        ({"type": "number", "minimum": "a"}, "json", "cannot be used: SchemaError"),
        ({"$ref": "#/$defs/none"}, "json", "cannot be used"),
        ({"type": "string", "pattern": "("}, "json", "cannot be used"),
        ({"oneOf": [{}], "discriminator": {"propertyName": "t"}}, "json", "cannot be used: ValueError"),
        ({}, "ini", "unknown schema_type 'ini'"),
    ],
)
def test_a_task_that_cannot_be_judged_gives_no_verdict(schema: Any, kind: str, why: str) -> None:
    with pytest.raises(NoVerdict, match=why):
        _verdict(schema, kind, '"text"')


def test_a_schema_that_refers_to_the_network_gives_no_verdict() -> None:
    with pytest.raises(NoVerdict, match="cannot be used"):
        _verdict({"$ref": "http://127.0.0.1:9/schema.json"}, "json", "1")


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("json", "[" * 100_000 + "]" * 100_000),
        ("json", '{"a":' * 100_000),
        ("json", '{"name": "' + "a" * 10_000_000 + '", "age": "x"}'),
        ("json", "[" + "1," * 1_000_000 + "1]"),
        ("yaml", "!!python/object/apply:os.system ['true']"),
        ("yaml", "- " * 5_000 + "a"),
        ("xml", '<!DOCTYPE a [<!ENTITY e "ee"><!ENTITY f "&e;&e;&e;&e;">]><a>&f;</a>'),
        ("xml", '<!DOCTYPE a [<!ENTITY e SYSTEM "file:///etc/hostname">]><a>&e;</a>'),
        ("xml", "<a>" * 100_000),
        ("xml", "<a " + " ".join(f'b{number}="1"' for number in range(100_000)) + "/>"),
        ("toml", "a = " + "[" * 10_000 + "]" * 10_000),
        ("toml", "a = " + "9" * 10_000),
        ("csv", "name,age\n" + "a" * 10_000_000 + ",3\n"),
        ("csv", '"' * 1_000_000),
    ],
)
def test_hostile_texts_are_read_safely_and_fail(kind: str, text: str) -> None:
    begun = time.monotonic()
    found = _verdict(TABLE if kind == "csv" else PERSON, kind, text)
    assert (kind, found.reward) == (kind, 0.0) or (kind == "csv" and "\n" not in text)
    assert len(json.dumps(found.fields)) < 20_000
    assert time.monotonic() - begun < 15


@pytest.mark.parametrize("text", [BOMB, "&a [*a]", "a: &a {b: *a}"])
def test_aliases_that_stand_for_too_much_give_no_verdict(text: str) -> None:
    begun = time.monotonic()
    with pytest.raises(OutOfBounds, match="aliases"):
        _verdict(PERSON, "yaml", text)
    assert time.monotonic() - begun < 5


@pytest.mark.slow
@pytest.mark.parametrize(
    ("schema", "kind", "text"),
    [
        (PERSON, "yaml", MERGES),
        (PERSON, "yaml", "- a\n" * 2_500_000),
        ({"type": "string", "pattern": "^(a+)+$"}, "json", f'"{"a" * 40}b"'),
        ({"type": "array", "items": {"$ref": "#"}}, "json", "[" * 600 + "]" * 600),
    ],
)
def test_what_takes_too_long_or_is_too_deep_gives_no_verdict(schema: Any, kind: str, text: str) -> None:
    begun = time.monotonic()
    with pytest.raises(OutOfBounds):
        _verdict(schema, kind, text)
    assert time.monotonic() - begun < 5 * structured_outputs.SECONDS
    schema, text = WRITTEN["yaml"]
    assert _verdict(schema, "yaml", text).reward == 1.0
