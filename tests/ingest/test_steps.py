"""Trajectories in every shape, as steps by party."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blade.ingest.fingerprints import prompt_fingerprint
from blade.ingest.rollouts import count, prompt_steps
from blade.ingest.shapes import TrajectoryItem, UsualItem
from blade.ingest.steps import plain_messages, read_steps
from blade.model.rollout import Step
from builders import call, result, said, steps


def brief(found: tuple[Step, ...]) -> list[tuple[int, str, str, str]]:
    """Index, party, kind, and what was said or called."""
    return [(s.index, s.party, s.kind, f"{s.tool}({s.arguments})" if s.kind == "call" else s.text) for s in found]


def test_responses_items() -> None:
    thought = {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}], "content": None}
    refused = {"type": "message", "role": "assistant", "content": [{"type": "refusal", "refusal": "no"}]}
    found = steps(thought, call("find", '{"x": 1}'), result("42"), said("thanks", role="user"), said("done"), refused)
    assert brief(found) == [
        (0, "agent", "reasoning", "hm"),
        (1, "agent", "call", 'find({"x": 1})'),
        (2, "tool", "result", "42"),
        (3, "user", "message", "thanks"),
        (4, "agent", "message", "done"),
        (5, "agent", "refusal", "no"),
    ]
    assert (found[2].tool, found[2].answers) == ("find", 1)


def test_chat_messages_with_tool_calls() -> None:
    calls = [
        {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}},
        {"id": "2", "function": {"name": "g", "arguments": {"a": 1}}},
        {"id": "3", "name": "h", "arguments": "x"},
    ]
    found = steps(
        {"role": "assistant", "content": "I look", "reasoning_content": "hm", "tool_calls": calls},
        {"role": "tool", "tool_call_id": "2", "content": "two"},
        {"role": "tool", "tool_call_id": "1", "content": [{"type": "text", "text": "one"}]},
        {"role": "assistant", "content": None, "tool_calls": None},
        {"role": "assistant", "content": None, "function_call": {"name": "old", "arguments": "{}"}},
        {"role": "function", "name": "old", "content": "legacy"},
    )
    assert brief(found) == [
        (0, "agent", "reasoning", "hm"),
        (0, "agent", "message", "I look"),
        (0, "agent", "call", "f({})"),
        (0, "agent", "call", 'g({"a":1})'),
        (0, "agent", "call", "h(x)"),
        (1, "tool", "result", "two"),
        (2, "tool", "result", "one"),
        (3, "agent", "message", ""),
        (4, "agent", "call", "old({})"),
        (5, "tool", "result", "legacy"),
    ]
    assert [step.tool for step in found if step.kind == "result"] == ["g", "f", "old"]


def test_anthropic_parts() -> None:
    found = steps(
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hm"},
                {"type": "text", "text": "I look"},
                {"type": "tool_use", "id": "t1", "name": "f", "input": {"a": 1}},
                {"type": "image"},
            ],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "t1",
                    "content": [{"type": "text", "text": "x"}],
                    "is_error": True,
                }
            ],
        },
    )
    assert brief(found) == [
        (0, "agent", "reasoning", "hm"),
        (0, "agent", "message", "I look"),
        (0, "agent", "call", 'f({"a":1})'),
        (0, "agent", "other", "image"),
        (1, "tool", "result", "x"),
    ]
    assert (found[-1].failed, found[-1].tool) == (True, "f")


def test_other_dialects() -> None:
    found = steps({"from": "human", "value": "hi"}, {"from": "gpt", "value": "ho"}, {"role": "Model", "text": "hum"})
    assert brief(found) == [(0, "user", "message", "hi"), (1, "agent", "message", "ho"), (2, "agent", "message", "hum")]


def test_lists_in_lists_and_plain_strings() -> None:
    assert brief(steps([said("a"), [call("f")]], "b")) == [
        (0, "agent", "message", "a"),
        (1, "agent", "call", "f({})"),
        (2, "agent", "message", "b"),
    ]
    assert brief(read_steps(b'"just words"')) == [(0, "agent", "message", "just words")]
    assert read_steps(b"null") == read_steps(b"[]") == ()


def test_an_item_that_says_nothing_keeps_its_place() -> None:
    assert [step.index for step in steps(None, said("a"), 7, said("b"))] == [0, 1, 2, 3]


def test_calls_that_carry_their_own_result() -> None:
    mcp: dict[str, Any] = {
        "type": "mcp_call",
        "id": "m",
        "name": "ask",
        "arguments": "{}",
        "output": "fine",
        "error": None,
    }
    search = {"type": "web_search_call", "id": "w", "action": {"type": "search", "query": "q"}}
    found = steps(mcp, mcp | {"output": None, "error": "gone"}, search)
    assert brief(found) == [
        (0, "agent", "call", "ask({})"),
        (0, "tool", "result", "fine"),
        (1, "agent", "call", "ask({})"),
        (1, "tool", "result", "gone"),
        (2, "agent", "call", 'web_search_call({"type":"search","query":"q"})'),
    ]
    assert [step.failed for step in found] == [False, False, False, True, False]


def test_a_result_answers_the_nearest_earlier_call_with_its_id() -> None:
    items = [
        call("f"),
        result("1"),
        call("g"),
        call("h", call_id="c2"),
        result("2"),
        result("3", "c2"),
        result("4"),
        result("5", "?"),
    ]
    found = steps(*items)
    answered = [(step.text, step.tool, step.answers) for step in found if step.kind == "result"]
    assert answered == [("1", "f", 0), ("2", "g", 2), ("3", "h", 3), ("4", None, None), ("5", None, None)]


def test_a_result_without_id_answers_the_nearest_open_call() -> None:
    found = steps(call("f"), call("g", call_id="c2"), result("1", "c2"), result("2", None), result("3", None))
    assert [step.answers for step in found if step.kind == "result"] == [1, 0, None]


def test_many_open_calls_take_no_longer_than_few() -> None:
    items = [call("f", call_id=f"c{n}") for n in range(20_000)] + [result("x", f"c{n}") for n in range(20_000)]
    features, *_ = count(steps(*items), None)
    assert features.orphan_calls == 0


@pytest.mark.parametrize(
    "text",
    [
        "Error: no such user",
        "error",
        '{"error": "not found"}',
        "{'error': 'not found'}",
        "Traceback (most recent call last):\n",
        "ValueError: x",
        '{"success": false}',
        '{"status": "error"}',
        '{"exit_code": 1}',
        "Failed to open",
        "Tool error: x",
    ],
)
def test_a_result_that_opens_with_an_error_is_marked(text: str) -> None:
    assert steps(result(text))[0].failed


@pytest.mark.parametrize(
    "text",
    [
        '{"error": null, "data": 1}',
        '{"error": false}',
        '{"error": ""}',
        '{"error": 0}',
        "errors: none",
        "0 errors",
        '{"exit_code": 0}',
        '{"success": true}',
        "No error was found",
        "",
    ],
)
def test_a_result_that_only_mentions_errors_is_not(text: str) -> None:
    assert not steps(result(text))[0].failed


@pytest.mark.parametrize(
    ("error", "failed"), [(None, False), (False, False), ("", False), ({}, False), ("x", True), ({"code": 1}, True)]
)
def test_an_error_field_marks_a_result_only_where_it_says_something(error: object, failed: bool) -> None:
    assert steps(result("fine", error=error))[0].failed is failed


ODD: list[Any] = [
    5,
    True,
    {},
    {"type": 5},
    {"type": None, "role": 7, "content": 1.5},
    {"role": "assistant", "content": {"text": "dict"}},
    {"role": "assistant", "content": [1, None, "x", {"type": "text", "text": 5}, [2]]},
    {"type": "function_call", "name": None, "arguments": {"a": [1]}, "call_id": 3},
    {"type": "function_call", "name": ["f"], "arguments": 5},
    {"type": "function_call", "name": {"f": 1}, "arguments": [1, 2]},
    {"type": "function_call_output", "output": {"a": 1}, "call_id": {}},
    {"type": "function_call_output", "output": 12},
    {"type": "reasoning", "summary": "text", "content": 5},
    {"role": "assistant", "tool_calls": {"a": 1}},
    {
        "role": "assistant",
        "tool_calls": [None, 5, {}, {"function": None}, {"function": 5}, {"id": 7, "function": {"name": 1}}],
    },
    {"role": "assistant", "function_call": 5},
    {"type": "image_generation_call", "id": 5},
    {"type": "message", "content": [{"type": "tool_result", "content": {"a": 1}, "tool_use_id": 5, "is_error": "yes"}]},
    {"type": "mcp_call", "error": {"message": "x"}, "input": None},
    {"from": 5, "value": [None]},
    [[[[]]]],
]


@pytest.mark.parametrize("item", ODD, ids=lambda item: json.dumps(item)[:40])
def test_odd_items_become_steps_and_never_errors(item: object) -> None:
    found = steps(item, said("end"))
    assert found[-1].text == "end"
    features, _, _, output = count(found, None)
    assert features.steps == len(found)
    assert output is not None


def test_features_by_hand() -> None:
    found = steps(
        call("f"), call("f"), result("Error: x"), call("f", '{"a": 1}'), said("hey", role="user"), said("  "), said("")
    )
    features, *_ = count(found, "length")
    assert (features.steps, features.calls, features.results, features.tool_errors) == (7, 3, 1, 1)
    assert (features.longest_repeat, features.orphan_calls, features.user_messages) == (2, 2, 1)
    assert (features.agent_messages, features.empty_final, features.stop) == (0, True, "length")


def test_the_same_output_has_the_same_fingerprint() -> None:
    one = steps(said("a"), call("f", "x", "c1"), result("y", "c1"), said("b"))
    same = steps(said("a"), call("f", "x", "c9"), result("z", "c9"), said("b"))
    other = steps(said("a"), call("f", "y", "c1"), said("b"))
    outputs = [count(found, None)[-1] for found in (one, same, other)]
    assert outputs[0] == outputs[1] != outputs[2]
    assert count(steps(result("x"), said("", role="assistant"), said("hi", role="user")), None)[-1] is None


PARTS = st.lists(
    st.fixed_dictionaries(
        {"type": st.sampled_from(["output_text", "summary_text", "reasoning_text", None])},
        optional={"text": st.sampled_from([None, "", "t", "u"])},
    ),
    max_size=2,
)
PLAIN = st.fixed_dictionaries(
    {"type": st.sampled_from(["message", "message", "function_call", "function_call_output", "reasoning"])},
    optional={
        "role": st.sampled_from(["assistant", "user", None]),
        "name": st.sampled_from([None, "f", "g"]),
        "arguments": st.sampled_from([None, "", "{}"]),
        "call_id": st.sampled_from([None, "c1", "c2"]),
        "content": PARTS | st.sampled_from([None, "", "a"]),
        "output": st.sampled_from([None, "", "Error: no", "fine"]),
        "summary": PARTS,
    },
)
ODD_FIELDS = st.sampled_from(
    ("type", "role", "content", "summary", "output", "text", "value", "observation", "error", "tool_calls", "from")
)
ODD_VALUES: st.SearchStrategy[Any] = st.sampled_from([None, "", "tool", 5, False, [], {}, [{"type": "refusal"}]])
ITEM = st.builds(
    lambda item, odd: item | odd, PLAIN, st.just({}) | st.dictionaries(ODD_FIELDS, ODD_VALUES, min_size=1, max_size=1)
)
"""Items that are usual, but for one field in some of them."""


def is_usual(item: dict[str, Any]) -> bool:
    try:
        msgspec.convert(item, UsualItem)
    except msgspec.ValidationError:
        return False
    return True


READ = ("type", "role", "name", "arguments", "call_id", "content", "output", "summary")
OF_OTHER_KINDS = ("id", "input", "action")


@pytest.mark.parametrize("field", [one.encode_name for one in msgspec.structs.fields(TrajectoryItem)])
def test_a_field_that_a_usual_item_does_not_have_makes_it_unusual(field: str) -> None:
    ignored = field in (*READ, *OF_OTHER_KINDS)
    assert is_usual({"type": "function_call_output", "output": "x"} | ({} if ignored else {field: "x"})) == ignored


@given(st.lists(ITEM, min_size=10, max_size=20))
def test_usual_items_give_the_steps_that_any_reading_of_them_gives(items: list[dict[str, Any]]) -> None:
    raw = json.dumps([item for item in items if is_usual(item)]).encode()
    usual = msgspec.json.decode(raw, type=list[UsualItem])
    assert read_steps(usual) == read_steps(raw)


@pytest.mark.parametrize(
    "items",
    [
        [{"role": "system", "content": "be brief"}, {"role": "user", "content": ""}],
        [{"content": "hi", "role": "Developer"}, {"role": "nobody knows", "content": "x"}],
        [{"role": "user", "content": [{"type": "input_text", "text": "hi"}]}],
        [{"role": "user", "content": "hi", "name": "Ada"}],
        [{"role": "user", "content": None}, "plain"],
        [],
    ],
)
def test_plain_messages_of_a_prompt_are_the_steps_that_any_would_be(items: list[object]) -> None:
    whole = read_steps(json.dumps(items).encode())
    assert plain_messages(items) in ((), whole)
    assert prompt_steps(json.dumps(items).encode()) == whole


def test_messages_with_a_role_and_a_text_are_plain() -> None:
    assert brief(plain_messages([{"role": "system", "content": "a"}, {"role": "user", "content": "b"}])) == [
        (0, "system", "message", "a"),
        (1, "user", "message", "b"),
    ]
    assert plain_messages([{"role": "user", "content": "a", "type": "message"}]) == ()


@pytest.mark.parametrize("word", ["question", "qu\u00e9stion"])
def test_prompts_that_differ_in_white_space_are_one(word: str) -> None:
    spaced = [f"a {word} of  two", f" a\t{word}\n\n\n of\x0b\x1ctwo\r\n", f"a    {word} of two "]
    marks = {prompt_fingerprint(json.dumps([{"role": "user", "content": text}]).encode()) for text in spaced}
    assert len(marks) == 1
    assert prompt_fingerprint(json.dumps([{"role": "user", "content": f"a{word} of two"}]).encode()) not in marks


@pytest.mark.parametrize(
    "around",
    [
        {"model": "m", "status": "completed", "output": [said("a"), call("go")]},
        {"messages": [{"role": "assistant", "content": "a", "tool_calls": [{"function": {"name": "go"}}]}]},
        {"choices": [{"message": {"role": "assistant", "content": "a", "tool_calls": [{"function": {"name": "go"}}]}}]},
    ],
)
def test_an_object_around_a_trajectory_is_opened(around: object) -> None:
    found = read_steps(json.dumps(around).encode())
    assert [(step.kind, step.text or step.tool) for step in found] == [("message", "a"), ("call", "go")]


def test_a_turn_of_thought_action_and_observation_is_three_steps() -> None:
    turns = [
        {"thought": "Look first.", "action": "ls -la src", "observation": "main.py"},
        {"thought": "", "action": "edit(3)", "observation": "Error: no such line", "state": {}},
        {"action": "42 + 1", "observation": ["43", "\n"]},
    ]
    found = read_steps(json.dumps(turns).encode())
    assert [(step.index, step.kind, step.tool, step.arguments or step.text) for step in found] == [
        (0, "reasoning", None, "Look first."),
        (0, "call", "ls", "ls -la src"),
        (0, "result", "ls", "main.py"),
        (1, "call", "edit", "edit(3)"),
        (1, "result", "edit", "Error: no such line"),
        (2, "call", "action", "42 + 1"),
        (2, "result", "action", "43\n\n"),
    ]
    assert [step.failed for step in found if step.kind == "result"] == [False, True, False]


def test_every_speaker_of_a_talk_between_agents_keeps_its_name() -> None:
    code = "Count them.\n```python\nprint(4)\n```"
    talk = [
        {"name": "Excel_Expert", "role": "assistant", "content": code},
        {"name": "Shell", "role": "user", "content": "exitcode: 0 (execution succeeded)\nCode output: 4\n"},
        {"name": "Checker", "role": "user", "content": "It is 4."},
        {"name": "Shell", "role": "user", "content": "There is no code to run."},
    ]
    steps = read_steps(json.dumps(talk).encode())
    assert [(step.party, step.kind, step.actor, step.tool, step.answers) for step in steps] == [
        ("agent", "message", "Excel_Expert", None, None),
        ("agent", "call", "Excel_Expert", "python", None),
        ("tool", "result", "Shell", "python", 0),
        ("agent", "message", "Checker", None, None),
        ("tool", "message", "Shell", None, None),
    ]


@pytest.mark.parametrize("name", ["role", "speaker", "agent", "sender", "actor"])
def test_who_speaks_is_told_by_any_usual_name(name: str) -> None:
    steps = read_steps(json.dumps([{name: "human", "content": "q"}, {name: "Planner", "content": "p"}]).encode())
    assert [(step.party, step.actor, step.text) for step in steps] == [("user", None, "q"), ("agent", "Planner", "p")]


def test_somebody_beside_the_agent_is_not_the_agent() -> None:
    steps = read_steps(b'[{"role": "assistant", "content": "a"}, {"role": "customer", "content": "c"}]')
    assert [(step.party, step.actor) for step in steps] == [("agent", None), ("user", "customer")]


def test_a_result_without_a_call_is_counted() -> None:
    steps = read_steps(
        b'[{"role": "assistant", "content": "a"}, {"role": "tool", "tool_call_id": "9", "content": "r"}]'
    )
    assert count(steps, None)[0].orphan_results == 1
