# Two commands matter: `make study` and `make test`. Both set up what they need first, once.
PYTHON ?= python3
VENV ?= .venv
STUDY ?= search_spaces/quickstart.yaml
WORKERS ?= 2
EXECUTOR ?=
MINI ?= rse_table6_mini rse_table5_mini rse_masks_mini rse_figure5_mini rse_figure4_mini rse_figure6_mini rse_section_b4_mini
MINILM ?= methods_minilm rse_table6_minilm rse_table5_minilm rse_figure5_minilm rse_table1_minilm joint_minilm \
	mean_minilm rse_table3_minilm rse_masks_minilm rse_figure6_minilm rse_figure4_minilm
BENCH ?= build/bench
RESULTS := docs/results
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check

.PHONY: help study mini minilm findings simulate test bench check-slow schema methods setup lint format types floors check clean

help: ## what can be made
	@sed -n 's/^\([a-z-]*\):[^#]*## /\1\t/p' $(MAKEFILE_LIST)

study: $(VENV)/.runtime ## run the quickstart and say where its report is (EXECUTOR=train: all of it on Ray Train)
	$(BIN)/rse-study run $(STUDY) $(if $(EXECUTOR),-o resources.executor=$(EXECUTOR))

mini: $(VENV)/.runtime ## the papers' ablations at mini scale (hours on 2 cores; needs the data folder; go on with the same command)
	for study in $(MINI); do $(BIN)/rse-study run $$study || exit $$?; done
	for study in $(MINI); do $(BIN)/rse-study check $$study --out docs/results/rse_mini; done || true

# What asks most comes first: later studies take its cells.
minilm: $(VENV)/.development ## the same on MiniLM, in the order of what they tell an hour (hours on 2 cores; needs the data folder)
	for study in $(MINILM); do $(BIN)/rse-study run $$study || exit $$?; done
	for study in $(filter-out joint_%,$(MINILM)); do $(BIN)/rse-study check $$study --out docs/results/minilm; done || true

test: setup ## the test suite, but for what is slow by nature (5 minutes on 2 cores)
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup

findings: setup ## tables and pictures of the planned studies anew from their raw cells (3 minutes; git shows what differs)
	$(BIN)/python -m benchmarks.strength $(RESULTS)/strength/*.tar.xz --out $(RESULTS)/strength \
		--checkpoints $(RESULTS)/unaligned_cls/means.csv $(RESULTS)/unaligned/means.csv
	for page in attacked attacked_sst2 compute heads; do \
		$(BIN)/python -m benchmarks.pairs $(RESULTS)/$$page/*.tar.xz --out $(RESULTS)/$$page || exit $$?; done
	for page in parts parts_mean; do \
		$(BIN)/python -m benchmarks.parts $(RESULTS)/$$page/*.tar.xz --out $(RESULTS)/$$page || exit $$?; done
	for page in unaligned unaligned_cls; do \
		$(BIN)/python -m benchmarks.checkpoints $(RESULTS)/$$page/*.tar.xz --out $(RESULTS)/$$page || exit $$?; done
	$(BIN)/python -m benchmarks.curves $(RESULTS)/curves/*.tar.xz --out $(RESULTS)/curves
	$(BIN)/python -m benchmarks.readme $(RESULTS)/quickstart.tar.xz --picture docs/images/report.png

simulate: setup ## simulated studies whose parts fail: as many schedules as fit in an hour, or SEED=... event by event
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.simulation $(if $(SEED),--seed $(SEED),--schedules 100000 --minutes 60)

bench: setup ## what a step, an embedding, an attack and a study cost here (a few minutes; files in $(BENCH); on a busy machine no times)
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.step --sizes 2x128 --batch 32 --repeat 3 --out $(BENCH)/step.json
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.encoding --limit 500 --repeat 3 --out $(BENCH)/encoding.json
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.attacks --out $(BENCH)/attacks.json
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.study --cells 4 --steps 10 --out $(BENCH)/study.json

check-slow: setup ## the rest of it: kills by the dozen, Ray Train, every moment (half an hour)
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup -m slow --durations=40

schema: $(VENV)/.runtime ## the JSON schema that editors check study files with
	$(BIN)/python -m rse_study.study.definition.schema > search_spaces/study.schema.json

methods: $(VENV)/.runtime ## docs/methods.md and docs/fields.md from the registry and the schema
	$(BIN)/python -m rse_study.methods.describe > docs/methods.md
	$(BIN)/python -m rse_study.study.definition.fields > docs/fields.md

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
