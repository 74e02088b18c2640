package servers

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

// Skills has the servers of this run, one connection to each, for their skills and for a conversation.
// It is safe for concurrent use.
type Skills struct {
	m *Servers

	talks   *Options                // of a conversation that is to come; nil without one
	decides atomic.Pointer[Options] // of one that has begun; before, nothing is opened and no question answered

	mu       sync.Mutex
	host     *mcphost.Host // nil until a server is used
	problems []manifest.Problem
	sources  map[string]*skillsource.Source
}

// Await says that a conversation will decide about what the servers want, see Converse: before the catalogue is opened, which
// may start them. elicits says that their questions will be put to the user.
func (v *Skills) Await(elicits bool) {
	v.decides.Store(&Options{
		Denied: func() runner.Denied { return runner.Denied{} },
		Ask:    func(context.Context, string, string) runner.Verdict { return runner.Unanswered }, // a program that ends for want of it is started again
	})
	v.talks = &Options{
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

// Converse returns the servers for a conversation, with what their skills have started. m has those of its settings, and o decides from now
// on; its Denied and Ask must be there. done ends what Close does not.
func (v *Skills) Converse(ctx context.Context, m *Servers, o *Options) (host *mcphost.Host, problems []manifest.Problem, done func(), err error) {
	if v.talks == nil || v.m.Settings != m.Settings { // the skills are those of other settings
		host, problems, err = m.Open(ctx, o)
		return host, problems, func() { _ = host.Close() }, err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.decides.Store(o)
	err = v.open(ctx)
	return v.host, v.problems, func() {}, err
}

// open makes the servers ready, with v.mu held. It starts none.
func (v *Skills) open(ctx context.Context) (err error) {
	if v.host == nil {
		v.host, v.problems, err = v.m.Open(ctx, v.talks)
	}
	return err
}

// Close ends the servers.
func (v *Skills) Close() {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, src := range v.sources {
		src.Close()
	}
	if v.host != nil {
		_ = v.host.Close()
	}
}

// scope tells the server from others of its label: another project may call another one so.
func (m *Servers) scope(e *Entry) string {
	if e.State == Own {
		return ""
	}
	return m.Settings.Config().Paths.Project
}

// serverWait is how long a list of skills waits for servers.
const serverWait = 10 * time.Second

// source returns the skills of one server, which it does not start.
func (v *Skills) source(ctx context.Context, e *Entry) (*skillsource.Source, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if src := v.sources[e.Label]; src != nil {
		return src, nil
	}
	if err := v.open(ctx); err != nil {
		return nil, err
	}
	cache := v.m.Settings.Config().Paths.Served()
	server := skillsource.On(v.host, e.Label)
	if err := v.m.Check(e); err != nil {
		server = failing{err}
	}
	src, err := skillsource.New(server, &skillsource.Options{Label: e.Label, Scope: v.m.scope(e), Cache: cache, Wait: serverWait, Now: v.m.Sys.Now})
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

// Layers returns the skills of the servers whose entries want them. With quiet no server is asked: they are those that it last listed.
func (v *Skills) Layers(ctx context.Context, profile *manifest.Profile, quiet bool) (out []skill.Layer, err error) {
	if v == nil || v.m.Settings.Config().BundledOnly || v.m.Settings.Config().Paths.Served() == "" {
		return nil, nil
	}
	list, _ := v.m.List(ctx)
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

// Fetch gets one skill of a server, to install it.
func (v *Skills) Fetch(ctx context.Context, r *install.Request) (*install.Snapshot, error) {
	label, name, _ := strings.Cut(r.Source.URL, "/")
	e, err := v.m.Find(ctx, label)
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

// NewSkills returns the skills of servers, of which none is open yet.
func NewSkills(m *Servers) *Skills { return &Skills{m: m} }
