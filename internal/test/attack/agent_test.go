//go:build unix

package attack

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// These are the limits of every call, for any skills. They apply to processor time: elapsed time depends on the machine.
const (
	mostCPU    = 2 * time.Second
	mostMemory = 64 << 20
	patience   = 2 * time.Minute // after this time a call counts as hanging
)

// agentPath is the path of the tested command, and measurePath of the program that runs and measures it. They are built once.
var agentPath, measurePath string

func TestMain(m *testing.M) { os.Exit(run(m)) }

// spent is the cost of a call, as the command measure writes it.
type spent struct {
	CPU    time.Duration
	Memory int64 // peak, in bytes
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "attack-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	agentPath, measurePath = filepath.Join(dir, "agent"), filepath.Join(dir, "measure")
	if out, err := exec.Command("go", "build", "-o", dir, "../../../cmd/agent", "./measure").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// victim is a user with two good skills, one of them trusted, and the files that a test adds.
type victim struct {
	t                     *testing.T
	home, project, skills string // skills is a root of the user; project is the working directory of the commands
	env                   []string
	mostCPU               time.Duration // limit of one call
	mostMemory            int64         // limit of one call, in bytes
}

// good is what a user and a model see of the good skills that no attack was made on. It is the same for every victim.
var (
	good      map[string]string
	untouched sync.Once
)

const okScript = "echo '{\"ok\":true}'\n"

func newVictim(t *testing.T) *victim {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	v := &victim{t: t, home: filepath.Join(dir, "home"), project: filepath.Join(dir, "project"), skills: filepath.Join(dir, "skills"), mostCPU: mostCPU, mostMemory: mostMemory}
	for _, d := range []string{v.home, filepath.Join(v.project, ".git")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	v.env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + v.home, "NO_COLOR=1", "TERM=dumb"}
	v.write(v.skills, map[string]string{
		"good/SKILL.md":            "---\nname: good\ndescription: Counts sheep. Use at night.\n---\nCount to ten.\n",
		"good/scripts/ok.sh":       okScript,
		"good/references/notes.md": "A note.\n",
		"fine/SKILL.md":            "---\nname: fine\ndescription: Waters plants.\n---\nWater them.\n",
	})
	v.mustRun("skill", "trust", "good", "--yes")
	t.Cleanup(func() { writable(filepath.Join(v.home, ".agent")) }) // its copies are read-only
	untouched.Do(func() { good = v.goodOnes(true) })
	if good["script run good ok"] != "exit 0\n{\"ok\":true}\n" {
		t.Fatalf("the good skill's script never ran: %s", good["script run good ok"])
	}
	return v
}

// write writes files below dir. The content "-> X" makes a symbolic link to X.
func (v *victim) write(dir string, files map[string]string) {
	v.t.Helper()
	for name, text := range files {
		p := filepath.Join(dir, filepath.FromSlash(name))
		err := os.MkdirAll(filepath.Dir(p), 0o755)
		if target, ok := strings.CutPrefix(text, "-> "); ok && err == nil {
			err = os.Symlink(target, p)
		} else if err == nil {
			err = os.WriteFile(p, []byte(text), 0o644)
		}
		if err != nil {
			v.t.Fatal(err)
		}
	}
}

// evil writes files of the skill "evil" next to the good ones. Without a SKILL.md it gets a harmless one.
func (v *victim) evil(files map[string]string) {
	v.t.Helper()
	files = maps.Clone(files)
	if _, ok := files["SKILL.md"]; !ok {
		files["SKILL.md"] = "---\nname: evil\ndescription: Does harm.\n---\nBody\n"
	}
	v.write(filepath.Join(v.skills, "evil"), files)
}

// outcome is one finished call.
type outcome struct {
	code           int
	stdout, stderr string
}

func (o outcome) String() string { return fmt.Sprintf("exit %d\n%s%s", o.code, o.stdout, o.stderr) }

// run calls the command in the project with the victim's root, and checks the rules for every call.
func (v *victim) run(args ...string) outcome {
	v.t.Helper()
	return v.runIn(v.project, append([]string{"--skills-dir", v.skills}, args...)...)
}

func (v *victim) runIn(dir string, args ...string) outcome {
	v.t.Helper()
	ctx, cancel := context.WithTimeout(v.t.Context(), patience)
	defer cancel()
	var stdout, stderr bytes.Buffer
	var took spent
	from, to, err := os.Pipe()
	if err != nil {
		v.t.Fatal(err)
	}
	defer from.Close()
	cmd := exec.CommandContext(ctx, measurePath, args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, append(v.env[:len(v.env):len(v.env)], "ATTACK_MEASURE="+agentPath), &stdout, &stderr
	cmd.ExtraFiles, cmd.SysProcAttr = []*os.File{to}, &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	err = cmd.Run()
	to.Close()
	var exit *exec.ExitError
	if ctx.Err() != nil || err != nil && !errors.As(err, &exit) {
		v.t.Fatalf("agent %.200q: %v, %v", args, err, ctx.Err())
	}
	if err := json.NewDecoder(from).Decode(&took); err != nil {
		v.t.Fatalf("agent %.200q was not measured: %v: %s", args, err, stderr.String())
	}
	o := outcome{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
	v.check(took, args, o)
	return o
}

// check checks the limits of a call: no crash, bounded time and memory, no terminal controls on stderr.
func (v *victim) check(took spent, args []string, o outcome) {
	v.t.Helper()
	args = args[min(2, len(args)-1):]
	if o.code < 0 || o.code > 130 || strings.Contains(o.stderr, "goroutine ") {
		v.t.Errorf("agent %.80q crashed: %.2000s", args, o)
	}
	if took.CPU > v.mostCPU {
		v.t.Errorf("agent %.80q took %v of processor time, more than %v", args, took.CPU, v.mostCPU)
	}
	if took.Memory > v.mostMemory {
		v.t.Errorf("agent %.80q took %d MiB, more than %d", args, took.Memory>>20, v.mostMemory>>20)
	}
	if i := obeyed(o.stderr); i >= 0 {
		v.t.Errorf("agent %.80q prints terminal controls to stderr: %.100q", args, o.stderr[i:])
	}
}

// controls returns the index of the first control character in a text, or -1.
func controls(s string) int {
	return strings.IndexFunc(s, func(r rune) bool { return r < ' ' && r != '\n' || r >= 0x7f && r < 0xa0 })
}

// obeyed returns the index of the first character that a terminal would interpret or hide, or -1.
func obeyed(s string) int {
	return strings.IndexFunc(s, func(r rune) bool {
		return r < ' ' && r != '\n' || r >= 0x7f && r < 0xa0 || r == 0x200e || r == 0x200f || r >= 0x202a && r <= 0x202e ||
			r >= 0x2066 && r <= 0x2069 || r >= 0xe0000 && r <= 0xe007f
	})
}

func (v *victim) mustRun(args ...string) outcome {
	v.t.Helper()
	o := v.run(args...)
	if o.code != 0 {
		v.t.Fatalf("agent %q: %s", args, o)
	}
	return o
}

// show runs a command with output for people or models, and checks that it has no terminal controls.
func (v *victim) show(args ...string) outcome {
	v.t.Helper()
	o := v.run(args...)
	if i := obeyed(o.stdout); i >= 0 {
		v.t.Errorf("agent %q prints terminal controls: %.100q", args, o.stdout[i:])
	}
	return o
}

// goodOnes returns what a user and a model see of the good skills, all of it or the most important, without the path of this victim's folder.
func (v *victim) goodOnes(all bool) map[string]string {
	v.t.Helper()
	out := map[string]string{}
	for _, s := range v.list() {
		if name := s["name"]; name == "good" || name == "fine" {
			b, _ := json.Marshal(s)
			out[fmt.Sprint("list ", name)] = string(b)
		}
	}
	calls := [][]string{{"skill", "activate", "good"}, {"script", "run", "good", "ok"}}
	if all {
		calls = append(calls, []string{"skill", "activate", "fine"}, []string{"skill", "read", "good", "references/notes.md"}, []string{"skill", "read", "fine"},
			[]string{"script", "list", "good"}, []string{"skill", "validate", filepath.Join(v.skills, "good")}, []string{"skill", "validate", filepath.Join(v.skills, "fine")})
	}
	for _, args := range calls {
		o := v.run(args...)
		out[strings.Join(args, " ")] = fmt.Sprintf("exit %d\n%s", o.code, o.stdout) // warnings are about other skills
	}
	place, same := strings.NewReplacer(filepath.Dir(v.home), "PLACE"), map[string]string{}
	for what, text := range out {
		same[place.Replace(what)] = place.Replace(text)
	}
	return same
}

// list returns all skills.
func (v *victim) list() []map[string]any {
	v.t.Helper()
	var doc struct{ Skills []map[string]any }
	o := v.mustRun("skill", "list", "--all", "--json")
	if err := json.Unmarshal([]byte(o.stdout), &doc); err != nil {
		v.t.Fatalf("skill list --json: %v: %.300s", err, o.stdout)
	}
	return doc.Skills
}

// listed returns the skill with a canonical name, or nil.
func (v *victim) listed(name string) map[string]any {
	v.t.Helper()
	for _, s := range v.list() {
		if s["name_canonical"] == name {
			return s
		}
	}
	return nil
}

// unharmed checks that the good skills have not changed, and that the commands about all skills still work.
func (v *victim) unharmed() {
	v.t.Helper()
	after := v.goodOnes(true)
	v.same(after)
	if len(after) != len(good) {
		v.t.Errorf("of the good skills there are %d texts, before %d", len(after), len(good))
	}
	v.prompted()
	for _, args := range [][]string{
		{"skill", "search", "sheep"}, {"skill", "list"}, {"skill", "show"}, {"script", "list"}, {"skill", "why", "evil"},
		{"skill", "info", "evil"}, {"--check"},
	} {
		v.show(args...)
	}
	bare := *v
	bare.env = append([]string{"PATH=" + v.project}, v.env[1:]...) // it need not ask the machine's programs for their versions
	bare.show("doctor")
	completed := v.run("__complete", "skill", "info", "").stdout // a name, a tab, a description: the shell's own form
	if i := obeyed(strings.ReplaceAll(completed, "\t", "")); i >= 0 || !strings.Contains(completed, "good\tCounts sheep.") {
		v.t.Errorf("completion prints %.500q", completed)
	}
}

// unharmedBy checks the most important of unharmed, for one of many attacks of a kind. A test of all of them together checks the rest.
func (v *victim) unharmedBy(evil string) {
	v.t.Helper()
	v.same(v.goodOnes(false))
	v.prompted()
	v.show("skill", "why", evil)
	v.show("skill", "info", evil)
}

// same checks that texts of the good skills have not changed.
func (v *victim) same(after map[string]string) {
	v.t.Helper()
	for what, text := range after {
		if good[what] != text {
			v.t.Errorf("%s: now %.500q, before %.500q", what, text, good[what])
		}
	}
	for _, name := range []string{"list good", "list fine"} {
		if after[name] == "" {
			v.t.Errorf("%s: nothing", name)
		}
	}
}

// prompted checks that the good skills are in the prompt.
func (v *victim) prompted() {
	v.t.Helper()
	prompt := v.show("skill", "prompt")
	for _, want := range []string{"Counts sheep.", "Waters plants."} {
		if prompt.code != 0 || !strings.Contains(prompt.stdout, want) {
			v.t.Errorf("the prompt does not contain %q: %.300s", want, prompt)
		}
	}
}

// problem is one finding of `skill validate --json`.
type problem struct {
	Code, Severity, File, Field, Message, Cure string
	Line, Column                               int
}

func (p problem) String() string { return fmt.Sprintf("%s %d:%d", p.Code, p.Line, p.Column) }

// validate returns the exit code and the problems of the skill "evil".
func (v *victim) validate(args ...string) (int, []problem) {
	v.t.Helper()
	var doc struct {
		Skills []struct{ Problems []problem }
	}
	o := v.run(append([]string{"skill", "validate", filepath.Join(v.skills, "evil"), "--json"}, args...)...)
	if err := json.Unmarshal([]byte(o.stdout), &doc); err != nil {
		v.t.Fatalf("skill validate --json: %v: %s", err, o)
	}
	var out []problem
	for _, s := range doc.Skills {
		out = append(out, s.Problems...)
	}
	v.show("skill", "validate", filepath.Join(v.skills, "evil"))
	return o.code, out
}

// secret is a text that no command may print.
const secret = "the-owner's-secret"

// secretFile puts the secret outside every skill and returns its path.
func (v *victim) secretFile() string {
	v.t.Helper()
	v.write(v.home, map[string]string{"secret.txt": secret + "\n"})
	return filepath.Join(v.home, "secret.txt")
}

func (v *victim) leaks(o outcome, what string) {
	v.t.Helper()
	if strings.Contains(o.stdout, secret) || strings.Contains(o.stderr, secret) {
		v.t.Errorf("%s leaks a file outside the skill: %.500s", what, o)
	}
}
