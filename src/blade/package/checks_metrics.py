"""The metrics sidecar of a golden report: does it parse, and does it say what the rollouts and the report say?"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from blade.model.analysis import RunAnalysis
from blade.model.check import Check
from blade.package.data import Data
from blade.package.documents import read_text, shown
from blade.package.layout import Golden, Package
from blade.package.numbers_in import agrees, decimals, numbers, stands
from blade.package.recomputed import dominant, recomputed, values_of

COMMON = ("model", "model_name", "benchmark", "pass_at_1", "num_tasks", "total_tasks")
FEWEST_COMMON = 3
IN_THE_REPORT = ("pass_at_1", "mean_reward", "pass_at_k", "total_tasks", "num_tasks")
"""Numbers that a report must state where its sidecar has them; of the first two, that which is the headline."""
MOST_LISTED = 5
DEEPEST = 4
_BREAKDOWN = re.compile(r"^(?:per|by)_|_(?:breakdown|metrics|results)$")


class _Written(float):
    """A number with the digits that it was written with."""

    digits: int = 0


def metrics_checks(golden: Golden, package: Package, data: Data, run: str | None, report: str) -> Iterator[Check]:
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


def said_model(path: Path | None) -> str:
    """The model that a sidecar names; empty when it names none."""
    values, _ = _read(path) if path is not None else ({}, "")
    return next((said for key in ("model_name", "model") if isinstance(said := values.get(key), str)), "")


def _read(path: Path) -> tuple[dict[str, object], str]:
    try:
        found = json.loads(read_text(path), parse_float=_written, parse_constant=lambda _: None)
    except (ValueError, RecursionError) as error:
        return {}, f"not JSON: {error}"
    return (found, "") if isinstance(found, dict) else ({}, "not an object with names and values")


def _written(text: str) -> _Written:
    number = _Written(text)
    number.digits = decimals(text) if "e" not in text.lower() else 9
    return number


def _form(name: str, values: dict[str, object], fault: str) -> Check:
    common = [key for key in COMMON if values.get(key) not in (None, "")]
    return Check(
        code="D3.metrics",
        passed=not fault and len(common) >= FEWEST_COMMON,
        message="D3 metrics sidecar parses",
        found=f"{name}: " + (fault or f"{len(values)} keys, {len(common)} of {', '.join(COMMON)}"),
        fix=f"write one JSON object with at least {FEWEST_COMMON} of these keys",
    )


def _recomputed(name: str, values: dict[str, object], data: Data, run: str | None) -> Check:
    message = "D3 metrics sidecar matches the rollouts"
    if run is None:
        why = "no run of rollouts/ is known to be its own" if data.runs else "there are no rollouts"
        return Check(code="D3.metrics.rollouts", passed=None, message=message, found=f"{name}: {why}")
    one = data.analyzed(run)
    known = recomputed(one) | dominant(str(values.get("dominant_failure_type")), one)
    wrong, held = list(_other_model(values, data, run)), 0
    for key, said in _numbers(values):
        right = values_of(key, one, known)
        if right and not _holds(said, right):
            wrong.append(_wrong(key, said, right))
        held += bool(right)
    fault = "; ".join(wrong[:MOST_LISTED]) or ("no key of it can be made again from rollouts" if not held else "")
    return Check(
        code="D3.metrics.rollouts",
        passed=not fault,
        message=message,
        found=f"{name}: " + (fault or f"{held} numbers made again from run {run}"),
        fix=f"write the recomputed values, as fractions: {_right(one)}",
    )


def _other_model(values: dict[str, object], data: Data, run: str) -> Iterator[str]:
    """A sidecar that names another run of the package."""
    for key in ("model_name", "model"):
        said = values.get(key)
        other = data.named(said) if isinstance(said, str) else None
        if other not in (None, run):
            yield f"{key} is {said}, which is run {other}, and the report is about {run}"


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


def _holds(said: float, right: tuple[float, ...]) -> bool:
    digits = said.digits if isinstance(said, _Written) else 0
    return any(agrees(said, digits, value) for value in right)


def _wrong(key: str, said: float, right: tuple[float, ...]) -> str:
    percent = any(abs(said - 100 * value) <= 0.51 for value in right if value) and abs(said) > 1
    hint = " (a percentage: write the fraction)" if percent and not right[0].is_integer() else ""
    return f"{key} is {said:g}{hint}, the rollouts give {right[0]:.4g}"


def _right(one: RunAnalysis) -> str:
    known = recomputed(one)
    keys = ("pass_at_1", "pass_at_k", "consistency", "total_tasks", "total_rollouts", "passed", "failed")
    return ", ".join(f"{key} {known[key][0]:.4g}" for key in keys if key in known)


def _in_report(name: str, values: dict[str, object], report: str, headline: str) -> Check:
    wanted = [key for key in IN_THE_REPORT if key == headline or key not in IN_THE_REPORT[:2]]
    stated = [(key, said) for key, said in _numbers(values) if key in wanted]
    written = list(numbers(report))
    absent = [f"{key} {said:g}" for key, said in stated if not stands(said, written)]
    return Check(
        code="D3.metrics.report",
        passed=bool(stated) and not absent,
        message="D3 metrics sidecar matches the report",
        found=f"{name}: "
        + (f"the report does not state {', '.join(absent)}" if absent else f"{len(stated)} numbers stand in the report")
        + ("" if stated else f" of {', '.join(wanted)}: it has none of them"),
        fix="state in the report what the sidecar holds, and in the sidecar what the report states",
    )
