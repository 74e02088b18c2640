package hosts

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/internal/dirhash"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
)

const text = `---
name: pdf
description: Reads PDF files.
license: MIT
metadata:
  author: someone
allowed-tools: Bash(python:*), Read
when_to_use: When there is a PDF.
disable-model-invocation: true
Disallowed_Tools: Write
hooks:
  PreToolUse:
    - matcher: Bash
      hooks:
        - type: command
          command: ./check.sh
permissions:
  env: [KEY]
triggers:
  keywords: [pdf]
argument-hint: "[file]"
homepage: https://example.com
emoji: x
---
Read $ARGUMENTS.

!` + "`date`" + `
`

func parse(t testing.TB, text string) *manifest.Manifest {
	t.Helper()
	m, _ := manifest.Parse([]byte(text), nil)
	return m
}

func host(t testing.TB, name string) Host {
	t.Helper()
	h, ok := Find(name)
	if !ok {
		t.Fatalf("no host %s", name)
	}
	return h
}

// R178
func TestPlan(t *testing.T) {
	base, source := t.TempDir(), t.TempDir()
	for _, test := range []struct {
		host     string
		scope    Scope
		path     string
		ignored  string
		warnings []string
	}{
		{"claude", User, ".claude/skills/pdf", "permissions triggers", []string{
			"Claude Code runs its scripts with all rights of its own commands",
			"Claude Code does not ask before it uses the tools of allowed-tools, and does not restrict the skill to them",
			"Claude Code runs the commands that the instructions have in the form !`command`, when the skill is started"}},
		{"Claude-Code", Project, ".claude/skills/pdf", "permissions triggers", []string{"the link leads to a folder of this machine, so others who have the project need a copy"}},
		{"codex", User, ".agents/skills/pdf", "allowed-tools when_to_use disable-model-invocation Disallowed_Tools hooks permissions triggers argument-hint", []string{
			"Codex does not restrict it to the tools that it lists",
			"the model of Codex may start it, which its author wants to leave to people",
			"Codex does not forbid the tools that it lists",
			"Codex does not run its hooks, which may be checks",
			"Codex does not fill in the $ARGUMENTS and variables of the instructions",
			"Codex does not run the commands that the instructions have in the form !`command`",
			"other agents read .agents/skills, too"}},
		{"gemini", User, ".gemini/skills/pdf", "allowed-tools when_to_use disable-model-invocation Disallowed_Tools hooks permissions triggers argument-hint", nil},
		{"cursor", User, ".cursor/skills/pdf", "allowed-tools when_to_use Disallowed_Tools hooks permissions triggers argument-hint", nil},
		{"agents", Project, ".agents/skills/pdf", "allowed-tools when_to_use disable-model-invocation Disallowed_Tools hooks permissions triggers argument-hint", nil},
		{"copilot", Project, ".github/skills/pdf", "allowed-tools when_to_use Disallowed_Tools hooks permissions triggers", nil},
		{"copilot", User, ".copilot/skills/pdf", "allowed-tools when_to_use Disallowed_Tools hooks permissions triggers", nil},
		{"opencode", User, ".config/opencode/skills/pdf", "allowed-tools when_to_use disable-model-invocation Disallowed_Tools hooks permissions triggers argument-hint", nil},
		{"windsurf", User, ".codeium/windsurf/skills/pdf", "allowed-tools when_to_use disable-model-invocation Disallowed_Tools hooks permissions triggers argument-hint", nil},
	} {
		t.Run(test.host, func(t *testing.T) {
			e, err := Plan(&Request{Host: host(t, test.host), Scope: test.scope, Base: base, Source: source, Manifest: parse(t, text)})
			if err != nil {
				t.Fatal(err)
			}
			if e.Path != test.path || e.Location() != filepath.Join(base, test.path) || e.Method != Link || e.Method.String() != "link" {
				t.Errorf("it is a %v at %s", e.Method, e.Location())
			}
			if got := strings.Join(e.Ignored, " "); got != test.ignored {
				t.Errorf("ignored: %s\nwant:    %s", got, test.ignored)
			}
			for _, want := range test.warnings {
				if !slices.Contains(e.Warnings, want) {
					t.Errorf("no warning %q in %q", want, e.Warnings)
				}
			}
		})
	}
	// A skill of the plain standard has nothing to warn about.
	e, err := Plan(&Request{Host: host(t, "gemini"), Scope: User, Base: base, Source: source, Copy: true, Manifest: parse(t, "---\nname: pdf\ndescription: x\nlicense: MIT\n---\nRun `date`.\n")})
	if err != nil || len(e.Ignored) > 0 || len(e.Warnings) > 0 || e.Method != Copy {
		t.Errorf("%+v, %v", e, err)
	}
}

func TestPlanNames(t *testing.T) {
	base, source := t.TempDir(), t.TempDir()
	for _, test := range []struct{ host, name, warning, err string }{
		{"opencode", "PDF Forms", `does not load a skill with the name "PDF Forms"`, ""},
		{"claude", "PDF Forms", "", ""},
		{"claude", "../x", "", "cannot be that of a folder"},
		{"claude", "a/b", "", "cannot be that of a folder"},
		{"claude", "..", "", "cannot be that of a folder"},
		{"claude", "CON", "", "cannot be that of a folder"},
		{"claude", ".git", "", "cannot be that of a folder"},
	} {
		e, err := Plan(&Request{Host: host(t, test.host), Scope: User, Base: base, Source: source, Name: test.name, Manifest: parse(t, "---\nname: x\ndescription: x\n---\n")})
		if (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
			t.Errorf("%s: %v", test.name, err)
		}
		if err == nil && !strings.Contains(strings.Join(e.Warnings, "\n"), test.warning) {
			t.Errorf("%s: %q", test.name, e.Warnings)
		}
	}
	m := parse(t, text)
	long := *m
	long.Description = strings.Repeat("ä", 1025)
	e, err := Plan(&Request{Host: host(t, "claude"), Scope: User, Base: base, Source: source, Manifest: &long})
	if err != nil || !strings.Contains(strings.Join(e.Warnings, "\n"), "has 1025 characters") {
		t.Errorf("%v, %v", e, err)
	}
	for name, r := range map[string]*Request{
		"no host":     {Scope: User, Base: base, Source: source, Manifest: m},
		"no scope":    {Host: host(t, "claude"), Base: base, Source: source, Manifest: m},
		"no manifest": {Host: host(t, "claude"), Scope: User, Base: base, Source: source},
		"relative":    {Host: host(t, "claude"), Scope: User, Base: "x", Source: source, Manifest: m},
		"itself":      {Host: host(t, "claude"), Scope: User, Base: base, Source: filepath.Join(base, ".claude/skills/pdf"), Manifest: m},
	} {
		if _, err := Plan(r); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// Every row of the table can be found, and leads to a folder below its base.
func TestTable(t *testing.T) {
	names := map[string]bool{}
	for _, h := range All() {
		for _, name := range append(strings.Fields(h.aliases), h.ID) {
			if names[name] {
				t.Errorf("%s is there twice", name)
			}
			names[name] = true
			if found, ok := Find(strings.ToUpper(name)); !ok || found.ID != h.ID {
				t.Errorf("%s is not found", name)
			}
		}
		if h.Title == "" || !fs.ValidPath(h.Project) || !fs.ValidPath(h.User) || strings.Contains(h.Project, "..") {
			t.Errorf("%+v", h)
		}
	}
	if _, ok := Find("nobody"); ok {
		t.Error("nobody is found")
	}
}

// world is a home folder and a skill in a store.
type world struct {
	t            *testing.T
	home, store  string
	first, other string // folders of two versions
	digests      []string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, home: t.TempDir(), store: t.TempDir()}
	w.first, w.other = filepath.Join(w.store, "1", "pdf"), filepath.Join(w.store, "2", "pdf")
	for dir, content := range map[string]string{w.first: "first", w.other: "other"} {
		w.write(filepath.Join(dir, "SKILL.md"), content, 0o444)
		w.write(filepath.Join(dir, "scripts/run.sh"), "run", 0o555)
		w.digests = append(w.digests, w.digest(dir))
	}
	return w
}

func (w *world) write(name, content string, mode os.FileMode) {
	w.t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), mode); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) digest(dir string) string {
	w.t.Helper()
	sum, err := dirhash.Dir(w.t.Context(), os.DirFS(dir), nil)
	if err != nil {
		w.t.Fatal(err)
	}
	return sum.Digest
}

// plan plans an export of a version to Claude Code.
func (w *world) plan(source string, scope Scope, copied bool) *Export {
	w.t.Helper()
	e, err := Plan(&Request{Host: host(w.t, "claude"), Scope: scope, Base: w.home, Source: source, Copy: copied, Name: "pdf", Manifest: parse(w.t, text),
		Own: []string{w.store}, Digests: w.digests})
	if err != nil {
		w.t.Fatal(err)
	}
	return e
}

func (w *world) do(e *Export) *Done {
	w.t.Helper()
	d, err := e.Do(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	return d
}

// tree lists what is in the home folder: links with their targets, files with their contents.
func (w *world) tree() string {
	w.t.Helper()
	var all []string
	err := filepath.WalkDir(w.home, func(name string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(w.home, name)
		switch {
		case err != nil || rel == ".":
			return err
		case d.Type()&fs.ModeSymlink != 0:
			to, err := os.Readlink(name)
			all = append(all, rel+" -> "+strings.Replace(to, w.store, "STORE", 1))
			return err
		case d.IsDir():
			all = append(all, rel+"/")
			return nil
		}
		data, err := os.ReadFile(name)
		all = append(all, rel+" = "+string(data))
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return strings.Join(all, "\n")
}

func (w *world) is(want ...string) {
	w.t.Helper()
	if got := w.tree(); got != strings.Join(want, "\n") {
		w.t.Errorf("got\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
}

// R178: a skill of the standard goes where the hosts that the row names look for it, with the same bytes and every field in effect, and agent
// reads the same files.
func TestHostsOfTheRow(t *testing.T) {
	const plain = "---\nname: pdf\ndescription: Reads PDF files.\n---\nRead references/a.md.\n"
	for _, name := range []string{"Claude-Code", "Cursor", "OpenCode", "GitHub-Copilot", "VSCode", "Codex", "Goose", "Amp"} {
		w := newWorld(t)
		source := filepath.Join(w.store, "3", "pdf")
		w.write(filepath.Join(source, "SKILL.md"), plain, 0o644)
		w.write(filepath.Join(source, "references/a.md"), "text", 0o644)
		h := host(t, name)
		e, err := Plan(&Request{Host: h, Scope: Project, Base: w.home, Source: source, Copy: true, Manifest: parse(t, plain)})
		if err != nil || len(e.Ignored) > 0 {
			t.Errorf("%s: %+v, %v", name, e, err)
			continue
		}
		if _, err := e.Do(t.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		c, err := skill.Open(t.Context(), &skill.Options{Layers: []skill.Layer{{Name: "project", Source: skill.Dir(filepath.Join(w.home, h.Project), nil)}}})
		if err != nil {
			t.Fatal(err)
		}
		entry, err := c.Lookup("pdf")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		s, err := entry.Load(t.Context())
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if r, err := s.Read("references/a.md"); err != nil || string(r.Data) != "text" || string(s.Text()) != plain {
			t.Errorf("%s: got %q, %v", name, s.Text(), err)
		}
		s.Close()
	}
}

// R178
func TestLink(t *testing.T) {
	w := newWorld(t)
	d := w.do(w.plan(w.first, User, false))
	w.is(".claude/", ".claude/skills/", ".claude/skills/pdf -> STORE/1/pdf")
	if d.Replaced || d.Unchanged {
		t.Errorf("%+v", d)
	}
	if again := w.do(w.plan(w.first, User, false)); !again.Unchanged {
		t.Errorf("again: %+v", again)
	}
	next := w.do(w.plan(w.other, User, false))
	w.is(".claude/", ".claude/skills/", ".claude/skills/pdf -> STORE/2/pdf")
	if !next.Replaced {
		t.Errorf("%+v", next)
	}
	if links := FindLinks(w.home, User, w.store); len(links) != 1 || links[0].Host.ID != "claude" || links[0].Target != w.other || links[0].Location != filepath.Join(w.home, ".claude/skills/pdf") {
		t.Errorf("links: %+v", links)
	}
}

// The links of an updated or removed skill.
func TestFindLinks(t *testing.T) {
	w := newWorld(t)
	w.do(w.plan(w.first, User, false))
	w.write(filepath.Join(w.home, ".agents/skills/mine/SKILL.md"), "mine", 0o644)
	if err := os.Symlink("/elsewhere/pdf", filepath.Join(w.home, ".agents/skills/pdf")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(w.store, "gone/docx"), filepath.Join(w.home, ".agents/skills/docx")); err != nil {
		t.Fatal(err)
	}
	links := FindLinks(w.home, User, w.store)
	if len(links) != 2 || links[0].Target != w.first || links[1].Target != filepath.Join(w.store, "gone/docx") {
		t.Fatalf("links: %+v", links)
	}
	if err := links[0].Repoint(w.other); err != nil {
		t.Error(err)
	}
	if err := links[0].Remove(); !errors.Is(err, ErrExists) { // it has another target now
		t.Errorf("got %v", err)
	}
	if err := links[0].Repoint("x"); err == nil {
		t.Error("a relative target is accepted")
	}
	if err := links[1].Remove(); err != nil {
		t.Error(err)
	}
	w.is(".agents/", ".agents/skills/", ".agents/skills/mine/", ".agents/skills/mine/SKILL.md = mine", ".agents/skills/pdf -> /elsewhere/pdf",
		".claude/", ".claude/skills/", ".claude/skills/pdf -> STORE/2/pdf")
	if links := FindLinks(t.TempDir(), User, w.store); links != nil {
		t.Errorf("links of nobody: %+v", links)
	}
}

func TestCopy(t *testing.T) {
	w := newWorld(t)
	w.do(w.plan(w.first, Project, true))
	first := []string{".claude/", ".claude/skills/", ".claude/skills/pdf/", ".claude/skills/pdf/SKILL.md = first", ".claude/skills/pdf/scripts/", ".claude/skills/pdf/scripts/run.sh = run"}
	w.is(first...)
	if info, err := os.Stat(filepath.Join(w.home, ".claude/skills/pdf/scripts/run.sh")); err != nil || info.Mode() != 0o755 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if again := w.do(w.plan(w.first, Project, true)); !again.Unchanged {
		t.Errorf("again: %+v", again)
	}
	w.is(first...)
	next := w.do(w.plan(w.other, Project, true))
	if !next.Replaced || !strings.Contains(w.tree(), "SKILL.md = other") {
		t.Errorf("%+v\n%s", next, w.tree())
	}
	// A link takes the place of a copy, and the reverse.
	w.do(w.plan(w.other, Project, false))
	w.is(".claude/", ".claude/skills/", ".claude/skills/pdf -> STORE/2/pdf")
	w.do(w.plan(w.first, Project, true))
	w.is(first...)
	if removed, err := w.plan(w.other, Project, true).Remove(t.Context()); !removed || err != nil {
		t.Errorf("removed %v, %v", removed, err)
	}
	w.is(".claude/", ".claude/skills/")
	if removed, err := w.plan(w.other, Project, true).Remove(t.Context()); removed || err != nil {
		t.Errorf("removed again: %v, %v", removed, err)
	}
}

// What no export has made stays, and so does a copy that somebody has changed.
func TestForeign(t *testing.T) {
	outside := t.TempDir()
	for name, make := range map[string]func(w *world, at string){
		"folder":       func(w *world, at string) { w.write(at+"/SKILL.md", "mine", 0o644) },
		"empty folder": func(w *world, at string) { w.write(filepath.Join(at, "../x"), "", 0o644); os.Mkdir(at, 0o755) },
		"file":         func(w *world, at string) { w.write(at, "mine", 0o644) },
		"link":         func(w *world, at string) { w.write(filepath.Join(at, "../x"), "", 0o644); os.Symlink(outside, at) },
		"near link": func(w *world, at string) {
			w.write(filepath.Join(at, "../x"), "", 0o644)
			os.Symlink(w.store+"-other/pdf", at)
		},
		"dotted link": func(w *world, at string) {
			w.write(filepath.Join(at, "../x"), "", 0o644)
			os.Symlink(w.store+"/../other", at)
		},
		"relative": func(w *world, at string) { w.write(filepath.Join(at, "../x"), "", 0o644); os.Symlink("x", at) },
		"changed copy": func(w *world, at string) {
			w.write(at+"/SKILL.md", "first", 0o644)
			w.write(at+"/scripts/run.sh", "changed", 0o755)
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, copied := range []bool{false, true} {
				w := newWorld(t)
				make(w, filepath.Join(w.home, ".claude/skills/pdf"))
				before := w.tree()
				e := w.plan(w.first, User, copied)
				if _, err := e.Do(t.Context()); !errors.Is(err, ErrExists) || !strings.Contains(err.Error(), e.Location()) {
					t.Errorf("got %v", err)
				}
				if _, err := e.Remove(t.Context()); !errors.Is(err, ErrExists) {
					t.Errorf("remove: %v", err)
				}
				if w.tree() != before {
					t.Errorf("got\n%s\nbefore\n%s", w.tree(), before)
				}
			}
		})
	}
}

// A project is from somebody else: its links lead nowhere outside. Those of the home folder are the user's own.
func TestFolderIsLink(t *testing.T) {
	for _, scope := range []Scope{User, Project} {
		w := newWorld(t)
		outside := t.TempDir()
		if err := os.Symlink(outside, filepath.Join(w.home, ".claude")); err != nil {
			t.Fatal(err)
		}
		_, err := w.plan(w.first, scope, true).Do(t.Context())
		list, _ := os.ReadDir(outside)
		if scope == Project {
			if err == nil || len(list) > 0 {
				t.Errorf("in a project: %v, %v", err, list)
			}
			continue
		}
		if err != nil || len(list) != 1 {
			t.Fatalf("in the home folder: %v, %v", err, list)
		}
	}
	w := newWorld(t) // a link inside the project, as projects have that keep one folder for all agents
	w.write(filepath.Join(w.home, ".agents/skills/x"), "", 0o644)
	w.write(filepath.Join(w.home, ".claude/x"), "", 0o644)
	if err := os.Symlink("../.agents/skills", filepath.Join(w.home, ".claude/skills")); err != nil {
		t.Fatal(err)
	}
	w.do(w.plan(w.first, Project, false))
	if to, err := os.Readlink(filepath.Join(w.home, ".agents/skills/pdf")); err != nil || to != w.first {
		t.Errorf("%s, %v", to, err)
	}
}

func TestBroken(t *testing.T) {
	w := newWorld(t)
	e := w.plan(w.first, User, true)
	e.Source = t.TempDir()
	if _, err := e.Do(t.Context()); err == nil || !strings.Contains(err.Error(), "has no SKILL.md") {
		t.Errorf("got %v", err)
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(w.first, "ln")); err != nil { // a copy that fails in the middle
		t.Fatal(err)
	}
	e = w.plan(w.first, User, true)
	if _, err := e.Do(t.Context()); err == nil {
		t.Error("a link is copied")
	}
	w.is("")
}
