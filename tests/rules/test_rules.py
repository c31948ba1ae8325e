"""One body for all rules over rollouts, over the hand-written cases in tests/cases; then the engine and its gates."""

from __future__ import annotations

import json
import pickle
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, cast

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blade.ingest.account import account_of
from blade.model.account import Account
from blade.model.errors import ArtifactError
from blade.model.finding import NOTHING_DETECTED, Cause, Detection, Evidence
from blade.model.rollout import Features, Outcome, Rollout, RolloutKey, RowSource, Step
from blade.rules.catalog import HEADINGS, all_rules, catalog_page, load, page, rollout_rules
from blade.rules.closing import DONE, PERHAPS
from blade.rules.declaration import CheckRollout, Rule, rule
from blade.rules.engine import HEAD, OPENING, Engine, closing, detect, errors
from blade.rules.hits import find
from blade.rules.phrases import FLAGS, Search, any_of, search_for, without_lookaround
from blade.rules.rollout.answer import refusal
from blade.rules.rollout.behavior import claimed_without_action, unknown_tool

CASES = Path(__file__).parents[1] / "cases"
KEY = RolloutKey(run="a", task_id="t", repeat=0)


class Case(msgspec.Struct, forbid_unknown_fields=True):
    """A rollout small enough to write by hand."""

    steps: list[Step] | None
    at: list[tuple[int | None, str]] = []
    """Step and field of every hit that is expected, in order."""
    stop: str | None = None
    error: str | None = None
    answer: str | None = None
    outcome: Outcome = Outcome.FAILED
    row: dict[str, object] = {}
    prompt: str | None = None
    """What the user asked for, where a rule reads it."""


def read_case(path: Path) -> Case:
    """Steps of a case are numbered by their place unless they say otherwise."""
    value = json.loads(path.read_bytes())
    for place, step in enumerate(value["steps"] or ()):
        step.setdefault("index", place)
    return msgspec.convert(value, Case)


def count(steps: tuple[Step, ...], stop: str | None, answer: str | None) -> Features:
    """Counters as `Features` defines them, written out once more so that no rule leans on a reader's mistake."""
    calls = [step for step in steps if step.kind == "call"]
    results = [step for step in steps if step.kind == "result"]
    acts = [s for s in steps if s.party == "agent" and s.kind in ("message", "refusal", "call")]
    repeats = [0]
    for before, call in zip([None, *calls], calls, strict=False):
        same = before is not None and (before.tool, before.arguments) == (call.tool, call.arguments)
        repeats.append(repeats[-1] + 1 if same else 1)
    return Features(
        steps=len(steps),
        calls=len(calls),
        results=len(results),
        tool_errors=sum(step.failed for step in results),
        longest_repeat=max(repeats),
        alike_results=len(results) if len({step.text for step in results}) == 1 else 0,
        long_results=sum(len(step.text) > 300 for step in results),
        orphan_calls=len(calls) - sum(step.answers is not None for step in results),
        user_messages=sum(s.party == "user" for s in steps),
        agent_messages=sum(
            s.party == "agent" and s.kind in ("message", "refusal") and bool(s.text.strip()) for s in steps
        ),
        refusals=sum(step.kind == "refusal" for step in steps),
        empty_final=not acts or (acts[-1].kind == "message" and not acts[-1].text.strip()),
        answered=answer is not None and answer.strip() != "",
        stop=stop,
    )


def rollout_of(case: Case) -> Rollout:
    steps = None if case.steps is None else tuple(case.steps)
    return Rollout(
        key=KEY,
        outcome=case.outcome,
        stop=case.stop,
        error=case.error,
        answer=case.answer,
        source=RowSource(artifact="case.jsonl", line=1),
        features=None if steps is None else count(steps, case.stop, case.answer),
        steps=steps,
        origin=Differences(case.row, case.prompt),
    )


class Differences(NamedTuple):
    """The row and the prompt of a case."""

    said: dict[str, object]
    asked: str | None

    def row(self) -> dict[str, object]:
        return self.said

    def get(self, name: str, /) -> object:
        return self.said.get(name)

    def names(self) -> tuple[str, ...]:
        return tuple(self.said)

    def prompt(self) -> tuple[Step, ...]:
        return () if self.asked is None else (Step(index=0, party="user", kind="message", text=self.asked),)

    def account(self) -> Account:
        return account_of(self.said)


def cases(kind: str) -> list[object]:
    return [
        pytest.param(rule.code, path, id=f"{rule.name}-{path.stem}")
        for rule in rollout_rules()
        for path in sorted((CASES / rule.name.replace("-", "_") / kind).glob("*.json"))
    ]


def every_rollout() -> list[Rollout]:
    return [rollout_of(read_case(path)) for path in sorted(CASES.glob("*/*/*.json"))]


def places(checked: Detection, code: str) -> list[tuple[int | None, str]]:
    return [(hit.step, hit.field) for hit in checked.hits if hit.code == code]


@pytest.mark.parametrize(("code", "path"), cases("fires"))
def test_fires_where_it_must(code: str, path: Path) -> None:
    case = read_case(path)
    rollout = rollout_of(case)
    checked = detect(rollout)
    assert case.at
    assert places(checked, code) == case.at
    for hit in checked.hits:
        assert find(rollout, hit).quote.strip()


@pytest.mark.parametrize(("code", "path"), cases("quiet"))
def test_is_quiet_where_it_must_be(code: str, path: Path) -> None:
    rollout = rollout_of(read_case(path))
    checked = detect(rollout)
    assert code not in checked.cannot_check
    assert places(checked, code) == []


@pytest.mark.parametrize(("code", "path"), cases("known_misses"))
@pytest.mark.xfail(reason="a symptom that the rule does not see yet")
def test_known_miss(code: str, path: Path) -> None:
    rollout = rollout_of(read_case(path))
    assert places(detect(rollout), code)


@pytest.mark.parametrize("each", rollout_rules(), ids=lambda each: each.code)
def test_every_rule_has_cases_and_a_page(each: Rule) -> None:
    folder = CASES / each.name.replace("-", "_")
    assert list(folder.glob("fires/*.json"))
    assert list(folder.glob("quiet/*.json"))
    assert tuple(heading for heading, _ in each.sections) == HEADINGS
    assert each.message.endswith(".")
    text = page(each)
    assert text.startswith(f"# {each.code} {each.name}\n")
    assert all(f"## {heading}\n" in text for heading in HEADINGS)
    assert f"## {each.code} {each.name}\n" in catalog_page(all_rules())


def test_every_case_belongs_to_a_rule() -> None:
    assert {path.name for path in CASES.iterdir()} - {"modes"} == {
        rule.name.replace("-", "_") for rule in rollout_rules()
    }


def test_gates_only_save_time() -> None:
    open_engine = Engine(rollout_rules(), gated=False)
    for rollout in every_rollout():
        assert detect(rollout) == open_engine.detect(rollout)


class Counters:
    """Features whose lengths are out of reach."""

    def __init__(self, features: Features) -> None:
        self._features = features

    def __getattr__(self, name: str) -> object:
        assert name != "agent_chars"
        return getattr(self._features, name)


def test_gates_read_counters_only() -> None:
    for rollout in every_rollout():
        for each in rollout_rules():
            if each.when is not None and rollout.features is not None:
                each.when(cast(Features, Counters(rollout.features)))


def test_rules_read_only_what_they_declare() -> None:
    for rollout in every_rollout():
        for each in rollout_rules():
            alone = Engine([each], gated=False)
            names = {name for need in each.reads for name in need.split("|")}
            hidden = {name: None for name in ("stop", "error", "answer") if name not in names}
            unseen = cast(Differences, rollout.origin)._replace(said={})
            blinded = msgspec.structs.replace(rollout, outcome=Outcome.UNSCORED, origin=unseen, **hidden)
            if "steps" not in names:
                blinded = msgspec.structs.replace(blinded, steps=None)
            assert alone.detect(blinded) == alone.detect(rollout)


def test_rules_are_sorted_and_hits_follow_them() -> None:
    codes = [rule.code for rule in rollout_rules()]
    assert codes == sorted(set(codes))
    for rollout in every_rollout():
        checked = detect(rollout)
        assert [hit.code for hit in checked.hits] == sorted(hit.code for hit in checked.hits)
        assert list(checked.cannot_check) == sorted(checked.cannot_check)


def test_the_engine_can_be_sent_to_a_worker() -> None:
    assert pickle.loads(pickle.dumps(detect)) is detect


def test_nothing_to_check() -> None:
    bare = Rollout(key=KEY, outcome=Outcome.FAILED, source=RowSource(artifact="a"))
    unrecorded = rollout_of(Case(steps=[], stop="stop"))
    assert detect(bare).cannot_check == tuple(rule.code for rule in rollout_rules())
    assert detect(unrecorded).cannot_check == tuple(rule.code for rule in rollout_rules() if rule.reads != ("stop",))


def test_a_whole_rollout_is_checked_by_all() -> None:
    step = Step(index=0, party="agent", kind="message", text="The answer is 42.")
    rollout = rollout_of(Case(steps=[step], stop="completed"))
    assert detect(rollout) is NOTHING_DETECTED


def test_rules_run_only_when_a_gate_is_open() -> None:
    call = Step(index=0, party="agent", kind="call", tool="t", arguments="{")
    rollout = rollout_of(Case(steps=[call, call, call]))
    counted = [each for each in rollout_rules() if each.code in ("BEH001", "BEH003")]
    assert {hit.code for hit in Engine(counted).detect(rollout).hits} == {"BEH001", "BEH003"}
    assert not Engine(counted).detect(msgspec.structs.replace(rollout, features=Features(steps=3, calls=3))).hits


def test_no_more_than_three_hits_a_rule() -> None:
    call = Step(index=0, party="agent", kind="call", tool="t", arguments="{")
    rollout = rollout_of(Case(steps=[msgspec.structs.replace(call, index=i, tool=str(i)) for i in range(9)]))
    assert places(detect(rollout), "BEH003") == [(0, "arguments"), (1, "arguments"), (2, "arguments")]


def test_nesting_too_deep_for_the_reader_is_no_mistake_of_the_agent() -> None:
    call = Step(index=0, party="agent", kind="call", tool="t", arguments="[" * 100_000 + "]" * 100_000)
    assert detect(rollout_of(Case(steps=[call]))).hits == ()


def test_steps_that_share_an_index_are_told_apart() -> None:
    steps = [
        Step(index=4, party="agent", kind="call", tool="a", arguments='{"x": 1}', call_id="1"),
        Step(index=4, party="agent", kind="call", tool="b", arguments="{'x': 2}", call_id="2"),
    ]
    rollout = rollout_of(Case(steps=steps))
    (hit,) = detect(rollout).hits
    assert find(rollout, hit) == Evidence(key=KEY, step=4, field="arguments", quote="{'x': 2}")


def test_words_that_are_gone_are_an_error_of_the_artifact() -> None:
    rollout = rollout_of(Case(steps=None, error="connection reset by peer"))
    (hit,) = detect(rollout).hits
    with pytest.raises(ArtifactError, match="no longer holds"):
        find(msgspec.structs.replace(rollout, error="gone"), hit)


def one_rule(check: CheckRollout, **declared: Any) -> Engine:
    declared = {"scope": "rollout", "suggests": Cause.BEHAVIOR, "kind": "direct", "reads": ("steps",)} | declared
    return Engine([rule("BEH900", **declared)(check)])


@pytest.mark.parametrize("quote", ["not there", "", "x" * 301])
def test_a_quote_that_is_not_there_is_a_bug(quote: str) -> None:
    def check(rollout: Rollout) -> Iterator[Evidence]:
        yield Evidence(key=rollout.key, step=0, field="text", quote=quote)

    step = Step(index=0, party="agent", kind="message", text="x" * 400)
    with pytest.raises(ValueError, match="BEH900") as caught:
        one_rule(check).detect(rollout_of(Case(steps=[step])))
    assert caught.value.__notes__ == ["rule BEH900 on rollout t#0 (case.jsonl:1)"]


def test_evidence_from_another_rollout_is_a_bug() -> None:
    def check(_: Rollout) -> Iterator[Evidence]:
        yield Evidence(key=RolloutKey(run="a", task_id="t", repeat=1), step=0, field="text", quote="x")

    with pytest.raises(ValueError, match="BEH900"):
        one_rule(check).detect(rollout_of(Case(steps=[Step(index=0, party="agent", kind="message", text="x")])))


def test_a_rule_may_read_the_row() -> None:
    def check(rollout: Rollout) -> Iterator[Evidence]:
        yield Evidence(key=rollout.key, step=None, field="checks.1.name", quote="second")
        yield Evidence(key=rollout.key, step=None, field="checks.1.passed", quote="false")

    row: dict[str, object] = {"checks": [{}, {"name": "second", "passed": False}]}
    reads = one_rule(check, reads=("row.checks",))
    rollout = rollout_of(Case(steps=None, row=row))
    assert [find(rollout, hit).quote for hit in reads.detect(rollout).hits] == ["second", "false"]
    assert reads.detect(rollout_of(Case(steps=None))).cannot_check == ("BEH900",)


@pytest.mark.parametrize(
    "declared",
    [
        {"scope": "task"},
        {"scope": "run"},
        {"reads": ()},
        {"reads": ("trajectory",)},
        {"reads": ("steps", "row.note"), "phrases": ("x",), "within": "errors"},
        {"phrases": ("x",)},
        {"within": "errors"},
    ],
)
def test_a_rule_that_cannot_be_served_is_refused(declared: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="BEH900"):
        one_rule(lambda _: iter(()), **declared)


RULE = '''"""A rule.

Why it matters
    It does.

What to do
    Something.

Limits
    None.
"""
from blade.model.finding import Cause
from blade.rules.declaration import rule

@rule("{code}", scope="rollout", suggests=Cause.BEHAVIOR, kind="direct", reads=("steps",))
def {function}(rollout):
    yield from ()
'''


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"one": ("BEH001", "one"), "two": ("BEH001", "two")}, "BEH001 is the code of both one and two"),
        ({"one": ("BEH001", "other")}, "file and function have one name"),
        ({"one": ("ANS001", "one")}, "ANS001 is no code of the family 'behavior'"),
    ],
)
def test_loading_refuses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, tuple[str, str]], message: str
) -> None:
    package = f"rules_{abs(hash(message))}"
    folder = tmp_path / package / "behavior"
    folder.mkdir(parents=True)
    (tmp_path / package / "__init__.py").touch()
    (folder / "__init__.py").touch()
    for name, (code, function) in files.items():
        (folder / f"{name}.py").write_text(RULE.format(code=code, function=function))
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ValueError, match=re.escape(message)):
        load(package, "rollout")


PHRASES = [
    *(phrase for each in rollout_rules() for phrase in each.phrases),
    r"say \"no\"",
    r"a\s+b",
    r"path/to\\file",
    r"x.{0,3}y",
    r"[^a-z]{2}q",
    r"[\"']?key[\"' ]:",
    r"\Wend\S$",
    r"one\ntwo\ttabs",
    r"(?:ab|c\.d)+\(e\)",
    r"[\w-]+@x",
]
HOSTILE = st.text(alphabet=st.sampled_from(list("abxyqk'\"/\\ \n\t\x0b.:-_@()\u2019\u017f\u212a\xe9\U0001f600429")))


@pytest.mark.parametrize("phrase", PHRASES)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_a_phrase_is_searched_for_as_it_is_confirmed(phrase: str, data: st.DataObject) -> None:
    near = st.from_regex(re.compile(phrase, FLAGS), fullmatch=True)
    text = data.draw(HOSTILE) + data.draw(near) + data.draw(HOSTILE)
    if any_of([phrase]).search(text):
        assert 5 in searcher(phrase)(f"before\n{text}\nbehind")


@cache
def searcher(phrase: str) -> Search:
    return search_for([(5, (phrase,))])


WITH_CONTEXT = (
    *PERHAPS,
    *DONE,
    *refusal.DECLINES,
    *unknown_tool.SURE,
    *claimed_without_action.OWN,
    *claimed_without_action.PASSIVE,
)
"""Phrases of which many ask something of the words around them."""


@pytest.mark.parametrize("phrase", [*WITH_CONTEXT, *claimed_without_action.STATE, *PHRASES])
@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_searching_first_finds_all_that_the_pattern_finds(phrase: str, data: st.DataObject) -> None:
    asked = any_of([phrase])
    near = st.from_regex(re.compile(without_lookaround(phrase), FLAGS), fullmatch=True)
    text = data.draw(HOSTILE) + data.draw(near) + data.draw(HOSTILE)
    plain = [found.span() for found in re.finditer(phrase, text, FLAGS)]
    assert [found.span() for found in asked.finditer(text)] == plain
    assert (asked.search(text) is not None) == bool(plain)
    assert asked.is_in(text) == bool(plain)


SEVERAL = (
    r"\bno\b(?! doubt)",
    r"\bno (?:way|doubt)\b",
    "a+",
    "aab",
    r"\bcan(?:not|.t)\b",
    r"(?<!the )\bway",
    "^b",
    "\u00e9t\u00e9",
)


@pytest.mark.parametrize("phrases", [SEVERAL, tuple(filter(str.isascii, SEVERAL)), claimed_without_action.PASSIVE])
@settings(max_examples=300, deadline=None)
@given(
    words=st.lists(
        st.sampled_from(
            (
                *(
                    "no",
                    "No way",
                    "doubt",
                    "the way",
                    "aaab",
                    "aab",
                    "b",
                    "can\u2019t",
                    "\u00e9t\u00e9",
                    "\n",
                    "K",
                    "?",
                ),
                *("has been", "now", "successfully", "updated", "by", "your", "refund", "is complete", "\u017fent"),
                "\ud800",
            )
        )
    ),
    between=st.sampled_from([" ", "", "  "]),
)
def test_several_phrases_are_found_as_alternatives_of_one_pattern(
    phrases: tuple[str, ...], words: list[str], between: str
) -> None:
    text = between.join(words)
    whole = re.compile("|".join(f"(?:{phrase})" for phrase in phrases), FLAGS)
    asked = any_of(phrases)
    assert [found.span() for found in asked.finditer(text)] == [found.span() for found in whole.finditer(text)]
    assert asked.is_in(text) == (whole.search(text) is not None)


def test_without_the_flag_for_ascii_letters_of_every_script_are_the_same_in_capitals() -> None:
    assert any_of(["stra\u00dfe|\u00c9t\u00e9", "kelvin"], re.IGNORECASE).is_in("un \u00e9T\u00c9")
    assert any_of(["kelvin"], re.IGNORECASE).is_in("\u212aelvin")
    assert not any_of(["kelvin"]).is_in("\u212aelvin")
    assert any_of(["kelvin"]).is_in("a KELVIN")


def test_what_stands_around_a_phrase_is_left_out_of_the_search() -> None:
    assert without_lookaround(r"(?<!the )\bissue(?!s? ?#?\d)[(?!]\)") == r"\bissue[(?!]\)"
    assert without_lookaround(r"a(?=b(?:c|d)(e))f(?:g)") == "af(?:g)"


def test_a_search_names_the_rules_whose_phrases_are_there() -> None:
    search = search_for([(3, ("rate limit", "quota")), (4, ("never", "\u9650\u6d41"))])
    assert set(search("a Rate Limit, and no QUOTA")) == {3}
    assert set(search("never: \u9650\u6d41, rate limit")) == {3, 4}
    assert not search("nothing")


@pytest.mark.parametrize("phrase", [r"(?=x)", r"(?<!y)x", r"(x)\1", "(", "[a"])
def test_phrases_that_cannot_be_searched_for(phrase: str) -> None:
    with pytest.raises((ValueError, re.error)):
        search_for([(0, (phrase,))])


def message(text: str, index: int = 0) -> Step:
    return Step(index=index, party="agent", kind="message", text=text)


def result(text: str, *, failed: bool = False, tool: str | None = None) -> Step:
    return Step(index=0, party="tool", kind="result", text=text, failed=failed, tool=tool)


def test_errors_are_searched_for_where_they_can_be() -> None:
    log = "x" * (HEAD + 1)
    steps = (message("never here"), result("short"), result(log), result("e" * 900, failed=True))
    assert errors(steps).split("\n") == ["e" * OPENING, "short", "e" * HEAD]
    longer = "y" * HEAD
    assert errors((result(longer, tool="get_order"), result(longer, tool="bash"))) == longer
    assert errors(()) == ""


def test_closing_words_are_those_after_the_last_call_and_at_least_two_messages() -> None:
    call = Step(index=0, party="agent", kind="call", tool="t", arguments="{}")
    user = Step(index=0, party="user", kind="message", text="yes")
    assert closing((message("a"), message("b"), message("c"))) == "c\nb"
    assert closing((message("a"), message("b"), call, user, message("c"))) == "c\nb"
    assert closing((message("a"), call, message("b"), message(" "), message("c"), message("d"))) == "d\nc\nb"
    assert closing((call, message("o" * 400))) == "o" * OPENING + "\n" + "o" * 400
