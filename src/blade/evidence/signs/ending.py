"""How a rollout ends, in passes too: none of these is a failure by itself.

`ends:question` (its subject is `offer` where the agent only offers more work), `ends:refusal`, `ends:gave-up`,
`ends:success-claim`, `ends:call-without-result`, `ends:tool-call-as-text`, and `ends:open-todos` with the first open item
of the last to-do list. Where a user takes part in the talk, questions and claims are ordinary turns and no signs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from blade.evidence.signs.view import View, sign, words_of
from blade.model.finding import Sign
from blade.model.rollout import Step
from blade.model.tools import is_deep

FEW_CALLS = 5
"""Calls before a refusal: who has worked on a task for longer gave up on it."""
_QUOTES = tuple("\"'\u201c\u2018`")
OPENING = 300
"""Characters at the start of a message in which a refusal stands: it opens with it."""
_ENDING_TOOLS = frozenset(
    [
        "submit",
        "finish",
        "done",
        "complete",
        "end",
        "final",
        "stop",
        "exit",
        "terminate",
        "transfer",
        "hang",
        "answer",
        "respond",
    ]
)
_AS_TEXT = re.compile(
    r"<function_calls>|<(?:antml:)?invoke name=|<tool_call>|<function=[\w.-]+>|<\|tool_?call|\[TOOL_CALLS\]|<\|python_tag\|>"
    r"|\bto=functions\.\w+|```tool_(?:code|call|use)\b|<tool_use>"
)
_ASKS = re.compile(r"\?(?=[\s*_\"')\]]|$)")
"""A question mark that ends a sentence, not one in an address."""
_OFFER = re.compile(
    r"\b(?:would you like|do you want|want me to|shall I|should I|can I|anything else|let me know if|need (?:any|more|further)|is there anything)\b",
    re.IGNORECASE,
)
_NEEDS = re.compile(
    r"\b(?:provide|share|send|upload|paste|give me|access|clarif\w+|confirm|which|where|proceed|try|install|credentials?|password|token|url)\b",
    re.IGNORECASE,
)
_REFUSES = re.compile(
    r"\b(?:I(?:.m| am)? (?:sorry|afraid)\b.{0,80}\b(?:can(?:no|['\u2019])t|unable|won['\u2019]t|not able)"
    r"|I (?:can(?:not|['\u2019]t)|won['\u2019]t|will not|am (?:not able|unable) to|do(?:n['\u2019]t| not) have the ability to|must decline|have to decline)"
    r"|I['\u2019]m (?:not able|unable) to|as an AI\b)",
    re.IGNORECASE,
)
_INABILITY = re.compile(
    r"\b(?:I|we) (?:was|were|am|are)(?:n['\u2019]t| not)? (?:unable|able) to\b|\b(?:I|we) (?:could|can)(?: ?not|n['\u2019]t) \w+"
    r"|\b(?:once|after) you (?:provide|share|confirm|install|give|upload|can)\b|\bplease (?:provide|share|supply|confirm|install|upload|run)\b"
    r"|\bI (?:need|require) (?:more|additional|the following|you to|access)\b|\b(?:is|was) not possible\b|\b(?:is|are) not (?:available|installed|reachable|accessible)\b",
    re.IGNORECASE,
)
_DENIES = re.compile(
    r"\bwas unable\b|\bwere unable\b|\bam unable\b|n['\u2019]t|\bnot\b|\bonce\b|\bplease\b|\bneed\b|\brequire\b|\bif\b|\bafter\b|\bwhen\b",
    re.IGNORECASE,
)
_CLAIMS = re.compile(
    r"\bsuccess(?:fully|ful)?\b|\b(?:is|are|has been|have been|now|task|all(?: \w+){0,2})(?: now| been| fully)? (?:complete|completed|done|ready|working|fixed|finished|implemented|created|solved|resolved|passing)\b"
    r"|\ball (?:\w+ )?(?:tests|checks|requirements) (?:pass|are met|passed)|\bI(?:['\u2019]ve| have)(?: now| also| just)? (?:created|written|implemented|fixed|completed|built|added|set up|solved|updated|configured|found|verified)\b"
    r"|\u2705|\u2713|^\W*(?:done|perfect|excellent|fixed|created|wrote|implemented)\b",
    re.IGNORECASE | re.MULTILINE,
)
_ITEM = re.compile(r"\"status\"\s*:|\"state\"\s*:|\"completed?\"\s*:|\"done\"\s*:")
_OPEN = ("pending", "in_progress", "in progress", "todo", "open", "not_started", "not started", "doing", "blocked")
_DONE = ("completed", "complete", "done", "cancelled", "canceled", "finished", "skipped")


def ending(view: View) -> Iterator[Sign]:
    """How the last steps of a rollout read."""
    if not view.steps:
        return
    last = view.last
    if last is not None:
        yield from _message(view, last)
    elif view.steps[-1].kind == "call" and view.session.get("ended") is not True:
        call = view.steps[-1]
        if _ENDING_TOOLS.isdisjoint(words_of(call.tool or "")):
            yield sign("ends:call-without-result", call.tool or "", call.arguments or "", "arguments", call.index)
    if view.features.calls >= FEWEST_CALLS_OF_A_LIST:
        yield from _todos(view)


FEWEST_CALLS_OF_A_LIST = 2
"""A list that was never touched again after the only call is a plan."""


def _message(view: View, last: Step) -> Iterator[Sign]:
    if "<" in view.closing or "[" in view.closing or "`" in view.closing or "to=" in view.closing:
        yield from _call_as_text(view, last)
    if last.kind == "refusal":
        yield sign("ends:refusal", "", last.text, "text", last.index)
    elif view.features.user_messages == 0:
        yield from _conclusion(view, last)


def _call_as_text(view: View, last: Step) -> Iterator[Sign]:
    """Markup of a call that nobody read as one; a prompt that asks for such markup reads it."""
    found = _AS_TEXT.search(last.text[-CLOSING_MARKUP:])
    if found is not None and found[0] not in view.prompt:
        start = max(0, len(last.text) - CLOSING_MARKUP) + found.start()
        yield sign("ends:tool-call-as-text", found[0], last.text[start:], "text", last.index)


CLOSING_MARKUP = 20_000
"""Characters from the end in which the markup of a call may open: its arguments may be a whole file."""


def _conclusion(view: View, last: Step) -> Iterator[Sign]:
    text = last.text
    paragraph = text.rstrip().rsplit("\n\n", 1)[-1]
    if asks := list(_ASKS.finditer(paragraph, max(0, len(paragraph) - OPENING))):
        asked = _sentence_with(paragraph, asks[-1].start())
        offers = _OFFER.search(asked) is not None and not (_NEEDS.search(asked) and not claims_success(view))
        yield sign("ends:question", "offer" if offers else "", asked, "text", last.index)
    found = _REFUSES.search(text[:OPENING]) if view.features.calls <= FEW_CALLS else None
    if found and text[found.start() - 1 : found.start()] not in _QUOTES and not claims_success(view):
        yield sign("ends:refusal", "", _sentence_with(text, found.start()), "text", last.index)
    if not view.features.calls and not found:
        return  # advice alone, as it was asked for
    for found in _INABILITY.finditer(view.closing):
        if _DENIES.search(found[0]):
            start = len(text) - len(view.closing) + found.start()
            yield sign("ends:gave-up", "", _sentence_with(text, start), "text", last.index)
            break
    if view.features.calls and (claim := success_claim(view)):
        yield sign("ends:success-claim", "", claim, "text", last.index)


def success_claim(view: View) -> str:
    """The first words of the last message's end that report the work as done; empty where none do."""
    found = next((found for found in _CLAIMS.finditer(view.closing) if not _negated(view.closing, found)), None)
    return _sentence_with(view.closing, found.start()) if found is not None else ""


def claims_success(view: View) -> bool:
    """Whether the last message reports the work as done."""
    return bool(success_claim(view))


_negation = re.compile(
    r"\b(?:not|no|un|never|without|cannot|if|once|after|until|when|partially)\b|n['\u2019]t\b", re.IGNORECASE
)


def _negated(text: str, found: re.Match[str]) -> bool:
    start = max(text.rfind(end, 0, found.start()) for end in ".!?\n") + 1
    return _negation.search(text, start, found.start()) is not None


def _sentence_with(text: str, place: int) -> str:
    """The sentence that a place stands in, as it is in the text."""
    start = max(text.rfind(". ", 0, place), text.rfind("\n", 0, place), text.rfind("! ", 0, place)) + 1
    ends = [end for mark in (". ", "\n", "! ", "? ") if (end := text.find(mark, place)) != -1]
    return text[start : min(ends) + 1 if ends else len(text)].strip()


def _todos(view: View) -> Iterator[Sign]:
    """An item of the last to-do list that is not done."""
    for call in reversed(view.calls):
        arguments = call.arguments or ""
        if not _ITEM.search(arguments):
            continue
        items = _items(arguments)
        if items is not None:
            unfinished = [name for name, state in items if state in _OPEN]
            if unfinished and len(items) > 1:
                quote = unfinished[0] if unfinished[0] in arguments else ""
                yield sign("ends:open-todos", unfinished[0], quote, "arguments", call.index)
            return


def _items(arguments: str) -> list[tuple[str, str]] | None:
    """Name and state of every item of a list; None where the arguments hold no list of such items."""
    if is_deep(arguments):
        return None
    try:
        value: Any = msgspec.json.decode(arguments)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
    lists = [part for part in value.values() if isinstance(part, list)] if isinstance(value, dict) else [value]
    for part in lists:
        items = [_item(item) for item in part if isinstance(item, dict)] if isinstance(part, list) else []
        if items and all(state for _, state in items):
            return items
    return None


def _item(item: dict[str, Any]) -> tuple[str, str]:
    states = [text for value in item.values() if isinstance(value, str) and (text := value.lower()) in (*_OPEN, *_DONE)]
    names = [value for value in item.values() if isinstance(value, str) and value.lower() not in (*_OPEN, *_DONE)]
    flags = [
        value for name, value in item.items() if name in ("done", "completed", "complete") and isinstance(value, bool)
    ]
    state = states[0] if states else ("done" if flags[0] else "open") if flags else ""
    return (max(names, key=len) if names else "", state)
