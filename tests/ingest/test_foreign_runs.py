"""Runs of strangers' harnesses: every field has a name that nobody knows, and only the values tell what it is."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

import blade
from blade.model.roles import Roles
from blade.model.rollout import Rollout
from blade.model.run import Run
from builders import load, write_jsonl

Row = dict[str, Any]
SEEDS = (1, 2, 3)


class Words:
    """Names for the fields of a run, drawn at random; the same field has the same name in all rows."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.names: dict[str, str] = {}

    def __call__(self, **fields: Any) -> Row:
        row = {self.of(name): value for name, value in fields.items()}
        names = list(row)
        self.random.shuffle(names)
        return {name: row[name] for name in names}

    def of(self, name: str) -> str:
        if name not in self.names:
            self.names[name] = f"q{len(self.names)}{self.random.choice('bdfgklmz')}{self.random.choice('aeiou')}"
        return self.names[name]


def roles_of(run: Run, words: Words) -> Mapping[str, str]:
    """The role of each field by its plain name."""
    assert isinstance(run.roles, Roles)
    found = {field.path: field.role for field in run.roles.fields}
    return {plain: role for plain, name in words.names.items() if (role := found.get(name)) is not None}


def passed(run: Run) -> list[bool]:
    return [outcome == "passed" for outcome in run.rollouts.sort("offset")["outcome"].to_list()]


def read(folder: Path, rows: list[Row]) -> Run:
    (run,) = load(write_jsonl(folder / "theirs.jsonl", rows))
    return run


def first(run: Run, task: str) -> Rollout:
    found: Rollout = run[task, 0]
    return found


def coding(words: Words) -> tuple[list[Row], list[bool]]:
    """A coding agent: turns with a tool, what it was given and what came back; tests in words."""
    good = [n % 3 != 1 for n in range(12)]
    rows = []
    for n, ok in enumerate(good):
        turns = [
            words(who="op", said=f"Mend handle_{n} in parser.py, which drops the last item of the batch."),
            words(
                who="bot", said="I will look at it.", tool="sh", given={"cmd": f"cat {n}.py"}, back="return items[:-1]"
            ),
            words(who="bot", said="Now I edit it.", tool="patch", given={"file": "a.py", "new": "items"}, back="ok"),
            words(who="bot", said="The function now returns all of its items."),
        ]
        tests = {f"test_handle_{n}": "green" if ok else "red", f"test_empty_{n}": "green"}
        rows.append(words(bug=f"BUG-{n}", turns=turns, tests=tests, fine=ok))
    return rows, good


def answers(words: Words) -> tuple[list[Row], list[bool]]:
    """Questions with one answer: what was asked, written, taken from it, and wanted."""
    good = [n % 5 not in (1, 3) for n in range(20)]
    rows = []
    for n, ok in enumerate(good):
        a, b = 13 + n, 41 + 3 * n
        given = str(a * b if ok else a * b + 7)
        text = f"Multiplying {a} and {b} I get {given}"
        rows.append(
            words(no=f"k-{n}", ask=f"What is {a} times {b} here?", text=text, got=given, want=str(a * b), ok=ok)
        )
    return rows, good


def desk(words: Words) -> tuple[list[Row], list[bool]]:
    """A service desk: talk and tools in one list, the calls that are wanted beside it, a verdict in words."""
    good = [n % 4 != 2 for n in range(16)]
    rows = []
    for n, ok in enumerate(good):
        order = f"ORD-{5000 + n}"
        talk = [
            words(by="caller", body=f"Hello, please cancel my order {order}."),
            words(by="desk", op="lookup_order", sent={"order": order}, reply={"status": "open"}),
            words(by="desk", body="Do you want me to cancel it now?"),
            words(by="caller", body="Yes, please do that."),
        ]
        talk += [words(by="desk", op="cancel_order", sent={"order": order}, reply={"done": True})] if ok else []
        talk.append(words(by="desk", body="Your order is cancelled."))
        need = [words(op="cancel_order", sent={"order": order})]
        rows.append(words(session=f"s-{n}", talk=talk, need=need, grade="pass" if ok else "fail"))
    return rows, good


def functions(words: Words) -> tuple[list[Row], list[bool]]:
    """Function calling: calls that were wanted, calls that were made, and nothing else."""
    good = [n % 5 not in (1, 3) for n in range(20)]
    rows = []
    for n, ok in enumerate(good):
        tool, given = ("get_weather", {"city": f"Oslo {n}"}) if n % 2 else ("set_alarm", {"time": f"07:{n:02d}"})
        made = [] if n % 5 == 1 else [words(fn=tool, args=given if ok else {**given, "unit": "wrong"})]
        rows.append(words(ref=f"fc{n}", need=[words(fn=tool, args=given)], made=made, hit=ok))
    return rows, good


MAKERS: Mapping[str, tuple[Callable[[Words], tuple[list[Row], list[bool]]], Mapping[str, str]]] = {
    "coding": (coding, {"bug": "task", "turns": "trajectory", "tests": "checks", "fine": "reward"}),
    "answers": (answers, {"no": "task", "text": "trajectory", "got": "produced", "want": "expected", "ok": "reward"}),
    "desk": (desk, {"session": "task", "talk": "trajectory", "need": "expected-actions", "grade": "reward"}),
    "functions": (functions, {"ref": "task", "need": "expected-actions", "made": "trajectory", "hit": "reward"}),
}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", MAKERS)
def test_roles_and_outcomes_do_not_depend_on_names(tmp_path: Path, kind: str, seed: int) -> None:
    make, expected = MAKERS[kind]
    words = Words(seed)
    rows, good = make(words)
    run = read(tmp_path, rows)
    assert expected.items() <= roles_of(run, words).items()
    assert passed(run) == good


def test_a_turn_has_its_text_its_call_and_its_result(tmp_path: Path) -> None:
    rows, _ = coding(Words(1))
    steps = first(read(tmp_path, rows), "BUG-0").steps or ()
    assert [(step.index, step.party, step.kind, step.tool) for step in steps] == [
        (0, "agent", "message", None),
        (0, "agent", "call", "sh"),
        (0, "tool", "result", "sh"),
        (1, "agent", "message", None),
        (1, "agent", "call", "patch"),
        (1, "tool", "result", "patch"),
        (2, "agent", "message", None),
    ]
    assert [step.text for step in first(read(tmp_path, rows), "BUG-0").prompt] == [
        "Mend handle_0 in parser.py, which drops the last item of the batch."
    ]


def test_the_calls_of_the_key_are_read_under_any_names(tmp_path: Path) -> None:
    rows, _ = desk(Words(2))
    due = first(read(tmp_path, rows), "s-2").due
    assert due.calls is not None
    assert [(call.tool, call.arguments) for call in due.calls] == [("cancel_order", {"order": "ORD-5002"})]


def test_the_calls_of_a_simulated_user_are_told_apart(tmp_path: Path) -> None:
    words = Words(3)
    rows = []
    for n in range(8):
        said = [
            {"role": "user", "content": f"My line {n} is dead."},
            {"role": "assistant", "content": "Please restart the phone.", "tool_calls": [chat_call("look_up", "{}")]},
        ]
        need = [words(op="look_up", sent={"line": n}, by="assistant"), words(op="restart", sent={"p": 1}, by="user")]
        rows.append({"id": f"t{n}", "reward": n % 2, "messages": said, "key": need})
    due = first(read(tmp_path, rows), "t0").due
    assert due.calls is not None
    assert [call.tool for call in due.calls] == ["look_up"]
    assert [call.tool for call in due.user_calls] == ["restart"]


def chat_call(name: str, arguments: str) -> Row:
    return {"id": "c1", "type": "function", "function": {"name": name, "arguments": arguments}}


def test_a_list_of_checks_is_no_trajectory(tmp_path: Path) -> None:
    rows = [
        {
            "k": f"c{n}",
            "parts": [
                {
                    "n": f"part {i}",
                    "state": "passed" if i or n % 2 else "failed",
                    "note": f"line {i} is as it should be",
                }
                for i in range(3)
            ],
            "won": bool(n % 2),
        }
        for n in range(10)
    ]
    run = read(tmp_path, rows)
    assert isinstance(run.roles, Roles)
    assert run.roles.paths("trajectory") == ()
    assert run.roles.paths("checks") == ("parts",)


LONE_FLAGS: Mapping[str, Callable[[int], Any]] = {
    "failed": lambda n: n % 4 == 0,
    "exit_code": lambda n: int(n % 4 == 0),
    "hit_limit": lambda n: n % 4 == 0,
    "cached": lambda n: n % 2 == 0,
    "errorCount": lambda n: int(n % 3 == 0),
    "xq": lambda n: n % 2 == 0,
}


@pytest.mark.parametrize("name", LONE_FLAGS)
def test_a_flag_that_nothing_supports_is_no_score(tmp_path: Path, name: str) -> None:
    flag = LONE_FLAGS[name]
    path = write_jsonl(tmp_path / "r.jsonl", [{"case": f"k{n}", "note": f"n{n}", name: flag(n)} for n in range(20)])
    with pytest.raises(blade.BladeError, match="say what is what"):
        blade.load_run(path)


def test_two_flags_of_what_went_wrong_are_no_score(tmp_path: Path) -> None:
    rows = [{"case": f"k{n}", "failed": n % 3 == 0, "crashed": n % 6 == 0} for n in range(24)]
    with pytest.raises(blade.BladeError):
        blade.load_run(write_jsonl(tmp_path / "r.jsonl", rows))


@pytest.mark.parametrize(
    ("name", "values", "mapping"),
    [
        ("failed", [True, False, False, True], {"reward": "!failed"}),
        ("rc", [1, 0, 0, 124], {"reward": "!rc"}),
    ],
)
def test_a_flag_of_what_went_wrong_is_mapped_in_reverse(
    tmp_path: Path, name: str, values: list[Any], mapping: Mapping[str, str]
) -> None:
    path = write_jsonl(tmp_path / "r.jsonl", [{"case": f"k{n}", name: value} for n, value in enumerate(values)])
    with pytest.raises(blade.BladeError) as refused:
        blade.load_run(path)
    assert f"--map 'reward={mapping['reward']}'" in refused.value.message
    run = blade.load_run(path, field_map={"task": "case", **mapping})
    assert passed(run) == [False, True, True, False]


def test_grades_are_refused_with_the_threshold_to_try(tmp_path: Path) -> None:
    points = (84, 35, 61, 59, 77, 42)
    rows = [{"essay": n + 1, "judge": {"points": p, "of": 100, "mark": 60}} for n, p in enumerate(points)]
    with pytest.raises(blade.BladeError) as refused:
        blade.load_run(write_jsonl(tmp_path / "r.jsonl", rows))
    assert "--map reward=judge.points --pass-threshold 60" in refused.value.message


def test_attempts_in_a_list_are_rollouts(tmp_path: Path) -> None:
    words = Words(4)
    hits = [[bool((n + k) % 3) for k in range(4)] for n in range(6)]
    rows = [
        words(
            puzzle=f"pz{n}",
            text=f"Find x in x + {n} = 10 now",
            tries=[words(k=k, wrote=f"x is {k + n * 7}", hit="yes" if hit else "no") for k, hit in enumerate(hits[n])],
        )
        for n in range(6)
    ]
    run = read(tmp_path, rows)
    assert run.rollouts.height == 24
    assert run.rollouts["reward"].sum() == sum(map(sum, hits))
    assert run.tasks["task_id"].sort().to_list() == [f"pz{n}" for n in range(6)]


def test_labels_of_people_are_no_evidence(tmp_path: Path) -> None:
    rows = []
    for n in range(10):
        talk = [
            {"name": "Planner", "content": "Let us search for it."},
            {"name": "Searcher", "content": f"I found {n} of them."},
            {"name": "Writer", "content": f"The answer is {n + 1}."},
        ]
        labels = {
            "blame_who": ("Writer", "Searcher")[n % 2],
            "blame_at": 2 - n % 2,
            "blame_reason": f"It adds one to {n}.",
        }
        rows.append({"id": f"t{n}", "reward": 0, "history": talk, "messages": talk, **labels})
    run = read(tmp_path, rows)
    assert isinstance(run.roles, Roles)
    assert run.roles.paths("annotation") == ("blame_at", "blame_reason", "blame_who")
    assert first(run, "t0").due.said == ()
    assert not [name for name in run.tasks.columns if "blame" in name]


def test_a_file_of_tasks_tells_what_the_results_beside_it_leave_out(tmp_path: Path) -> None:
    tasks = [
        {"pid": f"P{n}", "wording": f"Name the author of book number {n}", "golden": f"Author{n:02d}"}
        for n in range(12)
    ]
    right = [n % 3 != 0 for n in range(12)]
    replies = [
        {"pid": f"P{n}", "reply": f"I think that it is Author{n if ok else n + 1:02d}.", "score01": int(ok)}
        for n, ok in enumerate(right)
    ]
    write_jsonl(tmp_path / "problems.jsonl", tasks)
    write_jsonl(tmp_path / "outcomes.jsonl", replies)
    run = blade.load_run(tmp_path)
    assert passed(run) == right
    assert not run.problems
    shown = first(run, "P3")
    assert shown.due.answer == "Author03"
    assert [step.text for step in shown.prompt] == ["Name the author of book number 3"]


def test_which_of_two_equal_answers_was_given_is_not_guessed(tmp_path: Path) -> None:
    rows = [
        {"k": f"F{n}", "a1": f"Stadt{n}", "a2": f"Stadt{n if n % 4 else 99}", "hit": "ja" if n % 4 else "nein"}
        for n in range(20)
    ]
    run = read(tmp_path, rows)
    assert isinstance(run.roles, Roles)
    assert not run.roles.paths("expected")
    assert any("a1 and a2 agree in passes" in said for said in run.roles.undecided)


def repeats(run: Run) -> tuple[int, int]:
    return run.tasks.height, run.rollouts.height


def test_attempts_that_open_in_other_words_are_repeats(tmp_path: Path) -> None:
    talk = [{"from": "user", "text": ""}, {"from": "assistant", "text": "Done with it now."}]
    rows = [
        {
            "about": {"name": f"sc_{n}"},
            "rep": k,
            "state": "ended" if n + k != 5 else "broke",
            "turns": [{**talk[0], "text": f"Hello, I am caller {n * 3 + k}."}, talk[1]],
            "label": ("accept", "reject")[(n + k) % 2],
        }
        for n in range(8)
        for k in (1, 2, 3)
    ]
    assert repeats(read(tmp_path, rows)) == (8, 24)


def test_what_the_grader_found_does_not_tell_attempts_at_a_task_apart(tmp_path: Path) -> None:
    rows = [
        {"task_id": f"t{n}", "attempt": k, "tests": {"a": True, "b": (n + k) % 2 == 0}, "score": (n + k + 1) % 2}
        for n in range(6)
        for k in range(2)
    ]
    assert repeats(read(tmp_path, rows)) == (6, 12)


def test_seeds_count_the_attempts(tmp_path: Path) -> None:
    rows = [
        {"env": f"Door-{n}", "seed": seed, "ending": ("success", "failure")[(n + place) % 2]}
        for n in range(6)
        for place, seed in enumerate((42, 1337, 90210))
    ]
    assert repeats(read(tmp_path, rows)) == (6, 18)


def test_why_a_criterion_holds_names_no_task(tmp_path: Path) -> None:
    names = ("tone", "facts")
    rows = [
        {
            "meta": {"case": f"case/{n}", "try": k},
            "judge": {name: {"met": (n + k + i) % 3 > 0, "why": f"remark {n}{k}{i}"} for i, name in enumerate(names)},
            "final": {"pass": all((n + k + i) % 3 > 0 for i in range(2))},
        }
        for n in range(8)
        for k in range(2)
    ]
    assert repeats(read(tmp_path, rows)) == (8, 16)


@pytest.mark.parametrize("unit", [1, 10**3, 10**6, 10**9])
def test_stamps_count_in_any_unit(tmp_path: Path, unit: int) -> None:
    rows = [
        {
            "task_id": f"t{n}",
            "reward": n % 2,
            "began": (1_772_000_000 + 60 * n) * unit,
            "over": (1_772_000_007 + 61 * n) * unit,
        }
        for n in range(6)
    ]
    run = read(tmp_path, rows)
    assert run.rollouts.sort("offset")["seconds"].to_list() == [7.0 + n for n in range(6)]


def test_the_only_duration_is_that_of_the_rollout(tmp_path: Path) -> None:
    rows = [{"task_id": f"t{n}", "reward": n % 2, "runDurationMs": 1500 * n} for n in range(6)]
    assert read(tmp_path, rows).rollouts.sort("offset")["seconds"].to_list() == [1.5 * n for n in range(6)]
    parts = [{"task_id": f"t{n}", "reward": n % 2, "compile_seconds": 1.5 * n} for n in range(6)]
    assert read(tmp_path, parts).rollouts["seconds"].null_count() == 6


def test_the_verdict_tells_which_list_holds_what_failed(tmp_path: Path) -> None:
    names = [f"test_{k}" for k in range(4)]
    bad = [names[: n % 3] for n in range(12)]
    rows = [
        {"bug": f"b{n}", "suite": {"green": [one for one in names if one not in red], "red": red}, "fixed": not red}
        for n, red in enumerate(bad)
    ]
    run = read(tmp_path, rows)
    assert passed(run) == [not red for red in bad]
    assert run.checks.height == 48
    assert run.checks.filter(~run.checks["passed"]).height == sum(map(len, bad))


def test_attempts_that_are_judged_are_nobody_s_words(tmp_path: Path) -> None:
    rows = [
        {
            "riddle": f"r{n}",
            "epochs": [{"epoch": k, "wrote": f"The answer is {n + k}", "mark": "CI"[(n + k) % 2]} for k in (1, 2, 3)],
        }
        for n in range(8)
    ]
    with pytest.raises(blade.BladeError, match="--map task=riddle"):
        read(tmp_path, rows)


def test_skipped_cases_do_not_hide_the_verdict(tmp_path: Path) -> None:
    words = ("passed", "failed", "skipped", "failed", "passed", "error")
    rows = [
        {"node": f"tests/test_m.py::test[{n}]", "ended": words[n % 6], "run": k} for n in range(12) for k in range(2)
    ]
    run = read(tmp_path, rows)
    assert repeats(run) == (12, 24)
    assert sorted(run.rollouts["outcome"]) == ["failed"] * 8 + ["passed"] * 8 + ["unscored"] * 8


def test_a_counter_is_no_rival_of_the_verdict(tmp_path: Path) -> None:
    rows = [
        {"goal": f"Find box {n} on the map", "trial_no": k, "final_reward": float((n + k) % 2), "hit_cap": n == 3}
        for n in range(8)
        for k in range(2)
    ]
    assert passed(read(tmp_path, rows)) == [bool((n + k) % 2) for n in range(8) for k in range(2)]


def test_rewards_beside_completions_are_attempts(tmp_path: Path) -> None:
    rows = [
        {
            "step": 5,
            "prompt": f"Add {n} and {n}",
            "completions": [f"The sum is {n + k}." for k in range(3)],
            "rewards": [float(k == n) for k in range(3)],
        }
        for n in range(6)
    ]
    run = read(tmp_path, rows)
    assert repeats(run) == (6, 18)
    assert run.rollouts["reward"].sum() == 3
    assert [step.text for step in run["1", 2].steps or ()] == ["The sum is 3."]


def test_choices_beside_their_key_are_no_attempts(tmp_path: Path) -> None:
    rows = [
        {"ask": f"Which is {n}?", "choices": ["the first of them", "the second of them"], "correct": [n % 2, 1 - n % 2]}
        for n in range(6)
    ]
    with pytest.raises(blade.BladeError):
        read(tmp_path, rows)


def test_steps_of_episodes_are_no_rollouts(tmp_path: Path) -> None:
    rows = [
        {"episode": n, "t": k, "seen": f"room {k}", "reward": float(k == n % 3 + 2), "done": k == n % 3 + 2}
        for n in range(6)
        for k in range(n % 3 + 3)
    ]
    with pytest.raises(blade.BladeError, match="done is true in the last row of every episode"):
        read(tmp_path, rows)
    run = blade.load_run(tmp_path / "theirs.jsonl", field_map={"task": "episode", "repeat": "t"})
    assert repeats(run) == (6, len(rows))
    last = [row for row in rows if row["done"]]
    assert repeats(read(tmp_path, last)) == (6, 6)


def test_attempts_that_end_with_a_pass_are_rollouts(tmp_path: Path) -> None:
    rows = [
        {"task_id": f"t{n}", "attempt": k, "reward": float(k == 2), "passed": k == 2, "final": k == 2}
        for n in range(5)
        for k in range(3)
    ]
    assert repeats(read(tmp_path, rows)) == (5, 15)


def test_models_of_one_table_are_runs_over_the_same_tasks(tmp_path: Path) -> None:
    for repeats_ in (1, 2):
        rows = [
            {"model_id": model, "prompt_id": f"p{n}", "replicate": k, "score": (n + k + len(model)) % 2}
            for model in ("a-1b", "b-17b")
            for n in range(8)
            for k in range(repeats_)
        ]
        runs = load(write_jsonl(tmp_path / "r.jsonl", rows))
        assert [run.model for run in runs] == ["a-1b", "b-17b"]
        assert [repeats(run) for run in runs] == [(8, 8 * repeats_)] * 2


def test_success_at_something_bad_is_no_verdict(tmp_path: Path) -> None:
    rows = [{"behavior": f"b{n}", "asked": f"How do I open lock {n}?", "attack_success": n % 3 == 0} for n in range(12)]
    with pytest.raises(blade.BladeError, match="attack_success"):
        read(tmp_path, rows)
