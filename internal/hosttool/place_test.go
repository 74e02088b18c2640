package hosttool

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/agent/permit"
)

// security 2.3 #32, #33, #38: what a path may lead to, whatever is on it.
func TestPaths(t *testing.T) {
	k := newKit(t, nil)
	files(t, k.ws, map[string]string{"inside": "-> a.txt", "dir": "-> src", "out": "-> ../other", "outfile": "-> ../other/secret.txt", "abs": "-> " + k.other,
		"absin": "-> " + k.ws + "/src", "loop": "-> loop", "chain": "-> inside", "up": "-> src/../../other/secret.txt", "toskill": "-> .agents/skills/inner"})
	ok := `{"success":true,"result":{"file_path":"`
	for _, row := range []struct{ path, want string }{
		{"a.txt", ok + "a.txt"}, {"./a.txt", ok + "a.txt"}, {"src/../a.txt", ok + "a.txt"}, {"$WS/a.txt", ok + "a.txt"}, {"$WS/src/../a.txt", ok + "a.txt"},
		{"inside", ok + "inside"}, {"chain", ok + "chain"}, {"dir/main.go", ok + "dir/main.go"}, {"absin/main.go", ok + "absin/main.go"},
		{"skills/demo/SKILL.md", ok + "skills/demo/SKILL.md"}, {"skills/Demo/references/a.md", ok + "skills/demo/references/a.md"},
		{"$SKILL/SKILL.md", ok + "skills/demo/SKILL.md"}, {".agents/skills/inner/SKILL.md", ok + "skills/inner/SKILL.md"}, {"toskill/SKILL.md", ok + "toskill/SKILL.md"},
		{"nope.txt", `{"success":false,"error":"not_found","message":"'nope.txt' not found`}, {"skills/nope/SKILL.md", `{"success":false,"error":"not_found"`},
		{"src", `{"success":false,"error":"execution_failed","reason":"folder"`}, {"", `{"success":false,"error":"execution_failed","reason":"invalid_arguments"`},
		{"a.txt/b", `{"success":false,"error":"execution_failed"`}, {"loop", `{"success":false,"error":"execution_failed"`},
	} {
		k.want("read_file", `{"file_path":"`+row.path+`"}`, row.want)
	}
	for _, path := range []string{"../other/secret.txt", "$WS/../other/secret.txt", "$OTHER/secret.txt", "/etc/passwd", "out/secret.txt", "outfile", "abs/secret.txt",
		"up", "src/../../other/secret.txt", "skills/demo/../../other/secret.txt/../../../x", `a\u0000b`, "skills/../../other/secret.txt", "$SKILL/../../other"} {
		k.denied("read_file", `{"file_path":"`+path+`"}`, "outside")
		k.denied("write_file", `{"file_path":"`+path+`","content":"x"}`, "outside")
		k.denied("edit_file", `{"file_path":"`+path+`","old_string":"s","new_string":"x"}`, "outside")
		k.denied("glob", `{"pattern":"*","path":"`+path+`"}`, "outside")
		k.denied("grep", `{"pattern":"s","path":"`+path+`"}`, "outside")
	}
	if got := k.call("read_file", `{"file_path":"../x"}`).Message; !strings.Contains(got, "allowed are paths below the workspace") {
		t.Errorf("the refusal does not say what is allowed: %s", got)
	}
	if got, err := os.ReadFile(filepath.Join(k.other, "secret.txt")); err != nil || string(got) != "secret\n" {
		t.Errorf("secret: got %q %v", got, err)
	}
}

// C50, security 2.4 #46: the text of scripts is kept back under every spelling.
func TestScriptsAreNotRead(t *testing.T) {
	k := newKit(t, nil)
	files(t, k.ws, map[string]string{"link.txt": "-> .agents/skills/inner/scripts/in.py", "linked": "-> .agents/skills/inner/scripts", "linkedskill": "-> .agents/skills/inner"})
	if err := os.Link(filepath.Join(k.skill, "scripts/run.py"), filepath.Join(k.ws, "hard.txt")); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"skills/demo/scripts/run.py", "skills/demo/./scripts/../scripts/run.py", "$SKILL/scripts/run.py", "$SKILL/references/../scripts/run.py",
		"skills/demo/bin/tool.sh", ".agents/skills/inner/scripts/in.py", "$WS/.agents/skills/inner/scripts/in.py", "link.txt", "linked/in.py",
		"linkedskill/scripts/in.py", "hard.txt", "DEMO/../skills/DEMO/scripts/run.py"} {
		k.denied("read_file", `{"file_path":"`+path+`"}`, "script_read")
		k.denied("grep", `{"pattern":"needle","path":"`+path+`"}`, "script_read")
	}
	k.want("read_file", `{"file_path":"skills/demo/bin/notes.txt"}`, `{"success":true`)
	k.denied("edit_file", `{"file_path":"hard.txt","old_string":"needle","new_string":"x"}`, "script_read") // its message would tell what is there
	f, err := os.Open(filepath.Join(k.skill, "scripts/run.py"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	files(t, k.ws, map[string]string{"fd.txt": fmt.Sprintf("-> /proc/self/fd/%d", f.Fd())})
	for _, path := range []string{fmt.Sprintf("/proc/self/fd/%d", f.Fd()), "/proc/self/cwd/../x", "fd.txt"} {
		k.denied("read_file", `{"file_path":"`+path+`"}`, "outside")
	}
	// R125
	want := "Script 'scripts/run.py' of skill 'demo' must be EXECUTED via Bash tool or script_run, not read: use script_run with skill_name 'demo' and script_name 'run'"
	if got := k.call("read_file", `{"file_path":"skills/demo/scripts/run.py"}`).Message; !strings.HasPrefix(got, want) {
		t.Errorf("got %q", got)
	}
	k.want("read_file", `{"file_path":"skills/demo/scripts/README.md"}`, `{"success":true`)
	k.want("grep", `{"pattern":"needle","path":"skills/demo"}`,
		`{"success":true,"result":{"text":"skills/demo/bin/notes.txt:1:needle\nskills/demo/scripts/README.md:1:needle\n","lines":2,"files":2},"message":"Found 2 lines in 2 files; 2 files not searched (scripts of skills)"`)
	k.want("grep", `{"pattern":"inner|needle"}`, `{"success":true,"result":{"text":".agents/skills/inner/SKILL.md:1:inner body\n","lines":1,"files":1}`)
	k.want("glob", `{"pattern":"skills/demo/scripts/*"}`, `{"success":true,"result":{"files":["skills/demo/scripts/README.md","skills/demo/scripts/run.py"]}`)
	// R126
	shell := newKit(t, func(o *Options) {
		o.Approve = func(context.Context, *Request) (Answer, error) { return Answer{Allowed: true}, nil }
	})
	shell.want("bash", `{"command":"sh skills/demo/scripts/run.py; echo ran"}`, `{"success":true`)
	open := newKit(t, func(o *Options) { o.ReadScripts = true })
	open.want("read_file", `{"file_path":"skills/demo/scripts/run.py"}`, `{"success":true,"result":{"file_path":"skills/demo/scripts/run.py","content":"print('needle')\n"`)
}

// A skill that is hidden from models keeps the same rules where the workspace leads to it, and no other way does.
func TestHiddenSkills(t *testing.T) {
	k := newKit(t, nil)
	mounts := k.o.Mounts(t.Context())
	for i := range mounts {
		mounts[i].Hidden = true
	}
	k.o.Mounts = func(context.Context) []Mount { return mounts }
	k.exec = executor(t, k.o)
	k.denied("read_file", `{"file_path":".agents/skills/inner/scripts/in.py"}`, "script_read") // C50
	k.denied("edit_file", `{"file_path":".agents/skills/inner/scripts/in.py","old_string":"inner","new_string":""}`, "read_only")
	k.denied("write_file", `{"file_path":".agents/skills/inner/new/x","content":""}`, "read_only")
	k.want("grep", `{"pattern":"print"}`, `{"success":true,"result":{"text":"","lines":0,"files":0}`)
	k.want("read_file", `{"file_path":".agents/skills/inner/SKILL.md"}`, `{"success":true,"result":{"file_path":".agents/skills/inner/SKILL.md"`)
	k.denied("read_file", `{"file_path":"$SKILL/SKILL.md"}`, "outside")
	k.want("read_file", `{"file_path":"skills/demo/SKILL.md"}`, `{"success":false,"error":"not_found"`)
}

// The rules for a skill hold too where the workspace is a folder within it.
func TestWorkspaceInASkill(t *testing.T) {
	k := newKit(t, nil)
	k.o.Workspace = filepath.Join(k.skill, "scripts")
	k.exec = executor(t, k.o)
	k.denied("read_file", `{"file_path":"run.py"}`, "script_read")
	k.denied("write_file", `{"file_path":"new.py","content":""}`, "read_only")
}

// C62: the refusal names what runs the script; a file that cannot be run is read.
func TestScriptName(t *testing.T) {
	k := newKit(t, nil)
	files(t, k.skill, map[string]string{"scripts/office/unpack.py": "", "scripts/my file.py": "text", "assets/template.py": "text", "bin/deep/x.rb": ""})
	for path, name := range map[string]string{"scripts/run.py": "run", "scripts/office/unpack.py": "office/unpack", "bin/tool.sh": "bin/tool.sh", "bin/deep/x.rb": "bin/deep/x.rb"} {
		r := k.call("read_file", `{"file_path":"skills/demo/`+path+`"}`)
		if want := "Script '" + path + "' of skill 'demo' must be EXECUTED via Bash tool or script_run, not read: use script_run with skill_name 'demo' and script_name '" + name + "', and"; !strings.HasPrefix(r.Message, want) {
			t.Errorf("got %s, want %s", r.Message, want)
		}
	}
	for _, path := range []string{"scripts/my file.py", "assets/template.py"} {
		k.want("read_file", `{"file_path":"skills/demo/`+path+`"}`, `{"success":true`)
	}
}

func TestBlocked(t *testing.T) {
	var asked []string
	k := newKit(t, func(o *Options) {
		o.Blocked = func(path string) error {
			asked = append(asked, path)
			return errors.New("not this one")
		}
	})
	files(t, k.ws, map[string]string{"l": "-> a.txt"})
	k.want("read_file", `{"file_path":"l"}`, `{"success":false,"error":"permission_denied","reason":"blocked","message":"not this one"`)
	if len(asked) != 1 || asked[0] != filepath.Join(k.ws, "a.txt") {
		t.Errorf("asked about %q", asked)
	}
}

func TestToolsNeedAWorkspace(t *testing.T) {
	dir := files(t, t.TempDir(), map[string]string{"f": ""})
	for _, ws := range []string{"", "relative", filepath.Join(dir, "none"), filepath.Join(dir, "f")} {
		if _, err := Tools(&Options{Workspace: ws}); err == nil {
			t.Errorf("workspace %q was taken", ws)
		}
	}
}

// A skill that a model reaches by a mount of another name (R54), and one that is gone.
func TestMountPath(t *testing.T) {
	k := newKit(t, nil)
	k.o.Mounts = func(context.Context) []Mount {
		return []Mount{{Name: "demo", Path: "skills/org/demo", Dir: k.skill}, {Name: "gone", Dir: filepath.Join(k.base, "gone")}}
	}
	k = &kit{t: t, base: k.base, ws: k.ws, skill: k.skill, other: k.other, exec: executor(t, k.o)}
	k.want("read_file", `{"file_path":"skills/org/demo/SKILL.md"}`, `{"success":true,"result":{"file_path":"skills/org/demo/SKILL.md"`)
	k.want("read_file", `{"file_path":"skills/gone/SKILL.md"}`, `{"success":false,"error":"not_found"`)
	k.want("read_file", `{"file_path":"skills/demo/SKILL.md"}`, `{"success":true,"result":{"file_path":"skills/org/demo/SKILL.md"`)
	k.want("glob", `{"pattern":"skills/**/SKILL.md"}`, `{"success":true,"result":{"files":["skills/org/demo/SKILL.md"]`)
	k.want("glob", `{"pattern":"org/*/SKILL.md","path":"skills"}`, `{"success":true,"result":{"files":["skills/org/demo/SKILL.md"]`)
	k.want("grep", `{"pattern":"^demo","path":"skills/org"}`, `{"success":true,"result":{"text":"skills/org/demo/SKILL.md:1:demo body`)
	k.want("glob", `{"pattern":"**/SKILL.md"}`, `{"success":true,"result":{"files":[".agents/skills/inner/SKILL.md"]`)
}

// A workspace and a skill that are reached through links: their real names count as well.
func TestLinkedRoots(t *testing.T) {
	k := newKit(t, nil)
	files(t, k.base, map[string]string{"wslink": "-> ws", "skilllink": "-> home/skills/demo"})
	o := &Options{Workspace: filepath.Join(k.base, "wslink"), Scripts: kept, Mounts: func(context.Context) []Mount {
		return []Mount{{Name: "demo", Dir: filepath.Join(k.base, "skilllink")}, {Name: "inner", Dir: filepath.Join(k.ws, ".agents/skills/inner")}}
	}}
	k.exec = executor(t, o)
	for _, path := range []string{"a.txt", "$WS/a.txt", k.base + "/wslink/a.txt", "$SKILL/SKILL.md", k.base + "/skilllink/SKILL.md", "skills/demo/SKILL.md"} {
		k.want("read_file", `{"file_path":"`+path+`"}`, `{"success":true`)
	}
	for _, path := range []string{"$SKILL/x", k.base + "/skilllink/x", ".agents/skills/inner/x", "$WS/.agents/skills/inner/new/x", k.base + "/wslink/.agents/skills/inner/x"} {
		k.denied("write_file", `{"file_path":"`+path+`","content":""}`, "read_only")
	}
	k.denied("read_file", `{"file_path":".agents/skills/inner/scripts/in.py"}`, "script_read")
	k.denied("read_file", `{"file_path":"`+k.base+`/skilllink/scripts/run.py"}`, "script_read")
}

// FuzzPlace: whatever the path, what is opened really lies below the workspace or a skill's folder.
func FuzzPlace(f *testing.F) {
	for _, seed := range []string{"a.txt", "l", "../other/secret.txt", "skills/demo/SKILL.md", "skills/demo/out/secret.txt", "in/../out/secret.txt", "up/up/up", "abs/secret.txt",
		"skills/demo/../../../other/secret.txt", "/etc/passwd", "in/b.txt", "a\x00b", "skills/Demo/./scripts//run.py", "in/in/in/../l", "self/self/a.txt"} {
		f.Add(seed)
	}
	base, err := filepath.EvalSymlinks(f.TempDir())
	if err != nil {
		f.Fatal(err)
	}
	at := func(parts ...string) string { return filepath.Join(append([]string{base}, parts...)...) }
	for _, dir := range []string{at("ws/in"), at("other"), at("skill/scripts")} {
		err = errors.Join(err, os.MkdirAll(dir, 0o755))
	}
	for name, target := range map[string]string{"ws/l": "a.txt", "ws/out": "../other", "ws/abs": at("other"), "ws/self": ".", "ws/in/up": "../..", "skill/out": "../other", "ws/up": "in/up", "ws/absin": at("ws/in")} {
		err = errors.Join(err, os.Symlink(target, at(name)))
	}
	for _, name := range []string{"ws/a.txt", "ws/in/b.txt", "other/secret.txt", "skill/SKILL.md", "skill/scripts/run.py"} {
		err = errors.Join(err, os.WriteFile(at(name), []byte(name), 0o644))
	}
	if err != nil {
		f.Fatal(err)
	}
	h := &host{o: Options{Decide: policy(f, permit.Options{}), Workspace: at("ws"), Scripts: kept, Mounts: func(context.Context) []Mount { return []Mount{{Name: "demo", Dir: at("skill")}} }}, real: at("ws")}
	f.Fuzz(func(t *testing.T, name string) {
		file, p, err := h.open(t.Context(), name)
		if err != nil {
			return
		}
		defer file.Close()
		data, err := io.ReadAll(file)
		if err != nil {
			t.Fatal(err)
		}
		// Each file holds its own real name.
		if got := string(data); !strings.HasPrefix(got, "ws/") && got != "skill/SKILL.md" {
			t.Errorf("%q opened %s", name, got)
		}
		if real, err := filepath.EvalSymlinks(p.abs()); err != nil || real != p.abs() || real != at(string(data)) {
			t.Errorf("%q: place %s, really %s (%v), holds %s", name, p.abs(), real, err, data)
		}
	})
}

// Without a rule about scripts no skill is mounted: its scripts are not known.
func TestMountsNeedARule(t *testing.T) {
	o := &Options{Workspace: t.TempDir(), Mounts: func(context.Context) []Mount { return nil }}
	if _, err := Tools(o); err == nil {
		t.Error("no error")
	}
	o.ReadScripts = true
	if _, err := Tools(o); err != nil {
		t.Error(err)
	}
}
