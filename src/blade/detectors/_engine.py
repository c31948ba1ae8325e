"""The whole mechanism: finding the rules, deciding which of them need to look, and keeping what they saw.

Three results for each rule and rollout: it fired (at most three hits are kept), it was quiet, or it could not look,
because the artifact does not hold what the rule reads. Gates only save time: with every gate open the result is the
same. A rule that breaks its own declaration is a bug, and raises.
"""

from __future__ import annotations

import importlib
import inspect
import json
import pkgutil
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from operator import attrgetter
from typing import Literal, NamedTuple, Protocol, TypeVar

from blade.core.errors import ArtifactError
from blade.core.finding import LONGEST_QUOTE, NOTHING_SEEN, Cause, Evidence, Hit, Looked
from blade.core.rollout import Features, Rollout
from blade.detectors._phrases import TEXT_AT, Place, Search, search_for

Kind = Literal["direct", "associated"]
Scope = Literal["rollout", "task", "run"]
Status = Literal["preview", "stable"]
When = Callable[[Features], bool]
Body = Callable[[Rollout], Iterator[Evidence]]

HEADINGS = ("Why it matters", "What to do", "Limits")
FAMILIES = {"answer": "ANS", "behavior": "BEH", "data": "DAT", "infra": "INF", "task": "TSK"}
MOST_HITS = 3

_COUNTERS = attrgetter(*(field for field in Features.__struct_fields__ if field != "agent_chars"))
"""What gates may look at. Lengths would tell nearly all rollouts apart."""
_MOST_KNOWN = 4096

_PLAIN_READS = ("steps", "stop", "error", "answer", "expected", "outcome", "reward", "tokens", "seconds")
_VERDICT_OR_KEY = ("outcome", "reward", "expected")
_QUOTED_FROM_ROLLOUT = ("stop", "error", "answer", "expected")
_QUOTED_FROM_STEP = ("text", "arguments", "tool")


@dataclass(frozen=True, kw_only=True)
class Rule:
    """What a reader may know about a rule."""

    code: str
    name: str
    """The bad thing itself: `repeated-tool-call`."""
    family: str
    message: str
    sections: tuple[tuple[str, str], ...]
    """Heading and text, in the order of the rule's file."""
    cause: Cause
    """What the rule suggests; it does not decide it."""
    kind: Kind
    """direct: by itself enough for failing; associated: may go with failing."""
    reads: tuple[str, ...]
    scope: Scope
    status: Status

    @property
    def blind(self) -> bool:
        """Reads neither verdict nor key, so that its lift over outcomes means something."""
        names = [name for need in self.reads for name in need.split("|")]
        return not any(name in _VERDICT_OR_KEY or name.startswith("row.") for name in names)


@dataclass(frozen=True, kw_only=True)
class Detector:
    """A rule's function with what it declares; made by `detector`."""

    code: str
    suggests: Cause
    kind: Kind
    reads: tuple[str, ...]
    scope: Scope
    when: When | None
    phrases: tuple[str, ...]
    within: Place | None
    status: Status
    body: Body


class Loaded(NamedTuple):
    """A rule and what runs it."""

    rule: Rule
    detector: Detector


def detector(
    code: str,
    *,
    suggests: Cause,
    kind: Kind,
    reads: tuple[str, ...],
    scope: Scope = "rollout",
    when: When | None = None,
    phrases: tuple[str, ...] = (),
    within: Place | None = None,
    status: Status = "preview",
) -> Callable[[Body], Detector]:
    """Declare a rule: what it reads, and what must hold before it is worth reading.

    `reads` names fields of the rollout, `steps`, or `row.<path>`; `"steps|error"` asks for one of the two. Where one
    of them is absent the rule could not look; an `error` that is absent did not happen. A rule that reads the row
    makes every row be decoded. The gate is open when `when` says so, or one of `phrases` is in the error or `within`
    the place of the trajectory where the rule looks for them; without either it is always open.
    """
    if re.fullmatch(r"[A-Z]{3}\d{3}", code) is None:
        raise ValueError(f"{code}: a code is three letters of family and three digits")
    if scope != "rollout":
        raise ValueError(f"{code}: no engine serves rules of scope {scope!r} yet")
    names = [name for need in reads for name in need.split("|")]
    unknown = [name for name in names if name not in _PLAIN_READS and not re.match(r"row\.[^.]", name)]
    if unknown or not names:
        raise ValueError(f"{code}: reads must name {', '.join(_PLAIN_READS)} or row.<path>, got {reads}")
    if phrases and any(name in ("answer", "expected") or name.startswith("row.") for name in names):
        raise ValueError(f"{code}: phrases are searched for in trajectory and error only, but the rule reads {reads}")
    if bool(phrases) != (within is not None):
        raise ValueError(f"{code}: phrases and the place that they are searched for in go together")

    def declare(body: Body) -> Detector:
        return Detector(
            code=code,
            suggests=suggests,
            kind=kind,
            reads=reads,
            scope=scope,
            when=when,
            phrases=phrases,
            within=within,
            status=status,
            body=body,
        )

    return declare


class Declared(Protocol):
    """What a decorator of rules makes of a function."""

    @property
    def code(self) -> str: ...
    @property
    def body(self) -> Callable[..., object]: ...


class File(NamedTuple):
    """What a rule's file says about it: its name, its family, its message and its sections."""

    name: str
    family: str
    message: str
    sections: tuple[tuple[str, str], ...]


D = TypeVar("D", bound=Declared)


def rule_files(package: str, kind: type[D]) -> list[tuple[File, D]]:
    """Every rule of a kind under `package`, by code; ValueError when a file breaks the form or a code is used twice."""
    path = importlib.import_module(package).__path__
    modules = [module.name for module in pkgutil.walk_packages(path, package + ".") if not module.ispkg]
    found = [_rule_file(package, name, kind) for name in modules if not name.rpartition(".")[2].startswith("_")]
    owners: dict[str, str] = {}
    for file, declared in sorted(found, key=lambda one: one[0].name):
        if declared.code in owners:
            raise ValueError(f"{declared.code} is the code of both {owners[declared.code]} and {file.name}")
        owners[declared.code] = file.name
    return sorted(found, key=lambda one: one[1].code)


def _rule_file(package: str, path: str, kind: type[D]) -> tuple[File, D]:
    family, _, name = path.removeprefix(package + ".").rpartition(".")
    module = importlib.import_module(path)
    declared = getattr(module, name, None)
    if not isinstance(declared, kind) or declared.body.__name__ != name:
        raise ValueError(f"{path}: no function {name} under its decorator; file and function have one name")
    if not declared.code.startswith(FAMILIES.get(family, "?")):
        raise ValueError(f"{path}: {declared.code} is no code of the family {family!r}")
    message, sections = _read_docstring(path, module.__doc__)
    return File(name.replace("_", "-"), family, message, sections), declared


def load(package: str) -> tuple[Loaded, ...]:
    """Every rule over rollouts under `package`, by code; ValueError when a file breaks the form or a code is used twice."""
    return tuple(_loaded(file, declared) for file, declared in rule_files(package, Detector))


def _loaded(file: File, declared: Detector) -> Loaded:
    rule = Rule(
        code=declared.code,
        cause=declared.suggests,
        kind=declared.kind,
        reads=declared.reads,
        scope=declared.scope,
        status=declared.status,
        **file._asdict(),
    )
    return Loaded(rule, declared)


def _read_docstring(path: str, docstring: str | None) -> tuple[str, tuple[tuple[str, str], ...]]:
    message, _, rest = inspect.cleandoc(docstring or "").partition("\n")
    sections: list[tuple[str, list[str]]] = []
    for line in rest.splitlines():
        if line and not line.startswith(" "):
            sections.append((line, []))
        elif sections:
            sections[-1][1].append(line)
    texts = tuple((heading, inspect.cleandoc("\n".join(["", *lines])).strip()) for heading, lines in sections)
    if not message or tuple(heading for heading, text in texts if text) != HEADINGS:
        raise ValueError(f"{path}: the docstring is a message and the sections {', '.join(HEADINGS)}")
    return message, texts


class _Opened(NamedTuple):
    """What is known of the gates before any text is searched."""

    numbers: frozenset[int]
    """Rules that have to look."""
    search: dict[Place, frozenset[int]]
    """Places to search, and whose phrases may open a gate there."""


class _Plan(NamedTuple):
    """What to do with rollouts that hold the same things."""

    able: frozenset[int]
    whens: tuple[tuple[int, When], ...]
    phrased: tuple[tuple[Place, frozenset[int]], ...]
    """Rules that are opened by phrases, by the place where they look for them."""
    quiet: Looked
    """The result when no rule fires."""
    error: bool
    """Whether the harness recorded an error, which is searched too."""
    known: dict[tuple[object, ...], _Opened]
    """What the counters of rollouts open: many rollouts of a run have the same."""


class Engine:
    """All rules ready to look; `gated=False` opens every gate, `fast=False` does without google-re2."""

    def __init__(self, loaded: Sequence[Loaded], *, gated: bool = True, fast: bool = True) -> None:
        self._detectors = tuple(one.detector for one in loaded)
        self._needs = tuple(tuple(tuple(need.split("|")) for need in one.reads) for one in self._detectors)
        self._names = tuple(sorted({name for needs in self._needs for need in needs for name in need}))
        self._present = tuple(map(_presence, self._names))
        self._phrased = {place: self._looking_in(place) if gated else frozenset() for place in TEXT_AT}
        self._searches = {
            place: self._search_for(numbers) if fast and numbers else None for place, numbers in self._phrased.items()
        }
        self._gated = gated
        self._plans: dict[tuple[bool, ...], _Plan] = {}

    def _looking_in(self, place: Place) -> frozenset[int]:
        return frozenset(number for number, one in enumerate(self._detectors) if one.within == place)

    def _search_for(self, numbers: frozenset[int]) -> Search | None:
        return search_for([(number, self._detectors[number].phrases) for number in sorted(numbers)])

    def look(self, rollout: Rollout) -> Looked:
        """What every rule says about one rollout."""
        return self.look_at_all((rollout,))[0]

    def look_at_all(self, rollouts: Sequence[Rollout]) -> list[Looked]:
        """What every rule says about each rollout; place by place and rule by rule, so that what one needs is at hand."""
        plans = [self._plan_of(rollout) for rollout in rollouts]
        seen = self._run(self._opened(plans, rollouts), rollouts)
        return [
            Looked(hits=tuple(hits), cannot_look=plan.quiet.cannot_look) if hits else plan.quiet
            for plan, hits in zip(plans, seen, strict=True)
        ]

    def _plan_of(self, rollout: Rollout) -> _Plan:
        present = tuple([has(rollout) for has in self._present])
        plan = self._plans.get(present)
        if plan is None:
            plan = self._plans[present] = self._plan(present)
        return plan

    def _plan(self, present: tuple[bool, ...]) -> _Plan:
        there = {name for name, is_there in zip(self._names, present, strict=True) if is_there}
        able = frozenset(
            number
            for number, needs in enumerate(self._needs)
            if all(any(name in there for name in need) for need in needs)
        )
        cannot = tuple(one.code for number, one in enumerate(self._detectors) if number not in able)
        return _Plan(
            able=able,
            whens=tuple((number, self._when(number)) for number in sorted(able) if self._has_when(number)),
            phrased=tuple((place, numbers & able) for place, numbers in self._phrased.items() if numbers & able),
            quiet=Looked(cannot_look=cannot) if cannot else NOTHING_SEEN,
            error="error" in there,
            known={},
        )

    def _has_when(self, number: int) -> bool:
        one = self._detectors[number]
        return one.when is not None or not self._gated or one.within is None

    def _when(self, number: int) -> When:
        when = self._detectors[number].when
        return when if when is not None and self._gated else _always

    def _opened(self, plans: Sequence[_Plan], rollouts: Sequence[Rollout]) -> list[Collection[int]]:
        """Rules that have to look at each rollout."""
        known = list(map(_by_counters, plans, rollouts))
        opened: list[Collection[int]] = [one.numbers for one in known]
        for place in TEXT_AT:
            for at, one in enumerate(known):
                numbers = one.search.get(place)
                if numbers and (found := self._found(rollouts[at], place, numbers)):
                    opened[at] = {*opened[at], *found}
        return opened

    def _found(self, rollout: Rollout, place: Place, numbers: frozenset[int]) -> Collection[int]:
        """Rules whose phrases may be there; all of them where nothing can search."""
        search = self._searches[place]
        if search is None:
            return numbers
        text = TEXT_AT[place](rollout.steps or ())
        if rollout.error:
            text = f"{text}\n{rollout.error}"
        return numbers.intersection(search(text)) if text else ()

    def _run(self, opened: Sequence[Collection[int]], rollouts: Sequence[Rollout]) -> list[list[Hit]]:
        looking: dict[int, list[int]] = {}
        for at, numbers in enumerate(opened):
            for number in numbers:
                looking.setdefault(number, []).append(at)
        hits: list[list[Hit]] = [[] for _ in rollouts]
        for number in sorted(looking):
            for at in looking[number]:
                hits[at] += _hits(self._detectors[number], rollouts[at])
        return hits


def _hits(one: Detector, rollout: Rollout) -> list[Hit]:
    try:
        return [_hit(one.code, rollout, evidence) for evidence in islice(one.body(rollout), MOST_HITS)]
    except Exception as error:
        error.add_note(f"rule {one.code} on rollout {rollout.key} ({rollout.source})")
        raise


def _by_counters(plan: _Plan, rollout: Rollout) -> _Opened:
    features = rollout.features
    if features is None:
        return _Opened(plan.able, {})
    counters = _COUNTERS(features)
    known = plan.known.get(counters)
    if known is None:
        if len(plan.known) >= _MOST_KNOWN:
            plan.known.clear()
        known = plan.known[counters] = _counted(plan, features)
    return known


def _counted(plan: _Plan, features: Features) -> _Opened:
    opened = frozenset(number for number, when in plan.whens if when(features))
    some = {"errors": features.results > 0, "closing": features.agent_messages > 0}
    search = {place: numbers for place, numbers in plan.phrased if plan.error or some[place]}
    return _Opened(opened, {place: numbers for place, numbers in search.items() if not numbers <= opened})


def _always(_: Features) -> bool:
    return True


def _presence(name: str) -> Callable[[Rollout], bool]:
    """Whether a rollout has what a rule reads under that name."""
    if name == "steps":
        return _has_steps
    if name.startswith("row."):
        path = name.removeprefix("row.")
        return lambda rollout: _at(rollout.row, path) is not None
    value = attrgetter(name)
    return lambda rollout: value(rollout) is not None


def _has_steps(rollout: Rollout) -> bool:
    # A trajectory without a step is one that was not recorded: it shows nothing.
    features = rollout.features
    return features is not None and features.steps > 0 and rollout.read_steps is not None


def _hit(code: str, rollout: Rollout, evidence: Evidence) -> Hit:
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
    """The hit of a rule that is not of the catalogue; one without words where its quote cannot be found again."""
    try:
        return _hit(code, rollout, evidence) if evidence is not None else _without_words(code)
    except ValueError:
        return _without_words(code)


def _without_words(code: str) -> Hit:
    return Hit(code=code, step=None, field="", start=0, length=0)


def _value(rollout: Rollout, step: int | None, field: str) -> str | None:
    """The text that evidence points at; steps that share an index are read as one text, line by line."""
    if step is not None:
        if field not in _QUOTED_FROM_STEP:
            return None
        texts = [getattr(one, field) for one in rollout.steps or () if one.index == step]
        return "\n".join(text for text in texts if text)
    if field in _QUOTED_FROM_ROLLOUT:
        value: object = getattr(rollout, field)
    else:
        value = _at(rollout.row, field)
    return value if isinstance(value, str) or value is None else json.dumps(value, ensure_ascii=False)


def _at(row: object, path: str) -> object:
    """The value at a dotted path; a number is a place in a list. None when there is nothing."""
    for name in path.split("."):
        if isinstance(row, dict):
            row = row.get(name)
        elif isinstance(row, list) and name.isdecimal() and int(name) < len(row):
            row = row[int(name)]
        else:
            return None
    return row


@cache
def _loaded_once() -> tuple[Loaded, ...]:
    return load("blade.detectors")


@cache
def _engine() -> Engine:
    return Engine(_loaded_once())


def rules() -> tuple[Rule, ...]:
    """Every rule, by code."""
    return tuple(loaded.rule for loaded in _loaded_once())


def look(rollout: Rollout) -> Looked:
    """What every rule says about one rollout. Rules are loaded at the first call in a process."""
    return _engine().look(rollout)


def look_at_all(rollouts: Sequence[Rollout]) -> list[Looked]:
    """What every rule says about each rollout."""
    return _engine().look_at_all(rollouts)


def find(rollout: Rollout, hit: Hit) -> Evidence:
    """The words that a rule saw, from a rollout that was read again; ArtifactError when they are gone."""
    value = _value(rollout, hit.step, hit.field)
    if value is None or len(value) < hit.start + hit.length:
        raise ArtifactError(
            f"{rollout.source}: rollout {rollout.key} no longer holds what {hit.code} saw in it",
            hint="the file has changed since it was analyzed; analyze it again",
        )
    return Evidence(key=rollout.key, step=hit.step, field=hit.field, quote=value[hit.start : hit.start + hit.length])
