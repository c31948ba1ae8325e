"""What was handed in as a patch: nothing, one that does not apply, or one that touches tests alone.

`patch:empty` needs a field of the row that is for the agent's patch and holds none; `patch:not-applied` quotes the log, or the error that is
recorded.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from blade.evidence.signs.view import RolloutView, line_with, sign, words_of
from blade.model.finding import Sign

_HANDED_IN = frozenset("patch diff submission".split())  # noqa: SIM905
_CALLED_PATCH = "patch"
"""A diff or a submission may be of anything; a field that is empty tells by its name alone what it is for."""
_THE_KEYS = frozenset(
    [
        "gold",
        "golden",
        "test",
        "expected",
        "reference",
        "base",
        "oracle",
        "exists",
        "is",
        "applied",
        "successfully",
        "size",
        "lines",
    ]
)
_file = re.compile(
    r"(?m)^(?:diff --git a/(?P<a>\S+) b/|\+\+\+ b?/?(?P<b>\S+)|\*\*\* (?:Update|Add|Delete) File: (?P<c>\S+))"
)
_of_tests = re.compile(
    r"(?:^|/)(?:tests?|__tests__|spec|testing)/|(?:^|/)test_[^/]*$|_test\.\w+$|[._-](?:test|spec)\.\w+$|(?:^|/)conftest\.py$"
)
_not_applied = re.compile(
    r"(?i)(?:patch apply failed|patch does not apply|error: patch failed|corrupt patch|malformed patch|only garbage was found in the patch"
    r"|failed to apply patch|hunk #?\d+ failed|fatal: (?:unrecognized input|no valid patches in input)|error: no valid patches in input)"
)
_applied = re.compile(r"(?i)applied patch|patch applied|applied (?:cleanly|successfully)")


@lru_cache(maxsize=64)
def _handed_in(names: tuple[str, ...]) -> tuple[str, ...]:
    """The fields of a row that are for the agent's patch, by the words of their names; the key has patches too."""
    return tuple(name for name in names if (words := words_of(name)) & _HANDED_IN and not words & _THE_KEYS)


def patches(view: RolloutView) -> Iterable[Sign]:
    """What the row and the logs say of the patch of a rollout that did not pass."""
    if view.passed:
        return ()
    names = _handed_in(view.rollout.fields)
    return _of_patch(view, names) if names or view.account.logs or view.rollout.error else ()


def _of_patch(view: RolloutView, names: tuple[str, ...]) -> Iterator[Sign]:
    for name in names:
        value = view.rollout.field(name)
        if value is None or (isinstance(value, str) and not value.strip()):
            filled = (isinstance(other := view.rollout.field(each), str) and other.strip() for each in names)
            if _CALLED_PATCH in words_of(name) and not any(filled):
                yield sign("patch:empty", name)
            return
        if isinstance(value, str):
            yield from _only_tests(name, value)
            break
    logs = [(log.field, log.text) for log in view.grader_logs]
    for field, text in [("error", view.rollout.error or ""), *logs]:
        if "atch" in text or "unk" in text or "unrecognized input" in text:
            yield from _applies(field, text)


def _only_tests(name: str, patch: str) -> Iterator[Sign]:
    found = list(_file.finditer(patch))
    paths = list(dict.fromkeys(match["a"] or match["b"] or match["c"] for match in found))
    real = [path for path in paths if path != "dev/null"]
    if real and all(_of_tests.search(path) for path in real):
        yield sign("patch:only-tests", real[0], found[0][0], name)


def _applies(field: str, text: str) -> Iterator[Sign]:
    """The last report of a failure to apply; a later way of applying it may have worked."""
    failed = list(_not_applied.finditer(text))
    if failed and not _applied.search(text, failed[-1].end()):
        yield sign("patch:not-applied", "", line_with(text, failed[-1]), field)
