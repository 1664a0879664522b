# Everything a fresh Debian machine needs: `make demo` runs the main job, `make test` the tests.
# Both install what is missing (apt packages, a virtual environment in .venv), and build.
.DEFAULT_GOAL := help
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:

# A container may tell Python to keep nothing of what it compiles: every start would then compile all that it imports,
# which takes three times as long.
unexport PYTHONDONTWRITEBYTECODE

PYTHON ?= python3
JOBS ?= $(shell nproc)
BIN := .venv/bin
CODES := notebooks/codes/codes.toml
CLUSTER := notebooks/cluster

APT_BUILD := g++ cmake ninja-build ccache libglpk-dev liblemon-dev libeigen3-dev python3-dev python3-venv
APT_TEST := libgtest-dev libgmock-dev
APT_SLURM := slurm-wlm slurmrestd slurm-wlm-jwt-plugin faketime openmpi-bin libopenmpi-dev
APT_DBD := slurmdbd slurm-wlm-mysql-plugin mariadb-server-core mariadb-client-core libnss-wrapper
APT_LINT := clang-tidy
APT_BROWSER := chromium chromium-driver

SOURCES := $(shell find cpp python -type f -not -name '*.pyc') CMakeLists.txt pyproject.toml README.md
TEST_SOURCES := $(shell find tests_cpp -type f)
CMAKE := cmake -G Ninja -S .

# One folder of objects for the extension, the C++ tests and the benchmarks; with `make dev` the one that compiles
# each file alone. Warnings are errors, and assertions are checked, for CI and those who change the code.
BUILD := build/$(if $(wildcard .venv/editable.stamp),dev,release)
STRICT := $(if $(CI)$(wildcard .venv/editable.stamp),ON,OFF)
# What a build prints, without all but its steps: [4/13] cosched_dags_objects Unity/unity_0_cxx
STEPS := sed -unE 's|^ *(\[[0-9]+/[0-9]+\]) Building CXX object [^ ]*/([^/ ]*)\.dir/([^ ]*)\.c[px]*\.o|\1 \2 \3|p; s|^ *(\[[0-9]+/[0-9]+\] Linking.*)|\1|p'

.PHONY: help prose demo demo-audit demo-when demo-packs study-quick dev installed test test-one test-cpp test-py test-thorough slurm lint tidy docs results results-full coverage stubs bench asan tsan mutants fuzz wheel wheel-test source-test build clean
help: ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

# --- set-up: stamps, so that a second run starts at once ----------------------------------
define apt_install
	@missing=""; for package in $(1); do \
	  dpkg -s $$package 2>/dev/null | grep -q '^Status: install ok' || missing="$$missing $$package"; done; \
	if [ -n "$$missing" ]; then \
	  command -v apt-get >/dev/null || { echo "please install:$$missing" >&2; exit 2; }; \
	  sudo=""; [ "$$(id -u)" = 0 ] || sudo=sudo; \
	  echo "installing:$$missing"; \
	  for try in $$(seq 60); do \
	    $$sudo apt-get update -qq >$(2) 2>&1 && break; \
	    [ $$try -lt 60 ] && grep -q 'Could not get lock' $(2) || { tail -n 20 $(2) >&2; exit 1; }; \
	    [ $$try -gt 1 ] || echo "another program is installing packages: waiting for it"; sleep 5; \
	  done; \
	  $$sudo env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=600 install -y -qq $$missing \
	    >$(2) 2>&1 || { tail -n 20 $(2) >&2; exit 1; }; \
	fi
endef

build/apt-TEST.stamp build/apt-BROWSER.stamp build/apt-SLURM.stamp: | build/apt-BUILD.stamp

build/apt-%.stamp: Makefile
	@mkdir -p build
	$(call apt_install,$(APT_$*),build/apt-$*.log)
	@touch $@

.venv/created.stamp: build/apt-BUILD.stamp
	$(PYTHON) -m venv .venv
	@touch $@

# What an import needs is compiled by that import: installing takes less than half the time.
PIP = $(BIN)/python -m pip install -q --disable-pip-version-check --no-compile
.venv/build.stamp: pyproject.toml .venv/created.stamp
	$(PIP) $$($(BIN)/python .ci/requirements.py --build)
	@touch $@

.venv/dependencies.stamp: pyproject.toml .venv/build.stamp
	$(PIP) $$($(BIN)/python .ci/requirements.py)
	@touch $@

# .venv/EXTRA.stamp: what only some targets need.
# The extras that are there are asked for again with a new one, so that pip keeps what they need.
.venv/test.stamp .venv/docs.stamp .venv/studies.stamp .venv/wheel.stamp .venv/lint.stamp .venv/dev.stamp: .venv/%.stamp: pyproject.toml .venv/dependencies.stamp
	$(PIP) $$($(BIN)/python .ci/requirements.py --beside .venv $*)
	@touch $@

.venv/installed.stamp: $(SOURCES) .venv/build.stamp
	@echo "building and installing cosched (log: build/install.log)"
	@mkdir -p build
	@CMAKE_BUILD_PARALLEL_LEVEL=$(JOBS) $(BIN)/python -m pip install -v --no-build-isolation --no-deps --force-reinstall \
	  --config-settings=build-dir=$(BUILD) --config-settings=cmake.define.COSCHED_WERROR=$(STRICT) \
	  --config-settings=cmake.define.COSCHED_ASSERTIONS=$(STRICT) . 2>&1 \
	  | tee build/install.log | $(STEPS) || { tail -n 60 build/install.log >&2; exit 1; }
	@touch $@

build: $(if $(wildcard .venv/editable.stamp),dev,installed) ## build the extension and install the package into .venv

# What the package needs to run is installed while it is compiled.
installed:
	@$(MAKE) -s -j 2 .venv/installed.stamp .venv/dependencies.stamp

# For those who change the code: .venv then imports python/cosched itself, and build/dev keeps the objects. The
# other targets use it from then on; `make clean` forgets it.
.venv/editable.stamp: pyproject.toml .venv/test.stamp .venv/lint.stamp .venv/dev.stamp
	@echo "building cosched in build/dev, installed as a link to python/ (log: build/dev.log)"
	@mkdir -p build
	@CMAKE_BUILD_PARALLEL_LEVEL=$(JOBS) $(BIN)/python -m pip install --no-build-isolation --no-deps --force-reinstall \
	  -v --config-settings=build-dir=build/dev --config-settings=cmake.define.COSCHED_WERROR=ON \
	  --config-settings=cmake.define.COSCHED_ASSERTIONS=ON \
	  --config-settings=cmake.define.CMAKE_UNITY_BUILD=OFF --editable . 2>&1 \
	  | tee build/dev.log | $(STEPS) || { tail -n 60 build/dev.log >&2; exit 1; }
	@rm -f .venv/installed.stamp
	@touch $@

dev: .venv/editable.stamp ## an editable build: a changed .py needs nothing, a changed .cpp `make dev` (its object, one link)
	@cmake --build build/dev --target _core -j $(JOBS)
	@cmake --install build/dev --component python --prefix "$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("platlib"))')" >build/dev.log

# --- the main jobs ------------------------------------------------------------------------
demo: build ## the pictures of the README: a cluster judged, starts foreseen, measured codes in packs, small programs planned and run
	@mkdir -p out
	@$(MAKE) -s -j 2 -O demo-audit demo-when demo-packs
	@echo "--- from plan to run: three small programs, measured, planned and run on two cores"
	@$(MAKE) -s -C notebooks/codes
	@rm -rf out/run && mkdir out/run
	@more=""; [ "$$(nproc)" -ge 2 ] || more=--oversubscribe; \
	$(BIN)/cosched profile $(CODES) --repeat 2 $$more -o out/run/runs.csv && \
	$(BIN)/cosched plan out/run/runs.csv --codes $(CODES) -o out/run/plan.json && \
	$(BIN)/cosched run out/run/plan.json --codes $(CODES) $$more -o out/run/execution.json --plot out/run/run.png

demo-audit:
	@mkdir -p out
	@echo "--- what a recorded Slurm did in 29 hours, and could have done"
	@$(BIN)/cosched audit $(CLUSTER)/sacct.txt --machine $(CLUSTER)/slurm.conf --accounts $(CLUSTER) \
	  --what-if nodes=+4 --what-if users.ada=-50% --what-if "reservation=2026-11-23T12:00/12h/n[1-8]" --what-if bf_window=2880 \
	  --plot out/audit.png -o out/audit.html

demo-when:
	@mkdir -p out
	@echo "--- when the jobs of a recorded Slurm will start"
	@$(BIN)/cosched when $(CLUSTER)/now.json --plot out/when.png

demo-packs:
	@mkdir -p out
	@echo "--- ten measured applications on 16 nodes"
	@$(BIN)/cosched compare packs notebooks/data/measured_codes.csv --procs 16 --max-tasks 2,4 --fit amdahl --extrapolate \
	  --plot out/packs.png -o out/packs.md

study-quick: build .venv/studies.stamp ## every study of the papers at reduced size: tables, figures, reports in out/study-quick
	@rm -rf out/study-quick
	$(BIN)/cosched study run all --quick --out out/study-quick

# --- tests --------------------------------------------------------------------------------
# The tests, and the examples of the installed package's docstrings; a file stays with one worker, and the longest
# are first (tests_py/conftest.py).
# A worker more than processors: what talks to a Slurm, a Dask or a Snakemake mostly waits.
PYTEST = $(BIN)/python -m pytest -q -n $$(($(JOBS) + 1)) --dist loadfile --no-loadscope-reorder --doctest-modules tests_py \
  $$($(BIN)/python -c "import cosched, os; print(os.path.dirname(cosched.__file__))")

# What the Python tests need is installed while the C++ tests are compiled.
test: ## C++ tests (ctest), Python tests, doctests and notebooks (pytest)
	@$(MAKE) -s -j 2 test-cpp .venv/test.stamp build/apt-BROWSER.stamp build/apt-SLURM.stamp
	@$(MAKE) -s test-py

# The objects of the extension are those of the tests: after `make demo` only tests are compiled.
$(BUILD)/tests.stamp: CMakeLists.txt cpp/CMakeLists.txt tests_cpp/CMakeLists.txt build/apt-BUILD.stamp build/apt-TEST.stamp
	@$(CMAKE) -B $(BUILD) -DCOSCHED_BUILD_TESTS=ON -DCOSCHED_WERROR=$(STRICT) -DCOSCHED_ASSERTIONS=$(STRICT) >build/configure.log 2>&1 || { tail -n 20 build/configure.log >&2; exit 1; }
	@touch $@

test-cpp: $(BUILD)/tests.stamp
	@cmake --build $(BUILD) -j $(JOBS)
	ctest --no-tests=error --test-dir $(BUILD) -j $(JOBS) --output-on-failure --timeout 600 -Q -O build/ctest.log || { tail -n 100 build/ctest.log; exit 1; }
	@tail -n 5 build/ctest.log

test-py: build .venv/test.stamp build/apt-TEST.stamp build/apt-BROWSER.stamp build/apt-SLURM.stamp
	$(PYTEST)

test-thorough: build .venv/test.stamp .venv/docs.stamp build/apt-TEST.stamp build/apt-BROWSER.stamp build/apt-SLURM.stamp ## what `make test` leaves out: all studies at reduced size, the whole site, long runs of what smaller tests show
	$(PYTEST) -m 'thorough and not slurm'

slurm: build .venv/test.stamp build/apt-SLURM.stamp build/apt-DBD.stamp ## fresh recordings of a real Slurm on this host, and the twin beside it
	$(BIN)/python -m pytest -q -m slurm tests_py/unit/slurm/test_slurm.py tests_py/unit/slurm/test_slurm_record.py \
	  tests_py/unit/slurm/test_snapshot_slurmrestd.py

test-one: $(BUILD)/tests.stamp ## some C++ tests: make test-one T=packs.Pairs (folder, folder.suite, or folder.suite.test)
	@[ -n "$(T)" ] || { echo "say which: make test-one T=packs.Pairs" >&2; exit 2; }
	@$(PYTHON) .ci/test_one.py $(BUILD) "$(T)" --jobs $(JOBS)

lint: .venv/lint.stamp build/apt-LINT.stamp tidy prose ## ruff, mypy, import-linter, clang-format, clang-tidy, the language of the pages
	$(BIN)/ruff check conftest.py python tests_py docs .ci
	$(BIN)/ruff format --check conftest.py python tests_py docs .ci
	$(BIN)/mypy
	$(BIN)/python .ci/any_parameters.py python/cosched
	PYTHONPATH=python $(BIN)/lint-imports
	$(BIN)/clang-format --dry-run -Werror $$(git ls-files 'cpp/*.cpp' 'cpp/*.hpp' 'tests_cpp/*.cpp' 'tests_cpp/*.hpp')

prose: .venv/dependencies.stamp ## words to avoid, and long sentences, in README.md and docs/
	$(BIN)/python .ci/prose.py

# The checks of .clang-tidy, as a build of their own: a second run looks only at what has changed, headers included.
TIDY := clang-tidy;--quiet;--warnings-as-errors=*;--extra-arg=-Wno-error;--extra-arg=-Wno-unknown-warning-option
build/tidy/configured.stamp: $(wildcard .clang-tidy) CMakeLists.txt build/apt-BUILD.stamp build/apt-TEST.stamp build/apt-LINT.stamp
	@rm -rf build/tidy
	@$(CMAKE) -B build/tidy -DCOSCHED_BUILD_TESTS=ON -DCOSCHED_WERROR=ON -DCMAKE_UNITY_BUILD=OFF "-DCMAKE_CXX_CLANG_TIDY=$(TIDY)" >build/configure-tidy.log 2>&1 || { tail -n 20 build/configure-tidy.log >&2; exit 1; }
	@touch $@

tidy: build/tidy/configured.stamp ## clang-tidy on cpp/ and tests_cpp/
	@cmake --build build/tidy -j $(JOBS) --target all headers -- -k 0

# --- the site -----------------------------------------------------------------------------
# Notebooks run when they are new or changed (build/docs/notebooks remembers); COSCHED_QUICK=1 runs them at reduced size.
docs: build .venv/studies.stamp .venv/docs.stamp ## the site, in build/docs/html: tutorials executed, reference, results; warnings are errors
	$(BIN)/python -m sphinx -W --keep-going -q -j $(JOBS) -b html -d build/docs/doctrees docs build/docs/html

results-full: build .venv/studies.stamp ## every study at full size with today's code (an hour and more; goes on where it was), kept and rendered
	$(BIN)/cosched study run all --out out/results --resume
	$(BIN)/python .ci/results.py keep out/results/*/
	$(BIN)/python .ci/results.py render

results: build .venv/studies.stamp ## docs/results: every page from the kept results of the studies, without a run
	$(BIN)/python .ci/results.py render

# --- coverage -----------------------------------------------------------------------------
coverage: build .venv/test.stamp .venv/dev.stamp build/apt-TEST.stamp build/apt-BROWSER.stamp ## lines that the tests reach: Python by pytest-cov, C++ by gcovr
	@$(CMAKE) -B build/coverage -DCOSCHED_BUILD_TESTS=ON -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS=--coverage -DCMAKE_CXX_COMPILER_LAUNCHER= >build/configure-coverage.log 2>&1 || { tail -n 20 build/configure-coverage.log >&2; exit 1; }
	@cmake --build build/coverage -j $(JOBS) >build/coverage.log || { tail -n 60 build/coverage.log >&2; exit 1; }
	@find build/coverage -name '*.gcda' -delete
	@ctest --no-tests=error --test-dir build/coverage -j $(JOBS) --output-on-failure -Q -O build/ctest-coverage.log || { tail -n 100 build/ctest-coverage.log; exit 1; }
	$(BIN)/gcovr --root . --filter cpp/cosched -j $(JOBS) --exclude-throw-branches --gcov-ignore-parse-errors=negative_hits.warn_once_per_file --html-details build/coverage/index.html --txt build/coverage/cpp.txt --print-summary build/coverage
	$(PYTEST) --cov --cov-report=html:build/coverage/python --cov-report=term:skip-covered

stubs: build .venv/test.stamp ## regenerate python/cosched/_core/*.pyi
	$(BIN)/python .ci/stubs.py python/cosched

# --- the rest -----------------------------------------------------------------------------
bench: build .venv/test.stamp ## measure: ratios in one run, fixed work, fixed seeds
	@$(CMAKE) -B $(BUILD) -DCOSCHED_BUILD_BENCH=ON >build/configure-bench.log 2>&1 || { tail -n 20 build/configure-bench.log >&2; exit 1; }
	@cmake --build $(BUILD) -j $(JOBS) >build/bench.log || { tail -n 60 build/bench.log >&2; exit 1; }
	@for program in $(BUILD)/tests_cpp/*_bench; do [ ! -x "$$program" ] || "$$program"; done
	@for program in tests_py/bench/bench_*.py; do [ ! -e "$$program" ] || $(BIN)/python "$$program"; done

asan: build/apt-BUILD.stamp build/apt-TEST.stamp ## C++ tests under address and undefined-behaviour sanitizers
	@$(CMAKE) -B build/asan -DCOSCHED_BUILD_TESTS=ON -DCOSCHED_SANITIZE=ON -DCMAKE_BUILD_TYPE=RelWithDebInfo >build/configure-asan.log
	@cmake --build build/asan -j $(JOBS)
	ctest --no-tests=error --test-dir build/asan -j $(JOBS) --output-on-failure

tsan: build/apt-BUILD.stamp build/apt-TEST.stamp ## eight threads on shared instances of all families under the thread sanitizer
	@$(CMAKE) -B build/tsan -DCOSCHED_BUILD_TESTS=ON -DCOSCHED_SANITIZE_THREADS=ON -DCMAKE_BUILD_TYPE=RelWithDebInfo >build/configure-tsan.log
	@cmake --build build/tsan -j $(JOBS) --target test_threads
	TSAN_OPTIONS=halt_on_error=1 build/tsan/tests_cpp/test_threads

mutants: build .venv/test.stamp build/apt-TEST.stamp ## change one character of each rule of the Slurm simulator and of some places elsewhere: a test has to fail
	@$(PYTHON) .ci/mutants.py build/mutants
	@$(BIN)/python .ci/mutants_python.py

fuzz: build .venv/test.stamp ## ten minutes of random, malformed and hostile input to every reader and public function, of degenerate instances and damaged files of Slurm
	COSCHED_FUZZ_SECONDS=$(or $(SECONDS_OF_FUZZ),600) $(BIN)/python -m pytest -q tests_py/properties -k fuzz

wheel: .venv/wheel.stamp ## dist/: source archive, and a wheel that needs no GLPK on the system
	@rm -rf dist build/dist
	$(BIN)/python -m build --no-isolation --sdist --outdir dist .
	CMAKE_BUILD_PARALLEL_LEVEL=$(JOBS) $(BIN)/python -m build --no-isolation --wheel --config-setting=build-dir=$(BUILD) --outdir build/dist .
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/auditwheel repair -w dist build/dist/*.whl
	$(BIN)/python .ci/wheel_licence.py dist/*.whl

# A clean environment: pip installs $(1) there, which then does what the README's quick start says.
define quick_start
	@rm -rf build/clean && $(PYTHON) -m venv build/clean && mkdir build/clean/work
	build/clean/bin/python -m pip install -q --disable-pip-version-check --no-compile $(1)
	cd build/clean/work && env -i PATH="$(CURDIR)/build/clean/bin:/usr/bin:/bin" LC_ALL=C.UTF-8 MPLBACKEND=Agg \
	  python "$(CURDIR)/.ci/quick_start.py" "$(CURDIR)/README.md"
endef

wheel-test: ## the wheel of `make wheel` where nothing else is: the README's quick start
	$(call quick_start,dist/*.whl)

source-test: build/apt-BUILD.stamp ## the source archive of `make wheel`, and the last commit by git+file: as wheel-test
	$(call quick_start,dist/*.tar.gz)
	$(call quick_start,"git+file://$(CURDIR)")

clean:
	rm -rf build out .venv
