"""Options of the test run."""

from __future__ import annotations

import os

import pytest
from hypothesis import settings

# The same examples on every machine: a suite that passes passes everywhere. HYPOTHESIS_EXPLORE=1 looks for new ones.
settings.register_profile("same", derandomize=True, deadline=None)
settings.load_profile("default" if os.environ.get("HYPOTHESIS_EXPLORE") else "same")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--rewrite-golden", action="store_true", help="write the golden files anew; review the diff")


@pytest.fixture
def rewrite_golden(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--rewrite-golden"))
