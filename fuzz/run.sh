#!/usr/bin/env bash
# Builds the fuzzers and runs them, one after the other. Needs cargo, cargo-fuzz and a C++ compiler.
#
#   fuzz/run.sh [SECONDS_FOR_EACH]
#
# They begin with the committed corpus and change nothing in it. Ends with a line `N passed, N
# failed`, and exits with 0 if none failed; an input that a fuzzer fails on is kept below the target
# directory, and its path is printed. Once that is mended, the input belongs into the corpus, where
# `cargo test` tries it from then on.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# What fuzzers print may be no text.
export LC_ALL=C

seconds=${1:-60}
case $seconds in
    '' | *[!0-9]* | 0*)
        echo "error: \`$seconds\` is no number of seconds" >&2
        exit 2
        ;;
esac
missing() { # WHAT FIX
    echo "error: fuzzing needs $1: $2" >&2
    exit 2
}
command -v cargo >/dev/null || missing cargo 'install Rust'
command -v cargo-fuzz >/dev/null || missing cargo-fuzz '`cargo install cargo-fuzz --locked`'
command -v "${CXX:-c++}" >/dev/null || missing 'a C++ compiler' 'libFuzzer is built from source'

target=${CARGO_TARGET_DIR:-$PWD/target}/fuzz
case $target in /*) ;; *) target=$PWD/$target ;; esac
# A build would bring it up to date in silence.
cargo metadata --quiet --locked --format-version 1 --manifest-path fuzz/Cargo.toml >/dev/null
# The library has no unsafe code, so that a sanitizer would find little; without one, stable Rust
# will do. What guides the fuzzer, the coverage, is recorded all the same.
cargo fuzz build --sanitizer none --target-dir "$target"
host=$(rustc -vV | sed -n 's/^host: //p')

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
crashes=$target/crashes
mkdir -p "$crashes"

passed=0
failed=0
for source in fuzz/fuzz_targets/*.rs; do
    name=$(basename "$source" .rs)
    log=$scratch/$name.log
    mkdir "$scratch/$name"
    # What is found is written to the first of the two folders.
    if "$target/$host/release/$name" "$scratch/$name" "fuzz/corpus/$name" \
        -max_total_time="$seconds" -max_len=1024 -timeout=20 -rss_limit_mb=1024 \
        -dict="fuzz/dictionaries/$name.dict" -artifact_prefix="$crashes/$name-" \
        -print_final_stats=1 >"$log" 2>&1; then
        passed=$((passed + 1))
        runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
        echo "ok $name: $runs inputs, $(find "$scratch/$name" -type f | wc -l) of them new"
    else
        failed=$((failed + 1))
        echo "FAIL $name"
        # What was asserted; without that it took too long, or too much memory.
        grep --text --after-context 2 'panicked at' "$log" || tail -n 30 "$log"
        sed -n 's/.*Test unit written to /its input: /p' "$log"
    fi
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
