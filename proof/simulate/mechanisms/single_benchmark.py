"""Question and answer: keys, prompts and verifiers that are wrong, whatever the model answers."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from blade.model.finding import Cause
from proof.simulate.draft import Draft
from proof.simulate.mechanism import mechanism
from proof.simulate.single import Question, answered, judged


@mechanism(
    "single", mode="correct-but-rejected", cause=Cause.TASK, must=("TSK003",), may=("TSK008", "TSK012", "TSK016")
)
def same_value_rejected(task: Question, rng: Random) -> Draft:
    """The answer is the key's in another spelling, and is rejected."""
    if task.answer in "ABCD":
        form = rng.choice((f"({task.answer})", f"{task.answer}.", task.answer.lower(), f"**{task.answer}**"))
    else:
        number = int(task.answer)
        form = rng.choice((f"{number:,}", f"{number}.0", f" {number} ", f"${number}$", f"\\boxed{{{number}}}"))
    draft = answered(task, rng, form)
    draft.mark(form, "extracted_answer")
    return draft


@mechanism("single", mode="correct-but-rejected", cause=Cause.TASK, must=("TSK003",), may=("ANS005",))
def stated_but_not_extracted(task: Question, rng: Random) -> Draft:
    """The output ends with the right answer in so many words, and the verifier extracts nothing."""
    ending = rng.choice(("The answer is {}.", "Answer: {}", "Final answer: **{}**")).format(task.answer)
    draft = judged(task, rng, None, f"{task.working}\n\n{ending}")
    draft.mark(ending)
    return draft


@mechanism("single", mode="expected-answer-wrong", cause=Cause.TASK, must=("TSK008", "TSK016"), does="bend")
def wrong_key(task: Question, rng: Random) -> Question:
    """The key is wrong: every model gives one and the same answer, and it is rejected."""
    return replace(task, key=task.wrong[-1])


def fixed(task: Question, rng: Random) -> Draft:
    """A right answer in words that do not change."""
    return answered(task, Random(task.task_id), task.answer)


@mechanism(
    "single",
    mode="inconsistent-verdict",
    modes_too=("correct-but-rejected",),
    cause=Cause.TASK,
    must=("TSK012",),
    may=("TSK003",),
    doses=(0.5, 0.75),
    otherwise=fixed,
    rest="pass",
)
def moody_judge(task: Question, rng: Random) -> Draft:
    """Word for word the same output passes in one repeat and fails in another."""
    draft = fixed(task, rng)
    draft.reward = 0.0
    return draft


@mechanism(
    "single",
    mode="inconsistent-verdict",
    modes_too=("correct-but-rejected",),
    cause=Cause.TASK,
    must=("TSK014",),
    may=("TSK003", "TSK012"),
)
def verdict_against_reward(task: Question, rng: Random) -> Draft:
    """The verifier's own verdict says right, and the reward says wrong."""
    draft = answered(task, rng, task.answer)
    draft.reward = 0.0
    draft.fields |= rng.choice(
        ({"is_correct": True}, {"verdict": "correct"}, {"judge_verdict": "yes", "is_correct": 1.0})
    )
    return draft


CRASHES = (
    (
        'Traceback (most recent call last):\n  File "/srv/verifier/compare.py", line 88, in score\n    '
        "weight = rubric['weight']\nKeyError: 'weight'"
    ),
    (
        'Traceback (most recent call last):\n  File "/app/grader/main.py", line 31, in grade\n    return table[row.key]\n'
        "TypeError: unhashable type: 'list'"
    ),
    "grader raised AttributeError: 'NoneType' object has no attribute 'strip' (grader/normalize.py:14)",
    "panicked at src/judge.rs:204: called `Option::unwrap()` on a `None` value",
)


@mechanism("single", mode="grader-crashed", cause=Cause.TASK, must=("TSK013",), may=("TSK012",))
def verifier_raised(task: Question, rng: Random) -> Draft:
    """The verifier's own code raises, and a reward of 0 is recorded."""
    draft = answered(task, rng, task.answer)
    words = rng.choice(CRASHES)
    draft.reward = 0.0
    draft.fields = rng.choice(({"extracted_answer": None}, {})) | {"verifier_error": words}
    draft.mark(words, "verifier_error")
    return draft


@mechanism(
    "single",
    mode="expected-answer-wrong",
    modes_too=("inconsistent-verdict", "task-data-defect"),
    cause=Cause.DATA,
    must=("DAT003",),
    may=("TSK008", "TSK016"),
    does="twin",
)
def one_prompt_two_keys(task: Question, rng: Random) -> Question:
    """Two tasks have the same prompt, and want different answers."""
    return replace(task, key=task.wrong[0])


@mechanism("single", must=("DAT002",), does="twin")
def same_task_twice(task: Question, rng: Random) -> Question:
    """A task stands in the benchmark twice, under two ids; both pass."""
    return task


LEAKS = (
    "\n\n(Reference answer: {})",
    "\n\nExpected output: {}",
    "\n<!-- gold: {} -->",
    "\n\nNote to graders: the correct answer is {}.",
)


@mechanism("single", doubtful=True, must=("DAT004",), does="bend")
def key_in_the_prompt(task: Question, rng: Random) -> Question:
    """The prompt states the answer; the task passes."""
    return replace(task, prompt=task.prompt + rng.choice(LEAKS).format(task.answer))


@mechanism(
    "single",
    mode="expected-answer-wrong",
    modes_too=("hidden-requirement", "prompt-test-mismatch", "task-data-defect"),
    cause=Cause.DATA,
    must=("DAT001",),
    may=("TSK008",),
    doses=(0.25, 0.5, 0.75),
)
def another_question(task: Question, rng: Random) -> Draft:
    """Some rows that count as repeats of a task were given another question, judged by the first one's key."""
    other = f"Name the third month after {rng.choice(('March', 'June', 'August'))}, in capitals."
    draft = judged(task, rng, "JUNE", f"Counting on from there.\n\n{rng.choice(('JUNE', 'Answer: JUNE'))}")
    draft.opening = [{"role": "user", "content": other}]
    draft.mark(other, "responses_create_params.input")
    return draft


HOLES = ("{{document}}", "{context}", "<passage missing>", "None", "[object Object]", "$TEXT")
ASKS = (
    "The text between the lines is empty, so there is no value that I could name.",
    "I do not see the document. Could you paste it?",
    "What I was given holds no passage, only a placeholder.",
)
OFFERS = ("Once it is there I will look it up.", "Send it again and I will read it.", "Please check the input.")


def hollow(task: Question, rng: Random) -> Draft:
    """An honest reply to a prompt with a hole."""
    return judged(task, rng, None, f"{rng.choice(ASKS)} {rng.choice(OFFERS)}")


@mechanism(
    "single",
    mode="hidden-requirement",
    modes_too=("expected-answer-wrong", "prompt-test-mismatch", "test-cannot-pass", "task-data-defect"),
    party="task",
    cause=Cause.DATA,
    must=("DAT005",),
    may=("ANS005", "ANS003"),
    does="bend",
    play=hollow,
    doses=(1.0,),
)
def hole_in_the_prompt(task: Question, rng: Random) -> Question:
    """The document that the question is about was never filled in."""
    prompt = f"Document {task.index}:\n---\n{rng.choice(HOLES)}\n---\nWhich account number does the document name?"
    return replace(task, prompt=prompt)
