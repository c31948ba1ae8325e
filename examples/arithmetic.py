"""The arithmetic example: forty sums in a plain row shape, one attempt each, without any of NeMo Gym's fields."""

from __future__ import annotations

import random
from typing import Any

Row = dict[str, Any]

DIGITS = {"easy": 2, "medium": 4, "hard": 6}
RISK = {"easy": 0.05, "medium": 0.25, "hard": 0.6}
ROWS = 40
NO_ANSWER = (7, 29)  # the reply stops before it gives an answer
WITH_COMMA = (14, 20)  # the answer is right but written 1,234, and the strict verifier rejects it


def arithmetic_rows(seed: int) -> list[Row]:
    return [arithmetic_row(number, random.Random(f"{seed}/arithmetic/{number}")) for number in range(ROWS)]


def arithmetic_row(number: int, rng: random.Random) -> Row:
    difficulty = list(DIGITS)[number % len(DIGITS)]
    low = 10 ** (DIGITS[difficulty] - 1)
    left, right = sorted((rng.randrange(low, 10 * low), rng.randrange(low, 10 * low)), reverse=True)
    sign = rng.choice("+-")
    expected = left + right if sign == "+" else left - right
    prompt = f"What is {left} {sign} {right}? End with 'Answer: ' and the number."
    reply, extracted = attempt(number, difficulty, left, sign, right, expected, rng)
    return {
        "id": f"sum-{number:02d}",
        "prompt": prompt,
        "messages": [{"role": "user", "content": prompt}, {"role": "assistant", "content": reply}],
        "expected_answer": str(expected),
        "extracted_answer": extracted,
        "score": int(extracted == str(expected)),
        "difficulty": difficulty,
    }


def attempt(
    number: int, difficulty: str, left: int, sign: str, right: int, expected: int, rng: random.Random
) -> tuple[str, str | None]:
    """The reply and what an extractor finds in it."""
    working = f"I line up {left} and {right} and go column by column, starting on the right."
    if number in NO_ANSWER:
        return f"{working} The last column of {left} {sign} {right} gives", None
    if number in WITH_COMMA:
        written = f"{expected:,}"
    elif rng.random() < RISK[difficulty]:
        written = str(forget_carry(left, right) if sign == "+" else forget_carry(left, -right))
    else:
        written = str(expected)
    return f"{working} {left} {sign} {right} = {written}.\nAnswer: {written}", written


def forget_carry(left: int, right: int) -> int:
    """The sum with one carry (or borrow) lost: off by ten."""
    return left + right + (-10 if right > 0 else 10)
