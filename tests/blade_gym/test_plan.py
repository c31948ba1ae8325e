"""Which rollouts a run makes, by the reference's own cases and ours."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from blade.model.errors import RequestError
from blade_gym.catalog.skills import read_skills
from blade_gym.run.dataset import PromptTemplate, RowsToRun, read_prompt
from blade_gym.run.options import read_options
from blade_gym.run.plan import PlanOptions, RolloutPlan, Shard, make_plan
from blade_gym.run.resume import most_attempts
from gym_lab import write


def rows(count: int, **more: Any) -> list[dict[str, Any]]:
    return [{"responses_create_params": {"input": f"q{n}", "temperature": 1.0}, "n": n, **more} for n in range(count)]


def planned(
    tmp_path: Path, given: list[dict[str, Any]], *, repeats: int = 1, agent: str = "a", **wishes: Any
) -> RolloutPlan:
    path = write(tmp_path / "d.jsonl", given)
    return make_plan(
        [RowsToRun(path=path, shown="d.jsonl", repeats=repeats)], PlanOptions(**{"agent": agent, **wishes})
    )


def places(plan: RolloutPlan) -> list[tuple[int, int]]:
    return [(row["_ng_task_index"], row["_ng_rollout_index"]) for row in plan.rows]


def test_limit_repeats_seeds_and_sampling(tmp_path: Path) -> None:
    plan = planned(tmp_path, rows(10), limit=3, repeats=2, add_seed=True, sampling={"temperature": 0.1})
    assert places(plan) == [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1)]
    params = [row["responses_create_params"] for row in plan.rows]
    assert {one["temperature"] for one in params} == {0.1}
    assert [json.loads(one["metadata"]["extra_body"])["seed"] for one in params] == [0, 1, 0, 1, 0, 1]
    assert [row["n"] for row in plan.rows] == [0, 0, 1, 1, 2, 2]
    assert plan.rows[0]["agent_ref"] == {"type": "responses_api_agents", "name": "a"}


def test_stamped_indices_are_kept_and_others_take_the_lowest_free_number(tmp_path: Path) -> None:
    given = rows(3)
    given[0]["_ng_task_index"], given[1]["_ng_task_index"] = 42, 0
    assert places(planned(tmp_path, given)) == [(42, 0), (0, 0), (1, 0)]
    given[1]["_ng_task_index"] = 42
    with pytest.raises(RequestError, match="same _ng_task_index"):
        planned(tmp_path, given)


def test_equal_lines_are_more_rollouts_of_one_task_and_the_plan_says_so(tmp_path: Path) -> None:
    one, two = rows(2)
    plan = planned(tmp_path, [one, two, one], repeats=2)
    assert places(plan) == [(0, 0), (0, 1), (0, 2), (0, 3), (1, 0), (1, 1)]
    assert plan.notices == ("lines that repeat another word for word, which are more rollouts of one task: 1",)


def test_a_row_keeps_its_own_agent(tmp_path: Path) -> None:
    given = rows(2)
    given[0]["agent_ref"] = {"name": "alpha"}
    assert [row["agent_ref"]["name"] for row in planned(tmp_path, given, agent="beta").rows] == ["alpha", "beta"]
    with pytest.raises(RequestError, match=r"No agent specified for rows \[d.jsonl:2\]"):
        planned(tmp_path, given, agent=None)  # type: ignore[arg-type]


def test_repeats_by_agent(tmp_path: Path) -> None:
    given = [*rows(1, agent_ref={"name": "alpha"}), *rows(1, agent_ref={"name": "beta"})]
    source = RowsToRun(path=write(tmp_path / "d.jsonl", given), shown="d.jsonl")
    plan = make_plan([source], PlanOptions(repeats={"alpha": 2, "_default": 3, "x": 1}))
    assert dict(plan.repeats) == {"alpha": 2, "beta": 3}
    assert len(plan.rows) == 5
    assert plan.notices == ("--num-repeats names agents that no row is for: x",)
    with pytest.raises(RequestError, match="alpha, beta"):
        make_plan([source], PlanOptions(repeats={"x": 1}))


@pytest.mark.parametrize("repeats", [0, -1])
def test_no_repeats_are_refused(tmp_path: Path, repeats: int) -> None:
    source = RowsToRun(path=write(tmp_path / "d.jsonl", rows(1)), shown="d")
    with pytest.raises(RequestError, match="from 1"):
        make_plan([source], PlanOptions(agent="a", repeats=repeats))


@pytest.mark.parametrize("limit", [0, -3])
def test_a_limit_of_nothing_is_refused(tmp_path: Path, limit: int) -> None:
    with pytest.raises(RequestError, match="--limit counts tasks"):
        planned(tmp_path, rows(2), limit=limit)


def test_shards_are_disjoint_and_whole_after_the_limit(tmp_path: Path) -> None:
    parts = [planned(tmp_path, rows(10), limit=7, shard=Shard(number=n, of=3)) for n in (1, 2, 3)]
    assert [[task for task, _ in places(part)] for part in parts] == [[0, 3, 6], [1, 4], [2, 5]]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "d.jsonl:2: not JSON"),
        ("[1]", "d.jsonl:2: not an object"),
        ('{"n": 1}', "d.jsonl:2: no responses_create_params"),
        ('{"responses_create_params": 3}', "d.jsonl:2: responses_create_params is not an object"),
        ('{"responses_create_params": {"input": 7}}', "d.jsonl:2: responses_create_params.input is a text or a list"),
        ('{"responses_create_params": {}}', "d.jsonl:2: responses_create_params.input is a text or a list"),
    ],
)
def test_a_line_that_cannot_be_run_is_named_before_anything_runs(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "d.jsonl"
    path.write_text(json.dumps(rows(1)[0]) + "\n" + text + "\n\n")
    with pytest.raises(RequestError) as refused:
        make_plan([RowsToRun(path=path, shown="d.jsonl")], PlanOptions(agent="a"))
    assert refused.value.message.startswith(said)


def prompted(tmp_path: Path, text: str) -> PromptTemplate:
    (tmp_path / "p.yaml").write_text(text)
    return read_prompt("p.yaml", [tmp_path])


def test_a_prompt_config_makes_the_input(tmp_path: Path) -> None:
    prompt = prompted(tmp_path, "system: You add.\nuser: 'Q: {question} of {{set}} {options}'\n")
    given = [{"question": "what?", "options": ["x", 1], "responses_create_params": {"tools": []}}]
    source = RowsToRun(path=write(tmp_path / "d.jsonl", given), shown="d.jsonl", agent="a", prompt=prompt)
    params = make_plan([source], PlanOptions()).rows[0]["responses_create_params"]
    assert params == {
        "tools": [],
        "input": [
            {"role": "system", "content": "You add."},
            {"role": "user", "content": "Q: what? of {set} ['x', 1]"},  # as Python prints it, like NeMo Gym
        ],
    }
    write(source.path, [{"question": "q", "options": 1, "responses_create_params": {"input": "already"}}])
    with pytest.raises(RequestError, match="mutually exclusive"):
        make_plan([source], PlanOptions())
    write(source.path, [{"question": "q"}])
    with pytest.raises(RequestError, match="wants the field options"):
        make_plan([source], PlanOptions())


@pytest.mark.parametrize(
    "text", ["user: '{a.b}'", "user: '{0}'", "user: '{'", "system: x", "user: [1]", "- 1", "{user: a, sytem: b}"]
)
def test_prompt_configs_that_are_none_are_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(RequestError):
        prompted(tmp_path, text)


def skills(tmp_path: Path, body: str = "Look names up first.") -> Path:
    home = tmp_path / "skills" / "directory"
    home.mkdir(parents=True, exist_ok=True)
    (home / "SKILL.md").write_text(f"---\nname: directory\ndescription: Names\n---\n{body}\n")
    return tmp_path / "skills"


def test_skills_are_stamped_and_stand_where_the_agent_sees_them(tmp_path: Path) -> None:
    found = read_skills(str(skills(tmp_path)))
    given = rows(1)
    given[0]["responses_create_params"]["instructions"] = "Be kind."
    row = planned(tmp_path, given, skills=found).rows[0]
    assert row["skills_ref"]["skills"] == [{"name": "directory", "description": "Names", "version": None}]
    assert len(row["skills_ref"]["hash"]) == 12
    text = row["responses_create_params"]["instructions"]
    assert text.startswith("Be kind.\n\nYou have these skills.")
    assert text.endswith("## Skill: directory\nNames\n\nLook names up first.")
    other = read_skills(str(skills(tmp_path, "Guess.")))
    assert other.ref["hash"] != found.ref["hash"]


@pytest.mark.parametrize(("text", "most"), [("", 3), ("abc", 3), ("0", 3), ("5", 5), (" 2 ", 2)])
def test_attempts_come_from_the_environment(monkeypatch: pytest.MonkeyPatch, text: str, most: int) -> None:
    monkeypatch.setenv("NEMO_GYM_MAX_ROLLOUT_ATTEMPTS", text)
    assert most_attempts()[0] == most
    assert (most_attempts()[1] is not None) == (text in ("abc", "0"))


def test_flags_win_over_keys_of_the_config() -> None:
    config = {
        "limit": 3,
        "num_repeats": {"a": 2},
        "responses_create_params": {"temperature": 1.0, "top_p": 0.5},
        "num_repeats_add_seed": True,
        "skills": {"path": "s"},
    }
    flags = {
        "output_jsonl_fpath": "o.jsonl",
        "limit": 5,
        "responses_create_params": {"temperature": 0.2, "top_p": None},
    }
    options = read_options(config, flags)
    assert (options.limit, options.repeats, options.add_seed, options.skills_path) == (5, {"a": 2}, True, "s")
    assert options.sampling == {"temperature": 0.2, "top_p": 0.5}


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"output_jsonl_fpath": "o.json"},
        {"output_jsonl_fpath": "o.jsonl", "split": "test"},
        {"output_jsonl_fpath": "o.jsonl", "limit": "many"},
        {"output_jsonl_fpath": "o.jsonl", "num_repeats": "x"},
    ],
)
def test_options_that_are_none_are_refused(given: dict[str, Any]) -> None:
    with pytest.raises(RequestError):
        read_options({}, given)
