package explain

import (
	"testing"

	"github.com/agent-base/agent-base/internal/test/probe"
	"github.com/agent-base/agent-base/script/internal/fail"
)

// C64: a script that refuses a flag that its caller did not give is told from one that failed.
func TestFlagIsRefused(t *testing.T) {
	s := probe.In(t, t.TempDir(), tree{"scripts/a.sh": ""})
	for said, want := range map[string]string{
		"error: unknown option '--json'":                                fail.ReasonJSON,
		"Error: No such option: --json":                                 fail.ReasonJSON,
		"a.py: error: argument --json: not allowed with argument --csv": fail.ReasonJSON,
		"Unknown option: json":                                          fail.ReasonJSON,
		"a.sh: illegal option -- -":                                     fail.ReasonJSON,
		"getopt: unrecognized option '--json'":                          fail.ReasonJSON,
		"a.sh: invalid option -- '-'":                                   fail.ReasonJSON,
		"cat: --json: No such file or directory":                        fail.ReasonJSON,
		"FileNotFoundError: [Errno 2] No such file: '--json'":           fail.ReasonJSON,
		"settings.json not found":                                       "",
		"usage: a [--json]\nerror: a file is required":                  "",
		"invalid JSON in answer":                                        "",
	} {
		r := ran(s, "scripts/a.sh", said)
		r.Cmd.Write = []string{r.Cmd.Dir}
		if got := Explain(t.Context(), r).Reason; got != "" {
			t.Errorf("%q, and the caller gave the flag: got %q", said, got)
		}
		r.AddedJSON = true
		if got := Explain(t.Context(), r).Reason; got != want {
			t.Errorf("%q: got %q", said, got)
		}
	}
}
