"""The verifier's words say that something is not installed in the sandbox.

Why it matters
    No solution can pass where its tests, or a library that the task allows, cannot be loaded.

What to do
    Install it in the image of the benchmark, and judge these rollouts again.

Limits
    Modules that the prompt or the agent makes, names that any solution may have, and parts of a package are left out.
    What only the agent asked for must be missing in two tasks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from blade.evidence import quotes
from blade.evidence.alignment import AlignedTrajectory
from blade.evidence.context import RunContext, spread
from blade.model.diagnosis import Doubt
from blade.model.finding import Cause
from blade.model.pattern import pattern_of
from blade.rules.declaration import rule
from blade.rules.run.task._words import Spoken, agent_words, given_words, quoted, told_words, verifier_words

FEWEST_TASKS = 2
"""Tasks in which something must be missing that only the agent asked for."""
MOST_LINES = 40
"""Messages of one text that are looked at."""

_MISSING = pattern_of(
    r"""(?:ModuleNotFoundError|ImportError):\ No\ module\ named\ '?(?P<module>[\w.]+)'?
    |(?:ImportError:|loading\ shared\ libraries:)\ (?P<library>[\w.+-]+\.so[\w.]*):\ cannot\ open\ shared\ object\ file
    |(?:^|[\s:])(?P<command>[\w.+-]+):\ command\ not\ found(?!:)
    |\bcommand\ not\ found:\ (?P<unknown>[\w.+-]+)
    |^(?!\w*Error)(?P<absent>[\w.+-]+):\ not\ found$
    |'(?P<windows>[\w.+-]+)'\ is\ not\ recognized\ as\ an\ internal\ or\ external\ command
    |Cannot\ find\ (?:module|package)\ ['"](?P<node>@?\w[\w@/-]*)['"]
    |cannot\ find\ package\ "(?P<go>[\w.]+/[\w./-]+)"
    |can't\ find\ crate\ for\ `(?P<crate>\w+)`
    |error:\ package\ (?P<java>[\w.]+)\ does\ not\ exist
    |there\ is\ no\ package\ called\ .(?P<r>[\w.]+).
    |ld:\ cannot\ find\ -l(?P<linked>[\w.+-]+)
    |fatal\ error:\ (?P<header>[\w/.+-]+\.h(?:pp)?):\ No\ such\ file
    |cannot\ load\ such\ file\ --\ (?P<gem>[\w/-]+)
    |The\ '(?P<distribution>[\w.-]+)[^']*'\ distribution\ was\ not\ found
    |Missing\ optional\ dependency\ '(?P<optional>[\w.-]+)'
    |\bsh:\ (?:line\ )?\d+:\ (?P<program>[\w.+-]+):\ not\ found
    |\benv:\ .?(?P<interpreter>[\w.+-]+).?:\ No\ such\ file\ or\ directory
    |exec:\ "(?P<executable>[\w.+-]+)":\ executable\ file\ not\ found
    |\b(?:package|module|library|dependency|distribution|plugin|gem|crate|extension|program|binary|executable)\ ["'`]?(?P<lacking>\w[\w.+@/-]*)["'`]?
        \ (?:(?:is|was|are|could|has|be|been)\ )*(?:not|never)\ (?:be\ |been\ )?(?:installed|found|available|present|importable|provided|on\ the\ path)\b
    |\b(?:[Mm]issing|[Uu]nmet|[Uu]ninstalled|[Rr]equires|[Nn]o)\ (?:\w+\ )?(?:package|module|library|dependency|plugin)s?:?\ ["'`](?P<lacked>\w[\w.+@/-]*)["'`]
    |["'`](?P<uninstalled>\w[\w.+-]*)["'`]\ (?:is|was)\ not\ installed\b
    |FileNotFoundError:\ \[Errno\ 2\]\ No\ such\ file\ or\ directory:\ '(?P<started>python3?|node|npm|java|javac|gcc|g\+\+|go|cargo|rustc|ruby|perl|php|bash|git|make|cmake|iverilog|verilator|docker)'""",
    re.VERBOSE | re.MULTILINE,
)
_HINTS = (
    "No module named",
    "cannot open shared object",
    "not found",
    "No such file",
    "is not recognized",
    "annot find ",
    "can't find crate",
    "does not exist",
    "no package called",
    "cannot load such file",
    "Missing optional",
    " not ",
    "issing ",
    "requires ",
    "unmet ",
    " never ",
    "no ",
)
_ANYBODYS = pattern_of(
    r"(?:your_|my_?)?(?:answer|app|candidate|code|common|config|conftest|core|func|function|helpers?|impl|lib|main|models?|module"
    r"|package|program|project|script|server|settings|solutions?|src|submission|task|tests?|tools|user_code|utils?)",
    re.IGNORECASE,
)
"""Names that a solution's own module may have."""


class _Seen(Struct, frozen=True, kw_only=True):
    """A message that something is missing."""

    walk: AlignedTrajectory
    what: str
    kind: str
    spoken: Spoken
    quote: str
    asked: bool
    """Whether only the agent asked for it."""


@rule("TSK015", scope="run", suggests=Cause.TASK, strong=True, status="stable")
def dependency_missing(context: RunContext) -> Iterator[Doubt]:
    found: dict[str, list[_Seen]] = {}
    for walk in (one for one in context.reading.walks.values() if not one.passed):
        for seen in _missing(walk):
            found.setdefault(seen.what, []).append(seen)
    passing = [walk for walk in context.reading.walks.values() if walk.passed] if found else []
    for what, messages in found.items():
        tasks = {one.walk.rollout.key.task_id for one in messages}
        enough = len(tasks) >= FEWEST_TASKS or not all(one.asked for one in messages)
        if enough and not _is_there(what, messages, passing):
            yield _doubt(what, messages)


def _missing(walk: AlignedTrajectory) -> Iterator[_Seen]:
    """What the verifier could not find for a rollout, each thing once; not what the solution was to bring."""
    told: set[str] = set()
    for spoken in verifier_words(walk):
        if not any(hint in spoken[1] for hint in _HINTS):
            continue
        for match, _ in zip(_MISSING.finditer(spoken[1]), range(MOST_LINES), strict=False):
            kind = match.lastgroup or ""
            what = match[kind].rstrip(".")
            if what in told or (kind == "module" and "." in what) or _is_anybodys(what):
                continue
            told.add(what)
            made, given = agent_words(walk), given_words(walk)
            if not _makes(what, made) and not _makes(what, given):
                # What a tool returns of a package that the agent installs is no word of the task's.
                asked = _names(what, made) and not _names(what, told_words(walk))
                yield _Seen(walk=walk, what=what, kind=kind, spoken=spoken, quote=match[0], asked=asked)


def _is_anybodys(what: str) -> bool:
    """Whether a part of a name is one that a solution's own file may have."""
    return any(_ANYBODYS.fullmatch(part) for part in re.split(r"[./]", what) if part not in ("h", "hpp"))


def _makes(what: str, text: str) -> bool:
    """Whether a text speaks of a file or folder of that name, which is then the task's or the solution's own."""
    if re.search(rf"(?<![\w.-]){re.escape(what)}(?:\.(?:py|js|ts|rs|go|java|rb|h|c|cpp)\b|/)", text) is not None:
        return True
    stem, _, last = what.rpartition("_")  # an extension module is named after its source: `fast_c` of `fast.c`
    return bool(stem) and re.search(rf"(?<![\w.-]){re.escape(stem)}\.{re.escape(last)}\b", text) is not None


def _names(what: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(what)}(?!\w)", text) is not None


def _is_there(what: str, seen: Sequence[_Seen], passing: Sequence[AlignedTrajectory]) -> bool:
    """Whether passing rollouts show the same message, or could load the thing."""
    loads = re.compile(rf"^\s*(?:import|from)\s+{re.escape(what)}\b", re.MULTILINE)
    same = any(one.quote.strip() in text for one in seen[:1] for walk in passing for _, text in verifier_words(walk))
    return same or (seen[0].kind == "module" and any(loads.search(agent_words(walk)) for walk in passing))


def _doubt(what: str, seen: Sequence[_Seen]) -> Doubt:
    first = seen[0]
    places = list(dict.fromkeys((one.walk.rollout.key.task_id, one.walk.repeat) for one in seen))
    evidence = quoted(first.walk, first.spoken, first.quote)
    where = f" (`{first.spoken[0]}`)" if first.spoken[0] else ""
    return Doubt(
        about="verifier",
        tasks=tuple(dict.fromkeys(task for task, _ in places)),
        message=f"`{what}` is missing in the sandbox in {spread(places)}: {first.walk.place}{where} says "
        f"{quotes.shown(first.quote.strip(), 120)}",
        rollouts=len(places),
        evidence=(evidence,) if evidence else (),
    )
