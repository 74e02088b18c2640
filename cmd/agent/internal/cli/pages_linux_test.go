package cli_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestPages runs the blocks of commands of the pages: each page in a fresh home and from the page itself. What must be there before is
// made by testdata/pages.
func TestPages(t *testing.T) {
	p := scripts(t, pageHome, "testdata/pages")
	p.Cmds["page"] = page
	testscript.Run(t, p)
}

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

// conversation matches a command that opens one, and developing one that shows a skill after each save: their user goes at once.
var (
	conversation = regexp.MustCompile(`^agent(?: "[^"]*"| -c| --no-save| --resume ID(?: --fork)?)?( +#.*)?$`)
	developing   = regexp.MustCompile(`^agent skill dev [^-]\S*( +#.*)?$`)
)

// page runs the blocks of a page in order, in a terminal in which each question is answered with y: page [-each] FILE [WORD=TEXT]...
// In commands, WORD is replaced by TEXT. With -each, as for examples that do not follow each other, each command that comes after one that
// changes something begins with the home that there was before. A console block has the output of each command, where … stands for anything in a line, or for any lines if it is alone.
// Spaces count as one, as the widths of columns are those of the names on this machine.
func page(ts *testscript.TestScript, neg bool, args []string) {
	each := len(args) > 0 && args[0] == "-each"
	if each {
		args = args[1:]
	}
	if neg || len(args) == 0 {
		ts.Fatalf("usage: page [-each] FILE [WORD=TEXT]...")
	}
	text, err := os.ReadFile(filepath.Join(root, args[0]))
	ts.Check(err)
	var failed []string
	seen := map[string]bool{}
	for _, b := range blocksOf(string(text)) {
		if !b.hasCommands() || !b.runs() {
			continue
		}
		steps := slices.DeleteFunc(b.steps(), func(s step) bool {
			again := each && seen[s.command] // it would print the same
			seen[s.command] = true
			return again || notTyped[s.command] != ""
		})
		if len(steps) == 0 {
			continue
		}
		outputs := typed(ts, shell(steps, args[1:], each), b.line)
		for i, s := range steps {
			if wrong := s.check(slices.Concat(outputs, make([]string, len(steps)))[i]); wrong != "" {
				failed = append(failed, fmt.Sprintf("%s:%d: %s\n%s", args[0], s.line, s.command, wrong))
			}
		}
	}
	if len(failed) > 0 {
		ts.Fatalf("%s", strings.Join(failed, "\n"))
	}
}

// typed returns what each command of a script of shell printed, with its exit code.
func typed(ts *testscript.TestScript, script string, line int) []string {
	file := filepath.Join(ts.Getenv("WORK"), fmt.Sprintf(".block-%d.sh", line))
	ts.Check(os.WriteFile(file, []byte(script), 0o600))
	answered := 0
	inTerminal(ts, "0", []string{"sh", file}, func(near *os.File, screen []byte) {
		if rest := screen[answered:]; atQuestion.Match(rest) {
			answered = len(screen)
			reply(near, rest, "y")
		}
	})
	// The places are those that pages use.
	return strings.Split(strings.ReplaceAll(ts.ReadFile("tty"), ts.Getenv("HOME"), "/home/ada"), begins)[1:]
}

// check says what is wrong with what a command printed, and its exit code.
func (s step) check(printed string) string {
	output, code, _ := strings.Cut(printed, ends)
	if code = strings.TrimSpace(code); s.code != "" && code != s.code {
		return fmt.Sprintf("exit code %q, want %s:\n%s", code, s.code, output)
	}
	if s.output != nil && !shown(s.output, output) {
		return fmt.Sprintf("printed:\n%s\nthe page has:\n%s", output, strings.Join(s.output, "\n"))
	}
	return ""
}

// harmless matches the commands after which the home has all that others of their block need.
var harmless = regexp.MustCompile(`^agent( -|$| "| (audit|doctor|version|policy|script|serve|init|permissions list|conversations (list|show|export)|` +
	`mcp (list|info|config|test|install)|skill (list|why|prompt|info|read|search|show|stats|activate|call|tools|validate|outdated|verify|scan|` +
	`pack|publish|test|export|prepare|gc|repair|lock|manage list)))`)

// begins and ends are the marks that a script of shell prints around the output of each command.
const begins, ends = "\x1e", "\x1d"

// shell returns a script of the steps, which prints the exit code of each after its output.
func shell(steps []step, words []string, each bool) string {
	var out strings.Builder
	changed := true
	for _, s := range steps {
		command := s.command
		if m := conversation.FindStringSubmatch(command); m != nil {
			command = strings.TrimSuffix(command, m[1]) + " </dev/null"
		} else if developing.MatchString(command) {
			command = "echo q | " + command
		}
		for _, w := range words {
			word, text, _ := strings.Cut(w, "=")
			command = regexp.MustCompile(`\b`+regexp.QuoteMeta(word)+`\b`).ReplaceAllLiteralString(command, text)
		}
		if each && changed {
			out.WriteString(`cd / && chmod -R u+w "$HOME" && rm -rf "$HOME" && cp -a "$HOME.before" "$HOME" && cd "$HOME/shop"` + "\n")
		}
		changed = !harmless.MatchString(s.command)
		fmt.Fprintf(&out, "printf %q\n%s\nprintf '%s%%s\\n' $?\n", `\036`, command, `\035`)
	}
	return out.String()
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
	report, err := filepath.Abs("testdata/csv-report")
	if err != nil {
		return err
	}
	env.Setenv("CSV_REPORT", report)
	env.Setenv("TTY_COLUMNS", "200")
	env.Setenv("NO_COLOR", "1")
	return os.MkdirAll(filepath.Join(env.WorkDir, "home", "shop"), 0o755)
}
