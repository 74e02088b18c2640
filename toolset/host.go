package toolset

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
	"github.com/agent-base/agent-base/tool"
	"github.com/agent-base/agent-base/trace"
)

// What an option is when it is 0.
const (
	defaultIdle      = 5 * time.Minute
	defaultStart     = 30 * time.Second
	defaultCall      = 60 * time.Second
	defaultMaxResult = 1 << 20
)

// Options configures a Host. Scripts and Cache are required.
type Options struct {
	// Scripts starts the processes: a *script.Host.
	Scripts interface {
		Serve(ctx context.Context, s *skill.Skill, o *script.ServeOptions) (*script.Served, error)
	}
	Cache string // absolute folder for the language hosts and for what toolsets had

	idle      time.Duration // without a call, after which a process ends; 0 means 5 minutes
	start     time.Duration // most time from the start of a process to its list of tools, without preparing packages; four times as long for npx, uvx and bunx, which fetch some; 0 means 30 s
	Call      time.Duration // most time of a call, unless the skill's manifest says another one for its scripts; 0 means 60 s
	MaxResult int64         // bytes of a result as JSON; 0 means 1 MiB

	Advise func(err error, skillName string) string // returns what can be done about a failed start, as a sentence for a model, or ""; may be nil

	// Printed is called with each line that the process of a skill prints, without secrets and cut after 2 KiB; may be nil. It is called
	// by several goroutines and must not wait.
	Printed func(skillName, line string)

	Denied func() runner.Denied // rules about files that hold when a process starts; may be nil
	Trace  trace.Tracer         // may be nil
}

// Host runs toolsets. New makes one, and who made it closes it. Conversations may share one, and then share its processes with all
// that these remember. Where tenants must not share that, or Options.Denied is that of a skilltool.Kit, give each its own.
type Host struct {
	o    Options
	now  func() time.Time
	ping time.Duration // how long a sign of life may take

	mu         sync.Mutex
	owners     map[skill.ID]*owner // the processes read the files at the place
	registered map[string][]class
	closed     bool
}

// class is a toolset in Go.
type class struct {
	name  string
	tools []tool.Tool
}

// New returns a Host. It copies o. It returns an error if an option is missing or invalid. It starts nothing.
func New(o *Options) (*Host, error) {
	if o == nil {
		o = &Options{}
	}
	switch {
	case o.Scripts == nil:
		return nil, errors.New("toolset.Options: Scripts is missing")
	case !filepath.IsAbs(o.Cache):
		return nil, fmt.Errorf("toolset.Options: Cache must be an absolute path, not %q", o.Cache)
	}
	h := &Host{o: *o, now: time.Now, ping: pingWait, owners: map[skill.ID]*owner{}, registered: map[string][]class{}}
	for _, d := range []struct {
		value   *time.Duration
		without time.Duration
	}{{&h.o.idle, defaultIdle}, {&h.o.start, defaultStart}, {&h.o.Call, defaultCall}} {
		*d.value = cmp.Or(max(*d.value, 0), d.without)
	}
	h.o.MaxResult = cmp.Or(max(h.o.MaxResult, 0), defaultMaxResult)
	return h, nil
}

// Close ends all processes and waits for that. Calls that are under way fail, and so do later ones. Closing again does nothing.
func (h *Host) Close() error {
	h.mu.Lock()
	h.closed = true
	var units []*unit
	for _, o := range h.owners {
		units = append(units, o.units...)
	}
	h.mu.Unlock()
	var wg sync.WaitGroup
	for _, u := range units {
		wg.Go(u.keep.Close)
	}
	wg.Wait()
	return nil
}

// Register adds a toolset in Go to a skill: its tools are called in this process. They come before those that the skill
// declares, in the order of the calls. It panics if a tool has no name or no Call, and returns an error if the skill has a
// toolset of that name. A skilltool.Kit offers them only if the content of the skill may run: another skill could take the name.
func (h *Host) Register(skillName, className string, tools ...tool.Tool) error {
	name := manifest.Canonical(skillName)
	own := slices.Clone(tools)
	for i := range own {
		if own[i].Name == "" || own[i].Call == nil {
			panic(fmt.Sprintf("toolset.Register: tool %q of %s needs a name and a Call", own[i].Name, className))
		}
		own[i].Source = name + "." + className
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if slices.ContainsFunc(h.registered[name], func(c class) bool { return c.name == className }) {
		return fmt.Errorf("toolset %s of skill '%s' is registered already", className, name)
	}
	h.registered[name] = append(h.registered[name], class{className, own})
	return nil
}

// Registered reports whether a skill has toolsets in Go.
func (h *Host) Registered(skillName string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.registered[manifest.Canonical(skillName)]) > 0
}

// Tools returns the tools of all toolsets of a skill, in the order in which it declares them. It starts what is needed; admit
// is asked before that, and again before each later start, as for a script. The error is that of ctx, or joins an *Error for
// each toolset that failed: the tools of the others are returned with it.
//
// A tool's Name is short, its Source "<skill>.<Class>". Its Call gets a JSON object and starts the process again if it has ended. s may be
// closed afterwards.
func (h *Host) Tools(ctx context.Context, s *skill.Skill, admit script.Admit) ([]tool.Tool, error) {
	o, err := h.owner(ctx, s, admit)
	if err != nil {
		return nil, err
	}
	out := h.inGo(s.Canonical())
	listings, failures := listAll(ctx, o.units)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	all := o.order(listings)
	if errors.Join(failures...) == nil {
		h.record(ctx, o, all)
	}
	for _, l := range all {
		out = append(out, o.tool(l))
	}
	return out, errors.Join(append(o.problems(), failures...)...)
}

// ToolsOf is Tools for one toolset that the skill declares, by its class: only its process is started. It returns no tools and no
// error if the skill declares no such toolset.
func (h *Host) ToolsOf(ctx context.Context, s *skill.Skill, admit script.Admit, class string) ([]tool.Tool, error) {
	o, err := h.owner(ctx, s, admit)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(o.entries, func(e Entry) bool { return e.Class == class })
	if i < 0 {
		return nil, nil
	}
	listing, err := o.unitOf(o.entries[i]).list(ctx)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	var out []tool.Tool
	for _, l := range listing {
		if l.Class == class {
			out = append(out, o.tool(l))
		}
	}
	return out, err
}

// listAll returns what each program has, or why it has nothing. It starts them at the same time.
func listAll(ctx context.Context, units []*unit) ([][]listed, []error) {
	listings := make([][]listed, len(units))
	failures := make([]error, len(units))
	var wg sync.WaitGroup
	for i, u := range units {
		wg.Go(func() { listings[i], failures[i] = u.list(ctx) })
	}
	wg.Wait()
	return listings, failures
}

// Known returns the tools that an earlier run of the same content of the skill had, and those in Go. It reports false if there
// was none: then only those in Go are returned. It runs nothing; the Call of a tool starts its process, with admit as in Tools.
func (h *Host) Known(ctx context.Context, s *skill.Skill, admit script.Admit) ([]tool.Tool, bool) {
	out := h.inGo(s.Canonical())
	o, err := h.owner(ctx, s, admit)
	if err != nil {
		return out, false
	}
	if len(o.units) == 0 {
		return out, true
	}
	all, ok := h.recorded(o)
	for _, l := range all {
		l.unit.pin(l)
		out = append(out, o.tool(l))
	}
	return out, ok
}

// inGo returns the registered tools of a skill.
func (h *Host) inGo(name string) []tool.Tool {
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []tool.Tool
	for _, c := range h.registered[name] {
		out = append(out, c.tools...)
	}
	return out
}

// owner is a skill with one content, and its processes.
type owner struct {
	h      *Host
	entry  skill.Entry
	name   string // canonical
	digest string
	limit  time.Duration // of a call, of the manifest; 0 if it says none

	entries []Entry
	wrong   []error // entries that cannot be followed
	units   []*unit

	mu    sync.Mutex
	admit script.Admit
}

// owner returns what belongs to a skill. It starts nothing. The processes of another content of the skill go on: a
// conversation may still have its tools.
func (h *Host) owner(ctx context.Context, s *skill.Skill, admit script.Admit) (*owner, error) {
	id, err := s.ID(ctx)
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, &Error{Skill: s.Canonical(), Toolset: "*", Kind: KindClosed, Message: "toolsets have ended with their conversation"}
	}
	o := h.owners[id]
	if o == nil {
		o = newOwner(h, s, id.Digest)
		h.owners[id] = o
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.admit = admit
	return o, nil
}

func newOwner(h *Host, s *skill.Skill, digest string) *owner {
	o := &owner{h: h, entry: s.Entry(), name: s.Canonical(), digest: digest, limit: s.Manifest().Permissions.Limits.Timeout}
	entries, problems := Entries(s)
	o.entries = entries
	for _, p := range problems {
		o.wrong = append(o.wrong, &Error{Skill: o.name, Toolset: p.File, Kind: KindEntry, Message: p.Message})
	}
	o.units = unitsOf(o, entries)
	return o
}

// unitsOf puts entries together that share a process.
func unitsOf(o *owner, entries []Entry) []*unit {
	var out []*unit
	shared := map[Language]*unit{}
	for _, e := range entries {
		u := shared[e.Language]
		if u == nil {
			u = newUnit(o, e.Language)
			out = append(out, u)
		}
		if u.entries = append(u.entries, e); e.Language != Server {
			shared[e.Language] = u
		}
	}
	return out
}

// problems returns what is wrong with the declared toolsets.
func (o *owner) problems() []error { return slices.Clone(o.wrong) }

// admitted returns the admission of the last caller.
func (o *owner) admitted() script.Admit {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.admit
}

// order returns the tools of all units in the order in which the skill declares their toolsets.
func (o *owner) order(listings [][]listed) []listed {
	var out []listed
	for _, e := range o.entries {
		for _, l := range slices.Concat(listings...) {
			if l.Class == e.Class {
				out = append(out, l)
			}
		}
	}
	return out
}
