"""A value against a JSON schema, with the errors as a row keeps them; for the sandboxed process of a verifier."""

from __future__ import annotations

from itertools import islice
from typing import Any

from blade_gym.environment import NoVerdict
from blade_gym.sandbox.worker import OutOfBounds, Worker

MOST_ERRORS = 20
LONGEST_MESSAGE = 300


def asked(worker: Worker, function: str, *arguments: object) -> Any:
    """What a worker says that checks a schema; raises NoVerdict where the schema is not one, or the value is too deep."""
    try:
        return worker.ask(function, *arguments)
    except ValueError as problem:
        if str(problem).startswith("RecursionError"):
            raise OutOfBounds("the answer or the schema is nested too deep to be checked") from problem
        raise NoVerdict(f"the task's schema cannot be used: {problem}", terminal=True) from problem


def problems(schema: Any, value: Any, *, formats: bool) -> list[dict[str, Any]]:
    """What a value does not satisfy, place by place, the first errors alone; raises where the schema is not one.

    The dialect is Draft 2020-12. `formats` says whether `format` is checked or only a note.
    """
    from jsonschema import Draft202012Validator, FormatChecker

    Draft202012Validator.check_schema(schema)
    checker = Draft202012Validator(schema, format_checker=FormatChecker() if formats else None)
    # A long list of wrong items has an error for each; the first ones decide and explain as well.
    found = list(islice(checker.iter_errors(value), MOST_ERRORS))
    return [
        {"name": f"{error.json_path} {error.validator}", "passed": False, "message": error.message[:LONGEST_MESSAGE]}
        for error in sorted(found, key=lambda error: (error.json_path, str(error.validator)))
    ]
