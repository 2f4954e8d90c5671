# make demo: build, integrate the examples, draw phase_drift.png.     make test: the whole test suite.
PYTHON ?= python3
VENV   ?= .venv
PY      = $(VENV)/bin/python
# Tables of coefficients, also those of vmath, keep their own layout.
CLANG_FORMAT_FILES = $(filter-out csrc/methods/% csrc/vmath/%,$(shell find csrc -name '*.[ch]')) \
    $(wildcard benchmarks/*.c page/*.c tests/stress/*.c tests/stress/*/*.[ch])

.PHONY: demo test test-all mutations lint cppcheck sanitize fuzz libfuzzer attack race soak coverage bench bench-peers bench-tangents bench-fit latency certificates docs docs-check dist \
        release-check history wheels wheels-run wheels-test wheels-native aarch64 windows portability bits page lab-browser browser clean

demo: $(VENV)/.demo
	$(PY) examples/phase_drift.py

# What a contributor runs. make test-all adds what takes long, or needs the tools of make lint.
# Tests of a file share what they compute; files in order: the last have many short tests, for any worker.
SIDE_BY_SIDE = -n auto --dist loadfile --no-loadscope-reorder
test: $(VENV)/.test
	$(PY) -m pytest -q $(SIDE_BY_SIDE)
test-all: $(VENV)/.dev
	$(PY) -m pytest -q $(SIDE_BY_SIDE) --all
	@if command -v chromium && command -v chromedriver; then $(MAKE) --no-print-directory browser; else echo \
	    "NO BROWSER HAS SEEN THE LAB: apt-get install chromium chromium-driver"; fi

# Small bugs put in one at a time (tests/mutations): does a test notice each?
mutations: $(VENV)/.test
	$(PY) tests/mutations/run.py

# A virtual environment with the package in it. The core is compiled while pip fetches what the demo
# needs, and only what has changed (setup.py); the environment finds it in pyintegrate/.
BUILD_INPUTS = setup.py pyproject.toml $(shell find csrc -type f)
# Byte code is made of what is imported, when it is, and kept, whatever the environment says: the tests
# start hundreds of processes, and without it a process takes several times as long to import matplotlib.
unexport PYTHONDONTWRITEBYTECODE
PIP = $(PY) -m pip install --quiet --disable-pip-version-check --no-compile
NEEDS = "import sys, tomllib; project = tomllib.load(open('pyproject.toml', 'rb'))['project']; print(*(p for n in \
    sys.argv[1:] for p in project['optional-dependencies'][n] if not p.startswith(project['name'] + '[')))"
$(PY):
	$(PYTHON) -m venv $(VENV)
	$(PIP) "setuptools>=77"
$(VENV)/.core: $(PY) $(BUILD_INPUTS)
	$(PY) setup.py -q build_ext --inplace
	@touch $@
$(VENV)/.plot: $(PY) pyproject.toml
	$(PIP) "numpy>=2" $$($(PY) -c $(NEEDS) plot)
	@touch $@
# A path that type checkers follow, too.
$(VENV)/.installed: $(VENV)/.core $(VENV)/.plot
	[ -e $@ ] && [ $@ -nt pyproject.toml ] || \
	    $(PIP) --no-deps --no-build-isolation --config-settings editable_mode=compat -e .
	@touch $@
$(VENV)/.demo: $(PY) $(BUILD_INPUTS)
	@$(MAKE) --no-print-directory -j2 $(VENV)/.installed
	@touch $@
$(VENV)/.test: $(VENV)/.demo pyproject.toml
	[ -e $@ ] && [ $@ -nt pyproject.toml ] || $(PIP) $$($(PY) -c $(NEEDS) $(TEST_EXTRAS))
	@touch $@
$(VENV)/.dev: $(VENV)/.test
	[ -e $@ ] && [ $@ -nt pyproject.toml ] || $(PIP) $$($(PY) -c $(NEEDS) lint)
	@touch $@
TEST_EXTRAS = test plot cli progress notebook xarray pandas io dask lab

# Threads may have small stacks: outside the kernels no array on one is as long as an input says, or large.
CORE_C = $(filter-out csrc/kernels/%,$(shell find csrc -name '*.c'))
STACK = -std=gnu11 -O1 -c -o /dev/null -DPI_ROLLED -DPYINTEGRATE_VERSION='""' \
    -Werror=vla -Wframe-larger-than=16384 -Werror=frame-larger-than=16384
INCLUDE = "import sysconfig; print(sysconfig.get_path('include'))"
lint: $(VENV)/.dev
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(VENV)/bin/clang-format --dry-run --Werror $(CLANG_FORMAT_FILES)
	$(PY) -m mypy
	$(PY) -m mypy.stubtest pyintegrate._core --mypy-config-file pyproject.toml
	for file in $(CORE_C); do $${CC:-cc} $(STACK) -I$$($(PY) -c $(INCLUDE)) $$file || exit 1; done
	if command -v $(CPPCHECK) >/dev/null; then $(MAKE) --no-print-directory cppcheck; fi

# In make lint where it is installed (apt-get install cppcheck). The macros of Python.h, which it does
# not read, are told to it.
CPPCHECK ?= cppcheck
cppcheck:
	$(CPPCHECK) -q -j $$(nproc) --enable=warning,performance --std=c11 --error-exitcode=1 \
	    --suppressions-list=csrc/cppcheck.txt -D__x86_64__ -DPI_ROLLED '-DPy_BEGIN_ALLOW_THREADS={' \
	    '-DPy_END_ALLOW_THREADS=}' '-DPy_RETURN_NONE=return NULL' $(filter-out csrc/kernels/%,$(shell find csrc -name '*.c')) \
	    $(wildcard tests/*.c tests/core/*.c) $(filter-out %_f32.c,$(wildcard tests/stress/fuzz/*.c))

# The tests that reach C, under AddressSanitizer and UndefinedBehaviorSanitizer, in a virtual environment
# of their own. Left to make test are pictures, notebooks and pure mathematics, what compiles, and what
# the C library says of its memory, which is not its own here. -fno-wrapv: Python's own flags may hold
# -fwrapv, with which no overflow would be seen. For make attack requests for memory, threads and locks go
# through tests/stress/attack/refusals.c.
SANITIZE = -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer \
    -fno-wrapv
REFUSED = malloc calloc realloc aligned_alloc PyMem_Malloc PyMem_Calloc PyMem_Realloc PyThread_allocate_lock \
    PyThread_start_new_thread
COMMA = ,
WRAPPED = $(addprefix -Wl$(COMMA)--wrap=,$(REFUSED))
REFUSALS = $(CURDIR)/.venv-sanitize/refusals.o
SANITIZED = $(addsuffix .py,$(addprefix tests/, \
    adaptive/test_adaptive_failures adaptive/test_lanes adaptive/test_stiff analysis/test_lyapunov \
    core/test_byte_code core/test_core_arguments core/test_rows method/test_golden run/test_asked_times \
    run/test_drive run/test_failures run/test_recording run/test_stepper tangents/test_sensitivity \
    user_system/test_c_function user_system/test_define watching/test_by_hand watching/test_density watching/test_events \
    watching/test_watched))
SANITIZED_PYTHON = ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 \
    LD_PRELOAD="$$($${CC:-cc} -print-file-name=libasan.so) libstdc++.so.6"
.venv-sanitize/.built: $(BUILD_INPUTS) $(wildcard pyintegrate/*.py pyintegrate/*/*.py)
	rm -rf build/lib* build/bdist* .venv-sanitize
	$(PYTHON) -m venv .venv-sanitize
	$${CC:-cc} -O1 -fPIC -c tests/stress/attack/refusals.c -o $(REFUSALS)
	PYINTEGRATE_ISA_BUILD=all PYINTEGRATE_CFLAGS="-O1 -g1 -DPI_ROLLED -Wno-psabi $(SANITIZE)" \
	    PYINTEGRATE_LDFLAGS="$(SANITIZE) $(WRAPPED) $(REFUSALS)" \
	    .venv-sanitize/bin/python -m pip install --quiet --disable-pip-version-check ".[dev]"
	@touch $@
sanitize: .venv-sanitize/.built
	cd .venv-sanitize && $(SANITIZED_PYTHON) bin/pytest -q -n auto -p no:cacheprovider \
	    -c ../pyproject.toml --rootdir .. -k "not leak_would_be_seen" $(SANITIZED:%=../%)

# Raw arguments for the core, bent at random, for so many seconds under the same sanitizers; then
# libFuzzer on byte code and on tables of coefficients (tests/stress/fuzz/), half the time each. Needs clang
# and its run-time library (Debian: clang libclang-rt-14-dev). make libfuzzer FUZZ_SANITIZE= runs several times as
# many programs: it sees only crashes, and answers that depend on what memory held before.
FUZZ_SECONDS ?= 60
FUZZ_SANITIZE ?= -fsanitize=address,undefined -fno-sanitize-recover=undefined
CLANG ?= clang
LIBFUZZER = -g1 -DPI_ROLLED -ffp-contract=off -fno-math-errno -std=gnu11 -Wall -Wextra -Wno-unused-parameter -Werror $(FUZZ_SANITIZE)
FUZZED_C = tests/stress/fuzz/float_mode.c $(wildcard csrc/bytecode/*.c) \
    $(filter-out %/dispatch.c,$(wildcard csrc/run/*.c))
fuzz: .venv-sanitize/.built
	cd .venv-sanitize && $(SANITIZED_PYTHON) bin/python ../tests/stress/fuzz.py $(FUZZ_SECONDS)
	@mkdir -p build/fuzz && echo 'int LLVMFuzzerTestOneInput(void);int LLVMFuzzerTestOneInput(void){return 0;}' \
	    >build/fuzz/none.c
	@if $(CLANG) -fsanitize=fuzzer,address build/fuzz/none.c -o build/fuzz/none 2>build/fuzz/none.log; \
	    then $(MAKE) --no-print-directory libfuzzer; \
	    else echo "make fuzz: no clang with libFuzzer (apt-get install clang libclang-rt-14-dev):" \
	        "byte code and tables were NOT fuzzed by it"; fi

libfuzzer: .venv-sanitize/.built
	rm -rf build/fuzz && mkdir -p build/fuzz/found/programs build/fuzz/found/tables
	cd .venv-sanitize && $(SANITIZED_PYTHON) bin/python ../tests/stress/fuzz/seeds.py ../build/fuzz/seeds
	for bits in 64 32; do $(CLANG) $(LIBFUZZER) $(if $(FUZZ_SANITIZE),-O0,-O1) -fsanitize=fuzzer-no-link \
	    -c tests/stress/fuzz/kernels_f$$bits.c -o build/fuzz/kernels_f$$bits.o || exit 1; done
	for target in programs tables; do $(CLANG) $(LIBFUZZER) -O1 -fsanitize=fuzzer tests/stress/fuzz/$$target.c \
	    $(FUZZED_C) build/fuzz/kernels_f*.o -lm -o build/fuzz/$$target || exit 1; done
	for target in programs tables; do \
	    build/fuzz/$$target -max_total_time=$$(($(FUZZ_SECONDS) / 2)) -max_len=8192 -timeout=20 -seed=1 \
	        -artifact_prefix=build/fuzz/$$target- build/fuzz/found/$$target build/fuzz/seeds/$$target \
	        >build/fuzz/$$target.log 2>&1 || { tail -60 build/fuzz/$$target.log; exit 1; }; \
	    echo "libFuzzer, $$target: $$(grep '^Done' build/fuzz/$$target.log)"; done

# What others may hand us, damaged and forged at random (files, caches of compiled libraries, byte code),
# what may come in the middle of a call (storms of signals, hostile threads, refused memory), calls from
# small stacks, random forces and tables against NumPy, watches and events against known zeros, raw arguments
# for the core, threads on one run
# under ThreadSanitizer: for so many seconds each (tests/stress/attack/). An hour in all:
# make attack ATTACK_SECONDS=360
ATTACK_SECONDS ?= 60
ATTACK_SEED ?= 1
ATTACK = $(ATTACK_SECONDS) $(ATTACK_SEED)
ATTACKS = files cache signals threads stacks programs differential watching
attack: $(VENV)/.dev .venv-sanitize/.built race
	for name in $(ATTACKS); do $(PY) tests/stress/attack/$$name.py $(ATTACK) || exit 1; done
	$(PY) tests/stress/fuzz.py $(ATTACK)
	cd .venv-sanitize && $(SANITIZED_PYTHON) bin/python ../tests/stress/attack/memory.py $(ATTACK)
	build/race $(ATTACK)

race:
	mkdir -p build
	$${CC:-cc} $(RACE_FLAGS) $(RACE_C) -lm -lpthread -o build/race
RACE_FLAGS = -std=gnu11 -O1 -g1 -DPI_ROLLED -ffp-contract=off -fno-math-errno -Wno-psabi -fsanitize=thread
RACE_C = tests/stress/race.c tests/stress/fuzz/kernels_f64.c $(FUZZED_C)

# Random calls, right and wrong: no crash, no leak, sampled answers compared (about ten minutes).
SOAK_CALLS ?= 1000000
SOAK_SEED ?= 1
soak: $(VENV)/.dev
	$(PY) tests/stress/soak.py $(SOAK_CALLS) $(SOAK_SEED)

# Lines of the C core that are reached by those of its tests that are quick, by calls and programs bent at
# random, and by refused memory. A line counts where any of the kernels that it is compiled into comes to it.
COVERED = $(SANITIZED) $(addsuffix .py,$(addprefix tests/, \
    adaptive/test_dense adaptive/test_watches_and_events adaptive/test_radau core/test_contents_of_arrays \
    core/test_scales method/test_multistep_methods method/test_rigid_methods run/test_float_modes run/test_history \
    run/test_leaving run/test_pauses run/test_same_start run/test_stepper_undone solution/test_digest system/test_n_body \
    system/test_rigid_body system/test_systems watching/test_conditions_after_jumps watching/test_impulses))
COVERAGE_WORKERS ?= auto
.venv-coverage/.made: pyproject.toml
	rm -rf .venv-coverage
	$(PYTHON) -m venv .venv-coverage
	.venv-coverage/bin/python -m pip install --quiet --disable-pip-version-check gcovr "numpy>=2" \
	    $$($(PYTHON) -c $(NEEDS) $(TEST_EXTRAS))
	@touch $@
coverage: .venv-coverage/.made
	rm -rf .venv-coverage/tree && mkdir .venv-coverage/tree
	cp -r csrc pyintegrate tests setup.py pyproject.toml README.md \
	    LICENSE CHANGELOG.md .venv-coverage/tree && rm -f .venv-coverage/tree/pyintegrate/*.so
	$${CC:-cc} -O1 -fPIC -c tests/stress/attack/refusals.c -o .venv-coverage/refusals.o
	cd .venv-coverage/tree && PYINTEGRATE_CFLAGS="-O1 -DPI_ROLLED -Wno-psabi --coverage" \
	    PYINTEGRATE_LDFLAGS="--coverage $(WRAPPED) $(CURDIR)/.venv-coverage/refusals.o" \
	    ../bin/python setup.py -q build_ext --inplace
	cd .venv-coverage/tree && PYTHONPATH=$$PWD ../bin/python -m pytest -q -p no:cacheprovider \
	    -n $(COVERAGE_WORKERS) $(COVERED)
	cd .venv-coverage/tree && PYTHONPATH=$$PWD ../bin/python tests/stress/fuzz.py 30
	cd .venv-coverage/tree && PYTHONPATH=$$PWD ../bin/python tests/stress/attack/programs.py 30
	cd .venv-coverage/tree && PYTHONPATH=$$PWD ../bin/python tests/stress/attack/memory.py 30
	cd .venv-coverage/tree && ../bin/gcovr --root . --filter csrc --merge-mode-functions=merge-use-line-min \
	    --gcov-ignore-parse-errors=all --sort uncovered-percent

bench: $(VENV)/.dev
	$(PY) benchmarks/bench.py
	$(PY) benchmarks/what_happened.py

# Beside other packages; writes docs/performance.md and, for the time to an error and stiff problems, docs/tolerance.md. Boost
# needs its headers (libboost-dev).
bench-peers: $(VENV)/.dev
	$(PY) -m pip install --quiet --disable-pip-version-check -e ".[bench]"
	$(PY) benchmarks/compare_peers.py --write
	$(PY) benchmarks/compare_noise.py --write
	$(PY) benchmarks/time_to_error.py --write
	$(PY) benchmarks/stiff.py --write

# Tangents beside peers; heyoka is left out where pip has none for the machine.
bench-tangents: $(VENV)/.dev
	$(PY) -m pip install --quiet --disable-pip-version-check -e ".[bench]"
	-$(PY) -m pip install --quiet --disable-pip-version-check heyoka
	$(PY) benchmarks/compare_tangents.py --compile

# Fits beside SciPy, alone and over sensitivities in Numba.
bench-fit: $(VENV)/.dev
	-$(PY) -m pip install --quiet --disable-pip-version-check scipy numba
	$(PY) benchmarks/fit.py

# Proves and measures every method; writes certificates.json, methods.md and a picture in docs, and the
# rows of new methods in tests/golden/methods.txt.
certificates: $(VENV)/.dev
	$(PY) docs/certificates.py
	$(PY) tests/golden/add_rows.py

# The same bits on another architecture: a hash over all methods and systems by the C core alone, here
# and under emulation. Needs gcc-aarch64-linux-gnu, libc6-dev-arm64-cross, qemu-user.
CROSS ?= aarch64-linux-gnu-gcc
EMULATE ?= qemu-aarch64
PORTABLE_FLAGS = -O1 -DPI_ROLLED -ffp-contract=off -fno-math-errno -std=gnu11 -w
PORTABLE_C = $(wildcard tests/portability/*.c csrc/vmath/*.c csrc/run/*.c csrc/bytecode/*.c)
portability:
	mkdir -p build/portability
	$(CROSS) $(PORTABLE_FLAGS) -static $(PORTABLE_C) $(wildcard csrc/kernels/isa/baseline_*.c) -lm \
	    -o build/portability/there
	$${CC:-cc} $(PORTABLE_FLAGS) $(PORTABLE_C) $(wildcard csrc/kernels/isa/*.c) -lm -o build/portability/here
	$(EMULATE) build/portability/there >build/portability/there.txt
	diff build/portability/there.txt pyintegrate/method/published_bits.txt
	for isa in 0 1 2; do build/portability/here $$isa >build/portability/here.txt; \
	    case $$? in 0) diff build/portability/here.txt build/portability/there.txt || exit 1;; 2) ;; *) exit 1;; esac; done
	tail -1 build/portability/there.txt

# Publishes a new table of bits, after they have changed on purpose; its last line is in the README.
bits: $(VENV)/.dev
	$(PY) -m pyintegrate info --table >build/bits.txt
	cp build/bits.txt pyintegrate/method/published_bits.txt
	tail -1 build/bits.txt

# How soon Ctrl-C stops a run, and what progress costs.
latency: $(VENV)/.dev
	$(PY) benchmarks/latency.py

# The pages, with every notebook run; warnings are errors. Those of methods and systems are written by
# docs/building, pictures are kept in docs/_build. make docs-check looks for dead links, pictures without
# a text, what comes from elsewhere, and, where Chromium is installed, what is wider than its page.
docs: $(VENV)/.dev
	$(PY) -m pip install --quiet --disable-pip-version-check -e ".[docs]"
	$(PY) -m sphinx -q -W --keep-going -b html docs docs/_build/html

docs-check: docs
	$(PY) docs/building/check.py

# The lab as a page, one file without a server: the core compiled to WebAssembly. Needs clang with
# wasm-ld and the C library for it (Debian: clang lld wasi-libc libclang-rt-14-dev-wasm32). It goes into the
# package too, where `python -m pyintegrate lab` finds it.
PAGE = build/page/index.html
WASM_C = page/lab.c csrc/vmath/fma.c $(wildcard csrc/bytecode/*.c) csrc/kernels/isa/baseline_f64.c \
    $(filter-out %/dispatch.c,$(wildcard csrc/run/*.c))
WASM_O = $(patsubst %.c,build/page/%.o,$(WASM_C))
WASM_FLAGS = --target=wasm32-wasi -msimd128 -O2 -DPI_ROLLED -ffp-contract=off -fno-math-errno -std=gnu11 \
    -DPI_FIXED_STEPS_ONLY -fvisibility=hidden -Wall -Wextra -Wno-unused-parameter -Wno-unused-function
WASM_EXPORTS = malloc free lab_method lab_system lab_program lab_run lab_ask lab_hash
build/page/%.o: %.c $(shell find csrc -name '*.h')
	@mkdir -p $(@D)
	$(CLANG) $(WASM_FLAGS) -c $< -o $@
build/page/lab.wasm: $(WASM_O)
	$(CLANG) --target=wasm32-wasi -nostartfiles -Wl,--no-entry,--strip-all,--gc-sections,-z,stack-size=1048576 \
	    $(addprefix -Wl$(COMMA)--export=,$(WASM_EXPORTS)) $(WASM_O) -o $@
page: $(VENV)/.demo
	@command -v $(CLANG) wasm-ld >/dev/null && [ -e /usr/include/wasm32-wasi/stdlib.h ] || { echo \
	    "make page needs: apt-get install clang lld wasi-libc libclang-rt-14-dev-wasm32"; exit 1; }
	$(MAKE) --no-print-directory build/page/lab.wasm
	$(PY) page/make_page.py build/page/lab.wasm $(PAGE) pyintegrate/laboratory/static/page.html docs/lab/index.html

# The page in a real browser, and the widget in a real Jupyter server: what a user does, and screenshots
# in build/lab-browser; prints how soon the page can be touched and its frames a second. Needs Debian's
# chromium and chromium-driver.
lab-browser: page
	$(MAKE) --no-print-directory browser

# The same without the page where that is not made: a part of make test-all.
browser: $(VENV)/.dev
	$(PIP) selenium jupyterlab
	$(PY) -m pytest -q -p no:cacheprovider tests/laboratory/in_chromium.py

# Wheels of all platforms in dist, cross-built by the clang of the package ziglang and checked.
# Names of some platforms (packaging/wheels.py): make wheels PLATFORMS="win_amd64 macosx_arm64"
# They hold the page of the lab where make page can make it.
wheels: .venv-wheels/.made
	$(MAKE) --no-print-directory page || echo "THE WHEELS ARE WITHOUT THE PAGE OF THE LAB"
	.venv-wheels/bin/python packaging/wheels.py $(PLATFORMS)
.venv-wheels/.made:
	$(PYTHON) -m venv .venv-wheels
	.venv-wheels/bin/python -m pip install --quiet --disable-pip-version-check "ziglang>=0.15" lief abi3info \
	    "setuptools>=77" wheel zopflipy
	@touch $@

# What make wheels has compiled, without Python: its bits, wherever something here can run it.
wheels-run: .venv-wheels/.made
	.venv-wheels/bin/python packaging/run_core.py $(PLATFORMS)

# The wheel for this processor through the tests: it is Clang's, all else here is GCC's (packaging/native.py).
wheels-native: .venv-wheels/.made
	.venv-wheels/bin/python packaging/wheels.py manylinux_$(shell uname -m)
	.venv-wheels/bin/python packaging/native.py $(FOLDERS)

# The wheel for aarch64, run under qemu with Debian's Python: the digest, then of each folder of tests
# as many as AARCH64_SECONDS allow (packaging/aarch64.py): make aarch64 FOLDERS="values core"
# Needs qemu-user-static, gcc-aarch64-linux-gnu, libc6-dev-arm64-cross.
aarch64: .venv-wheels/.made
	.venv-wheels/bin/python packaging/wheels.py manylinux_aarch64
	.venv-wheels/bin/python packaging/aarch64.py $(FOLDERS)

# The wheel for Windows, run by Wine with a Python of Windows, in the same way (packaging/windows.py).
# Needs wine64 and wine of Debian.
windows: .venv-wheels/.made
	.venv-wheels/bin/python packaging/wheels.py win_amd64
	.venv-wheels/bin/python packaging/windows.py $(FOLDERS)

# The sdist and the abi3 wheel, tested beside the oldest and the newest NumPy under $(PYTHONS).
wheels-test:
	PYTHONS="$${PYTHONS:-$(PYTHON)}" .ci/wheels

# All that a release needs, up to where an upload would begin: what packaging/release.py asks, the wheels of
# all platforms with their digests, the sdist and its wheel through the tests, the links of the pages, lint.
# dist then holds what is uploaded, and nothing else.
release-check: $(VENV)/.dev
	$(PIP) twine py-rattler-build
	$(PY) packaging/release.py
	$(MAKE) --no-print-directory wheels wheels-run wheels-test lint test-all docs-check
	$(PY) -m twine check --strict dist/*

# A point of the history of speeds: the build that is here, under its commit (benchmarks/asv.conf.json).
history: $(VENV)/.dev
	$(PIP) asv virtualenv
	cd benchmarks && $(abspath $(PY)) -m asv machine --yes >/dev/null && \
		$(abspath $(PY)) -m asv run --python=same --set-commit-hash $$(git rev-parse HEAD)

dist: $(VENV)/.dev
	$(PIP) build
	PYINTEGRATE_ISA_BUILD=all $(PY) -m build

clean:
	rm -rf build dist *.egg-info $(VENV) .venv-sanitize .venv-coverage .venv-wheels docs/_build docs/generated docs/notebooks docs/methods docs/systems pyintegrate/*.so phase_drift.png
