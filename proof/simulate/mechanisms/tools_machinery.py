"""Customer service: backends, providers and harnesses that fail, whatever the agent does."""

from __future__ import annotations

from random import Random

from blade.model.finding import Cause
from proof.simulate.draft import Draft, Item, called, said, user
from proof.simulate.mechanism import mechanism
from proof.simulate.tools import Case, agreed, finished, first_words, known, looked_up, talk

DOWN = (
    "Error: connect ECONNREFUSED 10.0.4.12:5432",
    '{"error": "HTTPConnectionPool(host=\'orders\', port=80): Max retries exceeded (Connection refused)"}',
    '{"status": 503, "message": "upstream order service is unavailable"}',
    "<html><head><title>502 Bad Gateway</title></head></html>",
    '{"error": "internal server error", "request_id": "9f1c"}',
    "psycopg.OperationalError: server closed the connection unexpectedly",
)
SORRY = (
    "Our order system does not answer at the moment. I am sorry.",
    "I cannot reach the records right now, so there is nothing that I can change.",
    "The system is down on our side. Please come back later.",
)


@mechanism(
    "tools",
    mode="service-unavailable",
    cause=Cause.INFRA,
    must=("INF004",),
    may=("BEH001", "BEH002", "BEH004", "BEH005"),
)
def order_service_down(task: Case, rng: Random) -> Draft:
    """Every call comes back with a refused connection or a server's error."""
    return _blocked(task, rng, DOWN, SORRY)


BUSY = (
    "429 Too Many Requests",
    '{"error": {"type": "rate_limit", "message": "quota exceeded, slow down"}}',
    '{"status": "throttled", "retry_after": 30}',
    "RESOURCE_EXHAUSTED: quota for this minute is used up",
    "Error: you have hit the request limit for this API key",
)
WAIT = (
    "The system takes no more requests just now, so I could not look at your order.",
    "I am being held back by a limit of our own tool. Please try later.",
)


@mechanism(
    "tools",
    mode="service-unavailable",
    modes_too=("provider-failed",),
    cause=Cause.INFRA,
    must=("INF002",),
    may=("BEH001", "BEH002", "BEH004", "BEH005", "INF004"),
)
def turned_away_for_load(task: Case, rng: Random) -> Draft:
    """Every call is turned away because there were too many."""
    return _blocked(task, rng, BUSY, WAIT)


def _blocked(task: Case, rng: Random, errors: tuple[str, ...], last: tuple[str, ...]) -> Draft:
    calls: list[Item] = []
    words = rng.choice(errors)
    for number in range(rng.randint(4, 6)):
        look = ("get_customer", "customer_id", task.customer) if number % 2 else ("get_order", "order_id", task.order)
        calls += called(rng, look[0], {look[1]: look[2][look[1]]}, words)
    items = [*known(task, rng), *calls, said(rng.choice(last)), user("Alright. ###STOP###")]
    draft = finished(task, rng, items, 0.0)
    draft.mark(words)
    return draft


@mechanism(
    "tools",
    mode="no-verdict",
    modes_too=("grader-did-not-run",),
    cause=Cause.INFRA,
    must=("INF003",),
    may=("TSK012", "TSK014"),
)
def all_done_and_no_verdict(task: Case, rng: Random) -> Draft:
    """Everything due was done; the verifier left no account, and a reward of 0 stands in the row."""
    draft = finished(task, rng, talk(task, rng, task.arguments), 0.0)
    draft.fields["reward_info"] = None
    return draft


DIED = (
    {"message": "stream disconnected before completion", "code": "server_error"},
    {"message": "Internal Server Error: the model worker was restarted", "code": 500},
    {"message": "litellm.APIConnectionError: peer closed connection without sending complete message body"},
    {"type": "api_error", "message": "Unexpected EOF while reading the model's reply"},
)


@mechanism(
    "tools",
    mode="provider-failed",
    modes_too=("agent-crashed",),
    cause=Cause.INFRA,
    must=("INF007",),
    may=("INF001", "INF004", "INF002"),
)
def endpoint_died_half_way(task: Case, rng: Random) -> Draft:
    """The model's endpoint fails in the middle of the talk, and a reward of 0 is recorded."""
    draft = finished(task, rng, [*known(task, rng), *looked_up(task, rng)], 0.0)
    error = rng.choice(DIED)
    draft.response = {"error": error, "status": "failed"}
    draft.fields["reward_info"] = {"reward": 0.0, "info": {"r_actions": 0.0}, "actions": list(task.due)}
    draft.mark(str(error["message"]), "response.error.message")
    return draft


@mechanism(
    "tools",
    mode="agent-crashed",
    modes_too=("provider-failed", "agent-not-installed", "no-agent-output"),
    cause=Cause.INFRA,
    must=("INF006",),
)
def agent_absent(task: Case, rng: Random) -> Draft:
    """Only the simulated user speaks; no word and no call of the agent was recorded."""
    words = [first_words(task, rng), "Hello? Is anybody there?", "I will try again later. ###STOP###"]
    return finished(task, rng, [user(one) for one in words[1:]], 0.0)


@mechanism("tools", mode="agent-crashed", modes_too=("environment-failed", "missing-row"), cause=Cause.INFRA)
def worker_killed_in_the_middle(task: Case, rng: Random) -> Draft:
    """The harness reports that its worker was killed, and the talk stops after the yes."""
    draft = finished(task, rng, [*known(task, rng), *looked_up(task, rng), *agreed(task, rng)], 0.0)
    words = rng.choice(
        (
            "worker process was killed (signal 9) while the episode was running",
            "ray.exceptions.NodeDiedError: the node that ran this episode was lost",
            "harness crashed: OSError: [Errno 28] No space left on device",
        )
    )
    draft.fields |= {"error": words}
    draft.mark(words, "error")
    return draft
