"""Marks of a task in one row: the id that the artifact gives, fingerprints of its own fields and of its prompt."""

from __future__ import annotations

import re
from collections.abc import Callable
from hashlib import blake2b
from typing import Generic, TypeVar

import msgspec

from blade.ingest import cells, fields
from blade.ingest.decode import Row, decode_any, encode
from blade.ingest.steps import before_agent

_RESULT_WORDS = re.compile(
    r"score|reward|passed|status|result|step|finished|traject|verdict|correct|error|output|log", re.IGNORECASE
)
_MOST_KNOWN = 4096
_MOST_BYTES = 8 << 20
T = TypeVar("T")


def hashed(data: bytes) -> int:
    """64 bits that stand for the bytes, the same in every process."""
    return int.from_bytes(blake2b(data, digest_size=8).digest())


def task_name(row: Row, metadata: msgspec.Raw) -> str | None:
    """The id of the task: in the row, else in the request's metadata."""
    for name in fields.ID_NAMES:
        found = cells.name_text(cells.value(row, name)) if name in row else None
        if found is not None:
            return found
    inside = decode_any(metadata) if cells.has(metadata) else None
    if not isinstance(inside, dict):
        return None
    named = (cells.name_text(inside.get(name)) for name in fields.ID_NAMES)
    return next((name for name in named if name is not None), None)


def key_fingerprint(raw: msgspec.Raw) -> int | None:
    """Of one of the task's own fields; an empty text or null is no mark."""
    value = decode_any(raw)
    if isinstance(value, str):
        return hashed(value.strip().encode("utf-8", "replace")) if value else None
    return hashed(encode(value)) if value is not None else None


def metadata_fingerprint(raw: msgspec.Raw) -> int | None:
    """Of the verifier's metadata without what is a result: that is of the rollout, not of the task."""
    value = decode_any(raw)
    if isinstance(value, dict):
        value = {key: item for key, item in value.items() if not _RESULT_WORDS.search(key)}
    return hashed(encode(value)) if value is not None else None


class Memo(Generic[T]):
    """What is made of a raw value; the rows of a run repeat theirs, so each is worked out once."""

    def __init__(self, make: Callable[[msgspec.Raw], T]) -> None:
        self._make = make
        self._known: dict[bytes, T] = {}
        self._size = 0

    def __call__(self, raw: msgspec.Raw) -> T:
        key = bytes(raw)
        known = self._known
        if key in known:
            return known[key]
        self._size += len(key)
        if len(known) >= _MOST_KNOWN or self._size > _MOST_BYTES:
            known.clear()
            self._size = len(key)
        made = known[key] = self._make(raw)
        return made


def prompt_raw(row: Row, request_input: msgspec.Raw) -> msgspec.Raw | None:
    """The raw prompt of a row, in the order of the table; None when it has none."""
    if cells.has(request_input):
        return request_input
    return next((row[name] for name in fields.BY_NAME["prompt"].paths[1:] if cells.has(row.get(name))), None)


def prompt_fingerprint(raw: msgspec.Raw) -> int | None:
    """Of the messages up to the agent's first turn, white space collapsed; None when there is no text in them."""
    value = decode_any(raw)
    messages = before_agent(value) if isinstance(value, list) else [value]
    text = "\x00".join(_message_text(message) for message in messages)
    return hashed(" ".join(text.split()).encode("utf-8", "replace")) if text.strip("\x00 \r\n\t") else None


def _message_text(message: object) -> str:
    if isinstance(message, str):
        return message
    if not isinstance(message, dict):
        return "" if message is None else cells.as_text(message)
    content = message.get("content", message.get("value"))
    if isinstance(content, list):
        return "\n".join(_message_text(part.get("text", part) if isinstance(part, dict) else part) for part in content)
    return content if isinstance(content, str) else cells.as_text(message)
