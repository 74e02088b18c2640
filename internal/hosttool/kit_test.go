package hosttool

import (
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/agent/permit"
	"github.com/agent-base/agent-base/internal/survey"
	"github.com/agent-base/agent-base/skill/manifest"
	"github.com/agent-base/agent-base/tool"
)

// files makes files below dir: "-> x" makes a link, a name with "/" at its end a folder, "#!" at the beginning an
// executable one.
func files(t *testing.T, dir string, content map[string]string) string {
	t.Helper()
	for name, text := range content {
		full := filepath.Join(dir, filepath.FromSlash(name))
		err := os.MkdirAll(filepath.Dir(full), 0o755)
		switch target, isLink := strings.CutPrefix(text, "-> "); {
		case err != nil:
		case strings.HasSuffix(name, "/"):
			err = os.MkdirAll(full, 0o755)
		case isLink:
			err = os.Symlink(target, full)
		case strings.HasPrefix(text, "#!"):
			err = os.WriteFile(full, []byte(text), 0o755)
		default:
			err = os.WriteFile(full, []byte(text), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// kit is a workspace, a skill and what lies outside of both.
type kit struct {
	t                      *testing.T
	o                      *Options
	base, ws, skill, other string
	exec                   *tool.Executor
}

// kept is the rule of scripts for skills without a manifest.
func kept(_ context.Context, _ *Mount, files fs.FS) (out []Script) {
	for _, sc := range survey.Of(files, &manifest.Manifest{}, nil).Kept() {
		out = append(out, Script{sc.File, sc.Name})
	}
	return out
}

// newKit has the skill "demo" in home/skills/demo and the skill "inner" in the workspace's .agents/skills.
func newKit(t *testing.T, change func(*Options)) *kit {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	files(t, base, map[string]string{
		"ws/a.txt": "one\ntwo\nthree\n", "ws/src/main.go": "package main\n", "ws/.git/config": "[core]\n", "ws/.agents/skills/inner/scripts/in.py": "print('inner')\n",
		"ws/.agents/skills/inner/SKILL.md": "inner body\n", "other/secret.txt": "secret\n",
		"home/skills/demo/SKILL.md": "demo body\n", "home/skills/demo/references/a.md": "reference\n", "home/skills/demo/scripts/run.py": "print('needle')\n",
		"home/skills/demo/scripts/README.md": "needle\n", "home/skills/demo/bin/tool.sh": "#!/bin/sh\n# needle\n", "home/skills/demo/bin/notes.txt": "needle\n",
	})
	k := &kit{t: t, base: base, ws: filepath.Join(base, "ws"), skill: filepath.Join(base, "home/skills/demo"), other: filepath.Join(base, "other")}
	k.o = &Options{Workspace: k.ws, Scripts: kept, Mounts: func(context.Context) []Mount {
		return []Mount{{Name: "demo", Dir: k.skill}, {Name: "inner", Dir: filepath.Join(k.ws, ".agents/skills/inner")}}
	}}
	k.o.Decide = policy(t, permit.Options{Mode: permit.AcceptEdits})
	if change != nil {
		change(k.o)
	}
	k.exec = executor(t, k.o)
	return k
}

// policy returns a policy's decisions.
func policy(t testing.TB, o permit.Options) func(context.Context, *permit.Call) permit.Decision {
	t.Helper()
	p, problems := permit.New(&o)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return func(_ context.Context, c *permit.Call) permit.Decision { return p.Decide(c) }
}

// call calls a tool with arguments in JSON, in which $WS, $SKILL and $OTHER stand for the folders.
func (k *kit) call(name, args string) tool.Result {
	k.t.Helper()
	args = strings.NewReplacer("$WS", k.ws, "$SKILL", k.skill, "$OTHER", k.other).Replace(args)
	if !json.Valid([]byte(args)) {
		k.t.Fatalf("arguments %s are no JSON", args)
	}
	return k.exec.Call(k.t.Context(), name, json.RawMessage(args))
}

// text returns a result as a model sees it.
func text(r tool.Result) string {
	return strings.TrimSuffix(string(r.Encode()), "}")
}

// want checks that the result of a call begins with a text.
func (k *kit) want(name, args, want string) {
	k.t.Helper()
	if got := text(k.call(name, args)); !strings.HasPrefix(got, want) {
		k.t.Errorf("%s %s:\ngot  %s\nwant %s", name, args, got, want)
	}
}

// denied checks that a call is refused with a reason.
func (k *kit) denied(name, args, reason string) {
	k.t.Helper()
	if r := k.call(name, args); r.Success || r.Error != tool.PermissionDenied || r.Reason != reason {
		k.t.Errorf("%s %s: got %s, want %s", name, args, text(r), reason)
	}
}

func (k *kit) disk(name, want string) {
	k.t.Helper()
	got, err := os.ReadFile(filepath.Join(k.ws, name))
	if err != nil || string(got) != want {
		k.t.Errorf("%s: got %q %v, want %q", name, got, err, want)
	}
}

func executor(t *testing.T, o *Options) *tool.Executor {
	t.Helper()
	tools, err := Tools(o)
	if err != nil {
		t.Fatal(err)
	}
	set := &tool.Set{}
	for _, one := range tools {
		if err := set.Add(one); err != nil {
			t.Fatal(err)
		}
	}
	return &tool.Executor{Tools: set}
}
