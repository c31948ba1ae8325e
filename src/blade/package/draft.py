"""A whole package drafted from rollouts: made beside its place and moved there when all of it is written."""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from collections.abc import Container, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from blade.analysis import load
from blade.ingest.artifacts import SUFFIXES, Bundle, find
from blade.ingest.runs import is_nameable, safe_name
from blade.model.analysis import RunAnalysis
from blade.model.errors import ArtifactError, RequestError
from blade.model.options import Options
from blade.model.run import Run
from blade.package.anchor_facts import facts_text
from blade.package.draft_skill import label_drafts, rule_book_text, selected_labels, skill_text
from blade.package.extract_facts import extract
from blade.package.golden_audit import golden_text, narrowed
from blade.package.layout import CLEARANCE, find_package
from blade.package.rollouts import PackageRollouts
from blade.package.shallow import shallow
from blade.report.text import code, safe, table

FACTS = 12
DIGITS = 4
"""Of the fractions of a metrics sidecar."""
SAMPLING = ("temperature", "top_p", "max_output_tokens", "seed")
_SIDECAR_SUFFIXES = {role: suffix for suffix, role in SUFFIXES}
_ENDINGS = (".jsonl", ".jsonl.gz", ".jsonl.zst")
_OPEN = {
    "## 1. Executive Summary": "OPEN: this is a draft. Read the rollouts that it points at, correct what you would not sign, and say here in three sentences why the score is what it is.",
    "## 6. Dominant Failure Modes": "OPEN: say for each large mode what the agent got wrong and why, after reading its example with `blade show`.",
    "## 10. Recommendations": "OPEN: say which of these comes first and why, and leave out what you would not do.",
}
"""Below which heading what has to be written."""
_CLEARANCE_TEXT = """# Clearance of the rollout data

OPEN: ask who owns this data whether it may be shared, then write yes and the licence, a line each.

cleared: no
licence:
"""
_NO_SAMPLING = "- Sampling settings: OPEN: temperature and limits are not in the rows; write them here"


class DraftedPackage(Struct, frozen=True, kw_only=True):
    """What was written, in order of name."""

    folder: Path
    files: tuple[str, ...]


def draft_package(name: str, inputs: Sequence[str], folder: Path, *, force: bool = False) -> DraftedPackage:
    """Draft the package of a benchmark; RequestError when files stand in the way and `force` is not given."""
    if not is_nameable(name) or safe_name(name) != name:
        raise RequestError(f"{name!r} cannot name a benchmark", hint="letters, digits, '.', '_' and '-'")
    if not inputs:
        raise RequestError("no rollouts to draft from", hint="give them: --from results/rollouts.jsonl")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".blade-", dir=folder.parent) as staging:
            # Under its last name: a benchmark may be known by the folder of its package.
            staged = Path(staging) / folder.resolve().name
            _fill(staged, name, inputs)
            return _move(staged, folder, force=force)
    except OSError as error:
        hint = "give a folder that can be written"
        raise RequestError(f"cannot write to {folder}: {error.strerror or error}", hint=hint) from None


def _fill(folder: Path, name: str, inputs: Sequence[str]) -> None:
    stem = _copy_rollouts(inputs, folder / "rollouts")
    # The parts of a package make a folder one, and its benchmark is known by that.
    (folder / "skill").mkdir()
    (folder / "golden_reports").mkdir()
    one = _run_of(stem, PackageRollouts(find_package(folder)))
    rule_book = folder / "skill" / "blade.yaml"
    drafts = label_drafts(one)
    rule_book.write_text(rule_book_text(name, one, drafts), encoding="utf-8")
    # Read again with every label, and only those are selected that tell failures from passes.
    data = PackageRollouts(find_package(folder))
    diagnosis = next(each for each in data.with_rule_book.runs if each.run.name == one.run.name).diagnosis
    statistics = {rule.code: rule for rule in diagnosis.rule_statistics if rule.custom} if diagnosis is not None else {}
    labels = selected_labels(drafts, statistics)
    rule_book.write_text(rule_book_text(name, one, labels, statistics), encoding="utf-8")
    files = sorted((file.shown for file in data.files), key=lambda shown: f"/{stem}_rollouts." not in shown)
    skill = skill_text(name, _run_of(stem, data), labels, statistics, files)
    (folder / "skill" / "SKILL.md").write_text(skill, encoding="utf-8")
    runs = [(file.path.name, run) for file in data.files for run in data.runs_of(file)]
    (folder / "rollouts" / "RUN_NOTES.md").write_text(_notes_text(runs), encoding="utf-8")
    (folder / CLEARANCE).write_text(_CLEARANCE_TEXT, encoding="utf-8")
    _write_golden(folder / "golden_reports", name, stem, data)


def _run_of(stem: str, data: PackageRollouts) -> RunAnalysis:
    """The first run of the file with that stem."""
    file = next(file for file in data.files if file.path.name.startswith(f"{stem}_rollouts."))
    return data.analyzed(file.runs[0])


def _write_golden(folder: Path, name: str, stem: str, data: PackageRollouts) -> None:
    """A golden report on the run that was given first, with what stands beside it."""
    one = _run_of(stem, data)
    report = golden_text(data.analysis, one.run.name)
    with_points = report
    for heading, asks in _OPEN.items():
        pattern = rf"^{re.escape(heading)}\n"
        with_points = re.sub(pattern, f"{heading}\n\n{asks}\n", with_points, count=1, flags=re.MULTILINE)
    # Where models are compared, a sentence taken alone no longer says whose rollout it is about.
    alone = golden_text(narrowed(data.analysis, one.run.name), one.run.name)
    model = one.run.model or stem
    # Drafts that need reading, numbered anew.
    drafts = [fact for fact in extract(alone, 2 * FACTS, model) if not fact.aggregate_only][:FACTS]
    facts = [replace(fact, id=f"B{number}") for number, fact in enumerate(drafts, start=1)]
    texts = {
        f"{stem}_golden_report.md": with_points,
        f"{stem}_golden_report_metrics.json": _sidecar_text(name, model, one),
        f"{stem}_anchor_facts.json": facts_text(name, model, facts),
        f"{stem}_shallow.md": shallow(report),
    }
    for file_name, text in texts.items():
        (folder / file_name).write_text(text, encoding="utf-8")


def _sidecar_text(benchmark: str, model: str, one: RunAnalysis) -> str:
    """The metrics sidecar: fractions to four digits, counts, buckets."""
    metrics, counts = one.metrics, one.metrics.counts
    sidecar: dict[str, object] = {"model_name": model, "benchmark": benchmark}
    for name in ("pass_at_1", "pass_at_k", "consistency", "coverage", "retry_value", "mean_reward"):
        value = metrics.measures[name].value
        if value is not None:
            sidecar[name] = round(value, DIGITS)
    sidecar |= {"k": metrics.k, "pass_threshold": one.run.pass_threshold}
    sidecar |= {"total_tasks": counts["total_tasks"], "total_rollouts": counts["total_rollouts"]}
    sidecar |= {"passed": counts["passed_rollouts"], "failed": counts["failed_rollouts"]}
    sidecar |= {name: counts[name] for name in ("errored_rollouts", "missing_rollouts") if counts[name]}
    sidecar |= dict(metrics.buckets)
    modes = one.diagnosis.partition.modes if one.diagnosis is not None else ()
    if modes:
        sidecar |= {"dominant_failure_type": modes[0].id, "dominant_failure_count": modes[0].rollouts}
    return json.dumps(sidecar, ensure_ascii=False, indent=2) + "\n"


def _notes_text(runs: Sequence[tuple[str, Run]]) -> str:
    """Model, agent, repeats, sampling and files of each run, by the file that holds it."""
    lines = ["# Run notes", "", "What made the files in this folder, as the artifacts record it.", ""]
    for file, run in runs:
        repeats = sorted({int(count) for count in run.tasks["repeats_expected"].drop_nulls()})
        sampling = [f"{name} {run.settings[name]}" for name in SAMPLING if name in run.settings]
        lines += [f"## {safe(run.name)}", ""]
        lines += [f"- Rollouts: {code(file)}"]
        lines += [f"- Model: {safe(run.model)}" if run.model else "- Model: OPEN: model name or checkpoint reference"]
        lines += [f"- Agent: {safe(run.agent)}"] if run.agent else []
        lines += [f"- Repeats a task: {', '.join(map(str, repeats)) or 'not known'}"]
        lines += [f"- Sampling settings: {safe(', '.join(sampling))}" if sampling else _NO_SAMPLING, ""]
        lines += table(["file", "taken as"], [[code(one.path), one.role] for one in run.artifacts])
    return "\n".join(lines).rstrip("\n") + "\n"


def _copy_rollouts(inputs: Sequence[str], folder: Path) -> str:
    """Copies rollouts with their sidecars; returns what the files of the first are named after."""
    folder.mkdir(parents=True)
    taken: dict[str, Path] = {}
    for found in (find([each]) for each in inputs):
        if found.analyses:
            raise ArtifactError("an earlier analysis holds no rollouts to copy", hint="give the rollouts file itself")
        for bundle in found.bundles:
            if bundle.path.resolve() not in taken.values():
                ending = next((end for end in _ENDINGS if bundle.path.name.endswith(end)), None)
                if ending is None:
                    hint = "a package holds *.jsonl, *.jsonl.gz or *.jsonl.zst"
                    raise ArtifactError(f"{bundle.path} is not in JSON lines", hint=hint)
                stem = _stem(bundle, bundle.path.name.removesuffix(ending), taken)
                taken[stem] = bundle.path.resolve()
                shutil.copyfile(bundle.path, folder / f"{stem}_rollouts{ending}")
                _copy_sidecars(bundle, folder, stem)
    return next(iter(taken))


def _stem(bundle: Bundle, file_name: str, taken: Container[str]) -> str:
    """What the files of a run are named after: the run, or the file where it holds several."""
    runs = load([str(bundle.path)], Options(metrics_only=True))
    plain = safe_name(file_name).removesuffix("_rollouts")
    wanted = (bundle.name or (runs[0].name if len(runs) == 1 else plain)).removesuffix("_rollouts")
    for candidate in (wanted, f"{wanted}-{plain}"):
        if candidate not in taken:
            return candidate
    return next(name for number in range(2, 10_000) if (name := f"{wanted}-{number}") not in taken)


def _copy_sidecars(bundle: Bundle, folder: Path, stem: str) -> None:
    for role, path in sorted(bundle.sidecars.items()):
        suffix = _SIDECAR_SUFFIXES.get(role) or ("_config" if role == "config" else None)
        if suffix is not None:
            tail = "".join(path.suffixes[-2:]) if path.name.endswith((".gz", ".zst")) else path.suffix
            shutil.copyfile(path, folder / f"{stem}_rollouts{suffix}{tail}")


def _move(staged: Path, folder: Path, *, force: bool) -> DraftedPackage:
    files = sorted(path.relative_to(staged) for path in staged.rglob("*") if path.is_file())
    there = [file.as_posix() for file in files if (folder / file).exists()]
    if there and not force:
        listed = ", ".join(there[:5]) + (f" and {len(there) - 5} more" if len(there) > 5 else "")
        raise RequestError(f"{folder} already has {listed}", hint="--force writes over them; nothing was changed")
    for file in files:
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (staged / file).replace(folder / file)
    return DraftedPackage(folder=folder, files=tuple(file.as_posix() for file in files))
