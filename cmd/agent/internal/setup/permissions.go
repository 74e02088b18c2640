package setup

import (
	"path/filepath"

	"github.com/agent-base/agent-base/agent/permit"
	"github.com/agent-base/agent-base/cmd/agent/internal/config"
	"github.com/agent-base/agent-base/cmd/agent/internal/projectrules"
	"github.com/agent-base/agent-base/internal/lazyregexp"
	"github.com/agent-base/agent-base/internal/undo"
	"github.com/agent-base/agent-base/session/allow"
	"github.com/agent-base/agent-base/skill/manifest"
)

// Permissions returns the policy about the agent's own tools, from the settings and the flags, and a problem for each
// rule that cannot be read.
func (s *Settings) Permissions() (*permit.Policy, []manifest.Problem) {
	cfg := s.Config()
	o := &permit.Options{
		Mode: permit.Mode(cfg.Agent.Mode), Doubt: cfg.Permissions.Doubt, Unconfined: s.flags.WithoutSandbox,
		Allow: policyRules(cfg.Permissions.Allow), Ask: policyRules(cfg.Permissions.Ask), Deny: policyRules(cfg.Permissions.Deny),
		Patterns: s.Patterns(),
	}
	deny, ask := s.Policy().Rules()
	o.Deny, o.Ask, o.Above = append(deny, o.Deny...), append(ask, o.Ask...), cfg.Paths.Above
	kept, err := s.ProjectRules().Rules()
	for _, rule := range kept {
		o.Allow = append(o.Allow, permit.Rule{Text: rule, Origin: s.ProjectRules().File()})
	}
	for _, server := range cfg.Servers {
		o.Ask = append(o.Ask, askedRules(&server)...)
	}
	if s.flags.AllowBash {
		o.Allow = append(o.Allow, permit.Rule{Text: "Bash", Origin: "--allow-bash"})
	}
	p, wrong := permit.New(o)
	var problems []manifest.Problem
	for _, w := range wrong {
		problems = append(problems, ruleProblem(&cfg.Permissions, w))
	}
	if err != nil {
		problems = append(problems, manifest.Problem{Code: "config-rule", Severity: manifest.SeverityWarning, File: s.ProjectRules().File(), Message: err.Error(),
			Cure: "the rules of a project are only kept for its folder: answer again, or remove the file"})
	}
	return p, problems
}

// Ignored is the list of rules that have no effect: those of Claude Code's settings that allow.
const Ignored permit.Verdict = "ignored"

// IgnoredHelp explains that list to the user.
const IgnoredHelp = "ignored: what Claude Code allows is not allowed here; permissions.allow in your settings, or the answer \"always\", allows it"

// RuleRow is a rule as people and programs see it.
type RuleRow struct {
	List   permit.Verdict `json:"list"`
	Rule   string         `json:"rule"`
	Origin string         `json:"origin"`
}

// RuleRows returns the rules of a policy in the order in which they decide, and then those that are ignored.
func (s *Settings) RuleRows(p *permit.Policy) []RuleRow {
	rows := []RuleRow{}
	add := func(list permit.Verdict, rules []permit.Rule) {
		for _, r := range rules {
			rows = append(rows, RuleRow{list, r.Text, r.Origin})
		}
	}
	allow, ask, deny := p.Rules()
	add(permit.Denied, deny)
	add(permit.Asked, ask)
	add(permit.Allowed, allow)
	add(Ignored, policyRules(s.Config().Permissions.Idle))
	return rows
}

// OfProject is the origin of the rules that the answer "always, in this project" adds.
const OfProject = "this project"

// From returns the origin of a rule for people.
func (s *Settings) From(r RuleRow) string {
	if r.Origin == s.ProjectRules().File() {
		return OfProject
	}
	return r.Origin
}

// Patterns says what the patterns of rules are about.
func (s *Settings) Patterns() allow.Options {
	at := s.Config().Paths
	out := allow.Options{Roots: []string{at.Project}, Home: at.Home}
	if real, err := filepath.EvalSymlinks(at.Project); err == nil && real != at.Project {
		out.Roots = append(out.Roots, real)
	}
	return out
}

var plainTool = lazyregexp.New(`^[A-Za-z0-9_-]+$`)

// askedRules returns the rules about tools of a server that are always asked about.
func askedRules(s *config.Server) (out []permit.Rule) {
	for _, name := range s.Ask {
		text := "mcp__" + s.Label
		if name != "all" && plainTool().MatchString(name) {
			text += "__" + name
		}
		out = append(out, permit.Rule{Text: text, Origin: s.Origin.String()})
	}
	return out
}

// ProjectRules returns the rules that the user answered "always" to for the project.
func (s *Settings) ProjectRules() *projectrules.Store {
	cfg := s.Config()
	store := &projectrules.Store{Project: cfg.Paths.Project}
	if state := cfg.Paths.State(); state != "" {
		store.Dir = filepath.Join(state, "projects")
	}
	return store
}

// policyRules returns rules with their origins for people.
func policyRules(in []config.Rule) []permit.Rule {
	out := make([]permit.Rule, len(in))
	for i, r := range in {
		out[i] = permit.Rule{Text: r.Text, Origin: r.Origin.String()}
	}
	return out
}

// ruleProblem returns the problem of a rule, with its place.
func ruleProblem(all *config.Permissions, w allow.Problem) manifest.Problem {
	p := manifest.Problem{Code: "config-rule", Severity: manifest.SeverityError, Message: w.Message, Cure: w.Cure}
	at := func(list []config.Rule, more string) {
		for _, r := range list {
			if r.Text == w.Rule && p.File == "" {
				p.File, p.Line, p.Col = r.Origin.Name, r.Origin.Line, r.Origin.Col
				p.Message += more
			}
		}
	}
	doubt := ""
	if w.Dropped {
		doubt = "; until it is fixed, every call of a tool is asked about"
	}
	at(all.Deny, doubt)
	at(all.Ask, doubt)
	at(all.Allow, "")
	return p
}

// undoFolder is the folder of the home that holds what files were before the agent changed them.
const undoFolder = "undo"

// Undo returns which journals of changes belong to the project, or nil if there is no home.
func (s *Settings) Undo() *undo.Options {
	cfg := s.Config()
	if cfg.Paths.State() == "" {
		return nil
	}
	o := &undo.Options{Dir: filepath.Join(cfg.Paths.State(), undoFolder), Workspace: cfg.Paths.Project, Now: s.sys.Now}
	if real, err := filepath.EvalSymlinks(o.Workspace); err == nil {
		o.Workspace = real
	}
	return o
}
