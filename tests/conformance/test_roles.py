"""Roles of fields against a table made by hand, where real runs are at hand: what is right of what is said, and of what there is.

`pytest -s` prints the figures.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

from blade.ingest.artifacts import find
from blade.ingest.roles.learn import learn_roles
from blade.ingest.roles.sample import sample_rows
from conformance.facts import DATA
from conformance.role_table import TRUTH

LEAST = 0.95
DEFINED = ("response.", "responses_create_params.", "_ng_", "agent_ref", "reward")
"""Fields that NeMo Gym defines: no content is asked what they are."""


def compared(pattern: str) -> Iterator[tuple[str, str, str | None, str | None]]:
    """Run, field, role by the table and role that was found, of every field that has either."""
    truth = {path: role for role, paths in TRUTH[pattern].items() for path in paths}
    for place in sorted(DATA.glob(pattern)):
        bundle = find([str(place)]).bundles[0]
        for field in learn_roles(sample_rows(bundle.path, bundle.format)).fields:
            own = not field.path.startswith(DEFINED) or field.path in truth
            if own and (field.role or field.path in truth):
                yield place.name, field.path, truth.get(field.path), field.role


def runs_without_a_table() -> set[str]:
    """Files and folders of runs that no pattern names; labels are no run."""
    listed = {place for pattern in TRUTH for place in DATA.glob(pattern)}
    groups = [place for place in DATA.iterdir() if place.is_dir() and place.name != "labels"]
    every = {place for group in groups for place in (group, *group.iterdir())}
    inside = {place for place in every if place in listed or place.parent in listed}
    left = {place for place in every - inside if not any(one.is_relative_to(place) for one in listed)}
    return {place.name for place in left}


@pytest.mark.skipif(
    not DATA.is_dir(), reason="the public reference files are not beside the repository (../shared/data)"
)
def test_roles_of_real_runs_are_right() -> None:
    right, said, there = Counter[str](), Counter[str](), Counter[str]()
    wrong = []
    for pattern in TRUTH:
        for run, path, wanted, given in compared(pattern):
            said[given or ""] += 1
            there[wanted or ""] += 1
            right[given or ""] += given == wanted
            wrong += [(run, path, wanted, given)] if given != wanted else []
    roles = sorted({*said, *there} - {""})
    for role in roles:
        print(f"{role:18} precision {right[role]:3} of {said[role]:3}, recall {right[role]:3} of {there[role]:3}")
    total, saying, wanting = (sum(counts[role] for role in roles) for counts in (right, said, there))
    print(f"{'all':18} precision {total:3} of {saying:3}, recall {total:3} of {wanting:3}")
    print(*wrong, sep="\n")
    assert total >= LEAST * saying, wrong
    assert total >= LEAST * wanting, wrong


@pytest.mark.skipif(
    not DATA.is_dir(), reason="the public reference files are not beside the repository (../shared/data)"
)
def test_every_run_is_in_the_table() -> None:
    assert runs_without_a_table() <= {"tavily_search", "log_formats.eval", "log_formats.json"}
