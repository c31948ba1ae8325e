"""Which field names what broke: rare short texts that speak of a failure, beside a value that notes nothing."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from blade.ingest.roles.paths import Column

LONGEST = 400
"""Characters of a message; a longer one is an account of the work, unless it is a stack trace."""
MOST_LINES = 4
"""Lines of a message: tools such as git name the file in one and what they did in another."""
LONGEST_TRACE = 8_000
LONGEST_SHOWN = 80
MOST_ROWS = 0.5
"""Of the rows: what breaks in most of them is how the rows are, and no breakdown."""
LEAST_SPEAKING = 0.5
"""Of the messages, those that must speak of a failure: a comment on answers does now and then."""
MOST_PASSING = 0.2
"""Of the rows with a message, those that may pass: what passes note as often was got over, or is no failure."""

MACHINERY = re.compile(
    r"""connection(?:\s|_)?(?:error|refused|reset|aborted)|rate.?limit(?:ed|error|\ exceeded)?\b|too\ many\ requests
    |\b(?:http|status|error|code)\W{0,8}(?:429|50[0-4])\b|service.unavailable|internal.server.error|bad.gateway
    |\breturned\ (?:429|50[0-4]|529)\b|\bno\ healthy\ upstream|\bupstream\ (?:connect|returned|error)
    |gateway.time|api.?(?:connection|timeout|status)error|provider.(?:error|returned|unavailable|timed)
    |\b(?:sandbox|container|docker|worker|server|environment|pod|runner|harness)\b[^.\n]{0,40}\b(?:failed|died|crash\w*|killed|exited|gone|lost|timed|not\ start)
    |\b(?:node|host|machine)\b[^.\n]{0,40}\b(?:died|lost|gone|down|evicted|preempted)\b
    |out.of.memory|\boom\b|no.space.left|\beconn|broken.pipe|\bssl.?error|\bdns\b|unreachable|quota.exceeded|overloaded
    |authentication.?(?:error|failed)|invalid.api.key""",
    re.VERBOSE | re.IGNORECASE,
)
"""Words of machinery that failed: of endpoints, networks, containers and quotas."""
_BROKE = re.compile(
    r"\b\w*(?:Error|Exception|Timeout|Interrupt|Failure)\b|^Traceback|HTTP \d{3}|\b(?:crashed|raised|killed|panicked)\b|\[Errno \d+\]"
    r"|\b(?i:error|exception|timed out|failed to|fatal|(?:call|request|query|process|launch|worker) (?:failed|died|was lost))\b(?! in\b)"
)
_TRACE = re.compile(
    r"Traceback \(most recent call|panic: |(?:\w+\.)*\w*(?:Error|Exception)\b[^\n]*\n\s+(?:at|File) |thread '"
)
_FRAME = re.compile(r'^\s+(?:File "|at )[^\n]*', re.MULTILINE)
_ASSERTS = re.compile(r"\bassert|\bexpected\b|mismatch|\bgot\b", re.IGNORECASE)
"""What a test says of an answer: nothing broke there."""
GOT_OVER = re.compile(
    r"\b(?:retried|retrying|recovered|resumed|tried again|succeeded|waited)\b|\bfor \d+(?:\.\d+)? ?(?:m?s|sec|min|seconds?|minutes?)\b",
    re.IGNORECASE,
)
"""What was tried again, or went on for some time only, did not end the rollout."""


def what_broke(column: Column, passed: Sequence[bool | None]) -> tuple[str, str] | None:
    """The value of a field that notes nothing, empty where none does, and what the others name; None for any other field."""
    said = [(value.strip(), won) for value, won in zip(column, passed, strict=True) if isinstance(value, str) and value]
    if not said or any(value is not None and not isinstance(value, str) for value in column):
        return None
    usual, often = Counter(value for value, _ in said).most_common(1)[0]
    usual = usual if often > MOST_ROWS * len(column) else ""
    messages = [one for one in said if one[0] and one[0] != usual]
    if not 0 < len(messages) <= MOST_ROWS * len(column) or not all(_is_message(message) for message, _ in messages):
        return None
    if any(GOT_OVER.search(message) for message, _ in messages):
        return None  # a note of what happened on the way
    speaking = sum(names_a_breakdown(message) for message, _ in messages)
    if speaking < LEAST_SPEAKING * len(messages) or sum(won is True for _, won in messages) > MOST_PASSING * len(
        messages
    ):
        return None
    shown = sorted({message.rpartition("\n")[2][:LONGEST_SHOWN] for message, _ in messages})
    return usual, f"names what broke: {', '.join(shown[:2])}"


def _is_message(text: str) -> bool:
    if _TRACE.match(text) is not None:
        return len(text) <= LONGEST_TRACE
    return len(text) <= LONGEST and text.count("\n") < MOST_LINES


def names_a_breakdown(message: str) -> bool:
    """Whether a message says that something failed for good, and says nothing of an answer."""
    if GOT_OVER.search(message) or _ASSERTS.search(message):
        return False
    return _BROKE.search(message) is not None or MACHINERY.search(message) is not None


def what_was_raised(message: str) -> str:
    """Of a stack trace what was raised, and in the next line where; any other message whole."""
    if "\n" not in message or _TRACE.match(message) is None:
        return message
    frames, lines = _FRAME.findall(message), message.rstrip().split("\n")
    return "\n".join([lines[0] if _FRAME.match(lines[-1]) else lines[-1], *frames[-1:]])
