"""The whole mechanism: deciding which rules need to look at a rollout, and keeping what they saw.

Three results for each rule and rollout: it fired (at most three hits are kept), it was quiet, or it could not look,
because the artifact does not hold what the rule reads. Gates only save time: with every gate open the result is the
same. A rule that breaks its own declaration is a bug, and raises.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import cache
from itertools import islice
from operator import attrgetter
from typing import NamedTuple

from blade.model.finding import NOTHING_DETECTED, Detection, Hit
from blade.model.rollout import Features, Rollout
from blade.rules.declaration import Detector, Rule, When
from blade.rules.hits import hit, value_at
from blade.rules.loader import Loaded, load
from blade.rules.phrases import TEXT_AT, Ref, SearchAll, search_all_for

MOST_HITS = 3
_MOST_KNOWN = 4096


class _Opened(NamedTuple):
    """What is known of the gates before any text is searched."""

    numbers: frozenset[int]
    """Rules that have to look."""
    search: dict[Ref, frozenset[int]]
    """Places to search, and whose phrases may open a gate there."""


class _Plan(NamedTuple):
    """What to do with rollouts that hold the same things."""

    able: frozenset[int]
    whens: tuple[tuple[int, When], ...]
    phrased: tuple[tuple[Ref, frozenset[int]], ...]
    """Rules that are opened by phrases, by the place where they look for them."""
    quiet: Detection
    """The result when no rule fires."""
    error: bool
    """Whether the harness recorded an error, which is searched too."""
    known: dict[Features, _Opened]
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

    def _looking_in(self, place: Ref) -> frozenset[int]:
        return frozenset(number for number, one in enumerate(self._detectors) if one.within == place)

    def _search_for(self, numbers: frozenset[int]) -> SearchAll | None:
        return search_all_for([(number, self._detectors[number].phrases) for number in sorted(numbers)])

    def detect(self, rollout: Rollout) -> Detection:
        """What every rule says about one rollout."""
        return self.detect_all((rollout,))[0]

    def detect_all(self, rollouts: Sequence[Rollout]) -> list[Detection]:
        """What every rule says about each rollout; place by place and rule by rule, so that what one needs is at hand."""
        plans = self._plans_for(rollouts)
        seen = self._run(self._opened(plans, rollouts), rollouts)
        return [
            Detection(hits=tuple(hits), cannot_check=plan.quiet.cannot_check) if hits else plan.quiet
            for plan, hits in zip(plans, seen, strict=True)
        ]

    def _plans_for(self, rollouts: Sequence[Rollout]) -> list[_Plan]:
        held = zip(*(present(rollouts) for present in self._present), strict=True) if self._present else ()
        return [self._plan_for(present) for present in held] or [self._plan_for(())] * len(rollouts)

    def _plan_for(self, present: tuple[bool, ...]) -> _Plan:
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
            quiet=Detection(cannot_check=cannot) if cannot else NOTHING_DETECTED,
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
        for place, search_all in self._searches.items():
            detection = [at for at, one in enumerate(known) if place in one.search]
            texts = [_text(rollouts[at], place) for at in detection]
            found = search_all(texts) if search_all is not None else [known[at].search[place] for at in detection]
            for at, numbers in zip(detection, found, strict=True):
                if numbers:
                    opened[at] = {*opened[at], *known[at].search[place].intersection(numbers)}
        return opened

    def _run(self, opened: Sequence[Collection[int]], rollouts: Sequence[Rollout]) -> list[list[Hit]]:
        detection: dict[int, list[int]] = {}
        for at, numbers in enumerate(opened):
            for number in numbers:
                detection.setdefault(number, []).append(at)
        hits: list[list[Hit]] = [[] for _ in rollouts]
        for number in sorted(detection):
            for at in detection[number]:
                hits[at] += _hits(self._detectors[number], rollouts[at])
        return hits


def _text(rollout: Rollout, place: Ref) -> str:
    """What is searched for the phrases of a place: its text, and the error that the harness recorded."""
    text = TEXT_AT[place](rollout.steps or ())
    return f"{text}\n{rollout.error}" if rollout.error else text


def _hits(one: Detector, rollout: Rollout) -> list[Hit]:
    try:
        return [hit(one.code, rollout, evidence) for evidence in islice(one.body(rollout), MOST_HITS)]
    except Exception as error:
        error.add_note(f"rule {one.code} on rollout {rollout.key} ({rollout.source})")
        raise


def _by_counters(plan: _Plan, rollout: Rollout) -> _Opened:
    features = rollout.features
    if features is None:
        return _Opened(plan.able, {})
    known = plan.known.get(features)
    if known is None:
        if len(plan.known) >= _MOST_KNOWN:
            plan.known.clear()
        known = plan.known[features] = _counted(plan, features)
    return known


def _counted(plan: _Plan, features: Features) -> _Opened:
    opened = frozenset([number for number, when in plan.whens if when(features)])
    some = {"errors": features.results > 0, "closing": features.agent_messages > 0}
    search = {place: numbers for place, numbers in plan.phrased if plan.error or some[place]}
    return _Opened(opened, {place: numbers for place, numbers in search.items() if not numbers <= opened})


def _always(_: Features) -> bool:
    return True


def _presence(name: str) -> Callable[[Sequence[Rollout]], list[bool]]:
    """Whether each of some rollouts has what rules read under the name.

    A trajectory without a step is one that was not recorded: it shows nothing.
    """
    if name == "steps":
        return lambda rollouts: [bool(rollout.steps) for rollout in rollouts]
    value = _of_row(name.removeprefix("row.")) if name.startswith("row.") else attrgetter(name)
    return lambda rollouts: [found is not None for found in map(value, rollouts)]


def _of_row(path: str) -> Callable[[Rollout], object]:
    return lambda rollout: value_at(rollout.row, path)


@cache
def _loaded_once() -> tuple[Loaded, ...]:
    return load("blade.rules.rollout")


@cache
def _engine() -> Engine:
    return Engine(_loaded_once())


def rules() -> tuple[Rule, ...]:
    """Every rule, by code."""
    return tuple(loaded.rule for loaded in _loaded_once())


def detect(rollout: Rollout) -> Detection:
    """What every rule says about one rollout. Rules are loaded at the first call in a process."""
    return _engine().detect(rollout)


def detect_all(rollouts: Sequence[Rollout]) -> list[Detection]:
    """What every rule says about each rollout."""
    return _engine().detect_all(rollouts)
