package pyenv

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/agent-base/agent-base/internal/envstore"
	"github.com/agent-base/agent-base/internal/ondisk"
)

// caps bound what an environment may unpack to: a wheel of 3 MB can hold 6 GB.
type caps struct {
	bytes int64         // of all files, in the environment and in what it adds to uv's cache
	files int           // how many
	every time.Duration // between two looks while uv works
}

const (
	maxFiles  = 200_000
	maxRatio  = 100      // unpacked to packed
	freeRatio = 64 << 20 // unpacked bytes that are always allowed
)

// allow narrows the bytes to what packages of that packed size can need, once in uv's cache and once in the environment.
// The size is 0 when it is not known.
func (c *caps) allow(packed int64) {
	if packed > 0 && packed < c.bytes/maxRatio/2 {
		c.bytes = min(c.bytes, 2*max(packed*maxRatio, freeRatio))
	}
}

// exceeded returns the cap that is exceeded, "" for none.
func (c caps) exceeded(bytes int64, files int) string {
	switch {
	case bytes > c.bytes:
		return fmt.Sprintf("the packages unpack to more than %d bytes", c.bytes)
	case files > c.files:
		return fmt.Sprintf("the packages have more than %d files", c.files)
	}
	return ""
}

// guard watches the files that a step unpacks in the environment and in uv's cache, and ends the context of the step when
// they exceed the caps. stop ends the watch and returns the cap that was exceeded. The files of another preparation that
// uses the same cache count as well.
func (w *workshop) guard(ctx context.Context) (guarded context.Context, stop func() string) {
	over := ""
	guarded, end := envstore.Watch(ctx, w.cap.every, func() error {
		bytes, files := w.used()
		if over = w.cap.exceeded(bytes, files); over != "" {
			return ErrTooLarge
		}
		w.report(bytes)
		return nil
	})
	return guarded, func() string {
		_ = end() // over says it
		return over
	}
}

// archives lists the folders of uv's cache with unpacked files.
func (w *workshop) archives() map[string]bool {
	out := map[string]bool{}
	for _, pattern := range []string{"archive-v*/*", ".tmp*", "*/.tmp*"} {
		dirs, _ := filepath.Glob(filepath.Join(w.uvHome, pattern))
		for _, d := range dirs {
			out[d] = true
		}
	}
	return out
}

// over returns the cap that this preparation exceeds, "" for none.
func (w *workshop) over() string { return w.cap.exceeded(w.used()) }

// used measures the files that this preparation unpacked into uv's cache and into the environment.
func (w *workshop) used() (bytes int64, files int) {
	for dir := range w.archives() {
		if !w.before[dir] {
			envstore.Measure(dir, &bytes, &files)
		}
	}
	envstore.Measure(w.env, &bytes, &files)
	return bytes, files
}

// reported is how many bytes lie between two reports.
const reported = 50_000_000

// report says how far the preparation is.
func (w *workshop) report(bytes int64) {
	if steps := bytes / reported; steps > 0 {
		w.e.progress.Say(fmt.Sprintf("%s (more than %s on disk)", w.doing, size(steps*reported)))
	}
}

// discard removes the files that this preparation unpacked into uv's cache.
func (w *workshop) discard() {
	for dir := range w.archives() {
		if !w.before[dir] {
			ondisk.RemoveAll(dir)
		}
	}
}
