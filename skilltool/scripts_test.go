package skilltool

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/tool"
	"github.com/agent-base/agent-base/trace"
)

// R102: an argument with NUL is neither too large nor a name: the call cannot be made, and says so.
func TestArgumentWithNUL(t *testing.T) {
	k, _ := kit(t, kitOptions{trust: skill.TrustBundled})
	r := call(t, k, "script_run", `{"skill_name":"kalshi-markets","script_name":"status","args":["a","b\u0000c"]}`)
	want := `{"success":false,"error":"execution_failed","reason":"invalid_arguments","message":"Argument 2 holds a NUL character, which no program can be given: leave it out"`
	if got := string(r.Encode()); !strings.HasPrefix(got, want) {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// R166: whatever a call of a script fails of, it is logged once at ERROR, with the names of skill and script where they are
// known; a success is logged at INFO.
func TestScriptCallsAreLogged(t *testing.T) {
	names := func(skillName, scriptName, more string) string {
		return fmt.Sprintf(`{"skill_name":%q,"script_name":%q%s}`, skillName, scriptName, more)
	}
	const status = `skill=kalshi-markets script=status `
	tests := []struct {
		name, args string
		trust      skill.Trust
		want       string
	}{
		{"success", names("Kalshi_Markets", "Status.py", ""), skill.TrustBundled, `level=INFO msg="Executed status script" ` + status},
		{"it failed", names("kalshi-markets", "status", `,"args":["fail"]`), skill.TrustBundled, `level=ERROR msg="Script status failed" ` + status},
		{"no such skill", names("m", "nope", ""), skill.TrustBundled, `level=ERROR msg="Script nope failed" skill=m script=nope error="Skill 'm' not loaded or installed" code=not_found`},
		{"no such script", names("Kalshi_Markets", "nope", ""), skill.TrustBundled, `level=ERROR msg="Script nope failed" skill=kalshi-markets script=nope error="Script 'nope' not found in skill 'kalshi-markets'" code=not_found`},
		{"bad skill name", names("../m", "status", ""), skill.TrustBundled, `level=ERROR msg="Script status failed" skill=../m script=status error="Invalid skill name: '../m'" code=invalid_name`},
		{"bad script name", names("kalshi-markets", "../x", ""), skill.TrustBundled, `level=ERROR msg="Script ../x failed" skill=kalshi-markets script=../x error="Invalid script name: '../x'" code=invalid_name`},
		{"untrusted", names("kalshi-markets", "status", ""), skill.TrustNone, `error="Skill 'kalshi-markets' is not trusted: its scripts are not run."`},
		{"too large", names("kalshi-markets", "status", `,"args":["`+strings.Repeat("x", 5000)+`"]`), skill.TrustBundled, `error="Arguments too large: 5000 bytes (max 4096)" code=args_too_large`},
		{"not a list", names("kalshi-markets", "status", `,"args":"x"`), skill.TrustBundled, `level=ERROR msg="Script status failed" ` + status + `error="args must be a list`},
		{"no script", `{"skill_name":"kalshi-markets"}`, skill.TrustBundled, `level=ERROR msg="Script failed" skill=kalshi-markets error="script_name is required" code=invalid_name`},
		{"no names", `{"skill_name":1}`, skill.TrustBundled, `level=ERROR msg="Script failed" error="arguments do not fit`},
		{"a long name", names("m", strings.Repeat("y", 1<<20), ""), skill.TrustBundled, `level=ERROR msg="Script yyyy`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var log bytes.Buffer
			tracer := trace.Log(slog.New(slog.NewTextHandler(&log, nil)))
			k, _ := kit(t, kitOptions{trust: tt.trust, change: func(o *Options) {
				o.Trace, o.Scripts = tracer, host(t, func(o *script.Options) { o.Trace = tracer })
			}})
			for _, name := range []string{"script_run", "script_help"} {
				if log.Reset(); name == "script_help" && (strings.Contains(tt.args, `"args"`) || tt.name == "success") {
					continue
				}
				call(t, k, name, tt.args)
				if got := log.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, tt.want) || !strings.Contains(got, `level=`+map[bool]string{true: "INFO", false: "ERROR"}[tt.name == "success"]) || len(got) > 9000 {
					t.Errorf("%s: got %.2000s\nwant %s", name, got, tt.want)
				}
			}
		})
	}
}

// R102: a call has one reading: a key in another case, a second one, or one that no tool has, is not taken.
func TestOneReadingOfACall(t *testing.T) {
	k, _ := kit(t, kitOptions{trust: skill.TrustRoot})
	for _, args := range []string{
		`{"skill_name":"quiet","SKILL_NAME":"kalshi-markets","script_name":"status"}`,
		`{"skill_name":"quiet","skill_name":"kalshi-markets","script_name":"status"}`,
		`{"skill_name":"kalshi-markets","script_name":"status","command":"harmless"}`,
	} {
		for _, name := range []string{"script_run", "script_help", "script_list", "skill", "skill_read"} {
			if r := call(t, k, name, args); r.Success || r.Reason != tool.ReasonArguments || !strings.Contains(r.Message, "is repeated") && !strings.Contains(r.Message, "unknown argument") {
				t.Errorf("%s %s: %s", name, args, r.Encode())
			}
		}
	}
}

// C64: the parameter json has three values; left out, the host decides.
func TestJSONParameter(t *testing.T) {
	files := tree{
		"x/SKILL.md":        skillText("x", "", "Text."),
		"x/scripts/flag.py": "import argparse\np = argparse.ArgumentParser()\np.add_argument('--json', action='store_true')\nprint('{\"json\": true}' if p.parse_args().json else 'plain')\n",
		"x/scripts/none.py": "import argparse\nargparse.ArgumentParser().parse_args()\nprint('plain')\n",
	}
	letter := func(o *Options) {
		o.Scripts = host(t, func(o *script.Options) { o.JSON = script.JSONYes })
	}
	tests := []struct {
		script, more string
		change       func(*Options)
		want         string
	}{
		{"flag", ``, nil, `{"success":true,"result":{"json":true},"message":"Executed flag script"`},
		{"flag", `,"json":true`, nil, `{"success":true,"result":{"json":true},`},
		{"flag", `,"json":false`, nil, `{"success":true,"result":"plain\n",`},
		{"flag", `,"json_output":false`, nil, `{"success":true,"result":"plain\n",`},
		{"none", ``, nil, `{"success":true,"result":"plain\n",`},
		{"none", `,"json":true`, nil, `{"success":false,"error":"execution_failed","reason":"json_unknown",`},
		{"none", ``, letter, `{"success":false,"error":"execution_failed","reason":"json_unknown",`}, // as in R101
		{"none", `,"json":false`, letter, `{"success":true,"result":"plain\n",`},
	}
	for _, tt := range tests {
		k, _ := kit(t, kitOptions{trust: skill.TrustBundled, files: files, change: tt.change})
		r := call(t, k, "script_run", `{"skill_name":"x","script_name":"`+tt.script+`"`+tt.more+`}`)
		if got := string(r.Encode()); !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s%s:\ngot  %s\nwant %s", tt.script, tt.more, got, tt.want)
		}
	}
}

// C70: the help of a script without --help is its description, for a skill that is not trusted too.
func TestHelpDescribes(t *testing.T) {
	files := tree{
		"x/SKILL.md":         skillText("x", "", "Run `python scripts/plain.py IN OUT`."),
		"x/scripts/plain.py": "\"\"\"Converts.\"\"\"\nraise SystemExit('it ran')\n",
		"x/scripts/knows.sh": "case $1 in --help) echo help;; esac\n",
		"x/scripts/bare.sh":  "exit 1\n",
	}
	k, _ := kit(t, kitOptions{files: files})
	for name, want := range map[string]string{
		"plain": `{"success":true,"result":{"help_text":"Converts.","usage":"python scripts/plain.py IN OUT"},"message":"plain has no --help: this is its description"`,
		"bare":  `{"success":true,"result":{"help_text":"","usage":""},"message":"bare has no --help and no description"`,
		"knows": `{"success":false,"error":"permission_denied","reason":"untrusted",`,
	} {
		r := call(t, k, "script_help", `{"skill_name":"x","script_name":"`+name+`"}`)
		if got := string(r.Encode()); !strings.HasPrefix(got, want) {
			t.Errorf("%s:\ngot  %s\nwant %s", name, got, want)
		}
	}
}

// security 2.14 #190: the trace says which names of a call are not those of anything.
func TestMadeUpNames(t *testing.T) {
	var last trace.Event
	tracer := trace.TracerFunc(func(_ context.Context, e trace.Event) {
		if e.Kind == trace.ScriptRun {
			last = e
		}
	})
	k, _ := kit(t, kitOptions{trust: skill.TrustNone, files: tree{"x/SKILL.md": skillText("x", "", "Body"), "x/scripts/real.sh": "true\n"},
		change: func(o *Options) { o.Trace, o.Scripts = tracer, host(t, func(o *script.Options) { o.Trace = tracer }) }})
	for args, want := range map[string]bool{
		`{"skill_name":"x","script_name":"real"}`:               false, // it is not trusted
		`{"skill_name":"x","script_name":"hunter2"}`:            true,
		`{"skill_name":"hunter2","script_name":"real"}`:         true,
		`{"skill_name":"hunter 2","script_name":"real"}`:        true,
		`{"skill_name":"x","script_name":"../hunter2"}`:         true,
		`{"skill_name":"x","script_name":"hunter2","args":"x"}`: true,
	} {
		last = trace.Event{}
		call(t, k, "script_run", args)
		got := slices.ContainsFunc(last.Attrs, func(a slog.Attr) bool { return a.Key == trace.AttrUnknown && a.Value.Bool() })
		if last.Kind == "" || got != want {
			t.Errorf("%s: unknown is %t in %+v", args, got, last)
		}
	}
}
