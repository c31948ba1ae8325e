"""What a closing message amounts to, by its form: it admits a failure, asks, puts off, or says that something is done.

Admitting is known by two sets of words. `may_admit` is wide: a message without any of them passes a failure over.
`admits` is narrow: one with such words says that something did not work. Of a message between the two nothing can be known.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from blade.model.tools import READING
from blade.rules.phrases import any_of

_FIXES = r"(?:fix|resolv|solv|address|mend|correct|repair|handl|treat|clos|rais|prevent|avoid|catch|follow)\w*"
PLAIN = (
    r"\berrors?\b",
    r"\bfail(?:s|ed|ing|ure|ures)?\b(?! (?:tests?|cases?)\b)",
    r"\b(?:can|could|did|does|was|were|is|are|do|has|have|had|would|will|am|.m|.re)(?: not|n.t)\b",
    r"\bcannot\b",
    r"\bunable\b",
    r"\b(?:unfortunately|afraid)\b",
    r"\b(?:sorry|apologi[sz]e)",
    r"\b(?:incorrect|invalid|not found|no such|unavailable|wrong|try again|retry)",
    r"\b(?:an?|some|this|technical|system|unexpected|into|was|is|having|with)(?: \w+)? (?:issues?|problems?|trouble|difficult\w+)\b",
    r"\b(?:declin|reject|refus|denied)",
    r"\b(?:no (?:pude|puedo|se pudo|ha sido posible)|lamento|lo siento|malheureusement|leider|konnte|purtroppo|infelizmente)\b",
    r"\bd.sol",
    "抱歉|无法|失败|错误|申し訳|できません|エラー|к сожалению|не удалось|ошибка",
)
"""What a message holds that says of something that it did not work."""
PERHAPS = (
    *PLAIN,
    r"\b(?:trouble|difficult|instead|transfer)",
    r"(?<!the )(?<!this )(?<!your )\b(?:issue|problem)(?!s? ?#?\d)",
    r"\b(?:another|different|alternativ)",
    r"\b(?:remains?|still|rather than|unless|needs? to|would (?:need|have) to)\b",
)
"""The same, and words that may say so."""

_plain = any_of(PLAIN)
_perhaps = any_of(PERHAPS)
FIXED = rf"\b{_FIXES}(?: \S+){{0,3}} (?:errors?|failures?|issues?|problems?|bugs?)\b"
_fixed = re.compile(FIXED, re.IGNORECASE)
_may_be_fixed = any_of((FIXED,), re.IGNORECASE)
_dotted = re.compile(r"\.(?<=\w\.)[a-z]")
_code = re.compile(r"```.*?```|`[^`\n]+`|\S*[/\\]\S+|\b\w+\.[a-z]{1,4}\b(?!\s[a-z])", re.DOTALL)
_so_that = re.compile(r"\b(?:so that|so|now|no longer)\b.{0,60}$", re.IGNORECASE)
_sentence = re.compile(r"(?<=[.!?;])\s+|\n+")
_IRREGULAR = "done|made|sent|set|put|taken|gone|given|paid|cut|begun|written|built|taught|brought|found"
_READING_VERBS = "|".join(
    sorted({*(f"{verb.removesuffix('e')}ed" for verb in READING), "found", "seen", "looked", "reviewed", "received"})
)
_NOT_READING = (
    rf"(?!(?:{_READING_VERBS}|noted|noticed|understood|asked|mentioned|wanted|hoped|needed|located|confirmed|indeed)\b)"
)
DONE = (
    rf"\b(?:have|has|.ve|.s|had)(?: now| just| also| all| both| successfully| been| gone ahead and)* {_NOT_READING}(?:\w+ed|{_IRREGULAR})\b",
    rf"\b(?:I|we)(?: now| just| also| \w+ly)? {_NOT_READING}(?:\w+ed|made|sent|put|took|did|went ahead)\b",
    r"\b(?:it|that|this|everything|all|change|update|order|request|payment) (?:went|has gone|is|.s) (?:all )?through\b",
    r"\b(?:it|that|this|everything|change|update|request)(?: is| was|.s)(?: \w+)? (?:done|complete\w*|sorted|settled|finished|arranged|in place|live|official)\b",
    r"\b(?:is|are|.s|.re)(?: all)? (?:now \w+|all set|sorted|on (?:its|the) way|on file|in (?:our|the|your) (?:system|records?|account|file))\b",
    r"^(?:all |and )?(?:done|set|sorted|finished|complete|settled|fixed)\b",
    r"^(?:\w+ ){1,3}(?:done|\w{3,}ed)[.!]*$",
)
"""Forms of a sentence that says that something is done, whatever the verb is."""
_done = any_of(DONE)
_not_done = re.compile(
    r"\b(?:if|once|when|after|until|unless|before|whether|not|never|no|none|nothing|cannot|would|should|could|might|may|can|must|already"
    r"|please|let me|need|going to|(?:I|we)(?: will|['\u2019]ll))\b|n['\u2019]t\b|\?",
    re.IGNORECASE,
)
"""Words that make a sentence a condition, a denial, a wish, a promise or a question."""


def may_admit(text: str) -> bool:
    """Whether a message holds any word in which a failure may be admitted."""
    return _perhaps.is_in(_without_fixes(_prose(text)))


def admits(text: str) -> re.Match[str] | None:
    """The words in which a message says that something did not work; what it says of its own fixes is none."""
    text = _prose(text)
    for match in _plain.finditer(text):
        begin = max((end.end() for end in _sentence.finditer(text, 0, match.start())), default=0)
        if not _so_that.search(text, begin, match.start()) and not _is_fixed(text, match):
            return match
    return None


def _prose(text: str) -> str:
    """A message with blanks in place of its code, whose names are no words of the agent."""
    if "`" in text or "/" in text or "\\" in text or _dotted.search(text):
        return _code.sub(lambda match: " " * len(match[0]), text)
    return text


def _without_fixes(text: str) -> str:
    """A message without what it says of its own fixes."""
    return _fixed.sub("", text) if _may_be_fixed.is_in(text) else text


def _is_fixed(text: str, match: re.Match[str]) -> bool:
    return any(fix.start() <= match.start() < fix.end() for fix in _fixed.finditer(text))


def says_done(text: str) -> Iterator[str]:
    """The sentences of a message that have the form of a report of something done."""
    for sentence in _sentence.split(text):
        if _done.search(sentence.strip()) and not _not_done.search(sentence):
            yield sentence.strip()
