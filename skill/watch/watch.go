// Package watch keeps a catalogue up to date while its files change (R68, R69): it watches the folders that skills lie
// in, and when they have been quiet for a moment it puts a fresh snapshot in the old one's place.
//
// It looks at manifests and at folders that come and go. Other files of a skill are read when they are needed, and
// their change changes no catalogue. Where the system cannot watch so much, it looks at fixed times instead and says
// so; and also where a source does not say in which folders its skills lie: one that is not skill.Rooted. The bundled
// skills of an FS source are taken not to change. It executes nothing, and it reads nothing but names: what changed is
// the catalogue's business.
//
// A Watcher is safe for concurrent use. It has one goroutine, which Close ends and waits for.
package watch

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/trace"
)

// Polling is the event that says that the catalogue is looked at in fixed times, and why.
const Polling trace.Kind = "catalog_polling"

// MaxWatches is how many folders are watched at most.
const MaxWatches = 4096

// Options says what is watched. Catalog is needed: Start panics without one.
type Options struct {
	Catalog  *skill.Catalog
	Debounce time.Duration // how long the files must be quiet; 0 means 200 ms
	Longest  time.Duration // a change waits no longer than this; 0 means 2 s
	Poll     time.Duration // between two looks where not all is watched; 0 means 2 s

	// OnChange is called after each swap, one call at a time. It must not call the Watcher's Refresh or Close.
	OnChange func(old, new *skill.Catalog, change Change)
	Trace    trace.Tracer
}

// Watcher holds the present snapshot.
type Watcher struct {
	o       Options
	current atomic.Pointer[skill.Catalog]
	cancel  context.CancelFunc
	done    chan struct{}

	folders folders      // of the goroutine alone
	looks   atomic.Int64 // how often Refresh was called, for tests

	mu sync.Mutex // held while a new snapshot is made
}

// Start begins to watch. The Watcher ends with ctx, or by Close. It panics where there is no catalogue to begin with.
func Start(ctx context.Context, o *Options) *Watcher {
	return start(ctx, o, folders{max: MaxWatches, open: fsnotify.NewWatcher})
}

func start(ctx context.Context, o *Options, f folders) *Watcher {
	if o == nil || o.Catalog == nil {
		panic("watch: Start needs Options.Catalog")
	}
	w := &Watcher{o: *o, done: make(chan struct{}), folders: f}
	for _, d := range []struct {
		at    *time.Duration
		usual time.Duration
	}{{&w.o.Debounce, 200 * time.Millisecond}, {&w.o.Longest, 2 * time.Second}, {&w.o.Poll, 2 * time.Second}} {
		if *d.at <= 0 {
			*d.at = d.usual
		}
	}
	w.current.Store(o.Catalog)
	ctx, w.cancel = context.WithCancel(ctx)
	go func() {
		defer close(w.done)
		w.run(ctx)
	}()
	return w
}

// Catalog returns the present snapshot.
func (w *Watcher) Catalog() *skill.Catalog { return w.current.Load() }

// Refresh looks at once and returns the snapshot of now, for whoever cannot wait until the files are quiet. The error
// is ctx's; the snapshot of before comes with it.
func (w *Watcher) Refresh(ctx context.Context) (*skill.Catalog, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.looks.Add(1)
	begun, old := time.Now(), w.current.Load()
	fresh, err := old.Refresh(ctx)
	if err != nil || fresh == old {
		return old, err
	}
	w.current.Store(fresh)
	change := Diff(old, fresh)
	trace.Emit(ctx, w.o.Trace, trace.Event{Kind: trace.CatalogRefreshed, Message: change.line("Skills changed on disk"), Duration: time.Since(begun)})
	if w.o.OnChange != nil {
		w.o.OnChange(old, fresh, change)
	}
	return fresh, nil
}

// Close ends the watching and waits for it. The present snapshot stays. Closing again does nothing.
func (w *Watcher) Close() {
	w.cancel()
	<-w.done
}

// run waits for changes and for the time to look at them.
func (w *Watcher) run(ctx context.Context) {
	defer w.folders.close()
	var first time.Time // of the changes that were not looked at yet
	stale := true
	var poll polling
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case ev := <-w.folders.events():
			dirty, shape := w.folders.judge(ev)
			if stale = stale || shape; !dirty {
				continue
			}
		case <-w.folders.errors(): // events were lost, or a folder cannot be watched any more
			stale = true
		case <-timer.C:
			poll = w.look(ctx, stale, poll)
			first, stale = time.Time{}, false
			if poll != notPolled {
				timer.Reset(w.o.Poll)
			}
			continue
		}
		now := time.Now()
		if first.IsZero() {
			first = now
		}
		timer.Reset(min(w.o.Debounce, first.Add(w.o.Longest).Sub(now)))
	}
}

// polling says whether the catalogue has to be looked at without an event, and why.
type polling uint8

const (
	notPolled polling = iota
	beside            // a source does not say where its skills lie; the folders of the others are watched
	instead           // not all can be watched, so that nothing is
)

// look makes a new snapshot, after the folders that are there now are watched: what changes later is seen. It returns
// whether it has to be called again without an event, as it was before or worse.
func (w *Watcher) look(ctx context.Context, stale bool, before polling) polling {
	now := before
	if stale && now != instead {
		c, why := w.Catalog(), ""
		if c.Rootless() {
			now, why = beside, "a source does not tell in which folders its skills lie"
		}
		if full := w.folders.watch(c.Roots()); full != "" {
			now, why = instead, full
		}
		if now != before {
			trace.Emit(ctx, w.o.Trace, trace.Event{Kind: Polling, Level: level(now),
				Message: "Skills are looked at every " + w.o.Poll.String() + ": " + why})
		}
	}
	_, _ = w.Refresh(ctx) // the error is that of a context that has ended, which run sees
	return now
}

// level is Info for what is as it should be.
func level(p polling) slog.Level {
	if p == instead {
		return slog.LevelWarn
	}
	return slog.LevelInfo
}
