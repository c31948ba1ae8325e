"""Files of benchmarks and resources servers are loaded with their neighbors, and an error names the line that it came from."""

from __future__ import annotations

from pathlib import Path

import pytest

from blade.model.errors import RequestError
from blade_gym.loading import import_file, load_file, where_raised
from gym_shelf import write

APP = "from .rules import LIMIT, check\nfrom .parts.inner import NAME\n"


def server(root: Path, rules: str) -> Path:
    home = "resources_servers/quiz"
    write(root, {f"{home}/app.py": APP, f"{home}/rules.py": rules, f"{home}/parts/inner.py": 'NAME = "inner"\n'})
    return root / home / "app.py"


def test_neighbors_are_imported_by_their_place_and_leave_nothing_behind(tmp_path: Path) -> None:
    path = server(tmp_path, "LIMIT = 3\ndef check(): ...\n")
    module = load_file(path)
    assert (module.LIMIT, module.NAME) == (3, "inner")
    assert not list(tmp_path.rglob("__pycache__"))


def test_folders_of_one_name_in_two_roots_are_two_packages(tmp_path: Path) -> None:
    mine, shipped = (
        server(tmp_path / root, f"LIMIT = {limit}\ndef check(): ...\n") for root, limit in (("a", 1), ("b", 2))
    )
    first, second = load_file(mine), load_file(shipped)
    assert (first.LIMIT, second.LIMIT) == (1, 2)
    assert first.check.__module__ != second.check.__module__


def test_a_neighbor_that_changed_is_read_anew(tmp_path: Path) -> None:
    assert load_file(server(tmp_path, "LIMIT = 1\ndef check(): ...\n")).LIMIT == 1
    assert load_file(server(tmp_path, "LIMIT = 22\ndef check(): ...\n")).LIMIT == 22


@pytest.mark.parametrize("rules", ["LIMIT = 1\n1 / 0\n", "LIMIT = 1\nif:\n"])
def test_an_error_of_a_neighbor_names_its_line(tmp_path: Path, rules: str) -> None:
    with pytest.raises(RequestError, match=r"rules\.py:2: "):
        load_file(server(tmp_path, rules))


def test_an_error_that_is_raised_later_is_found_in_the_neighbor_too(tmp_path: Path) -> None:
    path = server(tmp_path, "LIMIT = 1\ndef check():\n    raise KeyError('answer')\n")
    with pytest.raises(KeyError) as caught:
        import_file(path).check()
    assert where_raised(caught.value, path) == f"{path.with_name('rules.py')}:3"
