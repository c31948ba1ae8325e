"""Text-to-SQL on databases of their own: taken out of what is published, asked read-only, and judged end to end."""

from __future__ import annotations

import io
import json
import re
import shutil
import sqlite3
import zipfile
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from blade.model.errors import RequestError
from blade_gym import hub
from blade_gym.environment import NoVerdict
from blade_gym.verifiers import spider2_result, sql_result
from gym_endpoint import KEY, Endpoint, serving
from gym_lab import ROOT, here, read

SCHOOLS = (
    "CREATE TABLE schools (name TEXT, pupils INTEGER); INSERT INTO schools VALUES ('A', 10), ('B', 20), ('B', 20);"
)
QUESTIONS = [
    {
        "question_id": number,
        "db_id": "schools in town",
        "question": f"[{number}] {asked}",
        "evidence": "pupils are children" if number == 0 else "",
        "SQL": query,
        "difficulty": "simple",
    }
    for number, (asked, query) in enumerate(
        [
            ("Which schools are there?", "SELECT name FROM schools"),
            ("How many pupils?", "SELECT SUM(pupils) FROM schools"),
            ("Names by pupils?", "SELECT name FROM schools ORDER BY pupils"),
            ("The largest?", "SELECT MAX(pupils) FROM schools"),
        ]
    )
]
ANSWERS = {
    0: "SELECT DISTINCT name FROM schools ORDER BY name DESC",
    1: "SELECT SUM(pupils) + 0.0 FROM schools",
    2: "SELECT pupils FROM schools",
    3: "DELETE FROM schools",
}


def database(script: str = SCHOOLS) -> bytes:
    with closing(sqlite3.connect(":memory:")) as made:
        made.executescript(script)
        return bytes(made.serialize())


def zipped(files: dict[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return packed.getvalue()


def bird(folder: Path) -> Path:
    """The shipped benchmark, with an archive of the shape that is published: databases in an archive of their own."""
    home = folder / "benchmarks" / "bird"
    shutil.copytree(ROOT / "benchmarks" / "bird", home, ignore=shutil.ignore_patterns("data"))
    inner = zipped(
        {
            "dev_databases/schools in town/schools in town.sqlite": database(),
            "dev_databases/schools in town/database_description/schools.csv": b"column\n",
            "__MACOSX/dev_databases/._schools in town.sqlite": b"junk",
        }
    )
    path = folder / "dev.zip"
    questions = json.dumps(QUESTIONS).encode()
    path.write_bytes(zipped({"dev_20240627/dev.json": questions, "dev_20240627/dev_databases.zip": inner}))
    return path


@dataclass
class Answering(Endpoint):
    """Answers each question with the query that is written down for it."""

    prompts: dict[int, str] = field(default_factory=dict)

    async def answer(self, request: Request) -> Response:
        body = await request.json()
        asked = str(body["input"][-1]["content"])
        number = int(re.findall(r"\[(\d+)\]", asked)[0])
        self.prompts[number] = asked
        part = {"type": "output_text", "text": f"```sql\n{ANSWERS[number]}\n```", "annotations": []}
        return JSONResponse({"output": [{"type": "message", "role": "assistant", "content": [part]}]})


def test_bird_is_prepared_proven_and_run(tmp_path: Path) -> None:
    source = f"+prepare_script_args.source={bird(tmp_path)}"
    named = ("--benchmark", "bird", "--search-dir", tmp_path)
    code, out, err = here("eval", "prepare", *named, source)
    assert code == 0, err
    assert (tmp_path / "benchmarks/bird/data/databases/schools in town.sqlite").read_bytes() == database()
    code, out, err = here("env", "test", *named)
    assert (code, "4 of 4 gold answers pass" in out) == (0, True), out + err
    output = tmp_path / "r.jsonl"
    with serving(Answering()) as endpoint:
        assert isinstance(endpoint, Answering)
        model = ("--model-type", "openai_model", "-m", "m", "--model-url", endpoint.url, "--model-api-key", KEY)
        code, _, err = here("eval", "run", *named, *model, source, "-o", output)
    assert code == 0, err
    assert "CREATE TABLE schools (name TEXT, pupils INTEGER);" in endpoint.prompts[0]
    assert "What helps: pupils are children" in endpoint.prompts[0]
    rows = {row["_ng_task_index"]: row for row in read(output)}
    assert {number: row["reward"] for number, row in rows.items()} == {0: 1.0, 1: 1.0, 2: 0.0, 3: 0.0}
    assert (rows[0]["expected_rows"], rows[0]["returned_rows"]) == (3, 2), "sets are compared, rows are counted"
    assert rows[2]["failure_reason"] == "as many rows, and other values in them"
    assert "not authorized" in rows[3]["failure_reason"]
    (made,) = (tmp_path / "benchmarks/bird/data/databases").iterdir()
    assert made.read_bytes() == database(), "nothing is written to it"
    shutil.rmtree(tmp_path / "benchmarks/bird/data/databases")
    code, out, _ = here("env", "test", *named)
    assert (code, "gym eval prepare --force" in out) == (1, True)


def test_a_folder_of_the_same_will_do_and_what_is_not_there_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    (folder / "dev_databases").mkdir(parents=True)
    (folder / "dev.json").write_text(json.dumps(QUESTIONS))
    home = bird(tmp_path).parent / "benchmarks" / "bird"
    words = ("eval", "prepare", "--benchmark", "bird", "--search-dir", tmp_path)
    code, _, err = here(*words, f"+prepare_script_args.source={folder}")
    assert (code, "has no schools in town" in err) == (2, True)
    (folder / "dev_databases" / "schools in town.sqlite").write_bytes(database())
    assert here(*words, f"+prepare_script_args.source={folder}")[0] == 0
    assert len(read(home / "data" / "bird_benchmark.jsonl")) == 4
    (folder / "dev_databases" / "schools in town.sqlite").write_bytes(b"half of one")
    code, _, err = here(*words, f"+prepare_script_args.source={folder}", "--force")
    assert (code, "is not an SQLite database" in err) == (2, True)


def test_an_archive_that_is_none_is_said(tmp_path: Path) -> None:
    (tmp_path / "dev.zip").write_bytes(b"PK half")
    with pytest.raises(RequestError, match="is not a ZIP archive"):
        list(hub.archive_files("https://example.com/dev.zip", (".json",), source=str(tmp_path / "dev.zip")))


@pytest.mark.parametrize("name", ["../secret.sqlite", "/etc/passwd", "nothing.sqlite", ".."])
def test_a_row_names_no_file_elsewhere(tmp_path: Path, name: str) -> None:
    (tmp_path / "secret.sqlite").write_bytes(database())
    (tmp_path / "databases").mkdir()
    config: dict[str, Any] = {"database_dir": "databases", "search_roots": (tmp_path,)}
    row = {"sql": "SELECT name FROM schools", "database": name}
    with pytest.raises(NoVerdict, match="not there"):
        sql_result.verify(row, "SELECT 1", config)


def test_a_query_reaches_no_other_database(tmp_path: Path) -> None:
    (tmp_path / "secret.sqlite").write_bytes(database())
    (tmp_path / "databases").mkdir()
    (tmp_path / "databases" / "a b%20c.sqlite").write_bytes(database())
    config: dict[str, Any] = {"database_dir": "databases", "search_roots": (tmp_path,)}
    row = {"sql": "SELECT SUM(pupils) FROM schools", "database": "a b%20c.sqlite"}
    assert sql_result.verify(row, "SELECT 50", config).reward == 1.0
    found = sql_result.verify(row, f"ATTACH '{tmp_path / 'secret.sqlite'}' AS s", config)
    assert (found.reward, found.fields["extracted_sql"]) == (0.0, None)
    attached = sql_result.verify(row, f"```sql\nATTACH '{tmp_path / 'secret.sqlite'}' AS s\n```", config)
    assert "not authorized" in str(attached.fields["failure_reason"])


LITE = "Spider2-main/spider2-lite"
GOLD = f"{LITE}/evaluation_suite/gold"
ASKED: list[dict[str, Any]] = [
    {"instance_id": "local010", "db": "Old-Town", "question": "Pupils of each?", "external_knowledge": None},
    {"instance_id": "local002", "db": "Old-Town", "question": "Schools by name?", "external_knowledge": "towns.md"},
    {"instance_id": "bq001", "db": "elsewhere", "question": "needs an account", "external_knowledge": None},
]
STANDARDS: list[dict[str, Any]] = [
    {"instance_id": "local002", "condition_cols": [], "ignore_order": False},
    {"instance_id": "local010", "condition_cols": [[1], []], "ignore_order": True},
]


def lines(rows: list[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def spider(folder: Path) -> tuple[str, str]:
    """The shipped benchmark, with copies of the repository's archive and of the databases'."""
    home = folder / "benchmarks" / "spider2_lite"
    shutil.copytree(ROOT / "benchmarks" / "spider2_lite", home, ignore=shutil.ignore_patterns("data"))
    published = {
        f"{LITE}/spider2-lite.jsonl": lines(ASKED),
        f"{LITE}/resource/databases/sqlite/old_town/DDL.csv": b'table_name,DDL\nschools,"CREATE TABLE schools (\n  name TEXT\n)"\nx,CREATE TABLE x (a)\n',
        f"{LITE}/resource/databases/bigquery/old_town/DDL.csv": b"table_name,DDL\nx,not this one\n",
        f"{GOLD}/spider2lite_eval.jsonl": lines(STANDARDS),
        f"{GOLD}/sql/local002.sql": b"SELECT name FROM schools ORDER BY name\n",
        f"{GOLD}/exec_result/local002.csv": b"name\nA\nB\nB\n",
        f"{GOLD}/exec_result/local010_b.csv": b"pupils\n50\n",
        f"{GOLD}/exec_result/local010_a.csv": b"name,pupils\nA,10.004\nB,20\n",
        f"{GOLD}/exec_result/bq001.csv": b"n\n1\n",
        f"{LITE}/evaluation_suite/credentials.zip": b"no archive at all",
        "Spider2-main/spider2-snow/spider2-lite.jsonl": b"not this one",
    }
    (folder / "main.zip").write_bytes(zipped(published))
    (folder / "local_sqlite.zip").write_bytes(zipped({"spider2-localdb/Old-Town.sqlite": database()}))
    return (
        f"+prepare_script_args.source={folder / 'main.zip'}",
        f"+prepare_script_args.databases={folder / 'local_sqlite.zip'}",
    )


def test_spider2_is_prepared_from_the_repository_and_the_databases(tmp_path: Path) -> None:
    words = ("eval", "prepare", "--benchmark", "spider2_lite", "--search-dir", tmp_path)
    code, _, err = here(*words, *spider(tmp_path))
    assert code == 0, err
    first, second = read(tmp_path / "benchmarks/spider2_lite/data/spider2_lite_benchmark.jsonl")
    assert (first["instance_id"], second["instance_id"]) == ("local002", "local010"), "by number"
    system, asked = first["responses_create_params"]["input"]
    assert (system["role"], asked["role"]) == ("system", "user")
    schema = "CREATE TABLE schools (\n  name TEXT\n)\n\nCREATE TABLE x (a)"
    question = "<QUESTION>\nSchools by name?\n</QUESTION>"
    assert asked["content"] == f"<DATABASE_SCHEMA>\n{schema}\n</DATABASE_SCHEMA>\n\n{question}"
    assert (first["db_id"], first["gold_sql"]) == ("Old-Town", "SELECT name FROM schools ORDER BY name")
    assert second["gold_result"] == [[["A", 10.004], ["B", 20]], [[50]]]
    assert (second["condition_cols"], second["ignore_order"], "gold_sql" in second) == ([[1], []], True, False)
    config = {"spider2_lite_dir": "benchmarks/spider2_lite/data/databases", "search_roots": (tmp_path,)}

    def reward(row: dict[str, Any], query: str) -> tuple[float, str | None]:
        found = spider2_result.verify(row, f"```sql\n{query}\n```", config)
        return found.reward, found.fields["failure_reason"]

    assert reward(first, "SELECT pupils, name FROM schools ORDER BY name") == (1.0, None)
    assert reward(first, "SELECT name FROM schools ORDER BY name DESC") == (0.0, "the result is another one")
    assert reward(first, "SELECT DISTINCT name FROM schools")[0] == 0.0
    assert reward(second, "SELECT DISTINCT pupils FROM schools ORDER BY pupils DESC") == (1.0, None)
    assert reward(second, "SELECT SUM(pupils) AS n FROM schools") == (1.0, None), "any of the results will do"
    assert reward(second, "SELECT 10.1 UNION SELECT 20")[0] == 0.0
    assert "no such table" in str(reward(second, "SELECT * FROM nowhere")[1])


def test_a_copy_of_spider2_that_is_not_whole_is_said(tmp_path: Path) -> None:
    source, base = spider(tmp_path)
    words = ("eval", "prepare", "--benchmark", "spider2_lite", "--search-dir", tmp_path)
    (tmp_path / "empty").mkdir()
    code, _, err = here(*words, source, f"+prepare_script_args.databases={tmp_path / 'empty'}")
    assert (code, "has no Old-Town.sqlite" in err, "+prepare_script_args.databases=PATH" in err) == (2, True, True)
    code, _, err = here(*words, base, f"+prepare_script_args.source={tmp_path / 'empty'}")
    assert (code, "has no spider2-lite.jsonl" in err) == (2, True)


@pytest.mark.parametrize(
    ("query", "passed", "reason"),
    [
        ("SELECT value FROM json_each('[1, 2]')", True, None),
        ("SELECT 1 UNION SELECT 2", True, None),
        ("SELECT 1.0 UNION SELECT 2.0000001", True, None),
        ("SELECT randomblob(900000) FROM big", False, "too large"),
        ("SELECT " + ", ".join(map(str, range(300))), False, "too many columns"),
        ("SELECT instr(zeroblob(900000), zeroblob(400000) || x'01') FROM big", False, "out of time"),
        ("SELECT '\ud800'", False, "rows"),
        ("UPDATE sqlite_master SET name = 'x'", False, "query"),
        ("SELECT fts3_tokenizer('simple', x'00')", False, "does more than read"),
        ("ATTACH 'other.sqlite' AS other", False, "does more than read"),
        ("PRAGMA writable_schema = 1", False, "does more than read"),
        ("CREATE TEMP TABLE t (a)", False, "does more than read"),
    ],
)
def test_a_query_that_takes_too_much_or_does_more_fails(query: str, passed: bool, reason: str | None) -> None:
    fill = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 3000) INSERT INTO big SELECT x FROM c;"
    row = {"sql_context": f"CREATE TABLE big (a); {fill}", "sql": "SELECT 1 AS a UNION SELECT 2"}
    found = sql_result.verify(row, f"```sql\n{query}\n```", {"timeout": 1})
    assert found.reward == float(passed)
    assert (
        reason is None
        or reason in str(found.fields["failure_reason"])
        or "failed" in str(found.fields["failure_reason"])
    )


def test_whole_numbers_are_compared_exactly() -> None:
    row = {"sql_context": "CREATE TABLE t (a);", "sql": "SELECT 20240101"}
    assert sql_result.verify(row, "```sql\nSELECT 20240101\n```", {}).reward == 1.0
    assert sql_result.verify(row, "```sql\nSELECT 20240115\n```", {}).reward == 0.0
