"""The message keeps to constraints that can be checked without understanding it.

Row
    `instruction_id_list`: names of constraints. `kwargs`: what each of them is given, in the same order. `example_answer`: a
    text that keeps to all of them, for proving the verifier.

Fields
    `instruction_id_list`, `kwargs`, `follow_instruction_list` (a verdict each), `follow_all_instructions`,
    `failure_reason` (of an empty message: the verdicts say the rest).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from blade.gym.environment import NoVerdict, Row, Verdict
from blade.gym.single_turn import Config

LONGEST = 1 << 20
"""Characters of a message that are looked at."""

Given = Mapping[str, Any]
Constraint = Callable[[str, Given], bool]

_WORD = re.compile(r"\w+(?:['\u2019-]\w+)*")
_SENTENCE_END = re.compile(r"[.!?]+(?=[\s\"')\]]|$)")
_BULLET = re.compile(r"^[ \t]{0,8}[*-][ \t]+\S", re.MULTILINE)
_NUMBERED = re.compile(r"^[ \t]{0,8}\d{1,4}[.)][ \t]+\S", re.MULTILINE)
_HIGHLIGHT = re.compile(r"(?<!\*)\*{1,2}[^\s*\n][^*\n]{0,500}\*{1,2}(?!\*)")
_PLACEHOLDER = re.compile(r"\[[^\[\]\n]{1,200}\]")
_TITLE = re.compile(r"<<[^<>\n]{1,500}>>")
_DIVIDER = re.compile(r"^\s{0,3}\*\*\*\s*$", re.MULTILINE)
_FENCED = re.compile(r"^```(?:json)?\s{0,4}\n?(.*?)\n?```$", re.DOTALL)


def gold(row: Row) -> str | None:
    """The row's example, where it has one."""
    example = row.get("example_answer")
    return str(example) if example is not None else None


def verify(row: Row, text: str, config: Config) -> Verdict:
    """1 when every constraint is kept, else 0. A constraint that is not known gives no verdict."""
    names = [str(name) for name in row["instruction_id_list"]]
    given: list[Given] = [one or {} for one in row.get("kwargs") or [{} for _ in names]]
    unknown = [name for name in names if name not in CONSTRAINTS]
    if unknown:
        raise NoVerdict(f"unknown constraints: {', '.join(unknown)}", failure_class="skipped", terminal=True)
    said = text[:LONGEST]
    kept = [bool(said.strip()) and CONSTRAINTS[name](said, one) for name, one in zip(names, given, strict=True)]
    broken = [name for name, held in zip(names, kept, strict=True) if not held]
    fields = {
        "instruction_id_list": names,
        "kwargs": given,
        "follow_instruction_list": kept,
        "follow_all_instructions": not broken,
        "failure_reason": None if said.strip() else "the message is empty",
    }
    return Verdict(reward=float(not broken), fields=fields)


def _holds(count: int, given: Given, name: str) -> bool:
    """Whether a count stands in the relation that is asked for: at least (the default), at most, less than, exactly."""
    wanted, relation = int(given[name]), str(given.get("relation") or "at least")
    if relation in ("less than", "fewer than"):
        return count < wanted
    if relation in ("at most", "no more than"):
        return count <= wanted
    return count == wanted if relation in ("exactly", "equal to") else count >= wanted


def words(text: str) -> list[str]:
    """Words as people count them."""
    return _WORD.findall(text)


def sentences(text: str) -> int:
    """Ends of sentences, and one more where the text goes on after the last."""
    ends = list(_SENTENCE_END.finditer(text))
    rest = text[ends[-1].end() :] if ends else text
    return len(ends) + bool(_WORD.search(rest))


def paragraphs(text: str) -> list[str]:
    """What `***` lines divide; without any, what empty lines divide."""
    parts = _DIVIDER.split(text) if _DIVIDER.search(text) else re.split(r"\n[ \t]{0,8}\n", text)
    return [part.strip() for part in parts if part.strip()]


def _whole_word(word: str, text: str) -> int:
    return len(re.findall(rf"(?<!\w){re.escape(word.casefold())}(?!\w)", text.casefold()))


def _is_json(text: str) -> bool:
    bare = text.strip()
    fence = _FENCED.match(bare)
    try:
        json.loads(fence.group(1) if fence else bare)
    except (ValueError, RecursionError):
        return False
    return True


def _first_word(text: str, given: Given) -> bool:
    parts = paragraphs(text)
    place = int(given["nth_paragraph"])
    if "num_paragraphs" in given and len(parts) != int(given["num_paragraphs"]):
        return False
    first = words(parts[place - 1])[:1] if 0 < place <= len(parts) else []
    return bool(first) and first[0].casefold() == str(given["first_word"]).casefold()


def _bare(text: str) -> str:
    return text.strip().strip("\"'").casefold()


CONSTRAINTS: Mapping[str, Constraint] = {
    "length_constraints:number_words": lambda text, given: _holds(len(words(text)), given, "num_words"),
    "length_constraints:number_sentences": lambda text, given: _holds(sentences(text), given, "num_sentences"),
    "length_constraints:number_paragraphs": lambda text, given: len(paragraphs(text)) == int(given["num_paragraphs"]),
    "length_constraints:nth_paragraph_first_word": _first_word,
    "length_constraints:number_characters": lambda text, given: _holds(len(text.strip()), given, "num_characters"),
    "length_constraints:number_lines": lambda text, given: _holds(
        sum(bool(line.strip()) for line in text.splitlines()), given, "num_lines"
    ),
    "keywords:existence": lambda text, given: all(_whole_word(word, text) for word in given["keywords"]),
    "keywords:forbidden_words": lambda text, given: (
        not any(_whole_word(word, text) for word in given["forbidden_words"])
    ),
    "keywords:frequency": lambda text, given: _holds(_whole_word(given["keyword"], text), given, "frequency"),
    "keywords:letter_frequency": lambda text, given: _holds(
        text.casefold().count(str(given["letter"]).casefold()), given, "let_frequency"
    ),
    "change_case:english_lowercase": lambda text, given: text == text.lower(),
    "change_case:english_capital": lambda text, given: text == text.upper(),
    "change_case:capital_word_frequency": lambda text, given: _holds(
        sum(word.isupper() and len(word) > 1 for word in words(text)), given, "capital_frequency"
    ),
    "detectable_format:json_format": lambda text, given: _is_json(text),
    "detectable_format:number_bullet_lists": lambda text, given: (
        len(_BULLET.findall(text)) == int(given["num_bullets"])
    ),
    "detectable_format:number_numbered_items": lambda text, given: (
        len(_NUMBERED.findall(text)) == int(given["num_items"])
    ),
    "detectable_format:number_highlighted_sections": lambda text, given: (
        len(_HIGHLIGHT.findall(text)) >= int(given["num_highlights"])
    ),
    "detectable_format:title": lambda text, given: _TITLE.search(text) is not None,
    "detectable_format:multiple_sections": lambda text, given: (
        len(re.findall(rf"^\s{{0,8}}{re.escape(given['section_spliter'])}\s{{1,4}}\d", text, re.MULTILINE))
        >= int(given["num_sections"])
    ),
    "detectable_format:constrained_response": lambda text, given: (
        _bare(text).removesuffix(".") in {_bare(one).removesuffix(".") for one in given["options"]}
    ),
    "detectable_content:number_placeholders": lambda text, given: (
        len(_PLACEHOLDER.findall(text)) >= int(given["num_placeholders"])
    ),
    "detectable_content:postscript": lambda text, given: (
        str(given.get("postscript_marker", "P.S.")).casefold() in text.casefold()
    ),
    "startend:end_checker": lambda text, given: _bare(text).endswith(_bare(str(given["end_phrase"]))),
    "startend:start_checker": lambda text, given: _bare(text).startswith(_bare(str(given["start_phrase"]))),
    "startend:quotation": lambda text, given: (
        len(text.strip()) > 1 and text.strip()[0] == '"' and text.strip()[-1] == '"'
    ),
    "punctuation:no_comma": lambda text, given: "," not in text,
    "combination:repeat_prompt": lambda text, given: _bare(text).startswith(_bare(str(given["prompt_to_repeat"]))),
    "combination:two_responses": lambda text, given: (
        len([part for part in text.split("******") if part.strip()]) == 2
        and len({part.strip() for part in text.split("******") if part.strip()}) == 2
    ),
}
"""Each constraint by the name that rows use."""
