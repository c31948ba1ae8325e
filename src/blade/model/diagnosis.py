"""What went wrong in a run: modes that partition the failures, contrasts, findings and doubts, each with its evidence."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import TYPE_CHECKING

import msgspec

from blade.model.finding import Cause, Evidence
from blade.model.measure import Bounded

if TYPE_CHECKING:
    import polars as pl

    from blade.model.attribution import Attributions

READER = "reader"
"""The owner of a finding whose evidence supports no more than reading its rollouts."""
LONGEST_SHOWN = 120
"""Characters of a rule or a sentence in the short text of a value."""


class Support(StrEnum):
    """How strongly a symptom is tied to failing; see docs/statistics.md."""

    DIRECT = "direct"
    SHOWN = "statistically supported"
    CONSISTENT = "consistent"
    MIXED = "mixed"
    HARMLESS = "harmless"
    UNCLEAR = "unclear"


class Mode(msgspec.Struct, frozen=True, kw_only=True):
    """One row of the table of failure modes."""

    id: str
    """Code of the catalog, name of a package's label, or `unattributed`."""
    name: str
    """What happened, in words."""
    group: str = ""
    party: str
    """Who has to act; where rollouts differ, each with its number."""
    confidence: str
    """proven, likely or suspected; where rollouts differ, each with its number; empty where nothing decides."""
    rollouts: int
    tasks: int
    cause_code: str | None = None
    with_subject: int = 0
    """Rollouts of which it is known what the mode is about."""
    note: str = ""
    evidence: Evidence | None = None


class Partition(msgspec.Struct, frozen=True, kw_only=True):
    """Every rollout that did not pass with its one mode, in order."""

    modes: tuple[Mode, ...]
    """By number of rollouts, `unattributed` last."""
    table: pl.DataFrame
    """task_id, repeat, mode, subject, party, confidence, valid, step, by, also."""
    differences: pl.DataFrame
    """Of all judged rollouts, one row a difference that the verifier minds: task_id, repeat, passed, kind, name, detail, step."""
    set_aside: frozenset[tuple[str, str, str]] = frozenset()
    """Kind, name and detail of differences that passing rollouts share."""
    only_reads: bool = False
    """No key wants a change, so that its look-ups are what is judged."""
    attributions: Attributions
    """Of all rollouts, passes included."""


class Moment(msgspec.Struct, frozen=True, kw_only=True):
    """What one rollout did at a point: a quote with its location, and what the agent last said or thought before it."""

    did: str
    """In words: `calls cancel_reservation`, `says`, `ends`."""
    evidence: Evidence | None
    before: Evidence | None = None


class Divergence(msgspec.Struct, frozen=True, kw_only=True):
    """Where a failing repeat leaves the way of a passing one, and whose doing it is."""

    task_id: str
    party: str
    failing: int
    passing: int
    shared: int
    """Actions that both had done before."""
    what: str
    failed: Moment
    passed: Moment


class Contrast(msgspec.Struct, frozen=True, kw_only=True):
    """One sometimes-pass task: passing against failing repeats. Description, not proof."""

    task_id: str
    passing: tuple[int, ...]
    failing: tuple[int, ...]
    divergences: tuple[Divergence, ...]
    only_passing: tuple[str, ...]
    """Actions that every passing repeat has and no failing one."""
    only_failing: tuple[str, ...]
    lucky: tuple[int, ...] = ()
    """Passing repeats that did less than every failure."""


class DoubtfulPass(msgspec.Struct, frozen=True, kw_only=True):
    """A pass that fails the questions which every rollout is asked."""

    location: str
    why: str
    """In words."""
    evidence: Evidence | None = None


class Habit(msgspec.Struct, frozen=True, kw_only=True):
    """Something that rollouts do or leave out, fixed without looking at outcomes, and how it goes with failing."""

    id: str
    name: str
    """In words: `never calls get_user_details`."""
    support: Support
    with_failed: int
    with_passed: int
    without_failed: int
    without_passed: int
    risk_difference: float | None
    p_value: float | None
    q_value: float | None
    informative: int
    mixed_in: tuple[str, ...] = ()


class RuleStatistics(msgspec.Struct, frozen=True, kw_only=True):
    """What one rule over rollouts saw in a run: fired, quiet, could not look; and how that goes with failing."""

    code: str
    name: str
    message: str
    suggests: Cause
    kind: str
    status: str
    support: Support
    fired: int
    """Rollouts."""
    checked: int
    skipped: int
    tasks: int
    fired_failed: int
    fired_passed: int
    failed: int
    """Judged failures that were looked at."""
    passed: int
    risk_difference: float | None
    odds_ratio: float | None
    p_value: float | None
    q_value: float | None
    informative: int
    reason: str | None = None
    """Why it has no lift."""
    evidence: tuple[Evidence, ...] = ()
    custom: bool = False
    """A label of the benchmark's package."""


class Alarm(msgspec.Struct, frozen=True, kw_only=True):
    """A word in results that alarms a reader, in passing and failing rollouts of the same tasks."""

    word: str
    fired_failed: int
    failed: int
    """Failing rollouts that were read, of tasks that also pass."""
    fired_passed: int
    passed: int
    harmless: bool
    """At least as common in passes of the same tasks as in failures."""
    evidence: tuple[Evidence, ...] = ()


class Label(msgspec.Struct, frozen=True, kw_only=True):
    """A person's verdict on a task, with the fingerprints by which other runs know it."""

    task_id: str
    cause: Cause | None
    """None: the person says that it cannot be settled."""
    note: str = ""
    id_mark: str | None = None
    key_fp: int | None = None
    prompt_fp: int | None = None


class Elsewhere(msgspec.Struct, frozen=True, kw_only=True):
    """What other runs of the benchmark say about the tasks of a run, by its own task ids."""

    passed: frozenset[str] = frozenset()
    """Tasks that another run passes."""
    same_wrong: Mapping[str, int] = msgspec.field(default_factory=dict)
    """Tasks that nobody passes and to which other models, so many, give the very wrong answer of this run."""
    weaker_passes: Mapping[str, str] = msgspec.field(default_factory=dict)
    """Tasks that this run always fails, and a run with a lower score always passes: its name."""
    same_words: Mapping[str, str] = msgspec.field(default_factory=dict)
    """Tasks that nobody passes and of which the verifier says one and the same in every failure of every run."""


class TaskCause(msgspec.Struct, frozen=True, kw_only=True):
    """The verdict on one task: one cause, or None where the evidence does not settle it."""

    cause: Cause | None
    confidence: str | None
    """proven, likely or suspected."""
    because: str
    """The mixture of its failure modes, and what the other rollouts show."""
    decided_by: str
    """What decided the mode that most failures have: `rule:CODE`, `package:NAME`, `person`; empty where none did."""
    rules_said: Cause | None = None
    """Where a person decided: what the rules had decided."""


class Headroom(Bounded, frozen=True, kw_only=True):
    """What the all-expected score could gain, three ways, in its own units."""

    estimate: float | None
    only_defect: float
    ceiling: float
    unreached_tasks: int
    reason: str | None = None
    """Why there is no estimate."""
    in_points: bool = True
    """The score lies between 0 and 1, and a hundredth of it is called a point; else rewards have a scale of their own."""


class PartyCount(msgspec.Struct, frozen=True, kw_only=True):
    """Rollouts that did not pass for which one party has to act."""

    party: str
    proven: int
    likely: int


class Responsibility(msgspec.Struct, frozen=True, kw_only=True):
    """Whose the failures of a run are: every rollout that did not pass is counted once."""

    failures: int
    agent: int
    others: tuple[PartyCount, ...]
    """Neither the agent nor a limit, proven or likely; the most first."""
    limit: int
    suspected: int
    """Somebody else's by a suspicion only."""
    unknown: int

    @property
    def not_agents(self) -> int:
        """Failures that are proven or likely not to be the agent's."""
        return sum(one.proven + one.likely for one in self.others)


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """Something worth acting on, in four parts: what, against what, where, what to do."""

    id: str
    title: str
    what: str
    against: str
    where: tuple[str, ...]
    """Sentences with locations and quotes."""
    fix: str
    brief: str
    """What to do, in half a line."""
    kind: str
    """harness, prompt, verifier, data, infrastructure."""
    owner: str
    """Who does it, as a mode names it: harness, environment, test author, task author, tool author, user simulator, prompt."""
    support: Support
    confidence: str
    """proven, likely or suspected: of the attributions that it is made of."""
    rollouts: int
    tasks: int
    task_ids: tuple[str, ...]
    locations: tuple[str, ...]
    evidence: tuple[Evidence, ...]
    headroom: Headroom
    measured: str = ""
    """How often its mode is right where the truth is known; empty for a finding across modes."""

    @property
    def gain(self) -> Headroom | None:
        """What fixing it would gain; None where all that is known is a suspicion."""
        return None if self.confidence == "suspected" or self.owner == READER else self.headroom


class Intervention(msgspec.Struct, frozen=True, kw_only=True):
    """Something to do, with the tasks and rollouts it is for and what it could give."""

    kind: str
    """harness, prompt, training, verifier, data, infrastructure."""
    action: str
    source: str
    """The finding or the code of the rule that it comes from."""
    causes: tuple[Cause, ...]
    """Of its tasks, commonest first."""
    task_ids: tuple[str, ...]
    rollouts: int
    """How many that did not pass."""
    locations: tuple[str, ...]
    """Of those, the first."""
    headroom: Headroom
    evidence: tuple[Evidence, ...]
    owner: str = ""
    """Who does it."""
    confidence: str = ""
    """proven, likely or suspected."""
    decides: bool = True
    """False where all that is known is the verdict itself, so that reading comes first."""
    adds: float = 0.0
    """What its ceiling adds to that of the interventions ranked before it."""


class Together(msgspec.Struct, frozen=True, kw_only=True):
    """All interventions of a report at once, counted once."""

    headroom: Headroom
    failures: int
    """Failed rollouts that some intervention names."""
    remain: int
    """Failed rollouts that none names."""


class Doubt(msgspec.Struct, frozen=True, kw_only=True):
    """What a rule over a run saw: a reason to doubt the benchmark rather than the model, or the agent's way with a task."""

    about: str
    """key, verifier, tool, user, limit or task; agent where it is no doubt about the benchmark."""
    tasks: tuple[str, ...]
    message: str
    rollouts: int
    evidence: tuple[Evidence, ...] = ()
    code: str = ""
    """The rule that saw it."""
    strong: bool = False
    preview: bool = False
    """A rule in preview is shown, and decides no cause."""
    decided: bool = False
    """Some failure of its tasks is put down to whom it is about, proven or likely."""
    places: tuple[tuple[str, int], ...] = ()
    """Rollouts that it spoils; empty where it is about every failure of its tasks."""


class RepeatOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """One repeat of a task in a line."""

    location: str
    outcome: str
    did: str
    """In words."""


class DeepDive(msgspec.Struct, frozen=True, kw_only=True):
    """One task looked at closely: what was expected, what each repeat did, where they part."""

    task_id: str
    bucket: str
    why: str
    """Why this task teaches something."""
    due: str
    repeats: tuple[RepeatOutcome, ...]
    lines: tuple[str, ...]
    evidence: tuple[Evidence, ...] = ()

    def __repr__(self) -> str:
        return f"DeepDive({self.task_id!r}, {len(self.repeats)} repeats: {self.why[:LONGEST_SHOWN]!r})"


class Between(msgspec.Struct, frozen=True, kw_only=True):
    """Two runs on the tasks that they share: what only one of them solves, and where they part."""

    first: str
    second: str
    shared: int
    only_first: tuple[str, ...]
    only_second: tuple[str, ...]
    divergences: tuple[tuple[str, str], ...]
    """The run that fails, and in words where it leaves the way of the other."""


class Diagnosis(msgspec.Struct, frozen=True, kw_only=True):
    """Everything known about why rollouts of a run failed."""

    partition: Partition
    responsibility: Responsibility
    findings: tuple[Finding, ...]
    interventions: tuple[Intervention, ...]
    together: Together
    contrasts: tuple[Contrast, ...]
    habits: tuple[Habit, ...]
    rule_statistics: tuple[RuleStatistics, ...]
    passes_to_doubt: tuple[DoubtfulPass, ...] = ()
    """Passes that may not mean what they seem."""
    causes: Mapping[str, TaskCause]
    """For every task with a rollout that did not pass."""
    doubts: tuple[Doubt, ...]
    """About the benchmark."""
    deep_dives: tuple[DeepDive, ...]
    across: tuple[Doubt, ...] = ()
    """What rules over runs saw in the agent, one repeat against others."""
    alarms: tuple[Alarm, ...] = ()
    """Alarming words in results, and whether they mean anything."""
    cut: tuple[str, ...] = ()
    """What was left unread, and by which rule."""


class TrialSlice(msgspec.Struct, frozen=True, kw_only=True):
    """The rule in one slice of the tasks: where it fired and how often those rollouts fail, beside the others."""

    field: str
    value: str
    fired: int
    checked: int
    """Judged rollouts of the slice that could be looked at."""
    fired_failed: int
    failed: int


class Sighting(msgspec.Struct, frozen=True, kw_only=True):
    """One rollout in which the rule holds."""

    location: str
    outcome: str
    evidence: Evidence | None


class RuleTrial(msgspec.Struct, frozen=True, kw_only=True):
    """What one rule of the user's own saw in a run: counts, support, slices, and locations to read."""

    run: str
    rule: str
    fired: int
    """Rollouts."""
    tasks: int
    checked: int
    skipped: int
    """Rollouts without what the rule reads."""
    fired_failed: int
    fired_passed: int
    failed: int
    """Judged failures that were looked at."""
    passed: int
    support: Support | None
    """None where the rule reads the verdict, so that a lift would test itself."""
    risk_difference: float | None
    p_value: float | None
    informative: int
    reason: str | None
    """Why there is no lift or no support."""
    slices: tuple[TrialSlice, ...]
    sightings: tuple[Sighting, ...]
    mixed_in: tuple[str, ...] = ()
    """Slices in which it goes with failing, and with passing."""
    notes: tuple[str, ...] = ()
    """What may be a slip of the pen: tools and fields that no rollout has."""

    def __repr__(self) -> str:
        tied = f"{self.support}, " if self.support is not None else ""
        seen = f"fired in {self.fired} of {self.checked} rollouts"
        return f"RuleTrial({self.run!r}, {self.rule[:LONGEST_SHOWN]!r}: {tied}{seen})"
