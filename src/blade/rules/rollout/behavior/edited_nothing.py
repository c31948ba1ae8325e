"""The task asks for a change of code or files, and the agent changed no file and gave no patch.

Why it matters
    There is nothing to test, so the rollout fails whatever the agent understood.

What to do
    Look at the end of the rollout: an agent that explains a fix without making it needs to be told to make it; one
    whose edits all failed needs errors that say why.

Limits
    Whether a file was changed is told from the names of tools and from the words of shell commands; a program of the
    agent's that writes files in an unusual way is missed. Whether a change was asked for is told from the prompt, from a
    verifier that misses a patch, and from what was handed in, where it is recorded as empty and the prompt names a source
    file; where none of these is recorded nothing is said.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from blade.model.finding import LONGEST_QUOTE, Cause, Evidence
from blade.model.rollout import Rollout, Step
from blade.rules.declaration import rule
from blade.rules.error_words import runs_code
from blade.rules.phrases import any_of

WANTS = (
    r"\b(?:fix|implement|resolve|refactor|patch|modify|rewrite|edit|repair|add|port|migrate|rename|update|make)\b",
)
CODE = (
    r"\b(?:repositor(?:y|ies)|repo|codebase|source (?:code|tree|files?)|pull request|patch|diff)\b",
    r"\b(?:failing tests?|test suite|github issue|working (?:directory|tree))\b",
)
_wants = any_of(WANTS, re.IGNORECASE)
_code = any_of(CODE, re.IGNORECASE)
_source_file = re.compile(
    r"\b[\w./-]+\.(?:py|pyi|js|jsx|ts|tsx|go|rs|java|kt|rb|php|c|cc|cpp|h|hpp|cs|swift|scala|sv|v|vhd|lua|pl|r|jl)\b"
)
_part = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
FILES = frozenset("read view open cat grep find glob ls list search file files dir tree editor".split())  # noqa: SIM905
EDITS = frozenset(
    "edit write create replace patch insert append save update modify delete remove rename move apply undo".split()  # noqa: SIM905
)
_writes = re.compile(
    r">>?\s*[\w./~$\"'-]|\btee\b|\bsed\b[^|]*\s-\w*i|\bperl\b[^|]*\s-\w*i|\bgit (?:apply|am|mv|rm|checkout|restore|stash|commit|cherry-pick)\b"
    r"|\bpatch\b|\b(?:mv|cp|rm|touch|mkdir|truncate|dd|rsync|unzip|install)\b|\bopen\([^)]*[\"'][wax]b?\+?[\"']|write_(?:text|bytes)|\.write\("
    r"|writeFile|apply_patch|\b(?:black|isort|autopep8|prettier|gofmt|rustfmt)\b|\bed\b|<<"
)
"""Words of a command that may change a file."""
_devnull = re.compile(r"\d?>>?\s*(?:&\d|/dev/null)|2>&1")
_gives = re.compile(r"^diff --git |^\+\+\+ \S|^\*\*\* Begin Patch|```(?:diff|patch)|<patch>", re.MULTILINE)
"""A patch in a message."""


@rule(
    "BEH012",
    scope="rollout",
    suggests=Cause.BEHAVIOR,
    kind="direct",
    reads=("steps", "answer|steps"),
    when=lambda f: f.calls > 0 and f.results > 0 and f.user_messages == 0,
    status="stable",
)
def edited_nothing(rollout: Rollout) -> Iterator[Evidence]:
    if (rollout.answer or "").strip():
        return
    steps = rollout.steps or ()
    calls = [step for step in steps if step.kind == "call"]
    answered = any(step.kind == "result" for step in steps) and not any(step.party == "user" for step in steps)
    if not answered or not any(map(_handles_files, calls)) or not _wants_a_change(rollout):
        return
    failed = {(step.answers, step.call_id) for step in steps if step.kind == "result" and step.failed}
    if any((call.index, call.call_id) not in failed and _writes_files(call) for call in calls):
        return
    said = [step for step in steps if step.party == "agent" and step.kind == "message" and step.text.strip()]
    if any(_gives.search(step.text) for step in said):
        return
    field, last = ("text", said[-1]) if said and said[-1].index > calls[-1].index else ("arguments", calls[-1])
    words = last.text.strip() if field == "text" else last.arguments or ""
    quote = words[-LONGEST_QUOTE:].strip()
    if quote:
        yield Evidence(key=rollout.key, step=last.index, field=field, quote=quote)


def _wants_a_change(rollout: Rollout) -> bool:
    """Whether the prompt asks for a change of code, or the verifier misses a patch."""
    prompt = rollout.prompt
    asked = [step.text for step in prompt if step.party == "user"] or [step.text for step in prompt]
    if any(map(_asks_for_a_change, asked)):
        return True
    if rollout.answer is not None and any(map(_source_file.search, asked)):
        return True
    return any("patch" in said.field for said in rollout.due.said)


@lru_cache(maxsize=256)
def _asks_for_a_change(text: str) -> bool:
    return _wants.is_in(text) and _code.is_in(text)


@lru_cache(maxsize=1024)
def _words(tool: str) -> frozenset[str]:
    return frozenset(word.lower() for word in _part.findall(tool))


def _handles_files(call: Step) -> bool:
    return runs_code(call.tool or "") or not FILES.isdisjoint(_words(call.tool or ""))


def _writes_files(call: Step) -> bool:
    """A tool that edits by its name, a shell command that writes, or an editor that is asked for more than to view."""
    tool, arguments = call.tool or "", _devnull.sub("", call.arguments or "")
    if runs_code(tool):
        return _writes.search(arguments) is not None
    if "editor" in tool:
        return re.search(r'"command"\s*:\s*"(?!view)', arguments) is not None
    return not EDITS.isdisjoint(_words(tool))
