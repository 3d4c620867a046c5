# Two commands matter: `make study` and `make test`. Both set up what they need first, once.
PYTHON ?= python3
VENV ?= .venv
STUDY ?= search_spaces/quickstart.yaml
WORKERS ?= 2
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check

.PHONY: help study test setup lint format types floors check clean

help: ## what can be made
	@sed -n 's/^\([a-z]*\):[^#]*## /\1\t/p' $(MAKEFILE_LIST)

study: $(VENV)/.runtime ## run the quickstart through Tune, Optuna and Train, and say where its report is
	$(BIN)/rse-study run $(STUDY)

test: setup ## the whole test suite
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup

setup: $(VENV)/.development ## everything for development, once

lint: setup ## style, without changing anything
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: setup ## style, repaired
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

types: setup ## mypy
	$(BIN)/mypy

floors: setup ## who may import whom
	$(BIN)/lint-imports

check: lint types floors test ## all of it

clean:
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis

# torch goes first and alone: whatever build of the pinned version pip is configured to prefer (CPU, CUDA) is then kept.
$(VENV)/.runtime: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --quiet --constraint constraints.txt torch
	$(PIP) install --quiet --constraint constraints.txt --editable .
	touch $@

$(VENV)/.development: $(VENV)/.runtime
	$(PIP) install --quiet --constraint constraints.txt --editable '.[dev,minilm]'
	touch $@
