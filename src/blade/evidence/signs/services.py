"""Services that did not answer: the agent's own at grading, and hosts that the task needs.

`service:down-at-grading` is a port of the machine itself that the grader could not reach; why is not shown.
`service:unreachable` is another host, in what the agent's commands printed (with a step) or in the grader's log; both
together say more than either. `service:reset` is a port of the machine itself that answered the grader by breaking the
connection off, as a program does that is not the one that was asked for. Of a port that the grader could not reach:
`service:answered` quotes the agent's own request that it answered, `service:elsewhere` ("port wanted|port used") the
port that the agent asked in its place, and `service:unanswered` its request without an answer, or no quote where it made
none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from blade.evidence.presence import may_hold
from blade.evidence.signs.view import LONGEST_LINE, RolloutView, runs_commands, sign
from blade.model.finding import Sign
from blade.model.rollout import Step

MOST = 3
EDGE = 3_000
"""Characters at either end of an output that are searched: programs report the network there, and outputs may be huge."""
_may_fail = may_hold(
    r"refused|reset by|reset to|could not resolve|couldn't resolve|getaddrinfo|resolution|Bad Gateway|Service Unavailable|Gateway Time-?out|unreachable"
    r"|not a bot|Too Many Requests|Temporarily Unavailable|ENOTFOUND|EAI_AGAIN|ECONN|not known|connect to|bad address|Max retries|NewConnection|dial tcp|no such host|nodename|ERR_[A-Z]+|to connect|too long to respond|are human|HTTP/[0-9.]+ 50[234]|: 50[234]\b|50[234] Server"
)
_trouble = re.compile(
    r"host='(?P<h1>[^'\n]{1,100})', port=(?P<p1>\d+)[^\n]{0,300}?(?:Max retries|NewConnection|refused|resol|not known|unreachable|[Bb]ad [Gg]ateway|reset)"
    r"|(?:[Cc]ould not|[Cc]ouldn't|[Uu]nable to|[Ff]ailed to) (?:resolve|connect to)(?: host| proxy| server| address)?:? ['\"]?(?:\w+://)?(?P<h2>[\w.:-]*\w)(?: port (?P<p2>\d+))?"
    r"|ECONNREFUSED (?P<h3>[\w.:-]*?):(?P<p3>\d+)|(?:ENOTFOUND|EAI_AGAIN) (?P<h4>[\w.-]+)|dial tcp:? (?:lookup )?(?P<h5>[\w.-]+|\[::1\])(?::(?P<p5>\d+))?[^\n]{0,80}(?:refused|no such host|timeout)"
    r"|(?:Connection (?:reset|refused|closed)|connect to)(?: by| to| with| host)? (?P<h6>[\w.:]*\w) port (?P<p6>\d+)"
    r"|\b50[234] (?:Server Error|Bad Gateway|Service Unavailable|Gateway Time-?out)[^\n]{0,60}?url: \w+://(?P<h7>[\w.-]+)(?::(?P<p7>\d+))?"
    r"|\b[a-z]{2,10}://(?P<h8>[\w.-]+)(?::(?P<p8>\d+))?[^\s'\"]{0,100}['\"]?[^\n]{0,60}?(?:\b50[234]\b|[Bb]ad [Gg]ateway|[Cc]onnection refused|ECONNREFUSED)"
    r"|[Cc]an(?:no|')t connect to remote host:? \(?(?P<h11>[\w.-]*\w)|\bbad address '(?P<h12>[\w.-]+)'"
    r"|\bERR_[A-Z_]+ at [a-z]+://(?P<h13>[\w.-]+)(?::(?P<p13>\d+))?"
    r"|(?P<h14>\b[\w-]+(?:\.[\w-]+)*)(?::(?P<p14>\d+))? (?:refused to connect|took too long to respond|unexpectedly closed the connection)"
    r"|\bConnectionRefused\(\W{0,3}(?P<h10>[\w.-]+)(?::(?P<p10>\d+))?"
    r"|\b(?P<h9>[\w-]+(?:\.[\w-]+)+): (?:Name or service not known|Temporary failure in name resolution|nodename nor servname)"
)
_bare = re.compile(
    r"[Vv]erify(?:ing)? (?:that )?you are human|HTTP/[\d.]+ 50[234]\b[^\n]{0,40}|requested URL returned error: 50[234]\b|\b50[234] (?:Bad Gateway|Service (?:Temporarily )?Unavailable)[^\n]{0,40}|[Ss]ign in to confirm you.re not a bot|429 Too Many Requests"
)
_refused = re.compile(r"[^\n]*(?:Connection refused|ECONNREFUSED)[^\n]*")
_status = re.compile(r"<Response \[50[234]\]>|\b50[234] (?:==|!=) 20\d\b|\bstatus(?:_code| code)?[ :=]+50[234]\b")
_reset = re.compile(r"(?i)\bconnection (?:was )?reset|\bkex_exchange|\breset by peer")
_local_port = re.compile(r"(?i)(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1?\]):(\d{2,5})\b|\bport[=: ]+(\d{2,5})\b")
_LOCAL = ("localhost", "127.0.0.1", "0.0.0.0", "::1", "[::1]")
_asks = re.compile(r"\bcurl\b|\bwget\b|requests\.|urlopen|\bhttpie?\b|\bfetch\(|\bnc\b|\btelnet\b")
_failed_reply = re.compile(r"(?i)\bcurl: \(\d+\)|traceback|\b000\b|refused")
_url = re.compile(r"https?://([\w.-]+)(?::(\d+))?")
_not_running = re.compile(
    r"(?i)\b(?:server|service|api|app\w*)\b[^\n]{0,30} (?:is )?not (?:running|listening|up|reachable|responding|accessible)[^\n]{0,40}?(?:port )?\b(\d{2,5})\b"
)


def services(view: RolloutView) -> Iterator[Sign]:
    """The hosts and ports that did not answer, each once for the grader and once for the agent."""
    if view.passed:
        return
    down = list(_of_the_grader(view))
    yield from down
    if view.features.results:
        yield from _own_requests(view, [one for one in down if one.kind == "service:down-at-grading"])
        yield from _of_the_agent(view)


def _of_the_grader(view: RolloutView) -> Iterator[Sign]:
    seen: set[str] = set()
    for log, event, text in view.failure_texts:
        if len(seen) >= MOST:
            return
        if event.kind == "collection-error":
            continue  # what the tests themselves need before they start
        for words in (event.message if event.message in log.text else "", text):
            for host, port, quote in [*_troubles(words), *_answered(view, words)]:
                kind = _kind(host, quote)
                name = f"{host}:{port}" if port else host
                if name not in seen:
                    seen.add(name)
                    yield sign(kind, name, quote, log.field)
            if (found := _not_running.search(words)) and (name := f"localhost:{found[1]}") not in seen:
                seen.add(name)
                yield sign("service:down-at-grading", name, found[0], log.field)
    for log, _, text in view.failure_texts if not seen else ():
        if found := _refused.search(text):
            yield sign("service:down-at-grading", "", found[0], log.field)
            return


def _kind(host: str, quote: str) -> str:
    if host not in _LOCAL:
        return "service:unreachable"
    return "service:reset" if _reset.search(quote) else "service:down-at-grading"


def _own_requests(view: RolloutView, down: Sequence[Sign]) -> Iterator[Sign]:
    """What the agent's own calls say of the first port that was down at grading."""
    wanted = next((one.subject for one in down if one.subject.rpartition(":")[2].isdigit()), None)
    if wanted is None:
        return
    port = wanted.rpartition(":")[2]
    named = [(call, _ports_in(call.arguments or "")) for call in view.calls if runs_commands(call)]
    mine = [call for call, ports in named if port in ports]
    served = next((call for call in mine if _was_served(view, call)), None)
    if served is not None:
        yield sign("service:answered", wanted, served.arguments or "", "arguments", served.index)
        return
    asked = [(call, ports) for call, ports in named if _asks.search(call.arguments or "")]
    others = ((call, other, words) for call, ports in asked for other, words in ports.items())
    instead = next((one for one in others if one[1] not in view.prompt), None)
    if instead is not None and not mine:
        call, other, words = instead
        yield sign("service:elsewhere", f"{port}|{other}", words, "arguments", call.index)
    elif not view.is_cut:
        refused = next((call for call, ports in asked if port in ports), None)
        quote = refused.arguments or "" if refused is not None else ""
        yield sign("service:unanswered", wanted, quote, "arguments", refused.index if refused is not None else None)


def _ports_in(text: str) -> dict[str, str]:
    """The ports of the machine itself that a text names, and the words that name each."""
    return {found[1] or found[2]: found[0] for found in _local_port.finditer(text)}


def _was_served(view: RolloutView, call: Step) -> bool:
    """Whether a call is a request, and its result is an answer."""
    if not _asks.search(call.arguments or ""):
        return False
    result = next((step for step in view.steps if step.kind == "result" and step.answers == call.index), None)
    if result is None or result.failed or not result.text.strip():
        return False
    return not _may_fail(result.text) and _failed_reply.search(result.text) is None


def _answered(view: RolloutView, text: str) -> Iterator[tuple[str, str, str]]:
    """A proxy's status in place of an answer, where the prompt names one host that is not the machine itself."""
    found = _status.search(text)
    asked = dict.fromkeys(url for url in _url.findall(view.prompt) if url[0] not in _LOCAL) if found else {}
    if found is not None and len(asked) == 1:
        host, port = next(iter(asked))
        yield host, port, found[0]


def _of_the_agent(view: RolloutView) -> Iterator[Sign]:
    seen: set[str] = set()
    results = [(step, _edges(step.text)) for step in reversed(view.steps) if step.kind == "result"]
    if not _may_fail("\n".join([text for _, text in results])):  # none of them, as nearly always
        return
    for step, text in results:
        if len(seen) >= MOST or not _may_fail(text):
            continue
        for host, port, quote in [*_troubles(text), *_of_the_url(view, step.answers, text)]:
            name = f"{host}:{port}" if port else host
            if host not in _LOCAL and name not in seen:
                seen.add(name)
                yield sign("service:unreachable", name, quote, "text", step.index)


def _edges(text: str) -> str:
    return text if len(text) <= 2 * EDGE else f"{text[:EDGE]}\n{text[-EDGE:]}"


def _troubles(text: str) -> Iterator[tuple[str, str, str]]:
    """Host, port and words of each report that a host did not answer."""
    if not _may_fail(text):
        return
    for found in (
        found for line in text.split("\n") if _may_fail(line) for found in _trouble.finditer(line[:LONGEST_LINE])
    ):
        host = next((value for n in range(1, 15) if (value := found[f"h{n}"])), "localhost")
        port = next((value for n in (1, 2, 3, 5, 6, 7, 8, 10, 13, 14) if (value := found[f"p{n}"])), "")
        if host.rpartition(":")[2].isdigit() and host.count(":") == 1:
            host, _, port = host.rpartition(":")
        yield host, port, found[0]


def _of_the_url(view: RolloutView, called: int | None, text: str) -> Iterator[tuple[str, str, str]]:
    """A proxy's answer names no host: it is the one that the command asked for, where the prompt names it too."""
    found = _bare.search(text)
    if found is None or called is None:
        return
    call = next((call for call in view.calls if call.index == called), None)
    for host, port in _url.findall(call.arguments or "" if call else ""):
        asked = view.prompt or _given(view)
        if host in asked or any(host in failed for _, _, failed in view.failure_texts):
            yield host, port, found[0]


def _given(view: RolloutView) -> str:
    """The short texts of a row on which no prompt is recorded: the task's address may be among them."""
    return "\n".join(value for value in view.rollout.row.values() if isinstance(value, str) and len(value) < EDGE)
