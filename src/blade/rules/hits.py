"""The words that a rule saw: kept as a location in the rollout, and quoted when the rollout is read again."""

from __future__ import annotations

import json

from blade.model.errors import ArtifactError
from blade.model.finding import LONGEST_QUOTE, Evidence, Hit
from blade.model.rollout import Rollout

_QUOTED_FROM_ROLLOUT = ("stop", "error", "answer", "expected")
_QUOTED_FROM_STEP = ("text", "arguments", "tool")


def hit(code: str, rollout: Rollout, evidence: Evidence) -> Hit:
    """Where the quoted words of some evidence stand; ValueError where they do not stand word for word."""
    quote = evidence.quote
    value = _value(rollout, evidence.step, evidence.field)
    start = value.find(quote) if value is not None else -1
    if not quote or len(quote) > LONGEST_QUOTE or start < 0 or evidence.key != rollout.key:
        where = evidence.field if evidence.step is None else f"{evidence.field} of step {evidence.step}"
        raise ValueError(
            f"{code}: {quote!r} does not stand word for word in {where}, is empty or too long, or is not of this rollout"
        )
    return Hit(code=code, step=evidence.step, field=evidence.field, start=start, length=len(quote))


def hit_of(code: str, rollout: Rollout, evidence: Evidence | None) -> Hit:
    """The hit of a rule that is not of the catalog; one without words where its quote cannot be found again."""
    try:
        return hit(code, rollout, evidence) if evidence is not None else _without_words(code)
    except ValueError:
        return _without_words(code)


def _without_words(code: str) -> Hit:
    return Hit(code=code, step=None, field="", start=0, length=0)


def _value(rollout: Rollout, step: int | None, field: str) -> str | None:
    """The text that evidence points at; steps that share an index are read as one text, line by line."""
    if step is not None:
        if field not in _QUOTED_FROM_STEP:
            return None
        texts = [getattr(each, field) for each in rollout.steps or () if each.index == step]
        return "\n".join(text for text in texts if text)
    if field in _QUOTED_FROM_ROLLOUT:
        value: object = getattr(rollout, field)
    else:
        value = value_at(rollout.row, field)
    return value if isinstance(value, str) or value is None else json.dumps(value, ensure_ascii=False)


def value_at(row: object, path: str) -> object:
    """The value at a dotted path; a number is a place in a list. None when there is nothing."""
    for name in path.split("."):
        if isinstance(row, dict):
            row = row.get(name)
        elif isinstance(row, list) and name.isdecimal() and int(name) < len(row):
            row = row[int(name)]
        else:
            return None
    return row


def find(rollout: Rollout, hit: Hit) -> Evidence:
    """The words that a rule saw, from a rollout that was read again; ArtifactError when they are gone."""
    value = _value(rollout, hit.step, hit.field)
    if value is None or len(value) < hit.start + hit.length:
        raise ArtifactError(
            f"{rollout.source}: rollout {rollout.key} no longer holds what {hit.code} saw in it",
            hint="the file has changed since it was analyzed; analyze it again",
        )
    return Evidence(key=rollout.key, step=hit.step, field=hit.field, quote=value[hit.start : hit.start + hit.length])
