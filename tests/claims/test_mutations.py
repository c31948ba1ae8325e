"""Proof by mutation: single changes of checkable claims are caught, and nothing is said of the untouched report."""

from __future__ import annotations

from collections import Counter
from functools import cache
from pathlib import Path

import pytest

import blade
from blade.claims.audit import audit_report as audit
from blade.model.analysis import Analysis
from blade.report.sections import report
from claims.mutations import Mutation, by_kind, mutations, negated_words

EXAMPLES = Path(__file__).parents[2] / "examples"
FOREIGN = Path(__file__).with_name("foreign.md")
MODELS = ("Heron-70B", "Sparrow-8B")
STILL_TRUE = (
    "No rollouts are missing from the Heron-70B run.",  # none is missing from the other run either
)
"""Sentences that hold of both models, so that a swap of the models leaves them true."""
KINDS = {
    "change a number", "move a decimal point", "shift a count by one", "swap ids", "swap models", "negate a claim", "invent a quote",
}  # fmt: skip


@cache
def analysis(name: str) -> Analysis:
    return blade.analyze(EXAMPLES / name)


def caught(name: str, own: bool, most: int) -> tuple[Counter[str], Counter[str], list[Mutation]]:
    """How many mutations of each kind were made and caught, and those that were not."""
    text = report(analysis(name)) if own else FOREIGN.read_text("utf-8")
    texts = (text,) if own else ()
    untouched = audit("r.md", text, analysis(name), texts)
    assert untouched.false == ()
    made = mutations(text, untouched, MODELS if name == "desk_assistant" else ())
    made = [one for one in made if one.kind != "swap models" or not _still_true(text, one)]
    made += negated_words(text, untouched) if own else []
    tried = by_kind(made, most)
    missed = [one for one in tried if not audit("r.md", one.text, analysis(name), texts).false]
    return Counter(one.kind for one in tried), Counter(one.kind for one in missed), missed


def _still_true(text: str, one: Mutation) -> bool:
    return any(sentence in text.split("\n")[one.line - 1] for sentence in STILL_TRUE)


def _told(missed: list[Mutation]) -> str:
    return "\n".join(f"{one.kind}, line {one.line}: {one.before} -> {one.after}" for one in missed)


@pytest.mark.parametrize(("name", "own"), [("arithmetic", True), ("desk_assistant", True), ("desk_assistant", False)])
def test_single_mutations_are_caught(name: str, own: bool) -> None:
    tried, missed, which = caught(name, own, most=4 if own else 8)
    assert tried.total() >= 20
    assert missed.total() <= 0.01 * tried.total() + 1, _told(which)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "own"), [("arithmetic", True), ("desk_assistant", True), ("desk_assistant", False)])
def test_ninety_nine_of_a_hundred_single_mutations_are_caught(name: str, own: bool) -> None:
    tried, missed, which = caught(name, own, most=1000 if not own else 60)
    assert tried.keys() == KINDS if name == "desk_assistant" else KINDS - {"swap models"}
    assert missed.total() <= 0.01 * tried.total(), _told(which)
