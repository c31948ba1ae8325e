"""Question and answer: words and events that look like faults and are none."""

from __future__ import annotations

from random import Random

from blade.model.finding import Cause
from proof.simulate.draft import Draft
from proof.simulate.mechanism import mechanism
from proof.simulate.single import Question, answered, closing

ALARMS = (
    "(Much as a server answers 429 Too Many Requests when it is asked too often, the depot sends back what it cannot take.)",
    "I cannot help noticing that the first figure is even; it does not matter here.",
    "A quick aside: Traceback (most recent call last) is how Python would start if I had divided by zero. I did not.",
    "If the connection is refused at the gate, the crates wait outside; the count stays the same.",
    "I'm sorry for the detour; here is the short way.",
    "There was a timeout in my first attempt at the sum, so to speak: I lost the thread and began again.",
    "No module named arithmetic is needed for this, only care.",
)


@mechanism("single", cause=Cause.UNRELIABLE, kind="harmless", doses=(0.5, 0.75))
def alarming_words_and_a_slip(task: Question, rng: Random) -> Draft:
    """The working speaks of errors as figures of speech, and the answer is plainly wrong."""
    return _with_alarm(task, rng, rng.choice(task.wrong))


@mechanism("single", kind="harmless", doses=(0.5, 1.0))
def alarming_words_in_a_pass(task: Question, rng: Random) -> Draft:
    """The working speaks of errors, and the answer is right."""
    return _with_alarm(task, rng, task.answer)


def _with_alarm(task: Question, rng: Random, answer: str) -> Draft:
    words = rng.choice(ALARMS)
    draft = answered(task, rng, answer, f"{words} {closing(task, rng, answer)}")
    draft.mark(words)
    return draft


@mechanism("single", kind="harmless", doses=(0.5,), may=("ANS001",))
def cut_after_the_answer(task: Question, rng: Random) -> Draft:
    """The output ends at the token limit, after the right answer was given."""
    draft = answered(task, rng, task.answer, f"{closing(task, rng, task.answer)}\n\nOne might also")
    draft.response = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
    draft.mark("max_output_tokens", "response.incomplete_details.reason")
    return draft


HEDGES = (
    "I can't be fully certain without the original report, but the text settles it.",
    "I am unable to check this against other sources; from the text alone it is clear.",
    "Normally I would not answer from so little, yet here it is enough.",
)


@mechanism("single", cause=Cause.KNOWLEDGE, kind="harmless", doses=(1.0,), may=("TSK008",))
def hedged_and_wrong(task: Question, rng: Random) -> Draft:
    """The model hedges as a declining one would, and then gives wrong answers that differ."""
    words = rng.choice(HEDGES)
    answer = rng.choice(task.wrong)
    draft = answered(task, rng, answer, f"{words} {closing(task, rng, answer)}")
    draft.mark(words)
    return draft


RETRIES = (
    "HTTP 503 from the endpoint, second attempt succeeded",
    "rate limited for 2 s",
    "connection reset by peer; resumed",
    "timeout after 60 s, tried again",
)


@mechanism("single", cause=Cause.UNRELIABLE, kind="harmless", doses=(0.5, 0.75))
def retried_by_the_harness(task: Question, rng: Random) -> Draft:
    """The harness notes that a first request failed; the reply came, and its answer is plainly wrong."""
    draft = answered(task, rng, rng.choice(task.wrong))
    words = rng.choice(RETRIES)
    draft.fields |= {"num_retries": 1, "retry_note": words}
    draft.mark(words, "retry_note")
    return draft
