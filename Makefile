# Every target makes the environment it needs by itself: Python >= 3.11, git and make suffice.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUNTIME := $(VENV)/.runtime
DEV := $(VENV)/.dev
PYTEST := $(BIN)/python -m pytest -q -n 2

.PHONY: help demo test check format lint types slow browser browser-tools docs bench calibration reports example clean

help:  ## Show the targets
	@grep -E '^[a-z]+:.*## ' Makefile | sed 's/:.*## /\t/'

$(RUNTIME): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit("onechange needs Python 3.11 or newer; try: make PYTHON=python3.12 ...") if sys.version_info < (3, 11) else None'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable .
	touch $(RUNTIME)

$(DEV): $(RUNTIME)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	touch $(DEV)

demo: $(RUNTIME)  ## The main job on bundled data: decision, report and other outputs in demo-output/
	$(BIN)/onechange demo --out demo-output

test: $(DEV)  ## All fast tests
	$(PYTEST) -m 'not slow'

format: $(DEV)  ## Format the code
	$(BIN)/ruff format src tests benchmarks reports
	$(BIN)/ruff check --fix src tests benchmarks reports

lint: $(DEV)  ## Format check, lint
	$(BIN)/ruff format --check src tests benchmarks reports
	$(BIN)/ruff check src tests benchmarks reports

types: $(DEV)  ## Strict type check of the package
	$(BIN)/mypy

check: lint types test  ## What must be green before a commit: format, lint, types, fast tests

slow: $(DEV)  ## The simulation studies, minutes
	$(PYTEST) -m slow

browser-tools:
	apt-get update -qq
	DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium chromium-driver fonts-dejavu-core texlive-latex-base texlive-latex-recommended lmodern

browser: browser-tools $(DEV)  ## Install a browser and LaTeX (Debian, as root), and run the tests that need them
	$(BIN)/python -m pytest -q tests/browser tests/unit/test_report_latex.py

docs: $(DEV)  ## Build the documentation in site/; warnings are errors
	$(BIN)/sphinx-build -q -W --keep-going -b html docs site

PEERS := .venv-bench/.installed
$(PEERS):
	$(PYTHON) -m venv .venv-bench
	.venv-bench/bin/python -m pip install --quiet numpy scipy pandas arch pingouin
	touch $(PEERS)

bench: $(DEV) $(PEERS)  ## Speed and memory next to named peers, to benchmarks/results/
	$(BIN)/python benchmarks/speed.py
	$(BIN)/python benchmarks/memory.py
	$(BIN)/python benchmarks/trials.py
	$(BIN)/python benchmarks/scores.py

calibration: $(DEV)  ## Coverage, type-I errors and false passes against their limits (45 min)
	$(BIN)/python benchmarks/calibration.py --jobs 2

sessions: $(RUNTIME)  ## Rewrite the outputs of the sessions in README.md and docs/
	$(BIN)/python docs/sessions.py

reports: $(RUNTIME)  ## Rebuild reports/ from the real results in ONECHANGE_DATA
	$(BIN)/python reports/build.py

example: $(RUNTIME)  ## Rebuild the bundled example with the simulator
	$(BIN)/python -m onechange.simulate

clean:  ## Remove what the targets made
	rm -rf $(VENV) demo-output site .mypy_cache .ruff_cache .pytest_cache .hypothesis
