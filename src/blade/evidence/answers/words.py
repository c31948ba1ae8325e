"""Words, names, dates and formulas."""

from __future__ import annotations

from blade.evidence.answers.match import Match, agreed, same_value
from blade.evidence.answers.plain import trimmed
from blade.evidence.moments import as_moment
from blade.model.pattern import pattern_of

_OPPOSITE = {"yes": "no", "no": "yes", "true": "false", "false": "true"}
_FIRST_WORD = pattern_of(r"(yes|no|true|false)(?: ?[,.;:-] ?| (or|and) (?:yes|no|true|false)\b)")
FORMULA = pattern_of(r"[\\^{}=<>|√π∞]|\*\*|[a-z]\(|[\w)] ?[*+] ?[\w(]|[0-9)] ?[/-] ?[\w(]|\w ?/ ?[0-9(]|^-[a-z]")
_SPELLING = (
    (pattern_of(r"\\sqrt ?\{([^{}]*)\}"), r"sqrt(\1)"),
    (pattern_of(r"\^ ?\{([^{}]*)\}"), r"^(\1)"),
    (pattern_of(r"\^\((\w)\)"), r"^\1"),
    (pattern_of(r"\*\*"), "^"),
    (pattern_of(r"\\(?:cdot|times)(?![a-z])"), "*"),
    (pattern_of(r"\\(pi|infty|theta|alpha|beta|gamma|lambda)(?![a-z])"), r"\1"),
    (pattern_of(r"(?<!\w)\s+|\s+(?!\w)"), ""),
)
NEGATION = pattern_of(
    r"\b(?:not?|never|neither|nor|none|cannot|without|except|unlike|instead|rather|unsure|unknown|wrong|incorrect|false|wait|actually)\b|n't\b"
)
_NAME = pattern_of(r"[^\W\d_]+(?:[ '-][^\W\d_]+){0,3}")
_ID = pattern_of(r"[^\W\d_]\w*")


def as_same_moment(said: str, wanted: str) -> Match | None:
    """A day or a time of day, written in two ways; a number such as 12.30 is one only where letters say so."""
    text = wanted + said
    if ":" not in text and "-" not in text and not any(map(str.isalpha, text)):
        return None
    mine, key = as_moment(said), as_moment(wanted)
    if mine is None or key is None or type(mine) is not type(key):
        return None
    return same_value(mine == key)


def as_yes_no(said: str, wanted: str) -> Match | None:
    if wanted not in _OPPOSITE:
        return None
    if said == _OPPOSITE[wanted]:
        return Match.DIFFERENT
    first = _FIRST_WORD.match(said)
    if first is None:
        return Match.UNKNOWN
    if first[2]:
        return Match.SEVERAL
    if first[1] == wanted:
        return Match.CONTAINED
    return Match.DIFFERENT if first[1] == _OPPOSITE[wanted] else Match.UNKNOWN


def as_formula(said: str, wanted: str) -> Match | None:
    if not (FORMULA.search(said) or FORMULA.search(wanted)):
        return None
    return agreed(_spelled(said) == _spelled(wanted))


def _spelled(formula: str) -> str:
    for pattern, replacement in _SPELLING:
        formula = pattern.sub(replacement, formula)
    return formula


def as_text(said: str, wanted: str) -> Match:
    if " or " in said and " or " not in wanted:
        parts = said.removeprefix("either ").split(" or ")
        if any(trimmed(part) == wanted for part in parts):
            return Match.SEVERAL
    at = _whole_words(said, wanted)
    if at >= 0:
        around = said[:at] + said[at + len(wanted) :]
        return Match.UNKNOWN if NEGATION.search(around) else Match.CONTAINED
    return Match.DIFFERENT if _are_two_names(said, wanted) else Match.UNKNOWN


def _whole_words(text: str, words: str) -> int:
    """Where the text holds these words, and not as a part of others, or -1."""
    at = text.find(words)
    while at >= 0:
        before, after = text[at - 1 : at] if at else "", text[at + len(words) : at + len(words) + 1]
        if not (before.isalnum() or after.isalnum() or before in _JOINS or after in _JOINS):
            return at
        at = text.find(words, at + 1)
    return -1


_JOINS = frozenset("_-+#'/\\")


def _are_two_names(one: str, other: str) -> bool:
    """Short names that share no beginning of a word, and are not each other's initials; or two identifiers."""
    if _NAME.fullmatch(one) and _NAME.fullmatch(other):
        left, right = one.replace("-", " ").split(), other.replace("-", " ").split()
        if {word[:4] for word in left} & {word[:4] for word in right}:
            return False
        if any(
            min(len(left), len(right)) == 1 and _initials(a).startswith(b[0][:2])
            for a, b in ((left, right), (right, left))
        ):
            return False
        return one[:3] != other[:3]
    both_ids = _ID.fullmatch(one) and _ID.fullmatch(other)
    return bool(both_ids) and any(map(str.isdigit, one)) and any(map(str.isdigit, other))


def _initials(words: list[str]) -> str:
    return "".join(word[0] for word in words) if len(words) > 1 else "?"
