#!/usr/bin/env bash
# Makes target/python-env: a Python environment with what tests and linters need, and the package, built like the other
# tests. Does nothing that is done already. `--tools` leaves out the package, which takes minutes to build.
set -euo pipefail
cd "$(dirname "$0")/.."
env=target/python-env
python=${PYTHON:-python3}

if [ ! -x "$env/bin/python" ]; then
    mkdir -p target
    "$python" -m venv "$env" 2>/dev/null || {
        # Debian keeps venv in a package of its own.
        rm -rf "$env"
        { apt-get update && apt-get install -y python3-venv; } >/dev/null
        "$python" -m venv "$env"
    }
fi
wanted=$(sha256sum pyproject.toml scripts/python-requirements.txt | sha256sum)
if [ "$(cat "$env/wanted" 2>/dev/null)" != "$wanted" ]; then
    "$env/bin/pip" install --quiet --disable-pip-version-check -r scripts/python-requirements.txt
    echo "$wanted" > "$env/wanted"
fi
[ "${1-}" != --tools ] || exit 0
# Pages of the package run their scenarios again where Rust can compile for browsers.
packed=$(scripts/what-if.sh)
if [ -n "$packed" ] && ! cmp -s "$packed" python/flashlane/what_if.b64; then
    cp "$packed" python/flashlane/what_if.b64
fi
# The profile of the tests: the same compiled crates as those of `cargo test`.
VIRTUAL_ENV="$PWD/$env" "$env/bin/maturin" develop --quiet --profile dev
