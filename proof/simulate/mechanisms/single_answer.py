"""Question and answer: the model's own ways of handing in nothing that can be judged."""

from __future__ import annotations

from random import Random

from blade.model.finding import Cause
from proof.simulate.draft import Draft, said, thought
from proof.simulate.mechanism import mechanism
from proof.simulate.single import Question, answered, judged, working


@mechanism("single", mode="token-limit", cause=Cause.BEHAVIOR, must=("ANS001",), may=("ANS002", "ANS005"))
def cut_by_tokens(task: Question, rng: Random) -> Draft:
    """The output ends at the token limit, in the middle of a sentence."""
    text = " ".join(working(task, rng, task.answer) for _ in range(3))
    draft = judged(task, rng, None, text[: rng.randint(len(text) // 2, len(text) - 8)])
    draft.response = rng.choice(
        (
            {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}},
            {"incomplete_details": {"reason": "max_tokens"}},
            {"incomplete_details": {"reason": "length"}},
        )
    )
    draft.mark(str(draft.response["incomplete_details"]["reason"]), "response.incomplete_details.reason")
    return draft


@mechanism(
    "single",
    mode="output-missing",
    modes_too=("no-action", "wrong-format", "wrong-answer"),
    cause=Cause.BEHAVIOR,
    must=("ANS002",),
    may=("ANS005",),
)
def only_thought(task: Question, rng: Random) -> Draft:
    """The model thinks, and its message is empty."""
    thinking = thought(f"{working(task, rng, task.answer)} {rng.choice(('Now write it down.', 'Good. Done.'))}")
    items = rng.choice(([thinking, said("")], [thinking], [thinking, said("\n")]))
    return Draft(items=list(items), reward=0.0, fields={"extracted_answer": rng.choice((None, ""))})


REFUSALS = (
    "I'm sorry, but I can't assist with that request.",
    "Unfortunately I am not able to answer this question, as it may involve private business information.",
    "I won't be providing an answer here; questions of this kind fall outside what I am allowed to do.",
    "As an AI developed to be safe, I must decline to work with these figures.",
    "Lo siento, pero no puedo ayudarte con esta solicitud.",
    "Ich kann dir bei dieser Anfrage leider nicht helfen.",
    "This request goes against my guidelines, so I will have to pass on it.",
)


@mechanism("single", mode="refused", cause=Cause.BEHAVIOR, must=("ANS003",), may=("ANS005",))
def declined(task: Question, rng: Random) -> Draft:
    """The model declines a harmless question."""
    words = rng.choice(REFUSALS)
    draft = judged(task, rng, None, words)
    draft.mark(words)
    return draft


WANDERING = (
    (
        "One could begin with the first figure. Or with the last one; both ways are common in practice. It depends on what "
        "the reader has in mind, and there are good reasons for each."
    ),
    (
        "There are several things to consider. The text gives some values, and the question refers to them. Before going "
        "further it would be useful to look at how such problems are usually set up."
    ),
    (
        "Interesting question! Problems like this train careful reading. I would start by listing what is known, then what "
        "is asked, and only then combine them."
    ),
)


@mechanism(
    "single",
    mode="output-missing",
    modes_too=("handed-back", "no-action", "wrong-format", "wrong-answer"),
    cause=Cause.BEHAVIOR,
    must=("ANS005",),
)
def never_committed(task: Question, rng: Random) -> Draft:
    """The model talks about the question and never gives an answer."""
    text = rng.choice(WANDERING) + " " + rng.choice(("Let me know which way you prefer.", "More could be said.", ""))
    draft = judged(task, rng, None, text.strip())
    draft.fields["extracted_answer"] = rng.choice((None, ""))
    return draft


@mechanism("single", cause=Cause.KNOWLEDGE, kind="model", one_run=True, doses=(1.0,), may=("TSK008",))
def sure_and_wrong(task: Question, rng: Random) -> Draft:
    """One model gives the same wrong answer each time, which the other model does not."""
    return answered(task, rng, task.wrong[0])


@mechanism("single", cause=Cause.UNRELIABLE, kind="model", doses=(0.5, 0.75))
def lucky_guess(task: Question, rng: Random) -> Draft:
    """Most repeats are wrong in different ways, and a pass is a guess."""
    return answered(task, rng, rng.choice(task.wrong))


@mechanism(
    "single",
    mode="token-limit",
    cause=Cause.KNOWLEDGE,
    kind="model",
    must=("ANS001",),
    may=("ANS005",),
    rest="mostly slip",
    doses=(0.25,),
)
def wrong_and_one_cut(task: Question, rng: Random) -> Draft:
    """All repeats but one give different wrong answers; that one is cut by the token limit."""
    draft = judged(task, rng, None, working(task, rng, task.answer)[:40])
    draft.response = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
    return draft
