"""A proof in words: numbers stand beside what they rest on, and nothing said is said as nothing."""

from __future__ import annotations

import json

from blade.model.finding import Cause
from proof.simulate.calibration import calibrated
from proof.simulate.mechanism import Mechanism
from proof.simulate.score import Miss, Proof
from proof.simulate.tally import Tally
from proof.simulate.text import RuleName, as_json, causes, listed, mechanism_table, misses, reached, rule_table, strays

MISS = Miss(
    world="tools",
    seed=2,
    run="kestrel",
    task="a",
    mechanism="no-sandbox",
    truth="infra",
    said="behavior",
    because="4 of 4 | nothing",
    place="a#1",
)
PROOF = Proof(
    causes={"infra": Tally(planted=4, right=3), "behavior": Tally(wrong=1), "data": Tally()},
    mechanisms={"tools: no-sandbox": Tally(planted=4, right=3)},
    rules={"INF005": Tally(planted=4, right=2, wrong=2)},
    strays=("INF005 in tools 2 kestrel b#0 (nothing planted)", "INF005 in tools 3 kestrel c#0 (nothing planted)"),
    misses=(MISS,),
    clean=7,
)
NOTHING = calibrated([], [])


def test_the_aims_stand_with_their_figures() -> None:
    text = reached(PROOF, NOTHING)
    assert "| causes right | at least 0.95 | 3 of 4 (0.750) |" in text
    assert "| clean tasks accused | 0 | 0 of 7 |" in text
    assert "none points on average; the interval holds 0 in 0 of 0" in text


def test_what_was_never_said_has_no_precision() -> None:
    assert "| infra | 4 | 3 | 0 | 1.00 | 0.75 |" in causes(PROOF)
    assert "| data | 0 | 0 | 0 |  |  |" in causes(PROOF)


def test_a_rule_that_nothing_was_planted_for_is_listed_too() -> None:
    names = {code: RuleName(name="x", status="preview", scope="rollout") for code in ("INF005", "INF006")}
    text = rule_table(PROOF, names)
    assert "| INF005 | x | preview | rollout | 4 | 2 | 2 | 0.50 | 0.50 |" in text
    assert "| INF006 | x | preview | rollout | 0 | 0 | 0 |  |  |" in text


def test_misses_and_strays_are_grouped_with_one_example() -> None:
    assert "| 1 | seed 2 kestrel a#1 | 4 of 4 \\| nothing |" in misses(PROOF)
    assert "| INF005 | nothing planted | 2 | tools 2 kestrel b#0 |" in strays(PROOF)
    assert (misses(Proof()), strays(Proof()), listed(())) == ("None.", "None.", "None.")


def test_a_mechanism_under_which_nothing_fails_says_so() -> None:
    one = Mechanism(
        name="quiet", world="code", what="W.", cause=None, kind="harmless", must=(), may=(), doses=(1.0,), rest="pass"
    )
    known = Mechanism(**(vars(one) | {"name": "no-sandbox", "world": "tools", "cause": Cause.INFRA}))
    text = mechanism_table(PROOF, [one, known])
    assert "| none |  | nothing fails |" in text
    assert "| infra |  | 3 of 4 |" in text


def test_the_json_holds_precision_and_recall() -> None:
    value = json.loads(as_json(PROOF, NOTHING))
    assert value["rules"]["INF005"] == {"planted": 4, "right": 2, "wrong": 2, "precision": 0.5, "recall": 0.5}
    assert value["misses"][0]["place"] == "a#1"
    assert value["calibration"]["mean_gain"] is None
