#!/bin/sh
# Measures agent beside the plain system calls and the peers that install here, all in one run, and prints the ratios
# as Markdown: sh bench/run.sh [--write]. With --write it also puts them into docs/performance.md.
# Needs a C compiler, and npm for two of the peers. Linux only.
#   BENCH_SIZES  trees to measure, in skills (100,1000,10000)
#   BENCH_FULL=1 adds 100000: 2 GB of disk and a quarter of an hour
# Nothing else should run meanwhile. Everything is kept in .tools/bench, the report in .tools/bench/report.md.
set -eu
cd "$(dirname "$0")/.."
. scripts/tools.sh

need go "install Go 1.26 or newer: https://go.dev/dl/"
need cc "install a C compiler: the limit is measured in C"
sizes=${BENCH_SIZES:-100,1000,10000}
[ -z "${BENCH_FULL:-}" ] || sizes=$sizes,100000

BIN=$TOOLS/bench/bin
mkdir -p "$BIN"
cc -O2 -pthread -o "$BIN/limit" bench/limit/limit.c
cc -O2 -o "$BIN/spawn" bench/limit/spawn.c
CGO_ENABLED=0 go build -trimpath -o "$BIN" \
	./bench/empty ./bench/gentree ./bench/inproc ./bench/post ./bench/run ./bench/talk ./cmd/agent
CGO_ENABLED=0 go test -c -trimpath -o "$BIN/agent.test" ./agent
ensure_uv
sh bench/peers.sh >&2
"$BIN/run" -n "$sizes" -bin "$BIN" -peers "$TOOLS/peers" -script bench/skillsref.py -work "$TOOLS/bench" \
	>"$TOOLS/bench/report.md"
cat "$TOOLS/bench/report.md"
[ "${1:-}" = --write ] || exit 0

page=docs/performance.md
awk -v report="$TOOLS/bench/report.md" '
	/^<!-- end/ { hidden = 0 }
	!hidden
	/^<!-- begin/ { hidden = 1; while ((getline line <report) > 0) print line }
' "$page" >"$TOOLS/bench/page.md"
cp "$TOOLS/bench/page.md" "$page"
