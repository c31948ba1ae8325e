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

from blade.model.finding import Cause, Evidence
from blade.model.rollout import Rollout, Step
from blade.rules.declaration import rule
from blade.rules.error_words import HEAD, error_words, is_about_errors, runs_code
from blade.rules.phrases import FLAGS, any_of

_DENIED = r"(?:unknown|unrecogni[sz]ed|unsupported|unavailable|undefined|unregistered|invalid|nonexistent|non-existent|no[ _]such)"
_TOOL = r"(?:tool|function|action|method)"
SURE = (
    rf"\b{_DENIED}[ _]tool(?:s|[ _]name|[ _]call)?\b(?![ _](?:arguments?|args|inputs?|parameters?|params|json|schema|outputs?|results?|responses?|format|use|usage|id)\b)",
    r"\bis not (?:a |an |one of the )?(?:valid|known|available|registered|recogni[sz]ed|existing|enabled) tools?\b",
    r"\bno tool (?:named|called|registered|with name|with the name|by the name|found)\b",
    r"\btool (?:is )?not (?:found|recogni[sz]ed|registered|enabled|available)\b",
)
"""Words that speak of the tool itself."""
PHRASES = (
    _DENIED,
    r"not (?:be |been )?(?:an? |in |one |on |among |currently )?(?:found|exist|valid|registered|available|recogni|defin|enabl)",
    r"not (?:be |been )?(?:an? |in |one |on |among |currently )?(?:implement|support|known|your|the|of|allowed|tool|function|action|method)",
    r"n.t (?:exist|recogni|know|find|have)",
    "no (?:handler|command|attribute|function|tool|method|action)",
    "no longer (?:available|supported|exist)",
    "(?:not|cannot) (?:find|recogni)",
    "disabled",
    "notfound",
    "(?:inconnu|desconocid|unbekannt|nicht gefunden|introuvable|no existe)",
    "(?:KeyError|NotImplementedError|AttributeError)",
)
"""What denies that something is there; it counts where a short result denies the tool that was called, by name."""
_BEFORE = (
    rf"(?:{_DENIED}|\bno (?:handler|command|{_TOOL})|\bnot found|\b{_TOOL}s? not found|inconnue?|desconocid[ao]|unbekannte[rs]?)"
    rf"(?:[ _](?:{_TOOL}|handler|name|call|command|registered|matches|matching|found|for|under|the|with|named|called|by)){{0,6}}"
)
_BE_THERE = r"(?:be |been |an? |in |one )?(?:found|exist|available|recogni|registered|defin|known|enabl|support|implement|valid|of|your|the)"
_AFTER = (
    r"(?:(?:is|was|does|do|could|has|tool|function|action|currently|been)\W+){0,3}"
    rf"(?:(?:not|n't) {_BE_THERE}"
    r"|unknown|unavailable|unsupported|undefined|no longer (?:available|supported|exist))"
)

_sure = any_of(SURE)
_not_there = any_of(PHRASES)
_noun = re.compile(
    r"(?:tool|function|action|method|handler|werkzeug|outil|herramienta|strumento)(?!\w*[\"']\s*:)", re.IGNORECASE
)
"""A word for a tool that is not the key of a record."""


@rule(
    "BEH007",
    scope="rollout",
    suggests=Cause.BEHAVIOR,
    kind="associated",
    reads=("steps",),
    phrases=(*PHRASES, rf"n't {_BE_THERE}"),
    within="errors",
    status="stable",
)
def unknown_tool(rollout: Rollout) -> Iterator[Evidence]:
    for step in rollout.steps or ():
        if step.kind == "result" and _denies(step):
            yield Evidence(key=rollout.key, step=step.index, field="text", quote=step.text[:HEAD].strip())


def _denies(step: Step) -> bool:
    """Whether a result says that its tool does not exist; a list of tools or a page that says so of others does not."""
    tool, head = step.tool or "", step.text[:HEAD]
    short = len(step.text) <= HEAD and not runs_code(tool)
    if not short and not step.failed:
        return False
    if tool and tool.lower() in head.lower():
        others = head.replace(tool, "")
        return _denial(tool).search(head) is not None or bool(_noun.search(others) and _not_there.search(others))
    words = error_words(step)
    return _sure.search(words) is not None and not is_about_errors(words)


@lru_cache(maxsize=1024)
def _denial(tool: str) -> re.Pattern[str]:
    """A denial right before or behind the name of a tool, or an error that is nothing but the name."""
    name = rf"(?<!\w){re.escape(tool)}(?!\w)"
    subject = rf"(?<!for )(?<!in )(?<!of )(?<!by )(?<!to )(?<!with ){name}"
    bare = r"\b(?:KeyError|NotImplementedError|AttributeError)\W+"
    return re.compile(rf"{_BEFORE}\W{{0,4}}{name}|{subject}\W{{1,4}}{_AFTER}|{bare}{name}", FLAGS)
