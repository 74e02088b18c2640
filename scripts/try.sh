#!/bin/sh
# Builds bin/agent and shows it at work: the bundled skills, the prompt about them and its cost, a real run of a Python
# script with a dependency, and a whole conversation in which the model finds that script. The model's side of the
# conversation is replayed from a file.
# Needs Go, Python 3 and git. The first run also needs the network for Go's modules, uv and the script's dependency.
# It changes no files of the user: AGENT_HOME is .tools/try while it runs.
set -eu
cd "$(dirname "$0")/.."
. scripts/tools.sh

# show prints a command in a form that can be pasted, then runs it.
show() {
	printf '\n$'
	for word in "$@"; do
		case $word in
		*[!A-Za-z0-9_./:=-]*) printf " '%s'" "$(printf %s "$word" | sed "s/'/'\\\\''/g")" ;;
		*) printf ' %s' "$word" ;;
		esac
	done
	echo
	"$@"
}

need go "install Go 1.26 or newer: https://go.dev/dl/"
# uv is installed while Go builds. If that fails, ensure_uv tries again and says why.
(have_uv || install_uv) >/dev/null 2>&1 &
uv=$!
progress "building bin/agent (a minute or two the first time)" build_agent
if kill -0 "$uv" 2>/dev/null; then echo "installing uv into .tools/uv ..." >&2; fi
wait "$uv" || :
ensure_uv

rm -rf "$TOOLS/try"
mkdir -p "$TOOLS/try"
AGENT_HOME=$TOOLS/try
export AGENT_HOME
unset AGENT_SKILLS
AGENT_UV=$(command -v uv) # agent does not search the folders of a project for programs
export AGENT_UV
PATH=$PWD/bin:$PATH

show agent skill list
show agent skill prompt --tokens
show agent script run hello-extended advanced_greeting --json -- --name Ada

# To try a model of your own: AGENT_MODEL=anthropic/claude-sonnet-5-5 sh scripts/try.sh
show agent --model "${AGENT_MODEL:-replay/demo}" -p "Greet Ada in an enthusiastic way"

printf '\nTo type these commands yourself:\n\n  export PATH="%s:$PATH"\n  export AGENT_UV="%s"\n' "$PWD/bin" "$AGENT_UV"
