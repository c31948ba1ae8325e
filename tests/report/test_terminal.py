"""A terminal shows what Markdown would: its marks are gone, and what a rollout wrote is there to the letter."""

from __future__ import annotations

from pathlib import Path

import pytest

from blade.analysis import analyze, load
from blade.model.options import Options
from blade.report.terminal import plain_lines, plain_table, summary
from blade.report.text import code, safe, safe_inside, table
from builders import rollout, write_jsonl

WRITTEN = (
    r"\boxed{7}",
    "a & b &amp; c",
    "f(*args, **kwargs)",
    "<*> <*>",
    "2 * 3 * 4",
    "_x_ [y] ~z~ $1",
    "1. `ls` | wc",
)


@pytest.mark.parametrize("text", WRITTEN)
def test_what_was_written_is_shown_to_the_letter(text: str) -> None:
    assert plain_lines([safe(text)]) == [text]
    assert plain_lines([f'**It says** "{safe_inside(text)}" *(once)*.']) == [f'It says "{text}" (once).']


@pytest.mark.parametrize("text", [r"\d+\.\d*", "a*b*c", "**", "&amp;"])
def test_code_is_shown_to_the_letter(text: str) -> None:
    assert plain_lines([f"the rule {code(text)} *fires*"]) == [f"the rule {text} fires"]


def test_a_bar_in_a_table_is_a_bar() -> None:
    assert plain_table("\n".join(table(["said"], [[safe_inside("a|b")], [code("c|d")]]))) == ["said", "a|b", "c|d"]


def test_runs_of_the_same_tasks_are_not_set_against_each_other_pair_by_pair(tmp_path: Path) -> None:
    rows = [rollout(f"t{n}", passed=n < 3, prompt=f"Q {n}", model=f"m{m}") for m in range(3) for n in range(5)]
    path = write_jsonl(tmp_path / "r.jsonl", rows)
    lines = summary(analyze(load([str(path)], Options()), Options()))
    (told,) = [line for line in lines if "comparable" in line]
    assert told == "All 3 runs judged the same 5 tasks, so their scores are comparable."
    assert not any("both judged" in line for line in lines)
