"""How each mode is called, whose doing it is, and how it is tied to the verdict."""

from __future__ import annotations

import re

from msgspec import Struct

from blade.evidence.differences import ENVIRONMENT
from blade.evidence.templates import readable
from blade.model.diagnosis import NOT_EXPLAINED, Support
from blade.model.pattern import pattern_of
from blade.rules.catalog import rule_in_words

BROKEN = "broken:"
"""Begins the mode of a rollout that a rule puts down to the machinery; the rule's code follows."""
TOOL_DOWN = "INF004"
"""The rule that sees the backend of a tool fail."""
_PARTIES = (
    ("user", pattern_of(r"\buser_(?:failure|error|simulator)|\buser (?:simulator|turn)|simulated user", re.IGNORECASE)),
    ("tool", pattern_of(r"\btool_(?:failure|error|backend)|\bbackend\b", re.IGNORECASE)),
    ("harness", pattern_of(r"\binfra|\bsandbox|\bcontainer|\bprovider|\bharness", re.IGNORECASE)),
)

_LOG = pattern_of(r"(?:stderr|stdout|log|output)$")


class ModeKind(Struct, frozen=True, kw_only=True):
    """How a mode is called, whose doing it is, and how it is tied to the verdict."""

    name: str
    party: str
    support: Support = Support.DIRECT


KINDS = {
    "machinery": ModeKind(name="the machinery failed, and the reward is recorded all the same", party="harness"),
    "no-verdict": ModeKind(
        name="no verdict: the verifier left no account, and the reward is recorded all the same", party="verifier"
    ),
    "undecided": ModeKind(
        name="no verdict: the judge came to none, and the reward is recorded all the same", party="verifier"
    ),
    "verifier-failed": ModeKind(
        name="the verifier says that it failed itself, and the reward is recorded all the same", party="verifier"
    ),
    "declined": ModeKind(name="the agent declined, or said that it does not know", party="agent"),
    "judged-wrong": ModeKind(name="a judge rejected it, in words of its own", party="agent"),
    "judged-otherwise": ModeKind(name="the same output passes in another repeat of the task", party="verifier"),
    "call-missing": ModeKind(name="a call that the key wants was not made", party="agent"),
    "cut-memory": ModeKind(name="cut by the memory limit", party="agent"),
    "cut-tokens": ModeKind(name="cut by the token limit", party="agent"),
    "cut-steps": ModeKind(name="cut by the limit of steps", party="agent"),
    "cut-time": ModeKind(name="cut by the time limit", party="agent"),
    "cut-program": ModeKind(name="its program is too slow for the tests", party="agent"),
    "no-output": ModeKind(name="the agent said nothing and called nothing", party="harness"),
    "only-thought": ModeKind(name="it thought, and then said nothing", party="agent"),
    "no-answer": ModeKind(name="no answer was found in the output", party="agent"),
    "not-extracted": ModeKind(name="the output states the key, but no answer was extracted", party="verifier"),
    "several-answers": ModeKind(name="gave more than one answer", party="agent"),
    "unwanted-change": ModeKind(name="made a change where the key wants none", party="agent"),
    "no-change": ModeKind(name="made no change where one was due", party="agent"),
    "wrong-argument": ModeKind(name="right calls, wrong argument", party="agent"),
    "part-way": ModeKind(name="stopped part way: some of the changes due were made", party="agent"),
    "more-than-due": ModeKind(name="all that was due, and more", party="agent"),
    "several-differences": ModeKind(
        name="several of these: changes missing, extra or with other arguments", party="agent"
    ),
    "not-said": ModeKind(name="what had to be said was not said", party="agent"),
    "one-check": ModeKind(name="one test or criterion short", party="agent"),
    "several-checks": ModeKind(name="several tests or criteria not met", party="agent"),
    "all-checks": ModeKind(name="no test or criterion met", party="agent"),
    "answer-different": ModeKind(name="another answer than the key's", party="agent"),
    "answer-equal": ModeKind(name="an answer equal to the key, still rejected", party="verifier"),
    "answer-absent": ModeKind(name="the answer does not hold what the key wants", party="agent"),
    "answer-contained": ModeKind(name="the answer holds the key among other words, and was rejected", party="agent"),
    "schema": ModeKind(
        name="a call breaks the schema that the request gives for its tool", party="agent", support=Support.CONSISTENT
    ),
    "lookup-missing": ModeKind(
        name="a call of the key that changes nothing was not made", party="agent", support=Support.UNCLEAR
    ),
    NOT_EXPLAINED: ModeKind(name="not explained by anything in these files", party="unknown", support=Support.UNCLEAR),
}


def kind_of(mode: str) -> ModeKind:
    """The kind of a mode: one of those that are known, or one that is named after a test, a rule or words."""
    return KINDS.get(mode) or _open_kind(mode)


def _open_kind(mode: str) -> ModeKind:
    """Modes that are named after a test, after a rule or after the verifier's words."""
    kind, _, what = mode.partition(":")
    if mode.startswith(BROKEN):
        return ModeKind(name=rule_in_words(what), party="tool" if what == TOOL_DOWN else "harness")
    if kind == "check":
        return ModeKind(name=f"`{what}` not met", party="agent")
    field, _, words = what.partition(": ")
    who = "the environment" if field == ENVIRONMENT else "the verifier"
    return ModeKind(name=f"{who} says: {readable(words)}", party=party_of(field, words))


def party_of(field: str, words: str) -> str:
    """Whose doing it is, where the verifier's words say so or the name of their field; a log is about all of them."""
    said = words if _LOG.search(field) else f"{field} {words}"
    for party, pattern in _PARTIES:
        if pattern.search(said):
            return party
    return "agent"
