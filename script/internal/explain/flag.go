package explain

import (
	"bytes"

	"github.com/agent-base/agent-base/internal/lazyregexp"
	"github.com/agent-base/agent-base/script/internal/output"
	"github.com/agent-base/agent-base/script/runner"
)

var (
	// badFlag is what parsers of arguments say about a flag that they do not know.
	badFlag = lazyregexp.New(`(?i)(unrecogni[sz]ed|unknown|no such|invalid|unexpected|illegal|unsupported|bad) (command.line )?(option|argument|flag|parameter|switch)|not allowed with argument`)
	// badFile is what a program says that takes the flag for a file or a name.
	badFile = lazyregexp.New(`(?i)no such file|not found|does not exist|cannot open|can't open`)
	// badLetter is what getopt and getopts say, which take each letter for a flag.
	badLetter = lazyregexp.New(`(?i)(illegal|invalid) option -- '?-'?\s*$`)
)

// refusesJSON reports whether a script that failed says that it does not know --json.
func refusesJSON(out *runner.Output) bool {
	for _, said := range [][]byte{out.Stderr, out.Stdout} {
		said = said[max(0, len(said)-output.MaxSaid):]
		for line := range bytes.Lines(said) {
			if bytes.Contains(line, []byte("json")) && badFlag().Match(line) || bytes.Contains(line, []byte("--json")) && badFile().Match(line) || badLetter().Match(line) {
				return true
			}
		}
	}
	return false
}
