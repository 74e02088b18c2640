package toolset

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/agent-base/agent-base/mcphost"
	"github.com/agent-base/agent-base/trace"
)

// Waits while a process ends.
const (
	endGrace = 2 * time.Second // for a process to end by itself when its input has ended
	pingWait = 5 * time.Second // for a sign of life after a call that was not answered, unless Host.ping says another one
)

// unit is one program of a skill: all classes of a language, or one server. Its process is started when it is needed.
type unit struct {
	owner   *owner
	lang    Language
	entries []Entry

	keep mcphost.Keeper[*process] // its process

	mu      sync.Mutex
	pinned  map[string]pin   // what was listed first, by wire name
	tools   []listed         // of the last listing
	errs    []error          // likewise
	partial int              // starts in a row after which some of its toolsets were missing
	renewal time.Time        // not before: such a process is replaced
	refused map[string]error // tools that are not what they were
}

// pin is what a tool was when it was listed first.
type pin struct{ description, input string }

func newUnit(o *owner, lang Language) *unit {
	u := &unit{owner: o, lang: lang, pinned: map[string]pin{}, refused: map[string]error{}}
	u.keep.Begin, u.keep.Now = u.begin, func() time.Time { return o.h.now() }
	return u
}

// pin keeps what a tool is, unless it is known already.
func (u *unit) pin(l listed) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if _, ok := u.pinned[l.Wire]; !ok {
		u.pinned[l.Wire] = pin{l.Description, string(l.Input)}
	}
}

// list returns the tools of the program. It starts the program if it has not been listed yet, and again if nobody uses it and
// some of its toolsets could not be loaded: what they lacked may be there now. The error joins those of its toolsets.
func (u *unit) list(ctx context.Context) ([]listed, error) {
	u.mu.Lock()
	known, broken := u.tools != nil, len(u.errs) > 0
	u.mu.Unlock()
	u.renew(func(p *process) bool { return len(p.errs) > 0 })
	if !known || broken {
		p, err := u.ready(ctx)
		if err != nil {
			return nil, err
		}
		p.give()
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.tools, errors.Join(u.errs...)
}

// renew ends the process if it is broken, nobody uses it, and it was not replaced a moment ago: what it lacked may be there now.
func (u *unit) renew(broken func(*process) bool) {
	u.mu.Lock()
	due := !u.owner.h.now().Before(u.renewal)
	u.mu.Unlock()
	if p := u.keep.Current(); p != nil && due && broken(p) && p.leave() {
		p.Stop()
	}
}

// ready returns the running process for one call, which the caller ends with give. It starts one if there is none.
func (u *unit) ready(ctx context.Context) (*process, error) {
	p, err := u.keep.Ready(ctx)
	var wait *mcphost.WaitError
	switch {
	case err == mcphost.ErrClosed: //nolint:errorlint // it is this one
		return nil, u.fault("", KindClosed, err.Error())
	case errors.As(err, &wait):
		named := *wait
		named.Last = errors.New(reason(wait.Last))
		e := u.fault("", KindWait, named.Error())
		e.Err = wait.Last
		return nil, e
	}
	return p, err
}

// begin starts a process, and lists and pins its tools.
func (u *unit) begin(ctx context.Context) (*process, error) {
	p, err := u.start(ctx)
	if err != nil {
		return nil, err
	}
	u.mu.Lock()
	u.accept(p.tools, p.errs)
	p.calls++ // nobody else knows it yet
	errs := u.errs
	u.mu.Unlock()
	for _, err := range errs {
		trace.Emit(ctx, u.owner.h.o.Trace, trace.Event{Kind: trace.ToolsetFailed, Level: slog.LevelError, Skill: u.owner.name, Message: "A toolset failed", Err: err})
	}
	return p, nil
}

// accept takes over a listing. A tool that is not what it was is refused from now on.
func (u *unit) accept(tools []listed, errs []error) {
	u.refused = map[string]error{}
	first := func(class string) bool {
		return !slices.ContainsFunc(u.tools, func(l listed) bool { return l.Class == class })
	}
	var kept []listed
	for _, l := range tools {
		now := pin{l.Description, string(l.Input)}
		was, ok := u.pinned[l.Wire]
		switch {
		case !ok && first(l.Class):
			u.pinned[l.Wire] = now
		case !ok:
			continue // a tool that came later is not used
		case was != now:
			err := u.fault(l.Class, KindChanged, fmt.Sprintf("tool %q has another description or schema than when it was listed, and is not called", l.Name))
			u.refused[l.Wire] = err
			errs = append(errs, err)
			continue
		}
		kept = append(kept, l)
	}
	if u.tools == nil || len(kept) > len(u.tools) {
		u.tools = append([]listed{}, kept...)
	}
	if u.errs = errs; len(errs) == 0 {
		u.partial, u.renewal = 0, time.Time{}
		return
	}
	u.partial++
	u.renewal = u.owner.h.now().Add(mcphost.Delay(u.partial))
}

// until says when a toolset that could not be loaded is tried again; "" if the next call does so.
func (u *unit) until() string {
	u.mu.Lock()
	defer u.mu.Unlock()
	wait := u.renewal.Sub(u.owner.h.now())
	if wait <= 0 {
		return ""
	}
	return fmt.Sprintf("; it is loaded again in %s at the earliest", wait.Round(100*time.Millisecond))
}

// limit is the most time of a call.
func (u *unit) limit() time.Duration {
	if u.owner.limit > 0 {
		return u.owner.limit
	}
	return u.owner.h.o.Call
}

// fetching are programs that fetch packages before they start a server.
var fetching = []string{"npx", "uvx", "bunx"}

// patience is the most time from the start of the process to its list of tools.
func (u *unit) patience() time.Duration {
	if c := u.entries[0].Command; c != nil && slices.Contains(fetching, c.Path) {
		return 4 * u.owner.h.o.start
	}
	return u.owner.h.o.start
}

// denied returns why a tool is not called.
func (u *unit) denied(wire string) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.refused[wire]
}
