# mlcli: run `make` to see what there is.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PINS := requirements.lock
SKLL_PINS := benchmarks/skll-requirements.lock
AUDIT_PINS := .ci/audit-requirements.lock
SOURCES := mlcli tests benchmarks docs

# Without compiled modules, every short command spends a fifth of its time on compiling them.
COMPILE = @$(BIN)/python -m compileall -q mlcli
# Kernels are compiled when they are first called: once, on tables large enough to need them. Forests always do, and
# once they are loaded, single trees use theirs on smaller tables too.
WARM = @for name in segment concrete; do \
    $(BIN)/mlcli eval $$name -m random-forest -m knn --jobs 1 > /dev/null; done; \
    $(BIN)/mlcli eval digits -m decision-tree --jobs 1 > /dev/null

# More processes would compile the same kernels more often than they share the tests.
SPREAD := --numprocesses auto --maxprocesses 4 --dist worksteal

export PIP_DISABLE_PIP_VERSION_CHECK := 1

.DEFAULT_GOAL := help
.PHONY: help run test test-kernels test-slow test-clusters test-wheel audit
.PHONY: check lint types layers docs-check docs site bench soak format clean

help: ## show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

run: $(VENV)/.run ## set up .venv and run experiments/quickstart.yaml
	$(BIN)/mlcli run experiments/quickstart.yaml

test: $(VENV)/.dev ## set up what tests need and run them (ONLY=trees: a family of methods, or ONLY=knn: one method)
	$(BIN)/python -m pytest $(SPREAD) $(if $(ONLY),--about $(ONLY))

test-kernels: $(VENV)/.dev ## the kernels as plain Python, without compiling them
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest $(SPREAD) tests/kernels

test-slow: $(VENV)/.dev ## tests marked slow: every guide, experiment, repair and estimator; kills; canary answers
	$(BIN)/python -m pytest $(SPREAD) -m slow

test-clusters: $(VENV)/.clusters ## the same answers from clusters of Dask and Ray, made on this machine
	$(BIN)/python -m pytest tests/clusters

test-wheel: $(VENV)/.dev $(VENV)/audit/.ready ## the wheel in a clean environment; writes its bill of materials to dist/
	$(BIN)/python -m pytest tests/packaging

audit: $(VENV)/audit/.ready ## known vulnerabilities of the pinned packages (asks the internet)
	$(VENV)/audit/bin/pip-audit --requirement $(PINS) --no-deps --disable-pip

check: lint types layers docs-check test ## what to run before a commit; CI runs the other test targets too

lint: $(VENV)/.dev ## style and format
	$(BIN)/ruff check $(SOURCES)
	$(BIN)/ruff format --check $(SOURCES)

types: $(VENV)/.dev ## mypy, strict
	$(BIN)/mypy

layers: $(VENV)/.dev ## which room may import which
	$(BIN)/lint-imports --no-cache

docs-check: $(VENV)/.dev ## generated pages can be made, every link and command in the docs exists
	$(BIN)/python docs/build.py --check

docs: $(VENV)/.dev ## generate the pages of methods, steps, protocols and commands
	$(BIN)/python docs/build.py

site: $(VENV)/.site ## the documentation as a site in build/site, the example of every page run
	$(BIN)/python docs/site.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

bench: $(VENV)/.bench $(if $(filter shell,$(or $(ONLY),shell)),$(VENV)/skll/.ready) ## speed side by side with peers (ONLY=forests, or ONLY=knn: one method)
	$(BIN)/python benchmarks/run.py $(ONLY)

soak: $(VENV)/.dev ## kills, and spoilt files of every kind, for MINUTES=60; figures into docs/guarantees.md
	$(BIN)/python -m tests.soak.run $(or $(MINUTES),60)

format: $(VENV)/.dev ## format the code
	$(BIN)/ruff check --fix $(SOURCES)
	$(BIN)/ruff format $(SOURCES)

clean: ## remove .venv and every cache
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	    { echo "mlcli needs Python 3.11 or newer; say which with: make PYTHON=python3.12 ..." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.run: pyproject.toml $(PINS) | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --constraint $(PINS) --editable '.[report]'
	$(COMPILE)
	$(WARM)
	@touch $@

$(VENV)/.dev: pyproject.toml $(PINS) | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --constraint $(PINS) --editable '.[dev]'
	$(COMPILE)
	@touch $@ $(VENV)/.run

$(VENV)/.site: $(VENV)/.dev
	$(BIN)/python -m pip install --quiet --constraint $(PINS) --editable '.[site]'
	@touch $@

$(VENV)/.clusters: $(VENV)/.dev
	$(BIN)/python -m pip install --quiet --constraint $(PINS) --editable '.[dask,ray]'
	@touch $@

$(VENV)/.bench: $(VENV)/.dev
	$(BIN)/python -m pip install --quiet --constraint $(PINS) --editable '.[bench]'
	@touch $@

# Apart from what is audited, so that it is not among that.
$(VENV)/audit/.ready: $(AUDIT_PINS) | $(VENV)/bin/python
	$(PYTHON) -m venv $(VENV)/audit
	$(VENV)/audit/bin/python -m pip install --quiet --requirement $(AUDIT_PINS)
	@touch $@

# SKLL wants older packages than ours, so that it has an environment of its own.
$(VENV)/skll/.ready: $(SKLL_PINS) | $(VENV)/bin/python
	$(PYTHON) -m venv $(VENV)/skll
	$(VENV)/skll/bin/python -m pip install --quiet --requirement $(SKLL_PINS)
	@touch $@
