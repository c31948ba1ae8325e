"""The few special functions that the numbers need: Student's quantile, and logarithms of binomial coefficients.

A library of special functions takes longer to import than most runs take to be measured.
"""

from __future__ import annotations

from functools import lru_cache
from math import atan, cos, exp, lgamma, log, log1p, pi, sin, sqrt
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

MANY = 400
"""Degrees of freedom from which the expansion about the normal quantile is good to twelve digits."""
_STEPS = 50
"""More than any start needs: each step doubles the digits that are right."""


@lru_cache(maxsize=4096)
def student_quantile(degrees: int, p: float) -> float:
    """The value that Student's t with whole `degrees` of freedom stays below with chance `p`, which lies inside (0, 1).

    To twelve digits: further ones may differ from machine to machine, and the numbers that rest on them with them.
    """
    if p < 0.5:
        return -student_quantile(degrees, 1 - p)
    value = _expanded(degrees, NormalDist().inv_cdf(p))
    return float(f"{value if degrees >= MANY else _refined(degrees, p, value):.12g}")


def _refined(degrees: int, p: float, value: float) -> float:
    """Newton's steps from a value that is nearly right."""
    for _ in range(_STEPS):
        step = (_within(degrees, value) - (2 * p - 1)) / (2 * _density(degrees, value))
        # From above the distance shrinks at once; a start that is too low may overshoot, but never beyond zero.
        value = max(value - step, value / 2)
        if abs(step) <= 1e-15 * abs(value):
            break
    return value


def _expanded(degrees: int, z: float) -> float:
    """Abramowitz and Stegun 26.7.5: powers of one over the degrees of freedom."""
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    powers = (term / float(degrees) ** power for power, term in enumerate(terms, start=1))
    return z + sum(powers)


def _within(degrees: int, value: float) -> float:
    """The chance that t lies between -value and value: Abramowitz and Stegun 26.7.3 and 26.7.4."""
    angle = atan(value / sqrt(degrees))
    squared, odd = cos(angle) ** 2, degrees % 2 == 1
    term = cos(angle) if odd else 1.0
    total = 0.0 if degrees == 1 else term
    for number in range(3 if odd else 2, degrees - 1, 2):
        term *= squared * (number - 1) / number
        total += term
    return 2 / pi * (angle + sin(angle) * total) if odd else sin(angle) * total


def _density(degrees: int, value: float) -> float:
    height = lgamma((degrees + 1) / 2) - lgamma(degrees / 2) - log(degrees * pi) / 2
    return exp(height - (degrees + 1) / 2 * log1p(value**2 / degrees))


def log_choose(n: int, k: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """Logarithms of the numbers of ways to choose `k` of `n`."""
    return np.array([lgamma(n + 1) - lgamma(one + 1) - lgamma(n - one + 1) for one in k.tolist()], dtype=np.float64)
