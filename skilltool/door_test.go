package skilltool

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/agent-base/agent-base/internal/hosttool"
	"github.com/agent-base/agent-base/internal/survey"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/session"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/tool"
	"github.com/agent-base/agent-base/trace"
)

// The typed call and the tool are one: the same answers, the same failures.
func TestRunScriptIsTheTool(t *testing.T) {
	for _, trust := range []skill.Trust{skill.TrustBundled, skill.TrustNone} {
		k, _ := kit(t, kitOptions{trust: trust, change: func(o *Options) { o.Scripts = host(t, func(o *script.Options) { o.Runner = &spyRunner{} }) }})
		for _, r := range []RunRequest{
			{Skill: "kalshi-markets", Script: "status"}, {Skill: "Kalshi_Markets", Script: "Status.py", JSON: script.JSONNo}, {Skill: "kalshi-markets", Script: "gone"},
			{Skill: "gone", Script: "status"}, {Skill: "../x", Script: "status"}, {Skill: "kalshi-markets", Script: "../x"}, {}, {Skill: "kalshi-markets"},
			{Skill: "kalshi-markets", Script: "status", Args: slices.Repeat([]string{"a"}, 101)},
		} {
			var typed tool.Result
			if res, err := k.RunScript(t.Context(), &r); err != nil {
				typed = Failure(err)
			} else {
				typed = res.Envelope()
			}
			called := call(t, k, "script_run", fmt.Sprintf(`{"skill_name":%q,"script_name":%q,"args":[%s]%s}`, r.Skill, r.Script,
				strings.TrimSuffix(strings.Repeat(`"a",`, len(r.Args)), ","), map[script.JSONMode]string{script.JSONNo: `,"json":false`}[r.JSON]))
			called.Duration = 0
			if got, want := string(typed.Encode()), string(called.Encode()); got != want {
				t.Errorf("%+v:\ngot  %s\nwant %s", r, got, want)
			}
		}
	}
	k, _ := kit(t, kitOptions{change: func(o *Options) { o.Scripts = nil }})
	if _, err := k.RunScript(t.Context(), &RunRequest{Skill: "kalshi-markets", Script: "status"}); err == nil {
		t.Error("it runs without a host")
	}
	done, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := k.RunScript(done, &RunRequest{}); err != context.Canceled {
		t.Errorf("got %v", err)
	}
}

// R134: the causes of a failure are typed: a caller need not read its text.
func TestFailuresAreTyped(t *testing.T) {
	k, _ := kit(t, kitOptions{})
	_, err := k.RunScript(t.Context(), &RunRequest{Skill: "kalshi-market", Script: "status"})
	var missing *skill.NotFoundError
	if !errors.As(err, &missing) || !slices.Contains(missing.Suggest, "kalshi-markets") {
		t.Errorf("got %v", err)
	}
	_, err = k.HelpScript(t.Context(), "kalshi-markets", "status")
	var untrusted *UntrustedError
	var e *script.Error
	if !errors.As(err, &untrusted) || !errors.As(err, &e) || e.Reason != ReasonUntrusted || e.Code != script.PermissionDenied {
		t.Errorf("got %v", err)
	}
	if _, err = k.ListScripts(t.Context(), "nope"); !errors.As(err, &missing) {
		t.Errorf("got %v", err)
	}
}

// counted is a skill on disk that counts how often one of its files is opened.
type counted struct {
	fs.FS
	dir   string
	mu    sync.Mutex
	opens int
}

func (c *counted) Close() error                             { return nil }
func (c *counted) Location(context.Context) (string, error) { return c.dir, nil }
func (c *counted) Open(name string) (fs.File, error) {
	if name == "assets/data.bin" {
		c.mu.Lock()
		c.opens++
		c.mu.Unlock()
	}
	return c.FS.Open(name)
}

// What is looked at is not read.
func (c *counted) Stat(name string) (fs.FileInfo, error)  { return fs.Stat(c.FS, name) }
func (c *counted) Lstat(name string) (fs.FileInfo, error) { return fs.Lstat(c.FS, name) }
func (c *counted) ReadLink(name string) (string, error)   { return fs.ReadLink(c.FS, name) }

func (c *counted) count(what func()) int {
	c.opens = 0
	what()
	return c.opens
}

// counting is a kit with a skill "x" whose trust is asked for by its digest.
func counting(t *testing.T, trust func(digest string) skill.Trust, approve func(context.Context, *skill.Skill) (bool, error)) (*Kit, *counted) {
	t.Helper()
	text := skillText("x", "", "Body")
	root := tree{"x/SKILL.md": text, "x/scripts/a.sh": "echo {}\n", "x/assets/data.bin": "data"}.write(t)
	c := &counted{FS: os.DirFS(filepath.Join(root, "x")), dir: filepath.Join(root, "x")}
	source := skill.SourceFunc(func(context.Context) iter.Seq2[skill.Found, error] {
		return func(yield func(skill.Found, error) bool) {
			yield(skill.Found{Path: "x", File: "SKILL.md", Head: []byte(text), Open: func(context.Context) (skill.Tree, error) { return c, nil }}, nil)
		}
	})
	cat, err := skill.Open(t.Context(), &skill.Options{Layers: []skill.Layer{{Name: "test", Source: source}},
		Trust: func(_ context.Context, s skill.Subject) (skill.Trust, error) {
			digest, err := s.Digest(t.Context())
			return trust(digest), err
		}})
	if err != nil {
		t.Fatal(err)
	}
	return New(&Options{Catalog: func() *skill.Catalog { return cat }, Session: session.New(nil), Scripts: host(t, nil), Policy: Policy{Approve: approve}}), c
}

// The content is hashed once to decide about trust, also when somebody is asked. It is read once more for a copy that is made,
// to see that it is that content.
func TestContentIsHashedOnce(t *testing.T) {
	run := func(k *Kit) func() {
		return func() {
			t.Helper()
			if _, err := k.RunScript(t.Context(), &RunRequest{Skill: "x", Script: "a"}); err != nil {
				t.Error(err)
			}
		}
	}
	k, c := counting(t, func(string) skill.Trust { return skill.TrustRoot }, nil)
	if n := c.count(run(k)); n != 1 && !*byOrder { // a worker gets a copy in any case
		t.Errorf("below a trusted root it is read %d times, want 1", n)
	}
	k, c = counting(t, func(string) skill.Trust { return skill.TrustApproved }, nil)
	first, second := c.count(run(k)), c.count(run(k))
	if first != 2 || second != 1 { // trust, and the copy; then trust alone, for the copy is there
		t.Errorf("approved, it is read %d and %d times, want 2 and 1", first, second)
	}
	asked := 0
	k, c = counting(t, func(string) skill.Trust { return skill.TrustNone }, func(context.Context, *skill.Skill) (bool, error) { asked++; return true, nil })
	if n := c.count(run(k)); n != 2 || asked != 1 {
		t.Errorf("asked about %d times, it is read %d times, want 2", asked, n)
	}
	k, c = counting(t, func(string) skill.Trust { return skill.TrustNone }, nil)
	if n := c.count(func() { _, _ = k.RunScript(t.Context(), &RunRequest{Skill: "x", Script: "a"}) }); n != 1 {
		t.Errorf("refused, it is read %d times, want 1", n)
	}
}

// Every answer about trust is an event, with the answer and the ID of the content.
func TestTrustIsTraced(t *testing.T) {
	for _, yes := range []bool{true, false} {
		var got []string
		k, _ := kit(t, kitOptions{change: func(o *Options) {
			tracer := trace.TracerFunc(func(_ context.Context, e trace.Event) {
				got = append(got, fmt.Sprint(e.Kind, " ", e.Skill, " ", e.Attrs, " ", e.Err != nil))
			})
			o.Trace = tracer
			o.Scripts = host(t, func(o *script.Options) { o.Trace, o.Runner = tracer, &spyRunner{} })
			o.Policy.Approve = func(context.Context, *skill.Skill) (bool, error) { return yes, nil }
		}})
		call(t, k, "script_run", `{"skill_name":"kalshi-markets","script_name":"status"}`)
		e, err := k.o.Catalog().Lookup("kalshi-markets")
		if err != nil {
			t.Fatal(err)
		}
		s, err := e.Load(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		id, err := s.ID(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		asked := fmt.Sprintf("trust_asked kalshi-markets [layer=%s digest=%s approved=%t] false", id.Layer, id.Digest, yes)
		want := []string{"script_started kalshi-markets [] false", asked, "script_run kalshi-markets [program=python3 exit_code=0 stdout_bytes=0 stderr_bytes=0 sandbox=off] false"}
		if !yes {
			want[2] = "script_run kalshi-markets [code=permission_denied reason=untrusted] true"
		}
		if !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// C50, R125, S1: listing scripts, running them and keeping their text from a model agree about each file.
func TestOneRuleOfScripts(t *testing.T) {
	content := map[string]string{
		"scripts/plain.py": "SECRET = 1\n", "scripts/UPPER.PY": "SECRET = 1\n", "scripts/noexec.bash": "#!/bin/bash\n# SECRET\n", "scripts/later.lua": "#!/usr/bin/lua\n-- SECRET\n",
		"scripts/lib/run": "#!/bin/sh\n# SECRET\n", "scripts/lib/deep/x.sh": "# SECRET\n", "scripts/.hidden.sh": "# SECRET\n", "scripts/_ignored.py": "# SECRET\n", "scripts/bare": "#!/bin/sh\n# SECRET\n",
		"bin/tool": "#!/bin/sh\n# SECRET\n", "bin/a.rb": "# SECRET\n", "tools/deep/b.ts": "// SECRET\n",
		"scripts/notes.md": "SECRET\n", "scripts/data.json": "[\"SECRET\"]\n", "scripts/lib/readme": "SECRET\n", "scripts/text": "SECRET\n", "bin/notes.txt": "SECRET\n",
		"references/example.py": "# SECRET\n", "src/main.py": "# SECRET\n", "top.sh": "# SECRET\n",
	}
	files := tree{"x/SKILL.md": skillText("x", "scripts_ignore: [_ignored.py]\n", "Body\n\n    python src/main.py\n")}
	for name, text := range content {
		files["x/"+name] = text
	}
	k, root := kit(t, kitOptions{files: files})
	dir := filepath.Join(root, "x")
	if err := os.Chmod(filepath.Join(dir, "scripts/text"), 0o755); err != nil {
		t.Fatal(err)
	}
	aliases := map[string]string{"references/hard.md": "scripts/plain.py", "references/soft.md": "bin/tool", "scripts/soft.py": "references/example.py", "assets": "scripts"}
	for alias, to := range aliases {
		var err error
		if alias == "references/hard.md" {
			err = os.Link(filepath.Join(dir, to), filepath.Join(dir, alias))
		} else {
			err = os.Symlink(filepath.Join(strings.Repeat("../", strings.Count(alias, "/")), to), filepath.Join(dir, alias))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	s := loaded(t, k.o.Catalog(), "x")
	set := survey.Of(s.FS(), s.Manifest(), nil)
	rule := func(context.Context, *hosttool.Mount, fs.FS) (out []hosttool.Script) {
		for _, sc := range set.Kept() {
			out = append(out, hosttool.Script{File: sc.File, Name: sc.Name})
		}
		return out
	}
	own, err := hosttool.Tools(&hosttool.Options{Workspace: t.TempDir(), Scripts: rule, Mounts: func(context.Context) []hosttool.Mount { return []hosttool.Mount{{Name: "x", Dir: dir}} }})
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(own, func(tl tool.Tool) bool { return tl.Name == "read_file" })
	var runnable, kept []string
	for _, sc := range set.Runnable() {
		runnable = append(runnable, sc.File)
	}
	for _, sc := range set.Kept() {
		kept = append(kept, sc.File)
	}
	list, err := k.ListScripts(t.Context(), "x")
	if err != nil {
		t.Fatal(err)
	}
	var listed []string
	for _, item := range list["x"] {
		listed = append(listed, item.Path)
	}
	if want := []string{"scripts/bare", "scripts/later.lua", "scripts/lib/run", "scripts/noexec.bash", "scripts/plain.py", "src/main.py", "scripts/UPPER.PY"}; !slices.Equal(listed, want) {
		t.Errorf("listed are %q, want %q", listed, want)
	}
	for name := range content {
		aliases[name] = name
	}
	delete(aliases, "assets")
	aliases["assets/plain.py"], aliases["assets/notes.md"] = "scripts/plain.py", "scripts/notes.md"
	for name, file := range aliases {
		isScript := slices.Contains(kept, file)
		if !slices.Contains(runnable, file) && (isScript || slices.Contains(listed, file)) {
			t.Errorf("%s is listed or kept and not runnable", file)
		}
		for what, r := range map[string]tool.Result{
			"skill_read": call(t, k, "skill_read", `{"skill_name":"x","path":`+quote(name)+`}`),
			"read_file":  own[i].Call(t.Context(), []byte(`{"file_path":`+quote("skills/x/"+name)+`}`)),
		} {
			if i := slices.Index(kept, file); isScript && !strings.Contains(r.Message, "script_name '"+set.Kept()[i].Name+"'") {
				t.Errorf("%s of %s: %s", what, name, r.Message)
			}
			if leaked := strings.Contains(string(r.Encode()), "SECRET"); r.Success == isScript || leaked == isScript || isScript && r.Reason != "script_read" {
				t.Errorf("%s of %s, which is a script: %t: %s", what, name, isScript, r.Encode())
			}
		}
	}
}

// Below a trusted root a skill with a grant runs from a copy: the grant is for that content. R176
func TestGrantedContentIsSealed(t *testing.T) {
	files := tree{"x/SKILL.md": skillText("x", "", "Body"), "x/scripts/where.sh": "#!/bin/sh\npwd -P; echo \"$AGENT_SKILL_DIR\"\n"}
	for _, seals := range []bool{false, true} {
		k, root := kit(t, kitOptions{files: files, trust: skill.TrustRoot, change: func(o *Options) {
			o.Policy.Seals = func(context.Context, *skill.Skill) (bool, error) { return seals, nil }
		}})
		res, err := k.RunScript(t.Context(), &RunRequest{Skill: "x", Script: "where"})
		if err != nil {
			t.Fatal(err)
		}
		if in := strings.Contains(fmt.Sprint(res), root); in == seals && !*byOrder { // a worker gets a copy in any case
			t.Errorf("sealed %v: it ran in %+v, the skill is in %s", seals, res, root)
		}
	}
	k, _ := kit(t, kitOptions{files: files, trust: skill.TrustRoot, change: func(o *Options) {
		o.Policy.Seals = func(context.Context, *skill.Skill) (bool, error) { return false, errors.New("unreadable") }
	}})
	if _, err := k.RunScript(t.Context(), &RunRequest{Skill: "x", Script: "where"}); err == nil {
		t.Error("it ran although grants cannot be read")
	}
}
