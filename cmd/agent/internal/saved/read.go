package saved

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/agent-base/agent-base/llm"
)

// Read reads a conversation without locking it: it may be one that continues. With all, the turns have their messages. The error is
// ErrUnknown, ErrLarge, ErrNewer, with which the conversation is returned, too, or says why the file is refused.
func Read(o *Options, id string, all bool) (*Conversation, error) {
	dir, here, err := o.find(id)
	if err != nil {
		return nil, err
	}
	return read(dir, id, here, all)
}

func read(dir, id string, here, all bool) (*Conversation, error) {
	if err := checkFolders(dir); err != nil {
		return nil, err
	}
	f, info, err := openFile(filepath.Join(dir, id+suffix), os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r := &reader{all: all}
	if err := r.read(io.LimitReader(f, MaxFile)); err != nil {
		return nil, fmt.Errorf("%q cannot be read: %w", f.Name(), err)
	}
	c := &r.c
	c.ID, c.Updated, c.Here = id, info.ModTime(), here // a copy that was made by hand has the name of its file
	if c.Project == "" {
		c.Project = readProject(dir).Path
	}
	if c.Key == "" {
		c.Key = id
	}
	if r.newer {
		return c, ErrNewer
	}
	return c, nil
}

// reader puts a conversation together from its lines.
type reader struct {
	all    bool // keeps what was said in each turn
	c      Conversation
	before []before // for each turn what there was when it began
	headed bool
	newer  bool // see ErrNewer
}

// before is what there was when a turn began.
type before struct {
	messages []llm.Message
	todo     json.RawMessage
}

// read reads lines to the end. What is longer than maxLine is no line.
func (r *reader) read(src io.Reader) error {
	in := bufio.NewReaderSize(src, 64<<10)
	var buf []byte
	for {
		piece, err := in.ReadSlice('\n')
		if len(buf) <= maxLine {
			buf = append(buf, piece...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil && err != io.EOF {
			return err
		}
		if len(buf) > 0 {
			r.line(buf, err == nil)
			buf = buf[:0]
		}
		if err == io.EOF {
			return nil
		}
	}
}

// line reads one line. One that does not end is the last.
func (r *reader) line(src []byte, whole bool) {
	if len(bytes.TrimSpace(src)) == 0 {
		return
	}
	l, err := parseLine(src)
	if err == nil {
		err = r.apply(l)
	}
	switch {
	case err == nil:
	case !whole:
		r.c.Torn = true
	default:
		r.c.Damaged++
	}
}

// parseLine reads a line.
func parseLine(src []byte) (*line, error) {
	if len(src) > maxLine {
		return nil, errLine
	}
	l := &line{}
	if err := json.Unmarshal(src, l); err != nil {
		return nil, err
	}
	return l, nil
}

// apply does what a line says. After an error it has changed nothing.
func (r *reader) apply(l *line) error {
	c := &r.c
	switch l.Kind {
	case kindHead:
		if r.headed || l.Format < 1 {
			return errLine
		}
		r.headed, r.newer = true, l.Format > Format
		c.Head = Head{Project: string(l.Project), From: l.From, Key: l.Key}
		if l.Time != nil {
			c.Began = *l.Time
		}
	case kindPrefix, kindTools:
		return r.prefix(l)
	case kindMessage:
		m, err := r.message(l.Role, l.Parts)
		if err != nil || len(m.Parts) == 0 {
			return errLine
		}
		c.Messages = join(c.Messages, m)
		if n := len(c.Turns); r.all && n > 0 {
			c.Turns[n-1].Messages = join(c.Turns[n-1].Messages, m)
		}
	case kindMedia:
		return r.media(l)
	case kindTaken:
		c.Messages = withoutLast(c.Messages)
	case kindCut:
		messages, err := r.messages(l.Messages)
		if err != nil {
			return err
		}
		c.Messages = messages
	case kindApproval:
		if l.Approval == nil || l.Approval.Text == "" {
			return errLine
		}
		if !slices.Contains(c.Approvals, *l.Approval) {
			c.Approvals = append(c.Approvals, *l.Approval)
		}
	default:
		return r.turn(l)
	}
	return nil
}

func (r *reader) prefix(l *line) error {
	tools, err := readTools(l.Tools)
	switch {
	case err != nil:
		return err
	case l.Kind == kindTools:
		r.c.Prefix.Tools = append(slices.Clip(r.c.Prefix.Tools), tools...)
	case l.System == nil:
		return errLine
	default:
		r.c.Prefix = Prefix{System: string(*l.System), Tools: tools, Sources: l.Sources}
	}
	return nil
}

func (r *reader) turn(l *line) error {
	c := &r.c
	switch l.Kind {
	case kindBegin:
		if l.Turn <= c.Last || l.Time == nil {
			return errLine
		}
		c.Last, c.Title = l.Turn, string(l.Title)
		r.before = append(r.before, before{slices.Clip(c.Messages), c.Todo})
		c.Turns = append(c.Turns, Turn{Number: l.Turn, Began: *l.Time, Model: l.Model, Prompt: string(l.Prompt)})
	case kindEnd:
		n := len(c.Turns)
		if n == 0 || c.Turns[n-1].Number != l.Turn || l.End == nil {
			return errLine
		}
		c.Turns[n-1].End = l.End
		if l.End.State != nil {
			c.State = l.End.State
		}
	case kindState:
		if l.State == nil {
			return errLine
		}
		c.State = l.State
	case kindTodo:
		if l.Todo == nil {
			return errLine
		}
		c.Todo = l.Todo
	case kindBack:
		for n := len(c.Turns); n > 0 && c.Turns[n-1].Number > l.Turn; n-- {
			c.Messages, c.Todo = r.before[n-1].messages, r.before[n-1].todo
			c.Left = append(c.Left, c.Turns[n-1])
			c.Turns, r.before = c.Turns[:n-1], r.before[:n-1]
			c.State = c.lastState()
		}
	default:
		return errLine
	}
	return nil
}

// lastState returns the state at the end of the last turn that ended.
func (c *Conversation) lastState() json.RawMessage {
	for _, t := range slices.Backward(c.Turns) {
		if t.End != nil && t.End.State != nil {
			return t.End.State
		}
	}
	return nil
}

// join adds parts at the end of messages, as an agent.Conversation does. It changes none of them.
func join(messages []llm.Message, m llm.Message) []llm.Message {
	n := len(messages)
	if n == 0 || messages[n-1].Role != m.Role {
		return append(messages, m)
	}
	last := llm.Message{Role: m.Role, Parts: slices.Concat(messages[n-1].Parts, m.Parts)}
	return append(slices.Clone(messages[:n-1]), last)
}

// withoutLast returns messages without the last part.
func withoutLast(messages []llm.Message) []llm.Message {
	n := len(messages) - 1
	if n < 0 {
		return messages
	}
	m := messages[n]
	messages = slices.Clip(messages[:n])
	if keep := len(m.Parts) - 1; keep > 0 {
		messages = append(messages, llm.Message{Role: m.Role, Parts: slices.Clip(m.Parts[:keep])})
	}
	return messages
}
