"""What a failing test got and what it wanted, where both are long enough to be no accident.

`test:wrong-value` has the test and a digest of both values as its subject, and quotes the value that was got. Where
different models get one and the same wrong value, the task may have a second reading; one model repeating itself says
nothing, nor does a value that stands for an absence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from hashlib import sha256

from blade.evidence.signs.view import RolloutView, sign
from blade.model.finding import Sign
from blade.model.log import LogEvent

MOST = 4
FEWEST_LETTERS = 12
"""Letters and digits of a value that two models do not get wrong alike by chance; counts, flags and rounded numbers have
fewer."""
LONGEST_NAME = 90
_blocks = re.compile(
    r"(?i)\bexpected\b[^\n:]{0,40}:[ \t]*\n(?P<wanted>.+?)\n\s*(?:but )?(?:actual|got|received|found)\b[^\n:]{0,40}:[ \t]*\n(?P<got>.+?)\n\s*(?:assert\b|\+|$)",
    re.DOTALL,
)
_marked = re.compile(r"(?m)^E(?: {2,}|$)")


def wrong_values(view: RolloutView) -> Iterator[Sign]:
    """The values of the failing tests of a judged rollout, each test once."""
    if view.passed:
        return
    yield from _all_values(view)
    seen: set[str] = set()
    for log, event, text in view.failure_texts:
        got, wanted = _values(event, text)
        name = event.subject.rpartition("/")[2][-LONGEST_NAME:]
        if name in seen or not _is_telling(got) or not _is_telling(wanted):
            continue
        seen.add(name)
        digest = sha256(f"{_plain(got)}|{_plain(wanted)}".encode()).hexdigest()[:12]
        quote = next((line for line in got.split("\n") if line.strip() and line.strip() in log.text), "")
        yield sign("test:wrong-value", f"{name} {digest}", quote, log.field)
        if len(seen) >= MOST:
            return


def _all_values(view: RolloutView) -> Iterator[Sign]:
    """One sign for all failing tests and what each got; none where a test does not show it."""
    texts = view.failure_texts
    got = [(event.subject, _plain(_values(event, text)[0])) for _, event, text in texts]
    if got and len(got) == len(view.failures) and all(value for _, value in got):
        yield sign("test:values", sha256(repr(sorted(got)).encode()).hexdigest()[:12])


def _values(event: LogEvent, text: str) -> tuple[str, str]:
    """Got and wanted, by the parser of the log or under headings in the message of the assertion."""
    if event.actual and event.expected:
        return event.actual, event.expected
    found = _blocks.search(_marked.sub("", text))
    return (found["got"], found["wanted"]) if found is not None else ("", "")


def _plain(value: str) -> str:
    return " ".join(value.split()).strip("'\"")


def _is_telling(value: str) -> bool:
    """Long enough, and shown whole."""
    return sum(letter.isalnum() for letter in value) >= FEWEST_LETTERS and "..." not in value
