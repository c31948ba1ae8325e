"""The request and the response of a row, decoded as far as every row needs; large parts stay raw."""

from __future__ import annotations

from typing import Any

import msgspec

from blade.ingest.decode import decode_any, encode
from blade.ingest.shapes import UsualItem

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


class Usage(msgspec.Struct, gc=False):
    """`response.usage`, as the Responses API or chat completions have it."""

    input_tokens: Any = None
    output_tokens: Any = None
    prompt_tokens: Any = None
    completion_tokens: Any = None


class _Told(msgspec.Struct, gc=False):
    """What a response tells beside its output."""

    usage: Usage | list[Any] | str | float | bool | None = None
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
