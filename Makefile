# Everything runs from .venv, made by uv where it is installed, else by python3 and pip: for users
# with the program alone, for developers with the tools of the group `dev` as well.

PYTHON ?= python3
UV := $(shell command -v uv 2>/dev/null)
CODE := catalog pipeline tests benchmarks docs_from_code watched/csv-profile
BIN := .venv/bin
PROGRAM := .venv/ready
DEVELOPING := .venv/developing

.DEFAULT_GOAL := help
.PHONY: help up test check lint docs bench bench-large bench-parts sizing soak crashes clean

help: ## print this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST)

up: $(PROGRAM) ## watch the folder and serve the catalog until Ctrl-C
	@$(BIN)/skilldrop up

test: $(DEVELOPING) ## run the tests, a file on each core, four at most
	@$(BIN)/python -m pytest -n auto --maxprocesses 4 --dist loadfile

check: lint test ## everything that must hold: lint and the tests

lint: $(DEVELOPING) ## ruff, import-linter, mypy, and the pages and links of docs/
	@$(BIN)/ruff check $(CODE)
	@$(BIN)/ruff format --check $(CODE)
	@$(BIN)/lint-imports --no-logo
	@$(BIN)/mypy
	@$(BIN)/python -m docs_from_code --check

bench-site: $(DEVELOPING) ## measure how fast the site answers, at rest and while a scan stores
	@$(BIN)/python benchmarks/site.py

docs: $(DEVELOPING) ## write the pages that are made from the code, and build the site of docs/ in site/
	@$(BIN)/python -m docs_from_code

bench: $(DEVELOPING) ## measure everything at 1,000 and 10,000 skills beside floors and peers: one table
	@$(BIN)/python benchmarks/overview.py --save

bench-large: $(DEVELOPING) ## the same at 100,000 skills, too; takes long and 5 GB of disk
	@$(BIN)/python benchmarks/overview.py --skills 1000 10000 100000 --save

sizing: $(DEVELOPING) ## measure what a catalog takes: disk, files, watches, memory, copies; SKILLS=n
	@$(BIN)/python benchmarks/sizing.py --skills $(or $(SKILLS),10000)

bench-parts: $(DEVELOPING) ## measure validation, publication, indexes and the site by themselves, in more detail
	@for part in ingest validate publish index latency; do $(BIN)/python benchmarks/$$part.py || exit; done

MINUTES ?= 10
soak: $(DEVELOPING) ## live random lives of a root for MINUTES=n, and check the promise after each
	@$(BIN)/python benchmarks/soak.py --minutes $(MINUTES)

crashes: $(DEVELOPING) ## kill the program, and its helpers, a hundred times in a busy ingest; unpack 5,000 folders at once
	@CRASHES=100 FOLDERS=5000 $(BIN)/python -m pytest tests/whole/test_crash.py tests/whole/test_trouble.py

clean: ## remove .venv and caches; the catalog in var/ stays
	@rm -rf .venv dist site .cache .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	@find catalog pipeline tests benchmarks docs_from_code watched/csv-profile -name __pycache__ -prune -exec rm -rf {} +

$(PROGRAM): pyproject.toml
	@echo "Setting up .venv (once; again when pyproject.toml changes) ..."
ifdef UV
	@UV_PROJECT_ENVIRONMENT=.venv "$(UV)" sync --quiet --no-dev
else
	@command -v $(PYTHON) >/dev/null || { \
	  echo "skilldrop needs Python 3.11 or newer and found no $(PYTHON): install it, or name one with PYTHON=..."; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "skilldrop needs Python 3.11 or newer and $(PYTHON) is older: name a newer one with PYTHON=..., or install uv."; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	  echo "$(PYTHON) comes without its venv module: install it (Debian and Ubuntu: apt install python3-venv), or install uv."; exit 1; }
	@$(PYTHON) -m venv --clear .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
endif
	@touch $@

$(DEVELOPING): $(PROGRAM)
	@echo "Adding the tools of developers ..."
ifdef UV
	@UV_PROJECT_ENVIRONMENT=.venv "$(UV)" sync --quiet
else
	@# pip learnt --group in 25.1; the one that comes with Python may be older.
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	@$(BIN)/python -m pip install --quiet --group dev
endif
	@touch $@
