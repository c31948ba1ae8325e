"""workplace_assistant: its company, its tools, its tasks, its verdicts, and policies whose habits the diagnosis names."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from resources_servers.workplace_assistant import wording
from resources_servers.workplace_assistant.app import Workplace, call
from resources_servers.workplace_assistant.company import PEOPLE, SEED, company, first_name
from resources_servers.workplace_assistant.policies import POLICIES, Assistant
from resources_servers.workplace_assistant.prepare import prepare, rows
from resources_servers.workplace_assistant.state import effects
from resources_servers.workplace_assistant.tools import TOOLS
from resources_servers.workplace_assistant.world import calls_of

import blade
import gym_driver
import gym_servers
from blade.model.diagnosis import Diagnosis
from blade.model.finding import Cause
from blade_gym.environment import ToolError

SERVER = gym_servers.ROOT / "workplace_assistant"
CRM = "customer_relationship_manager_search_customers"
UPDATE = "customer_relationship_manager_update_customer"


def _out(tool: str, **arguments: Any) -> Any:
    return json.loads(call(company().copy(), tool, arguments))["output"]


def test_tools_have_the_public_names() -> None:
    assert len(TOOLS) == 27
    assert Counter(tool.name.split("_")[0] for tool in TOOLS) == {
        "company": 1,
        "email": 6,
        "calendar": 5,
        "analytics": 6,
        "project": 5,
        "customer": 4,
    }
    for tool in TOOLS:
        schema = tool.schema()
        assert set(schema["parameters"]["required"]) <= set(schema["parameters"]["properties"])
        assert schema["type"] == "function"


def test_the_company_is_the_same_for_a_seed_and_another_for_another() -> None:
    code = "from resources_servers.workplace_assistant.prepare import rows; import json; print(json.dumps(rows()))"
    path = os.pathsep.join(sys.path)
    for seed in ("1", "2"):
        env = {"PYTHONHASHSEED": seed, "PYTHONPATH": path}
        done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, check=True, text=True)
        assert json.loads(done.stdout) == rows()
    assert rows(SEED + 1) != rows()


def test_the_committed_tasks_are_those_of_the_seed() -> None:
    assert gym_servers.rows("workplace_assistant") == rows()


def test_tasks_are_many_and_of_many_kinds() -> None:
    made = rows()
    assert len(made) >= 60
    assert len({row["responses_create_params"]["input"][1]["content"] for row in made}) == len(made)
    assert len({row["task_type"] for row in made}) == 17
    several = sum(len(row["ground_truth"]) > 1 for row in made)
    assert several >= 30
    assert any(not row["ground_truth"] for row in made)


def test_words_of_a_task_are_read_back() -> None:
    for row in rows():
        found = wording.read(row["responses_create_params"]["input"][1]["content"])
        assert found is not None
        assert found[0] == row["task_type"]
    assert wording.read("Make me a sandwich") is None


def test_the_configs_of_the_server() -> None:
    config = yaml.safe_load((SERVER / "configs" / "workplace_assistant.yaml").read_text())
    server = config["workplace_assistant"]["resources_servers"]["workplace_assistant"]
    agent = config["workplace_assistant_simple_agent"]["responses_api_agents"]["simple_agent"]
    assert server["seed"] == SEED
    assert (SERVER / server["entrypoint"]).exists()
    assert agent["resources_server"]["name"] == "workplace_assistant"
    assert (gym_servers.ROOT.parent / agent["datasets"][0]["jsonl_fpath"]).exists()


def test_a_name_gives_every_address_that_fits() -> None:
    find = "company_directory_find_email_address"
    assert _out(find, name="ines") == ["ines.duarte@fernhill.example", "ines.marchetti@fernhill.example"]
    assert _out(find, name="Ines Duarte") == ["ines.duarte@fernhill.example"]
    assert _out(find, name="Nobody") == "No e-mail address found."
    assert [first_name(person) for person in PEOPLE].count("Ines Duarte") == 1


def test_days_of_a_search_count_themselves_and_pages_add_up() -> None:
    customers = company().tables["customers"].values()
    day = min(str(one["last_contact_date"]) for one in customers)
    on_the_day = [one for one in customers if one["last_contact_date"] == day]
    found = _out(CRM, last_contact_date_max=day, page_size=10)
    assert found["pagination"]["total_customers"] == len(on_the_day) > 0
    assert all(one in on_the_day for one in found["customers"])
    leads = sum(one["status"] == "Lead" for one in customers)
    counts = _out(CRM, status="Lead", page_size=10)["pagination"]
    assert counts["total_customers"] == leads
    pages = [_out(CRM, status="Lead", page=1 + turn, page_size=10) for turn in range(counts["total_pages"])]
    assert sum(len(page["customers"]) for page in pages) == leads


@pytest.mark.parametrize(
    ("tool", "arguments", "told"),
    [
        (CRM, {"page_size": 50}, "page_size must be from 1 to 10"),
        (CRM, {"last_contact_date_min": "last week"}, "YYYY-MM-DD"),
        (CRM, {"assignee": "x"}, "has no argument 'assignee'"),
        (CRM, {"page": "two"}, "must be an integer"),
        (UPDATE, {"customer_id": "99999999", "field": "status", "new_value": "Won"}, "no customer with the ID"),
        (UPDATE, {"customer_id": "00000001", "field": "status", "new_value": "Gone"}, "must be one of"),
        (UPDATE, {"customer_id": "00000001", "field": "assigned_to_email", "new_value": "Raj"}, "e-mail address"),
        (UPDATE, {"customer_id": "00000001"}, "needs field, new_value"),
        ("calendar_search_events", {"time_min": "2025-09-20"}, "YYYY-MM-DD HH:MM:SS"),
        ("calendar_create_event", {"event_name": "x", "participant_email": "a@b.c", "event_start": "2025-09-20 10:00:00", "duration": "0"}, "duration"),
        ("email_send_email", {"recipient": "Elif", "subject": "x", "body": "y"}, "recipient must be an e-mail address"),
        ("analytics_create_plot", {"time_min": "2025-09-02", "time_max": "2025-09-01", "value_to_plot": "total_visits", "plot_type": "bar"}, "before"),
        ("project_management_search_tasks", {}, "at least one"),
        ("no_such_tool", {}, "there is no tool"),
        ("email_delete_email", {"email_id": {"a": 1}}, "must be a text"),
    ],
)  # fmt: skip
def test_a_call_that_cannot_be_served_says_what_to_change(tool: str, arguments: dict[str, Any], told: str) -> None:
    with pytest.raises(ToolError, match="Error: ") as raised:
        call(company().copy(), tool, arguments)
    assert told in str(raised.value)


VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.text(max_size=20),
    st.sampled_from(["00000001", "9999-12-31 23:59:59", "2025-09-20", "2025-09-20 10:00:00", "a@b.example", "status"]),
    st.lists(st.integers(), max_size=2),
    st.dictionaries(st.text(max_size=3), st.integers(), max_size=2),
)


@settings(max_examples=30)
@given(st.data())
def test_whatever_a_tool_is_given_it_answers_or_refuses(data: st.DataObject) -> None:
    state = company().copy()
    for _ in range(4):
        tool = data.draw(st.sampled_from(TOOLS))
        known = dict.fromkeys(tool.parameters, VALUES)
        arguments = data.draw(st.fixed_dictionaries({}, optional={**known, "unknown": VALUES}))
        with suppress(ToolError):
            json.loads(call(state, tool.name, arguments))
    effects(state, company())


def test_rollouts_share_nothing() -> None:
    env, row = Workplace(), rows()[0]
    first, second = env.open(row), env.open(row)
    asyncio.run(first.call("email_delete_email", {"email_id": "00000000"}))
    assert "deleted" in asyncio.run(second.call("email_delete_email", {"email_id": "00000000"}))
    with pytest.raises(ToolError):
        asyncio.run(first.call("email_delete_email", {"email_id": "00000000"}))


def _said(*calls: tuple[str, dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {"type": "function_call", "name": name, "arguments": json.dumps(given), "call_id": str(n)}
        for n, (name, given) in enumerate(calls)
    ]


def _reward(row: dict[str, Any], calls: list[tuple[str, dict[str, Any]]]) -> float:
    return gym_servers.verdict(Workplace(), row, _said(*calls)).reward


def test_the_state_is_what_counts() -> None:
    row = next(row for row in rows() if len(calls_of(row)) == 3)
    calls = calls_of(row)
    search = ("email_search_emails", {"query": "x"})
    assert _reward(row, calls) == 1.0
    assert _reward(row, [search, *reversed(calls), search]) == 1.0
    assert _reward(row, calls[:-1]) == 0.0
    extra = ("email_delete_email", {"email_id": "00000003"})
    assert _reward(row, [*calls, extra]) == 0.0
    refused = ("email_delete_email", {"email_id": "none"})
    assert _reward(row, [refused, *calls]) == 1.0


def test_texts_are_compared_without_case_and_new_records_without_ids() -> None:
    row = next(row for row in rows() if row["task_type"] == "crm_add")
    name, given = calls_of(row)[0]
    assert _reward(row, [(name, {**given, "customer_name": given["customer_name"].upper()})]) == 1.0
    assert _reward(row, [(name, given), (name, given)]) == 0.0
    assert _reward(row, [(name, {**given, "status": "Won"})]) == 0.0


def test_a_verdict_names_what_is_different() -> None:
    row = next(row for row in rows() if row["task_type"] == "crm_stale")
    calls = calls_of(row)
    found = gym_servers.verdict(Workplace(), row, _said(*calls[1:]))
    (place,) = found.fields["state_differences"]
    assert place["place"] == f"customers.{calls[0][1]['customer_id']}"
    assert place["expected"] == '{"status": "lost"}'
    assert found.fields["failure_reason"] == "part of what was due is missing from the state"
    assert found.fields["ground_truth"] == row["ground_truth"]


def test_changing_a_value_back_is_no_change() -> None:
    before = company()
    state = before.copy()
    record = state.tables["customers"]["00000000"]
    status = record["status"]
    for value in ("Won", "Lost", status):
        call(state, UPDATE, {"customer_id": "00000000", "field": "status", "new_value": value})
    assert not any(effects(state, before).values())


def test_policies_are_named_as_scripted_and_give_the_same_for_the_same_seed() -> None:
    assert [policy.name for policy in POLICIES] == [
        "scripted/good",
        "scripted/never_resolves_names",
        "scripted/filters_dates_in_its_head",
        "scripted/gives_up_after_an_error",
    ]
    some = rows()[:6]
    for policy in POLICIES:
        assert gym_driver.collect(Workplace(), policy(), some, 2) == gym_driver.collect(Workplace(), policy(), some, 2)


def test_a_policy_does_not_know_what_it_was_not_told() -> None:
    said = asyncio.run(Assistant().respond({"input": "Make me a sandwich"}))
    assert [item["type"] for item in said["output"]] == ["message"]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("workplace")
    made = rows()
    return {
        policy.name.partition("/")[2]: gym_driver.write(
            gym_driver.collect(Workplace(), policy(), made, 4), folder / f"{policy.name.partition('/')[2]}.jsonl"
        )
        for policy in POLICIES
    }


def _rewards(path: Path) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for line in path.read_text().splitlines():
        row = json.loads(line)
        found.setdefault(row["task_type"], []).append(row["reward"])
    return found


@pytest.mark.slow
def test_each_policy_fails_where_its_habit_does_harm(runs: dict[str, Path]) -> None:
    good, names, days, errors = (_rewards(path) for path in runs.values())
    assert sum(map(sum, good.values())) / sum(map(len, good.values())) > 0.95
    for kind in ("crm_reassign", "crm_add", "calendar_book", "email_forward", "project_create"):
        assert not any(names[kind]), kind
    for kind in ("email_clean", "calendar_cancel", "email_reply", "analytics_plot"):
        assert all(names[kind]), kind
    for kind in ("crm_stale", "crm_follow_up", "email_clean", "calendar_cancel"):
        assert 0 < sum(days[kind]) < len(days[kind]), kind
    for kind in ("crm_add", "email_forward", "calendar_rename", "analytics_alert"):
        assert all(days[kind]), kind
    assert all(errors["project_reassign"])  # its search has no pages to ask too much of
    assert sum(errors["calendar_cancel"]) < len(errors["calendar_cancel"])


def _diagnosis(path: Path) -> Diagnosis:
    found = blade.analyze(path).runs[0].diagnosis
    assert found is not None
    return found


@pytest.mark.slow
def test_the_diagnosis_sees_addresses_that_were_guessed(runs: dict[str, Path]) -> None:
    found = _diagnosis(runs["never_resolves_names"])
    first = found.findings[0]
    assert first.title == "Makes up ids and addresses instead of looking them up"
    assert "`participant_email` of `calendar_create_event`" in first.what
    assert "@fernhill.example, expected " in first.against
    assert Cause.BEHAVIOR in {cause.cause for cause in found.causes.values()}


@pytest.mark.slow
def test_the_diagnosis_sees_records_dropped_by_filtering_in_the_head(runs: dict[str, Path]) -> None:
    found = _diagnosis(runs["filters_dates_in_its_head"])
    (dropped,) = [one for one in found.findings if one.title == "Leaves out a required `email_delete_email` call"]
    assert dropped.tasks == 4, "whether other changes were made or none, it is one finding"
    assert any("go through their sent_datetime myself" in line for line in dropped.where)
    parted = [one for one in found.contrasts if one.divergences[0].party == "agent"]
    assert len(parted) >= 10


@pytest.mark.slow
def test_the_diagnosis_sees_that_errors_end_the_work(runs: dict[str, Path]) -> None:
    found = _diagnosis(runs["gives_up_after_an_error"])
    (gave_up,) = [one for one in found.rule_statistics if one.code == "BEH005"]
    assert gave_up.fired >= 40
    assert Counter(cause.cause for cause in found.causes.values()) == {Cause.BEHAVIOR: 29, Cause.UNRELIABLE: 1}
    (never,) = [one for one in _diagnosis(runs["good"]).rule_statistics if one.code == "BEH005"]
    assert never.fired == 0


def test_tasks_of_another_seed_can_be_made(tmp_path: Path) -> None:
    made = prepare(seed=8, each=2, output=str(tmp_path / "made" / "tasks.jsonl"))
    found = [json.loads(line) for line in made.read_text().splitlines()]
    assert found == rows(8, 2)
    assert len(found) == 34
    env = Workplace()
    for row in found:
        assert gym_servers.verdict(env, row, env.gold(row)).reward == 1.0
