package manifest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Severity says how bad a problem is.
type Severity uint8

// Off means that a rule is not checked; a Problem never has it.
const (
	SeverityOff Severity = iota
	SeverityWarning
	SeverityError
)

// String returns "off", "warning" or "error".
func (s Severity) String() string { return [...]string{"off", "warning", "error"}[s] }

// MarshalJSON writes the severity as its name.
func (s Severity) MarshalJSON() ([]byte, error) { return json.Marshal(s.String()) }

// Problem is one thing that is wrong with a skill: what it is, where it is and how to repair it. Codes lists the codes of
// manifests and folders, with their severity in each profile. A catalogue as a whole can have these in addition:
//
//	source-unreadable, folder-unreadable   a folder of skills, or one below it, cannot be listed
//	folder-empty                           a folder among the skills with nothing in it
//	link-skipped, discovery-bound          what discovery left out: links that lead elsewhere, folders that are too deep
//	manifest-case                          a manifest that is called Skill.md or the like
//	manifest-inside, manifest-hidden       a SKILL.md below a skill or in a hidden folder, if DirOptions.Inside asks for it
//	path-taken                             a skill of Merge at the path of a skill in an earlier source
//	name-alike                             a name that looks like that of another skill
//	name-duplicate                         a second skill of one name in one layer
//	glob-invalid                           a pattern of Options.Allow or Deny
//	skill-unknown                          a name in Selection.Names that is not the name of a skill
//	skill-untrusted, trust-unreadable      a skill that was selected and may not load
//	skills-none-trusted, skills-untrusted-loaded   the effect of SelectAll and SelectAllUntrusted
type Problem struct {
	Code     string   `json:"code"` // kebab case, stable: "yaml-colon"
	Severity Severity `json:"severity"`
	File     string   `json:"file,omitempty"` // the name from the caller; "SKILL.md" by default
	Line     int      `json:"line,omitempty"` // from 1; 0 if the problem has no place
	Col      int      `json:"column,omitempty"`
	Field    string   `json:"field,omitempty"` // front matter key, dotted when nested
	Skill    string   `json:"skill,omitempty"` // canonical name, if a problem of a catalogue is about one skill
	Message  string   `json:"message"`
	Cure     string   `json:"cure,omitempty"`
	Fatal    bool     `json:"fatal,omitempty"` // the skill cannot be used because of it
}

// Error returns `file:line:col: severity[code] message`, without what is not known, so a *Problem is an error.
func (p *Problem) Error() string {
	where := p.File
	if p.Line > 0 {
		where += fmt.Sprintf(":%d:%d", p.Line, p.Col)
	}
	if where != "" {
		where += ": "
	}
	return fmt.Sprintf("%s%s[%s] %s", where, p.Severity, p.Code, p.Message)
}

// Unread says which text of a file reaches neither a model nor a program, as its problems tell: "text on line 4, on line 9 is part of
// nothing that a model gets". It returns "" if all of it does.
func Unread(problems []Problem) string {
	var parts []string
	at := map[int]bool{}
	for i := range problems {
		p := &problems[i]
		switch {
		case p.Code == "frontmatter-preamble":
			parts = append(parts, fmt.Sprintf("before line %d", p.Line))
		case slices.Contains(unreadCodes[:], p.Code) && !at[p.Line]:
			at[p.Line] = true
			parts = append(parts, fmt.Sprintf("on line %d", p.Line))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	if more := len(parts) - mostUnread; more > 0 {
		parts = append(parts[:mostUnread:mostUnread], fmt.Sprintf("on %d more", more))
	}
	return "text " + strings.Join(parts, ", ") + " is part of nothing that a model gets"
}

// unreadCodes are the codes of problems that leave out text.
var unreadCodes = [...]string{"yaml-anchor", "yaml-depth", "yaml-key", "yaml-syntax", "yaml-tag"}

// mostUnread is how many places Unread names.
const mostUnread = 5
