"""What a rule of `sanitize` is, and the questions that rules ask of a value: a placeholder, a hash, drawn at random?"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable
from enum import StrEnum

from msgspec import Struct


class SanitizeGroup(StrEnum):
    """What a rule looks for; a check of the package stands for each."""

    SECRETS = "secrets"
    ENDPOINTS = "endpoints"
    PATHS = "paths"
    PEOPLE = "people"
    SOURCE = "source"
    NAMES = "names"
    CLEARANCE = "clearance"


class PatternMatch(Struct, frozen=True, kw_only=True):
    """What a pattern matched: `view` is the line as rules see it, the value stands at [start, end)."""

    view: bytes
    name: bytes
    """What the value is assigned to; empty for patterns without a group `name`."""
    start: int
    end: int

    @property
    def value(self) -> bytes:
        """The bytes that a redaction replaces."""
        return self.view[self.start : self.end]

    def after(self, size: int = 1) -> bytes:
        """What follows the value."""
        return self.view[self.end : self.end + size]

    def before(self, size: int = 1) -> bytes:
        """What stands in front of the value."""
        return self.view[max(0, self.start - size) : self.start]


def always(match: PatternMatch) -> bool:
    """The pattern settles it."""
    return True


class SanitizeRule(Struct, frozen=True, kw_only=True):
    """One form of what must not be shared."""

    name: str
    """Stands in `[redacted: NAME]` and in the allow list."""
    group: SanitizeGroup
    says: str
    """What was found, in the plural."""
    gate: str = ""
    """RE2, over raw bytes: where it does not match, the rule is not tried. Empty for rules about whole files."""
    pattern: str = ""
    """RE2, over the view; a group `value` is what is redacted, a group `name` what it is assigned to."""
    keep: Callable[[PatternMatch], bool] = always
    """Whether a match is one, where the form alone does not settle it."""
    backslashes: bool = False
    """It needs the backslashes that the view hides."""
    whole: bool = False
    """It speaks of the text around it: the whole string, line or file is redacted."""


def own(names: str) -> frozenset[bytes]:
    """Names with blanks between them, as rules compare them."""
    return frozenset(names.encode().split())


_STAND_IN = re.compile(
    rb"example|placeholder|change_?me|your[-_]?|(?:my|some|the)[-_]?(?:secret|token|api|key|pass)|dummy|fake|sample|redacted|"
    rb"insert|replace|todo|xxx|\*\*\*|\.\.\.|<|>|\{|\}|\$|%[sd(]|not[-_]?(?:needed|used|set|a[-_]real)|"
    rb"no[-_]?key|goes[-_]?here|key[-_]?here|lorem|(?:access|auth|api|secret|secure)[-_]?(?:token|key)",
    re.IGNORECASE,
)
_SEQUENCE = re.compile(rb"abcdef|12345|98765|qwerty|deadbeef", re.IGNORECASE)
_INVENTED = re.compile(
    rb"(?:.+\.)?(?:example(?:\.[a-z.]{2,8})?|test|invalid|localhost|localdomain)|"
    rb"(?:(?:your|my|some)-?(?:domain|company|email|mail|host|server|site|org)|domain|company)\.[a-z]{2,8}",
    re.IGNORECASE,
)
_WORDS = frozenset(
    b"pass|pw|pwd|string|str|text|none|null|true|false|undefined|required|optional|hidden|password|passwort|passwd|secret|token|test|testing|"
    b"empty|default|value|integer|number|object|boolean|bytes|admin|root|user|username|input|field|varchar|char|type|"
    b"os.environ|process.env|getpass|self|request|config|settings|credentials|incorrect|correct|wrong|missing|"
    b"unknown|reset|forgot|login|confirm|confirmation|strong|weak|newpassword|oldpassword|hash|hashed|plaintext|encrypted".split(
        b"|"
    )
)
_UUID = re.compile(rb"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.IGNORECASE)
_HEX = re.compile(rb"(?:0x|sha\d+[:-]|md5[:-])?[0-9a-f]+", re.IGNORECASE)
_CODE = re.compile(
    rb"[A-Za-z_]\w*(?:(?:\.|::|->)[A-Za-z_]\w*)+|[A-Za-z_]+(?:[-_/.][A-Za-z_]+)+|[A-Z][A-Z0-9_]+_[A-Z0-9_]+|self\..*|/.*"
)

_LEAST_BITS = 3.2
_LONG_PART = 10


def is_placeholder(value: bytes) -> bool:
    """A placeholder: says that something belongs here."""
    return len(set(value)) <= max(2, len(value) // 8) or _STAND_IN.search(value) is not None


def is_typed_sequence(value: bytes) -> bool:
    """Keys of a keyboard or the alphabet in a row: somebody made it up."""
    return _SEQUENCE.search(value) is not None


def is_example_domain(domain: bytes) -> bool:
    """A domain that the standards reserve for examples, or that says that it is one."""
    return _INVENTED.fullmatch(domain) is not None


def is_common_word(value: bytes) -> bool:
    """A word that stands where a password would stand: a type, a label, a state."""
    return value.lower().strip(b"_-.:!?") in _WORDS


def is_identifier(value: bytes) -> bool:
    """A name in code, a path or words with signs between them."""
    return _CODE.fullmatch(value) is not None


def is_hash(value: bytes) -> bool:
    """A UUID, a commit or another hash in hexadecimal digits: says which thing, opens nothing."""
    return _UUID.fullmatch(value) is not None or _HEX.fullmatch(value) is not None


def entropy(value: bytes) -> float:
    """Shannon entropy in bits a character."""
    size = len(value)
    return -sum(n / size * math.log2(n / size) for n in Counter(value).values()) if size else 0.0


def has_letters_and_digits(value: bytes) -> bool:
    """Letters and digits are in it."""
    return any(48 <= c <= 57 for c in value) and value.upper() != value.lower()


def looks_random(value: bytes) -> bool:
    """It looks drawn at random: digits and both cases, or a part of letters and digits that is too long for a word."""
    if (
        not has_letters_and_digits(value)
        or entropy(value) < _LEAST_BITS
        or is_placeholder(value)
        or is_identifier(value)
    ):
        return False
    longest = max(re.split(rb"[-_.]", value), key=len)
    return (
        value.lower() != value != value.upper()
        or (len(longest) >= _LONG_PART and has_letters_and_digits(longest))
        or is_hash(value)
    )
