SHELL := bash
PYTHON ?= python3
BIN := .venv/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
RUN := demo-run

SECONDS ?= 60

.PHONY: demo test check lint docs fuzz clean chromium site wheel-test oldest-test

demo: .venv/installed
	rm -rf $(RUN)
	$(BIN)/latree demo --out $(RUN)

test: lint chromium
	$(BIN)/python -m pytest -n 2 --dist worksteal

# For people at work: format, lint, types and the fast tests, in less than a minute.
check: lint
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "not slow"

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

# What users install: sdist and wheel are built, and the wheel is tested in a new environment.
wheel-test:
	rm -rf build/wheel-test
	$(PYTHON) tools/wheel_test.py

# The same with the oldest versions of all dependencies that pyproject.toml allows.
oldest-test:
	rm -rf build/wheel-test
	$(PYTHON) tools/wheel_test.py --oldest

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
