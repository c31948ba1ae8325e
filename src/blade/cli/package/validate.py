"""`blade package validate`: is a package BLADE-ready, in form and in truth?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from blade.cli.console import show
from blade.cli.options import BenchmarkDir, PackageFolder, given_folder

if TYPE_CHECKING:
    from blade.package.validate import Validation


def validate(
    folder: PackageFolder = None,
    benchmark_dir: BenchmarkDir = None,
    phase: Annotated[str, typer.Option(metavar="PHASE", help="all, skill, rollouts or golden.")] = "all",
    min_anchor_facts: Annotated[
        int, typer.Option("--min-anchor-facts", metavar="N", help="How many facts a golden report needs.")
    ] = 8,
    as_json: Annotated[bool, typer.Option("--json", help="Print every check as JSON.")] = False,
) -> None:
    """Check skill, rollouts and golden reports of a package, in form and against each other; exit 1 if a check fails.

    Example: blade package validate --benchmark-dir benchmarks/evalplus --phase all
    """
    import json

    from blade.package.layout import find_package
    from blade.package.validate import validate as check

    found = check(find_package(given_folder(folder, benchmark_dir)), phase, min_anchor_facts)
    if as_json:
        print(json.dumps(_as_json(found), ensure_ascii=False))
    else:
        show(_lines(found))
    raise typer.Exit(0 if found.passed else 1)


def _lines(found: Validation) -> list[str]:
    from blade.package.validate import check_lines

    lines = [line for check in found.checks for line in check_lines(check)]
    if found.items:
        lines += ["", "Readiness checklist:"]
    for item in found.items:
        lines.append(f"  [{'x' if item.done else ' '}] {item.text} ({item.held} of {item.of} checks)")
        lines += [f"      open: {', '.join(item.open)}"] if item.open else []
    return [*lines, *([""] if found.items else []), f"Summary: {found.held}/{len(found.decided)} checks passed"]


def _as_json(found: Validation) -> dict[str, Any]:
    from msgspec.structs import asdict

    from blade.package.validate import check_json

    return {
        "phase": found.phase,
        "passed": found.passed,
        "summary": {"passed": found.held, "checks": len(found.decided)},
        "checks": [check_json(check) for check in sorted(found.checks, key=lambda one: one.passed is not False)],
        "readiness": [asdict(item) for item in found.items],
    }
