"""A row's fields outside prompt and trajectory, told apart by what they hold: stamps, checks, short values, long texts.

Names only decide ties: a number is an amount of time or of tokens where its name says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from blade.ingest.cells import as_text
from blade.ingest.checks import verdict
from blade.ingest.fields import BY_NAME
from blade.ingest.terminal import plain_text
from blade.ingest.times import seconds_between
from blade.model.expected import VerifierCheck
from blade.model.rollout import Rollout
from blade.model.shown_row import ShownPhase, ShownRow, ShownText

_SHORTEST_LOG = 200
"""Characters from which a text is read as a log and no longer as a value; one with several lines is a log in any case."""
_DEEPEST = 5
_DEEPEST_SHORT = 3
"""Levels at which short values are shown: what is nested deeper is a setting more often than a result."""
_MOST_SHORT = 40
_LONGEST_STAMP = 40
_STAMP = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d")
_END_OF_PHASE = re.compile(
    r"[._]?(?:start|started|begin|began|end|ended|finish|finished|stop|stopped)(?:_?(?:at|time|on))?$"
)
_DURATION = re.compile(r"(?:^|_)(?:seconds|secs?|ms|duration|elapsed|latency|time)(?:_|$)|(?:Ms|Seconds|Duration)$")
_MILLISECONDS = re.compile(r"(?:_ms|Ms)$")
_USAGE = re.compile(r"token|cost|usage|usd", re.IGNORECASE)
_SHOWN = frozenset(("task_id", "reward", "repeat", "tools"))
"""Fields that the head of a rollout tells."""
_PASS_OR_FAIL = frozenset(("pass", "passed", "fail", "failed"))
_RUNNER_WORDS = _PASS_OR_FAIL | {"ok", "error", "skipped", "skip", "xfail", "xpass", "timeout", "unknown"}
_OF_RESPONSE = ("usage", "status", "error", "incomplete_details", "metadata")
"""What a response tells beside its output; the rest repeats the request."""

Leaf = tuple[str, Any]


class _Sorted:
    """The leaves of a row, each in the kind that it looks like."""

    def __init__(self, checks: Sequence[VerifierCheck]) -> None:
        self.checked = tuple({check.field for check in checks})
        self.short: list[tuple[str, str]] = []
        self.usage: list[tuple[str, str]] = []
        self.stamps: dict[str, str] = {}
        self.phases: list[ShownPhase] = []
        self.texts: list[ShownText] = []

    def take(self, path: str, value: Any) -> bool:
        """Whether the leaf is of a kind that is shown."""
        if any(
            path == field or f"{field}.".startswith(f"{path}.") or path.startswith(f"{field}.")
            for field in self.checked
        ):
            return True
        if isinstance(value, str):
            return self._take_text(path, value)
        if _is_number(value) and _USAGE.search(path):
            self.usage.append((path, as_text(value)))
            return True
        last = path.rpartition(".")[2]
        if _is_number(value) and _DURATION.search(last):
            self.phases.append(
                ShownPhase(name=path, seconds=value / 1000 if _MILLISECONDS.search(last) else float(value))
            )
            return True
        return self._take_short(path, value)

    def _take_text(self, path: str, value: str) -> bool:
        if len(value) <= _LONGEST_STAMP and _STAMP.match(value):
            self.stamps[path] = value
        elif len(value) > _SHORTEST_LOG or "\n" in value.strip():
            self.texts.append(ShownText(field=path, text=plain_text(value)))
        else:
            return self._take_short(path, value)
        return True

    def _take_short(self, path: str, value: Any) -> bool:
        is_shown = path.count(".") < _DEEPEST_SHORT and len(self.short) < _MOST_SHORT and _is_short(value)
        self.short += [(path, as_text(value))] if is_shown else []
        return is_shown


def shown_row(rollout: Rollout) -> ShownRow:
    """The account of a rollout's row; empty where the row cannot be had."""
    row = _without_trajectory(rollout)
    judged = {check.field.partition(".")[0] for check in rollout.due.checks}
    others = [check for name, value in row.items() if name not in judged for check in _checks(name, value, 1)]
    checks = [*rollout.due.checks, *others]
    kinds = _Sorted(checks)
    used = {name for name, value in row.items() if sum(kinds.take(*leaf) for leaf in _leaves(name, value, 1))}
    spoken = [said.field for said in rollout.due.said]
    return ShownRow(
        short=tuple(kinds.short),
        usage=tuple(kinds.usage),
        phases=(*_phases(kinds.stamps), *kinds.phases),
        checks=tuple(sorted(checks, key=lambda check: check.passed)),
        texts=tuple(sorted(kinds.texts, key=lambda text: text.field not in spoken)),
        others=tuple(name for name, value in row.items() if name not in used and _says_anything(value)),
    )


def _without_trajectory(rollout: Rollout) -> dict[str, Any]:
    """The row's own fields in order; of a response what it says beside its output."""
    held = {path for name in ("trajectory", "prompt") for path in BY_NAME[name].paths}
    row: dict[str, Any] = {}
    for name, value in rollout.row.items():
        if name in _SHOWN:
            continue
        of_no_steps = rollout.steps is None and isinstance(value, str) and name in BY_NAME["trajectory"].paths
        if name not in held or of_no_steps:
            row[name] = value
        elif isinstance(value, dict):
            # An object in place of an output says more than what the steps were made of.
            row[name] = {part: inner for part, inner in value.items() if not isinstance(inner, list)}
    row.pop("responses_create_params", None)
    response = row.pop("response", None)
    if isinstance(response, dict):
        row |= {f"response.{name}": response[name] for name in _OF_RESPONSE if response.get(name)}
    return {name: value for name, value in row.items() if not _is_talk(value, rollout)}


def _is_talk(value: Any, rollout: Rollout) -> bool:
    """Whether a list or a text is what the steps were made of, under whatever name."""
    if isinstance(value, str):
        return len(value) > _SHORTEST_LOG and any(step.text.strip() == value.strip() for step in rollout.steps or ())
    if not (isinstance(value, list) and value and all(isinstance(item, dict) for item in value)):
        return False
    steps = {step.text for step in rollout.steps or () if step.text}
    return any(text in steps for item in value for text in item.values() if isinstance(text, str))


def _leaves(path: str, value: Any, depth: int) -> Iterator[Leaf]:
    if isinstance(value, Mapping) and depth < _DEEPEST:
        for name, inner in value.items():
            yield from _leaves(f"{path}.{name}", inner, depth + 1)
    elif isinstance(value, list) and depth < _DEEPEST and any(isinstance(item, dict | list) for item in value):
        for place, inner in enumerate(value):
            yield from _leaves(f"{path}.{place}", inner, depth + 1)
    elif value is not None and value not in ("", [], {}):
        yield path, value


def _checks(path: str, value: Any, depth: int) -> Iterator[VerifierCheck]:
    """Named results at any depth: a map whose values are all the words of test runners. Truth values may be settings."""
    if not isinstance(value, dict) or depth >= _DEEPEST or not value:
        return
    words = {name: inner.lower() for name, inner in value.items() if isinstance(inner, str)}
    if (
        len(words) == len(value)
        and set(words.values()) <= _RUNNER_WORDS
        and not _PASS_OR_FAIL.isdisjoint(words.values())
    ):
        for name, word in words.items():
            if (passed := verdict(word)) is not None:
                yield VerifierCheck(name=str(name), passed=passed, field=f"{path}.{name}")
        return
    for name, inner in value.items():
        yield from _checks(f"{path}.{name}", inner, depth + 1)


def _phases(stamps: Mapping[str, str]) -> Iterator[ShownPhase]:
    """Pairs of stamps of one name become phases with their length; in order of their starts."""
    paired: dict[str, list[tuple[str, str]]] = {}
    for path, stamp in stamps.items():
        paired.setdefault(_END_OF_PHASE.sub("", path), []).append((stamp, path))
    for name, ends in sorted(paired.items(), key=lambda item: min(item[1])):
        ends.sort()
        if len(ends) == 2:
            (start, _), (end, _) = ends
            yield ShownPhase(name=name or "all", start=start, end=end, seconds=seconds_between(start, end))
        else:
            for stamp, path in ends:
                yield ShownPhase(name=path, start=stamp)


def _is_short(value: Any) -> bool:
    return not isinstance(value, list | dict) or len(as_text(value)) <= _SHORTEST_LOG


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _says_anything(value: Any) -> bool:
    return value not in (None, "", [], {}) and next(_leaves("", value, 1), None) is not None
