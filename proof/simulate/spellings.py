"""How other authors would call the fields of the worlds: words for each, and the spellings that a run may choose from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random

WORDS: Mapping[str, tuple[str, ...]] = {
    "id": ("item ref", "sample key", "problem no"),
    "task_id": ("case ref", "scenario key", "item no"),
    "instance_id": ("sample key", "bug ref", "case no"),
    "question": ("query text", "problem", "ask"),
    "problem_statement": ("brief", "issue body", "ticket text"),
    "expected_answer": ("gold", "target value", "reference", "truth label"),
    "extracted_answer": ("parsed", "model value", "candidate", "submission"),
    "category": ("subset", "topic", "kind of item"),
    "domain": ("area", "topic", "sort of case"),
    "user_instruction": ("persona notes", "caller brief", "customer script"),
    "expected_actions": ("gold calls", "required steps", "reference moves"),
    "expected_outputs": ("must mention", "required phrases"),
    "instructions": ("notes", "brief"),
    "persona": ("character", "role play"),
    "actions": ("moves", "operations", "steps due"),
    "communicate_info": ("to say", "must mention"),
    "name": ("op", "function", "callee", "title"),
    "kwargs": ("params", "inputs", "payload"),
    "arguments": ("params", "inputs", "payload"),
    "reward_info": ("scoring", "judgement", "grading detail"),
    "reward": ("points", "score", "grade"),
    "info": ("parts", "breakdown", "detail"),
    "r_actions": ("state part", "db share", "moves score"),
    "success": ("done", "accomplished", "ok flag"),
    "resolved": ("fixed", "solved flag", "all green"),
    "model_patch": ("change set", "delta", "proposed edit"),
    "test_results": ("suite outcome", "spec report", "unit list"),
    "status": ("state", "result", "verdict"),
    "outcome": ("state", "result", "verdict"),
    "message": ("remark", "detail", "text"),
    "reason": ("remark", "detail", "why"),
    "error": ("trouble", "incident", "last complaint"),
    "verifier_error": ("scoring trouble", "grader note", "fault text"),
    "judge_error": ("scoring trouble", "referee note", "fault text"),
    "evaluation_error": ("scoring trouble", "check note", "fault text"),
    "stop_reason": ("ended by", "halt", "finish cause"),
    "termination_reason": ("ended by", "halt", "finish cause"),
    "num_retries": ("attempts", "tries again"),
    "retry_note": ("attempt note", "transport memo"),
    "is_correct": ("matches", "right flag", "hit"),
    "verdict": ("ruling", "decision"),
    "judge_verdict": ("ruling", "decision"),
    "expected_output": ("wanted text", "golden"),
    "actual_output": ("seen text", "printed"),
    "metadata": ("extra", "side data"),
    "inputs": ("stdin", "fed"),
    "expected": ("wanted", "golden"),
    "output": ("seen", "printed"),
    "error_message": ("remark", "complaint"),
    "instruction": ("brief", "assignment", "job text"),
    "checks": ("suite outcome", "spec report", "assertions"),
    "grader_log": ("suite output", "scoring console", "post run text"),
    "agent_log": ("session capture", "screen text", "worker console"),
    "failure_mode": ("ended by", "run state", "condition"),
    "exit_code": ("rc", "return value"),
    "started_at": ("begun", "t zero", "opened"),
    "agent_started_at": ("work begun", "solver on"),
    "agent_ended_at": ("work over", "solver off"),
    "grading_started_at": ("scoring begun", "checks on"),
    "ended_at": ("over", "closed", "t last"),
    "time_limit_s": ("budget s", "max seconds"),
    "max_steps": ("turn budget", "most rounds"),
    "steps_taken": ("rounds", "turns used"),
    "files": ("artifacts", "left behind"),
}
"""Other people's words by documented name; a name without words gets neutral ones."""

FOREIGN: Mapping[str, tuple[str, ...]] = {
    "expected_answer": ("loesung_soll", "respuesta_esperada", "reponse_attendue", "oczekiwana", "kitai_kotae"),
    "extracted_answer": ("loesung_ist", "respuesta_modelo", "reponse_lue", "odczytana", "yomi_kotae"),
    "question": ("frage", "pregunta", "enonce", "pytanie", "shitsumon"),
    "problem_statement": ("beschreibung", "enunciado", "sujet", "opis", "mondai"),
    "instruction": ("auftrag", "encargo", "consigne", "zlecenie", "shiji"),
    "task_id": ("aufgabe_nr", "tarea", "tache", "zadanie", "kadai"),
    "id": ("kennung", "clave", "repere", "numer", "bangou"),
    "instance_id": ("fall_nr", "caso", "cas", "przypadek", "jirei"),
    "expected_actions": ("soll_schritte", "pasos_debidos", "gestes_attendus", "kroki", "tejun"),
    "user_instruction": ("drehbuch", "guion", "scenario_client", "scenariusz", "daihon"),
    "reward_info": ("bewertung", "valoracion", "notation", "ocena", "hyouka"),
    "test_results": ("pruefungen", "pruebas", "essais", "proby", "shiken"),
    "checks": ("pruefungen", "pruebas", "essais", "proby", "shiken"),
    "status": ("zustand", "estado", "etat", "stan", "joutai"),
    "message": ("hinweis", "aviso", "remarque", "uwaga", "bikou"),
    "model_patch": ("aenderung", "cambio", "modif", "zmiana", "henkou"),
    "resolved": ("geloest", "resuelto", "resolu", "rozwiazane", "kaiketsu"),
    "grader_log": ("pruefprotokoll", "registro_prueba", "journal_essai", "dziennik", "kiroku"),
    "agent_log": ("sitzung", "sesion", "seance", "sesja", "gamen"),
    "failure_mode": ("abbruchgrund", "motivo", "motif", "powod", "riyuu"),
    "stop_reason": ("abbruchgrund", "motivo_fin", "motif_fin", "powod", "riyuu"),
    "error": ("stoerung", "fallo", "panne", "blad", "ayamari"),
}
LANGUAGES = 5
NEUTRAL = ("amber", "basin", "cobalt", "delta", "ember", "fjord", "grove", "harbor", "inlet", "jetty", "kelp", "lagoon")


def words_for(name: str, rng: Random) -> list[str]:
    """One author's words for a field."""
    own = WORDS.get(name)
    return rng.choice(own).split() if own else rng.sample(NEUTRAL, 2)


def _snake(name: str, rng: Random) -> str:
    return "_".join(words_for(name, rng))


def _camel(name: str, rng: Random) -> str:
    first, *rest = words_for(name, rng)
    return first + "".join(word.title() for word in rest)


def _kebab(name: str, rng: Random) -> str:
    return "-".join(words_for(name, rng))


def _short(name: str, rng: Random) -> str:
    """The words without their vowels, but for a first one."""
    words = ["".join(c for i, c in enumerate(word) if not i or c not in "aeiou") for word in words_for(name, rng)]
    return "_".join(word[:4] for word in words)


def _numbered(name: str, rng: Random) -> str:
    return f"f{rng.randint(1, 99)}"


def _meaningless(name: str, rng: Random) -> str:
    return "_".join(rng.sample(NEUTRAL, 2))


def _foreign(language: int) -> Callable[[str, Random], str]:
    def spelled(name: str, rng: Random) -> str:
        words = FOREIGN.get(name)
        return words[language] if words else f"x{language}_{rng.choice(NEUTRAL)}"

    return spelled


SPELLINGS: tuple[Callable[[str, Random], str], ...] = (
    _snake,
    _camel,
    _kebab,
    _short,
    _numbered,
    _meaningless,
    *map(_foreign, range(LANGUAGES)),
)
