import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blade.model.errors import ArtifactError
from blade.package.anchor_facts import METHOD, AnchorFact, FactClaim, facts_text, parse_facts, read_facts


def test_facts_are_written_and_read_again(tmp_path: Path) -> None:
    facts = (
        AnchorFact(
            id="B1",
            fact="Task 39 is cancelled in 3 of 4 rollouts.",
            difficulty="high",
            status="draft",
            reason="reads a trajectory",
            claim=FactClaim(ids=("39", "39#1:6"), quantity="rollouts", relation="=", range=(3.0, 3.5)),
        ),
        AnchorFact(
            id="B2", fact="pass@1 is 0.42.", aggregate_only=True, claim=FactClaim(value=0.42, polarity="negated")
        ),
    )
    path = tmp_path / "a_anchor_facts.json"
    path.write_text(facts_text("airline", "gpt-4o", facts), encoding="utf-8")
    found = read_facts(path)
    assert found.facts == facts
    assert (found.benchmark, found.model, found.problems) == ("airline", "gpt-4o", ())
    assert [fact.id for fact in found.drafts] == ["B1"]


def test_the_files_of_other_tools_count_as_reviewed() -> None:
    entries = [{"id": "B1", "fact": "Task 3 loops.", "difficulty": "HIGH", "mean_score": 3.5}, "Task 4 stops early."]
    for data in (entries, {"benchmark": "b", "model": "m", "extraction_models": ["x"], "anchor_facts": entries}):
        found = parse_facts(json.dumps(data))
        assert [(fact.id, fact.difficulty, fact.mean_score) for fact in found.facts] == [
            ("B1", "high", 3.5),
            ("B2", "", None),
        ]
        assert not found.drafts


def test_a_fact_of_our_own_without_a_status_is_a_draft() -> None:
    found = parse_facts(json.dumps({"extraction_method": METHOD, "anchor_facts": ["Task 4 stops early."]}))
    assert [fact.status for fact in found.facts] == ["draft"]


def test_what_is_no_fact_is_listed_with_its_position() -> None:
    text = '[3, null, {"id": "B1"}, {"id": "B9", "fact": "a b"}, {"id": "B9", "fact": "c d"}, [], {"fact": "e", "mean_score": NaN}]'
    found = parse_facts(text)
    assert [fact.id for fact in found.facts] == ["B9", "B7"]
    assert [problem.index for problem in found.problems] == [0, 1, 2, 4, 5]
    assert str(found.problems[0]) == "entry 0: not a fact but a number"


@pytest.mark.parametrize("text", ["", "3", "{", "null", '{"anchor_facts": 3}', "[" * 100_000])
def test_a_file_that_is_no_list_of_facts_is_a_problem(text: str) -> None:
    found = parse_facts(text)
    assert found.facts == ()
    assert [problem.index for problem in found.problems] == [None]


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match="cannot read the anchor facts"):
        read_facts(tmp_path / "none.json")


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["id", "fact", "claim", "ids", "range", "value", "status", "anchor_facts", "x"]),
            inner,
            max_size=5,
        )
    ),
    max_leaves=25,
)


@given(_json)
def test_any_json_is_read_and_what_was_read_can_be_written(data: object) -> None:
    found = parse_facts(json.dumps(data))
    again = parse_facts(facts_text("b", "m", found.facts))
    assert again.facts == found.facts
    facts_text("b", "m", found.facts).encode()
