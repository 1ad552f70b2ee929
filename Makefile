# Everything runs from .venv. uv creates it if it is installed, otherwise python3 and pip do. Users get
# the program only, developers also the tools of the group `dev`.

# Installed programs are compiled; without this, a measured start may compile all modules.
unexport PYTHONDONTWRITEBYTECODE

PYTHON ?= python3
UV := $(shell command -v uv 2>/dev/null)
CODE := catalog pipeline tests benchmarks docs_from_code watched/csv-profile
BIN := .venv/bin
PROGRAM := .venv/ready
DEVELOPING := .venv/developing
MEASURING := .venv/measuring

.DEFAULT_GOAL := help
.PHONY: help up test test-clients test-next check lint docs bench bench-large bench-parts bench-search bench-site bench-work bench-compare bench-readers bench-cluster bench-modules lighthouse page-sizes visitors snapshots crawl sizing soak crashes release clean

help: ## print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

up: skilldrop.toml ## watch the folder and serve the catalog until Ctrl-C
	@$(BIN)/skilldrop --config $< up

# Names the folders of this clone, so that a settings file of the user does not count here.
skilldrop.toml: | $(PROGRAM)
	@$(BIN)/skilldrop --config $@ --watched watched --data var config init

test: $(DEVELOPING) ## run the tests, one more at once than there are cores, four at most
	@$(BIN)/python -m pytest -n auto --maxprocesses 4 --max-worker-restart 0 --dist loadfile

test-clients: $(DEVELOPING) ## try real agents and installers, and write docs/reference/clients.md; npm and pip fetch 2.5 GB
	@$(BIN)/python -m tests.clients.installed
	@$(BIN)/python -m pytest --verbose -o faulthandler_timeout=600 tests/clients

NEXT := .venv-next
test-next: ## ask for every kind of page of the site under the newest pre-release of Datasette 1.0
	@$(PYTHON) -m venv $(NEXT)
	@$(NEXT)/bin/python -m pip install --quiet --editable .
	@$(NEXT)/bin/python -m pip install --quiet --upgrade --pre --no-warn-conflicts 'datasette>=1.0a41'
	@$(NEXT)/bin/python -m tests.whole.next_datasette

check: lint test ## lint, then test

lint: $(DEVELOPING) ## run ruff, import-linter and mypy, and check the pages and links of docs/
	@$(BIN)/ruff check $(CODE)
	@$(BIN)/ruff format --check $(CODE)
	@$(BIN)/lint-imports --no-logo
	@$(BIN)/mypy
	@$(BIN)/python -m docs_from_code --check

bench-site: $(DEVELOPING) ## measure the response times of the site, idle and during a scan
	@$(BIN)/python benchmarks/site_times.py

bench-search: $(MEASURING) ## measure quality and speed of the search beside other engines; DATA=folder of tasks
	@$(BIN)/python benchmarks/search.py $(if $(DATA),--data $(DATA))

docs: $(DEVELOPING) ## generate the reference pages, and build the documentation in site/
	@$(BIN)/python -m docs_from_code

bench: $(DEVELOPING) ## measure everything at 1,000 and 10,000 skills, with floors and peers, and print one table
	@$(BIN)/python benchmarks/overview.py

bench-large: $(DEVELOPING) ## the same, also at 100,000 skills, and replace benchmarks/results.md; takes over an hour and 16 GB of disk
	@$(BIN)/python benchmarks/overview.py --skills 1000 10000 100000 --save

bench-work: $(DEVELOPING) ## count the instructions that a skill costs, and compare them with the saved ones or BASE; needs valgrind
	@$(BIN)/python benchmarks/work.py $(if $(BASE),--base $(BASE))

bench-modules: $(DEVELOPING) ## count lines, modules, and the modules that a scan and a read run
	@$(BIN)/python benchmarks/modules_run.py

bench-compare: $(DEVELOPING) ## measure this tree and a commit in alternating pairs; BASE=commit
	@$(BIN)/python benchmarks/compare.py $(BASE)

CATALOG ?= var/catalog.db
lighthouse: $(DEVELOPING) ## measure the main pages of CATALOG with Lighthouse; needs npm and Chromium
	@$(BIN)/python benchmarks/lighthouse.py --catalog $(CATALOG)

page-sizes: $(DEVELOPING) ## measure bytes and time of every kind of page of CATALOG
	@$(BIN)/python benchmarks/page_sizes.py --catalog $(CATALOG)

visitors: $(DEVELOPING) ## measure the front page of CATALOG beside fifty visitors of each kind of page
	@$(BIN)/python benchmarks/visitors.py --catalog $(CATALOG)

SNAPSHOTS ?= var/snapshots
snapshots: $(DEVELOPING) ## photograph every kind of page of CATALOG into the folder SNAPSHOTS; needs Chromium
	@$(BIN)/python benchmarks/snapshots.py --catalog $(CATALOG) --to $(SNAPSHOTS)

crawl: $(DEVELOPING) ## follow all links of the site over the real skills beside the repository
	@CRAWL=all $(BIN)/python -m pytest -s -o faulthandler_timeout=0 tests/catalog/site/test_crawl.py

bench-readers: $(DEVELOPING) ## measure 1, 2 and 4 processes of the site behind nginx; needs nginx and wrk
	@$(BIN)/python benchmarks/readers.py

bench-cluster: $(DEVELOPING) ## measure scans on a local Dask cluster, by its workers
	@$(BIN)/python benchmarks/cluster.py

sizing: $(DEVELOPING) ## measure disk, files, watches, memory and copies of a catalog; SKILLS=n
	@$(BIN)/python benchmarks/sizing.py --skills $(or $(SKILLS),10000)

bench-parts: $(DEVELOPING) ## measure validation, indexes and latency in detail
	@for part in validate index latency; do $(BIN)/python benchmarks/$$part.py || exit; done

MINUTES ?= 10
soak: $(DEVELOPING) ## change a root at random for MINUTES=n, and compare with the catalog after each run
	@$(BIN)/python benchmarks/soak.py --minutes $(MINUTES)

crashes: $(DEVELOPING) ## kill the program and its helpers a hundred times during a scan; unpack 5,000 folders at once
	@CRASHES=100 FOLDERS=5000 $(BIN)/python -m pytest tests/whole/test_crash.py tests/whole/test_trouble.py

release: ## build wheel and sdist of VERSION=x.y.z in dist/, and try the wheel in a clean environment
	@grep -q '^## \[$(VERSION)\]' CHANGELOG.md || { \
	  echo "CHANGELOG.md has no section [$(VERSION)]. Write it, then run make release VERSION=x.y.z."; exit 1; }
	@sed -i 's/^VERSION = .*/VERSION = "$(VERSION)"/' catalog/model/values.py
	@sed -i 's/"version": ".*"/"version": "$(VERSION)"/' deploy/server.json
	@rm -rf dist && $(PYTHON) -m venv dist/build && $(PYTHON) -m venv dist/clean
	@dist/build/bin/python -m pip install --quiet --disable-pip-version-check build
	@dist/build/bin/python -m build --outdir dist .
	@dist/clean/bin/python -m pip install --quiet --disable-pip-version-check dist/*.whl
	@cd dist/clean && export HOME="$$PWD" && bin/skilldrop --version | grep -F "$(VERSION)" \
	  && bin/skilldrop config init --watched skills && bin/skilldrop new tried --in skills \
	  && sed -i 's/\[TODO: \(.*\)\]/\1/' skills/tried/SKILL.md \
	  && bin/skilldrop validate skills && bin/skilldrop scan && bin/skilldrop read tried >/dev/null
	@rm -rf dist/build dist/clean && ls dist

clean: ## remove .venv and caches; the catalog in var/ stays
	@rm -rf .venv $(NEXT) dist site .cache .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	@find catalog pipeline tests benchmarks docs_from_code watched/csv-profile -name __pycache__ -prune -exec rm -rf {} +

$(PROGRAM): pyproject.toml
	@echo "Setting up .venv (once; again when pyproject.toml changes) ..."
ifdef UV
	@UV_PROJECT_ENVIRONMENT=.venv "$(UV)" sync --quiet --no-dev
else
	@command -v $(PYTHON) >/dev/null || { \
	  echo "skilldrop needs Python 3.11 or newer, but there is no $(PYTHON): install it, or name one with PYTHON=..."; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "skilldrop needs Python 3.11 or newer, but $(PYTHON) is older: name a newer one with PYTHON=..., or install uv."; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	  echo "$(PYTHON) has no venv module: install it (Debian and Ubuntu: apt install python3-venv), or install uv."; exit 1; }
	@$(PYTHON) -m venv --clear .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
endif
	@touch $@

$(DEVELOPING): $(PROGRAM)
	@echo "Adding the development tools ..."
ifdef UV
	@UV_PROJECT_ENVIRONMENT=.venv "$(UV)" sync --quiet
else
	@# pip supports --group since 25.1; Python may come with an older pip.
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	@$(BIN)/python -m pip install --quiet --group dev
endif
	@touch $@

$(MEASURING): $(DEVELOPING)
	@echo "Adding the other search engines ..."
ifdef UV
	@UV_PROJECT_ENVIRONMENT=.venv "$(UV)" sync --quiet --group bench
else
	@$(BIN)/python -m pip install --quiet --group bench
endif
	@touch $@
