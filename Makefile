# make demo: build, integrate the cases, draw phase_drift.png.     make test: the whole test suite.
PYTHON ?= python3
VENV   ?= .venv
PY      = $(VENV)/bin/python
# Tables of coefficients, also those of vmath, keep their own layout.
CLANG_FORMAT_FILES = $(filter-out csrc/methods/% csrc/vmath/%,$(wildcard csrc/*.[ch] csrc/*/*.[ch])) benchmarks/kernels.c

.PHONY: demo test lint sanitize bench bench-peers certificates dist clean

demo: $(VENV)/.demo
	$(PY) examples/phase_drift.py

test: $(VENV)/.dev
	$(PY) -m pytest

# A virtual environment with the package in it: what a user has, and what a developer has.
BUILD_INPUTS = setup.py pyproject.toml $(wildcard csrc/*.* csrc/*/*.*)
$(PY):
	$(PYTHON) -m venv $(VENV)
$(VENV)/.demo: $(PY) $(BUILD_INPUTS)
	$(PY) -m pip install --quiet --disable-pip-version-check -e ".[plot]"
	@touch $@
$(VENV)/.dev: $(PY) $(BUILD_INPUTS)
	$(PY) -m pip install --quiet --disable-pip-version-check -e ".[dev]"
	@touch $@ $(VENV)/.demo

lint: $(VENV)/.dev
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(VENV)/bin/clang-format --dry-run --Werror $(CLANG_FORMAT_FILES)
	$(PY) -m mypy
	$(PY) -m mypy.stubtest pyintegrate._core --mypy-config-file pyproject.toml

# The tests that reach C, under AddressSanitizer and UndefinedBehaviorSanitizer, in a virtual environment
# of their own. Pictures, notebooks and pure mathematics are left to make test.
SANITIZE = -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
SANITIZED = accepted_arguments arguments array_parameters bits byte_code c_function define failures golden \
            interrupts methods solution symplectic system_objects systems traced_expressions twin
sanitize:
	rm -rf build .venv-sanitize
	$(PYTHON) -m venv .venv-sanitize
	PYINTEGRATE_CFLAGS="-O1 -g1 -DPI_ROLLED -Wno-psabi $(SANITIZE)" PYINTEGRATE_LDFLAGS="$(SANITIZE)" \
	    .venv-sanitize/bin/python -m pip install --quiet --disable-pip-version-check ".[dev]"
	cd .venv-sanitize && ASAN_OPTIONS=detect_leaks=0 \
	    LD_PRELOAD="$$($${CC:-cc} -print-file-name=libasan.so) libstdc++.so.6" \
	    bin/pytest -p no:cacheprovider -c ../pyproject.toml --rootdir .. \
	    $(SANITIZED:%=../tests/test_%.py)

bench: $(VENV)/.dev
	$(PY) benchmarks/bench.py

# Beside other packages; writes docs/performance.md. Boost needs its headers (libboost-dev).
bench-peers: $(VENV)/.dev
	$(PY) -m pip install --quiet --disable-pip-version-check -e ".[bench]"
	$(PY) benchmarks/compare_peers.py --write

# Proves and measures every method; writes certificates.json, methods.md and a picture in docs.
certificates: $(VENV)/.dev
	$(PY) docs/certificates.py

dist: $(VENV)/.dev
	$(PY) -m pip install --quiet --disable-pip-version-check build
	$(PY) -m build

clean:
	rm -rf build dist *.egg-info $(VENV) .venv-sanitize pyintegrate/*.so phase_drift.png
