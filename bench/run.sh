#!/bin/sh
# Measures agent, the plain system calls and the peers that can be installed, all in one run, and prints the ratios as
# Markdown: sh bench/run.sh [--write]. With --write it also puts them into docs/performance.md.
# Needs a C compiler, and npm for two of the peers. Linux only.
#   BENCH_SIZES  trees to measure, in skills (100,1000,10000)
#   BENCH_ONLY   engine, agent, install, toolsets, serve or fleet: measure only that. All but engine take some minutes, agent, toolsets, serve
#                and fleet need no peers; install is part of engine. fleet wants FLEET_TEMP, a folder in memory with 2 GB
#   AGENT_SKILLS_CORPUS  a folder of public SKILL.md files, for the rows on real manifests; without it they are omitted
#   BENCH_FULL=1 adds 100000: needs 2 GB of disk and a quarter of an hour
# Run nothing else at the same time. All files are in .tools/bench; the reports are engine.md, agent.md, install.md and toolsets.md.
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
CGO_ENABLED=0 go build -trimpath -o "$BIN" ./cmd/agent
(cd bench && CGO_ENABLED=0 go build -trimpath -o "$BIN" ./empty ./fleet ./gentree ./inproc ./post ./run ./serve ./talk)
CGO_ENABLED=0 go test -c -trimpath -o "$BIN/agent.test" ./agent
CGO_ENABLED=0 go test -c -trimpath -o "$BIN/chat.test" ./cmd/agent/internal/chat
CGO_ENABLED=0 go test -c -trimpath -o "$BIN/fetch.test" ./install/fetch
CGO_ENABLED=0 go test -c -trimpath -o "$BIN/toolset.test" ./toolset
only=${BENCH_ONLY:-}
if [ "$only" = serve ]; then
	"$BIN/serve" "$BIN/agent"
	exit
fi
if [ "$only" = fleet ]; then
	"$BIN/fleet" all "$BIN/agent"
	exit
fi
if [ -z "$only" ] || [ "$only" = engine ]; then
	ensure_uv
	sh bench/peers.sh >&2
fi
rm -f "$TOOLS/bench/engine.md" "$TOOLS/bench/agent.md" "$TOOLS/bench/install.md" "$TOOLS/bench/toolsets.md"
"$BIN/run" -n "$sizes" -only "$only" -bin "$BIN" -peers "$TOOLS/peers" -script bench/skillsref.py -work "$TOOLS/bench" -corpus "${AGENT_SKILLS_CORPUS:-}"
find "$TOOLS/bench" -maxdepth 1 \( -name engine.md -o -name agent.md -o -name install.md -o -name toolsets.md \) -exec cat {} +
[ "${1:-}" = --write ] || exit 0

page=docs/performance.md
awk -v dir="$TOOLS/bench" '
	/^<!-- end/ { hidden = 0 }
	!hidden
	/^<!-- begin/ { report = dir "/" $3 ".md"; while ((getline line <report) > 0) { hidden = 1; print line } }
' "$page" >"$TOOLS/bench/page"
cp "$TOOLS/bench/page" "$page"
