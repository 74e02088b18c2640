package check

import (
	"strings"
	"unicode/utf8"

	"github.com/agent-base/agent-base/internal/hidden"
	"github.com/agent-base/agent-base/skill/manifest"
)

// checkHidden reports the first text of the body that a model reads and a person does not see, with what it says.
func (v *validation) checkHidden() {
	f, ok := hidden.Next(v.m.Body, 0)
	if !ok {
		return
	}
	before := v.m.Body[:f.Offset]
	begin := strings.LastIndexByte(before, '\n') + 1
	v.Add(manifest.Problem{Code: "body-hidden", Line: v.m.BodyLine + strings.Count(before, "\n"), Col: 1 + utf8.RuneCountInString(before[begin:]), Message: "the body holds " + f.What})
}
