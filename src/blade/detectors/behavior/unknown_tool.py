"""The agent called a tool that does not exist.

Why it matters
    The turn is lost, and an agent that makes up a tool often builds its plan on what that tool would do.

What to do
    Check that the tools of the prompt are those that the harness offers, under the same names; list them in the error.

Limits
    Told from an error that denies the very name that was called; a harness that does not name it is known by its words
    about tools, and one that drops such calls or ends the rollout is missed.
    A tool that the harness forgot to offer looks the same as one that the agent made up.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from blade.core.finding import Cause, Evidence
from blade.core.rollout import Rollout, Step
from blade.detectors._engine import detector
from blade.detectors._errors import HEAD, error_words, is_about_errors
from blade.detectors._phrases import FLAGS, any_of

_DENIED = r"(?:unknown|unrecogni[sz]ed|unsupported|unavailable|undefined|unregistered|invalid|nonexistent|non-existent|no[ _]such)"
_TOOL = r"(?:tool|function|action|method)"
SURE = (
    rf"\b{_DENIED}[ _]tool(?:s|[ _]name|[ _]call)?\b",
    r"\bis not (?:a |an |one of the )?(?:valid|known|available|registered|recogni[sz]ed|existing|enabled) tools?\b",
    r"\bno tool (?:named|called|registered|with name|with the name|by the name|found)\b",
    r"\btool (?:is )?not (?:found|recogni[sz]ed|registered|enabled|available)\b",
)
"""Words that speak of the tool itself."""
PHRASES = (
    *SURE,
    rf"\b{_DENIED}[ _]{_TOOL}",
    rf"\b{_TOOL}\b.{{0,90}}\bnot (?:be )?(?:found|exist|available|recogni[sz]ed|registered|defined|known|enabled|a valid|one of)",
    r"\b(?:does not|doesn't|do not|don't) exist\b",
    r"\bis not (?:one of|a valid|defined|registered|recogni[sz]ed|available|supported|implemented)",
    rf"\bno (?:handler|{_TOOL}) (?:for|named|called|matches|matching|found|registered)",
    r"\b(?:KeyError|NotImplementedError)\b",
)
"""What may be a denial; it counts where the result denies the name that was called."""
_BEFORE = (
    rf"(?:{_DENIED}|\bno|\bnot found|\b{_TOOL}s? not found|inconnue?|desconocid[ao]|unbekannte[rs]?)"
    rf"(?:[ _](?:{_TOOL}|handler|name|call|command|registered|matches|matching|found|for|under|the|with|named|called|by)){{0,6}}"
)
_AFTER = (
    r"(?:(?:is|was|does|do|could|has|tool|function|action|currently|been)\W+){0,3}"
    r"(?:not|n't|doesn't|isn't|unknown|unavailable|unsupported|undefined|no longer)\W+(?:be\W+|an?\W+)?"
    r"(?:found|exists?|available|recogni[sz]ed|registered|defined|known|enabled|supported|implemented|valid|one of|among|in the|tool|function|action|method)"
)

_sure = any_of(SURE)


@detector(
    "BEH007",
    suggests=Cause.BEHAVIOR,
    kind="associated",
    reads=("steps",),
    when=lambda f: f.tool_errors > 0,
    phrases=PHRASES,
)
def unknown_tool(rollout: Rollout) -> Iterator[Evidence]:
    for step in rollout.steps or ():
        if step.kind == "result" and _denies(step):
            yield Evidence(key=rollout.key, step=step.index, field="text", quote=step.text[:HEAD].strip())


def _denies(step: Step) -> bool:
    """Whether a result says that its tool does not exist; a list of tools or a page that says so of others does not."""
    words = error_words(step)
    if not words:
        return False
    named = bool(step.tool) and (step.tool or "").lower() in words.lower()
    if named and _denial(step.tool or "").search(words):
        return True
    return _sure.search(words) is not None and not is_about_errors(words)


@lru_cache(maxsize=1024)
def _denial(tool: str) -> re.Pattern[str]:
    """A denial right before or behind the name of a tool, or an error that is nothing but the name."""
    name = rf"(?<!\w){re.escape(tool)}(?!\w)"
    bare = r"\b(?:KeyError|NotImplementedError|AttributeError)\W+"
    return re.compile(rf"{_BEFORE}\W{{0,4}}{name}|{name}\W{{1,4}}{_AFTER}|{bare}{name}", FLAGS)
