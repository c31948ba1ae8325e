"""What became of a rollout: outcome, error and stop, from the structure of its row and never from its text."""

from __future__ import annotations

from blade.core.rollout import PASS_TOLERANCE, Outcome
from blade.ingest import cells
from blade.ingest.decode import Row
from blade.ingest.request import Response

LONGEST_CLASS = 80

_NO_ERROR = ("", "none", "None", "null", False, 0)
_ERROR_NAMES = ("type", "code", "class", "exception_type", "message")
_STOP_IN_ROW = ("stop_reason", "finish_reason", "termination_reason")


def judged(reward: float, threshold: float) -> Outcome:
    """Passed or failed."""
    return Outcome.PASSED if reward >= threshold - PASS_TOLERANCE else Outcome.FAILED


def outcome(
    *, role: str, reward: float | None, threshold: float, error: str | None, response: Response, spoke: bool
) -> tuple[Outcome, str | None]:
    """The outcome by the first rule that applies, and the class of the error that is recorded."""
    kind = error.splitlines()[0][:LONGEST_CLASS] if error else None
    if role == "failures":
        return Outcome.ERRORED, kind or "failure"
    if reward is None:
        return (Outcome.ERRORED, kind) if error else (Outcome.UNSCORED, None)
    if reward <= 0 and not spoke and is_broken(response):
        return Outcome.ERRORED, kind or "response failed"
    return judged(reward, threshold), kind


def is_broken(response: Response) -> bool:
    """Whether the response itself says that it failed."""
    return response.status == "failed" or error_text(response.error) is not None


def error_of(row: Row, paths: tuple[str, ...], response: Response) -> str | None:
    """The first error that the harness recorded, in the order of the table."""
    for path in paths:
        found = error_text(response.error if path == "response.error" else cells.value(row, path))
        if found is not None:
            return found
    return None


def error_text(value: object) -> str | None:
    """What an error field says; None when it says that there is none."""
    if isinstance(value, dict):
        value = next((value[name] for name in _ERROR_NAMES if value.get(name)), "error") if value else None
    if value is None or value == [] or (isinstance(value, str | int | float) and value in _NO_ERROR):
        return None
    return cells.as_text(value).strip() or None


def stop_of(row: Row, response: Response) -> str | None:
    """Why the rollout ended, in the order of the table; `completed` where the response says that it is whole."""
    details = response.incomplete_details
    if isinstance(details, dict) and cells.text(details.get("reason")):
        return cells.text(details.get("reason"))
    found = cells.first_text(row, _STOP_IN_ROW)
    if found:
        return found
    metadata = response.metadata if isinstance(response.metadata, dict) else {}
    whole = response.status == "completed" or details is None
    named = cells.text(metadata.get("stop_reason")) or cells.text(response.stop_reason)
    return named or ("completed" if whole else None)
