package worker

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/agent-base/agent-base/agent"
	"github.com/agent-base/agent-base/cmd/agent/internal/output"
	"github.com/agent-base/agent-base/cmd/agent/internal/saved"
	"github.com/agent-base/agent-base/cmd/agent/internal/todo"
	"github.com/agent-base/agent-base/llm"
	"github.com/agent-base/agent-base/session"
	"github.com/agent-base/agent-base/tool"
)

// keeper writes a conversation to the disk. The zero value writes nothing.
type keeper struct {
	where *saved.Options // nil: nothing is written
	keep  time.Duration  // how long conversations are kept
	log   *saved.Log     // nil until the first prompt
	past  *past          // of a conversation that continues, until its first prompt

	allowed []saved.Approval // by the user, before the conversation continued
	said    []string         // for the user, when it continues
	state   []byte           // of the session, as it is on the disk
	todo    []byte           // as it is on the disk
	prefix  bool             // what each request begins with is on the disk
	replace []llm.Message
	last    *saved.End // of the last turn; nil until it has ended
	why     error      // nothing is written any more
	told    bool
}

// key returns the name of the conversation for providers that route by it.
func (k *keeper) key(id string) string {
	if k.log != nil {
		return k.log.Key()
	}
	return id
}

// id returns what continues the conversation, or "" if it is not saved.
func (k *keeper) id() string {
	if k.log == nil || k.failed() != nil {
		return ""
	}
	return k.log.ID()
}

// coming returns the ID that the conversation has, or will have once it has had a prompt: id for a new one, "" if it will not be saved.
func (k *keeper) coming(id string) string {
	if k.where == nil || k.log != nil {
		return k.id()
	}
	return id
}

// begun notes that a conversation begins or continues: its prefix, and what was repaired, are written with the next prompt.
func (k *keeper) begun(c *agent.Conversation) {
	k.prefix = false
	if k.past == nil {
		return
	}
	k.prefix = k.past.same
	if now := c.Messages(); !reflect.DeepEqual(now, k.past.c.Messages) && len(now) > 0 {
		k.replace = now
	}
	k.last, k.past = k.past.c.Ended(), nil
}

// begin begins a turn.
func (k *keeper) begin(ctx context.Context, w *worker, prompt string) {
	if k.where == nil || k.why != nil {
		return
	}
	if k.log == nil {
		saved.Tidy(ctx, k.where, k.keep)
		if k.log, k.why = saved.Create(ctx, k.where, &saved.Head{ID: w.id}); k.why != nil {
			return
		}
	}
	w.prompts = k.log.Begin(w.found.String(), prompt)
	k.last = nil
	if !k.prefix {
		k.log.Prefix(&saved.Prefix{System: w.system, Tools: w.conversation.Offered(), Sources: w.sources()})
		k.prefix = true
	}
	if k.replace != nil {
		k.log.Replace(k.replace)
		k.replace = nil
	}
}

// record writes one change of what the model is sent, after the state of the session that belongs to it.
func (w *worker) record(c agent.Change) {
	k := w.keep
	if state, err := json.Marshal(w.session.State()); k.log != nil && err == nil && !bytes.Equal(state, k.state) {
		k.state = state
		k.log.State(state)
	}
	w.keepTodo()
	if k.log != nil {
		record(k.log, c)
	}
}

// keepTodo writes the list of steps if it has changed.
func (w *worker) keepTodo() {
	if list := w.todo.JSON(); w.keep.log != nil && !bytes.Equal(list, w.keep.todo) {
		w.keep.todo = list
		w.keep.log.Todo(list)
	}
}

// record writes one change of what a model is sent.
func record(log *saved.Log, c agent.Change) {
	switch {
	case c.Taken:
		log.TakeBack()
	case c.Replaced:
		log.Replace(c.All)
	case c.Tools != nil:
		log.Tools(c.Tools)
	default:
		log.Add(c.Added)
	}
}

// keepSub has what a sub-agent does written to the disk, next to the conversation that starts it.
func (w *worker) keepSub(ctx context.Context, f *tool.Fork, o *agent.Options, tools *tool.Set) {
	parent := w.keep.id()
	if parent == "" {
		return
	}
	w.subs++
	log, err := saved.Create(ctx, w.keep.where, &saved.Head{ID: saved.SubID(parent, w.s.Sys.Now(), w.subs)})
	if err != nil {
		w.emit(ctx, slog.LevelWarn, fmt.Sprintf("a sub-agent is not saved: %v", err))
		return
	}
	p := &saved.Prefix{System: o.System}
	for t := range tools.All() {
		p.Tools = append(p.Tools, llm.Tool{Name: t.Name, Description: t.Description, Input: t.Input})
	}
	log.Begin(o.Identity.Model, f.Prompt)
	log.Prefix(p)
	o.Record = func(c agent.Change) { record(log, c) }
	end := o.End
	o.End = func(ctx context.Context) {
		end(ctx)
		log.End(&saved.End{})
		log.Close()
	}
}

// end ends the turn, unless it has ended. done is nil if the user left it.
func (k *keeper) end(w *worker, done *agent.Answer, err error) {
	if k.log == nil || k.last != nil {
		return
	}
	k.last = &saved.End{Stop: string(agent.Cancelled)}
	if done != nil {
		k.last.Stop, k.last.Usage = string(done.Stop), done.Usage
		if err = cmp.Or(err, ended(done)); err != nil && done.Stop != agent.Cancelled {
			k.last.Error = err.Error()
		}
	}
	k.pay(w, llm.Usage{})
}

// pay writes how the last turn ended, anew if more was paid after its end, such as for a summary that the user asked for.
func (k *keeper) pay(w *worker, more llm.Usage) {
	if k.log == nil || k.last == nil {
		return
	}
	k.last.Usage = k.last.Usage.Add(more)
	k.last.Counted, _ = json.Marshal(w.conversation.Counted())
	k.last.State, _ = json.Marshal(w.session.State())
	k.log.End(k.last)
}

// failed returns why nothing is written any more. Sub-agents and commands in the background ask, too.
func (k *keeper) failed() error {
	if k.why == nil && k.log != nil {
		return k.log.Err()
	}
	return k.why
}

// failure returns once that the conversation is no longer saved.
func (k *keeper) failure() string {
	err := k.failed()
	if err == nil || k.told {
		return ""
	}
	k.told = true
	return fmt.Sprintf("this conversation goes on, but is not saved from here on: %v", err)
}

// clear leaves the turns so far.
func (k *keeper) clear() {
	if k.log != nil {
		k.log.Back(0)
		k.last = nil
	}
}

// turns returns the turns of the conversation that are not left, the oldest first.
func (k *keeper) turns() ([]saved.Turn, error) {
	if k.id() == "" {
		return nil, errors.New("nothing is saved that one could go back to")
	}
	c, err := saved.Read(k.where, k.log.ID(), false)
	if err != nil {
		return nil, err
	}
	return c.Turns, nil
}

// back leaves the last n turns: the conversation begins again as it was before them. It returns the first prompt that it left.
func (k *keeper) back(n int) (prompt string, err error) {
	turns, err := k.turns()
	if err != nil {
		return "", err
	}
	at, last := len(turns)-n, 0
	if at < 0 {
		return "", fmt.Errorf("the conversation has only %s", output.Count(len(turns), "prompt"))
	}
	if at > 0 {
		last = turns[at-1].Number
	}
	prompt = turns[at].Prompt
	k.log.Back(last)
	c, err := saved.Read(k.where, k.log.ID(), false)
	if err == nil {
		k.past = &past{log: k.log, c: c}
	}
	return prompt, errors.Join(err, k.failed())
}

func (k *keeper) close() {
	if k.log != nil {
		k.log.Close()
	}
}

// follow prepares the saving, and continues the conversation that the options name.
func (w *worker) follow(o *Options) {
	k := w.keep
	k.past, k.keep = o.past, o.Services.Settings.Config().Agent.Keep
	if o.ID != "" {
		w.id = o.ID
		w.journal = newJournal(w.s, w.id)
	}
	if o.past != nil {
		w.prompts, k.log, k.said, k.allowed = o.past.c.Last, o.past.log, o.past.said, o.past.c.Approvals
		if k.log != nil {
			w.id = k.log.ID()
		} else {
			w.id = o.past.c.ID
		}
		w.journal = newJournal(w.s, w.id)
	}
	if o.saves && !o.Past.Unsaved && k.keep > 0 {
		k.where = w.s.Settings.Conversations()
	}
}

// resume gives the options what a conversation that continues was sent before. What was sent stays as it was: the turn says what changed
// since.
func (w *worker) resume(ctx context.Context, o *agent.Options) {
	o.Record = w.record
	p := w.keep.past
	if p == nil {
		return
	}
	c := p.c
	o.History = c.Messages
	if len(c.Turns) > 0 && c.Turns[len(c.Turns)-1].Model == w.found.String() && c.Ended() != nil {
		_ = json.Unmarshal(c.Ended().Counted, &o.Counted) // else it is estimated
	}
	news := w.restore(ctx, c)
	w.todo.Set(todo.Read(c.Todo))
	w.keep.todo = w.todo.JSON()
	isJob := func(c *llm.Call) bool { return c.Name == "bash" && bytes.Contains(c.Args, []byte(`"background"`)) }
	if called(c.Messages, isJob) {
		news = append(news, "No command runs in the background any more.")
	}
	ran := func(c *llm.Call) bool { return c.Name == "bash" || c.Name == "script_run" }
	if called(c.Messages, ran) && !w.home.lasts(ctx) {
		news = append(news, "What commands and scripts had written to /tmp is gone.")
	}
	project := w.s.Settings.Config().Paths.Project
	if at := w.s.Settings.Conversations(); at != nil {
		project = at.Project
	}
	switch {
	case c.Prefix.System == "":
	case !strings.Contains(c.Prefix.System, w.added): // the user adds another text now
	case c.Project != project:
		news = append(news, fmt.Sprintf("Files were in %s before; now they are in %s.", c.Project, project))
	default:
		p.same = true
		w.system, o.System = c.Prefix.System, c.Prefix.System
		o.Offered = w.offered(c.Prefix.Tools)
		news = append(news, w.changed(c.Prefix.Sources)...)
	}
	w.tell(strings.Join(news, "\n"))
}

// called reports whether a conversation has such a call.
func called(messages []llm.Message, such func(*llm.Call) bool) bool {
	for _, m := range messages {
		for _, p := range m.Parts {
			if p.Call != nil && such(p.Call) {
				return true
			}
		}
	}
	return false
}

// restore activates the skills again that were active, and returns what the model is told about those that are not.
func (w *worker) restore(ctx context.Context, c *saved.Conversation) (news []string) {
	var st session.State
	_ = json.Unmarshal(c.State, &st) // nothing was active
	for _, out := range w.session.Restore(ctx, w.told, st) {
		if out.Err != nil {
			text := fmt.Sprintf("The skill '%s' is no longer active: %v.", out.Name, out.Err)
			news, w.keep.said = append(news, text), append(w.keep.said, text)
		}
	}
	return news
}

// offered returns the tools that were sent before. One that takes other arguments now is sent as it is now.
func (w *worker) offered(before []llm.Tool) []llm.Tool {
	out := slices.Clone(before)
	for i, was := range out {
		for t := range w.set.All() {
			if t.Name == was.Name && !sameJSON(t.Input, was.Input) {
				out[i] = llm.Tool{Name: t.Name, Description: t.Description, Input: t.Input}
			}
		}
	}
	return out
}

func sameJSON(a, b json.RawMessage) bool {
	var x, y bytes.Buffer
	return len(a) == 0 || json.Compact(&x, a) == nil && json.Compact(&y, b) == nil && bytes.Equal(x.Bytes(), y.Bytes())
}

// sources returns what the texts that each request begins with were made of: skills with their description, files with their digest.
func (w *worker) sources() map[string]string {
	out := map[string]string{}
	for e := range w.told.Visible() {
		out[ofSkill+e.Canonical()] = e.Description()
	}
	for _, f := range w.context.Files {
		out["file "+f.Path] = f.Digest
	}
	return out
}

// ofSkill begins the name of a source that is a skill.
const ofSkill = "skill "

// mostNamed is how many changes are named.
const mostNamed = 20

// changed names what the texts that each request begins with would be made of now.
func (w *worker) changed(before map[string]string) (news []string) {
	now := w.sources()
	about := func(name string) string {
		if strings.HasPrefix(name, ofSkill) {
			return ": " + now[name]
		}
		return ""
	}
	var all []string
	for _, name := range slices.Sorted(maps.Keys(now)) {
		was, there := before[name]
		switch {
		case !there:
			all = append(all, name+" (new"+about(name)+")")
		case was != now[name]:
			all = append(all, name+" (changed"+about(name)+")")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(before)) {
		if _, there := now[name]; !there {
			all = append(all, name+" (removed)")
		}
	}
	if len(all) == 0 {
		return nil
	}
	more := ""
	if n := len(all) - mostNamed; n > 0 {
		all, more = all[:mostNamed], fmt.Sprintf("; and %d more", n)
	}
	return []string{"Since this conversation was left, these have changed: " + strings.Join(all, "; ") + more + "."}
}
