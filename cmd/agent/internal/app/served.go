package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agent-base/agent-base/cmd/agent/internal/cure"
	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/install"
	"github.com/agent-base/agent-base/mcphost"
	"github.com/agent-base/agent-base/mcphost/skillsource"
	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
)

// served has the servers of this run, one connection to each, for their skills and for a conversation. All copies of a Library share it.
// It is safe for concurrent use.
type served struct {
	s *Services

	talks   *ServersOptions                // of a conversation that is to come; nil without one
	decides atomic.Pointer[ServersOptions] // of one that has begun; before, nothing is opened and no question answered

	mu       sync.Mutex
	host     *mcphost.Host // nil until a server is used
	problems []manifest.Problem
	sources  map[string]*skillsource.Source
}

// Converse says that a conversation will decide about what the servers want, see Services.Converse: before the catalogue is opened, which
// may start them. elicits says that their questions will be put to the user.
func (l *Library) Converse(elicits bool) {
	v := l.served
	v.decides.Store(&ServersOptions{
		Denied: func() runner.Denied { return runner.Denied{} },
		Ask:    func(context.Context, string, string) runner.Verdict { return runner.Unanswered }, // a program that ends for want of it is started again
	})
	v.talks = &ServersOptions{
		Denied: func() runner.Denied { return v.decides.Load().Denied() },
		Ask: func(ctx context.Context, label, host string) runner.Verdict {
			return v.decides.Load().Ask(ctx, label, host)
		},
	}
	if elicits {
		v.talks.Elicit = func(ctx context.Context, q *mcphost.Question) (*mcphost.Answer, error) {
			if o := v.decides.Load(); o.Elicit != nil {
				return o.Elicit(ctx, q)
			}
			return &mcphost.Answer{Action: mcphost.ActionDecline}, nil
		}
	}
}

// Converse returns the servers for a conversation, with what their skills have started. o decides from now on; its Denied and Ask must be
// there. done ends what Library.Close does not.
func (s *Services) Converse(ctx context.Context, o *ServersOptions) (host *mcphost.Host, problems []manifest.Problem, done func(), err error) {
	v := s.Skills.served
	if v.talks == nil || v.s.Settings != s.Settings { // the skills are those of other settings
		host, problems, err = s.Servers(ctx, o)
		return host, problems, func() { _ = host.Close() }, err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.decides.Store(o)
	err = v.open(ctx)
	return v.host, v.problems, func() {}, err
}

// open makes the servers ready, with v.mu held. It starts none.
func (v *served) open(ctx context.Context) (err error) {
	if v.host == nil {
		v.host, v.problems, err = v.s.Servers(ctx, v.talks)
	}
	return err
}

// Local returns a library without the skills of servers.
func (l *Library) Local() *Library {
	other := *l
	other.served = nil
	return &other
}

// Close ends the servers.
func (l *Library) Close() {
	l.served.mu.Lock()
	defer l.served.mu.Unlock()
	for _, src := range l.served.sources {
		src.Close()
	}
	if l.served.host != nil {
		_ = l.served.host.Close()
	}
}

// scope tells the server from others of its label: another project may call another one so.
func (m *Servers) scope(e *ServerEntry) string {
	if e.State == ServerOwn {
		return ""
	}
	return m.settings.Config().Paths.Project
}

// serverWait is how long a list of skills waits for servers.
const serverWait = 10 * time.Second

// source returns the skills of one server, which it does not start.
func (v *served) source(ctx context.Context, e *ServerEntry) (*skillsource.Source, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if src := v.sources[e.Label]; src != nil {
		return src, nil
	}
	if err := v.open(ctx); err != nil {
		return nil, err
	}
	cache := v.s.Settings.Config().Paths.Served()
	server := skillsource.On(v.host, e.Label)
	if err := v.s.MCP.Check(e); err != nil {
		server = failing{err}
	}
	src, err := skillsource.New(server, &skillsource.Options{Label: e.Label, Scope: v.s.MCP.scope(e), Cache: cache, Wait: serverWait, Now: v.s.Sys.Now})
	if err != nil {
		return nil, err
	}
	if v.sources == nil {
		v.sources = map[string]*skillsource.Source{}
	}
	v.sources[e.Label] = src
	return src, nil
}

// failing is a server that cannot be started.
type failing struct{ err error }

func (f failing) Ask(context.Context, string, any, any) error         { return f.err }
func (f failing) Read(context.Context, string, int64) ([]byte, error) { return nil, f.err }

// layers returns the skills of the servers whose entries want them. With quiet no server is asked: they are those that it last listed.
func (v *served) layers(ctx context.Context, profile *manifest.Profile, quiet bool) (out []skill.Layer, err error) {
	if v == nil || v.s.Settings.Config().BundledOnly || v.s.Settings.Config().Paths.Served() == "" {
		return nil, nil
	}
	list, _ := v.s.MCP.List(ctx)
	for _, e := range list {
		if !e.Skills || !e.State.Starts() {
			continue
		}
		src, err := v.source(ctx, e)
		if err != nil {
			return nil, err
		}
		layer := skill.Layer{Name: "mcp:" + e.Label, Server: e.Label, Source: src, Profile: profile}
		if quiet {
			layer.Source = src.Known()
		} else {
			src.Begin(ctx)
		}
		out = append(out, layer)
	}
	return out, nil
}

// fromServer gets one skill of a server, to install it.
func (p *Packages) fromServer(ctx context.Context, r *install.Request) (*install.Snapshot, error) {
	label, name, _ := strings.Cut(r.Source.URL, "/")
	v := p.skills.served
	e, err := v.s.MCP.Find(ctx, label)
	if err != nil {
		return nil, err
	}
	if !e.State.Starts() {
		return nil, failure.Denied(fmt.Errorf("the server %q of the project is not approved", label), cure.TrustServer(label))
	}
	src, err := v.source(ctx, e)
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(r.Dir, "files")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	digest, err := src.Copy(ctx, name, r.Known, root)
	if err != nil {
		if errors.Is(err, skillsource.ErrUnknown) {
			err = fmt.Errorf("%w: %w", install.ErrNoPlace, err)
		}
		return nil, errors.Join(err, root.Close())
	}
	s := &install.Snapshot{Origin: install.Origin{Source: r.Source, URL: r.Source.String(), Commit: digest}, Close: root.Close}
	if digest != r.Known {
		s.FS = root.FS()
	}
	return s, nil
}
