package skill

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/glob"
	"github.com/agent-base/agent-base/skill/manifest"
)

// State says whether a skill is enabled, and if not, why.
type State uint8

// The states, best first.
const (
	StateEnabled     State = iota
	StateHidden            // enabled, but hidden from the model: disable-model-invocation, an example, or nobody has written its description
	StateDisabled          // by the user, by AGENT_SKILLS, by default_enabled or by the allow and deny globs
	StateUnavailable       // a required command or variable is missing, or the engine's version does not fit
	StateBroken            // its manifest cannot be used
)

// String returns the state in lower case.
func (s State) String() string {
	return [...]string{"enabled", "hidden", "disabled", "unavailable", "broken"}[s]
}

// Cause is the rule that decided a skill's state. Entry.Reason is the text for people.
type Cause uint8

// The causes. An enabled skill has CauseDefault, or CauseWish if the manifest alone might have disabled it.
const (
	CauseDefault     Cause = iota // no rule applied
	CauseProblem                  // a fatal problem of its manifest
	CauseDuplicate                // another skill of its layer has the same name
	CauseAllow                    // it is not in the allow list
	CauseDeny                     // it is in the deny list
	CauseSelection                // Mode and Names leave it out
	CauseTrust                    // its content is not approved, and Mode requires an approval
	CauseWish                     // it is among Enabled or Disabled
	CauseOnlyBundled              // it is bundled and not among OnlyBundled
	CauseNotBundled               // it is bundled and among NotBundled
	CauseManifest                 // its manifest says so: default_enabled, disable-model-invocation
	CauseRequirement              // a requirement of its manifest is missing
	CauseUnwritten                // its description is still that of a template
	CauseExample                  // it is among Options.Examples, and nothing names it
	CauseAdmit                    // Options.Admit does not admit it
)

// ruling is the outcome of a rule for one skill: the reason that it is not enabled, or only the cause if it is.
type ruling struct {
	cause Cause
	text  string
}

// judge sets the state of every item. A skill is first broken, else disabled, else unavailable, else hidden. A skill
// that is switched off is not checked further.
type judge struct {
	c           *Catalog
	allow, deny glob.Set
	want        wishes
	commands    map[string]bool // results of LookPath, one call each
	problems    []manifest.Problem
	ofPart      [][]manifest.Problem // problems with skills of one name, by part; nil for none
	quiet       bool                 // report nothing about the item, since it is not used
	volatile    bool                 // an answer was used that may differ next time
	simple      bool                 // a plain skill is always enabled unless it is an example, since no rule applies to it
	examples    map[string]bool      // see Options.Examples
	denyAll     bool                 // a deny pattern cannot be used
}

func newJudge(c *Catalog) *judge {
	j := &judge{c: c, commands: map[string]bool{}}
	j.patterns(&j.allow, "allow", c.o.Allow)
	j.denyAll = !j.patterns(&j.deny, "deny", c.o.Deny)
	j.want, j.examples = newWishes(&c.o.Want), nameSet(c.o.Examples)
	w := &c.o.Want
	j.simple = c.o.Admit == nil && len(c.o.Allow)+len(c.o.Deny)+len(w.Disabled)+len(w.OnlyBundled)+len(w.NotBundled)+len(w.Enabled) == 0 && w.Mode == SelectAuto
	return j
}

// patterns keeps the valid globs and reports whether all are valid. It reports an invalid glob and its effect: what the
// glob was meant to deny is unknown, so it denies everything.
func (j *judge) patterns(set *glob.Set, key string, in []string) bool {
	so, sound := "it matches no skill", true
	if key == "deny" {
		so = "every skill is kept out"
	}
	for _, p := range in {
		err := set.Add(manifest.Canonical(p))
		if err == nil {
			continue
		}
		sound = false
		j.problems = append(j.problems, manifest.Problem{Code: "glob-invalid", Severity: manifest.SeverityError, Field: key,
			Message: fmt.Sprintf("pattern %.100q cannot be used: %v, so %s", p, err, so), Cure: `write it like "pdf-*"`})
		if errors.Is(err, glob.ErrTooMany) {
			break // the following patterns cannot be used either
		}
	}
	return sound
}

func (j *judge) judge(ctx context.Context, it *item) {
	if j.simple && it.r.plain() && !j.example(it) {
		return
	}
	state, why := j.state(ctx, it)
	if it.state = state; why == (ruling{}) {
		return
	}
	if it.extra == nil {
		it.extra = &extra{}
	}
	it.extra.why = why
}

func (j *judge) state(ctx context.Context, it *item) (State, ruling) {
	if it.r.flags&isFatal != 0 {
		return StateBroken, ruling{CauseProblem, firstFatal(it.r.problems(j.c.file(it))).Message}
	}
	why := j.wanted(ctx, it)
	if why.text != "" {
		return StateDisabled, why
	}
	if reason := j.unavailable(it.r.kept()); reason != "" {
		return StateUnavailable, ruling{CauseRequirement, reason}
	}
	if it.r.flags&isDraft != 0 {
		return StateHidden, ruling{CauseUnwritten, "its description is still that of a template"}
	}
	if it.r.flags&isHidden != 0 {
		return StateHidden, ruling{CauseManifest, "disable-model-invocation"}
	}
	if j.example(it) {
		return StateHidden, ruling{CauseExample, "an example: models get it if AGENT_SKILLS or enabled in the settings names it"}
	}
	return StateEnabled, why
}

// unavailable returns what a skill lacks, or "".
func (j *judge) unavailable(k *kept) string {
	if k == nil {
		return ""
	}
	var reasons []string
	if missing := slices.DeleteFunc(slices.Clone(k.requires), j.has); len(missing) > 0 {
		reasons = append(reasons, "missing commands: "+strings.Join(missing, ", "))
	}
	if len(k.any) > 0 && !slices.ContainsFunc(k.any, j.has) {
		reasons = append(reasons, "missing commands: one of "+strings.Join(k.any, ", "))
	}
	if system := cmp.Or(j.c.o.system, runtime.GOOS); len(k.systems) > 0 && !slices.Contains(k.systems, system) {
		reasons = append(reasons, fmt.Sprintf("it is made for %s, and this is %s", strings.Join(k.systems, ", "), system))
	}
	if missing := slices.DeleteFunc(slices.Clone(k.variables), j.hasVariable); len(missing) > 0 {
		reasons = append(reasons, "missing environment variables: "+strings.Join(missing, ", "))
	}
	if len(reasons) > 0 {
		return strings.Join(reasons, "; ")
	}
	m := manifest.Manifest{MinVersion: k.minVersion, MaxVersion: k.maxVersion}
	if err := m.CheckVersion(j.c.o.Version); err != nil {
		return err.Error()
	}
	return ""
}

func (j *judge) has(command string) bool {
	if j.c.o.LookPath == nil {
		return true
	}
	j.volatile = true
	found, asked := j.commands[command]
	if !asked {
		// A command is a name: a path would be looked up in the working folder.
		_, err := j.c.o.LookPath(command)
		found = err == nil && !strings.ContainsAny(command, `/\`)
		j.commands[command] = found
	}
	return found
}

func (j *judge) hasVariable(name string) bool {
	if j.c.o.HasVariable == nil {
		return true
	}
	j.volatile = true
	return j.c.o.HasVariable(name)
}

// globbed returns the ruling of the globs on a skill; deny applies after allow.
func (j *judge) globbed(name string) ruling {
	if _, ok := j.allow.Match(name); len(j.c.o.Allow) > 0 && !ok {
		return ruling{CauseAllow, "not in the allow list"}
	}
	if j.denyAll {
		return ruling{CauseDeny, "denied: a pattern of the deny list cannot be used"}
	}
	if p, ok := j.deny.Match(name); ok {
		return ruling{CauseDeny, fmt.Sprintf("denied by pattern %q", p)}
	}
	return ruling{}
}

func (it *item) why() ruling {
	if it.extra == nil {
		return ruling{}
	}
	return it.extra.why
}

func (it *item) shadows() []item {
	if it.extra == nil {
		return nil
	}
	return it.extra.shadows
}
