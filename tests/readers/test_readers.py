"""Readers' attributions through the commands: what is stored, what is refused, and what an analysis makes of it."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import blade
from blade.model.attribution import UNATTRIBUTED
from blade.modes.catalog import by_code
from blade.readers.store import append
from builders import Row, call, result, rollout, said, write_jsonl
from commands import command

WORDS = "I could not find the order, so I give up."


def failing(task: str, repeat: int = 0, text: str = WORDS, **more: Any) -> Row:
    output = [call("get_order", '{"id": "x\\u00e9-7"}'), result("no such order"), said(text)]
    return rollout(task, repeat=repeat, output=output, expected_answer="4", **more)


def rollouts(folder: Path, *more: Row) -> Path:
    rows = [failing(task, repeat) for task in ("a", "b") for repeat in range(2)]
    rows += [rollout(task, repeat=2, passed=True, output="4", expected_answer="4") for task in ("a", "b")]
    return write_jsonl(folder / "run.jsonl", [*rows, *more])


def stored(folder: Path) -> list[Row]:
    return [json.loads(line) for line in (folder / "attributions.jsonl").read_text("utf-8").splitlines()]


def attributions(run: Path) -> dict[str, Row]:
    table = blade.analyze(run).attributions
    return {f"{row['task_id']}#{row['repeat']}": row for row in table.iter_rows(named=True)}


def test_a_reader_overrules_a_rule_and_everything_is_recounted(tmp_path: Path) -> None:
    run = rollouts(tmp_path)
    before = blade.analyze(run).runs[0]
    for task in ("a#0", "a#1"):
        words = ("--mode", "service-unavailable", "--party", "environment", "--quote", "no such order", "--as", "ann")
        assert command("attribute", run, task, *words, "--note", "the shop was down").code == 0
    after = blade.analyze(run).runs[0]
    assert before.diagnosis is not None
    assert after.diagnosis is not None
    row = attributions(run)["a#0"]
    assert [row[name] for name in ("mode", "party", "by", "confidence", "infra", "note")] == [
        "service-unavailable", "environment", "ann", "likely", True, "the shop was down",
    ]  # fmt: skip
    assert row["evidence"] == [{"quote": "no such order", "field": "text", "step": 1}]
    modes = {mode.id: mode.rollouts for mode in after.diagnosis.partition.modes}
    assert modes["service-unavailable"] == 2
    assert sum(modes.values()) == 4
    excluded = {score.name: score for score in after.metrics.scores}
    assert excluded["infra_excluded"].value == pytest.approx((1.0 + 1 / 3) / 2)
    assert str(after.diagnosis.causes["a"].cause) == "infra"
    assert after.diagnosis.causes["a"].decided_by == "ann"
    assert str(before.diagnosis.causes["a"].cause) != "infra"
    assert any(finding.id.startswith("service-unavailable") for finding in after.diagnosis.findings)


def test_the_first_lines_say_whose_attributions_count(tmp_path: Path) -> None:
    run = rollouts(tmp_path)
    command("attribute", run, "a#0", "--mode", "handed-back", "--quote", "I give up", "--as", "ann")
    lines = command("analyze", run).out.splitlines()
    assert lines[1] == "readers: 1 attribution used (ann 1), from attributions.jsonl"
    command("analyze", run, "-o", tmp_path / "out")
    assert "**Readers.** 1 rollout attributed by readers (ann 1)" in (tmp_path / "out" / "report.md").read_text("utf-8")
    assert command("analyze", tmp_path / "out").out.splitlines()[1] == lines[1]
    saved = pl.read_parquet(tmp_path / "out" / tmp_path.name / "attributions.parquet")
    assert saved.filter(pl.col("by") == "ann").height == 1
    document = json.loads((tmp_path / "out" / tmp_path.name / "findings.json").read_text("utf-8"))
    assert document["readers"]["by"] == {"ann": 1}


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("a#0", "--mode", "handed-bakc", "--quote", WORDS), "did you mean handed-back"),
        (("a#0", "--mode", "qqqq", "--quote", WORDS), "`blade modes` lists them"),
        (("a#9", "--mode", "handed-back", "--quote", WORDS), "it has a#0, a#1, a#2"),
        (("zz#0", "--mode", "handed-back", "--quote", WORDS), "has no task 'zz'"),
        (("a", "--mode", "handed-back", "--quote", WORDS), "TASK#REPEAT"),
        (("a#0", "--mode", "handed-back", "--quote", "I could find no order and so I gave up"), f'nearest, a#0:2: "{WORDS[:10]}'),
        (("a#0", "--mode", "handed-back", "--quote", "..."), "too short"),
        (("a#0", "--mode", "handed-back", "--quote", "x" * 301), "at most 300"),
        (("a#0", "--mode", "handed-back"), "neither a quote nor a note"),
        (("a#0", "--mode", "handed-back", "--note", "x", "--confidence", "proven"), "proven without a quote"),
        (("a#0", "--quote", WORDS), "no mode is given"),
        (("a#0", "--mode", "handed-back", "--quote", WORDS, "--party", "them"), "one of agent, user_simulator"),
        (("a#0", "--mode", "handed-back", "--quote", WORDS, "--confidence", "sure"), "proven, likely or suspected"),
        (("a#0", "--mode", "none", "--note", "x"), "is for passes"),
        (("a#2", "--mode", "unattributed"), "`none`: nothing is wrong with it"),
        (("a#0", "--define", "lost-it", "It loses the thread.", "--note", "x"), "without a party"),
        (("a#0", "--define", "Lost It", "It loses the thread.", "--party", "agent", "--note", "x"), "is no code"),
        (("a#0", "--define", "handed-back", "It gives up.", "--party", "agent", "--note", "x"), "exists"),
        (("a#0", "--define", "lost-it", "It forgets.", "--party", "agent", "--quote", "not there at all"), "not there"),
        (("a#0", "--remove"), "has said nothing of a#0"),
    ],
)  # fmt: skip
def test_what_cannot_be_stored_is_refused_with_what_helps(words: tuple[str, ...], says: str, tmp_path: Path) -> None:
    done = command("attribute", rollouts(tmp_path), *words, "--as", "ann")
    assert done.code == 2
    assert says in done.error
    assert not (tmp_path / "attributions.jsonl").exists()


@pytest.mark.parametrize("name", ["", "rule:mine", "package:x", "person", "a\nb", "x" * 61])
def test_a_reader_cannot_have_the_name_of_a_rule(name: str, tmp_path: Path) -> None:
    done = command("attribute", rollouts(tmp_path), "a#0", "--mode", "handed-back", "--note", "x", "--as", name)
    assert done.code == 2


@pytest.mark.parametrize(
    ("quote", "field", "step"),
    [
        ("could not find the order, so I give up", "text", 2),
        ("could  not\n find the order", "text", 2),
        ("I could not ... I give up", "text", 2),
        ("xé-7", "arguments", 0),
        ("get_order", "tool", 0),
        ('"expected_answer": "4"', "", None),
    ],
)
def test_quotes_are_found_where_they_stand(quote: str, field: str, step: int | None, tmp_path: Path) -> None:
    command("attribute", rollouts(tmp_path), "a#0", "--mode", "handed-back", "--quote", quote, "--as", "ann")
    assert stored(tmp_path)[0]["quotes"] == [{"quote": quote, "field": field, "step": step}]


HOSTILE = "<script>alert(1)</script> | **bold** \x1b[31m `code` ](http://x) \u202e end"


def test_hostile_words_are_quoted_and_never_obeyed(tmp_path: Path) -> None:
    run = rollouts(tmp_path, failing("c", text=HOSTILE))
    quote, note = HOSTILE[:40], "<img src=x onerror=alert(2)> | \x1b]0;x\x07 \ud800"
    write_jsonl(tmp_path / "notes.jsonl", [{"location": "c#0", "mode": "handed-back", "quote": quote, "note": note}])
    done = command("attribute", run, "--file", tmp_path / "notes.jsonl", "--as", "<b>ann</b>")
    assert done.out.startswith("1 stored")
    command("analyze", run, "-o", tmp_path / "out")
    page = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert "<script>alert" not in page
    assert "<img src=x" not in page
    assert "<b>ann" not in page
    assert "\x07" not in (tmp_path / "out" / "report.md").read_text("utf-8")


def test_many_at_once_are_stored_but_for_those_that_are_refused(tmp_path: Path) -> None:
    run = rollouts(tmp_path)
    notes = tmp_path / "notes.jsonl"
    rows: list[object] = [
        {"location": "a#0", "mode": "handed-back", "quote": "so I give up"},
        {"define": "lost-it", "definition": "It loses the thread.", "party": "agent"},
        {"task_id": "a", "repeat": 1, "mode": "lost-it", "quotes": ["I give up", "no such order"], "by": "bo"},
        {"location": "b#0", "mode": "handed-back", "quote": "words that nobody said"},
        {"location": "b#1", "mode": "handed-back", "qoute": "I give up"},
        ["no object"],
    ]
    write_jsonl(notes, rows)
    notes.write_bytes(notes.read_bytes() + b'{"location": "b#1", "mo')
    done = command("attribute", run, "--file", notes, "--as", "ann")
    assert done.code == 1
    assert done.out.startswith("2 stored, 1 defined, 4 refused")
    told = done.error.splitlines()
    assert [line.partition(": ")[0] for line in told] == [f"notes.jsonl:{n}" for n in (4, 5, 6, 7)]
    assert "did you mean quote" in told[1]
    found = attributions(run)
    assert (found["a#1"]["mode"], found["a#1"]["by"], found["a#1"]["party"]) == ("lost-it", "bo", "agent")
    assert found["b#0"]["by"].startswith("rule:")
    diagnosis = blade.analyze(run).runs[0].diagnosis
    assert diagnosis is not None
    (mode,) = [mode for mode in diagnosis.partition.modes if mode.id == "lost-it"]
    assert (mode.name, mode.group, mode.note) == ("It loses the thread", "readers", "1 by readers")


def test_the_latest_counts_and_can_be_taken_back(tmp_path: Path) -> None:
    run = rollouts(tmp_path)
    by_rules = attributions(run)["a#0"]["mode"]
    for mode in ("refused", "handed-back"):
        command("attribute", run, "a#0", "--mode", mode, "--quote", "I give up", "--as", "ann")
    assert attributions(run)["a#0"]["mode"] == "handed-back"
    command("attribute", run, "a#0", "--mode", "stand-in", "--quote", "I give up", "--as", "bo")
    assert attributions(run)["a#0"]["mode"] == "stand-in"
    assert command("attribute", run, "a#0", "--remove", "--as", "bo").out.startswith("1 taken back")
    assert attributions(run)["a#0"]["mode"] == "handed-back"
    command("attribute", run, "a#0", "--remove", "--as", "ann")
    assert attributions(run)["a#0"]["mode"] == by_rules
    assert len(stored(tmp_path)) == 5, "nothing that was written is ever taken out"


def test_many_may_write_at_once(tmp_path: Path) -> None:
    path = tmp_path / "attributions.jsonl"
    rows = [{"by": f"reader {n}", "note": "x" * 200} for n in range(3)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: append(path, rows), range(40)))
    assert [row["by"] for row in stored(tmp_path)] == [row["by"] for _ in range(40) for row in rows]


def test_rows_of_another_run_are_refused(tmp_path: Path) -> None:
    rollouts(tmp_path / "one")
    write_jsonl(tmp_path / "two" / "run.jsonl", [failing("a", 0, f"Well. {WORDS}")])
    rows = [{"run": name, "location": "a#0", "mode": "handed-back", "quote": "I give up"} for name in ("one", "two")]
    write_jsonl(tmp_path / "notes.jsonl", rows)
    words = ("attribute", tmp_path, "--file", tmp_path / "notes.jsonl", "--as", "ann")
    assert "choose one with --run" in command(*words).error
    done = command(*words, "--run", "two")
    assert done.out.startswith("1 stored, 1 refused")
    assert "notes.jsonl:1: a#0 is of the run one (--run one takes its rows)" in done.error
    table = blade.analyze(tmp_path).attributions
    assert table.filter(pl.col("by") == "ann")["run"].to_list() == ["two"]
    lines = command("analyze", tmp_path / "one", "--attributions", tmp_path / "attributions.jsonl").out.splitlines()
    assert lines[1:3] == [
        "readers: 0 attributions used, from attributions.jsonl",
        "readers: not used, 1 of the run two, which is not here",
    ]


def test_a_run_is_known_by_its_file_when_it_is_called_otherwise(tmp_path: Path) -> None:
    run = rollouts(tmp_path)
    command("attribute", run, "a#0", "--mode", "handed-back", "--quote", "I give up", "--as", "ann")
    assert "readers: 1 attribution used" in command("analyze", f"other={run}").out
    run = run.rename(tmp_path / "moved.jsonl")
    told = command("analyze", f"other={run}").out.splitlines()
    assert told[2].startswith("readers: not used, 1 of the run ")
    assert told[2].endswith("which is not here")


def test_a_torn_line_costs_only_itself(tmp_path: Path) -> None:
    run = rollouts(tmp_path)
    command("attribute", run, "a#0", "--mode", "handed-back", "--quote", "I give up", "--as", "ann")
    file = tmp_path / "attributions.jsonl"
    file.write_bytes(file.read_bytes() + file.read_bytes()[:50])
    command("attribute", run, "a#1", "--mode", "handed-back", "--quote", "I give up", "--as", "ann")
    lines = command("analyze", run).out.splitlines()
    assert lines[1].startswith("readers: 2 attributions used")
    assert lines[2].startswith("readers: not used, attributions.jsonl:2: the line is no JSON object")


def test_what_is_no_longer_there_is_said_and_not_used(tmp_path: Path) -> None:
    run = rollouts(tmp_path)
    for place in ("a#0", "a#1"):
        command("attribute", run, place, "--mode", "handed-back", "--quote", "I give up", "--as", "ann")
    write_jsonl(run, [failing("a", 0, "I am done."), rollout("b", passed=True, output="4")])
    lines = command("analyze", run).out.splitlines()
    assert lines[1] == "readers: 0 attributions used, from attributions.jsonl"
    assert "a#0: the quote is not there word for word" in lines[2]
    assert "has no rollout a#1" in lines[3]
    assert attributions(run)["a#0"]["by"] != "ann"


def test_attributions_lie_beside_an_analysis_or_where_they_are_said_to(tmp_path: Path) -> None:
    run, out = rollouts(tmp_path / "runs"), tmp_path / "out"
    command("analyze", run, "-o", out)
    said_by_ann = ("--mode", "handed-back", "--quote", "I give up", "--as", "ann")
    command("attribute", out, "a#0", *said_by_ann)
    (folder,) = [table.parent for table in out.glob("*/rollouts.parquet")]
    command("attribute", folder, "a#1", *said_by_ann)
    assert [row["repeat"] for row in stored(out)] == [0, 1]
    for words in ((out,), (run, "-o", out), (run, "--attributions", out / "attributions.jsonl")):
        assert "readers: 2 attributions used" in command("analyze", *words).out
    assert "readers:" not in command("analyze", run).out
    kept = (out / "attributions.jsonl").read_bytes()
    command("analyze", run, "-o", out)
    assert (out / "attributions.jsonl").read_bytes() == kept
    assert command("audit", out / "report.md").code == 0
    command("attribute", run, "b#0", *said_by_ann, "-o", tmp_path / "mine.jsonl")
    assert not (tmp_path / "runs" / "attributions.jsonl").exists()
    assert "used (ann 1), from mine.jsonl" in command("analyze", run, "--attributions", tmp_path / "mine.jsonl").out


def test_the_file_is_no_rollouts_file(tmp_path: Path) -> None:
    run = rollouts(tmp_path)
    command("attribute", tmp_path, "a#0", "--mode", "handed-back", "--quote", "I give up", "--as", "ann")
    found = blade.load_run(tmp_path)
    assert (found.rollouts.height, found.problem_count) == (6, 0)
    assert len(found.readings.used) == 1
    assert run.exists()


def test_a_pass_that_a_reader_doubts_stays_a_pass_and_is_listed(tmp_path: Path) -> None:
    run = rollouts(tmp_path)
    command("attribute", run, "a#2", "--mode", "stand-in", "--note", "it guessed", "--as", "ann")
    command("attribute", run, "b#2", "--mode", "none", "--as", "ann")
    one = blade.analyze(run).runs[0]
    assert one.diagnosis is not None
    assert [(each.location, each.why) for each in one.diagnosis.passes_to_doubt] == [("a#2", "ann says: it guessed")]
    row = attributions(run)["a#2"]
    assert (row["outcome"], row["mode"], row["party"], row["by"]) == ("passed", None, None, "ann")
    assert "stand-in" in row["also"]
    assert one.metrics.measures["pass_at_1"].value == pytest.approx(1 / 3)


def test_a_label_is_an_attribution_of_its_rollouts(tmp_path: Path) -> None:
    run = rollouts(tmp_path)
    labels = tmp_path / "labels.jsonl"
    command("label", run, "a", "--cause", "infra", "--note", "down", "--labels", labels)
    found = blade.analyze(run, labels=labels)
    rows = found.attributions.filter((pl.col("task_id") == "a") & (pl.col("outcome") != "passed"))
    assert rows.select("mode", "party", "by", "infra").unique().rows() == [("run-error", "harness", "person", True)]
    assert found.tasks[0].cause is not None
    assert found.tasks[0].cause.decided_by == "person"
    command("attribute", run, "a#0", "--mode", "handed-back", "--quote", "I give up", "--as", "ann")
    again = blade.analyze(run, labels=labels).attributions
    assert again.filter(pl.col("by") == "ann")["mode"].to_list() == ["handed-back"]


def test_agreement_of_readers_and_rules(tmp_path: Path) -> None:
    run = rollouts(tmp_path)
    for place, mine, theirs in (
        ("a#0", "handed-back", "handed-back"),
        ("a#1", "stand-in", "handed-back"),
        ("b#0", "stand-in", "stand-in"),
    ):
        command("attribute", run, place, "--mode", mine, "--quote", "I give up", "--as", "ann")
        command("attribute", run, place, "--mode", theirs, "--quote", "I give up", "--as", "bo")
    told = json.loads(command("attribute", run, "--agreement", "--json").out)
    pair = told["agreements"][0]
    assert (pair["first"], pair["second"], pair["rollouts"]) == ("ann", "bo", 3)
    assert pair["mode"]["value"] == pytest.approx(2 / 3)
    assert pair["kappa"]["value"] == pytest.approx((2 / 3 - 4 / 9) / (1 - 4 / 9))
    assert pair["disagreements"] == [
        {
            "location": "a#1",
            "first": "stand-in",
            "first_party": "agent",
            "second": "handed-back",
            "second_party": "agent",
        }
    ]
    assert {each["second"] for each in told["agreements"]} == {"bo", "rules"}
    text = command("attribute", run, "--agreement").out
    assert "Where ann and bo disagree" in text
    assert "a#1" in text


@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_whatever_readers_say_every_failure_has_one_mode(data: st.DataObject) -> None:
    places = data.draw(st.lists(st.sampled_from(["a#0", "a#1", "b#0", "b#1", "a#2", "b#2"]), max_size=6))
    modes = st.sampled_from([*sorted(by_code()), "none", UNATTRIBUTED, "my-own"])
    confidences = st.sampled_from(["proven", "likely", "suspected"])
    rows: list[object] = [{"define": "my-own", "definition": "Mine.", "party": "verifier"}]
    for place in places:
        row = {"location": place, "mode": data.draw(modes), "confidence": data.draw(confidences), "note": "seen"}
        row |= {"quote": "I give up"} if place[-1] != "2" else {}
        rows.append(row | {"by": data.draw(st.sampled_from(["ann", "bo"]))})
    with TemporaryDirectory() as folder:
        run = rollouts(Path(folder))
        notes = write_jsonl(Path(folder) / "notes", rows)
        command("attribute", run, "--file", notes, "--as", "ann")
        one = blade.analyze(run).runs[0]
        assert one.diagnosis is not None
        table = one.diagnosis.partition.attributions.table
    assert sum(mode.rollouts for mode in one.diagnosis.partition.modes) == 4
    assert table.filter(pl.col("outcome") == "passed")["mode"].null_count() == 2
    assert table.filter(pl.col("outcome") != "passed")["mode"].null_count() == 0
    infra = table.filter("infra")
    assert infra["valid"].sum() == 0
    assert set(infra["party"]) <= {"harness", "environment", "verifier"}
    excluded = next(score for score in one.metrics.scores if score.name == "infra_excluded")
    assert excluded.value is None or excluded.n_rollouts == 6 - infra.height
    unknown = table.filter(pl.col("mode") == UNATTRIBUTED)
    assert unknown["confidence"].null_count() == unknown.height
