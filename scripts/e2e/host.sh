#!/bin/sh
# The command that the conformance suite runs as a host: host.sh URL. It names the server to agent, and lists its skills, or uses the one that it
# has; the suite looks at what the server is asked. Scenarios of plain MCP have its tools listed.
HOME=$(mktemp -d)
export HOME
trap 'rm -rf "$HOME"' EXIT
cd "$HOME" || exit
agent mcp add conformance "$1" --skills || exit
case $MCP_CONFORMANCE_SCENARIO in
sep-2640-client-no-prefetch) agent skill list ;;
sep-2640-*)
	agent skill activate pdf-processing
	agent skill read pdf-processing references/FORMS.md
	;;
*) agent mcp test conformance ;;
esac
