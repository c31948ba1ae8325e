"""What reaches a terminal: nothing that it obeys, nothing too wide for it, color only where it is wanted."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HERON = "examples/desk_assistant/heron-70b_rollouts.jsonl"
SPARROW = "examples/desk_assistant/sparrow-8b_rollouts.jsonl"
MAIN = "from blade.cli.main import main; main()"
EVIL = "\x1b]0;owned\x07 \x1b[31m \x9b31m \x9d0;x\x9c \u202egpj\u2066 \u2028two \x85three \x1c four \x7f \r over \b"
"""Escape sequences of both kinds, marks that turn the order of letters, and what some take as the end of a line."""
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def run(*words: str, cwd: Path = ROOT) -> tuple[int, str, str]:
    done = subprocess.run([sys.executable, "-c", MAIN, *words], cwd=cwd, capture_output=True, check=False, timeout=120)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def on_terminal(columns: int, *words: str, **env: str) -> str:
    """What a command prints where stdout is a terminal."""
    near, far = pty.openpty()
    settings = {**os.environ, "TERM": "xterm", "COLUMNS": str(columns), **env}
    settings = {name: value for name, value in settings.items() if value}
    with subprocess.Popen(
        [sys.executable, "-c", MAIN, *words], cwd=ROOT, stdout=far, stderr=-3, env=settings
    ) as process:
        os.close(far)
        read = b""
        try:
            while part := os.read(near, 1 << 16):
                read += part
        except OSError:  # how Linux says that the other end is closed
            pass
    os.close(near)
    assert process.returncode == 0
    return read.decode().replace("\r\n", "\n")


def hostile_row(task: str, repeat: int, reward: float) -> dict[str, object]:
    """A row in which everything that can be a text is hostile."""
    call = {"type": "function_call", "name": f"tool{EVIL}", "arguments": json.dumps({"a": EVIL}), "call_id": "c"}
    result = {"type": "function_call_output", "call_id": "c", "output": f"error: {EVIL}"}
    words = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": f"done {EVIL}"}]}
    return {
        "task_id": f"{task}{EVIL}",
        "_ng_rollout_index": repeat,
        "reward": reward,
        "difficulty": f"hard{EVIL}",
        "error": f"Broken{EVIL}" if reward == 0 else None,
        "expected_answer": f"x{EVIL}",
        "extracted_answer": f"y{EVIL}",
        "test_results": {f"check{EVIL}": reward == 1},
        "agent_ref": {"name": f"agent{EVIL}"},
        "responses_create_params": {"input": [{"role": "user", "content": f"do {task} {EVIL}"}]},
        "response": {"output": [call, result, call, result, call, result, words], "model": f"m{EVIL}"},
        f"field{EVIL}": 1,
    }


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hostile")
    name = "rollouts\x1b[31m\x9b\u202e.jsonl"
    for where, shift in (("a", 0), ("b", 1)):
        (folder / where).mkdir()
        rows = [hostile_row(f"t{n}", r, float((n + r + shift) % 3 == 0)) for n in range(4) for r in range(3)]
        lines = [json.dumps(row, ensure_ascii=n % 2 == 0) for n, row in enumerate(rows)]
        (folder / where / name).write_text("\n".join([*lines, f'{{"torn{EVIL}']) + "\n", encoding="utf-8")
    return folder


@pytest.mark.slow
def test_no_command_prints_what_a_terminal_obeys(hostile: Path) -> None:
    a, b = str(hostile / "a"), str(hostile / "b")
    task = f"t1{EVIL}"
    commands: list[tuple[str, ...]] = [
        ("analyze", a, "-o", "out"),
        ("analyze", a, b, "--json"),
        ("analyze", a, "--json", "--full"),
        ("schema", a),
        ("analyze", a, "--notes", str(next(Path(a).iterdir()))),
        ("compare", a, b),
        ("compare", a, b, "--json", "--full"),
        ("compare", a, b, "--at", EVIL.replace("\x00", "")),
        ("explain", a, task),
        ("show", a, f"{task}#0"),
        ("sql", a, "SELECT * FROM rollouts"),
        ("sql", a, "SELECT * FROM checks", "--json"),
        ("sql", a, "SELECT task_id FROM tasks", "--csv"),
        ("sql", a, f"SELECT {EVIL}"),
        ("try", a, "reward > 0.5"),
        ("try", a, EVIL),
        ("health", a, b),
        ("health", a, b, "--json"),
        ("gate", a, b),
        ("history", a, b),
        ("audit", "out"),
        ("audit", "out", "--json"),
        ("label", a, task, "--cause", "task", "--note", EVIL),
        ("analyze", a, "--labels", "labels.jsonl"),
        ("package", "init", "p", "--from", a),
        ("package", "status", "benchmarks/p"),
        ("package", "validate", "benchmarks/p"),
        ("package", "sanitize", "benchmarks/p"),
        # Requests that cannot be served speak of what was asked for.
        ("analyze", f"nowhere{EVIL}"),
        ("analyze", a, "--exclude", f"task:{EVIL}"),
        ("analyze", a, "--limit", EVIL),
        ("explain", a, f"none{EVIL}"),
        ("show", a, f"{task}#9"),
        ("rules", EVIL),
        (EVIL,),
        ("skill", "show", EVIL),
        ("gym", "list", EVIL),
        ("gym", "env", "validate", "--benchmark", EVIL),
    ]
    codes = []
    for words in commands:
        code, out, err = run(*words, cwd=hostile)
        found = OBEYED.search(out) or OBEYED.search(err)
        assert found is None, (words, found, (out + err)[max(0, found.start() - 80) : found.end() + 20])
        assert "Traceback" not in err, (words, err)
        codes.append(code)
    assert codes.count(0) > 20
    assert codes.count(2) >= 10


def test_json_still_says_what_the_row_says(hostile: Path) -> None:
    code, out, _ = run("sql", str(hostile / "a"), "SELECT DISTINCT task_id FROM tasks", "--json")
    assert code == 0
    assert {json.loads(line)["task_id"] for line in out.splitlines()} == {f"t{n}{EVIL}" for n in range(4)}


@pytest.mark.parametrize("columns", [50, 80])
@pytest.mark.parametrize(
    "words",
    [
        ("analyze", HERON),
        ("compare", SPARROW, HERON),
        ("health", HERON),
        ("show", HERON, "mail-1#0"),
        ("explain", HERON, "mail-1"),
        ("sql", HERON, "SELECT * FROM rollouts LIMIT 2"),
        ("rules",),
    ],
)
def test_nothing_is_wider_than_the_terminal(words: tuple[str, ...], columns: int) -> None:
    lines = on_terminal(columns, *words, NO_COLOR="1").split("\n")
    assert len(lines) > 5
    assert max(map(len, lines)) <= columns


def test_verdicts_have_a_color_on_a_terminal_and_nowhere_else() -> None:
    words = ("gate", SPARROW, HERON)
    assert "\x1b[32m" in on_terminal(80, *words)
    assert "\x1b" not in on_terminal(80, *words, NO_COLOR="1")
    assert "\x1b" not in on_terminal(80, *words, TERM="dumb")
    assert "\x1b" not in run(*words)[1]


def test_what_is_no_terminal_gets_the_same_bytes_in_every_window(monkeypatch: pytest.MonkeyPatch) -> None:
    printed = []
    for columns in ("40", "200"):
        monkeypatch.setenv("COLUMNS", columns)
        printed.append(run("health", HERON)[1])
    assert printed[0] == printed[1]


def test_a_stream_that_knows_few_characters_escapes_the_others(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    code, _, err = run("analyze", str(tmp_path / "caf\u00e9"))
    assert (code, "caf\\xe9" in err) == (2, True)
