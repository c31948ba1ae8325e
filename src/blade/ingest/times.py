"""Times of a log: stamps with and without a zone, and how long lies between two of them."""

from __future__ import annotations

from datetime import UTC, datetime


def stamp(value: object) -> datetime | None:
    """An ISO date and time; one without a zone is taken as UTC."""
    try:
        found = datetime.fromisoformat(str(value))
    except ValueError:
        return None
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)


def seconds_between(start: object, end: object) -> float | None:
    """None where one of them is no stamp."""
    first, last = stamp(start), stamp(end)
    return (last - first).total_seconds() if first is not None and last is not None else None
