"""pass@k and pass^k of each task, from how many of its judged rollouts passed.

pass@k: at least one of k rollouts drawn without replacement passes. pass^k: all k of them do. Both are unbiased for
any J >= k; a task with fewer judged rollouts has neither, and is left out rather than guessed.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from msgspec import Struct


class Contributions(Struct, frozen=True, kw_only=True, eq=False):
    """What each task adds to a mean over tasks."""

    values: npt.NDArray[np.float64]
    """One value in [0, 1] for each task that has enough judged rollouts, in the order of the tasks."""
    counted: npt.NDArray[np.bool_]
    """For every task that was given: whether it is among `values`."""

    @property
    def n(self) -> int:
        """The number of tasks that count."""
        return len(self.values)

    @property
    def mean(self) -> float | None:
        """The measure itself; None where no task has k judged rollouts."""
        return float(self.values.mean()) if self.n else None


def pass_at_k(judged: npt.ArrayLike, passed: npt.ArrayLike, k: int) -> Contributions:
    """1 - C(J - c, k) / C(J, k) of every task with J >= k."""
    totals, passes, counted = _countable(judged, passed, k)
    return Contributions(values=1 - _share_of_draws(totals - passes, totals, k), counted=counted)


def pass_hat_k(judged: npt.ArrayLike, passed: npt.ArrayLike, k: int) -> Contributions:
    """pass^k: C(c, k) / C(J, k) of every task with J >= k."""
    totals, passes, counted = _countable(judged, passed, k)
    return Contributions(values=_share_of_draws(passes, totals, k), counted=counted)


def _countable(
    judged: npt.ArrayLike, passed: npt.ArrayLike, k: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    totals, passes = np.asarray(judged, dtype=np.int64), np.asarray(passed, dtype=np.int64)
    if k < 1:
        raise ValueError(f"k is the number of rollouts drawn, at least 1, not {k}")
    if totals.shape != passes.shape or np.any((passes < 0) | (passes > totals)):
        raise ValueError("each task needs 0 <= passed <= judged")
    counted = totals >= k
    return totals[counted], passes[counted], counted


def _share_of_draws(marked: npt.NDArray[np.int64], totals: npt.NDArray[np.int64], k: int) -> npt.NDArray[np.float64]:
    """C(marked, k) / C(totals, k), as a product of k ratios: no factorial is ever formed, so nothing overflows."""
    share = np.ones(len(totals), dtype=np.float64)
    for drawn in range(k):
        share *= np.maximum(marked - drawn, 0) / (totals - drawn)
    return share
