SHELL := bash
PYTHON ?= python3
BIN := .venv/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
RUN := demo-run

SECONDS ?= 60

# Tests start many processes, and these start faster from compiled modules.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-site test-paper test-wheel test-oldest coverage check lint docs fuzz clean chromium site

demo: .venv/installed
	rm -rf $(RUN)
	$(BIN)/latree demo --out $(RUN)

PYTEST := $(BIN)/python -m pytest -n 2 --dist worksteal

# Everything but the targets below, which have jobs of their own in CI.
test: .venv/tested chromium
	$(PYTEST) -m "not site and not paper and not wheel"

# Builds the documentation site, runs its gallery, and follows its links.
test-site: .venv/tested
	$(BIN)/python -m pytest -m site

# Quick runs of the paper's experiments.
test-paper: .venv/tested
	$(PYTEST) -m paper

# What users install: sdist and wheel are built, and the wheel is tested in a new environment.
test-wheel:
	$(PYTHON) tools/wheel_test.py

# All tests on the wheel, with the oldest versions of all dependencies that pyproject.toml allows.
test-oldest:
	$(PYTHON) tools/wheel_test.py --oldest

# Which lines of the package the tests run.
coverage: .venv/tested chromium
	$(PYTEST) -m "not site and not wheel" --cov --cov-report term --cov-report html

# For people at work: format, lint, types and the fast tests.
check: lint
	$(PYTEST) -m "not slow"

lint: .venv/tested
	$(BIN)/python -m ruff check
	$(BIN)/python -m ruff format --check
	$(BIN)/python -m mypy

# The report is tested in a real browser: Debian's Chromium, installed where that needs no asking.
chromium:
	@if { command -v chromium || command -v chromium-browser || command -v google-chrome; } >/dev/null; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		{ apt-get update -qq && apt-get install -y -qq chromium; } >/dev/null 2>&1 \
			|| echo "Chromium could not be installed: tests of the report in a browser will be skipped"; \
	else echo "No Chromium on this machine: tests of the report in a browser will be skipped"; fi

# Feeds every reader of files with made-up inputs, for SECONDS each; fuzz/run.py says what to do about a crash.
fuzz: .venv/installed
	$(INSTALL)
	for target in fuzz/corpus/*; do $(BIN)/python fuzz/run.py $${target##*/} $(SECONDS) || exit 1; done

docs: .venv/installed
	$(BIN)/python docs/reference.py

# The documentation site in build/site; every warning is an error.
site: .venv/tested
	$(BIN)/python -m sphinx -W --keep-going -q -d build/site-trees docs build/site
	@echo "The site is in build/site/index.html"

# uv installs in half the time. It does not read pip's settings: where it finds nothing, pip does the work.
INSTALL = $(BIN)/python -m pip install --quiet uv \
	&& $(BIN)/python -m uv pip install --quiet --compile-bytecode --python .venv --editable "$(WHAT)" \
	|| $(BIN)/python -m pip install --quiet --editable "$(WHAT)"
.venv/installed: WHAT := .
.venv/tested: WHAT := .[test,docs]
fuzz: WHAT := .[fuzz]

.venv/installed .venv/tested: pyproject.toml
	$(PYTHON) -m venv .venv
	$(INSTALL)
	touch .venv/installed $@

clean:
	rm -rf .venv build $(RUN)
