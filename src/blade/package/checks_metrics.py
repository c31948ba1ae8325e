"""The metrics sidecar of a golden report: does it parse, and does it say what the rollouts and the report say?"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from blade.model.analysis import RunAnalysis
from blade.model.check import Check
from blade.package.documents import agrees, decimals, numbers, read_text, states
from blade.package.layout import GoldenFiles, Package, shown
from blade.package.rollouts import PackageRollouts

COMMON = ("model", "model_name", "benchmark", "pass_at_1", "num_tasks", "total_tasks")
FEWEST_COMMON = 3
IN_THE_REPORT = ("pass_at_1", "mean_reward", "pass_at_k", "total_tasks", "num_tasks")
"""Numbers that a report must state where its sidecar has them; of the first two, that which is the headline."""
MOST_LISTED = 5
DEEPEST = 4
_BREAKDOWN = re.compile(r"^(?:per|by)_|_(?:breakdown|metrics|results)$")
_PASS_AT = re.compile(r"pass(?:_at_|@)(\d+)")
_PASS_HAT = re.compile(r"pass(?:_hat_|\^)(\d+)")
_COUNTS = ("expected_rollouts", "errored_rollouts", "unscored_rollouts", "missing_rollouts", "duplicate_rollouts")


class _Written(float):
    """A number with the digits that it was written with."""

    digits: int = 0


def metrics_checks(
    golden: GoldenFiles, package: Package, data: PackageRollouts, run: str | None, report: str
) -> Iterator[Check]:
    """Everything about one sidecar."""
    if golden.metrics is None:
        name = shown(golden.report, package.folder)
        wanted = f"{golden.report.stem}_metrics.json"
        yield Check(
            code="D3.metrics",
            passed=False,
            message="missing metrics sidecar",
            found=f"{name} has none; looked for golden_reports/{wanted}",
            fix=f"add {wanted} with model_name, benchmark, pass_at_1, pass_at_k, total_tasks, total_rollouts",
        )
        return
    name, (values, fault) = shown(golden.metrics, package.folder), _read(golden.metrics)
    yield _form(name, values, fault)
    if values:
        yield _recomputed(name, values, data, run)
        headline = data.analyzed(run).metrics.headline if run is not None else "pass_at_1"
        yield _in_report(name, values, report, headline)


def sidecar_model(path: Path | None) -> str:
    """The model that a sidecar names; empty when it names none."""
    values = _read(path)[0] if path is not None else {}
    return next((model for key in ("model_name", "model") if isinstance(model := values.get(key), str)), "")


def _read(path: Path) -> tuple[dict[str, object], str]:
    def written(text: str) -> _Written:
        number = _Written(text)
        number.digits = decimals(text) if "e" not in text.lower() else 9
        return number

    try:
        values = json.loads(read_text(path), parse_float=written, parse_constant=lambda _: None)
    except (ValueError, RecursionError) as error:
        return {}, f"not JSON: {error}"
    return (values, "") if isinstance(values, dict) else ({}, "not an object with names and values")


def _form(name: str, values: dict[str, object], fault: str) -> Check:
    common = [key for key in COMMON if values.get(key) not in (None, "")]
    return Check(
        code="D3.metrics",
        passed=not fault and len(common) >= FEWEST_COMMON,
        message="D3 metrics sidecar parses",
        found=f"{name}: " + (fault or f"{len(values)} keys, {len(common)} of {', '.join(COMMON)}"),
        fix=f"write one JSON object with at least {FEWEST_COMMON} of these keys",
    )


def _recomputed(name: str, values: dict[str, object], data: PackageRollouts, run: str | None) -> Check:
    message = "D3 metrics sidecar matches the rollouts"
    if run is None:
        why = "no run of rollouts/ is known to be its own" if data.runs else "there are no rollouts"
        return Check(code="D3.metrics.rollouts", passed=None, message=message, found=f"{name}: {why}")
    wrong = []
    for key in ("model_name", "model"):
        model = values.get(key)
        other = data.named(model) if isinstance(model, str) else None
        if other not in (None, run):
            wrong.append(f"{key} is {model}, which is run {other}, and the report is about {run}")
    one = data.analyzed(run)
    known, checked = recomputed(one), 0
    for key, value in _numbers(values):
        digits = value.digits if isinstance(value, _Written) else 0
        right = _right(key, str(values.get("dominant_failure_type")), one, known)
        if right and not any(agrees(value, digits, number) for number in right):
            percent = abs(value) > 1 and any(abs(value - 100 * number) <= 0.51 for number in right if number)
            hint = " (a percentage: write the fraction)" if percent and not float(right[0]).is_integer() else ""
            wrong.append(f"{key} is {value:g}{hint}, the rollouts give {right[0]:.4g}")
        checked += bool(right)
    fault = "; ".join(wrong[:MOST_LISTED]) or ("no key of it can be made again from rollouts" if not checked else "")
    keys = ("pass_at_1", "pass_at_k", "consistency", "total_tasks", "total_rollouts", "passed", "failed")
    listed = ", ".join(f"{key} {known[key][0]:.4g}" for key in keys if key in known)
    return Check(
        code="D3.metrics.rollouts",
        passed=not fault,
        message=message,
        found=f"{name}: " + (fault or f"{checked} numbers made again from run {run}"),
        fix=f"write the recomputed values, as fractions: {listed}",
    )


def _numbers(values: dict[str, object], above: str = "", depth: int = 0) -> Iterator[tuple[str, float]]:
    """Numbers by key; those of a breakdown such as `per_category` under `category.value`."""
    for key, value in values.items():
        name = key if not above else f"{above}.{key}".lower()
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            yield name, value
        elif isinstance(value, dict) and depth < DEEPEST:
            inner = {str(one): each for one, each in value.items()}
            below = "" if key in ("buckets", "counts", "metrics", "slices") else _BREAKDOWN.sub("", name)
            yield from _numbers(inner, below, depth + 1)


def _in_report(name: str, values: dict[str, object], report: str, headline: str) -> Check:
    wanted = [key for key in IN_THE_REPORT if key == headline or key not in IN_THE_REPORT[:2]]
    stated = [(key, value) for key, value in _numbers(values) if key in wanted]
    written = list(numbers(report))
    absent = [f"{key} {value:g}" for key, value in stated if not states(written, value)]
    return Check(
        code="D3.metrics.report",
        passed=bool(stated) and not absent,
        message="D3 metrics sidecar matches the report",
        found=f"{name}: "
        + (f"the report does not state {', '.join(absent)}" if absent else f"{len(stated)} numbers stand in the report")
        + ("" if stated else f" of {', '.join(wanted)}: it has none of them"),
        fix="state in the report what the sidecar holds, and in the sidecar what the report states",
    )


def recomputed(one: RunAnalysis) -> dict[str, tuple[float, ...]]:
    """Each common key with the values that may stand under it; more than one where readings of the word differ."""
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
    for field, values in one.metrics.slices.items():
        for each in values:
            name = f"{field}.{each.value}".lower()
            known |= dict.fromkeys((name, f"{name}.pass_at_1", f"{name}.pass_rate"), (each.pass_at_1,))
            known |= dict.fromkeys((f"{name}.tasks", f"{name}.total_tasks"), (each.tasks,))
            known |= {f"{name}.passed": (each.passed,), f"{name}.rollouts": (each.rollouts,)}
    return {key: right for key, values in known.items() if (right := tuple(v for v in values if v is not None))}


def _right(key: str, failure_type: str, one: RunAnalysis, known: dict[str, tuple[float, ...]]) -> tuple[float, ...]:
    """The values that may stand under a key; empty when the key is not known."""
    if key.startswith("dominant_failure_"):
        # Count and share of a failure type, where it is a mode of the run by id or by name.
        modes = one.diagnosis.partition.modes if one.diagnosis is not None else ()
        mode = next((mode for mode in modes if failure_type.lower() in (mode.id.lower(), mode.name.lower())), None)
        failed = one.metrics.counts["failed_rollouts"]
        if mode is not None and failed:
            found = {"dominant_failure_count": mode.rollouts, "dominant_failure_fraction": mode.rollouts / failed}
            return (found[key],) if key in found else ()
    if key in known:
        return known[key]
    at, hat = _PASS_AT.fullmatch(key), _PASS_HAT.fullmatch(key)
    measure = one.metrics.pass_at.get(int(at[1])) if at else one.metrics.pass_hat.get(int(hat[1])) if hat else None
    return (measure.value,) if measure is not None and measure.value is not None else ()
