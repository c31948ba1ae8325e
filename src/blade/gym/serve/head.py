"""The head server: which servers there are, and the config that they were made from, without its secrets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import yaml
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse

from blade.core.errors import RequestError
from blade.gym.config.mask import masked
from blade.gym.config.ports import fault, head_of
from blade.gym.serve.web import application


def head_app(config: Mapping[str, Any], servers: Sequence[Mapping[str, Any]]) -> Starlette:
    """The routes of the head."""
    text = yaml.safe_dump(masked(config), sort_keys=False, allow_unicode=True)
    gets = {
        "/global_config_dict_yaml": lambda: PlainTextResponse(text, media_type="application/yaml"),
        "/server_instances": lambda: list(servers),
    }
    return application("head", (), gets)


def place(config: Mapping[str, Any]) -> tuple[str, int]:
    """Where the head listens: `head_server: {host, port}` of the config; raises where the port is none."""
    host, port = head_of(config)
    if (wrong := fault(port)) is not None:
        raise RequestError(f"head_server.port {wrong}", hint="+head_server.port=11000")
    return host, port
