"""The forms in which reports state numbers, each with what its numbers count."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial

from msgspec import Struct

from blade.claims.names import BUCKETS
from blade.model.pattern import NUMBER_WORDS

_N = r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?"
WORDS = NUMBER_WORDS[:13]
_W = rf"(?:{_N}|\b(?:{'|'.join(WORDS)})\b)"
_SEP = r"\s*(?:of|out\s+of|/)\s*(?:(?:the|its|all|a\s+total\s+of)\s+)*"
_ROLL = r"(?:rollouts?|attempts?|trials?|samples?|episodes?|repeats?|tries)"
_OF_TASK = r"(?:of|on|for|in)\s+(?:task\s+)?[\w.-]*\w"
_JUDGED = r"(?:judged|scored|graded|verified)"
_OUTCOME = r"pass(?:es|ed|ing)?|succeed(?:s|ed)?|succeeds|solved|fail(?:s|ed|ing)?|errored"
_BUCKET = r"always|sometimes|never"
_IS = r"(?:\s*(?:is|was|are|were|of|at|=|:|reaches|reached|stands\s+at|comes\s+to|equals|to|score|rate|scores)\b)*\s*[:=]?\s*(?:only|just|exactly)?\s*"
_MEASURES = (
    (r"pass@(?P<k>\d+|k)", "pass_at"),
    (r"pass\^(?P<k>\d+|k)", "pass_hat"),
    (r"best[- ]of[- ](?P<k>\d+)", "pass_at"),
    (r"rollout\s+pass\s+rate", "rollout_pass_rate"),
    (r"(?:pass|success|solve)\s+rate|accuracy|(?:the|overall|headline|a)\s+score", "rate"),
    (r"fail(?:ure)?\s+rate", "fail_rate"),
    (r"(?:mean|average)\s+reward", "mean_reward"),
    (
        r"(?P<how>median|mean|average|total)\s+(?:number\s+of\s+)?(?P<what>input\s+tokens|output\s+tokens|seconds|steps|calls)",
        "usage",
    ),
)


class Subject(Struct, frozen=True):
    """What a group of a pattern counts: subjects, and a scope of its own where the pattern names one."""

    subjects: tuple[str, ...]
    scope: str | None = None
    pooled: bool = False
    exempt: bool = False
    """Words that narrow elsewhere do no harm here."""
    needs: str = ""
    """The kind of scope without which the form says nothing."""


Meaning = dict[str, Subject]
Means = Callable[[re.Match[str]], Meaning]
Form = tuple[str, Means]
"""An expression, and what its groups count."""
Pattern = tuple[re.Pattern[str], Means]


def _always(meaning: Meaning) -> Means:
    """A form whose numbers count the same whatever its words."""

    def means(found: re.Match[str]) -> Meaning:
        return meaning

    return means


def _outcome(word: str) -> str:
    word = word.lower()
    return "failed" if word.startswith("fail") else "errored" if word.startswith("err") else "passed"


def _of(found: re.Match[str]) -> tuple[str, ...]:
    """What the larger number counts: judged rollouts, or any honest count of rollouts."""
    judged = found.groupdict().get("judged")
    return ("judged",) if judged else ("judged", "rollouts", "expected")


def _share_of_rollouts(found: re.Match[str]) -> Meaning:
    return {"a": Subject((_outcome(found.group("verb")),)), "b": Subject(_of(found))}


def _some_of_an_outcome(found: re.Match[str]) -> Meaning:
    """`1 of 4 failing repeats ...`: four fail; what one of them does is said in other words."""
    return {"b": Subject((_outcome(found.group("verb")),))}


def _bucket(found: re.Match[str]) -> Meaning:
    made = {"a": Subject(("tasks",), f"bucket:{BUCKETS[found.group('bucket').lower()]}", exempt=True)}
    return made | ({"b": Subject(("tasks",), "")} if "b" in found.groupdict() else {})


def _buckets(found: re.Match[str]) -> Meaning:
    return {
        group: Subject(("tasks",), f"bucket:{name}_pass", exempt=True)
        for group, name in zip("abc", BUCKETS, strict=True)
    }


def _headed(found: re.Match[str]) -> Meaning:
    """`### mail-6 (0 of 4)`: how often the task passes, or fails."""
    return {"a": Subject(("passed", "failed"), needs="task"), "b": Subject(_of(found), needs="task")}


def _solved(found: re.Match[str]) -> Meaning:
    return {"a": Subject(("solved_tasks",)), "b": Subject(("tasks",))}


def _size(found: re.Match[str]) -> Meaning:
    made = {"a": Subject(("tasks",))}
    return made | ({"b": Subject(("repeats",))} if found.group("b") else {})


def _total(found: re.Match[str]) -> Meaning:
    noun = " ".join(found.group("noun").lower().split())
    if noun in ("tasks", "problems"):
        return {"a": Subject(("tasks",))}
    if noun.startswith("fail"):
        return {"a": Subject(("failed",))}
    if noun.startswith("pass"):
        return {"a": Subject(("passed",))}
    known = next((word for word in ("judged", "expected") if word in noun), "")
    return {"a": Subject((known,) if known else ("rollouts", "judged", "expected"))}


def _odd(found: re.Match[str]) -> Meaning:
    return {"a": Subject((found.group("what").lower(),))}


def _shared(found: re.Match[str]) -> Meaning:
    group = "a" if found.group("a") else "b"
    return {group: Subject(("shared",), "", pooled=True, exempt=True)}


def _measure(kind: str, found: re.Match[str]) -> Meaning:
    if kind in ("pass_at", "pass_hat"):
        k = found.group("k").lower()
        return {"a": Subject(("rate", "pass_at:1") if k == "1" else (f"{kind}:{k}",))}
    if kind == "usage":
        how = {"average": "mean"}.get(found.group("how").lower(), found.group("how").lower())
        return {"a": Subject((f"{how}:{'_'.join(found.group('what').lower().split())}",))}
    return {"a": Subject((kind,))}


def _setting(name: str, found: re.Match[str]) -> Meaning:
    """A setting of the run; output tokens are one only where the sentence speaks of a limit."""
    limited = re.search(r"limit|max|most|cap", found.string[max(0, found.start() - 60) : found.start()], re.IGNORECASE)
    if name == "max_output_tokens" and not limited:
        return {}
    return {"a": Subject((f"setting:{name}",) if name else ("threshold",), "")}


def _measures() -> list[Form]:
    made: list[Form] = []
    for words, kind in _MEASURES:
        after = rf"(?<!\w)(?:{words}){_IS}(?P<a>{_N})(?!\s*(?:of\b|/|tasks|rollouts|in\s+(?:\d|pass|fail|success)))"
        before = rf"(?P<a>{_N})\s*%?\s+(?:{words})(?!\w)(?!{_IS}{_N})"
        made += [(after, partial(_measure, kind)), (before, partial(_measure, kind))]
    return made


_FORMS: tuple[Form, ...] = (
    (rf"(?<![\d.])(?P<a>{_W}){_SEP}(?P<b>{_N})\s+(?P<verb>{_OUTCOME})\s+{_ROLL}\b", _some_of_an_outcome),
    (
        rf"(?<!\bin )(?<![\d.])(?P<a>{_W}){_SEP}(?P<b>{_N})\s+(?:(?P<judged>{_JUDGED})\s+)?(?:{_ROLL}\s+)?(?:{_OF_TASK}\s+)?(?:that\s+were\s+judged\s+)?(?:have\s+|are\s+|were\s+)?(?P<verb>{_OUTCOME})\b(?!\s+{_ROLL}\b)",
        _share_of_rollouts,
    ),
    (
        rf"(?<![-\w])(?P<verb>{_OUTCOME})\s+(?:{_ROLL}\s*)?(?:in\s+|on\s+|all\s+|only\s+|just\s+|=\s*|:\s*|\(\s*)*(?P<a>{_W}){_SEP}(?P<b>{_N})(?:\s+(?P<judged>{_JUDGED}))?(?!\s*(?:tasks|%))",
        _share_of_rollouts,
    ),
    (rf"(?P<a>{_W}){_SEP}(?P<b>{_N})\s+tasks\s+(?:are\s+)?(?P<bucket>{_BUCKET})[-\s]pass\w*", _bucket),
    (
        rf"(?<!\bin )(?<![\d.,])(?P<a>{_W})\s+(?:tasks?\s+)?(?:is\s+|are\s+)?(?P<bucket>{_BUCKET})[-\s]pass\w*",
        _bucket,
    ),
    (
        rf"\b(?P<bucket>{_BUCKET})[-\s]pass\w*(?:\s+tasks)?(?:\s+(?:is|are))?\s*[:=(]?\s*(?P<a>{_N})\b(?!\s*(?:of\b|/|%))",
        _bucket,
    ),
    (rf"(?P<a>{_N})\s+always,\s*(?P<b>{_N})\s+sometimes,?\s*(?:and\s+)?(?P<c>{_N})\s+never\b", _buckets),
    (
        rf"(?P<a>{_N})\s+tasks?\s*(?:x|\u00d7|with|by|times)\s*(?P<b>{_W})(?!\s+judged)\s*(?:{_ROLL}|\b)(?:\s+each|\s+per\s+task)?",
        _size,
    ),
    (
        rf"(?P<a>{_W})\s+{_ROLL}\s+(?:per|a|for\s+each|for\s+every)\s+task\b",
        _always({"a": Subject(("repeats",))}),
    ),
    (
        rf"\b(?:all|the|its|total\s+of|total:?|in\s+total,?)\s+(?P<a>{_W})\s+(?P<noun>tasks|problems|failures|failed\s+{_ROLL}|passes|passing\s+{_ROLL}|(?:judged\s+|expected\s+)?(?:rollouts|attempts|trials))(?=\s*(?:[.,;:)]|$|in\s+total|overall|in\s+all|fail|each|and\b|for\b|of\s+(?:the\s+)?run))",
        _total,
    ),
    (
        rf"(?P<a>{_N})\s+(?P<noun>tasks|(?:judged\s+|expected\s+)?{_ROLL}|failures)\s+(?:in\s+total|overall|in\s+all|were\s+expected|were\s+judged|are\s+judged)\b",
        _total,
    ),
    (rf"(?<=\()(?P<a>{_N})\s*(?:of|/)\s*(?P<b>{_N})(?=\)\s*$)", _headed),
    (rf"\bsolves?d?\s+(?:only\s+)?(?P<a>{_W}){_SEP}(?P<b>{_N})\s+tasks\b", _solved),
    (rf"(?<=[\d%])\s+over\s+(?:all\s+|the\s+)*(?P<a>{_N})\s+tasks\b", _always({"a": Subject(("tasks",))})),
    (rf"\bexpected\s+(?P<a>{_N})\s+{_ROLL}", _always({"a": Subject(("expected",))})),
    (
        rf"(?P<a>{_W})\s+(?:{_ROLL}\s+)?(?:is\s+|are\s+|was\s+|were\s+)?(?P<what>errored|missing|unscored)\b(?!\s+(?:or|and)\b)",
        _odd,
    ),
    (rf"\b(?P<what>errored|missing|unscored)(?:\s+{_ROLL})?\s*[:=]\s*(?P<a>{_N})\b", _odd),
    (rf"(?P<a>{_W})\s+(?:models|runs)\b", _always({"a": Subject(("runs",), "", pooled=True, exempt=True)})),
    (
        rf"\b(?:gap|difference|lead|ahead|behind|higher|lower|better|worse)\b(?:\s+\w+){{0,4}}?\s+(?:is|of|by|:)\s+(?P<a>{_N})\s*(?:percentage\s+)?(?:points|pp)\b",
        _always({"a": Subject(("gap",), pooled=True)}),
    ),
    (
        rf"(?P<a>{_N})\s*(?:percentage\s+)?(?:points?|pp)\s+(?:gap|difference|higher|lower|ahead|behind|above|below|better|worse)\b",
        _always({"a": Subject(("gap",), pooled=True)}),
    ),
    (
        rf"\b(?:outperforms|beats|leads|trails|lags\s+behind)\b[^.;\d]{{0,40}}?\bby\s+(?P<a>{_N})\s*(?:percentage\s+)?(?:points|pp)\b",
        _always({"a": Subject(("gap",), pooled=True)}),
    ),
    (rf"(?P<a>{_W})\s+(?:shared|common)\s+tasks\b|\bshare\s+(?:all\s+)?(?P<b>{_W})\s+tasks", _shared),
    (
        rf"pass@1\W*(?:is|of)?\W*{_N}\W*\(\s*(?P<a>{_N}){_SEP}(?P<b>{_N})\s+(?P<verb>)(?:(?P<judged>{_JUDGED})\s+)?{_ROLL}",
        _share_of_rollouts,
    ),
    *_measures(),
    (
        rf"(?P<a>{_W})\s+(?P<verb>passes|failures|successes)\s+(?:in|out\s+of|of|over|from)\s+(?P<b>{_N})\s+(?:(?P<judged>{_JUDGED})\s+)?{_ROLL}",
        _share_of_rollouts,
    ),
    (rf"\bof\s+(?:its|the|all|all\s+the)\s+(?P<a>{_N})\s+(?P<noun>failures|failed\s+{_ROLL})\b", _total),
    (rf"\btemperature\b(?:\s+(?:is|was|of|at|=|:))*\s*[:=]?\s*(?P<a>{_N})", partial(_setting, "temperature")),
    (rf"(?P<a>{_N})\s+output\s+tokens\b", partial(_setting, "max_output_tokens")),
    (rf"\bthreshold\s+(?:is\s+|was\s+|of\s+|=\s*|:\s*)+(?P<a>{_N})", partial(_setting, "")),
    (
        rf"(?P<a>{_N})\s?%\s*(?:CI\b|confidence|interval|bootstrap|Wilson)",
        _always({"a": Subject(("level",), "", exempt=True)}),
    ),
)


PATTERNS: tuple[Pattern, ...] = tuple((re.compile(text, re.IGNORECASE), means) for text, means in _FORMS)


def named_patterns(runs: Sequence[str], stages: dict[str, str], modes: dict[str, str]) -> list[Pattern]:
    """Forms that hold the name of a run, a stage, a mode or a rule; runs are given as patterns."""
    made: list[Form] = [
        (
            rf"\b(?P<code>[A-Z]{{3}}\d{{3}})\W+(?:\S+\s+){{0,6}}?(?:fire[sd]?|seen|found|triggered)\s+(?:in|on)\s+(?P<a>{_W})\s+(?P<which>failed|failing|passed|passing)?\s*{_ROLL}",
            _rule,
        )
    ]
    for run in runs:
        scores = rf"{run}\s+(?:also\s+|only\s+)?(?:scores|scored|reaches|reached|gets|got)\s+(?P<a>{_N})"
        made.append((scores, partial(_measure, "rate")))
    for words, name in stages.items():
        if " " in words:
            subject = _always({"a": Subject(("rollouts",), f"stage:{name}", exempt=True)})
            made.append((rf"(?P<a>{_W})\s+(?:{_ROLL}\s+)?{_spaced(words)}", subject))
    for words, name in modes.items():
        subject = _always({"a": Subject(("rollouts",), f"mode:{name}", exempt=True)})
        made.append((rf"(?P<a>{_W})(?:{_SEP}{_N})?\s+(?:{_ROLL}\s+|failures\s+)?\W{{0,3}}{_spaced(words)}", subject))
    return [(re.compile(text, re.IGNORECASE), means) for text, means in made]


def _spaced(words: str) -> str:
    return r"\W+".join(map(re.escape, words.split())) + r"\b"


def _rule(found: re.Match[str]) -> Meaning:
    which = (found.group("which") or "").lower()
    subject = "failed" if which.startswith("fail") else "passed" if which.startswith("pass") else "rollouts"
    return {"a": Subject((subject,), f"rule:{found.group('code').upper()}", exempt=True)}
