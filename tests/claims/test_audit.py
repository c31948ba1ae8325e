"""`blade audit`: our own reports hold, a foreign one is checked by its words, and what is changed is caught."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache
from pathlib import Path

import jsonschema
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import blade
from blade.claims.audit import audit_analysis
from blade.claims.audit import audit_report as audit
from blade.claims.text import AuditDocument, audit_text, document
from blade.claims.values import Audit, Claim, ClaimVerdict
from blade.files import json_line
from blade.model.analysis import Analysis
from blade.report.sections import report
from builders import rollout, said, write_jsonl

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
FOREIGN = Path(__file__).with_name("foreign.md")


@cache
def analysis(name: str) -> Analysis:
    return blade.analyze(EXAMPLES / name)


def desk(text: str) -> Audit:
    return audit("r.md", text, analysis("desk_assistant"))


def only(text: str, token: str) -> Claim:
    found = [claim for claim in desk(text).claims if claim.token == token]
    assert len(found) == 1, [claim.token for claim in desk(text).claims]
    return found[0]


@pytest.mark.parametrize("name", ["arithmetic", "desk_assistant"])
def test_every_number_of_our_own_report_is_checked_and_holds(name: str) -> None:
    found = audit_analysis("report.md", report(analysis(name)), analysis(name))
    assert found.written_by_blade
    assert found.false == ()
    assert found.share() == 1
    assert found.count(ClaimVerdict.TRUE, kind="number") > 150


@pytest.mark.parametrize("name", ["arithmetic", "desk_assistant"])
def test_read_as_a_foreign_report_ours_raises_no_alarm(name: str) -> None:
    found = audit("report.md", report(analysis(name)), analysis(name))
    assert not found.written_by_blade
    assert found.false == ()
    assert found.count(ClaimVerdict.TRUE) > 60


@pytest.mark.parametrize(
    ("tasks", "verdict"), [("24", ClaimVerdict.TRUE), ("23", ClaimVerdict.FALSE), ("25", ClaimVerdict.FALSE)]
)
def test_over_so_many_tasks_is_no_more_than_that(tasks: str, verdict: ClaimVerdict) -> None:
    said = f"For Sparrow-8B 55 of 95 judged rollouts passed, over {tasks} tasks with 4 repeats each."
    assert only(said, tasks).verdict is verdict


def test_a_foreign_report_is_checked_by_its_words() -> None:
    found = desk(FOREIGN.read_text("utf-8"))
    assert found.false == ()
    assert (found.share("number") or 0) >= 0.6
    assert found.count(ClaimVerdict.TRUE, kind="quote") == 6
    assert found.count(ClaimVerdict.REDACTED) == 1


def test_without_runs_a_report_is_held_against_itself() -> None:
    text = FOREIGN.read_text("utf-8")
    assert audit("r.md", text, Analysis(runs=())).false == ()
    wrong = audit(
        "r.md", text.replace("40 of 95 judged rollouts (42.1%)", "40 of 95 judged rollouts (43.1%)"), Analysis(runs=())
    )
    assert [(claim.token, claim.found) for claim in wrong.false] == [("43.1", "42.11%")]


@pytest.mark.parametrize(
    ("text", "token", "right"),
    [
        ("heron-70b passes 67 of 96 rollouts.", "67", "68"),
        ("For sparrow-8b the pass@1 is 0.680.", "0.680", "0.5799 or 0.5729 or 0.5789"),
        ("sparrow-8b has 13 always-pass tasks.", "13", "6"),
        ("heron-70b: calendar-4 passes 3 of 4.", "3", "2"),
        ("For sparrow-8b 3 of 4 rollouts of task tickets-5 failed.", "3", "4"),
        ("1 of 3 failing repeats of tickets-5 of sparrow-8b says so.", "3", "4"),
        ("sparrow-8b leaves out a call in calendar-99.", "calendar-99", "no such task"),
        ("Never-pass tasks of heron-70b: mail-6 and calendar-1.", "calendar-1", "always pass"),
        ("sparrow-8b outperforms heron-70b.", "outperforms", "0.580 against 0.708"),
        ("In heron-70b, failing calendar-4#2 goes wrong.", "failing", "passed"),
        ("heron-70b ends in calendar-4#0:6.9 and calendar-4#0:99.", "calendar-4#0:99", "steps 0 to 7"),
        ('heron-70b says in calendar-4#0:7 "I moved nothing at all today."', '"I moved nothing at all today."', "no such words"),
        ('heron-70b says in calendar-4#0:5 "The Design review has been moved."', '"The Design review has been moved."', "heron-70b, calendar-4#0:7"),
    ],
)  # fmt: skip
def test_what_is_false_comes_with_what_is_right(text: str, token: str, right: str) -> None:
    claim = only(text, token)
    assert claim.verdict is ClaimVerdict.FALSE
    assert claim.found == right
    assert claim.source


@pytest.mark.parametrize(
    ("text", "token"),
    [
        ("heron-70b passes 3 of 9 rollouts where the room was taken.", "3"),
        ("There heron-70b passes 55 of 76.", "55"),
        ("calendar-4 passes 2 of 4.", "2"),
        ("sparrow-8b: 1 of 4 failing repeats of tickets-5 says so.", "1"),
        ("heron-70b would gain about 12 points.", "12"),
        ('Somebody said "we should stop here and now".', '"we should stop here and now"'),
        ("heron-70b has trouble with mail-6.", "mail-6"),
    ],
)
def test_what_is_not_known_beyond_doubt_is_not_called_false(text: str, token: str) -> None:
    claim = only(text, token)
    assert claim.verdict is ClaimVerdict.NOT_CHECKABLE
    assert claim.why


def test_a_total_that_its_rows_do_not_give_is_false() -> None:
    table = "| label | rollouts |\n|---|---|\n| slips | 7 |\n| stalls | 5 |\n| Total | 13 |\n"
    assert [(claim.token, claim.found) for claim in desk(table).false] == [("13", "12")]


def test_a_redacted_claim_is_not_false() -> None:
    text = report(analysis("desk_assistant")).replace("cem.yilmaz@larch.example", "[redacted: EMAIL]", 1)
    found = audit_analysis("report.md", text, analysis("desk_assistant"))
    assert found.count(ClaimVerdict.REDACTED) == 1
    assert found.false == ()


def test_json_gives_false_claims_first() -> None:
    text = "heron-70b passes 68 of 96 rollouts. sparrow-8b passes 56 of 95 rollouts."
    made = json.loads(json_line(document(desk(text))))
    jsonschema.validate(made, msgspec.json.schema(AuditDocument))
    assert json.loads(json_line(msgspec.convert(made, AuditDocument))) == made
    assert [claim["verdict"] for claim in made["claims"]] == ["false", "true", "true", "true"]
    assert {"text", "location", "verdict", "found", "source"} <= made["claims"][0].keys()
    assert made["claims"][0]["location"].startswith("r.md:1:")


def test_the_share_that_was_checkable_is_always_stated() -> None:
    for text in ("", "Nothing here.", "heron-70b passes 68 of 96 rollouts."):
        assert audit_text(desk(text))[-1].startswith("Checkable: ")


HOSTILE = st.text(
    alphabet='|-#*`"\\<>[]()&;:._%/0123456789 \n\r\tabheron-70bmail-6é\u201c\u201d\u2028\x00', max_size=300
)


@settings(max_examples=80)
@given(HOSTILE)
def test_hostile_markdown_never_crashes(text: str) -> None:
    found = desk(text)
    assert len(document(found).claims) == len(found.claims)
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    assert all(1 <= claim.line <= len(lines) for claim in found.claims)


def blade_audit(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from blade.cli.main import main; main()", "audit", *words]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=120)


def test_the_command_takes_a_folder_or_a_report_with_runs(tmp_path: Path) -> None:
    arguments = [sys.executable, "-c", "from blade.cli.main import main; main()", "analyze"]
    made = [*arguments, "examples/arithmetic", "-o", str(tmp_path / "out")]
    subprocess.run(made, cwd=ROOT, capture_output=True, check=True, timeout=120)
    folder = blade_audit(str(tmp_path / "out"))
    assert folder.returncode == 0, folder.stdout + folder.stderr
    wrong = tmp_path / "wrong.md"
    wrong.write_text((tmp_path / "out" / "report.md").read_text("utf-8").replace("26 of 40", "27 of 40", 1), "utf-8")
    caught = blade_audit(str(wrong), "--json", "--runs", "examples/arithmetic")
    assert caught.returncode == 1
    first = json.loads(caught.stdout)["claims"][0]
    assert (first["verdict"], first["found"]) == ("false", "26")
    assert blade_audit(str(tmp_path / "none.md")).returncode == 2


@pytest.mark.parametrize("separator", ["\u2028", "\u0085", "\u001c"])
def test_an_id_that_holds_a_line_separator_breaks_no_audit(tmp_path: Path, separator: str) -> None:
    rows = [
        rollout(
            f"book{separator}{task}",
            index=task,
            repeat=repeat,
            passed=(task + repeat) % 3 == 0,
            prompt=f"question {task}",
            output=[said(f"first{separator}second {task} {repeat}")],
        )
        for task in range(6)
        for repeat in range(3)
    ]
    path = write_jsonl(tmp_path / "rollouts.jsonl", rows)
    command = [sys.executable, "-c", "from blade.cli.main import main; main()", "analyze", str(path), "-o"]
    subprocess.run([*command, str(tmp_path / "out")], cwd=ROOT, capture_output=True, check=True, timeout=120)
    for words in ([str(tmp_path / "out")], [str(tmp_path / "out" / "report.md"), "--runs", str(path)]):
        done = blade_audit(*words, "--json")
        assert done.returncode == 0, done.stdout + done.stderr
        answer = json.loads(done.stdout)
        assert answer["written_by_blade"]
        assert answer["counts"]["false"] == 0
