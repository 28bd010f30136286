# Simoom: every target sets up what it needs, and does nothing twice.
#
#   make demo       a café's Wi-Fi, simulated, reported and drawn into demo-out/
#   make test       all Rust and Python tests
#   make lint       formatting, lints, types and the house's own rules
#   make bench      speed: simulated seconds per CPU second
#   make validate   agreement with other simulators and with theory
#   make docs       what is generated: scenario schema and reference pages

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export VIRTUAL_ENV := $(CURDIR)/$(VENV)

ENVIRONMENT := $(VENV)/.environment
EXTENSION := $(VENV)/.extension
RUST := Cargo.toml Cargo.lock pyproject.toml \
        $(shell find crates -name Cargo.toml -o -path '*/src/*' -name '*.rs')

.DEFAULT_GOAL := help
.PHONY: help demo test lint lint-rust lint-python lint-house bench validate docs clean

help:
	@sed -n 's/^#   //p' Makefile

$(ENVIRONMENT): requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Simoom needs Python 3.11 or later: make PYTHON=python3.12 ..."; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing Python packages ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.lock
	@touch $@

$(EXTENSION): $(ENVIRONMENT) $(RUST)
	@command -v cargo > /dev/null || { echo "Simoom needs Rust: see https://rustup.rs"; exit 1; }
	@echo "Building the simulator ..."
	@PIP_QUIET=1 $(BIN)/maturin develop --release --quiet
	@touch $@

demo: $(EXTENSION)
	$(BIN)/simoom run scenarios/cafe.toml --out demo-out

test: $(EXTENSION)
	cargo test --workspace --quiet
	$(BIN)/pytest --quiet

lint: lint-rust lint-python lint-house

lint-rust: $(ENVIRONMENT)
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --quiet --locked -- -D warnings

lint-python: $(ENVIRONMENT)
	$(BIN)/ruff check --quiet
	$(BIN)/ruff format --quiet --check
	$(BIN)/mypy

lint-house: $(ENVIRONMENT)
	$(BIN)/python tools/tidy.py

bench: $(EXTENSION)
	$(BIN)/python benches/speed.py

validate: $(EXTENSION)
	$(BIN)/python -m validation

docs: $(EXTENSION)
	$(BIN)/simoom schema > schema/scenario.schema.json
	$(BIN)/python tools/reference.py
	$(BIN)/python docs/models/pictures.py

clean:
	rm -rf $(VENV) target demo-out
