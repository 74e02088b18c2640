package script

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/agent-base/agent-base/internal/lazyregexp"
	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/script/survey"
)

// JSONMode says whether a script is asked for JSON, and what is made of its output.
type JSONMode string

// The modes.
const (
	JSONAuto JSONMode = "auto" // --json for a script that declares such a flag (survey.KnowsJSON); JSON if the output is one object or array, else text
	JSONYes  JSONMode = "yes"  // --json always; what is not one JSON document is an error
	JSONNo   JSONMode = "no"   // no --json; text
)

func (m JSONMode) check() error {
	if m == "" || m == JSONAuto || m == JSONYes || m == JSONNo {
		return nil
	}
	return fmt.Errorf("JSON is %q: it can be auto, yes or no", string(m))
}

// addJSON adds --json to the arguments of a call, unless they have it. With JSONAuto it does not after "--", where it would
// not be a flag.
func (c *call) addJSON(mode JSONMode) {
	if mode == JSONNo || slices.Contains(c.args, "--json") {
		return
	}
	if mode == JSONAuto {
		text := survey.Beginning(c.s.FS(), c.sc.File)
		if slices.Contains(c.args, "--") || !survey.KnowsJSON(survey.LanguageIn(c.sc.File, text), text) {
			return
		}
	}
	c.args = append(c.args, "--json")
	c.addedJSON = true
}

// result returns what a run's output means.
func (h *Host) result(c *call, out *runner.Output, mode JSONMode) (res *Result, err error) {
	res = &Result{Duration: out.Duration, Warning: c.note, Sandbox: *out.Sandbox}
	if c.missed != nil {
		res.Wants = c.missed.wants()
		res.Warning = joined(res.Warning, "the script was kept from the network: "+c.missed.cause.Error())
	}
	switch mode {
	case JSONYes:
		res.JSON, err = answer(out, h.maxOutput(c.s))
		return res, err
	case JSONAuto:
		if res.JSON = collection(out); res.JSON != nil {
			return res, nil
		}
	}
	res.Text = text(out.Stdout)
	if out.Truncated {
		cut := fmt.Sprintf("output truncated at %d bytes, %d were dropped", h.maxOutput(c.s), out.Total-int64(len(out.Stdout)))
		res.Warning = joined(res.Warning, cut)
	}
	return res, nil
}

// joined joins two remarks, of which either may be empty.
func joined(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}

// collection returns stdout if it is one JSON object or array, else nil.
func collection(out *runner.Output) json.RawMessage {
	if out.Truncated {
		return nil
	}
	doc, err := document(out.Stdout)
	if err != nil || doc[0] != '{' && doc[0] != '[' {
		return nil
	}
	return doc
}

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
		said = said[max(0, len(said)-saidMax):]
		for line := range bytes.Lines(said) {
			if bytes.Contains(line, []byte("json")) && badFlag().Match(line) || bytes.Contains(line, []byte("--json")) && badFile().Match(line) || badLetter().Match(line) {
				return true
			}
		}
	}
	return false
}
