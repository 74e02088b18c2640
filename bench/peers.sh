#!/bin/sh
# Installs the programs that agent is compared with into .tools/peers:
# skills-ref (PyPI), openskills and skills (npm), eino (a Go module, built from bench/eino).
# A peer that cannot be installed is skipped with a message. The report lists it too.
set -u
cd "$(dirname "$0")/.." || exit 1
. scripts/tools.sh

PEERS=$TOOLS/peers
SKILLS_REF=0.1.1
OPENSKILLS=1.5.0
SKILLS=1.7.4
NODE=22 # skills needs this version or newer; npm has node as a package

without() {
	echo "without $1: it could not be installed"
}

mkdir -p "$PEERS"
ensure_uv
if [ ! -x "$PEERS/python/bin/agentskills" ]; then
	uv venv --quiet --clear "$PEERS/python"
	uv pip install --quiet --python "$PEERS/python/bin/python" "skills-ref==$SKILLS_REF" ||
		without "skills-ref $SKILLS_REF"
fi
if [ ! -e "$PEERS/node_modules/.bin/skills" ]; then
	npm install --silent --no-audit --no-fund --prefix "$PEERS" \
		"openskills@$OPENSKILLS" "skills@$SKILLS" "node@$NODE" >&2 ||
		without "openskills $OPENSKILLS and skills $SKILLS"
fi
(cd bench/eino && go build -trimpath -o "$PEERS/eino" .) || without eino
