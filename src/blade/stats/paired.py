"""Two runs on the same tasks: how far apart they are, and whether chance alone would do as much.

The task is the unit. If the runs do not differ, the difference of a task is as likely to be +d as -d; the test asks
how often flipping those signs gives a total as large as the one seen. Tasks on which one run happens to be better
and the other worse are allowed for, which a pooled z test and a shuffle of rollouts within tasks are not.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import erfc, gcd, lcm, sqrt

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from blade.model.measure import Interval
from blade.stats.intervals import NO_SPREAD, ROUGH_BELOW, mean_interval
from blade.stats.variance import minimum_detectable_effect

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

EXACT_TASKS = 800
"""With more non-zero differences than this the normal tail is as good as the exact one."""
EXACT_SUPPORT = 200_000
"""The most totals that an exact distribution may have; repeats of many different numbers can ask for more."""
ENUMERATED_TASKS = 20
"""Real-valued differences are enumerated up to this many that are not zero: half a million sign patterns."""

EXACT = "sign-flip over tasks, exact by convolution"
ENUMERATED = "sign-flip over tasks, exact by enumeration"
NORMAL = "sign-flip over tasks, normal tail"
ALL_EQUAL = "sign-flip over tasks, all differences are zero"


class Paired(Struct, frozen=True, kw_only=True):
    """Candidate minus baseline over shared tasks; what is None has its reason in `reason`."""

    delta: float | None
    """Mean difference of task scores; None without a shared task."""
    interval: Interval | None
    """95 % limits of `delta`; None below two tasks."""
    interval90: Interval | None
    """90 % limits: two runs are equivalent when these lie inside the margin."""
    p_value: float | None
    """Two-sided."""
    method: str
    """How `p_value` was found: exact by convolution, exact by enumeration, or a normal tail."""
    n: int
    """Shared tasks, those without a difference included."""
    mde: float | None
    """The smallest true difference that tasks spread like these find four times in five."""
    equivalence_bound: float | None
    """A difference beyond plus or minus this is ruled out: the farther of the 90 % limits."""
    reason: str | None = None


def compare_counts(
    baseline_passed: npt.ArrayLike,
    baseline_expected: npt.ArrayLike,
    candidate_passed: npt.ArrayLike,
    candidate_expected: npt.ArrayLike,
) -> Paired:
    """Compare pass rates; each array has one count a shared task, in the same order, and every expected is positive.

    The two runs may differ in repeats, and tasks may too. The p-value is exact up to 800 tasks that differ.
    """
    before, before_of = np.asarray(baseline_passed, np.int64), np.asarray(baseline_expected, np.int64)
    after, after_of = np.asarray(candidate_passed, np.int64), np.asarray(candidate_expected, np.int64)
    if np.any(before_of < 1) or np.any(after_of < 1):
        raise ValueError("every shared task needs at least one expected rollout in both runs")
    differences = after / after_of - before / before_of
    p_value, method = _test(differences, _whole_differences(before, before_of, after, after_of))
    return _paired(differences, 1.0, p_value, method)


def compare_rewards(baseline: npt.ArrayLike, candidate: npt.ArrayLike, *, span: float) -> Paired:
    """Compare mean rewards of shared tasks, given in the same order.

    `span` is the highest reward less the lowest that a rollout can get; limits never reach beyond it. The p-value is
    exact up to 20 tasks that differ.
    """
    differences = np.asarray(candidate, np.float64) - np.asarray(baseline, np.float64)
    p_value, method = _test(differences, None)
    return _paired(differences, span, p_value, method)


def no_spread_limit(n: int) -> float:
    """The largest share of tasks that may behave otherwise when n of n behaved alike: 1 - 0.05^(1/n)."""
    return float(1 - 0.05 ** (1 / n))


def sign_flip_exact(differences: npt.ArrayLike) -> float:
    """Two-sided p of whole differences, from the distribution of their total under all sign patterns."""
    sizes = np.abs(np.asarray(differences, np.int64))
    sizes = sizes[sizes > 0]
    if len(sizes) == 0:
        return 1.0
    total, seen = int(sizes.sum()), abs(int(np.sum(np.asarray(differences, np.int64))))
    chances = _subset_sums(sizes)
    totals = np.abs(2 * np.arange(total + 1) - total)
    return as_probability(float(chances[totals >= seen].sum()))


def sign_flip_enumerated(differences: npt.ArrayLike) -> float:
    """Two-sided p of at most 20 differences of any size; sums that rounding alone tells apart count as equal."""
    numbers = np.asarray(differences, np.float64)
    sums = np.abs(numbers[:1])
    for size in np.abs(numbers[1:]):
        sums = np.concatenate((sums + size, sums - size))
    slack = 1e-9 * float(np.abs(numbers).sum())
    return float(np.mean(np.abs(sums) >= abs(float(numbers.sum())) - slack))


def sign_flip_normal(differences: npt.ArrayLike, half_step: float = 0.0) -> float:
    """Two-sided p from the normal tail, with the variance that flipping signs has.

    Totals of whole differences lie 2 apart; `half_step` = 1 then counts the total that was seen in full.
    """
    numbers = np.asarray(differences, np.float64)
    distance = max(0.0, abs(float(numbers.sum())) - half_step)
    return as_probability(erfc(distance / sqrt(2 * float(np.sum(numbers**2)))))


def _test(differences: Floats, whole: Integers | None) -> tuple[float, str]:
    moved = differences[np.abs(differences) > NO_SPREAD]
    if len(moved) == 0:
        return 1.0, ALL_EQUAL
    if whole is not None and len(moved) <= EXACT_TASKS and int(np.abs(whole).sum()) <= EXACT_SUPPORT:
        return sign_flip_exact(whole), EXACT
    if len(moved) <= ENUMERATED_TASKS:
        return sign_flip_enumerated(moved), ENUMERATED
    return sign_flip_normal(moved) if whole is None else sign_flip_normal(whole, half_step=1.0), NORMAL


def _whole_differences(before: Integers, before_of: Integers, after: Integers, after_of: Integers) -> Integers | None:
    """Differences times their common denominator, in lowest terms; None where that denominator is out of reach."""
    common = _common_multiple(np.concatenate((before_of, after_of)).tolist())
    if common is None:
        return None
    whole = after * (common // after_of) - before * (common // before_of)
    return whole // max(1, gcd(*whole.tolist()))


def _common_multiple(denominators: Iterable[int]) -> int | None:
    common = 1
    for denominator in set(denominators):
        common = lcm(common, denominator)
        if common > 10**9:
            return None
    return common


def _subset_sums(sizes: Integers) -> Floats:
    """Chances of each total when every size is taken or left with chance 1/2: the sign-flip total, moved and halved."""
    chances = np.zeros(int(sizes.sum()) + 1, dtype=np.float64)
    chances[0] = 1.0
    reached = 0
    for size in np.sort(sizes).tolist():
        taken = chances[: reached + 1] / 2
        chances[: reached + 1] = taken
        chances[size : size + reached + 1] += taken
        reached += size
    return chances


def as_probability(p_value: float) -> float:
    """Within (0, 1]: rounding neither lifts a chance above 1 nor makes it impossible."""
    return min(1.0, max(float(p_value), float(np.finfo(np.float64).tiny)))


def _paired(differences: Floats, span: float, p_value: float, method: str) -> Paired:
    n = len(differences)
    if n < 2:
        return _thin(differences, method)
    spread = float(differences.std(ddof=1)) if np.ptp(differences) > NO_SPREAD else None
    wide, narrow = _limits(differences, span, 0.95), _limits(differences, span, 0.90)
    return Paired(
        delta=float(differences.mean()),
        interval=wide,
        interval90=narrow,
        p_value=p_value,
        method=method,
        n=n,
        mde=None if spread is None else minimum_detectable_effect(spread / sqrt(n)),
        equivalence_bound=max(abs(narrow.low), abs(narrow.high)),
        reason="all differences are equal, so their spread is not known" if spread is None else None,
    )


def _thin(differences: Floats, method: str) -> Paired:
    n = len(differences)
    return Paired(
        delta=float(differences[0]) if n else None,
        interval=None,
        interval90=None,
        p_value=1.0 if n else None,
        method=method,
        n=n,
        mde=None,
        equivalence_bound=None,
        reason="one shared task: no spread over tasks" if n else "no shared task",
    )


def _limits(differences: Floats, span: float, level: float) -> Interval:
    """t limits; where all differences are equal, what a share `no_spread_limit` of other tasks could make of them."""
    found = mean_interval(differences, level) or _no_spread(differences, span, level)
    return Interval(
        low=max(found.low, -span),
        high=min(found.high, span),
        level=level,
        method=found.method,
        n=found.n,
        rough=found.rough,
    )


def _no_spread(differences: Floats, span: float, level: float) -> Interval:
    # A 95 % bound on the share of tasks that differ bounds the mean on both sides; it is kept for the 90 % limits.
    n, mean = len(differences), float(differences.mean())
    share = no_spread_limit(n)
    return Interval(
        low=mean - share * (span + mean),
        high=mean + share * (span - mean),
        level=level,
        method="all tasks agree: 1 - 0.05^(1/n)",
        n=n,
        rough=n < ROUGH_BELOW,
    )
