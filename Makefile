# Plyground: `make serve` runs it, `make test` tests it. Python >= 3.11 and make are all that is needed.
# PYTHON=/path/to/python3.12 chooses the interpreter that .venv is made from.

VENV := .venv/bin

.PHONY: help serve test test-deep check bench chaos docs clean

help:
	@echo "make serve      run the server at http://127.0.0.1:8080 (Ctrl-C stops it)"
	@echo "make test       run the tests, all but the long ones"
	@echo "make test-deep  run all tests"
	@echo "make check      style, types and the import law"
	@echo "make bench      measure speed against peers, and write bench/RESULTS.md"
	@echo "make chaos      kill agents and server at random for MINUTES=10, SEED=..., and judge what is left"
	@echo "make docs       write the generated parts of docs/ anew"
	@echo "make clean      remove .venv and caches; your data/ stays"

# exec: Ctrl-C reaches the server itself, and no shell is left between it and make.
serve:
	@sh .ci/venv.sh run
	@exec $(VENV)/plyground serve

test:
	@sh .ci/venv.sh dev
	@$(VENV)/plyground warm
	@exec $(VENV)/python -m pytest -n 2 --dist loadfile -m "not deep"

test-deep:
	@sh .ci/venv.sh dev
	@$(VENV)/plyground warm
	@exec $(VENV)/python -m pytest -n 2 --dist loadfile

check:
	@sh .ci/venv.sh dev
	$(VENV)/ruff check .
	$(VENV)/ruff format --check .
	$(VENV)/mypy --strict
	$(VENV)/lint-imports

bench:
	@sh .ci/venv.sh dev
	@exec $(VENV)/python -m bench

chaos:
	@sh .ci/venv.sh dev
	@exec $(VENV)/python -m tests.chaos --minutes $(or $(MINUTES),10) $(if $(SEED),--seed $(SEED))

docs:
	@sh .ci/venv.sh dev
	@exec $(VENV)/python -m docs.generate

clean:
	rm -rf .venv .cache build *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
