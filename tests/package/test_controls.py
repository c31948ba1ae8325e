"""Negative controls, the shallow baseline and drafted facts, for reports of any shape."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blade.package.anchor_facts import AnchorFact, facts_text
from blade.package.extract_facts import extract, soften
from blade.package.judge.calibrate import controls
from blade.package.judge.score import judge_against
from blade.package.shallow import shallow

BY_HAND = Path(__file__).parents[1] / "claims" / "foreign.md"
BULLETS = """# Notes

## Results

- pass@1 is 0.420, with 84 of 200 rollouts passing.
- 39#1:6 cancels because it trusts the insurance: "Since you have travel insurance".
- The agent should look the card up first.
"""


def test_the_shallow_report_keeps_headings_and_the_tables_of_two_sections() -> None:
    text = """# T

Prose of the title.

## Aggregate Results

Because of x.

| metric | value |
|---|---|
| pass@1 | 0.4 |

- a bullet

### By task

| task | passed |
|---|---|
| a-1 | 0 of 4 |

```
# no heading
| no | table |
```

## Workflow phases

| stage | n |
|---|---|
| started | 4 |

## Dominant Failure Modes

| mode | n |
|---|---|
| loops | 3 |
"""
    assert shallow(text) == (
        "# T\n\n## Aggregate Results\n\n| metric | value |\n|---|---|\n| pass@1 | 0.4 |\n\n## Workflow phases\n\n"
        "| stage | n |\n|---|---|\n| started | 4 |\n\n## Dominant Failure Modes\n"
    )


def test_a_report_without_tables_keeps_its_aggregate_numbers() -> None:
    assert shallow(BULLETS) == "# Notes\n\n## Results\n\npass@1 is 0.420, with 84 of 200 rollouts passing.\n"


def test_a_sentence_that_goes_on_about_a_task_is_no_aggregate() -> None:
    made = shallow("# R\n\n- gpt-4o: 84 of 200 passed.\n- Task 25: the key is odd; all 4 rollouts book another day.\n")
    assert "84 of 200" in made
    assert "4 rollouts" not in made


def test_tables_of_other_sections_stay_only_if_they_name_no_task() -> None:
    made = shallow("# R\n\n## Results\n\n| a | n |\n|---|---|\n| x | 1 |\n\n| task | n |\n|---|---|\n| mail-6 | 1 |\n")
    assert "| x | 1 |" in made
    assert "mail-6" not in made


@pytest.mark.parametrize("text", ["", "\n\n", "word", "```\n# a\n```", "- a\n- b", "|", "###### deep"])
def test_the_shallow_report_is_never_empty(text: str) -> None:
    assert shallow(text).strip()


def test_each_control_takes_away_what_it_says() -> None:
    made = {one.name: one.text or "" for one in controls(BY_HAND.read_text("utf-8"))}
    assert "68 of 96" not in made["random-numbers"]
    assert "tickets-4#1:4" in made["random-numbers"]
    assert "Never-pass tasks of Heron-70B: mail-6" not in made["negated"]
    assert "tickets-4#1:4 it says" not in made["moved-evidence"]
    assert "pass@1 is 0.708" in made["moved-evidence"]
    assert sorted(made["shuffled-words"].split()) == sorted(BY_HAND.read_text("utf-8").replace("|", " ").split())
    assert made["word-list"].count("\n## ") + made["word-list"].startswith("## ") == 8


def test_a_control_that_cannot_be_made_says_why() -> None:
    made = {one.name: one for one in controls("# A\n\nIt works.\n")}
    assert made["random-numbers"].text is None
    assert made["random-numbers"].why_not == "the report has 0 numbers"


def test_days_of_a_month_are_not_softened() -> None:
    text, ranges = soften("The mails of September 7 to September 16 are meant, and 33 customers changed.")
    assert text == "The mails of September 7 to September 16 are meant, and about 30 to 36 customers changed."
    assert ranges == ((30.0, 36.0),)


def test_facts_are_concrete_spread_and_softened() -> None:
    found = extract(BY_HAND.read_text("utf-8"), 12, "heron-70b")
    assert len(found) == 12
    assert all(fact.status == "draft" and fact.claim is not None and fact.reason for fact in found)
    assert {fact.difficulty for fact in found} == {"high", "medium", "low"}
    assert all(fact.aggregate_only == (fact.difficulty == "low") for fact in found)
    named = [name for fact in found if fact.claim for name in fact.claim.ids]
    assert "heron-70b" not in named
    assert len({name.split("#")[0] for name in named}) >= 5
    assert not any(fact.fact.startswith(("#", "-", "|")) for fact in found)
    (passing,) = [fact for fact in found if "rollouts passing" in fact.fact]
    assert "about 61 to 75 of 96 rollouts passing" in passing.fact
    assert passing.claim is not None
    assert passing.claim.range == (61.0, 75.0)


def test_a_bullet_list_is_not_glued_into_one_fact() -> None:
    text = "# R\n\n## Modes\n\n" + "\n".join(
        f"- mail-{n}#1:{n} leaves out `mail_send`, which was due" for n in range(6)
    )
    assert all(fact.fact.count("leaves out") == 1 for fact in extract(text, 12))


_BITS = st.sampled_from(
    ["# ", "## ", "\n", "\n\n", "- ", "| a | b |\n|---|---|\n", "| 3 | x |\n", "`", '"', "task 39", "39#1:6", ":8", " not ",
     " passes 3 of 4 rollouts", " 42% ", "0.5", "calendar-4#2 failed", "mail_send", " The model ", "; ", ", while ", ". ", "**",
     "\u2212", "\ud800", "\x00", "#", "1,000", " of ", " to ", "[redacted: X]", "](", "<b>", "&amp;", "\\", "```\n", "> "]
)  # fmt: skip
_TEXT = st.lists(_BITS | st.text(max_size=6), max_size=30).map("".join)


@settings(max_examples=60, deadline=None)
@given(_TEXT, _TEXT, st.lists(_TEXT, max_size=3))
def test_any_text_can_be_golden_candidate_and_fact(golden: str, candidate: str, told: list[str]) -> None:
    facts = [*(AnchorFact(id=f"A{n}", fact=one) for n, one in enumerate(told)), *extract(golden, 4)]
    court = judge_against(golden, facts)
    made = [one.text for one in controls(golden) if one.text is not None]
    for text in (candidate, golden, shallow(golden), *made):
        assert 0 <= court.score(text).final <= 1
    facts_text("b", "m", extract(golden, 4)).encode()


def test_nothing_depends_on_the_order_of_hashing(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path\n"
        "from blade.package.judge.calibrate import controls, other_report\n"
        "from blade.package.judge.calibrate import calibrate, summary\n"
        "from blade.package.extract_facts import extract; from blade.package.anchor_facts import facts_text\n"
        "from blade.package.judge.score import as_text, reward; from blade.package.shallow import shallow\n"
        "golden = Path(sys.argv[1]).read_text('utf-8'); facts = extract(golden, 12)\n"
        "found = calibrate(golden, facts, shallow(golden), other_report(None), 0.5, lambda _: None)\n"
        "print(facts_text('b', 'm', facts), as_text(summary(found)), as_text(reward(found.golden)))\n"
        "print(*(as_text(reward(one.score)) for one in found.controls if one.score))\n"
        "print(*(one.text for one in controls(golden)))\n"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", script, str(BY_HAND)],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONIOENCODING": "utf-8"},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1
