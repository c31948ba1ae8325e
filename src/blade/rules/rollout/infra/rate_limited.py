"""A tool or the model's endpoint answered that there were too many requests.

Why it matters
    What the agent could do depended on the load of the machinery, so the rollout is not comparable to others.

What to do
    Lower the concurrency of the run or raise the quota, and run the affected rollouts again.

Limits
    A tool that works later in the rollout was waited for, and is not counted; what the wait cost is not known. Results are
    looked at where they are errors by mark or by form, or are the same for every call; a document that speaks of rate
    limits is not one.
"""

from collections.abc import Iterator, Sequence

from blade.model.finding import Cause, Evidence
from blade.model.rollout import Rollout, Step
from blade.rules.declaration import rule
from blade.rules.error_words import HEAD, error_words, said_to_all
from blade.rules.phrases import any_of

PHRASES = (
    r"\brate[ _-]?limit",
    r"\b(?:usage|concurrency|request)[ _]limit",
    r"\btoo[ _]?many[ _]?(?:concurrent )?(?:requests|tokens|calls|queries)\b",
    r"\bthrottl(?:ed|ing)",
    r"\brate exceeded\b",
    r"\bresource[ _]?exhausted\b",
    r"\b(?:current|insufficient|request|token|api|exceeded your)[ _]quota",
    r"\bquota (?:exceeded|exhausted|metric)",
    r"\b(?:requests?|tokens|queries|calls) per (?:sec|min|hour|day)",
    r"\bretry[ _-]after\b",
    r"\bslow down\b",
    r"\brequests? too (?:quickly|fast|often|frequent)",
    r"(?:http|status|code|error)\W{1,8}429\b",
    r"\bhttp/[\d.]+ 429\b",
    r"\b429\W{1,3}(?:client|too|error|rate|quota)",
    r"\b(?:quota|limit|allowance|budget)\b.{0,30}\b(?:this|per|each|every|current) (?:second|minute|hour|day|window)",
    r"\b(?:calls|requests|queries|api|concurren\w+|connections|traffic)\b.{0,24}\b(?:limit|quota|cap|ceiling|allowance)\b",
    r"\b(?:limit|quota|cap|ceiling|allowance)\b.{0,16}\b(?:calls|requests|queries|api|concurren\w+|connections)\b",
    r"\b(?:high|heavy|peak|too much) (?:demand|load|traffic)\b",
    r"\bat (?:full |max(?:imum)? )?capacity\b",
    r"\b(?:server|service|system|api|backend|gateway|model) (?:is |are )?(?:currently |temporarily |too )?(?:busy|overloaded|saturated)\b",
)
"""What errors of this kind hold, whoever writes them."""
ELSEWHERE = (
    r"demasiadas (?:solicitudes|peticiones)",
    r"trop de requ",
    r"zu viele anfragen",
    r"troppe richieste",
    r"muitas (?:requisi|solicita)",
    "请求过于频繁|请求频率|限流|配额",
    "リクエストが多すぎ|レート制限",
    "слишком много запросов",
)
"""The same in other languages; known where the result has the mark of an error."""
STATUS = "429"

_limited = any_of(PHRASES)
_elsewhere = any_of(ELSEWHERE)


@rule(
    "INF002",
    scope="rollout",
    suggests=Cause.INFRA,
    kind="associated",
    reads=("steps|error",),
    phrases=(*PHRASES, *ELSEWHERE, STATUS),
    within="errors",
    status="stable",
)
def rate_limited(rollout: Rollout) -> Iterator[Evidence]:
    error = rollout.error or ""
    if (found := _limited.search(error)) or error.strip() == STATUS:
        yield Evidence(key=rollout.key, step=None, field="error", quote=found[0] if found else error)
    steps = rollout.steps or ()
    to_all = said_to_all(steps)
    for place, step in enumerate(steps):
        if step.kind != "result" or _works_later(steps[place + 1 :], step.tool):
            continue
        words = error_words(step) or (step.text if to_all else "")
        found = _limited.search(words) or (_elsewhere.search(words) if step.failed else None)
        if found:
            yield Evidence(key=rollout.key, step=step.index, field="text", quote=found[0])
        elif words.strip(" .:") in (STATUS, f"HTTP {STATUS}"):
            yield Evidence(key=rollout.key, step=step.index, field="text", quote=words.strip())


def _works_later(later: Sequence[Step], tool: str | None) -> bool:
    """Whether the tool gives something else than an error afterwards: the agent waited, and got through."""
    return any(step.kind == "result" and step.tool == tool and not _turns_away(step) for step in later)


def _turns_away(step: Step) -> bool:
    return bool(error_words(step)) or (len(step.text) <= HEAD and _limited.search(step.text) is not None)
