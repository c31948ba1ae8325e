"""The verifier or the test code itself raised, and the rollout counts as failed.

Why it matters
    Nobody judged the answer: the reward of 0 says nothing about the model.

What to do
    Repair the verifier or the test file, and judge these rollouts again.

Limits
    A traceback counts only if it ends in a file of the verifier, on a name that neither prompt nor agent uses; where all
    tests of every repeat say the same, it is enough that nothing of the solution stands in it. A test that hangs or
    asserts is no crash; a field that speaks of the candidate's code, or of time, is not looked at.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Collection, Iterator

import polars as pl

from blade.evidence import quotes
from blade.evidence.alignment import AlignedTrajectory
from blade.evidence.context import RunContext, spread
from blade.evidence.differences import UNDECIDED
from blade.evidence.templates import telling
from blade.ingest.roles.breakdowns import MACHINERY
from blade.model.diagnosis import Doubt
from blade.model.finding import Cause, Differs
from blade.model.pattern import pattern_of
from blade.rules.declaration import rule
from blade.rules.run.task._words import Spoken, agent_words, given_words, quoted, verifier_words
from blade.stats.rollout_index import Ref

LOOKED_BACK = 4_000
"""Characters before an error in which the place that raised it is looked for."""
LOOKED_ON = 600
MOST_ERRORS = 20
"""Errors of one text that are looked at."""
SHORTEST_LINE = 3
"""Characters; a shorter line of code stands anywhere by chance."""

_JUDGE = pattern_of(r"judge")
_THEIRS = pattern_of(
    r"""\b(?:solutions?|candidates?|submi\w+|predict\w*|extracted|answers?|outputs?|responses?|patch|student|model|agent
    |syntax\w*|assert\w*|time[ds]?|timeout|limit)\b|AssertionError|SyntaxError|IndentationError""",
    re.IGNORECASE | re.VERBOSE,
)
"""Words in an error of the verifier that may speak of what was judged."""
_RAISED = pattern_of(
    r"^(?:E +)?(?P<error>(?P<kind>NameError|ImportError|SyntaxError|IndentationError|AttributeError|KeyError|FileNotFoundError|PermissionError): [^\n]{1,300})$",
    re.MULTILINE,
)
_FRAME = pattern_of(r'File "(?P<path>[^"\n]{1,300})", line \d+[^\n]{0,200}(?:\n[ \t]*(?P<code>[^\n]{0,300}))?')
_PYTEST = pattern_of(r"^(?P<path>\S{1,300}\.py):\d+: (?:Name|Import|Syntax|Indentation|Attribute)Error$", re.MULTILINE)
_OWN_FILE = pattern_of(
    r"(?:^|/)(?:test_[^/]*|[^/]*_test|tests?|conftest|verif[^/]*|grade[^/]*|grading|scor(?:e|er|ing)|evaluat[^/]*)\.py$"
)
_LIBRARY = pattern_of(r"(?:site|dist)-packages|/lib/python\d")
_OWN_FOLDER = pattern_of(
    r"/(?:eval\w*|grad(?:er|ing)\w*|verif\w*|judg\w*|scor(?:er|ing)\w*|harness\w*|checker\w*|runner\w*|hidden_tests)/"
)
_STAGE = pattern_of(
    r"INTERNALERROR>|\bfixture ['\"][^'\"\n]+['\"] not found|\berrors? (?:at|during|while|in) (?:\w+ )?(?:setup|set-up|setting up|collect\w*|load\w*"
    r"|teardown|discover\w*)\b|\b(?:setup|collection|discovery|beforeAll|beforeEach|setUpClass|setUpModule)\b[^\n]{0,20}\b(?:fail|error)",
    re.IGNORECASE,
)
"""Words of a test runner about a stage before any test: collecting, setting up, its own plugins."""
_NO_CRASH = pattern_of(
    r"\bAssert\w*|\btime[ds]?[ -]?out\b|\btime limit\b|\b(?:seconds|killed|memory|segmentation)\b|No module named|not installed|cannot import name",
    re.IGNORECASE,
)
_NAMED = pattern_of(r"['\"`]([^'\"`\n]{3,80})['\"`]|\b([\w./-]+\.\w{1,4}):\d+")
FEWEST_REPEATS = 2
_NAME = pattern_of(r"name '(\w+)' is not defined")
_IMPORTED = pattern_of(r"cannot import name '(\w+)' from '([\w.]+)'")
_OF_MODULE = pattern_of(r"module '([\w.]+)' has no attribute '(\w+)'")
_KEY = pattern_of(r"'(?:[^']*/)?([\w.-]{3,})'$")
_OF_TEST = pattern_of(r"'Test\w*' object has no attribute '(\w+)'")
_COMMON = frozenset(
    ("numpy", "pandas", "scipy", "matplotlib", "sklearn", "torch", "requests", "pytest", "sympy", "networkx", "cocotb")
)


@rule("TSK013", scope="run", suggests=Cause.TASK, strong=True, status="stable")
def verifier_crashed(context: RunContext) -> Iterator[Doubt]:
    yield from _by_its_own_word(context)
    told: set[str] = set()
    for doubt in _by_traceback(context):
        told.update(doubt.tasks)
        yield doubt
    yield from _by_every_test(context, told)


def _by_its_own_word(context: RunContext) -> Iterator[Doubt]:
    """Fields in which the verifier says that it failed itself, one doubt a field."""
    said = context.partition.differences.filter(
        (pl.col("kind") == Differs.NO_RECORD) & ~pl.col("detail").is_in(["", UNDECIDED]) & ~pl.col("passed")
    )
    for (name,), rows in said.group_by("name", maintain_order=True):
        places = list(rows.select("task_id", "repeat").unique(maintain_order=True).iter_rows())
        told = [(walk, text) for walk in context.reading.at(places) if (text := _of_itself(walk, str(name)))]
        about_it = {template for walk, _ in told for template in _details(walk, str(name))}
        kept = (
            rows.filter(pl.col("detail").is_in(list(about_it))).select("task_id", "repeat").unique(maintain_order=True)
        )
        if told:
            yield _doubt(list(kept.iter_rows()), told[0][0], (str(name), told[0][1]), _telling_line(told[0][1]))


def _of_itself(walk: AlignedTrajectory, field: str) -> str:
    """What a field says of the verifier; empty where it may speak of what was judged, of time, or of what it runs on."""
    text = next((said.text for said in walk.due.said if said.field == field), "")
    if MACHINERY.search(text):
        return ""
    theirs = _JUDGE.search(field) is None and ("time" in field or _THEIRS.search(text) is not None)
    return "" if theirs else text


def _details(walk: AlignedTrajectory, field: str) -> list[str]:
    return [one.detail for one in walk.differs if one.kind == Differs.NO_RECORD and one.name == field]


def _telling_line(text: str) -> str:
    start, end = telling(text)
    return text[start:end]


def _by_traceback(context: RunContext) -> Iterator[Doubt]:
    """Errors that test code raised on its own names, one doubt an error."""
    found: dict[str, list[tuple[AlignedTrajectory, Spoken]]] = {}
    for walk in (one for one in context.reading.walks.values() if not one.passed):
        for spoken in verifier_words(walk):
            for error in _own_errors(walk, spoken[1]):
                found.setdefault(error, []).append((walk, spoken))
    if not found:
        return
    passing = [text for walk in context.reading.walks.values() if walk.passed for _, text in verifier_words(walk)]
    for error, seen in found.items():
        if not any(error in text for text in passing):
            places = list(dict.fromkeys((walk.rollout.key.task_id, walk.repeat) for walk, _ in seen))
            yield _doubt(places, *seen[0], error)


def _by_every_test(context: RunContext, told: Collection[str]) -> Iterator[Doubt]:
    """Tasks of which all tests of all repeats fail in the same words, before anything of the solution is reached."""
    for task in (one for one in context.reading.never if one not in told):
        walks = context.reading.of(task)
        checks = [check for walk in walks for check in walk.due.checks]
        words = {check.words.strip() for check in checks}
        tested = all(walk.due.checks and agent_words(walk).strip() for walk in walks)
        if len(walks) < FEWEST_REPEATS or len(words) != 1 or not tested or any(check.passed for check in checks):
            continue
        if all(_is_before_it(walk, checks[0].words) for walk in walks):
            spoken = (checks[0].words_field, checks[0].words)
            yield _doubt([(task, walk.repeat) for walk in walks], walks[0], spoken, _telling_line(checks[0].words))


def _is_before_it(walk: AlignedTrajectory, text: str) -> bool:
    """Whether words tell of a failure of the verifier's own files or of a stage before its tests, and name nothing given."""
    if not text.strip() or _NO_CRASH.search(text):
        return False
    paths = [match["path"] for match in _FRAME.finditer(text)]
    own = bool(paths) and all(_is_own(path) for path in paths)
    if not own and (paths or not _STAGE.search(text)):
        return False
    known = f"{agent_words(walk)}\n{given_words(walk)}"
    named = (one or other for one, other in _NAMED.findall(text))
    return not any(name in known for name in named if not name.isdecimal())


def _is_own(path: str) -> bool:
    """Whether a file is the verifier's, by its name or its folder, and no test that may trip over the solution."""
    if _LIBRARY.search(path) or path.rpartition("/")[2].startswith("test_"):
        return False
    return _OWN_FILE.search(path) is not None or _OWN_FOLDER.search(path) is not None


def _own_errors(walk: AlignedTrajectory, text: str) -> Iterator[str]:
    matches = [match for match, _ in zip(_RAISED.finditer(text), range(MOST_ERRORS), strict=False)]
    if not matches:
        return
    made, given = agent_words(walk), given_words(walk)
    if not made.strip():
        return
    for match in matches:
        path, code = _raised_in(text, match)
        own = _OWN_FILE.search(path) is not None and _LIBRARY.search(path) is None
        theirs = path.rpartition("/")[2] in made or (len(code) > SHORTEST_LINE and code in made)
        if own and not theirs and _is_its_own(match["kind"], match["error"], f"{made}\n{given}"):
            yield match["error"].strip()


def _raised_in(text: str, match: re.Match[str]) -> tuple[str, str]:
    """The file that raised an error and the line there; empty where it is not told."""
    frames = list(_FRAME.finditer(text, max(0, match.start() - LOOKED_BACK), match.start()))
    if frames:
        between = text[frames[-1].end() : match.start()].split("\n")
        joined = all(not line.strip() or line[0] in " \tE" for line in between)
        return (frames[-1]["path"], (frames[-1]["code"] or "").strip()) if joined else ("", "")
    place = _PYTEST.search(text, match.end(), min(len(text), match.end() + LOOKED_ON))
    return (place["path"], "") if place is not None else ("", "")


def _is_its_own(kind: str, error: str, known: str) -> bool:
    """Whether an error is about a name of the test code: one that neither prompt nor agent uses."""
    if kind in ("SyntaxError", "IndentationError"):
        return True
    if (match := _NAME.search(error) or _OF_TEST.search(error)) is not None:
        return not _stands(match[1], known)
    if (
        match := _KEY.search(error) if kind in ("KeyError", "FileNotFoundError", "PermissionError") else None
    ) is not None:
        return not _stands(match[1], known)
    if (match := _OF_MODULE.search(error)) is not None:
        return _is_library(match[1]) and not _stands(match[2], known)
    if (match := _IMPORTED.search(error)) is not None:
        return (_is_library(match[2]) or _LIBRARY.search(error) is not None) and not _stands(match[1], known)
    return False


def _is_library(module: str) -> bool:
    top = module.partition(".")[0]
    return top in sys.stdlib_module_names or top in _COMMON


def _stands(name: str, text: str) -> bool:
    return re.search(rf"\b{re.escape(name)}\b", text) is not None


def _doubt(places: list[Ref], walk: AlignedTrajectory, spoken: Spoken, quote: str) -> Doubt:
    evidence = quoted(walk, spoken, quote)
    where = f" (`{spoken[0]}`)" if spoken[0] else ""
    return Doubt(
        about="verifier",
        tasks=tuple(dict.fromkeys(task for task, _ in places)),
        message=f"the verifier itself failed in {spread(places)}: {walk.place}{where} says {quotes.shown(quote, 160)}",
        rollouts=len(places),
        places=tuple(places),
        evidence=(evidence,) if evidence else (),
    )
