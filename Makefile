# The commands of the project. Everything goes through cargo; nothing is installed but what scripts/install-test-tools.sh says.

.PHONY: help demo test lint bench bench-check bench-record docs fuzz

help:
	@echo 'make demo    two tenants on one drive, under two schedulers; results in out/demo'
	@echo 'make test    every test'
	@echo 'make lint    formatting and lints, warnings refused'
	@echo 'make bench   speed of whole runs; see docs/performance.md (bench-check: instructions per request against'
	@echo '             the committed ones; bench-record: measures all and keeps it in benches/)'
	@echo 'make fuzz    coverage-guided fuzzing of all parsers, FUZZ_SECONDS=600 for each target'
	@echo 'make docs    write docs/configuration.md anew from the schema'

demo:
	cargo build --release -q -p flashlane-cli
	./target/release/flashlane demo --out out/demo

test:
	@scripts/install-test-tools.sh
	cargo test --workspace -- --quiet

lint:
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings
	@if [ -n "$$(git ls-files '*.py')" ]; then ruff check . && ruff format --check .; fi

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

# For example: make fuzz FUZZ_SECONDS=60 FUZZ_TARGETS="fio_jobs mqsim_xml"
fuzz:
	FUZZ_SECONDS="$(FUZZ_SECONDS)" FUZZ_TARGETS="$(FUZZ_TARGETS)" scripts/fuzz.sh
