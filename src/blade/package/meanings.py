"""Sections that a document must have, known by what their titles mean."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from blade.package.documents import Section
from blade.package.open_points import is_open


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """A section by its usual title, the titles that mean the same, and what belongs in it."""

    title: str
    means: re.Pattern[str]
    holds: str


def _wanted(title: str, means: str, holds: str) -> Wanted:
    return Wanted(title=title, means=re.compile(means, re.IGNORECASE), holds=holds)


OF_SKILL = (
    _wanted(
        "Overview",
        r"\boverview\b|\bintroduction\b|\bbackground\b|\bpurpose\b|\babout\b|\bsummary\b|what .*(?:measures|benchmark)",
        "task shape, target capability, reward computation, verifier behavior",
    ),
    _wanted(
        "Input schema",
        r"\bschema\b|\bfields?\b|(?:input|data|row|rollout|record)s?\s+(?:format|shape|layout|fields?|data)",
        "task id, rollout id, reward field, output fields, verifier fields, slicing metadata",
    ),
    _wanted("Workflow funnel", r"\bfunnel\b|\bstages\b", "ordered stages from started to passed"),
    _wanted(
        "Failure taxonomy",
        r"\btaxonomy\b|\blabels?\b|(?:failure|error)s?\s+(?:modes?|categor|types?|class|labels?|patterns?)",
        "benchmark-specific labels and detection rules",
    ),
    _wanted(
        "Analysis workflow",
        r"\banaly[sz](?:is|e|ing)\b|\bworkflow\b(?!\s+funnel)|\bprocedure\b|\bhow to\b|\bsteps\b|\bmethod\b",
        "metrics first, trajectory reading second, causal synthesis third",
    ),
    _wanted(
        "Report template",
        r"\btemplate\b|\breport(?:ing)?\b|\boutput\s+(?:format|sections?|structure)\b",
        "the Markdown sections expected in a report",
    ),
)

OF_REPORT = (
    _wanted(
        "Executive summary",
        r"\bexecutive\b|\bsummary\b|\boverview\b|\bkey findings\b|\btl;?dr\b",
        "the answer in short",
    ),
    _wanted(
        "Artifact inventory",
        r"\bartifacts?\b|\binventory\b|\b(?:input|data|source)\s+files\b|\bdata sources?\b",
        "files, rows, what is missing",
    ),
    _wanted(
        "Aggregate results",
        r"\baggregate\b|\bresults?\b|\bmetrics\b|\bscores?\b|\bperformance\b",
        "pass@1 and the other numbers of the run",
    ),
    _wanted("Workflow funnel", r"\bfunnel\b|\bstages?\b|\bpipeline\b", "stages and how many rollouts reach each"),
    _wanted(
        "Task outcome buckets", r"\bbuckets?\b|\boutcomes?\b", "always, sometimes, never passing and missing tasks"
    ),
    _wanted(
        "Dominant failure modes",
        r"(?:failure|error)s?\s+(?:modes?|taxonomy|categor|types?|class|analysis|patterns?|causes?)|\broot causes?\b|\bdominant\b",
        "how the failures failed, with counts",
    ),
    _wanted(
        "Sometimes-pass deep dives",
        r"\bsometimes\b|\bflaky\b|\binconsisten|\bunreliable\b|\bmixed\b|\bpartly pass",
        "what passing repeats did and failing ones did not",
    ),
    _wanted(
        "Never-pass deep dives",
        r"\bnever\b|\balways[- ]fail|\bunsolved\b|\bhardest\b",
        "what every repeat of a task gets wrong",
    ),
    _wanted(
        "Cross-model comparison",
        r"\bcross[- ]?model\b|\bcompar|\bversus\b|\bvs\b|\bother (?:models?|runs?)\b",
        "this model against the others on the tasks they share",
    ),
    _wanted(
        "Recommendations",
        r"\brecommend|\bnext steps\b|\binterventions?\b|\bactions?\b|\bwhat to (?:do|fix)\b|\bfixes\b",
        "what to do first, and for which tasks",
    ),
    _wanted(
        "Reproducibility notes",
        r"\breproduc|\bmethod(?:s|ology)?\b|\bprovenance\b",
        "model, settings, threshold, how to make the numbers again",
    ),
)


def match(wanted: Wanted, found: Sequence[Section]) -> Section | None:
    """The section that means it and says most; None when there is none."""
    # A title over everything holds every section and is none.
    inner = found[1:] if found and found[0].level == 1 else found
    meant = [one for one in inner if wanted.means.search(one.title)]
    return max(meant, key=substance, default=None)


def substance(section: Section) -> int:
    """Words of a section, without lines that are still open."""
    kept = tuple(line for line in section.body if not is_open(line))
    return Section(title=section.title, level=section.level, line=section.line, body=kept).words
