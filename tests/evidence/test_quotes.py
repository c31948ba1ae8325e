"""Every quote is a verbatim slice of the place that it names; places are looked up here with plain `json`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import blade
from blade.evidence import quotes
from blade.model.finding import LONGEST_QUOTE, Evidence
from blade.model.rollout import Outcome, Rollout, RolloutKey, RowSource, Step
from builders import Row, call, response, result, rollout, said, write_jsonl

ROLLOUT = Rollout(
    key=RolloutKey(run="a", task_id="t", repeat=0),
    outcome=Outcome.FAILED,
    source=RowSource(artifact="run.jsonl", line=1),
)


def spoken(text: str) -> Step:
    return Step(index=3, party="agent", kind="message", text=text)


def called(arguments: str | None) -> Step:
    return Step(index=3, party="agent", kind="call", tool="pay", arguments=arguments)


# Slices of one text.

SCRAPS = (
    "a",
    "bb ",
    ". ",
    "! ",
    "? ",
    "\n",
    "\r\n",
    "\t",
    " ",
    "1.5",
    "cannot ",
    "since ",
    "İ",
    "é",
    "\u2028",
    "x" * 70,
)
TEXTS = st.one_of(st.text(max_size=400), st.lists(st.sampled_from(SCRAPS), max_size=80).map("".join))


@given(TEXTS, st.lists(st.sampled_from(["bb", "cannot", ""]), max_size=2))
def test_a_sentence_is_a_slice_and_blank_texts_have_none(text: str, words: list[str]) -> None:
    for found in (quotes.of_text(ROLLOUT, spoken(text), words), quotes.ending(ROLLOUT, spoken(text))):
        if not text.strip():
            assert found is None
        else:
            assert found is not None
            assert found.quote in text
            assert (found.step, found.field) == (3, "text")
            assert 0 < len(found.quote) <= quotes.LONGEST <= LONGEST_QUOTE


@given(TEXTS, st.integers(0, 400), st.integers(1, 30))
def test_words_around_a_value_are_a_slice(text: str, start: int, length: int) -> None:
    found = quotes.holding(ROLLOUT, spoken(text), text[start : start + length])
    assert found is None or found.quote in text


@given(st.text("ab .\n", max_size=300), st.integers(0, 300), st.text("ab", min_size=1, max_size=5))
def test_words_around_a_value_hold_it(text: str, place: int, value: str) -> None:
    found = quotes.holding(ROLLOUT, spoken(text[:place] + value + text[place:]), value.upper())
    assert found is not None
    assert value in found.quote


def test_words_around_a_value_hold_it_also_behind_letters_that_grow_when_lowered() -> None:
    found = quotes.holding(ROLLOUT, spoken("İ" * 120 + " and W77 is the order, as I said before, of the man"), "W77")
    assert found is not None
    assert "W77" in found.quote


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(st.text(max_size=5), JSON, max_size=4), st.booleans(), st.sampled_from([None, (",", ":")]), JSON)
def test_a_part_of_the_arguments_is_a_slice(
    arguments: dict[str, Any], ascii_: bool, separators: tuple[str, str] | None, other: Any
) -> None:
    text = json.dumps(arguments, ensure_ascii=ascii_, separators=separators)
    for name, value in [*arguments.items(), ("", other)]:
        found = quotes.of_call(ROLLOUT, called(text), value, name)
        assert found is not None
        assert found.quote in (text if found.field == "arguments" else "pay")


def test_an_argument_is_shown_with_its_name() -> None:
    found = quotes.of_call(ROLLOUT, called('{"n": 15, "to" : "Oslo", "m": 5}'), "Oslo", "to")
    assert found is not None
    assert found.quote == '"to" : "Oslo"'


@pytest.mark.parametrize("arguments", [None, "", "{}", "null", "  "])
def test_a_call_without_arguments_is_shown_by_its_tool(arguments: str | None) -> None:
    found = quotes.of_call(ROLLOUT, called(arguments))
    assert found is not None
    assert (found.field, found.quote) == ("tool", "pay")


def test_the_sentence_that_gives_a_reason_is_chosen() -> None:
    text = "Hello there. " * 20 + "I cannot do this because of the policy. " + "Goodbye now. " * 20
    found = quotes.of_text(ROLLOUT, spoken(text))
    assert found is not None
    assert found.quote == "I cannot do this because of the policy."


@pytest.mark.parametrize("text", ["a" * 10**6, "a." * 10**5, ". " * 10**5, "1.1" * 10**5, "not " * 10**5])
def test_long_texts_are_quoted_in_bounded_time(text: str) -> None:
    start = perf_counter()
    quotes.of_text(ROLLOUT, spoken(text), ("not",))
    quotes.ending(ROLLOUT, spoken(text))
    assert perf_counter() - start < 3


# All evidence of an analysis.


def every_evidence(value: object) -> Iterator[Evidence]:
    """Every piece of evidence anywhere inside a value."""
    if isinstance(value, Evidence):
        yield value
    elif isinstance(value, msgspec.Struct):
        for part in msgspec.structs.astuple(value):
            yield from every_evidence(part)
    elif isinstance(value, tuple | list):
        for item in value:
            yield from every_evidence(item)


def at(row: Any, path: str) -> str:
    """What stands at a dotted path: texts as they are, other values as JSON."""
    for name in path.split("."):
        row = row[int(name)] if isinstance(row, list) else row[name]
    return row if isinstance(row, str) else json.dumps(row)


def in_step(row: Row, step: int, field: str) -> str:
    """The text, arguments or tool of an item of the trajectory."""
    item = row["response"]["output"][step]
    if field == "arguments":
        return str(item["arguments"])
    if field == "tool":
        return str(item["name"])
    if item["type"] == "function_call_output":
        return str(item["output"])
    return "".join(part["text"] for part in item["content"])


def is_verbatim(evidence: Evidence, rows: dict[tuple[str, int], Row]) -> bool:
    row = rows[evidence.key.task_id, evidence.key.repeat]
    place = at(row, evidence.field) if evidence.step is None else in_step(row, evidence.step, evidence.field)
    return bool(evidence.quote.strip()) and evidence.quote in place


LONG = "First of all, thank you. " * 12
NASTY = "\r\n\tItem №1\u00a0— “quoted” `code` | bar \x07 <b>&amp;</b>\u2028"
SCRIPT = "You are mia_li_3668 and want to cancel JG7FMM."
CANCEL = [{"name": "cancel", "kwargs": {"user_id": "mia_li_3668", "id": "JG7FMM", "note": NASTY}}]
TRACE = "Traceback (most recent call last):\n  File \"a.py\", line 3, in <module>\n    f()\nKeyError: 'price'\n"


def made(tool: str, found: str = "ok", **arguments: object) -> list[Row]:
    name = f"{tool}{arguments}"
    return [call(tool, json.dumps(arguments, ensure_ascii=False), name), result(found, name)]


def acting(task: str) -> list[Row]:
    """A task with a pass, a wrong argument, a refusal, a change left out, and a user who keeps things back."""
    asks, gives = said("Your user ID?" + NASTY), said("It is mia_li_3668." + NASTY, "user")
    detect = made("get_user", "cards: visa_1111; id mia_li_3668" + NASTY, id="mia_li_3668")
    right = made("cancel", user_id="mia_li_3668", id="JG7FMM", note=NASTY)
    wrong = made("cancel", user_id="visa_1111", id="JG7FMM", note=NASTY, more=[1, {"x": NASTY}])
    about: Row = {"user_instruction": SCRIPT, "expected_actions": CANCEL, "expected_outputs": ["1,327"]}
    outputs = [
        [asks, gives, *detect, *right, said("It costs 1327." + NASTY)],
        [asks, gives, *detect, said(LONG + "I cannot find it, since it is late. " + LONG), *wrong],
        [asks, said("I don't have that. " + LONG, "user"), said(NASTY + "Unfortunately not.")],
        [asks, gives, *made("get_user", "Error: busy" + NASTY, id="mia_li_3668"), said(LONG)],
        [asks, gives, *detect, *right, *made("pay", n=1), said("1327")],
        [],
    ]
    return [rollout(task, repeat=n, passed=not n, output=items, **about) for n, items in enumerate(outputs)]


SPEAKING: list[Row] = [
    {"failure_reason": NASTY + "column `price` is missing" + NASTY},
    {"stderr": LONG + "\n" + TRACE, "exit_code": 3},
    {"info": {"judge": {"verdict": "the answer is too long, by far"}}},
    {"metadata": {"errors": [LONG, "  disk full  "], "exit_code": 7}},
    {"error": {"type": "APIConnectionError", "message": "connection reset"}},
    {"judge_error": "no reply from the judge" + NASTY},
    {"checks": [{"name": "title", "passed": False, "reason": NASTY + "no title"}, {"name": "b", "passed": True}]},
    {"checks": [{"name": "title", "passed": False, "reasons": ["", "yes", "no, " + LONG], "votes": [1, 1, 0]}]},
    {"details": {"test_a": LONG + TRACE, "test.b": TRACE}},
    {"test_results": [False, True, -1]},
    {"agent_timed_out": True},
    {"stop_reason": "max_steps"},
    {"response": response("x" * 300, incomplete_details={"reason": "max_output_tokens"})},
    {"extracted_answer": "  5 apples ", "expected_answer": "4"},
    {"extracted_answer": "x" * 300, "expected_answer": "4"},
    {"extracted_answer": "4", "expected_answer": "4"},
    {"extracted_answer": None, "expected_answer": "4", "response": response(LONG + "\\boxed{4}")},
    {"extracted_answer": "A or B", "expected_answer": "A"},
    {"reward_info": None, "response": response(LONG)},
    {"response": response("")},
    {},
]


def speaking() -> list[Row]:
    """Rows in which a verifier speaks in every shape: a failure in two tasks, and a pass that has nothing to say."""
    rows = []
    for n, about in enumerate(SPEAKING):
        for task in (f"s{n}", f"r{n}"):
            rows += [rollout(task, repeat=0, **about), rollout(task, repeat=1, passed=True, output="fine")]
    return rows


@pytest.mark.parametrize(
    "rows", [acting("a") + acting("b"), speaking(), [*acting("a"), *speaking()]], ids=["act", "speak", "all"]
)
def test_every_quote_of_an_analysis_stands_where_it_says(tmp_path: Path, rows: list[Row]) -> None:
    written = {(row["task_id"], row["_ng_rollout_index"]): json.loads(json.dumps(row)) for row in rows}
    (one,) = blade.analyze(write_jsonl(tmp_path / "run.jsonl", rows)).runs
    found = list(every_evidence(one.diagnosis))
    assert len(found) > 10
    assert [evidence for evidence in found if not is_verbatim(evidence, written)] == []
    assert {evidence.key.run for evidence in found} == {one.run.name}


def test_every_quote_of_an_explained_task_stands_where_it_says(tmp_path: Path) -> None:
    rows = [*acting("a"), *speaking()]
    written = {(row["task_id"], row["_ng_rollout_index"]): json.loads(json.dumps(row)) for row in rows}
    run = blade.load_run(write_jsonl(tmp_path / "run.jsonl", rows))
    for task in run.tasks["task_id"]:
        found = list(every_evidence(list(blade.explain(run, task))))
        assert [evidence for evidence in found if not is_verbatim(evidence, written)] == []


def test_most_modes_come_with_a_quote(tmp_path: Path) -> None:
    (one,) = blade.analyze(write_jsonl(tmp_path / "run.jsonl", [*acting("a"), *speaking()])).runs
    assert one.diagnosis is not None
    mute = [mode.id for mode in one.diagnosis.partition.modes if mode.evidence is None]
    assert set(mute) <= {"no-agent-output"}


def test_a_name_with_a_dot_is_not_made_into_a_path(tmp_path: Path) -> None:
    rows = [rollout("a", repeat=0, metadata={"pkg.mod": {"failure_reason": "widget is missing"}})]
    (one,) = blade.analyze(write_jsonl(tmp_path / "run.jsonl", rows)).runs
    for evidence in every_evidence(one.diagnosis):
        assert evidence.step is not None or "widget" in at(rows[0], evidence.field)


def test_words_of_the_inputs_are_not_quoted_as_words_of_the_row(tmp_path: Path) -> None:
    rows = [rollout(index=0, repeat=0, output="I will look it up.")]
    inputs = {"_ng_task_index": 0, "_ng_rollout_index": 0, "ground_truth": [], "common_error": "forgets the sign"}
    write_jsonl(tmp_path / "run_materialized_inputs.jsonl", [inputs])
    (one,) = blade.analyze(write_jsonl(tmp_path / "run.jsonl", rows)).runs
    assert one.diagnosis is not None
    assert [mode.id for mode in one.diagnosis.partition.modes] == ["unattributed"]
