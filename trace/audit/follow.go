package audit

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"os"
	"time"
)

// pollEvery is how often Follow looks for new records.
const pollEvery = 200 * time.Millisecond

// Follow yields the records that are written after it began, until ctx is done. It leaves out lines that are not records,
// and waits for a log that does not exist yet. An error ends the sequence.
func Follow(ctx context.Context, dir string) iter.Seq2[*Entry, error] {
	return func(yield func(*Entry, error) bool) {
		w := &follower{dir: dir}
		defer w.close()
		if err := w.begin(); err != nil {
			yield(nil, err)
			return
		}
		tick := time.NewTicker(pollEvery)
		defer tick.Stop()
		for w.poll(ctx, yield) {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	}
}

// follower reads what is appended to the present file.
type follower struct {
	dir  string
	f    *os.File // the present file when it was last looked for; nil if there was none
	at   int64    // where the first line begins that was not yielded
	last uint64   // the last record that was yielded or was there at the beginning
}

func (w *follower) close() {
	if w.f != nil {
		w.f.Close()
	}
}

// begin finds the last record. What the present file has is read once more by the first poll, which leaves it out.
func (w *follower) begin() error {
	root, err := os.OpenRoot(w.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer root.Close()
	end, err := lastOld(root)
	if err != nil {
		return err
	}
	f, err := openOld(root, currentName)
	if errors.Is(err, fs.ErrNotExist) {
		w.last = end.seq
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	present, err := endOf(f, info.Size())
	w.last = max(end.seq, present.seq)
	return err
}

// poll yields what is new and reports whether to go on.
func (w *follower) poll(ctx context.Context, yield func(*Entry, error) bool) bool {
	root, err := os.OpenRoot(w.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return true
	}
	if err != nil {
		return yield(nil, err) && false
	}
	defer root.Close()
	f, err := openOld(root, currentName)
	if errors.Is(err, fs.ErrNotExist) {
		return true
	}
	if err != nil {
		return yield(nil, err) && false
	}
	if w.f != nil && sameFile(w.f, f) {
		f.Close()
		return w.rest(ctx, yield)
	}
	if w.f != nil && !w.rest(ctx, yield) {
		f.Close()
		return false
	}
	w.close()
	w.f, w.at = f, 0
	return w.rest(ctx, yield)
}

func sameFile(a, b *os.File) bool {
	x, err1 := a.Stat()
	y, err2 := b.Stat()
	return err1 == nil && err2 == nil && os.SameFile(x, y)
}

// rest yields the new records of the open file. If records before them are missing, because several files were filled at
// once, it reads the whole log.
func (w *follower) rest(ctx context.Context, yield func(*Entry, error) bool) bool {
	goOn := true
	at := w.at
	readLines(ctx, w.f, &at, func(e *Entry, err error) bool {
		switch {
		case err != nil:
			goOn = yield(nil, err) && false
		case e.Err != nil || e.Seq <= w.last:
			if e.line.whole {
				w.at = at
			}
			return true
		case e.Seq > w.last+1:
			goOn = w.all(ctx, yield)
			return false
		default:
			w.last, w.at = e.Seq, at
			goOn = yield(e, nil)
		}
		return goOn
	})
	return goOn
}

// all yields the records after the last one that are in any file.
func (w *follower) all(ctx context.Context, yield func(*Entry, error) bool) bool {
	for e, err := range Read(ctx, w.dir) {
		switch {
		case err != nil:
			return yield(nil, err) && false
		case e.Err != nil || e.Seq <= w.last:
			continue
		}
		w.last = e.Seq
		if !yield(e, nil) {
			return false
		}
	}
	return true
}
