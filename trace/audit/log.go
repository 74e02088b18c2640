package audit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/agent-base/agent-base/internal/lockfile"
	"github.com/agent-base/agent-base/trace"
)

// What an option is when it is 0.
const (
	defaultMaxSize  = 8 << 20
	defaultMaxFiles = 6
	defaultWait     = 2 * time.Second
)

// Options configures a Log. Only Dir is needed.
type Options struct {
	Dir      string        // absolute folder of the log's files; made with mode 0700
	maxSize  int64         // bytes of a file, after which the next one begins; 0 means 8 MiB
	maxFiles int           // files that are kept, the present one included; 0 means 6
	wait     time.Duration // for the lock of other processes; 0 means 2 s

	// Redact removes secrets from a text. It is called for every text of a record that may come from a skill, a model or a tool;
	// what an Identity has is the host's own. What looks like a key of a well-known service is removed in any case; nil removes
	// nothing else.
	Redact func(string) string

	// NoUsage leaves out the tokens of skills.
	NoUsage bool

	write func(*os.File, []byte) (int, error) // lets tests fill the disk
}

// Log writes the records of events. It is a trace.Tracer.
type Log struct {
	o     Options
	maker maker

	mu     sync.Mutex
	dir    *os.Root    // the folder as it was opened last, or nil
	is     os.FileInfo // of dir
	file   *os.File    // the present file in dir as it was opened last, or nil
	end    position    // of the log when this process last wrote to it
	lost   int64       // events that could not be written since the last write that succeeded
	noted  int64       // those of them that noteLoss told other processes of
	failed error       // why, or nil
	spent  spending
}

// New returns a log. It opens nothing: the folder and the files are made with the first record. A Dir that cannot be used is
// the error of each record, which Failure returns.
func New(o *Options) *Log {
	l := &Log{}
	if o != nil {
		l.o = *o
	}
	l.o.maxSize = cmp.Or(max(l.o.maxSize, 0), defaultMaxSize)
	l.o.maxFiles = cmp.Or(max(l.o.maxFiles, 0), defaultMaxFiles)
	l.o.wait = cmp.Or(max(l.o.wait, 0), defaultWait)
	if l.o.write == nil {
		l.o.write = (*os.File).Write
	}
	l.maker = newMaker(l.o.Redact)
	return l
}

// Trace writes the record of an event, if its kind is recorded. If that fails, Failure says so, and the next record is
// preceded by one of kind Lost.
func (l *Log) Trace(ctx context.Context, e trace.Event) {
	if !l.o.NoUsage {
		l.spent.count(ctx, &e)
	}
	r, ok := l.maker.record(ctx, &e)
	if !ok {
		return
	}
	if e.Kind == trace.SkillDeactivated && !l.o.NoUsage {
		r.Tokens = l.spent.take(ctx, e.Skill)
	}
	_ = l.append(ctx, &r) // kept for Failure
}

// Guard writes the record of a step that is about to begin. If it returns an error, the step must not be taken: nothing
// would say that it was. Guard also fails if events before this one were lost and their loss cannot be recorded.
func (l *Log) Guard(ctx context.Context, e trace.Event) error {
	if e.Time.IsZero() {
		e.Time = time.Now()
	}
	r, ok := l.maker.record(ctx, &e)
	if !ok {
		return nil
	}
	if err := l.append(ctx, &r); err != nil {
		return &writeError{Dir: l.o.Dir, Err: err}
	}
	return nil
}

// writeError says that a record cannot be written.
type writeError struct {
	Dir string
	Err error
}

// Error names the folder and the cause.
func (e *writeError) Error() string {
	return fmt.Sprintf("the audit log in %q cannot be written: %v", e.Dir, e.Err)
}

// Unwrap returns the cause.
func (e *writeError) Unwrap() error { return e.Err }

// Failure returns how many events could not be written since the last one that was, and why. Without such events the error
// is nil.
func (l *Log) Failure() (lost int64, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lost == 0 {
		return 0, nil
	}
	return l.lost, &writeError{Dir: l.o.Dir, Err: l.failed}
}

// append writes r, and before it how many events were lost, by this process or others.
func (l *Log) append(ctx context.Context, r *Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	err := l.locked(ctx, func() error {
		if lost := l.lost - l.noted + notedLoss(l.dir); lost > 0 {
			why := "a process that has ended could not write them"
			if l.failed != nil {
				why = l.failed.Error()
			}
			e := trace.Event{Kind: Lost, Time: time.Now(), Level: slog.LevelWarn, Message: why, Attrs: []slog.Attr{slog.Int64(trace.AttrCount, lost)}}
			note, _ := l.maker.record(ctx, &e)
			if err := l.write(&note); err != nil {
				return err
			}
			_ = l.dir.Remove(lossName) // it is recorded
		}
		l.lost, l.noted, l.failed = 0, 0, nil
		return l.write(r)
	})
	if err != nil {
		l.lost++
		l.failed = err
		if l.noteLoss() {
			l.noted++
		}
	}
	return err
}

// locked runs f while no other process writes. The end of the caller's context does not matter: what
// ended it may be what the record is about.
func (l *Log) locked(ctx context.Context, f func() error) error {
	if err := l.enter(); err != nil {
		return err
	}
	unlock, err := lockfile.Lock(context.WithoutCancel(ctx), filepath.Join(l.o.Dir, lockName), l.o.wait)
	if err != nil {
		return err
	}
	defer unlock()
	return f()
}

// enter opens the log's folder, unless the one that is open is still in its place.
func (l *Log) enter() error {
	if !filepath.IsAbs(l.o.Dir) {
		return errors.New("the folder is not an absolute path")
	}
	if info, err := os.Stat(l.o.Dir); err == nil && l.dir != nil && os.SameFile(info, l.is) {
		return lockfile.CheckOwner(l.o.Dir, info)
	}
	if err := os.MkdirAll(l.o.Dir, 0o700); err != nil {
		return err
	}
	dir, err := os.OpenRoot(l.o.Dir)
	if err != nil {
		return err
	}
	info, err := dir.Stat(".")
	if err == nil {
		err = lockfile.CheckOwner(l.o.Dir, info)
	}
	if err != nil {
		dir.Close()
		return err
	}
	if l.dir != nil {
		l.dir.Close()
		l.file.Close()
	}
	l.dir, l.is, l.file = dir, info, nil
	return nil
}

// write appends a record to the present file. It first describes what another writer left unfinished, and begins the next
// file if this one is full.
func (l *Log) write(r *Record) error {
	if err := l.open(); err != nil {
		return err
	}
	end, err := l.position()
	if err != nil {
		return err
	}
	if end.torn.lines > 0 {
		note := Record{Timestamp: r.Timestamp, Event: Repaired, Count: end.torn.size, SHA256: end.torn.sum()}
		if end, err = l.put(end, &note); err != nil {
			return err
		}
	}
	if end.size > 0 && end.size >= l.o.maxSize {
		if err := l.rotate(end); err != nil {
			return err
		}
		end = position{seq: end.seq, hash: end.hash}
	}
	end, err = l.put(end, r)
	if err == nil {
		end.file, err = l.file.Stat()
	}
	l.end = end
	return err
}

// put writes r after what is at end, in one call. It returns the new end; after an error it returns the zero position, so
// the file is read again.
func (l *Log) put(end position, r *Record) (position, error) {
	r.Seq, r.Prev = end.seq+1, end.hash
	line, err := encode(r)
	if err != nil {
		return position{}, err
	}
	if end.open {
		line = append([]byte("\n"), line...)
	}
	if _, err := l.o.write(l.file, line); err != nil {
		return position{}, err
	}
	return position{size: end.size + int64(len(line)), seq: r.Seq, hash: r.Hash}, nil
}
