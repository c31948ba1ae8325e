"""Literals that a failing test wants, against those that the prompt gives.

`literal:near-miss` has `wanted|prompt's own` as its subject: the same letters with other case, blanks or hyphens, the same
words in another order or with another extension, or a key that shortens one of a schema that the prompt shows.
`literal:not-in-prompt` and `key:not-in-prompt` are wanted and stand nowhere in the prompt; answers that the agent had to
find stand nowhere there either.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import SequenceMatcher

from blade.evidence.signs.missing import is_named, missing_names
from blade.evidence.signs.view import RolloutView, paths_in, sign
from blade.model.account import LogText
from blade.model.finding import Sign
from blade.model.log import LogEvent

MOST = 4
LONGEST = 80
"""Characters of a literal that is compared: longer texts are content."""
SHORTEST = 4
"""Letters and digits that two spellings share at least: shorter ones are alike by chance."""
ALIKE = 0.8
"""Share of letters that two keys share, as `SequenceMatcher` counts; `colour` and `color` have 0.9."""
MOST_PROMPT = 60_000
FEWEST_OF_TEMPLATE = 3
"""Words of a literal of which a prompt may give all but one: of two, the other stands in any prompt."""
_BLANK = r"(?:<[^>\n]{1,40}>|\{[^}\n]{0,40}\}|\[[^\]\n]{1,40}\]|%\w|\$\w+|\.\.\.)"
_wanted = re.compile(
    r"""\bassert (?:not )?(?P<q>['"])(?P<a>[^'"\n]{2,80})(?P=q) in\b"""
    r"""|\bre\.(?:search|match|findall|fullmatch)\(r?(?P<r>['"])(?P<b>[^\n]{2,80}?)(?P=r),"""
    r"""|<function (?:search|match|findall|fullmatch) at \w+>\((?P<s>['"])(?P<c>[^\n]{2,80}?)(?P=s),"""
    r"""|(?:toContain|toMatch|toInclude|contains?|includes?|assertIn)\((?P<t>['"])(?P<d>[^'"\n]{2,80})(?P=t)[,)]"""
    r"""|(?i:expected (?:sub)?string|expected|should contain|does not contain|missing)[: ]+(?P<u>['"`])(?P<e>[^'"`\n]{2,80})(?P=u)(?: (?:to be )?in\b)?"""
    r"""|(?P<v>['"])(?P<f>[^'"\n]{2,80})(?P=v) not found in\b"""
)
_key = re.compile(
    r"""\bKeyError: (?P<q>['"])(?P<key>[^'"\n]{1,60})(?P=q)|(?i:missing (?:required )?(?:key|field|property|column))[: ]+['"`](?P<named>[\w.-]{1,60})['"`]"""
    r"""|(?i:\b(?:key|field|property|column)) ['"`](?P<lost>[\w.-]{1,60})['"`] (?i:(?:was |is )?(?:not found|missing|absent|not present))"""
    r"""|of (?:undefined|null) \(reading ['"](?P<read>[\w.-]{1,60})['"]\)|`?None`? value: get\(['"](?P<got>[\w.-]{1,60})['"]\)"""
)
_schema_key = re.compile(r"""['"`](\w[\w.-]{0,60})['"`]\s*:""")
_path = re.compile(r"[\w./@+-]*\w\.[A-Za-z]\w{0,7}(?:\.\w{1,8})*\b")
_parts = re.compile(r"[\W_]+")
_letter = re.compile(r"[A-Za-z]")
_secret = re.compile(r"(?i)^[0-9a-f]{16,}$|^(?=\w*\d\w*\d)(?=\w*[A-Za-z])\w{12,}$|^[\d\W_]+$")
_list = re.compile(r"[\[({]\s*(?:(['\"])[^'\"\n]{2,80}\1,?\s*){3,}[\])}]")
_item = re.compile(r"(['\"])([^'\"\n]{2,80})\1")
LONGEST_LIST = 2_000
FEWEST_LISTED = 4
"""Literals of a list, all but one of which are there: of fewer, one may be lacking by the agent's fault as easily."""
MOST_PRINTED = 600
"""Lines of an assertion's output that are looked through."""
_escaped = re.compile(r"\\+(.)")
_pattern = re.compile(r"\.[*+?]|[(\[][^)\]]*[)\]][*+?]?|[{}|^$]|\\n|\\[dws]")
"""What makes a literal a pattern, a template or a text of several lines."""


def literals(view: RolloutView) -> Iterator[Sign]:
    """Wanted literals that the prompt spells otherwise or does not hold."""
    if view.passed or not view.failures or not view.prompt:
        return
    seen: set[str] = set()
    for found in _all(view):
        if found.subject not in seen and len(seen) < MOST:
            seen.add(found.subject)
            yield found


def _all(view: RolloutView) -> Iterator[Sign]:
    given = view.prompt[:MOST_PROMPT]
    squeezed, places = _squeezed_with_places(given)
    for field, name, quote in missing_names(view):
        if own := _near_path(name, given):
            yield sign("literal:near-miss", f"{name}|{own}", quote, field)
    for log, event, text in view.failure_texts:
        for match in _key.finditer(event.message if event.message in log.text else text):
            key = next(match[name] for name in ("key", "named", "lost", "read", "got") if match[name])
            yield from _key_sign(key, given, match[0], log.field)
        for wanted, quote in _one_of_a_list(log, event, text, given):
            yield sign("literal:not-in-prompt", wanted, quote, log.field)
        if (pair := _as_prompted(event, given)) is not None:
            yield sign("literal:near-miss", f"{pair[0]}|{pair[1]}", event.message, log.field)
        for wanted, quote in _literals_in(text, event.expected):
            if wanted.strip() in given or wanted.strip(" .,:;/'\"()[]{}") in given:
                continue
            if _test_prints(wanted, log.text) or _fills_a_template(wanted, given):
                continue
            spelled = _respelled(wanted, given, squeezed, places)
            as_told = spelled and not (spelled.lower() == wanted.lower() and ".lower()" in text)
            if as_told and _is_there(wanted, event.actual):
                yield sign("literal:near-miss", f"{wanted}|{spelled}", quote, log.field)
            elif (
                quote
                and not spelled
                and not _secret.search(wanted)
                and _letter.search(wanted)
                and event.expected != wanted
            ):
                yield sign("literal:not-in-prompt", wanted, quote, log.field)


def _test_prints(wanted: str, log: str) -> bool:
    """Whether the test's own script writes the literal where all is well: `echo "TEST PASSED"` asks nothing of the agent."""
    return re.search(rf"""\b(?:echo|printf?|puts|log|println!?)\b[ (]*['"]{re.escape(wanted)}['"]""", log) is not None


def _as_prompted(event: LogEvent, given: str) -> tuple[str, str] | None:
    """The wanted value and the one that was got, where the prompt quotes that one and the other is its letters anew."""
    got, wanted = ((value or "").strip().strip("'\"") for value in (event.actual, event.expected))
    if not SHORTEST <= len(got) <= LONGEST or wanted in given or not wanted or got == wanted:
        return None
    quoted = any(f"{mark}{got}{mark}" in given for mark in "'\"`")
    return (wanted, got) if quoted and sorted(_squeezed(wanted)) == sorted(_squeezed(got)) else None


def _one_of_a_list(log: LogText, event: LogEvent, text: str, given: str) -> Iterator[tuple[str, str]]:
    """The one literal of a list in a failing test that the rejected output lacks and the prompt names nowhere."""
    listed = [found for found in _list.finditer(text) if found.end() - found.start() <= LONGEST_LIST]
    if not listed or not event.message.startswith("Assertion"):
        return
    items = dict.fromkeys(one[2] for one in _item.finditer(listed[-1][0]))
    shown = _printed(log, event)
    lacking = [item for item in items if item not in shown]
    if len(items) < FEWEST_LISTED or len(lacking) != 1:
        return
    named = any(f"{mark}{lacking[0]}{mark}" in given for mark in "'\"`")
    if not named and _letter.search(lacking[0]) and not _pattern.search(lacking[0]):
        quote = next(one[0] for one in _item.finditer(listed[-1][0]) if one[2] == lacking[0])
        yield lacking[0], quote


def _printed(log: LogText, event: LogEvent) -> str:
    """What an assertion printed of the output: the lines that pytest marks, up to the next test."""
    lines = log.text.split("\n")[event.line - 1 : event.line - 1 + MOST_PRINTED]
    end = next((n for n, line in enumerate(lines) if n and line.startswith(("____", "====", "----"))), len(lines))
    return "\n".join(line for line in lines[:end] if line.startswith("E  "))


def _literals_in(text: str, expected: str | None) -> Iterator[tuple[str, str]]:
    """Each literal that the test looks for, with the words around it; the value it compares with comes without."""
    for match in _wanted.finditer(text):
        wanted: str = next(value for name in "abcdef" if (value := match[name]) is not None)
        if not _pattern.search(wanted):
            yield _escaped.sub(r"\1", wanted), match[0]
    value = (expected or "").strip().strip("'\"")
    if 2 <= len(value) <= LONGEST and not _pattern.search(value) and "\n" not in value and _letter.search(value):
        yield value, value if value in text else ""


def _fills_a_template(wanted: str, given: str) -> bool:
    """Whether the prompt holds a literal with a blank, such as `<name>` or `{name}`, in place of one of its words."""
    words = wanted.split()
    for place in range(len(words) if len(words) >= FEWEST_OF_TEMPLATE else 0):
        before, after = " ".join(words[:place]), " ".join(words[place + 1 :])
        shape = re.escape(before) + r"\s*" + _BLANK + r"[.,:;!]?\s*" + re.escape(after)
        if before in given and after in given and re.search(shape, given) is not None:
            return True
    return False


def _is_there(wanted: str, actual: str | None) -> bool:
    """Whether the output holds the literal in some spelling; where it is not printed or shortened, it may."""
    return actual is None or "..." in actual or _squeezed(wanted) in _squeezed(actual)


def _squeezed(text: str) -> str:
    return "".join(letter for letter in text.lower() if letter.isalnum())


def _squeezed_with_places(text: str) -> tuple[str, list[int]]:
    """The letters and digits of a text in lower case, and where each stands."""
    places = [place for place, letter in enumerate(text) if letter.isalnum() and len(letter.lower()) == 1]
    return "".join(text[place].lower() for place in places), places


def _respelled(wanted: str, given: str, squeezed: str, places: list[int]) -> str:
    """The prompt's own spelling of a literal, whole words on one line; empty where it has none."""
    form = _squeezed(wanted)
    if len(form) < SHORTEST or not _letter.search(form):
        return ""
    at = squeezed.find(form)
    while at != -1:
        start, end = places[at], places[at + len(form) - 1] + 1
        whole = not given[start - 1 : start].isalnum() and not given[end : end + 1].isalnum()
        own: str = given[start:end]
        if whole and "\n" not in own and ". " not in own and len(own) <= len(wanted) + SHORTEST:
            return own
        at = squeezed.find(form, at + 1)
    return ""


def _near_path(name: str, given: str) -> str:
    """A path of the prompt with the same words in another order, or the same stem with another extension."""
    if is_named(name, given):
        return ""
    last = name.rpartition("/")[2]
    words = sorted(word.lower() for word in _parts.split(last) if word)
    if len(words) < 2 or "." not in last:
        return ""
    stem = last.partition(".")[0].lower()
    near = [path for path in dict.fromkeys(_paths(given)) if (own := path.rpartition("/")[2]) != last and own]
    for path in near:
        if sorted(word.lower() for word in _parts.split(path.rpartition("/")[2]) if word) == words:
            return str(path)
    return next((str(path) for path in near if path.rpartition("/")[2].partition(".")[0].lower() == stem), "")


def _paths(given: str) -> Iterator[str]:
    return (path for found in paths_in(given) if _path.fullmatch(path := found[0].rstrip(".!?*_")))


def _key_sign(key: str, given: str, quote: str, field: str) -> Iterator[Sign]:
    quoted = any(f"{mark}{key}{mark}" in given for mark in "'\"`")
    if quoted or (len(key) >= SHORTEST - 1 and is_named(key, given)):
        return
    own = next((other for other in dict.fromkeys(_schema_key.findall(given)) if _is_short_for(key, other)), None)
    if own is not None:
        yield sign("literal:near-miss", f"{key}|{own}", quote, field)
    else:
        yield sign("key:not-in-prompt", key, quote, field)


def _is_short_for(key: str, other: str) -> bool:
    one, two = _squeezed(key), _squeezed(other)
    return bool(one) and (
        two.startswith(one) or one.startswith(two) or SequenceMatcher(None, one, two).ratio() >= ALIKE
    )
