"""Records told in a sentence, to be written as JSON to a schema; the check also knows the values."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from blade_gym import hub, puzzles

NAMES = ("Ada Brook", "Jon Vale", "Mira Stone", "Leo Hart", "Nora Finch", "Tom Reed", "Ivy Marsh", "Sam Dale")
TOWNS = ("Lindau", "Bergen", "Porto", "Ghent", "Tartu", "Split")
LANGUAGES = ("German", "French", "Polish", "Dutch", "Greek", "Finnish")
ITEMS = ("lamp", "kettle", "chair", "mirror", "clock", "basket")
ROOMS = ("single", "double", "suite")
PERSON = {"name": {"type": "string"}, "age": {"type": "integer"}, "town": {"type": "string"}}
SHOWN = {"name": "Kim Lund", "age": 41, "town": "Odense"}
SHOT = "Kim Lund is 41 years old and lives in Odense."

Record = tuple[str, dict[str, Any], dict[str, Any]]
"""What is told, the schema's properties, the values."""


def prepare(size: int = 48, seed: int = 7, shots: int = 1, output: str | None = None) -> Path:
    """Write `size` records, of each kind in turn, each after a worked example unless `shots` is 0."""
    return hub.write(_rows(size, seed, shots), output or hub.beside(__file__, "json_records"))


def _rows(size: int, seed: int, shots: int) -> Iterator[dict[str, Any]]:
    draw = random.Random(seed)
    told: set[str] = set()
    shown = [(_asked(SHOT, _schema(PERSON)), json.dumps(SHOWN))] if shots else []
    for number in puzzles.draws(told, size):
        kind, record = list(KINDS.items())[number % len(KINDS)]
        text, properties, values = record(draw)
        if text in told:
            continue
        schema = _schema(properties)
        yield {
            "id": f"record-{number:03d}",
            "responses_create_params": {"input": puzzles.turns(shown, _asked(text, schema))},
            "kind": kind,
            "fields": len(properties),
            "schema": _with_values(schema, values),
            "example_answer": values,
        }
        told.add(text)


def _asked(text: str, schema: Mapping[str, Any]) -> str:
    wanted = "Write this as one JSON object that satisfies this schema. Reply with the JSON alone."
    return f"{text}\n\n{wanted}\n{json.dumps(schema)}"


def _schema(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def _with_values(schema: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """The schema with the one value that each property may have."""
    properties = {name: {**inner, "const": values[name]} for name, inner in schema["properties"].items()}
    return {**schema, "properties": properties}


def _contact(draw: random.Random) -> Record:
    values = {"name": draw.choice(NAMES), "age": draw.randint(20, 80), "town": draw.choice(TOWNS)}
    text = "{name} is {age} years old and lives in {town}.".format(**values)
    return text, PERSON, values


def _speaker(draw: random.Random) -> Record:
    values = {"name": draw.choice(NAMES), "languages": draw.sample(LANGUAGES, draw.randint(2, 3))}
    text = f"{values['name']} speaks {', '.join(values['languages'][:-1])} and {values['languages'][-1]}."
    listed = {"type": "array", "items": {"type": "string"}, "minItems": 2}
    return text, {"name": {"type": "string"}, "languages": listed}, values


def _order(draw: random.Random) -> Record:
    item = {"sku": draw.choice(ITEMS), "quantity": draw.randint(2, 9)}
    values = {"customer": draw.choice(NAMES), "paid": draw.random() < 0.5, "item": item}
    state = "has paid" if values["paid"] else "has not paid yet"
    text = f"{values['customer']} ordered {item['quantity']} pieces of {item['sku']} and {state}."
    inner = _schema({"sku": {"type": "string"}, "quantity": {"type": "integer"}})
    return text, {"customer": {"type": "string"}, "paid": {"type": "boolean"}, "item": inner}, values


def _booking(draw: random.Random) -> Record:
    day = f"2025-{draw.randint(1, 12):02d}-{draw.randint(1, 28):02d}"
    values = {"guest": draw.choice(NAMES), "room": draw.choice(ROOMS), "arrival": day, "nights": draw.randint(1, 9)}
    text = "{guest} books a {room} room from {arrival} on for {nights} nights.".format(**values)
    properties = {
        "guest": {"type": "string"},
        "room": {"enum": list(ROOMS)},
        "arrival": {"type": "string", "format": "date"},
        "nights": {"type": "integer", "minimum": 1},
    }
    return text, properties, values


KINDS: Mapping[str, Callable[[random.Random], Record]] = {
    "flat": _contact,
    "list": _speaker,
    "nested": _order,
    "enum": _booking,
}
