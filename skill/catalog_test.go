package skill

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/agent-base/agent-base/skill/manifest"
)

func TestDiscovery(t *testing.T) {
	rows := []struct {
		name     string
		files    map[string]string
		want     []string
		problems []string
	}{
		{"R52: only folders with a SKILL.md", map[string]string{"a/SKILL.md": "", "b/": "", "c.md": ""},
			[]string{"a project:a enabled"}, []string{"folder-empty b"}},
		{"R55: nested, and a SKILL.md below a skill is its file", map[string]string{"g/a/SKILL.md": "", "g/a/x/b/SKILL.md": ""},
			[]string{"a project:g/a enabled"}, nil},
		{"the root is the skill", map[string]string{"SKILL.md": "---\nname: solo\ndescription: x\n---\n"},
			[]string{"solo project:. enabled"}, []string{"name-directory SKILL.md"}},
		{"skill.md is accepted with a warning", map[string]string{"a/skill.md": ""},
			[]string{"a project:a enabled"}, []string{"file-name a/skill.md"}},
		{"R63, R64: a broken one stops nothing", map[string]string{"a/SKILL.md": "---\nno end", "b/SKILL.md": ""},
			[]string{"a project:a broken", "b project:b enabled"}, []string{"frontmatter-unclosed a/SKILL.md"}},
		{"security 2.3 #42: a link out of the root", map[string]string{"x": "-> /etc", "b/SKILL.md": ""},
			[]string{"b project:b enabled"}, []string{"link-skipped x"}},
		{"security 2.3 #38: loops", map[string]string{"loop": "-> .", "self": "-> self", "b/SKILL.md": ""},
			[]string{"b project:b enabled"}, []string{"link-skipped loop", "link-skipped self"}},
		{"depth", map[string]string{"1/2/3/4/5/6/7/8/9/10/11/SKILL.md": ""}, nil, []string{"discovery-bound 1/2/3/4/5/6/7/8/9/10/11"}},
		{"C72: a name in another case", map[string]string{"a/Skill.md": "", "b/SKILL.md": ""},
			[]string{"b project:b enabled"}, []string{"manifest-case a/Skill.md"}},
		{"C72: a hidden link that leads nowhere gives way", map[string]string{".gemini/skills/a/SKILL.md": "-> ../../../b/a/SKILL.md", "x/a/SKILL.md": ""},
			[]string{"a project:x/a enabled > project:.gemini/skills/a"}, []string{"manifest-link .gemini/skills/a/SKILL.md", "name-duplicate .gemini/skills/a/SKILL.md"}},
		{"C72: a hidden copy gives way", map[string]string{".claude/skills/a/SKILL.md": "", "skills/a/SKILL.md": ""},
			[]string{"a project:skills/a enabled > project:.claude/skills/a"}, []string{"name-duplicate .claude/skills/a/SKILL.md"}},
		{"C72: a hidden copy gives way to one that lies deeper", map[string]string{".claude/skills/a/SKILL.md": "", "x/y/skills/a/SKILL.md": ""},
			[]string{"a project:x/y/skills/a enabled > project:.claude/skills/a"}, []string{"name-duplicate .claude/skills/a/SKILL.md"}},
		{"C72: a broken one gives way", map[string]string{"flavors/a/SKILL.md": "---\nno end", "skills/a/SKILL.md": "", "skills/b/SKILL.md": "---\nno end", ".claude/skills/b/SKILL.md": ""},
			[]string{"a project:skills/a enabled > project:flavors/a", "b project:.claude/skills/b enabled > project:skills/b"}, []string{
				"name-duplicate flavors/a/SKILL.md", "frontmatter-unclosed flavors/a/SKILL.md", "name-duplicate skills/b/SKILL.md", "frontmatter-unclosed skills/b/SKILL.md"}},
		{"C72: one outside skills gives way", map[string]string{"preview/a/SKILL.md": "", "skills/a/SKILL.md": "", "b/SKILL.md": "", "a/skills/b/SKILL.md": ""},
			[]string{"a project:skills/a enabled > project:preview/a", "b project:b enabled > project:a/skills/b"}, []string{"name-duplicate a/skills/b/SKILL.md", "name-duplicate preview/a/SKILL.md"}},
		{"C72: a backup, which lies deeper, gives way", map[string]string{"backups/old/plugins/p/skills/a/SKILL.md": "", "plugins/p/skills/a/SKILL.md": ""},
			[]string{"a project:plugins/p/skills/a enabled > project:backups/old/plugins/p/skills/a"}, []string{"name-duplicate backups/old/plugins/p/skills/a/SKILL.md"}},
		{"a manifest out of reach", map[string]string{"a/SKILL.md": "-> /etc/passwd", "b/SKILL.md": ""},
			[]string{"a project:a broken", "b project:b enabled"}, []string{"manifest-link a/SKILL.md"}},
		{"security 2.1 #2: too big", map[string]string{"a/SKILL.md": "---\n" + strings.Repeat("x", manifest.MaxManifest)},
			[]string{"a project:a broken"}, []string{"file-size a/SKILL.md"}},
		{"IX2: five kilobytes of front matter", map[string]string{"a/SKILL.md": "metadata:\n  note: " + strings.Repeat("word ", 190) + "\n  b: " + strings.Repeat("word ", 190) + "\n  c: " + strings.Repeat("word ", 190) + "\n  d: " + strings.Repeat("word ", 190) + "\n  e: " + strings.Repeat("word ", 190) + "\n  f: end"},
			[]string{"a project:a enabled"}, nil},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			root := disk(t, t.TempDir(), r.files)
			c := onDir(t, root)
			got := states(c)
			for i, line := range got {
				if head, _, ok := strings.Cut(line, " broken: "); ok {
					got[i] = head + " broken"
				}
			}
			wantLines(t, "skills", got, r.want...)
			wantLines(t, "problems", codes(c, root), r.problems...)
		})
	}
}

// security 2.9 #146: among ten thousand skills a broken one is reported, and all others load.
func TestManySkills(t *testing.T) {
	const skills = 10_000
	files := fstest.MapFS{}
	for i := range skills {
		name := fmt.Sprintf("s%d", i)
		files[name+"/SKILL.md"] = &fstest.MapFile{Data: []byte(skillText(name, ""))}
	}
	files["s4711/SKILL.md"].Data = []byte("---\nno end")
	c := opened(t, &Options{Layers: []Layer{{Name: "project", Source: FS(files, nil)}}})
	if n := len(slices.Collect(c.Visible())); n != skills-1 {
		t.Errorf("%d skills load", n)
	}
	wantLines(t, "problems", codes(c, ""), "frontmatter-unclosed s4711/SKILL.md")
}

// C72: a link into a root that is read anyway says nothing. One to a place that is not read does.
func TestLinksIntoOtherRoots(t *testing.T) {
	home := disk(t, t.TempDir(), map[string]string{
		".agents/skills/a/SKILL.md": "", ".agents/skills/group/b/SKILL.md": "", ".agents/skills/empty/": "", "src/d/SKILL.md": "",
		".claude/skills/a": "-> ../../.agents/skills/a", ".claude/skills/group": "-> ../../.agents/skills/group",
		".claude/skills/all": "-> ../../.agents/skills", ".claude/skills/empty": "-> ../../.agents/skills/empty",
		".claude/skills/b": "-> ../../.agents/skills/group/b", ".claude/skills/d": "-> ../../src/d", ".claude/skills/e/SKILL.md": "",
	})
	claude := filepath.Join(home, ".claude", "skills")
	c := opened(t, &Options{Layers: []Layer{
		{Name: "claude", Source: Dir(claude, nil)},
		{Name: "project", Source: Dir(filepath.Join(home, ".agents", "skills"), nil)},
	}})
	wantLines(t, "skills", states(c), "a project:a enabled", "b project:group/b enabled", "e claude:e enabled")
	wantLines(t, "problems", codes(c, claude), "link-skipped d", "link-skipped empty", "folder-empty "+filepath.Join(strings.TrimPrefix(home, "/"), ".agents/skills/empty"))
	if next, err := c.Refresh(t.Context()); next != c || err != nil {
		t.Errorf("a refresh without changes gives %p %v, want the same catalogue", next, err)
	}
}

// R52, R57, R62: a root that is not there has no skills, and no problem.
func TestMissingRoot(t *testing.T) {
	root := filepath.Join(t.TempDir(), "none")
	c := onDir(t, root)
	wantLines(t, "skills", states(c))
	wantLines(t, "problems", codes(c, root))
}

// R49: a root that leads out of the project it came with is not read.
func TestWithin(t *testing.T) {
	base := disk(t, t.TempDir(), map[string]string{"secret/a/SKILL.md": "", "project/.claude/skills": "-> ../../secret"})
	project := filepath.Join(base, "project")
	root := filepath.Join(project, ".claude", "skills")
	c := opened(t, &Options{Layers: []Layer{{Name: "claude", Source: Dir(root, &DirOptions{Within: project})}}})
	wantLines(t, "skills", states(c))
	wantLines(t, "problems", codes(c, root), "source-unreadable")
}

// R54, R189: two roots under their own mounts; globs, deny after allow.
func TestMountsAndGlobs(t *testing.T) {
	org := disk(t, t.TempDir(), map[string]string{"security-audit/SKILL.md": "", "python-style/SKILL.md": "", "csv-old/SKILL.md": ""})
	project := disk(t, t.TempDir(), map[string]string{"csv-read/SKILL.md": "", "json-deprecated/SKILL.md": "", "pdf/SKILL.md": ""})
	c := opened(t, &Options{
		Layers: []Layer{{Name: "enterprise", Mount: "skills/org", Source: Dir(org, nil)}, {Name: "project", Mount: "skills/project", Source: Dir(project, nil)}},
		Allow:  []string{"security-*", "python-*", "csv-*", "JSON_*", "[bad"},
		Deny:   []string{"*-deprecated", "csv-old"},
	})
	wantLines(t, "skills", states(c),
		`csv-old enterprise:csv-old disabled: denied by pattern "csv-old"`,
		"csv-read project:csv-read enabled",
		`json-deprecated project:json-deprecated disabled: denied by pattern "*-deprecated"`,
		"pdf project:pdf disabled: not in the allow list",
		"python-style enterprise:python-style enabled",
		"security-audit enterprise:security-audit enabled")
	wantLines(t, "problems", codes(c, ""), "glob-invalid") // security 2.2 #30
	c = opened(t, &Options{Layers: []Layer{{Name: "project", Source: Dir(project, nil)}}, Deny: []string{"[csv-*"}})
	if n := len(slices.Collect(c.Visible())); n != 0 { // nobody knows what the glob was to deny: fail closed
		t.Errorf("%d skills pass a deny list that cannot be read", n)
	}
	c = opened(t, &Options{Layers: []Layer{{Name: "enterprise", Mount: "skills/org", Source: Dir(org, nil)}, {Name: "project", Mount: "skills/project", Source: Dir(project, nil)}}})
	if got := find(t, c, "python-style").Mount() + " " + find(t, c, "csv-read").Mount(); got != "skills/org skills/project" {
		t.Errorf("mounts: %s", got)
	}
}

// What a glob costs is bounded before it is matched. One over the bounds is as one that is not valid: allow lets nothing
// through for it, deny keeps everything out.
func TestGlobsAreBounded(t *testing.T) {
	layers := []Layer{{Name: "project", Source: Dir(disk(t, t.TempDir(), map[string]string{"pdf/SKILL.md": "", "x-1/SKILL.md": ""}), nil)}}
	many := func(format string, n int) (out []string) {
		for i := range n {
			out = append(out, fmt.Sprintf(format, i))
		}
		return out
	}
	hang, long := strings.Repeat("{q,q}", 24)+"b", "q"+strings.Repeat("*", 256)
	for _, tt := range []struct {
		name        string
		allow, deny []string
		loaded      int
		problems    int
	}{
		{"deny with 2^24 alternatives", nil, []string{hang}, 0, 1},
		{"deny with 257 bytes", nil, []string{long}, 0, 1},
		{"allow with 2^24 alternatives", []string{hang, "pdf"}, nil, 1, 1},
		{"allow with 257 bytes alone", []string{long}, nil, 0, 1},
		{"64 globs", nil, append(many("y%d-*", 63), "X_*"), 1, 0},
		{"1,000 globs are told once", nil, many("y%d-*", 1000), 0, 1},
		{"1,000 names", nil, append(many("y%d", 1000), "x_1"), 1, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := opened(t, &Options{Layers: layers, Allow: tt.allow, Deny: tt.deny})
			if n := len(slices.Collect(c.Visible())); n != tt.loaded {
				t.Errorf("%d skills are loaded, want %d", n, tt.loaded)
			}
			got := codes(c, "")
			if want := slices.Repeat([]string{"glob-invalid"}, tt.problems); !slices.Equal(got, want) {
				t.Errorf("problems %v, want %v", got, want)
			}
			for _, p := range c.Problems() {
				if len(p.Message) > 300 || p.Cure == "" || p.Severity != manifest.SeverityError {
					t.Errorf("problem: %+v", p)
				}
			}
		})
	}
}

// An end of the context ends the judging of many skills too.
func TestOpenEndsWhileJudging(t *testing.T) {
	files := map[string]string{}
	for i := range 600 {
		files[fmt.Sprintf("s%d/SKILL.md", i)] = fmt.Sprintf("metadata:\n  requires: c%d\n", i)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	asked := 0
	_, err := Open(ctx, &Options{Layers: []Layer{{Name: "a", Source: Dir(disk(t, t.TempDir(), files), nil)}}, LookPath: func(string) (string, error) {
		asked++
		cancel()
		return "", fs.ErrNotExist
	}})
	if !errors.Is(err, context.Canceled) || asked == 0 || asked > 300 {
		t.Errorf("asked for %d commands, then %v", asked, err)
	}
}

func layered(t *testing.T, names ...string) []Layer {
	t.Helper()
	var out []Layer
	for _, n := range names {
		out = append(out, Layer{Name: n, Source: Dir(disk(t, t.TempDir(), map[string]string{"x/SKILL.md": "", "only-" + n + "/SKILL.md": ""}), nil)})
	}
	return out
}

// R56, C16: the first layer counts, and the others are its shadows in order.
func TestPrecedence(t *testing.T) {
	c := opened(t, &Options{Layers: layered(t, "plugin", "project", "claude", "user", "bundled")})
	if got := states(c)[5]; got != "x plugin:x enabled > project:x > claude:x > user:x > bundled:x" {
		t.Errorf("got %s", got)
	}
	wantLines(t, "problems", codes(c, ""))
}

// R174: the fixture that its source lists: the enterprise's deploy hides the project's, and is loaded instead of it, whole.
func TestEnterpriseHidesProject(t *testing.T) {
	enterprise := disk(t, t.TempDir(), map[string]string{"deploy/SKILL.md": skillText("deploy", "priority: 0")})
	project := disk(t, t.TempDir(), map[string]string{"deploy/SKILL.md": skillText("deploy", "priority: 9\ntags: [mine]"), "deploy/references/a.md": "text"})
	layers := []Layer{{Name: "enterprise", Value: 4, Source: Dir(enterprise, nil)}, {Name: "project", Value: 2, Source: Dir(project, nil)}}
	for _, precedence := range []Precedence{PrecedenceLayer, PrecedencePriority} {
		c := opened(t, &Options{Layers: layers, Precedence: precedence})
		wantLines(t, "skills", states(c), "deploy enterprise:deploy enabled > project:deploy")
		s := loaded(t, c, "deploy")
		if files, err := s.Files(t.Context()); err != nil || len(files) != 1 || len(s.Manifest().Tags) > 0 {
			t.Errorf("%v, tags %q, %v", files, s.Manifest().Tags, err)
		}
	}
}

// R59, R60: layer*1000 + priority, and the first found where that ties.
func TestPriority(t *testing.T) {
	high := disk(t, t.TempDir(), map[string]string{"x/SKILL.md": "", "y/SKILL.md": ""})
	low := disk(t, t.TempDir(), map[string]string{"x/SKILL.md": "priority: 1001", "y/SKILL.md": "priority: 1000"})
	c := opened(t, &Options{Precedence: PrecedencePriority, Layers: []Layer{{Name: "project", Source: Dir(high, nil)}, {Name: "plugin", Source: Dir(low, nil)}}})
	wantLines(t, "skills", states(c), "x plugin:x enabled > project:x", "y project:y enabled > plugin:y")
}

// R59: a layer has the value that it is given, whatever lies between.
func TestPriorityOfValues(t *testing.T) {
	high := disk(t, t.TempDir(), map[string]string{"x/SKILL.md": ""})
	low := disk(t, t.TempDir(), map[string]string{"x/SKILL.md": "priority: 1001"})
	empty := Layer{Name: "claude", Source: Dir(t.TempDir(), nil), Value: 2}
	c := opened(t, &Options{Precedence: PrecedencePriority, Layers: []Layer{{Name: "project", Source: Dir(high, nil), Value: 2}, empty,
		{Name: "plugin", Source: Dir(low, nil), Value: 1}}})
	wantLines(t, "skills", states(c), "x plugin:x enabled > project:x")
}

// C17: a winner that is disabled, unavailable or broken still hides the others.
func TestShadowing(t *testing.T) {
	rows := map[string]string{"default_enabled: false": "disabled", "metadata:\n  requires: nothing-of-this-name": "unavailable", "allowed-tools: [": "broken"}
	for more, want := range rows {
		top := disk(t, t.TempDir(), map[string]string{"x/SKILL.md": more})
		if want == "broken" {
			disk(t, top, map[string]string{"x/SKILL.md": "---\n"})
		}
		low := disk(t, t.TempDir(), map[string]string{"x/SKILL.md": ""})
		c := opened(t, &Options{LookPath: func(string) (string, error) { return "", fs.ErrNotExist },
			Layers: []Layer{{Name: "a", Source: Dir(top, nil)}, {Name: "b", Source: Dir(low, nil)}}})
		got := states(c)
		if len(got) != 1 || !strings.HasPrefix(got[0], "x a:x "+want) || !strings.HasSuffix(got[0], " > b:x") {
			t.Errorf("%s: got %q", want, got)
		}
	}
}

// R53: two skills of one canonical name in one layer.
func TestDuplicates(t *testing.T) {
	root := disk(t, t.TempDir(), map[string]string{"b/My_Skill/SKILL.md": "", "a/my-skill/SKILL.md": "", "c/SKILL.md": ""})
	layers := []Layer{{Name: "user", Source: Dir(root, nil)}}
	c := opened(t, &Options{Layers: layers})
	wantLines(t, "override", states(c), "c user:c enabled", "my-skill user:a/my-skill enabled > user:b/My_Skill")
	if got := codes(c, root); !slices.Contains(got, "name-duplicate b/My_Skill/SKILL.md") {
		t.Errorf("problems: %q", got)
	}
	c = opened(t, &Options{Layers: layers, Duplicates: DuplicatesRefuse})
	wantLines(t, "refuse", states(c), "c user:c enabled",
		"my-skill user:a/my-skill broken: several skills of one layer have this name > user:b/My_Skill")
}

// R43, R46, R185: lookup by any spelling, and what comes near.
func TestLookup(t *testing.T) {
	root := disk(t, t.TempDir(), map[string]string{"kalshi-markets/SKILL.md": "", "hello-world/SKILL.md": "", "hello-extended/SKILL.md": "",
		"hello-secret/SKILL.md": "disable-model-invocation: true"})
	c := onDir(t, root)
	for _, name := range []string{"Kalshi-Markets", "kalshi_markets", " KALSHI_markets "} {
		if got := find(t, c, name).Name(); got != "kalshi-markets" {
			t.Errorf("%q: got %q", name, got)
		}
	}
	for name, want := range map[string]string{"kalshi": "kalshi-markets", "kalshi-markest": "kalshi-markets", "hello": "hello-extended hello-world", "zzz": "", "my-kalshi-markets-skill": "kalshi-markets"} {
		_, err := c.Lookup(name)
		var nf *NotFoundError
		if !errors.As(err, &nf) || strings.Join(nf.Suggest, " ") != want {
			t.Errorf("%q: got %v, want suggestions %q", name, err, want)
		}
	}
	for _, name := range []string{"../../../etc/passwd", "/absolute/path", "skill name with spaces", "", ".hidden", "..", "~", "__pycache__", "a/b"} {
		var ne *manifest.NameError
		if _, err := c.Lookup(name); !errors.As(err, &ne) {
			t.Errorf("%q: got %v, want a *NameError", name, err)
		}
	}
}

// C1: a Unicode name, which only the open standard's profile lets be, is found like any other.
func TestLookupUnicode(t *testing.T) {
	root := disk(t, t.TempDir(), map[string]string{"café/SKILL.md": "---\nname: café\ndescription: Makes coffee.\n---\n"})
	spec, err := manifest.ProfileNamed("spec")
	if err != nil {
		t.Fatal(err)
	}
	c, err := Open(t.Context(), &Options{Layers: []Layer{{Name: "one", Source: Dir(root, nil)}}, Profile: spec})
	if err != nil {
		t.Fatal(err)
	}
	if e, err := c.Lookup("Café"); err != nil || e.Name() != "café" {
		t.Errorf("got %q, %v, want café", e.Name(), err)
	}
}

// The rules of a layer hold for its skills alone, whatever those of the catalogue are.
func TestLayerProfile(t *testing.T) {
	root := disk(t, t.TempDir(), map[string]string{"café/SKILL.md": "---\nname: café\ndescription: Makes coffee.\n---\n"})
	spec, err := manifest.ProfileNamed("spec")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		own   *manifest.Profile
		found bool
	}{{spec, true}, {&manifest.Profile{Name: "wink"}, false}} {
		c, err := Open(t.Context(), &Options{Layers: []Layer{{Name: "one", Source: Dir(root, nil), Profile: tt.own}}})
		if err != nil {
			t.Fatal(err)
		}
		if e, err := c.Lookup("café"); (err == nil && e.State() == StateEnabled) != tt.found {
			t.Errorf("with the rules of %s: %v, %v", tt.own.Name, e, err)
		}
	}
}

// A merged source is one layer: the earlier source counts, and nothing is a duplicate.
func TestMerge(t *testing.T) {
	one := fstest.MapFS{"a/SKILL.md": {Data: []byte(skillText("a", ""))}, "b/SKILL.md": {Data: []byte(skillText("b", ""))}}
	two := disk(t, t.TempDir(), map[string]string{"b/SKILL.md": "", "c/SKILL.md": ""})
	source := Merge(FS(one, nil), Merge(Dir(two, nil)))
	c := opened(t, &Options{Layers: []Layer{{Name: "bundled", Source: source}}})
	wantLines(t, "skills", states(c), "a bundled:a enabled", "b bundled:b enabled > bundled:b", "c bundled:c enabled")
	wantLines(t, "problems", codes(c, ""))
	var got []string
	for f, err := range source.Skills(t.Context()) {
		if p, ok := err.(*manifest.Problem); ok {
			f.Path += " " + p.Code
		}
		got = append(got, f.Path)
	}
	wantLines(t, "the source itself", got, "a", "b", "b path-taken", "c")
	c = opened(t, &Options{Layers: []Layer{{Name: "bundled", Source: SourceFunc(source.Skills)}}})
	wantLines(t, "wrapped", states(c), "a bundled:a enabled", "b bundled:b enabled", "c bundled:c enabled")
	wantLines(t, "problems of the wrapped", codes(c, ""), "path-taken b")
}

// A source that somebody forgot is said, wherever it was to stand, and takes no other down.
func TestNilSource(t *testing.T) {
	sound := FS(fstest.MapFS{"a/SKILL.md": {Data: []byte(skillText("a", ""))}}, nil)
	for name, source := range map[string]Source{"Layer": nil, "Merge": Merge(nil, Merge(nil)), "FS": FS(nil, &FSOptions{Cache: "x"})} {
		c := opened(t, &Options{Layers: []Layer{{Name: "one", Source: source}, {Name: "two", Source: Merge(sound, source)}}})
		wantLines(t, name, states(c), "a two:a enabled")
		for _, p := range c.Problems() {
			if p.Code != "source-unreadable" || p.Fatal || !strings.Contains(p.Message, "the source is nil") || p.File != "one" && p.File != "two" {
				t.Errorf("%s: %v", name, p)
			}
		}
		if len(c.Problems()) < 2 {
			t.Errorf("%s: problems %v, want one of each layer", name, c.Problems())
		}
		refreshed(t, c, false)
		for range Merge(sound, source).Skills(t.Context()) {
			break
		}
	}
}

// A source of one's own, through the iterator alone, gives what Dir gives.
func TestOwnSource(t *testing.T) {
	root := disk(t, t.TempDir(), map[string]string{"a/SKILL.md": "priority: 3", "b/SKILL.md": "", "c/SKILL.md": "---\n", "d": "-> /etc", "g/e/SKILL.md": ""})
	want := onDir(t, root)
	got := opened(t, &Options{Layers: []Layer{{Name: "project", Source: SourceFunc(Dir(root, nil).Skills)}}})
	wantLines(t, "skills", states(got), states(want)...)
	if len(got.Problems()) != len(want.Problems()) {
		t.Errorf("problems: got %q, want %q", codes(got, root), codes(want, root))
	}
	if text := string(loaded(t, got, "e").Text()); text != skillText("e", "") {
		t.Errorf("text: %q", text)
	}
	if again, err := got.Refresh(t.Context()); again != got {
		t.Errorf("refresh gives another catalogue: %v", err)
	}
}

// The same input gives the same catalogue, in the same order.
func TestDeterministic(t *testing.T) {
	files := map[string]string{}
	for _, n := range strings.Fields("m c a z q b y x k d e f g h i j") {
		files[n+"/SKILL.md"] = "bogus: " + n
	}
	root := disk(t, t.TempDir(), files)
	first := onDir(t, root)
	for range 10 {
		c := onDir(t, root)
		wantLines(t, "skills", states(c), states(first)...)
		wantLines(t, "problems", codes(c, root), codes(first, root)...)
	}
	if !slices.IsSorted(states(first)) || !slices.IsSorted(codes(first, root)) {
		t.Errorf("not sorted: %q", states(first))
	}
}

// Security 2.1 #17: of two skills of one name in one root the one counts whose folder is called so, wherever the
// other's path comes in the order; between two that are called otherwise the first path counts (C16).
func TestFolderOwnsItsName(t *testing.T) {
	root := disk(t, t.TempDir(), map[string]string{"aaa/SKILL.md": "name: good", "good/SKILL.md": "name: good", "b/SKILL.md": "name: other", "c/SKILL.md": "name: other"})
	c := opened(t, &Options{Layers: []Layer{{Name: "user", Source: Dir(root, nil)}}})
	for name, want := range map[string]string{"good": "good", "other": "b"} {
		if got := find(t, c, name).Path(); got != want {
			t.Errorf("%s comes from %q, want %q", name, got, want)
		}
	}
}
