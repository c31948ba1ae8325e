"""Verifiers of structure: schemas, calls, states, queries, puzzles and judges."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping
from typing import Any

import pytest

from blade_gym.answers import message
from blade_gym.environment import NoVerdict
from blade_gym.models.model import ModelError
from blade_gym.sandbox.worker import OutOfBounds
from blade_gym.verifier_kit import sql as sql_asking
from blade_gym.verifiers import json_schema, model_judge, reasoning_gym, sql_result, state_comparison

SCHEMA = {"type": "object", "properties": {"age": {"type": "integer"}}, "required": ["age"]}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"age": 3}', None),
        ('```json\n{"age": 3}\n```', None),
        ('{"age": "3"}', "'3' is not of type 'integer'"),
        ("{}", "'age' is a required property"),
        ("age: 3", "the message is not JSON: Expecting value: line 1 column 1 (char 0)"),
        ("", "the message is empty"),
        ("[" * 100_000 + "]" * 100_000, "the JSON is nested too deep"),
    ],
)
def test_json_is_held_against_its_schema(text: str, reason: str | None) -> None:
    found = json_schema.verify({"schema": SCHEMA}, text, {})
    assert found.fields["failure_reason"] == reason
    assert found.reward == float(reason is None)
    again = json_schema.verify({"schema_str": json.dumps(SCHEMA)}, text, {})
    assert again == found


def test_a_fence_can_be_forbidden() -> None:
    fenced = '```json\n{"age": 3}\n```'
    assert json_schema.verify({"schema": SCHEMA}, fenced, {"fence": "forbidden"}).reward == 0.0


def test_a_schema_that_is_none_gives_no_verdict() -> None:
    with pytest.raises(NoVerdict):
        json_schema.verify({"schema": {"type": "number", "minimum": "a"}}, "3", {})


@pytest.mark.slow
def test_a_pattern_that_explodes_gives_no_verdict() -> None:
    begun = time.monotonic()
    with pytest.raises(OutOfBounds):
        json_schema.verify({"schema": {"type": "string", "pattern": "^(a+)+$"}}, f'"{"a" * 40}b"', {})
    assert time.monotonic() - begun < 5 * json_schema.SECONDS


def test_states_are_compared_place_by_place() -> None:
    expected = {"customers": {"1": {"status": "lost"}, "2": {"status": "won"}}}
    assert state_comparison.judge(expected, json.loads(json.dumps(expected))).reward == 1.0
    found = state_comparison.judge(expected, {"customers": {"1": {"status": "won"}, "3": {}}})
    assert [(one["place"], one["kind"]) for one in found.fields["state_differences"]] == [
        ("customers.1.status", "changed"),
        ("customers.2", "missing"),
        ("customers.3", "extra"),
    ]
    missing = state_comparison.judge(expected, {"customers": {"1": {"status": "lost"}}})
    assert missing.fields["failure_reason"] == "part of what was due is missing from the state"
    row = {"expected_state": expected}
    assert state_comparison.verify(row, state_comparison.gold(row), {}).reward == 1.0
    assert state_comparison.verify(row, "gone", {}).fields["failure_reason"] == "the message holds no state"
    assert state_comparison.verify(row, "[" * 100_000, {}).reward == 0.0


SQL = {
    "sql_context": "CREATE TABLE t (a INTEGER, b TEXT); INSERT INTO t VALUES (1, 'x'), (2, 'y'), (3, 'x');",
    "sql": "SELECT a FROM t WHERE b = 'x'",
}


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("SELECT a FROM t WHERE b = 'x' ORDER BY a DESC", None),
        ("WITH c AS (SELECT a, b FROM t) SELECT a AS z FROM c WHERE b LIKE 'X'", None),
        ("SELECT a, b FROM t WHERE b = 'x'", "the query gives 2 columns, not 1"),
        ("SELECT a FROM t", "too many rows came back: 3, not 2"),
        ("SELECT a + 1 FROM t WHERE b = 'x'", "as many rows, and other values in them"),
        ("SELECT c FROM t", "the query failed: no such column: c"),
        ("DELETE FROM t", "the query does more than read: not authorized"),
        ("ATTACH '/etc/hostname' AS other", "the query does more than read: not authorized"),
        ("PRAGMA writable_schema = 1", "the query does more than read: not authorized"),
        ("SELECT load_extension('x')", "the query does more than read: not authorized to use function: load_extension"),
    ],
)
def test_queries_are_compared_by_their_rows(query: str, reason: str | None) -> None:
    found = sql_result.verify(SQL, f"```sql\n{query};\n```", {})
    assert found.fields["failure_reason"] == reason
    assert found.fields["extracted_sql"] == query


def test_order_counts_where_the_key_orders() -> None:
    row = {**SQL, "sql": "SELECT a FROM t ORDER BY a"}
    found = sql_result.verify(row, "SELECT a FROM t ORDER BY a DESC", {})
    assert found.fields["failure_reason"] == "the rows are right and their order is not"


def test_a_key_that_fails_gives_no_verdict() -> None:
    with pytest.raises(NoVerdict):
        sql_result.verify({**SQL, "sql": "SELECT nothing FROM nowhere"}, "SELECT 1", {})


@pytest.mark.slow
@pytest.mark.parametrize(
    "query",
    [
        "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c",
        "WITH RECURSIVE c(x) AS (SELECT 'a' UNION ALL SELECT x || x FROM c) SELECT max(length(x)) FROM c",
        "SELECT length(hex(zeroblob(900000000)))",
    ],
)
def test_a_query_without_end_ends(query: str) -> None:
    begun = time.monotonic()
    assert sql_result.verify(SQL, f"```sql\n{query}\n```", {}).reward == 0.0
    assert time.monotonic() - begun < sql_asking.SECONDS + 5
    assert sql_result.verify(SQL, sql_result.gold(SQL), {}).reward == 1.0


def test_puzzles_are_scored_by_their_family() -> None:
    row = {
        "question": "How many?",
        "answer": "3",
        "metadata": {"source_dataset": "letter_counting"},
    }
    assert reasoning_gym.verify(row, "<answer>3</answer>", {}).reward == 1.0
    wrong = reasoning_gym.verify(row, "<answer>4</answer>", {})
    assert wrong.reward < 1.0
    assert wrong.fields["failure_reason"]
    unknown = {**row, "metadata": {"source_dataset": "no_such_family"}}
    with pytest.raises(NoVerdict, match="no such family"):
        reasoning_gym.verify(unknown, "<answer>3</answer>", {})


class Judge:
    """A model that says what it was made to say."""

    name = "judge"

    def __init__(self, *, says: str = "", fails: bool = False, cut: bool = False) -> None:
        self.says, self.fails, self.cut, self.asked = says, fails, cut, list[Mapping[str, Any]]()

    async def respond(self, params: Mapping[str, Any], *, seed: int | None = None) -> dict[str, Any]:
        self.asked.append(params)
        if self.fails:
            raise ModelError("503")
        details = {"reason": "max_output_tokens"} if self.cut else None
        return {"output": [message(self.says)], "incomplete_details": details}

    async def close(self) -> None:
        return None


ROW = {"question": "Why are covers round?", "expected_answer": "A round cover cannot fall in."}


def _judged(judge: Judge | None, text: str) -> Any:
    return asyncio.run(model_judge.judge(judge, ROW, text, {}))


def test_a_judge_says_correct_or_incorrect() -> None:
    right = _judged(Judge(says="Both say the same.\nVerdict: CORRECT"), "They do not drop through.")
    assert (right.reward, right.fields["verdict"], right.fields["failure_reason"]) == (1.0, "correct", None)
    wrong = _judged(Judge(says="It is about cost.\n**Verdict: incorrect**"), "They are cheap.")
    assert (wrong.reward, wrong.fields["failure_reason"]) == (0.0, "the judge says incorrect")
    assert wrong.fields["judge_output"].startswith("It is about cost.")


@pytest.mark.parametrize(
    "judge",
    [
        Judge(fails=True),
        Judge(cut=True, says="Verdict: CORRECT"),
        Judge(says=""),
        Judge(says="I would say it is correct."),
        Judge(says="Verdict: CORRECT\nVerdict: INCORRECT"),
        Judge(says="Verdict: PERHAPS"),
        None,
    ],
)
def test_a_judge_that_fails_gives_no_verdict(judge: Judge | None) -> None:
    with pytest.raises(NoVerdict) as raised:
        _judged(judge, "They do not drop through.")
    assert raised.value.failure_class == "judge_failed"


def test_an_answer_that_equals_the_expected_one_needs_no_judge() -> None:
    judge = Judge(fails=True)
    assert _judged(judge, "a round cover cannot fall in").reward == 1.0
    assert _judged(judge, "").reward == 0.0
    assert judge.asked == []


def test_a_long_answer_is_shown_to_the_judge_from_its_end() -> None:
    judge = Judge(says="Verdict: INCORRECT")
    _judged(judge, "x" * 1_000_000 + " the end")
    assert len(json.dumps(judge.asked[0])) < 10_000 + model_judge.LONGEST_ANSWER
    assert "the end" in json.dumps(judge.asked[0])
