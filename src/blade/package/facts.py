"""Anchor facts: what a good report must contain, each a sentence and the claim that it makes."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from blade.model.errors import ArtifactError

METHOD = "blade package extract-anchor-facts"
"""Facts of a file that says so are drafts until somebody says otherwise."""
DIFFICULTIES = ("high", "medium", "low")
DRAFT, REVIEWED = "draft", "reviewed"


@dataclass(frozen=True, kw_only=True)
class FactClaim:
    """What the sentence of a fact states, in parts that can be compared."""

    ids: tuple[str, ...] = ()
    """Tasks, rollouts, steps, tools and rules that it names."""
    quantity: str = ""
    """What is counted, in the words of the report."""
    relation: str = ""
    """`=`, `>`, `<`, or a word of direction such as `most` or `only`."""
    value: float | None = None
    range: tuple[float, float] | None = None
    """Between which numbers the right one lies; an honest report may round."""
    polarity: str = "affirmed"
    """affirmed or negated."""
    recompute: str = ""
    """The command or the field that gives the number again."""


@dataclass(frozen=True, kw_only=True)
class Fact:
    """One anchor fact."""

    id: str
    fact: str
    """The sentence; never empty."""
    difficulty: str = ""
    """high, medium, low, or empty."""
    mean_score: float | None = None
    status: str = REVIEWED
    """draft until a person has looked at it, then reviewed."""
    reason: str = ""
    """Why it was drafted, and what a reviewer must look at."""
    aggregate_only: bool = False
    """It can be had from the metrics alone, without reading a rollout."""
    claim: FactClaim | None = None


@dataclass(frozen=True, kw_only=True)
class FactProblem:
    """An entry that is no fact."""

    index: int | None
    """Position in the list, from 0; None where it is the file itself."""
    reason: str

    def __str__(self) -> str:
        return self.reason if self.index is None else f"entry {self.index}: {self.reason}"


@dataclass(frozen=True, kw_only=True)
class FactFile:
    """The facts of a file in its order, and what in it could not be used."""

    benchmark: str = ""
    model: str = ""
    method: str = ""
    """How the facts came about, as the file says."""
    facts: tuple[Fact, ...] = ()
    problems: tuple[FactProblem, ...] = ()

    @property
    def drafts(self) -> tuple[Fact, ...]:
        """The facts that nobody has reviewed."""
        return tuple(fact for fact in self.facts if fact.status != REVIEWED)


def read_facts(path: Path) -> FactFile:
    """The facts of a file: ours, the reference's, or a bare list; ArtifactError only when there is no such file."""
    try:
        text = path.read_bytes().decode("utf-8-sig", errors="replace")
    except OSError as error:
        raise ArtifactError(
            f"cannot read the anchor facts {path}: {error.strerror or error}",
            hint="blade package extract-anchor-facts drafts them from a golden report",
        ) from None
    return parse_facts(text)


def parse_facts(text: str) -> FactFile:
    """The facts of a text in JSON; whatever is no fact is listed as a problem."""
    try:
        data = json.loads(text, parse_constant=lambda _: None)
    except (ValueError, RecursionError) as error:
        return _unusable(f"not JSON: {error}")
    if isinstance(data, list):
        data = {"anchor_facts": data}
    if not isinstance(data, dict) or not isinstance(data.get("anchor_facts"), list):
        return _unusable("neither a list of facts nor an object with a list `anchor_facts`")
    method = _text(data.get("extraction_method"))
    reading = _Reading(status=DRAFT if method == METHOD else REVIEWED)
    for index, entry in enumerate(data["anchor_facts"]):
        reading.take(index, entry)
    return FactFile(
        benchmark=_text(data.get("benchmark")),
        model=_text(data.get("model")) or _text(data.get("model_name")),
        method=method,
        facts=tuple(reading.facts),
        problems=tuple(reading.problems),
    )


def _unusable(reason: str) -> FactFile:
    return FactFile(problems=(FactProblem(index=None, reason=reason),))


@dataclass
class _Reading:
    status: str
    facts: list[Fact] = field(default_factory=list)
    problems: list[FactProblem] = field(default_factory=list)

    def take(self, index: int, entry: object) -> None:
        if isinstance(entry, str):
            entry = {"fact": entry}
        if not isinstance(entry, dict):
            self._refuse(index, f"not a fact but {_kind(entry)}")
            return
        sentence = _text(entry.get("fact")) or _text(entry.get("text"))
        if not sentence:
            self._refuse(index, "no sentence under `fact`")
            return
        name = _name(entry.get("id")) or f"B{index + 1}"
        if name in {fact.id for fact in self.facts}:
            self._refuse(index, f"the id {name} is taken by an earlier fact")
            return
        self.facts.append(_fact(name, sentence, entry, self.status))

    def _refuse(self, index: int, reason: str) -> None:
        self.problems.append(FactProblem(index=index, reason=reason))


def _fact(name: str, sentence: str, entry: Mapping[str, object], status: str) -> Fact:
    difficulty = _text(entry.get("difficulty")).lower()
    said = _text(entry.get("status")).lower()
    return Fact(
        id=name,
        fact=sentence,
        difficulty=difficulty if difficulty in DIFFICULTIES else "",
        mean_score=_number(entry.get("mean_score")),
        status=said or status,
        reason=_text(entry.get("reason")),
        aggregate_only=entry.get("aggregate_only") is True,
        claim=_claim(entry.get("claim")),
    )


def _claim(entry: object) -> FactClaim | None:
    if not isinstance(entry, dict):
        return None
    ids = entry.get("ids")
    return FactClaim(
        ids=tuple(filter(None, map(_name, ids))) if isinstance(ids, list) else (),
        quantity=_text(entry.get("quantity")),
        relation=_text(entry.get("relation")),
        value=_number(entry.get("value")),
        range=_range(entry.get("range")),
        polarity="negated" if _text(entry.get("polarity")).lower().startswith("neg") else "affirmed",
        recompute=_text(entry.get("recompute")),
    )


def _range(entry: object) -> tuple[float, float] | None:
    if not isinstance(entry, list) or len(entry) != 2:
        return None
    low, high = map(_number, entry)
    return None if low is None or high is None else (min(low, high), max(low, high))


def _text(value: object) -> str:
    """The value as one line of text that can be written again; empty when it is no text."""
    if not isinstance(value, str):
        return ""
    return " ".join(value.encode("utf-8", errors="replace").decode("utf-8").split())


def _name(value: object) -> str:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else _text(value)


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _kind(value: object) -> str:
    names = {bool: "a truth value", int: "a number", float: "a number", list: "a list"}
    return "null" if value is None else names.get(type(value), type(value).__name__)


def facts_text(benchmark: str, model: str, facts: Iterable[Fact], method: str = METHOD) -> str:
    """The file of the facts; the same facts give the same bytes."""
    made = {
        "benchmark": benchmark,
        "model": model,
        "extraction_method": method,
        "anchor_facts": [_entry(fact) for fact in facts],
    }
    return json.dumps(made, ensure_ascii=False, indent=2) + "\n"


def _entry(fact: Fact) -> dict[str, object]:
    made: dict[str, object] = {
        "id": fact.id,
        "fact": fact.fact,
        "difficulty": fact.difficulty,
        "mean_score": fact.mean_score,
        "status": fact.status,
        "reason": fact.reason,
        "aggregate_only": fact.aggregate_only,
    }
    if fact.claim is not None:
        made["claim"] = _claim_entry(fact.claim)
    return made


def _claim_entry(claim: FactClaim) -> dict[str, object]:
    made: dict[str, object] = {"ids": list(claim.ids), "quantity": claim.quantity, "relation": claim.relation}
    if claim.value is not None:
        made["value"] = _plain(claim.value)
    if claim.range is not None:
        made["range"] = [_plain(end) for end in claim.range]
    return made | {"polarity": claim.polarity, "recompute": claim.recompute}


def _plain(number: float) -> float | int:
    return int(number) if number.is_integer() else number
