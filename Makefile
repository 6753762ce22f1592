PYTHON ?= python3
BIN := .venv/bin
RUN := demo-run

.PHONY: demo test docs clean

demo: .venv/installed
	rm -rf $(RUN)
	$(BIN)/latree demo --out $(RUN)

test: .venv/tested
	$(BIN)/python -m pytest -n 2

docs: .venv/installed
	$(BIN)/python docs/reference.py

.venv/installed: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

.venv/tested: .venv/installed
	$(BIN)/python -m pip install --quiet --editable ".[test]"
	touch $@

clean:
	rm -rf .venv $(RUN)
