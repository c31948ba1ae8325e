"""How far two raters agree: the share of equal ratings, and Cohen's kappa with the limits of Fleiss, Cohen and Everitt."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import sqrt
from statistics import NormalDist

from blade.model.measure import Interval, Measure
from blade.stats.intervals import ROUGH_BELOW, rate_interval

FEWEST = 2
FEWEST_FOR_LIMITS = 10
"""The standard error is that of large samples: of fewer ratings its limits are far too narrow."""


def agreement_rate(ratings: Sequence[tuple[str, str]], groups: Sequence[str], name: str = "agreement") -> Measure:
    """Share of the pairs of ratings that are equal; `groups` names the task of each, since repeats are alike."""
    if not ratings:
        return Measure(name=name, value=None, n=0, reason="nothing was rated by both")
    equal = [float(one == two) for one, two in ratings]
    interval = rate_interval(equal, len(equal), list(groups))
    return Measure(name=name, value=sum(equal) / len(equal), n=len(equal), interval=interval)


def kappa(ratings: Sequence[tuple[str, str]], name: str = "kappa", level: float = 0.95) -> Measure:
    """Cohen's kappa of pairs of ratings: (observed - chance) / (1 - chance).

    The limits are kappa -+ z times the large-sample standard error of Fleiss, Cohen and Everitt (1969), inside [-1, 1].
    None where both raters used one and the same category throughout: then chance agrees on everything.
    """
    n = len(ratings)
    if n < FEWEST:
        return Measure(name=name, value=None, n=n, reason="fewer than two rollouts were rated by both")
    cells = {pair: times / n for pair, times in sorted(Counter(ratings).items())}
    first, second = _margin(cells, 0), _margin(cells, 1)
    observed = sum(share for (one, two), share in cells.items() if one == two)
    chance = sum(first[one] * second.get(one, 0.0) for one in first)
    if len({*first, *second}) == 1:
        return Measure(name=name, value=None, n=n, reason="both used one category throughout")
    value = (observed - chance) / (1 - chance)
    error = _standard_error(cells, first, second, value, chance, n)
    return Measure(name=name, value=value, n=n, interval=_limits(value, error, n, level))


def _margin(cells: dict[tuple[str, str], float], side: int) -> dict[str, float]:
    found: dict[str, float] = {}
    for pair, share in cells.items():
        found[pair[side]] = found.get(pair[side], 0.0) + share
    return found


def _standard_error(
    cells: dict[tuple[str, str], float],
    first: dict[str, float],
    second: dict[str, float],
    value: float,
    chance: float,
    n: int,
) -> float:
    """Equation 13 of Fleiss, Cohen and Everitt (1969), for weights of 0 and 1."""
    same = sum(
        share * (1 - (first[one] + second[one]) * (1 - value)) ** 2 for (one, two), share in cells.items() if one == two
    )
    other = sum(
        share * (second.get(one, 0.0) + first.get(two, 0.0)) ** 2 for (one, two), share in cells.items() if one != two
    )
    spread = same + (1 - value) ** 2 * other - (value - chance * (1 - value)) ** 2
    return sqrt(max(0.0, spread) / n) / (1 - chance)


def _limits(value: float, error: float, n: int, level: float) -> Interval | None:
    """None of too few, and where all agree: limits without width would claim that no other value can come."""
    if error <= 0 or n < FEWEST_FOR_LIMITS:
        return None
    half = NormalDist().inv_cdf((1 + level) / 2) * error
    return Interval(
        low=max(-1.0, value - half),
        high=min(1.0, value + half),
        level=level,
        method="Fleiss, Cohen and Everitt 1969",
        n=n,
        rough=n < ROUGH_BELOW,
    )
