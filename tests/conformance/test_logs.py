"""What the parsers find in the logs of real runs, beside the results that the harness kept of each test; pytest -s prints the figures."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

import blade
from blade.ingest.logs.parse import parse_log
from blade.model.run import Run
from conformance.facts import DATA

LOGS: Mapping[str, tuple[str, ...]] = {
    "terminal_bench/*": ("test_log",),
    "harbor": ("test_stdout",),
    "swebench": ("test_output",),
}
"""Runs whose harness keeps both, and the field of the log."""
LEAST_FOUND, LEAST_EQUAL = 0.97, 0.999
VERDICTS = {"test-passed": True, "test-failed": False, "test-error": False}


def comparable(run: Run, task: str, repeat: int) -> dict[str, bool]:
    """The harness's verdicts under the names that a runner prints.

    Left out are tests that a harness calls by a line of their documentation or by an error, of which no name is left.
    """
    own = (run.checks["task_id"] == task) & (run.checks["repeat"] == repeat)
    pairs = run.checks.filter(own).select("name", "passed").iter_rows()
    plain = {name.removeprefix("FAIL_TO_PASS: ").removeprefix("PASS_TO_PASS: "): passed for name, passed in pairs}
    return {name: passed for name, passed in plain.items() if " - " not in name and is_name(name)}


def is_name(name: str) -> bool:
    words = name.partition("[")[0].split()
    return len(words) == 1 or (len(words) == 2 and words[1].startswith("("))


def printed(text: str) -> dict[str, bool]:
    """The last verdict on each test of a log."""
    events = (event for event in parse_log(text).events if event.kind in VERDICTS)
    return {event.subject: VERDICTS[event.kind] for event in events}


def verdict_in(log: Mapping[str, bool], name: str) -> bool | None:
    """That on the test of the name, of its last part, or on all cases of a test that the harness counts as one or cuts short."""
    last = name.rpartition("::")[2]
    if name in log or last in log:
        return log.get(name, log.get(last))
    cases = [
        passed
        for one, passed in log.items()
        if one.endswith(f":{last}") or f"{last}[" in one or ("[" in name and one.startswith(name))
    ]
    return all(cases) if cases else None


@pytest.mark.skipif(
    not DATA.is_dir(), reason="the public reference files are not beside the repository (../shared/data)"
)
@pytest.mark.parametrize("pattern", LOGS)
def test_logs_say_what_the_harness_says(pattern: str) -> None:
    rollouts = tests = found = equal = 0
    other = []
    for path in sorted(DATA.glob(pattern)):
        run = blade.load_run(path)
        for task, repeat in run.rollouts.select("task_id", "repeat").iter_rows():
            text = "\n".join(str(run[task, repeat].row.get(field) or "") for field in LOGS[pattern])
            verdicts, log = comparable(run, task, repeat), printed(text)
            rollouts += bool(verdicts and log)
            for name, passed in verdicts.items() if log else ():
                told = verdict_in(log, name)
                tests, found, equal = tests + 1, found + (told is not None), equal + (told is passed)
                other += [(task, name, passed, told)] if told is not passed else []
    print(f"{pattern}: {rollouts} rollouts, {tests} tests, {found} found in the log, {equal} with the same verdict")
    assert rollouts > 20
    assert found >= LEAST_FOUND * tests, other[:20]
    assert equal >= LEAST_EQUAL * found, other[:20]
