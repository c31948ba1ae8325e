"""The commands as a user types them."""

from __future__ import annotations

import gzip
import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DESK = "examples/desk_assistant"
HERON = f"{DESK}/heron-70b_rollouts.jsonl"
SPARROW = f"{DESK}/sparrow-8b_rollouts.jsonl"


def blade(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from blade.cli.main import main; main()", *words]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=120)


def row(task: str, repeat: int, reward: object, **more: object) -> dict[str, object]:
    said = {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": f"{task} {repeat} {reward}"}],
    }
    ask = {"input": [{"role": "user", "content": f"do {task}"}]}
    return {
        "task_id": task,
        "_ng_rollout_index": repeat,
        "reward": reward,
        "responses_create_params": ask,
        "response": {"output": [said], "model": "m"},
        **more,
    }


def write(path: Path, rows: list[dict[str, object]]) -> str:
    path.write_text("".join(json.dumps(each) + "\n" for each in rows), encoding="utf-8")
    return str(path)


def test_the_first_line_says_what_was_taken_as_what() -> None:
    first = blade("analyze", HERON).stdout.splitlines()[0]
    assert first == "heron-70b = heron-70b_rollouts.jsonl (96 rows), heron-70b_rollouts_failures.jsonl (0 of 2 rows)"


def test_the_last_line_says_that_nothing_was_written() -> None:
    assert blade("analyze", HERON).stdout.splitlines()[-1].startswith("nothing was written")


def test_json_is_small_whatever_the_run(tmp_path: Path) -> None:
    rows = [
        row(f"a-task-with-a-rather-long-name-{i}", r, float((i + r) % 2), model=f"model-{i % 40}")
        for i in range(200)
        for r in range(2)
    ]
    for each in rows:
        del each["response"]
        each["messages"] = []
    done = blade("analyze", write(tmp_path / "many.jsonl", rows), "--json")
    assert done.returncode == 0
    assert len(done.stdout.encode()) <= 6_000
    answer = json.loads(done.stdout)
    assert len(answer["runs"]) + answer["left_off"] == 40


def test_json_of_one_run_has_the_agreed_names() -> None:
    answer = json.loads(blade("analyze", HERON, "--json").stdout)
    assert {"run", "headline", "ci", "n", "buckets", "baselines", "findings", "doubts", "more"} <= answer.keys()
    assert answer["headline"] == {"metric": "pass_at_1", "value": pytest.approx(68 / 96)}


@pytest.mark.parametrize("given", [(DESK,), (HERON,), (SPARROW, HERON), (f"a={SPARROW}", f"b={HERON}")])
def test_what_to_run_next_can_be_pasted_back(given: tuple[str, ...]) -> None:
    more = json.loads(blade("analyze", *given, "--json").stdout)["more"]
    for name in ("one task", "one rollout"):
        program, *words = shlex.split(more[name])
        assert program == "blade"
        done = blade(*words)
        assert done.returncode == 0, done.stderr
        assert words[2].rpartition("#")[0] in done.stdout


def test_a_comparison_as_json_is_small_and_keeps_every_term_that_counts() -> None:
    said = blade("compare", SPARROW, HERON, "--json").stdout
    assert len(said.encode()) <= 6_000
    answer, full = json.loads(said), json.loads(blade("compare", SPARROW, HERON, "--json", "--full").stdout)
    assert sum(term["points"] for term in answer["ledger"]) == pytest.approx(full["delta"]["delta"])
    assert len(answer["flips"]) + answer["flips_left_off"] == len(full["flips"])
    assert len(answer["flips"]) >= 2


def test_json_full_holds_every_task() -> None:
    assert len(json.loads(blade("analyze", HERON, "--json", "--full").stdout)[0]["tasks"]) == 24


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("analyze", "no/such/file.jsonl"), "no such file or folder"),
        (("analyze", HERON, "--format", "nosuch"), "no format is called 'nosuch'"),
        (("analyze", HERON, "--exclude", "weather"), "cannot leave out 'weather'"),
        (("analyze", HERON, "--notes", "no-notes.txt"), "cannot read the notes"),
        (("show", HERON, "nonsense"), "is no location"),
        (("show", HERON, "nonsense#0"), "has no task 'nonsense'"),
        (("show", HERON, "mail-1#99"), "has no repeat 99"),
        (("show", DESK, "mail-1#0"), "holds 2 runs"),
        (("sql", HERON, "SELECT nothing FROM nowhere"), "the query cannot be answered"),
    ],
)
def test_a_request_that_cannot_be_served_is_two_lines_and_exit_2(words: tuple[str, ...], says: str) -> None:
    done = blade(*words)
    assert done.returncode == 2
    assert says in done.stderr
    assert done.stderr.startswith("error: ")
    assert "\nhint: " in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_a_file_with_nothing_usable_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "rollouts.jsonl"
    path.write_text("<PLACEHOLDER ROW>\n" * 5, encoding="utf-8")
    done = blade("analyze", str(path))
    assert done.returncode == 2
    assert "<PLACEHOLDER ROW>" in done.stderr


def test_excluding_changes_the_score_and_the_head_says_so() -> None:
    plain = json.loads(blade("analyze", HERON, "--json").stdout)
    task = "mail-1"
    done = blade("analyze", HERON, "--exclude", f"task:{task}")
    assert f"task:{task} (4 rollouts)" in done.stdout
    without = json.loads(blade("analyze", HERON, "--json", "--exclude", f"task:{task}").stdout)
    assert without["n"]["tasks"] == plain["n"]["tasks"] - 1
    assert without["n"]["expected_rollouts"] == plain["n"]["expected_rollouts"] - 4


def test_expected_tasks_and_repeats_lower_the_all_expected_score(tmp_path: Path) -> None:
    path = write(tmp_path / "r.jsonl", [row("a", 0, 1.0), row("b", 0, 0.0)])
    out = tmp_path / "out"
    assert blade("analyze", path, "--expect-tasks", "4", "--expect-repeats", "2", "-o", str(out)).returncode == 0
    found = json.loads((out / "m" / "metrics.json").read_text())
    assert found["expected_rollouts"] == 8
    assert found["missing_rollouts"] == 6
    assert found["pass_at_1"] == 0.5
    assert found["pass_at_1_all_expected"] == 0.5 / 4
    assert found["buckets"] == {"always_pass": 1, "sometimes_pass": 0, "never_pass": 1, "missing": 2}


def test_the_threshold_decides_what_passes(tmp_path: Path) -> None:
    path = write(tmp_path / "r.jsonl", [row(t, 0, x) for t, x in (("a", 0.0), ("b", 2.0), ("c", 2.0))])
    assert "set --pass-threshold" in " ".join(blade("analyze", path).stdout.split())
    assert json.loads(blade("analyze", path, "--pass-threshold", "3", "--json").stdout)["headline"]["value"] == 0.0


def test_notes_are_quoted_and_change_nothing(tmp_path: Path) -> None:
    notes = tmp_path / "notes.txt"
    notes.write_text("Two machines rebooted on <b>Tuesday</b>.\n", encoding="utf-8")
    out = tmp_path / "out"
    blade("analyze", HERON, "--notes", str(notes), "-o", str(out))
    assert "Two machines rebooted on \\<b\\>Tuesday\\</b\\>." in (out / "report.md").read_text()
    assert "<b>" not in (out / "report.html").read_text()


def test_an_analysis_folder_stands_for_its_runs(tmp_path: Path) -> None:
    out = tmp_path / "out"
    first = blade("analyze", DESK, "-o", str(out))
    again = blade("analyze", str(out))
    assert again.stdout.splitlines()[2:-2] == first.stdout.splitlines()[2:-2]
    assert again.stdout.splitlines()[-2].startswith(f"next: blade explain {out} ")
    assert blade("show", str(out / "heron-70b"), "mail-1#0").stdout.startswith("mail-1#0  ")


def test_an_analysis_folder_is_not_trusted_when_its_source_has_changed(tmp_path: Path) -> None:
    path = write(tmp_path / "r.jsonl", [row("a", 0, 1.0)])
    out = tmp_path / "out"
    blade("analyze", path, "-o", str(out))
    write(tmp_path / "r.jsonl", [row("a", 0, 0.0)])
    done = blade("analyze", str(out))
    assert done.returncode == 2
    assert "has changed since" in done.stderr


def test_an_output_folder_inside_the_input_folder_changes_nothing(tmp_path: Path) -> None:
    write(tmp_path / "r.jsonl", [row("a", 0, 1.0)])
    first = blade("analyze", str(tmp_path), "-o", str(tmp_path / "out"))
    assert blade("analyze", str(tmp_path), "-o", str(tmp_path / "out")).stdout == first.stdout
    write(tmp_path / "s.jsonl", [row("b", 0, 1.0)])
    assert "s.jsonl" in blade("analyze", str(tmp_path)).stdout.splitlines()[0]


def test_an_output_folder_holds_one_analysis(tmp_path: Path) -> None:
    out = str(tmp_path / "out")
    blade("analyze", DESK, "-o", out)
    blade("analyze", HERON, "-o", out)
    assert blade("analyze", out).stdout.splitlines()[0].startswith("heron-70b = ")
    assert not (tmp_path / "out" / "sparrow-8b").exists()


def test_two_runs_of_one_model_are_compared_under_the_names_of_their_files(tmp_path: Path) -> None:
    before = write(tmp_path / "before.jsonl", [row("a", 0, 1.0), row("b", 0, 0.0)])
    after = write(tmp_path / "after.jsonl", [row("a", 0, 1.0), row("b", 0, 1.0)])
    assert blade("compare", before, after).stdout.startswith("m-after against m-before: ")


def test_two_analyses_of_one_model_are_told_apart(tmp_path: Path) -> None:
    for name in ("one", "two"):
        blade("analyze", HERON, "-o", str(tmp_path / name))
    done = blade("analyze", str(tmp_path / "one"), str(tmp_path / "two"), "-o", str(tmp_path / "both"))
    assert done.returncode == 0
    assert "heron-70b-2 = " in done.stdout


@pytest.mark.parametrize("place", ["mail-1#0:999", "mail-1#0 --steps 4:2"])
def test_a_step_that_is_not_there_is_refused(place: str) -> None:
    assert blade("show", HERON, *place.split()).returncode == 2


@pytest.mark.parametrize("wish", ["task:nope", "rollout:mail-1#99", "code:XXX001"])
def test_leaving_out_what_does_not_exist_is_refused(wish: str) -> None:
    done = blade("analyze", HERON, "--exclude", wish)
    assert done.returncode == 2
    assert "hint: " in done.stderr


def test_an_unset_output_folder_and_a_threshold_that_is_no_number_are_refused() -> None:
    assert blade("analyze", HERON, "-o", "").returncode == 2
    assert blade("analyze", HERON, "--pass-threshold", "nan").returncode == 2


def test_show_fits_a_whole_rollout_into_about_4000_tokens(tmp_path: Path) -> None:
    long = [
        {"type": "message", "role": "assistant", "content": "word " * 4000},
        {"type": "function_call", "name": "f", "arguments": "{}", "call_id": "1"},
        {"type": "function_call_output", "call_id": "1", "output": "x" * 90_000},
    ]
    path = write(tmp_path / "r.jsonl", [{"task_id": "t", "reward": 0, "response": {"output": long * 10}}])
    shown = blade("show", path, "t#0").stdout
    assert len(shown) < 16_500
    assert "[29] TOOL f returns" in shown
    assert "characters left out" in shown
    assert "left out" not in blade("show", path, "t#0", "--steps", "0:0", "--width", "0").stdout


def test_show_finds_a_step_by_place_and_makes_control_characters_harmless(tmp_path: Path) -> None:
    items = [{"type": "message", "role": "assistant", "content": f"say {i} \x1b[31m"} for i in range(9)]
    path = write(tmp_path / "r.jsonl", [{"task_id": "a#b:c", "reward": 1, "response": {"output": items}}])
    shown = blade("show", path, "a#b:c#0:4").stdout
    assert [line for line in shown.splitlines() if line.startswith("[")] == [f"[{i}] AGENT" for i in (2, 3, 4, 5, 6)]
    assert "\x1b" not in shown


def test_sql_answers_from_all_runs() -> None:
    done = blade(
        "sql",
        DESK,
        "SELECT run, outcome, count(*) AS n FROM rollouts GROUP BY run, outcome ORDER BY run, outcome",
        "--csv",
    )
    assert done.stdout.splitlines() == [
        "run,outcome,n",
        "heron-70b,failed,28",
        "heron-70b,passed,68",
        "sparrow-8b,errored,1",
        "sparrow-8b,failed,40",
        "sparrow-8b,passed,55",
    ]


def test_schema_says_what_nobody_read(tmp_path: Path) -> None:
    path = write(tmp_path / "r.jsonl", [row("a", 0, 1.0, mystery={"x": 1}, verifier_result={"f2p_total": 1})])
    told = blade("schema", path).stdout
    used, _, unused = told.partition("not used")
    assert any(line.split()[:1] == ["reward"] and "NeMo Gym" in line for line in used.splitlines())
    assert any(line.split()[:1] == ["mystery.x"] for line in unused.splitlines())
    by_path = {field["path"]: field for field in json.loads(blade("schema", path, "--json").stdout)[0]["fields"]}
    assert by_path["reward"]["role"] == "reward"
    assert by_path["mystery.x"]["role"] is None


def test_metrics_only_gives_the_same_scores() -> None:
    whole = json.loads(blade("analyze", HERON, "--json").stdout)
    fast = json.loads(blade("analyze", HERON, "--json", "--metrics-only").stdout)
    assert fast["headline"] == whole["headline"]
    assert fast["buckets"] == whole["buckets"]


def test_a_closed_pipe_is_no_error() -> None:
    command = f'{sys.executable} -c "from blade.cli.main import main; main()" sql {DESK} "SELECT * FROM rollouts" --json | head -1'
    done = subprocess.run(["bash", "-c", command], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stderr == ""


def test_compressed_and_plain_give_the_same_numbers(tmp_path: Path) -> None:
    packed = tmp_path / "heron-70b_rollouts.jsonl.gz"
    packed.write_bytes(gzip.compress((ROOT / HERON).read_bytes()))
    plain = json.loads(blade("analyze", HERON, "--json").stdout)
    again = json.loads(blade("analyze", str(packed), "--json").stdout)
    assert again["headline"] == plain["headline"]


@pytest.mark.parametrize("command", ["analyze", "show", "sql"])
def test_every_command_has_help_with_an_example(command: str) -> None:
    assert f"Example: blade {command} " in blade(command, "--help").stdout


def test_where_nothing_failed_the_next_command_reads_a_rollout_that_is_there(tmp_path: Path) -> None:
    path = write(tmp_path / "r.jsonl", [row("a", 0, 1.0), row("b", 0, 1.0)])
    assert f"next: blade show {path} 'a#0'" in blade("analyze", path).stdout


def test_the_formats_are_named_where_one_is_not_known() -> None:
    from blade.ingest.formats import formats

    assert "--format list" in blade("analyze", "--help").stdout
    refused = blade("analyze", HERON, "--format", "list").stderr
    assert "known: " + ", ".join(known.name for known in formats()) in refused


def test_without_a_diagnosis_the_next_command_reads_the_first_rollout_that_has_a_row_and_did_not_pass(
    tmp_path: Path,
) -> None:
    rows = [row("t10", 0, 0.0), row("t9", 1, 0.0), row("t9", 0, 1.0), row("t2", 1, 1.0)]
    path = write(tmp_path / "r.jsonl", rows)
    answer = json.loads(blade("analyze", path, "--json", "--metrics-only", "--expect-repeats", "2").stdout)
    assert answer["more"]["one rollout"] == f"blade show {path} 't9#1'"
    assert answer["more"]["one task"] == f"blade explain {path} t9"
