# make demo   set up, analyze the bundled examples, compare two runs of a real model, say where the reports are
# make test   set up, run every test
# make help   the other targets

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.ready

DEMO_RUN := examples/desk_assistant
DEMO_OUT := demo_report
PROOF_OUT := proof-runs
REAL_RUNS := examples/smollm2/two_term_sums

PERF := perf/run.py
PYTEST_ARGS ?=
LOCKED := --quiet --upgrade --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --no-annotate --output-file

# `make PYTHON=/path/to/python3.12 ...` uses that one; otherwise the first of these that is new enough.
ifeq ($(origin PYTHON),undefined)
PYTHONS := python3 python3.13 python3.12 python3.11 python
else
PYTHONS := $(PYTHON)
endif

.DEFAULT_GOAL := help
.PHONY: help setup sandbox demo test check format docs skills lock perf proof clean

help:
	@echo "make demo    set up, analyze the bundled examples, compare two runs of a real model"
	@echo "make test    set up, run every test (PYTEST_ARGS='-m \"not slow\"' for the quick ones)"
	@echo "make setup   make $(VENV) with BLADE and the developer tools"
	@echo "make sandbox install bubblewrap, the better sandbox for programs that models write (Debian and Ubuntu, as root)"
	@echo "make check   formatting, lint, types, import contracts, generated docs"
	@echo "make format  format the code and fix what ruff can fix"
	@echo "make docs    write the generated docs and the copies of the skill again"
	@echo "make skills  copy .agents/skills to .claude/skills and .codex/skills"
	@echo "make lock    choose versions again and write requirements.lock"
	@echo "make perf    measure speed against a bare decode"
	@echo "make proof   plant faults in made-up runs and score how many the diagnosis finds"
	@echo "make clean   remove $(VENV), caches and outputs"

setup: $(STAMP)

$(STAMP): pyproject.toml requirements.lock requirements-data.lock
	@if [ ! -x $(BIN)/python ]; then \
	  found=; \
	  for candidate in $(PYTHONS); do \
	    if "$$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then found="$$candidate"; break; fi; \
	  done; \
	  if [ -z "$$found" ]; then \
	    echo "error: BLADE needs Python 3.11 or newer; none of these is: $(PYTHONS)" >&2; \
	    echo "hint: install one, or name it: make PYTHON=python3.12 $(or $(MAKECMDGOALS),setup)" >&2; \
	    exit 2; \
	  fi; \
	  echo "making $(VENV) with $$($$found --version); this takes about a minute" >&2; \
	  "$$found" -m venv $(VENV) || { rm -rf $(VENV); echo "hint: on Debian and Ubuntu the venv module is the package python3-venv" >&2; exit 2; }; \
	fi
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps -r requirements-data.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@
	@if [ "$$(uname)" = Linux ] && ! command -v bwrap >/dev/null; then \
	  echo "note: bubblewrap is not installed, so programs that models write run behind plain user namespaces," >&2; \
	  echo "      or not at all where this machine forbids those; to get it: make sandbox" >&2; \
	fi

# Only benchmarks that run a model's program need it.
sandbox:
	@if command -v bwrap >/dev/null; then echo "bubblewrap is installed: $$(bwrap --version)"; \
	elif command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ]; then apt-get update -qq && apt-get install -y -qq bubblewrap; \
	else \
	  echo "error: bubblewrap can be installed here only by an administrator" >&2; \
	  echo "hint: sudo apt-get install bubblewrap (Fedora: sudo dnf install bubblewrap)" >&2; \
	  exit 2; \
	fi

demo: $(STAMP)
	$(BIN)/blade analyze $(DEMO_RUN) -o $(DEMO_OUT)
	@echo
	$(BIN)/blade analyze $(REAL_RUNS) -o $(DEMO_OUT)/smollm2
	@echo
	$(BIN)/blade compare $(REAL_RUNS)/short.jsonl.gz $(REAL_RUNS)/long.jsonl.gz -o $(DEMO_OUT)/comparison
	@echo
	@echo "The reports: $(DEMO_OUT)/report.html (a generated example), $(DEMO_OUT)/smollm2/report.html (a real model)"
	@echo "and $(DEMO_OUT)/comparison/report.html (the same model with another limit of tokens); report.md beside each"

test: $(STAMP)
	$(BIN)/pytest -n 2 $(PYTEST_ARGS)
	@echo "Conformance tests that found no reference files are listed above as SKIPPED, each with what it needs."

check: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python docs/generate.py --check

format: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(STAMP)
	$(BIN)/python docs/generate.py

skills: $(STAMP)
	$(BIN)/python docs/generate.py skills

# uv reads no group of a project that it may not manage, so it is shown a copy without that line.
lock: $(STAMP)
	@mkdir -p $(VENV)/lock && sed '/^managed = false$$/d' pyproject.toml > $(VENV)/lock/pyproject.toml
	$(BIN)/uv pip compile $(VENV)/lock/pyproject.toml --group $(VENV)/lock/pyproject.toml:dev --all-extras $(LOCKED) requirements.lock
	$(BIN)/uv pip compile requirements-data.in --no-deps $(LOCKED) requirements-data.lock

perf: $(STAMP)
	$(BIN)/python $(PERF)

# A few minutes; what is planted, found and missed stands in $(PROOF_OUT)/proof.md.
proof: $(STAMP)
	$(BIN)/python -m proof -o $(PROOF_OUT) --score

clean:
	rm -rf $(VENV) $(DEMO_OUT) $(PROOF_OUT) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache perf/data perf/results
	find src tests docs -name __pycache__ -type d -prune -exec rm -rf {} +
