"""Analyses of one benchmark in the order given: scores, real changes, modes that came and went."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from blade.attribution.failure_table import partition
from blade.comparison.compare import load_one
from blade.comparison.scores import expected_change, floor_of, headline_of, limits
from blade.comparison.values import ComparisonVerdict, Limits
from blade.model.options import Options
from blade.model.run import Run
from blade.report import numbers
from blade.report.numbers import POINTS
from blade.report.text import code, safe, table
from blade.stats.counts import count
from blade.stats.headline import headline
from blade.stats.rollout_index import index_rollouts
from blade.stats.scores import all_expected_score
from blade.stats.task_matching import same_tasks

FEWEST = 2
"""Rollouts that a mode needs before its coming or going is listed."""
WIDTH = 30
"""Signs of a bar that stands for a score of 1."""


class SincePrevious(Struct, frozen=True, kw_only=True):
    """The change of the score since the analysis before."""

    verdict: ComparisonVerdict
    delta: float | None
    p_value: float | None
    shared_tasks: int


class HistoryEntry(Struct, frozen=True, kw_only=True):
    """One analysis, and what changed since the one before."""

    analysis: str
    """The folder, as it was given."""
    run: str
    metric: str
    score: float | None
    """All expected rollouts."""
    ci: Limits | None
    n_tasks: int
    since: SincePrevious | None
    """None for the first."""
    new_modes: tuple[str, ...]
    gone_modes: tuple[str, ...]


HistoryDocument = tuple[HistoryEntry, ...]
"""The content of history.json."""


def history(inputs: Sequence[str], margin: float) -> HistoryDocument:
    """The runs of the inputs in the order given, each against the one before."""
    entries: list[HistoryEntry] = []
    before: tuple[Run, dict[str, tuple[str, int]]] | None = None
    for path, run in [(path, load_one(path, Options())) for path in inputs]:
        metric = headline(run)[0]
        score = all_expected_score(run, count(run), metric)
        modes = {mode.id: (mode.name, mode.rollouts) for mode in partition(index_rollouts(run)).modes}
        entry = HistoryEntry(
            analysis=path,
            run=run.name,
            metric=metric,
            score=score.value,
            ci=limits(score.interval),
            n_tasks=score.n_tasks,
            since=_since((before[0], run), margin) if before else None,
            new_modes=_only_here(modes, before[1]) if before else (),
            gone_modes=_only_here(before[1], modes) if before else (),
        )
        entries.append(entry)
        before = (run, modes)
    return tuple(entries)


def _since(runs: tuple[Run, Run], margin: float) -> SincePrevious:
    kind = headline_of(runs)
    same = same_tasks(runs[0].tasks, runs[1].tasks)
    change = expected_change(runs, same, kind, floor_of(runs, kind), margin)
    return SincePrevious(verdict=change.verdict, delta=change.delta, p_value=change.p_value, shared_tasks=change.n)


def _only_here(here: dict[str, tuple[str, int]], there: dict[str, tuple[str, int]]) -> tuple[str, ...]:
    """Modes that only one side has, with their rollouts."""
    return tuple(f"{name} ({times})" for id_, (name, times) in here.items() if id_ not in there and times >= FEWEST)


def history_report(entries: Sequence[HistoryEntry]) -> str:
    """A table of the scores with a bar each, then what changed."""
    rows = [
        [
            code(one.analysis),
            code(one.run),
            numbers.score(one.score),
            f"{one.ci[0]:.2f} to {one.ci[1]:.2f}" if one.ci is not None else "-",
            "█" * round(max(0.0, one.score) * WIDTH) if one.score is not None and one.metric == "pass_at_1" else "",
            _since_text(one.since),
            str(one.n_tasks),
        ]
        for one in entries
    ]
    lines = ["# History", "", "All expected rollouts; each line is set against the one before.", ""]
    lines += table(["analysis", "run", "score", "95 %", "", "since the one before", "tasks"], rows, most=200)
    for one in entries:
        changes = (("new", one.new_modes), ("gone", one.gone_modes))
        lines += [f"- {safe(one.analysis)}: {what}: {safe('; '.join(modes))}." for what, modes in changes if modes]
    return "\n".join(lines).rstrip("\n") + "\n"


def _since_text(since: SincePrevious | None) -> str:
    if since is None:
        return "-"
    return f"{since.verdict} {since.delta * POINTS:+.1f} points" if since.delta is not None else str(since.verdict)
