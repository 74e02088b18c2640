package script

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/agent-base/agent-base/script/internal/output"
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
		res.Wants = c.missed.Wants()
		res.Warning = joined(res.Warning, "the script was kept from the network: "+c.missed.Cause.Error())
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
	res.Text = output.Text(out.Stdout)
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
	doc, err := output.Document(out.Stdout)
	if err != nil || doc[0] != '{' && doc[0] != '[' {
		return nil
	}
	return doc
}

// answer returns stdout as one JSON document.
func answer(out *runner.Output, limit int64) (json.RawMessage, error) {
	if out.Truncated {
		return nil, &Error{Code: ParseError, Stdout: output.Said(out), Sandbox: out.Sandbox,
			Message: fmt.Sprintf("Expected JSON output, but it was truncated at %d bytes%s", limit, output.StderrTail(out))}
	}
	doc, err := output.Document(out.Stdout)
	if err != nil {
		return nil, &Error{Code: ParseError, Err: err, Stdout: output.Said(out), Sandbox: out.Sandbox,
			Message: fmt.Sprintf("Expected JSON output, got: %s%s", firstRunes(output.Text(out.Stdout), 200), output.StderrTail(out))}
	}
	return doc, nil
}

func firstRunes(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}
