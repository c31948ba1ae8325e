"""Marks of a task in a row: fingerprints of its own fields and of its prompt."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal

import msgspec
from xxhash import xxh3_64_intdigest

from blade.ingest import cells
from blade.ingest.decode import decode_any, encode
from blade.ingest.steps import before_agent, given_to_agent

_RESULT_WORDS = re.compile(
    r"score|reward|passed|status|result|step|finished|traject|verdict|correct|error|output|log", re.IGNORECASE
)
_BLANKS = bytes(ord(" ") if chr(code).isspace() and code < 128 else code for code in range(256))
"""White space of ASCII as blanks."""


def hashed(data: bytes) -> int:
    """64 bits that stand for the bytes, the same in every process; tasks without an id are named after them."""
    return xxh3_64_intdigest(data)


def fingerprint(text: str) -> int:
    """64 bits that stand for a text, the same in every process."""
    return xxh3_64_intdigest(text.encode("utf-8", "replace"))


def key_fingerprint(raw: bytes) -> int | None:
    """Of one of the task's own fields; an empty text or null is no mark."""
    value = decode_any(raw)
    if isinstance(value, str):
        return fingerprint(value.strip()) if value else None
    return hashed(encode(value)) if value is not None else None


def metadata_fingerprint(raw: bytes) -> int | None:
    """Of the verifier's metadata without what is a result: that is of the rollout, not of the task."""
    value = decode_any(raw)
    if isinstance(value, dict):
        value = {key: item for key, item in value.items() if not _RESULT_WORDS.search(key)}
    return hashed(encode(value)) if value is not None else None


def prompt_fingerprint(raw: bytes) -> int | None:
    """Of the messages up to the agent's first turn, white space collapsed; None when there is no text in them."""
    value = decode_any(raw)
    return _of_messages(before_agent(value) if isinstance(value, list) else [value])


class _Asked(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    """A message to the agent that holds a text and nothing else."""

    role: Literal["user", "system", "developer"]
    content: str


_asked = msgspec.json.Decoder(list[_Asked])


def request_fingerprint(raw: bytes) -> int | None:
    """As of any prompt, and of worked examples too: only the question after them tells such tasks apart."""
    try:
        return _of_texts([message.content for message in _asked.decode(raw)])
    except msgspec.ValidationError:
        value = decode_any(raw)
    return _of_messages(given_to_agent(value) if isinstance(value, list) else [value])


def _of_messages(messages: list[object]) -> int | None:
    return _of_texts(map(_message_text, messages))


def _of_texts(texts: Iterable[str]) -> int | None:
    text = "\x00".join(texts)
    return hashed(_collapsed(text)) if text.strip("\x00 \r\n\t") else None


def _collapsed(text: str) -> bytes:
    """The text with one blank for all white space between words, and none at its ends."""
    if not text.isascii():
        return " ".join(text.split()).encode("utf-8", "replace")
    # As bytes, because most white space is one blank already: taking a long prompt apart costs ten times as much.
    flat = text.encode().translate(_BLANKS)
    while b"  " in flat:
        flat = flat.replace(b"  ", b" ")
    return flat.strip(b" ")


def _message_text(message: object) -> str:
    if isinstance(message, str):
        return message
    if not isinstance(message, dict):
        return "" if message is None else cells.as_text(message)
    content = message.get("content", message.get("value"))
    if isinstance(content, list):
        return "\n".join(_message_text(part.get("text", part) if isinstance(part, dict) else part) for part in content)
    return content if isinstance(content, str) else cells.as_text(message)
