"""A package of the example benchmark, made once for all tests."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from blade.package.draft import draft_package
from blade.package.layout import find_package
from blade.package.rollouts import PackageRollouts
from packages import RUNS, finish


@pytest.fixture(scope="session")
def drafted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The draft as `init` leaves it."""
    folder = tmp_path_factory.mktemp("drafted") / "desk"
    draft_package("desk", list(map(str, RUNS)), folder)
    return folder


@pytest.fixture(scope="session")
def finished(drafted: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A package to which nothing is lacking."""
    folder = tmp_path_factory.mktemp("finished") / "desk"
    shutil.copytree(drafted, folder)
    finish(folder)
    return folder


@pytest.fixture(scope="session")
def data(finished: Path) -> PackageRollouts:
    """The rollouts of the finished package, read once."""
    return PackageRollouts(find_package(finished))


@pytest.fixture
def copy(finished: Path, tmp_path: Path) -> Path:
    """The finished package to change at will."""
    folder = tmp_path / "desk"
    shutil.copytree(finished, folder)
    return folder
