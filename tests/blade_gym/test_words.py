"""What a command is told: nothing is taken in silence that changes nothing, and a message says what to type."""

from __future__ import annotations

from pathlib import Path

import pytest

from gym_endpoint import KEY, Endpoint, serving
from gym_lab import ROOT, endpoint_words, here, lab, read, write

SUMS = ("--resources-server", "sums")
LOCAL = ("--model-type", "local_model")
ADDER = ("--model-type", "openai_model", "-m", "adder-1", "--model-url", "http://127.0.0.1:9/v1")


@pytest.mark.parametrize("twice", [("--benchmark", "gsm8k", "aime24"), ("--model", "a", "b"), ("--limit", "1", "2")])
def test_an_option_of_one_value_is_not_taken_twice(twice: tuple[str, str, str]) -> None:
    name, first, second = twice
    code, _, err = here("eval", "run", name, first, name, second, "--output", "r.jsonl")
    assert code == 2
    assert f"{name} is given 2 times" in err


def test_what_may_be_given_more_than_once_still_may(tmp_path: Path) -> None:
    lab(tmp_path)
    code, _, err = here("env", "validate", *SUMS, *LOCAL, "--search-dir", tmp_path / "no", "--search-dir", tmp_path)
    assert (code, err) == (0, "")


IDLE = {
    "+num_repeat_add_seed=true": "nothing reads num_repeat_add_seed; did you mean num_repeats_add_seed?",
    "++foo.bar=3": "nothing reads foo",
    "+skills.pth=x": "nothing reads skills.pth; did you mean path?",
    "+responses_create_params.temprature=1": "did you mean temperature?",
    "+sums_simple_agent.responses_api_agents.simple_agent.max_step=3": "did you mean max_steps?",
    "+policy_model.responses_api_models.openai_model.max_trys=3": "did you mean max_tries?",
}


@pytest.mark.parametrize(("word", "told"), IDLE.items())
def test_a_word_that_nothing_reads_is_named(tmp_path: Path, word: str, told: str) -> None:
    lab(tmp_path)
    code, _, err = here("env", "validate", *SUMS, *ADDER, "--search-dir", tmp_path, word)
    assert code == 0, err
    assert err.startswith(f"note: {word}: nothing reads ")
    assert told in err


READ = (
    "+num_repeats_add_seed=true",
    "+skills.path=x",
    "+responses_create_params.temperature=1",
    "+prepare_script_args.source=x",
    "+policy_model.responses_api_models.openai_model.max_tries=3",
    "+policy_model.responses_api_models.openai_model.extra_body.anything=3",
    "+sums.resources_servers.sums.with_tools=false",
    "+sums_simple_agent.responses_api_agents.simple_agent.datasets.0.num_repeats=3",
    "++mine=${oc.env:HOME}",
)


def test_words_that_something_reads_are_not(tmp_path: Path) -> None:
    lab(tmp_path)
    words = [*READ[:-1], READ[-1], "+sums.resources_servers.sums.home=${mine}"]
    assert here("env", "validate", *SUMS, *ADDER, "--search-dir", tmp_path, *words)[2] == ""


@pytest.mark.parametrize(
    ("word", "told"),
    [
        ("~nothing", "nothing: no config has this key"),
        ("~sums.resources_server", "did you mean resources_servers?"),
        ("sums.resources_servers.sums.domian=math", "did you mean domain?"),
    ],
)
def test_a_change_of_what_is_not_there_is_refused(tmp_path: Path, word: str, told: str) -> None:
    lab(tmp_path)
    code, _, err = here("env", "validate", *SUMS, *ADDER, "--search-dir", tmp_path, word)
    assert code == 1
    assert told in err


def test_an_item_of_a_list_can_be_dropped(tmp_path: Path) -> None:
    lab(tmp_path)
    words = ("~sums_simple_agent.responses_api_agents.simple_agent.datasets.0",)
    code, out, err = here("env", "resolve", *SUMS, *ADDER, "--search-dir", tmp_path, *words)
    assert (code, err) == (0, "")
    assert "datasets: []" in out


@pytest.mark.parametrize(
    ("option", "value", "told"),
    [("--model", "gpt-4", "local_model takes no --model"), ("--model-url", "http://x", "takes no --model-url")],
)
def test_a_model_that_is_not_the_one_evaluated_is_refused(tmp_path: Path, option: str, value: str, told: str) -> None:
    lab(tmp_path)
    words = (*SUMS, *LOCAL, "--search-dir", tmp_path, option, value)
    code, _, err = here("eval", "run", *words, "--split", "example", "--output", tmp_path / "r.jsonl")
    assert code == 2
    assert told in err
    assert here("env", "validate", *words)[0] == 1


def test_an_agent_that_is_not_there_is_refused(tmp_path: Path) -> None:
    lab(tmp_path)
    words = (*SUMS, *ADDER, "--search-dir", tmp_path, "--split", "example", "--output", tmp_path / "r.jsonl")
    code, _, err = here("eval", "run", *words, "--agent", "sums_simple_agnet")
    assert code == 2
    assert "did you mean sums_simple_agent?" in err


def test_a_policy_of_another_environment_is_refused(tmp_path: Path) -> None:
    words = ("eval", "run", "--model-type", "scripted_model", "--split", "example", "--output", tmp_path / "r.jsonl")
    code, _, err = here(*words, "-m", "good", "--resources-server", "mcqa")
    assert code == 2
    assert "scripted/good acts by the tool company_directory_find_email_address, which mcqa does not have" in err
    code, _, err = here(*words, "-m", "explores", "--resources-server", "workplace_assistant")
    assert code == 2
    assert "policies for workplace_assistant: good, never_resolves_names" in err


HOSTED = ("--model-type", "openai_model", "-m", "adder-1", "--model-url", "https://models.example.com/v1")


def test_the_variable_of_the_key_counts_wherever_a_config_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab(tmp_path)
    words = (*SUMS, *HOSTED, "--search-dir", tmp_path)
    monkeypatch.delenv("POLICY_API_KEY", raising=False)
    code, _, err = here("env", "validate", *words)
    assert code == 1
    assert "needs policy_api_key, which nothing defines (set --model-api-key, POLICY_API_KEY or" in err
    monkeypatch.setenv("POLICY_API_KEY", "sk-1234567890")
    assert here("env", "validate", *words)[0] == 0
    code, out, _ = here("env", "resolve", *words)
    assert (code, "sk-1234567890" in out, "openai_api_key: '****'" in out) == (0, False, True)


def test_an_endpoint_without_keys_is_asked_without_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lab(tmp_path, tasks=2)
    monkeypatch.delenv("POLICY_API_KEY", raising=False)
    with serving(Endpoint(key=None)) as endpoint:
        words = [word for word in endpoint_words(tmp_path, endpoint.url, KEY) if word not in ("--model-api-key", KEY)]
        code, _, err = here("eval", "run", *words, "--split", "example", "--output", tmp_path / "r.jsonl")
        assert code == 0, err
    assert [row["reward"] for row in read(tmp_path / "r.jsonl")] == [1.0] * 4
    assert here("env", "validate", *SUMS, *HOSTED, "--search-dir", tmp_path, "--model-api-key", "")[0] == 0


def test_a_model_without_a_name_is_told_by_its_option(tmp_path: Path) -> None:
    from blade_gym.models.scripted import policies

    code, _, err = here("env", "validate", "--resources-server", "cellar_game", "--model-type", "scripted_model")
    assert code == 1
    assert "--model NAME (`gym list models scripted_model` has the names) gives it" in err
    listed = here("list", "models", "scripted_model")[1]
    page = (ROOT / "docs/gym.md").read_text("utf-8")
    for name in policies([ROOT]):
        assert name.removeprefix("scripted/") in listed
        assert f"`{name.removeprefix('scripted/')}`" in page
    assert "Chat Completions" in here("list", "models", "openai_model")[1]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--max-output-tokens", "0"), "--max-output-tokens is a whole number from 1, not 0"),
        (("+responses_create_params.max_output_tokens=1.5",), "--max-output-tokens is a whole number from 1, not 1.5"),
        (("--temperature", "-5"), "--temperature is a number from 0, not -5.0"),
        (("--temperature", "nan"), "--temperature is a number from 0, not nan"),
        (("--top-p", "7"), "--top-p is a number above 0 and up to 1, not 7.0"),
        (("+responses_create_params.top_p=high",), "--top-p is a number above 0 and up to 1, not 'high'"),
        (("--num-repeats", "-1"), "--num-repeats is a whole number from 1, not -1"),
        (("--num-repeats", "{sums_simple_agent: 0, _default: 2}"), "not 0 for sums_simple_agent"),
    ],
)
def test_numbers_that_no_endpoint_takes_are_refused(tmp_path: Path, words: tuple[str, ...], told: str) -> None:
    lab(tmp_path)
    given = (*SUMS, *ADDER, "--search-dir", tmp_path, "--split", "example", "--output", tmp_path / "r.jsonl")
    code, _, err = here("eval", "run", *given, *words)
    assert code == 2
    assert told in err


def test_an_output_that_cannot_be_written_says_why(tmp_path: Path) -> None:
    lab(tmp_path)
    (tmp_path / "folder.jsonl").mkdir()
    (tmp_path / "file").write_text("")
    words = (*SUMS, *ADDER, "--search-dir", tmp_path, "--split", "example")
    told = {
        tmp_path / "folder.jsonl": "it is a folder: give another --output, with a file name",
        tmp_path / "file" / "r.jsonl": "a file stands where its folder should be",
        tmp_path / "file" / "sub" / "r.jsonl": "a file stands where its folder should be",
        Path("/proc/nobody/r.jsonl"): "its folder cannot be made there",
    }
    for path, hint in told.items():
        code, _, err = here("eval", "run", *words, "--output", path)
        assert code == 2
        assert f"cannot write {path}" in err
        assert hint in err


ASKING = """
config_paths: [resources_servers/sums/configs/sums.yaml]
doubled_agent:
  _inherit_from: sums_simple_agent
  responses_api_agents:
    simple_agent:
      datasets:
        - {name: doubled, type: benchmark, prepare_script: benchmarks/doubled/prepare.py, prompt_config: ask.yaml}
"""


def test_rows_of_a_file_get_the_prompt_of_the_data_set(tmp_path: Path) -> None:
    lab(tmp_path)
    home = tmp_path / "benchmarks" / "doubled"
    rows = [{"id": n, "n": n, "expected_answer": str(2 * n)} for n in range(3)]
    data = write(home / "data" / "doubled_benchmark.jsonl", rows)
    (home / "config.yaml").write_text(ASKING)
    (home / "prepare.py").write_text("def prepare(): ...\n")
    (tmp_path / "ask.yaml").write_text("user: What is {n} + {n}?\n")
    with serving(Endpoint()) as endpoint:
        words = ["doubled" if word == "sums" else word for word in endpoint_words(tmp_path, endpoint.url, KEY)]
        words[0] = "--benchmark"
        for number, path in enumerate((data, write(tmp_path / "others.jsonl", rows[1:]))):
            code, _, err = here("eval", "run", *words, "--input", path, "--output", tmp_path / f"r{number}.jsonl")
            assert code == 0, err
    assert [row["reward"] for row in read(tmp_path / "r0.jsonl")] == [1.0] * 3
    assert len(read(tmp_path / "r1.jsonl")) == 2
    own = write(tmp_path / "own.jsonl", [{**rows[0], "responses_create_params": {"input": "What is 4 + 4?"}}])
    with serving(Endpoint()) as endpoint:
        words[words.index("--model-url") + 1] = endpoint.url
        here("eval", "run", *words, "--input", own, "--output", tmp_path / "own_r.jsonl")
    assert endpoint.asked == {"What is 4 + 4?": 1}
