package chat

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agent-base/agent-base/agent"
	"github.com/agent-base/agent-base/cmd/agent/internal/markup"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
)

// An event is something that happens to a conversation.
type event interface{}

type (
	keyEvent   struct{ key, text string } // key as in "ctrl+c"; text is what it types, "" for none
	pasteEvent struct{ text string }
	sizeEvent  struct{ width, height int }
	stepsEvent struct { // nothing: only time has passed
		steps []agent.Step
		live  []LiveText
	}
	outputEvent struct { // of a command
		text string
		diff bool
	}
	doneEvent     struct{ err error } // the work is over
	failEvent     struct{ err error } // a command failed, and the work goes on
	fillEvent     struct{ text string }
	askEvent      struct{ question *question }
	withdrawEvent struct{ question *question }
	pauseEvent    struct{} // a question is about to be printed, without a screen
	goOnEvent     struct{} // it was answered
	noticeEvent   struct{ text string }
	newsEvent     struct{ text string } // a notice that waits, while a prompt is answered, for the end of a call or of the answer
	editedEvent   struct{ text string } // what the user made of the input
	filesEvent    struct{ files fileList }
	leaveEvent    struct{}
)

// An effect is something that a conversation asks its caller to do.
type effect interface{}

type (
	startTurn    struct{ prompt string }
	runMeanwhile struct{ startCommand }
	startCommand struct {
		command *Command
		args    string
	}
	remember struct{ entry string }
	notify   struct{ text string } // tells the user, who may look elsewhere; never foreign text
	stopWork struct{}
	leave    struct{}
	suspend  struct{}
	copyText struct{ text string } // puts a text on the clipboard
	edit     struct{ text string } // lets the user edit a text in a program of their own

	listFiles struct{} // lists the files of the project
)

// kind is the kind of what was printed last. An empty line separates two kinds.
type kind int

const (
	nothing kind = iota
	prompts
	answers
	tools
	notices
	outputs
)

// state is the conversation as the screen shows it. Finished rows go to out, which the caller prints and empties. What
// still changes is drawn by view.
type state struct {
	o             *Options
	paint         paint
	width, height int // of the screen; 0: there is no screen, lines are not wrapped and nothing is live
	now           time.Time

	out     []string
	last    kind
	flow    markup.Flow     // the answer
	thought string          // the last part of the thoughts of the model
	said    strings.Builder // the last answer as the model wrote it

	input editor
	past  *past
	hint  string // a row under the input, until the next key

	search *search     // for earlier input; nil: none
	popup  *popup      // offers what the word before the cursor may become; nil: none
	files  fileList    // for a popup
	pastes [][2]string // that are folded: what the input shows, and the text

	dismissed int // where the word begins whose popup was closed; -1: none

	queue   []string  // prompts that were typed while the agent works
	escaped bool      // the last key was an Esc that did nothing
	typed   time.Time // when a key was pressed last

	busy      bool
	stopping  bool
	begun     time.Time
	heard     time.Time // when the model last sent something
	calls     []*call
	needs     map[string][]string // by the ID of a call that runs: what is said about what it lacks
	count     int
	news      []string // that wait
	questions []*question
	asked     time.Time     // since when one waits
	answered  time.Duration // how long those before waited
	reply     editor        // to the first question
	top, read int           // of its details: the first one shown, and how many were seen
	touched   time.Time     // when it appeared, or a key came too soon after that
	status    Status
	leaving   bool
}

func newState(o *Options, entries []string) *state {
	s := &state{o: o, paint: paint(o.Colour), past: newPast(entries), needs: map[string][]string{}, now: o.Now(), status: o.Status(), dismissed: -1}
	s.flow.Copy = true
	if o.Colour {
		s.flow.Paint = s.paint.sgr
	}
	return s
}

// greet prints the greeting and, for a person, what was said last.
func (s *state) greet() {
	s.text(notices, s.o.Greeting, plainStyle)
	if said := &s.o.Said; said.Prompt != "" && (s.width > 0 || s.o.Prompt != "") {
		s.text(prompts, "> "+said.Prompt, s.paint.bold)
		s.say(said.Answer)
		s.endAnswer()
	}
}

// update handles an event. The caller keeps s.now up to date.
func (s *state) update(e event) []effect {
	switch e := e.(type) {
	case keyEvent:
		return s.key(e)
	case pasteEvent:
		s.paste(e.text)
	case sizeEvent:
		s.width, s.height = max(e.width, 1), max(e.height, 1)
		s.top, s.read = 0, 0
		s.look()
	case stepsEvent:
		s.lack(e.live)
		s.steps(e.steps)
		s.write(e.live)
		s.sayRunning()
	case outputEvent:
		s.output(e)
	case doneEvent:
		return s.done(e.err)
	case failEvent:
		s.fail(e.err)
	case fillEvent:
		if s.input.text == "" {
			s.input.set(s.refold(s.past.whole(e.text)))
		}
	case askEvent:
		s.ask(e.question)
		return s.attention("agent waits for an answer")
	case withdrawEvent:
		s.withdraw(e.question)
	case pauseEvent:
		s.endAnswer()
		s.asked = s.now
	case goOnEvent:
		s.answered += s.now.Sub(s.asked)
		s.heard = s.now
	case noticeEvent:
		s.notice(e.text)
	case newsEvent:
		s.news = append(s.news, e.text)
		if !s.busy {
			s.sayNews()
			s.status = s.o.Status()
			return s.attention("a command of agent in the background ended")
		}
	case editedEvent:
		s.input.set("")
		s.insert(strings.TrimRight(e.text, "\n"))
	case filesEvent:
		s.listed(e.files)
	case leaveEvent:
		return s.quit()
	}
	return nil
}

// room returns how wide printed rows may be. The last column stays free: terminals treat it differently.
func (s *state) room() int {
	if s.width == 0 {
		return 0
	}
	return max(s.width-1, 1)
}

// begin ends the answer and begins a block of a kind.
func (s *state) begin(k kind) {
	s.endAnswer()
	s.space(k)
}

func (s *state) space(k kind) {
	if s.last != nothing && (s.last != k || k == prompts || k == outputs) {
		s.out = append(s.out, "")
	}
	s.last = k
}

func plainStyle(s string) string { return s }

// text prints foreign text of several lines in a block of a kind.
func (s *state) text(k kind, text string, style func(string) string) {
	rows := rowsOf(text, s.room())
	if len(rows) == 0 {
		return
	}
	s.begin(k)
	for _, r := range rows {
		s.out = append(s.out, style(r))
	}
}

// output prints what a command returned.
func (s *state) output(e outputEvent) {
	style := plainStyle
	if e.diff {
		style = func(row string) string { return s.paint.sgr(string(ui.DiffStyle(row)), row) }
	}
	s.text(outputs, e.text, style)
}

// notice prints something that the user should know.
func (s *state) notice(text string) { s.text(notices, text, s.paint.dim) }

func (s *state) sayNews() {
	for _, text := range s.news {
		s.notice(text)
	}
	s.news = nil
}

func (s *state) fail(err error) {
	s.text(notices, "error: "+err.Error(), s.paint.red)
}

// answer prints rows of the model's text.
func (s *state) answer(rows []string) {
	for _, r := range rows {
		if s.last != answers {
			s.space(answers)
		}
		s.out = append(s.out, r)
	}
}

// say takes a piece of the model's answer.
func (s *state) say(text string) {
	s.said.WriteString(text)
	s.answer(s.flow.Add(text, s.room()))
}

func (s *state) endAnswer() {
	s.answer(s.flow.End(s.room()))
}

func (s *state) steps(steps []agent.Step) {
	for _, step := range steps {
		s.step(step)
	}
	if len(steps) > 0 {
		s.status, s.heard = s.o.Status(), s.now
	}
}

func (s *state) step(step agent.Step) {
	of, sub := s.follow(step)
	if step.Depth == 0 && (step.Anew || step.Call != nil) { // the answer is what follows the last call
		s.said.Reset()
	}
	if step.Depth == 0 && (step.Anew || step.Text != "" || step.Call != nil || step.Done != nil) {
		s.thought = ""
	}
	switch {
	case step.Thought != "" && step.Depth == 0:
		s.think(step.Thought)
	case step.Anew && step.Notice == "":
		s.notice("the answer was cut off and begins again")
	case step.Text != "" && sub: // the rows of the call that started the sub-agent show it
	case step.Text != "":
		s.say(step.Text)
	case step.Call != nil:
		s.endAnswer()
		s.count++
		s.calls = append(s.calls, &call{number: s.count, of: of, depth: step.Depth, call: step.Call, begun: s.clock(), waited: s.waited()})
		if len(s.calls) > maxCalls {
			s.calls = slices.Delete(s.calls, 0, 1)
		}
	case step.Result != nil:
		s.result(step.Result)
	case step.Notice != "":
		s.notice(step.Notice)
	case step.Done != nil:
		s.ended(step.Done)
	}
}

func (s *state) result(r *agent.Result) {
	same := slices.ContainsFunc(s.calls, func(c *call) bool { return c.call == r.Call }) // else the ID counts, which several sub-agents may use
	for _, c := range s.calls {
		if c.result != nil || c.stopped || c.call != r.Call && (same || r.Call == nil || c.call.ID != r.Call.ID) {
			continue
		}
		c.asked = s.waited() > c.waited
		asked := s.waited() - c.waited - r.Result.Waited // what Duration includes
		if c.result, c.took = r, max(r.Result.Duration-asked, 0); c.took == 0 {
			c.took = s.clock().Sub(c.begun)
		}
		s.printCall(c)
		c.tail = ui.Tail{}
		s.sayNews()
		return
	}
}

func (s *state) printCall(c *call) {
	s.begin(tools)
	s.out = append(s.out, c.rows(s.paint, s.clock(), s.room())...)
	if c.result == nil {
		return
	}
	indent := strings.Repeat("  ", c.depth+1)
	room := max(s.room()-len(indent), 0)
	dim := c.reason(room)
	for _, text := range s.needs[c.call.ID] {
		dim = append(dim, rowsOf(text, room)...)
	}
	delete(s.needs, c.call.ID)
	for _, r := range dim {
		s.out = append(s.out, indent+s.paint.dim(r))
	}
	printed := bounded(rowsOf(s.o.Printed(c.result), room), indent)
	if len(printed) == 0 && !c.result.Result.Success {
		printed = c.output(s.paint, s.room(), maxTail)
	}
	s.out = append(s.out, printed...)
	for _, line := range s.o.Changed(c.result) {
		row := indent + ui.DiffLine(line)
		if s.width > 0 {
			row = ui.Cut(row, s.room())
		}
		s.out = append(s.out, strings.TrimRight(s.paint.sgr(string(ui.DiffStyle(line)), row), " "))
	}
	s.todoDone(c.call.Name)
}

// running returns the calls that have not ended.
func (s *state) running() []*call {
	var calls []*call
	for _, c := range s.calls {
		if c.result == nil && !c.stopped {
			calls = append(calls, c)
		}
	}
	return calls
}

// lack keeps what is said about what calls lack, until their results are there.
func (s *state) lack(live []LiveText) {
	for _, t := range live {
		if t.Need {
			s.needs[t.Call] = append(s.needs[t.Call], t.Text)
		}
	}
}

// write takes what running calls wrote.
func (s *state) write(live []LiveText) {
	calls := s.running()
	for _, t := range live {
		for _, c := range slices.Backward(calls) {
			if c.call.ID == t.Call && !t.Need {
				c.tail.Add(t.Text)
				break
			}
		}
	}
}

// ended prints why a turn ended, where the answer does not show it.
func (s *state) ended(a *agent.Answer) {
	s.endAnswer()
	switch a.Stop {
	case agent.Empty:
		if a.Text == "" {
			s.notice("the model ended without an answer")
		}
	case agent.Length:
		if a.Cut > 0 {
			s.notice(fmt.Sprintf("the answer ends here: it was cut at %s tokens; write \"go on\" to continue", Number(a.Cut)))
			break
		}
		s.notice("the answer ends here because it reached its length limit")
	case agent.Refused:
		s.notice("the model declined to answer")
	case agent.Turns:
		requests := "requests"
		if a.Turns == 1 {
			requests = "request"
		}
		s.notice(fmt.Sprintf("stopped at the limit of %d %s for one prompt; write \"go on\" to continue", a.Turns, requests))
	case agent.Tokens:
		s.notice("stopped at the limit of tokens for one prompt; write \"go on\" to continue")
	case agent.Time:
		s.notice("stopped at the limit of time for one prompt; write \"go on\" to continue")
	}
}

// done ends the turn or the command, and begins what waits.
func (s *state) done(err error) []effect {
	s.endAnswer()
	for _, c := range s.running() {
		c.stopped, c.took = true, s.clock().Sub(c.begun)
		s.printCall(c)
	}
	for _, q := range slices.Backward(slices.Clone(s.questions)) {
		s.withdraw(q)
	}
	if errors.Is(err, ErrLeave) {
		s.busy = false
		return s.quit()
	}
	stopped := s.stopping
	switch {
	case stopped:
		s.notice("stopped")
	case err != nil:
		s.fail(err)
	}
	s.sayNews()
	s.busy, s.stopping, s.thought = false, false, ""
	s.status = s.o.Status()
	if stopped || err != nil {
		s.holdQueued()
	}
	if len(s.queue) > 0 {
		return s.sendQueued()
	}
	return s.attention("agent is ready for the next prompt")
}

// away is how long no key was pressed by somebody who may look elsewhere.
const away = 10 * time.Second

// attention notifies a user who pressed no key for a while.
func (s *state) attention(text string) []effect {
	if !s.o.Notify || s.width == 0 || s.leaving || s.now.Sub(s.typed) < away {
		return nil
	}
	return []effect{notify{text}}
}
