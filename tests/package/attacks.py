"""Reports that try to get a score without finding anything, made from a golden report."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

from blade.package.anchor_facts import AnchorFact
from blade.package.judge.calibrate import controls
from blade.package.judge.statements import read_statements

_SWAPPED = {"pass": "fail", "fail": "pass"}


def sentences(text: str) -> list[str]:
    """The sentences of a report, each once."""
    return list(dict.fromkeys(one.sentence for one in read_statements(text).statements if one.kind == "text"))


def honest(golden: str, facts: Sequence[AnchorFact]) -> dict[str, str]:
    """Reports that say true things, and only some of them."""
    told = sentences(golden)
    return {
        "every second sentence of the golden report": "\n\n".join(told[::2]),
        "the sentences of the golden report in random order": "\n\n".join(_shuffled(told)),
        "the sentences of the facts alone": "\n\n".join(fact.fact for fact in facts),
    }


def attacks(golden: str) -> dict[str, str]:
    """Reports that must not pass; the same golden report gives the same ones."""
    made = {one.name: one.text or "" for one in controls(golden)}
    told = sentences(golden)
    names = sorted({name for one in read_statements(golden).statements for name in one.ids})
    numbers = " ".join(f"{number} rollouts," for number in range(1, 200))
    return {
        "ids swapped, in random order": "\n\n".join(_shuffled(sentences(made["moved-evidence"]))),
        "every second sentence negated": _alternating(golden, made["negated"]),
        "each claim both ways": f"{golden}\n\n{made['negated']}",
        "each number both ways": f"{golden}\n\n{made['random-numbers']}",
        "`It is not true that` before each sentence": "\n\n".join(f"It is not true that {one}" for one in told),
        "`which is false` after each sentence": "\n\n".join(f"{one.rstrip('.')}, which is false." for one in told),
        "pass and fail swapped": re.sub(
            r"\b(pass|fail)(?=(?:e?s|ed|ing)?\b)", lambda found: _SWAPPED[found.group(1)], golden
        ),
        "every digit another": _other_digits(golden),
        "all ids listed": "# Report\n\n"
        + "\n\n".join(f"## Part {part}\n\nThe evidence is in {', '.join(names[part::8])}." for part in range(8)),
        "a verdict on every id": "\n\n".join(
            f"The model fails in {name} because an argument is wrong." for name in names
        ),
        "every number from 1 to 1000": "\n\n".join(
            f"There are {n} rollouts in {n} tasks, and {n} of {n + 1} pass." for n in range(1, 1001)
        ),
        "each sentence with every number in it": "\n\n".join(
            re.sub(r"(?<![\w#:.-])\d+(?![\w#:.-])", str(n), one) for one in told for n in range(30)
        ),
        "two hundred numbers after each sentence": "\n\n".join(f"{one} {numbers}" for one in told),
        "words shuffled within sentences": "\n\n".join(" ".join(_shuffled(one.split())) for one in told),
        "words in lower case, sorted, eight headings": "\n".join(f"## H{n}" for n in range(8))
        + "\n"
        + " ".join(sorted(set(re.findall(r"[a-z0-9_@#:.-]+", golden.lower())))),
        "one word a bullet": "\n".join(f"- {word}" for word in sorted(set(golden.split()))),
        "headings alone": "\n\n".join(line for line in golden.splitlines() if line.startswith("#")),
        "commonplaces": "# Report\n\n## Summary\n\nThe model fails many tasks because it does not check its work. "
        "It should be told to verify its answers. Most failures are due to wrong arguments.\n",
        "nothing": "",
    }


def _shuffled(parts: Sequence[str]) -> list[str]:
    made = list(parts)
    random.Random(7).shuffle(made)
    return made


def _other_digits(text: str) -> str:
    chance = random.Random(7)
    return re.sub(r"\d+", lambda found: str(chance.randrange(10 ** min(9, len(found.group())))), text)


def _alternating(golden: str, negated: str) -> str:
    """Every second line that the negated report has otherwise."""
    made, turn = [], False
    for right, wrong in zip(golden.split("\n"), negated.split("\n"), strict=True):
        turn = turn != (right != wrong)
        made.append(wrong if turn else right)
    return "\n".join(made)
