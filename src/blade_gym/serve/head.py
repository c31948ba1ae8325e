"""The head server: which servers there are, and the config that they were made from, without its secrets.

Both are in the form of NeMo Gym's head, so that its clients find our servers: an instance is `process_name` and
`config_path`, its `name` is only its type, and the config is YAML inside a JSON text.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from starlette.applications import Starlette

from blade.model.errors import RequestError
from blade_gym.config.mask import masked
from blade_gym.config.servers import RESOURCES, Instance, head_of, port_fault
from blade_gym.run.verifier_code import code_of
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
