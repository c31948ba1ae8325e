"""The agent's last message holds a tool call written as text, which nobody carried out.

Why it matters
    The agent wanted to go on, and the harness took its call for the answer. The rollout fails for its format, whatever
    the agent knew.

What to do
    Compare the chat template and the tool parser of the server with what the model was trained on; the parser of another
    family of models, or none at all, is the usual reason.

Limits
    A message that shows such a call to a reader, as a tutorial would, is counted unless it stands in plain code
    quotes. Where the harness itself reads calls from text, as earlier messages show, nothing is said.
"""

import re
from collections.abc import Iterator

from blade.model.finding import LONGEST_QUOTE, Cause, Evidence
from blade.model.rollout import Rollout, Step
from blade.rules.declaration import rule
from blade.rules.phrases import any_of

PHRASES = (
    r"<tool_call>\s*[{<\[\w]",
    r"tool.calls?.begin.>",
    r"<\|tool_call\|>",
    r"<\|python_tag\|>",
    r"\[TOOL_CALLS\]\s*[\[{\w]",
    r"<function=[\w.-]+>",
    r"<function_calls?>\s*[<{\[]",
    r"<(?:antml:)?invoke name=",
    r"<tool_use>\s*[<{]",
    r"\bto=functions\.\w+",
    r"```(?:tool_code|tool_call|tool_use)\b",
    r"\btool_calls\"\s*:\s*\[\s*\{",
    r"\bfunction_call\"\s*:\s*\{",
)
"""As Qwen and Hermes, DeepSeek, Kimi, Llama, Mistral, Anthropic, gpt-oss, Gemini and OpenAI write their calls."""
ENDINGS = re.compile(
    r"\W*(?:tool_call|function|name|invoke name|parameter)?\W*(?:finish|submit|done|exit|final_answer)\b"
)

_calls = any_of(PHRASES)


@rule(
    "ANS004",
    scope="rollout",
    suggests=Cause.BEHAVIOR,
    kind="direct",
    reads=("steps",),
    phrases=PHRASES,
    within="closing",
    status="stable",
)
def call_written_as_text(rollout: Rollout) -> Iterator[Evidence]:
    steps = rollout.steps or ()
    acts = [step for step in steps if step.party == "agent" and step.kind in ("message", "refusal", "call")]
    if not acts or acts[-1].kind != "message":
        return
    last = acts[-1]
    found = _written(last)
    if found is None or _harness_reads_text(steps, acts):
        return
    yield Evidence(
        key=rollout.key,
        step=last.index,
        field="text",
        quote=last.text[found.start() : found.start() + LONGEST_QUOTE].rstrip(),
    )


def _written(step: Step) -> re.Match[str] | None:
    """The first call in a message that does not stand in code quotes and does not end the work."""
    for found in _calls.finditer(step.text):
        quoted = step.text[: found.start()].endswith("`") and not found[0].startswith("`")
        fenced = step.text.count("```", 0, found.start()) % 2 == 1
        if not quoted and not fenced and not ENDINGS.search(step.text, found.start(), found.end() + 40):
            return found
    return None


def _harness_reads_text(steps: tuple[Step, ...], acts: list[Step]) -> bool:
    """Whether no call was recorded as one, and an earlier message with such a call was answered."""
    if any(step.kind == "call" for step in acts):
        return False
    earlier = [step for step in acts[:-1] if step.kind == "message" and _calls.search(step.text)]
    return bool(earlier) and any(
        step.party != "agent" and earlier[0].index < step.index < acts[-1].index for step in steps
    )
