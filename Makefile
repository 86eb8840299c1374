# make demo   what this is for, on an example
# make check  the fast loop, two minutes: format, lint, types, layers, fast tests
# make test   everything, fifteen minutes: all tests, the documentation, the installed package
# make docs   the documentation, in docs/_build/html
# make bench  a comparison with other tools, in one run
# make bench-large DOCUMENTS=10000000  ten million documents, on one core, all cores and Dask
# make attack SECONDS=60  files and data changed at random, on all cores

PYTHON ?= python3
SECONDS ?= 60
DOCUMENTS ?= 10000000
VENV := .venv
BIN := $(VENV)/bin
# Quiet when all is well; a failing command prints what it has to say.
PIP := -m pip --disable-pip-version-check --quiet --quiet

.PHONY: demo lint check test docs bench bench-large attack clean
.DELETE_ON_ERROR:

demo: $(VENV)/demo
	@$(BIN)/beyondchance demo

# As many processes as there are cores, with one thread each.
check test: export OPENBLAS_NUM_THREADS = 1

lint: $(VENV)/dev
	@$(BIN)/ruff format --quiet --check .
	@$(BIN)/ruff check --quiet .
	@$(BIN)/mypy --no-error-summary
	@$(BIN)/lint-imports --no-logo >$(VENV)/layers.log || { cat $(VENV)/layers.log; exit 1; }

# Few examples of each law, and no slow tests: make test has them all.
check: lint
	@$(BIN)/python tests/chromium.py
	@$(BIN)/python -m pytest -n auto -m 'not slow' --hypothesis-profile=brief

# Types and documentation are checked at the same time: each takes one core.
test: $(VENV)/dev
	@$(MAKE) --no-print-directory --jobs=2 --output-sync lint docs
	@$(BIN)/python tests/chromium.py
	@$(BIN)/python -m pytest -n auto
	@$(BIN)/python tests/installed.py

docs: $(VENV)/dev
	@$(BIN)/sphinx-build --quiet --fresh-env --fail-on-warning --keep-going docs docs/_build/html

bench: $(VENV)/bench
	@$(BIN)/python benchmarks/run.py

bench-large: $(VENV)/bench
	@$(BIN)/python benchmarks/large_run.py $(DOCUMENTS)

attack: $(VENV)/dev
	@$(BIN)/python tests/attack.py --seconds $(SECONDS)

clean:
	rm -rf $(VENV) build dist docs/_build .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache

$(VENV)/demo: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "$(PYTHON) is not Python 3.11 or newer, or cannot be run; try make PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -m venv --clear $(VENV)
	@$(BIN)/python $(PIP) install --upgrade pip
	@$(BIN)/python $(PIP) install --editable .
	@touch $@

$(VENV)/dev: $(VENV)/demo
	@$(BIN)/python $(PIP) install --editable '.[all]' --group dev
	@touch $@

$(VENV)/bench: $(VENV)/demo
	@$(BIN)/python $(PIP) install --editable '.[dask,duckdb,report]' --group bench
	@touch $@
