package script

import (
	"fmt"
	"slices"

	"github.com/agent-base/agent-base/internal/survey"
	"github.com/agent-base/agent-base/script/internal/run"
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
func addJSON(c *run.Call, mode JSONMode) {
	if mode == JSONNo || slices.Contains(c.Args, "--json") {
		return
	}
	if mode == JSONAuto {
		text := survey.Beginning(c.Skill.FS(), c.Script.File)
		if slices.Contains(c.Args, "--") || !survey.KnowsJSON(survey.LanguageIn(c.Script.File, text), text) {
			return
		}
	}
	c.Args = append(c.Args, "--json")
	c.AddedJSON = true
}
