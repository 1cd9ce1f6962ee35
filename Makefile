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
OUT ?= out
# Packages are installed by uv where it is on the PATH, and by pip otherwise; the versions are the same.
INSTALL := $(if $(shell command -v uv 2>/dev/null),uv pip install --quiet --python $(BIN)/python,\
  $(BIN)/python -m pip install --quiet --disable-pip-version-check) -c constraints.txt
# How many processes studies run in, such as JOBS=2; one per core if empty.
JOBS ?=
RUN := $(BIN)/tutelage run $(if $(JOBS),--jobs $(JOBS)) --out $(OUT)

# What `make test` leaves to the other targets.
ELSEWHERE := not full and not cluster and not browser and not torch and not loggers

.PHONY: reproduce reproduce-all compare compare-keep pairs measures test test-papers test-compiled \
  test-full test-cluster test-browser test-torch test-loggers layers browser screens lint bench bench-page table calibrate images clean

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

test: $(READY)  ## the tests, on two processes, in the order of conftest.py
	$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder -m "$(ELSEWHERE) and not depth"

test-papers: $(READY)  ## all tests of one paper, also those of longer runs (PAPER=its name); without PAPER, of every paper
	$(BIN)/python -m pytest -n 2 --dist loadfile -m "$(ELSEWHERE)" src/tutelage/papers/$(subst -,_,$(PAPER))

test-compiled: $(READY)  ## tests of numbers, compiled with the options that users get: ten minutes
	XLA_FLAGS= $(BIN)/python -m pytest -n 2 --dist loadfile -m "compiled and $(ELSEWHERE)"

test-full: $(READY)  ## the full presets of the studies, checked: an hour
	$(BIN)/python -m pytest -m full

test-cluster: $(READY)  ## a sweep on a real Dask cluster, with a worker and the client killed, and on a SLURM of one node where there is one: ten minutes
	$(BIN)/python -m pytest -m cluster

test-browser: $(DRIVER)  ## the explorer's page, driven in headless Chromium: five minutes; skipped where there is no Chromium
	$(BIN)/python -m pytest -m browser tests/explorer

test-torch: $(TORCH)  ## layers of PyTorch for real, on its CPU build: a minute
	$(BIN)/python -m pytest -m torch tests/layers tests/project/test_learn_a_layer.py

test-loggers: $(LOGGERS)  ## `log_to` with W&B (offline), MLflow and TensorBoard themselves: a minute
	$(BIN)/python -m pytest -m loggers tests/export

layers: $(IMAGES)  ## docs/layers.md: what learn says of a dozen real layers, made and trained here
	$(BIN)/python docs/make_layers.py

browser: $(DRIVER)  ## what test-browser needs beside a plain install: playwright, and a Chromium, which this looks for
	@command -v chromium || command -v chromium-browser || $(BIN)/python -m playwright install chromium || \
	  echo "No Chromium: install your system's package (Debian: apt install chromium), or name one in TUTELAGE_CHROMIUM."

screens: $(DRIVER)  ## the pictures of the explorer and the report in README and docs, from the real pages
	$(BIN)/python docs/make_screens.py

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(READY)  ## one table: our times beside what a user would write instead and the limit of the machine; a quarter of an hour
	$(BIN)/python -m benchmarks --out $(OUT)/bench

bench-page: bench  ## docs/bench.md, README's bench table and the figure from a fresh full bench
	$(BIN)/python docs/make_bench.py $(OUT)/bench

calibrate: $(READY)  ## how often the verdict rule is right, on curves of known truth
	$(BIN)/tutelage calibrate

table: $(IMAGES)  ## the tables of README and docs from a fresh quick run; studies that OUT has none of stay as they are
	$(RUN) --reproduce
	$(BIN)/python docs/make_table.py $(OUT)
	$(BIN)/python docs/make_findings.py

# Set up once; again only when the pins or the project's metadata change.
$(READY): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(INSTALL) --editable ".[dev]"
	touch $(READY)

images: $(IMAGES)  ## what studies of images need beside a plain install; tests on real images are skipped without

$(IMAGES): $(READY)
	$(INSTALL) --editable ".[images]"
	touch $(IMAGES)

$(DRIVER): $(READY)
	$(INSTALL) --editable ".[browser]"
	touch $(DRIVER)

$(TORCH): $(READY)  # on some systems a bare `torch` brings gigabytes for GPUs; this version is for CPUs
	$(INSTALL) torch==2.13.0
	touch $(TORCH)

$(LOGGERS): $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt wandb tensorboard mlflow-skinny sqlalchemy alembic
	touch $(LOGGERS)

clean:
	rm -rf $(VENV) $(OUT)
