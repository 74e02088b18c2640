#!/bin/sh
# Uses servers of other people by package mcphost: the SDK for TypeScript, FastMCP, and a FastMCP that knows only older revisions of the protocol.
#   sh scripts/e2e_host.sh
# It needs npm, and the network once. The programs are put into .tools/e2e_host. scripts/mcphost has the servers, internal/test/mcptry uses them.
set -eu
cd "$(dirname "$0")/.."
. scripts/tools.sh

need go "install Go 1.26 or newer: https://go.dev/dl/"
need npm "install Node.js 20 or newer: https://nodejs.org"
ensure_uv

DIR=$TOOLS/e2e_host
PINS='@modelcontextprotocol/server@2.4.0 zod@4.6.7
	fastmcp==4.2.3 fastmcp==2.14.7'
mkdir -p "$DIR"
# python NAME PACKAGE makes an environment with a package.
python() {
	uv venv --quiet --clear "$DIR/$1"
	retry "installing $2" uv pip install --quiet --python "$DIR/$1/bin/python" "$2"
}
if [ "$(cat "$DIR/pins" 2>/dev/null)" != "$PINS" ]; then
	retry "installing the SDK for TypeScript" npm install --prefix "$DIR" --ignore-scripts --no-audit --no-fund --no-save --loglevel=error \
		@modelcontextprotocol/server@2.4.0 zod@4.6.7
	python new fastmcp==4.2.3
	python old fastmcp==2.14.7
	printf '%s' "$PINS" >"$DIR/pins"
fi
go build -o "$DIR/mcptry" ./internal/test/mcptry
cp scripts/mcphost/server.mjs scripts/mcphost/server.py "$DIR"

failed=
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null || :' EXIT
# tries NAME COMMAND... uses a server that is a process, and the same one over HTTP.
tries() {
	name=$1
	shift
	echo "$name over stdio"
	timeout 120 "$DIR/mcptry" "$@" || failed=1
	echo "$name over HTTP"
	rm -f "$DIR/url"
	"$@" http >"$DIR/url" 2>"$DIR/log" &
	server=$!
	for _ in $(seq 240); do
		[ ! -s "$DIR/url" ] || break
		sleep 0.5
	done
	timeout 120 "$DIR/mcptry" "$(head -n 1 "$DIR/url")" || failed=1
	kill "$server"
	wait "$server" 2>/dev/null || :
	server=
}

tries "SDK for TypeScript 2.4.0" node "$DIR/server.mjs"
tries "FastMCP 4.2.3" "$DIR/new/bin/python" "$DIR/server.py"
tries "FastMCP 2.14.7" "$DIR/old/bin/python" "$DIR/server.py"
[ -z "$failed" ]
