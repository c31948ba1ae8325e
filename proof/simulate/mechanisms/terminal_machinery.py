"""Terminal work: agents that never start, containers, services and graders that fail, whatever the agent does."""

from __future__ import annotations

from random import Random

from blade.model.finding import Cause
from proof.simulate.draft import Draft, said
from proof.simulate.graders import missing_file, own_mistake, test_file
from proof.simulate.mechanism import mechanism
from proof.simulate.terminal import Job, graded, looked, raises, shell, stamps, work, wrote

NO_AGENT = (
    "+ npm install -g @lab/coder\nnpm ERR! code ENOSPC\nnpm ERR! nospc There is not enough space in the file system\nbash: line 3: coder: command not found\n",
    "bash: line 1: /srv/.local/bin/agent-cli: No such file or directory\n",
    "Traceback (most recent call last):\n  File \"/usr/lib/agent/__main__.py\", line 4, in <module>\n    from agent.loop import run\nModuleNotFoundError: No module named 'agent'\n",
    "curl: (6) Could not resolve host: downloads.lab.test\nsh: 2: coder: not found\n",
    "/usr/bin/env: 'node': No such file or directory\n",
)


def unstarted(task: Job, rng: Random, log: str, state: str = "normal") -> Draft:
    """A rollout in which nobody worked: the grader finds nothing."""
    draft = graded(task, rng, [], raises(task, missing_file(task.runner, task.output)))
    draft.fields |= {"agent_log": log, "failure_mode": state, "steps_taken": 0, "model_patch": ""}
    draft.fields |= stamps(task, rng, agent=rng.choice((0.002, 0.004)))
    return draft


@mechanism("terminal", mode="agent-not-installed", modes_too=("agent-crashed", "environment-failed"), cause=Cause.INFRA)
def agent_command_missing(task: Job, rng: Random) -> Draft:
    """The agent program is not there, so that it never starts; the grader finds nothing and says no."""
    words = rng.choice(NO_AGENT)
    draft = unstarted(task, rng, words, rng.choice(("normal", "normal", "agent_error")))
    draft.mark(words, "agent_log")
    return draft


@mechanism(
    "terminal",
    mode="agent-not-installed",
    modes_too=("no-agent-output", "agent-crashed", "provider-failed", "environment-failed"),
    cause=Cause.INFRA,
)
def nothing_of_the_agent(task: Job, rng: Random) -> Draft:
    """The agent left no word, no call and no log, and nothing says why; every other rollout has some."""
    return unstarted(task, rng, "")


RUNTIME = (
    "node:events:498\n      throw er; // Unhandled 'error' event\n      ^\n\nError: spawn ps ENOENT\n    at ChildProcess._handle.onexit (node:internal/child_process:285:19)\n    at onErrorNT (node:internal/child_process:483:16)\n\nNode.js v22.4.0\n",
    'Traceback (most recent call last):\n  File "/usr/lib/agent/lib/loop.py", line 212, in step\n    reply = self.stream.send(message)\n  File "/usr/lib/agent/lib/stream.py", line 88, in send\n    raise FrameError(header)\nagent.stream.FrameError: bad length 0\n',
    'Exception in thread "main" java.lang.IllegalStateException: session closed\n\tat lab.agent.Session.next(Session.java:141)\n\tat lab.agent.Main.main(Main.java:37)\n',
    "thread 'main' panicked at agent/src/tui.rs:77:14:\ncalled `Option::unwrap()` on a `None` value\nnote: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n",
    "FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory\n----- Native stack trace -----\n 1: 0xb8ced1 node::OOMErrorHandler\nAborted (core dumped)\n",
)


@mechanism("terminal", mode="agent-crashed", cause=Cause.INFRA)
def agent_program_crashed(task: Job, rng: Random) -> Draft:
    """The agent program dies in the middle of a call, with a stack trace of its own and then a prompt."""
    words = rng.choice(RUNTIME)
    begun = [*looked(task, rng), *shell(rng, f"ls {task.output}", "")][:-1]
    draft = graded(task, rng, begun, raises(task, missing_file(task.runner, task.output)))
    draft.fields["agent_log"] = f"{draft.fields['agent_log']}\n{words}root@box:/app# "
    draft.fields["failure_mode"] = rng.choice(("normal", "agent_error"))
    draft.mark(words, "agent_log")
    return draft


NO_BUILD = (
    'failed to solve: process "/bin/sh -c apt-get update && apt-get install -y tmux" did not complete successfully: exit code: 100',
    "Error response from daemon: pull access denied for bench/box, repository does not exist or may require 'docker login'",
    'E: Failed to fetch http://deb.debian.org/debian/pool/main/t/tmux.deb  502  Bad Gateway\nERROR: service "client" failed to build',
    "compose: container box-1 is unhealthy: dependency failed to start",
    'OCI runtime create failed: unable to start container process: exec: "/entry.sh": permission denied',
)


def ungraded(task: Job, rng: Random, draft: Draft, log: str | None, state: str = "normal") -> Draft:
    """The rollout with a grader that reached no check."""
    draft.reward, draft.mode = 0.0, "no-verdict"
    draft.fields |= {"checks": rng.choice((None, {})), "grader_log": log, "failure_mode": state}
    return draft


@mechanism("terminal", mode="environment-failed", cause=Cause.INFRA)
def container_not_built(task: Job, rng: Random) -> Draft:
    """The container is not built: no agent, no checks, only the builder's error."""
    words = rng.choice(NO_BUILD)
    draft = ungraded(task, rng, graded(task, rng, [], ()), None, rng.choice(("normal", "env_error")))
    draft.fields |= stamps(task, rng, agent=None, grading=None)
    draft.fields |= {"agent_log": "", "error": words, "steps_taken": 0, "model_patch": None}
    draft.mark(words, "error")
    return draft


NO_INSTALL = (
    "E: Unable to locate package python3-venv\nbash: /tests/venv/bin/pytest: No such file or directory\n",
    "ERROR: Could not find a version that satisfies the requirement pytest==8.4.1 (from versions: none)\nERROR: No matching distribution found for pytest==8.4.1\n/tests/run.sh: line 9: pytest: command not found\n",
    "curl: (28) Failed to connect to astral.test port 443 after 130012 ms: Connection timed out\n/tests/run.sh: line 5: uv: command not found\n",
    "npm ERR! network request to https://registry.npmjs.org/jest failed, reason: getaddrinfo EAI_AGAIN registry.npmjs.org\nsh: 1: jest: not found\n",
    "error: failed to download from `https://index.crates.io/config.json`\n\nCaused by:\n  [7] Couldn't connect to server\n",
    "go: github.com/stretchr/testify@v1.9.0: dial tcp: lookup proxy.golang.org: no such host\nFAIL\tbench/tests [setup failed]\n",
)


@mechanism("terminal", mode="grader-did-not-run", modes_too=("no-verdict",), cause=Cause.INFRA)
def grader_install_failed(task: Job, rng: Random) -> Draft:
    """The grader cannot install its test runner, so that no check ran; a 0 is recorded."""
    words = rng.choice(NO_INSTALL)
    draft = ungraded(task, rng, graded(task, rng, work(task, rng), ()), words)
    draft.mark(words, "grader_log")
    return draft


HANGS = (
    "===== test session starts =====\ncollecting ... ",
    "collected 4 items\n\n../tests/test_outputs.py ",
    "=== RUN   TestStartup\n",
    "     Running tests/outputs.rs\n\nrunning 4 tests\n",
    "RUNS tests/outputs.test.js\n",
)


@mechanism("terminal", mode="grader-hung", modes_too=("no-verdict", "grader-did-not-run"), cause=Cause.INFRA)
def grader_hung(task: Job, rng: Random) -> Draft:
    """The grader begins and never ends: its log stops, and its stamps are its whole limit apart."""
    words = rng.choice(HANGS)
    draft = ungraded(task, rng, graded(task, rng, work(task, rng), ()), words, rng.choice(("normal", "grader_timeout")))
    draft.fields |= stamps(task, rng, agent=0.3, grading=900.0)
    draft.mark(words, "grader_log")
    return draft


def broke(task: Job, rng: Random) -> str:
    """How a grader fails in its own code."""
    at = test_file(task.runner)
    return rng.choice(
        (
            f"INTERNALERROR> Traceback (most recent call last):\nINTERNALERROR>   File \"/grader/plugin.py\", line 40, in pytest_sessionstart\nINTERNALERROR> KeyError: 'TASK_{task.nonce}'\n",
            'Traceback (most recent call last):\n  File "/grader/collect.py", line 19, in <module>\n    report = parse(out)\n  File "/grader/collect.py", line 11, in parse\n    raise ValueError("no summary line")\nValueError: no summary line\n',
            f'{at}: error while loading checks\n/grader/setup.js:14\n    const spec = require(process.env.SPEC)\nTypeError [ERR_INVALID_ARG_TYPE]: The "id" argument must be of type string. Received undefined\n    at /grader/setup.js:14:18\n',
            "panic: assignment to entry in nil map\n\ngoroutine 1 [running]:\nmain.tally(...)\n\t/grader/main.go:52\nexit status 2\n",
        )
    )


@mechanism("terminal", mode="grader-crashed", modes_too=("grader-did-not-run", "no-verdict"), cause=Cause.INFRA)
def grader_broke_off(task: Job, rng: Random) -> Draft:
    """The grader raises in its own code before the first check."""
    words = broke(task, rng)
    draft = ungraded(task, rng, graded(task, rng, work(task, rng), ()), words)
    draft.mark(words, "grader_log")
    return draft


@mechanism("terminal", mode="no-verdict", modes_too=("grader-did-not-run",), cause=Cause.INFRA)
def ended_before_grading(task: Job, rng: Random) -> Draft:
    """The run was stopped after the agent had finished: no grader, no checks, no stamp of grading."""
    draft = ungraded(task, rng, graded(task, rng, work(task, rng), ()), None)
    draft.fields |= stamps(task, rng, agent=0.4, grading=None)
    return draft


UNREACHABLE = (
    "curl: (22) The requested URL returned error: 502",
    "curl: (6) Could not resolve host: {host}",
    "fatal: unable to access 'http://{host}/r.git/': Failed to connect to {host} port 80: No route to host",
    "wget: can't connect to remote host ({host}): Connection timed out",
    "<html><head><title>503 Service Temporarily Unavailable</title></head><body>nginx</body></html>",
)
GAVE_UP = (
    "The host that holds the input does not answer, so I could not finish this.",
    "Every request to the data service failed. Nothing was written.",
    "I tried several times; the server is not reachable from here.",
)


@mechanism("terminal", mode="service-unavailable", modes_too=("environment-failed",), cause=Cause.INFRA)
def data_service_down(task: Job, rng: Random) -> Draft:
    """The host that the work needs is not reachable, for the agent and for the checks."""
    host = f"data-{task.nonce}.bench.test"
    words = rng.choice(UNREACHABLE).format(host=host)
    tries = [
        item
        for command in (f"curl -fsS http://{host}/input", f"wget -qO- http://{host}/input", f"curl -v {host}")
        for item in shell(rng, command, words)
    ]
    items = [*looked(task, rng), *tries, said(rng.choice(GAVE_UP))]
    draft = graded(task, rng, items, raises(task, f"{host}: {words.splitlines()[0]}"))
    draft.mark(words)
    return draft


NO_MODEL = (
    'API Error: 529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}',
    "API Error: 401 invalid x-api-key",
    "Error: 402 Payment Required: credit balance is too low",
    "litellm.exceptions.ServiceUnavailableError: upstream connect error or disconnect/reset before headers",
    "stream error: the model endpoint closed the connection (attempt 10 of 10)",
)


@mechanism("terminal", mode="provider-failed", modes_too=("agent-crashed",), cause=Cause.INFRA)
def model_never_answered(task: Job, rng: Random) -> Draft:
    """The agent started, and every call of the model failed."""
    words = rng.choice(NO_MODEL)
    draft = unstarted(task, rng, f"agent 2.1 starting in /app\n{words}\n")
    draft.items = [said(words)]
    draft.mark(words)
    return draft


@mechanism("terminal", doses=(0.5,), doubtful=True)
def passed_without_a_model(task: Job, rng: Random) -> Draft:
    """No call of the model succeeded, and the checks hold all the same: output of an earlier attempt was there."""
    words = rng.choice(NO_MODEL)
    draft = graded(task, rng, [], ())
    draft.items = [said(words)]
    draft.fields |= {"agent_log": f"{words}\n", "steps_taken": 0, "model_patch": ""}
    draft.mark(words)
    return draft


@mechanism("terminal", doses=(0.5,), doubtful=True)
def skipped_and_passed(task: Job, rng: Random) -> Draft:
    """Checks of what was asked for were skipped, and count as passed."""
    return graded(task, rng, [*looked(task, rng), *wrote(task, rng), said("Done.")], (), task.due[1:])


@mechanism(
    "terminal",
    mode="grader-crashed",
    modes_too=("test-cannot-pass", "grader-did-not-run"),
    party="verifier",
    cause=Cause.TASK,
    doses=(1.0,),
)
def every_check_raises_itself(task: Job, rng: Random) -> Draft:
    """Each check raises the same mistake of its own code, whatever was written."""
    return graded(task, rng, work(task, rng), raises(task, own_mistake(task.runner), task.checks))


@mechanism(
    "terminal",
    mode="unattributed",
    modes_too=("agent-crashed", "output-missing", "no-action", "handed-back", "some-checks-failed"),
    settled=False,
    doses=(0.5, 0.75),
    rest="pass",
)
def session_just_ends(task: Job, rng: Random) -> Draft:
    """The session ends after a result that is in order, early, without a last word and without an error: nobody can say why."""
    return graded(task, rng, looked(task, rng), raises(task, missing_file(task.runner, task.output)))
