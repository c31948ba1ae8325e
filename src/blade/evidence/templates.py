"""The shape of a verifier's message: its telling line, that line without its particulars, and lines of one shape.

A log is thousands of characters, nearly all of them the same in every rollout. `telling` finds the line that says what
went wrong, `mask` takes out what is particular to one task, and `cluster` joins what then still differs by a word or
two. Everything here is a pure function of the text, and takes linear time on text that was written to be slow.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from itertools import islice
from math import ceil
from operator import eq

from msgspec import Struct

from blade.model.pattern import pattern_of

HEAD = 2_048
TAIL = 20_480
"""Characters of a long text that are looked at: its opening, and its end, where logs put what went wrong."""

LONGEST_LINE = 200
LONGEST_TEMPLATE = 160

LOOKED = 512
"""Characters of a message that are masked: a longer one is known by its opening."""

SIMILAR = 0.6
"""Share of the tokens that a template has in common with a group that it joins."""

COMPARED = 64
"""Groups of one bucket that a template is compared with, the most frequent ones."""

MANY_LINES = 200
"""Lines that are tried before a log counts as all decoration."""

ANY = "<*>"

_ANSI = pattern_of(r"\x1b(?:\[[0-9;]*[A-Za-z]?)?")
_PYTEST = pattern_of(r"\n[ \t]*+E {3,}(?=\S)")
_SUMMARY = pattern_of(r"\n[ \t]*+(?=(?:FAILED|ERROR) \S+?(?:::| - ))")
_EXCEPTION = pattern_of(r"(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?::|\s*$)", re.MULTILINE)
_RAISED = pattern_of(r"[A-Za-z_][\w.]*+(?::|\s*$)")
_WRAPPER = pattern_of(r"\b(?:SystemExit|CalledProcessError)\b")
_NEXT_LINE = pattern_of(r"[ \t\r]*\n\s*(?:E {3,})?(\S[^\r\n]*)")
_TRACEBACK = "Traceback (most recent call last)"
_TRACEBACKS = 5
_HINTS = ("rror", "RROR", "xception", "FATAL", "no such ", "undefined reference", "panicked at", "egmentation fault")
_HINTED_PLACES = 24
_BEFORE, _AFTER = 8, 60
"""Characters around a hint that are read; `syntax e` is the most that an error has before it."""

_ERROR = pattern_of(
    r"(?<![\w-])[Ee]rror(?:\[\w+\]| ?[A-Z]+\d+)?:"
    r"|(?<![\w=-])(?:ERROR|FATAL)(?![\w=])"
    r"|%Error|\bsyntax error\b|\bno such \w+:|undefined reference to|panicked at|[Ss]egmentation fault"
)
_THROWN = pattern_of(
    r"[ \t]*(?:Exception in thread |(?:Uncaught |Caused by: )?(?:[A-Za-z_]\w*+[.$])*+[A-Z]\w*(?:Error|Exception):)"
)
_DECORATION = pattern_of(
    r"\d+ (?:passed|failed|errors?|skipped|warnings?|deselected|xfailed)\b.*"
    r"|Ran \d+ tests? in .*|OK|(?:OK|FAILED) \(.*\)|short test summary info|TESTS=.*"
    r"|Process (?:finished|exited).*|\[?Finished in .*|(?:Command )?exit(?:ed)?(?: with)?(?: code| status).*"
    r"|make(?:\[\d+\])?: \*\*\*.*"
)
_ALNUM = pattern_of(r"[^\W_]")
_BORDER = " \t=-*_~#"


def telling(text: str) -> tuple[int, int]:
    """Where the line stands that says most plainly what went wrong: `text[start:end]`, at most `LONGEST_LINE` long.

    It is a whole line unless it had to be cut, without white space around it and without the mark of pytest. An
    exception whose line ends in a colon takes the next line with it. Only a blank text gives an empty slice.
    """
    start, stop = len(text) - len(text.lstrip()), len(text.rstrip())
    if stop <= start:
        return 0, 0
    if text.find("\n", start, stop) < 0 and text.find("\r", start, stop) < 0:
        unmarked = start + 1 if text.startswith("E   ", start, stop) else start
        return _trimmed(text, unmarked, stop)
    gap = max(0, stop - start - HEAD - TAIL)
    view = _readable(f"{text[start : start + HEAD]}\n{text[stop - TAIL : stop]}" if gap else text[start:stop])
    at = _says(view)
    end = view.find("\n", at)
    first, last = _trimmed(view, at, len(view) if end < 0 else end)
    # The view has a line break before the body, and another where the middle is left out.
    moved = start - 1 + (gap - 1 if gap and at > HEAD + 1 else 0)
    return _with_next_line(text, first + moved, last + moved)


def mask(message: str) -> str:
    """The template of a message: what is particular to one task is named instead of shown.

    Numbers, quoted strings, paths, addresses, times and names with digits become `<n>`, `<text>`, `<path>` and so on;
    runs of one placeholder become one. A message that is a single word, such as a failure code, keeps its letters.
    At most `LONGEST_TEMPLATE` characters. The mask of a mask is itself.
    """
    template = _mask_once(message[:LOOKED])
    # What was cut or masked may have left a neighbour that reads differently now. Each round has less left to mask.
    while (again := _masked_again(template)) != template:
        template = again
    return template


def readable(template: str) -> str:
    """A template as people read it: three dots for what is particular to one task."""
    return _PLACEHOLDER.sub("...", template)


def cluster(templates: Mapping[str, int]) -> dict[str, str]:
    """For each template, given with its count, the one that stands for its group.

    Templates of one length and one first word that share most of their tokens are a group; tokens that differ are
    `<*>` in the one that stands for it. A template without such neighbours stands for itself. The order of the
    mapping does not matter: the most frequent templates open the groups.
    """
    buckets: dict[tuple[int, str], list[_Group]] = {}
    for text, _ in sorted(templates.items(), key=lambda item: (-item[1], item[0])):
        tokens = text.split()
        if tokens:
            tokens[0] = _without_module(tokens[0])
        _join(buckets.setdefault((len(tokens), tokens[0] if tokens else ""), []), text, tokens)
    groups = [group for bucket in buckets.values() for group in bucket]
    return {text: group.name for group in groups for text in group.members}


def _readable(body: str) -> str:
    """The body with a line break before each line and blanks for colours; all but the first break at its place."""
    view = "\n" + body.replace("\r", "\n")
    if "\x1b" in view:
        plain = _ANSI.sub(lambda code: " " * len(code[0]), view).rstrip()
        return plain or view
    return view


def _says(view: str) -> int:
    """Where the telling line of a view starts; a line that only passes on that something failed is the last resort."""
    passed_on = -1
    if not _may_tell(view):
        return _last_line(view)
    for find in (_pytest_line, _exception_line, _summary_line, _error_line):
        at = find(view)
        if at >= 0 and not _is_wrapper(view, at):
            return at
        passed_on = at if passed_on < 0 else passed_on
    return passed_on if passed_on >= 0 else _last_line(view)


def _may_tell(view: str) -> bool:
    """Whether a line may say what went wrong by what it holds: one look for all of it, where eleven took most of the time."""
    return _gate()(view.encode("utf-8", "replace")) is not None


@cache
def _gate() -> Callable[[bytes], object]:
    import re2

    options = re2.Options()
    options.never_capture = True
    needles = ("E   ", _TRACEBACK, "FAILED ", "ERROR ", *_HINTS)
    search: Callable[[bytes], object] = re2.compile("|".join(map(re2.escape, needles)), options).search
    return search


def _pytest_line(view: str) -> int:
    if "E   " not in view:
        return -1
    marks = [mark.end() for mark in islice(_PYTEST.finditer(view), MANY_LINES)]
    if marks and view.startswith('File "', marks[0]):
        # A syntax error quotes the source before it says what is wrong with it.
        return next((at for at in marks if _EXCEPTION.match(view, at)), marks[0])
    return marks[0] if marks else -1


def _exception_line(view: str) -> int:
    """The exception of the last traceback; of an earlier one where the last only passes on that something failed."""
    last, opening = -1, len(view)
    for _ in range(_TRACEBACKS):
        opening = view.rfind(_TRACEBACK, 0, opening)
        if opening < 0:
            break
        at = _exception_after(view, opening)
        if at >= 0 and not _is_wrapper(view, at):
            return at
        last = at if last < 0 else last
    return last


def _exception_after(view: str, opening: int) -> int:
    """The first line after the head of a traceback that is not indented more than the head."""
    line = view.rfind("\n", 0, opening) + 1
    indent = 0 if view[line:opening].strip(" \t|+") else opening - line
    at = view.find("\n", opening) + 1
    while at:
        end = view.find("\n", at)
        said = view[at : len(view) if end < 0 else end]
        words = said.lstrip(" \t|")
        if words and len(said) - len(words) <= indent:
            # The middle of a long log is left out, and the exception with it; what follows is something else.
            return at + len(said) - len(words) if _RAISED.match(words) else -1
        at = end + 1
    return -1


def _summary_line(view: str) -> int:
    found = _SUMMARY.search(view) if "FAILED " in view or "ERROR " in view else None
    return found.end() if found else -1


def _error_line(view: str) -> int:
    found = [at for hint in _HINTS if (at := _hinted_line(view, hint)) >= 0]
    return min(found, default=-1)


def _hinted_line(view: str, hint: str) -> int:
    """The first line with the hint that reads as an error; from the error on where much stands before it."""
    at = view.find(hint)
    for _ in range(_HINTED_PLACES):
        if at < 0:
            break
        start, end = view.rfind("\n", 0, at) + 1, view.find("\n", at)
        stop = min(at + _AFTER, len(view) if end < 0 else end)
        thrown = _THROWN.match(view, start, stop) if at - start < LONGEST_LINE else None
        found = thrown or _ERROR.search(view, max(start, at - _BEFORE), stop)
        if found and not _is_wrapper(view, start):
            return start if found.start() - start <= LONGEST_LINE // 2 else found.start()
        at = view.find(hint, stop)
    return -1


def _last_line(view: str) -> int:
    end = len(view)
    for _ in range(MANY_LINES):
        start = view.rfind("\n", 0, end) + 1
        said = view[start:end].strip()[:LONGEST_LINE]
        if _ALNUM.search(said) and not _DECORATION.fullmatch(said.strip(_BORDER)):
            return start
        end = start - 1
        if end <= 0:
            break
    return view.rfind("\n") + 1


def _is_wrapper(view: str, at: int) -> bool:
    end = view.find("\n", at)
    return bool(_WRAPPER.search(view, at, min(at + LONGEST_LINE, len(view) if end < 0 else end)))


def _trimmed(text: str, start: int, stop: int) -> tuple[int, int]:
    said = text[start:stop].lstrip()
    start = stop - len(said)
    return start, start + len(said[:LONGEST_LINE].rstrip())


def _with_next_line(text: str, start: int, end: int) -> tuple[int, int]:
    """An exception that says nothing on its own line (`AssertionError:`), and what it says on the next."""
    if not text.endswith(":", start, end) or not _EXCEPTION.fullmatch(text, start, end):
        return start, end
    following = _NEXT_LINE.match(text, end)
    return _trimmed(text, start, following.end()) if following else (start, end)


_CODE = pattern_of(r"[A-Za-z][A-Za-z0-9]*(?:[_-][A-Za-z0-9]+)*")
_CODE_LENGTH = 40
_DIGIT = pattern_of(r"\d")
_DIGITS = pattern_of(r"[0-9]+")
_CODE_NUMBERS = 2
"""Runs of digits in a failure code; more of them make an arbitrary name."""

_QUOTED = pattern_of(
    r"(?<!\w)(?:"
    r"'\[[^\]]*(?:\]'|$)"
    r"|[bfru]?'[^'\\]*(?:(?:\\.?|'(?=\w))[^'\\]*)*(?:'|$)"
    r'|[bfru]?"[^"\\]*(?:\\.?[^"\\]*)*(?:"|$)'
    r"|`[^`']*(?:[`']|$)"
    r"|“[^”]*(?:”|$))"
)
_URL = pattern_of(r"(?<![\w+.-])[A-Za-z][\w+.-]*://[^\s<>\"')\]]+")
_EMAIL = pattern_of(r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_PLACE = r"(?:::[\w.:\[\]-]*[\w\]])?(?::\d+)*"
_PATH = pattern_of(
    r"(?<![\w>/.~-])(?:"
    r"[A-Za-z]:\\[^\s:*?\"'<>|]*"
    r"|(?:~|\.{1,2})?(?:/[\w.@%+=~-]*[\w@%+=~])+/?"
    r"|(?!\d+/\d+/\d+(?!\w))[\w.@+-]+(?:/[\w.@+-]*\w){2,}/?"
    r"|[\w.@+-]+/[\w.@+-]+\.\w*[A-Za-z]\w*)" + _PLACE
)
_DOTTED = pattern_of(r"\.[a-z]")
_FILE = pattern_of(
    r"(?<![\w>.-])(?:[\w-]++\.)+(?:"
    r"(?:py|pyx|ipynb|sv|svh|vh|vhd|cc|cpp|hpp|java|js|jsx|ts|tsx|rs|rb|php|sh|sql|jsonl?|ya?ml|toml|txt|csv|xml|html?"
    r"|vvp|sqlite|parquet|lean|cfg|ini|pdf|png|jpe?g|xlsx?|zip|gz|tar)(?!\w|\.\w|\((?!\d))"
    r"|(?:c|h|v|o|go|md|db|log)(?=:\d))" + _PLACE
)
_NAMED = pattern_of(
    r"\b((?:[Nn]o such \w+|ambiguous column name|[Uu]ndefined(?: \w+)?|[Uu]nknown (?:column|table|function|module type)): )"
    r"[A-Za-z_][\w.]*"
)
_NAMING = ("o such ", "column name: ", "ndefined", "nknown ")
_VALUE = pattern_of(
    r"(?<!\w)(?:"
    r"(?P<uuid>[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}(?!\w))"
    r"|(?P<time>(?:\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?"
    r"|\d{1,2}:\d\d:\d\d(?:[.,]\d+)?|\d{1,4}/\d{1,2}/\d{1,4})(?!\w))"
    r"|(?P<hex>0[xX][0-9a-fA-F]+(?!\w)|\d+'[bdhoBDHO]\w+)"
    r"|(?P<n>[-+]?\d++(?:[.,_]\d++)*+(?:[eE][-+]?\d+)?(?=[A-Za-zµ]{0,4}(?!\w)))"
    r"|(?P<id>[^\W\d]*+\d\w*+(?:\.\d++)*+))"
)
_NEIGHBOURS = pattern_of(r">,? ?<")
_REPEATED = pattern_of(r"((?:<[a-z]+>: )?<[a-z]+>)(?:,? ?\1)+")
_MARK = pattern_of(r"\n[ \t]*E {3,}")
_HALF = pattern_of(r"<[a-z]*$")
_PLACEHOLDER = pattern_of(r"<(?:n|text|path|url|email|id|uuid|time|hex|\*)>")


def _mask_once(message: str) -> str:
    text = _in_one_line(message)
    if len(text) <= _CODE_LENGTH and _CODE.fullmatch(text) and len(_DIGITS.findall(text)) <= _CODE_NUMBERS:
        return _DIGITS.sub("<n>", text)
    return _shortened(_without_repeats(_without_values(_without_names(_without_quotes(text)))))


_masked_again = lru_cache(maxsize=4096)(_mask_once)
"""Messages of a run have few templates."""


def _in_one_line(message: str) -> str:
    if "\x1b" in message:
        message = _ANSI.sub("", message)
    if "\nE " in message:
        message = _MARK.sub(" ", message)
    return " ".join(message.split())


def _without_quotes(text: str) -> str:
    return _QUOTED.sub("<text>", text) if "'" in text or '"' in text or "`" in text or "“" in text else text


def _without_names(text: str) -> str:
    """Addresses, paths and the names that SQL engines and compilers give without quotes."""
    if "://" in text:
        text = _URL.sub("<url>", text)
    if "@" in text:
        text = _EMAIL.sub("<email>", text)
    if "/" in text or "\\" in text:
        text = _PATH.sub("<path>", text)
    if _DOTTED.search(text):
        text = _FILE.sub("<path>", text)
    return _NAMED.sub(r"\1<id>", text) if ": " in text and any(map(text.__contains__, _NAMING)) else text


def _without_values(text: str) -> str:
    return _VALUE.sub(_placeholder, text) if _DIGIT.search(text) else text


def _placeholder(found: re.Match[str]) -> str:
    return f"<{found.lastgroup}>"


def _without_repeats(text: str) -> str:
    return _REPEATED.sub(r"\1", text) if _NEIGHBOURS.search(text) else text


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST_TEMPLATE else _HALF.sub("", text[:LONGEST_TEMPLATE]).rstrip()


class _Group(Struct):
    tokens: list[str]
    members: list[str]

    @property
    def name(self) -> str:
        return self.members[0] if len(self.members) == 1 else " ".join(self.tokens)

    def take(self, text: str, tokens: list[str]) -> None:
        self.members.append(text)
        self.tokens = [ours if ours == theirs else ANY for ours, theirs in zip(self.tokens, tokens, strict=True)]


def _join(bucket: list[_Group], text: str, tokens: list[str]) -> None:
    """Put a template into the group that it shares most with, the earliest of equals, or into its own."""
    shared = [sum(map(eq, group.tokens, tokens)) for group in islice(bucket, COMPARED)]
    most = max(shared, default=-1)
    if most >= ceil(SIMILAR * len(tokens)):
        bucket[shared.index(most)].take(text, tokens)
    else:
        bucket.append(_Group(tokens=tokens, members=[text]))


def _without_module(token: str) -> str:
    """`subprocess.TimeoutExpired:` and `TimeoutExpired:` are one exception."""
    return token.rpartition(".")[2] if token.endswith(":") and _EXCEPTION.fullmatch(token) else token
