"""`blade package extract-anchor-facts`: draft the facts that a good report must contain."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def extract_anchor_facts(
    golden: Annotated[Path, typer.Option(metavar="FILE", help="The golden report.")],
    output: Annotated[Path, typer.Option(metavar="FILE", help="Where the facts go.")],
    benchmark: Annotated[str, typer.Option(metavar="NAME", help="Name of the benchmark.")],
    model_name: Annotated[str, typer.Option(metavar="NAME", help="The model that the report is about.")],
    num_facts: Annotated[int, typer.Option(min=1, help="How many facts at most.")] = 12,
    min_facts: Annotated[int, typer.Option(min=0, help="Exit 1 when fewer can be drafted.")] = 8,
) -> None:
    """Draft anchor facts from a golden report: the sentences with most evidence, as claims; a person reviews them.

    Example: blade package extract-anchor-facts --golden golden_reports/a_golden_report.md --benchmark airline --model-name a --output golden_reports/a_anchor_facts.json
    """
    from blade.files import replacing
    from blade.package.anchor_facts import facts_text
    from blade.package.documents import read_report
    from blade.package.extract_facts import extract

    facts = extract(read_report(golden, "golden report"), num_facts, model_name)
    aggregate = sum(fact.aggregate_only for fact in facts)
    if len(facts) < min_facts:
        print(
            f"{len(facts)} facts could be drafted, fewer than {min_facts}: {golden} has too few sentences that name a task,"
            " a place, a quotation or a number; nothing was written"
        )
        raise typer.Exit(1)
    with replacing(output) as file:
        file.write(facts_text(benchmark, model_name, facts).encode())
    print(f"{len(facts)} drafts in {output}, {aggregate} of them from the metrics alone.")
    print('Review each: remove what is weak, then set its "status" to "reviewed".')
