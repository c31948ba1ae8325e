"""A package is looked at, nothing is told, and a copy is clean."""

import gzip
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

import planted
from blade.model.errors import ArtifactError, RequestError
from blade.package.sanitize import SanitizeReport, as_json, report_lines, sanitize, sanitize_checks

MAIL = "maria.lopez" + "@acme.io"


def _plain(text: str) -> str:
    return text.replace("«", "").replace("»", "")


TEXTS = {**planted.provider_keys(), **{rule: _plain(text) for rule, text in planted.others().items()}}


def _write(folder: Path, files: dict[str, str | bytes]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
    return folder


def _rows(*rows: object) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def _rules(found: SanitizeReport) -> dict[str, int]:
    return {count.rule: count.count for count in found.counts}


def _blade(*parts: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from blade.cli.main import main; main()", "package", "sanitize", *parts]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


def _clear(folder: Path) -> Path:
    return _write(folder, {"rollouts/CLEARANCE.md": "cleared: yes\nlicence: CC-BY-4.0\n"})


def test_places_are_files_and_lines_and_values_are_nowhere(tmp_path: Path) -> None:
    _write(tmp_path, {"rollouts/a.jsonl": _rows({"a": 1}, {"t": f"ask {MAIL} or {MAIL}"}), "notes.md": f"\n\n{MAIL}\n"})
    ran = _blade(str(tmp_path))
    assert ran.returncode == 1
    assert "people: email: 3 e-mail addresses, 1 different, in 1 domain" in ran.stdout
    assert "  notes.md:3\n  rollouts/a.jsonl:2 (2)" in ran.stdout
    assert "CLEARANCE.md is not there" in ran.stdout
    assert "acme" not in ran.stdout + ran.stderr


def test_json_has_the_same_counts(tmp_path: Path) -> None:
    _clear(_write(tmp_path, {"rollouts/a.jsonl": _rows({"t": MAIL})}))
    ran = _blade("--benchmark-dir", str(tmp_path), "--json")
    (rule,) = json.loads(ran.stdout)["rules"]
    assert ran.returncode == 1
    assert rule["files"] == [{"file": "rollouts/a.jsonl", "count": 1, "lines": [1]}]
    assert (rule["rule"], rule["count"], rule["domains"]) == ("email", 1, 1)


def test_a_clean_package_exits_zero(tmp_path: Path) -> None:
    _clear(_write(tmp_path, {"rollouts/a.jsonl": _rows({"t": "b@example.com"}), "SKILL.md": "# Skill\n"}))
    ran = _blade(str(tmp_path))
    assert (ran.returncode, ran.stdout.splitlines()[-1]) == (0, "nothing found")


@pytest.mark.parametrize("name", ["a.jsonl", "a.md", "a.yaml", "a.json", "a.py"])
def test_a_copy_is_clean_and_copying_it_changes_nothing(tmp_path: Path, name: str) -> None:
    lines = [json.dumps({"k": text, "inner": json.dumps({"x": text})}) for text in TEXTS.values()]
    if name.endswith(("md", "py")):
        lines = list(TEXTS.values())
    if name.endswith("yaml"):
        lines = [f"- note {text}" for text in TEXTS.values()]
    _write(tmp_path, {f"in/{name}": "\n".join(lines) + "\n"})
    assert set(_rules(sanitize(tmp_path / "in", output=tmp_path / "out"))) >= set(TEXTS)
    again = sanitize(tmp_path / "out", output=tmp_path / "twice")
    assert again.found == 0
    assert (tmp_path / "out" / name).read_bytes() == (tmp_path / "twice" / name).read_bytes()


def test_rows_keep_their_keys_their_order_and_everything_else(tmp_path: Path) -> None:
    row = {"z": 1.50, "a": {MAIL: [1], "b" + MAIL: 2}, "note": f'é\t{MAIL}\n"{MAIL}"', "n": None, "big": 10**30}
    _write(tmp_path, {"in/r.jsonl": json.dumps(row) + "\n\n" + '{"x":  1e5 }\n'})
    sanitize(tmp_path / "in", output=tmp_path / "out")
    first, blank, last = (tmp_path / "out/r.jsonl").read_text().split("\n")[:3]
    assert json.loads(first) == {
        "z": 1.5,
        "a": {"[redacted: email]": [1], "[redacted: email 2]": 2},
        "note": 'é\t[redacted: email]\n"[redacted: email]"',
        "n": None,
        "big": 10**30,
    }
    assert list(json.loads(first)) == list(row)
    assert (blank, last) == ("", '{"x":  1e5 }')


def test_private_source_goes_as_a_whole(tmp_path: Path) -> None:
    mark = "ACME " + "Proprietary and " + "Confidential"
    _write(
        tmp_path,
        {
            "in/r.jsonl": _rows({"file": f"# {mark}\ndef secret_sauce(): ...", "other": "stays"}),
            "in/verifier.py": f"# {mark}\ndef secret_sauce(): ...\n",
            "in/report.md": f"# Report\n\nThe header says {mark}.\n\nMore.\n",
        },
    )
    assert _rules(sanitize(tmp_path / "in", output=tmp_path / "out")) == {"private-source": 3}
    assert json.loads((tmp_path / "out/r.jsonl").read_text()) == {
        "file": "[redacted: private-source]",
        "other": "stays",
    }
    assert (tmp_path / "out/verifier.py").read_text() == "[redacted: private-source]\n"
    assert (tmp_path / "out/report.md").read_text() == "# Report\n\n[redacted: private-source]\n\nMore.\n"


def test_reserved_rights_under_a_public_licence_are_fine(tmp_path: Path) -> None:
    header = "# Copyright ACME. " + "All rights " + "reserved.\n"
    _write(tmp_path, {"a.py": header + "# Licensed under the Apache License\n", "b.py": header})
    (count,) = sanitize(tmp_path).counts
    assert [one.first for one in count.files] == ["b.py:1"]


def test_a_key_over_several_lines_is_one_finding_and_goes_entirely(tmp_path: Path) -> None:
    _write(tmp_path, {"in/notes.md": f"before\n{planted.pem()}\nafter\n"})
    assert _rules(sanitize(tmp_path / "in", output=tmp_path / "out")) == {"private-key": 1}
    lines = (tmp_path / "out/notes.md").read_text().splitlines()
    assert lines == ["before", *["[redacted: private-key]"] * 6, "after"]


def test_yaml_stays_yaml(tmp_path: Path) -> None:
    _write(tmp_path, {"in/blade.yaml": f"owner: {MAIL}\nlist:\n  - see {MAIL}\n  - 'as {MAIL}'\n"})
    sanitize(tmp_path / "in", output=tmp_path / "out")
    text = "[redacted: email]"
    assert yaml.safe_load((tmp_path / "out/blade.yaml").read_text()) == {
        "owner": text,
        "list": [f"see {text}", f"as {text}"],
    }


@pytest.mark.parametrize("ending", [".gz", ".zst"])
def test_compressed_rows_are_read_and_written(tmp_path: Path, ending: str) -> None:
    data = _rows({"t": MAIL}).encode()
    packed = gzip.compress(data) if ending == ".gz" else zstandard.compress(data)
    _write(tmp_path, {f"in/rollouts/a.jsonl{ending}": packed})
    assert _rules(sanitize(tmp_path / "in", output=tmp_path / "out")) == {"email": 1}
    copy = (tmp_path / f"out/rollouts/a.jsonl{ending}").read_bytes()
    rest = gzip.decompress(copy) if ending == ".gz" else zstandard.ZstdDecompressor().decompressobj().decompress(copy)
    assert rest == b'{"t": "[redacted: email]"}\n'


def test_names_of_the_deny_list_are_found_in_every_form_and_in_file_names(tmp_path: Path) -> None:
    _write(
        tmp_path,
        {
            "in/sanitize.deny": "# unreleased\nZebra Bench\npath: drafts/*\n",
            "in/a.md": "zebra-bench, ZEBRA_BENCH, zebrabench; zebra benches are fine\n",
            "in/zebra_bench_report.md": "ok\n",
            "in/drafts/x.md": "ok\n",
            "more": "Okapi\n",
            "in/b.md": "the okapi\n",
        },
    )
    ran = _blade(str(tmp_path / "in"), "--deny", str(tmp_path / "more"), "--output", str(tmp_path / "out"))
    assert ran.returncode == 1
    assert "names: denied-name: 5 names" in ran.stdout
    assert "source: private-file: 1" in ran.stdout
    assert "zebra" not in ran.stdout.lower()
    assert "okapi" not in ran.stdout.lower()
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "a.md",
        "b.md",
        "redacted_denied-name_report.md",
    ]
    assert sanitize(tmp_path / "out", deny=[tmp_path / "more"]).found == 0


def test_the_allow_list_takes_domains_hashes_patterns_and_paths(tmp_path: Path) -> None:
    import hashlib

    digest = hashlib.sha256(b"10.31.4.17").hexdigest()
    allow = (
        "# deliberate\n"
        "email domain:acme.io -- the company of the story\n"
        f"ip-address sha256:{digest} -- a host of the story\n"
        "home-path re:ml.* -- a person of the story\n"
        "password path:fixtures/* -- invented logins\n"
    )
    texts = f"{MAIL} a@mail.acme.io 10.31.4.17 {planted.HOME}/mlopez/x\n"
    login = '"pass' + 'word": "hunter2"\n'
    _write(tmp_path, {"sanitize.allow": allow, "a.md": texts, "fixtures/b.md": login, "c.md": f"10.31.4.18 {login}"})
    found = sanitize(tmp_path)
    assert _rules(found) == {"password": 1, "ip-address": 1}
    assert found.allowed == 5


@pytest.mark.parametrize(
    "line",
    ["email domain:acme.io", "email acme.io -- why", "email re:( -- why", "* re:.* -- all", "email sha256:12 -- short"],
)
def test_a_line_of_the_allow_list_that_cannot_be_used_is_listed(tmp_path: Path, line: str) -> None:
    _write(tmp_path, {"sanitize.allow": f"\n{line}\n", "a.md": MAIL})
    found = sanitize(tmp_path)
    assert _rules(found) == {"email": 1, "list-line": 1}
    assert found.counts[-1].files[0].first == "sanitize.allow:2"


@pytest.mark.parametrize(
    ("text", "passed"),
    [
        ("cleared: yes\nlicence: CC-BY-4.0\n", True),
        ("# Clearance\n\n- **Cleared:** yes\n- **License:** Apache-2.0\n", True),
        ("cleared: yes, under the MIT licence\n", True),
        ("cleared: yes\n", False),
        ("cleared: yes\nlicence: TODO\n", False),
        ("cleared: no\nlicence: MIT\n", False),
        ("cleared: yes\ncleared: no\nlicence: MIT\n", False),
        ("not cleared: yes\nlicence: MIT\n", False),
        ("licence: MIT\n", False),
        ("", False),
    ],
)
def test_a_clearance_says_yes_and_by_which_licence(tmp_path: Path, text: str, passed: bool) -> None:
    _write(tmp_path, {"rollouts/a.jsonl": "{}\n", "rollouts/CLEARANCE.md": text})
    check = sanitize(tmp_path).clearance
    assert check.passed is passed
    assert bool(check.fix) is not passed


def test_the_checks_of_a_package(tmp_path: Path) -> None:
    _clear(_write(tmp_path, {"rollouts/a.jsonl": _rows({"t": MAIL, "k": planted.provider_keys()["openai-key"]})}))
    checks = {check.code: check for check in sanitize_checks(sanitize(tmp_path))}
    assert list(checks) == [
        f"S.{name}" for name in ("secrets", "endpoints", "paths", "people", "source", "names", "clearance")
    ]
    assert {code for code, check in checks.items() if check.passed is False} == {"S.secrets", "S.people"}
    assert checks["S.secrets"].found == "openai-key: 1 openai keys, first rollouts/a.jsonl:1"
    assert checks["S.people"].found == "email: 1 e-mail addresses in 1 domain, first rollouts/a.jsonl:1"
    assert checks["S.paths"].found == "none in 2 files, 3 lines"


def test_what_cannot_be_looked_into_is_a_finding_and_not_in_the_copy(tmp_path: Path) -> None:
    torn = gzip.compress(_rows(*({"t": str(n)} for n in range(5000))).encode())[:-200]
    _write(tmp_path, {"in/a.parquet": b"PAR1\0\0", "in/.env": "A=1\n", "in/b.jsonl.gz": torn, "in/c.png": b"\x89PNG\0"})
    (tmp_path / "secret.txt").write_text(MAIL)
    (tmp_path / "in/link.txt").symlink_to(tmp_path / "secret.txt")
    (tmp_path / "in/folder").symlink_to(tmp_path)
    os.mkfifo(tmp_path / "in/pipe")
    found = sanitize(tmp_path / "in", output=tmp_path / "out")
    assert _rules(found) == {"private-file": 1, "opaque-file": 5}
    assert found.unseen == ("c.png",)
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["c.png"]


def test_folders_of_history_and_caches_are_said_to_be_skipped_and_not_copied(tmp_path: Path) -> None:
    _write(tmp_path, {"in/.git/config": MAIL, "in/a/__pycache__/x.pyc": b"\0", "in/a/b.md": "fine\n"})
    found = sanitize(tmp_path / "in", output=tmp_path / "out")
    assert (found.found, found.unseen) == (0, (".git/", "a/__pycache__/"))
    assert [path.name for path in (tmp_path / "out").rglob("*")] == ["a", "b.md"]


def test_an_escape_after_a_folder_of_users_is_not_cut(tmp_path: Path) -> None:
    row = {"a": "C:\\Users\nnext", "b": "C:\\Users\\John Smith\\x"}
    _write(tmp_path, {"in/r.jsonl": _rows(row)})
    assert _rules(sanitize(tmp_path / "in", output=tmp_path / "out")) == {"home-path": 1}
    assert json.loads((tmp_path / "out/r.jsonl").read_text()) == {
        "a": row["a"],
        "b": "C:\\Users\\[redacted: home-path]\\x",
    }


def test_many_findings_in_one_row_take_no_longer_each(tmp_path: Path) -> None:
    mark = "for internal " + "use only"
    row = {"keys": {f"m{n}" + MAIL: n for n in range(20_000)}, "texts": [mark] * 20_000}
    _write(tmp_path, {"in/r.jsonl": _rows(row)})
    found = sanitize(tmp_path / "in", output=tmp_path / "out")
    assert _rules(found) == {"email": 20_000, "private-source": 20_000}
    assert len(json.loads((tmp_path / "out/r.jsonl").read_text())["keys"]) == 20_000


def test_one_file_may_be_given(tmp_path: Path) -> None:
    _write(tmp_path, {"a.md": MAIL, "b.md": MAIL})
    found = sanitize(tmp_path / "a.md", output=tmp_path / "out")
    assert (found.files, _rules(found), found.clearance.passed) == (1, {"email": 1}, None)
    assert (tmp_path / "out/a.md").read_text() == "[redacted: email]"


def test_requests_that_cannot_be_served(tmp_path: Path) -> None:
    _write(tmp_path, {"in/a.md": "a", "full/b.md": "b"})
    with pytest.raises(ArtifactError):
        sanitize(tmp_path / "nothing")
    with pytest.raises(ArtifactError):
        sanitize(tmp_path / "in", deny=[tmp_path / "nothing"])
    for output in ("in", "in/out", ".", "full", "full/b.md"):
        with pytest.raises(RequestError):
            sanitize(tmp_path / "in", output=tmp_path / output)
    assert _blade().returncode == 2


_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
_PLANTED = st.sampled_from(sorted(TEXTS))


@settings(deadline=None)
@given(st.lists(st.tuples(_TEXT, _PLANTED, _TEXT), min_size=1, max_size=4), st.integers(0, 2))
def test_a_copy_of_any_row_is_clean_json_of_the_same_shape(
    tmp_path_factory: pytest.TempPathFactory, parts: list[tuple[str, str, str]], depth: int
) -> None:
    folder = tmp_path_factory.mktemp("row")
    text = " ".join(f"{before} {TEXTS[rule]} {after}" for before, rule, after in parts)
    row: dict[str, Any] = {"id": 7, "text": text, "list": [text, 1.5, None], "keys": {text: 1, text + "x": 2}}
    for _ in range(depth):
        row = {"arguments": json.dumps(row), "end": True}
    _write(folder, {"in/r.jsonl": _rows(row)})
    found = sanitize(folder / "in", output=folder / "out")
    said = "\n".join(report_lines(found)) + json.dumps(as_json(found))
    copy = json.loads((folder / "out/r.jsonl").read_text())
    assert sanitize(folder / "out").found == 0
    assert _shape(copy) == _shape(row)
    for _, rule, _ in parts:
        secret = planted.provider_keys().get(rule) or re.split("[«»]", planted.others()[rule])[1]
        assert secret not in said
        assert secret not in (folder / "out/r.jsonl").read_text()


def _shape(value: Any) -> Any:
    if isinstance(value, dict):
        return [(key if key.isalpha() and key.isascii() else "?", _shape(inner)) for key, inner in value.items()]
    return [_shape(inner) for inner in value] if isinstance(value, list) else type(value)


@settings(deadline=None)
@given(st.binary(max_size=400))
def test_any_bytes_are_looked_at_and_the_copy_is_clean(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    folder = tmp_path_factory.mktemp("bytes")
    mail = MAIL.encode()
    _write(folder, {"in/a.jsonl": data + b'\n{"' + mail + b"\\" + data, "in/b.md": data + mail + data})
    sanitize(folder / "in", output=folder / "out")
    assert sanitize(folder / "out").found == 0


def test_two_processes_say_the_same(tmp_path: Path) -> None:
    _write(tmp_path, {f"in/{n}.jsonl": _rows(*({"t": text} for text in TEXTS.values())) for n in range(3)})
    said = set()
    for seed in ("1", "2"):
        command = [
            sys.executable,
            "-c",
            "from blade.cli.main import main; main()",
            "package",
            "sanitize",
            str(tmp_path / "in"),
            "--json",
        ]
        ran = subprocess.run(
            command, capture_output=True, text=True, check=False, env={**os.environ, "PYTHONHASHSEED": seed}
        )
        said.add(ran.stdout)
    assert len(said) == 1


def test_a_long_line_of_almost_matches_is_looked_at_in_linear_time(tmp_path: Path) -> None:
    parts = (
        "a@" * 200_000,
        "http://" * 60_000,
        "password:" * 50_000,
        "-----BEGIN " * 40_000,
        "1.1.1." * 80_000,
        '\\"' * 200_000,
    )
    _write(tmp_path, {"a.jsonl": "\n".join(json.dumps(part) for part in parts)})
    assert sanitize(tmp_path).lines == len(parts)
