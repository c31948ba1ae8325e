"""The message follows instructions that a program can check, judged by the checkers that their authors published.

These are the 25 instructions of IFEval (Google) and the 58 of IFBench (Ai2), as the package `opencompass` ships them; they
run in a sandboxed process. What no published checker can decide here gives no verdict, with the instruction named: an
unknown instruction, arguments that its checker refuses or would draw at random, and data of NLTK that is not installed.

Row
    `verifier_metadata`, or the same names at the top of the row: `instruction_id_list`; `kwargs`, the arguments of each
    instruction in the same order, where null stands for nothing; `prompt`; `grading_mode`: `binary` (1 when all are
    followed) or `fraction` (the share that is). `example_answer`: a text that follows them all, for proving the verifier.

Config
    `grading_mode`: of rows that name none; default `binary`.

Fields
    `follow_instruction_list`, `follow_all_instructions`; `follow_instruction_list_loose`, `follow_all_instructions_loose`
    and `reward_loose`, where leaving out the first line, the last line or asterisks may help, as IFEval defines it;
    `instruction_id_list`, `kwargs`, `prompt`, `grading_mode` and, where the row has it, `verifier_metadata`;
    `failure_reason` (of an empty message: the verdicts say the rest).
"""

from __future__ import annotations

import csv
import importlib
import re
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

from blade.model.errors import RequestError
from blade_gym.environment import NoVerdict, Row, Verdict
from blade_gym.sandbox.worker import OutOfBounds, Worker
from blade_gym.single_turn import Config

Given = Mapping[str, Any]

SECONDS = 5.0
"""For all instructions of a row; some of the published patterns take time quadratic in white space."""
CHECKERS = ("opencompass.datasets.IFEval", "opencompass.datasets.IFBench")
PACKAGES = ("nltk", "langdetect", "absl-py", "emoji", "syllapy")
"""What the checkers import."""
_NEEDED = ("opencompass", "nltk", "langdetect", "absl", "emoji", "syllapy")
_HOW_TO_GET = 'pip install "blade-bench[gym]", then: pip install --no-deps "opencompass<0.6" llama-index-core'
_SHARED_DATA = ("/usr/share/nltk_data", "/usr/local/share/nltk_data")
"""Where NLTK looks for data that was installed for everybody."""
_MODES = ("binary", "fraction")
_OF_THE_TEXT = (IndexError, KeyError, ValueError, ZeroDivisionError, csv.Error)
"""What checkers raise at texts that lack what they look for; the text does not follow the instruction then."""
_NOT_INSTALLED = "of NLTK is not installed"
"""What somebody can install: such a row is tried again."""
_MISSING = re.compile(r"nltk\.download\('(\w+)'\)")


def _folder(package: str) -> str | None:
    """Where a package of a wheel lies; nothing of the wheel is run."""
    top, *rest = package.split(".")
    spec = PathFinder.find_spec(top)
    places = (spec and spec.submodule_search_locations) or ()
    return next((str(path) for place in places if (path := Path(place, *rest)).is_dir()), None)


def _data() -> list[str]:
    """Folders with data of NLTK, which llama-index-core ships among others."""
    shipped = _folder("llama_index.core._static.nltk_cache")
    return [path for path in (shipped, *_SHARED_DATA) if path and Path(path).is_dir()]


_READS = [path for path in (*map(_folder, CHECKERS), *_data()) if path]
_WORKER = Worker(__name__, seconds=SECONDS, packages=PACKAGES, reads=_READS)


def ready() -> None:
    """Raise RequestError where the checkers are not installed."""
    missing = [name for name in _NEEDED if PathFinder.find_spec(name) is None]
    if missing:
        raise RequestError(f"instructions cannot be checked without {', '.join(missing)}", hint=_HOW_TO_GET)


def gold(row: Row) -> str | None:
    """The row's example, where it has one."""
    example = row.get("example_answer")
    return str(example) if example is not None else None


def verify(row: Row, text: str, config: Config) -> Verdict:
    """1 when every instruction is followed, or the share of them; raises NoVerdict where one cannot be checked."""
    asked = _asked(row, config)
    found = _followed(asked["instruction_id_list"], asked["kwargs"], asked["prompt"], text)
    strict, loose, mode = [one for one, _ in found], [one for _, one in found], asked["grading_mode"]
    fields = {
        **({"verifier_metadata": row["verifier_metadata"]} if "verifier_metadata" in row else {}),
        **asked,
        "follow_instruction_list": strict,
        "follow_all_instructions": all(strict),
        "follow_instruction_list_loose": loose,
        "follow_all_instructions_loose": all(loose),
        "reward_loose": _reward(loose, mode),
        "failure_reason": None if text.strip() else "the message is empty",
    }
    return Verdict(reward=_reward(strict, mode), fields=fields)


def _asked(row: Row, config: Config) -> dict[str, Any]:
    """What a row asks for; raises NoVerdict where it does not say."""
    told = row.get("verifier_metadata")
    told = {**row, **told} if isinstance(told, Mapping) else row
    names, given = told.get("instruction_id_list"), told.get("kwargs")
    mode = told.get("grading_mode") or config.get("grading_mode") or "binary"
    if not (isinstance(names, list) and names and all(isinstance(name, str) for name in names)):
        raise _refused("instruction_id_list is not a list of names")
    if not (isinstance(given, list) and all(isinstance(one, Mapping | None) for one in given)):
        raise _refused("kwargs is not a list of objects")
    if len(given) != len(names):
        raise _refused(f"{len(names)} instructions have {len(given)} kwargs")
    if mode not in _MODES:
        raise _refused(f"grading_mode is {mode!r}, not one of {', '.join(_MODES)}")
    prompt = str(told.get("prompt") or "")
    return {"instruction_id_list": names, "kwargs": given, "prompt": prompt, "grading_mode": mode}


def _refused(why: str, *, terminal: bool = True) -> NoVerdict:
    return NoVerdict(why, failure_class="skipped", terminal=terminal)


def _reward(followed: Sequence[bool], mode: str) -> float:
    return float(all(followed)) if mode == "binary" else sum(followed) / len(followed)


def _followed(names: Sequence[str], given: Sequence[Given | None], prompt: str, text: str) -> list[tuple[bool, bool]]:
    """Whether a text follows each instruction, strictly and loosely."""
    try:
        ready()
        found: list[tuple[bool, bool]] = _WORKER.ask("followed", names, given, prompt, text)
    except OutOfBounds:
        raise OutOfBounds(f"checking {', '.join(names)} ran out of time or memory") from None
    except (ValueError, RequestError) as problem:
        why = str(problem).removeprefix("Unchecked: ")
        raise _refused(why, terminal=not why.endswith(_NOT_INSTALLED)) from None
    return found


def warm() -> None:
    """In the child: load the checkers, and the data that they would load at the first question."""
    langdetect: Any = importlib.import_module("langdetect")
    nltk: Any = importlib.import_module("nltk")
    langdetect.DetectorFactory.seed = 0  # it draws samples of the text, and would judge the same one differently
    langdetect.detect("This is English.")
    nltk.download = lambda *_, **__: False
    nltk.data.path[:0] = _data()
    checkers()
    for load in (
        nltk.word_tokenize,
        lambda text: nltk.pos_tag([text]),
        lambda _: nltk.corpus.stopwords.words("english"),
    ):
        with suppress(LookupError):
            load("Go.")


@lru_cache(maxsize=1)
def checkers() -> Mapping[str, Any]:
    """In the child: the published checker of each instruction."""
    found: dict[str, Any] = {}
    for package in CHECKERS:
        _know(package)
        found |= importlib.import_module(f"{package}.instructions_registry").INSTRUCTION_DICT
        for name in ("instructions", "instructions_util"):
            vars(sys.modules[f"{package}.{name}"])["random"] = _Nothing()
    return found


def _know(package: str) -> None:
    """Let modules of a package be imported without running what the packages above it would load."""
    parts = package.split(".")
    for name in (".".join(parts[:length]) for length in range(1, len(parts) + 1)):
        bare = ModuleType(name)
        bare.__path__ = [path for path in [_folder(name)] if path]
        sys.modules.setdefault(name, bare)


class Unchecked(Exception):
    """Why a checker cannot decide; no fault of the text."""


class _Nothing:
    """In place of `random`, which checkers ask for arguments that they were not given."""

    def __getattr__(self, name: str) -> NoReturn:
        raise Unchecked("the row leaves an argument open")


def followed(names: Sequence[str], given: Sequence[Given | None], prompt: str, text: str) -> list[tuple[bool, bool]]:
    """In the child: whether a text follows each instruction as it stands, and with first or last line or asterisks left out.

    Raises Unchecked with the instruction that cannot be checked.
    """
    found = []
    for name, one in zip(names, given, strict=True):
        try:
            checker = _built(name, one or {}, prompt)
            strict = _holds(checker, text)
            found.append((strict, strict or any(_holds(checker, less) for less in _variants(text))))
        except MemoryError:
            raise
        except Exception as problem:  # noqa: BLE001 - a checker may raise anything at arguments that it does not expect
            raise Unchecked(f"{name} cannot be checked: {problem}") from None
    return found


def _built(name: str, given: Given, prompt: str) -> Any:
    """The checker of an instruction with its arguments."""
    if name not in checkers():
        raise Unchecked("no published checker knows it")
    checker = checkers()[name](name)
    checker.build_description(**{key: value for key, value in given.items() if value is not None})
    if "prompt" in (checker.get_instruction_args() or ()):
        checker.build_description(prompt=prompt)
    return checker


def _variants(text: str) -> list[str]:
    lines = text.split("\n")
    shorter = ["\n".join(part).strip() for part in (lines[1:], lines[:-1], lines[1:-1])]
    return [text.replace("*", ""), *shorter, *(one.replace("*", "") for one in shorter)]


def _holds(checker: Any, text: str) -> bool:
    """What a checker says; an empty text follows nothing, as in the published evaluation."""
    try:
        return bool(text.strip() and checker.check_following(text))
    except _OF_THE_TEXT:
        return False
    except LookupError as problem:
        missing = _MISSING.search(str(problem))
        raise Unchecked(f"the data {missing[1] if missing else ''} {_NOT_INSTALLED}") from None
