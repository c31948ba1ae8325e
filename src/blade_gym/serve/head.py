"""The head server, and what it answers: which servers there are, and the config that they were made from, without its secrets.

Both are in the form of NeMo Gym's head, so that its clients find our servers: an instance is `process_name` and
`config_path`, its `name` is only its type, and the config is YAML inside a JSON text.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import httpx
import msgspec
import yaml
from starlette.applications import Starlette

from blade.model.errors import RequestError
from blade_gym.config.mask import masked
from blade_gym.config.servers import AGENTS, HEAD, RESOURCES, Instance, head_of, port_fault
from blade_gym.serve.verifier_code import Code, code_of
from blade_gym.serve.web import application


def head_app(config: Mapping[str, Any], servers: Sequence[Mapping[str, Any]]) -> Starlette:
    """The routes of the head."""
    text = yaml.safe_dump(masked(config), sort_keys=False, allow_unicode=True)
    gets = {
        "/global_config_dict_yaml": lambda: text,
        "/server_instances": lambda: list(servers),
    }
    return application("head", (), gets)


def record(one: Instance, roots: Sequence[Path]) -> dict[str, Any]:
    """What the head says of an instance; of a resources server also the marks of the code that judges."""
    host, port = one.config["host"], one.config["port"]
    return {
        "process_name": one.name,
        "config_path": one.name,
        "server_type": one.group,
        "name": one.type,
        "entrypoint": one.config.get("entrypoint"),
        "host": host,
        "port": port,
        "url": f"http://{host}:{port}",
        "pid": os.getpid(),
        "start_time": time.time(),
        **({"code": code_of([one], roots)} if one.group == RESOURCES else {}),
    }


def place(config: Mapping[str, Any]) -> tuple[str, int]:
    """Where the head listens: `head_server: {host, port}` of the config; raises where the port is none."""
    host, port = head_of(config)
    if (wrong := port_fault(port)) is not None:
        raise RequestError(f"head_server.port {wrong}", hint="+head_server.port=11000")
    return host, port


class RunningServers(msgspec.Struct, frozen=True, kw_only=True):
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


def ask_head(host: str, port: int, seconds: float = 5.0) -> RunningServers:
    """The servers of `gym env start`; raises with what to do where nothing answers."""
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
    return RunningServers(
        config=config, servers=tuple(one for one in listed if isinstance(one, dict) and instance_of(one))
    )


def _other_program(base: str, why: str = "") -> RequestError:
    return RequestError(
        f"something else answers at {base}: it is not a head server{why}",
        hint="give the port of a head with --head-port N; `gym env start --head-port N` starts one on a free port",
    )


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
