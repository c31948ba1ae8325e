"""Letters of a multiple choice."""

from __future__ import annotations

from blade.evidence.answers.match import Match
from blade.model.pattern import pattern_of

_LETTERS = pattern_of(
    r"(?:(?:both|either|options?) )?\(?[a-z]\b[.)]?(?:(?: ?, ?| ?& ?| (?:or|and) |, (?:or|and) )\(?[a-z]\b[.)]?)*"
)
_ONE_LETTER = pattern_of(r"\b[a-z]\b")
_OPTION = pattern_of(r"(?:option )?(?:\(([a-z])\)|\[([a-z])\]|([a-z])[.):])(?:[ *]+(\S.*))?")
_NEXT_OPTION = pattern_of(r"(?<!\w)\(([a-z])\)|\b(?:or|and) ([a-z])(?:[.):]|$)")
_DENIED = pattern_of(r"(?:is|was|seems|looks|cannot|can't|isn't)\b.*\b(?:not|wrong|incorrect|false|be)\b|isn't|not\b")


def as_option(said: str, wanted: str) -> Match | None:
    key = letters_of(wanted)
    if key is None:
        return None
    found = letters_of(said) or _labelled_letters(said)
    if found is None:
        return Match.UNKNOWN
    if found == key:
        return Match.OTHER_FORM
    if len(set(found)) > len(key) == 1:
        return Match.SEVERAL
    return Match.UNKNOWN if set(found) == set(key) else Match.DIFFERENT


def letters_of(text: str) -> tuple[str, ...] | None:
    """("a",) of "(a)" and ("a", "c") of "a and c"; None where there is anything else."""
    if _LETTERS.fullmatch(text) is None:
        return None
    return tuple(_ONE_LETTER.findall(text))


def _labelled_letters(text: str) -> tuple[str, ...] | None:
    """("c",) of "c: because of this"."""
    option = _OPTION.fullmatch(text)
    if option is None or _DENIED.match(option[4] or ""):
        return None
    first = option[1] or option[2] or option[3]
    others = (found[1] or found[2] for found in _NEXT_OPTION.finditer(option[4] or ""))
    return tuple(dict.fromkeys((first, *others)))
