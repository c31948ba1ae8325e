"""One attribution a rollout: the modes in the order of decision, the first that applies, the rest beside it."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from functools import lru_cache

import msgspec
import numpy as np
import polars as pl
from msgspec import Struct, structs

from blade.attribution.cause_codes import PARTIES
from blade.attribution.collect import CollectedEvidence, OtherRun, collect, known_cells
from blade.attribution.differences_that_count import CountingDifferences, Differences, counting_differences
from blade.attribution.overruled import of_labels, overruled
from blade.custom_rules import CustomLabel
from blade.model.attribution import ATTRIBUTIONS, UNATTRIBUTED, Attributions, Confidence, Stage
from blade.model.diagnosis import Doubt, Label
from blade.model.finding import Differs
from blade.model.run import Run
from blade.modes.catalog import all_modes
from blade.modes.declaration import FailureMode
from blade.modes.evidence import COMMON_IN_PASSES, Candidate, RolloutEvidence
from blade.stats.counts import PASSED
from blade.stats.infrastructure import INFRA
from blade.stats.rollout_index import Flags, RolloutIndex

FLAGS = (
    "agent:",
    "ends:",
    "own-check:",
    "read-grader-tests",
    "edited-grader-tests",
    "skipped-as-passed",
    "hollow:",
    "stand-in",
    "loop",
    "patch:",
    "missing:",
    "literal:",
    "key:",
    "service:",
    "work:",
    "made-up-id",
)
"""Kinds of signs that stand beside an attribution as symptoms; the rest only report what a log says."""
_FLAGGED = tuple(kind for kind in FLAGS if kind.endswith(":"))
MOST_QUOTED = 3
MOST_ALSO = 8
LONGEST_WORDS = 120
QUOTE = pl.Struct({"quote": pl.String, "field": pl.String, "step": pl.Int32})
_COLUMNS: dict[str, pl.DataType | type[pl.DataType]] = {
    "stage": pl.String,
    "mode": pl.String,
    "subject": pl.String,
    "party": pl.String,
    "confidence": pl.String,
    "valid": pl.Boolean,
    "evidence": pl.List(QUOTE),
    "contrast": pl.String,
    "by": pl.String,
    "also": pl.List(pl.String),
    "step": pl.Int32,
    "note": pl.String,
}


class PackageLabel(Struct, frozen=True, kw_only=True):
    """A label of the benchmark's package that is by itself enough for failing: its mode, for the rollouts it holds in."""

    name: str
    party: str = "unknown"


class Decided(Struct, frozen=True, kw_only=True):
    """What was decided about one rollout."""

    mode: str
    candidate: Candidate
    stage: Stage
    party: str
    valid: bool
    by: str
    also: tuple[str, ...]


def attribute(
    rollouts: RolloutIndex,
    counting: Differences,
    only_reads: bool,
    others: Sequence[OtherRun] = (),
    doubts: Sequence[Doubt] = (),
    labels: Sequence[PackageLabel] = (),
    only: Flags | None = None,
) -> Attributions:
    """The attributions of a run, or of the rollouts `only`. `others` are other runs of its tasks; `doubts` what rules
    over the run saw in it.
    """
    run = rollouts.run
    rows: list[int] = []
    frames: list[pl.DataFrame] = []
    known: dict[object, Decided] = {}
    by_label = {one.name: one for one in labels if not _passes_carry(run, one.name)}
    modes = ModesByShape()
    for some in collect(rollouts, counting, only_reads, others, doubts, only):
        cells: list[tuple[object, ...]] = []
        for found in some:
            key = known_cells(found.evidence)
            decided = known.get(key) if key is not None else None
            if decided is None:
                decided = decide(found.evidence, by_label, modes)
                if key is not None:
                    known[key] = decided
            rows.append(found.row)
            cells.append(_cells(decided, found))
        frames.append(_frame(cells))
    columns = _spread(pl.concat(frames or [_frame(())]), rows, run.rollouts.height)
    table = run.rollouts.select("run", "task_id", "repeat", "outcome").with_columns(columns)
    passed = pl.col("outcome") == "passed"
    table = table.with_columns(
        stage=pl.when(passed).then(pl.lit(str(Stage.PASSED))).otherwise("stage"),
        valid=pl.col("valid") | passed,
        also=pl.when(passed).then(_flags_of_passes(rollouts)).otherwise("also"),
    )
    table = table.with_columns(infra=INFRA).select(list(ATTRIBUTIONS))
    return Attributions(table=table, other_runs=tuple(one.name for one in others))


def _frame(cells: Sequence[tuple[object, ...]]) -> pl.DataFrame:
    """Some rows of the columns that are decided."""
    by_column = zip(*cells, strict=True) if cells else [()] * len(_COLUMNS)
    pairs = zip(by_column, _COLUMNS.items(), strict=True)
    return pl.DataFrame([_column(name, values, dtype) for values, (name, dtype) in pairs])


def _spread(frame: pl.DataFrame, rows: Sequence[int], height: int) -> list[pl.Series]:
    """The columns of a table of which `frame` has some rows; null in the others."""
    places = np.full(height, -1, np.int64)
    places[list(rows)] = np.arange(len(rows))
    where = pl.Series(places).replace(-1, None)
    return [column.gather(where) for column in frame.rechunk()]


def _column(name: str, cells: Sequence[object], dtype: pl.DataType | type[pl.DataType]) -> pl.Series:
    """A column of the table; lists are taken apart inside polars, where that takes a tenth of the time."""
    if not isinstance(dtype, pl.List):
        return pl.Series(name, cells, dtype=dtype, strict=False)
    texts = [msgspec.json.encode(cell).decode() for cell in cells]
    return pl.Series(name, texts, pl.String).str.json_decode(dtype)


class ModesByShape:
    """The modes that may apply to rollouts of one run, by the shape of their evidence.

    A mode that does not apply, and opened no sign and no difference to tell, does not apply to any evidence of that shape.
    """

    def __init__(self) -> None:
        self._known: dict[Hashable, tuple[FailureMode, ...]] = {}

    def applying(self, evidence: RolloutEvidence) -> list[tuple[FailureMode, Candidate]]:
        """Every mode that applies, in the order of decision."""
        if evidence.doubts:  # they are of this rollout alone
            return [(mode, one) for mode in all_modes() if (one := mode.applies(evidence)) is not None]
        modes = self._known.get(evidence.shape)
        found, open_ = [], []
        for mode in all_modes() if modes is None else modes:
            before = len(evidence.opened)
            one = mode.applies(evidence)
            if one is not None:
                found.append((mode, one))
            if one is not None or len(evidence.opened) > before:
                open_.append(mode)
        if modes is None:
            self._known[evidence.shape] = tuple(open_)
        return found


def _passes_carry(run: Run, label: str) -> bool:
    """Whether a label holds in passes so often that it explains no failure."""
    held = run.rollouts.filter(pl.col("fired").list.eval(pl.element().struct.field("code") == label).list.any())
    return held.filter(PASSED).height > COMMON_IN_PASSES * max(1, held.height)


def decide(evidence: RolloutEvidence, labels: Mapping[str, PackageLabel], modes: ModesByShape) -> Decided:
    """The first mode that applies and is more than suspected; a suspicion decides where only the verdict itself is left."""
    found = [(mode, _at_most(mode, one, evidence)) for mode, one in modes.applying(evidence)]
    flags = _flags(evidence)
    chosen = _chosen([one for one in found if not one[1].flag])
    label = next((code for code in evidence.fired if code in labels), None)
    if label is not None and (chosen is None or chosen[0].group != "machinery"):
        also = [mode.code for mode, _ in found]
        candidate = Candidate(confidence=Confidence.LIKELY, contrast=f"the package's label `{label}` holds")
        return Decided(
            mode=label,
            candidate=candidate,
            stage=_stage(evidence),
            party=labels[label].party,
            valid=evidence.judged,
            by=f"package:{label}",
            also=tuple(dict.fromkeys([*also, *flags]))[:MOST_ALSO],
        )
    if chosen is None:
        return Decided(
            mode=UNATTRIBUTED,
            candidate=Candidate(confidence=Confidence.SUSPECTED, contrast=_looked_at(evidence)),
            stage=_stage(evidence),
            party="unknown",
            valid=evidence.judged,
            by="",
            also=tuple(dict.fromkeys([*(mode.code for mode, _ in found), *flags]))[:MOST_ALSO],
        )
    mode, candidate = chosen
    also = [other.code for other, _ in found if other is not mode]
    return Decided(
        mode=mode.code,
        candidate=candidate,
        stage=mode.stage,
        party=candidate.party or mode.party,
        valid=mode.valid and evidence.judged,
        by=f"rule:{mode.code}",
        also=tuple(dict.fromkeys([*also, *flags]))[:MOST_ALSO],
    )


def _chosen(found: Sequence[tuple[FailureMode, Candidate]]) -> tuple[FailureMode, Candidate] | None:
    sure = next((one for one in found if one[1].confidence is not Confidence.SUSPECTED), None)
    if sure is None or sure[0].result:
        # The verdict itself explains nothing: what is suspected to lie behind it is named, as suspected.
        return next((one for one in found if one[1].confidence is Confidence.SUSPECTED), sure)
    return sure


def _at_most(mode: FailureMode, one: Candidate, evidence: RolloutEvidence) -> Candidate:
    """That a check failed is certain; that it is the agent's doing is proven only where somebody passes the task."""
    charged = mode.group.startswith("agent") and one.confidence is Confidence.PROVEN
    return structs.replace(one, confidence=Confidence.LIKELY) if charged and not evidence.task.solved else one


def _flags(evidence: RolloutEvidence) -> list[str]:
    kinds = dict.fromkeys([sign.kind for sign in evidence.signs])
    return [*filter(_is_flag, kinds), *evidence.fired]


@lru_cache(maxsize=1024)
def _is_flag(kind: str) -> bool:
    return kind in FLAGS or kind.startswith(_FLAGGED)


def _stage(evidence: RolloutEvidence) -> Stage:
    """How far a rollout came of which no mode says it."""
    if evidence.judged:
        return Stage.GRADED
    if evidence.outcome == "missing":
        return Stage.NOT_RUN
    return Stage.AGENT_ACTED if evidence.calls or evidence.agent_chars else Stage.ENVIRONMENT_READY


def _looked_at(evidence: RolloutEvidence) -> str:
    """What was there to look at, and decided nothing."""
    told = [f"{len(evidence.signs)} signs" if evidence.signs else ""]
    told += ["the trajectory" if evidence.steps else "", "an answer" if evidence.answer else ""]
    told += [f"{evidence.checks_asked} checks" if evidence.checks_asked else ""]
    said = next((one for one in evidence.all_of(Differs.SAID)), None)
    told += [f"the verifier's words in `{said.name}`: {said.detail[:LONGEST_WORDS]}" if said is not None else ""]
    named = [one for one in told if one]
    return f"looked at {', '.join(named)}" if named else "the row holds nothing but the verdict"


class _Quote(Struct, frozen=True, gc=False):
    quote: str
    field: str
    step: int | None


def _cells(decided: Decided, found: CollectedEvidence) -> tuple[object, ...]:
    """In the order of the columns."""
    candidate = decided.candidate
    quotes = [sign for sign in candidate.signs if sign.quote][:MOST_QUOTED]
    unknown = decided.mode == UNATTRIBUTED
    return (
        str(decided.stage),
        decided.mode,
        candidate.subject,
        decided.party,
        None if unknown else str(candidate.confidence),
        decided.valid,
        [_Quote(sign.quote, sign.field, sign.step) for sign in quotes],
        candidate.contrast,
        decided.by,
        decided.also,
        found.step,
        "",
    )


def _flags_of_passes(rollouts: RolloutIndex) -> pl.Expr:
    """Symptoms of passes: the same flags, by which passes are doubted."""
    kinds = rollouts.run.rollouts.select(
        pl.col("signs").list.eval(pl.element().struct.field("kind")).list.unique(maintain_order=True).alias("kinds")
    )["kinds"]
    if not kinds.count():
        return pl.lit(None, dtype=pl.List(pl.String))
    wanted = "^(?:" + "|".join(FLAGS) + ")"
    chosen = kinds.list.eval(pl.element().filter(pl.element().str.contains(wanted)))
    return pl.lit(chosen)


def attributed(
    rollouts: RolloutIndex,
    others: Sequence[OtherRun] = (),
    labels: Sequence[PackageLabel] = (),
    verdicts: Mapping[str, Label] | None = None,
) -> Attributions:
    """The attributions of a run by its tables alone, in which its readers and `verdicts`, a person's on tasks, overrule."""
    counted = counting_differences(rollouts)
    by_rules = attribute(rollouts, counted.counting, counted.only_reads, others, labels=labels)
    by_person = of_labels(by_rules.table, verdicts) if verdicts else ()
    return overruled(by_rules, (*by_person, *rollouts.run.readings.used))


def refined(
    draft: Attributions,
    rollouts: RolloutIndex,
    counted: CountingDifferences,
    others: Sequence[OtherRun],
    doubts: Sequence[Doubt],
    labels: Sequence[PackageLabel],
) -> Attributions:
    """The attributions with what rules over the whole run saw; they name defects, and never change what is infrastructure.
    What readers said stays.
    """
    doubted = {task for doubt in doubts if not doubt.preview and doubt.about != "agent" for task in doubt.tasks}
    table = draft.rules_table
    open_ = ~table["infra"] & table["task_id"].is_in(sorted(doubted)) & (table["outcome"] != "passed")
    if not open_.any():
        return draft
    again = attribute(
        rollouts, counted.counting, counted.only_reads, others, doubts, labels, only=open_.to_numpy()
    ).table
    taken = open_ & ~again["infra"]
    columns = [pl.when(taken).then(again[name]).otherwise(table[name]).alias(name) for name in table.columns]
    by_rules = structs.replace(draft, table=table.select(columns), by_rules=None)
    return overruled(by_rules, draft.readings)


def labels_of(custom: Sequence[CustomLabel]) -> tuple[PackageLabel, ...]:
    """The labels of a package that are by themselves enough for failing, as modes."""
    return tuple(PackageLabel(name=one.name, party=PARTIES[one.cause]) for one in custom if one.direct)
