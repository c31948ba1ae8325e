"""Each failure mode on its own cases: where it applies, where it does not, and what it is known to miss."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from blade.model.attribution import Confidence
from blade.modes.catalog import all_modes, by_code, catalog_page, mode_named, page
from blade.modes.evidence import RolloutEvidence, RunCounts, TaskFacts
from blade.modes.measured import NOT_MEASURED, in_short, in_words, measured

CASES = Path(__file__).parent.parent / "cases" / "modes"
BY_SIGN = ("sign_passes", "sign_failures", "runs_with", "sign_rollouts")


def evidence(case: dict[str, Any]) -> RolloutEvidence:
    """The evidence of a case; a sign is named by its kind and its subject, with a space between."""
    case = dict(case)
    task, run = (
        {name: _by_sign(name, value) for name, value in case.pop(part, {}).items()} for part in ("task", "run")
    )
    plain = msgspec.convert(case, RolloutEvidence)
    return msgspec.structs.replace(plain, task=TaskFacts(**task), run=RunCounts(**run))


def _by_sign(name: str, value: Any) -> Any:
    return {tuple(sign.split(" ", 1)): n for sign, n in value.items()} if name in BY_SIGN else value


def cases(part: str) -> list[Any]:
    found = []
    for path in sorted(CASES.glob("*.json")):
        for number, case in enumerate(json.loads(path.read_text()).get(part, [])):
            found.append(pytest.param(path.stem, case, id=f"{path.stem}-{number}"))
    return found


@pytest.mark.parametrize(("code", "case"), cases("applies"))
def test_it_applies_and_says_why(code: str, case: dict[str, Any]) -> None:
    found = by_code()[code].applies(evidence(case))
    assert found is not None
    told = found.signs or found.differences or found.contrast
    assert told or found.confidence is not Confidence.PROVEN


@pytest.mark.parametrize(("code", "case"), [*cases("does_not_apply"), *cases("known_misses")])
def test_it_does_not_apply(code: str, case: dict[str, Any]) -> None:
    assert by_code()[code].applies(evidence(case)) is None


def test_every_mode_has_both_kinds_of_cases() -> None:
    assert sorted(path.stem for path in CASES.glob("*.json")) == sorted(by_code())
    for path in CASES.glob("*.json"):
        found = json.loads(path.read_text())
        assert found["applies"], path.stem
        assert found["does_not_apply"], path.stem


def test_nothing_applies_to_a_bare_failure() -> None:
    assert [mode.code for mode in all_modes() if mode.applies(RolloutEvidence(outcome="failed"))] == []


def test_machinery_is_not_validly_graded_and_never_the_agents() -> None:
    for mode in all_modes():
        assert mode.valid == (mode.group != "machinery")
        if mode.group in ("machinery", "benchmark"):
            assert mode.party != "agent"
        assert mode.action.endswith(".")


def test_every_mode_has_a_page() -> None:
    whole = catalog_page(all_modes())
    for mode in all_modes():
        assert mode.definition in page(mode)
        assert f"## {mode.code}" in whole
    with pytest.raises(Exception, match="no failure mode"):
        mode_named("gremlins")


def test_output_that_is_missing_after_a_session_that_just_stops_charges_nobody() -> None:
    signs = [{"kind": "missing:named-in-prompt", "subject": "/app/out"}, {"kind": "ends:after-result", "subject": ""}]
    rare = {"outcome": "failed", "signs": signs, "run": {"passes": 100, "kind_passes": {"ends:after-result": 3}}}
    found = by_code()["output-missing"].applies(evidence(rare))
    assert found is not None
    assert (found.confidence, found.party) == (Confidence.SUSPECTED, "unknown")
    usual = rare | {"run": {"passes": 100, "kind_passes": {"ends:after-result": 90}}}
    found = by_code()["output-missing"].applies(evidence(usual))
    assert found is not None
    assert (found.confidence, found.party) == (Confidence.LIKELY, None)


def test_figures_of_like_data_are_added_up_and_every_set_is_named() -> None:
    sets = [one for one in measured().sets if "wrong-argument" in one.modes]
    assert len({one.short for one in sets}) > 1
    for one in sets:
        figures = one.modes["wrong-argument"]
        assert f"({figures.right:,} of {figures.said:,})" in in_words("wrong-argument")
        assert one.what in page(mode_named("wrong-argument"))
    by_hand = [
        one.modes["service-unavailable"]
        for one in measured().sets
        if one.short == "hand-labelled failures" and "service-unavailable" in one.modes
    ]
    right, said = sum(one.right for one in by_hand), sum(one.said for one in by_hand)
    assert f"{right} of {said} hand-labelled failures" in in_short("service-unavailable")
    assert in_words("gremlins") == in_short("gremlins") == NOT_MEASURED
