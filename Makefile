# Everything a newcomer needs: `make demo`, `make test`. Only Python (3.11 or newer) and make have to be there.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet --constraint constraints.txt
OUT ?= demo
TESTS ?=

.PHONY: demo test test-slow check bench docs clean

demo: $(VENV)/.run  ## what liewise does, on data it makes itself
	$(BIN)/liewise data list
	$(BIN)/liewise data show sprites --out $(OUT)/sprites.png --force

test: $(VENV)/.dev  ## every test that takes seconds
	$(BIN)/python -m pytest -n 2 $(TESTS)

test-slow: $(VENV)/.dev  ## the tests that take minutes
	$(BIN)/python -m pytest -m slow $(TESTS)

check: $(VENV)/.dev  ## lint, types, layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/basedpyright
	$(BIN)/lint-imports

bench: $(VENV)/.bench  ## speed as ratios within one process
	$(BIN)/python -m benchmarks --page docs/benchmarks.md

docs: export NO_MKDOCS_2_WARNING = 1
docs: $(VENV)/.dev  ## the documentation, warnings as errors
	$(BIN)/mkdocs build --strict --quiet

clean:
	rm -rf $(VENV) site $(OUT)

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "liewise needs Python 3.11 or newer; try make PYTHON=python3.11")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.run: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(PIP) --editable .
	touch $@

$(VENV)/.dev: $(VENV)/.run
	$(PIP) 'pip>=25.1'  # which reads dependency groups
	$(PIP) --group dev
	touch $@

$(VENV)/.bench: $(VENV)/.run
	$(PIP) 'pip>=25.1'
	$(PIP) --group bench
	touch $@
