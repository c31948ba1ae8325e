"""Calls of the given tools, judged by the checker of the Berkeley Function-Calling Leaderboard (package `bfcl_eval`).

Only calls that the response holds as `function_call` items count, as on the leaderboard for models that are asked through
an API with tools: a call that is only written in a message is no call. Names are compared as the row writes them.

`irrelevance` passes when no call can be read, `relevance` when one can. All other single-turn categories go to the AST
checker: the right tools, all required arguments, no other ones, and each with an accepted value of the documented type.
Java and JavaScript arguments are strings that hold the literal. Multi-turn, agentic and executable categories are not
judged by that checker: they give no verdict, and so does an answer at which the checker itself fails.

Row
    `ground_truth`: a list of `{tool: {argument: [accepted values]}}`, where an accepted `""` makes the argument optional.
    An empty list means that no call is due. `category`: a single-turn category of the leaderboard; without it, the number
    of expected calls decides. `function`: the tools in the leaderboard's form, which Java and JavaScript need; without
    it, the row's own tools are read.

Fields
    `predicted_calls`, `error_type` and `error_message` (both the checker's own), `failure_reason`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from types import ModuleType, SimpleNamespace
from typing import Any

from blade_gym.answers import message
from blade_gym.environment import NoVerdict, Row, Verdict
from blade_gym.sandbox.inside.wire import usual_numbers
from blade_gym.sandbox.worker import Worker
from blade_gym.single_turn import Config, needed
from blade_gym.verifier_kit.calls import Call, call_item, calls_of, shown_calls

SECONDS = 6.0
LONGEST_ERROR = 500
_WORKER = Worker(__name__, seconds=SECONDS, packages=["bfcl-eval"])
_MODEL = "as-written"
"""The checker asks how a model's interface spells names with a dot; ours spells them as the row does."""
_TYPES = {"object": "dict", "number": "float", "integer": "integer", "string": "string", "boolean": "boolean"}
_REASONS = {
    "ast_decoder:no_call": "no call was made",
    "ast_decoder": "the arguments of a call are not a JSON object",
    "irrelevance_error": "a call was made where none is expected",
    "relevance_error": "no call was made",
    "wrong_count": "the number of calls is wrong",
    "wrong_func_name": "a different tool was called",
    "missing_required": "a required argument is missing",
    "missing_optional": "an expected argument is missing",
    "unexpected_param": "an argument is not expected",
    "cannot_find_match": "no call matches one of the expected calls",
    "type_error": "an argument has the wrong type",
    "value_error": "an argument has the wrong value",
}


def ready() -> None:
    """Raise RequestError where the checker is not installed."""
    needed("bfcl_eval", requirement="bfcl-eval>=2026.3.23,<2027")


def gold(row: Row) -> Sequence[Row] | None:
    """Calls with the first accepted value of each argument; None where the row does not say which calls are right."""
    category = _category(row)
    if "irrelevance" in category:
        return (message("None of the tools can help with this."),)
    if "relevance" in category or "java" in category:
        return None
    required = {tool["name"]: tool["parameters"]["required"] for tool in _documents(row)}
    calls = [
        (name, _arguments(accepted, required.get(name, ())))
        for call in row["ground_truth"]
        for name, accepted in call.items()
    ]
    return tuple(call_item(name, arguments, index) for index, (name, arguments) in enumerate(calls))


def verify(row: Row, output: Sequence[Row], config: Config) -> Verdict:
    """1 when the checker accepts the calls, else 0."""
    calls = calls_of(output)
    try:
        judged = _WORKER.ask("judged", _category(row), _documents(row), row["ground_truth"], calls)
    except ValueError as problem:
        raise NoVerdict(f"the checker of bfcl_eval failed: {problem}", terminal=True) from problem
    if "unknown" in judged:
        raise NoVerdict(judged["unknown"], failure_class="skipped", terminal=True)
    fields = {
        "predicted_calls": shown_calls(calls),
        "error_type": judged["error_type"],
        "error_message": judged["error"],
        "failure_reason": _reason(judged["error_type"]),
    }
    return Verdict(reward=float(judged["error_type"] is None), fields=fields)


def _category(row: Row) -> str:
    return str(row.get("category") or ("irrelevance", "multiple", "parallel")[min(2, len(row["ground_truth"]))])


def _documents(row: Row) -> list[Any]:
    if "function" in row:
        return list(row["function"])
    return [_document(tool) for tool in row.get("responses_create_params", {}).get("tools") or []]


def _document(tool: Row) -> dict[str, Any]:
    """A tool of the API in the leaderboard's form, which names types as Python does."""
    schema = tool.get("parameters") or {}
    properties = {name: _typed(about) for name, about in schema.get("properties", {}).items()}
    return {"name": tool["name"], "parameters": {"properties": properties, "required": schema.get("required", [])}}


def _typed(about: Row) -> dict[str, Any]:
    if about.get("type") == "array":
        return {"type": "array", "items": _typed(about.get("items") or {})}
    return {"type": _TYPES.get(str(about.get("type")), "any")}


def _reason(error_type: str | None) -> str | None:
    if error_type is None:
        return None
    area, _, kind = error_type.partition(":")
    return _REASONS.get(error_type) or _REASONS.get(kind) or _REASONS.get(area, error_type)


def _arguments(accepted: Mapping[str, Any], required: Sequence[str]) -> dict[str, Any]:
    """The first accepted value of each argument that has to be given."""
    given = {name: _first(values) for name, values in accepted.items() if name in required or "" not in values}
    return {name: _written_out(value) for name, value in given.items()}


def _first(values: Sequence[Any]) -> Any:
    return next((value for value in values if value != ""), "")


def _written_out(value: Any) -> Any:
    """An accepted object, alone or in a list, lists accepted values again: the first of each."""
    if isinstance(value, list):
        return [_written_out(inner) if isinstance(inner, Mapping) else inner for inner in value]
    if isinstance(value, Mapping):
        return {name: _first(values) for name, values in value.items() if "" not in values}
    return value


def warm() -> None:
    """In the child: load the checker before the doors are shut."""
    _checker()


@usual_numbers()
def judged(category: str, documents: list[Any], truth: list[Any], calls: list[Call]) -> dict[str, Any]:
    """In the child: the checker's verdict, in the order in which the leaderboard's runner asks."""
    if category not in import_module("bfcl_eval.constants.category_mapping").SINGLE_TURN_CATEGORY:
        return {"unknown": f"the AST checker of bfcl_eval does not judge the category {category!r}"}
    decoded, problem = _decoded(calls)
    if "relevance" in category:
        return _relevance("irrelevance" in category, called=problem is None)
    if problem is not None:
        return problem
    languages = import_module("bfcl_eval.constants.enums").Language
    language = category.removeprefix("simple_") if "java" in category else "python"
    found = _checker()(documents, decoded, truth, languages(language), category, _MODEL)
    return _verdict(None if found["valid"] else found["error_type"], found["error"])


def _decoded(calls: list[Call]) -> tuple[list[dict[str, Any]], dict[str, Any] | None]:
    """Calls as the checker takes them; else why they cannot be read."""
    if not calls:
        return [], _verdict("ast_decoder:no_call", ["the response holds no function call"])
    try:
        decoded = [{name: json.loads(text)} for name, text in calls]
    except (ValueError, RecursionError) as problem:
        return [], _verdict("ast_decoder:decoder_failed", [str(problem)])
    if not all(isinstance(arguments, dict) for call in decoded for arguments in call.values()):
        return [], _verdict("ast_decoder:decoder_wrong_output_format", ["arguments are not an object"])
    return decoded, None


def _relevance(irrelevance: bool, *, called: bool) -> dict[str, Any]:
    if irrelevance:
        return _verdict("irrelevance_error:decoder_success" if called else None, [])
    return _verdict(None if called else "relevance_error:decoder_failed", [])


def _verdict(error_type: str | None, error: list[Any]) -> dict[str, Any]:
    text = "; ".join(map(str, error))[:LONGEST_ERROR]
    return {"error_type": error_type, "error": text if error_type else None}


def _checker() -> Any:
    """The AST checker, without the model handlers that it would load for one flag of each model."""
    name = "bfcl_eval.constants.model_config"
    if name not in sys.modules:
        stand_in = ModuleType(name)
        stand_in.__dict__["MODEL_CONFIG_MAPPING"] = {_MODEL: SimpleNamespace(underscore_to_dot=False)}
        sys.modules[name] = stand_in
    return import_module("bfcl_eval.eval_checker.ast_eval.ast_checker").ast_checker
