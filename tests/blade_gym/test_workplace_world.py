"""Rows about another company are refused before a model is asked: in runs, by servers, and when judged again."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from resources_servers.workplace_assistant.app import Workplace
from resources_servers.workplace_assistant.policies import Assistant
from resources_servers.workplace_assistant.prepare import rows
from resources_servers.workplace_assistant.world import mark

import gym_servers
from blade.model.errors import RequestError
from blade_gym.agents import simple_agent
from blade_gym.answers import message
from blade_gym.environment import Environment, ForeignRow, Task, refuse_foreign
from blade_gym.serve.contract import CheckedEnvironment
from blade_gym.serve.resources import resources_app
from gym_lab import here, read, write

EXAMPLES = Path(__file__).parents[2] / "examples" / "workplace_assistant"
# In the form of NVIDIA's rows: the same tool, id, category and environment names, another day, other people.
FOREIGN: dict[str, Any] = {
    "id": 0,
    "responses_create_params": {
        "input": [
            {"role": "system", "content": "Today's date is Thursday, 2023-11-30 and the current time is 23:59:00."},
            {"role": "user", "content": "Move all of Sofia's leads over to Nadia please"},
        ],
        "parallel_tool_calls": False,
        "temperature": 1,
    },
    "ground_truth": [
        {
            "name": "customer_relationship_manager_update_customer",
            "arguments": '{"customer_id": "00000095", "field": "assigned_to_email", "new_value": "nadia@other.example"}',
        }
    ],
    "category": "workplace_assistant_customer_relationship_manager",
    "environment_name": "workplace_assistant",
}
RUN = ("eval", "run", "--resources-server", "workplace_assistant", "--model-type", "scripted_model", "-m", "good")


def placed(found: Iterable[dict[str, Any]]) -> Iterator[Task]:
    return (Task(row=row, place=f"d.jsonl:{number}") for number, row in enumerate(found, 1))


def with_tools(row: dict[str, Any], tools: list[dict[str, Any]]) -> dict[str, Any]:
    return {**row, "responses_create_params": {**row["responses_create_params"], "tools": tools}}


def with_request(row: dict[str, Any], text: str) -> dict[str, Any]:
    system, _ = row["responses_create_params"]["input"]
    asked = [system, {"role": "user", "content": text}]
    return {**row, "responses_create_params": {**row["responses_create_params"], "input": asked}}


OWN = rows()[0]
CASES: dict[str, tuple[dict[str, Any], str]] = {
    "another world": (FOREIGN, "has no `world`"),
    "its seed pasted in": ({**FOREIGN, "company_seed": 7, "task_type": "crm_reassign"}, "has no `world`"),
    "its words by chance": (
        {
            **with_request(FOREIGN, "Make a bar plot of total visits from November 1 to November 5."),
            "ground_truth": [],
        },
        "has no `world`",
    ),
    "another mark": ({**OWN, "world": "atlas-1"}, "its `world` is 'atlas-1'"),
    "the mark of another seed": ({**OWN, "company_seed": 8}, "its `world` is"),
    "the mark, and a tool that is not there": (
        with_tools(OWN, [{"type": "function", "name": "send_fax", "parameters": {}}]),
        "the tool 'send_fax'",
    ),
    "the mark, and other parameters": (
        with_tools(OWN, [{"type": "function", "name": "email_send_email", "parameters": {"properties": {"to": {}}}}]),
        "other parameters of email_send_email",
    ),
    "the mark, and records that are not there": (
        {**OWN, "ground_truth": [{"name": "email_delete_email", "arguments": '{"email_id": "00099999"}'}]},
        "cannot be carried out",
    ),
    "the mark, and other calls": ({**OWN, "ground_truth": [{"name": "fly", "arguments": "{}"}]}, "no tool 'fly'"),
    "a ground truth that is text": ({**OWN, "ground_truth": "[]"}, "cannot be carried out"),
}


@pytest.mark.parametrize("name", CASES)
def test_a_row_of_another_world_is_refused_with_the_reason(name: str) -> None:
    row, reason = CASES[name]
    for refuse in (Workplace().admit, Workplace().open, Workplace().gold):
        with pytest.raises(ForeignRow, match=reason) as raised:
            refuse(row)
        assert repr(row["id"]) in str(raised.value)
        assert "gym eval prepare --benchmark workplace_assistant" in str(raised.value)


def test_own_rows_are_admitted_of_any_seed_and_from_before_the_mark() -> None:
    for seed in (7, 8):
        for row in rows(seed):
            assert row["world"] == mark(seed)
            Workplace().admit(row)
            Workplace().admit({name: value for name, value in row.items() if name != "world"})
    assert mark(7) != mark(8)


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*_materialized_inputs.jsonl.gz")), ids=lambda path: path.name)
def test_rows_of_stored_runs_are_admitted(path: Path) -> None:
    refuse_foreign(Workplace(), placed(map(json.loads, gzip.decompress(path.read_bytes()).splitlines())))


def test_a_task_of_ones_own_needs_the_mark() -> None:
    asked = {"input": [{"role": "user", "content": "Throw the oldest mail away."}]}
    key = [{"name": "email_delete_email", "arguments": '{"email_id": "00000000"}'}]
    own = {"id": "mine", "responses_create_params": asked, "ground_truth": key}
    with pytest.raises(ForeignRow):
        Workplace().open(own)
    marked = {**own, "world": mark(7)}
    gold = Workplace().gold(marked)
    assert gym_servers.verdict(Workplace(), marked, gold).reward == 1.0


def test_a_request_that_is_no_task_is_answered() -> None:
    Workplace().open({"responses_create_params": {"input": "What can you do?"}})


def test_a_run_is_refused_before_a_model_is_asked(tmp_path: Path) -> None:
    mixed = write(tmp_path / "mixed.jsonl", [OWN, FOREIGN])
    code, _, err = here(*RUN, "--input", mixed, "-o", tmp_path / "r.jsonl")
    assert code == 2
    assert "1 of 2 rows cannot be judged here; the first is " in err
    assert ".jsonl:2: the row with the id 0 is not about the company fernhill-7-" in err
    assert not (tmp_path / "r.jsonl").exists()


def test_stored_rollouts_of_another_world_are_not_judged(tmp_path: Path) -> None:
    code, _, err = here(*RUN, "--input", write(tmp_path / "own.jsonl", [OWN]), "-o", tmp_path / "r.jsonl")
    assert code == 0, err
    inputs = read(tmp_path / "r_materialized_inputs.jsonl")
    write(
        tmp_path / "r_materialized_inputs.jsonl",
        [{**FOREIGN, "_ng_task_index": 0, "_ng_rollout_index": 0, "agent_ref": inputs[0]["agent_ref"]}],
    )
    code, _, err = here("eval", "reverify", "--rollouts", tmp_path / "r.jsonl")
    assert code == 2
    assert ".jsonl:1: the row with the id 0" in err
    assert not list(tmp_path.glob("*reverified*"))
    write(tmp_path / "r_materialized_inputs.jsonl", inputs)
    assert here("eval", "reverify", "--rollouts", tmp_path / "r.jsonl")[0] == 0
    (tmp_path / "r_materialized_inputs.jsonl").unlink()
    again = here("eval", "reverify", "--rollouts", tmp_path / "r.jsonl", "-o", tmp_path / "alone.jsonl")
    assert again[0] == 0, again[2]


class Counting(Assistant):
    """A model that counts how often it is asked."""

    asked = 0

    async def respond(self, params: Any, *, seed: int | None = None) -> Any:
        self.asked += 1
        return await super().respond(params, seed=seed)


def rolled(environment: Environment, row: dict[str, Any]) -> tuple[dict[str, Any], int]:
    model = Counting()
    limits = simple_agent.RolloutLimits(max_steps=6)
    return asyncio.run(simple_agent.run(row, model=model, environment=environment, limits=limits)), model.asked


def test_an_agents_server_asks_no_model_for_it() -> None:
    kept = CheckedEnvironment(made=Workplace(), path=Path("app.py"))
    failed, asked = rolled(kept, FOREIGN)
    assert asked == 0
    assert (failed["reward"], failed["_ng_failure_class"], failed["_ng_failure_terminal"]) == (
        None,
        "foreign_row",
        True,
    )
    assert "the row with the id 0 is not about the company" in failed["error"]
    made, asked = rolled(kept, OWN)
    assert asked > 0
    assert (made["reward"], made["world"]) == (1.0, OWN["world"])


def test_a_resources_server_opens_no_session_and_gives_no_reward_for_it() -> None:
    app = resources_app("workplace_assistant", CheckedEnvironment(made=Workplace(), path=Path("app.py")))

    async def talk() -> list[httpx.Response]:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://here") as client:
            seeded = await client.post("/seed_session", json=FOREIGN)
            return [seeded, await client.post("/verify", json={**FOREIGN, "response": {"output": [message("Done.")]}})]

    seeded, verified = asyncio.run(talk())
    assert seeded.status_code == 422
    assert "the row with the id 0 is not about the company" in seeded.text
    assert verified.json()["reward"] is None
    assert verified.json()["_ng_failure_class"] == "foreign_row"


def test_other_environments_admit_everything() -> None:
    refuse_foreign(gym_servers.environment("mcqa"), placed([FOREIGN]))


def test_all_foreign_rows_are_counted() -> None:
    with pytest.raises(RequestError, match="2 of 3 rows"):
        refuse_foreign(Workplace(), placed([FOREIGN, OWN, {**FOREIGN, "id": 1}]))
