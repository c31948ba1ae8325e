"""Special functions against printed tables and scipy."""

from __future__ import annotations

from math import comb, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

from blade.stats.special_functions import MANY, log_choose, student_quantile


@pytest.mark.parametrize(
    ("degrees", "p", "printed"),
    [
        (1, 0.975, 12.706),
        (2, 0.975, 4.303),
        (3, 0.95, 2.353),
        (5, 0.975, 2.571),
        (10, 0.995, 3.169),
        (30, 0.975, 2.042),
        (60, 0.9, 1.296),
        (120, 0.9995, 3.373),
        (10**9, 0.975, 1.960),
    ],
)
def test_printed_tables(degrees: int, p: float, printed: float) -> None:
    assert round(student_quantile(degrees, p), 3) == printed
    assert student_quantile(degrees, 1 - p) == pytest.approx(-printed, abs=5e-4)


@given(degrees=st.integers(1, 3 * MANY), p=st.floats(0.51, 0.9999))
def test_quantiles_are_scipys(degrees: int, p: float) -> None:
    assert student_quantile(degrees, p) == pytest.approx(float(special.stdtrit(degrees, p)), rel=1e-9)


def test_two_degrees_of_freedom_by_hand() -> None:
    # F(t) = 1/2 + t / (2 sqrt(2 + t^2)), so that t = (2p - 1) sqrt(2 / (4p (1 - p))).
    assert student_quantile(2, 0.9) == pytest.approx(0.8 * (2 / 0.36) ** 0.5, rel=1e-11)
    assert student_quantile(7, 0.5) == 0


def test_ways_to_choose() -> None:
    assert np.exp(log_choose(5, np.arange(6))) == pytest.approx([1, 5, 10, 10, 5, 1], rel=1e-13)
    assert log_choose(5_000, np.array([1234])) == pytest.approx([log(comb(5_000, 1234))], rel=1e-13)
