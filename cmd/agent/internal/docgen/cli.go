package main

import (
	"strings"

	"github.com/agent-base/agent-base/cmd/agent/internal/cli"
)

const cliMore = `
## Common to all commands

* With ` + "`--json`" + ` the result is one JSON object on stdout with keys in snake case. An error is
  ` + "`{\"error\":{\"code\":…,\"message\":…,\"hint\":…}}`" + ` on stderr. The commands below ` + "`agent script`" + ` print the
  envelope that a model gets: ` + "`{\"success\":true,\"result\":…,\"message\":…}`" + `.
* Results go to stdout; warnings, progress and errors go to stderr.
* Text from a skill never reaches a terminal raw: control characters are shown as escapes.
* For a mistyped name of a command, flag, skill or script, the nearest name is suggested.
* Settings: [config.md](config.md). Codes of problems: [problems.md](problems.md).
`

// cliPage returns the page about the command.
func cliPage() (string, error) {
	var b strings.Builder
	b.WriteString(made("cmd/agent/internal/cli") + "# The command\n\n")
	if err := cli.Reference(&b); err != nil {
		return "", err
	}
	b.WriteString(cliMore)
	return b.String(), nil
}
