"""The judge: golden reports and honest ones score high, reports that found nothing do not, however they are written."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

import blade
from blade.analysis import analyze, load
from blade.model.options import Options
from blade.package.anchor_facts import AnchorFact, read_facts
from blade.package.extract_facts import extract
from blade.package.judge.calibrate import CONTROL_AT_MOST, GOLDEN_AT_LEAST, controls
from blade.package.judge.score import Judge, judge_against
from blade.package.shallow import shallow
from blade.report.sections import report
from package.attacks import attacks, honest

HERE = Path(__file__).parent
EXAMPLES = HERE.parents[1] / "examples"
DOC = HERE.parents[1] / "docs" / "reference" / "judge.md"
BY_HAND = (HERE.parent / "claims" / "foreign.md").read_text("utf-8")
PARAPHRASE = (HERE / "paraphrase.md").read_text("utf-8")
REPORTS = ("by hand", "by hand, facts as sentences", "desk assistant", "arithmetic")
BEGIN, END = "<!-- measured by tests/package/test_judge.py -->", "<!-- end -->"


def report_on(rollouts: Path) -> str:
    """Under BLADE's own rules, so that the figures do not move with the rule book of an example."""
    options = Options(find_rule_book=False)
    return report(analyze(load([str(rollouts)], options), options))


@cache
def golden(name: str) -> str:
    if name == "desk assistant":
        return report_on(EXAMPLES / "desk_assistant" / "sparrow-8b_rollouts.jsonl")
    return report_on(EXAMPLES / "arithmetic") if name == "arithmetic" else BY_HAND


def facts(name: str) -> tuple[AnchorFact, ...]:
    return read_facts(HERE / "sentences.json").facts if "sentences" in name else extract(golden(name), 12)


@cache
def court(name: str) -> Judge:
    return judge_against(golden(name), facts(name))


@cache
def other() -> str:
    return report_on(EXAMPLES / "desk_assistant" / "heron-70b_rollouts.jsonl")


@cache
def measured(name: str) -> tuple[dict[str, float], dict[str, float]]:
    """Scores of reports that say true things, and of reports that must not pass."""
    text, mine = golden(name), court(name)
    good = {"the golden report itself": text}
    if "by hand" in name:
        good["a paraphrase, written by hand"] = PARAPHRASE
    good |= honest(text, facts(name))
    bad = {"shallow": shallow(text)} | {one.name: one.text for one in controls(text) if one.text is not None}
    if name == "desk assistant":
        bad["another model"] = other()
    bad |= attacks(text)
    return tuple({what: mine.score(told).final for what, told in each.items()} for each in (good, bad))  # type: ignore[return-value]


def table() -> str:
    rows = []
    for part in (0, 1):
        whats = dict.fromkeys(what for name in REPORTS for what in measured(name)[part])
        rows += [[what, *(_cell(measured(name)[part].get(what)) for name in REPORTS)] for what in whats]
    lines = [["report", *REPORTS], ["---"] * (len(REPORTS) + 1), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(score: float | None) -> str:
    return "" if score is None else f"{score:.2f}"


@pytest.mark.slow
@pytest.mark.parametrize("name", REPORTS)
def test_nothing_that_found_nothing_passes(name: str) -> None:
    good, bad = measured(name)
    assert good["the golden report itself"] >= GOLDEN_AT_LEAST
    assert {what: score for what, score in bad.items() if score > CONTROL_AT_MOST} == {}
    assert len(bad) >= 24


@pytest.mark.slow
def test_the_documented_scores_are_the_measured_ones(rewrite_golden: bool) -> None:
    text = DOC.read_text("utf-8")
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    right = f"{before}{BEGIN}\n{table()}\n{END}{after}"
    if rewrite_golden:
        DOC.write_text(right, "utf-8")
    assert DOC.read_text("utf-8") == right, "run pytest --rewrite-golden tests/package/test_judge.py"


def test_the_targets_hold_for_a_report_written_by_hand() -> None:
    mine = court("by hand")
    assert mine.score(BY_HAND).final >= GOLDEN_AT_LEAST
    assert mine.score(shallow(BY_HAND)).final <= CONTROL_AT_MOST
    made = controls(BY_HAND)
    assert all(one.text for one in made)
    assert all(mine.score(one.text or "").final <= CONTROL_AT_MOST for one in made)


@pytest.mark.parametrize("name", ["by hand", "by hand, facts as sentences"])
def test_the_same_findings_in_other_words_score_high(name: str) -> None:
    score = court(name).score(PARAPHRASE)
    assert score.final >= 0.8
    assert score.false == ()
    assert not {one.met for one in score.met} & {"no", "contradicted"}


def test_another_report_on_the_same_rollouts_says_nothing_false() -> None:
    found = court("by hand").score(report(blade.analyze(EXAMPLES / "desk_assistant")))
    assert found.false == ()
    assert found.final > 0.5


def test_half_of_the_findings_lie_between() -> None:
    text = honest(BY_HAND, ())["every second sentence of the golden report"]
    assert CONTROL_AT_MOST < court("by hand").score(text).final < GOLDEN_AT_LEAST


GOLDEN = """# Airline, gpt-4o

## Findings

Task 39 fails in 3 of 4 rollouts. In failing 39#1:6 the agent says "Since you have travel insurance, you are eligible", \
and then it calls `cancel_reservation` at :8. Passing 39#0:4 refuses to cancel.

In 14 of 18 rollouts the simulated user never gave its id.
"""
FACTS = (
    AnchorFact(id="B1", fact="Task 39 fails in 3 of 4 rollouts."),
    AnchorFact(
        id="B2", fact='In 39#1:6 the agent says "Since you have travel insurance, you are eligible" and cancels.'
    ),
    AnchorFact(id="B3", fact="In about 13 to 15 of 18 rollouts the simulated user never gave its id."),
)


def _met(candidate: str) -> dict[str, str]:
    return {one.fact.id: one.met for one in judge_against(GOLDEN, FACTS).score(candidate).met}


@pytest.mark.parametrize(
    ("sentence", "fact", "met"),
    [
        ("Task 39 passes in just 1 of 4 attempts.", "B1", "yes"),
        ("Task 39 fails in 75% of its rollouts.", "B1", "yes"),
        ("Task 39 fails in 2 of 4 rollouts.", "B1", "contradicted"),
        ("Task 41 fails in 3 of 4 rollouts.", "B1", "no"),
        ("Task 39 passes in 3 of 4 rollouts.", "B1", "contradicted"),
        ("3 of 4.", "B1", "no"),
        (
            'The words of 39#1:6, "Since you have travel insurance, you are eligible", come before it cancels.',
            "B2",
            "yes",
        ),
        ('The agent of 41#0:2 says "Since you have travel insurance, you are eligible" and cancels.', "B2", "no"),
        ("In roughly 14 of 18 attempts the id was never given by the simulated user.", "B3", "yes"),
        ("In 14 of 18 rollouts the simulated user always gave its id.", "B3", "contradicted"),
        ("In 4 of 18 rollouts the simulated user never gave its id.", "B3", "contradicted"),
    ],
)
def test_a_fact_is_met_by_what_a_sentence_asserts(sentence: str, fact: str, met: str) -> None:
    assert _met(sentence)[fact] == met


def test_what_is_said_both_ways_is_contradicted() -> None:
    both = "Task 39 fails in 3 of 4 rollouts. Task 39 fails in 1 of 4 rollouts."
    assert _met(both)["B1"] == "contradicted"


def test_a_fact_that_the_golden_report_does_not_bear_out_earns_nothing() -> None:
    invented = AnchorFact(id="B1", fact="Task 77 loops on `search_flights` for 40 steps.")
    score = judge_against(GOLDEN, [invented]).score(invented.fact)
    assert [one.supported for one in score.met] == [False]
    assert score.facts == 0


def test_without_facts_no_report_scores_by_them() -> None:
    assert judge_against(GOLDEN, ()).score(GOLDEN).facts == 0
