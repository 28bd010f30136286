# Simoom: each target builds what it depends on, and nothing that is up to date.
#
#   make demo       a café's Wi-Fi, simulated, reported and drawn into demo-out/
#   make test       all Rust and Python tests, but for the thorough ones
#   make test-thorough  those that build anew, repeat studies, or try random input
#   make test-fast  the quick ones: unit tests, and Python tests that are not slow
#   make lint       formatting, lints, types and the project's own rules
#   make bench      speed: simulated seconds per CPU second, and the page with ten million frames
#   make validate   agreement with other simulators and with theory
#   make docs       writes the generated files: scenario schema, reference pages, pictures
#   make site       builds the documentation site, with the playground, into build/site
#   make playground builds the simulator for browsers, as WebAssembly
#   make man        the manual pages of the commands, in build/man
#   make docs-check checks that generated pages are current and API documentation has no warnings
#   make web        builds the page of `simoom serve` from web/ (needs Node)
#   make web-check  checks that the built page is current
#   make wheel      a wheel for PYTHON in dist/; make wheel-check installs it and runs a scenario
#   make sdist      the source distribution in dist/
#   make deny       checks licences, advisories and sources of the crates (needs cargo-deny)
#   make lint-workflows   checks the workflow files (needs actionlint; make actionlint installs it)
#   make campaign   random scenarios, mutated input, laws, requests: MINUTES of each (default 60)
#   make fuzz       cargo-fuzz for MINUTES on TARGET scenario, script or segments (needs nightly)
#   make rust       installs the Rust version of Cargo.toml for this directory (needs rustup)

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export VIRTUAL_ENV := $(CURDIR)/$(VENV)

# The packages of a demo, and those of the tests and tools; the simulator, as a build profile of
# Cargo.toml makes it: `dev` is built soon, `release` is the fastest.
PACKAGES := $(VENV)/.packages
ENVIRONMENT := $(VENV)/.environment
EXTENSION := $(VENV)/.extension-dev
FASTEST := $(VENV)/.extension-release
BROWSERS := wasm32-unknown-unknown
SIMULATOR := target/$(BROWSERS)/web/simoom.wasm
ACTIONLINT := github.com/rhysd/actionlint/cmd/actionlint@v1.7.12
RUST_VERSION = $(shell sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
EDITION = $(shell sed -n 's/^edition = "\(.*\)"/\1/p' Cargo.toml)
# The tests of a file share simulated results, and run in one process.
PYTEST := $(BIN)/pytest --quiet --numprocesses auto --dist loadfile
# What a target prints stays together, where make can do that (GNU make 4).
SYNC := $(if $(filter output-sync,$(.FEATURES)),--output-sync=target)
RUST := Cargo.toml Cargo.lock pyproject.toml \
        $(shell find crates -name Cargo.toml -o -path '*/src/*' -name '*.rs')

.DEFAULT_GOAL := help
.PHONY: help demo test test-rust test-python test-thorough programs test-fast lint lint-rust \
        lint-python lint-house \
        lint-workflows actionlint deny bench validate campaign fuzz docs docs-check man playground \
        site web web-check wheel wheel-check sdist rust clean

help:
	@sed -n 's/^#   //p' Makefile

# Python compiles modules when they are first imported: few of them ever are.
INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile -r

$(PACKAGES): demo.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Simoom needs Python 3.11 or later: make PYTHON=python3.12 ..."; exit 1; }
	@command -v cargo > /dev/null || { echo "Simoom needs Rust: see https://rustup.rs"; exit 1; }
	@echo "1 of 3: installing $$(grep -c == $<) Python packages ..."
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(INSTALL) $<
	@touch $@

$(ENVIRONMENT): requirements.lock $(PACKAGES)
	@echo "Installing the packages of the tests and tools, $$(grep -c == $<) in all ..."
	@$(INSTALL) $<
	@touch $@

$(VENV)/.extension-%: $(PACKAGES) $(RUST)
	@echo "2 of 3: building the simulator, profile $*: one to two minutes for dev ..."
	@PIP_QUIET=1 $(BIN)/maturin develop --profile $*
	@rm -f $(VENV)/.extension-*
	@touch $@

demo: $(EXTENSION)
	@echo "3 of 3: a minute in a café ..."
	$(BIN)/simoom run scenarios/cafe.toml --out demo-out

# For builds from nothing: they take less, and what they build is faster.
test test-rust test-thorough test-fast: export CARGO_INCREMENTAL = 0

# At once: a crate that compiles alone leaves a core to the Python tests.
test: $(ENVIRONMENT) $(EXTENSION) programs
	@echo "Running the Rust and the Python tests: 10 to 15 minutes on two cores ..."
	@$(MAKE) --no-print-directory --jobs=2 $(SYNC) test-rust test-python

test-rust:
	@# Cargo is not to ask this make for leave to start its jobs.
	MAKEFLAGS= cargo test --workspace --quiet

test-python:
	$(PYTEST) -m "not thorough"

test-thorough: $(ENVIRONMENT) $(EXTENSION) programs
	cargo test --workspace --test all --quiet -- --ignored
	$(PYTEST) -m thorough

# Programs that some tests call: in CI a missing one fails them, elsewhere it skips them.
programs:
	@for program in tshark chromium firefox-esr valgrind; do \
	  if [ -n "$$CI" ] && [ "$$(id -u)" = 0 ] && ! command -v $$program > /dev/null; then \
	    echo "Installing $$program ..."; \
	    apt-get -qq update && DEBIAN_FRONTEND=noninteractive \
	      apt-get -qq install --yes --no-install-recommends $$program > /dev/null; \
	  fi; \
	done
	@if [ -n "$$CI" ] && command -v rustup > /dev/null; then rustup target add $(BROWSERS) || :; fi

test-fast: $(ENVIRONMENT) $(EXTENSION)
	cargo test --workspace --lib --quiet
	$(PYTEST) -m "not slow and not thorough"

# The build has overflow checks and debug assertions. docs/reliability.md has the last figures.
campaign: $(ENVIRONMENT)
	cargo build --profile campaign --package simoom-py
	$(BIN)/python -m campaign --minutes $(or $(MINUTES),60)

fuzz:
	@cargo +nightly fuzz --version > /dev/null 2>&1 \
	  || { echo "cargo-fuzz is missing: cargo install cargo-fuzz; rustup toolchain install nightly"; \
	       exit 1; }
	@# The release profile's link-time optimisation takes long and blurs the coverage.
	CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 \
	  cargo +nightly fuzz run --features targets $(or $(TARGET),scenario) -- \
	  -max_total_time=$$((60 * $(or $(MINUTES),10)))

lint: lint-rust lint-python lint-house

lint-rust: $(ENVIRONMENT)
	cargo fmt --all --check
	@# cargo fmt does not find the files that a registry declares.
	rustfmt --check --edition $(EDITION) $$(find crates -name '*.rs')
	cargo clippy --workspace --all-targets --quiet --locked -- -D warnings

lint-python: $(ENVIRONMENT)
	$(BIN)/ruff check --quiet
	$(BIN)/ruff format --quiet --check
	$(BIN)/mypy

lint-house: $(ENVIRONMENT)
	$(BIN)/python tools/tidy.py

lint-workflows:
	@command -v actionlint > /dev/null \
	  || { echo "actionlint is missing: make actionlint"; exit 1; }
	actionlint

actionlint:
	go install $(ACTIONLINT)

deny:
	@cargo deny --version > /dev/null 2>&1 \
	  || { echo "cargo-deny is missing: cargo install --locked cargo-deny"; exit 1; }
	cargo deny --locked check

bench: $(ENVIRONMENT) $(FASTEST)
	$(BIN)/python benches/speed.py
	$(BIN)/python benches/page.py
	$(BIN)/python benches/runs.py
	$(BIN)/python benches/steps.py

validate: $(ENVIRONMENT) $(FASTEST)
	$(BIN)/python -m validation

docs: $(ENVIRONMENT) $(EXTENSION)
	$(BIN)/simoom schema > schema/scenario.schema.json
	$(BIN)/python tools/reference.py
	$(BIN)/python docs/models/pictures.py
	$(BIN)/python docs/tutorial/pictures.py
	$(BIN)/python tools/paper.py
	$(BIN)/python tools/air.py

# The simulator as WebAssembly, and with it the page that needs no installation and no server.
playground: $(SIMULATOR)

$(SIMULATOR): $(RUST)
	@! command -v rustup > /dev/null || rustup target add $(BROWSERS)
	cargo build --profile web --target $(BROWSERS) --package simoom-wasm
	@touch $@

site: $(ENVIRONMENT) $(EXTENSION) $(SIMULATOR)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet

man: $(ENVIRONMENT) $(EXTENSION)
	$(BIN)/python tools/manual.py build/man/man1

# Pictures are not compared: their bytes depend on the platform.
docs-check: docs
	git diff --exit-code -- schema python/simoom/serve README.md ':(glob)docs/**/*.md'
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked --quiet

# The built page is committed: an installed package needs no Node.
web: web/node_modules/.installed
	cd web && npm run --silent check && npm run --silent build

web/node_modules/.installed: web/package-lock.json
	@command -v npm > /dev/null || { echo "npm is missing: install Node 20 or later"; exit 1; }
	cd web && npm ci --ignore-scripts --no-audit --no-fund --silent
	@touch $@

web-check: web
	git diff --exit-code -- python/simoom/serve/static

# Built by PEP 517, which needs no virtual environment and works on every platform. Interpreters
# with a GIL share one wheel for 3.11 and later; a free-threaded interpreter has its own wheel.
wheel:
	MATURIN_PEP517_ARGS="--compatibility pypi" \
	  $(PYTHON) -m pip wheel --no-deps --wheel-dir dist .

wheel-check:
	$(PYTHON) -m pip install --quiet --upgrade --target build/wheel dist/simoom-*.whl
	PYTHONPATH=build/wheel $(PYTHON) -m simoom run scenarios/performance_anomaly.toml
	for part in index.html app.js app.css licences.txt; do \
	  test -s build/wheel/simoom/serve/static/$$part || exit 1; \
	done

sdist: $(ENVIRONMENT)
	$(BIN)/maturin sdist --out dist

rust:
	rustup toolchain install $(RUST_VERSION) --profile minimal --component clippy,rustfmt
	rustup override set $(RUST_VERSION)

clean:
	rm -rf $(VENV) target demo-out dist build
