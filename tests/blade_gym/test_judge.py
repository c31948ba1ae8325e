"""A benchmark that a model judges, end to end: one loopback server is both the model and its judge, and misbehaves."""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from typer.testing import CliRunner

import blade
from blade.cli.main import command_line
from gym_endpoint import KEY, Endpoint, serving
from gym_lab import gym, here, keys, read

CASES = {
    "equal": ("It is Paris.\nAnswer: Paris", None),
    "same": ("That would be the city on the Seine.", "They name the same city.\n\nVerdict: CORRECT"),
    "wrong": ("Lyon, I think.", "Lyon is not Paris.\nVerdict: INCORRECT"),
    "rubbish": ("Perhaps the capital?", "banana banana banana"),
    "both": ("Paris or Lyon.", "Verdict: CORRECT\nVerdict: INCORRECT"),
    "error": ("The one with the tower.", "HTTP 500"),
    "slow": ("Where the Louvre is.", "too late"),
}
"""What the model answers to the question of that name, and what the judge says of it."""
WITHOUT_VERDICT = ("rubbish", "both", "error", "slow")


@dataclass
class Both(Endpoint):
    """A model and a judge behind one address, told apart by name."""

    mended: bool = False
    judged: list[str] = field(default_factory=list)
    models: set[str] = field(default_factory=set)

    async def answer(self, request: Request) -> Response:
        if request.headers.get("authorization") != f"Bearer {KEY}":
            return JSONResponse({"error": {"message": "Incorrect API key"}}, status_code=401)
        body = await request.json()
        asked = str(body["input"][-1]["content"])
        name = re.findall(r"\[(\w+)\]", asked)[0]
        self.models.add(body["model"])
        if "<reference>" not in asked:
            return JSONResponse(_said(CASES[name][0], body["model"]))
        self.judged.append(name)
        said = "Verdict: CORRECT" if self.mended else str(CASES[name][1])
        if said == "HTTP 500":
            return JSONResponse({"error": {"message": "the judge is out"}}, status_code=500)
        if said == "too late":
            await asyncio.sleep(2)
        return JSONResponse(_said(said, body["model"]))


def _said(text: str, model: str) -> dict[str, Any]:
    part = {"type": "output_text", "text": text, "annotations": []}
    item = {"type": "message", "id": "msg_1", "role": "assistant", "content": [part]}
    return {"id": "resp_1", "object": "response", "model": model, "status": "completed", "output": [item]}


CONFIG = """
config_paths: [resources_servers/model_judge/configs/model_judge.yaml]
capitals_model_judge_simple_agent:
  _inherit_from: model_judge_simple_agent
  responses_api_agents:
    simple_agent:
      datasets:
        - name: capitals
          type: benchmark
          prepare_script: benchmarks/capitals/prepare.py
          prompt_config: benchmarks/prompts/generic/default.yaml
"""
PREPARE = """
from blade_gym import hub


def prepare(source, output):
    return hub.write(hub.local_rows(source), output)
"""


def shelf(folder: Path) -> None:
    """A benchmark on top of the shipped judge, and its rows."""
    home = folder / "benchmarks" / "capitals"
    home.mkdir(parents=True)
    (home / "config.yaml").write_text(CONFIG)
    (home / "prepare.py").write_text(PREPARE)
    rows = [{"question": f"[{name}] What is the capital of France?", "expected_answer": "Paris"} for name in CASES]
    (folder / "capitals.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def words(folder: Path, url: str, *more: str) -> list[str]:
    named = ["--benchmark", "capitals", "--search-dir", str(folder), "--model-type", "openai_model"]
    model = ["-m", "policy-1", "--model-url", url, "--model-api-key", KEY, "--judge-model", "judge-1"]
    fast = "judge_model.responses_api_models.openai_model"
    quick = [f"++{fast}.retry_seconds=0.01", f"++{fast}.max_tries=2", f"++{fast}.timeout_seconds=0.5"]
    return [*named, *model, *quick, *more]


def run(folder: Path, endpoint: Both, *more: str) -> tuple[Path, str]:
    source = f"+prepare_script_args.source={folder / 'capitals.jsonl'}"
    output = folder / "results" / "r.jsonl"
    code, _, err = here("eval", "run", *words(folder, endpoint.url, source, *more), "--output", output)
    assert code == 1, err
    return output, err


@pytest.fixture
def made(tmp_path: Path) -> tuple[Path, Both, str]:
    shelf(tmp_path)
    with serving(Both()) as endpoint:
        assert isinstance(endpoint, Both)
        output, err = run(tmp_path, endpoint)
    return output, endpoint, err


def by_name(rows: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    names = list(CASES)
    return {names[row["_ng_task_index"]]: row for row in rows}


def test_a_judge_decides_and_where_it_fails_there_is_no_verdict(made: tuple[Path, Both, str]) -> None:
    output, endpoint, err = made
    rows = by_name(read(output))
    assert {name: row["reward"] for name, row in rows.items()} == {"equal": 1.0, "same": 1.0, "wrong": 0.0}
    assert (rows["equal"]["judge_output"], rows["wrong"]["failure_reason"]) == (None, "the judge says incorrect")
    failed = by_name(read(output.with_name("r_failures.jsonl")))
    assert set(failed) == set(WITHOUT_VERDICT)
    assert {(row["reward"], row["_ng_failure_class"]) for row in failed.values()} == {(None, "judge_failed")}
    assert not any(row["_ng_failure_terminal"] for row in failed.values())
    told = {name: row["_ng_failure_judge_error"] for name, row in failed.items()}
    assert told["rubbish"] == "the judge's reply holds no verdict: 'banana banana banana'"
    assert told["both"].startswith("the judge's reply holds two verdicts")
    assert told["error"] == "the judge failed: HTTP 500: the judge is out"
    assert "no answer within 0.5 s" in told["slow"]
    assert failed["slow"]["response"]["output"][0]["content"][0]["text"] == CASES["slow"][0], "the answer is kept"
    assert endpoint.models == {"policy-1", "judge-1"}
    assert endpoint.judged.count("error") == endpoint.judged.count("slow") == 2, "asked again, with a limit"
    assert "equal" not in endpoint.judged
    assert "4 rollouts failed: judge_failed" in err


def test_the_manifest_names_the_judge_and_no_key(made: tuple[Path, Both, str]) -> None:
    output, _, _ = made
    manifest = json.loads(output.with_name("r_manifest.json").read_text())
    assert (manifest["judge"]["name"], manifest["model"]["name"]) == ("judge-1", "policy-1")
    written = [path for path in output.parent.rglob("*") if path.is_file()]
    assert [path.name for path in written if KEY.encode() in path.read_bytes()] == []


def test_the_analysis_says_that_nobody_judged_them(made: tuple[Path, Both, str], tmp_path: Path) -> None:
    output, _, _ = made
    found = blade.load_run(str(output))
    assert sorted(found.rollouts["outcome"].to_list()) == ["errored"] * 4 + ["failed"] + ["passed"] * 2
    done = CliRunner().invoke(command_line(), ["analyze", str(output), "-o", str(tmp_path / "report")])
    assert done.exit_code == 0, done.output
    report = (tmp_path / "report" / "report.md").read_text()
    assert "2 of 3 judged rollouts passed" in report
    assert "**1. The grader does not run: judge_failed.** 4 of 5 failures" in report
    assert "Rerun 3, 4, 5 and 1 more: they have no score." in report


def test_a_mended_judge_is_asked_again_without_the_model(made: tuple[Path, Both, str], tmp_path: Path) -> None:
    output, _, _ = made
    only = ("eval", "reverify", "--rollouts", output, "--judge-failed-only", "--append", "--search-dir", tmp_path)
    code, _, err = here(*only)
    assert (code, "--judge-model NAME --judge-url URL" in err) == (2, True), "a judge is needed, and nothing is lost"
    code, _, err = here(*only, "--judge-model", "judge-1")
    assert (code, "needs a config" in err) == (2, True)
    with serving(Both(mended=True)) as endpoint:
        assert isinstance(endpoint, Both)
        named = ("--benchmark", "capitals", "--judge-model", "judge-1", "--judge-url", endpoint.url)
        done = gym(*only, *named, cwd=tmp_path, JUDGE_API_KEY=KEY)
        assert done.returncode == 0, done.stderr
    assert "4 rollouts re-judged: 0 rewards went up, 0 went down, 4 had none before" in done.stdout
    assert endpoint.models == {"judge-1"}
    assert keys(read(output)) == [(index, 0) for index in range(len(CASES))]
    assert KEY not in done.stdout + done.stderr


def test_the_model_judges_itself_where_no_judge_is_named(tmp_path: Path) -> None:
    shelf(tmp_path)
    source = f"+prepare_script_args.source={tmp_path / 'capitals.jsonl'}"
    with serving(Both(mended=True)) as endpoint:
        assert isinstance(endpoint, Both)
        model = ["--model-type", "openai_model", "-m", "policy-1", "--model-url", endpoint.url, "--model-api-key", KEY]
        named = ["--benchmark", "capitals", "--search-dir", str(tmp_path), source]
        code, _, err = here("eval", "run", *named, *model, "-o", tmp_path / "r.jsonl")
    assert code == 0, err
    assert {row["reward"] for row in read(tmp_path / "r.jsonl")} == {1.0}
    assert endpoint.models == {"policy-1"}


def test_a_judge_that_nobody_asks_is_refused(tmp_path: Path) -> None:
    model = ("--model-type", "scripted_model", "-m", "good", "--judge-model", "judge-1", "--judge-url", "http://h/v1")
    words_ = ("--resources-server", "workplace_assistant", *model, "++policy_api_key=x", "-o", tmp_path / "r.jsonl")
    code, _, err = here("eval", "run", *words_, "--split", "example")
    assert (code, "no verifier of this config asks a judge" in err) == (2, True)
    code, _, err = here("eval", "run", "--judge-url", "http://h/v1", "-o", tmp_path / "r.jsonl")
    assert (code, "--judge-url needs --judge-model" in err) == (2, True)


def test_what_running_servers_have_decided_is_refused(tmp_path: Path) -> None:
    given = ("--benchmark", "simpleqa", "-m", "other", "--judge-model", "judge-1")
    code, _, err = here("eval", "run", "--no-serve", "--input", "x.jsonl", "-o", tmp_path / "r.jsonl", *given)
    assert (code, "the servers that run decide: --benchmark, --model, --judge-model" in err) == (2, True)


def test_a_config_with_a_judge_is_shown_without_its_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUDGE_API_KEY", KEY)
    model = ("--model-type", "scripted_model", "-m", "good", "--judge-model", "judge-1", "--judge-url", "http://h/v1")
    code, out, err = here("env", "resolve", "--benchmark", "simpleqa", *model)
    assert code == 0, err
    assert "openai_model: judge-1" in out
    assert KEY not in out
    code, out, err = here("env", "validate", "--benchmark", "simpleqa", *model)
    assert (code, "judge_model (responses_api_models)" in out) == (0, True), err


def test_a_judge_at_an_http_address_needs_no_key(made: tuple[Path, Both, str], tmp_path: Path) -> None:
    output, _, _ = made
    with serving(Both(mended=True)) as endpoint:
        named = ("--benchmark", "capitals", "--judge-model", "judge-1", "--judge-url", endpoint.url)
        words = ("eval", "reverify", "--rollouts", output, "--search-dir", tmp_path, "-o", tmp_path / "new.jsonl")
        done = gym(*words, *named, cwd=tmp_path, JUDGE_API_KEY="")
    assert "policy_api_key" not in done.stderr
    assert done.returncode in (0, 1), done.stderr
