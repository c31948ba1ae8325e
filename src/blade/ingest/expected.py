"""What was due, and what the verifier said: foreign shapes of keys and accounts become one value."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any

import msgspec
from msgspec import structs

from blade.ingest import cells, checks, fields
from blade.ingest.batch import decoded
from blade.ingest.cells import raw_marks
from blade.ingest.decode import Row, decode_any, encode
from blade.ingest.roles.shaped import as_calls
from blade.model.expected import NOTHING_DUE, Due, DueCall, VerifierCheck, VerifierText
from blade.model.tools import changes_state, is_deep

LARGEST_ACCOUNT = 1 << 18
"""Bytes of an object in which the verifier's words are looked for."""
LONGEST_SAID = 40_000
MOST_SAID = 24
DEEPEST = 3

_SPEAKER = ("assistant", "agent", "")
_USERS = ("user", "customer", "client", "human")
_ARGUMENTS = ("arguments", "kwargs", "args", "parameters", "input")
_NOT_WORDS = frozenset(
    (*fields.KEY_NAMES, *fields.ID_NAMES, "response", "responses_create_params", "judge_responses_create_params")
)
_QUIET = frozenset(("", "none", "null", "ok", "pass", "passed", "success", "completed", "correct", "true", "yes", "0"))
"""Words that say that nothing is wrong."""
_LONGEST_QUIET = max(map(len, _QUIET))
_OF_THE_KEY = ("expected_", "gold_", "reference_", "ground_truth_", "gt_")
"""How names of the key begin: what stands there is no word about a rollout."""
_GOOD = frozenset(("correct", "match", "resolved", "valid", "success", "passed", "finished", "completed"))
"""A field with such a word in its name is false when something is wrong, and then says no more than the verdict."""
_PRINTED = ("stdout", "actual_output")
"""What a program printed is an answer, but nothing was extracted where it printed nothing."""
_EVALUATIONS = ("judge_evaluations", "judge_evaluation")
_PARTS = frozenset(("compiled", "correctness", "utility", "security", "safe"))
"""What a verdict may be made of: a field that is named so, and is false, says what was lacking."""
_HARM = re.compile(r"attack|injection|leak|violat|jailbr|cheat|hacked")
"""What must not happen: a field with such a word in its name that is true says that it did."""
_PRINTS = re.compile(r"compile|verif|evaluat")
"""Accounts in which what was printed is a compiler's or a verifier's word, and not the program's."""
_WHOLE = frozenset(("overall", "strict", "task", "final", "is", "episode", "run"))
_OBSERVED = frozenset(("won", "lost", "admissible_commands", "inventory", "moves"))
"""Beside such fields the words of an account are what the environment showed, and no verdict."""
_SPECIFIC = frozenset(
    ("patch", "applied", "format", "schema", "compile", "compiled", "parse", "parsed", "syntax", "build", "extracted")
)
"""What may fail before anything is judged: a field that says that it did not succeed tells more than the verdict."""
_VERDICT = re.compile(rb'"(?:verdict(?:_label)?|response)"\s*:\s*(null\b)?')
_CUT_OFF = re.compile(rb'"incomplete_details"\s*:\s*\{')
"""Verdicts and replies of judges as they stand in a record, and a reply that a limit ended."""
_FLAGS = re.compile(
    r"error|fail|timeout|timed_out|exceeded|invalid|truncated|incomplete|refus|attempted|hallucinat|abstain|oom"
)
_AMOUNTS = ("failed", "failures", "errors", "count", "_rate", "_limit", "_s", "_sec", "_secs", "_seconds", "_ms")
"""How names of numbers end that are no flags, though they be 1."""
_TELLING = frozenset(("reason", "reasons", "message", "error", "explanation", "labels"))
"""A field with such a word in its name tells more than yes and no."""
_CALL_NAMES = frozenset(
    ("name", "tool", "tool_name", "function", "id", "type", "action_id", "requestor", "info", "compare_args", "order")
)
"""What a call without arguments may hold."""


class _Plan(msgspec.Struct, frozen=True):
    """Of the keys of a row: where key, account and script may be."""

    actions: tuple[str, ...]
    statements: tuple[str, ...]
    expected: tuple[str, ...]
    extracted: tuple[str, ...]
    script: tuple[str, ...]
    words: tuple[str, ...]
    accounts: tuple[str, ...]
    records: tuple[str, ...]
    breakdowns: tuple[str, ...]
    checks: bool


def _plan(names: tuple[str, ...]) -> _Plan | None:
    return _plan_of(names, fields.of_run())


@lru_cache(maxsize=4096)
def _plan_of(names: tuple[str, ...], table: fields.RunFields) -> _Plan | None:
    paths = fields.applying(names)
    learned = {top for shape in table.roles.results for top in checks.tops(shape)}
    labels = table.roles.paths("annotation")
    accounts = (path for path in table.roles.accounts if path.partition(".")[0] in names)
    breakdowns = tuple(path for path in table.roles.breakdowns if _top(path) in names and "[" not in path)
    words = (
        name
        for name in names
        if name not in _NOT_WORDS
        and name not in breakdowns
        and name not in fields.ACCOUNTS
        and _speaks(name)
        and not _is_label(name, labels)
    )
    plan = _Plan(
        actions=paths["expected_actions"],
        statements=paths["expected_statements"],
        expected=paths["expected"],
        extracted=tuple(name for name in paths["answer"] if name not in (*paths["expected"], *_PRINTED)),
        script=paths["script"],
        # By name: rows of one file may have their fields in other orders, and say the same.
        words=tuple(sorted(words)),
        accounts=tuple(name for name in fields.ACCOUNTS if name in names),
        records=tuple(dict.fromkeys((*(name for name in fields.RECORDS if name in names), *accounts))),
        breakdowns=breakdowns,
        checks=checks.may_hold(names) or not learned.isdisjoint(names),
    )
    return plan if any(getattr(plan, name) for name in plan.__struct_fields__) else None


def _is_label(name: str, labels: Sequence[str]) -> bool:
    """Whether people wrote a field afterwards: one known for it, or, beside such fields, one that is called so."""
    return name in labels or (bool(labels) and "label" in name.lower())


def _speaks(name: str) -> bool:
    words = frozenset(re.split(r"[^a-z0-9]+", name.lower()))
    if name.startswith(("_ng_", "num_", *_OF_THE_KEY)):
        return False
    if _is_part(words) or _HARM.search(name) or name in (fields.MASK, *fields.REACHED):
        return True
    if words & _SPECIFIC and words & {*_GOOD, "successfully", "applied", "ok", "exists"}:
        return True
    says_only_yes = not words.isdisjoint(_GOOD) and words.isdisjoint(_TELLING)
    return fields.speaks(name) and not says_only_yes


def _is_part(words: frozenset[str]) -> bool:
    """Whether a name is that of a part of the verdict: `compiled`, `is_safe`, `original_task_success`."""
    return words - {"is"} <= _PARTS or ("success" in words and len(words - _WHOLE) > 1)


def read_due(row: Row, checked: tuple[VerifierCheck, ...] | None = None) -> Due:
    """What the key of a row wants and what its verifier said; foreign names are resolved by the field table.

    `checked` are its checks, as far as a caller has them.
    """
    plan = _plan(tuple(row))
    if plan is None:
        return NOTHING_DUE
    speaks = plan.words or plan.accounts or plan.breakdowns
    return Due(
        calls=_calls(row, plan.actions) if plan.actions else None,
        user_calls=_user_calls(row, plan.actions),
        statements=_statements(row, plan.statements) if plan.statements else (),
        answer=_answer(row, plan.expected) if plan.expected else None,
        extracts=any(_has_place(row, path) for path in plan.extracted),
        checks=checked if checked is not None else _checks(row) if plan.checks else (),
        said=tuple(islice(_all_said(row, plan), MOST_SAID)) if speaks else (),
        empty_records=tuple([name for name in plan.records if _is_empty(row, name)]) if plan.records else (),
        undecided=tuple([name for name in plan.records if name in row and _is_undecided(name, row[name])])
        if plan.records
        else (),
        script=_script(row, plan.script) if plan.script else None,
    )


def _has_place(row: Row, path: str) -> bool:
    """Whether a row has the field of a path, whatever stands in it."""
    top, _, inside = path.partition(".")
    return not inside or f'"{inside.rpartition(".")[2]}"'.encode() in bytes(row.get(top, b""))


def _is_empty(row: Row, path: str) -> bool:
    """Whether the object at a path holds nothing, or is not there."""
    return not cells.has(row[path]) if path in row else not first_value(row, (path,))


def _is_undecided(name: str, record: bytes | msgspec.Raw) -> bool:
    """Whether a record holds a judgment without a verdict; of a rubric, none of whose criteria has one."""
    text = bytes(record)
    absent = [bool(null) for null in _VERDICT.findall(text)] if b"null" in text else []
    if name in fields.RUBRICS:
        return bool(absent) and all(absent)
    return any(absent) or (name.startswith("judge_") and _CUT_OFF.search(text) is not None)


class KnownDue:
    """Reads what is due in the rows of an artifact: the repeats of a task want the same, so it is worked out once."""

    _MOST = 1024
    _LARGEST = 1 << 13
    """Bytes of a field that other rows may well have too; where there is a longer one, every row is read."""

    def __init__(self) -> None:
        self._names: tuple[str, ...] = ()
        self._known: dict[tuple[object, ...], Due] = {}
        self._checks: dict[tuple[bytes, ...], tuple[VerifierCheck, ...]] = {}

    def column(
        self, columns: Mapping[str, Sequence[Any]], whole: Callable[[str], Sequence[Any]] | None = None
    ) -> list[Due] | None:
        """As `read_due`, of each row; None when the fields can hold nothing that was due or said.

        `whole` gives the values of a field, where a caller shares them with others.
        """
        names = due_names(tuple(columns))
        if not names:
            return None
        checked = self.checks(columns)
        apart = _apart(names, fields.of_run())
        if apart is None or not self._differ(columns, apart.words):
            return self._wanted(names, columns, checked)
        said = _said_in(columns, apart.words, whole or (lambda name: decoded(columns[name])))
        wanted = self._wanted(apart.others, columns, [()] * len(checked)) if apart.others else None
        if wanted is None:
            return [Due(checks=held, said=words) for held, words in zip(checked, said, strict=True)]
        return [
            structs.replace(one, checks=held, said=(*words, *one.said)[:MOST_SAID])
            for one, held, words in zip(wanted, checked, said, strict=True)
        ]

    def _differ(self, columns: Mapping[str, Sequence[Any]], names: Sequence[str]) -> bool:
        """Whether a field is long, or has another value in most rows, so that no other row has it as well."""
        return any(
            max(map(len, filter(None, columns[name])), default=0) > self._LARGEST
            or len(set(raw_marks(columns[name]))) * 2 > len(columns[name])
            for name in names
        )

    def _wanted(
        self,
        names: tuple[str, ...],
        columns: Mapping[str, Sequence[Any]],
        checked: Sequence[tuple[VerifierCheck, ...]],
    ) -> list[Due]:
        mine = [columns[name] for name in names]
        read = _read_values(names)
        if any(max(map(len, filter(None, columns[name])), default=0) > self._LARGEST for name in read):
            return [_read_some(names, raws, checked[at]) for at, raws in enumerate(zip(*mine, strict=True))]
        if names != self._names:
            self._names, self._known = names, {}
        known = self._known
        keys = zip(*[_marks(columns[name], whole=name in read) for name in names], strict=True)
        return [
            known.get(key) or self._learn(key, [raws[at] for raws in mine], checked[at]) for at, key in enumerate(keys)
        ]

    def checks(self, columns: Mapping[str, Sequence[Any]]) -> Sequence[tuple[VerifierCheck, ...]]:
        """The tests and criteria of each row; the repeats of a task pass the same tests, so they are read once."""
        names = check_names(tuple(columns))
        if not names:
            return [()] * len(next(iter(columns.values()), ()))
        mine = [columns[name] for name in names]
        if len(self._checks) >= self._MOST:
            self._checks.clear()
        known, marks = self._checks, list(zip(*map(raw_marks, mine), strict=True))
        for at, mark in enumerate(marks):
            if mark not in known:
                row = {name: column[at] for name, column in zip(names, mine, strict=True) if column[at] is not None}
                known[mark] = checks_of(row)
        return [known[mark] for mark in marks]

    def _learn(self, key: tuple[object, ...], raws: Sequence[Any], checked: tuple[VerifierCheck, ...]) -> Due:
        if len(self._known) >= self._MOST:
            self._known.clear()
        due = self._known[key] = _read_some(self._names, raws, checked)
        return due


def _marks(raws: Sequence[Any], *, whole: bool) -> list[object]:
    """What tells the values of a field apart: all that they hold, or only whether there is one."""
    return [*raw_marks(raws)] if whole else [raw is not None for raw in raws]


def _read_some(names: tuple[str, ...], raws: Sequence[Any], checked: tuple[VerifierCheck, ...]) -> Due:
    return read_due({name: raw for name, raw in zip(names, raws, strict=True) if raw is not None}, checked)


def _read_values(names: tuple[str, ...]) -> frozenset[str]:
    return _read_values_of(names, fields.of_run())


@lru_cache(maxsize=4096)
def _read_values_of(names: tuple[str, ...], table: fields.RunFields) -> frozenset[str]:
    """Of `due_names`: those whose values matter; of the others only whether a row has them."""
    plan = _plan(names)
    paths = (*plan.actions, *plan.statements, *plan.expected, *plan.script) if plan is not None else ()
    read = {_top(path) for path in paths}
    if plan is not None:
        # Whether a field inside another is there, only the other's value tells.
        read |= {_top(path) for path in plan.extracted if "." in path}
        read |= {*plan.words, *plan.accounts, *map(_top, (*plan.records, *plan.breakdowns))}
    checked = check_names(names)
    return frozenset(name for name in names if name in read or name in checked)


class _Apart(msgspec.Struct, frozen=True):
    """Of `due_names`: the fields in which a verifier speaks and no more, and those that tell the rest of what was due."""

    words: tuple[str, ...]
    others: tuple[str, ...]


@lru_cache(maxsize=4096)
def _apart(names: tuple[str, ...], table: fields.RunFields) -> _Apart | None:
    """None where a field of words tells something else as well."""
    plan = _plan_of(names, table)
    if plan is None or not plan.words or not set(names).isdisjoint(_EVALUATIONS):
        return None
    paths = (*plan.actions, *plan.statements, *plan.expected, *plan.script, *plan.extracted, *plan.records)
    told = {*map(_top, (*paths, *plan.breakdowns)), *plan.accounts}
    if not told.isdisjoint(plan.words):
        return None
    return _Apart(plan.words, tuple(name for name in names if name in told))


def _said_in(
    columns: Mapping[str, Sequence[Any]], names: tuple[str, ...], whole: Callable[[str], Sequence[Any]]
) -> list[tuple[VerifierText, ...]]:
    """The verifier's words in each row, as `_all_said` orders them."""
    found: list[list[VerifierText]] = [[] for _ in columns[names[0]]]
    listed: list[list[VerifierText]] = [[] for _ in found]
    for name in names:
        raws = columns[name]
        if max(map(len, filter(None, raws)), default=0) > LARGEST_ACCOUNT:
            values: Sequence[Any] = [
                None if raw is None or len(raw) > LARGEST_ACCOUNT else decode_any(raw) for raw in raws
            ]
        else:
            values = whole(name)
        for at, value in enumerate(values):
            if value is not None:
                (listed if isinstance(value, list) else found)[at] += _words(name, value, 0)
    return [tuple([*mine, *last][:MOST_SAID]) for mine, last in zip(found, listed, strict=True)]


def _statements(row: Row, paths: tuple[str, ...]) -> tuple[str, ...]:
    found = first_value(row, paths)
    said = found if isinstance(found, list) else []
    return tuple(cells.as_text(one) for one in said if isinstance(one, str | int | float) and not isinstance(one, bool))


def due_names(names: tuple[str, ...]) -> tuple[str, ...]:
    """Of the fields of a row, those that `read_due` reads; empty when they can hold nothing that was due or said."""
    return _due_names_of(names, fields.of_run())


@lru_cache(maxsize=4096)
def _due_names_of(names: tuple[str, ...], table: fields.RunFields) -> tuple[str, ...]:
    plan = _plan(names)
    if plan is None:
        return ()
    paths = (*plan.actions, *plan.statements, *plan.expected, *plan.script)
    read = {_top(path) for path in (*paths, *plan.extracted)} | {*plan.words, *plan.accounts}
    read |= {_top(path) for path in (*plan.records, *plan.breakdowns)}
    checked = check_names(names)
    return tuple(name for name in names if name in read or name in checked)


def _top(path: str) -> str:
    return path.partition(".")[0]


def check_names(names: tuple[str, ...]) -> tuple[str, ...]:
    """Of the fields of a row, those that hold tests and criteria, or what belongs to them."""
    return _check_names_of(names, fields.of_run())


@lru_cache(maxsize=4096)
def _check_names_of(names: tuple[str, ...], table: fields.RunFields) -> tuple[str, ...]:
    learned = {top for shape in table.roles.results for top in checks.tops(shape)}
    named = checks.may_hold(names)
    return tuple(name for name in names if name in learned or (named and checks.is_read(name)))


def checks_of(row: Row) -> tuple[VerifierCheck, ...]:
    """The tests and criteria of a row; empty when it holds none."""
    plan = _plan(tuple(row))
    return _checks(row) if plan is not None and plan.checks else ()


def _checks(row: Row) -> tuple[VerifierCheck, ...]:
    return checks.read_checks(row, _SmallFields(row).__getitem__)


class _SmallFields(dict[str, object]):
    """The values of fields of a row that are small enough to be an account, each decoded once."""

    def __init__(self, row: Row) -> None:
        self._row = row

    def __missing__(self, name: str) -> object:
        raw = self._row.get(name)
        found = self[name] = decode_any(raw) if raw is not None and len(raw) <= LARGEST_ACCOUNT * 4 else None
        return found


def first_value(row: Mapping[str, bytes | msgspec.Raw], paths: tuple[str, ...]) -> Any:
    """The first value, in the order of the paths, that is there and is not null; calls under the names of keys."""
    for path in paths:
        top, *rest = path.split(".")
        raw = row.get(top)
        found = decode_any(raw) if raw is not None else None
        for name in rest:
            found = found.get(name) if isinstance(found, dict) else None
        if found is not None:
            shape = next((one for one in fields.of_run().roles.calls if one.path == path), None)
            return found if shape is None else as_calls(found, shape)
    return None


def _calls(row: Row, paths: tuple[str, ...]) -> tuple[DueCall, ...] | None:
    """The first field, in the order of the table, that holds a list of calls."""
    found = (due_calls(value) for path in paths if (value := first_value(row, (path,))) is not None)
    return next((calls for calls in found if calls is not None), None)


def due_calls(value: object) -> tuple[DueCall, ...] | None:
    """The calls that a key wants; None when the value is no list of calls. Turns inside turns are read in order."""
    if isinstance(value, dict):
        value = [value]
    if not isinstance(value, list):
        return None
    if value and all(_is_named_by_key(one) for one in value):
        return tuple(
            DueCall(tool=tool, arguments=_object(arguments), alternatives=True)
            for one in value
            for tool, arguments in one.items()
        )
    flat = _flat_calls(value)
    if flat is None:
        return None
    mine = [one for one in flat if str(one.get("requestor") or "") in _SPEAKER]
    return tuple(_call(one) for one in mine)


def _flat_calls(value: object) -> list[dict[str, object]] | None:
    """The calls of a list, and of the lists in it; None when anything in it is no call."""
    flat = (
        [one for item in value for one in (item if isinstance(item, list) else [item])]
        if isinstance(value, list)
        else []
    )
    good = isinstance(value, list) and all(isinstance(one, dict) and _tool(one) and _is_call(one) for one in flat)
    return flat if good else None


def _user_calls(row: Row, paths: tuple[str, ...]) -> tuple[DueCall, ...]:
    """The calls of the key that the simulated user has to make, in the first field that lists any."""
    values = (first_value(row, (path,)) for path in paths)
    return next((mine for value in values if (mine := _calls_of_user(value))), ())


def _calls_of_user(value: object) -> tuple[DueCall, ...]:
    return tuple(_call(one) for one in _flat_calls(value) or () if one.get("requestor") in _USERS)


def _is_named_by_key(one: object) -> bool:
    """Whether an object is `{tool: {argument: [values that are accepted]}}`."""
    if not isinstance(one, dict) or len(one) != 1:
        return False
    arguments = next(iter(one.values()))
    return isinstance(arguments, dict) and bool(arguments) and all(isinstance(v, list) for v in arguments.values())


def _is_call(one: dict[str, object]) -> bool:
    """Whether an object with a name is a call: it has arguments, or nothing that a call has not."""
    return isinstance(one.get("function"), dict) or any(name in one for name in _ARGUMENTS) or one.keys() <= _CALL_NAMES


def _tool(call: dict[str, object]) -> str:
    function = call.get("function")
    inner = function.get("name") if isinstance(function, dict) else function
    found = call.get("name") or call.get("tool") or call.get("tool_name") or inner
    return found if isinstance(found, str) else ""


def _call(call: dict[str, object]) -> DueCall:
    function = call.get("function")
    holder = function if isinstance(function, dict) else call
    arguments = next((holder[name] for name in _ARGUMENTS if holder.get(name) is not None), {})
    compared = call.get("compare_args")
    return DueCall(
        tool=_tool(call),
        arguments=_object(arguments),
        compared=tuple(map(str, compared)) if isinstance(compared, list) else None,
    )


def _object(value: object) -> dict[str, object]:
    if isinstance(value, str):
        if is_deep(value):
            return {"": value}
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return {"": value}
    return {str(name): item for name, item in value.items()} if isinstance(value, dict) else {}


def _answer(row: Row, paths: tuple[str, ...]) -> str | None:
    for path in paths:
        value = first_value(row, (path,))
        if value is not None and due_calls(value) is None:
            return cells.as_text(value)
        if value == []:
            return None
    return None


def _script(row: Row, paths: tuple[str, ...]) -> str | None:
    value = first_value(row, paths)
    if isinstance(value, dict):
        return "\n".join(_texts(value, 0)) or None
    return value if isinstance(value, str) and value.strip() else None


def _texts(value: object, depth: int) -> Iterator[str]:
    if isinstance(value, str) and value.strip():
        yield value
    elif isinstance(value, dict) and depth < DEEPEST:
        for item in value.values():
            yield from _texts(item, depth + 1)


def _all_said(row: Row, plan: _Plan) -> Iterator[VerifierText]:
    """The verifier's words by the name of their field, lists last; values that say that nothing is wrong are left out."""
    yield from _breakdowns(row, plan.breakdowns)
    # One sentence on the whole must not be lost behind the messages of many tests.
    for name in sorted(plan.words, key=lambda name: memoryview(row[name])[:1].tobytes() == b"["):
        if len(memoryview(row[name])) <= LARGEST_ACCOUNT:
            yield from _words(name, decode_any(row[name]), 0)
    for name in plan.accounts:
        if len(memoryview(row[name])) <= LARGEST_ACCOUNT:
            told = _account(name, decode_any(row[name]), 0)
            yield from (one for one in told if one.field not in plan.breakdowns)
    for name in _EVALUATIONS:
        if name in row and len(memoryview(row[name])) <= LARGEST_ACCOUNT:
            yield from islice(_replies(name, decode_any(row[name])), 1)


def _breakdowns(row: Row, paths: tuple[str, ...]) -> Iterator[VerifierText]:
    """What the fields say that name what broke."""
    for path in paths:
        value = first_value(row, (path,))
        if isinstance(value, str) and value.strip() not in ("", fields.of_run().roles.breakdowns[path]):
            yield VerifierText(field=path, text=value[-LONGEST_SAID:], recorded=True)


def _replies(field: str, evaluations: object) -> Iterator[VerifierText]:
    """What a judge replied that was asked as a model is, once or several times."""
    if isinstance(evaluations, dict):
        yield from _reply(field, evaluations)
    for place, one in enumerate(evaluations if isinstance(evaluations, list) else ()):
        yield from _reply(f"{field}.{place}", one)


def _reply(path: str, one: object) -> Iterator[VerifierText]:
    response = one.get("response") if isinstance(one, dict) else None
    output = response.get("output") if isinstance(response, dict) else None
    for number, item in enumerate(output if isinstance(output, list) else ()):
        content = item.get("content") if isinstance(item, dict) and item.get("type") == "message" else None
        for inner, part in enumerate(content if isinstance(content, list) else ()):
            text = part.get("text") if isinstance(part, dict) else None
            if isinstance(text, str) and text.strip():
                yield VerifierText(
                    field=f"{path}.response.output.{number}.content.{inner}.text", text=text[-LONGEST_SAID:]
                )


def _account(path: str, value: object, depth: int) -> Iterator[VerifierText]:
    if isinstance(value, str) and depth == 0:
        yield from _words(path, value, depth)
    if not isinstance(value, dict) or depth >= DEEPEST:
        return
    observed = not _OBSERVED.isdisjoint(value)
    for name, item in value.items():
        if "." in name or (observed and isinstance(item, str)):
            continue  # a path could not name it, or the environment speaks
        if isinstance(item, dict):
            yield from _account(f"{path}.{name}", item, depth + 1)
        elif name not in _NOT_WORDS and (_speaks(str(name)) or _tells_there(path, name)):
            yield from _words(f"{path}.{name}", item, depth)


def _tells_there(path: str, name: str) -> bool:
    """Whether a field tells what went wrong where it stands: what a compiler printed, how a verification ended."""
    return name == "resolution" or (name in ("stdout", "output") and _PRINTS.search(path) is not None)


def _words(path: str, value: object, depth: int) -> Iterator[VerifierText]:
    if isinstance(value, str):
        short = value.strip()
        if (len(short) > _LONGEST_QUIET or short.lower() not in _QUIET) and not _is_only_a_flag(path):
            yield VerifierText(field=path, text=value[-LONGEST_SAID:])
    elif isinstance(value, bool | int | float):
        if _is_alarm(path.rpartition(".")[2].lower(), value):
            yield VerifierText(field=path, text=encode(value).decode())
    elif isinstance(value, list) and depth < DEEPEST:
        for place, item in enumerate(value[:MOST_SAID]):
            yield from _item(f"{path}.{place}", item, depth + 1)
    elif isinstance(value, dict) and depth < DEEPEST and "error" in path.lower():
        for name, item in value.items():
            yield from _words(f"{path}.{name}", item, depth + 1)


@lru_cache(maxsize=1024)
def _is_only_a_flag(path: str) -> bool:
    """Whether a field's name speaks of harm or of a part of the verdict, and of nothing else: a text there is no word of it."""
    name = path.rpartition(".")[2].lower()
    return (_HARM.search(name) is not None or name in _PARTS) and not fields.speaks(name)


def _is_alarm(name: str, value: float | bool) -> bool:
    """A flag that is set, a code that is not zero, or something specific that did not succeed."""
    words = frozenset(re.split(r"[^a-z0-9]+", name))
    if _HARM.search(name) or name == fields.MASK:
        return value in (True, 1)
    if _is_part(words) or name in fields.REACHED:
        return value in (False, 0)
    specific = not _SPECIFIC.isdisjoint(words)
    if isinstance(value, bool):
        return (not specific or _FLAGS.search(name) is not None) if value else specific and not _FLAGS.search(name)
    if "exit_code" in name or "returncode" in name:
        return value != 0
    return value == 1 and _FLAGS.search(name) is not None and not name.endswith(_AMOUNTS)


def _item(path: str, item: object, depth: int) -> Iterator[VerifierText]:
    """One of a list of words: a text, or an object that says that something failed and explains it."""
    if isinstance(item, str):
        yield from _words(path, item, depth)
    elif isinstance(item, dict) and (
        item.get("severity") == "error"
        or any(item.get(name) in (False, 0, 0.0) for name in ("reward", "passed", "score", "valid"))
    ):
        for name in ("explanation", "reason", "message", "data"):
            if isinstance(item.get(name), str):
                yield from _words(f"{path}.{name}", item[name], depth)


def key_expects(actions: object, statements: object) -> str | None:
    """`nothing`, `information`, `one change` or `several changes`; None when the key is no list of calls."""
    calls = due_calls(actions)
    if calls is None:
        return None
    changes = sum(changes_state(call.tool) for call in calls)
    if changes == 0:
        return "information" if isinstance(statements, list) and statements else "nothing"
    return "one change" if changes == 1 else "several changes"
