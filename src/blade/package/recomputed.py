"""What the common keys of a metrics sidecar must hold, made again from the rollouts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from blade.model.analysis import RunAnalysis

_AT = re.compile(r"pass(?:_at_|@)(\d+)")
_HAT = re.compile(r"pass(?:_hat_|\^)(\d+)")


def recomputed(one: RunAnalysis) -> dict[str, tuple[float, ...]]:
    """Each key with the values that may stand under it; more than one where readings of the word differ."""
    named, counts, buckets = one.metrics.measures, one.metrics.counts, one.metrics.buckets
    tasks = counts["total_tasks"] or 0
    at_1 = tuple(named[name].value for name in ("pass_at_1", "pass_at_1_all_expected", "rollout_pass_rate"))
    always, sometimes = buckets.get("always_pass"), buckets.get("sometimes_pass")
    some = (always + sometimes) / tasks if always is not None and sometimes is not None and tasks else None
    every = always / tasks if always is not None and tasks else None
    passed, rows = counts["passed_rollouts"] or 0, counts["total_rollouts"] or 0
    known: dict[str, Sequence[float | None]] = {
        **dict.fromkeys(("pass_at_1", "pass@1", "pass_rate", "rollout_pass_rate", "accuracy", "success_rate"), at_1),
        "pass_at_k": [named["pass_at_k"].value, some],
        "consistency": [named["consistency"].value, every],
        **{name: [named[name].value] for name in ("coverage", "retry_value", "mean_reward")},
        **dict.fromkeys(("k", "num_repeats", "repeats"), (one.metrics.k,)),
        **dict.fromkeys(("total_tasks", "num_tasks", "tasks"), (tasks,)),
        **dict.fromkeys(("total_rollouts", "num_rollouts", "rollouts"), (rows, counts["expected_rollouts"])),
        **dict.fromkeys(("passed", "passed_rollouts", "num_passed"), (passed,)),
        **dict.fromkeys(("failed", "failed_rollouts", "num_failed"), (counts["failed_rollouts"], rows - passed)),
        **{name: [counts[name]] for name in _COUNTS},
        **{name: [number] for name, number in buckets.items()},
        "always_fail": [buckets.get("never_pass")],
        "pass_threshold": [one.run.pass_threshold],
    }
    known |= _slices(one)
    return {name: found for name, values in known.items() if (found := tuple(v for v in values if v is not None))}


def _slices(one: RunAnalysis) -> dict[str, Sequence[float | None]]:
    """Numbers of slices under `field.value` and `field.value.key`."""
    found: dict[str, Sequence[float | None]] = {}
    for field, values in one.metrics.slices.items():
        for each in values:
            name = f"{field}.{each.value}".lower()
            found |= {name: (each.pass_at_1,), f"{name}.tasks": (each.tasks,), f"{name}.total_tasks": (each.tasks,)}
            found |= {f"{name}.pass_at_1": (each.pass_at_1,), f"{name}.pass_rate": (each.pass_at_1,)}
            found |= {f"{name}.passed": (each.passed,), f"{name}.rollouts": (each.rollouts,)}
    return found


def dominant(kind: str, one: RunAnalysis) -> dict[str, tuple[float, ...]]:
    """Count and share of a failure type, where it is a mode of the run by id or by name."""
    modes = one.diagnosis.partition.modes if one.diagnosis is not None else ()
    mode = next((mode for mode in modes if kind.lower() in (mode.id.lower(), mode.name.lower())), None)
    failed = one.metrics.counts["failed_rollouts"]
    if mode is None or not failed:
        return {}
    share = (mode.rollouts / failed,)
    return {"dominant_failure_count": (mode.rollouts,), "dominant_failure_fraction": share}


_COUNTS = (
    "expected_rollouts",
    "errored_rollouts",
    "unscored_rollouts",
    "missing_rollouts",
    "duplicate_rollouts",
)


def values_of(key: str, one: RunAnalysis, known: Mapping[str, tuple[float, ...]]) -> tuple[float, ...]:
    """The values that may stand under a key; empty when the key is not known."""
    if key in known:
        return known[key]
    at, hat = _AT.fullmatch(key), _HAT.fullmatch(key)
    found = one.metrics.pass_at.get(int(at[1])) if at else one.metrics.pass_hat.get(int(hat[1])) if hat else None
    return (found.value,) if found is not None and found.value is not None else ()
