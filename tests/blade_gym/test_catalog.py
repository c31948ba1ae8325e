"""What listings say, and that nothing which is broken keeps the rest from being listed."""

from __future__ import annotations

from pathlib import Path

import pytest

from blade.model.errors import RequestError
from blade_gym.catalog.benchmarks import benchmark, benchmarks
from blade_gym.catalog.components import agents, environments, models, resources_servers, skills
from blade_gym.catalog.entry import CATEGORIES, REQUIREMENTS
from blade_gym.catalog.text import benchmark_lines, inspected
from blade_gym.config.load import examine
from blade_gym.config.roots import config_path
from blade_gym.config.servers import DOMAINS
from gym_shelf import ROOT, overlay, shelf, write

FIELDS = [
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


def test_an_entry_is_read_from_the_config_and_what_it_chains_to(tmp_path: Path) -> None:
    shelf(tmp_path, trivia=overlay("trivia", num_repeats=5))
    (entry,) = benchmarks([tmp_path]).entries
    assert list(entry.row) == FIELDS
    assert entry.row == {
        "name": "trivia",
        "agent_name": "trivia_agent",
        "domain": "knowledge",
        "num_repeats": 5,
        "description": "Quiz questions",
        "category": "Knowledge & Reasoning",
        "offline": False,
        "requires": [],
        "harness": "simple_agent",
        "verifier": "exact_match",
    }
    assert entry.data == tmp_path / "benchmarks/trivia/data/trivia_benchmark.jsonl"


def test_keys_of_ours_win_in_the_entry_and_at_the_top(tmp_path: Path) -> None:
    text = overlay("trivia", description="Pub quiz", domain="games", offline="true", requires="[tools]", harness="mine")
    reported = "reported: [{model: m, metric: pass@1, value: 0.5, source: a paper}, {model: broken}, word]\n"
    shelf(tmp_path, trivia=text + reported + "category: Other\nverifier: model_judge\n")
    (entry,) = benchmarks([tmp_path]).entries
    assert (entry.description, entry.domain, entry.category) == ("Pub quiz", "games", "Other")
    assert (entry.offline, entry.requires, entry.harness, entry.verifier) == (True, ("tools",), "mine", "model_judge")
    assert [(one.model, one.metric, one.value, one.source) for one in entry.reported] == [
        ("m", "pass@1", 0.5, "a paper")
    ]
    shown = "\n".join(inspected(entry))
    assert "m: pass@1 0.5 (a paper)" in shown
    assert str(tmp_path / "benchmarks/trivia/config.yaml") in shown
    assert "gym eval prepare --benchmark trivia" in shown


def test_a_readme_describes_what_the_config_does_not(tmp_path: Path) -> None:
    shelf(tmp_path, trivia=overlay("trivia"))
    write(tmp_path, {"benchmarks/trivia/README.md": "# trivia\n\n- a list\n\nQuestions of a\npub quiz.\n\nMore.\n"})
    assert benchmark("trivia", [tmp_path]).description == "Questions of a pub quiz."


def test_names_follow_paths_and_every_name_is_taken_by_the_selector(tmp_path: Path) -> None:
    shelf(tmp_path, trivia=overlay("trivia"))
    more = ("tau/configs/tau.yaml", "live/v5/config.yaml", "flat.yaml", "deep/a/b/c.yaml")
    write(tmp_path, {f"benchmarks/{name}": overlay("trivia") for name in more})
    names = [entry.name for entry in benchmarks([tmp_path]).entries]
    assert names == ["deep/a/b/c", "flat", "live/v5/config", "tau/configs/tau", "trivia"]
    for entry in benchmarks([tmp_path]).entries:
        assert tmp_path / config_path("benchmark", entry.name, [tmp_path]) == entry.config


@pytest.mark.parametrize("quoted", ['"benchmark"', "'benchmark'", "benchmark # the type", "!!str benchmark"])
def test_the_type_is_found_however_it_is_written(tmp_path: Path, quoted: str) -> None:
    text = overlay("trivia").replace("{name: trivia, type: benchmark,", "{name: trivia,")
    shelf(
        tmp_path,
        trivia=text.replace("[{", "\n        - type: " + quoted + "\n          ")
        .replace("}]", "")
        .replace(", ", "\n          "),
    )
    assert [entry.name for entry in benchmarks([tmp_path]).entries] == ["trivia"]


def test_a_comment_or_another_type_is_no_benchmark(tmp_path: Path) -> None:
    one, two = "# type: benchmark\na: 1\n", overlay("two").replace("type: benchmark", "type: example")
    write(tmp_path, {"benchmarks/shared/one.yaml": one, "benchmarks/shared/two.yaml": two})
    assert benchmarks([tmp_path]) == type(benchmarks([tmp_path]))(entries=(), problems=())


def test_a_config_that_holds_no_benchmark_is_said(tmp_path: Path) -> None:
    shelf(tmp_path, slip=overlay("slip").replace("type: benchmark", "type: benchmrk"), torn="a: [\n")
    found = benchmarks([tmp_path])
    assert found.entries == ()
    assert ["slip/config.yaml" in found.problems[0], "torn/config.yaml" in found.problems[1]] == [True, True]
    with pytest.raises(RequestError, match="slip could not run"):
        benchmark("slip", [tmp_path])


def test_what_is_broken_is_said_and_the_rest_is_listed(tmp_path: Path) -> None:
    shelf(
        tmp_path,
        good=overlay("good"),
        torn="a: [benchmark\n",
        lost=overlay("lost").replace("quiz/configs", "quizz/configs"),
        twice=overlay("twice").replace("}]\n", "}, {name: b, type: benchmark, prepare_script: p.py}]\n"),
        orphan=overlay("orphan").replace("_inherit_from: quiz_simple_agent", "_inherit_from: nobody"),
        words="- benchmark\n",
    )
    (tmp_path / "benchmarks/empty/data").mkdir(parents=True)
    (tmp_path / "benchmarks/bytes").mkdir()
    (tmp_path / "benchmarks/bytes/config.yaml").write_bytes(b"\xff\xfe\x00benchmark")
    write(
        tmp_path, {"benchmarks/prompts/math.yaml": "user: '{question}'", "benchmarks/package/skill/SKILL.md": "# skill"}
    )
    found = benchmarks([tmp_path])
    assert [entry.name for entry in found.entries] == ["good"]
    said = [line.removeprefix(f"{tmp_path}/benchmarks/").split(":")[0] for line in found.problems]
    assert said == [
        "empty",
        "bytes/config.yaml",
        "lost/config.yaml",
        "orphan/config.yaml",
        "torn/config.yaml",
        "twice/config.yaml",
        "words/config.yaml",
    ]
    assert "this has 2" in found.problems[-2]


def test_the_first_root_wins(tmp_path: Path) -> None:
    shelf(tmp_path / "one", trivia=overlay("trivia", description="first"))
    shelf(tmp_path / "two", trivia=overlay("trivia", description="second"), other=overlay("other"))
    found = benchmarks([tmp_path / "one", tmp_path / "two"]).entries
    assert [(entry.name, entry.description) for entry in found] == [("other", "Quiz questions"), ("trivia", "first")]


def test_an_unknown_name_is_suggested(tmp_path: Path) -> None:
    shelf(tmp_path, trivia=overlay("trivia"))
    with pytest.raises(RequestError) as caught:
        benchmark("trivai", [tmp_path])
    assert caught.value.hint == "did you mean trivia?"


def test_tables_are_never_cut_however_narrow_the_screen(tmp_path: Path) -> None:
    words = ["every", "word", "of", "this", "description", "must", "be", "on", "the", "screen"]
    shelf(tmp_path, trivia=overlay("trivia", description=" ".join(words)))
    for width in (20, 80, 100, 200):
        shown = " ".join(benchmark_lines(benchmarks([tmp_path]).entries, width))
        assert [word for word in words if word not in shown.split()] == []


def test_other_components_are_listed_with_their_fields(tmp_path: Path) -> None:
    shelf(tmp_path, trivia=overlay("trivia"))
    agent = "a: {responses_api_agents: {my_agent: {entrypoint: app.py, description: Mine%s}}}"
    model = "policy_model: {responses_api_models: {m: {entrypoint: app.py, model: big, description: A model}}}"
    write(
        tmp_path,
        {
            "responses_api_agents/my_agent/configs/my_agent.yaml": agent % "",
            "responses_api_agents/my_agent/configs/fast.yaml": agent % "",
            "responses_api_agents/other/configs/first.yaml": agent % ", resources_server: {name: x}",
            "responses_api_models/m/configs/m.yaml": model,
            "responses_api_models/broken/configs/broken.yaml": "a: [",
            "skills/one/SKILL.md": "---\nname: one\ndescription: >\n  Two\n  lines\nmetadata: {version: 1.2}\n---\n# One",
            "skills/two/SKILL.md": "no frontmatter",
        },
    )
    assert [one.row for one in agents([tmp_path]).entries] == [
        {
            "name": "my_agent",
            "pattern": "B (self-contained)",
            "self_contained": True,
            "variants": ["fast"],
            "description": "Mine",
        },
        {"name": "other", "pattern": "A (composable)", "self_contained": False, "variants": [], "description": "Mine"},
    ]
    found = models([tmp_path])
    assert [one.row for one in found.entries] == [
        {"name": "m", "model": "big", "model_group": "responses_api_models", "description": "A model"}
    ]
    assert len(found.problems) == 1
    assert [one.row for one in resources_servers([tmp_path]).entries] == [
        {"name": "quiz", "domain": "knowledge", "verifier": "exact_match", "description": "Quiz questions"}
    ]
    assert [(one.name, one.more["kind"]) for one in environments([tmp_path]).entries] == [
        ("quiz", "environment"),
        ("trivia", "benchmark"),
    ]
    listed = skills([tmp_path])
    assert [(one.name, one.description, one.more["version"]) for one in listed.entries] == [("one", "Two lines", "1.2")]
    assert [line.split(": ")[1] for line in listed.problems] == ["no frontmatter"]


# The catalog that BLADE ships


def test_every_shipped_config_is_listed_once_and_is_sound() -> None:
    found = benchmarks([ROOT])
    assert [line for line in found.problems if "no config.yaml" not in line] == []
    names = [entry.name for entry in found.entries]
    assert len(names) == len(set(names)) == len(list((ROOT / "benchmarks").glob("*/config.yaml")))
    model = "responses_api_models/local_model/configs/local_model.yaml"
    for entry in found.entries:
        resolved, problems = examine([config_path("benchmark", entry.name, [ROOT]), model], (), [ROOT])
        assert [problem.text for problem in problems] == [], entry.name
        assert [one.agent for one in resolved.datasets if one.type == "benchmark"] == [entry.agent_name]


def test_every_shipped_entry_says_all_that_a_listing_promises() -> None:
    for entry in benchmarks([ROOT]).entries:
        assert entry.category in CATEGORIES
        assert entry.domain in DOMAINS
        assert set(entry.requires) <= set(REQUIREMENTS)
        assert entry.description, entry.name
        assert entry.verifier, entry.name
        assert (ROOT / entry.prepare_script).is_file(), entry.name
        assert entry.prompt_config is None or (ROOT / entry.prompt_config).is_file(), entry.name
    assert {entry.category for entry in benchmarks([ROOT]).entries} == set(CATEGORIES)


def test_the_documented_config_of_aime24() -> None:
    entry = benchmark("aime24", [ROOT])
    # As it is printed; the rest of the file says where rows and prompt are, which the print leaves out.
    assert entry.config.read_text().startswith(
        "config_paths:\n"
        "  - resources_servers/math_with_judge/configs/math_with_judge.yaml\n"
        "\n"
        "aime24_math_with_judge_simple_agent:\n"
        "  _inherit_from: math_with_judge_simple_agent\n"
        "  responses_api_agents:\n"
        "    simple_agent:\n"
        "      datasets:\n"
        "        - name: aime24\n"
        "          type: benchmark\n"
        "          prepare_script: benchmarks/aime24/prepare.py\n"
        "          num_repeats: 32\n"
    )
    for name in ("aime24", "aime25", "gsm8k"):
        assert benchmark(name, [ROOT]).verifier == "math_equivalence"


@pytest.mark.parametrize("kind", [agents, models, resources_servers, environments])
def test_the_other_shipped_components_are_sound(kind: object) -> None:
    assert callable(kind)
    found = kind([ROOT])
    assert [line for line in found.problems if "no config.yaml" not in line] == []
    assert found.entries
    assert all(one.description for one in found.entries)
