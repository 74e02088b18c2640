package acp

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	protocol "github.com/coder/acp-go-sdk"

	"github.com/agent-base/agent-base/agent"
	"github.com/agent-base/agent-base/cmd/agent/internal/chat"
	"github.com/agent-base/agent-base/cmd/agent/internal/todo"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
	"github.com/agent-base/agent-base/cmd/agent/internal/worker"
	"github.com/agent-base/agent-base/llm"
	"github.com/agent-base/agent-base/tool"
)

// Bounds of what is shown of a call.
const (
	mostDiff   = 1 << 20  // bytes of a file before and after
	mostResult = 20 << 10 // bytes of a result: half of them its beginning
	mostArgs   = 64 << 10 // bytes of arguments
	mostLines  = 8        // of a command that runs
)

// show shows a step of the agent.
func (s *session) show(step *agent.Step) {
	own := step.Depth == 0 // what a sub-agent says is its result
	switch {
	case step.Anew && own:
		s.say("the answer begins again")
	case step.Text != "" && own:
		s.update(protocol.UpdateAgentMessageText(step.Text))
	case step.Thought != "" && own:
		s.update(protocol.UpdateAgentThoughtText(step.Thought))
	case step.Call != nil && step.Call.Name != todo.Name:
		s.begun(step.Call)
	case step.Result != nil && step.Result.Call.Name != todo.Name:
		s.ended(step)
	case step.Notice != "":
		s.say(step.Notice)
	}
	s.tellPlan()
	s.tellMode()
	s.tellTitle()
}

// tellTitle shows the title of a new conversation once it has one.
func (s *session) tellTitle() {
	title := ui.Line(s.talk.Load().Title())
	s.mu.Lock()
	same := s.title == title
	s.title = title
	s.mu.Unlock()
	if !same {
		s.update(protocol.SessionUpdate{SessionInfoUpdate: &protocol.SessionSessionInfoUpdate{Title: &title}})
	}
}

// tellPlan shows the list of steps if a call or a command changed it.
func (s *session) tellPlan() {
	s.mu.Lock()
	items := s.talk.Load().Items()
	same := slices.Equal(s.steps, items)
	s.steps = items
	s.mu.Unlock()
	if !same {
		s.update(plan(items))
	}
}

// plan is the list of steps as the editor shows it.
func plan(items []todo.Item) protocol.SessionUpdate {
	entries := []protocol.PlanEntry{}
	for _, i := range items {
		entries = append(entries, protocol.PlanEntry{Content: ui.Line(i.Text), Status: protocol.PlanEntryStatus(i.State), Priority: protocol.PlanEntryPriorityMedium})
	}
	return protocol.UpdatePlan(entries...)
}

// callID names a call in the session: calls of different turns may have the same ID.
func (s *session) callID(id string) protocol.ToolCallId {
	s.mu.Lock()
	defer s.mu.Unlock()
	return callID(s.turn, id)
}

func callID(turn int, id string) protocol.ToolCallId {
	return protocol.ToolCallId(fmt.Sprintf("%d/%s", turn, id))
}

// begun shows a call that is about to be made.
func (s *session) begun(c *llm.Call) {
	id := s.callID(c.ID)
	s.live.begin(id, chat.CallText(c))
	s.update(start(id, c, s.talk.Load().Workspace()))
}

// start shows a call, with the files that it is about.
func start(id protocol.ToolCallId, c *llm.Call, workspace string) protocol.SessionUpdate {
	o := []protocol.ToolCallStartOpt{protocol.WithStartKind(kindOf(c.Name)), protocol.WithStartStatus(protocol.ToolCallStatusPending)}
	if len(c.Args) <= mostArgs && json.Valid(c.Args) {
		o = append(o, protocol.WithStartRawInput(c.Args))
	}
	var args struct {
		Path   string `json:"file_path"`
		Offset int
	}
	if json.Unmarshal(c.Args, &args) == nil && args.Path != "" {
		at := protocol.ToolCallLocation{Path: args.Path}
		if !filepath.IsAbs(at.Path) {
			at.Path = filepath.Join(workspace, at.Path)
		}
		if args.Offset > 0 {
			at.Line = &args.Offset
		}
		o = append(o, func(tc *protocol.SessionUpdateToolCall) { tc.Locations = []protocol.ToolCallLocation{at} })
	}
	return protocol.StartToolCall(id, chat.CallText(c), o...)
}

// ended shows the result of a call.
func (s *session) ended(step *agent.Step) {
	r := step.Result
	id := s.callID(r.Call.ID)
	s.live.end(id)
	text := worker.Outcome(r.Text)
	status := protocol.ToolCallStatusCompleted
	if !r.Result.Success {
		status = protocol.ToolCallStatusFailed
	}
	content := []protocol.ToolCallContent{}
	if c := worker.Changed(r); c != nil && r.Result.Success {
		content = append(content, diffOf(c))
	} else if text != "" {
		content = append(content, textOf(fenced(text)))
	}
	s.update(protocol.UpdateToolCall(id, protocol.WithUpdateStatus(status), protocol.WithUpdateTitle(chat.CallText(r.Call)), protocol.WithUpdateContent(content)))
}

// kindOf says what kind of work a tool does.
func kindOf(name string) protocol.ToolKind {
	switch name {
	case "read_file", "skill", "skill_read", "script_list", "script_help", "toolset_list", "mcp_resources", "mcp_read":
		return protocol.ToolKindRead
	case "write_file", "edit_file":
		return protocol.ToolKindEdit
	case "glob", "grep", "skill_search":
		return protocol.ToolKindSearch
	case "bash", "script_run", "toolset_call":
		return protocol.ToolKindExecute
	case "web_fetch":
		return protocol.ToolKindFetch
	}
	return protocol.ToolKindOther
}

func textOf(text string) protocol.ToolCallContent {
	return protocol.ToolContent(protocol.TextBlock(text))
}

func diffOf(c *ui.Change) protocol.ToolCallContent {
	before := []string{}
	if c.Existed {
		before = append(before, strings.ToValidUTF8(string(c.Before), "\uFFFD"))
	}
	return protocol.ToolDiffContent(c.Path, strings.ToValidUTF8(string(c.After), "\uFFFD"), before...)
}

// fenced returns a text as a block of Markdown that it cannot end. Of a long one the middle is left out.
func fenced(text string) string {
	text = strings.TrimRight(text, "\n")
	if cut := len(text) - mostResult; cut > 0 {
		text = fmt.Sprintf("%s\n… %d bytes …\n%s", text[:mostResult/2], cut, text[len(text)-mostResult/2:])
	}
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "\n" + strings.ToValidUTF8(text, "") + "\n" + fence
}

// livePace is how often the output of a command that runs is shown.
const livePace = 200 * time.Millisecond

// live shows the last lines of what calls write until they have ended. It is safe for concurrent use.
type live struct {
	send func(protocol.SessionUpdate)

	mu    sync.Mutex
	calls map[protocol.ToolCallId]*running
}

// running is a call that has not ended.
type running struct {
	title string
	tail  ui.Tail
	dirty bool        // the editor has not seen all of it
	timer *time.Timer // until it is shown again; nil: at once
}

func (l *live) begin(id protocol.ToolCallId, title string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.calls == nil {
		l.calls = map[protocol.ToolCallId]*running{}
	}
	l.calls[id] = &running{title: title}
}

// end forgets a call: nothing more of it is shown here.
func (l *live) end(id protocol.ToolCallId) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c := l.calls[id]; c != nil && c.timer != nil {
		c.timer.Stop()
	}
	delete(l.calls, id)
}

// resume shows that a call goes on after a question.
func (l *live) resume(id protocol.ToolCallId) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c := l.calls[id]; c != nil {
		l.send(protocol.UpdateToolCall(id, protocol.WithUpdateTitle(c.title), protocol.WithUpdateStatus(protocol.ToolCallStatusInProgress)))
	}
}

// add takes what a call has written.
func (l *live) add(id protocol.ToolCallId, text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.calls[id]
	if c == nil {
		return
	}
	c.tail.Add(text)
	c.dirty = true
	if c.timer == nil {
		l.showLocked(id, c)
	}
}

// showLocked shows what a call has written, and does so again after a while if it has written more.
func (l *live) showLocked(id protocol.ToolCallId, c *running) {
	c.dirty = false
	l.send(protocol.UpdateToolCall(id, protocol.WithUpdateStatus(protocol.ToolCallStatusInProgress),
		protocol.WithUpdateContent([]protocol.ToolCallContent{textOf(fenced(strings.Join(c.tail.Last(mostLines), "\n")))})))
	c.timer = time.AfterFunc(livePace, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if c.timer = nil; c.dirty && l.calls[id] == c {
			l.showLocked(id, c)
		}
	})
}

// watched shows what happens during a call. It never waits for the editor: what that does not keep up with is left out.
func (s *session) watched(e tool.Event) {
	text := worker.LiveText(e)
	if text == "" || e.Call == "" || s.a.out.busy() {
		return
	}
	s.live.add(s.callID(e.Call), text)
}
