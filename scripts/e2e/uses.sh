#!/bin/sh
# Uses a skill of the server "other" as a person does: nothing of it runs before it is trusted.
set -eu
"$E2E/agent" skill list
"$E2E/agent" skill activate hello
if "$E2E/agent" script run hello hi -- early; then
	exit 1
fi
"$E2E/agent" skill trust hello --yes
"$E2E/agent" script run hello hi -- late
