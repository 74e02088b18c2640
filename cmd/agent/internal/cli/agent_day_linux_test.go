package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agent-base/agent-base/cmd/agent/internal/screentest"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
	"github.com/agent-base/agent-base/skilltest/fakemodel"
)

// Issue 30, done when: a day in a conversation, in English and Chinese, in terminals of two sizes. What the user sees is in testdata/day, one
// picture after the other; -update writes it anew, to be looked at.
func TestDay(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 40}} {
		t.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(t *testing.T) {
			t.Parallel()
			d := newDay(t, size[0], size[1])
			d.talk()
			d.askAndAnswer()
			d.queue()
			d.goBack()
			d.guard()
			d.watch()
			d.show()
			d.enter()
			d.look()
			d.work()
			d.beHostile()
			d.goOn()
			d.leave()
		})
	}
}

// day is a day in a terminal.
type day struct {
	*world
	*seat
	server        *fakemodel.Server
	width, height int
	mu            sync.Mutex
	held          map[string]chan struct{} // what the model holds back: closed, it goes on
	ahead         atomic.Int64             // how far the clock of the program is ahead
	file          string
	want          map[string]string // the pictures of the file
	got           []string
	earlier       int // how many prompts before the last one are in a picture, too
}

func newDay(t *testing.T, width, height int) *day {
	d := &day{width: width, height: height, held: map[string]chan struct{}{}, file: filepath.Join("testdata", "day", fmt.Sprintf("%dx%d.txt", width, height)), want: map[string]string{}}
	d.server = fakemodel.New(t, fakemodel.Step{From: d.answer, Forever: true})
	d.world = newWorld(t, append(d.server.Env(), "AGENT_BASH_SANDBOX=off", "VISUAL=sh edit.sh")...)
	d.write("work/.git/HEAD", "ref: refs/heads/main\n")
	d.write("work/a.txt", "one\ntwo\nthree\n")
	d.write("work/edit.sh", "printf ', and more\\n第二行\\n' >>\"$1\"\n")
	d.prepare()
	d.skill("whale-count", "Counts whales. Use to count whales.", "count whales: $ARGUMENTS\n")
	text, err := os.ReadFile(d.file)
	if err != nil && !*update {
		t.Fatal(err)
	}
	for part := range strings.SplitSeq(string(text), "\n== ") {
		name, rows, _ := strings.Cut(strings.TrimPrefix(part, "== "), "\n")
		d.want[name] = strings.TrimRight(rows, "\n")
	}
	d.seat = d.sitBefore(width, height, func() time.Time { return time.Now().Add(time.Duration(d.ahead.Load())) }, "xterm-256color")
	d.takes(1)
	if *update {
		t.Cleanup(func() {
			if err := os.WriteFile(d.file, []byte(strings.Join(d.got, "\n\n")+"\n"), 0o644); err != nil {
				t.Error(err)
			}
		})
	}
	return d
}

// picture compares what is on the screen since the last prompt, at most a whole screen, with the picture of that name.
func (d *day) picture(name string) {
	d.seat.t.Helper()
	if *update {
		for was, calm := "", 0; calm < 2 || calm < 8 && strings.Contains(was, "Esc stops"); calm++ {
			if _ = d.reads(screentest.PatienceOf(500*time.Millisecond), func() bool { return false }); d.shown() != was {
				was, calm = d.shown(), 0
			}
		}
		if slices.ContainsFunc(d.got, func(p string) bool { return strings.HasPrefix(p, "== "+name+"\n") }) {
			d.seat.t.Errorf("two pictures have the name %q", name)
		}
		d.got = append(d.got, "== "+name+"\n"+d.shown())
		return
	}
	want := d.want[name]
	if err := d.reads(screentest.NewPatience(), func() bool { return d.shown() == want }); err != nil {
		d.seat.t.Fatalf("%s: %v: the screen has\n%s\nwant\n%s", name, err, d.shown(), want)
	}
}

// changing matches what is different in each run.
var changing = []struct {
	*regexp.Regexp
	to string
}{
	{regexp.MustCompile(`(\d+ m )?\d+(\.\d)? s\b`), "0.0 s"}, {regexp.MustCompile(`0\.0 s, Esc`), "0 s, Esc"}, {regexp.MustCompile(`agent-[0-9a-f]{16}`), "agent-0000000000000000"},
	{regexp.MustCompile(`about \d+ to about \d+ tokens`), "about 0 to about 0 tokens"},
	{regexp.MustCompile(`^(system text|texts for agents|list of skills|tools|date, system and git status|other messages|together)( +)[\d,]+$`), "${1}${2}0"},
	{regexp.MustCompile(`\b\d\d:\d\d\b`), "00:00"}, {regexp.MustCompile(`\d{4}-\d\d-\d\d`), "0000-00-00"}, {regexp.MustCompile(`^agent \d+\.\d+\.\d+\S*,`), "agent 0.0.0,"},
}

// anotherBegins matches where a conversation begins: the one that ended before leaves an empty row more or less.
var anotherBegins = regexp.MustCompile(`\n+agent `)

// shown is what is on the screen since the last prompt. The cursor is a block.
func (d *day) shown() string {
	rows := d.screen.Rows()
	y, x := d.screen.Cursor()
	rows[y] = withCursor(rows[y], x)
	for len(rows) > y+1 && rows[len(rows)-1] == "" {
		rows = rows[:len(rows)-1]
	}
	from := len(rows)
	for inputs := 1 + d.earlier; from > 0 && inputs >= 0; {
		from--
		if strings.HasPrefix(rows[from], "> ") || strings.HasPrefix(rows[from], ">█") {
			inputs--
		} else if strings.Contains(rows[from], "waiting for an answer") && from == len(rows)-1 {
			inputs = 0
		}
	}
	rows = slices.Clone(rows[max(from, len(rows)-d.height):])
	for i, row := range rows {
		for _, c := range changing {
			row = c.ReplaceAllString(row, c.to)
		}
		rows[i] = row
	}
	return d.usual(anotherBegins.ReplaceAllString(strings.Join(rows, "\n"), "\nagent "))
}

// withCursor marks a column of a row.
func withCursor(row string, x int) string {
	at, column := 0, 0
	for column < x && at < len(row) {
		first, width := ui.Cluster(row[at:])
		at, column = at+len(first), column+width
	}
	return strings.TrimRight(row[:at]+strings.Repeat(" ", max(x-column, 0))+"█"+row[at:], " ")
}

// now types keys whatever the program does.
func (d *day) now(keys string) {
	d.seat.t.Helper()
	if _, err := d.near.WriteString(keys); err != nil {
		d.seat.t.Fatal(err)
	}
}

// prompts sends a prompt and compares what came of it.
func (d *day) prompts(texts ...string) {
	d.seat.t.Helper()
	for _, text := range texts {
		d.press(text + "\r")
		d.picture(text)
	}
}

// answered answers the question that is on the screen.
func (d *day) answered(key, name string) {
	d.seat.t.Helper()
	d.shows("┇ Press ") // otherwise the key comes too soon on a busy machine
	d.answers(key)
	d.picture(name)
}

// hold returns what ends a silence of the model.
func (d *day) hold(name string) chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.held[name] == nil {
		d.held[name] = make(chan struct{})
	}
	return d.held[name]
}

// idle is a key that does nothing, but shows that the user is there.
const idle = "\x1b[C"

// letGo ends a silence of the model.
func (d *day) letGo(name string) {
	close(d.hold(name))
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.held, name)
}

// talk: Markdown, tables and code, the clipboard, commands of the user.
func (d *day) talk() {
	d.picture("the beginning")
	d.prompts("hello there", "你好", "show me Markdown", "/copy")
	d.until("a text for the clipboard", func() bool { return strings.Contains(d.raw, "\x1b]52;c;ZnVuYyBtYWlu") })
	d.prompts("!echo one; echo 二", "!!echo outside", "what did I run?", "/open", "/nope")
}

// askAndAnswer: questions about changes and commands.
func (d *day) askAndAnswer() {
	d.prompts("change a.txt")
	d.answered("y", "changed")
	d.prompts("写一个文件")
	d.answered("n", "why not")
	d.prompts("先不要")
	d.prompts("run the tests")
	d.answered("c", "for this conversation")
	d.prompts("run them again")
}

// queue: prompts that wait, are edited and withdrawn; Esc stops; the bell.
func (d *day) queue() {
	d.press("speak until I stop you\r")
	d.picture("it speaks")
	d.now("first in the quXue\r队列里的第二个\r")
	d.picture("two are queued")
	d.now("\x1b[A")
	d.picture("the second is withdrawn")
	d.now("\x15\x1b[A\x1b[D\x1b[D\x7fe\r")
	d.picture("the first is edited")
	d.now("\x1b")
	d.picture("stopped, and what was queued is in the input")
	d.press("\r")
	d.picture("the first of the queue")
	d.press("speak until I stop you\r")
	d.until("it speaks", func() bool { return strings.Contains(d.screen.String(), "Esc stops") })
	d.now("队列\r")
	d.picture("one is queued")
	d.ahead.Add(int64(time.Minute)) // the user is away
	d.letGo("speech")
	d.picture("what was queued is sent")
}

// goBack: Esc twice, without and with the changes of files.
func (d *day) goBack() {
	d.press("\x1b")
	d.picture("Esc")
	d.press("\x1b")
	d.picture("Esc Esc")
	d.answered("1", "back by one, with the prompt to be changed")
	d.press("\x1b")
	d.shows("Ctrl-C empties the input")
	d.press("\x03\x1b")
	d.shows("Esc again")
	d.press("\x1b")
	d.shows("Press 1, 2, 3") // the question before this one is still on the screen
	d.answered("8", "with the files?")
	d.answered("y", "back with the files")
	if got := d.text("work/a.txt"); got != "one\ntwo\nthree\n" {
		d.seat.t.Errorf("the file has %q", got)
	}
}

// guard: hooks of the user, a rule for the project, a host, a question of several pages.
func (d *day) guard() {
	d.press("\x03")
	d.prompts("/hooks", "change a guarded file")
	d.prompts("运行命令")
	d.answered("p", "always in this project")
	d.prompts("count them")
	d.answered("c", "counted")
	d.press("/open\r")
	d.picture("a call that a hook spoke about")
	d.prompts("read a page")
	d.answered("n", "no page")
	d.prompts("rewrite a.txt")
	d.now(" ")
	d.picture("the next page")
	for range 5 {
		d.now("\x1b[6~")
	}
	d.picture("the last page")
	d.answered("y", "rewritten")
	d.press("/undo\r")
	d.picture("it is as it was")
}

// watch: a command at work, opened and stopped; what changes nothing answers at once.
func (d *day) watch() {
	d.press("run something long\r")
	d.picture("something long?")
	d.answered("y", "it runs")
	d.now("\x0f")
	d.picture("Ctrl-O")
	d.now("/mode\r")
	d.picture("/mode while it works")
	d.now(idle)
	d.write("work/go", "")
	d.picture("it has ended")
	d.remove("work/go")
	d.press("run something long\r")
	d.picture("the same once more?")
	d.answered("y", "it runs once more")
	d.now("\x1b")
	d.picture("Esc stops it")
}

// show: images and documents, Chinese in a table and in code, a kind of agent from a file, an answer that is cut.
func (d *day) show() {
	d.press("@")
	d.picture("files")
	d.press("图")
	d.picture("files that have it")
	d.press("\t")
	d.picture("an image in the input")
	d.press("看一看\r")
	d.picture("看一看")
	d.prompts("@huge.gif is it too large?", "summarise @paper.pdf", "写一张表", "ask the reviewer", "speak at length")
}

// enter: search, an editor, a long paste, completion.
func (d *day) enter() {
	d.press("\x03")
	d.prompts("search me")
	d.press("\x12sear")
	d.picture("Ctrl-R")
	d.press("\r")
	d.picture("found")
	d.press("\x03")
	d.press("from an editor")
	d.press("\x07")
	d.takes(2)
	d.picture("from an editor, edited")
	d.press("\r")
	d.picture("from an editor")
	var lines []string
	for i := range 30 {
		lines = append(lines, strings.Repeat("粘贴 ", 100)+fmt.Sprintf("pasted line %d", i+1))
	}
	d.press("look: \x1b[200~" + strings.Join(lines, "\r") + "\x1b[201~")
	d.picture("a folded paste")
	d.press("\r")
	d.picture("a long paste")
	d.press("/co")
	d.picture("commands that begin so")
	d.press("\x1b")
	d.picture("no popup")
	d.press("\x03")
	d.prompts("@a.txt what is this?")
	d.press("/wha\t")
	d.picture("Tab")
	d.press("three\r")
	d.picture("a skill by its name")
}

// look: what the conversation says of itself.
func (d *day) look() {
	d.prompts("/cost", "/permissions", "/model", "/mode", "/skills", "/tokens", "/mcp", "/help", "/context")
}

// work: a plan, steps, sub-agents, the background.
func (d *day) work() {
	d.prompts("/plan", "plan it")
	d.answered("y", "carried out")
	d.press("work in steps\r")
	d.picture("at work")
	d.now("/todo\r")
	d.picture("/todo while it works")
	d.now("/context\r")
	d.picture("/context while it works")
	d.now(idle)
	d.letGo("work")
	d.picture("all steps are done")
	d.press("two agents\r")
	d.picture("two agents at work")
	d.now(idle)
	d.letGo("tests")
	d.picture("one agent is back")
	d.now(idle)
	d.letGo("文档")
	d.picture("two agents are back")
	d.press("something in the background\r")
	d.picture("in the background?")
	d.answered("y", "in the background")
	d.press("a check beside it\r")
	d.answered("y", "two in the background")
	d.write("work/go", "")
	d.picture("one has ended")
	d.prompts("/jobs", "/jobs stop 1", "/undo", "/compact")
}

// beHostile: what a model writes, asks and lists to deceive.
func (d *day) beHostile() {
	d.prompts("be hostile", "a bomb", "imitate a frame")
	d.answered("n", "a frame is not imitated: why not")
	d.prompts("no", "give me 10,000 steps")
}

// goOn: errors, a copy of the conversation, another one.
func (d *day) goOn() {
	d.prompts("fail now")
	d.earlier = 1 // a conversation that continues shows what was said last
	d.prompts("/fork")
	d.earlier = 0
	d.takes(3)
	d.prompts("in the copy")
	d.answered("y", "allowed again")
	d.prompts("/resume")
	d.earlier = 1
	d.answered("1", "the first again")
	d.earlier = 0
	d.takes(4)
	d.prompts("in the first")
	d.answered("y", "all of it")
}

// leave ends the day.
func (d *day) leave() {
	d.prompts("/clear")
	d.leaves()
	d.picture("the end")
	if n := strings.Count(d.raw, "\x1b]9;"); n != 1 {
		d.seat.t.Errorf("the desktop was notified %d times, want once: while the user was away", n)
	}
	if unknown := d.screen.Unknown(); len(unknown) > 0 {
		d.seat.t.Errorf("the terminal got sequences that the emulator does not know: %q", unknown)
	}
	for _, problem := range d.server.Problems() {
		d.seat.t.Error(problem)
	}
}
