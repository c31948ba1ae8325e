"""`blade package score`: how much of what the golden report found does a report find?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from blade.cli.console import show
from blade.cli.options import AuditedRuns, MoreRuns


def score(
    report: Annotated[Path, typer.Option(metavar="FILE", help="The report to score.")],
    golden: Annotated[Path, typer.Option(metavar="FILE", help="The golden report.")],
    anchor_facts: Annotated[Path, typer.Option(metavar="FILE", help="Its anchor facts.")],
    output_dir: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Where reward.json goes. Default: score-runs/ and the time in UTC."),
    ] = None,
    runs: AuditedRuns = None,
    more: MoreRuns = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print reward.json.")] = False,
) -> None:
    """Score a report by the claims it shares with a golden one and its facts; exit 0 whatever the score.

    Example: blade package score --report out/report.md --golden a_golden_report.md --anchor-facts a_anchor_facts.json
    """
    from blade.cli.package.runs import auditor, stamped
    from blade.files import replacing
    from blade.package.anchor_facts import read_facts
    from blade.package.documents import read_report
    from blade.package.judge.score import as_text, judge_against, reward, reward_lines

    given = [*(runs or ()), *(more or ())]
    known = read_facts(anchor_facts)
    text = read_report(report, "report")
    made = judge_against(read_report(golden, "golden report"), known.facts).score(text, auditor(given, report)(text))
    place = (output_dir or stamped("score-runs")) / "reward.json"
    written = as_text(reward(made, known.problems))
    with replacing(place) as file:
        file.write(written.encode())
    if as_json:
        print(written, end="")
        return
    show([*reward_lines(made), *(f"problem: {one}" for one in known.problems), f"written: {place}"])
