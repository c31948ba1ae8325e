"""Where agents are asked: servers that run already, or the same applications in this process. One client for both."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from blade.model.errors import RequestError
from blade_gym.config.servers import AGENTS, HEAD
from blade_gym.run.verifier_code import Code

if TYPE_CHECKING:
    import httpx
    from starlette.applications import Starlette

SECONDS = 3600.0
"""The longest that one rollout may take to answer."""


@dataclass(frozen=True, kw_only=True)
class Endpoints:
    """A client, and the address of each agent."""

    client: httpx.AsyncClient
    urls: Mapping[str, str]

    async def close(self) -> None:
        """Let go of the connections."""
        await self.client.aclose()


def in_process(apps: Mapping[str, Starlette]) -> Endpoints:
    """The applications themselves; no port is opened."""
    import httpx

    urls = {name: f"http://agent-{number}.in-process" for number, name in enumerate(apps)}
    mounts = {urls[name]: httpx.ASGITransport(app=app, raise_app_exceptions=False) for name, app in apps.items()}
    return Endpoints(client=httpx.AsyncClient(mounts=mounts, timeout=None), urls=urls)


def over_network(urls: Mapping[str, str], seconds: float = SECONDS) -> Endpoints:
    """Servers at these addresses."""
    import httpx

    limits = httpx.Limits(max_connections=None, max_keepalive_connections=64)
    timeout = httpx.Timeout(seconds, connect=15.0, pool=None)
    return Endpoints(client=httpx.AsyncClient(limits=limits, timeout=timeout, trust_env=False), urls=urls)


@dataclass(frozen=True, kw_only=True)
class Running:
    """What a head server says of the servers that run."""

    config: Mapping[str, Any]
    """Masked."""
    servers: tuple[Mapping[str, Any], ...]

    @property
    def names(self) -> list[str]:
        """Every instance."""
        return [str(instance_of(one)) for one in self.servers]

    @property
    def agents(self) -> dict[str, str]:
        """Addresses by instance: several agents may be of one type."""
        return {
            str(instance_of(one)): str(one["url"])
            for one in self.servers
            if one.get("server_type") == AGENTS and one.get("url")
        }

    def code_of(self, name: str) -> Code:
        """What judges in a resources server, as it said when it started; nothing where it did not."""
        told = next((one.get("code") for one in self.servers if instance_of(one) == name), None)
        told = told if isinstance(told, Mapping) else {}
        return {
            kind: {str(key): str(mark) for key, mark in marks.items()}
            for kind, marks in told.items()
            if isinstance(marks, Mapping)
        }


def instance_of(server: Mapping[str, Any]) -> object:
    """The instance that an entry of a head stands for. Its `name` is only the type of the server."""
    return server.get("process_name") or server.get("config_path")


def ask_head(host: str, port: int, seconds: float = 5.0) -> Running:
    """The servers of `gym env start`; raises with what to do where nothing answers."""
    import httpx
    import yaml

    base = f"http://{host}:{port}"
    where = "" if port == HEAD["port"] else f" --head-port {port}"
    try:
        with httpx.Client(timeout=seconds, trust_env=False) as client:
            servers = client.get(f"{base}/server_instances").raise_for_status()
            text = client.get(f"{base}/global_config_dict_yaml").raise_for_status()
            listed = json.loads(servers.content)
            config = yaml.safe_load(json.loads(text.content))
    except (httpx.ConnectError, httpx.ConnectTimeout, httpx.InvalidURL) as error:
        raise RequestError(
            f"no head server answers at {base} ({type(error).__name__})",
            hint=f"start one in another terminal: gym env start --resources-server NAME --model-type TYPE{where}",
        ) from None
    except (httpx.HTTPError, ValueError, AttributeError, RecursionError, yaml.YAMLError) as error:
        raise _other_program(base, f" ({type(error).__name__})") from None
    if not isinstance(listed, list) or not isinstance(config, dict):
        raise _other_program(base)
    return Running(config=config, servers=tuple(one for one in listed if isinstance(one, dict) and instance_of(one)))


def _other_program(base: str, why: str = "") -> RequestError:
    return RequestError(
        f"something else answers at {base}: it is not a head server{why}",
        hint="give the port of a head with --head-port N; `gym env start --head-port N` starts one on a free port",
    )
