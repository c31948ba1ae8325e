"""Words of a report, brought to one form: the same thing said in other words has the same stems."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from msgspec import Struct

from blade.claims.markdown import Passage
from blade.claims.names import Names, quotes
from blade.model.analysis import Analysis


def _split(words: str) -> list[str]:
    return words.split()


_WORD = re.compile(r"[A-Za-z][A-Za-z']*")
_RUNNING = re.compile(r"[A-Za-z]+|\d[\d.,]*\d|[^\sA-Za-z]")
_ENDINGS = ("ations", "ation", "ings", "ing", "edly", "ies", "ied", "ed", "es", "ly", "s", "e")
_PHRASES = (
    (re.compile(r"\bfail(?:s|ed|ing)?\s+to\b", re.IGNORECASE), "not"),
    (re.compile(r"\b(?:leav(?:e|es|ing)|left)(?:\s+\w+){0,2}?\s+(?:out|undone)\b", re.IGNORECASE), "omit"),
    (re.compile(r"\b(?:gave|gives?|giving)\s+up\b", re.IGNORECASE), "stop"),
    (re.compile(r"\b(?:no\s+longer|by\s+no\s+means|not\s+at\s+all)\b", re.IGNORECASE), "not"),
    (re.compile(r"n['\u2019]t\b", re.IGNORECASE), " not"),
    (re.compile(r"\bcannot\b", re.IGNORECASE), "can not"),
    (re.compile(r"\b(?:0|zero)\s+(?:of|out\s+of|/)(?=\s)", re.IGNORECASE), "no"),
)
_SAME = {
    "rollout": "rollouts attempts attempt trial trials sample samples episode episodes repeat repeats tries try times cases occasions",
    "task": "tasks task problem problems question questions puzzle puzzles",
    "fail": "fail fails failed failing failure failures unsuccessful unsolved flunk flunks flunked",
    "pass": "pass passes passed passing succeed succeeds succeeded success successes successful solve solves solved",
    "say": "say says said saying state states stated tell tells told claim claims claimed report reports reported write writes wrote assert asserts asserted announce announces answer answers answered reply replies replied declare declares",
    "call": "call calls called calling invoke invokes invoked use uses used",
    "end": "end ends ended ending close closes closed finish finishes finished conclude concludes concluded final finally last",
    "refuse": "refuse refuses refused reject rejects rejected deny denies denied decline declines declined",
    "wrong": "wrong incorrect another different mistaken other erroneous bad",
    "key": "key reference gold expected due required wanted wants",
    "change": "change changes changed modification modifications update updates updated edit edits",
    "argument": "argument arguments parameter parameters",
    "stop": "stop stops stopped stopping halt halts halted quit quits",
    "point": "point points pp",
    "score": "score scores scored accuracy rate rates",
    "person": "user users customer customers",
    "model": "agent agents model models it",
    "find": "look lookup search searches searched find finds found",
    "mistake": "error errors mistake mistakes exception exceptions",
    "seconds": "second seconds sec",
    "correct": "right correct correctly rightly",
}
"""Words that a report may use for one another."""
_CLASS = {word: name for name, words in _SAME.items() for word in words.split()}
NEGATORS = frozenset(
    _split(
        "not never no none nobody nothing neither nor without lack lacks lacked lacking omit omits omitted"
        " skip skips skipped miss misses missed forget forgets forgot unable untrue false wrongly ignore"
        " ignores ignored"
    )
)
_AXES = {
    "pass": ("outcome", 1),
    "fail": ("outcome", -1),
    **dict.fromkeys(_split("more higher above ahead exceed exceeds outperforms outperform beats beat leads better stronger" " faster over larger greater longer increase increases increased rises rose gains gained"), ("more", 1)),
    **dict.fromkeys(_split("less fewer lower below behind under underperforms trails lags worse weaker slower smaller shorter" " decrease decreases decreased drops falls fell loses lost"), ("more", -1)),
    **dict.fromkeys(_split("most highest best strongest easiest largest biggest commonest majority dominant longest fastest"), ("most", 1)),
    **dict.fromkeys(_split("least fewest lowest worst weakest hardest smallest rarest minority shortest slowest"), ("most", -1)),
    **dict.fromkeys(_split("always all every both everything everybody entirely"), ("all", 1)),
    **dict.fromkeys(_split("some sometimes partly few rarely hardly seldom"), ("all", -1)),
    **dict.fromkeys(["before", "first", "earlier"], ("before", 1)),
    **dict.fromkeys(["after", "later", "afterwards"], ("before", -1)),
    **dict.fromkeys(["correct", "true"], ("correct", 1)),
    **dict.fromkeys(["refuse"], ("accept", -1)),
    **dict.fromkeys(_split("accept accepts accepted allow allows allowed"), ("accept", 1)),
}  # fmt: skip
COMMON = frozenset(
    _split(
        "a an the of in to with for from by at on into and or but as is are was were be been being has have"
        " had do does did that this these those which who whom whose it its they their them there here then"
        " than so if when where while because only just also such can could will would may might should one"
        " ones each any same about around roughly nearly almost out up he she his her we our you your i nor"
        " either per via how what why very too even still yet again however whereas although though thus"
        " hence much many own both"
    )
)
_DETERMINERS = frozenset(_split("the a an its their every"))
_LINKS = frozenset(_split("of from with by at into for in on"))
_VERBS = frozenset(_split("is are was were"))
_JOINS = frozenset(["and", "or"])
_AFTER_LINK = frozenset(_split("is are was were has have does do did and or but of from with by at into for , . ; ) !"))
_AFTER_DETERMINER = _AFTER_LINK | frozenset(
    _split("the a an its their in on to that which it this then where when so as be been if")
)
_AFTER_VERB = _VERBS | frozenset(_split("has have does do did of and or"))
_AFTER_JOIN = frozenset(_split("and or of , . ; ) is are was were has have"))
_FORBIDDEN = {
    **dict.fromkeys(_DETERMINERS, _AFTER_DETERMINER),
    **dict.fromkeys(_LINKS, _AFTER_LINK),
    **dict.fromkeys(_VERBS, _AFTER_VERB),
    **dict.fromkeys(_JOINS, _AFTER_JOIN),
}  # fmt: skip
"""What does not stand after a small word in a sentence."""


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """One form for the words that are used for one another, else the word without its ending."""
    word = word.lower()
    known = _CLASS.get(word)
    if known:
        return known
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word[: -len(ending)]
    return word


def spoken(text: str) -> list[str]:
    """The words of a text in order and in lower case, with phrases that deny made into one word."""
    for way, word in _PHRASES:
        text = way.sub(word, text)
    return [word.lower() for word in _WORD.findall(text)]


def content(words: Iterable[str]) -> frozenset[str]:
    """Stems of the words that tell something; those that deny or direct are left to the stance."""
    return frozenset(
        stem(word) for word in words if len(word) > 2 and word not in COMMON and word not in NEGATORS and not axis(word)
    )


def axis(word: str) -> tuple[str, int] | None:
    """On which scale a word points which way: `highest` up, `fails` down; None for most words."""
    return _AXES.get(word) or _AXES.get(stem(word))


def stance(words: Sequence[str]) -> tuple[int, tuple[tuple[str, int], ...]]:
    """How often the words deny, and which way they point on each scale (0 where they point both ways)."""
    ways: dict[str, Counter[int]] = {}
    for word in words:
        found = axis(word)
        if found is not None:
            ways.setdefault(found[0], Counter())[found[1]] += 1
    pointing = tuple(sorted((name, next(iter(one)) if len(one) == 1 else 0) for name, one in ways.items()))
    return sum(word in NEGATORS for word in words), pointing


def disorder(text: str) -> tuple[int, int]:
    """How many of the small words and numbers of a text stand where no sentence has them, and how many were checked."""
    words = [word.lower() for word in _RUNNING.findall(text)]
    wrong = checked = 0
    for word, after in zip(words, [*words[1:], "."], strict=True):
        number = word[0].isdigit()
        if number or word in _FORBIDDEN:
            checked += 1
            wrong += after[0].isdigit() if number else after in _FORBIDDEN[word]
    return wrong, checked


NO_NAMES = Names(Analysis(runs=()))
"""What the audit's parser knows when there is no data: places by their shape."""
_TASKS = re.compile(
    r"\b(?:tasks?|problems?|instances?)\s+((?:`?[\w./-]*\d[\w./-]*`?(?:\s*,\s*and\s+|\s*,\s*|\s+and\s+|\s*&\s*)?)+)(?!\s*(?:of\b|/|%|x\b|\u00d7))",
    re.IGNORECASE,
)
_ONE = re.compile(r"[\w./-]*\d[\w/-]*")
_SHAPED = re.compile(r"(?<![\w@#^./-])(?=[\w./-]*[\d_])[A-Za-z][A-Za-z0-9]*(?:[_./-]+[A-Za-z0-9]+)*(?![\w@^]|-\w)")
_NO_ID = re.compile(
    r"(?:top|best|pass|k|step|steps|repeat|section|figure|table|page|version|v|of|gpu|cpu|utf|sha|h|p|n|x|q)[-_./]?\d+"
    r"|[A-Za-z]+-of-\d+|https?.*",
    re.IGNORECASE,
)
_PLACE = re.compile(r"(.+?)#(\d+)(?::(\d+))?")
_RANGE = re.compile(r"-(\d{1,3})(?![\w:#])")
_LONGEST_TICKED = 40


class Mention(Struct, frozen=True):
    """A name at a place of a passage."""

    start: int
    end: int
    name: str
    """In lower case; a place as `TASK#REPEAT:STEP`."""


def mentions(passage: Passage, before: str = "") -> list[Mention]:
    """The names in a passage, in order; `before` is the place that a short `:6` at its beginning goes on from."""
    found = [*_places(passage, before), *_spoken(passage.text), *_shaped(passage), *_ticked(passage)]
    kept: list[Mention] = []
    for one in sorted(found, key=lambda one: (one.start, -one.end, one.name)):
        if not kept or one.start >= kept[-1].end or (one.start, one.end) == (kept[-1].start, kept[-1].end):
            kept.append(one)
    return kept


def _places(passage: Passage, before: str) -> Iterator[Mention]:
    rollout = before
    for place in NO_NAMES.locations_in(passage.text):
        if place.short:
            if rollout:
                yield Mention(place.start, place.end, f"{rollout}:{place.step}")
            continue
        rollout = f"{place.task_id.lower()}#{place.repeat}"
        yield Mention(place.start, place.end, rollout if place.step is None else f"{rollout}:{place.step}")
        last = _RANGE.match(passage.text, place.end) if place.step is None else None
        for repeat in range((place.repeat or 0) + 1, min(int(last.group(1)), 64) + 1) if last else ():
            yield Mention(place.start, place.end, f"{place.task_id.lower()}#{repeat}")


def _spoken(text: str) -> Iterator[Mention]:
    """`task 39`, `tasks 25, 26 and 41`."""
    for found in _TASKS.finditer(text):
        for one in _ONE.finditer(text, *found.span(1)):
            if not re.match(r"\s*(?:of\b|/|%|x\b|tasks|rollouts)|#", text[one.end() :]):
                yield Mention(*one.span(), one.group().strip(".").lower())


def _shaped(passage: Passage) -> Iterator[Mention]:
    for found in _SHAPED.finditer(passage.text):
        if not _NO_ID.fullmatch(found.group()):
            yield Mention(*found.span(), found.group().lower())


def _ticked(passage: Passage) -> Iterator[Mention]:
    """One word between backticks, when it cannot be taken for an ordinary one."""
    for start, end in passage.code:
        word = passage.text[start:end].strip()
        named = re.fullmatch(r"[\w.:/#=-]+", word) and re.search(r"[\d_.:/#=-]|[a-z][A-Z]", word)
        if named and len(word) <= _LONGEST_TICKED and re.search(r"[A-Za-z]", word):
            yield Mention(start, end, word.lower())


def veiled(passage: Passage, letter: str) -> str:
    """The text with a letter for every character that is quoted, named or between backticks."""
    spans = [*passage.code]
    spans += [(one.start, one.end) for one in quotes(passage)]
    spans += [(one.start, one.end) for one in mentions(passage)]
    text = passage.text
    for start, end in spans:
        text = text[:start] + letter * (end - start) + text[end:]
    return text


def parts(name: str) -> tuple[str, ...]:
    """A name with what it is part of: step, rollout, task."""
    found = _PLACE.fullmatch(name)
    if found is None:
        return (name,)
    task, repeat, step = found.groups()
    return (task, f"{task}#{repeat}") if step is None else (task, f"{task}#{repeat}", name)


def is_place(name: str) -> bool:
    """Whether the name is a rollout or a step of one."""
    return _PLACE.fullmatch(name) is not None


def task_of(name: str) -> str:
    """The task that a place belongs to; the name itself when it is none."""
    return parts(name)[0]


def share_named(wanted: Iterable[str], said: frozenset[str]) -> float:
    """How much of the wanted names is said: in full 1, the right rollout without the step 0.75, the task alone 0.5."""
    wanted = list(wanted)
    whole = {part for name in said for part in parts(name)}
    return sum(_named(name, whole) for name in wanted) / len(wanted) if wanted else 1.0


def _named(name: str, whole: set[str]) -> float:
    if name in whole:
        return 1.0
    _, *rest = parts(name)
    if len(rest) == 2 and rest[0] in whole:
        return 0.75
    return 0.5 if rest and task_of(name) in whole else 0.0
