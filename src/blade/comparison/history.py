"""Analyses of one benchmark in the order given: scores, real changes, modes that came and went."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from blade.attribution.modes import partition
from blade.comparison.change import expected_change, floor_of, headline_of
from blade.comparison.history_values import Entry
from blade.comparison.values import Change
from blade.model.run import Run
from blade.stats.counts import count
from blade.stats.headline import headline
from blade.stats.rollout_index import index_rollouts
from blade.stats.scores import all_expected_score
from blade.stats.task_matching import same_tasks

FEWEST = 2
"""Rollouts that a mode needs before its coming or going is told."""


def history(runs: Sequence[tuple[str, Run]], margin: float) -> tuple[Entry, ...]:
    """An entry a run, each against the one before; `runs` come with the folder they were read from."""
    kinds = [headline(run)[0] for _, run in runs]
    modes = [_modes(run) for _, run in runs]
    changes: list[Change | None] = [None, *(_since((a, b), margin) for (_, a), (_, b) in pairwise(runs))]
    before = [{}, *modes[:-1]] if runs else []
    return tuple(
        Entry(
            source=source,
            run=run.name,
            headline=kind,
            score=all_expected_score(run, count(run), kind),
            since=since,
            new_modes=_named(mine, old) if since is not None else (),
            gone_modes=_named(old, mine) if since is not None else (),
        )
        for (source, run), kind, since, mine, old in zip(runs, kinds, changes, modes, before, strict=True)
    )


def _since(runs: tuple[Run, Run], margin: float) -> Change:
    kind = headline_of(runs)
    return expected_change(runs, same_tasks(runs[0].tasks, runs[1].tasks), kind, floor_of(runs, kind), margin)


def _modes(run: Run) -> dict[str, tuple[str, int]]:
    return {mode.id: (mode.name, mode.rollouts) for mode in partition(index_rollouts(run)).modes}


def _named(here: dict[str, tuple[str, int]], there: dict[str, tuple[str, int]]) -> tuple[str, ...]:
    """Modes that only one side has, with their rollouts."""
    return tuple(f"{name} ({times})" for id_, (name, times) in here.items() if id_ not in there and times >= FEWEST)
