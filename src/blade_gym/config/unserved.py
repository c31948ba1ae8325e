"""Keys that NeMo Gym acts on and that are refused here: taken in silence, each would promise what nobody does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from blade.model.errors import RequestError


class _Refusal(NamedTuple):
    why: str
    instead: str


_UPLOAD = _Refusal("rollouts are written to files and never uploaded", "leave it out, and upload --output yourself")
UNSERVED: Mapping[str, _Refusal] = {
    "upload_rollouts": _UPLOAD,
    "upload_rollouts_to_wandb": _UPLOAD,
    "rollout_collection_driver": _Refusal(
        "a driver is code for the inside of NeMo Gym, and rollouts are collected here by `gym eval run` alone",
        "leave it out; where a driver chose rows from earlier results, run twice with an --input each",
    ),
    "skip_verification_reward": _Refusal(
        "a reward that no verifier gave would be read as one",
        "leave it out: +skip_verification=true writes rows without a reward, and `gym eval reverify` gives them theirs",
    ),
    "observability_enabled": _Refusal(
        "calls are not captured apart from the rollout", "leave it out: response.output of a row holds every step"
    ),
    "model_call_capture_dir": _Refusal(
        "calls are not captured apart from the rollout", "leave it out: response.output of a row holds every step"
    ),
    "token_id_capture": _Refusal(
        "token ids are not captured", "leave it out; `++MODEL.extra_body` asks an endpoint for what it can give"
    ),
    "dry_run": _Refusal("a run is not tried without running", "`gym env validate` checks the same config"),
}


def refuse_unserved(config: Mapping[str, Any]) -> None:
    """Raise for keys at the top of a config that ask for what is not done; false, null and nothing ask for nothing."""
    asked = [name for name in UNSERVED if config.get(name) not in (None, False, "")]
    if asked:
        raise RequestError(
            "; ".join(f"{name} is not served: {UNSERVED[name].why}" for name in asked),
            hint="; ".join(dict.fromkeys(UNSERVED[name].instead for name in asked)),
        )
