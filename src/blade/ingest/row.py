"""Rows of a JSONL artifact to columns of the light table: every foreign name is resolved here, once."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import Any, TypeVar

import msgspec

from blade.ingest import cells, verdict
from blade.ingest.account import accounts_of, holds_account, phases_of, statuses_of, whole_seconds
from blade.ingest.batch import REQUEST, RESPONSE, Batch
from blade.ingest.cells import Column, Memo, any_there, raw_marks
from blade.ingest.decode import decode_any
from blade.ingest.expected import KnownDue, first_value, key_expects
from blade.ingest.fields import of_run
from blade.ingest.fingerprints import (
    fingerprint,
    key_fingerprint,
    metadata_fingerprint,
    prompt_fingerprint,
    request_fingerprint,
)
from blade.ingest.jsonl import Record, source_of
from blade.ingest.mapping import reward_of
from blade.ingest.rollouts import (
    LONGEST_ANSWER,
    agent_spoke,
    count,
    expected_texts,
    prompt_steps,
    request_steps,
    steps_of,
)
from blade.ingest.row_table import CHECKS, KEY, LIGHT
from blade.ingest.settings import NO_TOOLS, SettingsSeen, toolset_of
from blade.ingest.slices import Extras
from blade.model.account import NO_ACCOUNT, Account
from blade.model.expected import NOTHING_DUE, Due, VerifierCheck
from blade.model.finding import Detect, Detection
from blade.model.rollout import Features, Rollout, RolloutKey, RowSource, Step

MOST_TOOLS = 60_000
"""Different tool names that are told apart; the table counts them in 16 bits."""
OTHER_TOOLS = "(other tools)"
MOST_CHECKS = 100
"""Tests of a row that failed, and that held, which the table keeps; their numbers are of all."""

_COUNTED = ("steps", "calls", "tool_errors")
_COUNTED_OF = attrgetter(*_COUNTED)
_NOT_COUNTED = (None,) * len(_COUNTED)
_NOT_WALKED = (None, None, None, None)
_INDEXES = ("index", "repeat", "attempt")
_MOST_KEYS = 1024

T = TypeVar("T")
Columns = dict[str, Column]
Odd = dict[int, list[str]]
"""What is odd about a row, by its place in the batch."""


class Walked(msgspec.Struct, frozen=True, kw_only=True):
    """Trajectories of a batch; None where a row has none."""

    steps: Sequence[tuple[Step, ...] | None]
    features: Sequence[Features | None]


class RowReader:
    """Reads rows of one artifact. `settings`, `tools` and `check_names` gather what belongs to the run, not to a row."""

    def __init__(self, *, role: str, threshold: float, detect: Detect | None, trajectories: bool) -> None:
        self.role = role
        self.threshold = threshold
        self.detect = detect
        self.trajectories = trajectories
        self.tools: dict[str, int] = {}
        self.check_names: dict[str, int] = {}
        self.settings = SettingsSeen()
        self._check_numbers: dict[tuple[str, ...], list[int]] = {}
        self._prompt = Memo(prompt_fingerprint)
        self._request = Memo(request_fingerprint)
        self._key = Memo(key_fingerprint)
        self._metadata = Memo(metadata_fingerprint)
        self._extras = Extras()
        self._wants: dict[tuple[str, ...], dict[tuple[bytes, ...], str | None]] = {}
        self._agent = Memo(lambda raw: cells.inside(raw, "name"))
        self._skills = Memo(lambda raw: cells.inside(raw, "hash"))
        self._toolset = Memo(toolset_of)
        self._due = KnownDue()
        self._given = Memo(prompt_steps)
        self._asked = Memo(request_steps)

    def usable(self, batch: Batch) -> list[bool]:
        """Which rows this reader reads; of an artifact of rollouts, those with a verdict or anything that an agent said."""
        if self.role != "rollouts":
            return [True] * len(batch)
        evidence = [batch.columns[name] for name in sorted(of_run().evidence) if name in batch.columns]
        if any(None not in column for column in evidence):
            return [True] * len(batch)
        return [any(raws[place] is not None for raws in evidence) for place in range(len(batch))]

    def _prompts(self, batch: Batch) -> Column:
        asked = [request.input if cells.has(request.input) else None for request in batch.requests]
        marks = self._request.column(asked)
        if None not in asked:
            return marks
        given = [prompt if raw is None else None for raw, prompt in zip(asked, batch.prompts, strict=True)]
        others = self._prompt.column(given)
        return [other if raw is None else mark for raw, mark, other in zip(asked, marks, others, strict=True)]

    def read(self, batch: Batch, records: Sequence[Record], artifact: str) -> tuple[Columns, Odd]:
        """Columns of the light table, and what is odd about some of the rows."""
        odd: Odd = {}
        found: Columns = {
            "role": [self.role] * len(batch),
            "prompt_fp": self._prompts(batch),
            "expected": batch.first(batch.paths["expected"], expected_texts),
            "key_expects": self._key_expects(batch),
            **self._keys(batch),
            **self._extras.columns(batch),
            **self._identity(batch, odd),
            **_places(records),
        }
        if self.role in ("inputs", "dataset"):
            return found, odd
        due = self._due.column(batch.columns, batch.whole) if self.detect is not None else None
        found |= _rewards(batch, odd) | _spent(batch) | _how_it_went(batch) | _answers(batch) | self._checks(batch, due)
        if "phases" in found:
            pairs = zip(found["seconds"], found["phases"], strict=True)
            found["seconds"] = [whole_seconds(phases) if one is None else one for one, phases in pairs]
        found["stop"] = verdict.stops(batch)
        errors = verdict.errors(batch)
        self._judge(batch, found, errors)
        if self.trajectories:
            walked = self._walk(batch, found)
            _note_unbound(walked, odd)
            if self.detect is not None:
                sources = [source_of(record, artifact) for record in records]
                rollouts = self._rollouts(batch, found, walked, errors, due, sources)
                _note_seen(self.detect(rollouts), found)
        tools = [None if one is None else one.label for one in self._toolset.column(batch.tools)]
        self.settings.note(batch, found["agent"], found["model"], found["skills"], tools)
        return found, odd

    def _checks(self, batch: Batch, due: Sequence[Due] | None) -> Columns:
        """The tests and criteria of each row as numbers, and how many there are and hold."""
        if due is None:
            due = [Due(checks=checks) for checks in self._due.checks(batch.columns)]
        if not any(one.checks for one in due):
            return {}
        known: dict[int, tuple[list[int] | None, int | None, int | None]] = {}
        for each in due:
            if id(each.checks) not in known:  # rows with equal checks share them
                known[id(each.checks)] = self._told(each)
        numbers, met, asked = zip(*(known[id(each.checks)] for each in due), strict=True)
        return {CHECKS: list(numbers), "checks_met": list(met), "checks_asked": list(asked)}

    def _told(self, due: Due) -> tuple[list[int] | None, int | None, int | None]:
        if not due.checks:
            return None, None, None
        kept = _kept(due.checks)
        names = tuple([one.name for one in kept])
        numbers = self._check_numbers.get(names)
        if numbers is None:
            if len(self._check_numbers) >= _MOST_KEYS:
                self._check_numbers.clear()
            known = self.check_names
            numbers = self._check_numbers[names] = [known.setdefault(name, len(known)) << 1 for name in names]
        told = [number | one.passed for number, one in zip(numbers, kept, strict=True)]
        shapes = of_run().roles.results
        # A list of what failed does not say how many there are.
        whole = not shapes or any(shape.kind != "failures" for shape in shapes)
        return told, due.met if whole else None, due.asked if whole else None

    def _identity(self, batch: Batch, odd: Odd) -> Columns:
        paths = batch.paths
        agents = self._agent.column(batch.raw("agent_ref"))
        if None in agents:
            named = batch.values(paths["agent"])
            agents = [agent or cells.name_text(name) for agent, name in zip(agents, named, strict=True)]
        found: Columns = {
            "agent": agents,
            "model": batch.first(paths["model"], cells.texts),
            "skills": self._skills.column(batch.raw("skills_ref")),
            "id": batch.first(paths["id"], cells.names),
        }
        for name in _INDEXES:
            values = batch.values(paths[name])
            found[name] = cells.integers(values)
            for place in _lost(values, found[name]):
                why = f"{name} is {cells.shown(values[place])}, no place in an order: unused"
                odd.setdefault(place, []).append(why)
        return found

    def _key_expects(self, batch: Batch) -> Column:
        """What the key wants; the repeats of a task ask for the same, so it is worked out once."""
        paths = batch.paths
        if not paths["expected_actions"]:
            return ()
        reads = (*paths["expected_actions"], *paths["expected_statements"])
        names = tuple(dict.fromkeys(path.partition(".")[0] for path in reads))
        known = self._wants.setdefault(names, {})
        if len(known) >= _MOST_KEYS:
            known.clear()
        fields = [batch.columns[name] for name in names]
        asked = list(zip(*map(raw_marks, fields), strict=True))
        for place, mark in enumerate(asked):
            if mark not in known:
                key = {
                    name: raw for name, column in zip(names, fields, strict=True) if (raw := column[place]) is not None
                }
                wanted = (first_value(key, paths[name]) for name in ("expected_actions", "expected_statements"))
                known[mark] = key_expects(*wanted)
        return [known[mark] for mark in asked]

    def _keys(self, batch: Batch) -> Columns:
        """A fingerprint of each of the task's own fields that says anything."""
        found: Columns = {}
        for name in batch.paths["key"]:
            memo = self._metadata if name == "verifier_metadata" else self._key
            marks = memo.column(batch.columns[name])
            if any_there(marks):
                found[KEY + name] = marks
        return found

    def _walk(self, batch: Batch, found: Columns) -> Walked:
        """The trajectories of the batch; their counters go to `found`."""
        outputs = zip(batch.trajectories, batch.messages, strict=True)
        steps = [None if output is None else steps_of(output, messages) for output, messages in outputs]
        ends = zip(steps, found["stop"], found["answer"], strict=True)
        counted = [_NOT_WALKED if one is None else count(one, stop, answer) for one, stop, answer in ends]
        features, tools, found["agent_chars"], found["output_fp"] = zip(*counted, strict=True)
        numbers = [_NOT_COUNTED if one is None else _COUNTED_OF(one) for one in features]
        found |= dict(zip(_COUNTED, zip(*numbers, strict=True), strict=True))
        found["skeleton"] = [list(map(self._tool, called)) if called else None for called in tools]
        return Walked(steps=steps, features=features)

    def _tool(self, name: str) -> int:
        if name not in self.tools and len(self.tools) >= MOST_TOOLS:
            name = OTHER_TOOLS
        return self.tools.setdefault(name, len(self.tools))

    def _judge(self, batch: Batch, found: Columns, errors: Column) -> None:
        rewards = found["reward"]
        if self.role == "rollouts" and verdict.is_all_well(batch, rewards, errors):
            found["outcome"] = verdict.all_judged(rewards, self.threshold)
            found["error_class"] = [None] * len(batch)
            return
        judged = [
            verdict.outcome(
                role=self.role,
                reward=reward,
                threshold=self.threshold,
                error=error,
                failed=verdict.is_broken(response) and not _agent_spoke(batch, place),
            )
            for place, (reward, error, response) in enumerate(zip(rewards, errors, batch.responses, strict=True))
        ]
        found["outcome"], found["error_class"] = zip(*judged, strict=True)

    def _rollouts(
        self,
        batch: Batch,
        found: Columns,
        walked: Walked,
        errors: Column,
        due: Sequence[Due] | None,
        sources: Sequence[RowSource],
    ) -> list[Rollout]:
        toolsets, accounts = self._toolset.column(batch.tools), _Accounts(batch)
        ids, indexes, repeats = found["id"], found["index"], found["repeat"]
        kept = zip(*(found[name] for name in LIGHT), strict=True)
        return [
            Rollout(
                key=RolloutKey(run="", task_id=ids[place] or str(indexes[place]), repeat=repeats[place] or 0),
                outcome=outcome,
                reward=reward,
                answer=answer,
                expected=expected,
                stop=stop,
                error=errors[place],
                tokens=tokens,
                seconds=seconds,
                source=sources[place],
                features=walked.features[place],
                steps=walked.steps[place],
                due=NOTHING_DUE if due is None else due[place],
                origin=_Origin(self._asked, self._given, accounts, batch, place),
                offered=(toolsets[place] or NO_TOOLS).offered,
            )
            for place, (outcome, reward, answer, expected, stop, tokens, seconds) in enumerate(kept)
        ]


def _note_unbound(walked: Walked, odd: Odd) -> None:
    """Results that answer no call: what was called may be missing from the trajectory, or their ids are other names."""
    for place, features in enumerate(walked.features):
        if features is not None and features.orphan_results:
            count = features.orphan_results
            which = "1 tool result belongs" if count == 1 else f"{count} tool results belong"
            odd.setdefault(place, []).append(f"{which} to no call of the trajectory")


def _note_seen(checked: Sequence[Detection], found: Columns) -> None:
    """What the rules saw in every row."""
    found["fired"] = [seen.hits for seen in checked]
    found["cannot_check"] = [seen.cannot_check for seen in checked]
    found["differs"] = [seen.differs for seen in checked]
    found["attempted"] = [seen.attempted for seen in checked]
    found["feedback"] = [seen.feedback for seen in checked]
    found["reached"] = [seen.reached for seen in checked]
    found["signs"] = [seen.signs for seen in checked]


class _Accounts:
    """The accounts of a batch, made together when the first is asked for."""

    def __init__(self, batch: Batch) -> None:
        self._batch = batch
        self._known: Sequence[Account] | None = None

    def of(self, place: int) -> Account:
        if self._known is None:
            there = holds_account(self._batch.columns)
            self._known = accounts_of(self._batch) if there else [NO_ACCOUNT] * len(self._batch)
        return self._known[place]


class _Origin(msgspec.Struct, frozen=True, gc=False):
    """A row of a batch."""

    asked: Memo[tuple[Step, ...]]
    given: Memo[tuple[Step, ...]]
    accounts: _Accounts
    batch: Batch
    place: int

    def row(self) -> Any:
        return decode_any(self.batch.data[self.place])

    def prompt(self) -> tuple[Step, ...]:
        asked = self.batch.requests[self.place].input
        if cells.has(asked):
            return self.asked.column([asked])[0] or ()
        return self.given.column(self.batch.prompts[self.place : self.place + 1])[0] or ()

    def get(self, name: str, /) -> Any:
        column = self.batch.columns.get(name)
        raw = column[self.place] if column is not None else None
        # Request and response are no longer raw in a batch.
        return self.row().get(name) if name in (REQUEST, RESPONSE) else None if raw is None else decode_any(raw)

    def names(self) -> tuple[str, ...]:
        return self.batch.names(self.place)

    def account(self) -> Account:
        return self.accounts.of(self.place)


def _agent_spoke(batch: Batch, place: int) -> bool:
    output = batch.trajectories[place]
    return output is not None and agent_spoke(steps_of(output, batch.messages[place]))


def _places(records: Sequence[Record]) -> Columns:
    return {
        "member": [record.member for record in records],
        "offset": [record.offset for record in records],
        "length": [len(record.data) for record in records],
        "line": [record.line for record in records],
    }


def _lost(values: Column, used: Column) -> list[int]:
    """Places of values that could not be used."""
    if values is used or values.count(None) == used.count(None):
        return []
    pairs = enumerate(zip(values, used, strict=True))
    return [place for place, (value, use) in pairs if use is None and value is not None]


def _worded(value: Any) -> Any:
    """A word such as `passed` as the verdict that it is; every other value as it is."""
    reward = reward_of(value) if isinstance(value, str) else None
    return value if reward is None else reward


def _rewards(batch: Batch, odd: Odd) -> Columns:
    values = batch.values(batch.paths["reward"])
    words = any(isinstance(value, str) for value in values)
    rewards = cells.averages(list(map(_worded, values)) if words else values)
    for place in _lost(values, rewards):
        why = "not a finite number" if cells.finite(values[place]) is None else "too large to be averaged"
        said = f"reward is {cells.shown(values[place])}, {why}: the rollout is not scored"
        odd.setdefault(place, []).append(said)
    return {"reward": rewards}


def _spent(batch: Batch) -> Columns:
    paths = batch.paths
    made = batch.first(paths["output_tokens"], cells.counts)
    given = batch.first(paths["input_tokens"], cells.counts)
    if not (all(made) or all(given)):
        some = [bool(one or other) for one, other in zip(given, made, strict=True)]
        given = [tokens if there else None for tokens, there in zip(given, some, strict=True)]
        made = [tokens if there else None for tokens, there in zip(made, some, strict=True)]
    return {
        "input_tokens": given,
        "output_tokens": made,
        "seconds": cells.numbers(batch.values(paths["seconds"])),
        "cost": cells.numbers(batch.values(paths["cost"])),
    }


def _how_it_went(batch: Batch) -> Columns:
    """What names the end of each rollout, and how long its parts took; nothing where no row says."""
    found: Columns = {"statuses": statuses_of(batch), "phases": phases_of(batch)}
    return {name: column for name, column in found.items() if any(column)}


def _answers(batch: Batch) -> Columns:
    paths = batch.paths["answer"]
    if "answer" in paths:
        batch = Batch(batch.data, {**batch.columns, "answer": _own_answers(batch)})
    texts = batch.first(paths, cells.as_texts)
    return {
        "answer": cells.cut(texts, LONGEST_ANSWER),
        "answer_fp": [fingerprint(text) if text else None for text in texts],
    }


def _own_answers(batch: Batch) -> Column:
    """`answer` where it is the model's: something else is the key, and it is not that again beside what was extracted."""
    paths = batch.paths["answer"]
    extracts = any("." not in path for path in paths[: paths.index("answer")])
    keys = batch.values([path for path in batch.paths["expected"] if path != "answer"])
    given = batch.values(["answer"]) if extracts else [None] * len(batch)
    return [
        None if key is None or key == value else raw
        for raw, key, value in zip(batch.columns["answer"], keys, given, strict=True)
    ]


def _kept(checks: Sequence[VerifierCheck]) -> Sequence[VerifierCheck]:
    """What the table keeps of the checks of a row: the first that failed and the first that held."""
    if len(checks) <= MOST_CHECKS:
        return checks
    failed = [check for check in checks if not check.passed][:MOST_CHECKS]
    held = [check for check in checks if check.passed][:MOST_CHECKS]
    return checks if len(failed) + len(held) == len(checks) else [*failed, *held]
