"""Every JSON file and answer fits its published schema, and has no field that the schema lacks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from typer.testing import CliRunner

import blade
from blade.cli.main import command_line
from blade.json_schemas import schema_texts
from blade.report.as_json import RunSummary, summary

ROOT = Path(__file__).parents[1]
SCHEMAS = ROOT / "docs/schemas"
EXAMPLES = ("examples/desk_assistant", "examples/smollm2/two_term_sums", "tests/golden/ugly.jsonl")


def closed(schema: Any) -> Any:
    """The schema with objects that take no other field."""
    if isinstance(schema, list):
        return [closed(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    inner = {name: closed(part) for name, part in schema.items()}
    return inner | {"additionalProperties": False} if isinstance(inner.get("properties"), dict) else inner


def check(name: str, document: Any) -> None:
    schema = json.loads((SCHEMAS / f"{name}.schema.json").read_text("utf-8"))
    Draft202012Validator.check_schema(schema)
    Draft202012Validator(closed(schema)).validate(document)


def test_the_published_schemas_are_those_of_the_code() -> None:
    assert {path.name: path.read_text("utf-8") for path in SCHEMAS.glob("*.json")} == schema_texts()


@pytest.mark.parametrize("example", EXAMPLES)
def test_what_is_written_fits_the_schemas(example: str, tmp_path: Path) -> None:
    analysis = blade.analyze(ROOT / example)
    folder = analysis.save(tmp_path / "out")
    for one in analysis.runs:
        check("metrics", json.loads((folder / one.run.name / "metrics.json").read_text("utf-8")))
        check("findings", json.loads((folder / one.run.name / "findings.json").read_text("utf-8")))
        rows = (folder / one.run.name / "tasks.jsonl").read_text("utf-8").split("\n")[:-1]
        assert len(rows) == len(one.tasks)
        for row in rows:
            check("task", json.loads(row))
    for most_bytes in (None, 6_000, 500):
        check("analyze-summary", json.loads(summary(analysis, {"tasks": "blade show"}, most_bytes)))


def test_answers_about_several_runs_fit_the_schemas(tmp_path: Path) -> None:
    runs = [str(ROOT / EXAMPLES[1] / name) for name in ("short.jsonl.gz", "long.jsonl.gz")]
    assert typed("compare", *runs, "-o", str(tmp_path))[0] == 0
    check("comparison", json.loads((tmp_path / "comparison.json").read_text("utf-8")))
    assert typed("health", *runs, "-o", str(tmp_path))[0] == 0
    check("health", json.loads((tmp_path / "health.json").read_text("utf-8")))
    blade.analyze(runs[0]).save(tmp_path / "analysis")
    for name, words in (("gate", runs), ("history", runs), ("audit", [str(tmp_path / "analysis")])):
        check(name, json.loads(typed(name, *words, "--json")[1]))


def typed(*words: str) -> tuple[int, str]:
    """What a command answers: its exit code and its output."""
    done = CliRunner().invoke(command_line(), list(words))
    return done.exit_code, done.stdout


def test_numbers_alone_fit_the_schemas(tmp_path: Path) -> None:
    from blade.analysis import analyze, load
    from blade.model.options import Options
    from blade.report.as_json import dump
    from blade.report.documents import findings

    options = Options(metrics_only=True)
    analysis = analyze(load([str(ROOT / EXAMPLES[0])], options), options)
    document = json.loads(dump(findings(analysis.runs[0])))
    assert document["modes"] is None
    assert document["reasons"]["modes"]
    check("findings", document)


def test_a_field_that_is_missing_or_has_another_type_is_refused() -> None:
    document = json.loads(summary(blade.analyze(ROOT / EXAMPLES[2]), {}))
    check("analyze-summary", document)
    for wrong in ({**document, "run": 1}, {name: value for name, value in document.items() if name != "ci"}):
        with pytest.raises(Exception, match="is not valid under any"):
            check("analyze-summary", wrong)
    assert set(document) <= set(RunSummary.__struct_fields__)
