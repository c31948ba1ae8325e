"""The request and the response of a row, decoded as far as every row needs; large parts stay raw."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

T = TypeVar("T")
_RAW = msgspec.Raw()
_OBJECT = ord("{")


class Request(msgspec.Struct, gc=False):
    """`responses_create_params`."""

    input: msgspec.Raw = _RAW
    metadata: msgspec.Raw = _RAW
    model: Any = None
    temperature: Any = None
    top_p: Any = None
    max_output_tokens: Any = None
    tools: msgspec.Raw = _RAW


class Response(msgspec.Struct, gc=False):
    """`response`, as the Responses API has it."""

    output: msgspec.Raw = _RAW
    usage: Any = None
    model: Any = None
    status: Any = None
    error: Any = None
    incomplete_details: Any = msgspec.UNSET
    metadata: Any = None
    stop_reason: Any = None
    temperature: Any = None
    top_p: Any = None
    max_output_tokens: Any = None


_request = msgspec.json.Decoder(Request)
_response = msgspec.json.Decoder(Response)
_NO_REQUEST = Request()
_NO_RESPONSE = Response()


def read_request(raw: msgspec.Raw | None) -> Request:
    """The request; an empty one when the row has none or it is no object."""
    return _decode(_request, raw, _NO_REQUEST)


def read_response(raw: msgspec.Raw | None) -> Response:
    """The response; an empty one when the row has none or it is no object."""
    return _decode(_response, raw, _NO_RESPONSE)


def _decode(decoder: msgspec.json.Decoder[T], raw: msgspec.Raw | None, nothing: T) -> T:
    if raw is None or memoryview(raw)[0] != _OBJECT:
        return nothing
    return decoder.decode(raw)
