"""Pairs of simulated runs whose difference is known."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from blade.analysis import load
from blade.comparison.compare import compare_analyzed
from blade.comparison.values import Comparison
from blade.model.options import Options
from blade.stats.run_metrics import measure
from builders import Row, rollout, said, write_jsonl

TASKS = 60
REPEATS = 4


@dataclass(frozen=True)
class Case:
    """How the candidate differs, what the verdict must be, and which term leads."""

    name: str
    change: Callable[[list[Row], random.Random], list[Row]]
    verdict: tuple[str, ...]
    leads: str | None
    lift: float = 0.0
    fresh: bool = True
    """Whether the candidate's rollouts are drawn anew; else they are the baseline's."""


def made(random_: random.Random, lift: float = 0.0, hard: list[float] | None = None) -> list[Row]:
    """Rollouts of tasks whose difficulty is drawn once, each answering right with its own chance."""
    chances = hard if hard is not None else difficulty(random_)
    rows = []
    for task in range(TASKS):
        for repeat in range(REPEATS):
            right = random_.random() < min(1.0, max(0.0, chances[task] + lift))
            answer = str(task * 11 + 5) if right else str(random_.randrange(10_000, 99_999))
            rows.append(answered(task, repeat, answer))
    return rows


def difficulty(random_: random.Random) -> list[float]:
    return [random_.betavariate(1.2, 1.0) for _ in range(TASKS)]


def answered(task: int, repeat: int, answer: str) -> Row:
    key = str(task * 11 + 5)
    return rollout(
        f"task-{task}",
        index=task,
        repeat=repeat,
        passed=answer == key,
        prompt=f"What is {task} times eleven plus five?",
        output=[said(f"I worked it out. The answer is {answer}.")],
        expected_answer=key,
        extracted_answer=answer,
        category="odd" if task % 2 else "even",
    )


def as_they_are(rows: list[Row], random_: random.Random) -> list[Row]:
    return rows


def provider_errors(rows: list[Row], random_: random.Random) -> list[Row]:
    lost = {"error": {"type": "ProviderError", "message": "upstream answered 503"}, "reward": None, "response": None}
    return [row | lost if random_.random() < 0.3 else row for row in rows]


def slice_worse(rows: list[Row], random_: random.Random) -> list[Row]:
    def worse(row: Row) -> Row:
        if row["category"] == "odd" or random_.random() > 0.6:
            return row
        return answered(row["_ng_task_index"], row["_ng_rollout_index"], str(random_.randrange(10_000, 99_999)))

    return [worse(row) for row in rows]


def rows_missing(rows: list[Row], random_: random.Random) -> list[Row]:
    return [row for row in rows if random_.random() > 0.25]


def format_broken(rows: list[Row], random_: random.Random) -> list[Row]:
    def broken(row: Row) -> Row:
        response = row["response"] | {
            "output": [said(f"Well, that is simple: see {random_.randrange(99)} lines above.")]
        }
        return row | {"response": response, "extracted_answer": None, "reward": 0.0}

    return [broken(row) if random_.random() < 0.35 else row for row in rows]


def truncated(rows: list[Row], random_: random.Random) -> list[Row]:
    def cut(row: Row) -> Row:
        response = row["response"] | {
            "output": [said("I worked it out step by step, beginning with")],
            "status": "incomplete",
            "incomplete_details": {"reason": "max_output_tokens"},
        }
        return row | {"response": response, "reward": 0.0, "extracted_answer": None}

    return [cut(row) if random_.random() < 0.35 else row for row in rows]


def regraded(rows: list[Row], random_: random.Random) -> list[Row]:
    return [row | {"reward": 0.0} if row["reward"] == 1.0 and random_.random() < 0.3 else row for row in rows]


def renumbered(rows: list[Row], random_: random.Random) -> list[Row]:
    def moved(row: Row) -> Row:
        place = (row["_ng_task_index"] + 7) % TASKS
        return row | {"task_id": f"task-{place}", "_ng_task_index": place}

    return [moved(row) for row in rows]


def other_prompt(rows: list[Row], random_: random.Random) -> list[Row]:
    asked = [row["responses_create_params"]["input"] for row in rows]
    return [
        row | {"responses_create_params": {"input": f"Think first, then answer. {text}"}}
        for row, text in zip(rows, asked, strict=True)
    ]


SAME = ("inconclusive", "equivalent")
CASES = (
    Case("no change", as_they_are, SAME, None),
    Case("identical", as_they_are, ("equivalent",), None, fresh=False),
    Case("provider errors", provider_errors, ("regressed",), "infrastructure", fresh=False),
    Case("a slice that got worse", slice_worse, ("regressed",), "unexplained", fresh=False),
    Case("rows missing", rows_missing, ("regressed",), "missing", fresh=False),
    Case("format broken", format_broken, ("regressed",), "format", fresh=False),
    Case("truncation", truncated, ("regressed",), "limits", fresh=False),
    Case("re-graded", regraded, ("regressed",), "verifier", fresh=False),
    Case("renumbered", renumbered, ("equivalent",), None, fresh=False),
    Case("another prompt", other_prompt, SAME, None),
    Case("a real improvement", as_they_are, ("improved",), "unexplained", lift=0.3),
)


def pair(case: Case, seed: int, folder: Path) -> Comparison:
    """The comparison of a case; drawn by its seed alone."""
    random_ = random.Random(f"{case.name} {seed}")
    hard = difficulty(random_)
    before = made(random_, hard=hard)
    after = case.change(made(random_, case.lift, hard) if case.fresh else before, random_)
    runs = []
    for name, rows in (("before", before), ("after", after)):
        path = write_jsonl(folder / f"{name}.jsonl", rows)
        options = Options(expect_tasks=TASKS, expect_repeats=REPEATS)
        (run,) = load([f"{name}={path}"], options)
        runs.append(measure(run, run))
    return compare_analyzed(runs[0], runs[1])
