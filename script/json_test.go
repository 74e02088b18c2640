package script

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/agent-base/agent-base/script/internal/fail"
	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/skill"
)

const (
	printsFlag = "import sys\nprint('{\"json\": true}' if '--json' in sys.argv else 'plain ' + ' '.join(sys.argv[1:]))\n"
	parsesNone = "import argparse\np = argparse.ArgumentParser()\np.add_argument('file', nargs='?')\nprint('text', p.parse_args().file)\n"
)

// C64: left out, --json is added only where the script declares it, and JSON is what is one object or array.
func TestJSONModes(t *testing.T) {
	s := open(t, "", tree{
		"scripts/flag.py":   printsFlag,
		"scripts/none.py":   parsesNone,
		"scripts/object.sh": "echo '{\"a\": 1}'\n",
		"scripts/list.sh":   "echo ' [1, 2] '\n",
		"scripts/number.sh": "echo 7\n",
		"scripts/two.sh":    "echo '{} {}'\n",
		"scripts/quiet.sh":  "",
	})
	h := host(t)
	h.JSON = ""
	tests := []struct {
		script, json, text string
		args               []string
		mode               JSONMode
	}{
		{script: "flag", json: `{"json":true}`},
		{script: "flag", args: []string{"--json"}, json: `{"json":true}`},
		{script: "flag", args: []string{"--", "x"}, text: "plain -- x\n"},
		{script: "flag", mode: JSONNo, text: "plain \n"},
		{script: "flag", mode: JSONYes, json: `{"json":true}`},
		{script: "none", text: "text None\n"},
		{script: "object", json: `{"a":1}`},
		{script: "object", mode: JSONNo, text: "{\"a\": 1}\n"},
		{script: "list", json: `[1,2]`},
		{script: "number", text: "7\n"},
		{script: "number", mode: JSONYes, json: "7"},
		{script: "two", text: "{} {}\n"},
		{script: "quiet"},
	}
	for _, tt := range tests {
		res, err := runAs(t, h, s, tt.script, &RunOptions{Args: tt.args, JSON: tt.mode})
		if err != nil || string(res.JSON) != tt.json || res.Text != tt.text {
			t.Errorf("%s %q %s: got %+v, %v", tt.script, tt.args, tt.mode, res, err)
		}
	}
	h.Runner = &canned{out: runner.Output{Stdout: []byte("{}"), Total: 9, Truncated: true}}
	if res, err := runAs(t, h, s, "object", nil); err != nil || res.Text != "{}" || res.Warning != "output truncated at 1048576 bytes, 7 were dropped" {
		t.Errorf("got %+v, %v", res, err)
	}
	_, err := runAs(t, h, s, "object", &RunOptions{JSON: "maybe"})
	failure(t, err, ExecutionFailed, fail.ReasonArgument, `JSON is "maybe": it can be auto, yes or no`)
	o := h.Options
	o.JSON = "maybe"
	if _, err := New(&o); err == nil {
		t.Error("a host with an unknown mode was made")
	}
}

// C64: a script that refuses a flag that its caller did not give is told from one that failed.
func TestJSONIsRefused(t *testing.T) {
	s := open(t, "", tree{"scripts/none.py": parsesNone})
	h := host(t)
	_, err := runAs(t, h, s, "none", nil)
	failure(t, err, ExecutionFailed, ReasonJSON, "Script failed with exit code 2\nstderr: ", "unrecognized arguments: --json")
	_, err = runAs(t, h, s, "none", &RunOptions{Args: []string{"--json"}})
	failure(t, err, ExecutionFailed, "", "unrecognized arguments: --json")
}

// C70: a script is run for its help only if it shows that it knows --help, and only that needs an approval.
func TestHelpWithoutRun(t *testing.T) {
	body := "Run it:\n\n```bash\npython scripts/plain.py in.txt   # writes\nbash scripts/known.sh\n```\n\nOr `python3 scripts/plain.py --fast x`.\n"
	s := openBody(t, body, tree{
		"scripts/plain.py": "#!/usr/bin/env python3\n\"\"\"Converts a file.\n\n    Usage: plain FILE\n\"\"\"\nopen('ran', 'w')\n",
		"scripts/known.sh": "case \"$1\" in\n  -h|--help) echo 'usage: known';;\nesac\n",
		"scripts/bare.sh":  "touch ran\n",
		"scripts/binary*":  elf,
	})
	h := host(t)
	h.AlwaysHelp = false
	h.UserDir = t.TempDir()
	asked := 0
	admit := func(ctx context.Context, s *skill.Skill) (*skill.Skill, error) {
		asked++
		return s, nil
	}
	for name, want := range map[string]HelpText{
		"plain":  {"Converts a file.\n\nUsage: plain FILE", "python scripts/plain.py in.txt   # writes\npython3 scripts/plain.py --fast x", true},
		"bare":   {"", "", true},
		"binary": {"", "", true},
	} {
		sc, err := Find(t.Context(), s, name, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := h.host().Help(t.Context(), s, sc, &HelpOptions{Admit: admit}); err != nil || *got != want {
			t.Errorf("%s: got %+v, %v", name, got, err)
		}
	}
	if left, _ := filepath.Glob(h.UserDir + "/*"); asked != 0 || len(left) != 0 {
		t.Errorf("asked %d times, and %q were written", asked, left)
	}
	sc, _ := Find(t.Context(), s, "known", nil)
	if got, err := h.host().Help(t.Context(), s, sc, &HelpOptions{Admit: admit}); err != nil || got.Text != "usage: known\n" || got.Described || asked != 1 {
		t.Errorf("got %+v, %v, asked %d times", got, err, asked)
	}
	h.AlwaysHelp = true // R100
	sc, _ = Find(t.Context(), s, "bare", nil)
	if got, err := h.host().Help(t.Context(), s, sc, nil); err != nil || got.Described || !exists(filepath.Join(h.UserDir, "ran")) {
		t.Errorf("got %+v, %v", got, err)
	}
}
