package envs

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/internal/survey"
	"github.com/agent-base/agent-base/internal/test/npmtest"
	"github.com/agent-base/agent-base/script/internal/fail"
)

// nodeFiles is a skill that needs the packages esm and cjs of a registry.
func nodeFiles(esm, cjs any) tree {
	return tree{
		"package.json":      `{"type":"module","dependencies":{"esm":"1","cjs":"1"}}`,
		"package-lock.json": npmtest.Lock(map[string]string{"esm": "1", "cjs": "1"}, map[string]any{"node_modules/esm": esm, "node_modules/cjs": cjs}),
		"scripts/all.js":    "import esm from 'esm'\nimport cjs from 'cjs'\n", "scripts/other.cjs": `console.log(require("cjs"))`, "scripts/plain.js": "",
	}
}

// C68: a script that needs npm packages runs from a copy of its skill beside them, and another where it is. What is prepared needs no
// registry.
func TestNode(t *testing.T) {
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is not installed, so no npm packages are prepared: %v", program, err)
		}
	}
	r := npmtest.New()
	t.Cleanup(r.Close)
	files := nodeFiles(r.Publish("esm@1.0.0", nil), r.Publish("cjs@1.0.0", nil))
	files["scripts/all.sh"] = "node \"$(dirname \"$0\")/other.cjs\"\n"
	s := load(t, files)
	st := store(t, &Options{Env: []string{"npm_config_registry=" + r.URL}})
	of := func(name string) *Of {
		return &Of{Skill: s, Script: survey.Script{Name: name, File: "scripts/" + name}}
	}
	all, err := st.PrepareAll(t.Context(), s, []survey.Script{of("all.js").Script, of("all.sh").Script, of("plain.js").Script}, nil, &PrepareOptions{})
	if err != nil || len(all) != 3 || all[0].Err != nil || !all[0].Made || !slices.Equal(all[0].Packages, []string{"cjs@1.0.0", "esm@1.0.0"}) || all[0].Declared != "package.json" {
		t.Fatalf("got %+v, %v", all, err)
	}
	if got := len(all[0].Scripts); got != 2 { // both have one folder of packages
		t.Errorf("%d scripts have these packages", got)
	}
	r.Close()
	dir, packages, err := st.Node(t.Context(), of("all.js"), "/skill")
	if err != nil || packages == "" || !strings.HasPrefix(dir, packages) {
		t.Errorf("got %q, %q, %v", dir, packages, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "scripts", "all.js")); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"plain.js", "none.py"} {
		if dir, packages, err := st.Node(t.Context(), of(name), "/skill"); dir != "/skill" || packages != "" || err != nil {
			t.Errorf("%s: got %q, %q, %v", name, dir, packages, err)
		}
	}
	if got := st.Lacks(t.Context(), of("all.js"), false); len(got) != 0 {
		t.Errorf("it lacks %q", got)
	}
	files["package.json"] = strings.Replace(files["package.json"], `"cjs":"1"`, `"cjs":"2"`, 1)
	s = load(t, files)
	_, _, err = st.Node(t.Context(), of("all.js"), "/skill")
	if e, ok := errors.AsType[*fail.Error](err); !ok || e.Reason != fail.ReasonMetadata || !strings.Contains(e.Message, "package-lock.json does not belong to package.json") {
		t.Errorf("got %v", err)
	}
}

// C68: what npm packages a skill needs is known without fetching any, with the same scripts on one line.
func TestNodeDependencies(t *testing.T) {
	files := nodeFiles(nil, nil)
	files["scripts/all.sh"] = "node \"$(dirname \"$0\")/other.cjs\"\n"
	files["alone/x.mjs"] = "import 'chalk'\n"
	s := load(t, files)
	var scripts []survey.Script
	for _, file := range []string{"scripts/all.js", "scripts/all.sh", "scripts/plain.js", "alone/x.mjs"} {
		scripts = append(scripts, survey.Script{Name: file, File: file})
	}
	for _, row := range []struct {
		with []string
		want string
	}{
		{nil, "scripts/all.js,scripts/all.sh,alone/x.mjs npm:cjs@1,npm:esm@1 package.json"},
		{[]string{"npm:chalk", "requests"}, "scripts/all.js,scripts/all.sh,alone/x.mjs npm:chalk,npm:cjs@1,npm:esm@1 package.json and the user"},
	} {
		var got []string
		for _, d := range DependenciesOf(s, scripts, row.with) {
			var names []string
			for _, sc := range d.Scripts {
				names = append(names, sc.Name)
			}
			got = append(got, strings.Join(names, ",")+" "+strings.Join(d.Packages, ",")+" "+d.Declared)
		}
		if strings.Join(got, "; ") != row.want {
			t.Errorf("with %q: got %q, want %q", row.with, got, row.want)
		}
	}
	alone := load(t, tree{"scripts/x.mjs": "import 'chalk'\nimport fs from 'fs'\n"})
	if d := DependenciesOf(alone, []survey.Script{{Name: "x", File: "scripts/x.mjs"}}, nil); len(d) != 1 || !slices.Equal(d[0].Undeclared, []string{"npm:chalk"}) {
		t.Errorf("got %+v", d)
	}
}
