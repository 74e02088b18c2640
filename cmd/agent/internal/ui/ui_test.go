package ui_test

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
)

func TestNewWithoutTerminal(t *testing.T) {
	f, err := os.Create(t.TempDir() + "/out")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := ui.New(f, f, f, nil)
	if s.InTerminal || s.OutTerminal || s.ErrTerminal || s.Colour || s.Cursor || s.Width != 0 {
		t.Errorf("New over a file = %+v, want no terminal, no colour, no width", s)
	}
}

func TestPrintf(t *testing.T) {
	s, _, out, _ := ui.Test()
	type name string
	s.Printf("%s|%s|%v|%d|%5.1f|%t|%v|%s\n", "a\x1bb", name("c\x1bd"), errors.New("e\rf"), 7, 2.5, true,
		[]string{"g\u202eh"}, ui.Safe("own"))
	s.Printf("%s %v\n", 1500*time.Millisecond, nil)
	want := `a\x1bb|c\x1bd|e\x0df|7|  2.5|true|[g\u{202e}h]|own` + "\n1.5s <nil>\n"
	if got := out.String(); got != want {
		t.Errorf("Printf wrote %q, want %q", got, want)
	}
}

func TestPaint(t *testing.T) {
	s, _, _, _ := ui.Test()
	if got, want := s.Paint(ui.Green, "a\x1b[2J"), ui.Safe(`a\x1b[2J`); got != want {
		t.Errorf("without colour: %q, want %q", got, want)
	}
	s.Colour = true
	if got, want := s.Paint(ui.Green, "a\x1b[2J"), ui.Safe("\x1b[32ma\\x1b[2J\x1b[0m"); got != want {
		t.Errorf("with colour: %q, want %q", got, want)
	}
}

func TestForeign(t *testing.T) {
	const text = "one\x1b[2J\ntwo\n"
	s, _, out, _ := ui.Test()
	if err := s.Foreign(text); err != nil || out.String() != text {
		t.Errorf("into a pipe: %q, %v, want the text untouched", out, err)
	}
	out.Reset()
	s.OutTerminal = true
	if err := s.Foreign(text); err != nil || out.String() != "one\\x1b[2J\ntwo\n" {
		t.Errorf("on a terminal: %q, %v, want it sanitised", out, err)
	}
}

func TestNotes(t *testing.T) {
	s, _, out, errOut := ui.Test()
	s.Error(errors.New("no skill \"x\"\nsecond\x1b line"))
	s.Warn("old")
	s.Hint("")
	s.Hint("agent skill list")
	want := "agent: no skill \"x\"\n  second\\x1b line\nagent: warning: old\nhint: agent skill list\n"
	if got := errOut.String(); got != want || out.Len() != 0 {
		t.Errorf("wrote %q and %q, want %q on Err alone", got, out, want)
	}
}

func TestTable(t *testing.T) {
	header := []string{"NAME", "STATE", "DESCRIPTION"}
	rows := [][]string{
		{"pdf", "enabled", "Fills forms,\njoins files and says which pages were left out."},
		{"日本-docs", "off"},
		{"x\x1b[2J", "enabled", "short"},
	}
	tests := []struct {
		name   string
		width  int
		header []string
		want   string
	}{
		{"no terminal", 0, header, `NAME       STATE    DESCRIPTION
pdf        enabled  Fills forms, joins files and says which pages were left out.
日本-docs  off
x\x1b[2J   enabled  short
`},
		{"cut", 48, header, `NAME       STATE    DESCRIPTION
pdf        enabled  Fills forms, joins files an…
日本-docs  off
x\x1b[2J   enabled  short
`},
		{"narrow", 36, nil, `pdf  enabled  Fills forms, joins fi…
`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, _, out, _ := ui.Test()
			s.Width = tt.width
			rows := rows
			if tt.header == nil {
				rows = rows[:1]
			}
			if err := s.Table(tt.header, rows); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, out.String()); diff != "" {
				t.Errorf("Table (-want +got):\n%s", diff)
			}
		})
	}
}

// What a person looks for stands first and stays whole: the others are cut, and then left out from the right, but for
// the last.
func TestTableNarrow(t *testing.T) {
	list := [][]string{
		{"NAME", "VERSION", "ACTIVE", "SHA", "SOURCE"},
		{"hello-extended", "1.0.0", "yes", "1d285f88", "bundled"},
		{"hello-world", "1.0.0", "yes", "aeb7eef2", "bundled"},
	}
	fields := [][]string{
		{"FIELD", "STANDING", "LINE", "VALUE"},
		{"allowed-tools", "enforced", "7", "Read, Bash(git:*), Write"},
		{"license", "informational", "12", "MIT"},
	}
	tests := []struct {
		name  string
		width int
		rows  [][]string
		want  string
	}{
		{"one left out", 40, list, `NAME            VERSION  ACTIVE  SOURCE
hello-extended  1.0.0    yes     bundled
hello-world     1.0.0    yes     bundled
not shown: SHA
`},
		{"more left out", 28, list, `NAME            SOURCE
hello-extended  bundled
hello-world     bundled
not shown: VERSION, ACTIVE,…
`},
		{"the first is cut at the end", 20, list, `NAME         SOURCE
hello-exte…  bundled
hello-world  bundled
not shown: VERSION,…
`},
		{"others are cut", 44, fields, `FIELD          STANDING       LINE  VALUE
allowed-tools  enforced       7     Read, B…
license        informational  12    MIT
`},
		{"and more", 40, fields, `FIELD          STANDING   LINE  VALUE
allowed-tools  enforced   7     Read, B…
license        informat…  12    MIT
`},
		{"what is left out makes room", 36, fields, `FIELD          STANDING     VALUE
allowed-tools  enforced     Read, B…
license        informatio…  MIT
not shown: LINE
`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, _, out, _ := ui.Test()
			s.Width = tt.width
			if err := s.Table(tt.rows[0], tt.rows[1:]); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, out.String()); diff != "" {
				t.Errorf("Table (-want +got):\n%s", diff)
			}
		})
	}
}

// One long name takes no column of the others away.
func TestTableLongName(t *testing.T) {
	s, _, out, _ := ui.Test()
	s.Width = 60
	rows := [][]string{{strings.Repeat("name-", 12), "user", "填写表格并合并文件。当用户要求处理文档时使用。"}, {"pdf", "user", "Fills forms."}}
	if err := s.Table([]string{"NAME", "SOURCE", "DESCRIPTION"}, rows); err != nil {
		t.Fatal(err)
	}
	want := "NAME                              SOURCE  DESCRIPTION\n" +
		"name-name-name-name-name-name-n…  user    填写表格并合并文…\n" +
		"pdf                               user    Fills forms.\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("Table (-want +got):\n%s", diff)
	}
}

// A caller can say which columns matter least, the last among them.
func TestTableOmits(t *testing.T) {
	s, _, out, _ := ui.Test()
	s.Width = 30
	rows := [][]string{{"表格处理", "available", "c346eeea", "https://example.com/acme/skills"}}
	if err := s.TableOf([]string{"NAME", "STATE", "AVAILABLE", "SOURCE"}, slices.Values(rows), 3, 1); err != nil {
		t.Fatal(err)
	}
	want := "NAME      STATE      AVAILABLE\n表格处理  available  c346eeea\nnot shown: SOURCE\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("Table (-want +got):\n%s", diff)
	}
}

func TestTableNeverWiderThanTerminal(t *testing.T) {
	rows := [][]string{{strings.Repeat("a", 64), strings.Repeat("b", 30), strings.Repeat("c ", 500)}, {"d"}}
	for width := 4; width <= 200; width++ {
		s, _, out, _ := ui.Test()
		s.Width = width
		if err := s.Table([]string{"A", "B", "C"}, rows); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(out.String()) {
			if got := ui.Width(strings.TrimSuffix(line, "\n")); got > width {
				t.Errorf("width %d: a row has %d columns: %q", width, got, line)
			}
		}
	}
}

// confirmed asks a question of yes or no.
func confirmed(ctx context.Context, s *ui.Streams, question string, details []string) (bool, error) {
	answer, err := s.Ask(ctx, &ui.Question{Text: question, Details: details})
	return answer == "y", err
}

func TestConfirm(t *testing.T) {
	tests := []struct {
		name, answer string
		terminal     bool
		want         bool
		asked        bool
	}{
		{"yes", "Yes\n", true, true, true},
		{"y", " y \n", true, true, true},
		{"default", "\n", true, false, true},
		{"no", "no\n", true, false, true},
		{"another word, then yes", "yep\ny\n", true, true, true},
		{"another word, then the end", "sure thing\n", true, false, true},
		{"long, then yes", strings.Repeat("y", 4096) + "\nyes\n", true, true, true},
		{"end", "", true, false, true},
		{"unfinished", "y", true, false, true},
		{"long", strings.Repeat("y", 4096) + "\n", true, false, true},
		{"piped yes", "y\n", false, false, false}, // security 2.14 #185
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, in, _, errOut := ui.Test()
			in.WriteString(tt.answer)
			s.InTerminal, s.ErrTerminal = tt.terminal, true
			got, err := confirmed(t.Context(), s, "run \"x\r\"?", nil)
			if err != nil || got != tt.want {
				t.Errorf("Confirm = %v, %v, want %v", got, err, tt.want)
			}
			wantText := ""
			if tt.asked {
				wantText = `┇ run "x\x0d"? Press y or n: `
			}
			if got := strings.ReplaceAll(errOut.String(), ": ┇ Press y or n:", ":"); got != wantText {
				t.Errorf("asked %q, want %q", errOut, wantText)
			}
		})
	}
}

// C65: a question may have more answers than y and n, and one may ask for a line of text.
func TestOtherAnswers(t *testing.T) {
	edit := ui.Question{Choices: []ui.Choice{{Key: "y", Label: "yes"}, {Key: "e", Label: "change it"}, {Key: "n", Label: "no"}}}
	const below = "┇ Sure?\n┇ y  yes   e  change it   n  no\n"
	tests := []struct {
		name, typed  string
		q            ui.Question
		want, prompt string
	}{
		{"a letter", "E\n", edit, "e", below + "┇ Press y, e or n: "},
		{"yes", "yes\n", edit, "y", below + "┇ Press y, e or n: "},
		{"two letters, then Enter", "ey\n\n", edit, "", below + "┇ Press y, e or n: ┇ Press y, e or n: "},
		{"a letter of another question", "e\ny\n", ui.Question{}, "y", "┇ Sure? Press y or n: ┇ Press y or n: "},
		{"the whole", "d\ny\n", ui.Question{Details: []string{"short"}, Whole: []string{"long", "text"}}, "y",
			"┇   short\n┇ Sure?\n┇ y  yes   d  show all of this   n  no\n┇ Press y, d or n: ┇   long\n┇   text\n┇ Sure? Press y or n: "},
		{"a note", "p\n", ui.Question{Note: "rule: x\ty", Choices: []ui.Choice{{Key: "p", Label: "always, and on and on until no more fits in the row"}, {Key: "n", Label: "no"}}}, "p",
			"┇ Sure?\n┇ rule: x y\n┇ p  always, and on and on until no more\n┇ » fits in the row\n┇ n  no\n┇ Press p or n: "},
		{"a label that imitates others", "n\n", ui.Question{Choices: []ui.Choice{{Key: "1", Label: "a   n  yes"}, {Key: "n", Label: "no"}}}, "n",
			"┇ Sure?\n┇ 1  a   n  yes\n┇ n  no\n┇ Press 1 or n: "},
		{"text", " A_KEY -write \n", ui.Question{Free: true}, "A_KEY -write", "┇ Sure? "},
		{"no text", "\n", ui.Question{Free: true}, "", "┇ Sure? "},
		{"no more input", "y", ui.Question{Free: true}, "", "┇ Sure? "},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, in, _, errOut := ui.Test()
			in.WriteString(tt.typed)
			s.InTerminal, s.ErrTerminal, s.Width = true, true, 45
			tt.q.Text = "Sure?"
			if got, err := s.Ask(t.Context(), &tt.q); got != tt.want || err != nil {
				t.Errorf("got %q, %v, want %q", got, err, tt.want)
			}
			if errOut.String() != tt.prompt {
				t.Errorf("printed %q, want %q", errOut, tt.prompt)
			}
		})
	}
}

func TestConfirmLeavesTheRest(t *testing.T) {
	s, in, _, _ := ui.Test()
	in.WriteString("y\nnext line\n")
	s.InTerminal, s.ErrTerminal = true, true
	if ok, err := confirmed(t.Context(), s, "sure?", nil); !ok || err != nil {
		t.Fatalf("Confirm = %v, %v", ok, err)
	}
	if got := in.String(); got != "next line\n" {
		t.Errorf("left to read: %q, want the next line", got)
	}
}

// D1, F16: each row of a question has the mark at its beginning, and a long line does not wrap into a row without it.
func TestConfirmFramesDetails(t *testing.T) {
	s, in, _, errOut := ui.Test()
	in.WriteString("y\n")
	s.InTerminal, s.ErrTerminal, s.Width = true, true, 20
	details := []string{"echo one\nRun it? Press y", "echo " + strings.Repeat("x", 12) + " 漢字漢字", "\t┇\r", ""}
	if ok, err := confirmed(t.Context(), s, "Run this command?", details); !ok || err != nil {
		t.Fatalf("Confirm = %v, %v", ok, err)
	}
	want := `┇   echo one
┇   Run it? Press y
┇   echo xxxxxxxxxx
┇ » xx 漢字漢字
┇    \u{2507}\x0d
┇
┇ Run this
┇ » command?
┇ Press y or n: `
	if diff := cmp.Diff(want, errOut.String()); diff != "" {
		t.Errorf("Confirm (-want +got):\n%s", diff)
	}
}

// D1: a question that exceeds the screen is shown in pages, and a yes counts after the last one only.
func TestConfirmPages(t *testing.T) {
	tests := []struct {
		name, answers string
		want          bool
		shown         int // details
	}{
		{"to the end", "\n\ny\n", true, 10},
		{"yes on the way", "y\ny\n", false, 4},
		{"yes on the way and at the end", "y\n\n\ny\n", true, 10},
		{"no on the way", "\nn\ny\n", false, 8},
		{"end of input", "\n", false, 8},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, in, _, errOut := ui.Test()
			in.WriteString(tt.answers)
			s.InTerminal, s.ErrTerminal, s.Height = true, true, 6
			got, err := confirmed(t.Context(), s, "Sure?", strings.Split("0123456789", ""))
			if got != tt.want || err != nil {
				t.Errorf("Confirm = %v, %v, want %v", got, err, tt.want)
			}
			if n := strings.Count(errOut.String(), "┇   "); n != tt.shown {
				t.Errorf("%d details, want %d:\n%s", n, tt.shown, errOut)
			}
			if !strings.HasPrefix(errOut.String(), "┇   0\n┇   1\n┇   2\n┇   3\n┇ 6 more lines: Enter shows them, n refuses ") {
				t.Errorf("first page:\n%s", errOut)
			}
		})
	}
}

// A name that fills the screen is shown in pages, too.
func TestConfirmPagesOfTheQuestion(t *testing.T) {
	for answers, want := range map[string]bool{"y\n": false, "\n\n\ny\n": true} {
		s, in, _, errOut := ui.Test()
		in.WriteString(answers)
		s.InTerminal, s.ErrTerminal, s.Height, s.Width = true, true, 6, 40
		if got, err := confirmed(t.Context(), s, "Create \""+strings.Repeat("x", 500)+"\"?", []string{"+x"}); got != want || err != nil {
			t.Errorf("%q: %v, %v, want %v:\n%s", answers, got, err, want, errOut)
		}
	}
}

func TestConfirmCancelled(t *testing.T) {
	s, _, _, _ := ui.Test()
	read, write := io.Pipe()
	defer write.Close()
	s.In, s.InTerminal, s.ErrTerminal = read, true, true
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if ok, err := confirmed(ctx, s, "sure?", nil); ok || !errors.Is(err, context.Canceled) {
		t.Errorf("Confirm = %v, %v, want false and context.Canceled", ok, err)
	}
}

func TestBusy(t *testing.T) {
	failure := errors.New("broken")
	tests := []struct {
		name   string
		cursor bool
		says   time.Duration // when the work says something else; 0 is never
		takes  time.Duration
		want   string
		live   func() string
	}{
		{"short", true, 0, 900 * time.Millisecond, "", nil},
		{"short, said", false, 500 * time.Millisecond, 900 * time.Millisecond, "", nil},
		{"pipe", false, 0, 3 * time.Second, `preparing \x1bx ...` + "\n", nil},
		{"pipe, said early", false, 500 * time.Millisecond, 3 * time.Second, `then \x1by ...` + "\n", nil},
		{"pipe, said late", false, 2 * time.Second, 3 * time.Second, `preparing \x1bx ...` + "\n" + `then \x1by ...` + "\n", nil},
		{"terminal", true, 0, 1150 * time.Millisecond,
			"\r\x1b[K| preparing \\x1bx (1 s)\r\x1b[K/ preparing \\x1bx (1 s)\r\x1b[K", nil},
		{"terminal, said", true, 500 * time.Millisecond, 1050 * time.Millisecond, "\r\x1b[K/ then \\x1by (1 s)\r\x1b[K", nil},
		{"terminal, with output", true, 0, 1050 * time.Millisecond, "\r\x1b[K| preparing \\x1bx (1 s)  line \\x1bz\r\x1b[K", func() string { return "line \x1bz" }},
		{"pipe, with output", false, 0, 3 * time.Second, `preparing \x1bx ...` + "\n", func() string { return "line" }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, _, _, errOut := ui.Test()
				s.Cursor = tt.cursor
				err := s.Busy("preparing \x1bx", tt.live, func(say func(string)) error {
					if tt.says > 0 {
						time.Sleep(tt.says)
						say("then \x1by")
					}
					time.Sleep(tt.takes - tt.says) // on the bubble's clock: no time passes
					return failure
				})
				if !errors.Is(err, failure) {
					t.Errorf("Busy = %v, want the work's own error", err)
				}
				if got := errOut.String(); got != tt.want {
					t.Errorf("wrote %q, want %q", got, tt.want)
				}
			})
		})
	}
}
