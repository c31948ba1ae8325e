"""Rows field by field, so that names are resolved once for many rows and their values are decoded together.

A usual row is decoded in one pass by a struct with the fields that were seen before, request and response included. A row
with a new field, or a response that is no object, is decoded as a map of raw values. Both become the same columns.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import compress
from typing import Any, TypeVar, cast

import msgspec

from blade.ingest import cells, fields
from blade.ingest.cells import Column, Make, any_there
from blade.ingest.decode import Row, decode_any, encode
from blade.ingest.roles.shaped import as_items
from blade.ingest.shapes import UsualItem
from blade.model.roles import Roles, TalkShape

_RAW = msgspec.Raw()
_OBJECT, _LIST, _TEXT = b'{["'


class Request(msgspec.Struct, gc=False):
    """`responses_create_params`."""

    input: msgspec.Raw = _RAW
    metadata: Any = None
    model: Any = None
    temperature: Any = None
    top_p: Any = None
    max_output_tokens: Any = None
    tools: msgspec.Raw = _RAW


class TokenUsage(msgspec.Struct, gc=False):
    """`response.usage`, as the Responses API or chat completions have it."""

    input_tokens: Any = None
    output_tokens: Any = None
    prompt_tokens: Any = None
    completion_tokens: Any = None


class _Told(msgspec.Struct, gc=False):
    """What a response tells beside its output."""

    usage: TokenUsage | list[Any] | str | float | bool | None = None
    """Anything but an object is not understood, and does no harm."""
    model: Any = None
    status: Any = None
    error: Any = None
    incomplete_details: Any = msgspec.UNSET
    metadata: Any = None
    stop_reason: Any = None
    temperature: Any = None
    top_p: Any = None
    max_output_tokens: Any = None


_TOLD = ("status", "error", "incomplete_details")
"""Of these, those that are as the row has them."""


class UsualResponse(_Told, gc=False):
    """`response` with an output of the usual items, read with it; no other can be decoded as one."""

    output: list[UsualItem] | None = None
    choices: None = None


class Response(_Told, gc=False):
    """`response`, as the Responses API has it."""

    output: msgspec.Raw = _RAW
    choices: msgspec.Raw = _RAW
    """What a chat completion has in place of an output."""

    def __post_init__(self) -> None:
        if self.choices and not self.output:
            self._take_first_choice()

    def _take_first_choice(self) -> None:
        """The message of a chat completion as the output, and why it ended."""
        choices = decode_any(self.choices)
        first = choices[0] if isinstance(choices, list) and choices else None
        if isinstance(first, dict):
            self.output = msgspec.Raw(encode([first.get("message")]))
            self.stop_reason = self.stop_reason or first.get("finish_reason")


_request = msgspec.json.Decoder(Request)
_response = msgspec.json.Decoder(Response)
NO_REQUEST = Request()
NO_RESPONSE = Response()


def read_request(raw: msgspec.Raw) -> Request:
    """The request; an empty one when it is no object."""
    return _request.decode(raw) if memoryview(raw)[0] == _OBJECT else NO_REQUEST


def read_response(raw: msgspec.Raw) -> Response:
    """The response; a list or a text is taken as its output, and anything else as an empty one."""
    kind = memoryview(raw)[0]
    if kind == _OBJECT:
        return _response.decode(raw)
    return Response(output=raw) if kind in (_LIST, _TEXT) else NO_RESPONSE


T = TypeVar("T")

REQUEST, RESPONSE = "responses_create_params", "response"
_USAGE = "response.usage"
_READ: Mapping[str, Callable[[msgspec.Raw], Any]] = {REQUEST: read_request, RESPONSE: read_response}


class Batch:
    """Rows of one artifact: the JSON of each, and its fields as columns."""

    def __init__(self, data: Sequence[bytes], columns: dict[str, Column]) -> None:
        self.data = data
        self.columns = columns
        self._table = fields.of_run()
        self._aliased = _with_wholes(columns, self._table.roles)
        self.paths = fields.applying(tuple(columns))
        """Of the field table, what these columns can hold."""
        self._parts: dict[str, Column] = {}
        self._named: dict[tuple[bool, ...], tuple[str, ...]] = {}
        self._raws: dict[str, Column | None] = {}
        self._wholes: dict[str, Column] = {}

    def __len__(self) -> int:
        return len(self.data)

    @cached_property
    def requests(self) -> list[Request]:
        """The request of each row; an empty one where it has none."""
        return [found or NO_REQUEST for found in self.raw(REQUEST)]

    @cached_property
    def responses(self) -> list[Response | UsualResponse]:
        """The response of each row; an empty one where it has none."""
        return [found or NO_RESPONSE for found in self.raw(RESPONSE)]

    @cached_property
    def prompts(self) -> Column:
        """The raw prompt of each row, in the order of the table; None where it has none."""
        found = self._first_raw([request.input for request in self.requests], self._table.prompts)
        if self._table.messages in self._table.prompts or None not in found:
            return found
        # A text is what was answered; a list of messages begins with what was asked.
        chats = [raw if raw is not None and memoryview(raw)[0] == _LIST else None for raw in self.messages]
        return [other if one is None else one for one, other in zip(found, chats, strict=True)]

    @cached_property
    def trajectories(self) -> Column:
        """The trajectory of each row, in the order of the table, raw or as usual items; None where it has none."""
        return self._first_raw([response.output for response in self.responses], self._table.trajectories)

    @cached_property
    def messages(self) -> Column:
        """The raw chat of each row in which the agent speaks too; None where it has none."""
        return self._whole_column(self._table.messages) or [None] * len(self)

    @cached_property
    def tools(self) -> Column:
        """The raw tools that each row offers, of its request or its own; None where it offers none."""
        return self._first_raw([request.tools for request in self.requests], ("tools",))

    def _first_raw(self, found: Column, names: Sequence[str]) -> Column:
        found = [raw if cells.has(raw) else None for raw in found]
        for name in names:
            column = self._whole_column(name) if None in found else None
            if column is not None:
                pairs = zip(found, column, strict=True)
                found = [other if one is None and cells.has(other) else one for one, other in pairs]
        return found

    def _whole_column(self, path: str) -> Column | None:
        """The raw values at a path; None where no row has its first name."""
        if path not in self._raws:
            top, *rest = path.split(".")
            column = self.columns.get(top)
            for name in rest:
                column = [None if raw is None else raw_inside(raw, name) for raw in column or ()] or None
            talk = self._table.roles.talk
            if column is not None and talk is not None and path == talk.path:
                column = [None if raw is None else _as_items(raw, talk) for raw in column]
            self._raws[path] = column
        return self._raws[path]

    def raw(self, name: str) -> Column:
        """One field of each row."""
        return self.columns[name] if name in self.columns else [None] * len(self)

    def values(self, paths: Iterable[str]) -> Column:
        """For each row the first value, in the order of the paths, that is there and is not null."""
        return self.first(paths, None)

    def first(self, paths: Iterable[str], make: Make[T] | None) -> Sequence[T | None]:
        """For each row what `make` makes of the first value, in the order of the paths, of which it makes anything."""
        found: Sequence[T | None] | None = None
        for path in paths:
            values = self._values(path, found)
            if any_there(values):
                made = values if make is None else make(values)
                found = (
                    made
                    if found is None
                    else [new if old is None else old for old, new in zip(found, made, strict=True)]
                )
                if None not in found:
                    break
        return [None] * len(self) if found is None else found

    def whole(self, name: str) -> Column:
        """The values of a top-level field that several readers ask for whole, as logs are: decoded once and kept."""
        if name not in self._wholes:
            self._wholes[name] = decoded(self.raw(name))
        return self._wholes[name]

    def told(self, path: str) -> Column | None:
        """What the response of each row tells at a path beside its output; None for other paths, and where it has another name."""
        top, _, inside = path.partition(".")
        if top != RESPONSE or RESPONSE in self._aliased or inside.partition(".")[0] not in _TOLD:
            return None
        return self._part(path)

    def seen(self) -> dict[str, int]:
        """In how many rows each field stands."""
        return {
            name: len(column) - column.count(None) for name, column in self.columns.items() if name not in self._aliased
        }

    def names(self, place: int) -> tuple[str, ...]:
        """The fields that a row has; most rows of a batch have the same."""
        lacking = tuple([column[place] is None for column in self._with_gaps])
        names = self._named.get(lacking)
        if names is None:
            names = tuple([name for name, column in self.columns.items() if column[place] is not None])
            self._named[lacking] = names
        return names

    @cached_property
    def _with_gaps(self) -> list[Column]:
        """The fields that some rows have and others have not."""
        return [column for column in self.columns.values() if None in column]

    def where(self, kept: Sequence[bool]) -> Batch:
        """Some of the rows."""
        columns: dict[str, Column] = {name: list(compress(column, kept)) for name, column in self.columns.items()}
        return Batch(list(compress(self.data, kept)), _without_empty(columns))

    def _values(self, path: str, found: Column | None) -> Column:
        """Values at a path; None where a row has found one already."""
        top, *rest = path.split(".")
        if top in _READ:
            values = self._part(path)
            return values if found is None or not any_there(values) else _where_none(found, values)
        if found is None and top in self._wholes:
            values = self._wholes[top]
        else:
            values = decoded(self.columns[top] if found is None else _where_none(found, self.columns[top]))
        for name in rest:
            values = _inside(values, name)
        return values

    def _part(self, path: str) -> Column:
        """Values inside the request or the response."""
        if path not in self._parts:
            before, _, name = path.rpartition(".")
            if before == REQUEST:
                values: Column = [getattr(request, name, None) for request in self.requests]
            elif before == RESPONSE:
                values = [getattr(response, name, None) for response in self.responses]
            elif before == _USAGE:
                usages = self._part(before)
                values = [getattr(usage, name) if isinstance(usage, TokenUsage) else None for usage in usages]
            else:
                values = _inside(self._part(before), name)
            self._parts[path] = values
        return self._parts[path]


_objects = msgspec.json.Decoder(dict[str, msgspec.Raw])


def raw_inside(raw: bytes | msgspec.Raw, name: str) -> msgspec.Raw | None:
    """The raw value of a key of a raw object; None where it is none, or has no such key."""
    return _objects.decode(raw).get(name) if memoryview(raw)[0] == _OBJECT else None


def _as_items(raw: bytes | msgspec.Raw, shape: TalkShape) -> msgspec.Raw:
    """A trajectory of nobody's harness as messages."""
    return msgspec.Raw(encode(as_items(decode_any(raw), shape)))


def _with_wholes(columns: dict[str, Column], roles: Roles) -> frozenset[str]:
    """Put requests and responses that stand under other names under their own; those names are told."""
    added = set()
    for name, path in ((REQUEST, roles.request), (RESPONSE, roles.response)):
        top, *rest = path.split(".")
        if path and name not in columns and top in columns:
            raws = columns[top]
            for inner in rest:
                raws = [None if raw is None else raw_inside(raw, inner) for raw in raws]
            columns[name] = [None if raw is None else _READ[name](raw) for raw in raws]
            added.add(name)
        elif path and name in columns:
            added.add(name)
    return frozenset(added)


def _where_none(found: Column, values: Column) -> Column:
    return [value if old is None else None for value, old in zip(values, found, strict=True)]


def _without_empty(columns: Mapping[str, Column]) -> dict[str, Column]:
    return {name: column for name, column in columns.items() if any_there(column)}


def decoded(raws: Column) -> list[Any]:
    """The values of raw JSON, None for what is absent or null."""
    joined = b",".join([b"null" if raw is None else raw for raw in raws])
    return cast(list[Any], decode_any(b"[" + joined + b"]"))


def _inside(values: Column, name: str) -> Column:
    if not any_there(values):
        return values
    return [value.get(name) if isinstance(value, dict) else None for value in values]


def batch_of(data: Sequence[bytes], rows: Sequence[Row]) -> Batch:
    """A batch of rows that were decoded as maps."""
    names = dict.fromkeys(name for row in rows for name in row)
    columns: dict[str, Column] = {name: [row.get(name) for row in rows] for name in names}
    for name in _READ.keys() & columns:
        columns[name] = [None if raw is None else _READ[name](raw) for raw in columns[name]]
    return Batch(data, columns)


class UsualRows:
    """Decodes rows whose fields are all known, in one pass each. It knows a field when it has been told of it.

    With `trajectories` their outputs are read too, and a row with other than usual items is not usual.
    """

    _MOST = 256
    """Fields that are learned: a file that brings ever new ones has no usual rows."""
    _PLAIN = re.compile(r'[^"\\\x00-\x1f]+')
    """Names that a struct can have."""

    def __init__(self, *, trajectories: bool) -> None:
        self._response = UsualResponse if trajectories else Response
        self._names = {REQUEST: 0, RESPONSE: 1}
        self._compile()

    def _compile(self) -> None:
        parts: list[tuple[str, Any, Any]] = [
            (REQUEST, Request | None | msgspec.UnsetType, msgspec.UNSET),
            (RESPONSE, self._response | None | msgspec.UnsetType, msgspec.UNSET),
        ]
        renamed = {f"field_{place}": name for name, place in self._names.items() if name not in _READ}
        parts += [(attribute, msgspec.Raw, None) for attribute in renamed]
        made = msgspec.defstruct("UsualRow", parts, rename=renamed, forbid_unknown_fields=True, gc=False)
        self.decode = msgspec.json.Decoder(made).decode
        """The row as a struct; raises one of BAD_VALUE or RecursionError when it is no usual row."""

    def learn(self, rows: Iterable[Row]) -> None:
        """From now on rows with the fields of these are usual."""
        names = {name for row in rows for name in row if self._PLAIN.fullmatch(name)}
        new = sorted(names - self._names.keys())
        if new and len(self._names) + len(new) <= self._MOST:
            self._names |= {name: place for place, name in enumerate(new, start=len(self._names))}
            self._compile()

    def batch(self, data: Sequence[bytes], rows: Sequence[msgspec.Struct]) -> Batch:
        """A batch of rows that were decoded since the last `learn`."""
        found = zip(*map(msgspec.structs.astuple, rows), strict=True)
        columns: dict[str, Column] = dict(zip(self._names, found, strict=True))
        for name, nothing in ((REQUEST, NO_REQUEST), (RESPONSE, NO_RESPONSE)):
            columns[name] = [None if one is msgspec.UNSET else one or nothing for one in columns[name]]
        return Batch(data, _without_empty(columns))
