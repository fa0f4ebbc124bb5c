# Two commands set everything up: `make demo` and `make test`. Nothing but Python 3.11+, pip
# and make is assumed to be installed.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo demo-live test test-slow check mutants bench clean

demo: $(VENV)/.installed
	@$(BIN)/society run quickstart --out runs/demo
	@echo "Open the report: $(CURDIR)/runs/demo/report.html"

# The same over HTTP, against a server that stands for a provider; no model, no key, no network.
# SERVER="--fault dropped=0.1 --latency 0.05" shows how a run bears a bad one.
demo-live: $(VENV)/.installed
	@$(BIN)/python -m tests.faultserver.demo $(SERVER)

test: check
	$(BIN)/python -m pytest -n 2 -m "not slow"

test-slow: $(VENV)/.tools
	$(BIN)/python -m pytest -n 2

check: $(VENV)/.tools
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m pytest tests/test_layers.py

mutants: $(VENV)/.tools
	$(BIN)/python tests/mutants.py

bench: $(VENV)/.tools
	$(BIN)/python benchmarks/all.py

clean:
	rm -rf $(VENV) build *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: $(VENV)/bin/python pyproject.toml constraints.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e .
	@touch $@

$(VENV)/.tools: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev,semantic,cluster,scale]"
	@touch $@
