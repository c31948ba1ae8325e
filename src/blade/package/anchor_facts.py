"""Anchor facts: what a good report must contain, each a sentence and the claim that it makes."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct, structs

from blade.model.errors import ArtifactError
from blade.package.documents import decoded

METHOD = "blade package extract-anchor-facts"
"""Facts of a file that says so are drafts until somebody says otherwise."""
DIFFICULTIES = ("high", "medium", "low")
DRAFT, REVIEWED = "draft", "reviewed"


class FactClaim(Struct, frozen=True, kw_only=True):
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


class AnchorFact(Struct, frozen=True, kw_only=True):
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


class FactProblem(Struct, frozen=True, kw_only=True):
    """An entry that is no fact."""

    index: int | None
    """Position in the list, from 0; None where it is the file itself."""
    reason: str

    def __str__(self) -> str:
        return self.reason if self.index is None else f"entry {self.index}: {self.reason}"


class FactFile(Struct, frozen=True, kw_only=True):
    """The facts of a file in its order, and what in it could not be used."""

    benchmark: str = ""
    model: str = ""
    method: str = ""
    """How the facts came about, as the file says."""
    facts: tuple[AnchorFact, ...] = ()
    problems: tuple[FactProblem, ...] = ()

    @property
    def drafts(self) -> tuple[AnchorFact, ...]:
        """The facts that nobody has reviewed."""
        return tuple(fact for fact in self.facts if fact.status != REVIEWED)


def read_facts(path: Path) -> FactFile:
    """The facts of a file: ours, the reference's, or a bare list; ArtifactError only when there is no such file."""
    try:
        return parse_facts(decoded(path.read_bytes()))
    except OSError as error:
        raise ArtifactError(
            f"cannot read the anchor facts {path}: {error.strerror or error}",
            hint="blade package extract-anchor-facts drafts them from a golden report",
        ) from None


def parse_facts(text: str) -> FactFile:
    """The facts of a text in JSON; whatever is no fact is listed as a problem."""
    try:
        data = json.loads(text, parse_constant=lambda _: None)
    except (ValueError, RecursionError) as error:
        return FactFile(problems=(FactProblem(index=None, reason=f"not JSON: {error}"),))
    if isinstance(data, list):
        data = {"anchor_facts": data}
    if not isinstance(data, dict) or not isinstance(data.get("anchor_facts"), list):
        reason = "neither a list of facts nor an object with a list `anchor_facts`"
        return FactFile(problems=(FactProblem(index=None, reason=reason),))
    method = _text(data.get("extraction_method"))
    facts: dict[str, AnchorFact] = {}
    problems = []
    for index, entry in enumerate(data["anchor_facts"]):
        fact = _fact(index, entry, DRAFT if method == METHOD else REVIEWED)
        if isinstance(fact, AnchorFact) and fact.id in facts:
            fact = f"the id {fact.id} is taken by an earlier fact"
        if isinstance(fact, AnchorFact):
            facts[fact.id] = fact
        else:
            problems.append(FactProblem(index=index, reason=fact))
    return FactFile(
        benchmark=_text(data.get("benchmark")),
        model=_text(data.get("model")) or _text(data.get("model_name")),
        method=method,
        facts=tuple(facts.values()),
        problems=tuple(problems),
    )


def _fact(index: int, entry: object, status: str) -> AnchorFact | str:
    """The fact of an entry, or why it is none."""
    if isinstance(entry, str):
        entry = {"fact": entry}
    if not isinstance(entry, dict):
        names = {bool: "a truth value", int: "a number", float: "a number", list: "a list", type(None): "null"}
        return f"not a fact but {names.get(type(entry), type(entry).__name__)}"
    sentence = _text(entry.get("fact")) or _text(entry.get("text"))
    if not sentence:
        return "no sentence under `fact`"
    difficulty = _text(entry.get("difficulty")).lower()
    return AnchorFact(
        id=_name(entry.get("id")) or f"B{index + 1}",
        fact=sentence,
        difficulty=difficulty if difficulty in DIFFICULTIES else "",
        mean_score=_number(entry.get("mean_score")),
        status=_text(entry.get("status")).lower() or status,
        reason=_text(entry.get("reason")),
        aggregate_only=entry.get("aggregate_only") is True,
        claim=_claim(entry.get("claim")),
    )


def _claim(entry: object) -> FactClaim | None:
    if not isinstance(entry, dict):
        return None
    ids, ends = entry.get("ids"), entry.get("range")
    low, high = map(_number, ends) if isinstance(ends, list) and len(ends) == 2 else (None, None)
    return FactClaim(
        ids=tuple(filter(None, map(_name, ids))) if isinstance(ids, list) else (),
        quantity=_text(entry.get("quantity")),
        relation=_text(entry.get("relation")),
        value=_number(entry.get("value")),
        range=None if low is None or high is None else (min(low, high), max(low, high)),
        polarity="negated" if _text(entry.get("polarity")).lower().startswith("neg") else "affirmed",
        recompute=_text(entry.get("recompute")),
    )


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


def facts_text(benchmark: str, model: str, facts: Iterable[AnchorFact], method: str = METHOD) -> str:
    """The file of the facts; the same facts give the same bytes."""
    entries = []
    for fact in facts:
        entry = structs.asdict(fact)
        if fact.claim is None:
            del entry["claim"]
        else:
            claim = structs.asdict(fact.claim)
            claim["value"] = _plain(fact.claim.value) if fact.claim.value is not None else None
            claim["range"] = list(map(_plain, fact.claim.range)) if fact.claim.range is not None else None
            entry["claim"] = {name: part for name, part in claim.items() if part is not None}
        entries.append(entry)
    document = {"benchmark": benchmark, "model": model, "extraction_method": method, "anchor_facts": entries}
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def _plain(number: float) -> float | int:
    return int(number) if number.is_integer() else number
