"""Closing after a call that failed is one habit, whatever was still due."""

from __future__ import annotations

from pathlib import Path

import blade
from blade.model.diagnosis import Finding
from builders import Row, call, result, rollout, said, write_jsonl

ERROR = "Error: page_size must be from 1 to 10."


def asked(task: str, tool: str, *, worked: bool, error: str = ERROR) -> Row:
    """A task that wants one call of a tool after a search, which fails in the rollouts that give up."""
    found = "found it" if worked else error
    items = [call("search", '{"page_size": 20}', "s"), result(found, "s")]
    items += [call(tool, '{"id": "7"}', "d"), result("done", "d"), said("Done.")] if worked else [said("I could not.")]
    want = [{"name": tool, "kwargs": {"id": "7"}}]
    return rollout(task, passed=worked, repeat=int(worked), output=items, expected_actions=want)


def findings(folder: Path, *rows: Row) -> tuple[Finding, ...]:
    diagnosis = blade.analyze(write_jsonl(folder / "r.jsonl", rows)).runs[0].diagnosis
    assert diagnosis is not None
    return diagnosis.findings


def test_giving_up_before_several_tools_is_one_finding(tmp_path: Path) -> None:
    tools = ("delete_mail", "delete_event", "delete_task")
    rows = [asked(f"{tool}-{n}", tool, worked=worked) for tool in tools for n in range(3) for worked in (False, True)]
    (first,) = findings(tmp_path, *rows)
    assert (first.title, first.rollouts, first.tasks) == ("Gives up after a failed call", 9, 9)
    assert "`delete_event` in 3, `delete_mail` in 3, `delete_task` in 3" in first.what
    assert f'`search` fails (:1) "{ERROR}"; it ends with (:2) "I could not."' in first.against


def test_giving_up_before_one_tool_is_told_with_the_tool(tmp_path: Path) -> None:
    rows = [asked(f"t{n}", "delete_mail", worked=worked) for n in range(3) for worked in (False, True)]
    (first,) = findings(tmp_path, *rows)
    assert first.title == "Leaves out a required `delete_mail` call"
    assert "in 3 the agent gives up after an error" in first.what


def test_leaving_a_change_out_after_a_search_that_worked_is_no_giving_up(tmp_path: Path) -> None:
    tools = ("delete_mail", "delete_event")
    rows = [
        asked(f"{tool}-{n}", tool, worked=worked, error="nothing like it")
        for tool in tools
        for n in range(3)
        for worked in (False, True)
    ]
    assert not any(one.title == "Gives up after a failed call" for one in findings(tmp_path, *rows))


def test_a_sentence_of_another_matter_declines_nothing(tmp_path: Path) -> None:
    def closed(task: str, words: str) -> Row:
        items = [call("search", "{}", "s"), result("found it", "s"), said(words)]
        want = [{"name": "send_certificate", "kwargs": {"amount": 50}}]
        return rollout(task, output=items, expected_actions=want)

    other = [closed(f"t{n}", "I cannot tell why the flight was late.") for n in range(3)]
    (one,) = findings(tmp_path, *other)
    assert "decline" not in one.what
    mine = [closed(f"t{n}", "I cannot give you a certificate for this.") for n in range(3)]
    (one,) = findings(tmp_path, *mine)
    assert "Of the 3 read: in 3 the agent declines" in one.what
