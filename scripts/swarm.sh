#!/bin/sh
# Runs new seeds of the swarm of random configurations, at low priority, and adds them to a log. A swarm that was
# stopped goes on where it was: seeds that were begun and never ended come first.
#
#   scripts/swarm.sh [SEEDS]      so many more seeds (10,000 without)
#
# SWARM_LOG      the log; target/swarm/log.jsonl without
# SWARM_START    the first seed; without, those after the largest one in the log
# SWARM_THREADS  threads; one for each core without
#
# The program is copied beside the log before it runs, so that builds may go on meanwhile.
set -eu
cd "$(dirname "$0")/.."
log=${SWARM_LOG:-target/swarm/log.jsonl}
mkdir -p "$(dirname "$log")"
built=$(cargo test -q -p flashlane-tests --test slow --no-run --message-format=json |
    sed -n 's/.*"executable":"\([^"]*\/slow-[^"]*\)".*/\1/p' | tail -n 1)
program=$(dirname "$log")/swarm-$$
cp "$built" "$program"
trap 'rm -f "$program"' EXIT
commit=$(git describe --always --dirty 2>/dev/null || echo unknown)
case $log in /*) ;; *) log=$PWD/$log ;; esac
SWARM=${1:-10000} SWARM_LOG=$log SWARM_START=${SWARM_START:-next} SWARM_COMMIT=$commit \
    nice -n 19 "$program" --exact swarm::accepted_configurations_finish --nocapture
