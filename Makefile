# The commands of the project.

.PHONY: help demo fast test test-rust test-python lint bench bench-check bench-record docs site screenshots fuzz

help:
	@echo 'make demo    two tenants on one drive, under two schedulers; results in out/demo'
	@echo 'make test    every test'
	@echo 'make lint    formatting and lints, warnings refused'
	@echo 'make bench   speed of whole runs; see docs/performance.md (bench-check: instructions per request against'
	@echo '             the committed ones; bench-record: measures all and keeps it in benches/)'
	@echo 'make fast    the fastest program for this machine, built with a profile: target/profile-guided/flashlane'
	@echo 'make fuzz    coverage-guided fuzzing of all parsers, FUZZ_SECONDS=600 for each target'
	@echo 'make docs    write docs/configuration.md anew from the schema'
	@echo 'make site    the documentation as a site, in out/site'

demo:
	cargo build --release -q -p flashlane-cli
	./target/release/flashlane demo --out out/demo

fast:
	scripts/profile-guided.sh

# Python first: what it builds, the other tests use.
test: test-python test-rust

# One line for every test that was skipped, and what it needs. Tests in documentation come last, since they
# skip nothing: the output ends as cargo ends it.
SKIPPED_TESTS := $(CURDIR)/target/skipped-tests.txt

test-rust:
	@scripts/install-test-tools.sh
	@mkdir -p target && rm -f $(SKIPPED_TESTS)
	FLASHLANE_SKIPPED_TESTS=$(SKIPPED_TESTS) cargo test --workspace --lib --bins --tests --examples -- --quiet
	@scripts/skipped-tests.sh $(SKIPPED_TESTS)
	cargo test --workspace --doc -- --quiet

# Everything that these tests need goes to target/python-env.
test-python:
	./scripts/python-env.sh
	./target/python-env/bin/python -m pytest

lint: target/python-env/bin/ruff
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings
	./target/python-env/bin/ruff check python scripts && ./target/python-env/bin/ruff format --check python scripts

# For example: make bench BENCH='--requests 1000000 gc-writes'
bench:
	cargo run --release -q -p flashlane-bench -- $(BENCH)

bench-check:
	cargo run --release -q -p flashlane-bench -- check

bench-record:
	cargo run --release -q -p flashlane-bench -- instructions --record
	cargo run --release -q -p flashlane-bench -- --record

docs:
	UPDATE_DOCS=1 cargo test -p flashlane --test docs

target/python-env/bin/ruff:
	./scripts/python-env.sh

# The pictures of the README.
screenshots: target/python-env/bin/ruff
	./target/python-env/bin/python scripts/screenshots.py

# The documentation as a site, in out/site.
site: target/python-env/bin/ruff
	./target/python-env/bin/mkdocs build --strict --quiet --site-dir out/site

fuzz:
	FUZZ_SECONDS="$(FUZZ_SECONDS)" FUZZ_TARGETS="$(FUZZ_TARGETS)" scripts/fuzz.sh
