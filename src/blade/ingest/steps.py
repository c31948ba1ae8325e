"""A trajectory in any of its shapes to steps by party.

Understood: Responses items, chat messages with tool calls, content parts, turns of a thought, an action and what was
observed, lists inside lists, plain strings.
Several steps share an index when one item of the artifact holds several (a chat message with calls in it).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from blade.ingest.decode import decode_any
from blade.ingest.shapes import (
    Content,
    ContentPart,
    Function,
    ToolCall,
    TrajectoryItem,
    UsualItem,
    UsualPart,
    compact,
    content,
    is_set,
    raw_text,
    read_items,
    string,
)
from blade.model.rollout import Kind, Party, Step

_PARTY: dict[str | None, Party] = {
    "assistant": "agent",
    "model": "agent",
    "ai": "agent",
    "gpt": "agent",
    "agent": "agent",
    None: "agent",
    "user": "user",
    "human": "user",
    "environment": "user",
    "tool": "tool",
    "function": "tool",
    "system": "system",
    "developer": "system",
}

_ERROR_IN_ANY = r"""
        \W{0,3}(?:tool\s+|http\s+|api\s+)?error\b(?!["']?\s*:\s*(?:null|none|false|0\b|""|''|\[\]|\{\}))
      | \W?[\w.:-]{1,80}\W?\sis\snot\sa\svalid\s(?:tool|function)\b
"""
_ERROR_IN_OBJECT = r"""
        \{\s*["'](?:
            (?:output|result|content|message)["']\s*:\s*["']error\b
          | (?:success|ok)["']\s*:\s*false
          | (?:status)["']\s*:\s*["'](?:error|fail|denied|rejected|refused)
          | is_?error["']\s*:\s*true
          | (?:returncode|exit_?code)["']\s*:\s*-?[1-9]
        )
"""
_ERROR_IN_WORDS = r"""
        traceback\s\(most\srecent
      | \w*(?:error|exception):\s
      | command\s(?:failed|timed\sout)
      | (?:exit\scode|exit\sstatus|return\scode):?\s*-?[1-9]
      | failed\sto\s
      | (?:unknown|unrecogni[sz]ed|invalid|no\ssuch)\s(?:tool|function)\b
      | (?:the\s)?(?:tool|function)\s\W?[\w.:-]{1,80}\W?\s(?:is\s|was\s|does\s)?not\s(?:found|exist|available|a\svalid|registered)
      | (?:fehler|erreur|errore|erro|ошибка|错误|錯誤|エラー|오류)\s*(?::|\uff1a)
      | (?:no\sse\spudo|impossible\sde|konnte\snicht)\s
"""
_FLAGS = re.IGNORECASE | re.VERBOSE
_ERROR_OBJECT = re.compile(rf"(?:{_ERROR_IN_ANY}|{_ERROR_IN_OBJECT})", _FLAGS)
_ERROR_WORDS = re.compile(rf"(?:{_ERROR_IN_ANY}|{_ERROR_IN_WORDS})", _FLAGS)
_EXIT_LINE = re.compile(r"\s*\W?(?:exit|return)[ _]?(?:code|status)\W{0,3}\s*-?\d", re.IGNORECASE)
"""How a program that ran a command begins its report."""
_FENCED = re.compile(r"```[ \t]*(\w*)[^\n]*\n(.*?)(?:```|\Z)", re.DOTALL)
_COMMAND = re.compile(r"[A-Za-z_][\w.-]{0,40}(?=\s|\(|$)")
_LONGEST_HEAD = 160

_TEXT_PARTS = frozenset(("output_text", "text", "input_text", None))


def read_steps(found: bytes | msgspec.Raw | list[UsualItem]) -> tuple[Step, ...]:
    """Steps of usual items, or of a raw trajectory of any shape; null and an empty list have none."""
    if isinstance(found, list):
        return _Walk().steps(found, _usual_text)
    return _Walk().steps(read_items(found), _plain_text)


def after_prompt(items: list[object]) -> list[object]:
    """Chat messages from the agent's first turn on: what comes before is the prompt."""
    for index, item in enumerate(items):
        if isinstance(item, dict) and (_is_call(item) or _party(_role(item)) in ("agent", "tool")):
            return items[index:]
    # Where nobody is called the agent, those with roles of their own are.
    roles = [_role(item) if isinstance(item, dict) else None for item in items]
    strange = [index for index, role in enumerate(roles) if role is not None and role.lower() not in _PARTY]
    return items[strange[0] :] if len(strange) > 1 else []


def before_agent(items: list[object]) -> list[object]:
    """Messages before the agent's first turn."""
    return items[: len(items) - len(after_prompt(items))]


def plain_messages(items: list[object]) -> tuple[Step, ...]:
    """The steps of messages before the agent's first turn that hold a role and a text and nothing else; empty of others."""
    steps: list[Step] = []
    for index, item in enumerate(items):
        if not isinstance(item, dict) or item.keys() != _ROLE_AND_TEXT or not isinstance(item["content"], str):
            return ()
        role = _role(item)
        if role is not None and role.lower() not in _PARTY:
            return ()
        steps.append(Step(index=index, party=_party(_role(item)), kind="message", text=item["content"]))
    return tuple(steps)


def given_to_agent(items: list[object]) -> list[object]:
    """The messages of a request that are the agent's prompt: a whole talk to go on with, else those before its first turn.

    Worked examples are given as turns of the agent, and what is asked comes after them.
    """
    before = before_agent(items)
    return items if len(before) == len(items) or _is_talk_to_go_on_with(items) else before


def _is_talk_to_go_on_with(items: list[object]) -> bool:
    """Whether, after instructions if any, user and agent take turns, the user first and last, without a call or a result.

    Where the agent is first, it greets a simulated user, and what that one says is no prompt.
    """
    parties = [_party(_role(item)) if isinstance(item, dict) and not _is_call(item) else "tool" for item in items]
    told = next((place for place, party in enumerate(parties) if party != "system"), len(parties))
    turns = parties[told:]
    return turns == ["user", "agent"] * (len(turns) // 2) + ["user"]


def reports_error(text: str) -> bool:
    """Whether a tool's result opens with an error; told from its first characters only."""
    head = text[:_LONGEST_HEAD].lstrip()
    return bool(head) and (_ERROR_OBJECT if head[0] == "{" else _ERROR_WORDS).match(head) is not None


def _role(item: dict[str, object]) -> str | None:
    role = item.get("role", item.get("from"))
    return role if isinstance(role, str) else None


def _is_call(item: dict[str, object]) -> bool:
    return isinstance(item.get("type"), str) and str(item["type"]).endswith("_call")


def _party(role: str | None) -> Party:
    """A role that nobody knows is somebody other than the agent."""
    known = _PARTY.get(role)
    return known or _PARTY.get(role.lower() if role else None, "user")


class _Cast(msgspec.Struct, frozen=True, gc=False):
    """Who speaks in a trajectory, as its items say together and none says alone."""

    strangers: Party
    """Who somebody is whose name or role nobody knows: an agent, unless another item says who the agent is."""
    relative: bool
    """Whether `user` only means another than the one who is asked, as in a talk between agents."""
    terminals: frozenset[str]
    """Those who report exit codes: what they say is what a command printed."""

    def party(self, item: TrajectoryItem | UsualItem, actor: str | None) -> Party:
        role = item.role or item.speaker
        known = _PARTY.get(role.lower()) if role else _PARTY.get((actor or "").lower())
        if known is None:
            return self.strangers
        if self.relative and actor is not None and known == "user":
            return _PARTY.get(actor.lower(), "agent")
        return known


_ALONE = _Cast(strangers="user", relative=False, terminals=frozenset())


def _cast(items: Sequence[TrajectoryItem | UsualItem]) -> _Cast:
    said_as: dict[str, set[Party | None]] = {}
    terminals, parties = set(), set()
    for item in items:
        role, actor = item.role or item.speaker, _named(item)
        party = _PARTY.get(role.lower()) if role else _PARTY.get((actor or "").lower()) if actor else None
        parties.add(party)
        if actor is not None:
            said_as.setdefault(actor, set()).add(party)
            if _EXIT_LINE.match(_text(_said(item))):
                terminals.add(actor)
    users = [name for name, parts in said_as.items() if "user" in parts and name.lower() not in _PARTY]
    relative = len(users) > 1 or any("agent" in said_as[name] for name in users)
    strangers: Party = "user" if "agent" in parties and not relative else "agent"
    return _Cast(strangers=strangers, relative=relative, terminals=frozenset(terminals))


def _named(item: TrajectoryItem | UsualItem) -> str | None:
    """Who acted, by a name of its own or by a role that nobody knows; None where only a known role is given."""
    found = item.actor or item.agent or item.agent_name or item.named_speaker or item.sender
    if found is None and item.type in (None, "message"):
        found = item.name
    if found is None:
        role = item.role or item.speaker
        return role if role and role.lower() not in _PARTY else None
    return found


_ROLE_AND_TEXT = {"role", "content"}
_SPEAKERS = ("assistant", "user")


class _Walk:
    """Turns items into steps in order, joining each result to the nearest earlier unanswered call with its id."""

    __slots__ = ("_add", "_cast", "answered", "calls", "found", "items", "unanswered")

    def __init__(self) -> None:
        self.found: list[Step] = []
        self._add = self.found.append
        self.calls: list[Step] = []
        self.unanswered: dict[str | None, list[Step]] = {}
        self.answered: set[int] = set()
        self.items: Sequence[TrajectoryItem | UsualItem] = ()
        self._cast: _Cast | None = None

    def steps(
        self, items: Sequence[TrajectoryItem | UsualItem], plain_text: Callable[[Any], str | None]
    ) -> tuple[Step, ...]:
        """The steps of the items; several may come from one. `plain_text` is that of a message which holds nothing else."""
        add = self._add
        self.items = items
        for index, item in enumerate(items):
            kind = item.type
            if kind == "message" and (text := plain_text(item)) is not None:
                add(Step(index=index, party=_PARTY[item.role], kind="message", text=text))
            elif kind == "function_call":
                add(self._call(index, item.name, item.arguments, item.call_id, item.actor))
            elif kind == "function_call_output":
                add(self._result(index, _text(item.output), item.call_id, is_set(item.error), actor=item.actor))
            elif kind == "reasoning":
                add(Step(index=index, party="agent", kind="reasoning", actor=item.actor, text=_thoughts(item)))
            elif kind is None or kind == "message":
                self._message(index, item)
            elif isinstance(item, TrajectoryItem):
                self._rarer(index, item, kind)
        return tuple(self.found)

    def _rarer(self, index: int, item: TrajectoryItem, kind: str) -> None:
        call_id = item.call_id or item.tool_call_id or string(item.id)
        failed = is_set(item.error)
        if kind.endswith("_output") or kind == "tool_result":
            text = _text(item.output if item.output is not None else item.content)
            self._add(self._result(index, text, call_id, failed, actor=_named(item)))
        elif kind.endswith("_call") or kind == "tool_use":
            arguments = item.arguments if item.arguments is not None else raw_text(item.input or item.action)
            self._add(self._call(index, item.name or kind, arguments, call_id, _named(item)))
            if item.output is not None or failed:
                self._add(self._result(index, _text(item.output) or raw_text(item.error), call_id, failed))
        elif item.role is not None or item.content is not None:
            self._message(index, item)
        else:
            self._add(Step(index=index, party="agent", kind="other", text=kind))

    def _message(self, index: int, item: TrajectoryItem | UsualItem) -> None:
        if item.observation is not None and item.role is None:
            self._turn(index, item)
            return
        actor = _named(item)
        cast = self._cast_of() if actor is not None else _ALONE
        party = cast.party(item, actor)
        if party == "tool":
            call_id = item.tool_call_id or item.call_id
            self._add(self._result(index, _text(_said(item)), call_id, is_set(item.error), item.name or item.function))
            return
        if actor in cast.terminals and self._printed(index, _text(_said(item)), actor):
            return
        actor = actor if actor is None or actor.lower() not in _PARTY else None
        if item.reasoning_content:
            self._add(Step(index=index, party=party, kind="reasoning", actor=actor, text=item.reasoning_content))
        calls = item.tool_calls or ()
        self._content(index, party, actor, _said(item), calls=bool(calls) or item.function_call is not None)
        for call in calls:
            self._add(self._tool_call(index, call, actor))
        if item.function_call is not None:
            self._add(self._call(index, item.function_call.name, item.function_call.arguments, None, actor))

    def _cast_of(self) -> _Cast:
        if self._cast is None:
            self._cast = _cast(self.items)
        return self._cast

    def _printed(self, index: int, text: str, actor: str | None) -> bool:
        """Whether the text is what a terminal printed; the code of the message before it is the call that it answers."""
        before = self.found[-1] if self.found else None
        blocks = _FENCED.findall(before.text) if before is not None and before.kind == "message" else []
        if before is not None and blocks:
            code = "\n".join(body for _, body in blocks)
            self._add(self._call(before.index, blocks[0][0] or "code", code, None, before.actor))
        elif not _EXIT_LINE.match(text):
            self._add(Step(index=index, party="tool", kind="message", actor=actor, text=text))
            return True
        self._add(self._result(index, text, None, False, actor=actor))
        return True

    def _turn(self, index: int, item: TrajectoryItem) -> None:
        """A thought, an action and what was observed in one item, as agents write that act in a loop."""
        if item.thought:
            self._add(Step(index=index, party="agent", kind="reasoning", text=item.thought))
        action = raw_text(item.action)
        if action:
            self._add(self._call(index, item.name or _command(action), action, None))
        self._add(self._result(index, _text(item.observation), None, is_set(item.error)))

    def _content(self, index: int, party: Party, actor: str | None, said: Content, *, calls: bool) -> None:
        if isinstance(said, list) and not _is_text(said):
            self._parts(index, party, actor, said)
        else:
            text = _text(said)
            if text or not calls:
                self._add(Step(index=index, party=party, kind="message", actor=actor, text=text))

    def _parts(self, index: int, party: Party, actor: str | None, parts: Sequence[ContentPart | UsualPart]) -> None:
        for part in parts:
            if isinstance(part, UsualPart):
                kind: Kind = "other" if part.text is None else "message"
                text = part.type or "" if part.text is None else part.text
                self._add(Step(index=index, party=party, kind=kind, actor=actor, text=text))
            elif part.type == "refusal" or part.refusal:
                text = part.refusal or part.text or ""
                self._add(Step(index=index, party=party, kind="refusal", actor=actor, text=text))
            elif part.type in ("tool_use", "tool_call"):
                self._add(self._call(index, part.name, raw_text(part.input), part.id, actor))
            elif part.type == "tool_result":
                text = _text(content(decode_any(part.content))) if part.content else ""
                self._add(self._result(index, text, part.tool_use_id, bool(part.is_error)))
            elif part.type in ("thinking", "reasoning"):
                text = part.thinking or part.text or ""
                self._add(Step(index=index, party=party, kind="reasoning", actor=actor, text=text))
            elif part.text is not None:
                self._add(Step(index=index, party=party, kind="message", actor=actor, text=part.text))
            else:
                self._add(Step(index=index, party=party, kind="other", actor=actor, text=part.type or ""))

    def _tool_call(self, index: int, call: ToolCall, actor: str | None) -> Step:
        if isinstance(call.function, Function):
            return self._call(index, call.function.name, call.function.arguments, call.id, actor)
        return self._call(index, call.function or call.name, call.arguments, call.id, actor)

    def _call(
        self,
        index: int,
        tool: str | None,
        arguments: str | dict[str, Any] | None,
        call_id: str | None,
        actor: str | None = None,
    ) -> Step:
        text = arguments if isinstance(arguments, str) else "" if arguments is None else compact(arguments)
        party: Party = "user" if actor is not None and _PARTY.get(actor.lower()) == "user" else "agent"
        step = Step(
            index=index, party=party, kind="call", actor=actor, tool=tool or "", arguments=text, call_id=call_id
        )
        self.calls.append(step)
        self.unanswered.setdefault(call_id, []).append(step)
        return step

    def _result(
        self,
        index: int,
        text: str,
        call_id: str | None,
        failed: bool,
        tool: str | None = None,
        *,
        actor: str | None = None,
    ) -> Step:
        call = self._answered(call_id)
        return Step(
            index=index,
            party="tool",
            kind="result",
            actor=actor,
            text=text,
            tool=call.tool if call else tool,
            call_id=call_id,
            failed=failed or reports_error(text),
            answers=call.index if call else None,
        )

    def _answered(self, call_id: str | None) -> Step | None:
        if call_id is None:
            while self.calls and id(self.calls[-1]) in self.answered:
                self.calls.pop()
            if not self.calls:
                return None
            call_id = self.calls[-1].call_id
        same_id = self.unanswered.get(call_id)
        if not same_id:
            return None
        call = same_id.pop()
        self.answered.add(id(call))
        return call


def _command(action: str) -> str:
    """The tool of an action that is a line of a shell or the like: its first word, where that is a name."""
    found = _COMMAND.match(action)
    return found[0] if found is not None else "action"


def _plain_text(item: TrajectoryItem) -> str | None:
    """The text of a message that holds nothing else, as most do; None for every other message."""
    if item.role not in _SPEAKERS or item.tool_calls or item.reasoning_content or item.function_call is not None:
        return None
    return _only_text(item.content) if _named(item) is None else None


def _usual_text(item: UsualItem) -> str | None:
    """As `_plain_text`; a usual message cannot hold anything but texts."""
    return _only_text(item.content) if item.role is not None and item.name is None else None


def _only_text(said: Content) -> str | None:
    """A text, or the only part where that is one; None for anything else."""
    if isinstance(said, str):
        return said
    if said is not None and len(said) == 1 and said[0].type in _TEXT_PARTS:
        return said[0].text or ""
    return None


def _is_text(parts: Sequence[ContentPart | UsualPart]) -> bool:
    if len(parts) == 1:
        return parts[0].type in _TEXT_PARTS
    return all(part.type in _TEXT_PARTS for part in parts)


def _said(item: TrajectoryItem | UsualItem) -> Content:
    if item.content is not None:
        return item.content
    return item.value if item.value is not None else item.text


def _text(said: Content) -> str:
    if said is None:
        return ""
    if isinstance(said, str):
        return said
    if len(said) == 1:
        return said[0].text or ""
    return "\n".join(part.text for part in said if part.text)


def _thoughts(item: TrajectoryItem | UsualItem) -> str:
    summary = _text(item.summary)
    if not item.content:
        return summary
    whole = _text(item.content)
    return f"{summary}\n{whole}" if summary and whole else summary or whole
