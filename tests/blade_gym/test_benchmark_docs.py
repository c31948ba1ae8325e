"""The section on benchmarks of docs/gym.md: its commands run, and the benchmark that it adds works."""

from __future__ import annotations

import json
import re
import shlex
import textwrap
from pathlib import Path

import pytest

from gym_shelf import ROOT, gym, write

PAGE = (ROOT / "docs/gym.md").read_text("utf-8").split("\n## Benchmarks\n")[1].split("\n## ")[0]
COMMANDS = re.findall(r"^gym (?:list|search|env) .*$", PAGE, flags=re.MULTILINE)


def block(language: str) -> str:
    found = re.search(rf"^ *```{language}\n(.*?)^ *```", PAGE, flags=re.MULTILINE | re.DOTALL)
    assert found is not None
    return textwrap.dedent(found[1])


@pytest.mark.parametrize("command", COMMANDS)
def test_its_commands_run(tmp_path: Path, command: str) -> None:
    done = gym(tmp_path, *shlex.split(command)[1:])
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout


def test_the_benchmark_that_it_adds_is_listed_valid_and_prepared(tmp_path: Path) -> None:
    write(tmp_path, {"benchmarks/mine/config.yaml": block("yaml"), "benchmarks/mine/prepare.py": block("python")})
    write(tmp_path, {"copy.jsonl": '{"id": "a", "problem": "1 + 1?", "answer": "2"}\n'})
    row = json.loads(gym(tmp_path, "list", "benchmarks", "mine", "--json").stdout)
    assert (row["domain"], row["num_repeats"]) == ("math", 4)
    assert gym(tmp_path, "env", "validate", "--benchmark", "mine", "--model-type", "local_model").returncode == 0
    done = gym(tmp_path, "eval", "prepare", "--benchmark", "mine", "+prepare_script_args.source=copy.jsonl")
    assert done.returncode == 0, done.stderr
    made = (tmp_path / "benchmarks/mine/data/mine_benchmark.jsonl").read_text()
    assert json.loads(made) == {"id": "a", "question": "1 + 1?", "expected_answer": "2"}
