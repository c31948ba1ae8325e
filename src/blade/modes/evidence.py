"""What a failure mode may look at: one rollout, its siblings, the run, and other runs of the same tasks."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from functools import lru_cache

from msgspec import Struct, field

from blade.model.attribution import Confidence, Responsible
from blade.model.finding import Difference, Differs, Sign
from blade.model.made_once import made_once

ENOUGH = 5
"""Rollouts of a run below which the absence of something in one of them is no contrast: it may be how the run records."""


USUAL = 0.9
"""Share of the other rollouts that must have what one lacks before the lack of it says anything."""
FEWEST_ALIKE = 3
"""Rollouts with one and the same sign, and no pass among them, that make a contrast without a counter-example."""
COMMON_IN_PASSES = 0.2
"""Share of passes among the rollouts with a sign above which the sign explains no failure."""

BROKEN_OFF = 0.05
"""Of the passes, the most that may end as a session does that broke off."""


IN_PASSES = ("status", "ends:", "hollow:", "agent:no-output", "skipped-as-passed", "read-grader", "edited-grader")
"""Kinds of signs that are looked for in passes as well."""


class TaskDoubt(Struct, frozen=True, kw_only=True):
    """What a rule over the run saw in a task, as far as it concerns this rollout."""

    code: str
    message: str
    strong: bool
    named: bool
    """The rule names this very rollout, and not only its task."""


class TaskFacts(Struct, frozen=True, kw_only=True):
    """The other rollouts of the task, in this run and in the others that were loaded with it."""

    passes: int = 0
    """Passing rollouts of this run."""
    judged: int = 0
    passed_elsewhere: bool = False
    sign_passes: Mapping[tuple[str, str], int] = field(default_factory=dict)
    """By kind and subject of a sign: passing rollouts of the task that have it, in any run given."""
    sign_failures: Mapping[tuple[str, str], int] = field(default_factory=dict)
    """The same of rollouts that did not pass."""
    runs_with: Mapping[tuple[str, str], int] = field(default_factory=dict)
    """By kind and subject of a sign: runs in which a rollout of the task has it."""
    answers: int = 0
    """Different answers of the judged failures of this run."""
    checks_of_others: int | None = None
    """The most checks that were made in another rollout of the task, in any run given."""

    @property
    def solved(self) -> bool:
        """Whether some rollout of any run passes."""
        return self.passes > 0 or self.passed_elsewhere


class RunCounts(Struct, frozen=True, kw_only=True):
    """What the rollouts of the run have in common, so that a lack of it in one of them means something."""

    rollouts: int = 0
    """Rows, without those that are missing."""
    with_output: int = 0
    """Rollouts in which the agent said or called something."""
    with_trajectory: int = 0
    elsewhere: int = 0
    """Rows of the other runs of these tasks."""
    elsewhere_with_output: int = 0
    sign_rollouts: Mapping[tuple[str, str], int] = field(default_factory=dict)
    """By kind and subject of a sign: rollouts of the run that have it."""
    sign_passes: Mapping[tuple[str, str], int] = field(default_factory=dict)
    kind_rollouts: Mapping[str, int] = field(default_factory=dict)
    kind_passes: Mapping[str, int] = field(default_factory=dict)
    answers_recorded: bool = False
    """At least half of the rollouts have an extracted answer."""
    answers_are_patches: bool = False
    """What nearly all rollouts hand in is a patch."""
    closing_label: str = ""
    """The label of the last line under which nearly all passes state the answer; empty where they have none."""
    most_replies: str = ""
    """The highest number of replies after which talks of the run break off, where several do; empty where none do."""
    longest_talk: str = ""
    """The number of messages of the longest talks among several actors, where several break off there, nearly all others are
    closed by somebody, and no pass breaks off; empty elsewhere."""
    passes: int = 0
    with_checks: int = 0
    """Rollouts with named or counted checks."""
    checks_counted: bool = False
    only_reads: bool = False
    """No expected action changes anything, so that look-ups are what is judged."""


NO_TASK_FACTS = TaskFacts()
NO_RUN_FACTS = RunCounts()


_OF_FEW_NAMES = (Differs.ANSWER, Differs.NO_ANSWER)
"""Kinds of differences whose names are known beforehand: which of them are there is part of a shape."""


@lru_cache(maxsize=256)
def _asked(kinds: tuple[str, ...]) -> tuple[frozenset[str], tuple[str, ...]]:
    """The kinds of signs that are asked for by name, and the beginnings that stand for all kinds that have them."""
    return frozenset(kinds), tuple(kind for kind in kinds if kind.endswith(":"))


class RolloutEvidence(Struct, frozen=True, kw_only=True, dict=True):
    """Everything that is known of one rollout that did not pass."""

    outcome: str
    stop: str | None = None
    error_class: str | None = None
    steps: int | None = None
    """None where the row has no trajectory."""
    calls: int | None = None
    agent_chars: int | None = None
    answer: str | None = None
    reward: float | None = None
    checks_met: int | None = None
    checks_asked: int | None = None
    signs: tuple[Sign, ...] = ()
    differs: tuple[Difference, ...] = ()
    """Without those that passing rollouts share."""
    fired: tuple[str, ...] = ()
    """Codes of the rules that saw something in it."""
    doubts: tuple[TaskDoubt, ...] = ()
    expects_answer: bool = False
    """The task has an expected answer."""
    judged_otherwise: bool = False
    """Another rollout of the task passes with the very same output."""
    task: TaskFacts = NO_TASK_FACTS
    run: RunCounts = NO_RUN_FACTS

    @property
    def judged(self) -> bool:
        return self.outcome == "failed"

    @property
    def silent(self) -> bool:
        """The row has a trajectory, and the agent neither said nor called anything in it."""
        return self.steps is not None and not self.calls and not self.agent_chars

    @made_once
    def _kinds(self) -> frozenset[str]:
        """The kinds of its signs: most modes ask for some that are not there."""
        return frozenset([sign.kind for sign in self.signs])

    @made_once
    def _differing(self) -> Mapping[str, tuple[Difference, ...]]:
        found: dict[str, tuple[Difference, ...]] = {}
        for one in self.differs:
            found[one.kind] = (*found.get(one.kind, ()), one)
        return found

    @property
    def _checks_held(self) -> Hashable:
        """Whether checks were made, and whether none, one, some or all of them failed: suites differ in their numbers."""
        asked, met = self.checks_asked, self.checks_met or 0
        if asked is None:
            return bool(met)
        return asked > 0, asked > 1, met > 0, min(max(asked - met, 0), 2)

    @made_once
    def opened(self) -> list[tuple[str, ...]]:
        """The kinds of signs and differences that were asked for and are there, in the order of asking."""
        return []

    @made_once
    def shape(self) -> Hashable:
        """What modes can know of it, and of others by their number, before they open a sign or a difference."""
        return (
            self.outcome,
            self.stop,
            self.error_class,
            self.steps is None,
            self.calls and 1,
            bool(self.agent_chars),
            bool(self.answer),
            self._checks_held,
            self.fired,
            self.expects_answer,
            self.judged_otherwise,
            self.task.solved,
            self.task.checks_of_others is None,
            self._kinds,
            frozenset(self._differing),
            frozenset([one.name for kind in _OF_FEW_NAMES for one in self._differing.get(kind, ())]),
        )

    def of(self, *kinds: str) -> Iterator[Sign]:
        """The signs of some kinds; a kind that ends in a colon stands for all that begin so."""
        named, beginnings = _asked(kinds)
        if not beginnings and named.isdisjoint(self._kinds):
            return iter(())
        self.opened.append(kinds)
        return (sign for sign in self.signs if sign.kind in named or sign.kind.startswith(beginnings))

    def sign(self, *kinds: str) -> Sign | None:
        """The first sign of some kinds."""
        named, beginnings = _asked(kinds)
        if not beginnings and named.isdisjoint(self._kinds):
            return None
        return next(self.of(*kinds), None)

    def difference(self, kind: Differs, *names: str) -> Difference | None:
        """The first difference of a kind, with one of some names where these are given."""
        every = self._differing.get(kind, ())
        found = next((one for one in every if one.name in names), None) if names else every[0] if every else None
        if found is not None or (every and kind not in _OF_FEW_NAMES):
            self.opened.append((kind,))
        return found

    def all_of(self, kind: Differs) -> tuple[Difference, ...]:
        mine = self._differing.get(kind)
        if mine is None:
            return ()
        self.opened.append((kind,))
        return mine

    def doubt(self, *codes: str) -> TaskDoubt | None:
        """The first doubt of some rules that concerns this rollout."""
        return next((doubt for doubt in self.doubts if doubt.code in codes), None)

    def passes_with(self, sign: Sign) -> int:
        """Passing rollouts of the task, in any run given, that have the very same sign."""
        return self.task.sign_passes.get((sign.kind, sign.subject), 0)

    def failures_with(self, sign: Sign) -> int:
        """Rollouts of the task that did not pass and have the very same sign, in any run given; this one among them."""
        return max(1, self.task.sign_failures.get((sign.kind, sign.subject), 0))

    def runs_with(self, sign: Sign) -> int:
        """Runs in which a rollout of the task has the very same sign."""
        return max(1, self.task.runs_with.get((sign.kind, sign.subject), 0))

    def alike(self, sign: Sign) -> tuple[int, int]:
        """Rollouts of this run with the very same sign, and how many of them pass."""
        at = (sign.kind, sign.subject)
        return self.run.sign_rollouts.get(at, 0), self.run.sign_passes.get(at, 0)

    @property
    def stopped_at_most(self) -> Sign | None:
        """The sign that it broke off after as many replies as any rollout of the run has, as several others do."""
        found = self.sign("stopped:after-replies")
        return found if found is not None and found.subject == self.run.most_replies else None

    @property
    def talked_at_most(self) -> Sign | None:
        """The sign that nobody closed its talk, which is as long as any of the run, and as several others are."""
        found = self.sign("talk:unfinished")
        return found if found is not None and found.subject == self.run.longest_talk else None

    def is_usual_end(self, kind: str) -> bool:
        """Whether passes end so too, often enough that it is how the sessions of this run are recorded."""
        return self.run.kind_passes.get(kind, 0) > BROKEN_OFF * self.run.passes

    def is_usual_status(self, sign: Sign) -> bool:
        """Whether the status that a sign was made of stands in most passes, so that it says nothing unusual."""
        at = ("status", sign.subject)
        return self.run.sign_passes.get(at, 0) * 2 > max(1, self.run.sign_rollouts.get(at, 0))

    def strength(self, sign: Sign, alone: Confidence = Confidence.LIKELY) -> Confidence:
        """How sure one strong sign is: proven where several rollouts share it and no pass does, `alone` where few do,
        suspected where passes have it as well.
        """
        rollouts, passes = self.alike(sign)
        passes += self.passes_with(sign) if not passes else 0
        if passes > COMMON_IN_PASSES * max(1, rollouts):
            return Confidence.SUSPECTED
        return Confidence.PROVEN if rollouts >= FEWEST_ALIKE and not passes else alone

    def contrast(self, sign: Sign) -> str:
        """How many rollouts of the run have the very same sign, and how many of them pass."""
        rollouts, passes = self.alike(sign)
        if rollouts < 2:
            return ""
        if not sign.kind.startswith(IN_PASSES):
            return f"{rollouts} rollouts of this run that did not pass show it"
        return f"{rollouts} of {self.run.rollouts} rollouts of this run show it, {passes} of them pass"


class Candidate(Struct, frozen=True, kw_only=True):
    """A mode that applies to a rollout: about what, how surely, and on what evidence."""

    confidence: Confidence
    subject: str = ""
    signs: tuple[Sign, ...] = ()
    """Facts with their quotes, the one that decides first."""
    differences: tuple[Difference, ...] = ()
    contrast: str = ""
    """A sentence: what is absent here and present elsewhere, with both counts, or what was compared."""
    party: Responsible | None = None
    """Where the evidence names another party than the mode does."""
    flag: bool = False
    """It stands beside other modes, and never explains the failure by itself."""
