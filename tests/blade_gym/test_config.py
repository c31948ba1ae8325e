"""How configs chain, inherit and resolve: each documented rule on small files."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blade.model.errors import RequestError
from blade_gym.config.compose import merged
from blade_gym.config.load import Resolved, examine, resolve
from blade_gym.config.mask import masked
from blade_gym.config.roots import config_path, place, search_roots, selected
from blade_gym.config.values import override_value
from blade_gym.config.yaml_file import dump, parse
from blade_gym.serve.head import place as head_place

MODEL = "policy_model: {responses_api_models: {openai_model: {entrypoint: app.py}}}"
SERVER = """
math:
  resources_servers: {math: {entrypoint: app.py, domain: math, judge: off}}
math_agent:
  responses_api_agents:
    simple_agent:
      entrypoint: app.py
      max_steps: 6
      resources_server: {type: resources_servers, name: math}
      model_server: {type: responses_api_models, name: policy_model}
      datasets:
        - {name: train, type: train, license: MIT, jsonl_fpath: train.jsonl}
        - {name: example, type: example, jsonl_fpath: example.jsonl}
"""


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty current folder, so that no `env.yaml` of the machine is read."""
    monkeypatch.delenv("NEMO_GYM_EXTRA_ROOTS", raising=False)
    (tmp_path / "cwd").mkdir()
    monkeypatch.chdir(tmp_path / "cwd")


def write(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        path = folder / f"{name.replace('__', '/')}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def load(folder: Path, *names: str, overrides: tuple[str, ...] = ()) -> Resolved:
    return resolve([f"{name}.yaml" for name in names], overrides, [folder])


def config(folder: Path, *names: str, overrides: tuple[str, ...] = ()) -> dict[str, Any]:
    return {
        key: inner for key, inner in load(folder, *names, overrides=overrides).config.items() if key != "head_server"
    }


def problems(folder: Path, *names: str, overrides: tuple[str, ...] = ()) -> list[str]:
    found = examine([f"{name}.yaml" for name in names], overrides, [folder])[1]
    return [problem.text.replace(f"{folder}/", "") for problem in found]


def refused(folder: Path, *names: str, overrides: tuple[str, ...] = ()) -> RequestError:
    with pytest.raises(RequestError) as caught:
        load(folder, *names, overrides=overrides)
    return caught.value


# Chaining


def test_an_including_file_overrides_what_it_includes_at_any_depth(tmp_path: Path) -> None:
    write(
        tmp_path,
        inner="{a: inner, b: inner, c: inner}",
        middle="{config_paths: [inner.yaml], a: middle, b: middle}",
        outer="{config_paths: [middle.yaml], a: outer}",
    )
    assert config(tmp_path, "outer") == {"a": "outer", "b": "middle", "c": "inner"}


def test_a_later_sibling_wins_with_all_that_it_brings(tmp_path: Path) -> None:
    write(tmp_path, one="{a: 1, b: 1}", deep="{a: deep}", two="{config_paths: [deep.yaml], c: 2}")
    assert config(tmp_path, "one", "two") == {"a": "deep", "b": 1, "c": 2}
    assert config(tmp_path, "two", "one") == {"a": 1, "b": 1, "c": 2}


def test_a_file_that_is_named_twice_is_read_once_and_said(tmp_path: Path) -> None:
    write(
        tmp_path, shared="a: shared", one="{config_paths: [shared.yaml], a: one}", two="{config_paths: [shared.yaml]}"
    )
    found = load(tmp_path, "one", "two")
    assert found.config["a"] == "one"
    assert [notice.replace(f"{tmp_path}/", "") for notice in found.notices] == [
        "shared.yaml is named more than once and read once"
    ]


def test_a_file_that_includes_itself_is_a_problem(tmp_path: Path) -> None:
    write(tmp_path, one="config_paths: [two.yaml]", two="config_paths: [one.yaml]")
    assert problems(tmp_path, "one") == ["two.yaml:1: one.yaml includes itself"]


def test_a_config_that_is_not_there_is_suggested(tmp_path: Path) -> None:
    write(tmp_path, benchmarks__aime24__config="a: 1", one="x: 1\nconfig_paths: [benchmarks/aime42/config.yaml]")
    error = refused(tmp_path, "one")
    assert error.message.endswith("one.yaml:2: no such config: benchmarks/aime42/config.yaml")
    assert error.hint == "did you mean benchmarks/aime24/config.yaml?"


@pytest.mark.parametrize("text", ["- a", "just words", "7"])
def test_a_file_without_a_mapping_is_a_problem(tmp_path: Path, text: str) -> None:
    write(tmp_path, one=text)
    assert problems(tmp_path, "one") == ["one.yaml:1: no mapping of keys to values"]


def test_broken_files_are_all_named_with_their_lines(tmp_path: Path) -> None:
    write(tmp_path, one="a: 1\nb: [1,\n", two="a: {b: c\n\n", three="config_paths: {a: b}\n")
    (tmp_path / "four.yaml").write_bytes(b"a: \xff\xfe")
    found = problems(tmp_path, "one", "two", "three", "four")
    assert [line.split(": ")[0] for line in found] == ["one.yaml:3", "two.yaml:3", "three.yaml:1", "four.yaml"]


def test_a_key_that_is_given_twice_is_a_problem(tmp_path: Path) -> None:
    write(tmp_path, one="a: 1\nb:\n  - {c: 1}\n  - c: 1\n    c: 2\na: 2\n")
    assert problems(tmp_path, "one") == ["one.yaml:5: b.1.c: is given twice", "one.yaml:6: a: is given twice"]


def test_a_value_that_holds_itself_is_a_problem_and_a_shared_one_is_not(tmp_path: Path) -> None:
    write(tmp_path, one="a: &x\n  b: *x\n", two="a: &x {b: 1}\nc: *x\nd: {<<: *x, e: 2}\n")
    assert problems(tmp_path, "one")[0] == "one.yaml: a value that holds itself"
    assert config(tmp_path, "two") == {"a": {"b": 1}, "c": {"b": 1}, "d": {"b": 1, "e": 2}}


# Inheritance


def test_inherit_moves_and_own_keys_win_and_lists_are_replaced(tmp_path: Path) -> None:
    write(
        tmp_path,
        server=SERVER,
        model=MODEL,
        bench="""
config_paths: [server.yaml]
aime_agent:
  _inherit_from: math_agent
  responses_api_agents:
    simple_agent:
      datasets: [{name: aime, type: benchmark, prepare_script: benchmarks/aime/prepare.py, num_repeats: 32}]
""",
    )
    found = load(tmp_path, "bench", "model")
    assert [one.name for one in found.instances] == ["math", "aime_agent", "policy_model"]
    agent = found.instance("aime_agent")
    assert agent is not None
    assert agent.config["max_steps"] == 6
    assert [(one.name, one.type, one.num_repeats, one.agent) for one in found.datasets] == [
        ("aime", "benchmark", 32, "aime_agent")
    ]
    assert found.datasets[0].jsonl_fpath == "benchmarks/aime/data/aime_benchmark.jsonl"
    server = found.resources_server("aime_agent")
    assert server is not None
    assert server.name == "math"
    assert found.model is not None


def test_copy_keeps_its_source(tmp_path: Path) -> None:
    write(tmp_path, one="a: {x: {deep: 1}, y: 2}\nb: {_copy: a.x, own: 3}\nc: {_inherit_from: b}")
    assert config(tmp_path, "one") == {"a": {"x": {"deep": 1}, "y": 2}, "c": {"deep": 1, "own": 3}}


def test_the_forms_in_the_place_of_a_value(tmp_path: Path) -> None:
    write(tmp_path, one="a: {x: {deep: 1}, y: [1, 2]}\nb: {z: '${inherit_from:a.x}', y: '${copy:a.y}'}")
    assert config(tmp_path, "one") == {"a": {"y": [1, 2]}, "b": {"z": {"deep": 1}, "y": [1, 2]}}


def test_keys_are_deleted_after_what_is_inherited(tmp_path: Path) -> None:
    write(
        tmp_path,
        one="a: {x: 1, y: {p: 1, q: 2}, z: 3}\nb: {_inherit_from: a, _delete_key: 'x, z', y: {_delete_key: p}}",
    )
    assert config(tmp_path, "one") == {"b": {"y": {"q": 2}}}


def test_what_inherits_may_be_inherited_and_reached_into(tmp_path: Path) -> None:
    write(tmp_path, one="a: {x: {p: 1}}\nb: {_copy: a}\nc: {_copy: b.x, q: 2}\nd: {_inherit_from: b}")
    assert config(tmp_path, "one") == {"a": {"x": {"p": 1}}, "c": {"p": 1, "q": 2}, "d": {"x": {"p": 1}}}


def test_two_blocks_may_inherit_from_one(tmp_path: Path) -> None:
    write(tmp_path, one="a: {x: 1}\nb: {_inherit_from: a}\nc: {_inherit_from: a, y: 2}")
    assert config(tmp_path, "one") == {"b": {"x": 1}, "c": {"x": 1, "y": 2}}


def test_sources_that_are_not_there_and_circles_are_problems(tmp_path: Path) -> None:
    write(tmp_path, one="alpha: {x: 1}\nb: {_inherit_from: alhpa}\nc: {_copy: d}\nd: {_copy: c}\ne: {f: {_copy: e}}")
    found = problems(tmp_path, "one")
    assert found[0] == "one.yaml:2: b: inherits from alhpa, which no config defines"
    assert sum("inherits from itself" in line for line in found) == len(found) - 1 >= 2
    assert examine(["one.yaml"], (), [tmp_path])[1][0].hint == "did you mean alpha?"


def test_the_documented_overlay_resolves_as_documented(tmp_path: Path) -> None:
    overlay = """
config_paths: [server.yaml]
aime24_math_resources_server: {_inherit_from: math}
aime24_math_agent:
  _inherit_from: math_agent
  responses_api_agents: {simple_agent: {resources_server: {name: aime24_math_resources_server},
    datasets: [{name: aime24, type: benchmark, jsonl_fpath: b/a.jsonl, prompt_config: p.yaml, prepare_script: b/p.py,
      num_repeats: 32}]}}
"""
    write(tmp_path, server=SERVER, model=MODEL, bench=overlay)
    found = load(tmp_path, "bench", "model")
    assert [one.name for one in found.instances] == [
        "aime24_math_resources_server",
        "aime24_math_agent",
        "policy_model",
    ]
    agent = found.instance("aime24_math_agent")
    assert agent is not None
    assert agent.config["resources_server"] == {"type": "resources_servers", "name": "aime24_math_resources_server"}
    (rows,) = found.datasets
    assert (rows.jsonl_fpath, rows.prompt_config, rows.prepare_script) == ("b/a.jsonl", "p.yaml", "b/p.py")


# Values


def test_references_keep_types_and_stand_inside_text(tmp_path: Path) -> None:
    write(
        tmp_path,
        one="n: 3\nflag: true\na: {b: x, c: '${.b}${n}', d: '${..n}', e: '${a.b}/${flag}'}\nwhich: b\nf: '${a.${which}}'\n"
        "g: '${n}'\nh: '${a}'\ni: '\\${n}'",
    )
    found = config(tmp_path, "one")
    assert found["a"] == {"b": "x", "c": "x3", "d": 3, "e": "x/True"}
    assert (found["f"], found["g"], found["h"], found["i"]) == ("x", 3, found["a"], "${n}")


def test_every_missing_value_is_named_at_once(tmp_path: Path) -> None:
    write(
        tmp_path,
        one="a: ???\nb:\n  c: ???\n  d: [1, '???']\ne: '${a}'\nf: '${nowhere}'\ng: '${h}'\nh: '${g}'\ni: '${oc.env:BLADE_NOT_SET}'",
    )
    assert problems(tmp_path, "one") == [
        "one.yaml:6: f: needs nowhere, which nothing defines",
        "one.yaml:7: g: refers to itself by way of h",
        "one.yaml:8: h: refers to itself by way of g",
        "one.yaml:9: i: needs the environment variable BLADE_NOT_SET, which is not set",
        "one.yaml:1: a: has no value",
        "one.yaml:3: b.c: has no value",
        "one.yaml:4: b.d.1: has no value",
    ]
    error = refused(tmp_path, "one")
    assert error.message.startswith("7 problems in the config:\n")
    assert "+a=VALUE gives it, or env.yaml" in error.hint


def test_options_of_the_model_are_named(tmp_path: Path) -> None:
    write(tmp_path, one="policy_model_x: 1\na: '${policy_base_url}'\nb: '${policy_model_name}'")
    assert refused(tmp_path, "one").hint == "--model-url URL gives it, or env.yaml; --model NAME gives it, or env.yaml"


def test_the_key_of_the_model_is_named_in_every_form(tmp_path: Path) -> None:
    write(tmp_path, one="a: '${policy_api_key}'")
    assert refused(tmp_path, "one").hint == (
        "set --model-api-key, POLICY_API_KEY or policy_api_key in env.yaml (use an empty value if the endpoint needs no key)"
    )


def test_a_range_of_ports_that_holds_none_is_named(tmp_path: Path) -> None:
    write(tmp_path, one="port_range_low: 12000\nport_range_high: 11000")
    assert "port_range_low: 12000 is above port_range_high, 11000" in refused(tmp_path, "one").message


def test_variables_of_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BLADE_SET", "here")
    write(tmp_path, one="a: '${oc.env:BLADE_SET}'\nb: '${oc.env:BLADE_NOT_SET,fallback}'")
    assert config(tmp_path, "one") == {"a": "here", "b": "fallback"}


def test_env_yaml_beats_files_and_the_command_line_beats_it(tmp_path: Path) -> None:
    write(tmp_path, one="a: file\nb: file\nc: file")
    (tmp_path / "cwd" / "env.yaml").write_text("b: env\nc: env\n")
    assert config(tmp_path, "one", overrides=("++c=line", "+d=line")) == {
        "a": "file",
        "b": "env",
        "c": "line",
        "d": "line",
    }


def test_env_yaml_may_name_the_configs(tmp_path: Path) -> None:
    write(tmp_path, one="a: one", two="a: two")
    (tmp_path / "cwd" / "env.yaml").write_text("config_paths: [one.yaml]")
    assert config(tmp_path) == {"a": "one"}
    assert config(tmp_path, "two") == {"a": "two"}
    assert config(tmp_path, overrides=("+config_paths=[two.yaml]",)) == {"a": "two"}


def test_a_broken_env_yaml_is_named(tmp_path: Path) -> None:
    (tmp_path / "cwd" / "env.yaml").write_text("a: 1\nb: : :\n")
    assert problems(tmp_path)[0].startswith("cwd/env.yaml:2: ")


# The command line


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("5", 5),
        ("0.5", 0.5),
        ("1e-6", 1e-6),
        ("true", True),
        ("null", None),
        ("", ""),
        ("a b", "a b"),
        ("http://h:1/v1", "http://h:1/v1"),
        ("[a, 2]", ["a", 2]),
        ("{alpha:2,beta:4}", {"alpha": 2, "beta": 4}),
        ("{a: {b: 1}}", {"a": {"b": 1}}),
        ("a: b", "a: b"),
        ("- a", "- a"),
        ("2024-01-01", "2024-01-01"),
        ("*", "*"),
        ("${a}", "${a}"),
    ],
)
def test_values_are_what_a_person_means(text: str, meant: object) -> None:
    found = override_value(text)
    assert found == meant
    assert type(found) is type(meant)


def test_words_set_nested_keys_entries_of_lists_and_delete(tmp_path: Path) -> None:
    write(tmp_path, one="a: {b: 1, c: [x, y], d: 4}")
    words = ("a.b=2", "++a.c.0=z", "+e.f.g=3", "~a.d")
    assert config(tmp_path, "one", overrides=words) == {"a": {"b": 2, "c": ["z", "y"]}, "e": {"f": {"g": 3}}}


def test_a_bare_word_changes_only_what_is_there(tmp_path: Path) -> None:
    write(tmp_path, one="limit: 1")
    error = refused(tmp_path, "one", overrides=("limti=2", "nonsense"))
    assert "limti: no config has this key" in error.message
    assert "unexpected argument: nonsense" in error.message
    assert "did you mean limit?" in error.hint


def test_words_reach_what_is_inherited(tmp_path: Path) -> None:
    write(tmp_path, one="a: {x: 1, y: 1}\nb: {_inherit_from: a}")
    assert config(tmp_path, "one", overrides=("++b.x=2", "++a.y=3")) == {"b": {"x": 2, "y": 3}}


# Servers


def test_a_reference_to_nobody_is_a_problem_with_a_suggestion(tmp_path: Path) -> None:
    text = SERVER.replace("type: resources_servers, name: math", "type: resources_servers, name: maths")
    write(tmp_path, one=text, model=MODEL)
    found = examine(["one.yaml", "model.yaml"], (), [tmp_path])[1]
    assert [(one.key, one.line, one.hint) for one in found] == [
        ("math_agent.responses_api_agents.simple_agent.resources_server", 9, "did you mean math?")
    ]


def test_a_reference_of_the_wrong_group_and_the_model_that_is_not_chosen(tmp_path: Path) -> None:
    write(tmp_path, one=SERVER.replace("resources_servers, name: math", "responses_api_models, name: math"))
    hints = [one.hint for one in examine(["one.yaml"], (), [tmp_path])[1]]
    assert hints == ["math is one of resources_servers", "--model-type NAME adds it; `gym list models` names them"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("s: {resources_servers: {a: {}, b: {}}}", "s.resources_servers: holds exactly one type of server"),
        ("s: {resources_servers: 3}", "s.resources_servers: holds exactly one type of server"),
        (
            "s: {resources_servers: {a: 3}}",
            "s.resources_servers.a: is a mapping with entrypoint and the server's own keys",
        ),
        ("s: {resources_servers: {a: {entrypoint: app.py}}}", "s.resources_servers.a: has no domain"),
        ("s: {resources_servers: {a: {domain: math}}}", "s.resources_servers.a: has no entrypoint"),
        (
            "s: {resources_servers: {a: {entrypoint: app.py, domain: maths}}}",
            "s.resources_servers.a: no known domain: maths",
        ),
        (
            "s: {resources_servers: {a: {}}, responses_api_agents: {b: {}}}",
            "s: a server has one key, one of resources_servers, responses_api_agents, responses_api_models; this has resources_servers, responses_api_agents",
        ),
        (
            "verbose: {responses_api_models: {a: {entrypoint: app.py}}}",
            "verbose: is a name that settings use; give the server another",
        ),
    ],
)
def test_what_is_almost_a_server_is_a_problem_unless_it_is_allowed(tmp_path: Path, text: str, message: str) -> None:
    write(tmp_path, one=text)
    assert problems(tmp_path, "one") == [f"one.yaml:1: {message}"]
    assert load(tmp_path, "one", overrides=("+error_on_almost_servers=false",)).notices == (message,)


def test_every_fault_of_a_data_set_is_named(tmp_path: Path) -> None:
    entries = """
a:
  responses_api_agents:
    simple_agent:
      entrypoint: app.py
      datasets:
        - {name: n, type: tarin, jsonl_fpath: x}
        - {type: train, jsonl_fpath: x}
        - {name: n, type: example}
        - {name: n, type: benchmark, jsonl_fpath: x}
        - {name: n, type: example, jsonl_fpath: x, num_repeats: 0}
        - {name: n, type: validation, jsonl_fpath: x, license: BSD}
        - {name: n, type: example, jsonl_fpath: x, source: {type: ftp}, gitlab_identifier: {}}
        - word
        - {name: n, type: example, jsonl_fpath: x, prepare_script_args: [1]}
"""
    write(tmp_path, one=entries)
    lines = [line.removeprefix("one.yaml:") for line in problems(tmp_path, "one")]
    at = "a.responses_api_agents.simple_agent.datasets"
    assert lines == [
        f"7: {at}.0.type: is one of train, validation, example, benchmark, not 'tarin'",
        f"8: {at}.1: has no name",
        f"8: {at}.1: a train data set needs a license",
        f"9: {at}.2: has no jsonl_fpath",
        f"10: {at}.3: a benchmark data set needs a prepare_script",
        f"11: {at}.4.num_repeats: is a whole number of 1 or more, not 0",
        f"12: {at}.5.license: no known license: BSD",
        f"13: {at}.6.source: is a mapping whose type is one of gitlab, huggingface",
        f"13: {at}.6.source: stands beside an older *_identifier; give one of them",
        f"14: {at}.7: a data set is a mapping with name, type and jsonl_fpath",
        f"15: {at}.8.prepare_script_args: is a mapping of argument names to values",
    ]


def test_hosts_and_ports_are_filled_in_and_given_ones_kept(tmp_path: Path) -> None:
    write(
        tmp_path,
        one="\n".join(
            f"m{index}: {{responses_api_models: {{x: {{entrypoint: app.py{extra}}}}}}}"
            for index, extra in enumerate(["", ", port: 10002", ", host: 0.0.0.0"])
        ),
    )
    words = ("+disallowed_ports=[10001]", "+default_host=127.0.0.2")
    found = load(tmp_path, "one", overrides=words)
    assert [(one.config["host"], one.config["port"]) for one in found.instances] == [
        ("127.0.0.2", 10003),
        ("127.0.0.2", 10002),
        ("0.0.0.0", 10004),
    ]
    assert found.config["head_server"] == {"host": "127.0.0.1", "port": 11000}


def test_ports_that_are_none_or_claimed_twice_are_problems(tmp_path: Path) -> None:
    ports = ("99999", "9000", "9000", "many")
    lines = [
        f"m{index}: {{responses_api_models: {{x: {{entrypoint: app.py, port: {port}}}}}}}"
        for index, port in enumerate(ports)
    ]
    write(tmp_path, one="\n".join(lines))
    assert [line.split(".port: ")[1] for line in problems(tmp_path, "one")] == [
        "is a whole number from 1 to 65535, not 99999",
        "9000 is the port of m1 too",
        "is a whole number from 1 to 65535, not 'many'",
    ]
    for port in ("99999", "many"):
        write(tmp_path, one=f"head_server: {{port: {port}}}")
        (line,) = problems(tmp_path, "one")
        assert "head_server.port: is a whole number from 1 to 65535" in line
        with pytest.raises(RequestError, match=r"head_server\.port is a whole number"):
            head_place({"head_server": {"port": port}})


def test_numbers_of_agents_and_models_that_are_none_are_problems(tmp_path: Path) -> None:
    write(
        tmp_path,
        one="a: {responses_api_agents: {simple_agent: {entrypoint: app.py, max_steps: 0, rollout_timeout_seconds: x}}}\n"
        "b: {responses_api_models: {openai_model: {entrypoint: app.py, timeout_seconds: -1, max_tries: 2.5}}}\n"
        "c: {responses_api_models: {local_model: {entrypoint: app.py, threads: many, context: 4096}}}\n"
        "d: {responses_api_models: {my_model: {entrypoint: app.py, context: anything}}}\n"
        "e: {responses_api_models: {vllm_model: {entrypoint: app.py, timeout_seconds: '9.5', retry_seconds: 0}}}\n",
    )
    assert [re.sub(r".*(simple_agent|_model)\.", "", line) for line in problems(tmp_path, "one")] == [
        "max_steps: is a whole number from 1, not 0",
        "rollout_timeout_seconds: is a number above 0, not 'x'",
        "timeout_seconds: is a number above 0, not -1",
        "max_tries: is a whole number from 1, not 2.5",
        "threads: is a whole number from 1, not 'many'",
    ]


# Roots and names


def test_roots_in_their_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("given", "variable", "cwd"):
        write(tmp_path / name, one=f"a: {name}")
    monkeypatch.setenv("NEMO_GYM_EXTRA_ROOTS", str(tmp_path / "variable"))
    assert resolve(["one.yaml"], (), search_roots([tmp_path / "given"])).config["a"] == "given"
    assert resolve(["one.yaml"]).config["a"] == "variable"
    monkeypatch.delenv("NEMO_GYM_EXTRA_ROOTS")
    assert resolve(["one.yaml"]).config["a"] == "cwd"
    assert resolve(
        ["benchmarks/aime24/config.yaml", "responses_api_models/local_model/configs/local_model.yaml"]
    ).datasets


def test_names_and_flavors_find_their_configs(tmp_path: Path) -> None:
    write(
        tmp_path,
        benchmarks__aime24__config="a: 1",
        benchmarks__tau2__configs__tau2="a: 1",
        benchmarks__live__v5__config="a: 1",
        resources_servers__math__configs__math="a: 1",
        resources_servers__math__configs__strict="a: 1",
        environments__maze__config="a: 1",
        responses_api_models__m__configs__m="a: 1",
    )
    roots = [tmp_path]
    assert config_path("benchmark", "aime24", roots) == "benchmarks/aime24/config.yaml"
    assert config_path("benchmark", "tau2/configs/tau2", roots) == "benchmarks/tau2/configs/tau2.yaml"
    assert config_path("benchmark", "live/v5/config", roots) == "benchmarks/live/v5/config.yaml"
    assert config_path("resources_server", "math/strict", roots) == "resources_servers/math/configs/strict.yaml"
    assert config_path("environment", "maze", roots) == "environments/maze/config.yaml"
    assert config_path("environment", "math", roots) == "resources_servers/math/configs/math.yaml"
    wanted = {"benchmark": "aime24", "environment": None, "model_type": "m"}
    assert selected(wanted, roots) == ["benchmarks/aime24/config.yaml", "responses_api_models/m/configs/m.yaml"]
    with pytest.raises(RequestError) as caught:
        config_path("benchmark", "aime42", roots)
    assert (caught.value.message, caught.value.hint) == ("no benchmark is called aime42", "did you mean aime24?")


# Showing


def test_secrets_are_masked_by_key_and_wherever_they_are_repeated() -> None:
    tree = {
        "policy_api_key": "sk-abcdef",
        "hf_token": 1234567,
        "openaiApiKey": "short",
        "headers": {"x": "Bearer sk-abcdef"},
        "url": "https://user:word@host/v1",
        "api_keys": ["one-key", "two-key"],
        "open": {"password": "???", "secret": "${policy_api_key}", "token": None},
        "max_output_tokens": 512,
        "tokenizer": "gpt2",
        "answer_key": "B",
        "key": "not one",
    }
    assert masked(tree) == {
        "policy_api_key": "****",
        "hf_token": "****",
        "openaiApiKey": "****",
        "headers": {"x": "Bearer ****"},
        "url": "https://****@host/v1",
        "api_keys": ["****", "****"],
        "open": {"password": "???", "secret": "${policy_api_key}", "token": None},
        "max_output_tokens": 512,
        "tokenizer": "gpt2",
        "answer_key": "B",
        "key": "not one",
    }


ASCII = st.text(st.characters(min_codepoint=32, max_codepoint=126), min_size=1, max_size=5)
TREES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), ASCII),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(ASCII, inner, max_size=3)),
    max_leaves=10,
)


@given(under=st.dictionaries(st.text(max_size=2), TREES), over=st.dictionaries(st.text(max_size=2), TREES))
def test_what_lies_on_top_is_always_there(under: dict[str, Any], over: dict[str, Any]) -> None:
    found = merged(under, over)
    assert list(found) == list(dict.fromkeys([*under, *over]))
    assert merged(found, over) == found
    assert merged({}, over) == over


@given(tree=st.dictionaries(ASCII, TREES))
def test_what_is_printed_reads_back_the_same(tree: dict[str, Any]) -> None:
    assert (parse(dump(tree)) or {}) == tree


@given(words=st.lists(st.text(max_size=12), max_size=4))
def test_no_word_of_the_command_line_breaks_it(words: list[str]) -> None:
    examine([], words, [Path("/nowhere")])


def test_data_stands_with_the_script_that_makes_it(tmp_path: Path) -> None:
    mine, theirs = write(tmp_path / "mine", a="x: 1"), write(tmp_path / "theirs", a="x: 1", data="x: 1")
    assert place("data.yaml", [mine, theirs], beside="a.yaml") == mine / "data.yaml"
    assert place("data.yaml", [mine, theirs], beside="b.yaml") == theirs / "data.yaml"
    assert place("new.yaml", [mine, theirs], beside="b.yaml") == mine / "new.yaml"
    write(tmp_path / "mine", data="x: 1")
    assert place("data.yaml", [mine, theirs], beside="a.yaml") == mine / "data.yaml"


def test_values_follow_the_rules_of_omegaconf(tmp_path: Path) -> None:
    """What NeMo Gym does with the same file."""
    write(
        tmp_path,
        inner="a: set\nb: {x: 1}\nkey: ${oc.env:BLADE_NOT_SET,null}",
        outer="config_paths: [inner.yaml]\na: ???\nb: {y: 2}\nnothing: null\ntext: '${nothing} ${oc.decode:\"[1, 2]\"}'",
    )
    words = ("++b={z: 3}",)
    assert config(tmp_path, "outer", overrides=words) == {
        "a": "set",
        "b": {"x": 1, "y": 2, "z": 3},
        "key": None,
        "nothing": None,
        "text": "None [1, 2]",
    }


def test_references_that_nobody_can_read_or_follow_are_problems(tmp_path: Path) -> None:
    write(
        tmp_path,
        one="a: '${'\nb: {c: '${d}'}\nd: {e: '${b}'}\nf: '${made_up:1}'\ng: [1, '${x y}']\nh: '${.nope}'\ni: '${h}'\nj: ${g.z}",
    )
    assert problems(tmp_path, "one") == [
        "one.yaml:1: a: holds a reference that cannot be read: ${",
        "one.yaml:5: g.1: holds a reference that cannot be read: ${x y}",
        "one.yaml:2: b.c: refers to itself by way of b",
        "one.yaml:3: d.e: refers to itself by way of d",
        "one.yaml:4: f: cannot be filled in: Unsupported interpolation type made_up",
        "one.yaml:6: h: needs nope, which nothing defines",
        "one.yaml:8: j: cannot be filled in: TypeError raised while resolving interpolation: Index 'z' (str) is not an int",
    ]
    words = ("++a.b=${", "++l=[1]", "++l.x=2", "++l.5=3", "++l={a: 1}")
    assert problems(tmp_path, overrides=words) == [
        "a.b: cannot be set to ${: no viable alternative at input '${'",
        "l.x: cannot be set to 2: invalid literal for int() with base 10: 'x'",
        "l.5: cannot be set to 3: list index out of range",
        "l: cannot be set to {a: 1}: Cannot merge incompatible container types",
    ]


def test_a_file_that_is_too_deep_is_a_problem(tmp_path: Path) -> None:
    write(tmp_path, one="a: " + "[" * 60 + "]" * 60)
    assert problems(tmp_path, "one") == ["one.yaml: more than 40 values inside of one another"]


def test_without_omegaconf_the_command_that_installs_it_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, one="a: 1")
    monkeypatch.setitem(sys.modules, "omegaconf", None)
    error = refused(tmp_path, "one")
    assert (error.message, error.hint) == (
        "resolving a config needs omegaconf, which is not installed",
        "pip install 'blade-bench[gym]'",
    )
