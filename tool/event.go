package tool

import (
	"context"
	"io"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/agent-base/agent-base/want"
)

// EventKind is what happens while a tool is called.
type EventKind string

// The kinds of events.
const (
	EventStarted  EventKind = "started"  // the checks let the call through: the tool is called
	EventOutput   EventKind = "output"   // a command wrote something
	EventNeeds    EventKind = "needs"    // something is missing: it was refused, or the user is asked about it
	EventProgress EventKind = "progress" // the tool says how far it is
	EventEnded    EventKind = "ended"    // the last event of each call, also of one that was refused
)

// Event is something that happens during a call, for people who wait for its result. Its texts come from commands and servers: the
// caller sanitises them before printing. The result of the call does not depend on whether anybody watches.
type Event struct {
	Kind  EventKind
	Call  string // the ID of the call in its conversation; "" where there is none
	Depth int    // 0, or 1 for a call of a sub-agent
	Tool  string // the full name of the tool

	Text string // the next piece of the output; a message of progress; what is said about a need; the message of the result
	Left int64  // bytes of output before Text that no event has

	// Need is of needs: what the user is asked about if it has no From; else what the call was kept from, or with want.Seen what it
	// lacked as its output shows.
	Need want.Want

	Done, Total float64 // of progress; Total is 0 if it is not known

	Failed bool  // of ended
	Cause  Cause // of a call that failed
}

// WithWatch returns a context in which f gets the events of calls. The events of one call come one at a time, and none after
// EventEnded; f must be safe for concurrent use, because those of others may come at the same time. It must return at once: a
// command that writes waits for it. It must not call Notify.
func WithWatch(ctx context.Context, f func(Event)) context.Context {
	return context.WithValue(ctx, watchKey{}, &callWatch{f: f})
}

// WithCall returns a context for a call with that ID, by the name that the model gave it.
func WithCall(ctx context.Context, id, name string) context.Context {
	return context.WithValue(ctx, callKey{}, [2]string{id, name})
}

// Called returns the ID and the name of the call that ctx is for, as WithCall has them; "" without one.
func Called(ctx context.Context) (id, name string) {
	of, _ := ctx.Value(callKey{}).([2]string)
	return of[0], of[1]
}

// Watched reports whether anybody gets the events of calls in ctx.
func Watched(ctx context.Context) bool { return watcher(ctx) != nil }

// Notify passes an event to the watch of ctx. In a call that an Executor made, it fills in Tool; Call and Depth are left to the function
// that watches. Without a watch it does nothing. Of a call with very much output, and of one with very many messages
// of progress, it passes on the newest once a second; see Left. It is safe for concurrent use.
func Notify(ctx context.Context, e Event) {
	if w := watcher(ctx); w != nil {
		w.notify(e)
	}
}

// Output returns a writer that makes an event of each piece of output. It never fails. It splits no characters, so the last bytes
// of an output that ends within one are missing. It is for one goroutine at a time. Without a watch Output returns nil.
func Output(ctx context.Context) io.Writer {
	if w := watcher(ctx); w != nil {
		return &outlet{w: w}
	}
	return nil
}

// Bounds of what events have of one call.
const (
	outputFull  = 256 << 10 // bytes of output and messages; after that there is one event each outputPace
	outputLast  = 1 << 10   // bytes of the newest output that such an event has
	outputPace  = time.Second
	outputLeast = 64  // bytes that each event counts at least
	mostNeeds   = 100 // events
)

type (
	watchKey struct{}
	callKey  struct{}
)

func watcher(ctx context.Context) *callWatch {
	w, _ := ctx.Value(watchKey{}).(*callWatch)
	return w
}

// callWatch passes the events of one call on.
type callWatch struct {
	f    func(Event)
	tool string
	now  func() time.Time // nil means time.Now

	mu    sync.Mutex // held while f is called
	ended bool
	wrote int64 // bytes of output
	shown int   // bytes that events had, up to outputFull
	last  time.Time
	tail  []byte // the newest output that no event has
	left  int64  // bytes that no event has, with tail
	needs want.Set
}

// watching returns the context of a call of a tool. Without a watch it returns ctx, and nil.
func watching(ctx context.Context, tool string) (context.Context, *callWatch) {
	outer := watcher(ctx)
	if outer == nil {
		return ctx, nil
	}
	w := &callWatch{f: outer.f, tool: tool}
	return context.WithValue(ctx, watchKey{}, w), w
}

// begin says that the tool with this full name is called.
func begin(ctx context.Context, called string) {
	if w := watcher(ctx); w != nil {
		w.mu.Lock()
		w.tool = called
		w.mu.Unlock()
		w.notify(Event{Kind: EventStarted})
	}
}

func (w *callWatch) notify(e Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.ended:
	case e.Kind == EventOutput:
		w.output(e.Text)
	case e.Kind == EventNeeds:
		if had := len(w.needs); had < mostNeeds {
			if w.needs = w.needs.Add(e.Need); len(w.needs) > had { // each once
				w.send(e)
			}
		}
	case e.Kind != EventProgress || w.fits(len(e.Text)) || w.due():
		w.send(e)
	}
}

func (w *callWatch) send(e Event) {
	if w.tool != "" {
		e.Tool = w.tool
	}
	w.f(e)
}

// fits reports whether an event with n bytes is one of those that are all sent. After the first that is not, none is.
func (w *callWatch) fits(n int) bool {
	n = max(n, outputLeast)
	if w.shown+n > outputFull {
		w.shown = outputFull
		return false
	}
	w.shown += n
	return true
}

// due reports whether one of the other events may be sent now.
func (w *callWatch) due() bool {
	now := time.Now
	if w.now != nil {
		now = w.now
	}
	t := now()
	if t.Sub(w.last) < outputPace {
		return false
	}
	w.last = t
	return true
}

// output sends what a command wrote, or keeps its end for the next event.
func (w *callWatch) output(text string) {
	w.wrote += int64(len(text))
	switch {
	case text == "":
	case w.fits(len(text)):
		w.send(Event{Kind: EventOutput, Text: text})
	default:
		if w.keep(text); w.due() {
			w.rest()
		}
	}
}

// keep keeps the end of an output.
func (w *callWatch) keep(text string) {
	w.left += int64(len(text))
	w.tail = append(w.tail, text[max(0, len(text)-outputLast):]...)
	w.tail = w.tail[max(0, len(w.tail)-outputLast):]
}

// rest sends the output that was kept.
func (w *callWatch) rest() {
	if w.left == 0 {
		return
	}
	if w.left > int64(len(w.tail)) { // it may begin within a character
		for len(w.tail) > 0 && !utf8.RuneStart(w.tail[0]) {
			w.tail = w.tail[1:]
		}
	}
	w.send(Event{Kind: EventOutput, Text: string(w.tail), Left: w.left - int64(len(w.tail))})
	w.tail, w.left = w.tail[:0], 0
}

// end sends the last event of a call, and returns how much output it had.
func (w *callWatch) end(r *Result) int64 {
	if w == nil {
		return 0
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.rest()
	w.send(Event{Kind: EventEnded, Text: r.Message, Failed: !r.Success, Cause: r.Cause()})
	w.ended = true
	return w.wrote
}

// outlet makes events of what is written to it.
type outlet struct {
	w    *callWatch
	part []byte // the beginning of a character
}

// Write never fails.
func (o *outlet) Write(p []byte) (int, error) {
	text := append(o.part, p...)
	n := whole(text)
	o.part = append([]byte(nil), text[n:]...)
	o.w.notify(Event{Kind: EventOutput, Text: string(text[:n])})
	return len(p), nil
}

// whole returns how many bytes of p come before an incomplete character at its end.
func whole(p []byte) int {
	for i := len(p) - 1; i >= max(0, len(p)-utf8.UTFMax+1); i-- {
		if utf8.RuneStart(p[i]) {
			if !utf8.FullRune(p[i:]) {
				return i
			}
			break
		}
	}
	return len(p)
}
