#!/bin/sh
# Real MCP clients against das and the real engine. Needs Docker, Python 3.10 or later and PyPI.
#
#   DAS=target/release/das DAS_INTEGRATION_IMAGE=python:3.12-slim tests/clients/run.sh
#
# DAS_CLIENT_RMCP=1 adds the official Rust client. Ends with a line `N passed, N failed`, and exits
# with 0 if none failed.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.."
target=${CARGO_TARGET_DIR:-target}
DAS=${DAS:-$target/debug/das}
case $DAS in /*) ;; *) DAS=$PWD/$DAS ;; esac
export DAS
[ -x "$DAS" ] || { echo "error: $DAS is missing; build it first" >&2; exit 2; }

venvs=${DAS_CLIENT_VENVS:-$target/clients}
venv() { # NAME REQUIREMENT...
    name=$1
    shift
    [ -e "$venvs/$name/ready" ] && return
    python3 -m venv --clear "$venvs/$name"
    "$venvs/$name/bin/pip" install --quiet --disable-pip-version-check "$@" >&2
    touch "$venvs/$name/ready"
}
venv mcp-1 mcp==1.30.0
venv mcp-2 mcp==2.3.0

DAS_CLIENT_WORK=$(mktemp -d)
export DAS_CLIENT_WORK
trap 'rm -rf "$DAS_CLIENT_WORK"' EXIT

passed=0
failed=0
run() { # VENV SCRIPT ARGUMENT...
    python=$venvs/$1/bin/python
    shift
    script=$1
    shift
    summary=$DAS_CLIENT_WORK/summary
    rm -f "$summary"
    echo "== $script $*"
    "$python" "$here/$script" "$@" || true
    # A program that did not come to its end has failed.
    read -r good bad <"$summary" || { good=0; bad=1; echo "FAIL $script $* did not end" ; }
    passed=$((passed + good))
    failed=$((failed + bad))
}

run mcp-1 sdk1.py
for mode in auto legacy 2026-07-28; do
    run mcp-2 sdk2.py "$mode"
done
run mcp-2 wire.py
run mcp-2 parent.py
run mcp-2 packaging.py
run mcp-2 soak.py 0
run mcp-2 soak.py 2

# Builds 90 crates, so only where it is asked for.
if [ -n "${DAS_CLIENT_RMCP:-}" ]; then
    echo "== rmcp"
    POLICY=$DAS_CLIENT_WORK/sdk1.policy.json
    export POLICY
    if cargo run --quiet --manifest-path "$here/rmcp/Cargo.toml" --target-dir "$target/rmcp"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL rmcp"
    fi
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
