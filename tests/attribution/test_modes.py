"""The partition of the failures: every mode once in a table that adds up, the precedence, what is set aside, and random runs."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import blade
from blade.attribution.mode_kinds import KINDS
from blade.attribution.modes import partition
from blade.ingest import jsonl, scan
from blade.ingest.saved import save
from blade.model.diagnosis import NOT_EXPLAINED, Partition, Support
from blade.report.page_one import not_in_files
from blade.report.sections import report
from blade.stats.rollout_index import index_rollouts
from builders import Row, call, response, result, rollout, said, write_jsonl


def parted(folder: Path, *rows: Row) -> Partition:
    """The partition of a run of these rows."""
    return partition(index_rollouts(blade.load_run(write_jsonl(folder / "run.jsonl", rows))))


def modes(found: Partition) -> dict[str, int]:
    return {mode.id: mode.rollouts for mode in found.modes}


def mode_of(folder: Path, row: Row, *others: Row) -> str:
    """The mode of a failed rollout `t#0` among others."""
    table = parted(folder, row | {"task_id": "t", "_ng_rollout_index": 0}, *others).table
    return str(table.row(by_predicate=(pl.col("task_id") == "t") & (pl.col("repeat") == 0), named=True)["mode"])


def did(*calls: tuple[str, Row]) -> list[Row]:
    """A trajectory of calls that succeed."""
    items: list[Row] = []
    for place, (tool, arguments) in enumerate(calls):
        items += [call(tool, json.dumps(arguments), f"c{place}"), result("ok", f"c{place}")]
    return [*items, said("done")]


def want(*calls: tuple[str, Row]) -> list[Row]:
    return [{"name": tool, "kwargs": arguments} for tool, arguments in calls]


SET, PAY, LOOK = ("set", {"a": 1, "b": 2}), ("pay", {"n": 1}), ("get_order", {"id": "x"})
OTHER_SET = ("set", {"a": 1, "b": 9})
CLICK = {"name": "click", "parameters": {"properties": {"x": {"type": "integer"}}, "required": ["x"]}}
HELD = [{"name": f"held {n}", "passed": True} for n in range(3)]


def checks(*failing: str) -> list[Row]:
    return [*({"name": name, "passed": False} for name in failing), *HELD]


EVERY: dict[str, Row] = {
    "machinery": {"error": "APIConnectionError: connection reset by peer"},
    "no-verdict": {"reward_info": None},
    "undecided": {"judge_evaluations": [{"verdict_label": None}]},
    "verifier-failed": {"verifier_error": "the grader could not be started"},
    "declined": {"verdict": "not_attempted", "expected_answer": "4"},
    "judged-wrong": {"judge_output": "I read it twice and it leaves out the second half of what was asked."},
    "cut-memory": {"memory_limit_exceeded": True},
    "cut-tokens": {"stop_reason": "max_output_tokens"},
    "cut-steps": {"stop_reason": "max_turns"},
    "cut-time": {"agent_timed_out": True},
    "cut-program": {"test_results": [{"name": "slow", "passed": False, "error": "Time limit exceeded (2 s)"}]},
    "no-output": {"response": response("")},
    "schema": {"responses_create_params": {"input": "click", "tools": [CLICK]}, "response": response([call("click")])},
    "only-thought": {
        "response": response([{"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]}])
    },
    "no-answer": {"pred": None, "expected_answer": "4", "response": response("I cannot tell.")},
    "not-extracted": {"pred": None, "expected_answer": "4", "response": response("So \\boxed{4}")},
    "several-answers": {"pred": "A or B", "expected_answer": "A"},
    "unwanted-change": {"expected_actions": [], "response": response(did(PAY))},
    "no-change": {"expected_actions": want(PAY), "response": response(did(LOOK))},
    "wrong-argument": {"expected_actions": want(SET), "response": response(did(OTHER_SET))},
    "part-way": {"expected_actions": want(SET, PAY), "response": response(did(SET))},
    "more-than-due": {"expected_actions": want(SET), "response": response(did(SET, PAY))},
    "several-differences": {"expected_actions": want(SET), "response": response(did(OTHER_SET, PAY))},
    "not-said": {"expected_actions": [], "expected_outputs": ["327"], "response": response("No.")},
    "answer-equal": {"pred": "4", "expected_answer": "4"},
    "answer-different": {"pred": "5", "expected_answer": "4"},
    "answer-contained": {"pred": "It fell in 1989, they say.", "expected_answer": "1989"},
    "answer-absent": {"pred": "Obama", "expected_answer": "Barack Obama"},
    "all-checks": {"test_results": [False, False]},
    "one-check": {"checks": checks("only here")},
    "several-checks": {"checks": checks("here", "and here")},
    "lookup-missing": {"expected_actions": want(LOOK)},
    NOT_EXPLAINED: {},
}
"""For each mode with a fixed name a failed row that has it and nothing before it."""
NAMED: dict[str, Row] = {
    "check:has a title": {"checks": checks("has a title")},
    "said:failure_reason: column <text> is missing": {"failure_reason": "column `price` is missing"},
}
PASSING = rollout("p", passed=True, pred="x", checks=HELD)


def every() -> list[Row]:
    """One row a mode; two where the mode is named after something that tasks share."""
    answered: Row = {"pred": "x"}
    once = [rollout(f"t{n}", **(answered | fields)) for n, fields in enumerate(EVERY.values())]
    twice = [rollout(f"u{n}", **(answered | fields)) for n, fields in enumerate([*NAMED.values()] * 2)]
    return [*once, *twice, PASSING]


def test_every_mode_in_one_table_that_sums_to_the_failures(tmp_path: Path) -> None:
    found = parted(tmp_path, *every())
    assert modes(found) == dict.fromkeys(EVERY, 1) | dict.fromkeys(NAMED, 2)
    assert set(KINDS) == set(EVERY) | {"call-missing", "judged-otherwise"}
    assert sum(mode.rollouts for mode in found.modes) == found.table.height == len(EVERY) + 2 * len(NAMED)
    assert found.table.select("task_id", "repeat").is_unique().all()


def test_modes_come_by_size_and_what_is_not_explained_comes_last(tmp_path: Path) -> None:
    found = parted(tmp_path, *every())
    assert found.modes[-1].id == NOT_EXPLAINED
    sizes = [mode.rollouts for mode in found.modes[:-1]]
    assert sizes == sorted(sizes, reverse=True)


def test_each_mode_says_whose_doing_it_is_and_how_it_is_tied_to_the_verdict(tmp_path: Path) -> None:
    found = {mode.id: mode for mode in parted(tmp_path, *every()).modes}
    unsettled = {mode.id for mode in found.values() if mode.support is Support.UNCLEAR}
    assert unsettled == {"lookup-missing", NOT_EXPLAINED}
    assert found["schema"].support is Support.CONSISTENT
    assert {mode.support for mode in found.values() if mode.id not in {*unsettled, "schema"}} == {Support.DIRECT}
    parties = {mode.id: mode.party for mode in found.values()}
    assert {parties["machinery"], parties["no-output"]} == {"harness"}
    assert {mode for mode, party in parties.items() if party == "verifier"} == {
        "no-verdict",
        "undecided",
        "verifier-failed",
        "not-extracted",
        "answer-equal",
    }
    assert {parties[mode] for mode in ("unwanted-change", "no-change", "wrong-argument", "not-said")} == {"agent"}
    assert parties[NOT_EXPLAINED] == "unknown"


def test_the_report_shows_every_failure_once(tmp_path: Path) -> None:
    analysis = blade.analyze(write_jsonl(tmp_path / "run.jsonl", every()))
    text = report(analysis)
    assert f"how the {len(EVERY) + 2 * len(NAMED)} failures failed (each once)" in text
    (one,) = analysis.runs
    counted: Counter[str] = Counter()
    for task in one.tasks:
        assert sum(task.modes.values()) == task.failed
        counted.update(task.modes)
    assert one.diagnosis is not None
    assert counted == {mode.name: mode.rollouts for mode in one.diagnosis.partition.modes}


ACTING: list[tuple[str, Row]] = [
    (NOT_EXPLAINED, {"expected_actions": want(SET, LOOK), "response": response(did(SET, LOOK))}),
    ("lookup-missing", {"response": response(did(SET))}),
    ("one-check", {"checks": checks("only here")}),
    ("said:failure_reason: it is late", {"failure_reason": "it is late"}),
    ("check:shared", {"checks": checks("only here", "shared")}),
    ("not-said", {"expected_outputs": ["327"]}),
    ("more-than-due", {"response": response(did(SET, PAY))}),
    ("several-differences", {"response": response(did(OTHER_SET, PAY))}),
    ("no-change", {"response": response(did(LOOK))}),
    ("unwanted-change", {"expected_actions": [], "response": response(did(SET))}),
    ("cut-steps", {"stop_reason": "max_steps"}),
    ("verifier-failed", {"judge_error": "no reply"}),
    ("machinery", {"error": "rate limit reached"}),
]
ANSWERING: list[tuple[str, Row]] = [
    (NOT_EXPLAINED, {"pred": "an essay", "expected_answer": "A rubric in many words. " * 20}),
    ("one-check", {"checks": checks("only here")}),
    ("said:failure_reason: it is late", {"failure_reason": "it is late"}),
    ("answer-different", {"pred": "5", "expected_answer": "4"}),
    ("check:shared", {"checks": checks("only here", "shared")}),
    ("several-answers", {"pred": "4 or 5"}),
    ("no-answer", {"pred": None, "response": response("I cannot tell.")}),
    ("no-output", {"response": response("")}),
    ("cut-tokens", {"stop_reason": "length"}),
    ("verifier-failed", {"judge_error": "no reply"}),
    ("machinery", {"error": "rate limit reached"}),
]


@pytest.mark.parametrize("ladder", [ACTING, ANSWERING], ids=["actions", "answers"])
def test_whatever_is_added_moves_a_rollout_up_the_precedence(tmp_path: Path, ladder: list[tuple[str, Row]]) -> None:
    others = [rollout(f"o{n}", pred="x", checks=checks("shared")) for n in range(2)]
    row = rollout()
    for mode, fields in ladder:
        row |= fields
        assert mode_of(tmp_path, row, *others) == mode


# What is set aside.


def test_a_difference_that_passing_rollouts_share_is_set_aside(tmp_path: Path) -> None:
    extra: Row = {"expected_actions": want(SET), "response": response(did(SET, PAY))}
    passing = [rollout("t", repeat=n, passed=True, **extra) for n in (1, 2)]
    assert mode_of(tmp_path, rollout(**extra)) == "more-than-due"
    assert mode_of(tmp_path, rollout(**extra), *passing) == NOT_EXPLAINED
    assert ("extra", "pay", "") in parted(tmp_path, rollout("t", **extra), *passing).set_aside


def test_one_lucky_pass_sets_nothing_aside(tmp_path: Path) -> None:
    extra: Row = {"expected_actions": want(SET), "response": response(did(SET, PAY))}
    assert mode_of(tmp_path, rollout(**extra), rollout("t", repeat=1, passed=True, **extra)) == "more-than-due"


@pytest.mark.parametrize(("failing", "mode"), [(8, NOT_EXPLAINED), (9, "more-than-due")])
def test_a_difference_is_set_aside_from_a_fifth_of_passes_on(tmp_path: Path, failing: int, mode: str) -> None:
    extra: Row = {"expected_actions": want(SET), "response": response(did(SET, PAY))}
    rows = [rollout("t", repeat=n, passed=n >= failing, **extra) for n in range(failing + 2)]
    assert modes(parted(tmp_path, *rows)) == {mode: failing}


def test_what_else_differs_still_counts(tmp_path: Path) -> None:
    extra: Row = {"expected_actions": want(SET), "response": response(did(SET, PAY))}
    passing = [rollout("t", repeat=n, passed=True, **extra) for n in (1, 2)]
    worse = rollout(expected_actions=want(SET), output=did(OTHER_SET, PAY))
    assert mode_of(tmp_path, worse, *passing) == "wrong-argument"


def test_words_that_one_passing_rollout_has_too_are_set_aside(tmp_path: Path) -> None:
    spoken: Row = {"failure_reason": "it is late"}
    assert mode_of(tmp_path, rollout(**spoken)) == "said:failure_reason: it is late"
    assert mode_of(tmp_path, rollout(**spoken), rollout("p", passed=True, **spoken)) == NOT_EXPLAINED


@pytest.mark.parametrize("word", ["failed", "Incorrect", "user_stop"])
def test_words_that_repeat_the_verdict_explain_nothing(tmp_path: Path, word: str) -> None:
    assert mode_of(tmp_path, rollout(status=word)) == NOT_EXPLAINED


def test_an_account_that_most_rollouts_lack_says_nothing(tmp_path: Path) -> None:
    empty = [rollout("t", repeat=n, reward_info=None) for n in range(2)]
    filled = [rollout("t", repeat=n, passed=True, reward_info={"reward": 1.0}) for n in (2, 3)]
    assert modes(parted(tmp_path, *empty, *filled)) == {"no-verdict": 2}
    assert modes(parted(tmp_path, *empty, filled[0])) == {NOT_EXPLAINED: 2}


def test_no_answer_is_a_mode_only_where_answers_are_extracted_at_all(tmp_path: Path) -> None:
    silent: Row = {"pred": None, "response": response("I cannot tell.")}
    rows = [rollout("t", repeat=n, **silent) for n in range(3)]
    assert modes(parted(tmp_path, *rows)) == {NOT_EXPLAINED: 3}
    assert modes(parted(tmp_path, *rows, *(rollout("u", repeat=n, pred="x", passed=True) for n in range(3)))) == {
        "no-answer": 3
    }


def test_rollouts_that_were_not_judged_are_no_failures(tmp_path: Path) -> None:
    extra: Row = {"expected_actions": [], "response": response(did(PAY))}
    rows = [rollout("t", repeat=0, **extra), rollout("t", repeat=1, **extra) | {"reward": None}]
    rows.append(rollout("t", repeat=2, **extra) | {"reward": None, "error": "sandbox died"})
    assert modes(parted(tmp_path, *rows)) == {"unwanted-change": 1}


def test_a_run_without_failures_has_no_mode(tmp_path: Path) -> None:
    found = parted(tmp_path, rollout("t", passed=True))
    assert (found.modes, found.table.height) == ((), 0)


def test_a_saved_analysis_whose_rollouts_are_gone_is_still_measured(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "run.jsonl", [rollout("t", repeat=n, passed=n == 0) for n in range(2)])
    folder = tmp_path / "out"
    folder.mkdir()
    save(blade.load_run(path), folder, at=folder)
    path.unlink()
    (one,) = blade.analyze(folder).runs
    assert one.metrics.counts["failed_rollouts"] == 1


# Near misses, and where.


def test_near_misses_are_counted_and_the_first_step_that_differs_is_kept(tmp_path: Path) -> None:
    rows = [
        rollout("a", expected_actions=want(LOOK, SET), output=did(LOOK, OTHER_SET)),
        rollout("b", expected_actions=want(("set", {"a": 1, "b": 2, "c": 3})), output=did(("set", {"a": 1}))),
    ]
    found = parted(tmp_path, *rows)
    assert found.table.select("task_id", "near", "step").rows() == [("a", True, 2), ("b", False, 0)]
    assert [(mode.id, mode.note.split()[:3]) for mode in found.modes] == [("wrong-argument", ["1", "of", "them"])]


def test_one_of_three_tests_is_near_and_one_of_two_is_not(tmp_path: Path) -> None:
    rows = [rollout("a", test_results=[False, True, True]), rollout("b", test_results=[False, True])]
    assert parted(tmp_path, *rows).table.select("task_id", "mode", "near").rows() == [
        ("a", "one-check", True),
        ("b", "one-check", False),
    ]


def test_a_rollout_that_fails_twelve_of_twelve_tests_meets_none(tmp_path: Path) -> None:
    others = [rollout("p", passed=True, test_results=[True] * 12)]
    assert mode_of(tmp_path, rollout(test_results=[False] * 12), *others) == "all-checks"


@pytest.mark.parametrize(
    ("names", "mode"),
    [((("case", False), ("case", False), ("other", True)), "several-checks"), ((("case", False),) * 2, "all-checks")],
)
def test_tests_of_one_name_are_counted_each(tmp_path: Path, names: tuple[tuple[str, bool], ...], mode: str) -> None:
    listed = [{"name": name, "passed": passed} for name, passed in names]
    assert mode_of(tmp_path, rollout(checks=listed), rollout("p", passed=True, checks=HELD)) == mode


# Random runs.

FEATURES: list[Row] = [
    *EVERY.values(),
    *NAMED.values(),
    {"checks": checks("a", "b")},
    {"failure_reason": "row 17 is odd"},
]


@st.composite
def runs(draw: st.DrawFn) -> list[Row]:
    rows = []
    for task in range(draw(st.integers(1, 4))):
        for repeat in range(draw(st.integers(1, 4))):
            row = rollout(index=task, repeat=repeat)
            for fields in draw(st.lists(st.sampled_from(FEATURES), max_size=3)):
                row |= fields
            rows.append(row | {"reward": draw(st.sampled_from([0.0, 0.0, 1.0, None, 0.5]))})
    return rows


def table_of(rows: list[Row]) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    """The table of a partition, and its modes."""
    with TemporaryDirectory() as folder:
        found = parted(Path(folder), *rows)
    return found.table.rows(), [(m.id, m.name, m.party, m.support, m.rollouts, m.tasks, m.note) for m in found.modes]


@settings(max_examples=10, deadline=None)
@given(runs(), st.randoms(use_true_random=False))
def test_the_partition_sums_to_the_failures_whatever_the_order_of_rows(rows: list[Row], shuffled: Any) -> None:
    table, found = table_of(rows)
    failing = [(str(row["_ng_task_index"]), row["_ng_rollout_index"]) for row in rows if row["reward"] in (0.0, 0.5)]
    assert sorted((task, repeat) for task, repeat, *_ in table) == sorted(failing)
    assert Counter(mode for _, _, mode, *_ in table) == {mode: rollouts for mode, _, _, _, rollouts, *_ in found}
    assert all(tasks == len({task for task, _, mine, *_ in table if mine == mode}) for mode, *_, tasks, _ in found)
    order = list(rows)
    shuffled.shuffle(order)
    assert table_of(order) == (table, found)


def test_where_no_key_wants_a_change_its_look_ups_are_judged(tmp_path: Path) -> None:
    asked = want(LOOK)
    rows = [
        rollout("a", repeat=0, passed=True, output=did(LOOK), expected_actions=asked),
        rollout("a", repeat=1, output=did(("get_order", {"id": "y"})), expected_actions=asked),
        rollout("a", repeat=2, output=did(("get_weather", {"city": "x"})), expected_actions=asked),
    ]
    found = dict(parted(tmp_path, *rows).table.select("repeat", "mode").iter_rows())
    assert found == {1: "wrong-argument", 2: "call-missing"}


def test_an_agent_that_acts_in_text_is_not_blamed_for_calls(tmp_path: Path) -> None:
    row = rollout(expected_actions=want(PAY), output="```bash\nls\n```", failure_reason="command_mismatch")
    assert mode_of(tmp_path, row, PASSING) == "said:failure_reason: command_mismatch"


def test_an_agent_that_never_calls_the_tools_it_is_offered_makes_no_change(tmp_path: Path) -> None:
    asked: Row = {"responses_create_params": {"input": "Set it.", "tools": [{"type": "function", **CLICK}]}}
    rows = [rollout(f"t{n}", expected_actions=want(PAY), output=[said("done")], **asked) for n in range(4)]
    assert modes(parted(tmp_path, *rows)) == {"no-change": 4}


HEARD: dict[str, Row] = {
    "said:parse_failed: parse_failed": {"parse_failed": True},
    "said:metadata.report.patch_successfully_applied: patch_successfully_applied: false": {
        "metadata": {"report": {"patch_successfully_applied": False}}
    },
    "cut-time": {"agent_timeout_error": 1},
    "machinery": {"error": "vllm.engine.EngineDeadError: EngineCore encountered an issue"},
    "several-checks": {"metadata": {"verifier_result": {"rewards": {"n_passed": 21, "n_criteria": 23}}}},
}


@pytest.mark.parametrize("mode", HEARD)
def test_flags_totals_and_harness_errors_are_heard(tmp_path: Path, mode: str) -> None:
    assert mode_of(tmp_path, rollout(pred="x") | HEARD[mode], PASSING) == mode


def test_a_total_that_is_nearly_met_is_near(tmp_path: Path) -> None:
    near = parted(tmp_path, rollout("t", pred="x", f2p_passed=76, f2p_total=82, p2p_passed=9, p2p_total=9), PASSING)
    assert near.table["near"].to_list() == [True]


def test_one_pass_does_not_silence_a_word_of_many_failures(tmp_path: Path) -> None:
    rows = [rollout(f"t{n}", failure_reason="missing_citation") for n in range(9)]
    found = parted(tmp_path, *rows, rollout("p", passed=True, failure_reason="missing_citation"))
    assert modes(found) == {"said:failure_reason: missing_citation": 9}


@pytest.mark.parametrize(
    ("mode", "fields"),
    [
        ("answer-absent", {"pred": "Obama", "expected_answer": "Barack Obama", "judge_output": "B"}),
        ("answer-absent", {"pred": "Obama", "expected_answer": "Barack Obama", "verdict": "(2)"}),
        ("answer-absent", {"pred": "Obama", "expected_answer": "Barack Obama", "gt_remove_reason": "two words"}),
        ("one-check", {"pred": "4", "expected_answer": "4", "answer_match": 1.0, "citation_match": 0.0}),
        ("one-check", {"checks": checks("only here"), "judge_text": "I read it, and it leaves out the second half."}),
        ("judged-wrong", {"fairness_judgment": "It argues for one side only, and not for the other."}),
        ("declined", {"pred": "[IDK]", "expected_answer": "4", "verdict": "abstain"}),
        ("verifier-failed", {"pred": "5", "expected_answer": "4", "scoring_error": "no reply in 60 seconds"}),
        ("said:error: no code block found", {"error": "no code block found"}),
        (
            "said:lean_messages.0.data: unsolved goals",
            {"lean_messages": [{"severity": "error", "data": "unsolved goals"}]},
        ),
        ("said:step_errors: AssertionError", {"step_errors": [None, "AssertionError"]}),
        ("machinery", {"mask_sample": True, "pred": "5", "expected_answer": "4"}),
        ("machinery", {"mask_sample": True, "failure_kind": "session_lost"}),
        ("verifier-failed", {"mask_sample": True, "failure_kind": "judge_failed", "failure_reason": "no reply"}),
        ("cut-time", {"mask_sample": True, "agent_timed_out": True}),
        ("cut-steps", {"mask_sample": True, "agent_error_kind": "max_iteration"}),
        ("verifier-failed", {"mask_sample": True, "eval_timed_out": True}),
        ("verifier-failed", {"evaluation_completed": False}),
        ("said:apply_failed: apply_failed", {"evaluation_completed": False, "apply_failed": True}),
        ("said:failure_kind: degraded", {"mask_sample": False, "failure_kind": "degraded"}),
        ("cut-tokens", {"truncated": True}),
        (NOT_EXPLAINED, {"pred": "A", "label": 1}),
        ("several-checks", {"steps_matched": 9, "steps_total": 13}),
        ("cut-steps", {"truncated": True, "response": response(did(LOOK))}),
        (NOT_EXPLAINED, {"agent_timeout_sec": 1}),
    ],
)
def test_what_verifiers_write_in_other_words(tmp_path: Path, mode: str, fields: Row) -> None:
    assert mode_of(tmp_path, rollout("t", **fields), rollout("p", passed=True, pred="x", citation_match=1.0)) == mode


def test_words_of_one_shape_in_a_list_are_one_mode(tmp_path: Path) -> None:
    rows = [rollout("a", step_errors=["AssertionError"]), rollout("b", step_errors=[None, None, "AssertionError"])]
    (mode,) = parted(tmp_path, *rows, rollout("p", passed=True)).modes
    assert (mode.name, mode.rollouts) == ("the verifier says: AssertionError", 2)


def test_a_harness_that_writes_down_no_word_of_the_agent_is_not_blamed_for_failures(tmp_path: Path) -> None:
    mute: dict[str, Any] = {"response": {"output": []}}
    failing = [rollout("a", compiled=False, **mute), rollout("b", **mute)]
    assert modes(parted(tmp_path, *failing)) == {"no-output": 2}
    rows = [*failing, rollout("p", passed=True, compiled=True, **mute)]
    assert modes(parted(tmp_path, *rows)) == {"said:compiled: compiled: false": 1, NOT_EXPLAINED: 1}
    analysis = blade.analyze(write_jsonl(tmp_path / "run.jsonl", rows)).runs[0]
    assert analysis.diagnosis is not None
    assert not analysis.diagnosis.doubts
    assert "trajectories" in not_in_files(analysis)


@pytest.mark.parametrize("account", ["reward_breakdown", "reward_components"])
def test_parts_of_the_reward_do_not_stand_before_the_calls_that_they_judge(account: str, tmp_path: Path) -> None:
    done = [did(SET), did(SET), did(OTHER_SET), did(LOOK)]
    rows = [
        rollout(
            f"t{place}",
            passed=place % 4 < 2,
            output=done[place % 4],
            expected_actions=want(SET),
            reward_info={account: {"DB": float(place % 4 < 2), "TOLD": 1.0}},
        )
        for place in range(12)
    ]
    diagnosis = blade.analyze(write_jsonl(tmp_path / "run.jsonl", rows)).runs[0].diagnosis
    assert diagnosis is not None
    assert [finding.id for finding in diagnosis.findings] == ["argument:set:b", "left-out:set"]


def test_one_way_to_fail_is_one_mode_wherever_in_a_large_file_it_stands(tmp_path: Path) -> None:
    words = {"z_reason": "the unit is wrong", "b_reason": "came late"}
    failed = [rollout(f"t{place}", output=[said("x" * 2_000)]) | words for place in range(2_400)]
    path = write_jsonl(tmp_path / "run.jsonl", [rollout("p", passed=True, output=[said("y")]), *failed])
    assert path.stat().st_size > 2 * jsonl.TOGETHER
    assert len(failed) > 2 * scan.ROWS
    # What was learned of the file the first time must not show the second time.
    for _ in range(2):
        assert modes(partition(index_rollouts(blade.load_run(path)))) == {"said:b_reason: came late": 2_400}


def test_with_partial_credit_only_low_rewards_have_a_wrong_answer(tmp_path: Path) -> None:
    rows = [
        rollout(f"t{n}", output=f"So it is {n}.", reward=n / 10, expected_answer="Bern", pred=f"x{n}") for n in range(9)
    ]
    found = parted(tmp_path, *rows)
    assert modes(found) == {"answer-absent": 3, NOT_EXPLAINED: 6}


def test_a_sentence_is_no_key_that_must_be_held(tmp_path: Path) -> None:
    row = rollout(output="Der Zug geht um acht Uhr ab.", reference="Der Zug mit Halt in Bonn und in Ulm um acht")
    assert mode_of(tmp_path, row) == NOT_EXPLAINED


def test_a_comment_of_a_grader_is_read(tmp_path: Path) -> None:
    row = rollout(output="Assume it holds for n.", grader_comment="The base case is missing.")
    assert mode_of(tmp_path, row) == "said:grader_comment: The base case is missing."


def test_an_environment_that_refuses_a_turn_says_why(tmp_path: Path) -> None:
    def played(task: str, *, passed: bool) -> Row:
        heard = "You are in room 2." if passed else "Invalid action: no <action> tag found."
        return rollout(task, passed=passed, output=[said("I go north."), said(heard, "user")])

    rows = [played("t", passed=False), *(played(f"u{n}", passed=n > 1) for n in range(4))]
    found = blade.analyze(write_jsonl(tmp_path / "run.jsonl", rows)).runs[0].diagnosis
    assert found is not None
    (mode,) = found.partition.modes
    assert (mode.name, mode.rollouts) == ("the environment says: Invalid action: no <action> tag found.", 3)
    assert mode.evidence is not None
    assert (mode.evidence.step, mode.evidence.quote) == (1, "Invalid action: no <action> tag found.")
    (one,) = found.findings
    assert one.title == 'The environment says "Invalid action: no <action> tag found."'
