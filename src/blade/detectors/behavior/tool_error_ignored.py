"""One of the agent's last calls failed, and what it said next does not mention it.

Why it matters
    The answer rests on something that did not happen: a look-up that returned nothing, a change that was not made.

What to do
    Show the agent that the call failed, in words and in a fixed place, and tell it to retry or to report.

Limits
    Whether a result is an error is told from its first words. An agent that admits the failure in unusual words, or in
    another language, is counted; one that calls any tool afterwards is not, though that call may be about something
    else.
"""

from collections.abc import Iterator

from blade.core.finding import LONGEST_QUOTE, Cause, Evidence
from blade.core.rollout import Rollout, Step
from blade.detectors._engine import detector
from blade.detectors._phrases import any_of

ADMITS = (
    r"\berrors?\b",
    r"\bfail",
    r"\b(?:can|could|did|does|was|were|is|are|do)(?: not|n.t)\b",
    r"\bcannot\b",
    r"\bunable\b",
    r"\bunfortunately\b",
    r"\b(?:sorry|apologi[sz]e)",
    r"\b(?:issue|problem|trouble|difficult|incorrect|invalid|not found|no such|unavailable|wrong|try again|retry|instead)",
    r"\btransfer",
    r"\b(?:no (?:pude|puedo|se pudo|ha sido posible)|lamento|lo siento|malheureusement|leider|konnte|purtroppo|infelizmente)\b",
    r"\bd.sol|\b(?:declin|reject|refus|denied|another|different|alternativ)",
    "抱歉|无法|失败|错误|申し訳|できません|エラー|к сожалению|не удалось|ошибка",
    r"\b(?:remains?|still|rather than|unless|needs? to|would (?:need|have) to)\b",
)

_admits = any_of(ADMITS)


@detector("BEH002", suggests=Cause.BEHAVIOR, kind="associated", reads=("steps",), when=lambda f: f.tool_errors > 0)
def tool_error_ignored(rollout: Rollout) -> Iterator[Evidence]:
    steps = rollout.steps or ()
    for place, step in enumerate(steps):
        if step.kind == "result" and step.failed and step.text.strip() and _ignored(steps[place + 1 :]):
            yield Evidence(key=rollout.key, step=step.index, field="text", quote=step.text.strip()[:LONGEST_QUOTE])


def _ignored(later: tuple[Step, ...]) -> bool:
    """Whether no call follows, and the agent's next message admits nothing."""
    said = [step for step in later if step.party == "agent" and step.kind == "message" and step.text.strip()]
    if not said or any(step.kind == "call" for step in later):
        return False
    return _admits.search(said[0].text) is None
