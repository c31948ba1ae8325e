"""The agent declined the task.

Why it matters
    A refused task fails whatever the agent could have done, and a share of refusals is often an artifact of the
    prompt or of a safety filter.

What to do
    Read a few: where the task is harmless, change the prompt or the filter; where refusing is right, check that the
    verifier rewards it.

Limits
    Refusing may be what the task wants, as where the request does harm. Saying that one thing cannot be done is not
    declining the task, and an agent with tools that turns down a user's wish may follow its policy: both are left out.
    In languages other than English, and in words of leave and rules, only a short message that stands alone is known.
"""

import re
from collections.abc import Iterator

from blade.model.finding import Cause, Evidence
from blade.model.rollout import Rollout
from blade.rules.declaration import rule
from blade.rules.phrases import FLAGS, any_of

_NOT = r"(?:can ?not|can.t|won.t|will not|am unable to|.m unable to|am not able to|.m not able to|won.t be able to)"
_HELP = r"(?:help|assist|comply|fulfill?|engage|participate|continue|proceed|support)"
_MAKE = r"(?:provide|share|write|create|generate|produce|give|do|complete|answer|offer|discuss|carry out)"
_IT = r"(?:that|this|it|such|any|the request|your request|the task|instructions|content|information|details|advice|guidance)"
PHRASES = (
    rf"\bI ?{_NOT}(?: and will not)? (?:{_HELP}|{_MAKE})\b",
    r"\bI(?: must|.ll have to| have to| need to| will have to| am going to|.m going to)?(?: respectfully| politely)? (?:decline|refuse|refrain)\b",
    r"\bI(?:.m| am) (?:declining|refusing|not comfortable|not going to)\b",
    r"\bI (?:do not|don.t) feel comfortable\b",
    r"\bI (?:can ?not|can.t) in good conscience\b",
    r"\bmy (?:guidelines|polic(?:y|ies)|principles)\b",
    r"\bI.d rather not\b",
    r"\bagainst my\b",
    r"\bsomething (?:that )?I(?: can|.m able to| am able to|.m going to| am going to| will) ?(?:help|do|assist|provide|support)?",
    r"\b(?:against|violates?|violating) (?:my|our|the|your|content|safety|usage)? ?(?:\w+ )?(?:guidelines|polic(?:y|ies)|principles|terms)\b",
)
"""What every refusal holds; told apart from other talk by `DECLINES`."""
DECLINES = (
    rf"\bI ?{_NOT}(?: and will not)? {_HELP}\b(?! (?:without|until|unless|but))",
    rf"\bI ?{_NOT}(?: and will not)? (?:provide|engage|comply|share)\b(?! (?:without|until|unless)|.{{0,60}}\bbut\b)",
    rf"\bI ?{_NOT}(?: and will not)? {_MAKE} (?:\w+ )?{_IT}\b",
    rf"\bI ?{_NOT} answer\b(?! (?:without|until|unless|before))",
    r"\bI(?: must|.ll have to| have to| need to| will have to| am going to|.m going to)(?: respectfully| politely)? (?:decline|refuse|refrain)\b",
    r"(?<![:\"'\u201c] )\bI (?:refuse|decline) to\b",
    r"\bI(?:.m| am) (?:declining|refusing) (?:this|that|the|to|your)\b",
    r"\bI (?:can ?not|can.t) in good conscience\b",
    r"\bmy (?:guidelines|polic(?:y|ies)|principles) (?:prevent|forbid|prohibit|do not allow|don.t allow)",
    r"\bI (?:do not|don.t) feel comfortable (?:with |do|writ|help|assist|provid|produc|generat|creat|shar|complet)",
    r"\bI(?:.m| am) not (?:comfortable|going to) (?:with |do |writ|help|assist|provid|produc|generat|creat|shar|complet)",
    r"\b(?:not|isn.t) something (?:that )?I(?: can|.m able to| am able to|.m going to| am going to| will)\b",
    r"\bI.d rather not (?:do|help|write|answer|share|provide)\b",
    r"\b(?:is|goes) against my (?:guidelines|polic|principles|programming)",
)
ELSEWHERE = (
    r"no puedo (?:ayudar|asistir|cumplir|proporcionar|hacer eso)",
    r"(?:kann|darf|werde) ich (?:\w+ ){0,6}nicht (?:helfen|weiterhelfen|unterst|beantworten)",
    r"ich (?:kann|darf|werde) (?:\w+ ){0,6}nicht (?:helfen|weiterhelfen|beantworten|unterst)",
    r"je ne (?:peux|puis) (?:\w+ ){0,2}(?:pas )?(?:vous aider|aider|r.pondre|fournir|faire cela)",
    r"non posso (?:\w+ )?(?:aiutar|assister|fornire|rispondere)",
    r"n.o posso (?:\w+ )?(?:ajudar|auxiliar|fornecer|responder)",
    "无法(?:协助|帮助|提供|满足|完成|回答)|不能(?:协助|帮助|提供)",
    "お手伝いできません|お答えできません|対応できません",
    "не могу (?:помочь|выполнить|предоставить)",
)
"""The same in other languages; looked for in a short message that stands alone."""
LEAVE = (
    r"\bI ?(?:won.t|will not) be \w+ing\b",
    r"\bI(?:.m| am) not (?:\w+ )?(?:allowed|permitted|authori[sz]ed|willing|supposed|in a position) to\b",
    r"\b(?:outside|beyond) (?:of )?(?:what I|my (?:remit|scope|guidelines|limits|purview))",
    r"\bI(?:.m| am|.ll| will| would|.d| have|.ve)?(?: going| have)?(?: to)? (?:pass on|turn (?:this|that|it) down|prefer not to|opt not to|choose not to)\b",
    r"\b(?:against|conflicts? with|violates?|breach(?:es)?) (?:my|the|our) (?:\w+ )?(?:guidelines|polic\w+|rules|principles|instructions)\b",
)
"""Forms that speak of leave and will rather than of knowing; looked for in a short message that stands alone."""
OPENING = 300
"""Characters of the last message in which a refusal is taken for one; further down it is about details."""
SHORT = 400

_declines = any_of(DECLINES)
_alone = any_of(LEAVE)
_figure = re.compile(r"\bhelp (?:but|\w+ing)\b", re.IGNORECASE)
"""*I cannot help noticing* declines nothing."""
_elsewhere = re.compile("|".join(ELSEWHERE), FLAGS & ~re.ASCII)


def _serves_a_user(rollout: Rollout) -> bool:
    """Whether the agent talks with a user and has tools: to decline a wish is then often its work."""
    parties = {"tools" if step.kind == "call" else step.party for step in rollout.steps or ()}
    return {"tools", "user"} <= parties


@rule(
    "ANS003",
    scope="rollout",
    suggests=Cause.BEHAVIOR,
    kind="associated",
    reads=("steps",),
    when=lambda f: f.refusals > 0,
    phrases=(*PHRASES, *LEAVE, *ELSEWHERE),
    within="closing",
    status="stable",
)
def refusal(rollout: Rollout) -> Iterator[Evidence]:
    said = [
        s for s in rollout.steps or () if s.party == "agent" and s.kind in ("message", "refusal") and s.text.strip()
    ]
    for step in said:
        if step.kind == "refusal":
            yield Evidence(key=rollout.key, step=step.index, field="text", quote=step.text.strip()[:OPENING])
    if said and said[-1].kind == "message" and not _serves_a_user(rollout):
        alone = len(said) == 1 and not rollout.calls and len(said[0].text) <= SHORT
        found = _declining(said[-1].text[:OPENING], alone)
        if found:
            yield Evidence(key=rollout.key, step=said[-1].index, field="text", quote=found[0])


def _declining(opening: str, alone: bool) -> re.Match[str] | None:
    """The words that decline; a figure of speech with a verb behind it is passed over."""
    plain = (one for one in _declines.finditer(opening) if not _figure.search(opening, one.start(), one.end() + 20))
    found = next(plain, None)
    return found or ((_elsewhere.search(opening) or _alone.search(opening)) if alone else None)
