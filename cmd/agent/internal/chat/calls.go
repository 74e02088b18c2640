package chat

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agent-base/agent-base/agent"
	"github.com/agent-base/agent-base/cmd/agent/internal/todo"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
	"github.com/agent-base/agent-base/llm"
	"github.com/agent-base/agent-base/tool"
)

const (
	maxTail    = 3   // rows of what a call that runs, or that failed, has written last
	maxReason  = 4   // rows of the reason why a call failed
	maxCalls   = 100 // calls that can be opened
	maxDetails = 200 // rows that are shown of arguments, and of a result
	maxTarget  = 200 // columns of the subject of a call
	narrow     = 40  // columns; on a narrower screen a call takes two rows
)

// call is a call of a tool that runs or has ended.
type call struct {
	number  int // from 1, in the order of the conversation
	of      int // the number of the call whose sub-agent made it, if several work; else 0
	depth   int
	call    *llm.Call
	begun   time.Time     // by state.clock
	waited  time.Duration // how long questions had waited by then
	result  *agent.Result // nil while it runs
	took    time.Duration
	stopped bool          // the turn ended before the call
	asked   bool          // a question was answered on the screen while it ran
	tail    ui.Tail       // of what it wrote so far
	said    time.Duration // without a screen: how long it ran when that was said
}

// CallText returns a call as one sanitised line: the tool and its subject, which is cut when it is long. A space in it is
// a space or a line end. The conversation and agent -p both show calls in this form.
func CallText(c *llm.Call) string {
	return strings.TrimSpace(ui.Line(c.Name) + " " + ui.Truncate(ui.Exact(target(c)), maxTarget))
}

// subjects are the arguments that say most about a call, the best first.
var subjects = []string{"skill_name", "skill", "command", "pattern", "path", "file_path"}

// target returns the subject of a call in few words: hello-extended/advanced_greeting --lang es, a path, a command.
func target(c *llm.Call) string {
	switch c.Name {
	case todo.Name:
		return todo.Brief(c.Args)
	case "task":
		return taskText(c)
	}
	keys, texts := arguments(c.Args)
	first := slices.IndexFunc(subjects, func(key string) bool { return texts[key] != "" })
	if first >= 0 {
		keys = subjects[first:]
	}
	if len(keys) == 0 {
		return ""
	}
	about := texts[keys[0]]
	if keys[0] == "skill_name" || keys[0] == "skill" {
		if part := cmp.Or(texts["script_name"], texts["script"], texts["tool_name"], texts["tool"], texts["path"]); part != "" {
			about += "/" + part
		}
	}
	if keys[0] != "args" && texts["args"] != "" {
		about += " " + texts["args"]
	}
	return about
}

// arguments returns the arguments that are strings, lists or objects, and their keys in the order given. A list becomes its
// items with spaces between them, an object JSON. Of arguments that no tool gets, see tool.Object, it returns nothing.
func arguments(raw json.RawMessage) (keys []string, texts map[string]string) {
	texts = map[string]string{}
	members, _ := tool.Members(raw)
	for _, m := range members {
		if text := argument(m.Value); text != "" {
			keys, texts[m.Key] = append(keys, m.Key), text
		}
	}
	return keys, texts
}

func argument(raw json.RawMessage) string {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var value any
	if dec.Decode(&value) != nil {
		return ""
	}
	switch v := value.(type) {
	case string:
		return v
	case []any:
		return strings.TrimSuffix(fmt.Sprintln(v...), "\n")
	case map[string]any:
		if b, err := json.Marshal(v); err == nil && len(v) > 0 {
			return string(b)
		}
	}
	return ""
}

// rows returns the line of a call: its text, how long it took, how it ended and its number.
func (c *call) rows(p paint, now time.Time, width int) []string {
	indent := strings.Repeat("  ", c.depth)
	mark, took, verdict := p.dim("●"), now.Sub(c.begun), ""
	switch {
	case c.result != nil && c.result.Result.Success:
		mark, took, verdict = p.green("●"), c.took, Success(c.result)
	case c.result != nil && c.result.Result.Cause() == tool.CauseStopped:
		mark, took, verdict = p.yellow("●"), c.took, "stopped by you"
	case c.result != nil:
		mark, took, verdict = p.red("●"), c.took, ui.Line(failure(c.result))
	case c.stopped:
		mark, took, verdict = p.yellow("●"), c.took, "stopped"
	case c.said > 0:
		verdict = "running"
	}
	tail := seconds(took)
	if verdict != "" {
		tail += "  " + verdict
	}
	number := fmt.Sprintf("#%d", c.number)
	if c.of > 0 {
		number += fmt.Sprintf(" of #%d", c.of)
	}
	lead := indent + mark + " "
	if width <= 0 {
		return []string{lead + c.head(p, 0) + "  " + tail + "  " + number}
	}
	room := max(width-ui.Columns(indent)-2, 1)
	if width < narrow {
		tail = ui.Cut(tail, room-ui.Columns(number)-2)
		return []string{lead + c.head(p, room), indent + "  " + tail + "  " + p.dim(number)}
	}
	tail = ui.Cut(tail, room-ui.Columns(number)-4-min(ui.Columns(c.head(false, 0)), room/2))
	return []string{lead + c.head(p, room-ui.Columns(tail)-ui.Columns(number)-4) + "  " + tail + "  " + p.dim(number)}
}

// firstSaid is how long a call runs before that is said where no screen shows it. It is said again after twice as long, and so on.
const firstSaid = 3 * time.Second

// sayRunning prints the calls that take long, with the last that they wrote, where no screen shows them.
func (s *state) sayRunning() {
	for _, c := range s.running() {
		if took := s.clock().Sub(c.begun); s.width == 0 && took >= max(2*c.said, firstSaid) {
			c.said = took
			s.begin(tools)
			s.out = append(append(s.out, c.rows(s.paint, s.clock(), 0)...), c.output(s.paint, 0, maxTail)...)
		}
	}
}

// output returns the last lines of what a call wrote, at most so many.
func (c *call) output(p paint, width, most int) []string {
	indent := strings.Repeat("  ", c.depth+1)
	rows := c.tail.Last(most)
	for i, row := range rows {
		if width > 0 {
			row = ui.Cut(row, max(width-ui.Columns(indent), 1))
		}
		rows[i] = indent + p.dim(row)
	}
	return rows
}

// head returns the tool's name and the subject in at most width columns. A width of 0 or less cuts nothing.
func (c *call) head(p paint, width int) string {
	name, text := ui.Line(c.call.Name), CallText(c.call)
	if width > 0 {
		text = ui.Cut(text, width)
	}
	if rest, ok := strings.CutPrefix(text, name); ok {
		return p.bold(name) + rest
	}
	return p.bold(text)
}

// Success describes the end of a call that succeeded in a few words: "ok", and what it found if its result says that.
func Success(r *agent.Result) string {
	if found, ok := r.Result.Result.(interface{ Brief() string }); ok {
		return "ok, " + found.Brief()
	}
	return "ok"
}

// reason returns why a call failed, or nothing if the user knows that: they stopped the call, or answered no on the screen.
func (c *call) reason(width int) []string {
	r := &c.result.Result
	if r.Success || r.Cause() == tool.CauseStopped || r.Reason == tool.ReasonNotApproved && c.asked {
		return nil
	}
	rows := rowsOf(r.Message, width)
	return rows[:min(len(rows), maxReason)]
}

func failure(r *agent.Result) string {
	if r.Result.Reason == tool.ReasonNotApproved {
		return "not approved"
	}
	if r.Result.Reason != "" && r.Result.Error != "" {
		return string(r.Result.Error) + " (" + r.Result.Reason + ")"
	}
	if r.Result.Error != "" {
		return string(r.Result.Error)
	}
	return "failed"
}

// details returns the whole call: its arguments, and the result as the model got it. While the call runs, it returns what that wrote so far.
func (c *call) details(p paint, now time.Time, width int) []string {
	rows := c.rows(p, now, width)
	args := string(c.call.Args)
	if c.call.Raw != "" {
		args = c.call.Raw
	}
	rows = append(rows, section(p, "arguments", pretty(args), width)...)
	if c.result == nil {
		return append(rows, section(p, "so far", c.tail.Text(), width)...)
	}
	title := "result"
	if c.result.Cut {
		title = "result (cut: the model did not get all of it)"
	}
	return append(rows, section(p, title, pretty(c.result.Text), width)...)
}

// section returns a title and an indented text of at most maxDetails rows.
func section(p paint, title, text string, width int) []string {
	rows := []string{"  " + p.dim(title)}
	found := rowsOf(text, max(width-4, 0))
	rows = append(rows, bounded(found, "    ")...)
	if len(found) == 0 {
		rows = append(rows, "    "+p.dim("(empty)"))
	}
	return rows
}

// bounded indents rows, at most maxDetails of them.
func bounded(rows []string, indent string) (out []string) {
	for i, r := range rows {
		if i == maxDetails {
			return append(out, indent+fmt.Sprintf("… %d more lines", len(rows)-i))
		}
		out = append(out, strings.TrimRight(indent+r, " "))
	}
	return out
}

// seconds writes a duration in short: 0.4 s, 12 s, 2 m 5 s.
func seconds(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", max(d, 0).Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	}
	return fmt.Sprintf("%d m %d s", int(d.Minutes()), int(d.Seconds())%60)
}
