"""How an error reads: by its form, so that no rule hangs on the words of one harness.

A result is an error where the artifact or its reader marks it as one; else where it is short and has the form of one:
an object with a key for errors or a status of 400 and more, or a line that opens as errors do. What a document, a
record or the agent's own program says about errors is content.
"""

from __future__ import annotations

import re
from functools import lru_cache

from blade.core.rollout import Step

HEAD = 300
"""Characters at the start of a result in which an error is expected, and the most that one without a mark has."""
RUNS_CODE = frozenset(
    """bash shell sh terminal console powershell python ipython jupyter repl notebook command cmd code script
    exec""".split()  # noqa: SIM905
)
"""Words in the names of tools whose results are the output of the agent's own programs."""

_part = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_object = re.compile(
    r"""["'](?:error\w*|exception|fault)["']\s*:\s*(?!null|none|false|""|''|\[\]|\{\}|0\b)
      | ["'](?:status|code|status_?code|http_?status|error_?code)["']\s*:\s*["']?[45]\d\d\b
      | ["'](?:code|type)["']\s*:\s*["']\w*(?:error|exception|exceeded|reached|denied|failed|failure|unavailable|timeout)["']
      | ["'](?:success|ok)["']\s*:\s*false
      | ^\s*\{\s*["'](?:detail|message)["']\s*:[^,]*\}\s*$
    """,
    re.IGNORECASE | re.VERBOSE,
)
_opens = re.compile(
    r"""\W*(?:<[^>]{1,60}>\W*)*(?:
        (?:http|status|code|response)\W+(?:(?:status|code|error)\W+){0,3}[45]\d\d\b
      | [45]\d\d(?!\w)
      | [\w.]*(?:error|exception|fault|failure|timeout|broken\spipe|fetch\sfailed)\b
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


def error_words(step: Step) -> str:
    """What a result says as an error, from its head; empty for content and for every other step."""
    if step.kind != "result":
        return ""
    head = step.text[:HEAD]
    if step.failed:
        return head
    if len(step.text) > HEAD or runs_code(step.tool or ""):
        return ""
    if head.lstrip().startswith("{"):
        return head if _object.search(head) else ""
    return head if _opens.match(head) and not is_about_errors(head) else ""


def is_about_errors(words: str) -> bool:
    """Whether a text tells of errors in general, as a handbook does."""
    return _tells.search(words) is not None


@lru_cache(maxsize=1024)
def runs_code(tool: str) -> bool:
    """Whether a tool runs what the agent writes."""
    return not RUNS_CODE.isdisjoint(word.lower() for word in _part.findall(tool))
