"""An answer to a generated puzzle, scored by the family's own scorer, in a sandboxed process with limits.

Some scorers evaluate the answer as Python. Here an answer that is more than arithmetic is never run: the scorer is told
that it cannot be read. Scoring that runs out of time or memory gives no verdict.

Row
    `expected_answer`, `question`. `verifier_metadata`: `source_dataset`, the family's name, and `entry`, its metadata.

Config
    `extract`: `marked` takes only answers that are marked; default `any` (else the last line).

Fields
    `extracted_answer`, `expected_answer`, `library_reward` (what the scorer gave; the reward is the same), `failure_reason`.
"""

from __future__ import annotations

from typing import Any

from blade.gym.answers import final_answer, last_line, shown
from blade.gym.environment import NoVerdict, Row, Verdict
from blade.gym.sandbox.worker import Worker
from blade.gym.single_turn import Config

SECONDS = 20.0
LONGEST_ANSWER = 20_000
_WORKER = Worker(__name__, seconds=SECONDS, packages=["reasoning-gym"])


def gold(row: Row) -> str | None:
    """The generator's own answer; some families have none, only a scorer."""
    answer = row.get("expected_answer")
    return None if answer is None else f"<answer>{answer}</answer>"


def verify(row: Row, text: str, config: Config) -> Verdict:
    """What the family's scorer gives, from 0 to 1."""
    answer = final_answer(text)
    if answer is None and config.get("extract") != "marked":
        answer = last_line(text)
    reward, reason = _scored(row, answer)
    fields = {
        "extracted_answer": shown(answer),
        "expected_answer": row.get("expected_answer"),
        "library_reward": reward,
        "failure_reason": reason,
    }
    return Verdict(reward=reward, fields=fields)


def _scored(row: Row, answer: str | None) -> tuple[float, str | None]:
    if answer is None:
        return 0.0, "no answer was found in the last message"
    if len(answer) > LONGEST_ANSWER:
        return 0.0, "what is given as the answer is too long to be one"
    about = row["verifier_metadata"]
    entry = {
        "question": row.get("question", ""),
        "answer": row.get("expected_answer"),
        "metadata": about.get("entry") or {},
    }
    try:
        score = float(_WORKER.ask("score", str(about["source_dataset"]), answer, entry))
    except ValueError as problem:
        if str(problem).startswith("KeyError: 'no such family"):
            raise NoVerdict(str(problem), failure_class="skipped", terminal=True) from problem
        return 0.0, "the scorer could not read the answer"
    return (
        score,
        None if score >= 1 else "the scorer gave part of the points" if score > 0 else "the scorer gave no points",
    )


def warm() -> None:
    """In the child: load the families before the doors are shut."""
    import reasoning_gym  # noqa: F401


def score(family: str, answer: str, entry: dict[str, Any]) -> float:
    """In the child: what the family's scorer says."""
    import reasoning_gym

    if family not in reasoning_gym.factory.DATASETS:
        raise KeyError(f"no such family: {family}")
    scorer = reasoning_gym.get_score_answer_fn(family)
    asked = {**entry, "metadata": {"source_dataset": family, **entry["metadata"]}}
    given = float(scorer(answer, asked))
    if given >= 1:
        return given
    # Generators write tuples, JSON gives them back as lists, and a few scorers tell the two apart.
    try:
        return max(given, float(scorer(answer, _with_tuples(asked))))
    except (TypeError, ValueError, KeyError, AttributeError, IndexError):
        return given


def _with_tuples(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_with_tuples(one) for one in value)
    return {name: _with_tuples(one) for name, one in value.items()} if isinstance(value, dict) else value
