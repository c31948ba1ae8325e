"""What a row records of how its rollout went, by the roles of its fields."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from blade.ingest.batch import REQUEST, RESPONSE, Batch
from blade.ingest.cells import Column, any_there
from blade.ingest.decode import decode_any
from blade.ingest.fields import DOCUMENTED, is_of_others, of_run
from blade.ingest.roles.paths import Fields, at
from blade.ingest.roles.stamps import seconds_of
from blade.model.account import Account, LogText, Phase, Status
from blade.model.roles import LOGS, FieldRole, PhaseStamps, Roles

_MILLISECONDS = re.compile(r"(?:_ms|Ms|_millis|_milliseconds)$")
_WHOLE = re.compile(
    r"(?:(?:total|run|agent|wall|clock|elapsed|duration|latency|runtime|time|taken|took|in|ms|s|secs?|seconds|millis)_?)+",
    re.IGNORECASE,
)
"""A name that means the time of a rollout, and of no part of it, where it is the only duration."""
DOCUMENTED_ROLES = Roles(
    fields=tuple(
        FieldRole(path=path, role=role, part=part, why=f"{source} defines it", decided_by="format")
        for path, (role, source, part) in DOCUMENTED.items()
    )
)
"""What holds of a row whose run nobody has looked at."""

LONGEST_STATUS = 80
"""Characters of a value that names how a rollout ended."""


def holds_account(names: Iterable[str]) -> bool:
    """Whether rows with these top-level fields can hold anything of an account: most can not."""
    return not _roles_of_run().of_an_account.isdisjoint(names)


def _roles_of_run() -> Roles:
    roles = of_run().roles
    return roles if roles.fields else DOCUMENTED_ROLES


def account_of(row: Fields, roles: Roles | None = None) -> Account:
    """The account of a row; without roles by those of the run that is being read, or of documented formats."""
    roles = roles if roles is not None and roles.fields else _roles_of_run()
    return _accounts(roles, lambda path: [at(row, path)], 1)[0]


def accounts_of(batch: Batch) -> list[Account]:
    """The account of each row of a batch."""

    def values(path: str) -> Column:
        told = batch.told(
            path
        )  # the response, which is most of a row, is not decoded again for what it tells of its end
        if told is not None:
            return told
        top, *inside = path.split(".")
        found: Column
        if top in (REQUEST, RESPONSE):  # no longer raw in a batch
            found, inside = [decode_any(row) for row in batch.data], [top, *inside]
        else:
            found = batch.whole(top)
        for name in inside:
            found = [value.get(name) if isinstance(value, Mapping) else None for value in found]
        return found

    return _accounts(_roles_of_run(), values, len(batch))


def _accounts(roles: Roles, values: Callable[[str], Column], rows: int) -> list[Account]:
    """Only the fields that have a role are asked for, column by column."""
    # Here, so that whoever only loads this module does not wait for twenty parsers.
    from blade.ingest.logs.parse import parse_log

    paths = roles.endings
    known: dict[tuple[object, ...], tuple[Status, ...]] = {}
    statuses = [_known(known, paths, each) for each in zip(*map(values, paths), strict=True)] or [()] * rows
    logs: list[list[LogText]] = [[] for _ in range(rows)]
    for path, of_agent in ((path, role == "agent-log") for role in LOGS for path in roles.paths(role)):
        for mine, text in zip(logs, values(path), strict=True):
            if isinstance(text, str) and text and not text.isspace():
                mine.append(LogText(field=path, text=text, of_agent=of_agent, reader=parse_log))
    durations = _durations(roles)
    stamps = {path: values(path) for path in _timed(roles, durations)}
    return [
        Account(statuses=ended, logs=tuple(printed), phases=took)
        for ended, printed, took in zip(statuses, logs, _phases(stamps, roles.phases, durations, rows), strict=True)
    ]


def is_status(value: object) -> bool:
    """Whether a value is a short text on one line."""
    return isinstance(value, str) and 0 < len(value.strip()) <= LONGEST_STATUS and "\n" not in value


def _durations(roles: Roles) -> tuple[str, ...]:
    """Recorded durations of a phase that no stamps bound."""
    if roles.phases:
        return ()
    return tuple([path for path in roles.paths("duration") if "[" not in path])


def _timed(roles: Roles, durations: Sequence[str]) -> Iterable[str]:
    """The fields that phases are made of."""
    return dict.fromkeys((*(path for one in roles.phases for path in (one.start, one.end)), *durations))


def _phases(
    columns: Mapping[str, Column], between: Sequence[PhaseStamps], durations: Sequence[str], rows: int
) -> list[tuple[Phase, ...]]:
    """The phases of each row, by the columns of their fields; what has no column has no phase."""
    found: list[list[Phase]] = [[] for _ in range(rows)]
    for phase in between:
        bounds = columns.get(phase.start, ()), columns.get(phase.end, ())
        for mine, start, end in zip(found, *(map(seconds_of, bound) for bound in bounds), strict=False):
            if start is not None and end is not None and end >= start:
                mine.append(Phase(name=phase.name, seconds=round(end - start, 6), field=phase.start))
    for path in durations:
        name = path.rpartition(".")[2]
        unit = 1e3 if _MILLISECONDS.search(name) else 1.0
        name = "total" if len(durations) == 1 and _WHOLE.fullmatch(name) and not is_of_others(path) else name
        for mine, value in zip(found, columns.get(path, ()), strict=False):
            if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0:
                mine.append(Phase(name=name, seconds=value / unit, field=path))
    return list(map(tuple, found))


def statuses_of(batch: Batch) -> list[tuple[Status, ...]]:
    """How each row of a batch says that it ended; empty where no row says anything."""
    named = [
        (path, batch.values((path,))) for path in of_run().roles.endings if path.partition(".")[0] in batch.columns
    ]
    named = [(path, values) for path, values in named if any_there(values)]
    if not named:
        return []
    known: dict[tuple[object, ...], tuple[Status, ...]] = {}
    paths = [path for path, _ in named]
    return [_known(known, paths, values) for values in zip(*(values for _, values in named), strict=True)]


def _known(
    known: dict[tuple[object, ...], tuple[Status, ...]], paths: Sequence[str], values: tuple[object, ...]
) -> tuple[Status, ...]:
    """Rows repeat their statuses, so each is made once."""
    plain = tuple(value if isinstance(value, str) else None for value in values)
    if plain not in known:
        known[plain] = tuple(
            Status(field=path, value=value)
            for path, value in zip(paths, plain, strict=True)
            if is_status(value) and value is not None
        )
    return known[plain]


def phases_of(batch: Batch) -> list[tuple[Phase, ...]]:
    """The phases of each row of a batch; empty where the run has no stamps in order and no durations."""
    roles = of_run().roles
    durations = _durations(roles)
    columns: dict[str, Column] = {
        path: batch.values((path,)) for path in _timed(roles, durations) if path.partition(".")[0] in batch.columns
    }
    if not any(map(any_there, columns.values())):
        return []
    return _phases(columns, roles.phases, durations, len(batch))


def whole_seconds(phases: Sequence[Phase]) -> float | None:
    """How long the rollout took: from its first to its last stamp."""
    return next((phase.seconds for phase in phases if phase.name == "total"), None)
