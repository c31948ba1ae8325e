"""Question and answer: endpoints, judges and files that fail, whatever the model."""

from __future__ import annotations

from random import Random

from blade.model.finding import Cause
from proof.simulate.draft import Draft
from proof.simulate.mechanism import mechanism
from proof.simulate.single import Question, answered, closing

OUTAGES = (
    {"code": "server_error", "message": "The model produced an error while processing your request. Please retry."},
    {"type": "overloaded_error", "message": "Overloaded"},
    {"code": 502, "message": "Bad gateway: upstream closed the stream before headers were sent"},
    {"message": "EngineDeadError: the inference engine stopped, see the worker's log"},
    {"code": "ServiceUnavailableException", "message": "Bedrock is unable to process your request."},
    {"message": "httpx.ConnectTimeout: timed out while connecting to 10.2.0.17:8000"},
)


@mechanism("single", mode="provider-failed", cause=Cause.INFRA, must=("INF001",), may=("INF006", "ANS005", "INF002"))
def endpoint_failed(task: Question, rng: Random) -> Draft:
    """The model's endpoint fails before a word is written, and a reward of 0 is recorded."""
    error = rng.choice(OUTAGES)
    fields = rng.choice(({"extracted_answer": None}, {}))
    draft = Draft(items=[], reward=0.0, fields=dict(fields), response={"error": error, "status": "failed"})
    draft.mark(str(error["message"]), "response.error.message")
    return draft


LOST = (
    {"_ng_failure_class": "transient", "error": "connection reset by peer"},
    {"_ng_failure_class": "remote_agent_error", "error": "agent server answered 500"},
    {"_ng_failure_class": "judge_failed", "_ng_failure_judge_error": "TimeoutError: no reply within 600 s"},
    {"_ng_failure_class": "incomplete"},
)


@mechanism(
    "single",
    mode="agent-crashed",
    modes_too=(
        "provider-failed",
        "missing-row",
        "grader-hung",
        "grader-did-not-run",
        "no-verdict",
        "environment-failed",
        "run-error",
        "grader-crashed",
    ),
    cause=Cause.INFRA,
    may=("INF001", "ANS005"),
)
def lost_to_the_failures_file(task: Question, rng: Random) -> Draft:
    """The runner gives a rollout up and keeps it among the failures."""
    draft = answered(task, rng, task.answer)
    draft.reward, draft.kept = 0.0, "failures"
    draft.fields = dict(rng.choice(LOST))
    return draft


@mechanism("single", mode="missing-row", doses=(1.0,))
def never_written(task: Question, rng: Random) -> Draft:
    """The rows of a task are gone: nobody can say why it failed."""
    draft = answered(task, rng, task.answer)
    draft.kept = "nowhere"
    return draft


JUDGE_DOWN = (
    "TimeoutError: the judge model did not reply within 120 s",
    "openai.APIConnectionError: Connection error.",
    "judge endpoint returned HTTP 503",
    "could not reach grading service: [Errno 111] Connection refused",
)


@mechanism(
    "single",
    mode="grader-did-not-run",
    modes_too=("grader-crashed", "grader-hung", "no-verdict"),
    cause=Cause.INFRA,
    may=("TSK012", "TSK013", "TSK016", "INF001", "INF002", "INF004", "INF007"),
)
def judge_unreachable(task: Question, rng: Random) -> Draft:
    """The judge cannot be reached, and a reward of 0 is recorded."""
    draft = answered(task, rng, task.answer, closing(task, rng, task.answer))
    words = rng.choice(JUDGE_DOWN)
    draft.reward = 0.0
    draft.fields["judge_error"] = words
    draft.mark(words, "judge_error")
    return draft


@mechanism(
    "single",
    mode="provider-failed",
    modes_too=("agent-crashed", "missing-row", "agent-not-installed", "no-agent-output"),
    cause=Cause.INFRA,
    may=("INF006", "ANS002", "ANS005"),
)
def reply_lost(task: Question, rng: Random) -> Draft:
    """The reply never arrives: the trajectory is empty and no error is recorded."""
    return Draft(items=[], reward=0.0, fields={"extracted_answer": rng.choice((None, ""))})
