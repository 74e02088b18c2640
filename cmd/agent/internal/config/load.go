package config

import (
	"cmp"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"github.com/agent-base/agent-base/internal/lockfile"
	"github.com/agent-base/agent-base/internal/yamlnode"
	"github.com/agent-base/agent-base/policy"
	"github.com/agent-base/agent-base/skill/manifest"
)

// Options says where the settings come from. All paths are absolute; an empty path means that there is no such place.
type Options struct {
	Home    string // the user's home
	Dir     string // the working directory
	Project string // the project's root; "" means ProjectRoot(Dir)
	Cache   string
	System  string // the operator's folder; "" means /etc/agent

	Lookup func(variable string) (string, bool) // the environment; nil means an empty one
	Flags  map[string]FlagValue                 // by key

	Policy *policy.Policy // of the organisation: no value is looser than it says; nil allows all
}

// FlagValue is the value of a key on the command line. A bare number that is a duration is in seconds.
type FlagValue struct {
	Name   string   // as typed: "--profile"
	Values []string // several for a list
}

// Load resolves all settings. It always returns a usable Config. The problems say what was ignored, in the order of the
// sources, highest last.
func Load(o *Options) (*Config, []manifest.Problem) {
	l := &loader{Options: *o, owned: lockfile.Owned}
	if l.Lookup == nil {
		l.Lookup = func(string) (string, bool) { return "", false }
	}
	c := &Config{Paths: l.places()}
	l.paths = c.Paths
	user, project := l.userFile(), l.projectFile(c.Paths.Project)
	env, flags := l.environment(), l.flags()

	base := l.resolve(user, nil, env, flags)
	full := base
	if len(project) > 0 {
		full = l.resolve(user, project, env, flags)
		l.protect(full, base)
	}
	l.inherit(full)
	l.organisation(full)
	c.fill(full)
	c.servers(l, append(get[[]Server](full, serversSection), l.proposals()...))
	l.claude(&c.Permissions)
	c.OwnProfile = base["profile"].value.(string)
	c.BundledOnly = l.unsure.Name != ""
	if c.Serve.Wrong = l.served; l.broken.Name != "" {
		c.Serve.Wrong = fmt.Errorf("%s cannot be read", l.broken.Name)
	}
	c.serve(l.nobody)
	if place := cmp.Or(l.doubt, l.broken); place.Name != "" {
		c.Permissions.Doubt = place.String()
	}
	return c, l.problems
}

// maxProblems bounds the problems that Load returns. One more problem then says that there are more.
const maxProblems = 100

type loader struct {
	Options
	owned    func(fs.FileInfo) bool // whether a file belongs to this user or to root
	paths    Paths
	broken   Origin // the user's file, if it could not be read
	nobody   error  // why the tenant is not known
	doubt    Origin // rules that may deny or ask and could not be read
	served   error  // what of the settings of agent serve cannot be read
	unsure   Origin // the part of the user's file that may keep skills from being loaded and could not be read
	problems []manifest.Problem
	proposed []manifest.Problem // of the servers that the project names
}

// entry is a value with the places it came from.
type entry struct {
	value   any
	origins []Origin
}

// given has the values of one source, or of all sources combined, by key.
type given map[string]entry

// places returns the folders that everything else depends on.
func (l *loader) places() Paths {
	if l.Home != "" && !filepath.IsAbs(l.Home) {
		l.report(Origin{Rank: Environment, Name: "HOME"}, manifest.SeverityError, "config-value",
			fmt.Sprintf("home directory %q is not an absolute path: ignored", l.Home), "export HOME with an absolute path")
		l.Home = ""
	}
	p := Paths{Home: l.Home, Agent: under(l.Home, ".agent"), Project: l.Project, Cache: l.Cache, System: l.System}
	if p.Project == "" {
		foreign := ""
		if p.Project, foreign = projectRoot(l.Dir, l.owned); foreign != "" {
			l.report(Origin{Rank: Project, Name: foreign}, manifest.SeverityWarning, "config-owner",
				fmt.Sprintf("repository belongs to another user: using %q as the project", p.Project), "use --project if you trust its owner")
		}
	}
	p.Packages = packages(l.Dir, p.Project, l.owned)
	if l.Project != "" {
		p.Above = above(p.Project)
	}
	if p.System == "" {
		p.System = "/etc/agent"
	}
	if text, ok := l.Lookup("AGENT_HOME"); ok && text != "" {
		dir := absolute(text, "", l.Home)
		if dir == "" || !filepath.IsAbs(dir) {
			l.report(Origin{Rank: Environment, Name: "AGENT_HOME"}, manifest.SeverityError, "config-value",
				fmt.Sprintf("%q is not an absolute path: using %q", text, p.Agent), "export AGENT_HOME with an absolute path")
		} else {
			p.Agent = dir
		}
	}
	return p
}

// environment reads the variables of all keys. An empty variable counts as not set, except for AGENT_SKILLS and AGENT_TENANT.
func (l *loader) environment() given {
	out := given{}
	for _, k := range keys {
		text, ok := l.Lookup(k.variable())
		if !ok || k.variable() == "" || text == "" && k.kind != selection && k.kind != tenant {
			continue
		}
		l.take(out, k, plain(text, Origin{Rank: Environment, Name: k.variable()}))
	}
	return out
}

func (l *loader) flags() given {
	out := given{}
	for _, k := range keys {
		f, ok := l.Flags[k.name]
		if !ok {
			continue
		}
		n := &yamlnode.Node{Kind: yamlnode.Sequence}
		for _, v := range f.Values {
			n.Items = append(n.Items, &yamlnode.Node{Kind: yamlnode.Scalar, Value: v})
		}
		if len(n.Items) == 1 && k.kind != roots {
			n = n.Items[0]
		}
		l.take(out, k, written{n, Origin{Rank: Flag, Name: f.Name}, time.Second})
	}
	return out
}

// written is a value and the place where it is set.
type written struct {
	node *yamlnode.Node
	at   Origin
	unit time.Duration // of a duration that is a bare number
}

func plain(text string, at Origin) written {
	return written{&yamlnode.Node{Kind: yamlnode.Scalar, Value: text}, at, time.Second}
}

// take reads a value into out. It reports and ignores an invalid value, unless the key protects the user: then it uses
// the strictest value.
func (l *loader) take(out given, k *key, w written) {
	n, at := w.node, w.at
	r := &reader{base: l.base(at.Rank), home: l.Home, unit: w.unit, at: at}
	if at.Rank == Project {
		r.project = l.paths.Project
	}
	r.wrong = func(n *yamlnode.Node, message, cure string) {
		there := at
		if n.Line > 0 {
			there.Line, there.Col = n.Line, n.Col
		}
		l.report(there, manifest.SeverityError, "config-value", message, cure)
	}
	value, err := r.read(k, n)
	if k.kind == tenant && err != nil {
		l.nobody = err
	}
	if k.in() == serveSection && (err != nil || r.lost) {
		l.served = fmt.Errorf("%s cannot be read", k.name)
	}
	if k.kind == rules && k.project == add && (err != nil || r.lost) {
		l.doubt = at
	}
	if k.guards && at.Rank == User && (err != nil || r.lost) {
		l.unsure = at
	}
	if err == nil {
		out[k.name] = entry{value, []Origin{at}}
		return
	}
	message, cure := err.Error(), ""
	if v, ok := err.(*valueError); ok {
		cure = v.cure
	}
	if k.project == tighten && k.kind == choice {
		strict := k.values[len(k.values)-1]
		out[k.name] = entry{strict, []Origin{at}}
		message += fmt.Sprintf(": using %q", strict)
	} else {
		message += ": ignored"
	}
	r.wrong(n, message, cure)
}

// base returns the folder for relative paths of a source.
func (l *loader) base(rank Rank) string {
	switch rank {
	case User:
		return l.paths.Agent
	case Project:
		return l.paths.Project
	}
	return l.Dir
}

func (l *loader) report(at Origin, severity manifest.Severity, code, message, cure string) {
	p := at.problem(code, message, cure)
	p.Severity = severity
	switch {
	case slices.Contains(l.problems, p):
	case len(l.problems) < maxProblems:
		l.problems = append(l.problems, p)
	case len(l.problems) == maxProblems:
		l.problems = append(l.problems, manifest.Problem{Code: "config-more", Severity: manifest.SeverityWarning, File: at.Name,
			Message: "more problems are not shown", Cure: "fix these first"})
	}
}
