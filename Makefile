# make demo   what this is for, on an example
# make check  the fast loop, within a minute: format, lint, types, layers, fast tests
# make test   everything, within seven minutes: all tests, the documentation, the installed package
# make slow   all examples of all laws, and tests that take minutes
# make engines DOCUMENTS=1000000  clusters, workers that die, and one job on Python, Dask and Spark (needs Java)
# make docs   the documentation, in docs/_build/html
# make paper  the paper on the package, in docs/_build/paper
# make bench  a comparison with other tools, in one run
# make bench-large DOCUMENTS=10000000  ten million documents, on one core, all cores and Dask
# make attack SECONDS=60  files and data changed at random, on all cores
# make constraints  the newest versions that fit, into constraints.txt, with which all else installs
# make newest  the newest versions into .venv, past constraints.txt, to see what they break
# make package-check  the package, in dist, and the workflows, checked as package indexes and GitHub do
# make release-check  the same, and whether all that a release needs is filled in

PYTHON ?= python3
SECONDS ?= 60
VENV := .venv
BIN := $(VENV)/bin
# Quiet when all is well; a failing command prints what it has to say.
UV_INSTALL := $(BIN)/uv pip install --quiet --python
INSTALL := $(UV_INSTALL) $(BIN)/python --constraint constraints.txt --editable

.PHONY: demo lint check test every-test slow engines docs paper bench bench-large attack constraints newest \
  package-check release-check clean
.DELETE_ON_ERROR:

demo: $(VENV)/demo
	@$(BIN)/beyondchance demo --quiet
	@echo
	@echo 'Next, with files of your own, one for each annotator or one export of all of them:'
	@echo '  $(BIN)/beyondchance agree FILE...       how much is more than luck'
	@echo '  $(BIN)/beyondchance diagnose FILE...    what to fix first'
	@echo '  $(BIN)/beyondchance report FILE...      all of it, as a page to decide in'

# As many processes as there are cores, with one thread each. Each takes neighbouring tests, which
# share fixtures, and then half of what another has left.
PYTEST := $(BIN)/python -m pytest --numprocesses=auto --dist=worksteal
check test slow: export OPENBLAS_NUM_THREADS = 1
# Without compiled files every process compiles all libraries anew: half of the time of make check.
unexport PYTHONDONTWRITEBYTECODE

lint: $(VENV)/dev
	@$(BIN)/ruff format --quiet --check .
	@$(BIN)/ruff check --quiet .
	@$(BIN)/mypy --no-error-summary
	@$(BIN)/lint-imports --no-logo >$(VENV)/layers.log || { cat $(VENV)/layers.log; exit 1; }

# Few examples of each law, and fast tests only: make test has them all. What needs a browser,
# scikit-learn or the training of spaCy loads for seconds before its first test.
HEAVY := tests/browser tests/test_metrics.py tests/evaluation/test_spacy_scorers.py
check: lint
	@$(PYTEST) -m 'not (slow or long or engines)' $(HEAVY:%=--ignore=%) --hypothesis-profile=brief \
	  --slowest=20

# The documentation takes one core, and tests in a browser wait.
test: lint
	@$(BIN)/python tests/chromium.py
	@$(MAKE) --no-print-directory --jobs=2 docs every-test
	@$(BIN)/python tests/installed.py

every-test:
	@$(PYTEST) -m 'not (long or engines)'

slow: $(VENV)/dev
	@$(BIN)/python tests/chromium.py
	@$(PYTEST) -m 'not engines' --hypothesis-profile=full

engines: DOCUMENTS ?= 1000000
engines: $(VENV)/dev $(VENV)-engines/ready
	@$(BIN)/python -m pytest -m engines
	@$(VENV)-engines/bin/python benchmarks/engines.py $(DOCUMENTS)

docs: $(VENV)/dev
	@$(BIN)/sphinx-build --quiet --fresh-env --fail-on-warning --keep-going docs docs/_build/html

paper: $(VENV)-release/ready
	@$(VENV)-release/bin/python docs/paper/paper.py

bench: $(VENV)/bench
	@$(BIN)/python benchmarks/run.py

bench-large: DOCUMENTS ?= 10000000
bench-large: $(VENV)/bench
	@$(BIN)/python benchmarks/large_run.py $(DOCUMENTS)

attack: $(VENV)/dev
	@$(BIN)/python tests/attack.py --seconds $(SECONDS)

# For every Python and system at once. Environments are made anew after it.
constraints: $(VENV)/demo
	@$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --upgrade --no-annotate \
	  --custom-compile-command 'make constraints' --all-extras --group dev --group bench --group release \
	  --output-file constraints.txt pyproject.toml

newest: $(VENV)/dev
	@$(UV_INSTALL) $(BIN)/python --upgrade --editable '.[all]' --group dev

package-check: BIN_RELEASE := $(VENV)-release/bin
package-check: SCHEMA := $(VENV)-release/bin/check-jsonschema --quiet --builtin-schema
package-check: $(VENV)-release/ready
	@rm -rf dist
	@$(BIN)/uv build --quiet --out-dir dist .
	@$(BIN_RELEASE)/twine check --strict dist/*
	@$(BIN_RELEASE)/check-wheel-contents dist/*.whl
	@$(BIN_RELEASE)/pyroma --min 8 dist/*.tar.gz  # of 10: it wants the e-mail address of an author
	@$(BIN_RELEASE)/validate-pyproject pyproject.toml
	@$(BIN_RELEASE)/sp-repo-review --show err .
	@$(SCHEMA) vendor.citation-file-format CITATION.cff
	@$(SCHEMA) vendor.github-actions action.yml
	@$(SCHEMA) vendor.github-workflows .github/workflows/*.yml
	@$(SCHEMA) vendor.github-issue-forms .github/ISSUE_TEMPLATE/[!c]*.yml
	@$(SCHEMA) vendor.github-issue-config .github/ISSUE_TEMPLATE/config.yml
	@$(SCHEMA) vendor.dependabot .github/dependabot.yml
	@$(BIN_RELEASE)/zizmor --offline --quiet .github action.yml

release-check: package-check
	@$(BIN)/python releasing.py check

clean:
	rm -rf $(VENV) $(VENV)-engines $(VENV)-release build dist docs/_build .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache

$(VENV)/demo: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "$(PYTHON) is not Python 3.11 or newer, or cannot be run; try make PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -m venv --clear $(VENV)
	@$(BIN)/python -m pip --disable-pip-version-check --quiet --quiet install --constraint constraints.txt uv
	@$(INSTALL) '.[report]'
	@touch $@

$(VENV)/dev: $(VENV)/demo
	@$(INSTALL) '.[all]' --group dev
	@touch $@

$(VENV)/bench: $(VENV)/demo
	@$(INSTALL) '.[dask,parquet,report]' --group bench
	@touch $@

$(VENV)-release/ready: $(VENV)/demo
	@$(BIN)/uv venv --quiet --clear --python $(BIN)/python $(VENV)-release
	@$(UV_INSTALL) $(VENV)-release/bin/python --constraint constraints.txt --editable . --group release
	@touch $@

$(VENV)-engines/ready: $(VENV)/demo
	@$(BIN)/uv venv --quiet --clear --python $(BIN)/python $(VENV)-engines
	@$(UV_INSTALL) $(VENV)-engines/bin/python --editable '.[dask,parquet]' --group engines
	@touch $@
