package script

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agent-base/agent-base/internal/nodeenv"
	"github.com/agent-base/agent-base/internal/test/npmtest"
	"github.com/agent-base/agent-base/script/internal/fail"
	"github.com/agent-base/agent-base/script/internal/places"
	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/skill"
)

// nodeRig is a host whose npm packages come from a registry with the packages esm and cjs, and a skill that needs them.
func nodeRig(t testing.TB) (*rig, *npmtest.Registry, tree) {
	t.Helper()
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is not installed, so no script with npm packages runs: %v", program, err)
		}
	}
	r := npmtest.New()
	t.Cleanup(r.Close)
	h := host(t)
	h.Env = append(h.Env, "npm_config_registry="+r.URL)
	esm := r.Publish("esm@1.0.0", map[string]string{
		"package.json": `{"name":"esm","version":"1.0.0","type":"module","exports":{".":"./main.js","./sub":{"import":"./deep/sub.js"}},"scripts":{"postinstall":"exit 1"}}`,
		"main.js":      "export default 'esm'", "deep/sub.js": "export const sub = 'sub'",
	})
	cjs := r.Publish("cjs@1.0.0", nil)
	deps := map[string]string{"esm": "1", "cjs": "1"}
	return h, r, tree{
		"package.json":      `{"type":"module","dependencies":{"esm":"1","cjs":"1"},"scripts":{"preinstall":"exit 1"}}`,
		"package-lock.json": npmtest.Lock(deps, map[string]any{"node_modules/esm": esm, "node_modules/cjs": cjs}),
		"data/name.txt":     "data",
		"lib/read.js":       "import fs from 'node:fs'\nexport const read = () => fs.readFileSync(new URL('../data/name.txt', import.meta.url), 'utf8')",
		"scripts/all.js": `import esm from "esm"; import { sub } from "esm/sub"; import { createRequire } from "node:module"; import { read } from "../lib/read.js"
import fs from "node:fs"; import path from "node:path"; import url from "node:url"; import { execFileSync } from "node:child_process"
const here = path.dirname(url.fileURLToPath(import.meta.url))
console.log(esm, sub, createRequire(import.meta.url)("cjs"), (await import("cjs")).default, read(), path.join(here, "..") === process.env.AGENT_SKILL_DIR,
  import.meta.url === url.pathToFileURL(fs.realpathSync(process.argv[1])).href, execFileSync(process.execPath, [path.join(here, "other.cjs")], { encoding: "utf8" }).trim())`,
		"scripts/other.cjs": `console.log(require("cjs"))`,
		"scripts/plain.js":  `console.log(process.argv[1])`,
	}
}

// C68: a script finds its packages as modules of both kinds, by subpaths, when they are imported late and in a process that
// it starts; its own files lie where they did, and a folder of the same names where it runs is not asked.
func TestNodePackages(t *testing.T) {
	h, r, files := nodeRig(t)
	h.Workspace, h.Cwd = t.TempDir(), "workspace"
	tree{"node_modules/cjs/index.js": "module.exports = 'evil'", "node_modules/esm/index.js": "module.exports = 'evil'", "package.json": `{"type":"commonjs","imports":{"#x":"./evil.js"}}`}.Write(t, h.Workspace)
	s := open(t, "", files)
	const want = "esm sub cjs@1.0.0 cjs@1.0.0 data true true cjs@1.0.0\n"
	for range 2 {
		if got := mustText(t, h, s, "all"); got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
	}
	if r.Requests() != 2 {
		t.Errorf("%d requests", r.Requests())
	}
	if _, err := fs.Stat(s.FS(), "node_modules"); err == nil {
		t.Error("something was written into the skill")
	}
	// What was approved is what runs, and what it needs is there already.
	admit := func(ctx context.Context, s *skill.Skill) (*skill.Skill, error) { return h.host().Seal(ctx, s) }
	res, err := h.Run(t.Context(), s, Script{Name: "all", File: "scripts/all.js"}, &RunOptions{JSON: JSONNo, Admit: admit})
	if err != nil || res.Text != want || r.Requests() != 2 {
		t.Errorf("the sealed copy: %+v %v", res, err)
	}
	// A script without packages runs in its own place, though the skill has a package.json.
	if got := mustText(t, h, s, "plain"); got != filepath.Join(dirOf(t, s), "scripts", "plain.js")+"\n" {
		t.Errorf("got %q", got)
	}
}

// C68: prepare installs ahead of the run, which then needs no network. A changed lock is followed; a broken one is reported.
func TestPrepareNode(t *testing.T) {
	h, r, files := nodeRig(t)
	s := open(t, "", files)
	if p := mustPrepare(t, h, s, "all", nil); !p.Needed || !p.Made || !slices.Equal(p.Packages, []string{"cjs@1.0.0", "esm@1.0.0"}) {
		t.Errorf("got %+v", p)
	}
	if p := mustPrepare(t, h, s, "plain", nil); p.Needed {
		t.Errorf("got %+v", p)
	}
	r.Close()
	if got := mustText(t, h, s, "all"); !strings.HasPrefix(got, "esm sub") {
		t.Errorf("got %q", got)
	}
	files["package.json"] = strings.Replace(files["package.json"], `"cjs":"1"`, `"cjs":"2"`, 1)
	_, err := prepareScript(t, h, open(t, "", files), "all", nil)
	failure(t, err, ExecutionFailed, nodeenv.ReasonMetadata, "package-lock.json does not belong to package.json")
	_, err = runAs(t, h, open(t, "", files), "all", nil)
	failure(t, err, ExecutionFailed, fail.ReasonMetadata, "Script all is not run")
}

// What nobody used goes, with the copies of skills.
func TestSweepNode(t *testing.T) {
	h, _, files := nodeRig(t)
	mustText(t, h, open(t, "", files), "all")
	swept, err := h.Sweep(t.Context(), &SweepOptions{Now: func() time.Time { return time.Now().Add(2 * places.DefaultUnused) }})
	if err != nil || len(swept) != 1 {
		t.Errorf("got %+v %v", swept, err)
	}
	if left, _ := os.ReadDir(filepath.Join(h.Cache, "node")); len(left) != 0 {
		t.Errorf("%v is left", left)
	}
}

// deno takes the prepared packages, and its own for a script without.
func TestDenoPackages(t *testing.T) {
	h, _, files := nodeRig(t)
	s := open(t, "", files)
	mustPrepare(t, h, s, "all", nil)
	var args [][]string
	run := func(_ context.Context, c *runner.Command) (*runner.Output, error) {
		args = append(args, c.Args)
		return &runner.Output{}, nil
	}
	h.Runner, h.LookPath = runner.RunnerFunc(run), func(name string) (string, error) {
		if name == "deno" {
			return "/programs/deno", nil
		}
		return "", exec.ErrNotFound
	}
	mustText(t, h, s, "all")
	mustText(t, h, s, "plain")
	if len(args) != 2 || !slices.Contains(args[0], "--node-modules-dir=manual") || slices.Contains(args[1], "--node-modules-dir=manual") {
		t.Errorf("started %q", args)
	}
}
