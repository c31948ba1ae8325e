"""Runs the rules: those over rollouts on each rollout while it is read, those over runs once on what is known of a run.

Three results for each rule and rollout: it fired (at most three hits are kept), it was quiet, or it could not check,
because the artifact does not hold what the rule reads. A rule that breaks its own declaration is a bug, and raises.

Gates only save time: with every gate open the result is the same. They stay because they pay. User CPU time of reading
0.1 GB of the files that `perf/generate.py` makes, in one process, as a multiple of what it takes with all gates:

    gates that are open         small  conversations  logs
    all                          3.2        1.4        1.3
    phrases (`within`)           2.8        1.4        1.2
    counters (`when`)            1.5        1.2        1.1
    none, counters not kept      1.15       1.0        1.0

On 200 rows of tau-bench no difference can be measured.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import cache
from itertools import islice
from operator import attrgetter
from typing import TYPE_CHECKING, get_args

from msgspec import Struct
from msgspec.structs import replace

from blade.model.diagnosis import Doubt
from blade.model.finding import NOTHING_DETECTED, Detection, Hit
from blade.model.rollout import LONGEST_UNMARKED, Features, Rollout, Step
from blade.rules.catalog import rollout_rules, run_rules
from blade.rules.declaration import Rule, Within
from blade.rules.error_words import runs_code
from blade.rules.hits import hit, value_at
from blade.rules.phrases import search_for

if TYPE_CHECKING:
    from blade.evidence.context import RunContext

MOST_HITS = 3
MOST_KNOWN = 4096
"""Different counters whose gates are remembered; a file of odd rows would fill the memory otherwise."""
HEAD = 600
"""Characters at the start of a result in which an error is searched for, and the most that the output of a program has
where it may be one without a mark."""
OPENING = 300
"""Characters at the start of a text after which many rules stop: there a word may end for them in its middle."""
CLOSING = 2
"""Messages at the end that close a rollout, whatever was called between them."""


class _Opened(Struct, frozen=True, kw_only=True):
    """What to do with rollouts that hold the same fields and have the same counters."""

    rules: frozenset[int]
    """Rules that have to run."""
    search: dict[Within, frozenset[int]]
    """Rules that have to run where one of their phrases is found, by the part of the trajectory that is searched."""
    quiet: Detection
    """The result when no rule fires."""


class _Able(Struct, frozen=True, kw_only=True):
    """The rules that can check rollouts with the same fields, and what the counters of one decide about them."""

    rules: frozenset[int]
    always: frozenset[int]
    """Those without a gate."""
    when: tuple[tuple[int, Callable[[Features], bool]], ...]
    """Those that run where their own condition says so."""
    phrased: dict[Within, frozenset[int]]
    has_error: bool
    quiet: Detection


class Engine:
    """Rules over rollouts, ready to run; `gated=False` runs every rule on every rollout that holds what it reads."""

    def __init__(self, rules: Sequence[Rule], *, gated: bool = True) -> None:
        self._rules = tuple(rules)
        self._needs = tuple(tuple(tuple(need.split("|")) for need in rule.reads) for rule in rules)
        self._fields = tuple(sorted({name for needs in self._needs for need in needs for name in need}))
        self._present = tuple(map(_presence, self._fields))
        self._gated = gated
        self._phrased: dict[Within, frozenset[int]] = {
            part: frozenset(number for number, rule in enumerate(rules) if rule.within == part)
            for part in get_args(Within)
        }
        self._searches = {
            part: search_for([(number, rules[number].phrases) for number in sorted(numbers)])
            for part, numbers in self._phrased.items()
            if numbers and gated
        }
        self._known: dict[tuple[tuple[bool, ...], Features | None], _Opened] = {}
        self._able: dict[tuple[bool, ...], _Able] = {}

    def detect(self, rollout: Rollout) -> Detection:
        """What every rule says about one rollout."""
        return self.detect_all((rollout,))[0]

    def detect_all(self, rollouts: Sequence[Rollout]) -> list[Detection]:
        """What every rule says about each rollout. Fields are read and rules run column by column: 5 % of a scan of small rows."""
        held = zip(*(present(rollouts) for present in self._present), strict=True) if self._present else ()
        fields = list(held) or [()] * len(rollouts)
        opened = [self._open(there, rollout.features) for there, rollout in zip(fields, rollouts, strict=True)]
        hits = self._run(self._with_phrases(opened, rollouts), rollouts)
        return [
            Detection(hits=tuple(own), cannot_check=each.quiet.cannot_check) if own else each.quiet
            for each, own in zip(opened, hits, strict=True)
        ]

    def _open(self, present: tuple[bool, ...], features: Features | None) -> _Opened:
        """The gates as fields and counters leave them: kept, since many rollouts of a run have the same."""
        key = present, features
        opened = self._known.get(key)
        if opened is None:
            if len(self._known) >= MOST_KNOWN:
                self._known.clear()
            opened = self._known[key] = self._opened(present, features)
        return opened

    def _opened(self, present: tuple[bool, ...], features: Features | None) -> _Opened:
        able = self._able.get(present)
        if able is None:
            able = self._able[present] = self._able_with(present)
        if features is None or not self._gated:
            return _Opened(rules=able.rules, search={}, quiet=able.quiet)
        run = able.always.union([number for number, when in able.when if when(features)])
        texts: dict[Within, bool] = {"errors": features.results > 0, "closing": features.agent_messages > 0}
        search = {
            part: numbers
            for part, numbers in able.phrased.items()
            if (able.has_error or texts[part]) and not numbers <= run
        }
        return _Opened(rules=run, search=search, quiet=able.quiet)

    def _able_with(self, present: tuple[bool, ...]) -> _Able:
        there = {name for name, is_there in zip(self._fields, present, strict=True) if is_there}
        able = frozenset(
            number
            for number, needs in enumerate(self._needs)
            if all(any(name in there for name in need) for need in needs)
        )
        cannot = tuple(rule.code for number, rule in enumerate(self._rules) if number not in able)
        mine = [(number, self._rules[number]) for number in sorted(able)]
        return _Able(
            rules=able,
            always=frozenset(number for number, rule in mine if rule.when is None and rule.within is None),
            when=tuple((number, rule.when) for number, rule in mine if rule.when is not None),
            phrased={part: numbers & able for part, numbers in self._phrased.items()},
            has_error="error" in there,
            quiet=Detection(cannot_check=cannot) if cannot else NOTHING_DETECTED,
        )

    def _with_phrases(self, opened: Sequence[_Opened], rollouts: Sequence[Rollout]) -> list[Collection[int]]:
        """Rules that have to run on each rollout, those included whose phrases it holds."""
        numbers: list[Collection[int]] = [each.rules for each in opened]
        for at, each in enumerate(opened):
            for part, phrased in each.search.items():
                if found := self._searches[part](_text(rollouts[at], part)):
                    numbers[at] = {*numbers[at], *phrased.intersection(found)}
        return numbers

    def _run(self, numbers: Sequence[Collection[int]], rollouts: Sequence[Rollout]) -> list[list[Hit]]:
        by_rule: dict[int, list[int]] = {}
        for at, rules in enumerate(numbers):
            for number in rules:
                by_rule.setdefault(number, []).append(at)
        hits: list[list[Hit]] = [[] for _ in rollouts]
        for number in sorted(by_rule):
            for at in by_rule[number]:
                hits[at] += _hits(self._rules[number], rollouts[at])
        return hits


def _hits(rule: Rule, rollout: Rollout) -> list[Hit]:
    assert rule.check is not None
    try:
        return [hit(rule.code, rollout, evidence) for evidence in islice(rule.check(rollout), MOST_HITS)]
    except Exception as error:
        error.add_note(f"rule {rule.code} on rollout {rollout.key} ({rollout.source})")
        raise


def _presence(name: str) -> Callable[[Sequence[Rollout]], list[bool]]:
    """Whether each of some rollouts has what rules read under the name.

    A trajectory without a step is one that was not recorded: it shows nothing.
    """
    if name == "steps":
        return lambda rollouts: [bool(rollout.steps) for rollout in rollouts]
    value = _of_row(name.removeprefix("row.")) if name.startswith("row.") else attrgetter(name)
    return lambda rollouts: [each is not None for each in map(value, rollouts)]


def _of_row(path: str) -> Callable[[Rollout], object]:
    return lambda rollout: value_at(rollout.row, path)


def _text(rollout: Rollout, part: Within) -> str:
    """What is searched for phrases: a part of the trajectory, and the error that the harness recorded."""
    steps = rollout.steps or ()
    text = errors(steps) if part == "errors" else closing(steps)
    return f"{text}\n{rollout.error}" if rollout.error else text


def errors(steps: Sequence[Step]) -> str:
    """The heads of results that are marked as errors, and all results that are short enough to be one."""
    results = [step for step in steps if step.kind == "result" and (step.failed or _may_be_error(step))]
    opened = [step.text[:OPENING] for step in results if step.failed and len(step.text) > OPENING]
    return "\n".join([*opened, *[step.text[:HEAD] for step in results]])


def _may_be_error(step: Step) -> bool:
    size = len(step.text)
    return size <= LONGEST_UNMARKED or (size <= HEAD and runs_code(step.tool or ""))


def closing(steps: Sequence[Step]) -> str:
    """What the agent said after its last call, and at least its last two messages."""
    messages: list[str] = []
    called = False
    for step in reversed(steps):
        kind = step.kind
        if kind == "message":
            if step.party == "agent" and (text := step.text) and not text.isspace():
                messages.append(text)
        elif kind == "call":
            called = True
        if called and len(messages) >= CLOSING:
            break
    opened = [messages[0][:OPENING]] if messages and len(messages[0]) > OPENING else []
    return "\n".join([*opened, *(messages if called else messages[:CLOSING])])


@cache
def _engine() -> Engine:
    return Engine(rollout_rules())


def detect(rollout: Rollout) -> Detection:
    """What every rule says about one rollout. Rules are loaded at the first call in a process."""
    return _engine().detect(rollout)


def detect_all(rollouts: Sequence[Rollout]) -> list[Detection]:
    """What every rule says about each rollout."""
    return _engine().detect_all(rollouts)


def doubts(context: RunContext) -> tuple[Doubt, ...]:
    """What every rule over runs sees, strong rules first, each doubt with the code of its rule."""
    return tuple(
        replace(doubt, code=rule.code, strong=rule.strong, preview=doubt.preview or rule.status == "preview")
        for rule in sorted(run_rules(), key=lambda rule: (not rule.strong, rule.code))
        if rule.check is not None
        for doubt in rule.check(context)
    )
