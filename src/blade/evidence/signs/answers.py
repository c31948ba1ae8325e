"""Single answers: how the produced answer differs from the key, and the first false equation of a worked solution.

Failed rollouts: `answer:KIND` for each kind of `answer_kinds`, with the two values as subject ("got|wanted"), and besides
`answer:empty` (nothing to judge), `answer:format` (the text states the key, and it was not extracted, or the items of a list are set apart in another way), `answer:truncated` (a
limit of tokens ended the text), `answer:several` (more than one boxed value), `answer:passage` (the sentence of a long conclusion that most likely
carries the answer; subject "actor|wanted"), `answer:equal-but-rejected` (the same text or
value as the key), `answer:other` (a text beside another; what
was extracted), `answer:plainly-stated` (nothing was extracted, the last line says the key in a few words, and the prompt
asks for no form). Passing rollouts: `answer:exact`, or `answer:loose` with the kind as subject, so that passes can show what
the verifier does not mind. Both: `work:false-equation` with its line. None where the key is a list of calls.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from blade.evidence.answer_forms import AnswerMatch, boxed
from blade.evidence.answer_kinds import Kind, kind_of
from blade.evidence.answers import TAIL, compare_final, stated, value_of
from blade.evidence.closings import carrying, concluding, final_text
from blade.evidence.differences import limits_of
from blade.evidence.equations import first_false
from blade.model.finding import Sign
from blade.model.rollout import JUDGED, Outcome, Rollout, Step

LONGEST = 200
"""Characters of a quote; the sign's own limit."""
LONGEST_SIDE = 58
"""Characters of each of two values: both and the bar between them keep within a subject's 120."""
LEAD = 12
"""Characters of two long values that are shown before they part, at the least."""
SHORT = 200
"""A longer last message is no answer by itself."""
MOST_WORDS = 6
"""Words before the value in a line that states it; a longer line is a sentence about it."""
_AROUND = "*_`. !$\"'"
_FORM = re.compile(
    r"\\boxed|#{3,}|</?\w+>|```|\[\[|\bJSON\b|\bXML\b|\bformat\b|\bexactly\b|\bonly (?:the|with|your|a)\b|\b[Aa]nswer\s?(?:is)?:|\b[Aa]nswer is\b|\bANSWER\b",
)
"""A prompt that asks for a form, or shows one: then a plain statement may not be what the grader has to read."""
_NOT_KINDS = (Kind.UNKNOWN, Kind.CONTAINED)
"""What two readers would not call a difference."""
_EQUAL = (Kind.EXACT, Kind.OTHER_FORM)


def answer_signs(rollout: Rollout) -> Sequence[Sign]:
    """How the answer of a judged rollout compares with the key, and where its work first goes wrong."""
    due = rollout.due
    if rollout.outcome not in JUDGED or due.calls is not None:
        return ()
    found: list[Sign] = []
    if due.answer is not None:
        found += _failing(rollout, due.answer) if rollout.outcome is Outcome.FAILED else _passing(rollout, due.answer)
    if (work := _work(rollout)) is not None:
        found.append(work)
    return found


def _failing(rollout: Rollout, key: str) -> Iterator[Sign]:
    found = tuple(_compared(rollout, key))
    if found or len(key) > SHORT:
        yield from found
    elif (answer := (rollout.answer or "").strip()) and len(answer) <= SHORT:
        yield _sign(rollout, "answer:other", answer, key, final_text(rollout.steps))
    else:
        yield from _carrying(rollout, key)


def _compared(rollout: Rollout, key: str) -> Iterator[Sign]:
    """How what was produced compares with the key, where both are values."""
    text = final_text(rollout.steps)
    got = _produced(rollout, text)
    limits = limits_of(rollout, rollout.due) if rollout.stop or rollout.due.said else ()
    if cut := [limit for limit in limits if limit.name == "tokens"]:
        stop = rollout.stop or "" if cut[0].detail == "stop" else ""
        yield Sign(kind="answer:truncated", subject=(stop or cut[0].detail)[:LONGEST])
    if "\\boxed{" in text and len({value_of(box) for box in boxed(text[-2 * SHORT :])}) > 1:
        yield _sign(rollout, "answer:several", boxed(text)[-1], key, text)
    states_key = compare_final(text, key) is AnswerMatch.NOT_EXTRACTED
    if states_key and rollout.due.extracts and (not got or kind_of(got, key) not in _EQUAL):
        said = next((line for line in reversed(text.splitlines()) if key in line), key)
        yield _sign(rollout, "answer:format", said.strip(), key, text)
        last = text.rstrip().rpartition("\n")[2]
        if not got and _is_plain(last, key) and not any(_FORM.search(step.text) for step in rollout.prompt):
            yield _sign(rollout, "answer:plainly-stated", last.strip(), key, text)
    elif not got:
        called = rollout.features is not None and rollout.features.calls > 0  # an answer may be handed in by a call
        if rollout.due.extracts or (not text.strip() and not called):
            yield Sign(kind="answer:empty")
    elif (kind := kind_of(got, key)) in _EQUAL:
        yield _sign(rollout, "answer:equal-but-rejected", got, key, text)
    elif kind not in _NOT_KINDS:
        yield _sign(rollout, f"answer:{kind}", got, key, text)


def _is_plain(line: str, key: str) -> bool:
    """Whether a line says the key and little else, the key last."""
    said = line.strip().strip(_AROUND)
    return said.casefold().endswith(key.strip().casefold()) and len(said[: -len(key.strip())].split()) <= MOST_WORDS


_AS_THE_KEY = (Sign(kind="answer:exact"),)


def _carrying(rollout: Rollout, key: str) -> Iterator[Sign]:
    """The sentence near the end that carries the answer, with who says it; without one, who concludes."""
    found, last = carrying(rollout.steps, key), concluding(rollout.steps)
    step, quote = found if found is not None else (last, "")
    if step is not None:
        there = any(map(str.isalnum, quote)) and quote in step.text
        subject = f"{(step.actor or '')[:LONGEST_SIDE]}|{_short(key)}"
        yield Sign(
            kind="answer:passage",
            subject=subject,
            quote=quote if there else "",
            field="text" if there else "",
            step=step.index,
        )


def _passing(rollout: Rollout, key: str) -> Sequence[Sign]:
    given = bool(rollout.answer) or rollout.due.extracts  # then what was said last is not asked for
    got = _produced(rollout, "" if given else final_text(rollout.steps))
    kind = kind_of(got, key) if got else None
    if kind is None or kind is Kind.EXACT:
        return _AS_THE_KEY if got else ()
    return (Sign(kind="answer:loose", subject=str(kind)),)


def _produced(rollout: Rollout, text: str) -> str:
    """What was judged: the answer of the row, else what a box or a short last message holds."""
    answer = (rollout.answer or "").strip()
    if answer or rollout.due.extracts:
        return answer
    boxes = boxed(text)
    if boxes or len(text) <= SHORT:
        return boxes[-1].strip() if boxes else text.strip()
    said = (stated(text[-TAIL:]) or "").strip()
    return said if len(said) <= SHORT else ""


def _sign(rollout: Rollout, kind: str, got: str, key: str, text: str) -> Sign:
    subject = "|".join(_apart(got, key))
    quote = got[:LONGEST].strip()
    if quote and quote in text:
        step = next(
            s for s in reversed(rollout.steps or ()) if s.kind == "message" and s.party == "agent" and quote in s.text
        )
        return Sign(kind=kind, subject=subject, quote=quote, field="text", step=step.index)
    field = _field_of(rollout.row, got) if quote else ""
    return Sign(kind=kind, subject=subject, quote=quote if field else "", field=field)


def _apart(one: str, other: str) -> tuple[str, str]:
    """Both values, long ones from shortly before where they part: two texts that begin alike would read as the same."""
    one, other = " ".join(one.split()), " ".join(other.split())
    pairs = enumerate(zip(one, other, strict=False))
    alike = next((place for place, (here, there) in pairs if here != there), min(len(one), len(other)))
    start = one.rfind(" ", 0, alike - LEAD) + 1 if alike > LONGEST_SIDE / 2 else 0
    before = "..." if start else ""
    return _short(before + one[start:]), _short(before + other[start:])


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= LONGEST_SIDE else flat[: LONGEST_SIDE - 3] + "..."


def _field_of(row: Mapping[str, object], value: str) -> str:
    """Where the row holds a value as its text: a field, or one inside it; empty where it is nowhere."""
    for name, item in row.items():
        if isinstance(item, str) and item.strip() == value:
            return name
        for inner, one in item.items() if isinstance(item, dict) else ():
            if isinstance(one, str) and one.strip() == value and "." not in inner:
                return f"{name}.{inner}"
    return ""


def _work(rollout: Rollout) -> Sign | None:
    """The first false equation of a solution that was written without tools and without a talk."""
    features = rollout.features
    if features is None or features.calls or features.user_messages:
        return None
    for step in rollout.steps or ():
        if step.kind == "message" and step.party == "agent" and (found := first_false(step.text)) is not None:
            return _of_line(step, found.line, f"{found.left.strip()} = {found.right.strip()}")
    return None


def _of_line(step: Step, line: str, equation: str) -> Sign:
    """A line in which an equation stands, cut to what a quote may hold."""
    quote = line.strip()
    return Sign(
        kind="work:false-equation", subject=equation[:120], quote=quote[:LONGEST].strip(), field="text", step=step.index
    )
