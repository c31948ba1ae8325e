"""What the grader looked for and did not find: files, folders, modules, names.

`missing:named-in-prompt` where the prompt names it, so the agent owes it; `missing:not-in-prompt` where nothing that the
agent was given does. `missing:of-the-grader` is a file or a fixture of the tests themselves, which the grader should have brought; `missing:library` a package that neither the prompt nor the agent names, so that it is no part of
the work. Without a prompt on record neither can be told. A later step of a test may miss what an earlier one
failed to make: the first sign of a test is the one that counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from blade.evidence.signs.view import RolloutView, sign
from blade.model.finding import Sign

MOST = 4
_PATH = r"(?P<{0}>[~\w./@+-]*\w)"
_FILE = r"(?P<{0}>[~\w./@+-]*\w\.\w{{1,8}}|/[\w./@+-]+\w)"
_missing = re.compile(
    r"""(?i:no such file or directory): ['"](?P<a>[^'"\n]{1,300})['"]"""
    r"""|can(?:no|['\u2019])t (?:open|find|read|load) (?:file |input |source )?['"](?P<b>[^'"\n]{1,300})['"]"""
    r"""|\b(?:open|stat|lstat|access|read|scandir|cat|chdir|exec) ['"]?"""
    + _PATH.format("c")
    + r"""['"]?: (?i:no such file)"""
    r"""|(?i:no such file or directory)["' }]{1,8}\((?P<n>/[\w./@+-]*\w)\)"""
    r"""|ENOENT: no such file or directory, \w+ ['"](?P<d>[^'"\n]{1,300})['"]"""
    r"""|(?P<e>/[\w./@+-]*\w): (?:No such file or directory|not found)"""
    r"""|Path\(['"](?P<f>[^'"\n]{1,300})['"]\)\.(?:exists|is_file|is_dir)"""
    r"""|where False = <[^>\n]{0,80}\b(?:exists|isfile|isdir)\b[^>\n]{0,80}>\(['"](?P<g>[^'"\n]{1,300})['"]"""
    r"""|(?<![\w./'"(-])"""
    + _FILE.format("h")
    + r"""['"]? (?:file )?(?i:does ?n[o']t exist|(?:was |were )?not (?:found|created|generated|produced)|is missing|missing)\b"""
    r"""|(?i:could not find|can(?:not|'t) find|unable to find|missing) (?:(?:the|a|any|required|expected|output) )*(?:file:? )?['"]?"""
    + _FILE.format("i")
    + r"""|(?:No module named|cannot import name|Cannot find module) ['"](?P<j>[^'"\n]{1,200})['"]"""
    r"""|module ['"][\w.]+['"] has no attribute ['"](?P<k>\w+)['"]"""
    r"""|^fixture '(?P<fixture>\w+)' not found"""
    r"""|\b(?:package|module|library|gem|crate|extension) ['"`](?P<o>[\w./@+-]{1,100})['"`] (?:is|was|could|has) not (?:be |been )?(?:installed|found|available)\b"""
    r"""|there is no package called .(?P<p>[\w.]+).|cannot load such file -- (?P<q>[\w/-]+)|Can't locate (?P<r>[\w/]+)\.pm in @INC|can't find crate for `(?P<s>\w+)`"""
    r"""|\bundefined: (?P<l>\w+)|cannot find (?:function|value|type|struct|macro|crate|module)[^`\n]{0,40}`(?P<m>\w+)`"""
)
_gate = re.compile(
    r"(?i)no such file|not exist|n't exist|not found|not created|missing|find|exists|isfile|isdir|is_file|is_dir|No module|import|attribute|undefined|can't open|ENOENT|not generated|not produced"
    r"|not installed|not available|no package|such file|Can't locate"
)
_of_the_grader = re.compile(
    r"^(?:\.\./)*/?tests?/|^/tmp/|site-packages|/\.venv/|^/(?:usr|lib|proc|dev|sys|etc/ssl)\b|/\.local/|^/(?:root)/\.|^[\d.]+$"
)
_beside_the_tests = re.compile(
    r"(?:\.\./)*/?(?:\w+/){0,3}(?:tests?|__tests__|specs?|grader|verifier)/[\w./@+-]*\w\.\w+$"
)
_module = re.compile(
    r"No module named|cannot import name|Cannot find module|(?:package|module|library|gem|crate|extension) ['\"`][^'\"`]+['\"`] (?:is|was|could|has) not\b"
    r"|there is no package called|cannot load such file|Can't locate [\w/]+\.pm|can't find crate"
)
_raised = re.compile(
    r"^(?:E\s+)?(?:[\w.]*(?:Error|Exception|Failed|Exit)\b|Cannot find module|(?:fatal )?error\b|Can't locate |.*\(LoadError\))"
)
"""A line that says what was raised; a module that a warning misses stands in no one's way."""


def missing_things(view: RolloutView) -> Iterator[Sign]:
    """Each thing that a failing test names as not there, once."""
    if view.passed or not view.failures or not view.prompt:
        return
    seen: set[str] = set()
    yield from _of_the_tests(view)
    for field, name, quote in missing_names(view):
        if any(name == other or name.endswith(f"/{other}") or other.endswith(f"/{name}") for other in seen):
            continue
        seen.add(name)
        kind = "missing:named-in-prompt" if is_named(name, view.prompt) else "missing:not-in-prompt"
        if kind == "missing:not-in-prompt" and _module.match(quote):
            if _names_module(view, name):
                continue
            kind = kind if name.partition(".")[0].lower() in _OF_THE_WORK else "missing:library"
        yield sign(kind, name, quote, field)
        if len(seen) >= MOST:
            return


def _of_the_tests(view: RolloutView) -> Iterator[Sign]:
    """The first file or fixture of the tests' own that a test does not find; one that the prompt names is the agent's to make."""
    for log, event, text in view.failure_texts:
        if event.frame is not None and event.frame.where == "solution":
            continue
        words = event.message if event.message in log.text else text
        for found in _missing.finditer(words) if _gate.search(words) else ():
            name = found[found.lastgroup or 0]
            of_tests = found.lastgroup == "fixture" or _beside_the_tests.match(name)
            if of_tests and not is_named(name, view.prompt):
                yield sign("missing:of-the-grader", name, found[0], log.field)
                return


def missing_names(view: RolloutView) -> Iterator[tuple[str, str, str]]:
    """Field, name and words of what the failing tests miss, in the order of the log."""
    for log, event, text in view.failure_texts:
        if not _gate.search(text):
            continue
        own = event.frame is not None and event.frame.where == "solution"
        told = [event.message, *text.split("\n")] if event.message in log.text else text.split("\n")
        for line in told:
            if line.lstrip().startswith(("def ", "#", '"""')) or line.startswith((">  ", "    ")):
                continue  # source of the test: what it would say, not what it said
            if _module.search(line) and (own or not _raised.match(line)):
                continue  # what the agent's own code imports, or a warning
            for found in _missing.finditer(line):
                name = found[found.lastgroup or 0].rstrip(".")
                if found.lastgroup != "fixture" and not _of_the_grader.search(name) and len(name) > 1:
                    yield log.field, name, found[0]


_OF_THE_WORK = frozenset(
    "solution solutions answer submission main app task code program script src lib utils helpers module model server client".split()  # noqa: SIM905
)
"""Names under which tests import what was handed in; packages of others have names of their own."""


def _names_module(view: RolloutView, name: str) -> bool:
    """Whether the agent itself brought a module into play."""
    top = name.partition(".")[0]
    return any(top in (call.arguments or "") for call in view.calls) or top in (view.rollout.answer or "")


def is_named(name: str, given: str) -> bool:
    """Whether a text names a path, by its last part at least, or a word."""
    last = name.rstrip("/").rpartition("/")[2] or name
    return name in given or re.search(rf"(?<![\w-]){re.escape(last)}(?![\w-])", given) is not None
