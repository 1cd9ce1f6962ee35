# Two commands are all a new machine needs: `make reproduce` and `make test` (Python 3.11 or newer,
# make, nothing else; uv makes the set-up faster where it is there).
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
IMAGES := $(VENV)/.images
DRIVER := $(VENV)/.browser
TORCH := $(VENV)/.torch
LOGGERS := $(VENV)/.loggers
SITE := $(VENV)/.site
AUDIT := $(VENV)/.audit
OLDEST := $(VENV)-oldest
DIST ?= $(OUT)/dist
OUT ?= out
# Packages are installed by uv where it is on the PATH, and by pip otherwise; the versions are the same.
# Neither compiles what it installs: that takes as long as the rest, and Python does it on first import
# for the few modules that are used.
INSTALL := $(if $(shell command -v uv 2>/dev/null),uv pip install --quiet --python $(BIN)/python,\
  $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile) -c constraints.txt
# Python keeps the modules that it has compiled, also where the user's shell says otherwise: without
# them every process compiles JAX again, which takes it seconds.
export PYTHONDONTWRITEBYTECODE :=
# How many processes studies run in, such as JOBS=2; one per core if empty.
JOBS ?=
RUN := $(BIN)/tutelage run $(if $(JOBS),--jobs $(JOBS)) --out $(OUT)

# What `make test` leaves to the other targets.
ELSEWHERE := not paper_size and not cluster and not browser and not torch and not loggers and not docs

# How many cases of bad input, mutants and kills `make harden` has.
CASES ?= 100000
MUTANTS ?= 400
KILLS ?= 200

.PHONY: harden reproduce reproduce-all compare compare-keep pairs measures test test-papers test-depth test-compiled \
  test-paper-size test-cluster test-browser test-torch test-loggers test-accelerator \
  test-wheel test-oldest audit hashes layers browser screens lint bench bench-quick bench-page table pages docs test-docs mathematics calibrate images clean

reproduce: $(IMAGES)  ## the studies that their papers mark for it, quick preset: verdicts, figures and a report under out/
	$(RUN) --reproduce
	$(BIN)/tutelage report $(OUT)

reproduce-all: $(IMAGES)  ## every study of every paper, also what goes beyond the papers
	$(RUN) --all
	$(BIN)/tutelage report $(OUT)

compare-keep: $(IMAGES)  ## keeps what the revision BASE gives for all studies, on this machine
	$(BIN)/python -m tools.compare keep $(BASE)

compare: $(IMAGES)  ## the results of this tree beside those that were kept, claim by claim and run by run (some: STUDIES="paper/study …")
	$(BIN)/python -m tools.compare $(STUDIES)

pairs: $(READY)  ## times of the main workloads beside those of TREE, a checkout of another revision, in interleaved pairs (with studies: STUDIES="paper/study …")
	$(BIN)/python -m tools.pairs $(TREE) $(STUDIES)

measures: $(READY)  ## size and looseness of the source as a table; of revisions with REVISIONS="A B"
	$(BIN)/python -m tools.measures $(REVISIONS)

test: $(READY)  ## the tests, in the order of conftest.py; three processes keep two cores busy, as some wait for others
	$(BIN)/python -m pytest -n 3 --dist loadfile --no-loadscope-reorder -m "$(ELSEWHERE) and not depth"

test-papers: $(READY)  ## all tests of one paper, also those of longer runs (PAPER=its name); without PAPER, of every paper
	$(BIN)/python -m pytest -n 2 --dist loadfile -m "$(ELSEWHERE)" src/tutelage/papers/$(subst -,_,$(PAPER))

test-depth: $(READY)  ## the longer tests of every package and paper, which `make test` leaves out
	$(BIN)/python -m pytest -n 2 --dist loadfile -m "depth and $(ELSEWHERE)"

test-compiled: $(READY)  ## tests of numbers, compiled with the options that users get: ten minutes
	XLA_FLAGS= $(BIN)/python -m pytest -n 2 --dist loadfile -m "compiled and $(ELSEWHERE)"

test-paper-size: $(READY)  ## a study at its paper's sizes, checked: minutes
	$(BIN)/python -m pytest -m paper_size

test-cluster: $(READY)  ## a sweep on a real Dask cluster, with a worker and the client killed, and on a SLURM of one node where there is one: ten minutes
	$(BIN)/python -m pytest -m cluster

test-browser: $(DRIVER)  ## the explorer and the report, driven in headless Chromium: ten minutes; skipped where there is no Chromium
	$(BIN)/python -m pytest -m browser tests/explorer tests/report

test-torch: $(TORCH)  ## layers of PyTorch for real, on its CPU build: a minute
	$(BIN)/python -m pytest -m torch tests/layers tests/project/test_learn_a_layer.py

test-loggers: $(LOGGERS)  ## `log_to` with W&B (offline), MLflow and TensorBoard themselves: a minute
	$(BIN)/python -m pytest -m loggers tests/export

test-accelerator: $(READY)  ## one GPU or TPU beside the CPU, after $(BIN)/pip install 'jax[cuda12]'; skipped where there is none
	$(BIN)/python -m pytest -m accelerator -rs tests/running

test-wheel: $(READY)  ## a wheel and an sdist, each in an empty environment: a study (STUDY=paper/study) and its report from another folder; five minutes
	$(BIN)/python -m tools.try_wheel $(DIST) $(STUDY)

test-oldest:  ## the tests on the oldest versions that pyproject.toml allows; needs uv
	test -x $(OLDEST)/bin/python || $(PYTHON) -m venv $(OLDEST)
	uv pip install --quiet --python $(OLDEST)/bin/python --resolution lowest-direct --editable ".[dev]"
	$(OLDEST)/bin/python -m pytest -n 3 --dist loadfile --no-loadscope-reorder -m "$(ELSEWHERE) and not depth"

layers: $(IMAGES)  ## docs/layers.md: what learn says of a dozen real layers, made and trained here
	$(BIN)/python docs/make_layers.py

browser: $(DRIVER)  ## what test-browser needs beside a plain install: playwright, and a Chromium, which this looks for
	@command -v chromium || command -v chromium-browser || $(BIN)/python -m playwright install chromium || \
	  echo "No Chromium: install your system's package (Debian: apt install chromium), or name one in TUTELAGE_CHROMIUM."

screens: $(DRIVER)  ## the pictures of the explorer and the report in README and docs, from the real pages
	$(BIN)/python docs/make_screens.py

harden: $(READY)  ## bad input (CASES=…), wrong numbers (MUTANTS=…), faults (KILLS=…) and load, on this machine alone: some hours; the figures go to docs/hardening.md
	$(BIN)/python -m hardening.bad_input --cases $(CASES) --write
	$(BIN)/python -m hardening.wrong_numbers --mutants $(MUTANTS) --write
	$(BIN)/python -m hardening.faults --kills $(KILLS) --write
	$(BIN)/python -m hardening.load --write

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/codespell
	$(BIN)/mypy
	$(BIN)/python -m tools.secrets

audit: $(AUDIT)  ## known vulnerabilities of the pinned versions; says so where no database can be reached
	$(BIN)/python -m tools.audit

hashes:  ## requirements.txt: constraints.txt with the hashes of every file; needs uv and a package index
	$(PYTHON) -m tools.hashes

bench: $(READY)  ## one table: our times beside what a user would write instead and the limit of the machine; about twenty minutes
	$(BIN)/python -m benchmarks --out $(OUT)/bench

bench-quick: $(READY)  ## a short look: fewer workloads and rounds, no growth; under two minutes on two idle cores
	$(BIN)/python -m benchmarks --quick --out $(OUT)/bench-quick

bench-page: bench  ## docs/bench.md and its figure from a fresh full bench
	$(BIN)/python docs/make_bench.py $(OUT)/bench

calibrate: $(READY)  ## how often the verdict rule is right, on curves of known truth
	$(BIN)/tutelage calibrate

table: $(IMAGES)  ## the tables of the docs from a fresh quick run; studies that OUT has none of stay as they are
	$(RUN) --reproduce
	$(BIN)/python docs/make_table.py $(OUT)
	$(BIN)/python docs/make_findings.py

pages: $(READY)  ## findings, tables and pages of verdicts from the committed verdicts: nothing is run
	$(BIN)/python docs/make_table.py
	$(BIN)/python docs/make_findings.py

docs: $(SITE)  ## the documentation as a site under out/site/html, which needs no network; warnings are errors
	$(BIN)/python docs/make_site.py $(OUT)/site

test-docs: $(SITE)  ## the site, the notebooks and the examples
	$(BIN)/python -m pytest -m docs tests/project

mathematics: $(READY)  ## formulas in the plain text of pages, written in LaTeX
	$(BIN)/python -m tools.mathematics

# Set up once; again only when the pins or the project's metadata change.
$(READY): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(INSTALL) --editable ".[dev]"
	touch $(READY)

images: $(IMAGES)  ## what studies of images need beside a plain install; tests on real images are skipped without

$(IMAGES): pyproject.toml constraints.txt  # all in one call: each looks at every package again
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(INSTALL) --editable ".[dev,images]"
	touch $(READY) $(IMAGES)

$(DRIVER): $(READY)
	$(INSTALL) --editable ".[browser]"
	touch $(DRIVER)

$(TORCH): $(READY)  # on some systems a bare `torch` brings gigabytes for GPUs; this version is for CPUs
	$(INSTALL) torch==2.13.0
	touch $(TORCH)

$(SITE): $(READY)
	$(INSTALL) --editable ".[docs]"
	touch $(SITE)

$(LOGGERS): $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt wandb tensorboard mlflow-skinny sqlalchemy alembic
	touch $(LOGGERS)

$(AUDIT): $(READY)  # without a network the audit itself says that nothing was checked
	-$(INSTALL) pip-audit && touch $(AUDIT)

clean:
	rm -rf $(VENV) $(OLDEST) $(OUT)
