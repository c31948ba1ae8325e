"""What is detected in each rollout: by BLADE's rules during the one pass, and by the team's own rules then or later."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import polars as pl
from msgspec.structs import replace

from blade.custom_rules import CustomLabel, TooMuch, fields_named, match, needs_steps, reads
from blade.custom_rules import Rule as Condition
from blade.evidence.differences import differences
from blade.evidence.signs.all_signs import signs
from blade.model.finding import Detect, Detection, Hit
from blade.model.rollout import Rollout, Step
from blade.model.run import Run
from blade.model.tools import changes_state
from blade.rules.declaration import Rule
from blade.rules.engine import detect_all
from blade.rules.hits import hit_of

AT_A_TIME = 2_000
"""Rollouts that are read again together: few enough to be held in memory."""


def detect(rollouts: Sequence[Rollout]) -> list[Detection]:
    """Hits of the rules, differences from what was due, and the stages that each rollout reached; picklable."""
    detections = detect_all(rollouts)
    # Rollout by rollout, since both ask for the same of its calls.
    seen = [(differences(rollout), signs(rollout)) for rollout in rollouts]
    reached = map(stages, rollouts)
    return [
        Detection(
            hits=detection.hits,
            cannot_check=detection.cannot_check,
            differs=differing,
            attempted=attempted,
            feedback=feedback,
            signs=facts,
        )
        for detection, (differing, facts), (attempted, feedback) in zip(detections, seen, reached, strict=True)
    ]


def stages(rollout: Rollout) -> tuple[bool | None, bool | None]:
    """Whether the core action was attempted (a change, a patch or an answer), and whether a result came after it.

    None where it cannot be told: without a step; for feedback, where the core action was an answer and nothing changed.
    """
    features = rollout.features
    if features is None or not features.steps:
        return None, None
    answered = features.agent_messages > 0 or (features.calls > 0 and bool(rollout.answer))
    core = _first_change(rollout.steps or ()) if features.calls else None
    if core is None:
        return answered, None
    return True, any(step.kind == "result" and step.index > core for step in rollout.steps or ())


def _first_change(steps: tuple[Step, ...]) -> int | None:
    calls = (step for step in steps if step.kind == "call" and step.party == "agent")
    return next((step.index for step in calls if changes_state(step.tool or "")), None)


class CustomDetection(msgspec.Struct, frozen=True, kw_only=True):
    """Checks custom rules by name, after what `first` detects; picklable."""

    rules: tuple[tuple[str, Condition], ...]
    stages: tuple[tuple[str, Condition], ...] = ()
    first: Detect | None = None

    def __call__(self, rollouts: Sequence[Rollout]) -> list[Detection]:
        """What `first` detects, with the hits of the custom rules and those that cannot be checked."""
        detections = self.first(rollouts) if self.first is not None else [Detection()] * len(rollouts)
        return [
            self._with_custom_rules(detection, rollout) for detection, rollout in zip(detections, rollouts, strict=True)
        ]

    def _with_custom_rules(self, detection: Detection, rollout: Rollout) -> Detection:
        results = [(name, _check(name, condition, rollout)) for name, condition in self.rules]
        return msgspec.structs.replace(
            detection,
            hits=detection.hits + tuple(result for _, result in results if isinstance(result, Hit)),
            cannot_check=detection.cannot_check + tuple(name for name, result in results if result is None),
            reached=tuple(name for name, condition in self.stages if _check(name, condition, rollout)),
        )


def _check(name: str, condition: Condition, rollout: Rollout) -> Hit | bool | None:
    """The hit, False when the condition does not hold, None when it cannot be checked."""
    features = rollout.features
    if needs_steps(condition) and (features is None or not features.steps or rollout.steps is None):
        return None
    try:
        matched = match(condition, rollout)
    except TooMuch:
        return None
    return hit_of(name, rollout, matched.evidence) if matched is not None else False


def as_rule(label: CustomLabel) -> Rule:
    """A label of a package as a rule of the catalog; the team vouches for it."""
    verdict = [name for name in ("outcome", "reward", "expected") if reads(label.rule, name)]
    fields = [f"row.{name}" for name in fields_named(label.rule)]
    return Rule(
        code=label.name,
        name=label.name,
        family="package",
        message=label.message,
        sections=(("Rule", label.text),),
        cause=label.cause,
        kind="direct" if label.direct else "associated",
        reads=("steps", *verdict, *fields),
        scope="rollout",
        status="stable",
    )


def detected_again(run: Run, detect: Detect) -> Run:
    """The run with only what `detect` sees in its rollouts, which are read again."""
    refs = list(run.rollouts.filter(pl.col("artifact").is_not_null()).select("task_id", "repeat").iter_rows())
    detections: list[Detection] = []
    for start in range(0, len(refs), AT_A_TIME):
        detections += detect(list(run.reread(refs[start : start + AT_A_TIME])))
    columns = {
        "task_id": [task for task, _ in refs],
        "repeat": [repeat for _, repeat in refs],
        "fired": [[msgspec.structs.asdict(hit) for hit in each.hits] or None for each in detections],
        "cannot_check": [list(each.cannot_check) or None for each in detections],
    }
    table = pl.DataFrame(columns, schema={name: run.rollouts.schema[name] for name in columns})
    rows = run.rollouts.drop("fired", "cannot_check").join(
        table, on=["task_id", "repeat"], how="left", maintain_order="left"
    )
    return replace(run, rollouts=rows.select(run.rollouts.columns))
