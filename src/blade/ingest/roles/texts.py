"""Texts: what names how a rollout ended, what a program printed, and what the agent wrote."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from blade.ingest.logs.parse import parse_log
from blade.ingest.roles.breakdowns import GOT_OVER
from blade.ingest.roles.paths import Column, Sample
from blade.model.roles import Role

LONGEST_STATUS = 80
MOST_STATUSES = 24
"""Ways to end that a harness has names for; a task set has more names than that."""
MOST_ENDS = 8
FEWEST_OF_AN_END = 4
"""Rows for each value of a field that is taken for ends by its values' going with passes alone."""
ALWAYS_THERE = 0.9
USUAL_END = 0.75
"""Of the passes, those that end as most do: some are cut by a limit after the work is done."""
MOST_WORDS = 6
"""A name of an end is a few words; a sentence is an explanation."""
FEWEST_LINES = 4
SHARE = 0.5
"""Most texts of a field must look so."""
LONGEST_LOOKED_AT = 200_000
LEAST_WRITTEN = 0.5
FEWEST_SPACES = 3

_ENDED = re.compile(
    r"time(?:d)?[_ -]?out|error|exception|fail|complet|success|stop|limit|abort|cancel|kill|crash|exceed|max[_ -]|truncat"
    r"|refus|interrupt|exit|invalid|\bok\b|unset|done|finish|end[_ -]?turn|length|none|unknown|(?<![a-z])pass|submitted|reject|skip"
    r"|resolved|correct|bust|win|lose|lost|draw",
    re.IGNORECASE,
)
"""Words with which harnesses of any kind say how something ended: of values, never of field names."""
_LIMIT = re.compile(
    r"max(?:imum)?[_ -]?(?:step|turn|token|round|iter|call|len|out|time)\w*|(?:step|turn|token|round|time|budget|context)s?[_ -]?(?:limit|out|exceeded)"
    r"|deadline|^length$|context[_ -]?(?:full|window|length)|(?:limit|budget)\s(?:reached|exceeded|hit)",
    re.IGNORECASE,
)
_BROKE = re.compile(r"\b\w*(?:Error|Exception|Timeout|Interrupt|Failure)\b|^Traceback|HTTP \d{3}")
_ASSERTS = re.compile(r"\bassert|expected|mismatch|\bgot\b", re.IGNORECASE)
"""What a test says of an answer: nothing broke there."""
_RUNNER = re.compile(
    r"test session starts|^=+ .*(?:passed|failed|error).* in [\d.]+|^Ran \d+ tests?|^(?:not )?ok \d+|^--- (?:FAIL|PASS)"
    r"|^test result:|^Tests:\s|^(?:PASSED|FAILED) \S+::|^PASS(?:ED)?\b|^FAIL(?:ED)?\b|\d+ (?:passing|failing)$|^OK$|^\d+ (?:passed|failed)\b.* in [\d.]+s",
    re.MULTILINE,
)
"""What only test runners print."""
_LOG_LINE = re.compile(
    r"^(?:\d{4}-\d\d-\d\d|\[?\d\d:\d\d:\d\d|\[?(?:INFO|WARN|WARNING|ERROR|DEBUG)\b|[+$#>] |\S+@\S+:|Traceback|  File \""
    r"|(?:Get|Hit|Ign|Err):\d|Collecting |Downloading |Installing |Reading |Requirement already|\s+at |npm |E: |W: |\{\"\w+\":)",
    re.MULTILINE,
)
_CODE = re.compile(r"^(?:diff --git|--- a/|import |from \w+ import |def |class |#include|SELECT\b|```)", re.MULTILINE)


def role_of(
    column: Column, output: Sequence[str], checks: Sequence[str], *, of_task: bool, of_failures: bool
) -> tuple[Role, str] | None:
    """The role of a field of texts, and why; None where nothing tells.

    `of_failures`: hardly a pass has a text in it, as none has an error.
    """
    texts = [value for value in column if isinstance(value, str) and value.strip()]
    if not texts or len(texts) < len([value for value in column if value is not None and value != ""]):
        return None
    if all(len(text) <= LONGEST_STATUS and "\n" not in text for text in texts):
        return None if of_task else _short(texts, of_failures=of_failures)
    return None if of_task else _long(texts, column, output, checks)


def _short(texts: Sequence[str], *, of_failures: bool) -> tuple[Role, str] | None:
    values = sorted(set(texts))
    if len(values) > MOST_STATUSES or (len(values) > 3 and len(values) * 2 > len(texts)):
        return None
    if (
        of_failures
        and all(_BROKE.search(value) for value in values)
        and not any(_ASSERTS.search(value) for value in values)
    ):
        return "error", f"names what broke: {', '.join(values[:2])}"
    if sum(len(value.split()) <= MOST_WORDS for value in values) * 2 <= len(values):
        return None
    broke = [value for value in values if _BROKE.search(value) and _is_class(value)]
    if of_failures and len(broke) * 2 > len(values):
        return "error", f"names what broke: {', '.join(broke[:2])}"
    if any(GOT_OVER.search(value) for value in values):
        return None
    ended = [value for value in values if _ENDED.search(value)]
    if len(ended) * 2 >= len(values) and not any(_is_path(value) for value in values):
        return "status", f"{len(values)} short values that say how it ended: {', '.join(values[:3])}"
    return None


def printed_verdicts(column: Column) -> list[float | None]:
    """Whether a test runner reports in each text of a field that all tests hold; None where none does."""
    return [_printed_verdict(value) if isinstance(value, str) else None for value in column]


def _printed_verdict(text: str) -> float | None:
    if _RUNNER.search(text) is None:
        return None
    log = parse_log(text[-LONGEST_LOOKED_AT:])
    return 0.0 if log.failed or log.errors else 1.0 if log.passed else None


def says_how_it_ended(column: Column, passed: Sequence[bool | None]) -> bool:
    """Whether a field has few short values, nearly one and the same in all passes and others in some failures.

    So are the names that a harness gives to ends, whatever its words are.
    """
    rows = [(value.strip(), won) for value, won in zip(column, passed, strict=True) if isinstance(value, str)]
    values = Counter(value for value, _ in rows)
    if len(rows) < ALWAYS_THERE * len(column) or not 1 < len(values) <= min(MOST_ENDS, len(rows) // FEWEST_OF_AN_END):
        return False
    if not all(_may_name_an_end(value) for value in values):
        return False
    good = Counter(value for value, won in rows if won)
    usual, often = good.most_common(1)[0] if good else ("", 0)
    return 0 < USUAL_END * sum(good.values()) <= often and any(value != usual for value, won in rows if won is False)


def _may_name_an_end(value: str) -> bool:
    """Whether a value is a few words: numbers and letters are answers or codes."""
    short = len(value) <= LONGEST_STATUS and len(value.split()) <= MOST_WORDS
    return short and not _is_path(value) and re.search(r"[^\W\d_]{2}", value) is not None


def names_limit(value: str) -> bool:
    """Whether a short value names a limit that ended a rollout."""
    return len(value) <= LONGEST_STATUS and _LIMIT.search(value) is not None


def _is_class(value: str) -> bool:
    return " " not in value.strip()


def _is_path(value: str) -> bool:
    return ("/" in value and value.lower() != "n/a") or value.startswith("http")


def _long(
    texts: Sequence[str], column: Column, output: Sequence[str], checks: Sequence[str]
) -> tuple[Role, str] | None:
    lines = [text.count("\n") + 1 for text in texts]
    if sum(count >= FEWEST_LINES for count in lines) < SHARE * len(texts):
        return None
    written = sum(
        _is_written(value, output[place])
        for place, value in enumerate(column)
        if isinstance(value, str) and value.strip()
    )
    if written >= LEAST_WRITTEN * len(texts) or sum(text.startswith("diff --git") for text in texts) > SHARE * len(
        texts
    ):
        return "produced", "the agent wrote it, or a patch of what it changed"
    heads = [text[-LONGEST_LOOKED_AT:] for text in texts]
    graded = sum(bool(_RUNNER.search(text)) or _names_checks(text, checks) for text in heads)
    if graded >= SHARE * len(texts):
        return "grader-log", "lines of a test runner, or the names of the checks"
    lines_of_logs = [len(_LOG_LINE.findall(text)) for text in heads]
    logged = sum(count >= FEWEST_LINES for count in lines_of_logs) >= SHARE * len(texts)
    # The capture of a terminal may hold little but a prompt; some among them hold many lines.
    if logged or (all(lines_of_logs) and sum(lines_of_logs) >= FEWEST_LINES * len(texts)):
        return "agent-log", "lines that a program printed"
    return None


def _names_checks(text: str, checks: Sequence[str]) -> bool:
    """Whether a log names any of the checks."""
    return _LOG_LINE.search(text) is not None and any(len(name) > 5 and name in text for name in checks[:200])


def _is_written(text: str, output: str) -> bool:
    """Whether the agent wrote a text: a long line from its middle stands in what it said."""
    lines = [line.strip() for line in text.splitlines() if len(line.strip()) >= 20]
    chosen = lines[len(lines) // 2] if lines else text.strip()
    return bool(output) and len(chosen) >= 8 and chosen.lower() in output


def outputs(sample: Sample, path: str | None) -> list[str]:
    """All text of each row's trajectory, in lower case; empty where it has none."""
    if path is None:
        return [""] * len(sample)
    return ["\n".join(_strings(value)).lower() for value in sample.columns[path]]


def _strings(value: Any) -> list[str]:
    found: list[str] = []
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            found.append(one)
        elif isinstance(one, dict):
            waiting += [item for name, item in one.items() if name not in ("id", "call_id", "type", "role", "status")]
        elif isinstance(one, list):
            waiting += one
    return found


def is_prose(values: Sequence[Any]) -> bool:
    """Whether texts are sentences."""
    return sum(isinstance(value, str) and value.count(" ") >= FEWEST_SPACES for value in values) * 2 > len(values)


def beside(sample: Sample, paths: Sequence[str]) -> list[str]:
    """All that some fields of each row hold, in lower case."""
    return ["\n".join(str(sample.columns[path][place] or "") for path in paths).lower() for place in range(len(sample))]


def share_with(sample: Sample, path: str, value: str) -> float:
    """In which share of the rows a text holds the value of another field."""
    pairs = zip(sample.columns[path], sample.columns[value], strict=True)
    return sum(b is not None and str(b).lower() in str(a or "").lower() for a, b in pairs) / len(sample)
