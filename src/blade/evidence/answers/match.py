"""What a comparison of an answer with its key can come to."""

from __future__ import annotations

from enum import StrEnum


class Match(StrEnum):
    EQUAL = "equal"
    """The same after normalizing case, white space, wrappers, a closing dot and a label on one side."""
    OTHER_FORM = "other form"
    """Another way of writing the same value."""
    CONTAINED = "contained"
    """A longer text that holds the key as whole words and does not negate it; not certain."""
    DIFFERENT = "different"
    """A comparable value, and another one."""
    SEVERAL = "several"
    """More than one candidate of the key's kind."""
    NONE = "none"
    """No answer was extracted, and the text states none that can be compared."""
    NOT_EXTRACTED = "not extracted"
    """No answer was extracted, but the text states the key plainly."""
    UNKNOWN = "unknown"
    """Cannot be compared: long, code, or a matter of meaning."""


def agreed(same: bool) -> Match:
    return Match.OTHER_FORM if same else Match.UNKNOWN


def same_value(same: bool) -> Match:
    return Match.OTHER_FORM if same else Match.DIFFERENT
