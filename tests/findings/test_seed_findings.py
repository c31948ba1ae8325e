"""Two findings of the tutorial run, through the public door: rollouts whose key stands only in the inputs beside them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

import blade
from blade.model.analysis import RunAnalysis
from blade.report.sections import report
from builders import Row, call, result, rollout, said, write_jsonl

FIND, SEARCH, UPDATE = "company_directory_find_email_address", "crm_search_customers", "crm_update_customer"
DATE = "last_contact_date_max"

Call = tuple[str, Row, object]
"""A tool, its arguments, and what it gives back."""


def walk(*calls: Call, last: str = "All done.") -> list[Row]:
    """A trajectory of calls with their results, and a last word."""
    items: list[Row] = []
    for place, (tool, arguments, found) in enumerate(calls):
        items.append(call(tool, json.dumps(arguments), f"c{place}"))
        items.append(result(json.dumps({"output": found}), f"c{place}"))
    return [*items, said(last)]


def find(name: str, address: str) -> Call:
    return FIND, {"name": name}, [address]


def search(ids: Iterable[str], **filters: str) -> Call:
    return SEARCH, filters, [{"customer_id": one} for one in ids]


def update(customer: str, address: str) -> Call:
    return UPDATE, _reassigned(customer, address), "Customer updated successfully."


def _reassigned(customer: str, address: str) -> Row:
    return {"customer_id": customer, "field": "assigned_to_email", "new_value": address}


def key(*updates: tuple[str, str]) -> list[Row]:
    """What the verifier wants, in the shape of the inputs: arguments as JSON text."""
    return [{"name": UPDATE, "arguments": json.dumps(_reassigned(*one))} for one in updates]


Task = tuple[str, list[Row], Sequence[tuple[bool, list[Row]]]]
"""The prompt, the key, and for each repeat whether it passed and what happened."""


def analyzed(folder: Path, *tasks: Task) -> tuple[RunAnalysis, str]:
    """The analysis of the rollouts and its report; the key is in the inputs and not in the rows."""
    rows, inputs = [], []
    for index, (prompt, wanted, repeats) in enumerate(tasks):
        asked: Row = {"responses_create_params": {"input": [{"role": "user", "content": prompt}]}}
        for repeat, (passed, output) in enumerate(repeats):
            rows.append(rollout(index=index, repeat=repeat, passed=passed, output=output, **asked))
            inputs.append({"_ng_task_index": index, "_ng_rollout_index": repeat, "ground_truth": wanted, **asked})
    path = write_jsonl(folder / "desk_rollouts.jsonl", rows)
    write_jsonl(folder / "desk_rollouts_materialized_inputs.jsonl", inputs)
    analysis = blade.analyze(path)
    return analysis.runs[0], report(analysis)


def section(text: str, title: str) -> str:
    """The part of a report under a heading that holds `title`."""
    _, _, rest = text.partition(title)
    return rest.partition("\n## ")[0]


def resolved(number: int) -> Task:
    """A task whose two repeats look the new owner up before they hand the customer over, and pass."""
    owner, customer = f"owner{number}@atlas.com", f"0000010{number}"
    steps = walk(
        find("Nadia", "nadia.moreau@atlas.com"),
        find(f"Owner {number}", owner),
        search([customer], assigned_to_email="nadia.moreau@atlas.com"),
        update(customer, owner),
    )
    return f"Give Nadia's customer to Owner {number}.", key((customer, owner)), [(True, steps), (True, steps)]


def unresolved(owner: str = "carlos.rodriguez7@atlas.com") -> Task:
    """A task that no repeat solves: it guesses addresses from names and changes the customers that it then finds."""
    wrong = walk(
        search(["00000031", "00000032"], assigned_to_email="nadia@atlas.com"),
        update("00000031", "carlos@atlas.com"),
        update("00000032", "carlos@atlas.com"),
    )
    wanted = key(("00000095", owner), ("00000096", owner))
    return "Give all of Nadia's customers to Carlos.", wanted, [(False, wrong)] * 3


def test_a_name_that_no_repeat_resolves_is_said_in_the_never_pass_dive(tmp_path: Path) -> None:
    one, text = analyzed(tmp_path, *(resolved(number) for number in range(3)), unresolved())
    (deep_dive,) = (
        [deep_dive for deep_dive in one.diagnosis.deep_dives if deep_dive.bucket == "never_pass"]
        if one.diagnosis
        else []
    )
    assert deep_dive.task_id == "3"
    assert f"No repeat calls `{FIND}`, which 6 of the 6 passing rollouts of this run that call `{UPDATE}`" in " ".join(
        deep_dive.lines
    )
    deep_dives = section(text, "Never-Pass Deep Dives")
    assert f"No repeat calls `{FIND}`" in deep_dives
    assert "Nothing that the agent saw in these repeats contains" in deep_dives
    for unseen in ("00000095", "carlos.rodriguez7@atlas.com"):
        assert unseen in deep_dives.partition("Nothing that the agent saw in these repeats contains")[2].splitlines()[0]


def test_an_address_without_a_digit_that_was_never_seen_is_named_too(tmp_path: Path) -> None:
    _, text = analyzed(
        tmp_path, *(resolved(number) for number in range(3)), unresolved(owner="carlos.rodriguez@atlas.com")
    )
    unseen = (
        section(text, "Never-Pass Deep Dives")
        .partition("Nothing that the agent saw in these repeats contains")[2]
        .splitlines()[0]
    )
    assert "carlos.rodriguez@atlas.com" in unseen


def test_a_value_that_the_agent_gave_itself_is_not_called_unseen(tmp_path: Path) -> None:
    """Every repeat gives `field` as the key has it: that is not what it lacks."""
    _, text = analyzed(tmp_path, *(resolved(number) for number in range(3)), unresolved())
    unseen = (
        section(text, "Never-Pass Deep Dives")
        .partition("Nothing that the agent saw in these repeats contains")[2]
        .splitlines()[0]
    )
    assert "assigned_to_email" not in unseen


def test_a_value_that_one_repeat_saw_is_not_called_unseen(tmp_path: Path) -> None:
    prompt, wanted, repeats = unresolved()
    saw = walk(
        search(["00000095", "00000096"], assigned_to_email="nadia@atlas.com"), update("00000095", "carlos@atlas.com")
    )
    _, text = analyzed(tmp_path, (prompt, wanted, [*repeats, (False, saw)]))
    deep_dives = section(text, "Never-Pass Deep Dives")
    assert "carlos.rodriguez7@atlas.com, which the expected actions require" in deep_dives
    assert (
        "`customer_id` 00000095"
        not in deep_dives.partition("Nothing that the agent saw in these repeats contains")[2].splitlines()[0]
    )


def test_a_look_up_that_one_repeat_makes_is_not_missed(tmp_path: Path) -> None:
    prompt, wanted, repeats = unresolved()
    checked = walk(find("Carlos", "carlos@atlas.com"), update("00000031", "carlos@atlas.com"))
    one, text = analyzed(
        tmp_path, *(resolved(number) for number in range(3)), (prompt, wanted, [*repeats, (False, checked)])
    )
    assert f"No repeat calls `{FIND}`" not in text
    assert one.diagnosis is not None


def test_the_modes_of_keys_beside_the_rollouts_sum_to_the_failures(tmp_path: Path) -> None:
    one, text = analyzed(tmp_path, *(resolved(number) for number in range(3)), unresolved())
    assert one.diagnosis is not None
    assert [(mode.id, mode.rollouts, mode.tasks, mode.confidence) for mode in one.diagnosis.partition.modes] == [
        ("wrong-argument", 3, 1, "likely")
    ]
    assert "How the 3 rollouts that did not pass failed (each once)" in text


def dated(*wanted: str) -> Task:
    """A task that 3 of 4 repeats solve: the fourth asks for all customers and filters the dates in its head."""
    owner = "lena.kraus@atlas.com"
    right = walk(
        find("Lena", owner),
        search(wanted, assigned_to_email=owner, **{DATE: "2023-11-01"}),
        *(update(customer, "raj.patel@atlas.com") for customer in wanted),
    )
    slip = walk(
        find("Lena", owner),
        search(["00000061", *wanted], assigned_to_email=owner),
        *(update(customer, "raj.patel@atlas.com") for customer in ("00000061", *wanted[:1])),
        last="I went through the dates and reassigned those before November.",
    )
    keyed = key(*((customer, "raj.patel@atlas.com") for customer in wanted))
    return "Give Lena's customers not contacted since October to Raj.", keyed, [(True, right)] * 3 + [(False, slip)]


def test_an_argument_that_only_passing_repeats_give_is_said_in_the_sometimes_pass_dive(tmp_path: Path) -> None:
    one, text = analyzed(tmp_path, dated("00000071", "00000072"))
    assert one.diagnosis is not None
    (contrast,) = one.diagnosis.contrasts
    assert (contrast.passing, contrast.failing) == ((0, 1, 2), (3,))
    assert f"`{DATE}` of `{SEARCH}`" in contrast.only_passing
    only = next(line for line in section(text, "Sometimes-Pass Deep Dives").splitlines() if "Only passing" in line)
    assert f"`{DATE}` of `{SEARCH}`" in only


def test_the_argument_is_said_also_where_many_changes_differ(tmp_path: Path) -> None:
    _, text = analyzed(tmp_path, dated(*(f"000000{number}" for number in range(71, 77))))
    assert f"`{DATE}` of `{SEARCH}`" in section(text, "Sometimes-Pass Deep Dives")


@pytest.mark.parametrize("given", ["", None])
def test_an_argument_that_is_given_empty_is_not_given(tmp_path: Path, given: str | None) -> None:
    prompt, keyed, repeats = dated("00000071")
    slip: list[Row] = json.loads(json.dumps(repeats[3][1]))
    arguments = json.loads(slip[2]["arguments"]) | {DATE: given}
    slip[2] = slip[2] | {"arguments": json.dumps(arguments)}
    _, text = analyzed(tmp_path, (prompt, keyed, [*repeats[:3], (False, slip)]))
    assert f"`{DATE}` of `{SEARCH}`" in section(text, "Sometimes-Pass Deep Dives")
