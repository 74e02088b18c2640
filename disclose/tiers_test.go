package disclose

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/agent-base/agent-base/skill"
)

// onDisk writes skills below a new directory and returns it.
func onDisk(t testing.TB, files map[string]string) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// R89 R90 C47 C50 C51: what each tier says. The list is Catalog, a skill in full Skill.Text, its files Skill.Files and one of
// them Skill.ReadFile.
func TestTiers(t *testing.T) {
	text := file{name: "pdf", body: "# Body"}.text()
	root := onDisk(t, map[string]string{
		"pdf/SKILL.md": text, "pdf/scripts/run.py": "print(1)\n", "pdf/references/a.md": "A", "pdf/references/b.md": "B",
		"csv/SKILL.md": file{name: "csv"}.text(),
	})
	c := open(t, skill.Layer{Name: "project", Source: skill.Dir(root, nil)})
	if got := render(t, c, nil).Body; !strings.Contains(got, "<location>"+root+"/pdf/SKILL.md</location>") {
		t.Errorf("tier 1: got %q", got)
	}
	e, err := c.Lookup("PDF")
	if err != nil {
		t.Fatal(err)
	}
	s, err := e.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if got := string(s.Text()); got != text {
		t.Errorf("tier 2: got %q", got)
	}
	files, err := s.Files(t.Context())
	var paths []string
	for _, f := range files {
		paths = append(paths, f.Path)
	}
	if want := []string{"SKILL.md", "references/a.md", "references/b.md", "scripts/run.py"}; err != nil || !slices.Equal(paths, want) {
		t.Errorf("tier 3 list: got %q, %v", paths, err)
	}
	if got, err := s.ReadFile("scripts/run.py"); err != nil || string(got) != "print(1)\n" {
		t.Errorf("tier 3 of a script: got %q, %v", got, err)
	}
	for _, path := range []string{"../csv/SKILL.md", "/etc/passwd", "scripts/../../csv/SKILL.md", "no.md"} {
		if got, err := s.ReadFile(path); err == nil {
			t.Errorf("%q: got %q and no error", path, got)
		}
	}
	var missing *skill.NotFoundError
	if _, err := c.Lookup("docx"); !errors.As(err, &missing) {
		t.Errorf("got %v, want a *skill.NotFoundError", err)
	}
	if got := render(t, catalog(t), nil).Body; got != "" {
		t.Errorf("no skills: got %q", got)
	}
}

// What a model may not see is in no list and cannot be opened by name.
func TestHiddenSkills(t *testing.T) {
	c := catalog(t, file{name: "open"}, file{name: "secret", front: "disable-model-invocation: true\n"}, file{name: "off", front: "default_enabled: false\n"})
	for _, s := range Styles() {
		if body := render(t, c, &Options{Style: s}).Body; strings.Contains(body, "secret") || strings.Contains(body, "off") {
			t.Errorf("%s: got:\n%s", s, body)
		}
	}
	x := NewIndex(c)
	for _, name := range []string{"secret", "off"} {
		if got := matchNames(x.Match("use "+name, nil)) + hitNames(x.Search(name, 9)); got != "" {
			t.Errorf("%s: found %q", name, got)
		}
	}
}

// R189 R54 R87 R91: two roots, each with its mount and its globs, in one text that a plain host with
// read and shell can follow.
func TestTwoMounts(t *testing.T) {
	org := onDisk(t, map[string]string{
		"security-review/SKILL.md": file{name: "security-review"}.text(), "python-style/SKILL.md": file{name: "python-style"}.text(),
		"csv-old-deprecated/SKILL.md": file{name: "csv-old-deprecated"}.text(),
	})
	project := onDisk(t, map[string]string{"csv-load/SKILL.md": file{name: "csv-load"}.text(), "json-diff/SKILL.md": file{name: "json-diff"}.text()})
	layers := []skill.Layer{
		{Name: "project", Mount: "skills/project", Source: skill.Dir(project, nil)},
		{Name: "enterprise", Mount: "skills/org", Source: skill.Dir(org, nil)},
	}
	rows := []struct {
		name        string
		allow, deny []string
		want        []string
	}{
		{"all", nil, nil, []string{"skills/project/csv-load", "skills/org/csv-old-deprecated", "skills/project/json-diff", "skills/org/python-style", "skills/org/security-review"}},
		{"story 1", []string{"security-*", "python-*"}, nil, []string{"skills/org/python-style", "skills/org/security-review"}},
		{"story 3", []string{"csv-*", "json-*", "parquet-*"}, []string{"*-deprecated"}, []string{"skills/project/csv-load", "skills/project/json-diff"}},
	}
	workspace := map[string]string{"skills/org/": org, "skills/project/": project}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			c, err := skill.Open(t.Context(), &skill.Options{Layers: layers, Allow: r.allow, Deny: r.deny})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, line := range strings.Split(render(t, c, &Options{Style: Wink}).Body, "\n") {
				if s, ok := strings.CutPrefix(line, "    <location>"); ok {
					got = append(got, strings.TrimSuffix(s, "</location>"))
				}
			}
			if !slices.Equal(got, r.want) {
				t.Errorf("got %q, want %q", got, r.want)
			}
			for _, l := range got {
				for mount, root := range workspace {
					if dir, ok := strings.CutPrefix(l, mount); ok {
						if _, err := os.Stat(filepath.Join(root, dir, "SKILL.md")); err != nil {
							t.Errorf("a plain host finds no SKILL.md at %q: %v", l, err)
						}
					}
				}
			}
		})
	}
}

// Format of to-prompt in the reference library, and its four cases.
func TestSkillsRefVectors(t *testing.T) {
	root := onDisk(t, map[string]string{
		"my-skill/SKILL.md": file{name: "my-skill", desc: "A test skill"}.text(),
		"other/SKILL.md":    "---\nname: other\ndescription: |\n  Use <foo> & <bar> \"tags\"\n  it's two lines\n---\nBody\n",
	})
	c := open(t, skill.Layer{Name: "project", Source: skill.Dir(root, nil)})
	want := "<available_skills>\n<skill>\n<name>\nmy-skill\n</name>\n<description>\nA test skill\n</description>\n<location>\n" + root +
		"/my-skill/SKILL.md\n</location>\n</skill>\n<skill>\n<name>\nother\n</name>\n<description>\n" +
		"Use &lt;foo&gt; &amp; &lt;bar&gt; &quot;tags&quot;\nit&#x27;s two lines\n</description>\n<location>\n" + root +
		"/other/SKILL.md\n</location>\n</skill>\n</available_skills>"
	if got := render(t, c, &Options{Style: SkillsRef}).Body; got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	if got, want := render(t, catalog(t), &Options{Style: SkillsRef}).Body, "<available_skills>\n</available_skills>"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	// F13: the location is escaped, but only where it would break the XML.
	odd := onDisk(t, map[string]string{"a&b's <c>/one/SKILL.md": file{name: "one"}.text()})
	c = open(t, skill.Layer{Name: "project", Source: skill.Dir(filepath.Join(odd, "a&b's <c>"), nil)})
	if got, want := render(t, c, &Options{Style: SkillsRef}).Body, "\n"+odd+"/a&amp;b's &lt;c&gt;/one/SKILL.md\n"; !strings.Contains(got, want) {
		t.Errorf("no %q in:\n%s", want, got)
	}
}

// F15, security 2.10 #148, #152: no model is shown more of a description than the specification allows, and the cut is reported once.
func TestLongDescriptions(t *testing.T) {
	long := strings.Repeat("word ", 7000) + "end"
	c := catalog(t, file{name: "a", desc: long}, file{name: "b", front: fmt.Sprintf("when_to_use: %q\n", long)}, file{name: "c"}, file{name: "d", desc: strings.Repeat("é", 1024)})
	for _, s := range Styles() {
		got := render(t, c, &Options{Style: s})
		if n := utf8.RuneCountInString(got.Body); n > 5000+len(toolHead)+len(toolTail) {
			t.Errorf("%s: %d characters", s, n)
		}
		var want []Cut
		if styleOf(s).shows == showsDescription {
			want = []Cut{{"a", Shortened}, {"b", Shortened}}
			if s == SkillsRef {
				want = want[:1] // it does not show when_to_use
			}
		}
		if !slices.Equal(got.Cut, want) {
			t.Errorf("%s: cut %v, want %v", s, got.Cut, want)
		}
	}
	if got := render(t, c, &Options{Budget: 250}).Cut; !slices.Equal(got, []Cut{{"a", Shortened}, {"b", Shortened}, {"d", Shortened}}) {
		t.Errorf("with a budget: cut %v", got)
	}
	if got := render(t, c, &Options{MaxSkills: 1}).Cut; !slices.Equal(got, []Cut{{"a", Shortened}, {"b", LeftOut}, {"c", LeftOut}, {"d", LeftOut}}) {
		t.Errorf("with a limit: cut %v", got)
	}
}

// C71: what a list without a query keeps: priority, then recent use, then the layer, then the name.
func TestCutListKeeps(t *testing.T) {
	project := memory(file{name: "d"}, file{name: "c"}, file{name: "low", front: "priority: -1\n"})
	bundled := memory(file{name: "a"}, file{name: "b"}, file{name: "used"}, file{name: "later"}, file{name: "top", front: "priority: 3\n"})
	c := open(t, skill.Layer{Name: "project", Source: skill.FS(project, nil)},
		skill.Layer{Name: "bundled", Source: skill.FS(bundled, nil), Trust: skill.TrustBundled})
	order := []string{"top", "later", "used", "c", "d", "a", "b", "low"}
	for n := 1; n < len(order); n++ {
		text := render(t, c, &Options{Style: WinkNames, MaxSkills: n, Recent: []string{"Later", "used", "gone"}})
		want := slices.Sorted(slices.Values(order[:n]))
		var got []string
		for _, s := range text.Skills {
			got = append(got, s.Name)
		}
		if !slices.Equal(got, want) {
			t.Errorf("of %d: got %q, want %q", n, got, want)
		}
	}
}

// C71 C41: if not even all names fit, the skills that are shown have descriptions.
func TestCutListDescribes(t *testing.T) {
	text := render(t, catalog(t, synthetic(500)...), &Options{Style: Harness, Budget: 1000})
	if len(text.Skills) < 10 || text.Tokens > 1000 || strings.Count(text.Body, "<description>") != len(text.Skills) {
		t.Errorf("%d skills, %d tokens:\n%s", len(text.Skills), text.Tokens, text.Body)
	}
	if want := fmt.Sprintf("%d more skills: search with ", 500-len(text.Skills)); !strings.Contains(text.Body, want) {
		t.Errorf("no %q in:\n%s", want, text.Body)
	}
}

// C71: a ranked list keeps its order, is cut at its end, and counts what it was not given.
func TestRankedList(t *testing.T) {
	c := catalog(t, file{name: "a", front: "priority: 9\n"}, file{name: "b"}, file{name: "c"})
	var entries []skill.Entry
	for _, name := range []string{"c", "b", "a"} {
		e, err := c.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, e)
	}
	got := render(t, c, &Options{Style: Markdown, Entries: entries, Ranked: true, More: 7, MaxSkills: 2, Search: "x"}).Body
	if want := "- c: Does c.\n- b: Does b.\n8 more skills: search with x"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
