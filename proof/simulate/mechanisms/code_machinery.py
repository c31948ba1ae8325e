"""Code: sandboxes and harnesses that fail, whatever the agent does."""

from __future__ import annotations

from random import Random

from blade.model.finding import Cause
from proof.simulate.code import Issue, edited, handed_in, read, work
from proof.simulate.draft import Draft, called, said
from proof.simulate.mechanism import mechanism

NO_SANDBOX = (
    "Error: container could not be created: manifest for registry.local/bench/task:2 not found",
    "docker: Error response from daemon: no space left on device",
    "sandbox unavailable: pod stayed in Pending for 300 s",
    "Failed to start environment: quota for machines is used up",
    "singularity: FATAL: could not open image task.sif",
    "E2B: sandbox create timed out",
)
SAYS_SO = (
    "None of my commands run, so I cannot look at the repository.",
    "The environment does not come up. I have to stop here.",
    "I could not work on this, because no machine was available.",
)


@mechanism(
    "code",
    mode="environment-failed",
    modes_too=("service-unavailable",),
    cause=Cause.INFRA,
    must=("INF005",),
    may=("ANS005", "BEH012", "INF004", "BEH001", "BEH002", "BEH005"),
)
def no_sandbox(task: Issue, rng: Random) -> Draft:
    """The sandbox never starts: every command comes back with the same error."""
    words = rng.choice(NO_SANDBOX)
    commands = ("ls", f"cat {task.path}", "pwd", "git status")
    items = [item for one in commands[: rng.randint(2, 4)] for item in called(rng, "bash", {"command": one}, words)]
    draft = handed_in(task, rng, [*items, said(rng.choice(SAYS_SO))], task.aspects)
    draft.fields["model_patch"] = ""
    draft.mark(words)
    return draft


DIES = (
    "sandbox connection lost: websocket closed (1006)",
    "Error: container 4f2a exited unexpectedly (137)",
    "the execution environment has been terminated by the host",
)


@mechanism(
    "code",
    mode="environment-failed",
    modes_too=("service-unavailable", "agent-crashed"),
    cause=Cause.INFRA,
    may=("ANS005", "BEH012", "INF005", "INF004", "BEH001", "BEH002", "BEH005"),
)
def sandbox_dies(task: Issue, rng: Random) -> Draft:
    """The sandbox dies after the first look, and no later command works; the harness says so."""
    words = rng.choice(DIES)
    dead = [item for one in ("ls src", "git diff", "pwd") for item in called(rng, "bash", {"command": one}, words)]
    draft = handed_in(task, rng, [*read(task, rng), *dead, said(rng.choice(SAYS_SO))], task.aspects)
    draft.fields |= {"model_patch": "", "error": words}
    draft.mark(words)
    return draft


@mechanism("code", mode="grader-did-not-run", modes_too=("no-verdict",), cause=Cause.INFRA, may=("TSK013",))
def evaluation_never_ran(task: Issue, rng: Random) -> Draft:
    """The patch was handed in; the harness ran out of time or machines before a test was run."""
    draft = handed_in(task, rng, work(task, rng, ()), ())
    words = rng.choice(
        (
            "evaluation container did not start within 1800 s",
            "eval worker lost: node drained by the scheduler",
            "could not pull the evaluation image (i/o timeout)",
        )
    )
    draft.reward = 0.0
    draft.fields = {"resolved": False, "model_patch": draft.fields["model_patch"], "evaluation_error": words}
    draft.mark(words, "evaluation_error")
    return draft


@mechanism(
    "code",
    mode="run-error",
    modes_too=("agent-crashed", "missing-row", "environment-failed", "provider-failed", "no-verdict", "time-limit"),
    cause=Cause.INFRA,
    may=("INF001",),
)
def killed_by_the_host(task: Issue, rng: Random) -> Draft:
    """The runner kills the rollout for reasons of its own, and keeps it among the failures."""
    draft = handed_in(task, rng, [*read(task, rng), *edited(task, rng, ())], task.aspects)
    draft.kept = "failures"
    draft.fields = {"_ng_failure_class": rng.choice(("timeout_exceeded", "transient", "remote_agent_error"))}
    return draft
