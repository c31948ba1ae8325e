"""Code: what the agent itself does wrong in its sandbox."""

from __future__ import annotations

from random import Random

from blade.model.finding import Cause
from proof.simulate.code import Issue, edited, handed_in, read, summary, tested
from proof.simulate.draft import Draft, called, said
from proof.simulate.mechanism import mechanism


def nothing_handed_in(task: Issue, draft: Draft) -> Draft:
    """The rollout without a patch: no test holds."""
    draft.fields["model_patch"] = ""
    return draft


@mechanism(
    "code",
    mode="patch-empty",
    modes_too=("handed-back", "no-action"),
    cause=Cause.BEHAVIOR,
    must=("BEH012",),
    may=("ANS005",),
)
def no_patch(task: Issue, rng: Random) -> Draft:
    """The agent explains what it would change, and changes nothing."""
    words = rng.choice(
        (
            f"To mend this, one would change `{task.function}` so that each case has a branch of its own.",
            "The cause is clear: the early return. Taking it out should do.",
            f"Here is my plan: first a guard for bad input in {task.path}, then the loop. That covers the issue.",
            "I would suggest to split the function in two. Let me know if you want me to go on.",
        )
    )
    return nothing_handed_in(task, handed_in(task, rng, [*read(task, rng), said(words)], task.aspects))


@mechanism(
    "code",
    mode="loop",
    modes_too=("patch-empty",),
    cause=Cause.BEHAVIOR,
    must=("BEH001",),
    may=("ANS005", "BEH011", "BEH012"),
)
def reads_one_file_for_ever(task: Issue, rng: Random) -> Draft:
    """The agent prints the same file again and again, and hands nothing in."""
    look = (rng.choice(("bash", "read_file")), {"command": f"cat {task.path}"}, "def f(value):\n    return None\n")
    items = [item for _ in range(rng.randint(5, 9)) for item in called(rng, *look)]
    return nothing_handed_in(task, handed_in(task, rng, [*items, said("I will look at it once more.")], task.aspects))


@mechanism("code", mode="step-limit", cause=Cause.BEHAVIOR, may=("BEH001", "BEH011", "BEH012", "ANS005"))
def out_of_turns(task: Issue, rng: Random) -> Draft:
    """The limit of turns ends the rollout before anything is handed in."""
    steps = [
        item
        for n in range(6)
        for item in called(rng, "bash", {"command": f"grep -rn name_{n} src"}, f"src/other_{n}.py:{n}: name_{n} = None")
    ]
    draft = nothing_handed_in(task, handed_in(task, rng, [*read(task, rng), *steps], task.aspects))
    draft.fields |= rng.choice(({"stop_reason": "max_turns"}, {"termination_reason": "max_iterations_reached"}))
    return draft


SLOW = (
    "Timeout: test did not finish within 10 s",
    "Failed: Timeout >10.0s",
    "killed after 10 seconds (time limit exceeded)",
)


@mechanism("code", mode="too-slow", modes_too=("all-checks-failed", "some-checks-failed"), cause=Cause.BEHAVIOR)
def own_code_too_slow(task: Issue, rng: Random) -> Draft:
    """The tests of the patch run into their time limit: the agent's loop never ends."""
    draft = handed_in(task, rng, [*read(task, rng), *edited(task, rng, ()), said(summary(task, rng))], task.aspects)
    words = rng.choice(SLOW)
    for one in draft.fields["test_results"]:
        one["message"] = words
    draft.mark(words, "test_results.0.message")
    return draft


@mechanism(
    "code",
    mode="patch-empty",
    modes_too=("patch-not-applied", "malformed-call"),
    cause=Cause.BEHAVIOR,
    must=("BEH002",),
    may=("ANS005", "BEH012"),
)
def edit_that_failed(task: Issue, rng: Random) -> Draft:
    """The edit is refused, and the agent sums up as if the file were changed."""
    words = rng.choice(
        (
            "Error: `old` was not found in the file",
            "edit failed: no match for the given text",
            '{"error": "string to replace occurs 0 times"}',
            "error: patch does not apply",
        )
    )
    tried = called(rng, "edit_file", {"path": task.path, "old": "    return nothing", "new": "    return 1"}, words)
    draft = handed_in(task, rng, [*read(task, rng), *tried, said(summary(task, rng))], task.aspects)
    draft.mark(words)
    return nothing_handed_in(task, draft)


LOST: tuple[tuple[str, str, str], ...] = (
    ("bash", "command", "sed -n '{n}0,{n}9p' {path}"),
    ("bash", "command", "grep -n return {path} | head -{n}"),
    ("read_file", "path", "{path}:{n}0"),
)


@mechanism(
    "code",
    modes_too=("loop",),
    cause=Cause.BEHAVIOR,
    must=("BEH011",),
    may=("BEH001", "BEH004", "ANS005"),
    doses=(0.25, 0.5),
    rest="pass",
)
def goes_over_the_same_lines(task: Issue, rng: Random) -> Draft:
    """The agent reads its way up and down one file many times more than a passing repeat does, and edits in haste."""
    looks = rng.sample(LOST, 2)
    items = []
    for n in range(rng.randint(8, 12)):
        for tool, name, text in looks:
            given = {name: text.format(n=n + 1, path=task.path)}
            items += called(rng, tool, given, f"    return None  # line {n * 20 + 3}\n")
    left = task.aspects[: rng.randint(1, 3)]
    return handed_in(task, rng, [*items, *edited(task, rng, left), said(summary(task, rng))], left)


@mechanism("code", cause=Cause.KNOWLEDGE, kind="model", doses=(1.0,), may=("TSK009", "TSK008"))
def one_hard_case(task: Issue, rng: Random) -> Draft:
    """One case that the issue names is hard, and every repeat fails its test: a hard but valid task."""
    hard = task.aspects[-1:]
    return handed_in(
        task, rng, [*read(task, rng), *edited(task, rng, hard), *tested(task, rng), said(summary(task, rng))], hard
    )
