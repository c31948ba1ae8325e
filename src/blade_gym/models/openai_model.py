"""Any OpenAI-compatible endpoint: the Responses API where it has one, Chat Completions where it does not."""

from __future__ import annotations

import json
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from blade.model.errors import RequestError
from blade_gym.config.mask import hide
from blade_gym.models.chat import chat_request, from_chat
from blade_gym.models.model import UNREACHABLE, ModelError
from blade_gym.models.reply import checked_response, malformed

if TYPE_CHECKING:
    import httpx

_ADDRESS = "such as --model-url http://127.0.0.1:8000/v1, or https://HOST/v1"
SECONDS = 600.0
"""How long an answer may take unless the config says otherwise."""
CONNECT_SECONDS = 15.0
_ABSENT = (404, 405, 501)
_WAIT = (408, 409, 425)
_OURS = ("extra_body",)


def _refuse_address(url: str) -> None:
    """Raise where nothing could ever answer at an address."""
    try:
        parts = urlsplit(url)
        fault = "has no host" if not parts.hostname else "has no usable port" if parts.port == 0 else ""
    except ValueError as error:
        raise RequestError(f"the model's address cannot be used: {url!r}: {error}", hint=_ADDRESS) from None
    if "://" not in url:
        raise RequestError(f"the model's address lacks http:// or https://: {url!r}", hint=f"http://{url}")
    if parts.scheme not in ("http", "https"):
        raise RequestError(f"the model's address is not an HTTP URL: {url!r}", hint=_ADDRESS)
    if fault:
        raise RequestError(f"the model's address {fault}: {url!r}", hint=_ADDRESS)


class OpenAIModel:
    """One endpoint. The key is sent and never shown: not in errors, not in `repr`."""

    def __init__(
        self,
        *,
        url: str,
        name: str,
        key: str = "",
        api: str = "auto",
        seconds: float = SECONDS,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        if api not in ("auto", "responses", "chat"):
            raise RequestError(f"api is auto, responses or chat, not {api!r}", hint="set it in the model's config")
        _refuse_address(url)
        self._name, self._key, self._seconds = name, key, seconds
        self._url = url.rstrip("/")
        self._api = api
        self._extra = dict(extra or {})
        self._client: httpx.AsyncClient | None = None

    @property
    def name(self) -> str:
        """The model that is asked for."""
        return self._name

    async def respond(self, params: Mapping[str, Any], *, seed: int | None = None) -> dict[str, Any]:
        """The endpoint's answer to one request, checked; raises ModelError."""
        try:
            return await self._answer(params, seed)
        except ModelError as error:
            # An endpoint may say the key back to us, and what it says is written down.
            error.args = (hide(self._key, str(error)),)
            raise

    async def _answer(self, params: Mapping[str, Any], seed: int | None) -> dict[str, Any]:
        asked = _asked(params, seed, self._name) | self._extra
        if self._api != "chat":
            try:
                return checked_response(await self._post("/responses", asked))
            except _Absent:
                if self._api == "responses":
                    raise
                self._api = "chat"
        return from_chat(await self._post("/chat/completions", chat_request(asked) | self._extra), asked)

    async def close(self) -> None:
        """Let go of the connections."""
        if self._client is not None:
            await self._client.aclose()
            self._client = None

    async def _post(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        import httpx

        try:
            reply = await self._connected().post(self._url + path, json=body)
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            raise ModelError(f"{type(error).__name__}: {error}", failure_class=UNREACHABLE) from None
        except httpx.TimeoutException as error:
            reason = f"no answer within {self._seconds:g} s ({type(error).__name__})"
            raise ModelError(reason, failure_class="model_timeout") from None
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError) as error:
            raise ModelError(f"{type(error).__name__}: {error}", failure_class="transient") from None
        if reply.status_code != 200:
            raise _refused(reply)
        try:
            value = json.loads(reply.content)
        except (ValueError, RecursionError):
            raise malformed("the reply is not JSON", reply.text) from None
        if not isinstance(value, dict):
            raise malformed("the reply is not an object", value)
        if value.get("error"):
            raise ModelError(f"the endpoint reports: {_error_text(value)}", failure_class="transient")
        return value

    def _connected(self) -> httpx.AsyncClient:
        import httpx

        if self._client is None:
            headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
            limits = httpx.Limits(max_connections=None, max_keepalive_connections=64)
            timeout = httpx.Timeout(self._seconds, connect=min(CONNECT_SECONDS, self._seconds), pool=None)
            self._client = httpx.AsyncClient(headers=headers, limits=limits, timeout=timeout)
        return self._client


class _Absent(ModelError):
    """The endpoint has no such route."""


def _asked(params: Mapping[str, Any], seed: int | None, model: str) -> dict[str, Any]:
    """What is sent: no nulls, no keys of our own, and what the row puts into `metadata.extra_body`."""
    asked = {name: value for name, value in params.items() if value is not None}
    metadata = dict(asked.pop("metadata", None) or {})
    asked |= extra_body(metadata)
    theirs = {name: value for name, value in metadata.items() if name not in _OURS}
    if theirs:
        asked["metadata"] = theirs
    if seed is not None:
        asked["seed"] = seed
    asked["model"] = model
    return asked


def extra_body(metadata: Mapping[str, Any] | None) -> dict[str, Any]:
    """`metadata.extra_body`, which is JSON text; nothing where it is none."""
    text = (metadata or {}).get("extra_body")
    try:
        value = json.loads(text) if isinstance(text, str) else text
    except ValueError:
        return {}
    return dict(value) if isinstance(value, Mapping) else {}


def _refused(reply: httpx.Response) -> ModelError:
    """A status that is not 200, as the class that decides whether to try again."""
    status = reply.status_code
    try:
        reason = _error_text(json.loads(reply.content))
    except (ValueError, RecursionError):
        reason = reply.text[:200]
    message = f"HTTP {status}: {reason}"
    if status == 429:
        return ModelError(message, failure_class="rate_limited", after=_after(reply))
    if status >= 500 or status in _WAIT:
        kind = _Absent if status in _ABSENT else ModelError
        return kind(message, failure_class="transient", after=_after(reply))
    if status in (401, 403):
        return ModelError(message, failure_class="not_authorized", again=False)
    if status in _ABSENT:
        return _Absent(message, failure_class="not_found", again=False)
    return ModelError(message, failure_class="refused_request", again=False)


def _error_text(value: object) -> str:
    error = value.get("error") if isinstance(value, Mapping) else value
    text = error.get("message") if isinstance(error, Mapping) else error
    return str(text or value)[:200]


def _after(reply: httpx.Response) -> float | None:
    """Retry-After, in seconds or as a date."""
    text = reply.headers.get("retry-after", "").strip()
    if not text:
        return None
    try:
        return max(0.0, float(text))
    except ValueError:
        pass
    try:
        wanted = parsedate_to_datetime(text)
        from datetime import UTC, datetime

        return max(0.0, (wanted - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):
        return None
