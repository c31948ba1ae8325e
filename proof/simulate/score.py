"""How right a diagnosis is: what it says of a simulated run against what was planted there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import reduce

from blade.model.analysis import Analysis, RunAnalysis
from blade.model.diagnosis import Diagnosis, Support
from blade.model.finding import Cause, Differs
from proof.simulate.agreement import Agreement, joined
from proof.simulate.catalogue import declares_rules
from proof.simulate.ranking import NOT_RANKED, Ranking
from proof.simulate.tally import Tally, summed
from proof.simulate.truth import Planted, RunTruth, TaskTruth, Truth

BLAMES = (Support.DIRECT, Support.SHOWN, Support.CONSISTENT)
"""Grades that a cause may rest on."""
HONEST = (None, Cause.KNOWLEDGE, Cause.UNRELIABLE)
"""What may be said of a task in which nothing but the model fails."""
NONE = "not settled"
NO_AGREEMENT = Agreement()


@dataclass(frozen=True, kw_only=True)
class Miss:
    """A task whose cause is not the one that was planted."""

    world: str
    seed: int
    run: str
    task: str
    mechanism: str
    truth: str
    said: str
    because: str
    place: str


@dataclass(frozen=True, kw_only=True)
class Proof:
    """One simulation, or several together."""

    causes: Mapping[str, Tally] = field(default_factory=dict)
    mechanisms: Mapping[str, Tally] = field(default_factory=dict)
    """By world and name: tasks, and those whose cause is right."""
    rules: Mapping[str, Tally] = field(default_factory=dict)
    strays: tuple[str, ...] = ()
    """Where a rule fires and nothing was planted for it."""
    misses: tuple[Miss, ...] = ()
    clean: int = 0
    """Tasks in which nothing but the model fails."""
    accused: tuple[str, ...] = ()
    """Those of them that somebody else is blamed for, with what is said."""
    harmless: int = 0
    """Strings that mean nothing."""
    blamed: tuple[str, ...] = ()
    """Those of them that something rests on."""
    agreement: Agreement = NO_AGREEMENT
    """Attributions of rollouts."""
    ranking: Ranking = NOT_RANKED
    """Broken tasks among the most suspect."""

    @property
    def tasks(self) -> Tally:
        """All tasks of which a cause is true or said."""
        right = sum(one.right for one in self.causes.values())
        return Tally(planted=right + len(self.misses), right=right, wrong=len(self.misses))


def together(proofs: Iterable[Proof]) -> Proof:
    """Several simulations as one."""
    every = list(proofs)
    return Proof(
        causes=summed(one.causes for one in every),
        mechanisms=summed(one.mechanisms for one in every),
        rules=summed(one.rules for one in every),
        strays=tuple(stray for one in every for stray in one.strays),
        misses=tuple(miss for one in every for miss in one.misses),
        clean=sum(one.clean for one in every),
        accused=tuple(name for one in every for name in one.accused),
        harmless=sum(one.harmless for one in every),
        blamed=tuple(name for one in every for name in one.blamed),
        agreement=joined(one.agreement for one in every),
        ranking=reduce(Ranking.plus, (one.ranking for one in every), NOT_RANKED),
    )


def score(truth: Truth, analysis: Analysis) -> Proof:
    """What an analysis of a simulated world got right; ValueError where a run has no diagnosis."""
    runs = {one.run.name: one for one in analysis.runs}
    return together(_Scored(truth, name, mine, runs[name]).proof() for name, mine in truth.runs.items())


class _Scored:
    """One run beside its truth, with the ids that the analysis gave its tasks."""

    def __init__(self, truth: Truth, name: str, mine: RunTruth, found: RunAnalysis) -> None:
        if found.diagnosis is None:
            raise ValueError(f"{name} has no diagnosis")
        self.world, self.seed, self.name, self.truth, self.run = truth.world, truth.seed, name, mine, found.run
        self.diagnosis: Diagnosis = found.diagnosis
        by_index = dict(found.run.tasks.select("index", "task_id").iter_rows())
        self.ids = {task: by_index.get(one.index, task) for task, one in mine.tasks.items()}
        self.hits = _hits(found)

    def proof(self) -> Proof:
        rows = list(self._tasks())
        rules = list(self._rules()) if declares_rules(self.world) else []
        clean = [(task, one) for task, one in self.truth.tasks.items() if one.clean]
        return Proof(
            causes=_causes(rows),
            mechanisms=summed(
                {self._mechanism(one): Tally(planted=1, right=said == one.cause)} for _, one, said in rows
            ),
            rules={code: tally for code, tally, _ in rules},
            strays=tuple(self._stray(code, place) for code, _, strays in rules for place in strays),
            misses=tuple(self._miss(task, one) for task, one, said in rows if said != one.cause),
            clean=len(clean),
            accused=tuple(why for task, one in clean for why in self._accusations(task, one)),
            harmless=len(self.truth.harmless),
            blamed=tuple(why for one in self.truth.harmless for why in self._blame(one)),
        )

    def _tasks(self) -> Iterator[tuple[str, TaskTruth, Cause | None]]:
        """Tasks of which a cause is true or said."""
        for task, one in self.truth.tasks.items():
            found = self.diagnosis.causes.get(self.ids[task])
            if found is not None or one.cause is not None:
                yield task, one, found.cause if found is not None else None

    def _mechanism(self, one: TaskTruth) -> str:
        return f"{self.world}: {one.mechanism or 'nothing planted'}"

    def _miss(self, task: str, one: TaskTruth) -> Miss:
        found = self.diagnosis.causes.get(self.ids[task])
        return Miss(
            world=self.world,
            seed=self.seed,
            run=self.name,
            task=task,
            mechanism=one.mechanism or "nothing planted",
            truth=str(one.cause or NONE),
            said=str((found.cause if found else None) or NONE),
            because=found.because if found else "every rollout passed",
            place=self._place(one.places[0]) if one.places else self.ids[task],
        )

    def _place(self, place: str) -> str:
        task, _, repeat = place.rpartition("#")
        return f"{self.ids[task]}#{repeat}"

    def _rules(self) -> Iterator[tuple[str, Tally, list[str]]]:
        """Each rule with where it fires astray; rules over rollouts by rollout, rules over runs by task."""
        over_rollouts = {one.code for one in self.diagnosis.rule_statistics}
        fired = self._fired()
        for code in sorted({*fired, *self.truth.must, *over_rollouts}):
            must, may = (
                self._units(places.get(code, ()), code in over_rollouts) for places in (self.truth.must, self.truth.may)
            )
            hit = fired.get(code, set())
            strays = sorted(hit - must - may)
            yield code, Tally(planted=len(must), right=len(must & hit), wrong=len(strays)), strays

    def _fired(self) -> dict[str, set[str]]:
        """By code: rollouts in which a rule fired, or tasks that it names."""
        fired: dict[str, set[str]] = {}
        for place, hits in self.hits.items():
            for code, _, _ in hits:
                fired.setdefault(code, set()).add(place)
        for doubt in (*self.diagnosis.doubts, *self.diagnosis.across):
            fired.setdefault(doubt.code, set()).update(doubt.tasks)
        return fired

    def _stray(self, code: str, place: str) -> str:
        task = place.rpartition("#")[0] or place
        names = {self.ids[name]: one.mechanism or "nothing planted" for name, one in self.truth.tasks.items()}
        return f"{code} in {self.world} {self.seed} {self.name} {place} ({names.get(task, names.get(place))})"

    def _units(self, places: Iterable[str], by_rollout: bool) -> set[str]:
        return {self._place(one) if by_rollout else self.ids[one.rpartition("#")[0]] for one in places}

    def _accusations(self, task: str, one: TaskTruth) -> Iterator[str]:
        """Why a clean task counts as accused; empty where it does not."""
        found = self.diagnosis.causes.get(self.ids[task])
        where = f"{self.world} {self.seed} {self.name} {task} ({one.mechanism or 'nothing planted'})"
        if found is not None and found.cause not in HONEST and found.cause != one.cause:
            yield f"{where}: {found.cause}, {found.because}"
            return
        may = {code for code, places in self.truth.may.items() if any(place in one.places for place in places)}
        for doubt in self.diagnosis.doubts:
            if not doubt.preview and doubt.code not in may and self.ids[task] in doubt.tasks:
                yield f"{where}: {doubt.code} {doubt.message}"
                return

    def _blame(self, one: Planted) -> Iterator[str]:
        """What rests on a string that means nothing; empty where nothing does."""
        supports = {rule.code: rule.support for rule in self.diagnosis.rule_statistics}
        place = self._place(one.place)
        where = f"{self.world} {self.seed} {self.name} {place}:{one.step} {one.quote[:60]!r}"
        for code, step, name in self.hits.get(place, ()):
            allowed = one.place in self.truth.may.get(code, ()) or one.place in self.truth.must.get(code, ())
            same = step == one.step if one.step is not None else name == one.field
            if same and not allowed and supports[code] in BLAMES:
                yield f"{where}: {code} ({supports[code]})"
                return
        if self._in_a_doubt(place, one) or self._taken_for_machinery(place, one):
            yield f"{where}: a doubt or a mode rests on it"

    def _in_a_doubt(self, place: str, one: Planted) -> bool:
        every = (evidence for doubt in self.diagnosis.doubts for evidence in doubt.evidence)
        return any(str(seen.key) == place and seen.step == one.step and _share(seen.quote, one.quote) for seen in every)

    def _taken_for_machinery(self, place: str, one: Planted) -> bool:
        table = self.diagnosis.partition.differences.select("task_id", "repeat", "kind", "name", "step", "passed")
        return any(
            f"{task}#{repeat}" == place
            and kind in (Differs.ERROR, Differs.NO_RECORD)
            and not passed
            and (step == one.step if one.step is not None else name == one.field)
            for task, repeat, kind, name, step, passed in table.iter_rows()
        )


def _share(left: str, right: str) -> bool:
    return left in right or right in left


def _causes(rows: Iterable[tuple[str, TaskTruth, Cause | None]]) -> dict[str, Tally]:
    found: dict[str, Tally] = {str(one): Tally() for one in (*Cause, NONE)}
    for _, one, said in rows:
        true, named = str(one.cause or NONE), str(said or NONE)
        found[true] = found[true].plus(Tally(planted=1, right=true == named))
        if true != named:
            found[named] = found[named].plus(Tally(wrong=1))
    return found


def _hits(found: RunAnalysis) -> dict[str, list[tuple[str, int | None, str]]]:
    """By rollout: code, step and field of each place where a rule fired."""
    rows = found.run.rollouts.select("task_id", "repeat", "fired").drop_nulls("fired")
    return {
        f"{task}#{repeat}": [(hit["code"], hit["step"], hit["field"]) for hit in fired]
        for task, repeat, fired in rows.iter_rows()
    }
