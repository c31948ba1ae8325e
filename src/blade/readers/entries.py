"""Rows of `attributions.jsonl`: what a reader says of a rollout, that it is taken back, or what a mode of its own means.

A row is read as strictly as it is written, whoever wrote it: a slip in the name of a field would lose what stands in it.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, get_args

import msgspec
from msgspec import Struct

from blade.files import FILLED_IN, READERS_FIELDS
from blade.model.attribution import UNATTRIBUTED, Confidence, Responsible
from blade.model.errors import RequestError
from blade.model.finding import LONGEST_QUOTE
from blade.model.reading import BY_LABEL, BY_MACHINE, SOUND, Drawn, ReaderAttribution
from blade.modes.catalog import by_code

PARTIES: tuple[str, ...] = get_args(Responsible)
TO_FILL_IN = ("mode", "party", "quote", "note")
"""What a reader writes into a row of a sample."""
SHORTEST_QUOTE = 4
"""Characters: shorter words stand in nearly every rollout and show nothing."""
LISTED = '`blade modes` lists them; --define CODE "one sentence" makes one'
LONGEST_NAME = 60
LONGEST_NOTE = 2_000
MOST_QUOTES = 8
_LOCATION = re.compile(r"^(?P<task>.+)#(?P<repeat>\d{1,9})(?::\d{1,9})?$", re.DOTALL)
_CODE = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")


class ReaderEntry(Struct, frozen=True, kw_only=True):
    """One row, read: as far as it can be judged without the rollout."""

    by: str
    task_id: str = ""
    repeat: int = 0
    mode: str = ""
    party: str | None = None
    confidence: Confidence = Confidence.LIKELY
    subject: str = ""
    quotes: tuple[str, ...] = ()
    note: str = ""
    run: str | None = None
    artifact: str = ""
    mark: str = ""
    sample: Drawn | None = None
    define: str = ""
    definition: str = ""
    remove: bool = False

    @property
    def location(self) -> str:
        """`TASK#REPEAT`; empty where a row only defines a mode."""
        return f"{self.task_id}#{self.repeat}" if self.task_id else ""


def entry_of(row: Mapping[str, Any], by: str | None = None) -> ReaderEntry:
    """A row as an entry, `by` a reader where the row names none; raises with what is wrong with it."""
    for name in row:
        if name not in READERS_FIELDS:
            raise RequestError(f"no field is called {name!r}", hint=_did_you_mean(name, FILLED_IN))
    given = {
        name: _line(name, row[name]) for name in ("mode", "subject", "note", "define", "definition") if row.get(name)
    }
    task, repeat = _place(row)
    define = given.get("define", "")
    if not task and not define:
        raise RequestError("no rollout is named", hint="write TASK#REPEAT, for example 39#1; many at once: --file FILE")
    if define:
        _check_code(define)
    if define and not given.get("definition"):
        raise RequestError(f"the mode {define!r} is defined without a sentence", hint='"definition": "one sentence"')
    confidence = row.get("confidence") or Confidence.LIKELY
    if confidence not in list(Confidence):
        raise RequestError(f"{confidence!r} is not a confidence", hint="proven, likely or suspected")
    return ReaderEntry(
        by=reader_named(row.get("by") or by),
        task_id=task,
        repeat=repeat,
        mode=given.get("mode", define if task else ""),
        party=_party(row.get("party")),
        confidence=Confidence(confidence),
        subject=given.get("subject", ""),
        quotes=_quotes(row),
        note=given.get("note", ""),
        run=_text("run", row["run"]) if row.get("run") else None,
        artifact=_text("artifact", row.get("artifact") or ""),
        mark=_text("mark", row.get("mark") or ""),
        sample=_sample(row.get("sample")),
        define=define,
        definition=given.get("definition", ""),
        remove=row.get("remove") is True,
    )


def reader_named(name: object) -> str:
    """The name of a reader; raises where there is none, or one that a rule could have."""
    if not isinstance(name, str) or not name.strip():
        raise RequestError("no reader is named", hint="--as NAME, or a field `by` in the row")
    if len(name) > LONGEST_NAME or not name.isprintable() or name != name.strip():
        raise RequestError(f"{name[:LONGEST_NAME]!r} is no name", hint=f"at most {LONGEST_NAME} plain characters")
    if name.startswith(BY_MACHINE) or name == BY_LABEL:
        raise RequestError(f"{name!r} is how rules, packages and labels are named", hint="take another name")
    return name


def mode_named(code: str, own: Sequence[str], *, passed: bool) -> str:
    """A mode of the catalog, or one that readers define; raises with the nearest ones."""
    if code in by_code() or code in own or code in ((SOUND,) if passed else (UNATTRIBUTED,)):
        return code
    if code == SOUND:
        raise RequestError(
            f"`{SOUND}` is for passes, and the rollout did not pass", hint=f"{UNATTRIBUTED}: nothing decides"
        )
    if code == UNATTRIBUTED:
        raise RequestError(f"a pass is not {UNATTRIBUTED}", hint=f"`{SOUND}`: nothing is wrong with it")
    named = [*by_code(), *own, SOUND if passed else UNATTRIBUTED]
    raise RequestError(
        f"no failure mode has the code {code!r}",
        hint=f"{_did_you_mean(code, named, _by_words(code), ' ')} {LISTED}".strip(),
    )


def _by_words(code: str) -> list[str]:
    """Modes whose code or wording has a word of an unknown code."""
    words = {word for word in re.split(r"[^a-z]+", code.lower()) if len(word) > 3}
    return [
        one.code for one in by_code().values() if words & set(re.split(r"[^a-z]+", f"{one.code} {one.row}".lower()))
    ]


def _did_you_mean(name: str, known: Sequence[str], more: Sequence[str] = (), otherwise: str = "") -> str:
    near = list(dict.fromkeys([*difflib.get_close_matches(name.lower(), known, n=3, cutoff=0.5), *more]))[:4]
    return f"did you mean {' or '.join(near)}?" if near else otherwise or f"one of {', '.join(known)}"


def _check_code(code: str) -> None:
    if _CODE.fullmatch(code) is None or len(code) > LONGEST_NAME:
        raise RequestError(
            f"{code[:LONGEST_NAME]!r} is no code", hint="lower-case words with hyphens, as in lost-the-thread"
        )
    if code in by_code() or code in (SOUND, UNATTRIBUTED):
        raise RequestError(
            f"the mode {code!r} exists", hint=f"blade modes {code} says what it means; take another name"
        )


def _place(row: Mapping[str, Any]) -> tuple[str, int]:
    if row.get("task_id") is not None:
        repeat = row.get("repeat")
        if not isinstance(repeat, int) or isinstance(repeat, bool) or not 0 <= repeat < 1 << 31:
            raise RequestError(f"{repeat!r} is no repeat", hint="a whole number from 0")
        return _text("task_id", row["task_id"]), repeat
    location = _text("location", row.get("location") or "")
    match = _LOCATION.match(location)
    if location and match is None:
        raise RequestError(f"{location!r} is not a location", hint="write TASK#REPEAT, for example 39#1")
    return (match["task"], int(match["repeat"])) if match else ("", 0)


def _party(party: object) -> str | None:
    if party in (None, ""):
        return None
    if not isinstance(party, str) or party not in PARTIES:
        raise RequestError(f"{party!r} is not a party", hint=f"one of {', '.join(PARTIES)}")
    return party


def _quotes(row: Mapping[str, Any]) -> tuple[str, ...]:
    given = row.get("quotes") or ([row["quote"]] if row.get("quote") else [])
    if not isinstance(given, list | tuple) or len(given) > MOST_QUOTES:
        raise RequestError("`quotes` is no list of quotes", hint=f"at most {MOST_QUOTES}")
    return tuple(quote_of(one.get("quote") if isinstance(one, dict) else one) for one in given)


def quote_of(quote: object) -> str:
    """A quote that can be looked for; raises where it is too short or too long."""
    text = _text("quote", quote)
    if len("".join(text.replace("...", "").split())) < SHORTEST_QUOTE:
        raise RequestError(
            f"the quote {text!r} is too short to show anything", hint=f"{SHORTEST_QUOTE} characters or more"
        )
    if len(text) > LONGEST_QUOTE:
        raise RequestError(
            f"a quote has {len(text):,} characters", hint=f"give at most {LONGEST_QUOTE}; ... stands for words left out"
        )
    return text


def _line(name: str, value: object) -> str:
    """Words of the reader's own on one line, without what a terminal would obey."""
    text = _text(name, value)
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def _text(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise RequestError(f"`{name}` is no text", hint="put it in quotation marks")
    if len(value) > LONGEST_NOTE:
        raise RequestError(f"`{name}` has {len(value):,} characters", hint=f"at most {LONGEST_NOTE:,}")
    # A half of a character pair cannot be written.
    return value.encode(errors="replace").decode()


def _sample(value: object) -> Drawn | None:
    if value is None:
        return None
    try:
        found = msgspec.convert(value, Drawn)
    except msgspec.ValidationError as error:
        raise RequestError(f"`sample` is not what `blade sample` writes: {error}", hint="leave it as it was") from None
    if not 0 < found.drawn <= found.size:
        raise RequestError("`sample` is not what `blade sample` writes", hint="leave it as it was")
    return found


def row_of_reading(one: ReaderAttribution) -> dict[str, object]:
    """A reading as the row that is stored; without what is empty."""
    row = {
        "run": one.run,
        "task_id": one.task_id,
        "repeat": one.repeat,
        "mode": one.mode,
        "party": one.party,
        "confidence": str(one.confidence),
        "subject": one.subject,
        "quotes": [msgspec.structs.asdict(quote) for quote in one.quotes],
        "note": one.note,
        "by": one.by,
        "artifact": one.artifact,
        "mark": one.mark,
        "sample": msgspec.structs.asdict(one.sample) if one.sample is not None else None,
    }
    return {name: value for name, value in row.items() if value not in ("", None, [])}


def definition_row(code: str, definition: str, party: str, by: str) -> dict[str, object]:
    """What a mode of the reader's own means, as the row that is stored."""
    return {"define": code, "definition": definition, "party": party, "by": by}


def decoded(line: bytes) -> dict[str, Any]:
    """The object of a line; raises where it is none."""
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        raise RequestError("the line is no JSON object", hint="it may be torn: write it again") from None
    if not isinstance(row, dict):
        raise RequestError("the line is no JSON object", hint='one object a line: {"location": "39#1", ...}')
    return row
