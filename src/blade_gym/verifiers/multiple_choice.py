r"""The model chooses the letter of the right option.

Reads the text of all assistant messages. `template_metadata.output_regex` of the row comes first, then the grading mode:

- `strict_single_letter_boxed`: the last `\boxed{}` holds a capital letter, alone or before `:`, `)`, `.` or `-`.

- `lenient_boxed`: the same, else the words of exactly one option stand in the last `\boxed{}`.

- `lenient_answer_colon`: after the first *Answer:* stands a letter, or the words of an option, to the end of the line.

- `lenient_answer_colon_md`: the last *Answer:* (bold or italic too) after which exactly one letter is chosen.

Row
    `expected_answer`: the letter. `options`: a list of objects by letter (`[{"A": "..."}, {"B": "..."}]`), one object by
    letter, or a list of texts. `grading_mode`: default `strict_single_letter_boxed`. `template_metadata`: `output_regex`,
    a Python pattern or a list of them, of which the first that matches gives a letter or the words of an option; its last
    match counts, in any case of letters. `metadata` is not read.

Config
    `grading_mode`: overrides the rows'.

Fields
    `extracted_answer`, `expected_answer`, `failure_reason`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from string import ascii_uppercase
from typing import Any

from blade_gym.environment import NoVerdict, Row, Verdict
from blade_gym.sandbox.worker import Worker
from blade_gym.single_turn import Config

Options = Sequence[tuple[str, str]]
"""Capital letter and words of each option that has words."""

DEFAULT_MODE = "strict_single_letter_boxed"
SECONDS = 2.0
"""Processor time of a row's own pattern: Python's patterns can take exponential time."""
_BOX = "\\boxed{"
_BOXED_LETTER = re.compile(r"[^A-Za-z]*([A-Z])[^A-Za-z]*$|\s*([A-Z])\s*[:).\-]")
_ANSWER = re.compile(r"answer\s*:\s*(.+)", re.IGNORECASE)
_ANSWER_MARKDOWN = re.compile(r"[*_]{0,2}Answer[*_]{0,2}\s*:[*_\s]{0,2}(.+)", re.IGNORECASE)
_SINGLE_LETTER = re.compile(r"(?<![A-Za-z])([A-Za-z])(?![A-Za-z])")
_LEADING_LETTER = re.compile(r"([a-zA-Z])(?![a-zA-Z0-9])")
_CAPITAL = re.compile(r"\b[A-Z]\b")
_LIST_SEPARATOR = re.compile(r"\s*[/|&,;]\s*|\s+(?:or|and)\s+|\s+", re.IGNORECASE)
# Letters of options in Arabic, Bengali and full-width type.
_OTHER_SCRIPTS = str.maketrans(dict(zip("أঅＡبবＢجডＣدঢＤ", (f" {latin}" for latin in "AAABBBCCCDDD"), strict=True)))
_WORKER = Worker(__name__, seconds=SECONDS)


def gold(row: Row) -> str:
    """The letter in the forms that the grading modes look for."""
    return f"\\boxed{{{row['expected_answer']}}}\nAnswer: {row['expected_answer']}"


def verify(row: Row, text: str, config: Config) -> Verdict:
    """1 for the right letter, else 0."""
    expected = str(row.get("expected_answer") or "").strip().upper()
    if not expected:
        raise _unusable("the row has no expected_answer")
    options = read_options(row.get("options"))
    answer = _chosen(row, text.strip(), options, config)
    reason = (
        "no option was chosen" if answer is None else "a different option was chosen" if answer != expected else None
    )
    fields = {"extracted_answer": answer, "expected_answer": expected, "failure_reason": reason}
    return Verdict(reward=float(reason is None), fields=fields)


def read_options(options: object) -> Options:
    """The options by letter; empty where the row has none."""
    if isinstance(options, Mapping):
        entries = [options]
    elif isinstance(options, list) and all(isinstance(entry, Mapping) for entry in options):
        entries = options
    else:
        entries = [dict(zip(ascii_uppercase, options, strict=False))] if isinstance(options, list) else []
    pairs = [(str(letter).upper(), words) for entry in entries for letter, words in entry.items()]
    return [
        (letter, str(words)) for letter, words in pairs if len(letter) == 1 and letter.isalpha() and words is not None
    ]


def _chosen(row: Row, text: str, options: Options, config: Config) -> str | None:
    mode = config.get("grading_mode") or row.get("grading_mode") or DEFAULT_MODE
    template = row.get("template_metadata") or {}
    if mode not in _MODES:
        raise _unusable(f"there is no grading mode {mode!r}; there are: {', '.join(_MODES)}")
    if not text:
        return None
    if "output_regex" in template:
        found = _by_patterns(template["output_regex"], text, options)
        return found if found is not None else _MODES[mode](text, options)
    if not options:
        raise _unusable("the row has no options")
    if str(row["expected_answer"]).strip().upper() not in dict(options):
        raise _unusable(f"expected_answer {row['expected_answer']!r} is not one of the options")
    return _MODES[mode](text, options)


def _by_patterns(patterns: Any, text: str, options: Options) -> str | None:
    listed = [patterns] if isinstance(patterns, str) else patterns
    if not isinstance(listed, list) or not all(isinstance(pattern, str) for pattern in listed):
        raise _unusable("template_metadata.output_regex is neither a pattern nor a list of patterns")
    letters = (_letter_of(_last_match(pattern, text), options) for pattern in listed)
    return next((letter for letter in letters if letter is not None), None)


def _last_match(pattern: str, text: str) -> str:
    try:
        return str(_WORKER.ask("last_match", pattern, text))
    except ValueError as problem:
        raise _unusable(f"the row's output_regex {pattern[:200]!r} cannot be used: {problem}") from problem


def last_match(pattern: str, text: str) -> str:
    """In the child: what the last match captures, empty where there is none; raises for a pattern of several groups."""
    found = re.findall(pattern, text, re.IGNORECASE)
    if found and isinstance(found[-1], tuple):
        raise ValueError("it has several groups")
    return found[-1] if found else ""


def _letter_of(captured: str, options: Options) -> str | None:
    """A captured letter, also one that no option has: the pattern is the row's own word."""
    answer = captured.translate(_OTHER_SCRIPTS).strip().upper()
    if len(answer) == 1 and answer.isalpha():
        return answer
    return _with_words(answer, options) if answer else None


def _boxed_letter(text: str, options: Options) -> str | None:
    inner = _last_box(text)
    found = _BOXED_LETTER.match(_unwrapped(inner.strip())) if inner is not None else None
    letter = (found.group(1) or found.group(2)) if found else None
    return letter if letter in dict(options) else None


def _boxed_letter_or_words(text: str, options: Options) -> str | None:
    letter, inner = _boxed_letter(text, options), _last_box(text)
    if letter is not None or inner is None:
        return letter
    boxed = _plain(inner)
    used = {key for key, words in options if _plain(words) and _plain(words) in boxed}
    return used.pop() if len(used) == 1 else None


def _after_answer_colon(text: str, options: Options) -> str | None:
    found = _ANSWER.search(text)
    if not found:
        return None
    answer = _unwrapped(found.group(1)).strip()
    return answer.upper() if len(answer) == 1 and answer.upper() in dict(options) else _with_words(answer, options)


def _after_last_answer_colon(text: str, options: Options) -> str | None:
    letters = (_single_choice(answer, dict(options)) for answer in reversed(_ANSWER_MARKDOWN.findall(text)))
    return next((letter for letter in letters if letter is not None), None)


_MODES: Mapping[str, Callable[[str, Options], str | None]] = {
    DEFAULT_MODE: _boxed_letter,
    "lenient_boxed": _boxed_letter_or_words,
    "lenient_answer_colon": _after_answer_colon,
    "lenient_answer_colon_md": _after_last_answer_colon,
}


def _single_choice(answer: str, letters: Mapping[str, str]) -> str | None:
    """The letter that an answer begins with, else its last capital that stands alone; None where it lists several."""
    said = answer.translate(_OTHER_SCRIPTS).strip().strip("*_` \t\n\r.,;:")
    if _lists_several(said, letters):
        return None
    leading, capitals = _LEADING_LETTER.match(said), _CAPITAL.findall(said)
    letter = said if len(said) == 1 else leading.group(1) if leading else capitals[-1] if capitals else ""
    return letter.upper() if letter.upper() in letters else None


def _lists_several(said: str, letters: Mapping[str, str]) -> bool:
    found = [match for match in _SINGLE_LETTER.finditer(said) if match.group(1).upper() in letters]
    return any(
        one.group(1).upper() != other.group(1).upper() and _LIST_SEPARATOR.fullmatch(said, one.end(), other.start())
        for one, other in pairwise(found)
    )


def _with_words(answer: str, options: Options) -> str | None:
    """The first option with exactly these words, whatever their case and white space."""
    return next((letter for letter, words in options if _plain(words) == _plain(answer)), None)


def _plain(words: str) -> str:
    return " ".join(words.lower().split())


def _last_box(text: str) -> str | None:
    r"""What stands in the last `\boxed{`, up to its closing brace; None where that is missing."""
    begin = text.rfind(_BOX)
    depth = 1
    for brace in re.finditer(r"[{}]", text[begin + len(_BOX) :]) if begin >= 0 else ():
        depth += 1 if brace.group() == "{" else -1
        if depth == 0:
            return text[begin + len(_BOX) :][: brace.start()]
    return None


def _unwrapped(text: str) -> str:
    r"""Without `\text{...}` around all of it, however often."""
    while text.startswith("\\text{") and text.endswith("}"):
        text = text[len("\\text{") : -1].strip()
    return text


def _unusable(message: str) -> NoVerdict:
    return NoVerdict(message, failure_class="skipped", terminal=True)
