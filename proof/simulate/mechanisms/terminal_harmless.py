"""Terminal work: logs and setbacks that look like faults and are none, and passes that are honest all the same."""

from __future__ import annotations

from random import Random

from blade.model.finding import Cause
from proof.simulate.draft import Draft, said
from proof.simulate.mechanism import mechanism
from proof.simulate.terminal import Job, differs, graded, looked, looked_again, shell, work, wrote

ALARMS = (
    ("jq . data.json", "bash: jq: command not found"),
    ("node -v", "bash: line 1: node: command not found"),
    ("python3 try.py", 'Traceback (most recent call last):\n  File "/app/try.py", line 3, in <module>\nKeyError: 0'),
    ("curl -s localhost:9", "curl: (7) Failed to connect to localhost port 9: Connection refused"),
    (
        "pip install tqdm",
        "WARNING: Retrying after connection broken by 'ReadTimeoutError'\nSuccessfully installed tqdm-4.67.1",
    ),
    ("timeout 2 ./probe", "Terminated"),
)


@mechanism("terminal", kind="harmless", doses=(0.5, 1.0))
def setback_and_a_pass(task: Job, rng: Random) -> Draft:
    """A command of the agent fails, it goes on another way, and every check holds."""
    return _after(task, rng, None)


@mechanism("terminal", kind="harmless", cause=Cause.UNRELIABLE, doses=(0.5, 0.75))
def setback_and_a_slip(task: Job, rng: Random) -> Draft:
    """The same setbacks, and one value is wrong for another reason."""
    return _after(task, rng, rng.choice(task.due))


def _after(task: Job, rng: Random, missed: str | None) -> Draft:
    command, words = rng.choice(ALARMS)
    seen = shell(rng, command, words)
    items = [*looked(task, rng), *seen, *wrote(task, rng), *looked_again(task, rng), said("Done, see the file.")]
    draft = graded(task, rng, items, [] if missed is None else [differs(missed, rng)])
    draft.mark(words)
    return draft


GRUMBLES = (
    "WARNING: Retrying (Retry(total=4)) after connection broken by 'NewConnectionError': /simple/pytest/\nCollecting pytest\nSuccessfully installed pytest-8.4.1\n",
    "E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 41 (apt-get)\nSetting up curl (8.5.0-2) ...\n",
    "npm warn deprecated inflight@1.0.6: This module is not supported, and leaks memory.\nadded 271 packages in 11s\n",
    "error: 1 of 3 mirrors failed (timeout), using the next\n",
)


@mechanism("terminal", kind="harmless", cause=Cause.KNOWLEDGE, doses=(1.0,))
def grader_grumbles_and_a_slip(task: Job, rng: Random) -> Draft:
    """The grader's installation complains and succeeds; the checks ran, and values are plainly wrong."""
    draft = graded(task, rng, work(task, rng), [differs(one, rng) for one in rng.sample(task.due, rng.randint(1, 2))])
    words = rng.choice(GRUMBLES)
    draft.fields["grader_log"] = f"{words}{draft.fields['grader_log']}"
    draft.mark(words, "grader_log")
    return draft


@mechanism("terminal", kind="harmless", doses=(0.5,))
def crash_after_the_end(task: Job, rng: Random) -> Draft:
    """The agent program fails while it closes, after its last word; the work is done and every check holds."""
    draft = graded(task, rng, work(task, rng), ())
    words = "Error: EPIPE: broken pipe, write\n    at afterWriteDispatched (node:internal/stream_base_commons:161:15)\n"
    draft.fields["agent_log"] = f"{draft.fields['agent_log']}\n{words}"
    draft.mark(words, "agent_log")
    return draft
