package cli_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// notRun is how many blocks of commands of each page are not run. A comment before each says why. It may only become less.
var notRun = map[string]int{}

// tags are the languages of blocks. Those of commands are sh and console, which has the output too.
var tags = strings.Fields("sh console text json yaml go python typescript markdown ini dockerfile")

// TestPages runs the blocks of commands of the pages: each page in a fresh home and from the page itself. What must be there before is
// made by testdata/pages.
func TestPages(t *testing.T) {
	p := scripts(t, pageHome, "testdata/pages")
	p.Cmds["page"] = page
	testscript.Run(t, p)
}

// TestPageBlocks says that no block of commands is left out without a reason.
func TestPageBlocks(t *testing.T) {
	run := ""
	scripts, err := filepath.Glob("testdata/pages/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range scripts {
		run += string(readFile(t, name))
	}
	for _, page := range pages(t) {
		left, commands := 0, 0
		for _, b := range blocksOf(string(readFile(t, filepath.Join(root, page)))) {
			switch {
			case !slices.Contains(tags, b.tag):
				t.Errorf("%s:%d: a block has the language %q, want one of %q", page, b.line, b.tag, tags)
			case !b.hasCommands():
			case b.runs():
				commands++
			default:
				left++
			}
		}
		if left != notRun[page] {
			t.Errorf("%s: %d blocks of commands are not run, notRun has %d", page, left, notRun[page])
		}
		if commands > 0 && !strings.Contains(run, "page "+page) {
			t.Errorf("%s: no script of testdata/pages runs its %d blocks", page, commands)
		}
	}
}

// root is the module's, seen from this package.
const root = "../../../.."

// pages returns the paths of README and of the pages of docs.
func pages(t *testing.T) []string {
	t.Helper()
	list, err := filepath.Glob(root + "/docs/*.md")
	if err != nil || len(list) == 0 {
		t.Fatalf("%d pages, %v", len(list), err)
	}
	out := []string{"README.md"}
	for _, name := range list {
		out = append(out, "docs/"+filepath.Base(name))
	}
	return out
}

func readFile(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// block is a block of a page: what stands between two fences.
type block struct {
	tag    string
	line   int // of its first line in the page
	text   string
	reason string // why it is not run
}

// A reason stands in a comment before the block.
var reason = regexp.MustCompile(`^<!-- not run: (.+) -->$`)

func blocksOf(page string) (out []block) {
	var b *block
	before := ""
	for i, line := range strings.Split(page, "\n") {
		tag, fence := strings.CutPrefix(strings.TrimSpace(line), "```")
		switch {
		case fence && b == nil:
			b = &block{tag: tag, line: i + 2}
			if m := reason.FindStringSubmatch(before); m != nil {
				b.reason = m[1]
			}
		case fence:
			out = append(out, *b)
			b = nil
		case b != nil:
			b.text += line + "\n"
		}
		before = line
	}
	return out
}

// commandLine matches a line that somebody would type.
var commandLine = regexp.MustCompile(`(?m)^(\$ |agent( |$)|sudo |sh |go (run|test|build|install) )`)

func (b block) hasCommands() bool {
	return b.tag == "sh" || b.tag == "console" || b.tag == "text" && commandLine.MatchString(b.text)
}

func (b block) runs() bool { return b.reason == "" && (b.tag == "sh" || b.tag == "console") }

// step is one command of a block.
type step struct {
	line    int
	command string
	code    string // the exit code that its comment has; "" where the output is compared
	output  []string
}

var exitCode = regexp.MustCompile(`#.*\bexit code (\d+)`)

// steps returns the commands of a block. In one with output they begin with a dollar sign.
func (b block) steps() (out []step) {
	more := false
	for i, line := range strings.Split(strings.TrimSuffix(b.text, "\n"), "\n") {
		command, typed := strings.CutPrefix(line, "$ ")
		switch {
		case more:
			out[len(out)-1].command += "\n" + line
		case b.tag == "console" && !typed:
			last := &out[len(out)-1]
			last.output, last.code = append(last.output, line), ""
			continue
		case strings.TrimSpace(line) == "":
			continue
		default:
			s := step{line: b.line + i, command: command, code: "0"}
			if m := exitCode.FindStringSubmatch(line); m != nil {
				s.code = m[1]
			}
			out = append(out, s)
		}
		more = strings.HasSuffix(line, `\`)
	}
	return out
}

// conversation matches a command that opens one: its user types nothing.
var conversation = regexp.MustCompile(`^agent( "[^"]*"| -c| --no-save| --resume ID( --fork)?)?( +#.*)?$`)

// page runs the blocks of a page in order, in a terminal in which each question is answered with y: page FILE [WORD=TEXT]...
// In commands, WORD is replaced by TEXT. A console block has the output of each command, where … stands for anything in a line, or for any
// lines if it is alone. Spaces count as one, as the widths of columns are those of the names on this machine.
func page(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: page FILE [WORD=TEXT]...")
	}
	text, err := os.ReadFile(filepath.Join(root, args[0]))
	ts.Check(err)
	for _, b := range blocksOf(string(text)) {
		if !b.hasCommands() || !b.runs() {
			continue
		}
		steps := b.steps()
		file := ts.MkAbs(filepath.Join(ts.Getenv("WORK"), fmt.Sprintf(".block-%d.sh", b.line)))
		ts.Check(os.WriteFile(file, []byte(shell(steps, args[1:])), 0o600))
		answered := 0
		inTerminal(ts, "0", []string{"sh", file}, func(near *os.File, screen []byte) {
			if rest := screen[answered:]; atQuestion.Match(rest) {
				answered = len(screen)
				fmt.Fprint(near, "y\n")
			}
		})
		screen := strings.Split(ts.ReadFile("tty"), "\x1e")[1:]
		for i, s := range steps {
			code, output := "", ""
			if i < len(screen) {
				output, code, _ = strings.Cut(screen[i], "\x1d")
			}
			if got := strings.TrimSpace(code); s.code != "" && got != s.code {
				ts.Fatalf("%s:%d: %s\nexit code %q, want %s:\n%s", args[0], s.line, s.command, got, s.code, output)
			}
			if s.output != nil && !shown(s.output, homely(ts, output)) {
				ts.Fatalf("%s:%d: %s\nprinted:\n%s\nthe page has:\n%s", args[0], s.line, s.command, homely(ts, output), strings.Join(s.output, "\n"))
			}
		}
	}
}

// shell returns a script of the steps. Before the output of each it prints a mark, and after it another one and the exit code.
func shell(steps []step, words []string) string {
	var out strings.Builder
	for _, s := range steps {
		command := s.command
		if m := conversation.FindStringSubmatch(command); m != nil {
			command = strings.TrimSuffix(command, m[3]) + " </dev/null"
		}
		for _, w := range words {
			word, text, _ := strings.Cut(w, "=")
			command = regexp.MustCompile(`\b`+regexp.QuoteMeta(word)+`\b`).ReplaceAllLiteralString(command, text)
		}
		fmt.Fprintf(&out, "printf '\\036'\n%s\nprintf '\\035%%s\\n' $?\n", command)
	}
	return out.String()
}

// homely returns what was printed with the places that pages use.
func homely(ts *testscript.TestScript, output string) string {
	return strings.ReplaceAll(output, ts.Getenv("HOME"), "/home/ada")
}

// shown reports whether the lines of a page are those that were printed.
func shown(page []string, printed string) bool {
	var form strings.Builder
	form.WriteString(`^\s*`)
	for _, line := range page {
		if strings.TrimSpace(line) == "…" {
			form.WriteString(`(?:.*\n)*?`)
			continue
		}
		parts := strings.Split(strings.Join(strings.Fields(line), " "), "…")
		for i := range parts {
			parts[i] = regexp.QuoteMeta(parts[i])
		}
		form.WriteString(strings.Join(parts, `.*`) + `\n`)
	}
	var lines bytes.Buffer
	for line := range strings.Lines(printed) {
		lines.WriteString(strings.Join(strings.Fields(line), " ") + "\n")
	}
	return regexp.MustCompile(form.String() + `\s*$`).Match(lines.Bytes())
}

// pageHome is freshHome with a terminal that is wide enough for this machine's paths.
func pageHome(env *testscript.Env) error {
	if err := freshHome(env); err != nil {
		return err
	}
	env.Setenv("TTY_COLUMNS", strconv.Itoa(200))
	env.Setenv("NO_COLOR", "1")
	return os.MkdirAll(filepath.Join(env.WorkDir, "home", "shop"), 0o755)
}
