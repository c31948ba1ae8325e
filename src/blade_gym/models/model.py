"""What a model is to the benchmark layer, and how one may fail."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

UNREACHABLE = "unreachable"
"""The class of a server that no connection can be made to."""


class ModelError(Exception):
    """A request that a model's server did not answer with a usable response.

    `failure_class` is what the failures file says of it; `again` whether another try may help.
    """

    def __init__(
        self, message: str, *, failure_class: str = "transient", again: bool = True, after: float | None = None
    ) -> None:
        super().__init__(message)
        self.failure_class = failure_class
        self.again = again
        self.after = after
        """Seconds to wait that the server asked for."""


class Model(Protocol):
    """Answers one request of the Responses API at a time; many may be under way at once."""

    @property
    def name(self) -> str:
        """What the rows and the manifest call it."""
        ...

    async def respond(self, params: Mapping[str, Any], *, seed: int | None = None) -> dict[str, Any]:
        """The response object to `responses_create_params`; raises ModelError."""
        ...

    async def close(self) -> None:
        """Let go of connections and processes."""
        ...
