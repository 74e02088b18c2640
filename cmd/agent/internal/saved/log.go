package saved

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/agent-base/agent-base/internal/lockfile"
	"github.com/agent-base/agent-base/llm"
)

// Log writes one conversation. After the first write that fails it writes nothing more, and Err says why. It is safe for
// concurrent use.
type Log struct {
	o    Options
	head Head
	dir  string // the folder of its project

	mu     sync.Mutex
	file   *os.File
	unlock func()
	size   int64
	title  string
	turns  []int // the numbers of the turns that were not left
	last   int   // the greatest number so far
	album  album // without the bytes
	dirty  bool
	fresh  bool // the names in the folders are not durable yet
	err    error
}

const (
	suffix     = ".jsonl"
	lockSuffix = ".lock"
	tryOnce    = time.Nanosecond // a wait for a lock that is over at once
)

// Create makes the file of a new conversation, whose name is h.ID or else a new one, and locks it. It is synced with the first turn.
func Create(ctx context.Context, o *Options, h *Head) (*Log, error) {
	if err := os.MkdirAll(o.folder(), 0o700); err != nil {
		return nil, err
	}
	if err := checkFolders(o.folder()); err != nil {
		return nil, err
	}
	l := &Log{o: *o, head: *h, dir: o.folder(), fresh: true}
	l.head.Project, l.head.Began = o.Project, o.Now().UTC()
	if l.head.ID == "" {
		l.head.ID = NewID(l.head.Began)
	}
	if err := o.name(ctx); err != nil {
		return nil, err
	}
	if err := l.create(ctx); err != nil {
		return nil, fmt.Errorf("the conversation cannot be saved: %w", err)
	}
	if l.head.Key == "" {
		l.head.Key = l.head.ID
	}
	head := &line{Kind: kindHead, ID: l.head.ID, Format: Format, Project: text(l.head.Project), From: l.head.From, Key: l.head.Key, Time: &l.head.Began}
	l.append(head)
	if err := l.Err(); err != nil {
		l.remove()
		return nil, err
	}
	return l, nil
}

// create locks the name and makes the file.
func (l *Log) create(ctx context.Context) (err error) {
	if l.unlock, err = lockfile.Lock(ctx, l.lockPath(), tryOnce); err != nil {
		return err
	}
	l.file, err = os.OpenFile(l.path(), os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o600)
	if err == nil {
		return nil
	}
	if !errors.Is(err, fs.ErrExist) {
		_ = os.Remove(l.lockPath())
	}
	l.unlock()
	return err
}

func (l *Log) path() string     { return filepath.Join(l.dir, l.head.ID+suffix) }
func (l *Log) lockPath() string { return filepath.Join(l.dir, l.head.ID+lockSuffix) }

// remove removes what Create made, after an error.
func (l *Log) remove() {
	_ = os.Remove(l.path())
	_ = os.Remove(l.lockPath())
	l.Close()
}

// Open locks a conversation and reads it, so that it continues. The error is ErrUnknown, ErrInUse, ErrNewer, ErrLarge, or says
// why the file is refused. With ErrNewer the conversation is returned, too.
func Open(ctx context.Context, o *Options, id string) (*Log, *Conversation, error) {
	dir, here, err := o.find(id)
	if err != nil {
		return nil, nil, err
	}
	l := &Log{o: *o, head: Head{ID: id}, dir: dir}
	l.unlock, err = lockfile.Lock(ctx, l.lockPath(), tryOnce)
	if errors.Is(err, lockfile.ErrLocked) {
		return nil, nil, ErrInUse
	}
	if err != nil {
		return nil, nil, err
	}
	c, err := read(dir, id, here, false)
	if err == nil {
		err = l.reopen(c)
	}
	if err != nil {
		l.Close()
		return nil, c, err
	}
	return l, c, nil
}

// reopen opens a file that was read to append to it.
func (l *Log) reopen(c *Conversation) error {
	f, info, err := openFile(l.path(), os.O_RDWR|os.O_APPEND)
	if err != nil {
		return err
	}
	l.file, l.size, l.head = f, info.Size(), c.Head
	l.follow(c)
	last := []byte{'\n'}
	if l.size > 0 {
		_, err = f.ReadAt(last, l.size-1)
	}
	if err == nil && last[0] != '\n' { // the line that was cut off stays a line of its own
		err = l.write([]byte{'\n'})
	}
	return err
}

// follow takes over what a conversation says about its turns.
func (l *Log) follow(c *Conversation) {
	l.title, l.last, l.turns, l.album = c.Title, c.Last, nil, album{all: map[string]llm.Media{}, size: c.album.size}
	for id := range c.album.all {
		l.album.all[id] = llm.Media{}
	}
	for _, t := range c.Turns {
		l.turns = append(l.turns, t.Number)
	}
}

// Fork makes a copy of a conversation, which another process may continue at the same time, and locks it. Errors are those of
// Open, without ErrInUse.
func Fork(ctx context.Context, o *Options, id string) (*Log, *Conversation, error) {
	dir, here, err := o.find(id)
	if err != nil {
		return nil, nil, err
	}
	c, err := read(dir, id, here, false)
	if err != nil {
		return nil, c, err
	}
	project := c.Project // what its prefix is about
	l, err := Create(ctx, o, &Head{From: id, Key: c.Key})
	if err != nil {
		return nil, nil, err
	}
	if err = l.copy(filepath.Join(dir, id+suffix)); err == nil {
		c, err = read(l.dir, l.head.ID, here, false)
	}
	if err != nil {
		l.remove()
		return nil, nil, err
	}
	l.follow(c)
	c.Project = project
	return l, c, nil
}

// copy appends the whole lines of a file, but for its head.
func (l *Log) copy(path string) error {
	f, _, err := openFile(path, os.O_RDONLY)
	if err != nil {
		return err
	}
	defer f.Close()
	src, err := io.ReadAll(io.LimitReader(f, MaxFile))
	if err != nil {
		return err
	}
	src = src[:bytes.LastIndexByte(src, '\n')+1]
	first, rest, _ := bytes.Cut(src, []byte("\n"))
	if h, err := parseLine(first); err == nil && h.Kind == kindHead {
		src = rest
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.write(src)
}

// ID returns the name of the conversation.
func (l *Log) ID() string { return l.head.ID }

// Title returns the beginning of the first prompt.
func (l *Log) Title() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.title
}

// Key returns the name of the conversation for providers that route by it.
func (l *Log) Key() string { return l.head.Key }

// Err returns why the conversation is no longer saved, nil if it is.
func (l *Log) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// Close ends the writing and unlocks the conversation.
func (l *Log) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file != nil {
		l.sync()
		_ = l.file.Close() // what matters was synced
		l.file = nil
	}
	if l.unlock != nil {
		l.unlock()
		l.unlock = nil
	}
}

// Begin begins a turn with the user's prompt, and returns its number.
func (l *Log) Begin(model, prompt string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	prompt = shorten(string(cleaner(l.o.Redact).text(prompt)), maxTitle) // half a secret would not be found
	if l.title == "" {
		l.title = prompt
	}
	l.last++
	l.turns = append(l.turns, l.last)
	now := l.o.Now().UTC()
	l.appendLocked(&line{Kind: kindBegin, Title: text(l.title), Count: len(l.turns), Turn: l.last, Model: model, Time: &now, Prompt: text(prompt)})
	return l.last
}

// shorten returns the beginning of a text as one line.
func shorten(s string, most int) string {
	s = strings.Join(strings.Fields(s[:min(len(s), 8*most)]), " ")
	if len(s) <= most {
		return strings.ToValidUTF8(s, "\uFFFD")
	}
	cut := most - len("…")
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return strings.ToValidUTF8(s[:cut], "\uFFFD") + "…"
}

// End ends the last turn that is not left, or says anew how it ended, and syncs.
func (l *Log) End(e *End) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := len(l.turns)
	if n == 0 {
		return
	}
	e.Error = shorten(string(cleaner(l.o.Redact).text(e.Error)), maxError)
	l.appendLocked(&line{Kind: kindEnd, Title: text(l.title), Count: n, Turn: l.turns[n-1], End: e})
	l.sync()
}

// State records what the caller needs to continue, before the result of a call that changed it.
func (l *Log) State(state json.RawMessage) { l.append(&line{Kind: kindState, State: state}) }

// Todo records the list of steps, before the result of the call that wrote it.
func (l *Log) Todo(list json.RawMessage) {
	l.append(&line{Kind: kindTodo, Todo: json.RawMessage(cleaner(l.o.Redact).json(string(list)))})
}

// Back leaves the turns after the one with that number, 0 for all: the next one follows it.
func (l *Log) Back(number int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.turns) > 0 && l.turns[len(l.turns)-1] > number {
		l.turns = l.turns[:len(l.turns)-1]
	}
	l.appendLocked(&line{Kind: kindBack, Title: text(l.title), Count: len(l.turns), Turn: number})
	l.sync()
}

// Prefix records what every request begins with from now on.
func (l *Log) Prefix(p *Prefix) {
	c := cleaner(l.o.Redact)
	system := c.text(p.System)
	l.append(&line{Kind: kindPrefix, System: &system, Tools: c.tools(p.Tools), Sources: p.Sources})
}

// Tools records tools that the model is offered after the others.
func (l *Log) Tools(tools []llm.Tool) {
	l.append(&line{Kind: kindTools, Tools: cleaner(l.o.Redact).tools(tools)})
}

// Add records parts at the end of the messages. Before calls are run, and when a result has come, it syncs.
func (l *Log) Add(m llm.Message) {
	acts := false
	for _, p := range m.Parts {
		acts = acts || p.Call != nil || p.Result != nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	parts := cleaner(l.o.Redact).parts(l.keep([]llm.Message{m})[0].Parts)
	if len(parts) == 0 {
		return
	}
	l.appendLocked(&line{Kind: kindMessage, Role: m.Role, Parts: parts})
	if acts {
		l.sync()
	}
}

// TakeBack records that the last part of the last message is taken back.
func (l *Log) TakeBack() { l.append(&line{Kind: kindTaken}) }

// Replace records that the messages are others, such as a summary and the end of what was said.
func (l *Log) Replace(messages []llm.Message) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.appendLocked(&line{Kind: kindCut, Messages: cleaner(l.o.Redact).messages(l.keep(messages))})
}

// Approve records what the user allowed for the rest of the conversation.
func (l *Log) Approve(a *Approval) { l.append(&line{Kind: kindApproval, Approval: a}) }

func (l *Log) append(one *line) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.appendLocked(one)
}

func (l *Log) appendLocked(one *line) {
	if l.err != nil || l.file == nil {
		return
	}
	b, err := one.encode()
	switch {
	case err != nil:
		l.err = err
	case len(b) > maxLine, l.size+int64(len(b)) > MaxFile:
		l.err = ErrLarge
	default:
		l.err = l.write(b)
	}
}

func (l *Log) write(b []byte) error {
	write := l.o.write
	if write == nil {
		write = l.file.Write
	}
	n, err := write(b)
	l.size += int64(n)
	l.dirty = true
	return err
}

// sync makes what was written durable.
func (l *Log) sync() {
	if l.err != nil || !l.dirty {
		return
	}
	l.err = l.file.Sync()
	if l.fresh && l.err == nil {
		l.err = errors.Join(lockfile.SyncFolder(l.dir), lockfile.SyncFolder(l.o.Dir))
	}
	l.dirty, l.fresh = false, false
}

// openFile opens a conversation. It refuses links, special files, and files that another user could have changed.
func openFile(path string, flag int) (*os.File, fs.FileInfo, error) {
	before, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, ErrUnknown
	}
	if err != nil {
		return nil, nil, err
	}
	if err := fit(path, before); err != nil {
		return nil, nil, err
	}
	f, err := os.OpenFile(path, flag|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && !os.SameFile(before, info) {
		err = fmt.Errorf("%q was replaced while it was opened", path)
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// fit returns an error for a file that is not taken for a conversation.
func fit(path string, info fs.FileInfo) error {
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return fmt.Errorf("%q is a symbolic link: conversations are not followed through links", path)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%q is not a regular file (%s)", path, info.Mode().Type())
	case lockfile.Names(info) > 1:
		return fmt.Errorf("%q has a second name (a hard link): copy it to a file of its own", path)
	case info.Size() > MaxFile:
		return fmt.Errorf("%q has %d MB: %w", path, info.Size()>>20, ErrLarge)
	}
	return lockfile.CheckOwner(path, info)
}

// checkFolders refuses a folder of conversations, and the folder above it, that others could change.
func checkFolders(dir string) error {
	for _, path := range []string{filepath.Dir(dir), dir} {
		info, err := os.Lstat(path)
		switch {
		case err != nil:
			return err
		case !info.IsDir():
			return fmt.Errorf("%q is not a folder", path)
		}
		if err := lockfile.CheckOwner(path, info); err != nil {
			return err
		}
	}
	return nil
}
