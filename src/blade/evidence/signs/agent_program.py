"""Whether the agent's program was installed, started, reached its model, and ended by itself.

`agent:no-output` stands for a rollout without a word of the agent, and with the subject `no trajectory` for one that has
none on record; only the other rollouts of the run tell what that means. The others quote what was printed instead.
`hollow:no-model-call` is a pass in which no call of the model succeeded.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from blade.evidence.differences import limit_word
from blade.evidence.signs.view import RolloutView, in_closing, line_of, sign
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
_may_be_trouble = in_closing("error|failed|unavailable|overloaded|limit")
_not_found = re.compile(
    r"(?m)^(?:[\w./-]+: )?(?:line \d+: |\d+: )?(?P<command>[\w./@-]+): (?:command )?not found\s*$"
    r"|^(?:/\w+)*/?(?:ba|da|z|k)?sh: (?:line \d+: |\d+: )?(?P<path>/[\w./@-]+): No such file or directory\s*$|^.*command not found: (?P<zsh>\S+)\s*$"
)
_install = re.compile(
    r"(?mi)^.*(?:ENOSPC|no space left on device|npm ERR!|npm error (?:code|A complete log)|E: Unable to locate package"
    r"|ERROR: (?:Could not find a version|No matching distribution|Could not install)|error: (?:failed to|could not) (?:download|install)).*$"
)
_trace = re.compile(
    r"(?m)^Traceback \(most recent call last\)|^\s+at .*\(?(?:node:|file:///|/|[\w.$]+\().*:\d+\)?|^Node\.js v\d|^panic: |^goroutine \d+ \["
    r"|^thread '[^'\n]*' panicked|^Exception in thread \"|\bSegmentation fault\b|\bcore dumped\b|^Unhandled exception|^Bus error|^Killed$|^Aborted\b"
)
_raised = re.compile(
    r"(?m)^(?:[\w.]*(?:Error|Exception)\b[^\n]*|panic: [^\n]*|thread '[^'\n]*' panicked[^\n]*|Exception in thread [^\n]*"
    r"|[^\n]*(?:Segmentation fault|core dumped)[^\n]*|Killed|Aborted[^\n]*|Bus error[^\n]*)$"
)
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
    return not view.passed and (bool(view.account.statuses) or view.steps[-1].kind == "call")


def _may_be_error(view: RolloutView) -> Step | None:
    """The last message, where it is short and holds a word of trouble."""
    last = view.last
    return last if last is not None and len(last.text) <= SHORT and _may_be_trouble(view) else None


def _of_program(view: RolloutView) -> Iterator[Sign]:
    if (last := _may_be_error(view)) is not None:
        yield from _model(view, last)
    if view.rollout.features is None:
        if not view.passed and not any(log.text.strip() for log in view.agent_logs):
            yield sign("agent:no-output", "no trajectory")
    elif not view.features.calls and not view.features.agent_messages and not _thought(view):
        yield sign("agent:no-output")
    if view.passed:
        return
    yield from _cut(view)
    if not view.features.calls and not view.features.agent_messages:
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
    if not _api_error.match(words):
        return
    alone = not view.features.calls or view.session.get("duration_api_ms") == 0
    if not view.passed:
        yield sign("agent:api-error", words, words, "text", last.index)
    elif alone:
        yield sign("hollow:no-model-call", words, words, "text", last.index)


def _start(view: RolloutView) -> Iterator[Sign]:
    """A command that the terminal was given and that does not exist, and a failed installation."""
    for log in view.agent_logs:
        missing = _last_command_not_found(log.text)
        failed = next((event for event in log.parsed.events if event.kind in ("install-failed", "disk-full")), None)
        if missing:
            yield sign("agent:no-start", missing[0], missing[1], log.field)
        if failed is not None:
            yield sign("agent:install-failed", failed.subject, line_of(log, failed), log.field)
        elif missing and (words := _install.search(log.text)):
            yield sign("agent:install-failed", words[0], words[0], log.field)


def _last_command_not_found(text: str) -> tuple[str, str] | None:
    """A command behind a prompt, or at the end of the log, that the shell did not find: not one of a task's own output."""
    for match in reversed(list(_not_found.finditer(text[-TAIL:]))):
        command = match["command"] or match["path"] or match["zsh"]
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
            and _prompt_sign.search(tail[raised[-1].end() :])
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
        if limit is not None:
            yield sign(f"agent:cut-by-{limit}", status.value, status.value, status.field)
            return
