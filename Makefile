# The commands of the project. Everything goes through cargo; nothing is installed.

.PHONY: help demo test lint bench docs

help:
	@echo 'make demo    two tenants on one drive, under two schedulers; results in out/demo'
	@echo 'make test    every test'
	@echo 'make lint    formatting and lints, warnings refused'
	@echo 'make bench   requests per second of the whole process'
	@echo 'make docs    write docs/configuration.md anew from the schema'

demo:
	cargo build --release -q -p flashlane-cli
	./target/release/flashlane demo --out out/demo

test:
	cargo test --workspace -- --quiet

lint:
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings
	@if [ -n "$$(git ls-files '*.py')" ]; then ruff check . && ruff format --check .; fi

bench:
	cargo bench -p flashlane --bench throughput

docs:
	UPDATE_DOCS=1 cargo test -p flashlane --test docs
