#!/usr/bin/env bash
# Coverage-guided fuzzing of every parser and of the faces of the NVMe controller, one target after the other (libFuzzer, on a stable compiler). The first input that fails ends
# it and stays in fuzz/artifacts; what is found on the way grows target/fuzz/corpus, never the committed corpus.
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=${FUZZ_SECONDS:-600}
targets=${FUZZ_TARGETS:-text_formats ftrace biosnoop binary_formats column_maps fio_jobs toml_files mqsim_xml nvme_commands nvme_pcie nvme_tcp nbd}

(cd fuzz && cargo build --release --quiet)
mkdir -p fuzz/artifacts
for target in $targets; do
    grown=target/fuzz/corpus/$target
    mkdir -p "$grown"
    echo "$target: $seconds s"
    log=target/fuzz/$target.log
    if ! "target/fuzz/x86_64-unknown-linux-gnu/release/$target" "$grown" "fuzz/corpus/$target" \
        -max_total_time="$seconds" -timeout=20 -rss_limit_mb=4096 -print_final_stats=1 \
        -artifact_prefix="fuzz/artifacts/$target-" >"$log" 2>&1; then
        tail -n 40 "$log"
        exit 1
    fi
    grep -E 'stat::(number_of_executed_units|average_exec_per_sec|new_units_added|peak_rss_mb)' "$log"
done
