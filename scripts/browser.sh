#!/usr/bin/env bash
# Prints the path of a Chromium, installing Debian's where there is none and apt-get may be used; prints nothing
# where none can be had.
set -euo pipefail
find_it() { command -v chromium || command -v chromium-browser || command -v google-chrome || true; }
if [ -z "$(find_it)" ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    { apt-get update && apt-get install -y --no-install-recommends chromium fonts-dejavu-core; } >&2 || true
fi
find_it
