"""The backend of a tool did not work: its results report refused connections or errors of a server.

Why it matters
    The agent could not do what the task asks for, whatever it tried. The rollout says nothing about the model.

What to do
    Look at the service behind the tool at the time of the run, bring it up, and run these rollouts again.

Limits
    Three such results are counted, or two where there are no others; an agent that got through later is counted too. An
    internal error may come of arguments that the server does not expect. Tools that run what the agent writes are left
    out, since their output is that of its own programs.
"""

import re
from collections.abc import Iterator

from blade.core.finding import LONGEST_QUOTE, Cause, Evidence
from blade.core.rollout import Rollout, Step
from blade.detectors._engine import detector
from blade.detectors._phrases import any_of

PHRASES = (
    r"\bconnection (?:was |has been )?(?:refused|reset|aborted|closed by|timed out)",
    r"\bE?CONN(?:REFUSED|RESET|ABORTED)\b",
    r"\bConnection(?:Refused|Reset|Aborted)Error\b",
    r"\b(?:Connect|Read|Pool|Gateway)Timeout(?:Error)?\b",
    r"\bfailed to establish a new connection\b",
    r"\bmax retries exceeded with url\b",
    r"\ball connection attempts failed\b",
    r"\bcannot connect to host\b",
    r"\bserver disconnected\b",
    r"\bremote end closed connection\b",
    r"\bupstream (?:connect error|request timeout|server error)",
    r"\bno healthy upstream\b",
    r"\bbad gateway\b",
    r"\bgateway time-?out\b",
    r"\bservice (?:is )?(?:temporarily |currently )?unavailable\b",
    r"\binternal server error\b",
    r"\b(?:read|request) timed out\b",
    r"\btimed out (?:while |when )?(?:contacting|connecting|waiting for (?:the )?(?:server|response|backend|upstream))\b",
    r"\b(?:http|status|code|error):? 50[0234]\b",
    r"(?:status|code)\": ?\"?50[0234]\b",
)
ENOUGH = 3
FEWEST = 2
"""Results that are enough where every one of them reports it."""
HEAD = 300
"""Characters at the start of a result in which an error is expected."""
RUNS_CODE = frozenset(
    "bash shell sh terminal console powershell python ipython jupyter repl notebook command cmd code script".split()  # noqa: SIM905
)
"""Words in the names of tools whose results are the output of the agent's own programs."""
_down = any_of(PHRASES)
_part = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")


@detector("INF004", suggests=Cause.INFRA, kind="direct", reads=("steps",), when=lambda f: f.tool_errors >= FEWEST)
def tool_backend_down(rollout: Rollout) -> Iterator[Evidence]:
    results = [step for step in rollout.steps or () if step.kind == "result"]
    down = [(step, found) for step in results if (found := _report(step)) is not None]
    if len(down) < ENOUGH and not FEWEST <= len(down) == len(results):
        return
    for step, found in down:
        begin = max(0, found.end() - LONGEST_QUOTE)
        quote = step.text[begin : begin + LONGEST_QUOTE].strip()
        yield Evidence(key=rollout.key, step=step.index, field="text", quote=quote)


def _report(step: Step) -> re.Match[str] | None:
    """The words in which a result reports a failure of its backend; None where it speaks of one in passing."""
    if not step.failed or _runs_code(step.tool or ""):
        return None
    return _down.search(step.text[:HEAD])


def _runs_code(tool: str) -> bool:
    return not RUNS_CODE.isdisjoint(word.lower() for word in _part.findall(tool))
