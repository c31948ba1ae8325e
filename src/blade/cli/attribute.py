"""`blade attribute`: a reader's attribution of a rollout, checked against it and kept."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from blade.cli.console import show
from blade.cli.options import AsJson, RunName, RunPath
from blade.model.errors import RequestError
from blade.model.run import one_run

if TYPE_CHECKING:
    from collections.abc import Mapping

    from blade.readers.record import Recorded


def attribute(
    run: RunPath,
    place: Annotated[str | None, typer.Argument(metavar="[TASK#REPEAT]", help="The rollout, for example 39#1.")] = None,
    mode: Annotated[
        str | None,
        typer.Option(
            metavar="CODE", help="What went wrong: a code of `blade modes`, or unattributed; none: a pass is sound."
        ),
    ] = None,
    party: Annotated[
        str | None, typer.Option(metavar="PARTY", help="Who has to act; as the mode says, where it is left out.")
    ] = None,
    quote: Annotated[
        list[str] | None,
        typer.Option(metavar="TEXT", help="Words of the rollout that show it, word for word. Repeatable."),
    ] = None,
    note: Annotated[str, typer.Option(metavar="TEXT", help="Why, in your words.")] = "",
    reader: Annotated[
        str | None, typer.Option("--as", metavar="NAME", help="Who says so: a person or a model.")
    ] = None,
    confidence: Annotated[
        str, typer.Option(metavar="HOW", help="proven, likely or suspected; suspected explains nothing by itself.")
    ] = "likely",
    subject: Annotated[
        str, typer.Option(metavar="TEXT", help="What it is about: the test, the argument, the path.")
    ] = "",
    define: Annotated[
        tuple[str, str] | None,
        typer.Option(metavar="CODE SENTENCE", help="A mode outside of the catalog, in one sentence; takes --party."),
    ] = None,
    file: Annotated[
        Path | None, typer.Option("--file", metavar="FILE", help="Many at once: one JSON object a line.")
    ] = None,
    remove: Annotated[bool, typer.Option("--remove", help="Take back what this reader said of the rollout.")] = False,
    agreement: Annotated[
        bool, typer.Option("--agreement", help="How far readers, and readers and rules, agree; stores nothing.")
    ] = False,
    as_json: AsJson = False,
    out: Annotated[
        Path | None,
        typer.Option(
            "-o", "--out", metavar="FILE", help="Where to keep it (default: attributions.jsonl beside the run)."
        ),
    ] = None,
    run_name: RunName = None,
) -> None:
    """Say what went wrong in a rollout that you read: quotes are checked at once, and it overrules the rules from then on.

    Example: blade attribute results/rollouts.jsonl 39#1 --mode wrong-argument --quote "row 12" --note "asked for 21" --as ann

    Many at once: blade attribute results/rollouts.jsonl --file notes.jsonl --as ann
    """
    from blade import analysis as pipeline
    from blade.model.options import Options
    from blade.readers.check import worded
    from blade.readers.record import attribution_file, record, rows_in

    if agreement:
        _show_agreement(run, out, run_name, as_json=as_json)
        return
    row: dict[str, Any] = {
        "location": place, "mode": mode, "party": party, "quotes": list(quote or ()), "note": note,
        "confidence": confidence, "subject": subject, "remove": remove,
    }  # fmt: skip
    if define is not None:
        row |= {"define": define[0], "definition": define[1], "mode": mode or (define[0] if place else None)}
    if file is not None and (remove or any((place, mode, quote, note, subject))):
        raise RequestError(
            "one rollout and a file of many are given", hint="what is said of a rollout stands in its row"
        )
    alone: list[tuple[str, Mapping[str, Any] | RequestError]] = [("--define" if file else "", row)]
    rows = alone if file is None else [*(alone if define else []), *rows_in(file)]
    where = attribution_file(run, out)
    loaded = pipeline.load([run], Options(metrics_only=True))
    chosen = one_run(loaded, run, run_name)
    done = record(chosen, rows, where, reader, [each.name for each in loaded if each is not chosen])
    if file is None and done.refused:
        raise done.refused[0][1]
    if as_json:
        sys.stdout.write(_as_json(done, where))
    else:
        show(_said(done, where))
    for line, refusal in done.refused:
        print(f"{line}: {worded(refusal)}", file=sys.stderr)
    if done.refused:
        raise typer.Exit(1)


def _as_json(done: Recorded, where: Path) -> str:
    from blade.files import json_line

    refused = [{"where": at, "message": one.message, "hint": one.hint} for at, one in done.refused]
    counts = {name: getattr(done, name) for name in ("stored", "removed", "defined", "empty", "kept")}
    return json_line({"file": str(where), **counts, "refused": refused}).decode()


def _said(done: Recorded, where: Path) -> list[str]:
    parts = [f"{done.stored} stored" if done.stored else "", f"{done.removed} taken back" if done.removed else ""]
    parts += [f"{done.defined} defined" if done.defined else "", f"{len(done.refused)} refused" if done.refused else ""]
    parts += [f"{done.empty} without a mode left alone" if done.empty else ""]
    told = ", ".join(part for part in parts if part) or "nothing stored"
    return [f"{told}; {where} has {done.kept} attribution{'' if done.kept == 1 else 's'}"]


def _show_agreement(run: str, out: Path | None, run_name: str | None, *, as_json: bool) -> None:
    from blade import analysis as pipeline
    from blade.model.options import Options
    from blade.report import as_json as json_report
    from blade.report.readers import agreement_lines
    from blade.report.terminal import plain_table

    options = Options(attributions=out)
    chosen = one_run(pipeline.load([run], options), run, run_name)
    found = pipeline.analyze([chosen], options).runs[0].readers
    if found is None:
        raise RequestError(
            f"no reader has said anything of {run}", hint="blade attribute RUN TASK#REPEAT --mode CODE ..."
        )
    if as_json:
        sys.stdout.write(json_report.readers_json(found))
    else:
        show(
            plain_table("\n".join([*agreement_lines(found.agreements), *(f"not used: {one}" for one in found.unused)]))
        )
