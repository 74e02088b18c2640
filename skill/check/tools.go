package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/hook"
	"github.com/agent-base/agent-base/session/allow"
	"github.com/agent-base/agent-base/skill/manifest"
)

// maxNamed is how many rules one problem names.
const maxNamed = 5

// checkTools says which rules for tools are not understood, and which allow more than they seem to: one problem for all
// rules of each kind.
func (v *validation) checkTools() {
	v.checkRules("disallowed-tools", v.m.DisallowedTools.Rules, true)
	var unknown, code, outside []string
	for _, r := range v.checkRules("allowed-tools", v.m.AllowedTools.Rules, false) {
		if name := r.Text + didYouMean(r.Meant()); !r.Known() && !slices.Contains(unknown, name) {
			unknown = append(unknown, name)
		}
		if meant := r.Outside(); meant != "" {
			outside = append(outside, r.Text+didYouMean(meant))
		}
		if reach := r.Reach(); reach.Code && !r.Bare() {
			code = append(code, fmt.Sprintf("%s (%s)", r.Text, reach.Why))
		}
	}
	if len(unknown) > 0 {
		v.reportAt(v.field("allowed-tools"), "tools-unknown", "no known tool has the name "+named(unknown))
	}
	if len(outside) > 0 {
		v.reportAt(v.field("allowed-tools"), "tools-outside", "names a folder of the workspace: "+named(outside))
	}
	if len(code) > 0 {
		v.reportAt(v.field("allowed-tools"), "tools-reach", "allows any code: "+named(code))
	}
}

// checkRules reports the rules that are not understood, and returns the others.
func (v *validation) checkRules(field string, rules []string, forbids bool) []allow.Rule {
	if len(rules) == 0 {
		return nil
	}
	list, problems := allow.Parse(rules, &allow.Options{Forbids: forbids})
	for _, p := range problems {
		at := v.field(field)
		at.Cure = p.Cure
		v.reportAt(at, "tools-rule", p.Message)
	}
	return list.Rules()
}

// checkHooks says which matchers of hooks are not understood or can match no call.
func (v *validation) checkHooks() {
	for _, h := range v.m.Hooks {
		for _, text := range []string{h.Matcher, h.If} {
			if _, err := hook.ParseMatcher(text, &allow.Options{}); err != nil {
				v.reportAt(v.field("hooks"), "hook-matcher", fmt.Sprintf("a hook for %s: %v; until it is mended, the hook sees every call", h.Event, err))
			}
		}
	}
}

// field returns the place of a front matter key.
func (v *validation) field(key string) manifest.Problem {
	i := slices.IndexFunc(v.m.Fields, func(f manifest.Field) bool {
		return strings.EqualFold(strings.ReplaceAll(f.Key, "_", "-"), key)
	})
	if i < 0 {
		return manifest.Problem{Field: key}
	}
	return manifest.Problem{Field: key, Line: v.m.Fields[i].Line, Col: v.m.Fields[i].Col}
}

func (v *validation) reportAt(at manifest.Problem, code, message string) {
	at.Code, at.Message = code, message
	v.Add(at)
}

// didYouMean returns a question after a name, "" without a name that is meant.
func didYouMean(meant string) string {
	if meant == "" {
		return ""
	}
	return " (did you mean " + meant + "?)"
}

// named lists the first of several texts and counts the rest.
func named(list []string) string {
	if n := len(list) - maxNamed; n > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(list[:maxNamed], ", "), n)
	}
	return strings.Join(list, ", ")
}
