// Package serve makes an MCP server of the user's skills, settings and approvals: the command agent serve. Its Server is safe for
// concurrent use.
package serve

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/fleet"
	"github.com/agent-base/agent-base/cmd/agent/internal/setup"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
	"github.com/agent-base/agent-base/mcpserve"
	"github.com/agent-base/agent-base/session"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/watch"
	"github.com/agent-base/agent-base/skilltool"
	"github.com/agent-base/agent-base/trace"
)

// Server serves the skills of one user, or of one tenant.
type Server struct {
	s     *app.Services
	mcp   *mcpserve.Server
	calls *calls // nil: they are not counted
	key   []byte // of handles; tenants share it

	apart bool         // callers do not stand in the user's folder
	fleet *fleet.Fleet // whose workers run scripts; nil: this process does

	life context.Context // of the watcher
	stop context.CancelFunc

	completing sync.Mutex // held by complete

	mu      sync.Mutex // held while the skills are opened
	watcher *watch.Watcher
	scripts skilltool.Scripts  // nil where no script is run
	sets    skilltool.Toolsets // likewise; all clients of this server share their processes
	endSets func() error       // ends those here; workers end theirs after some time without a call
}

// New returns a Server, which who made it closes. It reads the settings and no skill. Scripts start in the user's folder, or with apart in
// one of their run.
func New(ctx context.Context, s *app.Services, apart bool) (*Server, error) {
	key, err := setup.Secret(s.Settings.Config().Serve.Key, s.Sys.Getenv(setup.Credentials))
	if err != nil {
		return nil, err
	}
	if key == nil {
		key = []byte(rand.Text() + rand.Text())
	}
	if !apart {
		return newServer(ctx, s, apart, key, nil)
	}
	return newServer(ctx, s, apart, key, newCalls(ctx, s))
}

func newServer(ctx context.Context, s *app.Services, apart bool, key []byte, counts *calls) (out *Server, err error) {
	cfg := s.Settings.Config()
	out = &Server{s: s, apart: apart, key: key, calls: counts}
	tracer := s.Observe.Tracer()
	if counts != nil {
		tracer = trace.Tee(tracer, counts.of(cfg.Tenant))
	}
	out.life, out.stop = context.WithCancel(ctx)
	out.mcp, err = mcpserve.New(&mcpserve.Options{Catalog: out.catalog, Kit: out.kit, Session: func() *session.Session { return session.New(s.Tools.Session()) },
		Version: setup.Version, Instructions: instructions, Key: key, Tenant: cfg.Tenant, Limits: mcpserve.Limits{Calls: cfg.Serve.Calls}, Trace: tracer})
	return out, err
}

// instructions are for the models of clients.
const instructions = "Skills are instructions and scripts for certain tasks. When a task fits one, call the tool skill with its name first, and do what it says. " +
	"Scripts run where this server runs, in a sandbox. This server cannot restrict the other tools of your program."

// Stdio serves one client on two streams, until it closes in, or ctx is done.
func (s *Server) Stdio(ctx context.Context, in io.ReadCloser, out io.WriteCloser) error {
	return s.mcp.ServeStdio(ctx, in, out)
}

// Close ends what runs for clients.
func (s *Server) Close() {
	s.stop()
	s.mu.Lock()
	watcher, endSets := s.watcher, s.endSets
	s.mu.Unlock()
	if watcher != nil {
		watcher.Close() // it may be asking for the skills
	}
	if endSets != nil {
		_ = endSets()
	}
}

// catalog returns the present skills. It opens them when they are wanted first, and follows their changes from then on.
func (s *Server) catalog(ctx context.Context) (*skill.Catalog, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.watcher == nil {
		if err := s.open(ctx); err != nil {
			return nil, err
		}
	}
	if err := s.s.Trust.Follow(ctx); err != nil { // then nothing is approved
		s.s.Out.Warn(err.Error())
	}
	return s.watcher.Catalog(), nil
}

func (s *Server) open(ctx context.Context) error {
	cat, err := s.s.Skills.Local().Open(ctx)
	if err != nil {
		return fmt.Errorf("skills cannot be opened: %w", err)
	}
	if s.s.Settings.Config().Paths.Cache != "" {
		made := s.s.Tools.Host
		if s.apart {
			made = s.s.Tools.Apart
		}
		host, err := made()
		if err != nil {
			return err
		}
		own, err := s.s.Tools.ToolsetsOn(host, nil, nil)
		if err != nil {
			return err
		}
		s.scripts, s.sets, s.endSets = host, own, own.Close
		if s.fleet != nil {
			sender := s.s.Tools.Sender(host, s.fleet.Send(host, s.s.Settings.Variables))
			s.scripts = sender
			if s.s.Settings.Config().Serve.PodImage == "" { // a pod ends with its run
				s.sets = sender.Toolsets(rand.Text(), s.s.Settings.Cures().Advise)
			}
		}
	}
	s.watcher = watch.Start(s.life, &watch.Options{Catalog: cat, Trace: s.s.Observe.Tracer(), OnChange: func(_, _ *skill.Catalog, _ watch.Change) { s.changed() }})
	if fleet := s.s.Settings.Fleet(); fleet != nil {
		watcher := s.watcher
		changed := func() {
			if _, err := watcher.Refresh(s.life); err != nil && s.life.Err() == nil {
				s.s.Out.Warn(err.Error())
			}
			s.changed() // also where only what is approved changed
		}
		go fleet.Watch(s.life, func() {
			changed()
			if s.complete(fleet) {
				changed()
			}
		}, func(err error) { s.s.Out.Warn("changes of the fleet are not seen: " + err.Error()) })
		go func() {
			s.tidy(fleet)
			if s.complete(fleet) {
				changed()
			}
		}()
	}
	return nil
}

// changed says to clients that the skills are others.
func (s *Server) changed() {
	if err := s.mcp.Changed(s.life); err != nil {
		s.s.Out.Warn(err.Error())
	}
}

// kit returns the tools for one call.
func (s *Server) kit(ctx context.Context, cat *skill.Catalog, conversation *session.Session) (*skilltool.Kit, error) {
	o := s.s.Tools.OptionsOn(cat, s.scripts)
	o.Session, o.Show.Listing = conversation, true
	o.Show.Unlisted = true                // the server describes the tool itself, once
	if !s.apart && mcpserve.CanAsk(ctx) { // over HTTP the caller is the one who wants it
		o.Policy.Approve, o.Policy.Ask = s.approve, ask
	}
	if s.sets != nil {
		o.Toolsets = s.sets
	}
	return skilltool.New(o), nil
}

// maxAsked is how many bytes of a call a question shows.
const maxAsked = 2000

// ask asks the person at the client about a call of which the policy of the organisation wants that. The answer is for this call alone.
func ask(ctx context.Context, about, why string) (bool, error) {
	shown := about
	if len(about) > maxAsked {
		shown = fmt.Sprintf("%s… and %d bytes more", strings.ToValidUTF8(about[:maxAsked], ""), len(about)-maxAsked)
	}
	answer, err := mcpserve.Ask(ctx, about, fmt.Sprintf("Make this call? yes and once: this call alone\n%s\n%s", ui.Line(shown), ui.Line(why)))
	return answer == mcpserve.AnswerYes || answer == mcpserve.AnswerOnce, err
}

// approve asks the person at the client whether the scripts of a skill may run, and stores an approval after a yes.
func (s *Server) approve(ctx context.Context, k *skill.Skill) (bool, error) {
	p, err := s.s.Consent.Propose(ctx, k)
	if err != nil {
		return false, err
	}
	// The question is first: clients show the beginning of a text alone.
	lines := []string{fmt.Sprintf("Let the scripts of %q run here? yes: as long as its content stays; once: for this call", k.Canonical())}
	for _, line := range p.Lines() {
		lines = append(lines, ui.Line(line))
	}
	answer, err := mcpserve.Ask(ctx, p.Digest(), strings.Join(lines, "\n"))
	switch {
	case err != nil:
		return false, err
	case answer != mcpserve.AnswerYes && answer != mcpserve.AnswerOnce:
		return false, nil
	}
	if err := s.s.Consent.Clear(ctx, k.Canonical(), false, p); err != nil {
		return false, err
	}
	if answer == mcpserve.AnswerYes {
		return true, s.s.Consent.Approve(ctx, p)
	}
	return true, nil
}
