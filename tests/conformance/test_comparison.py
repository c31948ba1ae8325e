"""Real pairs of runs: verdicts, flips and ledgers that were read and agreed with, and a benchmark without an alarm."""

from __future__ import annotations

import pytest

import blade
from conformance.facts import DATA

pytestmark = [
    pytest.mark.conformance,
    pytest.mark.skipif(
        not DATA.is_dir(), reason="the public reference files are not beside the repository (../shared/data)"
    ),
]

RETAIL = ("tau2/retail__gpt-4.1.jsonl", "tau2/retail__ft-gpt-4.1.jsonl")
AIRLINE = ("tau2/airline__gpt-4o.jsonl", "tau2/airline__claude-sonnet-4-5.jsonl")
OTHER_VERSIONS = ("tau_bench/airline__gpt-4o.jsonl", "tau2/airline__gpt-4o.jsonl")
HARNESSES = ("gym_examples/anyswe_agent__example_rollouts_pi", "gym_examples/anyswe_agent__example_rollouts_openclaw")


def compared(pair: tuple[str, str]) -> blade.Comparison:
    return blade.compare(*(DATA / path for path in pair))


@pytest.mark.parametrize("pair", [RETAIL, AIRLINE, OTHER_VERSIONS, HARNESSES])
def test_the_ledger_adds_up(pair: tuple[str, str]) -> None:
    found = compared(pair)
    assert sum(term.points for term in found.ledger) == pytest.approx(found.delta or 0.0, abs=1e-12)


def test_equal_scores_hide_twelve_flips() -> None:
    found = compared(RETAIL)
    assert found.own == (0.85, 0.85)
    assert str(found.verdict) == "inconclusive"
    assert len(found.flips) == 12
    assert any("hides 6 tasks" in trap for trap in found.traps)
    assert [aspect for aspect, held in found.held_fixed.items() if held.state == "changed"] == ["model"]


def test_another_model_on_the_same_tasks_is_better() -> None:
    found = compared(AIRLINE)
    assert found.own == pytest.approx((0.46, 0.72))
    assert str(found.verdict) == "improved"
    assert found.pairing.joined_by == {"key+prompt": 50}


def test_other_versions_of_tasks_are_joined_by_id_alone_and_that_is_said() -> None:
    found = compared(OTHER_VERSIONS)
    assert found.pairing.unproven == 50
    assert any("joined by id alone" in trap for trap in found.traps)


def test_a_harness_in_which_the_agent_never_speaks_is_machinery() -> None:
    found = compared(HARNESSES)
    leader = max(found.ledger, key=lambda term: abs(term.points))
    assert leader.term == "infrastructure"
    assert leader.points == pytest.approx(-0.8)


def test_game24_raises_no_alarm_about_its_verifier() -> None:
    found = blade.health(DATA / "game24")
    assert all(one.suspicion < 0.5 for one in found.tasks)
