package skill

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/agent-base/agent-base/skill/manifest"
)

// shelf is a bundled and a user layer for tests of the selection.
func shelf(t *testing.T) []Layer {
	t.Helper()
	bundled := fstest.MapFS{}
	for name, more := range map[string]string{"core": "", "off": "default_enabled: false"} {
		bundled[name+"/SKILL.md"] = &fstest.MapFile{Data: []byte(skillText(name, more))}
	}
	user := disk(t, t.TempDir(), map[string]string{"mine/SKILL.md": "", "theirs/SKILL.md": "", "quiet/SKILL.md": "default_enabled: false"})
	return []Layer{{Name: "user", Source: Dir(user, nil)}, {Name: "bundled", Source: FS(bundled, nil), Trust: TrustBundled}}
}

func TestSelection(t *testing.T) {
	mine := func(_ context.Context, s Subject) (Trust, error) {
		if s.Name == "mine" {
			return TrustApproved, nil
		}
		return TrustNone, nil
	}
	nobody := TrustFunc(trustNone)
	rows := []struct {
		name     string
		want     Selection
		trust    TrustFunc
		enabled  string
		problems []string
	}{
		{"C20, R76: auto is all but what is off by default", Selection{}, nobody, "core mine theirs", nil},
		{"R75: the user's wish beats the manifest", Selection{Enabled: []string{"Quiet", "off"}, Disabled: []string{"theirs"}}, nobody, "core mine off quiet", nil},
		{"R74: only some of the bundled", Selection{OnlyBundled: []string{"off"}, Enabled: []string{"off"}}, nobody, "mine off theirs", nil},
		{"R74: a bundled one is disabled, others of that name are not", Selection{NotBundled: []string{"Core", "mine"}}, nobody, "mine theirs", nil},
		{"R70: none", Selection{Mode: SelectNone}, nobody, "", nil},
		{"R70: named, in any spelling; bundled is trusted", Selection{Mode: SelectNamed, Names: []string{" Core", "MINE"}}, mine, "core mine", nil},
		{"C20: a name beats default_enabled and disabled", Selection{Mode: SelectNamed, Names: []string{"off"}, Disabled: []string{"off"}}, mine, "off", nil},
		{"C21: a named one that nobody trusts", Selection{Mode: SelectNamed, Names: []string{"theirs", "core"}}, mine, "core", []string{"skill-untrusted theirs approve its content"}},
		{"C21: without a store nothing is trusted", Selection{Mode: SelectNamed, Names: []string{"mine"}}, nil, "", []string{"skill-untrusted mine approve its content"}},
		{"R71, C61: an unknown name", Selection{Mode: SelectNamed, Names: []string{"thiers", "core"}}, mine, "core", []string{"skill-unknown  did you mean 'theirs'?"}},
		{"R70: all is what is trusted", Selection{Mode: SelectAll}, mine, "core mine off", nil},
		{"R70, C21: all-untrusted", Selection{Mode: SelectAllUntrusted}, nobody, "core mine off quiet theirs", []string{"skills-untrusted-loaded  select trusted skills only, and approve the content of single skills"}},
	}
	layers := shelf(t)
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			c := opened(t, &Options{Layers: layers, Want: r.want, Trust: r.trust})
			var got, problems []string
			for e := range c.Visible() {
				got = append(got, e.Name())
			}
			for _, p := range c.Problems() {
				problems = append(problems, p.Code+" "+p.Skill+" "+p.Cure)
			}
			wantLines(t, "enabled", got, strings.Fields(r.enabled)...)
			wantLines(t, "problems", problems, r.problems...)
		})
	}
}

// All, and nothing is trusted.
func TestNoneTrusted(t *testing.T) {
	c := opened(t, &Options{Layers: shelf(t)[:1], Want: Selection{Mode: SelectAll}, Trust: trustNone})
	if p := c.Problems(); len(p) != 1 || p[0].Code != "skills-none-trusted" {
		t.Errorf("got %v", p)
	}
}

// A trust store that cannot be read trusts nothing.
func TestTrustFailsClosed(t *testing.T) {
	c := opened(t, &Options{Layers: shelf(t)[:1], Want: Selection{Mode: SelectNamed, Names: []string{"mine"}},
		Trust: func(context.Context, Subject) (Trust, error) { return TrustApproved, errors.New("damaged") }})
	if e := find(t, c, "mine"); e.State() != StateDisabled || len(c.Problems()) != 1 || c.Problems()[0].Code != "trust-unreadable" {
		t.Errorf("got %v %v", e.State(), c.Problems())
	}
}

// C57: trust is asked with the folder, and the digest only when it is wanted.
func TestTrustSubject(t *testing.T) {
	var got Subject
	root := disk(t, t.TempDir(), map[string]string{"My_Skill/SKILL.md": ""})
	c := opened(t, &Options{Layers: []Layer{{Name: "user", Source: Dir(root, nil)}}, Trust: func(_ context.Context, s Subject) (Trust, error) {
		got = s
		return TrustRoot, nil
	}})
	e := find(t, c, "my-skill")
	if trust, err := e.Trust(t.Context()); trust != TrustRoot || err != nil {
		t.Errorf("got %v %v", trust, err)
	}
	if got.Name != "my-skill" || got.Layer != "user" || got.Dir != filepath.Join(root, "My_Skill") {
		t.Errorf("subject %+v", got)
	}
	digest, err := got.Digest(t.Context())
	if want, _ := loaded(t, c, "my-skill").Digest(t.Context()); digest != want || err != nil || !strings.HasPrefix(digest, "sha256:") {
		t.Errorf("digest %q %v, want %q", digest, err, want)
	}
}

// R66: each command is looked for once; a path is not a command.
func TestRequires(t *testing.T) {
	root := disk(t, t.TempDir(), map[string]string{"a/SKILL.md": "metadata:\n  requires: gh git docker", "b/SKILL.md": "metadata:\n  requires: gh", "c/SKILL.md": "metadata:\n  requires: git",
		"d/SKILL.md": "metadata:\n  requires: ./git"})
	var asked []string
	look := func(name string) (string, error) {
		asked = append(asked, name)
		if strings.HasSuffix(name, "git") {
			return "/bin/git", nil
		}
		return "", fs.ErrNotExist
	}
	c := opened(t, &Options{Layers: []Layer{{Name: "p", Source: Dir(root, nil)}}, LookPath: look})
	got := states(c)
	wantLines(t, "skills", got[:3], "a p:a unavailable: missing commands: gh, docker", "b p:b unavailable: missing commands: gh", "c p:c enabled")
	if find(t, c, "d").State() == StateEnabled {
		t.Errorf("a path counts as a command: %s", got[3])
	}
	slices.Sort(asked)
	if n := len(asked); len(slices.Compact(asked)) != n {
		t.Errorf("asked twice: %q", asked)
	}
}

// C73: environment variables that must be set, as OpenClaw's skills declare them. In the profile spec metadata means nothing.
func TestRequiresVariables(t *testing.T) {
	root := disk(t, t.TempDir(), map[string]string{"a/SKILL.md": `metadata: {"clawdbot": {"requires": {"bins": ["gh"], "env": ["TOKEN", "KEY"]}}}`,
		"b/SKILL.md": `metadata: {"openclaw": {"requires": {"env": ["KEY"]}}}`, "c/SKILL.md": `metadata: {"moltbot": {"requires": {"env": ["TOKEN"]}}}`})
	o := Options{Layers: []Layer{{Name: "p", Source: Dir(root, nil)}},
		LookPath:    func(string) (string, error) { return "", fs.ErrNotExist },
		HasVariable: func(name string) bool { return name == "TOKEN" }}
	c := opened(t, &o)
	wantLines(t, "skills", states(c), "a p:a unavailable: missing commands: gh; missing environment variables: KEY",
		"b p:b unavailable: missing environment variables: KEY", "c p:c enabled")
	o.HasVariable = func(string) bool { return true }
	next := opened(t, &o)
	if find(t, next, "b").State() != StateEnabled || len(find(t, next, "b").RequiresEnv()) != 1 {
		t.Errorf("with its variable: %v", find(t, next, "b").Reason())
	}
	o.Profile, o.HasVariable = &manifest.Profile{Name: "spec"}, nil
	wantLines(t, "skills in spec", states(opened(t, &o)), "a p:a enabled", "b p:b enabled", "c p:c enabled")
}

// R27: the engine's version.
func TestVersions(t *testing.T) {
	root := disk(t, t.TempDir(), map[string]string{"new/SKILL.md": "min_agent_base_version: 2.0.0", "old/SKILL.md": "max_agent_base_version: 0.9.0", "ok/SKILL.md": "min_agent_base_version: 1.0.0\nmax_agent_base_version: 1.9.0"})
	layers := []Layer{{Name: "p", Source: Dir(root, nil)}}
	c := opened(t, &Options{Layers: layers, Version: "1.4.0"})
	wantLines(t, "skills", states(c), "new p:new unavailable: needs agent-base 2.0.0 or newer, this is 1.4.0",
		"ok p:ok enabled", "old p:old unavailable: needs agent-base 0.9.0 or older, this is 1.4.0")
	for e := range opened(t, &Options{Layers: layers}).All() {
		if e.State() != StateEnabled {
			t.Errorf("%s is %v without a version", e.Name(), e.State())
		}
	}
}

// disable-model-invocation: there, and not told to a model.
func TestHidden(t *testing.T) {
	c := onDir(t, disk(t, t.TempDir(), map[string]string{"a/SKILL.md": "disable-model-invocation: true"}))
	wantLines(t, "skills", states(c), "a project:a hidden: disable-model-invocation")
	for e := range c.Visible() {
		t.Errorf("All yields %s", e.Name())
	}
	loaded(t, c, "a")
}

// C78: a skill of OpenClaw is available with one of its commands, on one of its systems.
func TestRequiresOneOf(t *testing.T) {
	root := disk(t, t.TempDir(), map[string]string{
		"any/SKILL.md":  `metadata: {"openclaw":{"requires":{"anyBins":["no-such","gh"]}}}`,
		"mac/SKILL.md":  `metadata: {"openclaw":{"os":["darwin"]}}`,
		"none/SKILL.md": `metadata: {"openclaw":{"os":["darwin","linux"],"requires":{"anyBins":["no-such","nor-this"]}}}`,
		"win/SKILL.md":  `metadata: {"openclaw":{"os":["win32"]}}`,
	})
	find := func(name string) (string, error) {
		if name == "gh" {
			return "/bin/gh", nil
		}
		return "", errors.New("not found")
	}
	for system, want := range map[string][]string{
		"linux": {"any p:any enabled", "mac p:mac unavailable: it is made for darwin, and this is linux",
			"none p:none unavailable: missing commands: one of no-such, nor-this", "win p:win unavailable: it is made for windows, and this is linux"},
		"windows": {"any p:any enabled", "mac p:mac unavailable: it is made for darwin, and this is windows",
			"none p:none unavailable: missing commands: one of no-such, nor-this; it is made for darwin, linux, and this is windows", "win p:win enabled"},
	} {
		c := opened(t, &Options{Layers: []Layer{{Name: "p", Source: Dir(root, nil)}}, LookPath: find, system: system})
		wantLines(t, "skills on "+system, states(c), want...)
	}
}
