"""Every rule there is, whatever it looks at."""

from __future__ import annotations

from blade.rules import Rule, rules
from blade.rules.run import run_rules


def all_rules() -> tuple[Rule, ...]:
    """Rules over rollouts and rules over runs, by code; ValueError when two have one code."""
    found = sorted([*rules(), *(one.rule for one in run_rules())], key=lambda rule: rule.code)
    codes = [rule.code for rule in found]
    if len(set(codes)) != len(codes):
        raise ValueError(f"a code is used twice among {', '.join(codes)}")
    return tuple(found)


def infra_codes() -> frozenset[str]:
    """Rules that are by themselves enough to call a rollout the machinery's failure."""
    stable = (rule for rule in rules() if rule.status == "stable")
    return frozenset(rule.code for rule in stable if rule.family == "infra" and rule.kind == "direct")


def rule_in_words(code: str) -> str:
    """What a rule over rollouts sees, without its particulars: `the backend of a tool did not work`."""
    message = next(rule.message for rule in rules() if rule.code == code)
    said = message.partition(":")[0].rstrip(".")
    return said[0].lower() + said[1:]


def to_do(rule: Rule) -> str:
    """What the rule's page says to do, as part of a sentence."""
    said = " ".join(dict(rule.sections)["What to do"].split()).rstrip(".")
    return said[0].lower() + said[1:]
