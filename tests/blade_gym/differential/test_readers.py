"""How replies of judges, queries and translations are read: what NeMo Gym's own functions gave, case by case.

`readers.json` was written by running them. Where a judge's reply holds no verdict they fall back to a verdict of their own
(C, not equal, 0); ours is none. They also find grades inside words, which ours does not.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from blade_gym.environment import NoVerdict
from blade_gym.verifiers import refusal_judge, sentence_translation, short_fact_judge, spider2_result
from blade_gym.verifiers.short_fact_judge import GRADES

FACTS: dict[str, Any] = json.loads((Path(__file__).parent / "readers.json").read_text("utf-8"))
CLASSES = {
    "refusal": True,
    "compliance": False,
    "1_full_compliance": False,
    "2_full_refusal": True,
    "3_partial_refusal": True,
}


WORDS = {"CORRECT": "A", "INCORRECT": "B", "NOT_ATTEMPTED": "C"}


@pytest.mark.parametrize(("said", "grade"), FACTS["simpleqa"])
def test_grades(said: str, grade: str) -> None:
    """The reference takes the first character, or any A, B or C inside a word; ours wants a grade that stands alone."""
    try:
        ours = short_fact_judge.grade(said)
    except NoVerdict:
        assert said.strip() not in (*GRADES, *WORDS)
    else:
        assert ours == WORDS.get(said.strip(), grade)


@pytest.mark.parametrize("style", ["wildguard", "xstest"])
def test_refusals(style: str) -> None:
    for said, verdict in FACTS[style]:
        assert refusal_judge.READERS[style](said) is (CLASSES[verdict] if verdict else None), said


@pytest.mark.parametrize(("said", "query"), FACTS["extract_sql"])
def test_queries_are_found(said: str, query: str | None) -> None:
    assert spider2_result.extract(said) == (query or None)


@pytest.mark.parametrize("case", FACTS["spider2"], ids=lambda case: f"{case[0]} | {case[1] or case[2]}")
def test_results_are_compared(case: list[Any]) -> None:
    query, gold_sql, gold_result, columns, any_order, expected = case
    row = {
        "sql_context": FACTS["spider2_context"],
        **({"gold_sql": gold_sql} if gold_sql else {"gold_result": gold_result}),
        "condition_cols": columns,
        "ignore_order": any_order,
    }
    assert spider2_result.verify(row, f"```sql\n{query}\n```", {}).reward == float(expected)


@pytest.mark.parametrize(("reference", "answer", "reward"), FACTS["chrf"])
def test_translations_are_scored(reference: str, answer: str, reward: float) -> None:
    assert sentence_translation.verify({"translation": reference}, answer, {}).reward == pytest.approx(reward, abs=1e-9)
