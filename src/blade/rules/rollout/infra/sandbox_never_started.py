"""The sandbox, container or environment of the rollout could not be started, and no tool ever worked.

Why it matters
    The agent had nothing to work in. The rollout says nothing about the model.

What to do
    Read the error: a missing image, a full host and a quota are the usual reasons. Mend it and run these rollouts again.

Limits
    Told from the words of the error and of the first results, or from one trouble in the same words as the answer to
    all commands, whatever they asked for; three of them, or two of which one only looks. A sandbox that dies later is not
    counted. An error about the sandbox of the verifier is worded in the same way, and is counted.
"""

import re
from collections.abc import Iterator

from blade.model.finding import LONGEST_QUOTE, Cause, Evidence
from blade.model.rollout import Features, Rollout, Step
from blade.rules.declaration import rule
from blade.rules.error_words import error_words, reports_trouble, runs_code, said_to_all
from blade.rules.phrases import any_of

_BOX = r"(?:sandbox|container|docker|pod|environment|runtime|virtual machine|vm|microvm|workspace)(?:es|s)?"
_START = (
    r"(?:start|create|launch|provision|spawn|initiali[sz]e|boot|bootstrap|allocate|build|set up|bring up|acquire|starting|creating|"
    r"launching|provisioning|spawning|initiali[sz]ing|booting|allocating|building|setting up|acquiring)"
)
PHRASES = (
    rf"\b(?:failed|unable|failure|cannot|can't|could not|couldn't|error|timed out|timeout)(?: to| while| when| in)?:? {_START}(?: \w+){{0,2}} {_BOX}\b",
    rf"\b{_BOX}(?: \w+){{0,2}} (?:failed|was unable|could not|did not|never|unable)(?: to)?(?: be)? (?:start|created|started|create|launch|boot|initiali[sz]e|become ready|come up|provisioned|built)",
    rf"\b{_BOX} (?:creation|startup|start|start-up|launch|provisioning|initiali[sz]ation|setup|build) (?:failed|failure|error|timed out|timeout)",
    rf"\b{_BOX}(?: \S+){{0,2}} (?:is|was)(?: still)? not (?:running|ready|up|started|healthy)\b",
    r"\bOCI runtime (?:create|exec) failed\b",
    r"\bcannot connect to the docker daemon\b",
    r"\b(?:ImagePullBackOff|ErrImagePull|CrashLoopBackOff)\b",
    r"\b(?:no such image|pull access denied|manifest unknown|manifest for \S+ not found)\b",
    r"\bno (?:sandbox|sandboxes|container|containers|runtime) (?:is |are |was )?(?:available|attached|running)\b",
)
"""What a result says of a sandbox that is not there."""
_THING = (
    r"(?:sandbox|container|docker|podman|apptainer|singularity|kubernetes|pod|environment|runtime|virtual machine|vm|microvm|"
    r"workspace|image|harness|hypervisor|nodes|devbox|daytona|modal|e2b)"
)
_BROKEN = (
    r"(?:fail|error|timeout|timed.?out|not.(?:ready|start|running|found|available|healthy|be)|never|unable|could.not|couldn.t|cannot|"
    r"can.t|stuck|pending|abort|crash|unavailable|no.such|denied|exit.code|exited|unknown|busy|refused)"
)
ERRORS = (rf"{_THING}.{{0,80}}{_BROKEN}", rf"{_BROKEN}.{{0,80}}{_THING}", *PHRASES)
"""What an error of the harness says: broad, because the agent did nothing that it could speak of."""
HEAD = 600
"""Characters at the start of a result or of an error in which the reason is expected."""
FIRST = 3
"""Results in which it is looked for."""
ENOUGH = 3
"""Commands with one answer; two where one of them cannot fail for reasons of its own."""
MOST = 20
"""Results of a rollout in which one answer to all is looked for, unless all of them are marked as errors."""

_not_started = any_of(PHRASES)
_no_sandbox = any_of(ERRORS)
_no_thing = re.compile(r"environment variable|\b(?:judge|verifier|grader)\b", re.IGNORECASE)
_own_doing = re.compile(r"\b(?:docker|podman|kubectl|minikube|vagrant|venv|virtualenv|conda)\b", re.IGNORECASE)
"""Words in a call that show that the agent started something of its own."""
_changes_folder = re.compile(r"\bcd [^&;]+(?:&&|;)\s*")
_first_word = re.compile(r"^\W*\w+\W+([\w./-]+)")
_only_looks = re.compile(r"\b(?:ls|pwd|whoami|id|echo|date|uname|env|hostname|true|git status)\b")
"""Commands that work in every sandbox that is there."""


def _nobody_acted(features: Features) -> bool:
    """Every result is an error, or nobody said or called anything; a few short results may all be one error without a mark."""
    silent = features.agent_messages == 0 and features.calls == 0
    few = 1 < features.results <= MOST and features.long_results == 0
    return few or (features.results == features.tool_errors and (features.tool_errors > 0 or silent))


@rule(
    "INF005",
    scope="rollout",
    suggests=Cause.INFRA,
    kind="direct",
    reads=("steps|error", "error|steps"),
    when=_nobody_acted,
    phrases=PHRASES,
    within="errors",
    status="stable",
)
def sandbox_never_started(rollout: Rollout) -> Iterator[Evidence]:
    steps = rollout.steps or ()
    results = [step for step in steps if step.kind == "result"]
    if _one_answer_to_all(steps, results):
        for step in results[:FIRST]:
            quote = step.text.strip()[:LONGEST_QUOTE].strip()
            yield Evidence(key=rollout.key, step=step.index, field="text", quote=quote)
        return
    spoke = any(step.party == "agent" and step.kind == "message" and step.text.strip() for step in steps)
    if not all(map(_is_error, results)) or ((spoke or rollout.calls) and not results):
        return
    told = {id(step): found for step in results[:FIRST] if (found := _not_started.search(step.text[:HEAD]))}
    error = rollout.error or ""
    words = _no_sandbox if all(step.failed for step in results) else _not_started
    found = None if _no_thing.search(error) else words.search(error[:HEAD])
    if found:
        yield Evidence(key=rollout.key, step=None, field="error", quote=_around(error, found))
    own = {step.index for step in steps if step.kind == "call" and _own_doing.search(step.arguments or "")}
    for step in results[:FIRST]:
        if id(step) in told and step.answers not in own:
            yield Evidence(key=rollout.key, step=step.index, field="text", quote=_around(step.text, told[id(step)]))


def _one_answer_to_all(steps: tuple[Step, ...], results: list[Step]) -> bool:
    """Whether all commands of a sandbox, unlike each other, got one and the same trouble for an answer."""
    calls = [step for step in steps if step.kind == "call"]
    if not any(runs_code(step.tool or "") for step in calls) or not reports_trouble(said_to_all(steps)):
        return False
    if len(results) > MOST and not all(step.failed for step in results):
        return False
    programs = {(step.tool, _program(step.arguments)) for step in calls}
    own = len(programs) < 2 or any(_own_doing.search(step.arguments or "") for step in calls)
    looks = any(_only_looks.search(step.arguments or "") for step in calls)
    return not own and (looks or len(results) >= ENOUGH)


def _program(arguments: str | None) -> str:
    """The first word of a command, behind a change of folder: what one program of the agent's says is its own affair."""
    found = _first_word.search(_changes_folder.sub("", arguments or ""))
    return found[1] if found else ""


def _is_error(step: Step) -> bool:
    """Whether a result is an error; of a tool that runs code also by what it says of its sandbox."""
    if error_words(step):
        return True
    return runs_code(step.tool or "") and len(step.text) <= HEAD and _not_started.search(step.text) is not None


def _around(text: str, found: re.Match[str]) -> str:
    begin = max(0, found.end() - LONGEST_QUOTE)
    return text[begin : begin + LONGEST_QUOTE].strip()
