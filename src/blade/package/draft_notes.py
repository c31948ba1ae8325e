"""First notes on the runs of a package, and the clearance of their data that somebody has to give."""

from __future__ import annotations

from collections.abc import Sequence

from blade.model.run import Run
from blade.report.text import code, safe, table

SAMPLING = ("temperature", "top_p", "max_output_tokens", "seed")


def clearance_text() -> str:
    """A clearance that is not given yet."""
    return "\n".join(
        [
            "# Clearance of the rollout data",
            "",
            "OPEN: ask who owns this data whether it may be shared, then write yes and the licence, a line each.",
            "",
            "cleared: no",
            "licence:",
            "",
        ]
    )


def notes_text(runs: Sequence[tuple[str, Run]]) -> str:
    """Model, agent, repeats, sampling and files of each run, by the file that holds it."""
    lines = ["# Run notes", "", "What made the files in this folder, as the artifacts record it.", ""]
    for file, run in runs:
        repeats = sorted({int(count) for count in run.tasks["repeats_expected"].drop_nulls()})
        sampling = [f"{name} {run.settings[name]}" for name in SAMPLING if name in run.settings]
        lines += [f"## {safe(run.name)}", ""]
        lines += [f"- Rollouts: {code(file)}"]
        lines += [f"- Model: {safe(run.model)}" if run.model else "- Model: OPEN: model name or checkpoint reference"]
        lines += [f"- Agent: {safe(run.agent)}"] if run.agent else []
        lines += [f"- Repeats a task: {', '.join(map(str, repeats)) or 'not known'}"]
        lines += [f"- Sampling settings: {safe(', '.join(sampling))}" if sampling else _NO_SAMPLING, ""]
        lines += table(["file", "taken as"], [[code(one.path), one.role] for one in run.artifacts])
    return "\n".join(lines).rstrip("\n") + "\n"


_NO_SAMPLING = "- Sampling settings: OPEN: temperature and limits are not in the rows; write them here"
