"""How a run writes its rows: under documented names, or under names, nesting and order that are drawn at random.

The runs of one world and seed share a benchmark, so they share their names, as the runs of one verifier do.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from random import Random
from typing import Any, Literal, Protocol

from proof.simulate.draft import Row
from proof.simulate.spellings import SPELLINGS

NamesKind = Literal["documented", "random"]
NAMES: tuple[NamesKind, ...] = ("documented", "random")

FIXED = ("reward", "response", "responses_create_params", "agent_ref", "skills_ref")
"""Names that the format of NeMo Gym's rollouts defines; beside them whatever begins with `_ng_`."""
FIXED_IN_FAILURES = ("error", "error_class")
"""Names that the format defines for rows of the failures file."""
KEYED_BY_DATA = ("kwargs", "arguments", "checks")
"""Fields whose keys are data, arguments and tests by name, and no names of fields."""
STAMPS = ("started_at", "agent_started_at", "agent_ended_at", "grading_started_at", "ended_at")
NOTES = (
    *("error", "verifier_error", "judge_error", "evaluation_error", "retry_note"),
    *("stop_reason", "termination_reason", "failure_mode"),
)
"""Fields that some rows have and others lack; a harness that writes them in every row needs a word for nothing."""


class Names(Protocol):
    """How a run writes its rows."""

    def row(self, fixed: Row, key: Row, account: Row, place: str) -> Row:
        """A row of what the format defines, what is the same in each repeat, and what was written afterwards.

        `place` names the rollout; it is empty for the input of one, of which nothing was written afterwards.
        """

    def path(self, path: str, key: Iterable[str]) -> str:
        """Where a row has what plain rows have at a dotted path; `key` names the fields of the key."""


def names_of(kind: NamesKind, world: str, seed: int, notes: Iterable[str] = ()) -> Names:
    """The names of a world's runs; `notes` are the fields of NOTES that some row of them has."""
    return Documented(seed) if kind == "documented" else Drawn(world, seed, tuple(notes))


OTHER_NAMES = {
    "id": "question_id",
    "question": "problem",
    "expected_answer": "reference_answer",
    "extracted_answer": "predicted_answer",
    "expected_actions": "evaluation_criteria",
    "user_instruction": "user_scenario",
    "instance_id": "problem_id",
    "model_patch": "prediction",
    "test_results": "tests",
    "checks": "parser_results",
}
IN_A_TEST = {"status": "outcome", "message": "reason"}


class Documented:
    """Names that known verifiers use: one set of them for odd seeds, another for even ones."""

    def __init__(self, seed: int) -> None:
        self.plain = bool(seed % 2)

    def row(self, fixed: Row, key: Row, account: Row, place: str) -> Row:
        """All in one, the later over the earlier; the stamps last."""
        whole = {name: value for name, value in fixed.items() if not name.startswith(("_ng_", "agent_ref"))}
        whole |= key | account | {name: value for name, value in fixed.items() if name not in whole}
        if self.plain:
            return whole
        kept = {name: value for name, value in whole.items() if name != "expected_outputs"}
        return {OTHER_NAMES.get(name, name): _reshaped(name, value) for name, value in kept.items()}

    def path(self, path: str, key: Iterable[str]) -> str:
        """The same path, but for a first name that is another here."""
        if self.plain:
            return path
        first, *rest = path.split(".")
        inside = [IN_A_TEST.get(name, name) for name in rest] if first == "test_results" else rest
        return ".".join([OTHER_NAMES.get(first, first), *inside])


def _reshaped(name: str, value: Any) -> Any:
    """The same value as another verifier structures it."""
    if name == "expected_actions":
        actions = [{"name": one["name"], "arguments": one["kwargs"]} for one in value]
        return {"actions": actions, "communicate_info": []}
    if name == "user_instruction":
        return {"persona": None, "instructions": value}
    if name == "checks" and value:
        return [{"name": check, "status": state} for check, state in value.items()]
    if name == "test_results" and value is not None:
        return [{IN_A_TEST.get(inner, inner): held for inner, held in one.items()} for one in value]
    return value


CONSTANTS: tuple[tuple[str, Any], ...] = (
    ("format", 3),
    ("harness", "rev 41"),
    ("region", "eu-2"),
    ("complete", True),
    ("lane", "default"),
    ("shard", 0),
    ("status_of_job", "unset"),
    ("phase", "finished"),
    ("review", "pending"),
    ("flags", []),
)
"""Fields that say the same in every row, words for a state among them."""
STATES: tuple[Mapping[str, str], ...] = (
    {},
    {"normal": "unset", "agent_timeout": "AGENT_DEADLINE", "step_limit": "TURNS", "context_full": "CTX"},
    {
        "normal": "none",
        "agent_timeout": "timeout",
        "agent_error": "error",
        "env_error": "infra",
        "step_limit": "max_rounds",
    },
    {
        "normal": "0",
        "agent_timeout": "124",
        "agent_error": "1",
        "env_error": "125",
        "grader_timeout": "124",
        "step_limit": "3",
        "context_full": "4",
    },
)
"""Words that harnesses have for how a rollout ended."""
VERDICTS: tuple[Mapping[str, Any], ...] = (
    {},
    {"passed": "PASS", "failed": "FAIL", "skipped": "SKIP"},
    {"passed": "ok", "failed": "not ok", "skipped": "ignored"},
    {"passed": True, "failed": False, "skipped": None},
    {"passed": 1, "failed": 0, "skipped": None},
)
"""And for how a check ended."""
NOTHING: tuple[str | None, ...] = (None, "", "unset", "none", "n/a", "ok")
"""What harnesses write where there is nothing to note."""


class Drawn:
    """Names, nesting, constants and order drawn by a seed; only what the format defines keeps its name."""

    def __init__(self, world: str, seed: int, notes: tuple[str, ...]) -> None:
        self.salt, self.notes = f"{seed}/{world}/names", notes
        rng = Random(self.salt)
        own = rng.choice(SPELLINGS)
        self.spellings = SPELLINGS if rng.random() < 0.2 else (own,)
        """One spelling, or each name in another where several people wrote the harness."""
        self.reshape = rng.random() < 0.5
        self.states, self.verdicts = rng.choice(STATES), rng.choice(VERDICTS)
        self.epoch = rng.random() < 0.3
        """Whether stamps are seconds since 1970."""
        self.words: dict[str, str] = {}
        self.taken = {*FIXED, *FIXED_IN_FAILURES}
        self.account = self._wraps(rng.choice((0, 0, 1, 2)), "account")
        self.key = self._wraps(rng.choice((0, 0, 1)), "key")
        self.constants = {self.word(name): value for name, value in rng.sample(CONSTANTS, rng.randint(1, 3))}
        self.in_account = {self.word(name): value for name, value in rng.sample(CONSTANTS, rng.randint(0, 2))}
        self.nothing = rng.choice(NOTHING)
        self.fills = rng.random() < 0.6
        """Whether a note that a row does not have is written as nothing, or left out."""

    def _wraps(self, depth: int, what: str) -> tuple[str, ...]:
        return tuple(self.word(f"{what}/{level}") for level in range(depth))

    def word(self, name: str) -> str:
        """The name of a field here; one name has one word wherever it stands, and no two share one."""
        tries = 0
        while name not in self.words:
            rng = Random(f"{self.salt}/{name}/{tries}")
            drawn = rng.choice(self.spellings)(name, rng) + ("" if tries < 9 else str(tries))
            if drawn not in self.taken:
                self.words[name] = drawn
                self.taken.add(drawn)
            tries += 1
        return self.words[name]

    def row(self, fixed: Row, key: Row, account: Row, place: str) -> Row:
        """The row, with its fields in an order of chance."""
        failed = "_ng_failure_class" in account
        stays = {name: value for name, value in account.items() if _is_fixed(name, failed)}
        wrote = {name: value for name, value in account.items() if name not in stays and name not in key}
        if self.fills and not failed and place:
            wrote |= {name: self.nothing for name in self.notes if name not in wrote}
        key = key | {name: value for name, value in account.items() if name in key}
        told = self._nested(self.account, self._renamed(wrote) | self.in_account) if place else {}
        keys = self._nested(self.key, self._renamed(key))
        whole = fixed | stays | (self.constants if place else {}) | keys | told
        return _shuffled(whole, Random(f"{self.salt}/{place}"))

    def path(self, path: str, key: Iterable[str]) -> str:
        """Wrapped and renamed, name by name, as far as names go."""
        first, *rest = path.split(".")
        if _is_fixed(first, False):
            return path
        inside = [one if one.isdigit() else self.word(self._inner(first, one)) for one in rest]
        return ".".join([*(self.key if first in key else self.account), self.word(first), *inside])

    def _inner(self, first: str, name: str) -> str:
        return IN_A_TEST.get(name, name) if self.reshape and first == "test_results" else name

    def _renamed(self, row: Mapping[str, Any]) -> Row:
        kept = {name: value for name, value in row.items() if not (self.reshape and name == "expected_outputs")}
        return {self.word(name): self._value(name, value) for name, value in kept.items()}

    def _value(self, name: str, value: Any) -> Any:
        value = _reshaped(name, self._worded(name, value)) if self.reshape else self._worded(name, value)
        return value if name in KEYED_BY_DATA and isinstance(value, dict) else self._deep(value)

    def _worded(self, name: str, value: Any) -> Any:
        """States, verdicts and stamps as this run writes them."""
        if name == "failure_mode":
            return self.states.get(value, value)
        if name == "checks" and value:
            return {check: self.verdicts.get(state, state) for check, state in value.items()}
        if name in STAMPS and self.epoch and value:
            return datetime.fromisoformat(value).timestamp()
        return value

    def _deep(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {
                self.word(name): held if name in KEYED_BY_DATA else self._deep(held) for name, held in value.items()
            }
        return [self._deep(one) for one in value] if isinstance(value, list) else value

    def _nested(self, wraps: tuple[str, ...], row: Row) -> Row:
        for wrap in reversed(wraps):
            row = {wrap: row}
        return row


def _is_fixed(name: str, failed: bool) -> bool:
    return name.startswith("_ng_") or name in FIXED or (failed and name in FIXED_IN_FAILURES)


def _shuffled(row: Row, rng: Random) -> Row:
    names = list(row)
    rng.shuffle(names)
    return {name: row[name] for name in names}
