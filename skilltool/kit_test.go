package skilltool

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/internal/survey"
	"github.com/agent-base/agent-base/internal/test/ordered"
	"github.com/agent-base/agent-base/internal/test/scratch"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/session"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/tool"
	"github.com/agent-base/agent-base/trace"
)

// tree is a set of files to write: slash path to content.
type tree map[string]string

func (f tree) write(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range f {
		p := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func skillText(name, extra, body string) string {
	return "---\nname: " + name + "\ndescription: Does " + name + " things. Use when asked.\n" + extra + "---\n" + body + "\n"
}

const statusScript = `import sys, json
if "--help" in sys.argv:
    print("Usage: status [OPTIONS]\n\nShows the status.\n\nOptions:\n  --json  JSON")
elif "fail" in sys.argv:
    print(json.dumps({"error": "no such market"})); sys.exit(1)
elif "junk" in sys.argv:
    print("not json"); print("hint", file=sys.stderr)
elif "--json" in sys.argv:
    print(json.dumps({"ok": True, "args": sys.argv[1:]}))
else:
    print("all is well")
`

var demo = tree{
	"kalshi-markets/SKILL.md":                skillText("kalshi-markets", "", "Read `references/prices.md`."),
	"kalshi-markets/references/prices.md":    "Prices are in cents.\n",
	"kalshi-markets/assets/logo.bin":         "\x00\x01\x02",
	"kalshi-markets/scripts/status.py":       statusScript,
	"kalshi-markets/scripts/Run.py":          "print('{}')\n",
	"bound/SKILL.md":                         skillText("bound", "allowed-tools: Read Bash(git:*)\n", "Do $0 and $ARGUMENTS."),
	"quiet/SKILL.md":                         skillText("quiet", "", "No scripts here."),
	"hidden/SKILL.md":                        skillText("hidden", "disable-model-invocation: true\n", "Not for models."),
	"kalshi-markets/references/deep/more.md": "More.\n",
}

type kitOptions struct {
	files  tree
	trust  skill.Trust
	change func(*Options)
}

func kit(t *testing.T, o kitOptions) (*Kit, string) {
	t.Helper()
	if o.files == nil {
		o.files = demo
	}
	root := o.files.write(t)
	c, err := skill.Open(t.Context(), &skill.Options{Layers: []skill.Layer{{Name: "test", Source: skill.Dir(root, nil), Trust: o.trust}}})
	if err != nil {
		t.Fatal(err)
	}
	ko := &Options{
		Catalog: func() *skill.Catalog { return c },
		Session: session.New(nil),
		Scripts: host(t, nil),
	}
	if o.change != nil {
		o.change(ko)
	}
	return New(ko), root
}

// byOrder has all tests run scripts as another machine does. TestByOrder sets it.
var byOrder = flag.Bool("by-order", false, "run scripts by orders")

// TestByOrder runs the tests of this package again, with scripts that are run by orders, which a worker gets by way of a queue. The kit does
// not notice it.
func TestByOrder(t *testing.T) {
	if *byOrder {
		t.Skip("these are the tests with orders")
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), exe, "-by-order").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// host runs scripts with the programs of this machine.
func host(t *testing.T, change func(*script.Options)) Scripts {
	t.Helper()
	if *byOrder {
		return ordered.New(t, hostOptions(t, change))
	}
	return localHost(t, change)
}

func hostOptions(t *testing.T, change func(*script.Options)) *script.Options {
	o := &script.Options{LookPath: exec.LookPath, Cache: scratch.Dir(t)}
	if change != nil {
		change(o)
	}
	return o
}

// localHost is the host itself.
func localHost(t *testing.T, change func(*script.Options)) *script.Host {
	t.Helper()
	h, err := script.New(hostOptions(t, change))
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// call runs one tool by name and returns its envelope.
func call(t *testing.T, k *Kit, name, args string) tool.Result {
	t.Helper()
	var set tool.Set
	for _, tl := range k.Tools() {
		if err := set.Add(tl); err != nil {
			t.Fatal(err)
		}
	}
	return (&tool.Executor{Tools: &set}).Call(t.Context(), name, json.RawMessage(args))
}

// result is r's result as JSON text.
func result(r tool.Result) string {
	b, err := json.Marshal(r.Result)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// R98, R161, R183: five tools whatever the number of skills, none without skills, no script tools
// without a host; each has a schema and says what a model must know.
func TestTools(t *testing.T) {
	k, _ := kit(t, kitOptions{})
	var names []string
	for _, tl := range k.Tools() {
		names = append(names, tl.Name)
		if !json.Valid(tl.Input) || tl.Description == "" {
			t.Errorf("tool %q has no valid schema or no description", tl.Name)
		}
	}
	if got := strings.Join(names, " "); got != "skill skill_read script_list script_help script_run" {
		t.Errorf("tools: %s", got)
	}
	without, _ := kit(t, kitOptions{change: func(o *Options) { o.Scripts = nil }})
	if n := len(without.Tools()); n != 2 {
		t.Errorf("%d tools without a script host, want 2", n)
	}
	none, _ := kit(t, kitOptions{files: tree{"x/readme.txt": "nothing"}}) // R172
	if n := len(none.Tools()); n != 0 {
		t.Errorf("%d tools without skills, want none", n)
	}
	for name, wants := range map[string][]string{ // R183
		"script_list": {"one skill", "all skills"},
		"script_help": {"--help", "which arguments", "before"},
		"script_run":  {"--json", "script_help"},
	} {
		for _, tl := range k.Tools() {
			for _, want := range wants {
				if tl.Name == name && !strings.Contains(tl.Description, want) {
					t.Errorf("%s does not say %q: %s", name, want, tl.Description)
				}
			}
		}
	}
	skillTool := k.Tools()[0] // R92, R180
	for _, want := range []string{`"bound": Does bound things.`, "<available_skills>"} {
		if !strings.Contains(skillTool.Description, want) {
			t.Errorf("the skill tool does not say %q:\n%s", want, skillTool.Description)
		}
	}
	for _, want := range []string{"Name of the skill to invoke (from available_skills)", "Optional arguments to pass to the skill"} {
		if !strings.Contains(string(skillTool.Input), want) {
			t.Errorf("the skill tool's schema has no %q", want)
		}
	}
	if strings.Contains(skillTool.Description, "hidden") {
		t.Error("a skill with disable-model-invocation is told to the model")
	}
}

// R93: the activation result.
func TestActivate(t *testing.T) {
	k, root := kit(t, kitOptions{})
	r := call(t, k, "skill", `{"skill_name":"Bound","args":"one two"}`) // R135: the tool is called "skill"
	a, ok := r.Result.(Activation)
	if !ok || !r.Success {
		t.Fatalf("activation: %s", r.Encode())
	}
	if a.SkillName != "bound" || a.BasePath != filepath.Join(root, "bound") || a.Status != "activated" || a.Args != "one two" {
		t.Errorf("activation: %+v", a)
	}
	if a.AllowedTools == nil || fmt.Sprint(*a.AllowedTools) != "[Read Bash(git:*)]" {
		t.Errorf("allowed tools: %v", a.AllowedTools)
	}
	for _, want := range []string{`<skill_content name="bound"`, "Do one and one two."} {
		if !strings.Contains(a.Content, want) {
			t.Errorf("content has no %q:\n%s", want, a.Content)
		}
	}
	if strings.Contains(a.Content, "allowed-tools:") { // C51
		t.Error("content has the front matter")
	}
	again := call(t, k, "skill", `{"skill_name":"bound"}`) // C48
	if a, _ := again.Result.(Activation); !again.Success || a.Status != "already_active" || a.Content == "" {
		t.Errorf("second activation: %s", again.Encode())
	}
	free := call(t, k, "skill", `{"skill":"quiet"}`) // 1.3: skill is read as skill_name
	if !strings.Contains(string(free.Encode()), `"allowed_tools":null`) {
		t.Errorf("an unrestricted skill: %s", free.Encode())
	}
	if r := call(t, k, "skill", `{"skill_name":"bound","action":"deactivate"}`); r.Success || !strings.Contains(r.Message, "must be deactivated first") {
		t.Errorf("deactivating below the top: %s", r.Encode())
	}
	if r := call(t, k, "skill", `{"skill_name":"quiet","action":"deactivate"}`); !r.Success || !strings.Contains(result(r), `"status":"deactivated"`) {
		t.Errorf("deactivating the top: %s", r.Encode())
	}
}

// What is told to be run can be run: files that the manifest ignores, and nested ones, are plain files.
func TestActivationMarksScripts(t *testing.T) {
	k, _ := kit(t, kitOptions{files: tree{
		"x/SKILL.md":             skillText("x", "scripts_ignore: ['*_test.py']\n", "Body"),
		"x/scripts/a.py":         "print(1)\n",
		"x/scripts/a_test.py":    "print(1)\n",
		"x/scripts/data/rows.md": "rows\n",
	}})
	a, _ := call(t, k, "skill", `{"skill_name":"x"}`).Result.(Activation)
	for _, want := range []string{`<file run="true">scripts/a.py</file>`, "<file>scripts/a_test.py</file>", "<file>scripts/data/rows.md</file>"} {
		if !strings.Contains(a.Content, want) {
			t.Errorf("no %s in:\n%s", want, a.Content)
		}
	}
}

// R94, R46, C32: the texts of what goes wrong.
func TestActivateErrors(t *testing.T) {
	k, _ := kit(t, kitOptions{})
	tests := []struct{ name, args, code, want string }{
		{"no name", `{}`, "invalid_name", "skill_name is required"},
		{"near miss", `{"skill_name":"kalshi-market"}`, "not_found", "Skill 'kalshi-market' not found. Did you mean 'kalshi-markets'?"},
		{"far off", `{"skill_name":"zzzzzzzz"}`, "not_found", "Skill 'zzzzzzzz' not found."},
		{"no name at all", `{"skill_name":"../etc"}`, "invalid_name", "Invalid skill name: '../etc'"},
		{"hidden", `{"skill_name":"hidden"}`, "not_found", "Skill 'hidden' not found."},
		{"action", `{"skill_name":"bound","action":"pause"}`, "execution_failed", "Unknown action 'pause'. Use 'activate' or 'deactivate'."},
		{"nothing active", `{"skill_name":"bound","action":"deactivate"}`, "execution_failed", "No active skills to deactivate"},
		{"no object", `[]`, "execution_failed", "arguments of 'skill' cannot be read"},
		{"no text", `{"skill_name":7}`, "execution_failed", "arguments do not fit"},
		{"args", `{"skill_name":"bound","args":{"a":1}}`, "execution_failed", "args must be a string"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := call(t, k, "skill", tt.args)
			if r.Success || string(r.Error) != tt.code || !strings.Contains(r.Message, tt.want) {
				t.Errorf("got %s\nwant %s: %s", r.Encode(), tt.code, tt.want)
			}
		})
	}
}

// C48, C49: what the omniforge profile does differently.
func TestStrictStackAndErrorText(t *testing.T) {
	k, _ := kit(t, kitOptions{change: func(o *Options) { o.StrictStack = true }})
	call(t, k, "skill", `{"skill_name":"quiet"}`)
	r := call(t, k, "skill", `{"skill_name":"quiet"}`)
	r.ErrorText = true
	if got := string(r.Encode()); !strings.HasPrefix(got, `{"success":false,"error":"Skill 'quiet' is already active","message":"Skill 'quiet' is already active"`) {
		t.Errorf("second activation: %s", got)
	}
}

// R186: a text in `error` is a matter of the envelope: who branches and who watches sees the same as without.
func TestErrorTextKeepsTheCode(t *testing.T) {
	for _, text := range []bool{false, true} {
		k, _ := kit(t, kitOptions{})
		var set tool.Set
		for _, tl := range k.Tools() {
			if err := set.Add(tl); err != nil {
				t.Fatal(err)
			}
		}
		var events []string
		e := &tool.Executor{Tools: &set, ErrorText: text, Trace: trace.TracerFunc(func(_ context.Context, ev trace.Event) {
			events = append(events, fmt.Sprint(ev.Kind, " ", ev.Level))
		})}
		r := e.Call(t.Context(), "script_run", json.RawMessage(`{"skill_name":"kalshi-markets","script_name":"status"}`))
		if got := fmt.Sprint(events); got != "[tool_denied WARN]" || r.Error != tool.PermissionDenied {
			t.Errorf("ErrorText %v: events %s, code %q", text, got, r.Error)
		}
	}
}

func TestNewPanicsWithoutCatalog(t *testing.T) {
	for _, o := range []*Options{nil, {}} {
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.Contains(got, "Options.Catalog and Options.Session are needed") {
					t.Errorf("panic %s", got)
				}
			}()
			New(o)
		}()
	}
}

// R99: one skill or all, with the short name and the path, which is absolute where scripts are those of agent-base.
func TestScriptList(t *testing.T) {
	for rule, below := range map[survey.Rule]string{survey.Any: "", survey.Direct: "kalshi-markets"} {
		k, root := kit(t, kitOptions{change: func(o *Options) { o.ScriptRule = rule }})
		if below != "" {
			below = filepath.Join(root, below) + "/"
		}
		r := call(t, k, "script_list", `{"skill_name":"Kalshi_Markets"}`)
		want := fmt.Sprintf(`{"kalshi-markets":[{"name":"Run","path":%q},{"name":"status","path":%q}]}`, below+"scripts/Run.py", below+"scripts/status.py")
		if !r.Success || result(r) != want || r.Message != "Found 2 scripts across 1 skill" {
			t.Errorf("got  %s %s\nwant %s", result(r), r.Message, want)
		}
	}
	k, _ := kit(t, kitOptions{})
	all := call(t, k, "script_list", `{}`)
	if all.Message != "Found 2 scripts across 1 skill" {
		t.Errorf("all: %s", all.Encode())
	}
	for args, want := range map[string]string{ // R99, C32, C33
		`{"skill_name":"xyz"}`:    "not_found Skill 'xyz' not found",
		`{"skill_name":"../etc"}`: "invalid_name Invalid skill name: '../etc'",
	} {
		if r := call(t, k, "script_list", args); string(r.Error)+" "+r.Message != want {
			t.Errorf("%s: got %s, want %s", args, r.Encode(), want)
		}
	}
}

// R100, R101, C35, C36: help and run, through the names that models use.
func TestScriptHelpAndRun(t *testing.T) {
	k, _ := kit(t, kitOptions{trust: skill.TrustBundled})
	help := call(t, k, "script_help", `{"skill":"Kalshi-Markets","script":"Status.py"}`)
	if !help.Success || help.Message != "Retrieved help for status" || !strings.Contains(result(help), `"usage":"Usage: status [OPTIONS]"`) {
		t.Errorf("help: %s", help.Encode())
	}
	tests := []struct{ name, args, want, message string }{
		{"json", `{"skill_name":"kalshi-markets","script_name":"status","args":["a",5,true]}`, `{"ok":true,"args":["a","5","true","--json"]}`, "Executed status script"},
		{"null args", `{"skill_name":"kalshi-markets","script_name":"status","args":null}`, `{"ok":true,"args":["--json"]}`, "Executed status script"},
		{"text", `{"skill_name":"kalshi-markets","script_name":"status","json":false}`, `"all is well\n"`, "Executed status script"},
		{"alias of json", `{"skill_name":"kalshi-markets","script_name":"status","json_output":false}`, `"all is well\n"`, "Executed status script"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := call(t, k, "script_run", tt.args)
			if !r.Success || result(r) != tt.want || r.Message != tt.message {
				t.Errorf("got %s\nwant %s, %s", r.Encode(), tt.want, tt.message)
			}
		})
	}
}

// R102, R104, C33: what goes wrong with scripts, and what a failed one still said.
func TestScriptErrors(t *testing.T) {
	k, _ := kit(t, kitOptions{trust: skill.TrustBundled})
	long := `["` + strings.Repeat("x", 4097) + `"]`
	many := `["` + strings.Repeat(`a","`, 149) + `a"]`
	tests := []struct{ name, args, want string }{
		{"no skill", `{"skill_name":"unknown-skill","script_name":"x"}`, `{"success":false,"error":"not_found","message":"Skill 'unknown-skill' not loaded or installed"`},
		{"no script", `{"skill_name":"kalshi-markets","script_name":"xyz"}`, `{"success":false,"error":"not_found","message":"Script 'xyz' not found in skill 'kalshi-markets'"`},
		{"a script's name with a slip", `{"skill_name":"kalshi-markets","script_name":"statsu"}`, `"message":"Script 'statsu' not found in skill 'kalshi-markets'. Did you mean 'status'?"`},
		{"bad skill name", `{"skill_name":"../etc","script_name":"x"}`, `"error":"invalid_name","message":"Invalid skill name: '../etc'"`},
		{"bad script name", `{"skill_name":"kalshi-markets","script_name":"../x"}`, `"error":"invalid_name","message":"Invalid script name: '../x'"`},
		{"skill missing", `{"script_name":"x"}`, `"message":"skill_name is required"`},
		{"script missing", `{"skill_name":"quiet"}`, `"message":"script_name is required"`},
		{"many", `{"skill_name":"kalshi-markets","script_name":"status","args":` + many + `}`, `"error":"args_too_large","message":"Too many arguments: 150 (max 100)"`},
		{"a long stdin", `{"skill_name":"kalshi-markets","script_name":"status","stdin":"` + strings.Repeat("x", 1<<20+1) + `"}`,
			`"error":"args_too_large","message":"Standard input too large: 1048577 bytes (max 1048576)"`},
		{"long", `{"skill_name":"kalshi-markets","script_name":"status","args":` + long + `}`, `"error":"args_too_large"`},
		{"not a list", `{"skill_name":"kalshi-markets","script_name":"status","args":"--limit 5"}`, `"error":"execution_failed","reason":"invalid_arguments","message":"args must be a list of strings`},
		{"not strings", `{"skill_name":"kalshi-markets","script_name":"status","args":[{}]}`, `args[0] must be a string`},
		{"exit 1 with JSON", `{"skill_name":"kalshi-markets","script_name":"status","args":["fail"]}`, `"result":{"error":"no such market"}`},
		{"no JSON", `{"skill_name":"kalshi-markets","script_name":"status","args":["junk"],"json":true}`, `"error":"parse_error","message":"Expected JSON output, got: not json`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := call(t, k, "script_run", tt.args)
			if got := string(r.Encode()); r.Success || !strings.Contains(got, tt.want) {
				t.Errorf("got %s\nwant %s", got, tt.want)
			}
		})
	}
}

// C57: scripts of content that is not approved are refused with the cure, or asked about.
func TestUntrusted(t *testing.T) {
	run := `{"skill_name":"kalshi-markets","script_name":"status"}`
	k, _ := kit(t, kitOptions{})
	for _, name := range []string{"script_run", "script_help"} { // 1.3: script_help is a run
		r := call(t, k, name, run)
		if r.Error != tool.PermissionDenied || r.Reason != ReasonUntrusted || r.Message != "Skill 'kalshi-markets' is not trusted: its scripts are not run." {
			t.Errorf("%s: %s", name, r.Encode())
		}
	}
	advised, _ := kit(t, kitOptions{change: func(o *Options) {
		o.Policy.Advise = func(err error, name string) string {
			var u *UntrustedError
			if !errors.As(err, &u) || u.Trust != skill.TrustNone || u.Skill != "kalshi-markets" || name != "kalshi-markets" {
				t.Errorf("got %v of %q", err, name)
			}
			return "Ask about it."
		}
	}})
	if r := call(t, advised, "script_run", run); r.Message != "Skill 'kalshi-markets' is not trusted: its scripts are not run. Ask about it." {
		t.Errorf("got %s", r.Encode())
	}
	if r := call(t, k, "script_list", run); !r.Success {
		t.Errorf("listing must not need trust: %s", r.Encode())
	}
	asked := 0
	for _, answer := range []bool{true, false} {
		k, _ := kit(t, kitOptions{change: func(o *Options) {
			o.Policy.Approve = func(context.Context, *skill.Skill) (bool, error) { asked++; return answer, nil }
		}})
		if r := call(t, k, "script_run", run); r.Success != answer {
			t.Errorf("approved %v: %s", answer, r.Encode())
		}
	}
	if asked != 2 {
		t.Errorf("asked %d times, want 2", asked)
	}
	failing, _ := kit(t, kitOptions{change: func(o *Options) {
		o.Policy.Approve = func(context.Context, *skill.Skill) (bool, error) { return true, fmt.Errorf("store is locked") }
	}})
	if r := call(t, failing, "script_run", run); r.Success || !strings.Contains(r.Message, "store is locked") {
		t.Errorf("a failing question must deny: %s", r.Encode())
	}
}
