package script

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// C68: a shell script that starts Python finds the packages of what it starts.
func TestShellStartsPython(t *testing.T) {
	h := uvHost(t, index(t))
	s := open(t, "", tree{
		"scripts/block.py":          needs(printsDep, "dep"),
		"scripts/file.sh":           "#!/bin/bash\npython3 \"$(dirname \"$0\")/block.py\"\n",
		"scripts/none.sh":           "command -v python3 | grep -c venv\necho $PATH\n",
		"scripts/inline.sh":         "python3 -c 'import json; print(json.dumps(1))'\n",
		"own/requirements.txt":      "dep\n",
		"own/code.sh":               "python - <<EOF\nimport dep\nprint(dep.VALUE)\nEOF\n",
		"own/plain.sh":              "python3 -c 'import json; print(json.dumps(1))'\n",
		"scripts/undeclared.sh":     "exec python3 \"${0%/*}/lib/undeclared.py\"",
		"scripts/lib/undeclared.py": "import dep\nprint(dep.VALUE)\n",
	})
	for name, want := range map[string]string{"file": "one\n", "inline": "1\n", "own/code.sh": "one\n", "own/plain.sh": "1\n"} {
		if got := mustText(t, h, s, name); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	if res, err := run(t, h, s, "none", nil); err == nil && strings.Contains(res.Text, h.Cache) {
		t.Errorf("a script without Python has %q", res.Text)
	}
	_, err := run(t, h, s, "undeclared", nil)
	failure(t, err, ExecutionFailed, ReasonModule, "The package dep is missing: requirements.txt can declare it")

	all, err := h.host().PrepareAll(t.Context(), s, []Script{{Name: "block", File: "scripts/block.py"}, {Name: "file", File: "scripts/file.sh"}, {Name: "none", File: "scripts/none.sh"}}, nil)
	if err != nil || len(all) != 2 || len(all[0].Scripts) != 2 || !slices.Equal(all[0].Packages, []string{"dep==1.0"}) {
		t.Errorf("got %+v, %v", all, err)
	}
}

// C68: a shell script that starts Node.js runs where the packages are found.
func TestShellStartsNode(t *testing.T) {
	h, _, files := nodeRig(t)
	files["scripts/all.sh"] = "node \"$(dirname \"$0\")/other.cjs\"\n"
	s := open(t, "", files)
	if got := mustText(t, h, s, "all.sh"); got != "cjs@1.0.0\n" {
		t.Errorf("got %q", got)
	}
	if _, err := os.Stat(dirOf(t, s) + "/node_modules"); err == nil {
		t.Error("something was written into the skill")
	}
}
