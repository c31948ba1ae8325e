"""Question and answer: sums in words, multiple choice, and finding a value in a short document.

The verifier compares the extracted answer with the key letter by letter, and writes both beside the reward.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from proof.simulate.draft import Draft, Row, Task, said, thought

PLACES = ("a depot in Tromsø", "the bakery on Mill Road", "a greenhouse", "the night market", "a print shop")
GOODS = ("crates", "rolls", "jars", "boxes of tiles", "sacks")
NAMES = ("Okonkwo", "Lindgren", "Farouk", "Silva", "Petrakis", "Nakamura", "Brandt", "Adeyemi")
CITIES = ("Porto", "Gdansk", "Leeds", "Turku", "Graz", "Nantes", "Zadar", "Bergen")
LETTERS = "ABCD"


@dataclass(frozen=True, kw_only=True)
class Question(Task):
    """A question with the answer that is right, the one that the key has, and plausible wrong ones."""

    answer: str
    key: str
    wrong: tuple[str, ...]
    working: str
    category: str

    @property
    def fields(self) -> Row:
        """What each row holds of the task."""
        return {
            "id": self.task_id,
            "question": self.prompt,
            "expected_answer": self.key,
            "category": self.category,
        }


class Single:
    """The world of questions; two models answer the same ones."""

    name = "single"
    models: tuple[str, ...] = ("plover-9b", "curlew-32b")

    def task(self, index: int, rng: Random) -> Question:
        """A sum, a choice or a value to find, in turn."""
        return (_sum, _choice, _extraction)[index % 3](index, rng)

    def solve(self, task: Question, rng: Random) -> Draft:
        """The right answer."""
        return answered(task, rng, task.answer)

    def slip(self, task: Question, rng: Random, variant: int) -> Draft:
        """A wrong answer, another one for each variant."""
        return answered(task, rng, task.wrong[variant % len(task.wrong)])

    def request(self, task: Question) -> Row:
        """The question, under a short system prompt."""
        system = {"role": "system", "content": "Work it out, then state the answer on the last line."}
        return {"input": [system, {"role": "user", "content": task.prompt}], "max_output_tokens": 2048}


def answered(task: Question, rng: Random, answer: str, text: str | None = None) -> Draft:
    """A rollout that ends in an answer, judged against the key."""
    return judged(task, rng, answer, text if text is not None else closing(task, rng, answer))


def judged(task: Question, rng: Random, answer: str | None, text: str) -> Draft:
    """A rollout with its verdict; thoughts come before the message now and then."""
    items = [thought(rng.choice(THOUGHTS))] if rng.random() < 0.3 else []
    passed = answer == task.key
    return Draft(
        items=[*items, said(text)], reward=float(passed), fields={"extracted_answer": answer}, mode="wrong-answer"
    )


THOUGHTS = (
    "Let me read the question twice before I start.",
    "First the given numbers, then what is asked for.",
    "The user wants one value. I will check it at the end.",
)
ENDINGS = ("Answer: {}", "So the answer is {}", "Final answer: {}", "The result is {}", "**{}**")


def closing(task: Question, rng: Random, answer: str) -> str:
    """Working, then the answer on the last line."""
    lead = rng.choice(("Let us see.", "Step by step:", "I go through it.", "Here is how I got there."))
    doubt = rng.choice(("", "", " I checked this once more.", " The other readings do not fit."))
    return f"{lead} {working(task, rng, answer)}{doubt}\n\n{rng.choice(ENDINGS).format(answer)}"


def working(task: Question, rng: Random, answer: str) -> str:
    """The way to an answer, in words that differ from rollout to rollout."""
    shown = task.working if answer == task.answer else rng.choice(HASTY)
    return f"{shown} {rng.choice(REMARKS)}"


HASTY = (
    "The numbers in the text give this almost at once.",
    "Taking the second figure as the base, the rest follows.",
    "I leave out what the question does not ask for and combine the remaining values.",
)
REMARKS = (
    "Nothing else in the text changes that.",
    "The remaining details are not needed.",
    "That uses every value once.",
    "The order of the steps does not matter here.",
    "No rounding is involved.",
)


def _sum(index: int, rng: Random) -> Question:
    rows, each, lost = rng.randint(12, 89), rng.randint(23, 97), rng.randint(5, 60)
    place, goods = rng.choice(PLACES), rng.choice(GOODS)
    prompt = (
        f"On day {index + 1}, {place} receives {rows} shipments of {each} {goods} each. {lost} {goods} arrive damaged "
        f"and are sent back. How many {goods} are kept?"
    )
    right = rows * each - lost
    wrong = (right + lost, right + 10, right - each, right + 2 * each, right - 1)
    return Question(
        index=index,
        task_id=f"sum-{index:03d}",
        prompt=prompt,
        answer=str(right),
        key=str(right),
        wrong=tuple(map(str, wrong)),
        working=f"{rows} times {each} is {rows * each}. Minus {lost} leaves {right}.",
        category="sums",
    )


def _choice(index: int, rng: Random) -> Question:
    numbers = rng.sample(range(100 + index, 900 + index), 4)
    asked, pick = rng.choice((("largest", max), ("smallest", min)))
    right = LETTERS[numbers.index(pick(numbers))]
    options = "\n".join(f"{letter}) {rng.choice(CITIES)}, {n} km" for letter, n in zip(LETTERS, numbers, strict=True))
    return Question(
        index=index,
        task_id=f"choice-{index:03d}",
        prompt=f"Four depots are compared in report {index + 1}. Which one has the {asked} distance?\n{options}",
        answer=right,
        key=right,
        wrong=tuple(letter for letter in LETTERS if letter != right),
        working=f"The {asked} of {', '.join(map(str, numbers))} is {pick(numbers)}, which is {right}.",
        category="choice",
    )


def _extraction(index: int, rng: Random) -> Question:
    account, order, phone = (f"{rng.randint(10**6, 10**7 - 1)}" for _ in range(3))
    name, city = rng.choice(NAMES), rng.choice(CITIES)
    prompt = (
        f"Invoice {index + 1:03d}\nBilled to: {name}, {city}\nOrder number: {order}\nAccount number: {account}\n"
        f"Telephone: {phone}\n\nWhich account number does the invoice name?"
    )
    return Question(
        index=index,
        task_id=f"find-{index:03d}",
        prompt=prompt,
        answer=account,
        key=account,
        wrong=(order, phone, account[:-1] + str((int(account[-1]) + 3) % 10)),
        working=f"The invoice to {name} names the account in its fourth line.",
        category="extraction",
    )
