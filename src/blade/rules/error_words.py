"""How an error reads: by its form, so that no rule hangs on the words of one harness.

A result is an error where the artifact or its reader marks it as one; else where it is short and has the form of one:
an object with a key for errors or a status of 400 and more, or a line that opens as errors do. What a document, a
record or the agent's own program says about errors is content. What every call of a rollout got in the same words,
whatever it asked for, is no content either.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

import msgspec

from blade.model.rollout import LONGEST_UNMARKED, Step
from blade.model.tools import is_deep
from blade.rules.phrases import any_of

RUNS_CODE = frozenset(
    """bash shell sh terminal console powershell python ipython jupyter repl notebook command cmd code script
    exec""".split()  # noqa: SIM905
)
"""Words in the names of tools whose results are the output of the agent's own programs."""
_part_of_name = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")

HEAD = LONGEST_UNMARKED
"""Characters at the start of a result in which an error is expected, and the most that one without a mark has."""
OBJECT = (
    r"""["'](?:error\w*|exception|fault)["']\s*:\s*(?!null|none|false|""|''|\[\]|\{\}|0\b)""",
    r"""["'](?:status|code|status_?code|http_?status|error_?code)["']\s*:\s*["']?[45]\d\d\b""",
    r"""["'](?:code|type)["']\s*:\s*["']\w*(?:error|exception|exceeded|reached|denied|failed|failure|unavailable|timeout)["']""",
    r"""["'](?:success|ok)["']\s*:\s*false""",
)
"""What an object holds that is an error."""
_object = any_of(OBJECT, re.IGNORECASE)
_says_one_thing = re.compile(r"""\s*\{\s*["'](?:detail|message)["']\s*:[^,]*\}\s*$""", re.IGNORECASE)
_opens = re.compile(
    r"""\W*(?:<[^>]{1,60}>\W*)*(?:
        (?:http|status|code|response)\W+(?:(?:status|code|error)\W+){0,3}[45]\d\d\b
      | [45]\d\d(?!\w)
      | [\w.]*(?:error|exception|fault|failure|timeout|broken\spipe|fetch\sfailed)\b
      | (?-i:[A-Z]{2,}(?:_[A-Z0-9]+)+)\b\s*:
      | (?:[\w./-]+:?\s){0,6}(?:error|failed|failure|timed\sout|timeout|unavailable|unreachable|refused|denied|exceeded?|reached|
            not\s(?:found|available|responding|exist|one|a|registered|recogni[sz]ed|supported|running|ready))\b
      | (?:this|your|the)\s(?:request|call|query)\b
      | (?:unknown|unsupported|invalid|unrecogni[sz]ed|no|too\smany|cannot|could\snot|unable)(?![a-z])
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_tells = re.compile(
    r"^\W*(?:if|when|how|why|once|after|before)\b"
    r"|\b(?:is an?|means?|refers? to|happens?|explain\w*|how to|what is|see also|as expected|passed)\b",
    re.IGNORECASE,
)
"""Words of a text that is about errors rather than one."""
_varies = re.compile(r"\d+|\b[0-9a-f]{6,}\b|\s+", re.IGNORECASE)
_word = re.compile(r"[A-Za-z]{3,}")
_amiss = re.compile(
    r"""error|fail|fatal|fault|exception|unable|can(?:not|.?t)\b|could\s?n[o']t|\bnot\b|n't\b|\bnever\b|\bno\b|unavailable|unreachable
    |denied|refused|reject|abort|time[ds]?[\s-]?out|lost|dead|died|killed|terminated|closed|crash|exceed|exhausted|missing|invalid
    |expired|stuck|pending|busy|down\b|gone\b|offline|quota|unhealthy|\bexit(?:ed)?\b""",
    re.IGNORECASE | re.VERBOSE,
)
"""Words of which a text that reports trouble has at least one."""
_all_well = re.compile(
    r"\bno (?:output|errors?|warnings?|changes?|content)\b|success|\bexit(?:ed)?(?: with)?(?: code| status)?:? 0\b",
    re.IGNORECASE,
)


@lru_cache(maxsize=1024)
def runs_code(tool: str) -> bool:
    """Whether a tool runs what the agent writes: what it returns is the output of the agent's own programs."""
    return not RUNS_CODE.isdisjoint(word.lower() for word in _part_of_name.findall(tool))


def error_words(step: Step) -> str:
    """What a result says as an error, from its head; empty for content and for every other step."""
    if step.kind != "result":
        return ""
    head = step.text[:HEAD]
    if step.failed:
        return head
    if len(step.text) > HEAD or runs_code(step.tool or ""):
        return ""
    return _unmarked(step.text)


@lru_cache(maxsize=512)
def _unmarked(text: str) -> str:
    """What a short result without a mark says as an error; several rules ask of the same ones."""
    if text.lstrip().startswith("{"):
        return text if _says_one_thing.match(text) or _object.is_in(text) else ""
    return text if _opens.match(text) and not is_about_errors(text) else ""


def is_about_errors(words: str) -> bool:
    """Whether a text tells of errors in general, as a handbook does."""
    return _tells.search(words) is not None


def said_to_all(steps: Sequence[Step]) -> str:
    """What all results say in the same words, numbers aside, though different things were asked for; empty where they differ.

    The words name neither the tools that were called nor anything that every call has: an answer to a mistake that the
    agent makes again and again does.
    """
    results = [step for step in steps if step.kind == "result"]
    if len(results) < 2 or any(len(step.text) > HEAD for step in results):
        return ""
    texts = {_varies.sub(" ", step.text).strip() for step in results}
    asked = {(step.tool, step.arguments) for step in steps if step.kind == "call"}
    if len(texts) != 1 or len(asked) < 2:
        return ""
    text = results[0].text
    return text if not _is_about_calls(text, steps) else ""


def reports_trouble(text: str) -> bool:
    """Whether a text has a word for something amiss, and none for all being well."""
    return _amiss.search(text) is not None and _all_well.search(text) is None


def _is_about_calls(text: str, steps: Sequence[Step]) -> bool:
    """Whether a text names a tool that was called or a word that every call gives, or speaks of arguments."""
    calls = [step for step in steps if step.kind == "call"]
    named = any(step.tool and re.search(rf"(?<!\w){re.escape(step.tool)}(?!\w)", text) for step in calls)
    shared = set.intersection(*({word.lower() for word in _word.findall(_given(step.arguments))} for step in calls))
    return named or not shared.isdisjoint(word.lower() for word in _word.findall(text)) or _of_arguments(text)


def _of_arguments(text: str) -> bool:
    return (
        re.search(r"\b(?:arguments?|parameters?|fields?|json|schema|required|syntax)\b", text, re.IGNORECASE)
        is not None
    )


def _given(arguments: str | None) -> str:
    """The values of a call's arguments, without their names."""
    if not arguments or is_deep(arguments):
        return arguments or ""
    try:
        value = msgspec.json.decode(arguments)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return arguments
    return " ".join(map(str, value.values())) if isinstance(value, dict) else str(value)
