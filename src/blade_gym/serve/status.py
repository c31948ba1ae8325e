"""Whether servers answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import httpx


def healthy(servers: Sequence[Mapping[str, Any]], seconds: float = 5.0) -> list[dict[str, Any]]:
    """Each server with `status`: ok, or why not."""
    with httpx.Client(timeout=seconds, trust_env=False) as client:
        return [{**one, "status": _status(client, str(one.get("url")))} for one in servers]


def _status(client: httpx.Client, url: str) -> str:
    try:
        reply = client.get(f"{url}/health")
        reply = client.get(url) if reply.status_code == 404 else reply  # where NeMo Gym's servers say that they live
    except (httpx.HTTPError, httpx.InvalidURL):
        return "silent"
    return "ok" if reply.status_code == 200 else f"HTTP {reply.status_code}"
