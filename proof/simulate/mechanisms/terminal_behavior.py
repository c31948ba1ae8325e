"""Terminal work: what the agent itself does, and limits that it runs into."""

from __future__ import annotations

from random import Random

from blade.model.finding import Cause
from proof.simulate.draft import Draft, said
from proof.simulate.graders import missing_file, refused, unreadable
from proof.simulate.mechanism import mechanism
from proof.simulate.terminal import (
    Job,
    differs,
    graded,
    looked,
    looked_again,
    raises,
    shell,
    stamps,
    work,
    wrote,
)

SLOW = ("pip wheel --no-binary :all: lib", "python3 search.py --all", "make -j1 world", "sleep 300; tail run.log")


@mechanism("terminal", mode="time-limit", cause=Cause.BEHAVIOR)
def out_of_time_with_nothing(task: Job, rng: Random) -> Draft:
    """The time limit ends the agent in the middle of a command, with nothing written."""
    items = [*looked(task, rng), *shell(rng, rng.choice(SLOW), "")][:-1]
    return _late(task, rng, graded(task, rng, items, raises(task, missing_file(task.runner, task.output))))


@mechanism("terminal", mode="time-limit", cause=Cause.BEHAVIOR)
def out_of_time_with_a_part(task: Job, rng: Random) -> Draft:
    """The time limit ends the agent when a part is written: some checks hold."""
    items = [*looked(task, rng), *wrote(task, rng), *shell(rng, rng.choice(SLOW), "")][:-1]
    return _late(task, rng, graded(task, rng, items, [differs(task.due[-1], rng)]))


def _late(task: Job, rng: Random, draft: Draft) -> Draft:
    draft.fields |= stamps(task, rng, agent=rng.uniform(1.0, 1.006))
    draft.fields["failure_mode"] = rng.choice(("agent_timeout", "agent_timeout", "normal"))
    return draft


@mechanism("terminal", mode="step-limit", cause=Cause.BEHAVIOR)
def out_of_rounds(task: Job, rng: Random) -> Draft:
    """The limit of rounds ends the agent while it is still looking around."""
    looks = [
        item
        for n in range(30)
        for item in shell(rng, f"sed -n {n * 9 + 1},{n * 9 + 9}p data/notes_{n}.txt", f"line {n}")
    ]
    draft = graded(task, rng, [*looked(task, rng), *looks], raises(task, missing_file(task.runner, task.output)))
    draft.fields["failure_mode"] = "step_limit"
    return draft


TOO_LONG = (
    "prompt is too long: 204211 tokens > 200000 maximum",
    "This model's maximum context length is 131072 tokens. However, your messages resulted in 133908 tokens.",
    "ContextWindowExceededError: input length and max_tokens exceed context limit",
    "The input token count (1048901) exceeds the maximum number of tokens allowed (1048576).",
)


@mechanism("terminal", mode="context-overflow", cause=Cause.BEHAVIOR)
def too_much_to_read(task: Job, rng: Random) -> Draft:
    """The agent prints whole files until its context is full, and the next call of the model is refused."""
    words = rng.choice(TOO_LONG)
    prints = [item for n in range(4) for item in shell(rng, f"cat data/part_{n}.csv", f"{n},north,12\n" * 60)]
    items = [*looked(task, rng), *prints, said(words)]
    draft = graded(task, rng, items, raises(task, missing_file(task.runner, task.output)))
    draft.fields["failure_mode"] = rng.choice(("context_full", "normal"))
    draft.mark(words)
    return draft


@mechanism(
    "terminal", mode="output-missing", modes_too=("some-checks-failed", "all-checks-failed"), cause=Cause.BEHAVIOR
)
def written_elsewhere(task: Job, rng: Random) -> Draft:
    """The agent writes its result to a place that nobody named, and the file that was asked for is not there."""
    place = rng.choice(("/tmp/result.json", "/srv/answer.json", "/app/final.json"))
    return graded(task, rng, work(task, rng, place), raises(task, missing_file(task.runner, task.output)))


@mechanism("terminal", mode="wrong-format", modes_too=("some-checks-failed", "all-checks-failed"), cause=Cause.BEHAVIOR)
def another_format(task: Job, rng: Random) -> Draft:
    """The instruction asks for JSON, and the agent writes comma-separated lines."""
    shown = shell(rng, f"cat {task.output}", "region,total\nnorth,412\nsouth,398")
    items = [*looked(task, rng), *wrote(task, rng), *shown, said("The table is written.")]
    return graded(task, rng, items, raises(task, unreadable(task.runner)))


@mechanism("terminal", kind="model", cause=Cause.KNOWLEDGE, doses=(1.0,))
def one_value_wrong(task: Job, rng: Random) -> Draft:
    """Every repeat gets one value wrong, each time another number."""
    return graded(task, rng, work(task, rng), [differs(task.due[-1], rng)])


@mechanism(
    "terminal",
    mode="regression",
    modes_too=("one-check-failed", "some-checks-failed"),
    kind="model",
    cause=Cause.UNRELIABLE,
    doses=(0.5, 0.75),
)
def broke_what_held(task: Job, rng: Random) -> Draft:
    """What was asked for holds, and a check that held before does not any more."""
    return graded(task, rng, work(task, rng), [differs(one, rng) for one in task.kept])


@mechanism("terminal", mode="patch-empty", modes_too=("no-action", "handed-back"), cause=Cause.BEHAVIOR)
def only_looked(task: Job, rng: Random) -> Draft:
    """The agent reads, explains and changes nothing: the recorded change is empty."""
    words = rng.choice(
        (
            "I have read everything. The cause is clear and the change is small.",
            "The approach would be to read the rows once and keep a running total.",
            "From what I see, two lines have to change.",
        )
    )
    draft = graded(task, rng, [*looked(task, rng), said(words)], raises(task, missing_file(task.runner, task.output)))
    draft.fields["model_patch"] = ""
    return draft


NOT_APPLIED = (
    "error: patch failed: src/parser.py:14\nerror: src/parser.py: patch does not apply\n",
    "patching file src/parser.py\nHunk #1 FAILED at 14.\n1 out of 1 hunk FAILED -- saving rejects to file src/parser.py.rej\n",
    "error: corrupt patch at line 9\n",
    "fatal: unrecognized input\n",
)


@mechanism("terminal", mode="patch-not-applied", cause=Cause.BEHAVIOR)
def change_does_not_apply(task: Job, rng: Random) -> Draft:
    """The change that was handed in cannot be applied, and the checks run without it or not at all."""
    words = rng.choice(NOT_APPLIED)
    draft = graded(task, rng, work(task, rng), raises(task, missing_file(task.runner, task.output)))
    ran = rng.random() < 0.5
    draft.fields["grader_log"] = words + (str(draft.fields["grader_log"]) if ran else "")
    draft.fields["checks"] = draft.fields["checks"] if ran else None
    draft.mark(words, "grader_log")
    return draft


QUESTIONS = (
    "Before I begin: should regions without orders be listed too? Let me know and I will go on.",
    "I can do this in two ways. Which of them do you prefer?",
    "Could you confirm that I may overwrite files under /app? I will wait for your answer.",
    "You can finish this by running the script above yourself; tell me if something fails.",
)


@mechanism(
    "terminal", mode="handed-back", modes_too=("output-missing", "no-action", "patch-empty"), cause=Cause.BEHAVIOR
)
def ends_with_a_question(task: Job, rng: Random) -> Draft:
    """The agent ends with a question or advice after a few commands, long before any limit."""
    words = rng.choice(QUESTIONS)
    draft = graded(task, rng, [*looked(task, rng), said(words)], raises(task, missing_file(task.runner, task.output)))
    draft.fields |= {"model_patch": "", **stamps(task, rng, agent=0.04)}
    draft.mark(words)
    return draft


@mechanism(
    "terminal", mode="no-action", modes_too=("handed-back", "output-missing", "patch-empty"), cause=Cause.BEHAVIOR
)
def announces_and_ends(task: Job, rng: Random) -> Draft:
    """The agent says that it will begin, and ends."""
    words = rng.choice(("I'll start by looking at the input.", "Sure. First I read the files.", "On it."))
    draft = graded(task, rng, [said(words)], raises(task, missing_file(task.runner, task.output)))
    draft.fields |= {"model_patch": "", "steps_taken": 0, **stamps(task, rng, agent=0.02)}
    return draft


CLAIMS = ("All checks pass. The work is complete!", "Everything works as specified.", "Verified: the result is right.")


@mechanism(
    "terminal",
    cause=Cause.UNRELIABLE,
    modes_too=("one-check-failed", "some-checks-failed"),
    doses=(0.5, 0.75),
    rest="pass",
)
def claims_over_its_own_check(task: Job, rng: Random) -> Draft:
    """The agent's own last check fails, and it says that everything works."""
    own = rng.choice(
        (
            f"FAILED check.py::test_{task.topic.aspects[0]} - assert 12 == 14\n1 failed, 2 passed in 0.08s",
            f"AssertionError: {task.topic.aspects[0]}: 12 != 14",
            "expected 14 rows, found 12\nexit status 1",
        )
    )
    items = [*looked(task, rng), *wrote(task, rng), *shell(rng, "python3 check.py", own), said(rng.choice(CLAIMS))]
    return graded(task, rng, items, [differs(task.due[0], rng)])


NO_FETCH = ("curl: (22) The requested URL returned error: 404", "HTTPError: 403 Forbidden", "model file not found")
MADE_UP = ("mock_data.py", "simulate.py", "fallback_sample.py", "demo_values.py")


@mechanism("terminal", mode="stand-in", modes_too=("some-checks-failed", "one-check-failed"), cause=Cause.BEHAVIOR)
def stand_in_data(task: Job, rng: Random) -> Draft:
    """A fetch fails once, and the agent writes made-up numbers in place of the data."""
    name = rng.choice(MADE_UP)
    source = f"# placeholder values, because the input could not be read\nrows = [random.randint(1, 9) for _ in range({rng.randint(10, 99)})]\n"
    items = [
        *looked(task, rng),
        *shell(rng, "python3 fetch.py", rng.choice(NO_FETCH)),
        *_wrote_and_ran(rng, name, source),
        *looked_again(task, rng),
        said("The result is written and has the form that you asked for."),
    ]
    draft = graded(task, rng, items, [differs(one, rng) for one in task.due])
    draft.mark(source.splitlines()[0])
    return draft


def _wrote_and_ran(rng: Random, name: str, source: str) -> list[dict[str, object]]:
    return [*shell(rng, f"cat > /app/{name} <<'EOF'\n{source}EOF", ""), *shell(rng, f"python3 /app/{name}", "ok")]


@mechanism("terminal", mode="loop", modes_too=("output-missing",), cause=Cause.BEHAVIOR)
def nearly_the_same_command(task: Job, rng: Random) -> Draft:
    """One command is tried again and again with a changed number, with the same error each time."""
    command, words = rng.choice(
        (
            ("python3 run.py --workers {}", "ValueError: pool is not running"),
            ("sleep {} && ls out", "ls: cannot access 'out': No such file or directory"),
            ("./solve --seed {}", "no route"),
        )
    )
    tries = [item for n in range(rng.randint(9, 16)) for item in shell(rng, command.format(n + 1), words)]
    items = [*looked(task, rng), *tries, said("Still the same error.")]
    return graded(task, rng, items, raises(task, missing_file(task.runner, task.output)))


@mechanism("terminal", mode="service-not-up", modes_too=("some-checks-failed",), cause=Cause.BEHAVIOR)
def server_not_running(task: Job, rng: Random) -> Draft:
    """The agent starts its server in the foreground of a shell that ends, and nothing listens when it is graded."""
    port = 8000 + task.nonce
    items = [
        *looked(task, rng),
        *wrote(task, rng),
        *shell(rng, f"timeout 5 python3 server.py --port {port}", f"serving on {port}\n"),
        said("The server runs and answers."),
    ]
    return graded(task, rng, items, raises(task, refused(task.runner, port)))
