"""The sandbox, container or environment of the rollout could not be started, and no tool ever worked.

Why it matters
    The agent had nothing to work in. The rollout says nothing about the model.

What to do
    Read the error: a missing image, a full host and a quota are the usual reasons. Mend it and run these rollouts again.

Limits
    Told from the words of the error and of the first results. A sandbox that dies later is not counted. An error about
    the sandbox of the verifier is worded in the same way, and is counted.
"""

import re
from collections.abc import Iterator

from blade.core.finding import LONGEST_QUOTE, Cause, Evidence
from blade.core.rollout import Features, Rollout
from blade.detectors._engine import detector
from blade.detectors._phrases import any_of

_BOX = r"(?:sandbox|container|docker|pod|environment|runtime|virtual machine|vm|workspace)(?:es|s)?"
_START = (
    r"(?:start|create|launch|provision|spawn|initiali[sz]e|boot|allocate|build|set up|acquire|starting|creating|launching|"
    r"provisioning|spawning|initiali[sz]ing|booting|allocating|building|setting up|acquiring)"
)
PHRASES = (
    rf"\b(?:failed|unable|failure|cannot|can't|could not|couldn't|error|timed out|timeout)(?: to| while| when| in)?:? {_START}(?: \w+){{0,2}} {_BOX}\b",
    rf"\b{_BOX}(?: \w+){{0,2}} (?:failed|was unable|could not|did not|never|unable)(?: to)?(?: be)? (?:start|created|started|create|launch|boot|initiali[sz]e|become ready|come up|provisioned|built)",
    rf"\b{_BOX} (?:creation|startup|start|start-up|launch|provisioning|initiali[sz]ation|setup|build) (?:failed|failure|error|timed out|timeout)",
    r"\b(?:Sandbox|Container|Environment|Runtime|Docker)(?:Creat(?:e|ion)|Start(?:up)?|Build|Launch|Init(?:iali[sz]ation)?|Setup|Provision(?:ing)?)(?:Timeout)?(?:Error|Exception|Failed|Failure)\b",
    r"\bAgentRuntime(?:Unavailable|NotReady|Build|NotFound)Error\b",
    r"\bOCI runtime (?:create|exec) failed\b",
    r"\bcannot connect to the docker daemon\b",
    r"\b(?:ImagePullBackOff|ErrImagePull|CrashLoopBackOff)\b",
    r"\b(?:no such image|pull access denied|manifest unknown|manifest for \S+ not found)\b",
    r"\bno (?:sandbox|sandboxes|container|containers|runtime) (?:is |are )?available\b",
)
HEAD = 600
"""Characters at the start of a result or of an error in which the reason is expected."""
FIRST = 3
"""Results in which it is looked for."""

_not_started = any_of(PHRASES)
_own_doing = re.compile(r"\b(?:docker|podman|kubectl|minikube|vagrant|venv|virtualenv|conda)\b", re.IGNORECASE)
"""Words in a call that show that the agent started something of its own."""


def _nothing_worked(features: Features) -> bool:
    """Every result is an error, or nobody said or called anything."""
    silent = features.agent_messages == 0 and features.calls == 0
    return features.results == features.tool_errors and (features.tool_errors > 0 or silent)


@detector("INF005", suggests=Cause.INFRA, kind="direct", reads=("steps|error", "error|steps"), when=_nothing_worked)
def sandbox_never_started(rollout: Rollout) -> Iterator[Evidence]:
    steps = rollout.steps or ()
    results = [step for step in steps if step.kind == "result"]
    spoke = any(step.party == "agent" and step.kind == "message" and step.text.strip() for step in steps)
    if any(not step.failed for step in results) or ((spoke or rollout.calls) and not results):
        return
    told = {id(step): found for step in results[:FIRST] if (found := _not_started.search(step.text[:HEAD]))}
    if rollout.error and (found := _not_started.search(rollout.error)):
        yield Evidence(key=rollout.key, step=None, field="error", quote=_around(rollout.error, found))
    own = {step.index for step in steps if step.kind == "call" and _own_doing.search(step.arguments or "")}
    for step in results[:FIRST]:
        if id(step) in told and step.answers not in own:
            yield Evidence(key=rollout.key, step=step.index, field="text", quote=_around(step.text, told[id(step)]))


def _around(text: str, found: re.Match[str]) -> str:
    begin = max(0, found.end() - LONGEST_QUOTE)
    return text[begin : begin + LONGEST_QUOTE].strip()
