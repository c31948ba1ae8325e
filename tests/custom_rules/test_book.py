"""`blade.yaml`: read whole, or refused with file and line; and what it does to an analysis."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from blade.analysis import analyze, load
from blade.custom_rules.read_rule_book import rule_book_at
from blade.model.errors import ArtifactError, RequestError
from blade.model.options import Options
from builders import call, result, rollout, said, write_jsonl

WHOLE = """\
benchmark: shop
pass_threshold: 0.5
task_id: case
slices: [tier]
group: customer
tools:
  changing: [lookup_and_lock]
  reading: [update_view]
funnel:
  - stage: looked up
    rule: call lookup_and_lock
  - stage: told the customer
    rule: message[party = "agent"]
labels:
  - name: locked-twice
    message: An order is locked twice.
    cause: behavior
    direct: true
    rule: call lookup_and_lock as a then call lookup_and_lock[args.id = a.args.id]
    fix: {kind: harness, action: refuse a second lock}
"""


def rows() -> list[dict[str, object]]:
    once = [call("lookup_and_lock", '{"id": 7}', "a"), result("locked", "a"), said("Done.")]
    twice = [call("lookup_and_lock", '{"id": 7}', "a"), result("locked", "a"), *once]
    made = []
    for number in range(12):
        for repeat in range(2):
            bad = number < 4 and repeat == 0
            row = rollout(
                repeat=repeat, prompt=f"case {number}", output=twice if bad else once, reward=0.0 if bad else 0.6
            )
            made.append(row | {"case": f"c{number}", "tier": "gold" if number % 2 else "base", "customer": number // 3})
    return made


@pytest.fixture
def book(tmp_path: Path) -> Path:
    path = tmp_path / "pack" / "skill" / "blade.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(WHOLE, encoding="utf-8")
    return path


def test_everything_is_taken(tmp_path: Path, book: Path) -> None:
    path = write_jsonl(tmp_path / "rollouts.jsonl", rows())
    options = Options(rule_book=rule_book_at(book))
    (run,) = load([str(path)], options)
    one = analyze([run], options).runs[0]
    assert run.pass_threshold == 0.5
    assert run.tasks["task_id"].to_list() == [f"c{n}" for n in range(12)]
    assert run.tasks["group"].n_unique() == 4
    assert "slice.tier" in run.tasks.columns
    stages = {stage.name: stage.rollouts for stage in one.metrics.funnel.stages}
    assert (stages["looked up"], stages["told the customer"]) == (24, 24)
    assert run.rule_book_name is not None
    assert run.rule_book_name.startswith("blade.yaml (")


def test_a_label_decides_causes_and_makes_a_finding(tmp_path: Path, book: Path) -> None:
    path = write_jsonl(tmp_path / "rollouts.jsonl", rows())
    options = Options(rule_book=rule_book_at(book))
    found = analyze(load([str(path)], options), options).runs[0].diagnosis
    assert found is not None
    assert {task: cause.decided_by for task, cause in found.causes.items()} == dict.fromkeys(
        ("c0", "c1", "c2", "c3"), "package:locked-twice"
    )
    mine = [finding for finding in found.findings if finding.id == "label:locked-twice"]
    assert [(one.kind, one.fix, one.rollouts, one.tasks) for one in mine] == [("harness", "refuse a second lock", 4, 4)]
    assert mine[0].evidence[0].quote == '{"id": 7}'


def test_a_label_that_passes_carry_too_is_not_direct(tmp_path: Path, book: Path) -> None:
    everywhere = [dict(row, response=rows()[0]["response"]) for row in rows()]
    path = write_jsonl(tmp_path / "rollouts.jsonl", everywhere)
    options = Options(rule_book=rule_book_at(book))
    found = analyze(load([str(path)], options), options).runs[0].diagnosis
    assert found is not None
    (detect,) = [one for one in found.rule_statistics if one.code == "locked-twice"]
    assert (detect.fired_failed, detect.fired_passed, str(detect.support)) == (4, 20, "unclear")
    assert all("locked-twice" not in cause.decided_by for cause in found.causes.values())


def test_rollouts_of_a_label_can_be_left_out(tmp_path: Path, book: Path) -> None:
    path = write_jsonl(tmp_path / "rollouts.jsonl", rows())
    options = Options(rule_book=rule_book_at(book), exclude=("code:locked-twice",))
    one = analyze(load([str(path)], options), options).runs[0]
    assert one.metrics.counts["total_rollouts"] == 20
    with pytest.raises(RequestError):
        analyze(load([str(path)], Options()), Options(exclude=("code:locked-twice",)))


def test_taught_tools_reach_the_key(tmp_path: Path, book: Path) -> None:
    key = [{"name": "update_view", "arguments": {}}]
    path = write_jsonl(tmp_path / "rollouts.jsonl", [dict(row, expected_actions=key) for row in rows()])
    (plain,) = load([str(path)], Options())
    (run,) = load([str(path)], Options(rule_book=rule_book_at(book)))
    assert set(plain.tasks["key_expects"]) == {"one change"}
    assert set(run.tasks["key_expects"]) == {"nothing"}


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("labels: [", 1, "expected the node content"),
        ("pass_threshold: high", 1, "'high' is no number"),
        ("pass_threshold: .nan", 1, "no number"),
        ("benchmark: a\nbenchmark: b", 2, "twice"),
        ("a: 1\nlabel: []", 1, "nothing is called 'a'"),
        ("slices: tier", 1, "a list was expected"),
        ("labels:\n  - name: x\n    cause: behavior", 2, "'rule' is missing"),
        ("labels:\n  - name: x\n    cause: bad\n    rule: call x", 3, "'bad' is no cause"),
        ("labels:\n  - name: BEH001\n    cause: behavior\n    rule: call x", 2, "cannot name a label"),
        ("labels:\n  - name: x\n    cause: behavior\n    rule: call x[", 4, "a value should"),
        ("labels:\n  - name: x\n    cause: behavior\n    rule: |\n      call x\n      and foo", 6, "'foo'"),
        (
            "labels:\n  - {name: x, cause: behavior, rule: call x}\n  - {name: x, cause: behavior, rule: call x}",
            3,
            "second",
        ),
        ("labels:\n  - {name: x, cause: data, rule: call x, fix: {kind: luck, action: x}}", 2, "'luck' is no kind"),
        ("- a", 1, "names with values"),
    ],
)
def test_errors_name_file_and_line(tmp_path: Path, text: str, line: int, what: str) -> None:
    path = tmp_path / "blade.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ArtifactError) as caught:
        rule_book_at(path)
    assert caught.value.message.startswith(f"blade.yaml:{line}: ")
    assert what in caught.value.message
    assert caught.value.hint


def test_an_empty_book_teaches_nothing(tmp_path: Path) -> None:
    path = tmp_path / "blade.yaml"
    path.write_bytes(b"")
    assert rule_book_at(path).labels == ()


def test_a_field_that_no_row_has_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "blade.yaml"
    path.write_text("task_id: nowhere", encoding="utf-8")
    data = write_jsonl(tmp_path / "rollouts.jsonl", rows())
    with pytest.raises(RequestError, match="no row has a field 'nowhere'"):
        load([str(data)], Options(rule_book=rule_book_at(path)))


def test_an_earlier_analysis_keeps_its_package(tmp_path: Path, book: Path) -> None:
    from blade.write import write

    path = write_jsonl(tmp_path / "rollouts.jsonl", rows())
    options = Options(rule_book=rule_book_at(book))
    write(analyze(load([str(path)], options), options), tmp_path / "out")
    (again,) = load([str(tmp_path / "out")], options)
    assert again.rule_book_name == f"blade.yaml ({options.rule_book.digest if options.rule_book else ''})"
    told = json.loads(next((tmp_path / "out").glob("*/metrics.json")).read_text())
    assert told["package"] == again.rule_book_name
    book.write_text("benchmark: shop", encoding="utf-8")
    with pytest.raises(RequestError, match="another package"):
        load([str(tmp_path / "out")], Options(rule_book=rule_book_at(book)))
