"""Where the spread of task scores comes from, and how large a run must be to see an effect.

`within` is noise that more repeats remove; `between` is what makes tasks easier or harder, and only more tasks
average it out. The planner turns both into the smallest effect that a comparison of two runs can show.
"""

from __future__ import annotations

from math import ceil, sqrt

import numpy as np
import numpy.typing as npt

from blade.model.analysis import Variance
from blade.stats.intervals import NO_SPREAD

Floats = npt.NDArray[np.float64]

MDE_FACTOR = 2.80
"""1.96 + 0.84: a two-sided 5 % test finds an effect of this many standard errors in 80 % of comparisons."""


def pass_variance(judged: npt.ArrayLike, passed: npt.ArrayLike) -> Variance:
    """Variance of task pass rates c/J, over the tasks with a judged rollout; see `Variance` for the parts.

    `se_new_tasks` answers "what if other tasks of this kind were drawn", `se_same_tasks` "what if the same tasks
    were run again with as many repeats". What cannot be had is None, and `reason` says why.
    """
    totals, passes = np.asarray(judged, dtype=np.float64), np.asarray(passed, dtype=np.float64)
    seen, repeated = totals > 0, totals >= 2
    rates = passes[repeated] / totals[repeated]
    return _parts(passes[seen] / totals[seen], rates * (1 - rates) / (totals[repeated] - 1))


def reward_variance(tasks: npt.ArrayLike, rewards: npt.ArrayLike) -> Variance:
    """The same parts for rewards of any kind: `tasks` names the task of each finite reward, in the same order.

    Rewards of 0 and 1 give what `pass_variance` gives.
    """
    numbers = np.asarray(rewards, dtype=np.float64)
    _, index = np.unique(np.asarray(tasks), return_inverse=True)
    totals = np.bincount(index)
    means = np.bincount(index, weights=numbers) / totals
    squares = np.bincount(index, weights=(numbers - means[index]) ** 2)
    repeated = totals >= 2
    return _parts(means, squares[repeated] / (totals[repeated] * (totals[repeated] - 1)))


def interaction_variance(difference_variance: float, within: float) -> float:
    """V: how much the true difference of two runs varies from task to task, which no repeat can average out.

    `difference_variance` is the sample variance of the paired task differences and `within` the mean W of the two
    runs; what 2W of noise does not explain is V, never below 0.
    """
    return max(0.0, difference_variance - 2 * within)


def paired_se(*, within: float, measured_repeats: int, interaction: float, repeats: int, tasks: int) -> float:
    """Standard error of the paired difference of two runs at `repeats` on `tasks`: sqrt((2kW/r + V) / n).

    W (`within`) is the variance of a task's *mean* over the k = `measured_repeats` that it was measured at, so kW is
    the variance of a single rollout and kW/r that of a mean over r. V (`interaction`) comes from
    `interaction_variance`; 0 where no second run was seen, and then the answer is the least it can be.
    """
    return sqrt((2 * measured_repeats * within / repeats + interaction) / tasks)


def minimum_detectable_effect(se: float) -> float:
    """The smallest true difference that a comparison with this standard error finds four times in five."""
    return MDE_FACTOR * se


def tasks_needed(effect: float, *, within: float, measured_repeats: int, interaction: float, repeats: int) -> int:
    """The fewest tasks on which `effect` (above 0) is detectable at `repeats`; at least 2."""
    one_task = paired_se(
        within=within, measured_repeats=measured_repeats, interaction=interaction, repeats=repeats, tasks=1
    )
    return max(2, _round_up((minimum_detectable_effect(one_task) / effect) ** 2))


def repeats_needed(
    effect: float, *, within: float, measured_repeats: int, interaction: float, tasks: int
) -> int | None:
    """The fewest repeats at which `effect` (above 0) is detectable on `tasks`; None where no number of them is enough.

    None means that V alone hides the effect: only more tasks can show it.
    """
    room = tasks * (effect / MDE_FACTOR) ** 2 - interaction
    if room <= 0:
        return None
    return max(1, _round_up(2 * measured_repeats * within / room))


def _round_up(number: float) -> int:
    """Ceiling that forgives the last bits, so that planning for exactly the effect a plan has returns the plan."""
    return ceil(number * (1 - 1e-9))


def _parts(scores: Floats, within: Floats) -> Variance:
    total = _sample_variance(scores)
    noise = float(within.mean()) if len(within) else None
    between = max(0.0, total - noise) if total is not None and noise is not None else None
    return Variance(
        total=total,
        within=noise,
        between=between,
        reliability=between / total if between is not None and total else None,
        se_new_tasks=None if total is None else sqrt(total / len(scores)),
        se_same_tasks=None if noise is None else sqrt(noise / len(scores)),
        reason=_why_not(total, noise),
    )


def _sample_variance(scores: Floats) -> float | None:
    if len(scores) < 2:
        return None
    return float(scores.var(ddof=1)) if np.ptp(scores) > NO_SPREAD else 0.0


def _why_not(total: float | None, within: float | None) -> str | None:
    if total is None:
        return "fewer than two tasks have a score"
    if within is None:
        return "no task has two repeats, so noise within a task cannot be seen"
    return "all tasks have the same score, so there is nothing to be reliable about" if total == 0 else None
