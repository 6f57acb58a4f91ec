# Two commands: make lab (set up, open the course) and make test (set up, pass the tests).
# What they do is in tools/*.py, which runs without make too: python tools/lab.py

PYTHON ?= $(firstword $(foreach name,python3 python3.13 python3.12 python3.11 python,$(shell command -v $(name) 2>/dev/null)))
ARGS ?=

.PHONY: help lab test constraints clean

help:
	@echo "make lab                     set up, and open the course in JupyterLab"
	@echo "make lab ARGS=--no-browser   the same, without opening a browser"
	@echo "make test                    set up, and pass all tests (ARGS go to pytest)"
	@echo "make constraints             renew constraints.txt (needs Python 3.11, 3.12 and 3.13)"
	@echo "make clean                   remove .venv and caches; your workspace stays"

lab test constraints: | found-python
lab:
	@$(PYTHON) tools/lab.py $(ARGS)
test:
	@$(PYTHON) tools/run_tests.py $(ARGS)
constraints:
	@$(PYTHON) tools/constraints.py $(ARGS)

.PHONY: found-python
found-python:
	@test -n "$(PYTHON)" || { echo "setup: expected Python 3.11, 3.12 or 3.13 on PATH, but found none. On Debian: apt-get install python3 python3-venv" >&2; exit 1; }

clean:
	rm -rf .venv .pytest_cache .ruff_cache .hypothesis dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
