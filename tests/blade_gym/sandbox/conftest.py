"""Every sandbox test runs once behind bubblewrap and once behind namespaces alone."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from blade_gym.sandbox import programs, walls


@pytest.fixture(params=walls.KINDS)
def kind(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Each kind of isolation that this machine has."""
    if not walls.works(request.param):
        if os.environ.get("BLADE_REQUIRE_SANDBOX"):
            pytest.fail(f"this machine has no {request.param}; {walls.HOW_TO_GET_ONE}")
        pytest.skip(f"this machine has no {request.param}; {walls.HOW_TO_GET_ONE}")
    programs._JUDGES.close()
    monkeypatch.setattr(walls, "available", lambda: request.param)
    yield request.param
    programs._JUDGES.close()
