"""What `gym eval run` is asked for: flags, and the same things as keys of the config."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from blade.model.errors import RequestError
from blade_gym.run.plan import Repeats, Shard, parse_shard

_RANGES: Mapping[str, tuple[Callable[[float], bool], str]] = {
    "temperature": (lambda value: value >= 0, "a number from 0"),
    "top_p": (lambda value: 0 < value <= 1, "a number above 0 and up to 1"),
    "max_output_tokens": (lambda value: value >= 1 and value == int(value), "a whole number from 1"),
}
"""What every endpoint agrees on; an upper limit of the temperature is the endpoint's own."""
SPLITS = ("train", "validation", "benchmark", "example")


class RunOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Every option, checked; None is what the config or the data set decides."""

    output: Path
    input: str | None = None
    split: str | None = None
    agent: str | None = None
    limit: int | None = None
    repeats: Repeats = None
    prompt_config: str | None = None
    concurrency: int | None = None
    sampling: Mapping[str, Any] = msgspec.field(default_factory=dict)
    add_seed: bool | None = None
    skills_path: str | None = None
    shard: Shard | None = None
    resume: bool = False
    overwrite: bool = False
    reuse: bool = False
    """Rows that an earlier run collated are taken where they are there."""


def read_options(config: Mapping[str, Any], flags: Mapping[str, Any]) -> RunOptions:
    """Options from the config's keys, and over them the flags that were given, under the same names."""
    given = {**config, **{name: value for name, value in flags.items() if value is not None}}
    skills, shard = given.get("skills"), given.get("shard")
    output, split = given.get("output_jsonl_fpath"), given.get("split")
    if not output:
        raise RequestError("--output is missing", hint="--output results/rollouts.jsonl")
    if Path(str(output)).suffix != ".jsonl":
        raise RequestError(f"--output is a .jsonl file, not {output}", hint="its name gives all other files theirs")
    if split is not None and split not in SPLITS:
        raise RequestError(f"--split is one of {', '.join(SPLITS)}; not {split}")
    return RunOptions(
        output=Path(str(output)).expanduser(),
        input=_text(given, "input_jsonl_fpath"),
        split=split,
        agent=_text(given, "agent_name"),
        limit=_whole(given, "limit", "--limit"),
        repeats=_repeats(given.get("num_repeats")),
        prompt_config=_text(given, "prompt_config"),
        concurrency=_whole(given, "num_samples_in_parallel", "--concurrency", least=1),
        sampling=_sampling(config, flags),
        add_seed=_yes(given, "num_repeats_add_seed"),
        skills_path=str(skills["path"]) if isinstance(skills, Mapping) and skills.get("path") else None,
        shard=parse_shard(str(shard)) if shard else None,
        resume=bool(_yes(given, "resume_from_cache")),
        overwrite=bool(_yes(given, "overwrite")),
        reuse=bool(_yes(given, "reuse_existing_data_preparation")),
    )


def _sampling(config: Mapping[str, Any], flags: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for given in (config.get("responses_create_params"), flags.get("responses_create_params")):
        if isinstance(given, Mapping):
            found |= {name: value for name, value in given.items() if value is not None}
    for name, (holds, what) in _RANGES.items():
        if name in found and not (_number(found[name]) and holds(found[name])):
            raise RequestError(
                f"--{name.replace('_', '-')} is {what}, not {found[name]!r}", hint="leave it out for the endpoint's own"
            )
    return found


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _text(given: Mapping[str, Any], name: str) -> str | None:
    return str(given[name]) if given.get(name) else None


def _whole(given: Mapping[str, Any], name: str, option: str, least: int | None = None) -> int | None:
    value = given.get(name)
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or (least is not None and value < least):
        raise RequestError(
            f"{option} is a whole number{f' from {least}' if least else ''}, not {value!r}", hint=f"{option} 8"
        )
    return value


def _yes(given: Mapping[str, Any], name: str) -> bool | None:
    value = given.get(name)
    if value is not None and not isinstance(value, bool):
        raise RequestError(f"{name} is true or false, not {value!r}", hint=f"+{name}=true")
    return value


def _repeats(value: Any) -> Repeats:
    if value is None or isinstance(value, int):
        return value
    if isinstance(value, Mapping):
        return {str(name): count for name, count in value.items()}
    raise RequestError(f"--num-repeats is a number, or numbers by agent; not {value!r}", hint="--num-repeats 4")
