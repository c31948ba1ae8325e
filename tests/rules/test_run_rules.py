"""Rules over whole runs: for each of them rows on which it must fire, with its quotes, and rows on which it must not."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

import pytest

import blade
from blade.model.diagnosis import Doubt
from blade.rules.catalog import run_rules
from blade.rules.declaration import Rule
from builders import Row, call, response, result, rollout, said, write_jsonl
from evidence import stands_in

HEADINGS = ("Why it matters", "What to do", "Limits")
FAMILIES = {"task": "TSK", "data": "DAT", "infra": "INF", "behavior": "BEH"}
ABOUT = ("key", "verifier", "tool", "user", "limit", "task", "agent")


class Fires(NamedTuple):
    """Rows on which a rule must fire: the tasks that it names, what it is about, and quotes that it must give."""

    code: str
    case: str
    rows: list[Row]
    tasks: tuple[str, ...]
    about: str
    quotes: tuple[str, ...] = ()


class Quiet(NamedTuple):
    """Rows on which a rule must not fire; `alone` where the rest of the run would change what the rule sees."""

    code: str
    case: str
    rows: list[Row]
    alone: bool = False


def doubts(folder: Path, rows: list[Row], code: str, **wishes: Any) -> list[Doubt]:
    """The doubts that a rule has about some rows, through the public door."""
    analysis = blade.analyze(write_jsonl(folder / "run.jsonl", rows), **wishes)
    diagnoses = [run.diagnosis for run in analysis.runs if run.diagnosis is not None]
    found = [doubt for one in diagnoses for doubt in (*one.doubts, *one.across)]
    assert {doubt.about for doubt in found} <= set(ABOUT)
    return [doubt for doubt in found if doubt.code == code]


def want(tool: str, **arguments: object) -> Row:
    return {"name": tool, "kwargs": arguments}


def share(answer: str, key: str, question: str = "By which percentage is it larger?", *, passed: bool = False) -> Row:
    return rollout("t", passed=passed, prompt=question, output=answer, extracted_answer=answer, expected_answer=key)


def acted(*steps: tuple[str, Row, str]) -> list[Row]:
    """Calls with their results, and a closing word."""
    items: list[Row] = []
    for place, (tool, arguments, text) in enumerate(steps):
        items += [call(tool, json.dumps(arguments), f"c{place}"), result(text, f"c{place}")]
    return [*items, said("I have taken care of it.")]


def repeats(*rows: Row) -> list[Row]:
    return [row | {"_ng_rollout_index": place} for place, row in enumerate(rows)]


def asked(task: str, prompt: str, **more: Any) -> Row:
    """A rollout whose prompt is a list of messages, as most harnesses write it."""
    given = {"input": [{"role": "user", "content": prompt}]}
    return rollout(task, **({"responses_create_params": given} | more))


def six(*rows: Row) -> list[Row]:
    """The rows beside six passing tasks that share nothing."""
    others = [asked(f"other{n}", f"How many are {n} and one?", passed=True, output=f"{n + 1}") for n in range(6)]
    return [*rows, *others]


# hidden-key-value, idle-tool: agents with tools

RECORD = '{"reservation_id": "A1B2C3", "dob": "1981-05-26"}'

SEVERAL = '{"passengers": [{"dob": "1981-05-26"}, {"dob": "1990-01-02"}]}'


def booked(dob: str, *, record: str = RECORD, **more: Any) -> Row:
    """A rollout that looks a record up and books with a date of birth; the key wants another."""
    items = acted(
        ("get_reservation_details", {"reservation_id": "A1B2C3"}, record),
        ("update_reservation", {"reservation_id": "A1B2C3", "dob": dob}, "ok"),
    )
    key = [want("update_reservation", reservation_id="A1B2C3", dob="1985-04-04")]
    return rollout("t", **({"output": items, "expected_actions": key} | more))


def cabin(before: str, asks: str, after: str) -> list[Row]:
    """A record, a call that asks for another cabin, and what it returns."""
    shown = {"reservation_id": "A1B2C3", "cabin": before}
    return acted(
        ("get_reservation_details", {"reservation_id": "A1B2C3"}, json.dumps(shown)),
        ("update_reservation", {"reservation_id": "A1B2C3", "cabin": asks}, json.dumps(shown | {"cabin": after})),
    )


def cabins(after: str, times: int) -> list[Row]:
    return repeats(*(rollout("t", output=cabin("business", "economy", after)) for _ in range(times)))


def spelled_out(rows: list[Row]) -> list[Row]:
    """The same, with a letter of a field's name written as its number."""
    text = json.dumps(rows).replace(json.dumps('"cabin": "b')[1:-1], json.dumps('"\\u0063abin": "b')[1:-1])
    return list(json.loads(text))


# key-against-request

BADGE = "Set the badge ticket to urgent."


def badge(value: str, prompt: str = BADGE, record: str = '{"id": "T305", "priority": "medium"}', **more: Any) -> Row:
    """A rollout that sets a priority; the key wants `high`."""
    items = acted(
        ("ticket_search", {"query": "badge"}, record),
        ("ticket_update", {"ticket_id": "T305", "field": "priority", "value": value}, '{"ok": true}'),
    )
    key = [want("ticket_update", ticket_id="T305", field="priority", value="high")]
    return asked("t", prompt, **({"output": items, "expected_actions": key} | more))


# made-up-name


def invited(address: str, prompt: str = "Invite Yara.", found: str = '{"people": []}', **more: Any) -> Row:
    """A rollout that invites somebody; the key has the address of Yara Haddad."""
    items = acted(
        ("calendar_search", {"query": "review"}, found),
        ("calendar_create_event", {"title": "Review", "participant_email": address}, '{"ok": true}'),
    )
    key = [want("calendar_create_event", title="Review", participant_email="yara.haddad@fern.example")]
    return asked("t", prompt, **({"output": items, "expected_actions": key} | more))


# user-ends-early, user-withholds, refusal-by-rule, done-without-verdict: talk with a simulated user

CANCEL = [want("cancel_reservation", reservation_id="JG7FMM")]
SCRIPT = "You are Mia Li, your user id is mia_li_3668. Cancel JG7FMM."
ASKS = said("Please give me your user ID.")
PUT_OFF = said("I don't remember it, sorry.", "user")
GO_AHEAD = said("Yes, please go ahead. ###STOP###", "user")
CANCELS = [call("cancel_reservation", '{"reservation_id": "JG7FMM"}'), result("ok")]
RULE = "Reservations cannot be cancelled when any portion of the flight was already flown by the passenger."
REFUSAL = "Unfortunately this reservation cannot be cancelled, because a portion of the flight was already flown."


def talked(*items: Row, **more: Any) -> Row:
    return rollout("t", output=list(items), expected_actions=CANCEL, **more)


def refused(words: str = REFUSAL, rule: str = RULE) -> Row:
    given = {"input": [{"role": "system", "content": f"Be kind. {rule}"}, {"role": "user", "content": "Cancel it."}]}
    return talked(said(words), responses_create_params=given)


def withheld(*items: Row) -> Row:
    key = [want("cancel_reservation", user_id="mia_li_3668", reservation_id="JG7FMM")]
    return rollout("t", output=list(items), user_instruction=SCRIPT, expected_actions=key)


def unjudged(*items: Row, record: object = None) -> list[Row]:
    """A rollout with or without the verifier's account, beside one that has it."""
    other = rollout("u", output=acted(("pay", {"n": 1}, "ok")), expected_actions=CANCEL, reward_info={"r_actions": 0.0})
    return [talked(*items, reward_info=record), other]


# the verifier's words

CRASH = (
    'Traceback (most recent call last):\n  File "/tests/test_sum.py", line 9, in test_sum\n    check({name})\n{error}'
)


def judged(task: str, words: str, *, passed: bool = False, **more: Any) -> Row:
    """A rollout about whose test the verifier wrote something."""
    shown = {"output": "def total(xs): return sum(xs)", "prompt": "Write total(xs).", "failure_reason": words}
    return rollout(task, **({"passed": passed} | shown | more))


def crashed(error: str, **more: Any) -> Row:
    return judged("t", CRASH.format(name="EXPECTED_TABLE", error=error), **more)


NO_NAME = "NameError: name 'EXPECTED_TABLE' is not defined"
NO_MODULE = "ModuleNotFoundError: No module named 'cocotb'"


def agreeing(**fields: Any) -> list[Row]:
    """Rollouts in which verdicts and reward agree."""
    return [rollout(f"good{n}", passed=True, **fields) for n in range(3)]


def checks(*verdicts: bool) -> list[Row]:
    return [{"name": f"has part {n}", "passed": verdict} for n, verdict in enumerate(verdicts)]


def printed(output: str, *, passed: bool = False) -> Row:
    return rollout("t", passed=passed, metadata={"output": output, "expected": "1 2 3\n4 "})


def walked(calls: int, *, passed: bool = False, distinct: bool = False, tool: str = "search") -> Row:
    """A rollout with so many calls, each of them alike unless they are to be told apart."""
    words = ("red", "blue", "green", "grey", "white", "black", "pink", "brown", "gold", "teal", "plum", "rust")
    asked_for = [words[n % len(words)] if distinct else f"lamp {n}" for n in range(calls)]
    return rollout("t", passed=passed, prompt="Find it.", output=acted(*((tool, {"q": q}, "none") for q in asked_for)))


def leaks(prompt: str, answer: str = "QX-7781") -> list[Row]:
    return [asked("t", prompt, expected_answer=answer)]


NOT_IN = "Traceback (most recent call last):\nAssertionError: 'Error executing command' not found in 'it failed'"


def both_fail(words: str, output: str = "Done.") -> Row:
    """A rollout whose two tests fail with the same words."""
    results = [{"name": name, "status": "failed", "message": words} for name in ("test_a", "test_b")]
    return rollout("t", output=output, test_results=results)


def named(got: str, wanted: str) -> Row:
    """What was got and what was wanted, under the names of some verifier."""
    return {wanted: "1 2\n3", got: "1 2 \n3\n"}


def unnamed(seen: str, *, passed: bool = False) -> Row:
    """Two texts under names that say nothing."""
    return rollout("t", passed=passed, extra={"a7": "1 2\n3", "b2": seen})


BANS = ("Opened bottles are never taken back by our shop.", "I am sorry: the shop never takes opened bottles back.")


def banned(words: str) -> Row:
    """The agent declines in words that are not the usual ones of a refusal."""
    rule = "- Opened bottles are never taken back by the shop, whoever asks."
    return refused(words, rule)


FIRES = [
    Fires("TSK001", "a record shows another value", [booked("1981-05-26")], ("t",), "key", ('"dob": "1981-05-26"',)),
    Fires("BEH013", "an address from nowhere", [invited("yara@fern.example")], ("t",), "agent", ("yara@fern.example",)),
    Fires("TSK019", "every repeat does as it is asked", repeats(badge("urgent"), badge("urgent")), ("t",), "key", ('"value": "urgent"',)),
    Fires("TSK002", "the old value comes back", cabins("business", 3), ("t",), "tool", ('"cabin": "economy"', '"cabin": "business"')),
    Fires("TSK002", "a field that is spelled out", spelled_out(cabins("business", 3)), ("t",), "tool", ('"cabin": "economy"', "business")),
    Fires("TSK003", "another way of writing it", [rollout("t", extracted_answer="4.0", expected_answer="4", output="So it is 4.0")], ("t",), "verifier", ("So it is 4.0",)),
    Fires("TSK003", "nothing was extracted", [rollout("t", extracted_answer=None, expected_answer="42", output="So \\boxed{42}"), rollout("u", passed=True, extracted_answer="7", expected_answer="7")], ("t",), "verifier", ("\\boxed{42}",)),
    Fires("TSK004", "a line break", [printed("1 2 3 4")], ("t",), "verifier"),
    Fires("TSK005", "yes and stop", [talked(said("Shall I?"), GO_AHEAD)], ("t",), "user", ("Yes, please go ahead. ###STOP###",)),
    Fires("TSK006", "each repeat cites the rule", repeats(refused(), refused()), ("t",), "key", ("a portion of the flight was already flown",)),
    Fires("TSK007", "an untold message", [rollout("t", prompt="Run it.", details={"test_fails": NOT_IN})], ("t",), "verifier", ("'Error executing command' not found in",)),
    Fires("TSK020", "every reward is 0 and nobody says why", [rollout(f"t{n}", output=f"word {n}") for n in range(5)], tuple(f"t{n}" for n in range(5)), "verifier"),
    Fires("TSK021", "the answer is the key in percent", [share("10", "0.1")], ("t",), "key", ("percentage",)),
    Fires("TSK008", "three times the same", repeats(*(rollout("t", extracted_answer="7", expected_answer="8") for _ in range(3))), ("t",), "key"),
    Fires("TSK009", "one of four never holds", repeats(*(rollout("t", checks=checks(True, True, True, False)) for _ in range(3))), ("t",), "verifier"),
    Fires("TSK010", "no word and no call", [rollout("t", passed=True, output=[])], ("t",), "verifier"),
    Fires("TSK011", "asked and not given", [withheld(ASKS, PUT_OFF, said("Then I cannot help."))], ("t",), "user", ("I don't remember it, sorry.",)),
    Fires("INF003", "all done, no account", unjudged(*CANCELS, said("It is cancelled.")), ("t",), "limit", ("It is cancelled.",)),
    Fires("DAT001", "two prompts", repeats(rollout("t", prompt="Add 1 and 2.", expected_answer="3", passed=True), rollout("t", prompt="Add 2 and 1.", expected_answer="3")), ("t",), "task"),
    Fires("DAT001", "two levels", repeats(rollout("t", difficulty="easy", passed=True), rollout("t", difficulty="hard")), ("t",), "task"),
    Fires("TSK012", "one text", repeats(rollout("t", output="It is 41.", passed=True), rollout("t", output="It is 41.")), ("t",), "verifier", ("1.0", "0.0", "It is 41.")),
    Fires("TSK012", "the same calls and results", repeats(*(rollout("t", passed=p, output=acted(("pay", {"n": 1}, "ok"))) for p in (False, True))), ("t",), "verifier", ("1.0", "0.0")),
    Fires("TSK013", "the judge failed", [rollout("t", judge_error="APIError: no reply from the judge")], ("t",), "verifier", ("no reply from the judge",)),
    Fires("TSK013", "the judge's reply is of no use", [rollout("t", invalid_judge_response=True), rollout("u", passed=True)], ("t",), "verifier", ("true",)),
    Fires("TSK013", "a name of the test", [crashed(NO_NAME)], ("t",), "verifier", (NO_NAME,)),
    Fires("TSK013", "a test that is no Python", [judged("t", 'File "/tests/test_sum.py", line 3\n    check(1\n         ^\nSyntaxError: \'(\' was never closed')], ("t",), "verifier", ("SyntaxError: '(' was never closed",)),
    Fires("TSK013", "a library without the name", [crashed("AttributeError: module 'numpy' has no attribute 'float'")], ("t",), "verifier", ("module 'numpy' has no attribute 'float'",)),
    Fires("TSK013", "as pytest writes it", [judged("t", f"    def test_sum():\n>       check(EXPECTED_TABLE)\nE       {NO_NAME}\n\ntests/test_sum.py:9: NameError")], ("t",), "verifier", (NO_NAME,)),
    Fires("TSK014", "correct and no reward", [rollout("t", is_correct=True), *agreeing(is_correct=True)], ("t",), "verifier", ("0.0", "true")),
    Fires("TSK014", "a number for a verdict", [rollout("t", is_correct=1.0)], ("t",), "verifier", ("0.0", "1.0")),
    Fires("TSK014", "not resolved and rewarded", [rollout("t", passed=True, resolved=False), *agreeing(resolved=True)], ("t",), "verifier", ("1.0", "false")),
    Fires("TSK014", "inside the account", [rollout("t", reward_info={"success": True}), *agreeing(reward_info={"success": True})], ("t",), "verifier", ("0.0", "true")),
    Fires("TSK014", "every test passed", [rollout("t", checks=checks(True, True)), *agreeing(checks=checks(True, True))], ("t",), "verifier", ("0.0", "true")),
    Fires("TSK014", "every test passed, and a field is what passes have", [rollout("t", checks=checks(True, True), failure_mode="normal"), *agreeing(checks=checks(True, True), failure_mode="normal")], ("t",), "verifier", ("0.0", "true")),
    Fires("TSK014", "every test failed", [rollout("t", passed=True, checks=checks(False, False)), *agreeing(checks=checks(True, True))], ("t",), "verifier", ("1.0", "false")),
    Fires("TSK015", "the tests' own module", [judged("t", NO_MODULE)], ("t",), "verifier", (NO_MODULE,)),
    Fires("TSK015", "two tasks, one doubt", [judged("t", NO_MODULE), judged("u", NO_MODULE)], ("t", "u"), "verifier", (NO_MODULE,)),
    Fires("TSK015", "a command", [judged("t", "run.sh: line 3: iverilog: command not found")], ("t",), "verifier", ("iverilog: command not found",)),
    Fires("TSK015", "a command of sh", [judged("t", "sh: 1: node: not found")], ("t",), "verifier", ("sh: 1: node: not found",)),
    Fires("TSK015", "a shared library", [judged("t", "ImportError: libGL.so.1: cannot open shared object file: No such file")], ("t",), "verifier", ("libGL.so.1: cannot open shared object file",)),
    Fires("TSK015", "an interpreter", [judged("t", "env: 'ruby': No such file or directory")], ("t",), "verifier", ("env: 'ruby': No such file",)),
    Fires("TSK015", "the prompt names it", [judged("t", NO_MODULE, prompt="Use cocotb.", output="import cocotb")], ("t",), "verifier", (NO_MODULE,)),
    Fires("TSK015", "two tasks import it", [judged(t, NO_MODULE, output="import cocotb") for t in "tu"], ("t", "u"), "verifier", (NO_MODULE,)),
    *(
        Fires("TSK015", what, [judged(t, words) for t in "tu"], ("t", "u"), "verifier", (quote,))
        for what, quote, words in (
            ("a module of Node", "'express'", "Error: Cannot find module 'express'"),
            ("a crate", "`serde`", "error[E0463]: can't find crate for `serde`"),
            ("a package of Java", "org.junit", "/tests/Main.java:3: error: package org.junit does not exist"),
            ("a package of R", "testthat", "there is no package called 'testthat'"),
            ("a library to link", "-lgmp", "/usr/bin/ld: cannot find -lgmp"),
            ("a header", "gmp.h", "fatal error: gmp.h: No such file or directory"),
            ("a command of zsh", "cargo", "zsh: command not found: cargo"),
            ("a gem", "rspec", "LoadError: cannot load such file -- rspec"),
        )
    ),
    Fires("BEH011", "the same search again and again", repeats(walked(3, passed=True), walked(12)), ("t",), "agent", ('"q": "lamp 11"',)),
    Fires("BEH011", "beside two passes", repeats(walked(2, passed=True), walked(4, passed=True), walked(10)), ("t",), "agent"),
    Fires("TSK010", "no call where a change is due", [talked(said("It is done."), passed=True), rollout("u", output="no", expected_actions=CANCEL)], ("t",), "verifier"),
    Fires("TSK014", "a word for a verdict", [rollout("t", verdict="correct"), *agreeing(verdict="correct")], ("t",), "verifier", ("0.0", "correct")),
    Fires("TSK014", "the judge's word", [rollout("t", passed=True, judgement="no"), *agreeing(judgement="yes")], ("t",), "verifier", ("1.0", "no")),
    Fires("TSK013", "a file of its own", [judged("t", CRASH.format(name="GOLD", error="FileNotFoundError: [Errno 2] No such file or directory: '/eval/gold_table.json'"))], ("t",), "verifier", ("gold_table.json",)),
    Fires("TSK005", "a short yes in other words", [talked(said("Shall I cancel it?"), said("Sure, do it. <END>", "user"))], ("t",), "user", ("Sure, do it.",)),
    Fires("DAT005", "as a template engine writes it", [asked("t", "Document:\n{{ document_text }}\nWhich year does it name?", output="The document was not included, I only see a template.")], ("t",), "task", ()),
    Fires("DAT005", "a value that was not there", [asked("t", "Passage:\n---\nNone\n---\nWho wrote it?", output="There is no passage here; could you paste it?")], ("t",), "task", ()),
    Fires("DAT004", "the correct answer is X", leaks("Find the code. The correct answer is QX-7781."), ("t",), "task", ("correct answer is QX-7781",)),
    Fires("DAT004", "between brackets", leaks("Find the code.\n[GOLD] QX-7781"), ("t",), "task", ("GOLD] QX-7781",)),
    Fires("DAT004", "a key", leaks("Find the code. (key: QX-7781)"), ("t",), "task", ("key: QX-7781",)),
    Fires("DAT002", "one task under two ids", [rollout(t, prompt="Add 1 and 2.", expected_answer="3") for t in ("t", "u", "v")], ("t", "u", "v"), "task", ("Add 1 and 2.",)),
    Fires("DAT003", "two answers", six(*(asked(t, "What is 6 x 7?", expected_answer=a) for t, a in (("t", "42"), ("u", "43")))), ("t", "u"), "key", ("What is 6 x 7?",)),
    Fires("DAT004", "answer: X", [asked("t", "Find the code.\nAnswer: QX-7781", expected_answer="QX-7781")], ("t",), "task", ("Answer: QX-7781",)),
    Fires("DAT004", "expected: X", [rollout("t", prompt="Who was it? (expected: Ada Lovelace)", expected_answer="Ada Lovelace")], ("t",), "task", ("expected: Ada Lovelace",)),
    Fires("DAT004", "an id that the key uses", [asked("t", "Cancel my flight. Solution: JG7FMM", expected_actions=CANCEL)], ("t",), "task", ("Solution: JG7FMM",)),
    *(
        Fires("TSK004", f"{got} beside {wanted}", [rollout("t", **named(got, wanted))], ("t",), "verifier")
        for got, wanted in (("program_stdout", "reference_output"), ("observed", "golden"), ("gotText", "wantText"))
    ),
    Fires("TSK004", "no name tells, and one of the two never changes", repeats(*(unnamed(seen) for seen in ("1 2\n3 \n", "1 2 \n3"))), ("t",), "verifier"),
    Fires("TSK004", "inside the list of cases", [rollout("t", cases=[{"n": 1}, {"expected": "1 2", "received": "1  2"}])], ("t",), "verifier"),
    Fires("TSK006", "a ban in other words", repeats(*(banned(words) for words in BANS)), ("t",), "key"),
    Fires("TSK014", "two rewards", [rollout("t", reward_info={"reward": 1.0}), *agreeing(reward_info={"reward": 1.0})], ("t",), "verifier"),
    Fires("TSK014", "the key's own words", [rollout("t", verdict="correct", extracted_answer="7", expected_answer="7")], ("t",), "verifier"),
    *(
        Fires("TSK013", what, repeats(*(both_fail(words, output=f"Patch {n}.") for n in range(2))), ("t",), "verifier")
        for what, words in (
            ("the runner's own stage", "fixture 'reference_rows' not found\navailable fixtures: tmp_path"),
            ("a file of the runner", 'Traceback (most recent call last):\n  File "/srv/harness/load.py", line 4, in load\n    CASES[301]\nKeyError: \'301\''),
            ("while it collects", "error during collection: plugin hook 'bench_rows' raised TypeError"),
            ("its own plugin", "INTERNALERROR> TypeError: 'NoneType' object is not iterable"),
        )
    ),
    *(
        Fires("TSK015", f"in the words: {words}", [judged(t, words) for t in "tu"], ("t", "u"), "verifier")
        for words in (
            "dependency 'respx' was not found in the image",
            "the library freezer is not available here",
            "Missing plugin: 'xdist2'",
            "`polarz` is not installed",
        )
    ),
    *(
        Fires("DAT004", f"a short one: {words!r}", [asked("t", f"How many? {words}", expected_answer="17"), asked("u", "Who?", expected_answer="9")], ("t",), "task")
        for words in ("(solution: 17)", "\n// answer = 17", "\n<!-- key: 17 -->", "\nGround truth: 17", "The expected answer is 17.")
    ),
    Fires("TSK001", "a record with several", [booked("1981-05-26", record=SEVERAL)], ("t",), "key", ("1981-05-26",)),
]  # fmt: skip

QUIET = [
    Quiet("BEH013", "the prompt gives it", [invited("yara@fern.example", "Invite yara@fern.example.")]),
    Quiet("BEH013", "a result gives it", [invited("yara@fern.example", found='{"email": "yara@fern.example"}')]),
    Quiet("BEH013", "a plain word", [invited("yara")]),
    Quiet("BEH013", "it passed", [invited("yara.haddad@fern.example", passed=True)]),
    Quiet("TSK019", "a single failure", [badge("urgent")]),
    Quiet("TSK019", "one repeat passes", repeats(badge("urgent"), badge("high", passed=True))),
    Quiet("TSK019", "the repeats give different values", repeats(badge("urgent"), badge("ticket"))),
    Quiet("TSK019", "the request names no such value", repeats(*[badge("low")] * 2)),
    Quiet("TSK019", "the prompt says what urgent means", repeats(*[badge("urgent", "Urgent is the priority high. " + BADGE)] * 2)),
    Quiet("TSK019", "a result shows the value that is due", repeats(*[badge("urgent", record='{"priorities": ["low", "high"]}')] * 2)),
    Quiet("TSK001", "several, and more than one thing differs", [booked("1981-05-26", record=SEVERAL, expected_actions=[want("update_reservation", reservation_id="A1B2C3", dob="1985-04-04", cabin="economy")])]),
    Quiet("TSK001", "the prompt gives the value", [booked("1981-05-26", prompt="Born 1985-04-04.")]),
    Quiet("TSK001", "no record shows another", [booked("1981-05-26", record="{}")]),
    Quiet("TSK001", "it passed", [booked("1981-05-26", passed=True)]),
    Quiet("TSK002", "two calls", cabins("business", 2), alone=True),
    Quiet("TSK002", "the change is made", cabins("economy", 3), alone=True),
    Quiet("TSK003", "another answer", [rollout("t", extracted_answer="5", expected_answer="4")]),
    Quiet("TSK003", "it passed", [rollout("t", extracted_answer="4.0", expected_answer="4", passed=True)]),
    Quiet("TSK014", "every test passed, and a field is what no pass has", [rollout("t", checks=checks(True, True), failure_mode="crashed"), *agreeing(checks=checks(True, True), failure_mode="normal")], alone=True),
    Quiet("TSK004", "other words", [printed("1 2 3 5")]),
    Quiet("TSK004", "the same two spellings in every repeat, and no name tells", repeats(unnamed("1 2 \n3"), unnamed("1 2 \n3"))),
    Quiet("TSK004", "passes have a trimmed copy too", repeats(*(unnamed(seen) for seen in ("1 2\n3 \n", "1 2 \n3")), unnamed("1 2\n3\n", passed=True)), alone=True),
    Quiet("TSK004", "it passed", [printed("1 2 3 4", passed=True)]),
    Quiet("TSK004", "nothing was printed", [rollout("t", metadata={"output": "", "expected": "\n"})]),
    Quiet("TSK005", "the agent acts", [talked(said("Shall I?"), GO_AHEAD, said("Wait."))]),
    Quiet("TSK005", "no go-ahead", [talked(said("Shall I?"), said("No, thanks. ###STOP###", "user"))]),
    Quiet("TSK005", "nothing was due", [rollout("t", output=[said("Shall I?"), GO_AHEAD], expected_actions=[])]),
    Quiet("TSK006", "no such rule", [refused(rule="Speak English.")]),
    Quiet("TSK020", "one passes", [rollout(f"t{n}", output=f"word {n}", passed=n == 0) for n in range(6)], alone=True),
    Quiet("TSK020", "two rewards", [rollout(f"t{n}", output=f"word {n}", reward=-(n % 2)) for n in range(6)], alone=True),
    Quiet("TSK020", "the verifier says why", [rollout(f"t{n}", output=f"word {n}", failure_reason="no such room") for n in range(6)], alone=True),
    Quiet("TSK020", "a key says what was wanted", [rollout(f"t{n}", output=f"word {n}", expected_answer=f"name {n} of the list") for n in range(6)], alone=True),
    Quiet("TSK021", "no percentage is asked for", [share("10", "0.1", "How many tons more?")]),
    Quiet("TSK021", "another number", [share("12", "0.1")]),
    Quiet("TSK021", "it passes", [share("10", "0.1", passed=True)]),
    Quiet("TSK021", "nothing", [share("0", "0")]),
    Quiet("TSK008", "no answer is expected", repeats(*(rollout("t", model_patch="diff --git a/x b/x", resolved=False) for _ in range(3)))),
    Quiet("TSK006", "a rule that allows it", [refused(rule="This reservation can be cancelled though a portion of the flight was already flown.")]),
    Quiet("TSK006", "one repeat does not cite it", repeats(refused(), refused("I will look into it."))),
    Quiet("TSK007", "the prompt names it", [rollout("t", prompt="Print Error executing command.", details={"test": NOT_IN})]),
    Quiet("TSK007", "it passed", [rollout("t", passed=True, prompt="Run it.", details={"test": NOT_IN})]),
    Quiet("TSK008", "two repeats", repeats(*(rollout("t", extracted_answer="7", expected_answer="8") for _ in range(2)))),
    Quiet("TSK008", "other answers", repeats(*(rollout("t", extracted_answer=n, expected_answer="8") for n in "779"))),
    Quiet("TSK008", "one passed", repeats(*(rollout("t", extracted_answer="7", expected_answer="7", passed=n > 1) for n in range(3)))),
    Quiet("TSK009", "two rollouts", repeats(*(rollout("t", checks=checks(True, True, True, False)) for _ in range(2)))),
    Quiet("TSK009", "siblings fail too", repeats(*(rollout("t", checks=checks(True, False, False, False)) for _ in range(3)))),
    Quiet("TSK009", "it holds once", repeats(*(rollout("t", checks=checks(True, True, True, n == 1)) for n in range(3)))),
    Quiet("TSK010", "it failed", [rollout("t", output=[])]),
    Quiet("TSK010", "a word", [rollout("t", passed=True, output="4")]),
    Quiet("TSK010", "a call", [rollout("t", passed=True, output=[call("pay"), result("ok")])]),
    Quiet("TSK011", "it was given", [withheld(ASKS, said("mia_li_3668", "user"))]),
    Quiet("TSK011", "it was not asked for", [withheld(said("How can I help?"), PUT_OFF)]),
    Quiet("INF003", "not all done", unjudged(said("I will do it.")), alone=True),
    Quiet("INF003", "the account is there", unjudged(*CANCELS, said("It is cancelled."), record={"r_actions": 0.0}), alone=True),
    Quiet("DAT001", "one prompt", repeats(rollout("t", prompt="Add.", passed=True), rollout("t", prompt="Add. \n"))),
    Quiet("DAT001", "a simulated user", repeats(*(rollout("t", prompt=p, passed=p == "Hi", user_instruction=SCRIPT) for p in ("Hi", "Hello")))),
    Quiet("TSK012", "other outputs", repeats(rollout("t", output="It is 41.", passed=True), rollout("t", output="It is 42."))),
    Quiet("TSK012", "other tasks", [rollout("t", output="It is 41.", passed=True), rollout("u", output="It is 41.")]),
    Quiet("TSK012", "both failed", repeats(rollout("t", output="It is 41."), rollout("t", output="It is 41."))),
    Quiet("TSK012", "no output", repeats(rollout("t", output=[], passed=True), rollout("t", output=[]))),
    Quiet("TSK012", "the tools answered differently", repeats(*(rollout("t", passed=p, output=acted(("draw", {}, f"card {p}"))) for p in (False, True)))),
    Quiet("TSK012", "the prompts differ", repeats(*(rollout("t", passed=p, output="hit", prompt=f"You hold {p}.") for p in (False, True)))),
    Quiet("TSK012", "the patches differ", repeats(*(rollout("t", passed=p, output="See the patch.", model_patch=f"+{p}") for p in (False, True)))),
    Quiet("TSK012", "only that it is done", repeats(rollout("t", output="Done.", passed=True), rollout("t", output="Done."))),
    Quiet("TSK013", "an assertion in the test", [crashed("AssertionError: 3 != 4")]),
    Quiet("TSK013", "a name of the task", [crashed("NameError: name 'total' is not defined")]),
    Quiet("TSK013", "raised in the solution", [judged("t", f'Traceback:\n  File "/tests/test_sum.py", line 9, in test\n    go()\n  File "/app/sum.py", line 2, in total\n    return zs\n{NO_NAME}')]),
    Quiet("TSK013", "the agent wrote the test", [crashed(NO_NAME, output="I wrote tests/test_sum.py for you.")]),
    Quiet("TSK013", "the line is the agent's", [crashed(NO_NAME, output="check(EXPECTED_TABLE)")]),
    Quiet("TSK013", "an import from the repository", [crashed("ImportError: cannot import name 'fresh' from 'shop.cart' (/testbed/shop/cart.py)")]),
    Quiet("TSK013", "an object of the solution", [crashed("AttributeError: 'NoneType' object has no attribute 'total'")]),
    Quiet("TSK013", "a passing rollout has it too", [crashed(NO_NAME), judged("u", NO_NAME, passed=True)], alone=True),
    Quiet("TSK013", "it speaks of the solution", [rollout("t", evaluation_error="the candidate raised ValueError")]),
    Quiet("TSK013", "the evaluation took too long", [rollout("t", eval_timed_out=True)]),
    Quiet("TSK013", "it passed", [rollout("t", passed=True, judge_error="no reply")], alone=True),
    Quiet("TSK014", "they agree", [rollout("t", is_correct=False), *agreeing(is_correct=True)], alone=True),
    Quiet("TSK014", "part of the reward", [rollout("t", reward=0.7, passed=True, is_correct=True), *agreeing(is_correct=True)], alone=True),
    Quiet("TSK014", "another verdict sides with it", [rollout("t", is_correct=True, is_correct_plus=False), *agreeing(is_correct=True)]),
    Quiet("TSK014", "a test sides with it", [rollout("t", is_correct=True, checks=checks(True, False)), *agreeing(is_correct=True)]),
    Quiet("TSK014", "a limit explains it", [rollout("t", resolved=True, agent_timed_out=True), *agreeing(resolved=True)]),
    Quiet("TSK014", "the harness came to its end", [rollout(t, success=True) for t in "tuvw"], alone=True),
    Quiet("TSK014", "some tests passed", [rollout("t", checks=checks(True, False)), *agreeing(checks=checks(True, True))], alone=True),
    Quiet("TSK014", "one optional test failed", [rollout("t", passed=True, checks=checks(True, False)), *agreeing(checks=checks(True, True))], alone=True),
    Quiet("TSK014", "no verdict", [rollout("t", is_correct=None), rollout("u", is_correct="yes"), rollout("v", correct=0.5)], alone=True),
    Quiet("TSK015", "a module of the solution", [judged("t", "ModuleNotFoundError: No module named 'solution'")]),
    Quiet("TSK015", "the agent made it", [judged("t", NO_MODULE, output="I wrote cocotb.py")]),
    Quiet("TSK015", "the task asks for it", [judged("t", NO_MODULE, prompt="Write cocotb.py.")]),
    Quiet("TSK015", "an extension of a source that the task names", [judged("t", "ModuleNotFoundError: No module named 'fast_c'", prompt="Write fast.c.")]),
    Quiet("TSK015", "the agent installs it where tests do not run", [judged("t", NO_MODULE, output=acted(("bash", {"cmd": "pip install cocotb"}, "Collecting cocotb")))], alone=True),
    Quiet("TSK015", "part of a package", [judged("t", "ModuleNotFoundError: No module named 'shop.cart'")]),
    Quiet("TSK015", "only the agent asked for it", [judged("t", NO_MODULE, output="import cocotb")], alone=True),
    Quiet("TSK015", "a passing rollout shows it", [judged("t", NO_MODULE), judged("u", NO_MODULE, passed=True)], alone=True),
    Quiet("TSK015", "a passing rollout loads it", [judged("t", NO_MODULE), judged("u", "fine", passed=True, output="import cocotb")], alone=True),
    Quiet("TSK015", "something else is not found", [judged("t", "KeyError: page not found: 404")]),
    Quiet("TSK015", "an agent's own tool failed", [rollout("t", output=acted(("bash", {"cmd": "x"}, NO_MODULE)))]),
    *(
        Quiet("TSK015", what, [judged(t, words) for t in "tu"], alone=True)
        for what, words in (
            ("a file of the solution in Node", "Error: Cannot find module './solution'"),
            ("a package of the solution in Java", "error: package com.solution does not exist"),
            ("a header of the solution", "fatal error: solution.h: No such file or directory"),
            ("an error that is not found", "KeyError: not found"),
        )
    ),
    Quiet("BEH011", "many calls, each another", repeats(walked(3, passed=True), walked(12, distinct=True)), alone=True),
    Quiet("BEH011", "a pass is as long", repeats(walked(12, passed=True), walked(12)), alone=True),
    Quiet("BEH011", "no pass", repeats(walked(3), walked(12)), alone=True),
    Quiet("BEH011", "a few more", repeats(walked(3, passed=True), walked(8)), alone=True),
    Quiet("TSK010", "an answer is due, not a change", [rollout("t", passed=True, output="4", expected_answer="4")]),
    Quiet("TSK014", "a grade that is no verdict", [rollout("t", support="C"), *agreeing(support="A")], alone=True),
    Quiet("TSK005", "a reply with a but", [talked(said("Shall I cancel it?"), said("I'll think about it. <END>", "user"))]),
    Quiet("TSK013", "a key that the task uses", [crashed("KeyError: 'total'")]),
    Quiet("DAT004", "the code itself is asked about", leaks("Is QX-7781 a valid code?")),
    Quiet("DAT002", "another key", [rollout(t, prompt="Add.", expected_answer=a) for t, a in (("t", "3"), ("u", "4"))], alone=True),
    Quiet("DAT002", "another prompt", [rollout(t, prompt=p, expected_answer="3") for t, p in (("t", "1+2"), ("u", "2+1"))], alone=True),
    Quiet("DAT002", "repeats of one task", repeats(*(rollout("t", prompt="Add.", expected_answer="3") for _ in range(2))), alone=True),
    Quiet("DAT002", "no key", [rollout(t, prompt="Add.") for t in "tu"], alone=True),
    Quiet("DAT003", "a template", [rollout(t, prompt="Do the task.", expected_answer=f"{n} items") for n, t in enumerate("tuvwxyz")], alone=True),
    Quiet("DAT003", "the same answer", six(*(asked(t, "What is 6 x 7?", expected_answer=a, question=t) for t, a in (("t", "42"), ("u", " 42")))), alone=True),
    Quiet("DAT003", "a simulated user", six(*(asked(t, "Policy.", user_instruction=f"You want {t}.", expected_actions=[want("cancel", id=t)]) for t in "tu")), alone=True),
    Quiet("DAT003", "marks that differ by a seed", six(*(asked(t, "Go.", verifier_metadata={"seed": t}) for t in "tu")), alone=True),
    Quiet("DAT005", "a template in every prompt", six(*(rollout(t, prompt=f"Fill {{{{name}}}} for {t}.", passed=t != "t") for t in "tuvwxy"))),
    Quiet("DAT005", "a passing task", six(*(asked(t, "Use {{ctx}}.", passed=True) for t in "tu"))),
    Quiet("DAT005", "a variable of a shell", [asked("t", "Explain: echo ${HOME}", output="It prints the home folder.")]),
    Quiet("DAT005", "a placeholder to put in", [asked("t", "Replace every key by <your-api-key>.", output=[call("edit", '{"new": "<your-api-key>"}'), result("ok"), said("Users fill in the template. Anything missing?")])]),
    Quiet("DAT005", "a placeholder that is called one", [asked("t", "Replace every key by a placeholder such as <your-api-key>.", output="The placeholder is in; is anything missing?")]),
    Quiet("DAT005", "a placeholder that the prompt asks for", [asked("t", "Replace each secret with a placeholder such as <your key>.", output="All keys are placeholder values now.")]),
    Quiet("DAT005", "what the agent works with", [rollout("t", prompt="Replace each secret with <your key>.", output=[*acted(("write", {"text": "key = <your key>"}, "ok")), said("The file is not included.")])]),
    Quiet("DAT005", "braces of code", [asked("t", "Complete: def f(x):\n    return {x: [1, 2]}")]),
    Quiet("DAT004", "an option", [asked("t", "Which? A) Ada Lovelace B) Alan Turing. Answer: one letter", expected_answer="Ada Lovelace")]),
    Quiet("DAT004", "a given", [asked("t", "Ada Lovelace wrote it. Who was first?", expected_answer="Ada Lovelace")]),
    Quiet("DAT004", "somebody's answer", [asked("t", "Student answer: QX-7781. Is it right?", expected_answer="QX-7781")]),
    Quiet("DAT004", "an example for all", [asked(t, f"E.g. Answer: QX-7781\n{t}?", expected_answer=a) for t, a in (("t", "QX-7781"), ("u", "QX-7782"))], alone=True),
    Quiet("DAT004", "a choice of answers", [asked("t", "Answer: 42 or 43?", expected_answer="42")]),
    Quiet("DAT004", "a count of lines", [asked("t", "Expected output: 3 lines of text", expected_answer="3")]),
    Quiet("DAT004", "worked examples", [asked("t", "2 + 2\nAnswer: 4\n2 + 3\nAnswer: 5\n1 + 3?", expected_answer="4")]),
    Quiet("DAT004", "a short answer that all tasks want", [asked(t, f"{t}? Answer: B", expected_answer="B") for t in "tu"], alone=True),
    Quiet("DAT004", "the start of another number", [asked("t", "Answer: 123456.5", expected_answer="123456")]),
    Quiet("DAT004", "an id that the user gives", [asked("t", "Cancel JG7FMM.", expected_actions=CANCEL)]),
    Quiet("TSK004", "an answer that was extracted", [rollout("t", extracted_answer=" 7", expected_answer="7")]),
    Quiet("TSK004", "two wants", [rollout("t", expected="1 2", expected_output="1  2")]),
    Quiet("TSK004", "what was put in", [rollout("t", stdin="1 2", expected="1 2")]),
    Quiet("TSK005", "the harness ended it", [talked(said("Shall I?"), GO_AHEAD, error="worker lost (signal 9)")]),
    Quiet("TSK005", "thanks for a report", [talked(said("It is done, you will get a confirmation."), said("Okay. ###STOP###", "user"))]),
    Quiet("TSK006", "a question about the rule", [banned("Do you know that opened bottles are never taken back by the shop?")]),
    Quiet("TSK006", "it denies something else", [banned("I do not see the bottles on your list.")]),
    Quiet("TSK008", "the verifier failed", repeats(*(rollout("t", extracted_answer="7", expected_answer="8", judge_error="no reply") for _ in range(3)))),
    Quiet("TSK008", "the key's own answer", repeats(*(rollout("t", extracted_answer="8", expected_answer="8") for _ in range(3)))),
    Quiet("TSK013", "one repeat says something else", repeats(both_fail("fixture 'rows' not found"), both_fail("AssertionError: 3 != 4"))),
    Quiet("TSK013", "all assert alike", repeats(*(both_fail("AssertionError: total is 3") for _ in range(2)))),
    Quiet("TSK013", "a fixture that the agent made", repeats(*(both_fail("fixture 'rows' not found", output="I added the fixture 'rows'.") for _ in range(2)))),
    Quiet("TSK013", "all too slow", repeats(*(both_fail("error during setup: killed after 10 seconds") for _ in range(2)))),
    Quiet("TSK015", "a record that is not there", [judged(t, "order 'A1' was not found") for t in "tu"], alone=True),
    Quiet("TSK015", "no such thing in a list", [judged(t, "the module total is not what was expected") for t in "tu"], alone=True),
]  # fmt: skip


@pytest.mark.parametrize("case", FIRES, ids=[f"{one.code}-{one.case}" for one in FIRES])
def test_fires(tmp_path: Path, case: Fires) -> None:
    (doubt,) = doubts(tmp_path, case.rows, case.code)
    assert (doubt.tasks, doubt.about) == (case.tasks, case.about)
    assert doubt.rollouts > 0
    assert doubt.strong is next(rule.strong for rule in run_rules() if rule.code == case.code)
    given = [one.quote for one in doubt.evidence]
    assert all(any(quote in words for words in given) for quote in case.quotes), given
    for one in doubt.evidence:
        rows = repeated_of(case.rows, one.key.task_id)
        place = {"step": one.step, "field": one.field, "quote": one.quote}
        assert stands_in(place, rows[one.key.repeat]), place


def repeated_of(rows: list[Row], task: str) -> dict[int, Row]:
    """The rows of a task by repeat, numbered in order where they are not."""
    mine = [row for row in rows if row.get("task_id") == task]
    return {row.get("_ng_rollout_index", place): row for place, row in enumerate(mine)}


def renamed(case: int, row: Row) -> Row:
    return row | {"task_id": f"{case}-{row['task_id']}"}


@pytest.mark.parametrize("code", dict.fromkeys(one.code for one in QUIET if not one.alone))
def test_fires_on_its_task_and_on_no_other_of_the_run(tmp_path: Path, code: str) -> None:
    fires = next(one for one in FIRES if one.code == code)
    quiet = [one for one in QUIET if one.code == code and not one.alone]
    rows = [renamed(place, row) for place, one in enumerate(quiet) for row in one.rows]
    (doubt,) = doubts(tmp_path, fires.rows + rows, code)
    assert doubt.tasks == fires.tasks, [one.case for one in quiet]


ALONE = [one for one in QUIET if one.alone]
OF_SEVERAL_RUNS = {"TSK016", "TSK017", "TSK018"}
"""Tested in test_elsewhere.py."""


@pytest.mark.parametrize("case", ALONE, ids=[f"{one.code}-{one.case}" for one in ALONE])
def test_stays_quiet(tmp_path: Path, case: Quiet) -> None:
    assert doubts(tmp_path, case.rows, case.code) == []


def test_every_rule_has_a_case_that_fires_and_two_that_do_not() -> None:
    codes = {rule.code for rule in run_rules()} - OF_SEVERAL_RUNS
    assert {one.code for one in FIRES} == codes
    quiet = Counter(one.code for one in QUIET)
    assert {code for code in codes if quiet[code] < 2} == set()


# the form of the catalog


@pytest.mark.parametrize("rule", run_rules(), ids=lambda rule: rule.code)
def test_form(rule: Rule) -> None:
    assert rule.code.startswith(FAMILIES[rule.family])
    assert rule.code[3:].isdecimal()
    assert len(rule.code) == 6
    assert rule.message.endswith(".")
    assert tuple(heading for heading, _ in rule.sections) == HEADINGS
    assert rule.cause.value == rule.family


def test_codes_are_unique() -> None:
    codes = [rule.code for rule in run_rules()]
    assert len(set(codes)) == len(codes)


def test_strong_rules_are_those_of_the_definition() -> None:
    strong = {rule.name for rule in run_rules() if rule.strong}
    assert strong == {
        "same-output-judged-differently",
        "verifier-crashed",
        "verifier-contradicts-itself",
        "equal-still-rejected",
        "equal-output-rejected",
        "key-against-request",
        "dependency-missing",
        "same-prompt-different-keys",
        "wrong-answer-of-all-runs",
    }


# hostile rows

ODD: list[object] = [
    None,
    True,
    0,
    -1,
    1e308,
    "",
    "\x00",
    "\ud800",
    "(" * 300,
    [],
    [[]],
    [None],
    {},
    {"": {}},
    {"a.b": [1]},
]
FIELDS = (
    "is_correct", "resolved", "passed", "success", "checks", "test_results", "details", "reward_info", "metadata",
    "judge_error", "invalid_judge_response", "failure_reason", "expected_answer", "extracted_answer", "expected_actions",
    "user_instruction", "prompt", "responses_create_params", "difficulty", "error", "output", "verifier_metadata",
)  # fmt: skip


def test_odd_values_never_raise(tmp_path: Path) -> None:
    odd = [(field, value) for field in FIELDS for value in ODD]
    rows = [
        rollout(f"t{n}", repeat=repeat, passed=repeat == 0, output="It is 41.") | {field: value}
        for n, (field, value) in enumerate(odd)
        for repeat in range(2)
    ]
    assert len(doubts(tmp_path, rows, "TSK012")) == 1


LONG = 200_000


SLOW = (
    'File "' * (LONG // 6),
    "E   NameError: name 'x' is not defined\n" * (LONG // 40),
    'File "/tests/test_a.py", line 1\n' * (LONG // 32),
    "No module named " * (LONG // 16),
    "a" * LONG + ": command not found",
    "No module named\n" + "a.b-c+" * (LONG // 6),
    "answer: " * (LONG // 8),
)


def test_words_written_to_be_slow_take_no_long_time(tmp_path: Path) -> None:
    rows = [judged(f"t{n}", words, judge_error=words) for n, words in enumerate(SLOW)]
    rows += [rollout(f"u{n}", prompt=words, expected_answer="QX-7781") for n, words in enumerate(SLOW)]
    start = process_time()
    blade.analyze(write_jsonl(tmp_path / "run.jsonl", rows))
    assert process_time() - start < 5


def test_a_response_without_output_is_no_doubt_of_the_new_rules(tmp_path: Path) -> None:
    rows = [rollout("t", response=response([], error=None)), rollout("u", response=None, output=None)]
    assert doubts(tmp_path, rows, "TSK012") == []


def test_rewards_above_one_are_not_at_the_top_of_the_run(tmp_path: Path) -> None:
    rows = [rollout("t", reward=1.0, resolved=False), rollout("u", reward=2.0, resolved=True)]
    assert doubts(tmp_path, rows, "TSK014") == []


def test_an_extractor_that_finds_nothing_in_any_rollout_is_a_doubt(tmp_path: Path) -> None:
    rows = [
        rollout(f"t{n}", extracted_answer=None, expected_answer=f"4{n}", output=f"So \\boxed{{4{n}}}") for n in range(3)
    ]
    assert doubts(tmp_path, rows, "TSK003")


def test_a_yes_to_being_transferred_is_no_go_ahead(tmp_path: Path) -> None:
    asks = said("I cannot cancel it. Shall I transfer you to a human agent?")
    row = talked(asks, said("Yes, please transfer me to a human agent. ###TRANSFER###", "user"))
    assert doubts(tmp_path, [row], "TSK005") == []


def test_one_missing_thing_is_one_doubt(tmp_path: Path) -> None:
    rows = [judged("t", NO_MODULE), judged("u", "sh: 1: node: not found"), judged("v", NO_MODULE)]
    assert [doubt.tasks for doubt in doubts(tmp_path, rows, "TSK015")] == [("t", "v"), ("u",)]


def test_an_output_judged_both_ways_beyond_those_read_is_seen_in_the_table(tmp_path: Path) -> None:
    others = [rollout("t", repeat=n, passed=n % 2 == 0, prompt="Go.", output=f"It is {n}.") for n in range(12)]
    late = [rollout("t", repeat=12 + n, passed=n == 0, prompt="Go.", output="It is 41.") for n in range(2)]
    (doubt,) = doubts(tmp_path, [*others, *late], "TSK012")
    assert "t#12 gets 1 and t#13 gets 0" in doubt.message


def test_of_two_rules_the_one_that_is_meant_is_quoted(tmp_path: Path) -> None:
    other = "Seats cannot be changed when the reservation of the passenger was already flown."
    meant = "When any portion of the trip was already flown by the passenger the agent cannot help."
    rules = f"{other} {meant} Name the reservation. Tell the user of each reservation."
    said_ = "Unfortunately this reservation cannot be cancelled: a portion was already flown by the passenger."
    (one,) = doubts(tmp_path, [refused(said_, rules)], "TSK006")
    assert f'(instructions: "{meant}")' in one.message


def dealt(tasks: int, differing: int) -> list[Row]:
    """Tasks with a passing and a failing repeat each; of some the failing one was given another prompt."""
    rows: list[Row] = []
    for n in range(tasks):
        other = f"Play hand {n + tasks if n < differing else n}."
        key: dict[str, Any] = {"expected_answer": f"{n}1"}
        passing = rollout(f"t{n}", prompt=f"Play hand {n}.", passed=True, output=f"{n}1", **key)
        rows += repeats(passing, rollout(f"t{n}", prompt=other, output=f"{n}2", **key))
    return rows


def test_repeats_that_differ_by_design_are_shown_and_explain_no_failure(tmp_path: Path) -> None:
    (by_design,) = doubts(tmp_path, dealt(1, 1), "DAT001")
    assert by_design.preview
    assert "task-data-defect" not in modes_of(tmp_path)
    (a_fault,) = doubts(tmp_path, dealt(4, 1), "DAT001")
    assert not a_fault.preview
    assert modes_of(tmp_path)["task-data-defect"] == 1


def modes_of(folder: Path) -> Counter[str]:
    table = blade.analyze(folder / "run.jsonl").runs[0].attributions
    assert table is not None
    return Counter(table.table["mode"].drop_nulls())
