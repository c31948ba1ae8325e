"""YAML as plain values, safe on hostile text: no tags, no references, and no deeper than people write."""

from __future__ import annotations

from typing import Any

from blade.model.pattern import pattern_of

DEEPEST = 64
"""Levels of a document: parsers that build it recursively break down in the thousands."""
LARGEST = 16 << 20
"""Bytes of a document: half a minute of parsing."""
_NUMBER = pattern_of(r"[-+]?(?:0|[1-9][0-9_]{0,17})(?:\.[0-9_]*)?(?:[eE][-+]?[0-9]{1,3})?|[-+]?\.[0-9]{1,18}")
_WORDS: dict[str, Any] = {"": None, "~": None} | {
    spelled: value
    for word, value in (("null", None), ("true", True), ("yes", True), ("false", False), ("no", False))
    for spelled in (word, word.capitalize(), word.upper())
}


def read_yaml(text: str) -> Any:
    """The value of the first document; raises ValueError with the reason where there is none."""
    # It takes a while to load, and few runs have YAML beside them.
    import yaml

    if len(text) > LARGEST:
        raise ValueError(f"it is YAML of more than {LARGEST >> 20} MB; write it as JSON")
    try:
        return _built(yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)))
    except (yaml.YAMLError, RecursionError) as error:
        raise ValueError(f"it is no YAML: {str(error).split(chr(10), 1)[0]}") from None


def _built(events: Any) -> Any:
    """The value that events of the parser describe, put together without recursion."""
    import yaml

    stack: list[list[Any]] = [[]]
    for event in events:
        if isinstance(event, yaml.AliasEvent):
            raise ValueError("it is YAML with references, which are not followed")
        if isinstance(event, yaml.ScalarEvent):
            stack[-1].append(_scalar(event.value) if event.implicit[0] else event.value)
        elif isinstance(event, yaml.SequenceStartEvent | yaml.MappingStartEvent):
            if len(stack) > DEEPEST:
                raise ValueError(f"it is YAML nested more than {DEEPEST} levels deep")
            stack.append([])
        elif isinstance(event, yaml.SequenceEndEvent | yaml.MappingEndEvent):
            items = stack.pop()
            is_map = isinstance(event, yaml.MappingEndEvent)
            stack[-1].append(_mapping(items) if is_map else items)
        elif isinstance(event, yaml.DocumentEndEvent):
            break
    return stack[0][0] if stack[0] else None


def _mapping(items: list[Any]) -> dict[str, Any]:
    """Keys and values that follow one another; keys are texts, as in JSON."""
    keys = ("" if key is None else str(key) for key in items[::2])
    return dict(zip(keys, items[1::2], strict=True))


def _scalar(text: str) -> Any:
    if text in _WORDS:
        return _WORDS[text]
    if _NUMBER.fullmatch(text):
        plain = text.replace("_", "")
        return float(plain) if {*".eE"} & {*plain} else int(plain)
    return text
