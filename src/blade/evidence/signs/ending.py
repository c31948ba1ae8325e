"""How a rollout ends, in passes too: none of these is a failure by itself.

`ends:question` (its subject is `offer` where the agent only offers more work, `advice` where it wrote nothing and lays
several ways before its reader), `ends:refusal`, `ends:gave-up`,
`ends:blocked` (it gave up and says that a site does not serve it), `ends:success-claim`, `ends:call-without-result`, `ends:tool-call-as-text`, `ends:without-a-word` (after calls, the last
message is empty), `ends:after-result` (nothing follows the result of a call), and `ends:open-todos` with the first open item of the last to-do list. `stopped:after-replies` is a long talk that ends with
a reply of a tool or a user which nobody answers; its subject is how many replies there were. `closing:label` is the label of the last line of a talk without calls,
such as "answer", so that passes can show under which one the grader looks. Where a user takes part in the talk, questions and claims are ordinary turns and no signs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any

import msgspec

from blade.evidence.signs.claims import sentence_with
from blade.evidence.signs.view import OPENING, RolloutView, in_closing, in_opening, sign, words_of, writes_file
from blade.model.finding import Sign
from blade.model.rollout import Step
from blade.model.tools import is_deep

FEW_CALLS = 5
"""Calls before a refusal: who has worked on a task for longer gave up on it."""
_QUOTES = tuple("\"'\u201c\u2018`")
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
_ADVISES = re.compile(
    r"(?i)\b(?:option|approach|solution|alternative) \d\b|\bif you (?:have|can|want|prefer|need)\b|^\W*try (?:this|the)\b"
)
FEWEST_WAYS = 3
"""Ways that a message lays before its reader; one that wrote no file and ends so leaves the work to somebody else."""
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
_HEDGES = re.compile(
    r" (?:be (?:\w+ )?(?:certain|sure)|say (?:for sure|with)|check|verify|confirm|rule out|help \w+ing)\b",
    re.IGNORECASE,
)
"""What a hedge denies: who cannot be certain, or cannot check, goes on and answers; "cannot help noticing" denies nothing."""
_BLOCKED = re.compile(
    r"\b(?:bot (?:protection|check|detection)|captcha|rate[- ]limit\w*|blocked by|blocking the|blocks (?:the|automated|all)|platform restrictions"
    r"|(?:no|without) (?:internet|network)(?: access| connection)?|(?:does|did) not (?:answer|respond)|unreachable|not reachable)\b",
    re.IGNORECASE,
)
"""What an agent says of a site that does not serve it."""
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
_BYE = re.compile(r"#{2,}\s?[A-Z][A-Z_-]{2,}\s?#{2,}|<(?:stop|end|exit|done|quit)>|\[(?:STOP|END|EXIT|DONE|QUIT)\]")
"""Tokens with which simulated users end a talk."""
_LABEL = re.compile(
    r"[*#>_ ]*(?:([A-Za-z]{3,12}(?: [A-Za-z]{2,12})?):|(?i:the (?:final |correct )?answer is)\b)|#{3,}(?= )"
)
"""What a line that states the answer begins with, where answers are written under a label."""
_ITEM = re.compile(r"\"status\"\s*:|\"state\"\s*:|\"completed?\"\s*:|\"done\"\s*:")
_OPEN = ("pending", "in_progress", "in progress", "todo", "open", "not_started", "not started", "doing", "blocked")
_DONE = ("completed", "complete", "done", "cancelled", "canceled", "finished", "skipped")


_may_refuse = in_opening(_REFUSES.pattern)
_may_be_unable = in_closing(_INABILITY.pattern)


def ending(view: RolloutView) -> Iterable[Sign]:
    """How the last steps of a rollout read."""
    if not view.steps:
        return ()
    last, features = view.last, view.features
    if last is None or features.calls or features.user_messages or view.steps[-1] is not last:
        return _of_steps(view)
    plain = last.kind == "message" and not _may_hold_markup(view.closing) and not _may_conclude(view, last)
    return _label(last) if plain else _of_steps(view)


def _of_steps(view: RolloutView) -> Iterator[Sign]:
    last = view.last
    closing = view.steps[-1]
    if closing.kind == "result" or (closing.party == "user" and not _BYE.search(closing.text)):
        replies = view.features.results + view.features.user_messages
        if replies >= FEWEST_REPLIES:
            yield sign("stopped:after-replies", str(replies), step=closing.index)
    if view.features.calls and closing.party == "agent" and closing.kind == "message" and not closing.text.strip():
        yield sign("ends:without-a-word", step=closing.index)
    if last is not None:
        yield from _message(view, last)
    elif view.steps[-1].kind == "call" and view.session.get("ended") is not True:
        call = view.steps[-1]
        if _ENDING_TOOLS.isdisjoint(words_of(call.tool or "")):
            yield sign("ends:call-without-result", call.tool or "", call.arguments or "", "arguments", call.index)
    elif _stops_after_a_result(view):
        yield sign("ends:after-result", step=closing.index)
    if last is not None and not view.features.calls:
        yield from _label(last)
    if view.features.calls >= FEWEST_CALLS_OF_A_LIST:
        yield from _todos(view)


FEWEST_REPLIES = 10
"""Replies of tools and users after which a cut may be a limit: short talks end alike by chance."""
FEWEST_CALLS_OF_A_LIST = 2
"""A list that was never touched again after the only call is a plan."""


def _stops_after_a_result(view: RolloutView) -> bool:
    """Whether nothing follows the result of a call, which is none that ends the session, and no log says that it ended."""
    called = view.calls[-1] if view.calls else None
    stops = view.steps[-1].kind == "result" and view.session.get("ended") is not True and not view.is_cut
    return stops and called is not None and _ENDING_TOOLS.isdisjoint(words_of(called.tool or ""))


def _label(last: Step) -> Sequence[Sign]:
    text = last.text.rstrip()
    label = _LABEL.match(text, text.rfind("\n") + 1)
    return _labelled((label[1] or label[0]).lower()) if label else ()


@lru_cache(maxsize=256)
def _labelled(label: str) -> Sequence[Sign]:
    """The answers of a run stand under few labels."""
    return (sign("closing:label", label),)


def _message(view: RolloutView, last: Step) -> Iterator[Sign]:
    if _may_hold_markup(view.closing):
        yield from _call_as_text(view, last)
    if last.kind == "refusal":
        yield sign("ends:refusal", "", last.text, "text", last.index)
    elif view.features.user_messages == 0 and _may_conclude(view, last):
        yield from _conclusion(view, last)


def _may_hold_markup(text: str) -> bool:
    return "<" in text or "[" in text or "`" in text or "to=" in text


def _may_conclude(view: RolloutView, last: Step) -> bool:
    """Whether the last message may ask, decline, give up or claim anything: most short answers do nothing of it."""
    asks = _leaves_open(view) and "?" in last.text[-OPENING:]
    return asks or _may_refuse(view) or (view.features.calls > 0 and bool(view.opening_holds or view.closing_holds))


def _leaves_open(view: RolloutView) -> bool:
    """Whether a question at the end can mean that something was left undone: not in an answer that was given in one turn."""
    return view.features.calls > 0 or (not view.passed and not view.features.answered)


def _call_as_text(view: RolloutView, last: Step) -> Iterator[Sign]:
    """Markup of a call that nobody read as one; a prompt that asks for such markup reads it."""
    found = _AS_TEXT.search(last.text[-CLOSING_MARKUP:])
    if found is not None and found[0] not in view.prompt:
        start = max(0, len(last.text) - CLOSING_MARKUP) + found.start()
        yield sign("ends:tool-call-as-text", found[0], last.text[start:], "text", last.index)


CLOSING_MARKUP = 20_000
"""Characters from the end in which the markup of a call may open: its arguments may be a whole file."""


def _conclusion(view: RolloutView, last: Step) -> Iterator[Sign]:
    text = last.text
    paragraph = text[-OPENING:].rstrip().rsplit("\n\n", 1)[-1] if _leaves_open(view) else ""
    if "?" in paragraph and (asks := list(_ASKS.finditer(paragraph))):
        asked = sentence_with(paragraph, asks[-1].start())
        offers = _OFFER.search(asked) is not None and not (_NEEDS.search(asked) and not view.claim)
        advises = len(_ADVISES.findall(text)) >= FEWEST_WAYS and not any(map(writes_file, view.calls))
        subject = "advice" if advises else "offer" if offers else ""
        yield sign("ends:question", subject, asked, "text", last.index)
    opening = text[:OPENING] if view.features.calls <= FEW_CALLS else ""
    found = _refusal(opening) if opening and _may_refuse(view) else None
    if found and not view.claim:
        yield sign("ends:refusal", "", sentence_with(text, found.start()), "text", last.index)
    if not view.features.calls and not found:
        return  # advice alone, as it was asked for
    for found in _INABILITY.finditer(view.closing if _may_be_unable(view) else ""):
        if _DENIES.search(found[0]):
            start = len(text) - len(view.closing) + found.start()
            words = sentence_with(text, start)
            yield sign("ends:gave-up", "", words, "text", last.index)
            if _BLOCKED.search(words):
                yield sign("ends:blocked", "", words, "text", last.index)
            break
    if view.features.calls and view.claim:
        yield sign("ends:success-claim", "", view.claim, "text", last.index)


def _refusal(opening: str) -> re.Match[str] | None:
    """The first words that decline, neither quoted nor a hedge before an answer."""
    every = (one for one in _REFUSES.finditer(opening) if not _HEDGES.match(opening, one.end()))
    return next((one for one in every if opening[one.start() - 1 : one.start()] not in _QUOTES), None)


def _todos(view: RolloutView) -> Iterator[Sign]:
    """An item of the last to-do list that is not done."""
    for call in reversed(view.calls):
        arguments = call.arguments or ""
        if not _names_a_state(arguments) or not _ITEM.search(arguments):
            continue
        items = _items(arguments)
        if items is not None:
            unfinished = [name for name, state in items if state in _OPEN]
            if unfinished and len(items) > 1:
                quote = unfinished[0] if unfinished[0] in arguments else ""
                yield sign("ends:open-todos", unfinished[0], quote, "arguments", call.index)
            return


def _names_a_state(arguments: str) -> bool:
    """Whether one of the names may be there: to look for them takes a tenth of the time."""
    return '"status"' in arguments or '"state"' in arguments or '"complete' in arguments or '"done"' in arguments


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
