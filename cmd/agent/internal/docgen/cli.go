package main

import (
	"strings"

	"github.com/agent-base/agent-base/cmd/agent/internal/cli"
)

const cliMore = `
## What every command does alike

* With ` + "`--json`" + ` the answer is one JSON object on stdout with keys in snake case, and an error is
  ` + "`{\"error\":{\"code\":…,\"message\":…,\"hint\":…}}`" + ` on stderr. The commands below ` + "`agent script`" + ` print the
  envelope that a model gets: ` + "`{\"success\":true,\"result\":…,\"message\":…}`" + `.
* Results go to stdout; warnings, progress and errors to stderr.
* Text of a skill never reaches a terminal raw: control characters are shown as escapes.
* A mistyped name of a command, flag, skill or script is answered with the nearest one.
* Settings: [config.md](config.md). Codes of problems: [problems.md](problems.md).
`

// cliPage is the reference of the command.
func cliPage() (string, error) {
	var b strings.Builder
	b.WriteString(made("cmd/agent/internal/cli") + "# The command\n\n")
	if err := cli.Reference(&b); err != nil {
		return "", err
	}
	b.WriteString(cliMore)
	return b.String(), nil
}
