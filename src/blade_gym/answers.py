"""What a model's last message gives as its answer: marked ones first, from the end of the text backwards."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

LONGEST = 20_000
"""Characters at the end of a message in which an answer is looked for."""
LONGEST_SHOWN = 2_000
"""Characters of an answer that a row keeps."""

_OPEN, _CLOSE = "<answer>", "</answer>"
_BRACE = re.compile(r"\\(?:boxed|fbox)\s{0,8}\{|[{}]")
_SAID = re.compile(
    r"answer\**\s{0,4}(?:is|:|=)\s{0,4}:?\**\s{0,4}([^\n]{1,400})|^####\s{0,4}([^\n]{1,400})",
    re.IGNORECASE | re.MULTILINE,
)
_FENCE = re.compile(r"```([^\n`]{0,40})\n(.*?)```", re.DOTALL)
_TRIMMED = " \t\r\n*_`"


def last_message(output: Sequence[Mapping[str, Any]]) -> str:
    """The text of the last message of the assistant in a response's output; empty where there is none."""
    for item in reversed(output):
        if item.get("type", "message") == "message" and item.get("role", "assistant") == "assistant":
            return text_of(item.get("content"))
    return ""


def output_text(output: Sequence[Mapping[str, Any]], between: str = "") -> str:
    """The text of all messages of the assistant in a response's output, refusals left out."""
    said = [
        item.get("content")
        for item in output
        if item.get("type", "message") == "message" and item.get("role", "assistant") == "assistant"
    ]
    parts = (part for content in said for part in (content if isinstance(content, list) else [content]))
    texts = (part.get("text") if isinstance(part, Mapping) else part for part in parts)
    return between.join(text for text in texts if isinstance(text, str))


def text_of(content: object) -> str:
    """The text of a message's content, refusals included."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = [part.get("text") or part.get("refusal") for part in parts if isinstance(part, Mapping)]
    return "".join(text for text in texts if isinstance(text, str))


def message(text: str) -> dict[str, Any]:
    """An assistant's message as an item of a response's output."""
    return {
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": text, "annotations": []}],
    }


def final_answer(text: str) -> str | None:
    r"""The answer that is marked as one: `<answer>`, `\boxed{}`, *answer is*, `####`; the last of the first kind found."""
    tail = text[-LONGEST:]
    tagged = _tagged(tail)
    if tagged is not None:
        return tagged.strip() or None
    found = boxed(tail)
    if found is not None:
        return _trim(found)
    said = list(_SAID.finditer(tail))
    return _trim(_sentence(said[-1].group(1) or said[-1].group(2) or "")) if said else None


def _tagged(text: str) -> str | None:
    """What stands in the last whole `<answer>`, in any case of letters."""
    small = text.lower() if len(text.lower()) == len(text) else text
    end = small.rfind(_CLOSE)
    begin = small.rfind(_OPEN, 0, max(end, 0))
    return text[begin + len(_OPEN) : end] if begin >= 0 else None


def boxed(text: str) -> str | None:
    r"""What stands in the last whole `\boxed{...}`; read once, however many are open."""
    last: tuple[int, str] | None = None
    opened: list[int | None] = []
    for found in _BRACE.finditer(text):
        if found.group() != "}":
            opened.append(found.end() if len(found.group()) > 1 else None)
        elif opened:
            begin = opened.pop()
            if begin is not None and (last is None or begin > last[0]):
                last = (begin, text[begin : found.start()])
    return last[1] if last is not None else None


def last_line(text: str) -> str | None:
    """The last line with anything in it."""
    lines = [line for line in text[-LONGEST:].split("\n") if line.strip()]
    return _trim(lines[-1]) if lines else None


def fenced(text: str, *languages: str) -> str | None:
    """The last fenced block in one of the languages; without one, the last block of no or another language."""
    blocks: list[tuple[str, str]] = _FENCE.findall(text[: 1 << 20])
    named = [body for name, body in blocks if name.strip().lower() in languages]
    found = named or [body for _, body in blocks]
    return found[-1] if found else None


def shown(value: str | None) -> str | None:
    """As much of an answer as a row keeps."""
    return value if value is None or len(value) <= LONGEST_SHOWN else value[:LONGEST_SHOWN] + " ..."


def _sentence(said: str) -> str:
    """Without the words after a full stop that ends a sentence, and without the stop."""
    return re.split(r"\.\s+[A-Z]", said)[0].strip().removesuffix(".")


def _trim(found: str) -> str | None:
    trimmed = found.strip(_TRIMMED)
    if len(trimmed) > 1 and trimmed[0] == trimmed[-1] == "$":
        trimmed = trimmed.strip("$").strip()
    return trimmed or None
