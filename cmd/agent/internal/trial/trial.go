package trial

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/agent-base/agent-base/internal/survey"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/check"
	"github.com/agent-base/agent-base/skill/manifest"
	"github.com/agent-base/agent-base/tool"
)

// Group is a kind of check.
type Group string

// The groups, in the order in which they are checked.
const (
	Manifest   Group = "manifest"   // what is wrong with the SKILL.md and the folder
	References Group = "references" // files that the instructions name
	Scripts    Group = "scripts"    // --help, --json and exit codes
	Toolsets   Group = "toolsets"   // names, descriptions and schemas of tools
	Triggers   Group = "triggers"   // requests that should bring the skill up, or not
	Tests      Group = "tests"      // the skill's own tests
	Evals      Group = "evals"      // evals/evals.json, with a model
)

// Groups returns all groups in their order.
func Groups() []Group {
	return []Group{Manifest, References, Scripts, Toolsets, Triggers, Tests, Evals}
}

// Status is the outcome of one check.
type Status string

// The outcomes.
const (
	Passed  Status = "passed"
	Warned  Status = "warned" // worth a look; the skill works
	Failed  Status = "failed"
	Skipped Status = "skipped" // not checked: Message says why
)

// Case is one check and its outcome.
type Case struct {
	Group    Group
	Name     string // what was checked, such as "greet --help"; unique within the group only by chance
	Status   Status
	Message  string // why it did not pass; may be set for one that did
	Cure     string // what to do; may be empty
	File     string // slash path below the skill; "" if it is about no single file
	Line     int    // from 1; 0 if it has no place
	Duration time.Duration
	Invalid  bool // an error of the manifest: the skill does not pass validation

	// Err is the error of the call that did not succeed, for a caller that knows more cures; nil if there was none.
	Err error
}

// Report is what a test of a skill found.
type Report struct {
	Skill string // its name
	Cases []Case

	// Untrusted means that cases were skipped because the content of the skill may not run.
	Untrusted bool
	// Sandbox is what confined the last program of the skill that ran; nil if none did.
	Sandbox *runner.Sandbox
}

// Count returns the number of cases with a status.
func (r *Report) Count(status Status) int {
	n := 0
	for _, c := range r.Cases {
		if c.Status == status {
			n++
		}
	}
	return n
}

// Valid reports whether the skill passes validation, whatever else failed.
func (r *Report) Valid() bool {
	return !slices.ContainsFunc(r.Cases, func(c Case) bool { return c.Invalid })
}

// Lister returns the tools of a skill's toolsets. The error joins those of the toolsets that failed; the tools of the others
// are returned with it.
type Lister interface {
	Tools(context.Context, *skill.Skill, script.Admit) ([]tool.Tool, error)
}

// Options says how a skill is tested. Catalog is required for Triggers; the zero values of the others are useful.
type Options struct {
	Groups []Group // nil means all

	Profile    *manifest.Profile // nil means the default
	ScriptRule survey.Rule       // which files are scripts; "" means survey.Any

	// Catalog has the skills among which Triggers are looked for. It should have the skill that is tested.
	Catalog *skill.Catalog

	// Root is the folder of skills that has the skill in its folder Rel, for references to other skills; nil if there is none.
	Root fs.FS
	Rel  string

	// Probe runs scripts with --help and the like. It should start them in an empty folder and without the network. Bench runs
	// the skill's own tests. Nil skips the checks that need it.
	Probe, Bench *script.Host
	Admit        script.Admit // asked before anything of the skill runs; nil allows all
	Temp         string       // folder for temporary files; "" means os.TempDir

	Toolsets Lister // nil skips the group
	Agent    Agent  // answers the prompts of evals; nil skips the group
	NoAgent  string // why Agent is nil, as a clause

	// Limit is how long the whole test may take; 0 means that it has no limit. What is not finished by then has failed, and what
	// is not begun is skipped.
	Limit time.Duration

	Each func(Case) // called with each case as it is known; may be nil
}

// run is one test of a skill.
type run struct {
	o      *Options
	s      *skill.Skill
	report Report
	said   *string // see texts
	at     string  // what of the skill was started last
	quiet  bool    // Each is not called any more

	programs string // the folder of the programs that run tests; "" until one is needed
}

// Run tests a skill. It returns an error only if ctx is done; the report then has what was known by then, and says what was not
// finished. Each is not called with that.
func Run(ctx context.Context, s *skill.Skill, o *Options) (*Report, error) {
	if o == nil {
		o = &Options{}
	}
	r := &run{o: o, s: s, report: Report{Skill: s.Name()}}
	defer func() {
		if r.programs != "" {
			_ = os.RemoveAll(r.programs) // a folder for temporary files
		}
	}()
	limited := ctx
	if o.Limit > 0 {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeout(ctx, o.Limit)
		defer cancel()
	}
	cut := false
	for _, step := range []struct {
		group Group
		check func(context.Context)
	}{
		{Manifest, r.problems}, {Scripts, r.scripts}, {Toolsets, r.toolsets}, {Triggers, r.triggers}, {Tests, r.tests}, {Evals, r.evals},
	} {
		switch {
		case !r.wants(step.group) && (step.group != Manifest || !r.wants(References)):
			continue
		case cut:
			r.skip(step.group, "not begun", "the test had ended")
			continue
		case limited.Err() == nil:
			step.check(limited)
		}
		if limited.Err() != nil {
			cut = true
			r.unfinished(ctx, step.group)
		}
	}
	return &r.report, ctx.Err()
}

// unfinished records that a group was not finished, because ctx is done or the test is out of time.
func (r *run) unfinished(ctx context.Context, g Group) {
	c := Case{Group: g, Name: "not finished", Status: Failed, Message: "the test was interrupted"}
	if ctx.Err() == nil {
		c.Message, c.Cure = fmt.Sprintf("the test was not finished within %s", r.o.Limit), "give it more time, or check fewer groups at once"
	} else {
		r.quiet = true
	}
	if r.at != "" {
		c.Message += "; the last that was started is " + r.at
	}
	r.add(c)
}

// Broken returns the cases of a skill that cannot be loaded because of some problems.
func Broken(problems []manifest.Problem) []Case {
	var out []Case
	for _, p := range problems {
		c := caseOf(&p)
		c.Status, c.Invalid = Failed, true
		out = append(out, c)
	}
	return out
}

func (r *run) wants(g Group) bool { return r.o.Groups == nil || slices.Contains(r.o.Groups, g) }

// add records a case of a group that is wanted.
func (r *run) add(c Case) {
	if !r.wants(c.Group) {
		return
	}
	r.report.Cases = append(r.report.Cases, c)
	if r.o.Each != nil && !r.quiet {
		r.o.Each(c)
	}
}

// problems checks the manifest, the files and the references.
func (r *run) problems(context.Context) {
	_, found := check.Folder(r.s.FS(), dirName(r.s), &check.Options{Profile: r.o.Profile, ScriptRule: r.o.ScriptRule, Root: r.o.Root, Rel: r.o.Rel})
	found = append(found, script.CheckManifest(r.s.Manifest())...)
	had := map[Group]bool{}
	for _, p := range found {
		c := caseOf(&p)
		had[c.Group] = true
		r.add(c)
	}
	for _, g := range []Group{Manifest, References} {
		if !had[g] {
			r.add(Case{Group: g, Name: r.s.Entry().File(), Status: Passed})
		}
	}
}

// dirName returns what the folder of a skill is called, for the rule that the name is the same.
func dirName(s *skill.Skill) string {
	if at := s.Entry().Path(); at != "." {
		return base(at)
	}
	return base(dirOf(s.Entry().Where()))
}

// dead are the codes of problems about files that are not there: a model that follows the instructions fails.
var dead = []string{"reference-missing", "script-missing", "scripts-missing"}

func caseOf(p *manifest.Problem) Case {
	c := Case{Group: Manifest, Name: p.Code, Status: Warned, Message: p.Message, Cure: p.Cure, File: p.File, Line: p.Line}
	if p.Severity == manifest.SeverityError {
		c.Status, c.Invalid = Failed, true
	}
	switch {
	case slices.Contains(dead, p.Code):
		c.Group, c.Status = References, Failed
	case p.Code == "reference-outside":
		c.Group = References
	}
	return c
}

// tail returns at most n bytes of the end of a text, for a message: whole lines, if it has any.
func tail(s string, n int) string {
	if len(s) <= n {
		return s
	}
	s = s[len(s)-n:]
	if _, lines, ok := strings.Cut(s, "\n"); ok && lines != "" {
		s = lines
	}
	return "…\n" + s
}

func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return s[:n] + "…"
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
