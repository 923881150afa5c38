# make demo   from a fresh clone to a picture
# make test   from a fresh clone to a verdict
# Needs Python 3.11 or newer with venv and pip, make and a C++20 compiler; all else is fetched by pip.

PYTHON  ?= python3
VENV    := .venv
BIN     := $(VENV)/bin
# Modules are compiled when first imported, not at install, which halves the time of an install. This
# relies on Python keeping compiled modules, so PYTHONDONTWRITEBYTECODE must not be set.
INSTALL := $(BIN)/python -m pip install --disable-pip-version-check --no-compile
unexport PYTHONDONTWRITEBYTECODE

# Folders are listed too: their dates change when a file is added or removed.
SOURCES := pyproject.toml CMakeLists.txt \
           $(shell find src native cmake -not -name '*.pyc' -not -name '__pycache__' 2>/dev/null)

TEST := $(BIN)/pytest --numprocesses=logical --maxprocesses=8 --dist=worksteal
NATIVE_TESTS := tests/neighbors tests/affinity tests/layout

# A stamp says "installed from these sources". The test environment contains the demo's and the docs'.
MADE     := $(VENV)/.made
FOR_DEMO := $(VENV)/.for-demo
FOR_TEST := $(VENV)/.for-test
FOR_BENCH := $(VENV)/.for-bench
FOR_EXPERIMENTS := $(VENV)/.for-experiments
FOR_DOCS := $(VENV)/.for-docs
FOR_DIST := $(VENV)/.for-dist
LOWEST   := build/lowest
FOR_LOWEST := $(LOWEST)/.made
AXE_VERSION := 4.14.0
AXE      := build/axe/package/axe.min.js

# How long and from which seed the attackers of fuzz/ work. A fixed seed repeats the same cases.
SECONDS ?= 600
SEED    ?= 0

.DEFAULT_GOAL := help
.PHONY: help demo test coverage fuzz kills soak lint axe docs bench experiments sanitize processors dist lowest clean
# One environment is shared by all targets: two installs at once would break it.
.NOTPARALLEL:

help: ## say what can be made
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-11s %s\n", $$1, $$2 }' Makefile

demo: $(FOR_DEMO) ## install and run the demo: a table and ctsne-demo.png
	$(BIN)/ctsne demo

test: lint ## install, check style, types and imports, run all tests, attack for half a minute
	$(TEST)
	$(BIN)/python fuzz/run.py --seconds 30 --seed $(SEED)

# Apart from the tests, because counting statements makes them slower by a third before Python 3.14.
coverage: $(FOR_TEST) ## run all tests and print which statements of ctsne they do not reach
	$(TEST) --cov=ctsne --cov-report=term-missing:skip-covered

fuzz: $(FOR_TEST) ## attack every entrance with random input for 10 minutes (SECONDS=600 SEED=0)
	$(BIN)/python fuzz/run.py --seconds $(SECONDS) --seed $(SEED)

kills: $(FOR_TEST) ## kill and interrupt every command that writes, 300 times (SEED=0)
	$(BIN)/python fuzz/kills.py --kills 200 --seed $(SEED)
	$(BIN)/python fuzz/worker_kills.py --kills 60 --seed $(SEED)

soak: $(FOR_TEST) ## 2,000 small and 60 large fits: memory, threads and open files stay flat
	$(BIN)/python fuzz/soak.py

lint: $(FOR_TEST) ## check style, types and the order of imports only
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache --no-logo

axe: $(AXE) ## fetch axe-core with npm, for the tests of the page's accessibility

$(AXE):
	mkdir -p build/axe
	cd build/axe && npm pack --silent axe-core@$(AXE_VERSION) && tar -xzmf axe-core-$(AXE_VERSION).tgz

docs: $(FOR_DOCS) ## build the site into docs/_build/html, no warnings, no broken links
	$(BIN)/sphinx-build -q -W -n --keep-going docs docs/_build/html

bench: $(FOR_BENCH) ## time ctsne against its peers, renew benchmarks/RESULTS.md (< 15 minutes)
	$(BIN)/python benchmarks/run.py short

experiments: $(FOR_EXPERIMENTS) ## the paper's figures again; needs CTSNE_REFERENCE (minutes)
	$(BIN)/python experiments/run.py figure1 figure2 figure3 figure4 figure5

sanitize: $(FOR_TEST) ## test native code under address, undefined-behaviour and thread sanitizers
	$(BIN)/python tools/sanitize.py

# Each instruction set of this processor, then another processor in an emulator.
processors: $(FOR_TEST) ## test native code with each instruction set of this machine and on ARM64
	for isa in $$($(BIN)/python -c \
	  'from ctsne import _native; print(*_native.instruction_sets())'); do \
	  echo "==== $$isa"; CTSNE_ISA=$$isa $(BIN)/pytest -q -m "not slow" $(NATIVE_TESTS) || exit 1; \
	done
	PYTHON=$(BIN)/python tools/arm64.sh -m "not slow" $(NATIVE_TESTS)

# Built from copies in two folders: equal files show that no path or date gets into them.
dist: $(FOR_DIST) ## build the sdist and a wheel into dist/, twice, and check them
	rm -rf dist build/again
	$(BIN)/check-manifest
	$(BIN)/python -m build
	$(BIN)/python -m build --outdir build/again
	diff -r dist build/again
	$(BIN)/twine check --strict dist/*

# Old libraries warn about what newer ones of their own dependencies deprecate: only that is allowed.
# They cannot work with the newest polars (scikit-learn) and zarr (AnnData).
lowest: $(FOR_LOWEST) ## run the tests with the oldest dependencies allowed, without the slow tests
	$(LOWEST)/bin/pytest -m "not slow" --numprocesses=logical --maxprocesses=8 --dist=worksteal \
	  -W default::DeprecationWarning -W default::PendingDeprecationWarning -W default::FutureWarning

clean: ## remove the environment and everything built
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis ctsne-demo.png \
	  docs/_build docs/_generated

# --clear, because a half-made environment looks like a made one.
$(MADE):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "ctsne needs Python 3.11 or newer; try: make PYTHON=python3.12" >&2; exit 1; }
	$(PYTHON) -m venv --clear $(VENV)
	$(INSTALL) --quiet --upgrade "pip>=25.1"  # the first version with dependency groups
	@touch $@

# A plain install, not an editable one: what is tested is what users get.
$(FOR_DEMO): $(MADE) $(SOURCES)
	$(INSTALL) ".[plot,cli]"
	@touch $@

$(FOR_TEST): $(MADE) $(SOURCES)
	$(INSTALL) ".[all]" --group dev
	@touch $(FOR_DEMO) $(FOR_DOCS) $@

$(FOR_DOCS): $(MADE) $(SOURCES)
	$(INSTALL) ".[plot,scanpy]" --group docs
	@touch $@

$(FOR_BENCH): $(FOR_DEMO) benchmarks/requirements.txt
	$(INSTALL) -r benchmarks/requirements.txt
	@touch $@

$(FOR_EXPERIMENTS): $(FOR_DEMO) experiments/requirements.txt
	$(INSTALL) -r experiments/requirements.txt
	@touch $@

$(FOR_DIST): $(MADE)
	$(INSTALL) --group release
	@touch $@

$(FOR_LOWEST): $(MADE) $(SOURCES)
	$(INSTALL) uv
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python $(LOWEST)
	$(BIN)/uv pip compile --quiet --python $(LOWEST) --resolution lowest-direct --extra all \
	  --output-file $(LOWEST)/versions.txt pyproject.toml
	$(BIN)/uv pip install --quiet --python $(LOWEST) --constraints $(LOWEST)/versions.txt \
	  ".[all]" --group test "polars<2" "zarr<3"
	@touch $@
