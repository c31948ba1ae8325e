"""`blade package calibrate`: does the judge tell the golden report from reports that must not pass?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from blade.cli.console import show
from blade.cli.options import AuditedRuns, MoreRuns

if TYPE_CHECKING:
    from blade.package.judge.calibrate import Calibration

REPORTS = "golden_reports"


def calibrate(
    golden_report: Annotated[Path, typer.Option(metavar="FILE", help="The golden report.")],
    anchor_facts: Annotated[Path, typer.Option(metavar="FILE", help="Its anchor facts.")],
    shallow_report: Annotated[Path, typer.Option(metavar="FILE", help="Its shallow baseline.")],
    output_dir: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Where the scores go. Default: calibration-runs/ and the time in UTC."),
    ] = None,
    min_spread: Annotated[
        float, typer.Option(metavar="X", help="How far the shallow report must lie below the golden one.")
    ] = 0.5,
    other_report: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A report on another model. Default: the first other one of the package."),
    ] = None,
    runs: AuditedRuns = None,
    more: MoreRuns = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print calibration_summary.json.")] = False,
) -> None:
    """Score the golden report against itself and every negative control against it; exit 1 when a target is missed.

    Example: blade package calibrate --golden-report a_golden_report.md --anchor-facts a_anchor_facts.json --shallow-report a_shallow.md
    """
    from blade.cli.package.runs import auditor, stamped
    from blade.package.anchor_facts import read_facts
    from blade.package.documents import read_report
    from blade.package.judge.calibrate import calibrate as run
    from blade.package.judge.calibrate import calibration_lines, summary
    from blade.package.judge.calibrate import other_report as as_control
    from blade.package.judge.score import as_text

    known = read_facts(anchor_facts)
    other = other_report or _beside(golden_report)
    found = run(
        read_report(golden_report, "golden report"),
        known.facts,
        read_report(shallow_report, "shallow report"),
        as_control(None if other is None else read_report(other, "other report")),
        min_spread,
        auditor([*(runs or ()), *(more or ())], golden_report),
    )
    out = output_dir or stamped("calibration-runs")
    _write(found, out)
    told = calibration_lines(found)
    if as_json:
        print(as_text(summary(found)), end="")
    else:
        show([*told, *(f"problem: {one}" for one in known.problems), f"written: {out}"])
    raise typer.Exit(0 if found.passed else 1)


def _beside(golden: Path) -> Path | None:
    """The first other golden report of the package, in the order of their names."""
    from blade.package.layout import find_package

    if golden.parent.name != REPORTS:
        return None
    goldens = find_package(golden.parent.parent).goldens
    return next((one.report for one in goldens if not one.comparison and one.report.name != golden.name), None)


def _write(found: Calibration, out: Path) -> None:
    from blade.files import replacing
    from blade.package.judge.calibrate import summary
    from blade.package.judge.score import as_text, reward

    scores = {"golden-vs-self": found.golden, "shallow-vs-golden": found.shallow}
    scores |= {f"{one.control.name}-vs-golden": one.score for one in found.controls if one.score is not None}
    for name, score in scores.items():
        with replacing(out / name / "reward.json") as file:
            file.write(as_text(reward(score)).encode())
    for one in found.controls:
        if one.control.text is not None:
            with replacing(out / f"{one.control.name}-vs-golden" / "report.md") as file:
                file.write(one.control.text.encode("utf-8", errors="replace"))
    with replacing(out / "calibration_summary.json") as file:
        file.write(as_text(summary(found)).encode())
