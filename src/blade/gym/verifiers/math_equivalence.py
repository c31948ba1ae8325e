r"""A mathematical answer is equivalent to the expected one.

The answer is what is marked as one (`\boxed{}`, *answer is*, `####`), else the last number. Equal texts and equal numbers
are told at once; anything else goes to math-verify, in a process that ends when its time is up.

Row
    `expected_answer`.

Config
    `extract`: `marked` takes only answers that are marked; default `any`.

Fields
    `extracted_answer`, `expected_answer`, `failure_reason`.
"""

from __future__ import annotations

import re
from fractions import Fraction

from blade.gym.answers import final_answer, last_number, shown
from blade.gym.environment import Row, Verdict
from blade.gym.sandbox.worker import OutOfBounds, Worker
from blade.gym.single_turn import Config

SECONDS = 6.0
LONGEST_ANSWER = 1_000
"""Characters; nothing longer is an answer, and parsing one could take for ever."""
_NOISE = re.compile(r"\\left|\\right|\\[,;! ]|\s+|^\$+|\$+$")
_PLAIN = re.compile(r"-?\d{1,30}(?:\.\d{1,30})?(?:/\d{1,30})?")
_WORKER = Worker(__name__, seconds=SECONDS, packages=["math-verify"])


def gold(row: Row) -> str:
    """The expected answer in a box."""
    return f"The final answer is \\boxed{{{row['expected_answer']}}}."


def verify(row: Row, text: str, config: Config) -> Verdict:
    """1 for an equivalent answer, else 0."""
    expected = str(row["expected_answer"])
    answer = final_answer(text)
    if answer is None and config.get("extract") != "marked":
        answer = last_number(text)
    reason = _wrong(expected, answer)
    fields = {"extracted_answer": shown(answer), "expected_answer": expected, "failure_reason": reason}
    return Verdict(reward=float(reason is None), fields=fields)


def _wrong(expected: str, answer: str | None) -> str | None:
    if answer is None:
        return "no answer was found in the last message"
    if len(answer) > LONGEST_ANSWER:
        return "what is given as the answer is too long to be one"
    if _same_at_sight(expected, answer):
        return None
    if _number(expected) is not None and _number(answer) is not None:
        return "the answer is another number"
    try:
        return (
            None if _WORKER.ask("equivalent", expected, answer) else "the answer is not equivalent to the expected one"
        )
    except OutOfBounds:
        return "comparing the answer ran out of time or memory"
    except ValueError:
        return "the answer could not be read as mathematics"


def _same_at_sight(expected: str, answer: str) -> bool:
    first, second = _NOISE.sub("", expected), _NOISE.sub("", answer)
    if first == second:
        return True
    one, other = _number(expected), _number(answer)
    return one is not None and one == other


def _number(text: str) -> Fraction | None:
    """A plain integer, decimal or fraction."""
    plain = _NOISE.sub("", text).replace(",", "").removeprefix("+")
    if not _PLAIN.fullmatch(plain):
        return None
    whole, _, below = plain.partition("/")
    if below and not int(below):
        return None
    return Fraction(whole) / int(below) if below else Fraction(whole)


def warm() -> None:
    """In the child: load what comparing needs, before the doors are shut."""
    equivalent("\\frac{1}{2}", "0.5")


def equivalent(expected: str, answer: str) -> bool:
    """In the child: what math-verify says."""
    from math_verify import parse
    from math_verify import verify as same

    right, given = (parse(f"${text}$", parsing_timeout=None) for text in (expected, answer))
    return bool(right and given and same(right, given, timeout_seconds=None))
