"""What comes after a run: gold answers, new verdicts on stored rollouts, and what the analysis reads of a manifest."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import blade
from blade_gym.run.manifest import safe_config
from gym_endpoint import KEY, Endpoint, serving
from gym_lab import APP, endpoint_words, here, keys, lab, read, task


def run(folder: Path, name: str, *words: str | Path) -> Path:
    output = folder / "results" / f"{name}.jsonl"
    with serving(Endpoint(fault=lambda number, tried: "500" if number == 9 else None)) as endpoint:
        given = endpoint_words(folder, endpoint.url, KEY)
        code, _, err = here("eval", "run", *given, "--split", "example", *words, "--output", output)
    assert code in (0, 1), err
    return output


def test_gold_answers_prove_a_verifier(tmp_path: Path) -> None:
    lab(tmp_path, tasks=3)
    code, out, err = here("env", "test", "--resources-server", "sums", "--search-dir", tmp_path)
    assert code == 0, err
    assert "ok      sums: 3 of 3 gold answers pass" in out
    app = tmp_path / "resources_servers" / "sums" / "app.py"
    app.write_text(APP.replace("said == str(", "said != str("))
    code, out, _ = here("env", "test", "--resources-server", "sums", "--search-dir", tmp_path)
    assert code == 1
    assert "FAILED  sums: 0 of 3" in out
    assert "example.jsonl:1: the gold answer gets 0" in out


def test_stored_rollouts_are_judged_again_without_a_model(tmp_path: Path) -> None:
    lab(tmp_path, tasks=3)
    first = run(tmp_path, "r")
    app = tmp_path / "resources_servers" / "sums" / "app.py"
    app.write_text(APP.replace("said == str(", 'said == "0" == str('))
    words = ("eval", "reverify", "--rollouts", first, "--search-dir", tmp_path)
    code, out, err = here(*words)
    assert code == 0, err
    assert "6 rollouts re-judged: 0 rewards went up, 4 went down" in out
    after = read(first.with_name("r_reverified.jsonl"))
    assert {row["_ng_task_index"]: row["reward"] for row in after} == {0: 1.0, 1: 0.0, 2: 0.0}
    assert {row["reward"] for row in read(first)} == {1.0}
    assert (here(*words)[0], here(*words, "--overwrite")[0]) == (2, 0)
    lines = first.with_name("r_reverified.jsonl").read_text().splitlines()
    first.with_name("r_reverified.jsonl").write_text("\n".join(lines[:2]) + "\n" + lines[2][:40])
    code, out, _ = here(*words, "--resume")
    assert "4 rollouts re-judged: 0 rewards went up" in out
    assert "2 were done before" in out
    assert keys(read(first.with_name("r_reverified.jsonl"))) == keys(read(first))
    assert blade.load_run(str(first.with_name("r_reverified.jsonl"))).benchmark == "sums"


def test_failed_judges_are_asked_again_and_their_rollouts_added(tmp_path: Path) -> None:
    lab(tmp_path, rows=[task(1), task(2, judge="broken"), task(9)])
    down = tmp_path / "judge-is-down"
    down.touch()
    app = tmp_path / "resources_servers" / "sums" / "app.py"
    mine = f"import os\n{APP}".replace('== "broken"', f'== "broken" and os.path.exists({str(down)!r})')
    app.write_text(mine.replace("from __future__ import annotations", ""))
    first = run(tmp_path, "r", "--num-repeats", "1")
    assert keys(read(first)) == [(0, 0)]
    before = read(first.with_name("r_failures.jsonl"))
    words = ("eval", "reverify", "--rollouts", first, "--search-dir", tmp_path, "--judge-failed-only")
    assert here("eval", "reverify", "--rollouts", first, "--search-dir", tmp_path, "--append")[0] == 2
    code, _, err = here(*words, "--append")
    assert (code, "1 got no verdict" in err, "the judge did not answer" in err) == (1, True, True)
    assert read(first.with_name("r_failures.jsonl")) == before, "a judge that fails again uses up no attempt"
    down.unlink()
    kept = app.read_text()
    app.write_text(kept.replace("said == str(", "said != str("))
    code, _, err = here(*words, "--append")
    assert (code, "verifier_code.files.resources_servers/sums/app.py" in err) == (2, True)
    app.write_text(kept)
    code, _, err = here(*words, "--append")
    assert code == 0, err
    rows = read(first)
    assert keys(rows) == [(0, 0), (1, 0)]
    assert rows[1]["reward"] == 1.0
    assert "_ng_failure_class" not in rows[1]
    assert here(*words, "--append")[0] == 2, "nothing is left to judge"


LENIENT = """
def environment(config):
    made = Sums(config)
    made.lenient = config.get("lenient", False)
    return made
"""


def lenient(folder: Path) -> None:
    """A verifier with a setting that lets everything pass."""
    app = folder / "resources_servers" / "sums" / "app.py"
    session = APP.replace("return Session(row)", "return Session({**row, 'lenient': self.lenient})")
    session = session.replace("float(said == str(", "float(self.row['lenient'] or said == str(")
    app.write_text(session[: session.index("def environment")] + LENIENT)


def test_a_setting_changes_how_stored_rollouts_are_judged_and_is_recorded(tmp_path: Path) -> None:
    rows = [{**task(n), "expected_answer": "7"} for n in range(3)]
    lab(tmp_path, rows=rows)
    lenient(tmp_path)
    first = run(tmp_path, "r")
    words = ("eval", "reverify", "--rollouts", first, "--search-dir", tmp_path)
    setting = "+sums.resources_servers.sums.lenient=true"
    for out, config in (("own", ()), ("named", ("--resources-server", "sums"))):
        target = tmp_path / f"{out}.jsonl"
        code, told, err = here(*words, *config, "-o", target, setting)
        assert code == 0, err
        assert "6 rollouts re-judged: 6 rewards went up, 0 went down" in told
        old, new = (json.loads((path.with_name(f"{path.stem}_manifest.json")).read_text()) for path in (first, target))
        assert new["config"]["sums"]["resources_servers"]["sums"]["lenient"] is True
        assert new["config_sha256"] != old["config_sha256"]
        assert new["verifier_code"] == old["verifier_code"]
    lines = target.read_text().splitlines()
    target.write_text("\n".join(lines[:3]) + "\n")
    code, _, err = here(*words, "-o", target, "--resume")
    assert (code, "lenient: True -> nothing" in err) == (2, True)
    assert here(*words, "-o", target, "--resume", setting)[0] == 0
    code, _, err = here(*words, "-o", tmp_path / "x.jsonl", "+maths.resources_servers.maths.lenient=true")
    assert (code, "its resources servers: sums" in err) == (2, True)


def test_a_comparison_shows_that_the_verifier_changed(tmp_path: Path) -> None:
    lab(tmp_path, tasks=3)
    first = run(tmp_path, "a")
    app = tmp_path / "resources_servers" / "sums" / "app.py"
    app.write_text(APP.replace("said == str(", "said.strip() == str("))
    second = run(tmp_path, "b")
    third = run(tmp_path, "c", "+sums.resources_servers.sums.lenient=true")
    for before, after in ((first, second), (second, third)):
        found = held(before, after, tmp_path / after.stem)
        assert [name for name, state in found.items() if state == "changed"] == ["verifier"]


def test_an_environment_that_says_no_is_asked_only_by_force(tmp_path: Path) -> None:
    lab(tmp_path, tasks=1)
    first = run(tmp_path, "r", "--num-repeats", "1")
    app = tmp_path / "resources_servers" / "sums" / "app.py"
    app.write_text(APP.replace("class Sums:", "class Sums:\n    reverify = 'unsupported'\n"))
    words = ("eval", "reverify", "--rollouts", first, "--search-dir", tmp_path)
    assert here(*words)[0] == 2
    assert here(*words, "--force")[0] == 0
    assert first.with_name("unsafe_r_reverified.jsonl").is_file()


def test_the_analysis_reads_the_manifest(tmp_path: Path) -> None:
    lab(tmp_path, rows=[task(n) for n in (1, 2, 9)])
    path = run(tmp_path, "r", "--temperature", "0.5")
    found = blade.load_run(str(path))
    assert (found.model, found.benchmark, found.agent) == ("adder-1", "sums", "sums_simple_agent")
    assert found.expected_from == "inputs"
    assert sorted(found.rollouts["outcome"].to_list()) == ["errored"] * 2 + ["passed"] * 4
    settings = dict(found.settings)
    assert (settings["temperature"], settings["max_steps"], settings["verifier"]) == ("0.5", "4", "exact_match")
    path.with_name("r_materialized_inputs.jsonl").unlink()
    path.with_name("r_failures.jsonl").unlink()
    alone = blade.load_run(str(path))
    assert alone.expected_from == "manifest"
    assert sorted(alone.rollouts["outcome"].to_list()) == ["missing"] * 2 + ["passed"] * 4


def held(before: Path, after: Path, out: Path) -> dict[str, Any]:
    from typer.testing import CliRunner

    from blade.cli.main import command_line

    done = CliRunner().invoke(command_line(), ["compare", str(before), str(after), "-o", str(out)])
    assert done.exit_code == 0, done.output
    value = json.loads((out / "comparison.json").read_text())
    return {name: state["state"] for name, state in value["held_fixed"].items()}


def skills(folder: Path, name: str, text: str) -> Path:
    home = folder / name / "adding"
    home.mkdir(parents=True)
    (home / "SKILL.md").write_text(f"---\nname: adding\ndescription: How to add\n---\n{text}\n")
    return folder / name


@pytest.mark.parametrize(
    ("change", "aspect"),
    [
        ("temperature", "sampling"),
        ("skills", "skills"),
        ("more skills", "skills"),
        ("steps", "limits"),
        ("repeats", "repeats"),
        ("prompt", "prompt"),
    ],
)
def test_a_comparison_names_the_one_thing_that_changed(tmp_path: Path, change: str, aspect: str) -> None:
    rows = [{**task(n), "number": n} for n in range(4)]
    lab(tmp_path, rows=[{**row, "responses_create_params": {}} for row in rows] if change == "prompt" else rows)
    (tmp_path / "one.yaml").write_text("user: What is {number} + {number}?")
    (tmp_path / "two.yaml").write_text("user: Now then, what is {number} + {number}?")
    words: dict[str, tuple[list[str | Path], list[str | Path]]] = {
        "temperature": (["--temperature", "0.1"], ["--temperature", "0.9"]),
        "skills": ([], ["--skills", skills(tmp_path, "one", "Add.")]),
        "more skills": (
            ["--skills", skills(tmp_path, "two", "Add.")],
            [f"+skills.path={skills(tmp_path, 'three', 'Count.')}"],
        ),
        "repeats": ([], ["--num-repeats", "3"]),
        "prompt": (["--prompt-config", "one.yaml"], ["--prompt-config", "two.yaml"]),
        "steps": ([], ["++sums_simple_agent.responses_api_agents.simple_agent.max_steps=2"]),
    }
    before, after = words[change]
    found = held(run(tmp_path, "a", *before), run(tmp_path, "b", *after), tmp_path / "out")
    assert [name for name, state in found.items() if state == "changed"] == [aspect]
    assert [name for name, state in found.items() if state == "not recorded"] == []


def test_what_was_sent_and_how_long_it_took_are_recorded(tmp_path: Path) -> None:
    lab(tmp_path, tasks=2)
    model = "++policy_model.responses_api_models.openai_model"
    plain = run(tmp_path, "plain")
    sent = run(tmp_path, "sent", "--temperature", "0.5", f"{model}.extra_body={{top_k: 5, max_tokens: 9}}")
    first, second = (json.loads(path.with_name(f"{path.stem}_manifest.json").read_text()) for path in (plain, sent))
    default = "the endpoint's default"
    assert first["sampling"] == {"temperature": default, "top_p": default, "max_output_tokens": default}
    assert second["sampling"] == {"temperature": 0.5, "top_p": default, "max_output_tokens": 9, "top_k": 5}
    assert (first["limits"]["model_seconds"], first["limits"]["model_tries"]) == (1.0, 3)
    rows = read(plain)
    assert all(0 < row["seconds"] < 60 for row in rows)
    found = blade.load_run(str(plain))
    assert found.rollouts["seconds"].to_list() == [
        row["seconds"] for row in sorted(rows, key=lambda row: (row["_ng_task_index"], row["_ng_rollout_index"]))
    ]
    assert found.settings["temperature"] == default


def test_every_artifact_is_beside_the_rollouts(tmp_path: Path) -> None:
    lab(tmp_path, tasks=2)
    path = run(tmp_path, "r")
    names = sorted(one.name for one in path.parent.iterdir())
    assert names == [
        "r.jsonl",
        "r_aggregate_metrics.json",
        "r_failures.jsonl",
        "r_manifest.json",
        "r_materialized_inputs.jsonl",
    ]
    manifest = json.loads((path.parent / "r_manifest.json").read_text())
    model = manifest["config"]["policy_model"]["responses_api_models"]["openai_model"]
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/v1", model["openai_base_url"])
    assert model["openai_api_key"] == "****"
    assert manifest["dataset"][0]["rows"] == 2
    assert (manifest["model"]["url_host"], manifest["seeds"]["by_repeat"]) == ("127.0.0.1", False)
    assert manifest["started_at"] <= manifest["ended_at"]
    assert manifest["counts"] == {"expected": 4, "rollouts": 4, "failed": {}}
    code, _, err = here("eval", "profile", "--rollouts", path)
    assert code == 0, err
    assert len(read(path.with_name("r_reward_profiling.jsonl"))) == 2


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("https://models.example.com:8443/openai/v1", "https://models.example.com:8443/openai/v1"),
        ("https://me:secret@models.example.com/v1", "https://models.example.com/v1"),
        ("https://models.example.com/v1?key=abc&x=1", "https://models.example.com/v1?key=****&x=****"),
        ("https://models.example.com/t/1a2b3c4d5e6f7a8b9c0d1e2f/v1", "https://models.example.com/t/****/v1"),
        ("https://models.example.com/deployments/gpt-4o-mini-2024-07-18", None),
        ("http://[::1]:8000/v1", None),
        ("http://[::1", "****"),
    ],
)
def test_an_address_is_kept_whole_but_for_what_may_be_a_key(given: str, kept: str | None) -> None:
    assert safe_config({"m": {"openai_base_url": [given]}}) == {"m": {"openai_base_url": [kept or given]}}


@pytest.mark.slow
def test_the_embedded_model_runs_end_to_end(tmp_path: Path) -> None:
    pytest.importorskip("xllamacpp")
    lab(tmp_path, tasks=2)
    words = (
        "--resources-server",
        "sums",
        "--search-dir",
        tmp_path,
        "--model-type",
        "local_model",
        "--split",
        "example",
    )
    off = "++sums.resources_servers.sums.with_tools=false"
    output = tmp_path / "results" / "r.jsonl"
    code, _, err = here("eval", "run", *words, "--max-output-tokens", "8", "--output", output, off)
    assert code == 0, err
    assert keys(read(output)) == [(0, 0), (0, 1), (1, 0), (1, 1)]
    found = blade.load_run(str(output))
    assert (found.model, found.settings["seed"]) == ("smollm2-135m-instruct", "by repeat")
    assert {name: found.settings[name] for name in ("temperature", "top_p", "top_k", "min_p", "max_output_tokens")} == {
        "temperature": "0.8",
        "top_p": "0.95",
        "top_k": "40",
        "min_p": "0.05",
        "max_output_tokens": "8",
    }


JUDGED = """
from blade_gym.environment import NoVerdict, Verdict
from blade_gym.models.model import ModelError


class Session:
    def __init__(self, row, judge):
        self.row, self.judge = row, judge

    async def verify(self, response):
        text = response["output"][-1]["content"][0]["text"]
        if self.judge is None:
            raise NoVerdict("there is no judge")
        try:
            said = await self.judge.respond({"input": f"What is {self.row['judge_asks']} + 0?"})
        except ModelError as error:
            raise NoVerdict(str(error)) from None
        return Verdict(reward=float(said["output"][0]["content"][0]["text"] == text))


class Judged:
    tools = ()

    def __init__(self, config):
        self.judge = config.get("judge_model")

    def open(self, row):
        return Session(row, self.judge)

    def gold(self, row):
        return None


def environment(config):
    return Judged(config)
"""


def test_a_judge_is_a_model_of_the_config_and_its_failure_is_no_zero(tmp_path: Path) -> None:
    lab(tmp_path, rows=[task(1, judge_asks=1), task(2, judge_asks=5), task(3, judge_asks=9)])
    home = tmp_path / "resources_servers" / "sums"
    (home / "app.py").write_text(JUDGED)
    config = (home / "configs" / "sums.yaml").read_text()
    judge = "verifier: exact_match, judge_model_server: {type: responses_api_models, name: policy_model}"
    (home / "configs" / "sums.yaml").write_text(config.replace("verifier: exact_match", judge))
    first = run(tmp_path, "r", "--num-repeats", "1")
    assert {row["_ng_task_index"]: row["reward"] for row in read(first)} == {0: 1.0, 1: 0.0}
    (failed,) = read(first.with_name("r_failures.jsonl"))
    assert (failed["_ng_failure_class"], failed["reward"]) == ("judge_failed", None)
    with serving(Endpoint()) as endpoint:
        words = endpoint_words(tmp_path, endpoint.url, KEY)
        code, _, err = here("eval", "reverify", "--rollouts", first, *words, "--judge-failed-only", "--append")
    assert code == 0, err
    assert keys(read(first)) == [(0, 0), (1, 0), (2, 0)]


def test_rollouts_can_be_made_first_and_judged_later(tmp_path: Path) -> None:
    lab(tmp_path, rows=[task(1), task(2, expected_answer="5"), task(9)])
    first = run(tmp_path, "r", "--num-repeats", "2", "+skip_verification=true")
    rows = read(first)
    assert keys(rows) == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert {(row["reward"], row["verification_skipped"]) for row in rows} == {(None, True)}
    assert {row["_ng_failure_class"] for row in read(first.with_name("r_failures.jsonl"))} == {"transient"}
    unjudged = blade.load_run(str(first))
    assert sorted(unjudged.rollouts["outcome"].to_list()) == ["errored"] * 2 + ["unscored"] * 4
    again = run(tmp_path, "r", "--num-repeats", "2", "+skip_verification=true", "--resume")
    assert keys(read(again)) == keys(rows), "what is done is not made again"
    code, out, err = here("eval", "reverify", "--rollouts", first, "--search-dir", tmp_path)
    assert code == 0, err
    assert "4 rollouts re-judged: 0 rewards went up, 0 went down, 4 had none before" in out
    judged = read(first.with_name("r_reverified.jsonl"))
    assert {row["_ng_task_index"]: row["reward"] for row in judged} == {0: 1.0, 1: 0.0}
    assert not any("verification_skipped" in row for row in judged)
    found = blade.load_run(str(first.with_name("r_reverified.jsonl")))
    assert found.rollouts["outcome"].to_list().count("passed") == 2


def test_an_unjudged_run_says_what_to_do_next(tmp_path: Path) -> None:
    lab(tmp_path, tasks=1)
    output = tmp_path / "results" / "r.jsonl"
    with serving(Endpoint()) as endpoint:
        words = [*endpoint_words(tmp_path, endpoint.url, KEY), "--split", "example", "-o", str(output)]
        code, out, err = here("eval", "run", *words, "+skip_verification=true")
        assert (code, "no score yet" in err) == (0, True), err
        assert here("eval", "run", *words, "+skip_verification=maybe", "--overwrite")[0] == 2
    assert "Not judged: 2; they have no reward" in out
    assert f"next: gym eval reverify --rollouts {output}" in out
    metrics = json.loads(output.with_name("r_aggregate_metrics.json").read_text())[0]["agent_metrics"]
    assert (metrics["blade/unscored_rollouts"], metrics["blade/judged_rollouts"]) == (2, 0)
    assert "mean/reward" not in metrics


def test_a_bug_of_the_environment_is_no_verdict_on_stored_rollouts_either(tmp_path: Path) -> None:
    lab(tmp_path, rows=[task(1), task(2, judge="bug")])
    first = run(tmp_path, "r", "--num-repeats", "1", "+skip_verification=true")
    code, _, err = here("eval", "reverify", "--rollouts", first, "--search-dir", tmp_path)
    assert (code, "1 got no verdict" in err, "ZeroDivisionError: a bug" in err) == (1, True, True)
    (failed,) = read(first.with_name("r_reverified_failures.jsonl"))
    assert (failed["_ng_failure_class"], failed["reward"]) == ("environment_error", None)


@pytest.mark.parametrize(
    ("word", "says"),
    [
        ("+upload_rollouts=true", "never uploaded"),
        ("+upload_rollouts_to_wandb=true", "never uploaded"),
        ("+rollout_collection_driver=benchmarks.mine:run", "collected here by `gym eval run` alone"),
        ("+skip_verification_reward=0.5", "`gym eval reverify` gives them theirs"),
        ("+observability_enabled=true", "response.output of a row holds every step"),
        ("+model_call_capture_dir=calls", "response.output of a row holds every step"),
        ("+token_id_capture=true", "token ids are not captured"),
        ("+dry_run=true", "gym env validate"),
    ],
)
def test_what_is_not_served_is_refused_with_what_to_do(tmp_path: Path, word: str, says: str) -> None:
    lab(tmp_path, tasks=1)
    words = [*endpoint_words(tmp_path, "http://127.0.0.1:9/v1", KEY), word]
    code, _, err = here("eval", "run", *words, "--split", "example", "-o", tmp_path / "r.jsonl")
    assert (code, says in err) == (2, True), err
    assert not (tmp_path / "r.jsonl").exists()
    code, _, err = here("env", "start", *words)
    assert (code, says in err) == (2, True), err
    code, _, err = here("eval", "run", "--no-serve", "--input", "x.jsonl", "-o", tmp_path / "r.jsonl", word)
    assert (code, says in err) == (2, True), err


def test_what_asks_for_nothing_is_no_reason_to_refuse(tmp_path: Path) -> None:
    lab(tmp_path, tasks=1)
    words = ("+upload_rollouts=false", "+rollout_collection_driver=null", "+observability_enabled=false")
    assert keys(read(run(tmp_path, "r", *words))) == [(0, 0), (0, 1)]


def test_servers_that_run_decide_whether_they_verify(tmp_path: Path) -> None:
    wanted = ("--input", "x.jsonl", "-o", tmp_path / "r.jsonl", "+skip_verification=true")
    code, _, err = here("eval", "run", "--no-serve", *wanted)
    assert (code, "gym env start ... +skip_verification=true" in err) == (2, True)
