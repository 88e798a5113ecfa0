# The commands that we use. Each sets up .venv by itself; `make demo` and `make test` are all that a newcomer needs.
.PHONY: demo test test-random test-slow test-local-model fuzz check format bench golden pictures fixtures clean test-agents test-batch test-docker
BIN := .venv/bin
export PYTHON

demo: .venv/.ready  ## distill the bundled example traces, then measure on six small tasks whether feedback helps: no key
	@$(BIN)/dense distill examples --out out/demo
	@command -v tmux >/dev/null 2>&1 || echo 'demo: tmux is missing, so the experiment is left out: install it and run `make demo` again'
	@! command -v tmux >/dev/null 2>&1 || rm -rf out/demo-refit
	@! command -v tmux >/dev/null 2>&1 || $(BIN)/dense refit run examples/refit/refit.yaml --out out/demo-refit
	@! command -v tmux >/dev/null 2>&1 || $(BIN)/dense refit report out/demo-refit --quiet

test: .venv/.ready  ## the test suite
	@$(BIN)/python -m compileall -q src  # tests start many processes; in a read-only tree each would compile again
	$(BIN)/python -m pytest -n 2 --dist worksteal

test-random: .venv/.ready  ## the test suite with property tests on new random examples; `make test` draws the same ones each time
	DENSE_HYPOTHESIS=random $(BIN)/python -m pytest -n 2 --dist worksteal

test-slow: .venv/.ready  ## what takes minutes: 100,000 mutated traces, a 2 GB line, an experiment killed thirty times
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "slow and not local_model"

test-local-model: .venv/.ready  ## a real language model on this machine distills two traces: half an hour on two quiet cores
	$(BIN)/python -m pytest -n 0 -m "slow and local_model"

fuzz: .venv/.ready  ## mutated and random input for readers, markup, validation, YAML, tables and redaction: FUZZ_MINUTES (10); failures stay in tests/fuzz/corpus
	$(BIN)/python tests/fuzz/run.py --minutes $(or $(FUZZ_MINUTES),10)

test-agents: .venv/.ready  ## Claude Code, Codex, Gemini CLI and opencode from npm, each with the hooks and as a model, against a scripted server; Inspect Scout on real logs
	$(BIN)/python -m pytest -n 0 -m agents tests/integrations

test-batch: .venv/.batch  ## batches on a Ray cluster of two nodes and with an S3 server, both on this machine (installs Ray: 500 MB)
	$(BIN)/python -m pytest -n 0 -m cluster tests/batch

test-docker: .venv/.ready  ## the example on a real Docker daemon: this machine's, or one that scripts/docker-engine starts (root, Debian 12)
	$(BIN)/python -m pytest -n 0 -rs -m docker tests/refit/experiment/test_docker.py

check: .venv/.ready  ## format, lint, strict types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/pyright

format: .venv/.ready  ## fix what can be fixed automatically
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: .venv/.ready  ## speed, as ratios to a reference measured in the same run
	$(BIN)/python bench/read.py
	$(BIN)/python bench/distill.py
	$(BIN)/python bench/actions.py
	$(BIN)/python bench/redact.py
	$(BIN)/python bench/model_overhead.py
	$(BIN)/python bench/rules.py
	$(BIN)/python bench/methods.py
	$(BIN)/python bench/coverage.py
	$(BIN)/python bench/report.py
	$(BIN)/python bench/view.py

golden: .venv/.ready  ## write the expected outputs and the docs made from code anew; look at the diff before you commit it
	DENSE_WRITE_GOLDENS=1 $(BIN)/python -m pytest -n 0 -k golden
	$(BIN)/python scripts/docs.py

pictures: .venv/.ready  ## the README's picture of a page, in headless Chromium
	$(BIN)/python scripts/picture.py

fixtures: .venv/.ready  ## record the fixtures anew with the real programs (installs them; minutes)
	$(BIN)/python tests/fixtures/make/all.py

clean:
	rm -rf .venv .ruff_cache .hypothesis out

.venv/.ready: pyproject.toml constraints.txt scripts/setup
	@scripts/setup

.venv/.batch: .venv/.ready
	@! test -x $(BIN)/uv || $(BIN)/uv pip install --quiet --python $(BIN)/python -c constraints.txt -e '.[ray,s3]' 'moto[server]'
	@test -x $(BIN)/uv || $(BIN)/python -m pip install --quiet -c constraints.txt -e '.[ray,s3]' 'moto[server]'
	@touch $@
