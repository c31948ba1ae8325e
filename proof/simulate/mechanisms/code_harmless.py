"""Code: logs, names and setbacks that look like faults and are none."""

from __future__ import annotations

from random import Random

from blade.model.finding import Cause
from proof.simulate.code import Issue, complaint, edited, handed_in, read, summary, tested
from proof.simulate.draft import Draft, Item, called, said
from proof.simulate.mechanism import mechanism

LOGS = (
    "tests/test_public.py::test_refused PASSED  (server answered: Connection refused, as expected)",
    "WARNING client: 429 Too Many Requests, retrying in 0.1 s (this is the case under test)\n2 passed",
    "DEBUG sandbox: container started in 0.8 s\n2 passed in 0.2s",
    "tests/test_public.py::test_raises_timeout PASSED\ntests/test_public.py::test_503 PASSED",
    "ERROR expected by the test: Traceback (most recent call last) ... ValueError: negative\n3 passed",
)
PROBES = (
    ("python -c 'import ujson'", "ModuleNotFoundError: No module named 'ujson'"),
    ("ls /repo/docs", "ls: cannot access '/repo/docs': No such file or directory"),
    ("python -m mypy src", "/usr/bin/python: No module named mypy"),
    ("make test", "make: *** No rule to make target 'test'.  Stop."),
)


@mechanism("code", cause=Cause.UNRELIABLE, kind="harmless", doses=(0.5, 0.75))
def alarming_log_and_a_slip(task: Issue, rng: Random) -> Draft:
    """The agent's own test run logs alarms that belong to the test; the patch misses a case."""
    words = rng.choice(LOGS)
    return _with(
        task, rng, called(rng, "bash", {"command": "python -m pytest -v"}, words), words, rng.choice(task.aspects)
    )


@mechanism("code", kind="harmless", doses=(0.5, 1.0))
def alarming_log_in_a_pass(task: Issue, rng: Random) -> Draft:
    """The same logs, and the patch is right."""
    words = rng.choice(LOGS)
    return _with(task, rng, called(rng, "bash", {"command": "python -m pytest -v"}, words), words, None)


@mechanism("code", kind="harmless", doses=(0.5, 1.0))
def probe_that_finds_nothing(task: Issue, rng: Random) -> Draft:
    """The agent looks for a tool or a folder that is not there, and goes on; the patch is right."""
    command, words = rng.choice(PROBES)
    return _with(task, rng, called(rng, "bash", {"command": command}, words), words, None)


@mechanism("code", cause=Cause.KNOWLEDGE, kind="harmless", doses=(1.0,), may=("TSK009", "TSK008"))
def probe_and_wrong(task: Issue, rng: Random) -> Draft:
    """The agent looks for what is not there and goes on; the patch misses cases that the issue names."""
    command, words = rng.choice(PROBES)
    return _with(task, rng, called(rng, "bash", {"command": command}, words), words, rng.choice(task.aspects))


def _with(task: Issue, rng: Random, seen: list[Item], words: str, missed: str | None) -> Draft:
    failing = () if missed is None else (missed,)
    items = [*read(task, rng), *seen, *edited(task, rng, failing), *tested(task, rng), said(summary(task, rng))]
    draft = handed_in(task, rng, items, failing)
    draft.mark(words)
    return draft


@mechanism("code", cause=Cause.UNRELIABLE, kind="harmless", doses=(0.5,))
def first_try_fails(task: Issue, rng: Random) -> Draft:
    """The agent's first test run fails and it goes on; in the end one case is still wrong."""
    words = (
        f"FAILED tests/test_public.py::test_one - {complaint(task, rng, task.aspects[0])}\n1 failed, 1 passed in 0.2s"
    )
    seen = called(rng, "bash", {"command": "python -m pytest -q tests/test_public.py"}, words)
    return _with(task, rng, seen, words, rng.choice(task.aspects))
