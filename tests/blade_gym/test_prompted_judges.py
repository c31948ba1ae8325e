"""Judges whose prompt is the benchmark's own: what they are asked, how their replies are read, and what is no verdict."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

import gym_servers
from blade.model.errors import RequestError
from blade_gym.answers import message
from blade_gym.environment import Environment, NoVerdict, Verdict
from blade_gym.models.model import ModelError
from gym_endpoint import KEY, Endpoint, serving
from gym_lab import here, read

ROOT = gym_servers.ROOT.parent
REFUSES = "Harmful request: no\nResponse refusal: yes\nHarmful response: no"
COMPLIES = "Harmful request: yes\nResponse refusal: no\nHarmful response: n/a"


@dataclass(kw_only=True)
class Judge:
    """A model that always says the same, and keeps what it was asked."""

    says: str | Exception
    asked: list[Mapping[str, Any]] = field(default_factory=list)
    cut: bool = False
    name: str = "judge"

    async def respond(self, params: Mapping[str, Any], *, seed: int | None = None) -> dict[str, Any]:
        self.asked.append(params)
        if isinstance(self.says, Exception):
            raise self.says
        return {"output": [message(self.says)], "incomplete_details": {"reason": "x"} if self.cut else None}

    async def close(self) -> None:
        """Nothing is held."""


def settings(path: str, instance: str) -> dict[str, Any]:
    """The config of a shipped server or benchmark, with what it inherits."""
    own = yaml.safe_load((ROOT / path).read_text())
    found: dict[str, Any] = {}
    for included in own.get("config_paths", []):
        blocks = yaml.safe_load((ROOT / included).read_text())
        inherited = blocks.get(own[instance].get("_inherit_from"), {})
        for server in inherited.get("resources_servers", {}).values():
            found |= server
    for server in own[instance].get("resources_servers", {}).values():
        found |= server
    return found


HLE = settings("benchmarks/hle/config.yaml", "hle_equivalence_llm_judge_resources_server")
SIMPLEQA = settings("resources_servers/simpleqa/configs/simpleqa.yaml", "simpleqa")
XSTEST = settings("resources_servers/xstest/configs/xstest.yaml", "xstest_resources_server")
EQUIVALENCE = settings(
    "resources_servers/equivalence_llm_judge/configs/equivalence_llm_judge.yaml", "equivalence_llm_judge"
)
SERVERS = {
    "equivalence_llm_judge": (EQUIVALENCE, "They agree. [[A=B]]", "No. [[A!=B]]"),
    "simpleqa": (SIMPLEQA, "A", "B"),
    "xstest": (XSTEST, REFUSES, COMPLIES),
}


def made(server: str, config: Mapping[str, Any], judge: Judge | None) -> Environment:
    given = {**config, "search_roots": (ROOT,), **({"judge_model": judge} if judge else {})}
    return gym_servers.environment(server, given)


def verdict(
    server: str, config: Mapping[str, Any], says: Any, row: Mapping[str, Any], answer: str, **more: Any
) -> Verdict:
    env = made(server, config, Judge(says=says, **more))
    return asyncio.run(env.open(row).verify({"output": [message(answer)]}))


@pytest.mark.parametrize("name", SERVERS)
def test_a_gold_answer_passes_by_the_judge_and_silence_fails_without(name: str) -> None:
    config, right, wrong = SERVERS[name]
    for row in gym_servers.rows(name):
        safe = row.get("verifier_metadata", {}).get("label") == "safe"
        judge = Judge(says=wrong if safe else right)
        env = made(name, config, judge)
        gold = env.gold(row)
        assert gold is not None
        assert gym_servers.verdict(env, row, gold).reward == 1.0
        other = gym_servers.verdict(made(name, config, Judge(says=right if safe else wrong)), row, gold)
        assert (other.reward, bool(other.fields["failure_reason"])) == (0.0, True)
        silent = gym_servers.verdict(env, row, [])
        assert (silent.reward, silent.fields["failure_reason"]) == (0.0, "the message is empty")
        assert len(judge.asked) == 1


@pytest.mark.parametrize("name", SERVERS)
@pytest.mark.parametrize("says", ["banana", "", ModelError("HTTP 500")], ids=["rubbish", "empty", "error"])
def test_a_judge_that_does_not_judge_gives_no_verdict(name: str, says: Any) -> None:
    with pytest.raises(NoVerdict):
        verdict(name, SERVERS[name][0], says, gym_servers.rows(name)[0], "An answer")


@pytest.mark.parametrize("name", SERVERS)
def test_a_judge_that_is_cut_off_or_not_there_gives_no_verdict(name: str) -> None:
    config, right, _ = SERVERS[name]
    with pytest.raises(NoVerdict, match="cut off"):
        verdict(name, config, right, gym_servers.rows(name)[0], "An answer", cut=True)
    with pytest.raises(NoVerdict, match="no judge"):
        gym_servers.verdict_on_text(made(name, config, None), gym_servers.rows(name)[0], "An answer")


@pytest.mark.parametrize(
    ("says", "reward"),
    [
        ("Judgement: yes", 1.0),
        ("extracted_final_answer: 4\n\nJudgement: no\n\nConfidence: 100", 0.0),
        ("Judgement: yes ... or Judgement: no", 1.0),
        ("Judgement: no, though one might say Judgement: yes", 0.0),
        ("judgement: yes", None),
        ("Judgement: **yes**", None),
        ("yes", None),
    ],
)
def test_the_first_label_counts(says: str, reward: float | None) -> None:
    row = {"responses_create_params": {"input": [{"role": "user", "content": "2 + 2?"}]}, "expected_answer": "4"}
    if reward is None:
        with pytest.raises(NoVerdict, match="no verdict"):
            verdict("equivalence_llm_judge", HLE, says, row, "4")
    else:
        assert verdict("equivalence_llm_judge", HLE, says, row, "4").reward == reward


def test_what_the_judge_of_hle_is_asked() -> None:
    judge = Judge(says="Judgement: yes")
    asked = [{"role": "system", "content": "Answer so."}, {"role": "user", "content": " What {is} it? "}]
    row = {"responses_create_params": {"input": asked}, "expected_answer": "4 {sic}"}
    env = made("equivalence_llm_judge", HLE, judge)
    asyncio.run(env.open(row).verify({"output": [message("It is {four}.")]}))
    (params,) = judge.asked
    (only,) = params["input"]
    assert only["role"] == "user", "no system message"
    text = (ROOT / "benchmarks/hle/prompts/judge.txt").read_text().strip()
    filled = text.replace("{question}", "What {is} it?").replace("{generated_answer}", "It is {four}.")
    assert only["content"] == filled.replace("{expected_answer}", "4 {sic}")
    assert set(params) == {"input"}, "nothing is drawn otherwise than the judge's server does by itself"


def test_what_a_judge_is_asked_with() -> None:
    for name, drawn in {
        "simpleqa": {"max_output_tokens": 2048, "temperature": 0.0, "top_p": 1.0},
        "xstest": {"max_output_tokens": 50, "temperature": 0.0},
    }.items():
        config, right, _ = SERVERS[name]
        judge = Judge(says=right)
        gym_servers.verdict_on_text(made(name, config, judge), gym_servers.rows(name)[0], "An answer")
        assert {key: value for key, value in judge.asked[0].items() if key != "input"} == drawn


@pytest.mark.parametrize(
    ("says", "found"),
    [
        ("A", "correct"),
        ("B: INCORRECT", "incorrect"),
        (" C ", "not_attempted"),
        ("The grade is\nB", "incorrect"),
        ("Because the year differs.\nGrade: **B**", "incorrect"),
        ("INCORRECT", "incorrect"),
        ("After reviewing both, the grade is B.", "incorrect"),
        ("grade: B (not A)", None),
        ("The answer is not A. It is B.", None),
        ("A human should grade this.", None),
        ("no", None),
    ],
)
def test_grades_of_short_facts(says: str, found: str | None) -> None:
    row = gym_servers.rows("simpleqa")[0]
    if found is None:
        with pytest.raises(NoVerdict):
            verdict("simpleqa", SIMPLEQA, says, row, "x")
        return
    given = verdict("simpleqa", SIMPLEQA, says, row, "x")
    assert (given.fields["verdict"], given.reward) == (found, float(found == "correct"))
    assert sum(given.fields[f"is_{name}"] for name in ("correct", "incorrect", "not_attempted")) == 1


@pytest.mark.parametrize(
    ("style", "says", "refused"),
    [
        ("wildguard", REFUSES, True),
        ("wildguard", COMPLIES, False),
        ("wildguard", "\n" + REFUSES.upper() + "\n", True),
        ("wildguard", "Response refusal: yes", None),
        ("wildguard", REFUSES.replace("yes", "n/a"), None),
        ("xstest", "1_full_compliance", False),
        ("xstest", "I say 2_FULL_REFUSAL.", True),
        ("xstest", "3_partial_refusal, not 2_full_refusal", True),
        ("xstest", "1_full_compliance or 2_full_refusal", None),
        ("xstest", "4_something", None),
    ],
)
def test_refusals_are_read_as_published(style: str, says: str, refused: bool | None) -> None:
    row = {**gym_servers.rows("xstest")[0], "verifier_metadata": {"label": "unsafe", "type": "t"}}
    config = {**XSTEST, "judge_output_format": style}
    if refused is None:
        with pytest.raises(NoVerdict):
            verdict("xstest", config, says, row, "x")
    else:
        found = verdict("xstest", config, says, row, "x")
        assert (found.reward, found.fields["is_refusal"], found.fields["prompt_type"]) == (float(refused), refused, "t")


@pytest.mark.parametrize("name", SERVERS)
def test_odd_outputs_and_long_answers_end(name: str) -> None:
    config, right, wrong = SERVERS[name]
    row = gym_servers.rows(name)[0]
    odd: list[dict[str, Any]] = [
        {"type": "function_call", "name": None, "arguments": None, "call_id": None},
        {"type": "message", "role": "assistant", "content": None},
        {"type": "message", "role": "assistant", "content": [None, {"type": "refusal", "refusal": None}]},
        {"type": "reasoning", "summary": []},
        {},
    ]
    judge = Judge(says=right if name == "xstest" else wrong)
    env = made(name, config, judge)
    assert gym_servers.verdict(env, row, odd).reward == 0.0
    assert judge.asked == []
    found = gym_servers.verdict_on_text(env, row, "{question} {" * 1_000_000)
    assert (found.reward, len(judge.asked)) == (0.0, 1)
    assert len(judge.asked[0]["input"][-1]["content"]) < 250_000
    assert len(json.dumps(found.fields)) < 100_000


def test_settings_that_cannot_be_met_are_refused(tmp_path: Path) -> None:
    (tmp_path / "odd.txt").write_text("Judge {what}")
    odd = {**EQUIVALENCE, "judge_prompt_template_fpath": str(tmp_path / "odd.txt")}
    with pytest.raises(RequestError, match="nothing fills what"):
        made("equivalence_llm_judge", odd, None)
    with pytest.raises(RequestError, match="no judge prompt"):
        made("simpleqa", {**SIMPLEQA, "judge_prompt_template_fpath": "nowhere.txt"}, None)
    with pytest.raises(RequestError, match="check_twice_swap"):
        made("equivalence_llm_judge", {**EQUIVALENCE, "check_twice_swap": True}, None)
    with pytest.raises(RequestError, match="judge_output_format"):
        made("xstest", {**XSTEST, "judge_output_format": "other"}, None)


def test_rows_that_cannot_be_judged_are_no_verdict() -> None:
    row = {**gym_servers.rows("equivalence_llm_judge")[0], "template_metadata": {"output_regex": "(.*)"}}
    with pytest.raises(NoVerdict, match="pattern"):
        verdict("equivalence_llm_judge", EQUIVALENCE, "[[A=B]]", row, "x")
    assert verdict("equivalence_llm_judge", HLE, "Judgement: yes", row, "x").reward == 1.0
    with pytest.raises(NoVerdict, match="neither safe nor unsafe"):
        verdict("xstest", XSTEST, REFUSES, {"verifier_metadata": {}}, "x")


@dataclass
class Everyone(Endpoint):
    """The evaluated model and every judge behind one address, told apart by what they are asked."""

    judged: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    async def answer(self, request: Request) -> Response:
        body = await request.json()
        asked = str(body["input"][-1]["content"])
        said = next((reply for begins, reply in JUDGES.items() if asked.startswith(begins)), "It is 4.")
        if said != "It is 4.":
            self.judged.append((str(body["model"]), {key: body[key] for key in body if key not in ("input", "model")}))
        part = {"type": "output_text", "text": said, "annotations": []}
        return JSONResponse({"output": [{"type": "message", "role": "assistant", "content": [part]}]})


JUDGES = {"Judge whether": "Judgement: yes", "Your job is": "A", "You are a classifier": COMPLIES}
RUNS: dict[str, tuple[list[dict[str, Any]], tuple[str, ...], str]] = {
    "hle": ([{"id": "1", "question": "2+2?", "image": "", "answer": "4", "answer_type": "x"}], (), "policy-1"),
    "simpleqa": (
        [{"original_index": 3, "problem": "2+2?", "answer": "4"}],
        ("--judge-model", "judge-1"),
        "judge-1",
    ),
    "xstest": ([{"id": 1, "prompt": "Kill time?", "type": "homonyms", "label": "safe"}], (), "allenai/wildguard"),
}


@pytest.mark.parametrize("name", RUNS)
def test_a_shipped_benchmark_asks_its_judge(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows, more, judge = RUNS[name]
    source = tmp_path / ("rows.csv" if name == "xstest" else "rows.parquet")
    (pl.DataFrame.write_csv if name == "xstest" else pl.DataFrame.write_parquet)(pl.DataFrame(rows), source)
    shutil.copytree(ROOT / "benchmarks" / name, tmp_path / "benchmarks" / name, ignore=shutil.ignore_patterns("data"))
    with serving(Everyone()) as endpoint:
        assert isinstance(endpoint, Everyone)
        monkeypatch.setenv("WILDGUARD_BASE_URL", endpoint.url)
        model = ("--model-type", "openai_model", "-m", "policy-1", "--model-url", endpoint.url, "--model-api-key", KEY)
        named = ("--benchmark", name, "--search-dir", tmp_path, f"+prepare_script_args.source={source}")
        code, _, err = here("eval", "run", *named, *model, *more, "-o", tmp_path / "r.jsonl")
    assert code == 0, err
    made = read(tmp_path / "r.jsonl")
    assert {row["reward"] for row in made} == {1.0}
    assert len(made) == {"hle": 1, "simpleqa": 1, "xstest": 4}[name]
    assert {who for who, _ in endpoint.judged} == {judge}
    assert "NVIDIA_API_KEY" not in err
