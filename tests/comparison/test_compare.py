"""`blade compare`, `gate` and `history` through their doors: what is said, what is written, what is refused."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import jsonschema
import msgspec
import pytest

import blade
from blade.comparison.document import ComparisonDocument
from blade.comparison.gate import Gate
from blade.comparison.history import HistoryDocument
from builders import Row, call, result, rollout, said, without, write_jsonl

ROOT = Path(__file__).parents[2]


def run_blade(*words: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from blade.cli.main import main; main()", *map(str, words)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=120)


def rows(passing: int, *, tasks: int = 20, repeats: int = 2, **more: object) -> list[Row]:
    """The first `passing` tasks pass."""
    return [
        rollout(
            f"t{task}",
            index=task,
            repeat=repeat,
            passed=task < passing,
            prompt=f"question {task}",
            output=[said(f"answer {task} {repeat} {'right' if task < passing else 'wrong'}")],
            expected_answer=f"key {task}",
        )
        | more
        for task in range(tasks)
        for repeat in range(repeats)
    ]


def saved(folder: Path, name: str, made: list[Row]) -> Path:
    return write_jsonl(folder / name / "rollouts.jsonl", made)


def test_a_comparison_is_written_and_adds_up(tmp_path: Path) -> None:
    base, new = saved(tmp_path, "base", rows(16)), saved(tmp_path, "new", rows(4))
    done = run_blade("compare", f"base={base}", f"new={new}", "-o", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("new against base: regressed, 0.800 to 0.200")
    found = json.loads((tmp_path / "out" / "comparison.json").read_text())
    assert found["verdict"] == "regressed"
    assert sum(term["points"] for term in found["ledger"]) == pytest.approx(found["delta"]["delta"], abs=1e-12)
    assert found["transitions"] == [
        {"from": "always", "to": "always", "tasks": 4},
        {"from": "always", "to": "never", "tasks": 12},
        {"from": "never", "to": "never", "tasks": 4},
    ]
    assert found["flips"][0]["locations"] == ["t4#0", "t4#0"]
    report = (tmp_path / "out" / "report.md").read_text()
    assert "| candidate | -60.0 |" in report
    assert (tmp_path / "out" / "report.html").read_text().startswith("<!doctype html>")


def test_the_score_at_a_term_is_a_step_of_the_ledger(tmp_path: Path) -> None:
    base, new = saved(tmp_path, "base", rows(16)), saved(tmp_path, "new", rows(4))
    steps = [float(run_blade("compare", base, new, "--at", term).stdout) for term in ("format", "unexplained")]
    assert steps == pytest.approx([0.8, 0.2])
    refused = run_blade("compare", base, new, "--at", "luck")
    assert refused.returncode == 2
    assert "terms: task_set, missing" in refused.stderr


def test_runs_of_other_tasks_are_not_comparable(tmp_path: Path) -> None:
    other = [
        row
        | {
            "task_id": f"x{row['task_id']}",
            "responses_create_params": {"input": f"other {n // 2}"},
            "expected_answer": f"o{n // 2}",
        }
        for n, row in enumerate(rows(10))
    ]
    base, new = saved(tmp_path, "base", rows(10)), saved(tmp_path, "new", other)
    found = blade.compare(base, new)
    assert str(found.verdict) == "not-comparable"
    assert run_blade("gate", base, new).returncode == 1


def test_one_thing_changed_is_said_only_if_the_rest_is_recorded(tmp_path: Path) -> None:
    def with_settings(made: list[Row], temperature: float) -> list[Row]:
        return [
            row
            | {
                "responses_create_params": row["responses_create_params"] | {"temperature": temperature},
                "user_model": "sim-1",
            }
            for row in made
        ]

    base = saved(tmp_path, "base", with_settings(rows(10), 0.0))
    new = saved(tmp_path, "new", with_settings(rows(10), 1.0))
    found = blade.compare(base, new).held_fixed
    assert (found["sampling"].state, found["sampling"].candidate) == ("changed", "temperature 1")
    assert found["harness"].state == "same"
    assert found["prompt"].state == "same"
    assert found["verifier"].note == "40 outputs that both runs gave were judged alike"
    assert found["limits"].state == "not recorded"
    told = run_blade("compare", base, new).stdout
    assert "Of what is recorded only the sampling changed" in told


def test_a_changed_prompt_shows_its_difference(tmp_path: Path) -> None:
    def prompted(made: list[Row], text: str) -> list[Row]:
        asked = [{"role": "system", "content": text}]
        return [
            row
            | {
                "responses_create_params": {
                    "input": [*asked, {"role": "user", "content": row["responses_create_params"]["input"]}]
                }
            }
            for row in made
        ]

    base = saved(tmp_path, "base", prompted(rows(10), "Be brief.\nNever guess."))
    new = saved(tmp_path, "new", prompted(rows(10), "Be brief.\nGuess if you must."))
    found = blade.compare(base, new).held_fixed
    assert found["prompt"].state == "changed"
    assert found["prompt"].diff == ("-Never guess.", "+Guess if you must.")


@pytest.mark.parametrize(
    ("name", "change", "trap"),
    [
        ("retried", lambda made: [row for row in made if int(row["task_id"][1:]) >= 14], "tasks that were tried again"),
        ("best of n", lambda made: [row | {"best_of": 8} for row in made if row["_ng_rollout_index"] == 0], "best of several"),
        ("duplicates", lambda made: [*made, made[0]], "rows that repeat a rollout"),
        ("a changed key", lambda made: [row | {"expected_answer": f"new {row['task_id']}"} for row in made], "key of 20 shared tasks changed"),
        ("re-graded", lambda made: [row | {"reward": 0.0} for row in made], "graded otherwise"),
        ("ids alone", lambda made: [without(row, "responses_create_params", "expected_answer") for row in made], "joined by id alone"),
        (
            "an outage",
            lambda made: [row | ({"reward": None, "error": "down", "response": None} if 10 <= n < 16 else {}) for n, row in enumerate(made)],
            "looks like an outage",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) and " " not in value[:3] else None,
)  # fmt: skip
def test_traps_are_named(tmp_path: Path, name: str, change: object, trap: str) -> None:
    base = saved(tmp_path, "base", rows(14))
    new = saved(tmp_path, "new", change(rows(14)))  # type: ignore[operator]
    assert any(trap in one for one in blade.compare(base, new).traps), blade.compare(base, new).traps


def test_an_honest_pair_holds_no_trap(tmp_path: Path) -> None:
    base, new = saved(tmp_path, "base", rows(14)), saved(tmp_path, "new", rows(10))
    assert blade.compare(base, new).traps == ()


def test_a_behavior_that_grew_is_a_term_of_its_own(tmp_path: Path) -> None:
    def loops(task: int, repeat: int, looping: bool) -> Row:
        again = [item for n in range(4) for item in (call("search", '{"q": "x"}', f"c{n}"), result("nothing", f"c{n}"))]
        steps = [*(again if looping else again[:2]), said(f"done {task} {repeat}")]
        return rollout(f"t{task}", index=task, repeat=repeat, passed=not looping, prompt=f"q {task}", output=steps)

    before = [loops(task, repeat, repeat == 0) for task in range(20) for repeat in range(4)]
    after = [loops(task, repeat, repeat < 3) for task in range(20) for repeat in range(4)]
    found = blade.compare(saved(tmp_path, "a", before), saved(tmp_path, "b", after))
    leader = max(found.ledger, key=lambda term: abs(term.points))
    assert leader.term == "behavior:BEH001"
    assert leader.points == pytest.approx(-0.5)
    assert "20 of 80 rollouts before, 60 of 80 after" in leader.what


def test_several_runs_get_a_table_and_letters(tmp_path: Path) -> None:
    paths = [saved(tmp_path, name, rows(n)) for name, n in (("a", 18), ("b", 17), ("c", 4))]
    named = [f"{name}={path}" for name, path in zip("abc", paths, strict=True)]
    assert run_blade("compare", *named, "-o", tmp_path / "out").returncode == 0
    report = (tmp_path / "out" / "report.md").read_text()
    assert "| `a` | 0.900 | a |" in report
    assert "| `b` | 0.850 | a |" in report
    assert "| `c` | 0.200 | b |" in report
    assert len(json.loads((tmp_path / "out" / "comparison.json").read_text())) == 2


# the gate


def test_the_gate_passes_fails_and_cannot_tell(tmp_path: Path) -> None:
    base, worse, near = (saved(tmp_path, name, rows(n)) for name, n in (("base", 16), ("worse", 4), ("near", 15)))
    assert run_blade("gate", base, base).returncode == 0
    assert run_blade("gate", worse, base).returncode == 0
    failed = run_blade("gate", base, worse, "--junit", tmp_path / "gate.xml")
    assert failed.returncode == 1
    suite = ET.parse(tmp_path / "gate.xml").getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("3", "1")
    assert run_blade("gate", base, near).returncode == 3


def test_the_policy_decides(tmp_path: Path) -> None:
    base, near = saved(tmp_path, "base", rows(16)), saved(tmp_path, "near", rows(15))
    policy = tmp_path / "gate.toml"
    for text, code in (('inconclusive = "pass"', 0), ('inconclusive = "fail"', 1), ("max_drop = 40", 0)):
        policy.write_text(text)
        assert run_blade("gate", base, near, "--policy", policy).returncode == code, text
    for text, what in (
        ("max_drop = -1", "0 to 100"),
        ("drop = 1", "nothing is called"),
        ("max_drop =", "no TOML"),
        ('metric = "x"', "one of"),
    ):
        policy.write_text(text)
        done = run_blade("gate", base, near, "--policy", policy)
        assert (done.returncode, what in done.stderr) == (2, True), done.stderr


def test_lost_rollouts_fail_the_coverage(tmp_path: Path) -> None:
    lost = [
        row | ({"reward": None, "error": "down", "response": None} if n % 4 == 0 else {})
        for n, row in enumerate(rows(16))
    ]
    done = run_blade("gate", saved(tmp_path, "base", rows(16)), saved(tmp_path, "lost", lost), "--json")
    checks = {check["name"]: check["state"] for check in json.loads(done.stdout)["checks"]}
    assert checks["coverage"] == "fail"
    assert done.returncode == 1


# history


def test_history_tells_real_changes_and_modes(tmp_path: Path) -> None:
    for name, n in (("mon", 16), ("tue", 16), ("wed", 3)):
        path = saved(tmp_path, name, rows(n))
        assert run_blade("analyze", f"model={path}", "-o", tmp_path / f"out-{name}").returncode == 0
    done = run_blade("history", *(tmp_path / f"out-{name}" for name in ("mon", "tue", "wed")), "--json")
    entries = json.loads(done.stdout)
    assert [entry["score"] for entry in entries] == [0.8, 0.8, 0.15]
    assert [entry["since"] and entry["since"]["verdict"] for entry in entries] == [None, "equivalent", "regressed"]


# JSON


def holds_to(text: str, document: Any) -> None:
    """The text follows the schema of the document, and no field of it is left out of the schema."""
    jsonschema.validate(json.loads(text), msgspec.json.schema(document))
    assert json.loads(msgspec.json.encode(msgspec.json.decode(text, type=document))) == json.loads(text)


def test_what_is_written_follows_its_schema(tmp_path: Path) -> None:
    def sliced(made: list[Row]) -> list[Row]:
        return [row | {"category": "odd" if row["_ng_task_index"] % 2 else "even"} for row in made]

    base, new = saved(tmp_path, "base", sliced(rows(16))), saved(tmp_path, "new", sliced(rows(4, tasks=21)))
    assert run_blade("compare", base, new, "-o", tmp_path / "out").returncode == 0
    written = (tmp_path / "out" / "comparison.json").read_text("utf-8")
    holds_to(written, ComparisonDocument)
    assert json.loads(run_blade("compare", base, new, "--json", "--full").stdout) == json.loads(written)
    assert all(json.loads(written)[name] for name in ("flips", "ledger", "slices", "transitions", "held_fixed"))
    holds_to(run_blade("gate", base, new, "--json").stdout, Gate)
    holds_to(run_blade("history", base, new, "--json").stdout, HistoryDocument)


def test_the_short_answer_says_what_it_leaves_off(tmp_path: Path) -> None:
    base, new = saved(tmp_path, "base", rows(16)), saved(tmp_path, "new", rows(4))
    answer = run_blade("compare", base, new, "--json").stdout
    assert len(answer.encode()) <= 6_000
    short = json.loads(answer)
    assert len(short["flips"]) + short["flips_left_off"] == 12


def test_a_prompt_differs_by_its_lines_alone(tmp_path: Path) -> None:
    def asked(text: str) -> list[Row]:
        given = [{"role": "system", "content": text}, {"role": "user", "content": "q"}]
        return [row | {"responses_create_params": {"input": given}} for row in rows(10)]

    base = saved(tmp_path, "base", asked("Be brief.\u2028Always.\r\nNever guess.\r\n"))
    new = saved(tmp_path, "new", asked("Be brief.\u2028Always.\nGuess."))
    found = blade.compare(base, new).held_fixed["prompt"]
    assert found.diff == ("-Never guess.", "+Guess.")
