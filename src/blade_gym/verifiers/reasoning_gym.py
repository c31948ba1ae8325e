r"""An answer to a generated puzzle, scored by the family's own scorer, in a sandboxed process with limits.

The answer is what stands in the last `<answer>`, else in the first `\boxed{}`, else the whole text of all assistant messages.
Some scorers evaluate the answer as Python. Here an answer that is more than arithmetic is never run: the scorer is told
that it cannot be read. Scoring that runs out of time or memory gives no verdict.

Row
    `question`; `answer`: the generator's own, null where the family has only a scorer; `metadata`: the generator's, with
    `source_dataset`, the family's name.

Fields
    `score` (the reward, from 0 to 1), `task_name` (the family), `extracted_answer`, `expected_answer`, `failure_reason`.
"""

from __future__ import annotations

import cmath
from collections.abc import Mapping
from typing import Any

from blade_gym.answers import shown
from blade_gym.environment import NoVerdict, Row, Verdict
from blade_gym.sandbox.worker import Worker
from blade_gym.single_turn import Config, needed

SECONDS = 20.0
_OPEN, _CLOSE, _BOX = "<answer>", "</answer>", "\\boxed{"
_NO_FAMILY = "no such family"
_TUPLES = ("arc_agi", "rearc")
"""Families whose scorers compare with tuples."""
_FOUR_OPERATIONS = ("countdown", "puzzle24")
"""Families whose puzzles allow numbers and four operations; their scorers would also take functions and constants."""
_WORKER = Worker(__name__, seconds=SECONDS, packages=["reasoning-gym"])


def ready() -> None:
    """Raise RequestError where a package is missing."""
    needed("reasoning_gym")


def gold(row: Row) -> str | None:
    """The generator's own answer; some families have none, only a scorer."""
    answer = row.get("answer")
    return None if answer is None else f"<answer>{answer}</answer>"


def verify(row: Row, text: str, config: Config) -> Verdict:
    """What the family's scorer gives, from 0 to 1."""
    about = row.get("metadata")
    family = about.get("source_dataset") if isinstance(about, Mapping) else None
    if not family:
        raise NoVerdict("the row's metadata names no source_dataset", failure_class="skipped", terminal=True)
    if "answer" not in row or not isinstance(row["answer"], str | None) or row["answer"] == "":
        raise NoVerdict("the row's answer is neither a text nor null", failure_class="skipped", terminal=True)
    answer = extract(text)
    score, reason = _scored(row, str(family), answer)
    fields = {
        "score": score,
        "task_name": family,
        "extracted_answer": shown(answer),
        "expected_answer": row.get("answer"),
        "failure_reason": reason,
    }
    return Verdict(reward=score, fields=fields)


def extract(text: str) -> str:
    """What a text gives as its answer; all of it where nothing is marked."""
    tagged = _last_tagged(text)
    return (tagged if tagged is not None else _first_boxed(text) or text).strip()


def _last_tagged(text: str) -> str | None:
    found, place = None, 0
    while (begin := text.find(_OPEN, place)) >= 0 and (end := text.find(_CLOSE, begin + len(_OPEN))) >= 0:
        found, place = text[begin + len(_OPEN) : end], end + len(_CLOSE)
    return found


def _first_boxed(text: str) -> str | None:
    r"""Up to the first closing brace: `\boxed{\frac{1}{2}}` gives `\frac{1`."""
    place = 0
    while (begin := text.find(_BOX, place)) >= 0 and (end := text.find("}", begin + len(_BOX))) >= 0:
        if end > begin + len(_BOX):
            return text[begin + len(_BOX) : end]
        place = end
    return None


def _scored(row: Row, family: str, answer: str) -> tuple[float, str | None]:
    entry = {"question": row.get("question", ""), "answer": row.get("answer"), "metadata": row["metadata"]}
    try:
        score = float(_WORKER.ask("score", family, answer, entry))
    except ValueError as problem:
        if _NO_FAMILY in str(problem):
            raise NoVerdict(str(problem), failure_class="skipped", terminal=True) from problem
        return 0.0, "the scorer could not read the answer"
    if not answer:
        return score, "there is no answer"
    return score, None if score >= 1 else f"the scorer gave {'part of the' if score > 0 else 'no'} points"


def warm() -> None:
    """In the child: load the families before the doors are shut."""
    import reasoning_gym  # noqa: F401


def score(family: str, answer: str, entry: dict[str, Any]) -> float:
    """In the child: what the family's scorer says."""
    import reasoning_gym

    if family not in reasoning_gym.factory.DATASETS:
        raise KeyError(f"{_NO_FAMILY}: {family}")
    scorer = reasoning_gym.get_score_answer_fn(family)
    given = float(scorer(answer, entry))
    lettered = family in _FOUR_OPERATIONS and any(letter.isalpha() for letter in answer)
    if given >= 1 and (lettered or not _finite(answer)) and answer != entry["answer"]:
        return 0.0
    # Generators write tuples, JSON gives them back as lists, and two scorers then call no answer right.
    return max(given, float(scorer(answer, _with_tuples(entry)))) if family in _TUPLES else given


def _finite(answer: str) -> bool:
    """Whether a text is not a number that is equal to, or near, every other for some scorers."""
    try:
        return cmath.isfinite(complex(answer.replace(" ", "").replace("i", "j") if "inf" not in answer else answer))
    except ValueError:
        return "nan" not in answer.lower()


def _with_tuples(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_with_tuples(item) for item in value)
    return {name: _with_tuples(item) for name, item in value.items()} if isinstance(value, dict) else value
