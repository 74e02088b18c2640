#!/bin/sh
# Builds bin/agent and shows it at work: the bundled skills, what a model would be told of them and
# what that costs, a real run of a Python script with a dependency, its answer as JSON, and then a whole
# conversation that finds the same script by itself. The model's side of that is played from a file.
# Needs Go, Python 3 and git; the network once, for Go's modules, uv and the script's dependency.
# It reads and writes nothing of the user's own: its AGENT_HOME is .tools/try.
set -eu
cd "$(dirname "$0")/.."
. scripts/tools.sh

# show prints a command as a user would type it, then runs it.
show() {
	printf '\n$ %s\n' "$*"
	"$@"
}

need go "install Go 1.26 or newer: https://go.dev/dl/"
echo "building bin/agent ..."
build_agent
ensure_uv

rm -rf "$TOOLS/try"
mkdir -p "$TOOLS/try"
AGENT_HOME=$TOOLS/try
export AGENT_HOME
unset AGENT_SKILLS
PATH=$PWD/bin:$PATH

show agent skill list
show agent skill prompt --tokens
show agent script run hello-extended advanced_greeting --json -- --name Ada

# Set where a key or another model is at hand: AGENT_MODEL=anthropic/claude-sonnet-5-5 sh scripts/try.sh
AGENT_MODEL=${AGENT_MODEL:-replay/demo}
export AGENT_MODEL
show agent --model "$AGENT_MODEL" -p "Greet Ada in an enthusiastic way"
