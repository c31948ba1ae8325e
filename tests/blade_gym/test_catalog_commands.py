"""`gym list`, `gym search` and `gym env` as a user types them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from gym_shelf import ROOT, gym, overlay, shelf, write

MODEL = "policy_model: {responses_api_models: {m: {entrypoint: app.py, api_key: '${policy_api_key}', url: '${policy_base_url}'}}}"


def test_json_has_the_documented_fields_and_ours(tmp_path: Path) -> None:
    done = gym(tmp_path, "list", "benchmarks", "--json")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("\n") == 1
    rows = json.loads(done.stdout)
    fields = [
        "name",
        "agent_name",
        "domain",
        "num_repeats",
        "description",
        "category",
        "offline",
        "requires",
        "harness",
        "verifier",
    ]
    assert all(list(row) == fields for row in rows)
    row = next(row for row in rows if row["name"] == "aime24")
    assert (row["agent_name"], row["domain"], row["num_repeats"]) == ("aime24_math_with_judge_simple_agent", "math", 32)


def test_one_benchmark_is_shown_whole(tmp_path: Path) -> None:
    done = gym(tmp_path, "list", "benchmarks", "aime24")
    assert done.stdout.startswith("The aime24 benchmark (domain: math)\n")
    for part in (
        "aime24_math_with_judge_simple_agent",
        "32",
        str(ROOT / "benchmarks/aime24/config.yaml"),
        "gym eval run --benchmark aime24",
    ):
        assert part in done.stdout
    as_json = json.loads(gym(tmp_path, "list", "benchmarks", "aime24", "--json").stdout)
    assert as_json["details"]["prepare_script"] == "benchmarks/aime24/prepare.py"
    assert as_json["reported"] == []


def test_own_benchmarks_come_first_and_from_a_search_folder(tmp_path: Path) -> None:
    shelf(tmp_path / "mine", trivia=overlay("trivia"))
    assert gym(tmp_path, "list", "benchmarks", "trivia").returncode == 2
    for words, variables in ((["--search-dir", "mine"], {}), ([], {"NEMO_GYM_EXTRA_ROOTS": str(tmp_path / "mine")})):
        assert gym(tmp_path, "list", "benchmarks", "trivia", *words, **variables).returncode == 0
    assert gym(tmp_path / "mine", "list", "benchmarks", "trivia").returncode == 0
    assert gym(tmp_path, "search", "trivia", "--search-dir", "mine", "--json").stdout.startswith('[{"name": "trivia"')


def test_what_cannot_be_listed_is_said_beside_the_listing(tmp_path: Path) -> None:
    shelf(tmp_path, trivia=overlay("trivia"), torn="a: [benchmark")
    (tmp_path / "benchmarks/empty").mkdir()
    done = gym(tmp_path, "list", "benchmarks", "--json")
    assert done.returncode == 0
    assert "trivia" in [row["name"] for row in json.loads(done.stdout)]
    assert [line.split("benchmarks/")[1].split(":")[0] for line in done.stderr.splitlines()] == [
        "empty",
        "torn/config.yaml",
    ]


@pytest.mark.parametrize("kind", ["environments", "agents", "models", "resources-servers", "skills"])
def test_other_listings(tmp_path: Path, kind: str) -> None:
    done = gym(tmp_path, "list", kind, "--json")
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)
    if kind == "skills" and not rows:
        assert gym(tmp_path, "list", kind).stdout == "No skills found.\n"
        return
    assert rows[0]["name"] in gym(tmp_path, "list", kind).stdout
    assert gym(tmp_path, "list", kind, rows[0]["name"]).returncode == 0
    assert gym(tmp_path, "list", kind, "nobody").returncode == 2


def test_environments_by_domain_and_kind(tmp_path: Path) -> None:
    rows = json.loads(
        gym(tmp_path, "list", "environments", "--domain", "coding", "--kind", "environment", "--json").stdout
    )
    assert {"code_gen", "text_to_sql_rows"} <= {row["name"] for row in rows}
    assert {(row["kind"], row["domain"]) for row in rows} == {("environment", "coding")}


def test_the_documented_searches(tmp_path: Path) -> None:
    for query, inside, outside in (
        ("math", "gsm8k", "mbpp_sanitized"),
        ("coding", "mbpp_sanitized", "librispeech"),
        ("safety", "xstest", "ifeval"),
    ):
        found = [row["name"] for row in json.loads(gym(tmp_path, "search", query, "--json").stdout)]
        assert inside in found
        assert outside not in found
    assert gym(tmp_path, "search", "qwertyuiop").stdout == "No benchmarks match 'qwertyuiop'.\n"
    assert gym(tmp_path, "search", "qwertyuiop", "--json").stdout == "[]\n"
    models = json.loads(gym(tmp_path, "search", "models", "embedded", "--json").stdout)
    assert [row["name"] for row in models] == ["local_model"]


def test_listing_loads_nothing_heavy() -> None:
    code = (
        "import sys; from blade_gym.cli import app\n"
        "try:\n    app(['search', 'math'])\nexcept SystemExit:\n    pass\n"
        "print(sorted({'httpx', 'starlette', 'uvicorn', 'polars', 'numpy', 'rapidfuzz', 'rich'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.splitlines()[-1] == "[]"


def test_resolve_prints_the_merged_config_without_secrets_and_writes_nothing(tmp_path: Path) -> None:
    shelf(tmp_path, trivia=overlay("trivia"))
    write(tmp_path, {"responses_api_models/m/configs/m.yaml": MODEL, "env.yaml": "policy_api_key: sk-from-env\n"})
    before = sorted(tmp_path.rglob("*"))
    words = ["env", "resolve", "--benchmark", "trivia", "--model-type", "m", "--model-url", "http://u:pw@h/v1"]
    done = gym(tmp_path, *words, "++trivia_agent.responses_api_agents.simple_agent.max_steps=3")
    assert done.returncode == 0, done.stderr
    assert "max_steps: 3" in done.stdout
    assert "quiz_simple_agent" not in done.stdout
    assert "api_key: '****'" in done.stdout
    assert "sk-from-env" not in done.stdout
    assert "pw@" not in done.stdout
    assert gym(tmp_path, *words, "--model-api-key", "sk-given").stdout.count("****") == 4
    assert sorted(tmp_path.rglob("*")) == before


def test_validate_names_every_problem_at_once(tmp_path: Path) -> None:
    text = overlay("trivia", num_repeats=0, license="BSD")
    shelf(tmp_path, trivia=text + "extra: ???\n")
    write(tmp_path, {"responses_api_models/m/configs/m.yaml": MODEL})
    done = gym(tmp_path, "env", "validate", "--benchmark", "trivia", "--model-type", "m")
    assert done.returncode == 1
    assert done.stdout == ""
    lines = done.stderr.splitlines()
    assert len(lines) == 6
    assert all(line.startswith("problem: /") for line in lines)
    for part in (
        "needs policy_api_key",
        "needs policy_base_url",
        "extra: has no value",
        "num_repeats: is a whole",
        "no such file: benchmarks/trivia/prepare.py",
        "no known license",
    ):
        assert sum(part in line for line in lines) == 1


def test_validate_says_what_is_valid(tmp_path: Path) -> None:
    done = gym(tmp_path, "env", "validate", "--benchmark", "gsm8k", "--model-type", "local_model")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("valid: 3 servers: ")
    without = gym(tmp_path, "env", "validate", "--benchmark", "gsm8k")
    assert without.returncode == 1
    assert "--model-type NAME adds it" in without.stderr


def test_nothing_named_and_unknown_names_exit_with_2(tmp_path: Path) -> None:
    for words in (
        ["env", "resolve"],
        ["env", "validate", "--model-type", "openai_modle"],
        ["list", "benchmarks", "aime42"],
    ):
        done = gym(tmp_path, *words)
        assert done.returncode == 2
        assert done.stderr.startswith("error: ")
    assert "did you mean openai_model?" in gym(tmp_path, "env", "validate", "--model-type", "openai_modle").stderr


def test_a_benchmark_without_a_script_is_not_listed_and_says_why(tmp_path: Path) -> None:
    config = overlay("trivia").replace("prepare_script: benchmarks/trivia/prepare.py", "jsonl_fpath: rows.jsonl")
    shelf(tmp_path, trivia=config)
    listed = gym(tmp_path, "list", "benchmarks")
    assert "trivia" not in listed.stdout
    assert "trivia/config.yaml: a benchmark data set needs a prepare_script" in listed.stderr
    one = gym(tmp_path, "list", "benchmarks", "trivia")
    assert one.returncode == 2
    assert "trivia could not run: " in one.stderr
    assert "hint: gym env validate --benchmark trivia" in one.stderr


def test_the_version_is_told(tmp_path: Path) -> None:
    from blade import __version__

    assert gym(tmp_path, "--version").stdout == f"gym of blade {__version__}\n"
    told = json.loads(gym(tmp_path, "--version", "--json").stdout)
    fields = ["blade", "python", "python_path", "installation_path", "dependencies", "system"]
    assert (list(told), told["blade"]) == (fields, __version__)
    assert told["python_path"] == sys.executable
    assert set(told["system"]) == {"os", "platform", "architecture", "processor", "cpus", "memory_gb"}
    assert gym(tmp_path, "--json").returncode == 2


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["list", "benchmark"], "did you mean gym list benchmarks?"),
        (["list", "aime24"], "gym list benchmarks aime24"),
        (["eval", "foo"], "it has: prepare, run, profile, aggregate, reverify"),
        (["evl", "run"], "did you mean gym eval?"),
        (["search", ""], "`gym list benchmarks` shows all of them"),
        (["search", "models", " "], "`gym list models` shows all of them"),
    ],
)
def test_an_unknown_word_is_answered_with_what_to_type(tmp_path: Path, words: list[str], told: str) -> None:
    done = gym(tmp_path, *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert told in done.stderr.replace("-c ", "gym "), "the program is called -c here"
