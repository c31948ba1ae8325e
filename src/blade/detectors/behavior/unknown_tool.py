"""The agent called a tool that does not exist.

Why it matters
    The turn is lost, and an agent that makes up a tool often builds its plan on what that tool would do.

What to do
    Check that the tools of the prompt are those that the harness offers, under the same names; list them in the error.

Limits
    Told from the words of the result: a harness that answers in others, drops such calls or ends the rollout is missed.
    A tool that the harness forgot to offer looks the same as one that the agent made up.
"""

from collections.abc import Iterator

from blade.core.finding import Cause, Evidence
from blade.core.rollout import Rollout, Step
from blade.detectors._engine import detector
from blade.detectors._phrases import any_of

SURE = (
    r"\b(?:unknown|unrecogni[sz]ed|invalid|nonexistent|non-existent|unregistered|unavailable|no such) tool(?: name| call)?\b",
    r"\bis not (?:a |an |one of the )?(?:valid|known|available|registered|recogni[sz]ed|existing) tools?\b",
    r"\bno tool (?:named|called|with name|with the name|by the name|found)\b",
    r"\btool not (?:found|recogni[sz]ed|registered)\b",
)
"""Words that speak of the tool itself."""
NAMED = (
    r"\b(?:unknown|unrecogni[sz]ed|undefined|no such) (?:function|action|method)\b",
    r"\b(?:tool|function|action|method)(?: with name| named)?:? ['`<]?[\w.:-]+['`>]? (?:is |was |could |does |do |is currently )?(?:not|n't)(?: be)? (?:found|exist|available|recogni[sz]ed|registered|defined|known|a valid)\b",
    r"\b(?:function|action|method) not (?:found|recogni[sz]ed|registered)\b",
    r"\bis not (?:a |an )?(?:valid|known|available|registered|recogni[sz]ed|defined) (?:function|action|method|command name)s?\b",
    r"\bdon't exist, these are the only available\b",
)
"""Words that may be about a function of a query or a step in a game: they count when the result names the tool."""
HEAD = 300
"""Characters at the start of a result in which an error is expected."""

_sure = any_of(SURE)
_named = any_of(NAMED)


@detector("BEH007", suggests=Cause.BEHAVIOR, kind="associated", reads=("steps",), when=lambda f: f.tool_errors > 0)
def unknown_tool(rollout: Rollout) -> Iterator[Evidence]:
    for step in rollout.steps or ():
        if step.kind == "result" and step.failed and _denies(step):
            yield Evidence(key=rollout.key, step=step.index, field="text", quote=step.text[:HEAD].strip())


def _denies(step: Step) -> bool:
    """Whether a result says that its tool does not exist; a list of tools or a page that says so of others does not."""
    head = step.text[:HEAD].lower()
    named = bool(step.tool) and (step.tool or "").lower() in head and _named.search(head) is not None
    return named or ("tool" in head and _sure.search(head) is not None)
