package script

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/want"
)

// C65: a script that fails for want of a variable says which: those that are set, and those that are not. No value is shown.
func TestLacking(t *testing.T) {
	h := host(t)
	h.Env = append(h.Env, "SET_TOKEN=hidden-value", "GIT_TOKEN=x", "SET_OTHER=y")
	for _, tt := range []struct {
		name, text, granted string
		want                string // of the first line, after the exit code
		lacks               []string
	}{
		{"named", "import os, sys\nos.environ.get('SET_OTHER')\nos.environ['SET_TOKEN']\n", "", " (it reads SET_TOKEN, which is set but not granted to it)", []string{"SET_TOKEN"}},
		{"unset", "import os\nos.environ['GONE']\n", "", " (it reads GONE, which is not set)", []string{"GONE"}},
		{"both", "import os, sys\nos.getenv('GONE'), os.getenv('SET_TOKEN'); sys.exit('need GONE and SET_TOKEN')", "", " (it reads SET_TOKEN, which is set but not granted to it; it reads GONE, which is not set)", []string{"GONE", "SET_TOKEN"}},
		{"a key is likely", "import os, sys\nif not os.getenv('SET_TOKEN') or os.getenv('DEBUG'): sys.exit('not authorised')", "", " (it reads SET_TOKEN, which is set but not granted to it)", []string{"SET_TOKEN"}},
		{"anything else is not", "import os, sys\nif not os.getenv('SET_OTHER'): sys.exit(1)", "", "", nil},
		{"it has it", "import os, sys\nos.environ['SET_TOKEN']; sys.exit('SET_TOKEN is bad')", "SET_TOKEN", "", nil},
		{"never passes", "import os\nos.environ['GIT_TOKEN']", "", "", nil},
		{"only a part of the name", "import os, sys\nos.getenv('SET_OTHER'); sys.exit('MY_SET_OTHER_X')", "", "", nil},
	} {
		h.Granted = func(context.Context, *skill.Skill) (Grant, error) {
			return Grant{Given: want.New(want.VariableOf(tt.granted))}, nil
		}
		_, err := run(t, h, open(t, "", tree{"scripts/a.py": tt.text}), "a", nil)
		e := failure(t, err, ExecutionFailed, "")
		line, _, _ := strings.Cut(e.Message, "\n")
		if line != "Script failed with exit code 1"+tt.want || !slices.Equal(e.Wants.Named(want.Variable), tt.lacks) || strings.Contains(e.Message, "hidden-value") {
			t.Errorf("%s: got %q, lacks %s", tt.name, e.Message, e.Wants)
		}
	}
}

func TestIsKey(t *testing.T) {
	for name, want := range map[string]bool{
		"OPENAI_API_KEY": true, "GITHUB_TOKEN": true, "DB_PASSWORD": true, "github_pat": true, "GHTOKEN": true, "MYAPIKEY": true,
		"KEYBOARD": false, "DEBUG": false, "AUTHOR": false, "MONKEY_DIR": false, "PATTERN": false,
	} {
		if got := IsKey(name); got != want {
			t.Errorf("%s: got %v", name, got)
		}
	}
}

// C65: what a manifest declares counts in a question, except patterns that forward nothing and keys of model providers.
func TestDeclaredEntries(t *testing.T) {
	m := open(t, "permissions:\n  env: [KALSHI_*, TOKEN, \"*\", LD_PRELOAD, OPENAI_API_KEY, ANTHROPIC_*]\n", nil).Manifest()
	if got := Declared(m); got.String() != "declared env:KALSHI_*, declared env:TOKEN" {
		t.Errorf("got %q", got)
	}
}
