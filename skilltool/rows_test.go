package skilltool

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/session"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/tool"
)

// R68, R69, C54: with Refresh between turns, a skill that is added, changed, broken or removed while
// the agent runs is so for the model too: in the tool's description and in what the tools do. Nothing
// is restarted and no time passes.
func TestRowHotReload(t *testing.T) {
	root := tree{"one/SKILL.md": skillText("one", "", "First body.")}.write(t)
	start, err := skill.Open(t.Context(), &skill.Options{Layers: []skill.Layer{{Name: "user", Source: skill.Dir(root, nil), Trust: skill.TrustBundled}}})
	if err != nil {
		t.Fatal(err)
	}
	var now atomic.Pointer[skill.Catalog]
	now.Store(start)
	k := New(&Options{Catalog: now.Load, Session: session.New(nil), Scripts: host(t, nil)})
	change := func(name, text string) {
		t.Helper()
		file := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		c, err := now.Load().Refresh(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		now.Store(c)
	}
	if r := call(t, k, "skill", `{"skill_name":"two"}`); r.Error != tool.NotFound {
		t.Errorf("before it is there: %s", r.Encode())
	}
	change("two/SKILL.md", skillText("two", "", "Second body."))
	if d := k.Tools()[0].Description; !strings.Contains(d, `"one": `) || !strings.Contains(d, `"two": Does two things.`) {
		t.Errorf("the new skill is not listed:\n%s", d)
	}
	if r := call(t, k, "skill", `{"skill_name":"two"}`); !strings.Contains(result(r), "Second body.") {
		t.Errorf("the new skill: %s", r.Encode())
	}
	change("two/scripts/run.sh", "echo 1\n")
	if r := call(t, k, "script_run", `{"skill_name":"two","script_name":"run","json":true}`); result(r) != "1" {
		t.Errorf("the new script: %s", r.Encode())
	}
	change("one/SKILL.md", "no front matter\n")
	if r := call(t, k, "skill", `{"skill_name":"one"}`); r.Success || strings.Contains(k.Tools()[0].Description, `"one": `) {
		t.Errorf("a skill that broke: %s", r.Encode())
	}
	if err := os.RemoveAll(filepath.Join(root, "two")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"skill", "script_list"} { // removed, not refreshed yet
		if r := call(t, k, name, `{"skill_name":"two"}`); r.Success && strings.Contains(result(r), "run") {
			t.Errorf("%s of a removed skill: %s", name, r.Encode())
		}
	}
	change("three/SKILL.md", skillText("three", "", "Third."))
	if d := k.Tools()[0].Description; strings.Contains(d, `"two": `) || !strings.Contains(d, `"three": `) {
		t.Errorf("after the removal:\n%s", d)
	}
}

// R68, R177, C41: an index that grows does not grow the prompt: the list keeps its budget, says how
// many skills are left out and how to find them, and each of them still answers to its name.
func TestRowPromptSize(t *testing.T) {
	files := tree{}
	for i := range 300 {
		name := fmt.Sprintf("skill-%03d", i)
		files[name+"/SKILL.md"] = skillText(name, "", "Body of "+name+".")
	}
	whole, _ := kit(t, kitOptions{files: files})
	k, _ := kit(t, kitOptions{files: files, change: func(o *Options) { o.Show.Budget = 800 }})
	all, some := whole.Tools()[0].Description, k.Tools()[0].Description
	if n := strings.Count(all, "\n\"skill-"); n != 300 {
		t.Errorf("without a budget %d skills are listed, want 300", n)
	}
	if len(some) > len(all)/3 || !strings.Contains(some, " more") {
		t.Errorf("with a budget the description has %d of %d bytes and ends\n%s", len(some), len(all), some[max(0, len(some)-300):])
	}
	if r := call(t, k, "skill", `{"skill_name":"skill-299"}`); !r.Success {
		t.Errorf("a skill that was left out of the list: %s", r.Encode())
	}
}

// R77: no tool activates a skill by what a message says: only the tool skill does, and only by name. A
// skill's triggers change nothing about the tools.
func TestRowNoAutomaticActivation(t *testing.T) {
	files := tree{
		"hello/SKILL.md": skillText("hello", "triggers: {keywords: [greet, hello], patterns: ['greet\\s+\\w+']}\n", "Greet."),
		"plain/SKILL.md": skillText("plain", "", "Plain."),
	}
	var s *session.Session
	k, _ := kit(t, kitOptions{files: files, change: func(o *Options) { s = o.Session }})
	for _, args := range []string{`{"skill_name":"greet bob"}`, `{"skill_name":"greet"}`, `{"skill_name":"plain","args":"hello, please greet bob"}`} {
		call(t, k, "skill", args)
	}
	var active []string
	for _, a := range s.Active() {
		active = append(active, a.Name)
	}
	if !slices.Equal(active, []string{"plain"}) {
		t.Errorf("active are %v, want plain alone", active)
	}
}

// R79, C57: an untrusted skill can be read and reviewed, and nothing of it runs: no script, no
// help of a script. That keeps it off the network and off the disk in this build, which has no sandbox;
// the runner is told which folders a sandbox must keep writable, and the skill's is not among them.
func TestRowUntrusted(t *testing.T) {
	spy := &spyRunner{}
	for _, trust := range []skill.Trust{skill.TrustNone, skill.TrustBundled} {
		k, root := kit(t, kitOptions{trust: trust, change: func(o *Options) {
			o.Scripts = host(t, func(o *script.Options) { o.Runner = spy })
		}})
		spy.commands = nil
		for _, name := range []string{"script_run", "script_help"} {
			r := call(t, k, name, `{"skill_name":"kalshi-markets","script_name":"status"}`)
			if denied := r.Error == tool.PermissionDenied; denied == trust.Runs() {
				t.Errorf("%s of a skill that is %s: %s", name, trust, r.Encode())
			}
		}
		if ran := len(spy.commands) > 0; ran != trust.Runs() {
			t.Errorf("%s: %d commands were run", trust, len(spy.commands))
		}
		for _, c := range spy.commands {
			for _, dir := range c.Write {
				if strings.HasPrefix(dir, root) || strings.HasPrefix(root, dir+string(filepath.Separator)) {
					t.Errorf("the skill's folder is writable through %s", dir)
				}
			}
		}
		// What it asks for can be seen before anything of it was allowed.
		if r := call(t, k, "skill", `{"skill_name":"bound"}`); !strings.Contains(string(r.Encode()), `"allowed_tools":["Read","Bash(git:*)"]`) {
			t.Errorf("%s: %s", trust, r.Encode())
		}
		if r := call(t, k, "skill_read", `{"skill_name":"kalshi-markets","path":"references/prices.md"}`); !r.Success {
			t.Errorf("%s: %s", trust, r.Encode())
		}
	}
}

// spyRunner keeps the scripts' commands it was given and prints an empty object for each. What is asked of an
// interpreter it executes.
type spyRunner struct{ commands []*runner.Command }

func (s *spyRunner) Run(ctx context.Context, c *runner.Command) (*runner.Output, error) {
	if c.Phase == runner.Prepare {
		return runner.Exec{}.Run(ctx, c)
	}
	s.commands = append(s.commands, c)
	return &runner.Output{Stdout: []byte("{}")}, nil
}

// R80: enforcement is the executor's: the one way of a model to a script goes through the check of
// trust, however the call is written, and the approver is asked each time.
func TestRowExecutorEnforces(t *testing.T) {
	spy := &spyRunner{}
	asked := 0
	k, _ := kit(t, kitOptions{change: func(o *Options) {
		o.Scripts = host(t, func(o *script.Options) { o.Runner = spy })
		o.Policy.Approve = func(context.Context, *skill.Skill) (bool, error) { asked++; return asked == 2, nil }
	}})
	for i, args := range []string{
		`{"skill_name":"kalshi-markets","script_name":"status"}`,
		`{"skill":"KALSHI_MARKETS","script":"Status.py","args":null,"json_output":false}`,
		`{"skill_name":" kalshi-markets ","script_name":"status"}`,
	} {
		r := call(t, k, "script_run", args)
		if allowed := i == 1; r.Success != allowed || len(spy.commands) != min(i, 1) {
			t.Errorf("call %d, %d commands: %s", i+1, len(spy.commands), r.Encode())
		}
	}
	if asked != 3 {
		t.Errorf("asked %d times, want 3", asked)
	}
}

// R103, R105, C31: limits and failures come back as envelopes with one of the seven codes of R102, and
// the truncation of a text as a warning in the message of a success.
func TestRowLimits(t *testing.T) {
	k, _ := kit(t, kitOptions{trust: skill.TrustBundled, files: tree{
		"big/SKILL.md": skillText("big", "", "Big."),
		"big/scripts/out.py": `import sys
if "--json" in sys.argv: sys.argv.remove("--json")
if sys.argv[1] == "out": sys.stdout.write("x" * int(sys.argv[2]))
if sys.argv[1] == "err": sys.stderr.write("a" * 200 + "e" * 500); sys.exit(3)
if sys.argv[1] == "kill":
    import os, signal; os.kill(os.getpid(), signal.SIGKILL)
`,
	}})
	run := func(args, more string) tool.Result {
		return call(t, k, "script_run", `{"skill_name":"big","script_name":"out","args":[`+args+`]`+more+`}`)
	}
	if r := run(`"out","1048577"`, `,"json":false`); !r.Success || len(result(r)) != 1<<20+2 ||
		r.Message != "Executed out script (output truncated at 1048576 bytes, 1 were dropped)" {
		t.Errorf("a long text: %d bytes, %q", len(result(r)), r.Message)
	}
	if r := run(`"out","1048577"`, `,"json":true`); r.Error != "parse_error" || !strings.Contains(r.Message, "truncated at 1048576 bytes") {
		t.Errorf("a long document: %s %.100s", r.Error, r.Message)
	}
	if r := run(`"err"`, ""); r.Error != "execution_failed" || r.Message != "Script failed with exit code 3\nstderr: "+strings.Repeat("e", 500) {
		t.Errorf("stderr: %s", r.Encode())
	}
	if r := run(`"kill"`, ""); r.Error != "execution_failed" || !strings.HasPrefix(r.Message, "Script failed with exit code 137") {
		t.Errorf("a signal: %s", r.Encode())
	}
	if r := run(strings.Repeat(`"a",`, 100)+`"a"`, ""); r.Error != "args_too_large" || r.Message != "Too many arguments: 101 (max 100)" {
		t.Errorf("arguments: %s", r.Encode())
	}
}

// R93, R94: a deactivation says the name and that, and nothing of tools; it needs a name as well.
func TestRowDeactivation(t *testing.T) {
	k, _ := kit(t, kitOptions{})
	call(t, k, "skill", `{"skill_name":"bound"}`)
	for _, action := range []string{"activate", "deactivate", "", "pause"} {
		if r := call(t, k, "skill", `{"action":"`+action+`"}`); r.Success || r.Message != "skill_name is required" {
			t.Errorf("%q without a name: %s", action, r.Encode())
		}
	}
	if got := result(call(t, k, "skill", `{"skill_name":"bound","action":"deactivate"}`)); got != `{"skill_name":"bound","status":"deactivated"}` {
		t.Errorf("got %s", got)
	}
}

// R94: each action that the session refuses says which one failed.
func TestRowFailedActions(t *testing.T) {
	files := tree{}
	for i := range session.MaxActive + 1 {
		files[fmt.Sprintf("s%d/SKILL.md", i)] = skillText(fmt.Sprintf("s%d", i), "", "Body")
	}
	k, _ := kit(t, kitOptions{files: files})
	for i := range session.MaxActive {
		if r := call(t, k, "skill", fmt.Sprintf(`{"skill_name":"s%d"}`, i)); !r.Success {
			t.Fatalf("got %s", r.Encode())
		}
	}
	for action, want := range map[string]string{
		"activate":   "Skill activate failed: 8 skills are active (max 8)",
		"deactivate": "Skill deactivate failed: Skill 's8' is not active",
	} {
		if r := call(t, k, "skill", `{"skill_name":"s8","action":"`+action+`"}`); r.Error != tool.ExecutionFailed || r.Message != want {
			t.Errorf("got %s, want %s", r.Encode(), want)
		}
	}
}

// R94, R122: what cannot be rendered is not active afterwards.
func TestRowFailedActivation(t *testing.T) {
	var s *session.Session
	k, root := kit(t, kitOptions{change: func(o *Options) { s = o.Session }})
	if err := os.WriteFile(filepath.Join(root, "quiet", "SKILL.md"), []byte("gone\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if r := call(t, k, "skill", `{"skill_name":"quiet"}`); r.Error != tool.ExecutionFailed || !strings.HasPrefix(r.Message, "Failed to load skill: ") {
		t.Errorf("got %s", r.Encode())
	}
	if n := len(s.Active()); n != 0 {
		t.Errorf("%d skills are active", n)
	}
}
