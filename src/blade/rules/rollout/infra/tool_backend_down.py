"""The backend of a tool did not work: its results report refused connections or errors of a server.

Why it matters
    The agent could not do what the task asks for, whatever it tried. The rollout says nothing about the model.

What to do
    Look at the service behind the tool at the time of the run, bring it up, and run these rollouts again.

Limits
    Three such results are counted, or two where the tool gave no others; an agent that got through later is counted too.
    An internal error may come of arguments that the server does not expect. Tools that run what the agent writes are left
    out, since their output is that of its own programs; but where two tools or more give one and the same text to three
    calls or more, whatever they are asked, that text is no content in any language.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from blade.model.finding import LONGEST_QUOTE, Cause, Evidence
from blade.model.rollout import Rollout, Step
from blade.rules.declaration import rule
from blade.rules.error_words import error_words, runs_code, said_to_all
from blade.rules.phrases import any_of

_SERVICE = r"(?:service|server|backend|database|system|endpoint|host|api|tool|index|cluster|gateway|network)"
PHRASES = (
    r"\bconnection (?:\w+ ){0,3}(?:refused|reset|aborted|closed|lost|dropped|failed|timed out|error|broken)",
    r"\bconnection error\b",
    r"\bE?CONN(?:REFUSED|RESET|ABORTED)\b",
    r"\b(?:ENOTFOUND|ETIMEDOUT|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH)\b",
    r"\bConnection\w{0,12}Error\b",
    r"\b\w{0,12}Timeout(?:Error|Exception)\b",
    r"\b(?:Connect|Read|Pool|Gateway)Timeout\b",
    r"\b(?:could not|cannot|can't|unable to|failed to) (?:\w+ )?(?:connect|reach|resolve|establish|contact)\b",
    r"\bmax retries exceeded\b",
    r"\bconnection attempts failed\b",
    r"\b(?:server disconnected|remote end closed)\b",
    r"\b(?:no healthy upstream|upstream \w+ ?\w* ?(?:error|timeout|returned|failed))",
    r"\bbad gateway\b",
    r"\bgateway time-?out\b",
    rf"\b{_SERVICE}(?: is| was| has become)?(?: \w+)? (?:unavailable|unreachable|offline|down)\b",
    rf"\b{_SERVICE}\b.{{0,40}} (?:not respond|no response|did not answer|not reachable)",
    r"\binternal (?:server )?error\b",
    r"\b(?:read|request|call|query|operation|tool|execution)\b.{0,24}\btime(?:d |-)?out\b",
    r"\btimed? ?out (?:after|waiting|while|when)\b",
    r"\bnetwork (?:error|failure|request failed|is unreachable)\b",
    r"\b(?:fetch failed|socket hang up|broken pipe)\b",
    r"\b(?:Operational|\w{0,12}Server\w{0,12})Error\b",
    r"\b(?:getaddrinfo|name resolution|circuit breaker)\b",
    r"\bgrpc\b.{0,24}\bunavailable\b",
    r"(?:http|status|code|error)[\W_]{1,8}5(?:0[0-4]|2[0-9])\b",
    r"\bhttp/[\d.]+ 5(?:0[0-4]|2[0-9])\b",
    r"\bserviceunavailable|\bnot responding\b|\bdid not respond\b",
    r"^\W{0,4}5(?:0[0-4]|2[0-9])\b",
    r"\breturned 5(?:0[0-4]|2[0-9])\b",
    r"\bbeing rebuilt\b|\bunder maintenance\b",
)
ELSEWHERE = (
    r"nicht (?:erreichbar|verf.gbar)",
    r"(?:indisponible|injoignable)",
    r"no (?:est. )?disponible",
    r"non (?:disponibile|raggiungibile)",
    "服务不可用|无法连接|连接失败|超时",
    "недоступ",
)
"""The same in other languages; known where the result has the mark of an error."""
ENOUGH = 3
SHORTEST = 12
"""Characters of a text that says more than that all is well."""
FEWEST = 2
"""Results that are enough where every result of the tool reports it."""
_down = any_of(PHRASES)
_timeout = re.compile(r"time(?:d |-)?out", re.IGNORECASE)
_elsewhere = any_of(ELSEWHERE)


@rule(
    "INF004",
    scope="rollout",
    suggests=Cause.INFRA,
    kind="direct",
    reads=("steps",),
    when=lambda f: f.alike_results >= ENOUGH,
    phrases=(*PHRASES, *ELSEWHERE),
    within="errors",
    status="stable",
)
def tool_backend_down(rollout: Rollout) -> Iterator[Evidence]:
    results = [step for step in rollout.steps or () if step.kind == "result"]
    if (words := _whatever_is_asked(rollout.steps or ())) != "":
        yield Evidence(key=rollout.key, step=results[0].index, field="text", quote=words[:LONGEST_QUOTE])
        return
    down = [(step, found) for step in results if (found := _report(step)) is not None]
    failed = [step for step, _ in down]
    if not down or not _is_enough(results, failed) or _is_one_request(rollout.steps or (), failed, len(results)):
        return
    for step, found in down:
        begin = max(0, found.end() - LONGEST_QUOTE)
        quote = step.text[begin : begin + LONGEST_QUOTE].strip()
        yield Evidence(key=rollout.key, step=step.index, field="text", quote=quote)


def _whatever_is_asked(steps: Sequence[Step]) -> str:
    """The one text with which different tools answer whatever they are asked, in any language; empty where it may be content."""
    results = [step for step in steps if step.kind == "result"]
    tools = {step.tool for step in steps if step.kind == "call"}
    if len(results) < ENOUGH or len(tools) < FEWEST or len({step.text for step in results}) > 1:
        return ""
    words = said_to_all(steps).strip()
    sound = (
        words.lower().startswith(("ok", "success", "done", "{", "[", "true", "null", "none")) or len(words) < SHORTEST
    )
    return "" if sound else words


def _is_enough(results: list[Step], down: list[Step]) -> bool:
    """Whether several results report it, or all that one tool gave."""
    mine, of_all = Counter(step.tool for step in down), Counter(step.tool for step in results)
    return len(down) >= ENOUGH or any(FEWEST <= times == of_all[tool] for tool, times in mine.items())


def _is_one_request(steps: Sequence[Step], down: Sequence[Step], results: int) -> bool:
    """Whether one and the same call ran out of time again and again and others did not: it may ask for what is not there."""
    answered = {step.answers for step in down}
    asked = {(step.tool, step.arguments) for step in steps if step.kind == "call" and step.index in answered}
    return len(asked) == 1 and len(down) < results and all(_timeout.search(step.text[:LONGEST_QUOTE]) for step in down)


def _report(step: Step) -> re.Match[str] | None:
    """The words in which a result reports a failure of its backend; None where it speaks of one in passing."""
    words = error_words(step)
    if not words or runs_code(step.tool or ""):
        return None
    return _down.search(words) or (_elsewhere.search(words) if step.failed else None)
