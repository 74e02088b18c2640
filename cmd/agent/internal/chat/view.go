package chat

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agent-base/agent-base/cmd/agent/internal/markup"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
)

// screen is the part that is redrawn, below everything printed: rows and the position of the cursor in them.
type screen struct {
	rows []string
	x, y int
}

// view draws a question alone where one waits, else the row that is being written, the input and the status line.
func (s *state) view() screen {
	switch {
	case s.leaving:
		return screen{}
	case len(s.questions) > 0:
		return s.questionView()
	}
	below := append(append(s.searchRows(), s.hintRows()...), s.statusLine())
	queued := s.queueRows()
	below = append(s.popupRows(s.height-len(below)-len(queued)-leastInput), below...)
	input, x, y := s.inputView(max(s.height-len(below)-len(queued)-2, 1))
	above := s.live()
	if len(above) > 0 || s.last != nothing {
		above = append(above, "")
	}
	if steps := s.todoRows(); len(steps) > 0 {
		above = append(append(above, steps...), "")
	}
	if most := max(s.height-len(below)-len(input)-len(queued)-1, 0); len(above) > most {
		above = above[len(above)-most:]
	}
	above = append(above, queued...)
	rows := append(append(above, input...), below...)
	return screen{rows: rows, x: x, y: len(above) + y}
}

// leastInput is how many rows a popup leaves to the input and to what is above it.
const leastInput = 4

// hintRows returns the hint in at most three rows.
func (s *state) hintRows() []string {
	if s.hint == "" {
		return nil
	}
	rows := markup.Rows(ui.Line(s.hint), s.room())
	if len(rows) > 3 {
		rows = append(rows[:2], ui.Cut(rows[2]+strings.Repeat(" ", s.room()), s.room()))
	}
	for i, r := range rows {
		rows[i] = s.paint.yellow(r)
	}
	return rows
}

// live returns what is not finished: the end of the answer, and the calls that run.
func (s *state) live() []string {
	var rows []string
	last := s.last
	for _, r := range s.flow.Live(s.room()) {
		if last != answers && last != nothing {
			rows = append(rows, "")
		}
		last = answers
		rows = append(rows, r)
	}
	calls := slices.DeleteFunc(s.running(), func(c *call) bool { return c.depth > 0 }) // a row of the call that started the sub-agent names them
	most := max(maxTail/max(len(calls), 1), 1)
	for _, c := range calls {
		if last != tools && last != nothing {
			rows = append(rows, "")
		}
		last = tools
		rows = append(rows, c.rows(s.paint, s.clock(), s.room())...)
		rows = append(rows, c.output(s.paint, s.room(), most)...)
	}
	if thought := s.thoughtRows(); len(thought) > 0 {
		if last != nothing {
			rows = append(rows, "")
		}
		rows = append(rows, thought...)
	}
	return rows
}

// inputRoom returns how wide typed text may be. The mark and the cursor need the other columns.
func (s *state) inputRoom() int { return max(s.width-3, 1) }

// inputView shows the input in at most that many rows around the cursor.
func (s *state) inputView(most int) (rows []string, x, y int) {
	shown, x, y := s.input.layout(s.inputRoom())
	from := 0
	if len(shown) > most {
		from = min(max(y-most+1, 0), len(shown)-most)
	}
	for i, r := range shown[from:min(from+most, len(shown))] {
		mark := "  "
		if from+i == 0 {
			mark = s.paint.cyan("> ")
		}
		rows = append(rows, mark+r.text)
	}
	return rows, x + 2, y - from
}

// statusLine shows in one row what happens now, which skill is active and what it allows, and facts about the conversation. On a narrow
// screen the facts give way one after the other. At last the text about the skill is cut.
func (s *state) statusLine() string {
	const gap = "  ·  "
	join := func(parts ...string) string {
		return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), gap)
	}
	const least = 40 // columns for the skill, where it needs as many
	doing, skill, room := join(ui.Line(s.status.Mode), s.jobs(), s.doing()), s.active(), s.room()
	model, context, branch, cost, usage := ui.Line(s.status.Model), s.context(), ui.Line(s.status.Branch), s.status.Cost, s.usage()
	for _, giveWay := range []func(){
		func() { usage = "" },
		func() { model = model[strings.Index(model, "/")+1:] }, // without the provider
		func() { skill = strings.TrimSuffix(skill, allTools) },
		func() { branch = "" },
		func() {
			if doing+skill != "" {
				model = ""
			}
		},
		func() { cost = "" },
		func() { context = "" },
	} {
		if ui.Columns(join(doing, ui.Cut(skill, least), model, context, branch, cost, usage)) <= room {
			break
		}
		giveWay()
	}
	about := join(model, context, branch, cost, usage)
	if rest := join(doing, about); skill != "" {
		left := room - ui.Columns(rest)
		if rest != "" {
			left -= ui.Columns(gap)
		}
		if skill = ui.Cut(skill, left); left < 4 {
			skill = ""
		}
	}
	return s.paint.dim(ui.Cut(join(doing, skill, about), room))
}

// context says how full the model's window is.
func (s *state) context() string {
	if s.status.Context == 0 {
		return ""
	}
	return fmt.Sprintf("context %d%%", s.status.Context)
}

// silence is how long a model sends nothing before the status line says so.
const silence = 30 * time.Second

func (s *state) doing() string {
	switch {
	case len(s.questions) > 0:
		return "waiting for an answer"
	case s.stopping:
		return "stopping"
	case s.busy:
		text := elapsed(s.now.Sub(s.begun))
		if s.now.Sub(s.heard) >= silence && len(s.running()) == 0 {
			text += ", nothing comes from the model"
		}
		return text + ", Esc stops"
	}
	return ""
}

// elapsed counts whole seconds: a row that changes ten times a second is distracting.
func elapsed(d time.Duration) string {
	d = d.Truncate(time.Second)
	if d < 10*time.Second {
		return fmt.Sprintf("%d s", int(d.Seconds()))
	}
	return seconds(d)
}

func (s *state) usage() string {
	u := s.status.Usage
	if u.Input+u.Output == 0 {
		return ""
	}
	return thousands(u.Input) + " in, " + thousands(u.Output) + " out"
}

// thousands writes a number of tokens in short: 850, 12.3k, 1.2M.
func thousands(n int) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n < 1_000_000:
		return fmt.Sprintf("%.1fk", float64(n)/1000)
	}
	return fmt.Sprintf("%.1fM", float64(n)/1_000_000)
}

// active names the skill that decides, how many others are active, and what it allows.
func (s *state) active() string {
	if len(s.status.Active) == 0 {
		return ""
	}
	a := s.status.Active[0]
	text := ui.Line(a.Name)
	if n := len(s.status.Active) - 1; n > 0 {
		text += fmt.Sprintf(" +%d", n)
	}
	if a.Allows == "" {
		return text + allTools
	}
	return text + ": " + ui.Line(a.Allows)
}

// allTools stands after the name of a skill that allows all tools.
const allTools = ": all tools"
