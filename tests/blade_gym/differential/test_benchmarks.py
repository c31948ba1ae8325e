"""A benchmark that has the name of one of NeMo Gym's is the same benchmark: data, prompt, rows, repeats, grading.

`benchmarks.json` holds what NeMo Gym has at one commit: settings from its configs, and, for a few made rows in the published
shape (`source`), the rows that its own prepare script writes and the messages that its prompt makes of them.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import sqlite3
import tarfile
import zipfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from types import ModuleType
from typing import Any

import polars as pl
import pytest
import yaml

from blade_gym.catalog.benchmarks import benchmarks
from blade_gym.config.load import Resolved, resolve
from blade_gym.hub import HubError
from blade_gym.loading import load_file
from blade_gym.run.dataset import RowsToRun, read_prompt
from blade_gym.run.plan import PlanOptions, make_plan

ROOT = Path(__file__).parents[3]
KNOWN = json.loads((Path(__file__).parent / "benchmarks.json").read_text("utf-8"))
FACTS: dict[str, dict[str, Any]] = KNOWN["benchmarks"]
ELSEWHERE = {"ifbench", "ifeval"}
"""Shared names whose facts stand in tests of their own."""
MODEL = "responses_api_models/local_model/configs/local_model.yaml"
CHECKOUT = Path(os.environ.get("NEMO_GYM_CHECKOUT") or ROOT.parent / "shared" / "nemo_gym")
names = pytest.mark.parametrize("name", FACTS)


def script(name: str) -> ModuleType:
    return load_file(ROOT / "benchmarks" / name / "prepare.py")


def resolved(name: str) -> Resolved:
    """The benchmark with a model, as `gym eval run` puts them together."""
    return resolve([f"benchmarks/{name}/config.yaml", MODEL], [], [ROOT])


def server(found: Resolved, agent: str) -> Any:
    instance = found.instance(agent)
    assert instance is not None
    reached = found.instance(str(instance.config["resources_server"]["name"]))
    assert reached is not None
    return reached


def test_every_shared_name_has_its_facts() -> None:
    ours = {entry.name for entry in benchmarks([ROOT]).entries}
    assert ours & set(KNOWN["reference"]["benchmarks"]) - ELSEWHERE == set(FACTS)


@names
def test_agent_server_repeats_and_grading(name: str) -> None:
    facts, found = FACTS[name], resolved(name)
    (dataset,) = (one for one in found.datasets if one.type == "benchmark")
    assert (dataset.agent, dataset.num_repeats) == (facts["agent"], facts["num_repeats"])
    assert (dataset.jsonl_fpath, dataset.prompt_config) == (facts["jsonl_fpath"], facts["prompt_config"])
    judged_by = server(found, facts["agent"])
    assert judged_by.type == facts["resources_server"]
    unused = {"judge_responses_create_params"} if facts["settings"].get("should_use_judge") is False else set()
    wanted = {key: value for key, value in facts["settings"].items() if key not in unused}
    # Not given, empty and false are the same setting.
    assert {key: judged_by.config.get(key) or None for key in wanted} == {key: wanted[key] or None for key in wanted}


@names
def test_the_judge(name: str) -> None:
    facts, found = FACTS[name], resolved(name)
    config = server(found, facts["agent"]).config
    if "judge_prompt_sha256" not in facts:
        return
    assert config["judge_model_server"]["name"] == facts["judge"]
    if "judge_model" in facts:
        judge = found.instance(facts["judge"])
        assert judge is not None
        assert judge.config["openai_model"] == facts["judge_model"]
    prompt = (ROOT / config["judge_prompt_template_fpath"]).read_text("utf-8").strip()
    assert hashlib.sha256(prompt.encode()).hexdigest() == facts["judge_prompt_sha256"]


@names
def test_the_prompt(name: str) -> None:
    facts = FACTS[name]
    if facts["prompt_config"] is None:
        return
    prompt = read_prompt(facts["prompt_config"], [ROOT])
    assert {"system": prompt.system, "user": prompt.user} == facts["prompt"]


def archived(files: dict[str, str], path: Path) -> Path:
    with tarfile.open(path, "w") as archive:
        for inside, text in files.items():
            member = tarfile.TarInfo(inside)
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))
    return path


def copied(name: str, source: Any, folder: Path) -> dict[str, str]:
    """The made rows as a copy of what is published, and the arguments that name it."""
    if name == "mmlu":
        return {"source": str(archived(source, folder / "data.tar"))}
    if name == "spider2_lite":
        with zipfile.ZipFile(folder / "main.zip", "w") as archive:
            for inside, text in source.items():
                archive.writestr(f"Spider2-main/spider2-lite/{inside}", text)
        with closing(sqlite3.connect(folder / "Old-Town.sqlite")) as made:
            made.execute("CREATE TABLE schools (name TEXT)")
            made.commit()
        return {"source": str(folder / "main.zip"), "databases": str(folder)}
    if isinstance(source, dict):
        for code, rows in source.items():
            table = pl.DataFrame({"text": rows} if isinstance(rows[0], str) else rows)
            table.write_parquet(folder / f"{code if name == 'flores200' else f'en-{code}'}.parquet")
        return {"source": str(folder)}
    if name == "gsm8k":
        (folder / "test.jsonl").write_text(
            "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in source), "utf-8"
        )
        return {"source": str(folder / "test.jsonl")}
    if name == "xstest":
        with (folder / "prompts.csv").open("w", newline="") as file:
            writer = csv.DictWriter(file, fieldnames=list(source[0]))
            writer.writeheader()
            writer.writerows(source)
        return {"source": str(folder / "prompts.csv")}
    pl.DataFrame(source).write_parquet(folder / "rows.parquet")
    return {"source": str(folder / "rows.parquet")}


def as_text(name: str, row: dict[str, Any]) -> dict[str, Any]:
    """The one intended difference: answers of gsm8k are numbers in the reference's rows, which its own server refuses."""
    return {**row, "expected_answer": str(row["expected_answer"])} if name == "gsm8k" else row


@names
def test_rows_and_messages(name: str, tmp_path: Path) -> None:
    facts, output = FACTS[name], tmp_path / "out" / "rows.jsonl"
    script(name).prepare(output=str(output), **copied(name, facts["source"], tmp_path), **facts.get("arguments", {}))
    rows = [json.loads(line) for line in output.read_bytes().splitlines()]
    bare = [{key: value for key, value in row.items() if key != "id" or "id" in facts["rows"][0]} for row in rows]
    assert bare == [as_text(name, row) for row in facts["rows"]], (
        "our rows add an id where there is none, and nothing else"
    )
    prompt = read_prompt(facts["prompt_config"], [ROOT]) if facts["prompt_config"] else None
    plan = make_plan([RowsToRun(path=output, shown="rows", agent="a", prompt=prompt)], PlanOptions())
    assert [row["responses_create_params"]["input"] for row in plan.rows] == facts["messages"]


@contextmanager
def refusing_hub() -> Iterator[tuple[str, list[str]]]:
    """A hub that has nothing and keeps what it is asked for."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_error(404)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    hub = HTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=hub.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{hub.server_port}", asked
    finally:
        hub.shutdown()
        hub.server_close()


@pytest.mark.parametrize("name", [name for name in FACTS if "dataset" in FACTS[name]])
def test_the_data_set_of_the_hub(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    facts = FACTS[name]
    wanted = facts["dataset"]
    with refusing_hub() as (address, asked):
        monkeypatch.setenv("HF_ENDPOINT", address)
        with pytest.raises(HubError):
            script(name).prepare(output=str(tmp_path / "rows.jsonl"), **facts.get("arguments", {}))
    config = wanted["config"] or "default"
    assert asked == [f"/api/datasets/{wanted['name']}/parquet/{config}/{wanted['split']}"]


@pytest.mark.parametrize("name", [name for name in FACTS if "url" in FACTS[name]])
def test_the_published_file(name: str) -> None:
    assert FACTS[name]["url"] == script(name).PLACE


def test_languages_and_their_names() -> None:
    for name, first in (("flores200", ["eng_Latn"]), ("wmt24pp", [])):
        facts, named = FACTS[name], script(name).NAMES
        targets = [code for code in named if code not in first]
        listed = json.dumps([[code, named[code]] for code in (*first, *targets)], ensure_ascii=False)
        assert len(targets) == facts["language_count"]
        assert hashlib.sha256(listed.encode()).hexdigest() == facts["languages"]


def test_answers_of_gsm8k_that_were_wrong() -> None:
    assert {digest[:16]: answer for digest, answer in FACTS["gsm8k"]["fixed"].items()} == script("gsm8k").FIXED


@names
def test_the_facts_are_those_of_a_checkout(name: str) -> None:
    """Only where a checkout of NeMo Gym is at hand: the facts are compared with its files."""
    folder = CHECKOUT / "benchmarks" / name
    if not folder.is_dir():
        pytest.skip(f"needs a checkout of NeMo Gym at {CHECKOUT}, or NEMO_GYM_CHECKOUT")
    facts = FACTS[name]
    config = yaml.safe_load((folder / "config.yaml").read_text())
    (dataset,) = config[facts["agent"]]["responses_api_agents"]["simple_agent"]["datasets"]
    assert dataset.get("num_repeats", 1) == facts["num_repeats"]
    assert (dataset["jsonl_fpath"], dataset.get("prompt_config")) == (facts["jsonl_fpath"], facts["prompt_config"])
    if facts["prompt_config"]:
        given = yaml.safe_load((CHECKOUT / facts["prompt_config"]).read_text())
        assert {"system": given.get("system"), "user": given["user"]} == facts["prompt"]
