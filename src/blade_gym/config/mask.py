"""Configs as they may be shown: a secret is `****` wherever it stands."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

MASK = "****"
_SECRET = re.compile(
    r"(?:^|[_.\-])(?:api_?keys?|access_?keys?|private_?keys?|secrets?|secret_?key|password|passwd|passphrase"
    r"|token|credentials?|authorization|bearer|cookie)$",
    re.IGNORECASE,
)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_USER = re.compile(r"(?<=://)[^/@\s]+@")
_OPEN = re.compile(r"\?\?\?|\$\{[^{}]*\}")
_SHORTEST = 6
"""Shorter secrets are masked where they stand, and in texts only as words of their own: they could be part of others."""


def masked(tree: Any) -> Any:
    """A copy in which no secret is left, by its key or as part of another value."""
    secrets = sorted((text for text in _secrets(tree) if len(text) >= _SHORTEST), key=len, reverse=True)
    return _hidden(tree, secrets, under=False)


def hide(secret: str, text: str) -> str:
    """A text without a secret that somebody may have said back."""
    if not secret:
        return text
    if len(secret) >= _SHORTEST:
        return text.replace(secret, MASK)
    return re.sub(rf"(?<!\w){re.escape(secret)}(?!\w)", MASK, text)


def is_secret(key: str) -> bool:
    """Whether a key is named like one that holds a secret."""
    return bool(_SECRET.search(_CAMEL.sub("_", key)))


def _secrets(node: Any, *, under: bool = False) -> list[str]:
    if isinstance(node, Mapping):
        return [text for key, value in node.items() for text in _secrets(value, under=under or is_secret(str(key)))]
    if isinstance(node, list | tuple):
        return [text for value in node for text in _secrets(value, under=under)]
    return [str(node)] if under and _closed(node) else []


def _hidden(node: Any, secrets: list[str], *, under: bool) -> Any:
    if isinstance(node, Mapping):
        return {key: _hidden(value, secrets, under=under or is_secret(str(key))) for key, value in node.items()}
    if isinstance(node, list | tuple):
        return [_hidden(value, secrets, under=under) for value in node]
    if under and _closed(node):
        return MASK
    if not isinstance(node, str):
        return node
    for secret in secrets:
        node = node.replace(secret, MASK)
    return _USER.sub(f"{MASK}@", node)


def _closed(value: Any) -> bool:
    """Whether there is a value to hide: not nothing, not a flag, not a place for one."""
    return value not in (None, "") and not isinstance(value, bool) and not _OPEN.fullmatch(str(value))
