# Two commands for a fresh machine, each complete in itself and good to repeat:
#   make demo   installs, migrates the bundled project and says where the report is
#   make test   installs, then lints and runs the tests
# Also: make proofs (the slow tests), make lint, make clean.
# The environment lies in .venv/<hash of what it is made from>, so a change of pins makes a new one by itself.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
OUT    ?= demo-out
HASH   := $(shell $(PYTHON) -c 'import hashlib, pathlib, sys; parts = [open(f).read() for f in ("constraints.txt", "pyproject.toml")]; print(hashlib.sha256("".join([*parts, sys.version, str(pathlib.Path.cwd())]).encode()).hexdigest()[:12])')
VENV   := .venv/$(HASH)
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

export PIP_DISABLE_PIP_VERSION_CHECK = 1
export TF_CPP_MIN_LOG_LEVEL = 2

.DEFAULT_GOAL := help
.PHONY: help install demo test proofs lint catalogue clean

help:
	@sed -n '2,5s/^# *//p' Makefile

install: $(READY)

$(READY): | constraints.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed; name one with: make PYTHON=/path/to/python3.11")'
	@echo "== making the environment $(VENV) (once; some minutes, most of them for the two frameworks)"
	@rm -rf $(VENV)
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -c constraints.txt hatchling editables
	$(BIN)/python -m pip install -c constraints.txt --no-build-isolation -e '.[cpu,dev]'
	@touch $@

demo: $(READY)
	@echo "== migrating fixtures/projects/digits into $(OUT) (what a former demo left there is replaced)"
	@rm -rf $(OUT)
	@# 1 is "work remains": the report then says what, and is shown all the same
	$(BIN)/migrate run fixtures/projects/digits --out $(OUT); code=$$?; \
	test ! -f $(OUT)/report.html || echo "== the report: $(CURDIR)/$(OUT)/report.html"; exit $$code

lint: $(READY)
	@echo "== ruff"
	$(BIN)/ruff check .
	@echo "== mypy"
	$(BIN)/mypy

catalogue: $(READY)
	$(BIN)/python -m pytest -q tests/catalogue

test: lint
	@echo "== tests, all but the slow ones (make proofs runs those)"
	$(BIN)/python -m pytest -n 2 -m 'not proof'

proofs: $(READY)
	@echo "== slow proofs, each a real run of its own; some minutes"
	$(BIN)/python -m pytest -m proof -v

clean:
	rm -rf .venv $(OUT) dist .pytest_cache .mypy_cache .ruff_cache
