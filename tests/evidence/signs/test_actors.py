"""Who spoke last in a talk of several agents."""

from __future__ import annotations

from blade.evidence.signs.actors import actor_signs
from blade.model.finding import Sign
from blade.model.rollout import Outcome, Rollout, RolloutKey, RowSource, Step


def signs(*turns: tuple[str | None, str], outcome: Outcome = Outcome.FAILED) -> list[Sign]:
    steps = tuple(
        Step(index=n, party="agent", kind="message", actor=who, text=text) for n, (who, text) in enumerate(turns)
    )
    key = RolloutKey(run="r", task_id="t", repeat=0)
    return list(actor_signs(Rollout(key=key, outcome=outcome, source=RowSource(artifact="a"), steps=steps)))


def test_the_last_who_says_anything() -> None:
    talk, sign = signs(("Planner", "Let us count."), ("Solver", "It is 7."), ("Planner", " "))
    assert (sign.kind, sign.subject, sign.quote, sign.step) == ("actor:last", "Solver", "It is 7.", 1)
    assert (talk.kind, talk.subject) == ("talk:unfinished", "3")


def test_one_speaker_passes_and_talks_without_names_have_none() -> None:
    assert signs(("Solver", "It is 7."), ("Solver", "Yes.")) == []
    assert signs((None, "It is 7."), (None, "Yes.")) == []
    (talk,) = signs(("Planner", "a"), ("Solver", "b"), outcome=Outcome.PASSED)
    assert talk.kind == "talk:unfinished"
    assert signs() == []


def test_a_quote_is_the_end_of_a_long_text() -> None:
    text = f"{'word ' * 100}the end\n"
    _, sign = signs(("Planner", "a"), ("Solver", text))
    assert sign.quote.endswith("the end")
    assert sign.quote in text
    assert len(sign.quote) <= 200


def test_a_word_alone_on_the_last_line_closes_a_talk() -> None:
    for closing in ("It is 7.\n\nTERMINATE", "TERMINATE", "**DONE**"):
        talk, _ = signs(("Planner", "Let us count."), ("Solver", closing))
        assert (talk.kind, talk.subject) == ("talk:closed", "2"), closing
    talk, _ = signs(("Planner", "Let us count."), ("Solver", 'Reply with "TERMINATE" if you agree.'))
    assert talk.kind == "talk:unfinished"


def test_output_that_nobody_takes_up_is_no_conclusion() -> None:
    last = Step(index=1, party="tool", kind="result", actor="terminal", text="exit code 0: 12")
    first = Step(index=0, party="agent", kind="message", actor="planner", text="Run it.")
    made = Rollout(
        key=RolloutKey(run="r", task_id="t", repeat=0),
        outcome=Outcome.FAILED,
        source=RowSource(artifact="a"),
        steps=(first, last),
    )
    assert [sign.quote for sign in actor_signs(made) if sign.kind == "talk:no-conclusion"] == ["exit code 0: 12"]
