"""Code: tests, images and verifiers that are wrong, whatever the patch."""

from __future__ import annotations

from random import Random

from blade.model.finding import Cause
from proof.simulate.code import Issue, handed_in, work
from proof.simulate.draft import Draft
from proof.simulate.mechanism import mechanism


def failing_with(task: Issue, rng: Random, words: str, many: int | None = None) -> Draft:
    """A good patch whose tests fail with these words."""
    failing = task.aspects[-many:] if many else task.aspects
    draft = handed_in(task, rng, work(task, rng, ()), failing)
    first = len(task.aspects) - len(failing)
    for one in draft.fields["test_results"][first:]:
        one["message"] = words
    draft.mark(words, f"test_results.{first}.message")
    return draft


def missing(task: Issue) -> str:
    """What is not installed; the same in each repeat of a task."""
    library = Random(task.task_id).choice(("hypothesis", "freezegun", "numpy", "pytest_httpx"))
    return Random(task.nonce).choice(
        (
            f"ModuleNotFoundError: No module named '{library}'",
            f"ImportError while importing test module 'tests/test_{task.module}.py'.\nE   ModuleNotFoundError: No module named '{library}'",
            f"error: package `{library}` is not installed in this environment",
        )
    )


@mechanism(
    "code",
    mode="grader-did-not-run",
    modes_too=("test-cannot-pass", "grader-crashed", "environment-failed"),
    cause=Cause.TASK,
    must=("TSK015",),
    may=("TSK009", "TSK013", "TSK008"),
    doses=(1.0,),
)
def test_library_missing(task: Issue, rng: Random) -> Draft:
    """A library that only the tests use is not installed, so that no test can run."""
    return failing_with(task, rng, missing(task))


def crash(task: Issue) -> str:
    """How the test code itself fails; the same in each repeat of a task."""
    return Random(task.nonce).choice(
        (
            (
                f'Traceback (most recent call last):\n  File "/eval/run_tests.py", line 61, in collect\n    cases = SUITES["{task.nonce}"]\n'
                f"KeyError: '{task.nonce}'"
            ),
            "INTERNALERROR> AttributeError: 'Config' object has no attribute 'bench_options'\nINTERNALERROR>   File \"/eval/conftest.py\", line 12",
            "fixture 'golden_cases' not found\n> available fixtures: cache, capsys, tmp_path",
            'File "/eval/conftest.py", line 7\n    def load(:\n             ^\nSyntaxError: invalid syntax',
        )
    )


@mechanism(
    "code",
    mode="grader-crashed",
    modes_too=("test-cannot-pass", "grader-did-not-run"),
    cause=Cause.TASK,
    must=("TSK013",),
    may=("TSK009", "TSK008", "TSK015"),
    doses=(1.0,),
)
def test_code_raises(task: Issue, rng: Random) -> Draft:
    """The verifier's own test code raises before it reaches the patch."""
    return failing_with(task, rng, crash(task))


@mechanism(
    "code",
    mode="hidden-requirement",
    modes_too=("prompt-test-mismatch",),
    cause=Cause.TASK,
    must=("TSK007", "TSK009"),
    may=("TSK008",),
    doses=(1.0,),
    rest="pass",
)
def words_nobody_asked_for(task: Issue, rng: Random) -> Draft:
    """A test looks for a message that the issue nowhere names."""
    wanted = Random(task.nonce).choice(("value out of bounds, see manual", "Ungueltige Eingabe", "E-7731: rejected"))
    got = rng.choice(("ValueError('bad input')", "ValueError('cannot do this')"))
    return failing_with(task, rng, f"AssertionError: '{wanted}' not found in \"{got}\"", 1)


@mechanism(
    "code",
    mode="correct-but-rejected",
    cause=Cause.TASK,
    must=("TSK004",),
    may=("TSK009", "TSK008", "TSK003"),
    doses=(1.0,),
)
def only_white_space_differs(task: Issue, rng: Random) -> Draft:
    """Printed output is compared, and differs by a line break only; the fields that hold it differ from task to task."""
    expected = "\n".join(f"{one}: {len(one)}" for one in task.aspects)
    got = rng.choice((expected + "\n", expected.replace("\n", " \n"), expected.replace("\n", "\r\n")))
    draft = handed_in(task, rng, work(task, rng, ()), task.aspects[:1])
    draft.fields["test_results"][0]["message"] = "outputs differ"
    if Random(task.nonce).random() < 0.5:
        draft.fields |= {"expected_output": expected, "actual_output": got}
    else:
        draft.fields["metadata"] = {"inputs": "3", "expected": expected, "output": got, "error_message": "Wrong Answer"}
    return draft


@mechanism(
    "code",
    mode="inconsistent-verdict",
    modes_too=("correct-but-rejected",),
    cause=Cause.TASK,
    must=("TSK014",),
    may=("TSK012",),
)
def every_test_holds_and_still_no(task: Issue, rng: Random) -> Draft:
    """All tests hold and `resolved` is true, and the reward is 0."""
    draft = handed_in(task, rng, work(task, rng, ()), ())
    draft.reward = 0.0
    return draft


@mechanism(
    "code",
    mode="task-data-defect",
    modes_too=("expected-answer-wrong", "prompt-test-mismatch", "hidden-requirement"),
    cause=Cause.DATA,
    must=("DAT001",),
    may=("TSK008",),
    doses=(0.25, 0.5, 0.75),
)
def another_issue(task: Issue, rng: Random) -> Draft:
    """Some rows that count as repeats of a task were given another issue, and judged by the first one's tests."""
    other = f"Issue {rng.randint(900, 999)}: the command line prints its help twice. Print it once."
    draft = handed_in(task, rng, work(task, rng, task.aspects), task.aspects)
    draft.opening = [{"role": "user", "content": other}]
    draft.instead = {"problem_statement": other}
    draft.mark(other, "problem_statement")
    return draft
