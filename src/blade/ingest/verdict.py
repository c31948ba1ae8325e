"""What became of a rollout: outcome, error and stop, from the structure of its row and never from its text."""

from __future__ import annotations

from collections.abc import Sequence

from blade.ingest import cells
from blade.ingest.batch import Batch, Response, UsualResponse
from blade.ingest.cells import Column, any_there, each
from blade.ingest.fields import of_run
from blade.model.rollout import PASS_TOLERANCE, WHOLE, Outcome

LONGEST_CLASS = 80

_NO_ERROR = ("", "none", "None", "null", False, 0)
_ERROR_NAMES = ("type", "code", "class", "exception_type", "message")


def all_judged(rewards: Sequence[float], threshold: float) -> list[Outcome]:
    """Passed or failed, by each of the rewards."""
    least, passed, failed = threshold - PASS_TOLERANCE, Outcome.PASSED, Outcome.FAILED
    return [passed if reward >= least else failed for reward in rewards]


def outcome(
    *, role: str, reward: float | None, threshold: float, error: str | None, failed: bool
) -> tuple[Outcome, str | None]:
    """The outcome by the first rule that applies, and the class of the error that is recorded.

    `failed`: the response says that it failed, and the agent said nothing.
    """
    kind = _class_of(error) if error else None
    if role == "failures":
        return Outcome.ERRORED, kind or "failure"
    if reward is None:
        return (Outcome.ERRORED, kind) if error else (Outcome.UNSCORED, None)
    if reward <= 0 and failed:
        return Outcome.ERRORED, kind or "response failed"
    return all_judged([reward], threshold)[0], kind


def _class_of(error: str) -> str:
    """The line that names an error: the last of a trace of Python, else the first."""
    lines = error.strip().split("\n")
    return lines[-1 if lines[0].startswith("Traceback") else 0].strip()[:LONGEST_CLASS]


def is_all_well(batch: Batch, rewards: Column, errors: Column) -> bool:
    """Whether every row has a reward and none an error, as in most batches: then the rewards alone decide."""
    return None not in rewards and not any_there(errors) and not any(map(is_broken, batch.responses))


def is_broken(response: Response | UsualResponse) -> bool:
    """Whether the response itself says that it failed."""
    return response.status == "failed" or (response.error is not None and error_text(response.error) is not None)


def errors(batch: Batch) -> Sequence[str | None]:
    """The first error that the harness recorded for each row, in the order of the table."""
    return batch.first(batch.paths["error"], each(error_text))


def error_text(value: object) -> str | None:
    """What an error field says; None when it says that there is none."""
    if isinstance(value, dict):
        value = next((value[name] for name in _ERROR_NAMES if value.get(name)), "error") if value else None
    if value is None or value == [] or (isinstance(value, str | int | float) and value in _NO_ERROR):
        return None
    if isinstance(value, str) and value.strip() in of_run().nothing:
        return None
    return cells.as_text(value).strip() or None


def stops(batch: Batch) -> list[str | None]:
    """Why each rollout ended, in the order of the table; else `completed` or `failed`, as the response says of itself."""
    named = batch.first(batch.paths["stop"], cells.texts)
    stops = list(named)
    for place, response in enumerate(batch.responses):
        if not stops[place]:
            is_whole = response.status == "completed" or response.incomplete_details is None
            stops[place] = "failed" if response.status == "failed" else WHOLE if is_whole else None
    return stops
