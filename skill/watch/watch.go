// Package watch keeps a catalog up to date while its files change. It watches the folders of the skills, and when they have
// been quiet for a moment it refreshes the catalog and replaces the old snapshot.
//
// It watches manifests and the creation and removal of folders. Other files of a skill are read when they are needed and do
// not change the catalog. If the system cannot watch that many folders, or a source does not say where its skills are (it
// is not skill.Rooted), the package refreshes the catalog at fixed intervals and emits the event Polling. It assumes that
// the bundled skills of an FS source do not change. It executes nothing and reads only names of files.
//
// A Watcher is safe for concurrent use. It has one goroutine; Close ends it and waits for it.
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

// Polling is the event for refreshing the catalog at fixed intervals. Its message has the reason.
const Polling trace.Kind = "catalog_polling"

// maxWatches is the largest number of watched folders.
const maxWatches = 4096

// Options configures a Watcher. Catalog must not be nil.
type Options struct {
	Catalog  *skill.Catalog
	debounce time.Duration // how long the files must be quiet before a refresh; 0 means 200 ms
	longest  time.Duration // the longest time from a change to a refresh; 0 means 2 s
	poll     time.Duration // the interval between refreshes if not everything is watched; 0 means 2 s

	// OnChange is called after each new snapshot, one call at a time. It must not call Refresh or Close of the Watcher.
	OnChange func(old, new *skill.Catalog, change Change)
	Trace    trace.Tracer
}

// Watcher has the current snapshot of a catalog.
type Watcher struct {
	o       Options
	current atomic.Pointer[skill.Catalog]
	cancel  context.CancelFunc
	done    chan struct{}

	folders folders      // used by the goroutine only
	looks   atomic.Int64 // number of calls of Refresh, for tests

	mu sync.Mutex // held during a refresh
}

// Start starts watching. The Watcher stops when ctx is done or Close is called. Start panics if Options.Catalog is nil.
func Start(ctx context.Context, o *Options) *Watcher {
	return start(ctx, o, folders{max: maxWatches, open: fsnotify.NewWatcher})
}

func start(ctx context.Context, o *Options, f folders) *Watcher {
	if o == nil || o.Catalog == nil {
		panic("watch: Start needs Options.Catalog")
	}
	w := &Watcher{o: *o, done: make(chan struct{}), folders: f}
	for _, d := range []struct {
		at    *time.Duration
		usual time.Duration
	}{{&w.o.debounce, 200 * time.Millisecond}, {&w.o.longest, 2 * time.Second}, {&w.o.poll, 2 * time.Second}} {
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

// Catalog returns the current snapshot.
func (w *Watcher) Catalog() *skill.Catalog { return w.current.Load() }

// Refresh refreshes the catalog at once and returns the new snapshot. If ctx is done it returns the error of ctx and the
// old snapshot.
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

// Close stops watching and waits for the goroutine to end. The current snapshot stays. Calling Close again does nothing.
func (w *Watcher) Close() {
	w.cancel()
	<-w.done
}

// run waits for changes and refreshes the catalog when it is time.
func (w *Watcher) run(ctx context.Context) {
	defer w.folders.close()
	var first time.Time // of the changes since the last refresh
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
		case <-w.folders.errors(): // events were lost, or a folder can no longer be watched
			stale = true
		case <-timer.C:
			poll = w.look(ctx, stale, poll)
			first, stale = time.Time{}, false
			if poll != notPolled {
				timer.Reset(w.o.poll)
			}
			continue
		}
		now := time.Now()
		if first.IsZero() {
			first = now
		}
		timer.Reset(min(w.o.debounce, first.Add(w.o.longest).Sub(now)))
	}
}

// polling says whether the catalog is refreshed without an event.
type polling uint8

const (
	notPolled polling = iota
	partly            // a source does not say where its skills are; the folders of the others are watched
	always            // not all folders can be watched, so none is
)

// look watches the folders that exist now and then refreshes the catalog, so a later change is seen. It returns whether it
// must be called again without an event. That state never improves.
func (w *Watcher) look(ctx context.Context, stale bool, before polling) polling {
	now := before
	if stale && now != always {
		c, why := w.Catalog(), ""
		if c.Rootless() {
			now, why = partly, "a source does not say where its skills are"
		}
		if full := w.folders.watch(c.Roots()); full != "" {
			now, why = always, full
		}
		if now != before {
			trace.Emit(ctx, w.o.Trace, trace.Event{Kind: Polling, Level: level(now),
				Message: "Skills are refreshed every " + w.o.poll.String() + ": " + why})
		}
	}
	_, _ = w.Refresh(ctx) // the error is that of ctx, which run checks
	return now
}

// level returns the level of the event Polling.
func level(p polling) slog.Level {
	if p == always {
		return slog.LevelWarn
	}
	return slog.LevelInfo
}
