"""The output was cut off by a token limit.

Why it matters
    What the agent had not written yet is missing, and the final answer usually stands at the end.
    The rollout says how much room the agent had, and little about what it knows.

What to do
    Raise the limit on output tokens, or lower the effort spent on reasoning, and run these tasks again.

Limits
    An answer that was given before the cut may still pass. A harness that reports a cut under a word of its own, or
    records only the last of several model calls, hides it.
"""

import re
from collections.abc import Iterator

from blade.model.finding import LONGEST_QUOTE, Cause, Evidence
from blade.model.rollout import Features, Rollout
from blade.rules.declaration import rule

_cut = re.compile(
    r"(?:^|[\W_])length$|max_?length|model_?length|length_?(?:limit|exceeded)|truncat|context_?(?:window|length)"
    r"|tokens?_?(?:limit|budget|exceeded)|max\w*_?tokens?|too_?many_?tokens",
    re.IGNORECASE,
)
"""Words for a limit on tokens, as providers and harnesses put them together."""


def _may_be_cut(features: Features) -> bool:
    return features.stop is not None and _is_cut(features.stop)


def _is_cut(stop: str) -> bool:
    return _cut.search(re.sub(r"[\s.:-]+", "_", stop.strip())) is not None


@rule(
    "ANS001",
    scope="rollout",
    suggests=Cause.BEHAVIOR,
    kind="direct",
    reads=("stop",),
    when=_may_be_cut,
    status="stable",
)
def truncated_output(rollout: Rollout) -> Iterator[Evidence]:
    if rollout.stop is not None and _is_cut(rollout.stop):
        yield Evidence(key=rollout.key, step=None, field="stop", quote=rollout.stop[:LONGEST_QUOTE])
