# Two commands are all a new machine needs: `make reproduce` and `make test` (Python 3.11 or newer, make, nothing else).
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
IMAGES := $(VENV)/.images
DRIVER := $(VENV)/.browser
OUT ?= out

.PHONY: reproduce questions test test-full test-cluster test-browser browser screens lint bench bench-page table calibrate images clean

reproduce: $(IMAGES)  ## every study of the papers, quick preset: verdicts, figures, files and a report under out/
	$(BIN)/tutelage run teacher-models shallow-transformers --out $(OUT)
	$(BIN)/tutelage report $(OUT)

questions: $(READY)  ## what reviewers asked of the first paper and nobody had run: seven studies, about seven minutes
	$(BIN)/tutelage run $(addprefix teacher-models/,graphs optimisers starts inputs samples noise limits) --out $(OUT)
	$(BIN)/tutelage report $(OUT)

test: $(READY)  ## the tests, on two processes, in the order of tests/conftest.py
	$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder -m "not full and not cluster and not browser"

test-full: $(READY)  ## the full presets of the studies, checked: an hour
	$(BIN)/python -m pytest -m full

test-cluster: $(READY)  ## a sweep on a real Dask cluster, with a worker and the client killed, and on a SLURM of one node where there is one: ten minutes
	$(BIN)/python -m pytest -m cluster

test-browser: $(DRIVER)  ## the explorer's page, driven in headless Chromium: five minutes; skipped where there is no Chromium
	$(BIN)/python -m pytest -m browser tests/explorer

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

table: $(IMAGES)  ## README's table from a fresh quick run
	$(BIN)/tutelage run teacher-models shallow-transformers --out $(OUT)
	$(BIN)/python docs/make_table.py $(OUT)
	$(BIN)/python docs/make_findings.py

# Set up once; again only when the pins or the project's metadata change.
$(READY): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt --editable ".[dev]"
	touch $(READY)

images: $(IMAGES)  ## what teacher-models/images needs beside a plain install; its tests on real images are skipped without

$(IMAGES): $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt --editable ".[images]"
	touch $(IMAGES)

$(DRIVER): $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt --editable ".[browser]"
	touch $(DRIVER)

clean:
	rm -rf $(VENV) $(OUT)
