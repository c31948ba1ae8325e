"""Every family of signs, in the order in which they are kept.

Signs are facts about one rollout. The kinds, by the file that makes them:

- `account`: `status`, `judge:reason`, `broke:grader`, `broke:harness`
- `agent_program`: `agent:no-output`, `agent:no-start`, `agent:crashed`, `agent:install-failed`, `agent:api-error`,
  `agent:cut-by-` and the limit, `agent:at-time-limit`, `agent:context-full`, `environment:failed`, `environment:lost`, `hollow:no-model-call`
- `ending`: `ends:question`, `ends:refusal`, `ends:gave-up`, `ends:success-claim`, `ends:call-without-result`,
  `ends:tool-call-as-text`, `ends:open-todos`, `ends:without-a-word`, `ends:after-result`, `closing:label`,
  `stopped:after-replies`
- `own_checks`: `own-check:failed-before-success-claim`, `own-check:never`
- `missing`: `missing:named-in-prompt`, `missing:not-in-prompt`, `missing:of-the-grader`,
  `missing:library`
- `literals`: `literal:near-miss`, `literal:not-in-prompt`, `key:not-in-prompt`
- `wrong_values`: `test:wrong-value`, `test:values`
- `unreadable`: `test:unreadable`
- `services`: `service:down-at-grading`, `service:unreachable`, `service:reset`, `service:answered`, `service:elsewhere`,
  `service:unanswered`
- `patches`: `patch:empty`, `patch:not-applied`, `patch:only-tests`
- `stand_ins`: `stand-in`, `stand-in:ran`
- `loops`: `loop`
- `grader_tests`: `read-grader-tests`, `edited-grader-tests`
- `skipped`: `skipped-as-passed`
- `chat`, `answers`, `actors`: calls, statements and answers against what was expected; their own pages list the kinds
- `logs`: `log:<event>`, `agentlog:<event>`, `log:not-started`, `log:not-finished`, `log:collected-none`, `frame:test`,
  `frame:library`, `frame:solution`, `test:raised`, `grader:own-error`

Passes have `status`, `ends:*`, `hollow:*`, `agent:no-output`, `skipped-as-passed` and the two about the grader's tests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from itertools import compress
from typing import Literal, get_args

from blade.evidence.signs.account import breakdowns, judgments, statuses
from blade.evidence.signs.actors import actor_signs
from blade.evidence.signs.agent_program import agent_program
from blade.evidence.signs.answers import answer_signs
from blade.evidence.signs.chat import chat_signs
from blade.evidence.signs.ending import ending
from blade.evidence.signs.grader_tests import grader_tests
from blade.evidence.signs.literals import literals
from blade.evidence.signs.logs import log_events
from blade.evidence.signs.loops import loops
from blade.evidence.signs.missing import missing_things
from blade.evidence.signs.own_checks import own_checks
from blade.evidence.signs.patches import patches
from blade.evidence.signs.services import services
from blade.evidence.signs.skipped import skipped
from blade.evidence.signs.stand_ins import stand_ins
from blade.evidence.signs.unreadable import unreadable
from blade.evidence.signs.view import RolloutView
from blade.evidence.signs.wrong_values import wrong_values
from blade.model.finding import Sign
from blade.model.rollout import JUDGED, Outcome, Rollout

Fact = Literal[
    "lost", "failed", "judged", "steps", "calls", "logs", "source", "statuses", "said", "key of calls", "single answer"
]
"""What a rollout can have: `lost`, it did not pass; `source`, anything of a log or a call."""
SignsOf = Callable[[RolloutView], Iterable[Sign]]


def _of_rollout(family: Callable[[Rollout], Iterable[Sign]]) -> SignsOf:
    return lambda view: family(view.rollout)


FAMILIES: tuple[tuple[SignsOf, frozenset[Fact]], ...] = (
    (statuses, frozenset(["statuses"])),
    (breakdowns, frozenset(["lost", "said"])),
    (judgments, frozenset(["failed", "said"])),
    (agent_program, frozenset()),
    (ending, frozenset(["steps"])),
    (own_checks, frozenset(["lost", "calls"])),
    (missing_things, frozenset(["lost", "logs"])),
    (literals, frozenset(["lost", "logs"])),
    (wrong_values, frozenset(["lost", "logs"])),
    (unreadable, frozenset(["lost", "logs"])),
    (services, frozenset(["lost", "source"])),
    (patches, frozenset(["lost"])),
    (stand_ins, frozenset(["lost", "calls"])),
    (loops, frozenset(["lost", "calls"])),
    (grader_tests, frozenset(["calls"])),
    (skipped, frozenset(["logs"])),
    (_of_rollout(chat_signs), frozenset(["judged", "key of calls"])),
    (_of_rollout(answer_signs), frozenset(["judged", "single answer"])),
    (_of_rollout(actor_signs), frozenset(["judged", "steps"])),
    (log_events, frozenset(["lost", "logs"])),
)
"""Each family with what a rollout must have for it to say anything: most have neither logs nor calls, or pass."""
MOST = 32
"""Signs that are kept of a rollout: a log full of errors must not fill the table; each family has a limit of its own."""


def signs(rollout: Rollout) -> tuple[Sign, ...]:
    """The signs of a rollout, family by family."""
    view = RolloutView(rollout)
    found: list[Sign] = []
    for family in _speaking(*_facts(view)):
        found += family(view)
        if len(found) >= MOST:
            break
    return tuple(found[:MOST])


def _facts(view: RolloutView) -> tuple[bool, ...]:
    """Which facts hold of a rollout, in the order of their list."""
    outcome, due = view.rollout.outcome, view.rollout.due
    logs = bool(view.account.logs) or (not view.passed and any(one.words for one in due.checks))
    calls = view.features.calls > 0
    return (
        not view.passed,
        outcome is Outcome.FAILED,
        outcome in JUDGED,
        bool(view.steps),
        calls,
        logs,
        logs or calls,
        bool(view.account.statuses),
        bool(due.said),
        due.calls is not None,
        due.calls is None,
    )


@cache
def _speaking(*facts: bool) -> tuple[SignsOf, ...]:
    """The families that may say anything where these facts hold."""
    there = set(compress(get_args(Fact), facts))
    return tuple(family for family, needs in FAMILIES if needs <= there)
