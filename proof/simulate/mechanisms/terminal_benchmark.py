"""Terminal work: checks that cannot pass, or that want what the instruction does not say."""

from __future__ import annotations

from random import Random

from blade.model.finding import Cause
from proof.simulate.draft import Draft, said
from proof.simulate.graders import Bad, missing_file, missing_key, own_mistake
from proof.simulate.mechanism import mechanism
from proof.simulate.terminal import Job, graded, looked, raises, shell, work, wrote


@mechanism("terminal", mode="test-cannot-pass", modes_too=("grader-crashed",), cause=Cause.TASK, doses=(1.0,))
def one_check_raises_itself(task: Job, rng: Random) -> Draft:
    """One check raises a mistake of its own code in every rollout, and its siblings hold."""
    return graded(task, rng, work(task, rng), raises(task, own_mistake(task.runner), task.due[-1:]))


@mechanism("terminal", mode="test-cannot-pass", modes_too=("hidden-requirement",), cause=Cause.TASK, doses=(1.0,))
def check_needs_its_own_lost_file(task: Job, rng: Random) -> Draft:
    """One check opens a reference file beside it that was never shipped."""
    lost = f"/tests/golden/reference_{task.nonce}.json"
    return graded(task, rng, work(task, rng), raises(task, missing_file(task.runner, lost), task.due[:1]))


def misnamed(task: Job) -> str:
    """The output under nearly its own name: its words in another order."""
    folder, _, name = task.output.rpartition("/")
    stem, _, ending = name.partition(".")
    word, _, number = stem.partition("_")
    return f"{folder}/{number}_{word}.{ending}"


@mechanism(
    "terminal",
    mode="prompt-test-mismatch",
    modes_too=("hidden-requirement", "test-cannot-pass"),
    cause=Cause.TASK,
    doses=(1.0,),
)
def check_opens_another_name(task: Job, rng: Random) -> Draft:
    """The instruction names one file and the checks open another that is spelled nearly the same."""
    return graded(task, rng, work(task, rng), raises(task, missing_file(task.runner, misnamed(task))))


HIDDEN = ("generator_id", "checksum_sha1", "schema_rev", "provenance")


@mechanism("terminal", mode="hidden-requirement", modes_too=("prompt-test-mismatch",), cause=Cause.TASK, doses=(1.0,))
def check_wants_an_unnamed_key(task: Job, rng: Random) -> Draft:
    """A check looks up a key that no word of the instruction asks for."""
    key = Random(task.nonce).choice(HIDDEN)
    return graded(task, rng, work(task, rng), raises(task, missing_key(task.runner, key), task.due[1:2]))


SPELLED = (("not available", "not-available"), ("North East", "north_east"), ("2026-03-01", "01.03.2026"))


def as_told(task: Job, rng: Random) -> Draft:
    """The agent writes the spelling that it was given."""
    told, wanted = Random(task.nonce).choice(SPELLED)
    shown = shell(rng, f"cat {task.output}", f'{{"a": 12, "b": "{told}"}}')
    items = [*looked(task, rng), *wrote(task, rng), *shown, said("Written as you asked for.")]
    return graded(task, rng, items, [Bad(check=task.due[0], got=f"'{told}'", wanted=f"'{wanted}'", line=44)])


@mechanism(
    "terminal",
    mode="correct-but-rejected",
    modes_too=("prompt-test-mismatch", "hidden-requirement"),
    cause=Cause.TASK,
    doses=(1.0,),
    does="bend",
    play=as_told,
)
def spelled_as_told_and_rejected(task: Job, rng: Random) -> Job:
    """The instruction gives a spelling, the agent uses it, and the check wants another."""
    told, _ = Random(task.nonce).choice(SPELLED)
    return Job(**(vars(task) | {"prompt": f'{task.prompt} Where a value is missing or unclear, write "{told}".'}))


@mechanism("terminal", mode="inconsistent-verdict", modes_too=("correct-but-rejected",), cause=Cause.TASK)
def all_checks_hold_and_a_zero(task: Job, rng: Random) -> Draft:
    """Every check holds in the log and by name, and the reward is 0."""
    draft = graded(task, rng, work(task, rng), ())
    draft.reward = 0.0
    return draft


@mechanism(
    "terminal",
    mode="task-data-defect",
    modes_too=("expected-answer-wrong", "prompt-test-mismatch", "hidden-requirement"),
    cause=Cause.DATA,
    doses=(0.25, 0.5, 0.75),
    rest="pass",
)
def another_instruction(task: Job, rng: Random) -> Draft:
    """Some rows that count as repeats of a task were given another job, and judged by the checks of the first."""
    other = f"Pack every file that is older than {rng.randint(10, 90)} days into /app/old.tar.gz."
    packed = shell(rng, "tar czf /app/old.tar.gz $(cat old.txt)", "")
    items = [*looked(task, rng), *packed, said("The old files are packed.")]
    draft = graded(task, rng, items, raises(task, missing_file(task.runner, task.output)))
    draft.opening = [{"role": "user", "content": other}]
    draft.instead = {"instruction": other}
    draft.mark(other, "instruction")
    return draft


@mechanism(
    "terminal",
    mode="unattributed",
    modes_too=("one-check-failed", "expected-answer-wrong", "hidden-requirement", "correct-but-rejected"),
    settled=False,
    doses=(1.0,),
    rest="pass",
)
def all_agree_and_one_check_does_not(task: Job, rng: Random) -> Draft:
    """Every rollout has the same value and the check wants another: a shared mistake or a wrong check, the rows do not say."""
    value = Random(task.nonce)
    bad = Bad(check=task.due[0], got=str(value.randint(2, 400)), wanted=str(value.randint(401, 999)), line=52)
    return graded(task, rng, work(task, rng), [bad])
