"""Whether the agent's program was installed, started, reached its model, and ended by itself.

`agent:no-output` stands for a rollout without a word of the agent, and with the subject `no trajectory` for one that has
none on record; only the other rollouts of the run tell what that means. The others quote what was printed instead.
`agent:at-time-limit` says which number of the row the agent's part reached before its last call had a result.
`agent:context-full` quotes a last message which says that the conversation is longer than the model takes.
`environment:failed` quotes what a builder or a scheduler of containers reports of a rollout in which nobody acted, and
`environment:lost` what the row records in the words that the last commands all got for an answer.
`hollow:no-model-call` is a pass in which no call of the model succeeded.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, takewhile
from typing import Any

from blade.evidence.differences import limit_word
from blade.evidence.presence import may_hold
from blade.evidence.signs.view import RolloutView, in_closing, line_of, line_with, sign
from blade.ingest.fields import of_run
from blade.model.finding import Sign
from blade.model.rollout import Step

TAIL = 4_000
"""Characters at the end of a terminal in which a program's last words stand: a trace of Node.js or Python and a prompt."""
SHORT = 600
"""Characters that a message of an agent program about a failed request has at most; a longer one is an answer."""
_api_error = re.compile(
    r"\W*(?:API Error\b|(?:LLM|model|provider|inference)(?: \w+)? (?:error|failed|unavailable)\b|(?:Internal )?Server Error\b|Connection error\b"
    r"|(?:\w+\.)*(?:RateLimit|APIConnection|APIStatus|APITimeout|Authentication|InternalServer|ServiceUnavailable)\w*Error\b"
    r"|Error code: \d{3}\b|Error: (?:[45]\d\d|Request timed out)|(?:HTTP )?(?:401|403|429|5\d\d)\b.{0,40}(?:error|unavailable|overloaded|limit))",
    re.IGNORECASE,
)
_endpoint_error = re.compile(
    r"\W*(?:\w+ ){0,3}[\w.]*error\b[^\n]{0,20}:[^\n]*\b(?:model|endpoint|upstream|provider|api|inference)\b",
    re.IGNORECASE,
)
"""A line that begins as an error and speaks of what serves the model; it counts where the agent did nothing else."""
_of_endpoint = re.compile(
    r"\b(?:RateLimit|API(?:Connection|Status|Timeout|Response)?|Authentication|PermissionDenied|InternalServer|ServiceUnavailable|BadGateway"
    r"|Throttl\w*|EngineDead|Overloaded|ResourceExhausted|QuotaExceeded)_?(?:Error|Exception)\b|\brate[ _-]?limit|\boverloaded|\bError code: [45]\d\d"
    r"|\b(?:429|50[0234]|529)\b[^\n]{0,40}\b(?:error|too many|unavailable|bad gateway|overloaded)|\btoo many requests\b"
    r"|\b(?:Read|Connect|Pool)Timeout\b|\b(?:request|connection) timed out\b|\bconnection (?:error|reset|aborted)\b|\bHTTP (?:429|50[0-4]|529)\b|\b(?:upstream connect error|no healthy upstream|upstream returned (?:429|5\d\d))\b"
    r"|\b(?:insufficient|exceeded)\b[^\n]{0,30}\b(?:quota|balance|credits?)\b|\b(?:quota|credit balance)\b[^\n]{0,30}\b(?:exceeded|too low|exhausted)"
    r"|\bno (?:reply|response|answer) from (?:the )?(?:model|endpoint|provider|api|llm)\b|\b(?:invalid|incorrect|missing) api[ _]key|\bmodel\b[^\n]{0,40}\b(?:not found|does not exist|is unavailable|is not available)",
    re.IGNORECASE,
)
"""What clients report of an endpoint; it counts in a short text beside a rollout in which the agent says nothing."""
_not_of_the_model = re.compile(
    r"judge|verif|grader|grading|scor(?:er|ing)|evaluat|assert|\btests?\b|pip |npm |apt|docker|\bimage\b|\bpull|registry",
    re.IGNORECASE,
)
"""What an error names that is another's."""
_context_full = re.compile(
    r"(?:prompt|input|request|conversation|messages?) (?:is|are|was) too long|maximum context length|context[_ ]length[_ ]exceeded"
    r"|exceeds? (?:the )?(?:model'?s? )?(?:maximum )?context(?: length| window| limit| size)?\b|context ?window ?(?:was |is )?(?:exceeded|overflow|full)"
    r"|(?:input|prompt)(?: token)?s?(?: count)?\b[^\n]{0,60}\bexceeds? the (?:maximum|limit)|\btokens? exceeds?\b[^\n]{0,40}\b(?:window|context)",
    re.IGNORECASE,
)
_may_be_trouble = in_closing("error|failed|unavailable|overloaded|limit|exceed|too long|context")
_not_built = re.compile(
    r"failed to solve:|Error response from daemon:|OCI runtime \w+ failed|\bpull access denied\b|\bmanifest (?:unknown|for \S+ not found)"
    r"|\b(?:ImagePullBackOff|ErrImagePull|CrashLoopBackOff|CreateContainerError)\b|Cannot connect to the Docker daemon"
    r"|\b(?:container|sandbox|pod|image|environment|service|microvm|vm|browser)\b[^\n]{0,60}\b(?:is unhealthy|evicted|(?:pull|build|start|launch|creation) failed|failed to (?:build|start|create|become)|(?:could|did) not (?:be )?(?:start\w*|launch\w*|creat\w*|built|build|come up)|creat\w+ (?:failed|timed out))"
    r"|\b(?:failed|unable|could not|cannot) (?:to )?(?:start|create|launch|build|pull|provision|open)\b[^\n]{0,40}\b(?:container|sandbox|pod|image|environment|microvm|vm|browser)\b",
    re.IGNORECASE,
)
"""What builders and schedulers of containers report, by the forms of Docker, Compose, OCI and Kubernetes and by plain words."""
_may_report_not_built = may_hold(_not_built.pattern)
_not_found = re.compile(
    r"(?m)^(?:[\w./-]+: )?(?:line \d+: |\d+: )?(?P<command>[\w./@-]+): (?:command )?not found\s*$"
    r"|^(?:/\w+)*/?(?:ba|da|z|k)?sh: (?:line \d+: |\d+: )?(?P<path>/[\w./@-]+): No such file or directory\s*$|^.*command not found: (?P<zsh>\S+)\s*$"
    r"|^(?:/\w+)*/?env: ['\u2018]?(?P<env>[\w./@-]+)['\u2019]?: No such file or directory\s*$"
)
_install = re.compile(
    r"(?mi)^.*(?:ENOSPC|no space left on device|npm ERR!|npm error (?:code|A complete log)|E: Unable to locate package"
    r"|ERROR: (?:Could not find a version|No matching distribution|Could not install)|error: (?:failed to|could not) (?:download|install)).*$"
)
_step_failed = re.compile(
    r"(?mi)^.*\b(?:command|setup|script|process)\b[^\n]{0,40}\b(?:failed|exit(?:ed)?|returned)\b[^\n]*\binstall\b.*$"
)
"""A step that installs something, which its harness reports as failed."""
_trace = re.compile(
    r"(?m)^Traceback \(most recent call last\)|^\s+at .*\(?(?:node:|file:///|/|[\w.$]+\().*:\d+\)?|^Node\.js v\d|^panic: |^goroutine \d+ \["
    r"|^thread '[^'\n]*' panicked|^Exception in thread \"|\bSegmentation fault\b|\bcore dumped\b|^Unhandled exception|^Bus error|^Killed$|^Aborted\b"
)
_raised = re.compile(
    r"(?m)^(?:[\w.]*(?:Error|Exception)\b[^\n]*|panic: [^\n]*|thread '[^'\n]*' panicked[^\n]*|Exception in thread [^\n]*"
    r"|[^\n]*(?:Segmentation fault|core dumped)[^\n]*|Killed|Aborted[^\n]*|Bus error[^\n]*)$"
)
_not_loaded = re.compile(
    r"(?m)^(?:ModuleNotFoundError: No module named [^\n]+|ImportError: [^\n]+|Error: Cannot find (?:module|package) [^\n]+"
    r"|Error: Could not find or load main class [^\n]+|[^\n]*error while loading shared libraries: [^\n]+)$"
)
"""A program that does not find its own parts; it counts where nothing else is known of the agent."""
_prompt_sign = re.compile(
    r"[\w.-]+@[\w.-]+:[^\n]*[#$%>]\s*$|^\s*[#$%>]\s*$|\bexit(?:ed)?(?: with)?(?: code| status)? ?:?\s*[1-9]\d*\W*$",
    re.MULTILINE,
)
_time = re.compile(r"time[ _-]?(?:d[ _-]?)?out|time[ _-]?limit|deadline|wall[ _-]?clock|AgentTimeout", re.IGNORECASE)
_others_time = re.compile(r"test|grad|verif|setup|build|environment|install|start", re.IGNORECASE)


def agent_program(view: RolloutView) -> Iterable[Sign]:
    """What became of the agent's program."""
    return _of_program(view) if _may_tell(view) else ()


def _may_tell(view: RolloutView) -> bool:
    """Whether there may be anything to tell: most rollouts ended by themselves, with words of the agent."""
    features = view.rollout.features
    if features is None or not (features.calls or features.agent_messages) or _may_be_error(view) is not None:
        return True
    if _given_up(view) is not None:
        return True
    told = bool(view.account.statuses or view.rollout.error) or view.features.results > 1
    return not view.passed and (told or view.steps[-1].kind == "call")


def _may_be_error(view: RolloutView) -> Step | None:
    """The last message, where it is short and holds a word of trouble."""
    last = view.last
    return last if last is not None and len(last.text) <= SHORT and _may_be_trouble(view) else None


def _given_up(view: RolloutView) -> str | None:
    """The last error of the endpoint that the agent's own log names, where the rollout did not pass."""
    words = None if view.passed else view.session.get("last_error")
    return words if isinstance(words, str) else None


def _of_program(view: RolloutView) -> Iterator[Sign]:
    if (retried := _given_up(view)) is not None:
        yield sign("agent:api-error", retried, retried, "session.last_error")
    elif (last := _may_be_error(view)) is not None:
        yield from _model(view, last)
    if view.rollout.features is None:
        if not view.passed and not any(log.text.strip() for log in view.agent_logs):
            yield sign("agent:no-output", "no trajectory")
    elif not view.features.calls and not view.features.agent_messages and not _thought(view):
        yield sign("agent:no-output")
    if view.passed:
        return
    if (full := _context_full.search((view.rollout.error or "")[-TAIL:])) is not None:
        yield sign("agent:context-full", "", line_with((view.rollout.error or "")[-TAIL:], full), "error")
    yield from _cut(view)
    yield from _at_limit(view)
    yield from _lost(view)
    if not view.features.calls and not view.features.agent_messages:
        yield from _environment(view)
        yield from _endpoint(view)
        yield from _start(view)
        if not view.steps:
            yield from _crash(view)
    elif view.steps and view.steps[-1].kind == "call":
        yield from _crash(view)


def _thought(view: RolloutView) -> bool:
    return any(step.party == "agent" and step.text.strip() for step in view.steps)


def _model(view: RolloutView, last: Step) -> Iterator[Sign]:
    """A last message that is an error of the model's endpoint, as agent programs print it in place of an answer."""
    words = last.text
    if not view.passed and (full := _context_full.search(words)) and not _context_full.search(view.prompt):
        yield sign("agent:context-full", "", line_with(words, full), "text", last.index)
        return
    if not _api_error.match(words) and (view.features.calls or not _endpoint_error.match(words)):
        return
    alone = not view.features.calls or view.session.get("duration_api_ms") == 0
    if not view.passed:
        yield sign("agent:api-error", words, words, "text", last.index)
    elif alone:
        yield sign("hollow:no-model-call", words, words, "text", last.index)


def _environment(view: RolloutView) -> Iterator[Sign]:
    """The first report that there was nothing to work in, in a log or in the error of the row."""
    texts = [("error", view.rollout.error or ""), *((log.field, log.text) for log in view.account.logs)]
    known = {text for _, text in texts}
    others = ((path, text) for path, text in _texts_of_row(view) if text not in known)
    for field, text in chain(texts, others):
        tail = text[-TAIL:]
        found = _not_built.search(tail) if _may_report_not_built(tail) else None
        if found is not None and (text in known or text not in view.prompt):
            yield sign("environment:failed", "", line_with(tail, found), field)
            return


def _endpoint(view: RolloutView) -> Iterator[Sign]:
    """An error of the endpoint that the harness recorded, where no answer and no log of tests is on record."""
    if view.rollout.answer or view.grader_logs:
        return
    for path, text in (("error", view.rollout.error or ""), *_texts_of_row(view)):
        if len(text) > SHORT or _not_of_the_model.search(text):
            continue
        if (full := _context_full.search(text)) is not None:
            yield sign("agent:context-full", "", line_with(text, full), path)
            return
        if (found := _of_endpoint.search(text) or _endpoint_error.match(text)) is not None:
            words = line_with(text, found)
            yield sign("agent:api-error", words, words, path)
            return


_OF_THE_REQUEST = ("responses_create_params", "response", "input", "messages", "prompt")
DEEPEST = 4


def _texts_of_row(view: RolloutView) -> Iterator[tuple[str, str]]:
    """The short texts of a row beside its request, its task and its logs, with their paths: few rows have the field that says what
    broke, so it has no role.
    """
    logs = {*of_run().roles.given, *(log.field for log in view.account.logs)}
    row = {name: value for name, value in view.rollout.row.items() if name not in _OF_THE_REQUEST}
    for path, value in _leaves("", row, 0):
        if isinstance(value, str) and path not in logs and 0 < len(value) <= TAIL and value not in view.prompt:
            yield path, value


def _leaves(path: str, value: Mapping[str, object], depth: int) -> Iterator[tuple[str, Any]]:
    """What stands in objects, outside of lists, with its path; a path could not name what stands under a name with a dot."""
    for name, item in value.items():
        if isinstance(item, dict) and depth < DEEPEST and "." not in name:
            yield from _leaves(f"{path}{name}.", item, depth + 1)
        elif "." not in name:
            yield f"{path}{name}", item


SHORTEST_LIMIT, ROUND = 60, 30
"""Seconds: limits are set in minutes and halves of them; other amounts are hardly ever such a number."""
OVER, LATE = 0.02, 5
"""Of a limit, and seconds, by which an agent may run over it before it is stopped."""


_called_limit = re.compile(r"max|limit|time_?out|budget|allow|deadline", re.IGNORECASE)


def _at_limit(view: RolloutView) -> Iterator[Sign]:
    """The agent's part took as long as a round number of the row says, and its last call has no result."""
    took = next((phase.seconds for phase in view.account.phases if phase.name == "agent"), 0.0)
    if took < SHORTEST_LIMIT or not view.steps or view.steps[-1].kind != "call":
        return
    row = {name: value for name, value in view.rollout.row.items() if name not in _OF_THE_REQUEST}
    # What was measured, such as the duration itself, is no limit; of two kinds of seconds only the name tells which is which.
    known = (field.path for field in of_run().roles.fields if field.role not in (None, "task-field"))
    measured = {path for path in known if not _called_limit.search(path)}
    for path, number in _leaves("", row, 0):
        if type(number) not in (int, float) or not SHORTEST_LIMIT <= number <= took or number % ROUND:
            continue
        if path in measured:
            continue
        if took - number <= max(OVER * number, LATE):
            yield sign("agent:at-time-limit", f"{path} is {number:g}, and the agent ran for {took:.0f} s")
            return


def _lost(view: RolloutView) -> Iterator[Sign]:
    """The last commands, unlike each other, got one and the same answer, and the row records these very words."""
    results = [step for step in view.steps if step.kind == "result"]
    words = results[-1].text.strip() if len(results) > 1 else ""
    if not words or len(words) > SHORT or results[-2].text.strip() != words:
        return
    same = list(takewhile(lambda step: step.text.strip() == words, reversed(results)))
    answered = {step.answers for step in same}
    if len({call.arguments for call in view.calls if call.index in answered}) < 2:
        return
    found = next((one for one in _texts_of_row(view) if words in one[1] and len(one[1]) <= 2 * len(words)), None)
    if found is not None:
        yield sign("environment:lost", words, found[1].strip(), found[0])


def _start(view: RolloutView) -> Iterator[Sign]:
    """A command that the terminal was given and that does not exist, and a failed installation."""
    for log in view.agent_logs:
        missing = _last_command_not_found(log.text)
        failed = next((event for event in log.parsed.events if event.kind in ("install-failed", "disk-full")), None)
        if missing:
            yield sign("agent:no-start", missing[0], missing[1], log.field)
        if failed is not None:
            yield sign("agent:install-failed", failed.subject, line_of(log, failed), log.field)
        elif words := (_install.search(log.text) if missing else _step_failed.search(log.text[-TAIL:])):
            yield sign("agent:install-failed", words[0], words[0], log.field)
        elif not missing and not view.steps and (words := _not_loaded.search(log.text[-TAIL:])):
            yield sign("agent:no-start", words[0], words[0], log.field)


def _last_command_not_found(text: str) -> tuple[str, str] | None:
    """A command behind a prompt, or at the end of the log, that the shell did not find: not one of a task's own output."""
    for match in reversed(list(_not_found.finditer(text[-TAIL:]))):
        command = match["command"] or match["path"] or match["zsh"] or match["env"]
        asked = re.search(rf"(?m)^[^\n]*[#$%>] {re.escape(command)}(?:\s|$)", text)
        if asked or not text[-TAIL:][match.end() :].strip():
            return command, match[0]
    return None


def _crash(view: RolloutView) -> Iterator[Sign]:
    """The last thing on record is a call without a result, and the terminal ends with a stack trace and a prompt."""
    if view.session.get("ended") is True:
        return
    for log in view.agent_logs:
        tail = log.text[-TAIL:]
        raised = list(_raised.finditer(tail))
        if (
            raised
            and _trace.search(tail)
            and (not view.steps or _prompt_sign.search(tail[raised[-1].end() :]))
            and not _time.search(raised[-1][0])
        ):
            last = view.steps[-1].tool if view.steps else None
            yield sign("agent:crashed", last or "", raised[-1][0], log.field)
            return


def _cut(view: RolloutView) -> Iterator[Sign]:
    """A status that names a limit, of the agent and not of the tests."""
    for status in view.account.statuses:
        if _others_time.search(status.value):
            continue
        limit = "time" if _time.search(status.value) else limit_word(status.value)
        if limit is not None and not (limit == "time" and view.rollout.answered_at_once):
            yield sign(f"agent:cut-by-{limit}", status.value, status.value, status.field)
            return
