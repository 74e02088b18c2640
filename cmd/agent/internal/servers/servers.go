// Package servers has the servers of tools that the settings name: which may be started, what each gets, and the skills that they offer.
package servers

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/cmd/agent/internal/config"
	"github.com/agent-base/agent-base/cmd/agent/internal/cure"
	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/cmd/agent/internal/grants"
	"github.com/agent-base/agent-base/cmd/agent/internal/observe"
	"github.com/agent-base/agent-base/cmd/agent/internal/projectrules"
	"github.com/agent-base/agent-base/cmd/agent/internal/sandbox"
	"github.com/agent-base/agent-base/cmd/agent/internal/setup"
	"github.com/agent-base/agent-base/internal/dirhash"
	"github.com/agent-base/agent-base/internal/near"
	"github.com/agent-base/agent-base/internal/paths"
	"github.com/agent-base/agent-base/policy"
	"github.com/agent-base/agent-base/skill/manifest"
	"github.com/agent-base/agent-base/trace"
	"github.com/agent-base/agent-base/want"
)

// Servers knows the servers of tools that the settings name, and which of them may be started.
type Servers struct {
	Sys      *setup.System
	Settings *setup.Settings
	Sandbox  *sandbox.Sandbox
	Observe  *observe.Observers
	Trust    *grants.Trust
}

// State says whether a server is started.
type State string

// The states of a server.
const (
	Own      State = "yours"    // it is in the user's settings
	Approved State = "approved" // a project proposes it, and the user approved it as it is
	Proposed State = "proposed" // a project proposes it: it is not started
	Changed  State = "changed"  // it is not what the user approved: it is not started
)

// Starts reports whether a server is started when it is needed.
func (s State) Starts() bool { return s == Own || s == Approved }

// Entry is a server that the settings name. Its texts are as they are written.
type Entry struct {
	config.Server
	State  State
	Digest string   // of the entry, with the files and folders of the project that it names
	Wrong  error    // why one that the project proposes cannot be approved; nil if it can be
	Given  want.Set // what the user gave to one that the project proposes, in addition
}

// List returns the servers: those of the user, then those that the project proposes. The problems say what is wrong with them.
func (m *Servers) List(ctx context.Context) ([]*Entry, []manifest.Problem) {
	cfg := m.Settings.Config()
	problems := slices.Clone(cfg.ServerProblems)
	approved, err := m.Settings.ProjectRules().Servers()
	if err != nil {
		problems = append(problems, manifest.Problem{Code: "mcp-approvals", Severity: manifest.SeverityError, File: m.Settings.ProjectRules().File(),
			Message: "approvals of servers cannot be read, so none that the project proposes is started: " + err.Error(), Cure: config.CureUnsafe(err)})
	}
	var out []*Entry
	for _, s := range cfg.Servers {
		e := &Entry{Server: s, State: Own, Digest: s.Digest()}
		if s.Origin.Rank == config.Project {
			e.State = Proposed
			e.Digest, e.Wrong = m.digest(ctx, &s)
			switch was := approved[s.Label]; was.Digest {
			case "":
			case e.Digest:
				e.State, e.Given = Approved, was.Given
			default:
				e.State = Changed
			}
		}
		out = append(out, e)
		if p, wrong := m.problem(e); wrong {
			problems = append(problems, p)
		}
	}
	return out, problems
}

// problem returns what keeps a server from being started, if that is seen without starting it.
func (m *Servers) problem(e *Entry) (manifest.Problem, bool) {
	p := manifest.Problem{Severity: manifest.SeverityWarning, File: e.Origin.Name, Line: e.Origin.Line, Col: e.Origin.Col, Cure: cure.TrustServer(e.Label)}
	switch {
	case e.ofEditor():
		return p, false // the user is asked about it, and told what is wrong
	case e.Wrong != nil:
		p.Code, p.Severity, p.Message, p.Cure = "mcp-server", manifest.SeverityError, fmt.Sprintf("the server %q of the project cannot be approved: %v", e.Label, e.Wrong), ""
		return p, true
	case e.State == Proposed:
		p.Code, p.Message = "mcp-proposed", fmt.Sprintf("the project proposes the server %q, which is not started before you approve it: %s", e.Label, e.What())
		return p, true
	case e.State == Changed:
		p.Code, p.Message = "mcp-changed", fmt.Sprintf("the server %q of the project has changed since you approved it, and is not started: %s", e.Label, e.What())
		return p, true
	}
	if _, err := m.fill(e); err != nil {
		f := failure.Explain(err)
		p.Code, p.Severity, p.Message, p.Cure = "mcp-server", manifest.SeverityError, fmt.Sprintf("server %q cannot be started: %v", e.Label, err), f.Hint
		return p, true
	}
	return p, false
}

// What says what is started or reached, as it is written: a command, or an address.
func (e *Entry) What() string {
	if e.URL != "" {
		return e.URL
	}
	words := []string{cure.Word(e.Command)}
	for _, arg := range e.Args {
		words = append(words, cure.Word(arg))
	}
	return strings.Join(words, " ")
}

// Limits of a file or folder of the project that the entry of a server names.
const (
	maxNamed      = 16 << 20 // bytes
	maxNamedFiles = 2000     // with the folders in it
)

// digest names an entry of the project, with the content of the files and folders of the project that its command and arguments name. The
// project itself, which is worked in, is none of them. The error says which of them is too large.
func (m *Servers) digest(ctx context.Context, s *config.Server) (string, error) {
	sum := sha256.New()
	io.WriteString(sum, s.Digest())
	root, err := os.OpenRoot(paths.Real(m.Settings.Config().Paths.Project))
	if err != nil {
		return s.Digest(), nil
	}
	defer root.Close()
	for _, word := range append([]string{s.Command}, s.Args...) {
		if _, value, ok := strings.Cut(word, "="); ok && strings.HasPrefix(word, "-") {
			word = value
		}
		if word == "" || strings.HasPrefix(word, "-") {
			continue
		}
		path := word
		if !filepath.IsAbs(path) {
			path = filepath.Join(m.dir(s), path)
		}
		below, err := filepath.Rel(root.Name(), paths.Real(path))
		if err != nil || !filepath.IsLocal(below) || below == "." {
			continue
		}
		of, err := named(ctx, root, below)
		if err != nil {
			return "", fmt.Errorf("%q, which it names, cannot be part of an approval: %w", word, err)
		}
		if of != "" {
			fmt.Fprintf(sum, "\x00%s\x00%s", below, of)
		}
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// named returns the digest of a file or a folder, "" for what is neither.
func named(ctx context.Context, root *os.Root, name string) (string, error) {
	info, err := root.Stat(name)
	switch {
	case err != nil:
		return "", nil
	case info.IsDir():
		dir, err := root.OpenRoot(name)
		if err != nil {
			return "", err
		}
		defer dir.Close()
		of, err := dirhash.Dir(ctx, dir.FS(), &dirhash.Options{MaxFiles: maxNamedFiles, MaxBytes: maxNamed, Whole: true})
		return of.Digest, err
	case !info.Mode().IsRegular():
		return "", nil
	case info.Size() > maxNamed:
		return "", fmt.Errorf("it has more than %d bytes", maxNamed)
	}
	f, err := root.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	_, err = io.Copy(sum, io.LimitReader(f, maxNamed))
	return hex.EncodeToString(sum.Sum(nil)), err
}

// unchanged returns an error if a server that the project proposes is not what was approved any more: since then the files and folders that it
// names may have been changed, also by the model.
func (m *Servers) unchanged(ctx context.Context, e *Entry) error {
	if e.State != Approved {
		return nil
	}
	if now, err := m.digest(ctx, &e.Server); err != nil || now != e.Digest {
		what := cure.TrustServer(e.Label)
		if e.ofEditor() {
			what = "begin another session in the editor, which asks again"
		}
		return failure.Denied(errors.New("a file that it is started from has changed since it was approved"), what)
	}
	return nil
}

// dir returns the folder where a server starts.
func (m *Servers) dir(s *config.Server) string {
	switch project := m.Settings.Config().Paths.Project; {
	case s.Cwd != "":
		return s.Cwd
	case project != "":
		return project
	}
	return m.Sys.Dir
}

// Find returns the server with a label.
func (m *Servers) Find(ctx context.Context, label string) (*Entry, error) {
	list, _ := m.List(ctx)
	var labels []string
	for _, e := range list {
		if e.Label == label {
			return e, nil
		}
		labels = append(labels, e.Label)
	}
	hint := "agent mcp list"
	if meant := near.Name(label, labels); meant != "" {
		hint = fmt.Sprintf("did you mean %q?", meant)
	}
	return nil, failure.NotFound(fmt.Errorf("no server %q is configured here", label), hint)
}

// Check returns an error for a server that cannot be started, if that is seen without starting it.
func (m *Servers) Check(e *Entry) error {
	_, err := m.fill(e)
	return err
}

// Allowed returns an error for a server that the organisation does not allow.
func (m *Servers) Allowed(e *Entry) error {
	_, err := m.fill(e)
	if refused, ok := errors.AsType[*policy.Refusal](err); ok {
		return refused
	}
	return nil
}

// Refused returns why a server that the project proposes cannot be approved, nil if it can be.
func (e *Entry) Refused() error {
	if e.Wrong == nil {
		return nil
	}
	return failure.Denied(e.Wrong, "name a smaller file or folder, or add the server to your own settings: agent mcp add "+e.Label)
}

// Opened is what the program of a server gets in the sandbox.
func (e *Entry) Opened() want.Set { return e.Opens.Add(e.Given...) }

// Approve lets a server that the project proposes be started, as it is now. given is what its program gets in addition to its entry.
func (m *Servers) Approve(ctx context.Context, e *Entry, given want.Set) error {
	if e.Wrong != nil {
		return e.Refused()
	}
	if err := m.Settings.NeedRoom(""); err != nil {
		return err
	}
	event := trace.Event{Kind: trace.TrustApproved, Message: "Approved MCP server '" + e.Label + "' of the project", Attrs: []slog.Attr{slog.String(trace.AttrDigest, e.Digest)}}
	if err := m.Observe.Record(ctx, event); err != nil {
		return err
	}
	return m.Settings.ProjectRules().TrustServer(ctx, e.Label, projectrules.Server{Digest: e.Digest, Given: given})
}

// Withdraw takes an approval back, and removes the home of the server. It reports whether there was one.
func (m *Servers) Withdraw(ctx context.Context, label string) (bool, error) {
	was, err := m.Settings.ProjectRules().UntrustServer(ctx, label)
	if err == nil && was {
		m.Forget(&Entry{Server: config.Server{Label: label, Origin: config.Origin{Rank: config.Project}}, State: Proposed})
		_ = m.Observe.Record(ctx, trace.Event{Kind: trace.TrustRevoked, Message: "Revoked the approval of MCP server '" + label + "'"})
	}
	return was, err
}

// Grant opens more to the program of a server in the sandbox: in the user's settings if it is the user's, else with its approval.
func (m *Servers) Grant(ctx context.Context, e *Entry, more want.Set) error {
	switch {
	case e.State == Approved:
		return m.Approve(ctx, e, e.Given.Add(more...))
	case e.State != Own:
		return failure.Denied(fmt.Errorf("the server %q of the project is not approved", e.Label), cure.TrustServer(e.Label))
	}
	s := e.Server
	s.Opens = s.Opens.Add(more...)
	_, err := config.SetServer(ctx, m.Settings.Config().Paths.UserConfig(), &s)
	return err
}
