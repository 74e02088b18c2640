package allow

import (
	"fmt"
	"strings"
)

// Refusal says why a call is not allowed.
type Refusal struct {
	Tool  string   // as called
	Rules []string // of the list, as written
	Why   string   // what of the arguments no rule covers; "" if no rule names the tool
}

// Message returns the text for the model: "Tool 'X' not allowed by skill 'Y'. Allowed tools: a, b (not in allowed-tools
// list)", and Why if there is one.
func (r *Refusal) Message(skill string) string {
	rules := strings.Join(r.Rules, ", ")
	if rules == "" {
		rules = "none"
	}
	text := fmt.Sprintf("Tool '%s' not allowed by skill '%s'. Allowed tools: %s (not in allowed-tools list)", r.Tool, skill, rules)
	if r.Why != "" {
		text += ": " + r.Why
	}
	return text
}
