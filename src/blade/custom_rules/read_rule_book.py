"""`blade.yaml`, the custom rules of a benchmark, read into values; every error names file and line."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any, NoReturn

import yaml

from blade.custom_rules.parse import RuleError, parse
from blade.custom_rules.rule_book import CustomLabel, Fix, RuleBook
from blade.custom_rules.syntax import Rule
from blade.model.errors import ArtifactError
from blade.model.field_map import TARGETS, FieldMap
from blade.model.finding import Cause
from blade.model.tools import Tools

KINDS_OF_FIX = ("harness", "prompt", "training", "verifier", "data", "infrastructure")
_RULE_CODES = ("ANS", "BEH", "DAT", "INF", "TSK")
"""A label must not be taken for a rule of BLADE."""


def rule_book_at(path: Path, shown: str | None = None) -> RuleBook:
    """The rule book in a file; ArtifactError names the file, the line and what to do."""
    shown = shown or path.name
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ArtifactError(f"cannot read {shown}: {error.strerror}", hint="give the folder of a package") from None
    try:
        node = yaml.compose(data.decode("utf-8-sig"), Loader=yaml.SafeLoader)
    except UnicodeDecodeError:
        raise ArtifactError(f"{shown} is not UTF-8", hint="save it as UTF-8") from None
    except (yaml.YAMLError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        at = f"{shown}:{mark.line + 1}" if mark is not None else shown
        raise ArtifactError(f"{at}: {getattr(error, 'problem', None) or 'no YAML'}", hint="mend the YAML") from None
    return _Reader(shown).book(node, blake2b(data, digest_size=6).hexdigest())


class _Reader:
    """One reading of one file."""

    def __init__(self, shown: str) -> None:
        self.shown = shown

    def book(self, node: yaml.Node | None, digest: str) -> RuleBook:
        if node is None:
            return RuleBook(path=self.shown, digest=digest)
        readers: dict[str, Callable[[yaml.Node], Any]] = {
            "benchmark": self.text,
            "pass_threshold": self.number,
            "task_id": self.text,
            "slices": self.texts,
            "map": self.field_map,
            "group": self.text,
            "tools": self.tools,
            "funnel": self.funnel,
            "labels": self.labels,
        }
        found = self.fields(node, readers)
        return RuleBook(path=self.shown, digest=digest, field_map=found.pop("map", ()), **found)

    def refuse(self, node: yaml.Node, what: str, hint: str = "", line: int = 0) -> NoReturn:
        number = node.start_mark.line + 1 + line
        raise ArtifactError(f"{self.shown}:{number}: {what}", hint=hint or "docs/packages.md shows the file")

    def fields(
        self, node: yaml.Node, readers: dict[str, Callable[[yaml.Node], Any]], needed: Sequence[str] = ()
    ) -> dict[str, Any]:
        """The entries of a mapping, each read by its reader; an unknown, repeated or lacking one is refused."""
        found: dict[str, Any] = {}
        for key, value in self.entries(node):
            name = str(key.value)
            if name not in readers:
                self.refuse(key, f"nothing is called {name!r} here", f"known: {', '.join(readers)}")
            if name in found:
                self.refuse(key, f"{name!r} stands here twice", "keep one of them")
            found[name] = readers[name](value)
        for name in needed:
            if name not in found:
                self.refuse(node, f"{name!r} is missing", f"needed: {', '.join(needed)}")
        return found

    def entries(self, node: yaml.Node) -> list[tuple[yaml.Node, yaml.Node]]:
        if not isinstance(node, yaml.MappingNode):
            self.refuse(node, "names with values were expected here")
        return list(node.value)

    def items(self, node: yaml.Node) -> Iterator[yaml.Node]:
        if not isinstance(node, yaml.SequenceNode):
            self.refuse(node, "a list was expected here", "begin each entry with '- '")
        yield from node.value

    def text(self, node: yaml.Node) -> str:
        if not isinstance(node, yaml.ScalarNode) or not str(node.value).strip():
            self.refuse(node, "a text was expected here")
        return str(node.value).strip()

    def texts(self, node: yaml.Node) -> tuple[str, ...]:
        return tuple(self.text(one) for one in self.items(node))

    def number(self, node: yaml.Node) -> float:
        try:
            found = float(self.text(node))
        except ValueError:
            self.refuse(node, f"{node.value!r} is no number")
        if found != found or abs(found) == float("inf"):
            self.refuse(node, f"{node.value!r} is no number to compare with")
        return found

    def field_map(self, node: yaml.Node) -> FieldMap:
        return tuple(self.fields(node, dict.fromkeys(TARGETS, self.text)).items())

    def tools(self, node: yaml.Node) -> Tools:
        return Tools(**self.fields(node, {"changing": self.texts, "reading": self.texts}))

    def funnel(self, node: yaml.Node) -> tuple[tuple[str, Rule], ...]:
        readers: dict[str, Callable[[yaml.Node], Any]] = {"stage": self.text, "rule": lambda one: self.rule(one)[0]}
        stages = [self.fields(one, readers, ("stage", "rule")) for one in self.items(node)]
        return tuple((stage["stage"], stage["rule"]) for stage in stages)

    def labels(self, node: yaml.Node) -> tuple[CustomLabel, ...]:
        found: dict[str, CustomLabel] = {}
        for one in self.items(node):
            label = self.label(one)
            if label.name in found:
                self.refuse(one, f"a second label is called {label.name!r}", "give it another name")
            found[label.name] = label
        return tuple(found.values())

    def label(self, node: yaml.Node) -> CustomLabel:
        readers: dict[str, Callable[[yaml.Node], Any]] = {
            "name": self.name,
            "message": self.text,
            "rule": self.rule,
            "cause": self.cause,
            "direct": self.flag,
            "fix": self.fix,
        }
        found = self.fields(node, readers, ("name", "rule", "cause"))
        rule, text = found.pop("rule")
        return CustomLabel(rule=rule, text=text, message=found.pop("message", found["name"]), **found)

    def name(self, node: yaml.Node) -> str:
        name = self.text(node)
        if not name.replace("-", "").replace("_", "").isalnum() or name[:3] in _RULE_CODES or len(name) > 60:
            self.refuse(node, f"{name!r} cannot name a label", "letters, digits and dashes; not like a code of BLADE")
        return name

    def flag(self, node: yaml.Node) -> bool:
        text = self.text(node).lower()
        if text not in ("true", "false", "yes", "no"):
            self.refuse(node, f"{text!r} is neither true nor false")
        return text in ("true", "yes")

    def cause(self, node: yaml.Node) -> Cause:
        text = self.text(node)
        if text not in list(map(str, Cause)):
            self.refuse(node, f"{text!r} is no cause", f"one of {', '.join(Cause)}")
        return Cause(text)

    def fix(self, node: yaml.Node) -> Fix:
        found = Fix(**self.fields(node, {"kind": self.text, "action": self.text}, ("kind", "action")))
        if found.kind not in KINDS_OF_FIX:
            self.refuse(node, f"{found.kind!r} is no kind of fix", f"one of {', '.join(KINDS_OF_FIX)}")
        return found

    def rule(self, node: yaml.Node) -> tuple[Rule, str]:
        text = self.text(node)
        try:
            return parse(text), text
        except RuleError as error:
            # A block (| or >) begins on the line after its mark; a folded one does not keep its lines.
            style = getattr(node, "style", None)
            line = error.line + 1 if style == "|" else 1 if style == ">" else 0
            self.refuse(node, error.message, error.hint, line)
