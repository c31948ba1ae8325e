"""A habit that shows in several tools is one finding."""

from __future__ import annotations

from pathlib import Path

import blade

EXAMPLES = Path(__file__).parents[2] / "examples" / "workplace_assistant"


def titles(run: str) -> list[str]:
    diagnosis = blade.analyze(EXAMPLES / f"{run}.jsonl.gz").runs[0].diagnosis
    assert diagnosis is not None
    return [finding.title for finding in diagnosis.findings]


def test_addresses_that_are_made_up_for_every_tool_are_one_finding_and_the_first() -> None:
    found = titles("never_resolves_names")
    assert found[0] == "Makes up ids and addresses instead of looking them up"
    assert not any("wrong `participant_email`" in title for title in found)


def test_an_agent_that_looks_things_up_makes_up_nothing() -> None:
    for run in ("good", "filters_dates_in_its_head"):
        assert not any(title.startswith("Makes up") for title in titles(run))


def test_dates_that_are_filtered_by_reading_are_told_from_those_in_the_query() -> None:
    diagnosis = blade.analyze(EXAMPLES / "filters_dates_in_its_head.jsonl.gz").runs[0].diagnosis
    assert diagnosis is not None
    first = diagnosis.findings[0]
    search = "`customer_relationship_manager_search_customers`"
    assert f"{search} gets `follow_up_by_max` in 4 of 10 passing repeats and in 1 of 10 failing ones" in first.what
    assert (
        first.fix
        == f"Have the agent pass `follow_up_by_max` to {search} instead of filtering its results in its reasoning"
    )
