package manifest

import "slices"

// Rule describes one kind of problem that a skill can have. Its code is stable once released.
type Rule struct {
	Code        string              `json:"code"`
	Description string              `json:"description"`
	Cure        string              `json:"cure"`
	Severity    map[string]Severity `json:"severity"` // by profile
	Fatal       bool                `json:"fatal"`    // in every profile, regardless of other problems
}

// Codes returns every rule by code, for `validate --codes`.
func Codes() []Rule {
	out := make([]Rule, len(rules))
	for i, r := range rules {
		out[i] = Rule{Code: r.code, Description: r.about, Cure: r.cure, Fatal: r.fatal, Severity: map[string]Severity{}}
		for column, name := range profileNames {
			out[i].Severity[name] = r.severity(column)
		}
	}
	return out
}

type rule struct {
	code  string
	by    string // a letter for each profile, in the order of profileNames: Error, Warning or - for off
	fatal bool   // nothing is left to use
	about string
	cure  string
}

func (r *rule) severity(column int) Severity {
	if column == unknownProfile {
		return SeverityError
	}
	switch r.by[column] {
	case 'E':
		return SeverityError
	case 'W':
		return SeverityWarning
	}
	return SeverityOff
}

// findRule returns the rule with that code, or nil.
func findRule(code string) *rule {
	i, ok := slices.BinarySearchFunc(rules[:], code, func(r *rule, code string) int {
		switch {
		case r.code < code:
			return -1
		case r.code > code:
			return 1
		}
		return 0
	})
	if !ok {
		return nil
	}
	return rules[i]
}
