package chat

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
)

// askFunc asks a question and returns the answer, as ui.Streams.Ask does.
type askFunc func(ctx context.Context, q *ui.Question) (string, error)

// Prompter passes the questions of tools to the user of a conversation, and what calls write while they run. The zero value is ready
// for use. It is safe for concurrent use.
type Prompter struct {
	mu   sync.Mutex
	ask  askFunc        // nil: no person can be asked now
	live func(LiveText) // nil: nobody sees it now
	news func(string)   // nil: there is no screen
}

// LiveText is a piece of what a call writes while it runs, or with Need what is said about something that it lacks. It may be foreign
// text.
type LiveText struct {
	Call, Text string
	Need       bool
}

// Live shows what a call writes until its result is there, and then what it lacked. It never waits for the screen.
func (p *Prompter) Live(t LiveText) {
	p.mu.Lock()
	live := p.live
	p.mu.Unlock()
	if live != nil {
		live(t)
	}
}

// Ask asks a question and returns the answer, as ui.Streams.Ask does. It shows the details with the question, line by line;
// all of it may be foreign text. Only a key that is pressed after the question appeared is an answer. Without a person to ask the
// answer is "", and nothing is shown. When ctx is done first, Ask returns its error.
func (p *Prompter) Ask(ctx context.Context, q *ui.Question) (string, error) {
	p.mu.Lock()
	ask := p.ask
	p.mu.Unlock()
	if ask == nil {
		return "", nil
	}
	return ask(ctx, q)
}

// News shows what happened in the background, such as the end of a command: at once, or while a prompt is answered, after the next
// call. Without a screen it does not call texts.
func (p *Prompter) News(texts func() []string) {
	p.mu.Lock()
	news := p.news
	p.mu.Unlock()
	if news == nil {
		return
	}
	for _, text := range texts() {
		news(text)
	}
}

// attach makes ask and live the ways to the user. nil removes one.
func (p *Prompter) attach(ask askFunc, live func(LiveText)) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ask, p.live = ask, live
}

// tell makes news the way to the screen.
func (p *Prompter) tell(news func(string)) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.news = news
}

// question is a question that waits for its answer. The channel takes one answer without a reader.
type question struct {
	ui.Question
	answer chan string
	call   string // the ID of the call that asks, "" if it is not known
}

// ask takes a question. Several questions wait for their turn: only the first is on the screen, so an answer is never
// meant for another one.
func (s *state) ask(q *question) {
	if s.width == 0 || !s.busy {
		q.answer <- ""
		return
	}
	s.endAnswer()
	if s.questions = append(s.questions, q); len(s.questions) == 1 {
		s.asked = s.now
		s.pose()
	}
}

// waited is how long questions have waited for the user: calls do not last longer for it.
func (s *state) waited() time.Duration {
	if len(s.questions) == 0 {
		return s.answered
	}
	return s.answered + s.now.Sub(s.asked)
}

// clock is the time without that in which a question waited.
func (s *state) clock() time.Time { return s.now.Add(-s.waited()) }

// pose begins to show the first question.
func (s *state) pose() {
	s.reply, s.top, s.read, s.hint, s.touched = editor{}, 0, 0, "", s.now
	s.look()
}

// panel is the first question on the screen. It is drawn below everything else and is never scrolled away. Each of its
// rows begins with ui.Mark, which no foreign text contains.
type panel struct {
	title   []string
	details []string // all of them
	styles  []style  // of the details
	below   []string // what the answers mean, below the details
	room    int      // how many of the details are shown at once
	small   bool     // the window is too small for the question
}

func (s *state) panel() panel {
	q := s.questions[0]
	p := panel{title: q.Title(s.width), details: ui.Framed(q.Details, s.width), below: q.Below(s.width)}
	p.styles = s.styles(q, p.details)
	const others = 3 // an empty row, the prompt and the status line
	room := s.height - 1 - others - len(p.title) - len(p.below)
	p.room = max(min(room, len(p.details)), 0)
	p.small = room < min(1, len(p.details))
	return p
}

// look notes which details the user sees now. A yes counts only when all were seen.
func (s *state) look() {
	if len(s.questions) == 0 {
		return
	}
	p := s.panel()
	s.top = max(min(s.top, len(p.details)-p.room), 0)
	s.read = max(s.read, s.top+p.room)
}

// unread returns how many details the user has not seen yet.
func (s *state) unread() int {
	p := s.panel()
	if p.small {
		return max(len(p.details), 1)
	}
	return max(len(p.details)-s.read, 0)
}

// questionView draws the first question.
func (s *state) questionView() screen {
	p := s.panel()
	var rows []string
	if s.last != nothing || len(s.out) > 0 {
		rows = append(rows, "")
	}
	rows = append(rows, s.asking(s.height-len(rows)-len(p.title)-p.room-len(p.below)-3)...)
	prompt := ui.Mark + " " + s.questions[0].prompt() + " " + ui.Line(s.reply.text)
	if n := s.unread(); p.small {
		prompt, p.title = ui.Mark+" too little room for a question: enlarge the window, or Esc refuses", nil
	} else if n > 0 {
		prompt = fmt.Sprintf("%s %s: Space shows them, Esc refuses", ui.Mark, moreLines(n))
	}
	for _, r := range p.title {
		rows = append(rows, s.marked(r, s.paint.bold))
	}
	for i, r := range p.details[s.top : s.top+p.room] {
		rows = append(rows, s.marked(r, p.styles[s.top+i]))
	}
	if !p.small {
		for _, r := range p.below {
			rows = append(rows, s.marked(r, plainStyle))
		}
	}
	prompt = ui.Cut(prompt, s.room())
	last := s.statusLine()
	if s.hint != "" { // in place of the status line: nothing of the question moves
		last = s.paint.yellow(ui.Cut(s.hint, s.room()))
	}
	return screen{rows: append(rows, s.marked(prompt, s.paint.yellow), last), x: ui.Columns(prompt), y: len(rows)}
}

// asking returns the rows of the call that the first question is about, below those of the sub-agent that made it. It returns none if they
// are more than most rows, or if several calls run and the question does not name one of them.
func (s *state) asking(most int) (rows []string) {
	run := s.running()
	about := keep(run, func(c *call) bool { return c.call.ID == s.questions[0].call })
	if len(about) != 1 {
		about = keep(run, func(c *call) bool { return c.depth == 0 })
	}
	if len(about) != 1 {
		return nil
	}
	for _, c := range run {
		parent := c.depth < about[0].depth && (about[0].of == 0 || about[0].of == c.number)
		if c == about[0] || parent {
			rows = append(rows, c.rows(s.paint, s.clock(), s.room())...)
		}
	}
	if len(rows)+1 > most {
		return nil
	}
	return append(rows, "")
}

// keep returns the calls that are such.
func keep(calls []*call, such func(*call) bool) []*call {
	return slices.DeleteFunc(slices.Clone(calls), func(c *call) bool { return !such(c) })
}

func moreLines(n int) string {
	if n == 1 {
		return "1 more line"
	}
	return Number(n) + " more lines"
}

// marked colours a row of a question.
func (s *state) marked(row string, style func(string) string) string {
	return s.paint.yellow(ui.Mark) + style(strings.TrimPrefix(row, ui.Mark))
}

// replyKey handles a key while a question waits. What was typed before the question appeared is not its answer: that is
// in the input.
func (s *state) replyKey(k keyEvent) []effect {
	s.hint = ""
	q, page := s.questions[0], max(s.panel().room, 1)
	if answer, ok := s.chosen(k); ok {
		if open, opens := q.Opened(answer); opens {
			q.Question = *open
			s.pose()
		} else {
			s.close(answer, s.verdict(q, answer))
		}
		return nil
	}
	switch k.key {
	case "esc", "ctrl+d":
		s.refuse()
	case "ctrl+c":
		s.refuse()
		return s.interrupt()
	case "pgup", "up":
		s.top -= page
	case "pgdown", "down":
		s.top += page
	case "space":
		if s.unread() > 0 || !q.Free {
			s.top += page
		} else {
			s.reply.insert(" ")
		}
	case "enter", "kpenter":
		switch {
		case s.unread() > 0:
			s.top += page
		case q.Free:
			s.close(strings.TrimSpace(s.reply.text), ui.Line(s.reply.text))
		default:
			s.hint = q.prompt()
		}
	default:
		switch {
		case s.unread() > 0:
			s.hint = "see the rest of it first"
		case q.Free && !s.reply.key(k.key) && k.text != "" && len(s.reply.text) < mostReply:
			s.reply.insert(k.text)
		}
	}
	s.look()
	return nil
}

// verdict shows an answer.
func (s *state) verdict(q *question, answer string) string {
	paint := s.paint.green
	if answer == "n" {
		paint = s.paint.red
	}
	return paint(ui.Line(q.Chosen(answer).Label))
}

// prompt ends a question.
func (q *question) prompt() string {
	if q.Free {
		return ">"
	}
	return q.Prompt()
}

// mostReply is how many bytes of a line are taken.
const mostReply = 1000

// withdraw withdraws a question whose caller no longer waits. Its answer is no.
func (s *state) withdraw(q *question) {
	if i := slices.Index(s.questions, q); i > 0 {
		s.questions = slices.Delete(s.questions, i, i+1)
		q.answer <- ""
	} else if i == 0 {
		s.close("", s.paint.yellow("withdrawn"))
	}
}

// refuse answers the first question with no.
func (s *state) refuse() {
	s.close("", s.paint.red("no"))
}

// close answers the first question, prints it whole with its answer, and poses the next one.
func (s *state) close(answer, verdict string) {
	q, p := s.questions[0], s.panel()
	if len(s.questions) == 1 {
		s.answered, s.heard = s.waited(), s.now
	}
	s.questions = s.questions[1:]
	q.answer <- answer
	s.begin(notices)
	for _, r := range p.title {
		s.out = append(s.out, s.marked(r, s.paint.bold))
	}
	for i, r := range p.details {
		s.out = append(s.out, s.marked(r, p.styles[i]))
	}
	if q.Chosen(answer).Lasts {
		for _, r := range q.Noted(s.width) {
			s.out = append(s.out, s.marked(r, plainStyle))
		}
	}
	s.out = append(s.out, s.marked(ui.Mark+" ", plainStyle)+verdict)
	s.pose()
}
