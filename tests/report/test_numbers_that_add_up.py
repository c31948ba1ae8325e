"""Rounded terms add up to the rounded total."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blade.report.numbers import adding_up


@settings(max_examples=200, deadline=None)
@given(st.lists(st.floats(-1, 1), min_size=1, max_size=9))
def test_rounded_points_add_up(points: list[float]) -> None:
    found = adding_up(points, sum(points), 3)
    assert sum(found) == pytest.approx(round(sum(points), 3), abs=1e-9)
    assert all(abs(a - b) < 0.0011 for a, b in zip(found, points, strict=True))
