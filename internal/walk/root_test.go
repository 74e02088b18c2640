package walk

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// put writes files below a folder: a path that ends in "/" is a folder, a text "-> x" a link.
func put(t testing.TB, root string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		p := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		if target, ok := strings.CutPrefix(text, "-> "); ok {
			err = os.Symlink(target, p)
		} else if strings.HasSuffix(name, "/") {
			err = os.MkdirAll(p, 0o755)
		} else {
			err = os.WriteFile(p, []byte(text), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// collect gathers what a walk says, one line for each item and note.
type collect struct {
	mu    sync.Mutex
	known map[string]Stamp
	lines []string
	stamp map[string]Stamp
	reads int
}

func (c *collect) Begin(dirs []string) []Stamp {
	out := make([]Stamp, len(dirs))
	for i, d := range dirs {
		out[i] = c.known[d]
	}
	return out
}

func (c *collect) Visit(_, _ int, it *Item) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stamp[it.Dir] = it.Stamp
	line := it.Dir + " " + it.File + " " + class(it.Err)
	if it.Err == nil && !it.Same {
		line += fmt.Sprintf(" %q", it.Data)
		c.reads++
	}
	if it.Same {
		line += " same"
	}
	c.lines = append(c.lines, line)
}

func class(err error) string {
	for _, e := range []error{ErrNotRegular, ErrTooBig, ErrLeaves, ErrDenied} {
		if errors.Is(err, e) {
			return e.Error()
		}
	}
	if err != nil {
		return "error"
	}
	return "ok"
}

// walked scans a folder with both backends and returns what they agree on.
func walked(t testing.TB, root string, o Options, known map[string]Stamp) *collect {
	t.Helper()
	if o.MaxSize == 0 {
		o.MaxSize = 1 << 20
	}
	var got [2]*collect
	for i, portable := range []bool{false, true} {
		o.Portable = portable
		c := &collect{known: known, stamp: map[string]Stamp{}}
		r, err := Open(root, &o)
		if err != nil {
			t.Fatal(err)
		}
		notes, err := r.Walk(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		r.Close()
		slices.Sort(c.lines)
		for _, n := range notes {
			c.lines = append(c.lines, fmt.Sprintf("note %d %s: %v", n.Kind, n.Path, n.Err))
		}
		got[i] = c
	}
	if !slices.Equal(got[0].lines, got[1].lines) {
		t.Errorf("backends differ:\nfast:     %s\nportable: %s", strings.Join(got[0].lines, "\n  "), strings.Join(got[1].lines, "\n  "))
	}
	return got[0]
}

func check(t *testing.T, got *collect, want ...string) {
	t.Helper()
	if !slices.Equal(got.lines, want) {
		t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got.lines, "\n  "), strings.Join(want, "\n  "))
	}
}

// C72: what is below a root with a manifest is found again when nothing was changed, and when only the finding is wanted.
func TestCollectionAgain(t *testing.T) {
	root := t.TempDir()
	put(t, root, map[string]string{"SKILL.md": "x", "a/SKILL.md": "y"})
	o := Options{Nested: true}
	first := walked(t, root, o, nil)
	check(t, walked(t, root, o, first.stamp), ". SKILL.md ok same", "a SKILL.md ok same")
	o.Bare = true
	check(t, walked(t, root, o, nil), `. SKILL.md ok ""`, `a SKILL.md ok ""`)
}

func TestWalk(t *testing.T) {
	rows := []struct {
		name  string
		o     Options
		files map[string]string
		want  []string
	}{
		{"R52: only folders that hold a manifest", Options{},
			map[string]string{"a/SKILL.md": "x", "b/README.md": "", "c.md": "", "d/": ""},
			[]string{`a SKILL.md ok "x"`}},
		{"R62: only direct children where not nested", Options{},
			map[string]string{"a/SKILL.md": "x", "g/b/SKILL.md": "y"},
			[]string{`a SKILL.md ok "x"`}},
		{"R55: nested", Options{Nested: true},
			map[string]string{"a/SKILL.md": "x", "g/b/SKILL.md": "y", "g/h/c/SKILL.md": "z"},
			[]string{`a SKILL.md ok "x"`, `g/b SKILL.md ok "y"`, `g/h/c SKILL.md ok "z"`}},
		{"a SKILL.md below a skill is a file of it", Options{Nested: true},
			map[string]string{"a/SKILL.md": "x", "a/examples/b/SKILL.md": "y"},
			[]string{`a SKILL.md ok "x"`}},
		{"C72: a SKILL.md below a skill is mentioned if asked for", Options{Nested: true, Inside: true},
			map[string]string{"a/SKILL.md": "x", "a/examples/b/skill.md": "y", "a/examples/b/c/SKILL.md": "z", "a/.git/SKILL.md": "", "b/c/SKILL.md": "-> ../../a/SKILL.md"},
			[]string{`a SKILL.md ok "x"`, `note 4 a/examples/b: its SKILL.md is a file of the skill in "a"`, `note 4 a/examples/b/c: its SKILL.md is a file of the skill in "a"`}},
		{"C72: a root that has a manifest holds skills, except in the folders of its own skill", Options{Nested: true, Inside: true},
			map[string]string{"SKILL.md": "x", "a/SKILL.md": "y", "g/b/SKILL.md": "z", "g/b/c/SKILL.md": "", "references/d/SKILL.md": "", "g/assets/e/SKILL.md": "e", "link": "-> ../nowhere"},
			[]string{`. SKILL.md ok "x"`, `a SKILL.md ok "y"`, `g/assets/e SKILL.md ok "e"`, `g/b SKILL.md ok "z"`,
				`note 4 g/b/c: its SKILL.md is a file of the skill in "g/b"`, `note 4 references/d: its SKILL.md is a file of the skill in "."`}},
		{"C72: so does a folder called skills", Options{Nested: true, Inside: true},
			map[string]string{"skills/SKILL.md": "x", "skills/a/SKILL.md": "y", "skills/examples/b/SKILL.md": "", "skills/.curated/c/SKILL.md": "z", "k/SKILL.md": "k", "k/skills/d/SKILL.md": ""},
			[]string{`k SKILL.md ok "k"`, `skills SKILL.md ok "x"`, `skills/.curated/c SKILL.md ok "z"`, `skills/a SKILL.md ok "y"`,
				`note 4 k/skills/d: its SKILL.md is a file of the skill in "k"`, `note 4 skills/examples/b: its SKILL.md is a file of the skill in "skills"`}},
		{"C72: a SKILL.md in a hidden folder that is not searched is mentioned if asked for", Options{Nested: true, Inside: true},
			map[string]string{".x/skills/a/SKILL.md": "", ".x/skills/a/b/SKILL.md": "", "g/.y/SKILL.md": "", "g/.claude/skills/c/SKILL.md": "c", "k/SKILL.md": "k", "k/.z/1/SKILL.md": "",
				".git/b/SKILL.md": "", ".x/node_modules/d/SKILL.md": "", ".deep/1/2/3/4/SKILL.md": "", ".deep/1/2/3/5/6/SKILL.md": ""},
			[]string{`g/.claude/skills/c SKILL.md ok "c"`, `k SKILL.md ok "k"`,
				`note 5 .deep/1/2/3/4: its SKILL.md lies in the hidden folder ".deep", which is not searched`,
				`note 5 .x/skills/a: its SKILL.md lies in the hidden folder ".x", which is not searched`,
				`note 5 g/.y: its SKILL.md lies in the hidden folder "g/.y", which is not searched`,
				`note 5 k/.z/1: its SKILL.md lies in the hidden folder "k/.z", which is not searched`}},
		{"a root that has a manifest, direct children alone", Options{Inside: true},
			map[string]string{"SKILL.md": "x", "a/SKILL.md": "y", "assets/b/SKILL.md": "", "g/c/SKILL.md": ""},
			[]string{`. SKILL.md ok "x"`, `a SKILL.md ok "y"`, `note 4 assets/b: its SKILL.md is a file of the skill in "."`}},
		{"dot folders and node_modules are left out", Options{Nested: true},
			map[string]string{".git/a/SKILL.md": "x", ".x/SKILL.md": "x", "node_modules/SKILL.md": "x", "g/.git/SKILL.md": "x", "g/node_modules/b/SKILL.md": "x"},
			nil},
		{"skill.md counts where there is no SKILL.md", Options{},
			map[string]string{"a/skill.md": "x", "c/skill.md": "low", "c/SKILL.md": "up"},
			[]string{`a skill.md ok "x"`, `c SKILL.md ok "up"`}},
		{"C72: a manifest in another case is reported", Options{Nested: true},
			map[string]string{"a/Skill.md": "x", "b/skill.MD": "x", "c/SKILL.MD": "x", "c/SKILL.md": "y", "d/Skill.mdx": "", "e/Skill.md/": "", "f/SKILLS.md": ""},
			[]string{`c SKILL.md ok "y"`, `note 3 a/Skill.md: "Skill.md" is not read: a manifest is called SKILL.md`, `note 3 b/skill.MD: "skill.MD" is not read: a manifest is called SKILL.md`}},
		{"C72: in the root", Options{Nested: true},
			map[string]string{"Skill.md": "x", "a/SKILL.md": "y"},
			[]string{`a SKILL.md ok "y"`, `note 3 Skill.md: "Skill.md" is not read: a manifest is called SKILL.md`}},
		{"C72: hidden folders of hosts are searched", Options{Nested: true},
			map[string]string{".agents/skills/a/SKILL.md": "1", ".claude/b/SKILL.md": "2", "g/.github/skills/c/SKILL.md": "3", ".vscode/d/SKILL.md": "4", ".git/SKILL.md": "5"},
			[]string{`.agents/skills/a SKILL.md ok "1"`, `.claude/b SKILL.md ok "2"`, `g/.github/skills/c SKILL.md ok "3"`}},
		{"C72: collections are searched in a folder called skills", Options{Nested: true},
			map[string]string{"skills/.curated/a/SKILL.md": "1", "skills/.system/b/SKILL.md": "2", "skills/.experimental/c/SKILL.md": "3", ".curated/d/SKILL.md": "4", "x/.system/e/SKILL.md": "5"},
			[]string{`skills/.curated/a SKILL.md ok "1"`, `skills/.experimental/c SKILL.md ok "3"`, `skills/.system/b SKILL.md ok "2"`}},
		{"R62: no hidden folder where not nested", Options{},
			map[string]string{".claude/SKILL.md": "1", ".agents/a/SKILL.md": "2"},
			nil},
		{"a folder called SKILL.md", Options{Nested: true},
			map[string]string{"a/SKILL.md/": ""},
			[]string{"a SKILL.md not a regular file"}},
		{"a manifest over the limit", Options{MaxSize: 3},
			map[string]string{"a/SKILL.md": "1234", "b/SKILL.md": "123"},
			[]string{"a SKILL.md file is too big", `b SKILL.md ok "123"`}},
		{"R47: a manifest link inside the root", Options{},
			map[string]string{"a/SKILL.md": "-> ../.store/SKILL.md", ".store/SKILL.md": "x"},
			[]string{`a SKILL.md ok "x"`}},
		{"C72: a manifest link to a manifest that is read anyway", Options{Nested: true},
			map[string]string{"a/SKILL.md": "-> ../g/b/SKILL.md", "g/b/SKILL.md": "x"},
			[]string{`g/b SKILL.md ok "x"`}},
		{"a manifest link to a file of another name", Options{Nested: true},
			map[string]string{"a/SKILL.md": "-> ../g/README.md", "g/README.md": "x"},
			[]string{`a SKILL.md ok "x"`}},
		{"a manifest link to the file of the other name next to it", Options{Nested: true},
			map[string]string{"a/SKILL.md": "-> skill.md", "a/skill.md": "x"},
			[]string{`a SKILL.md ok "x"`}},
		{"a manifest link to a file of a skill", Options{Nested: true},
			map[string]string{"a/SKILL.md": "-> ../b/x/SKILL.md", "b/SKILL.md": "y", "b/x/SKILL.md": "x"},
			[]string{`a SKILL.md ok "x"`, `b SKILL.md ok "y"`}},
		{"a manifest link behind a folder link", Options{Nested: true},
			map[string]string{".store/a/SKILL.md": "-> ../../b/SKILL.md", ".store/c/SKILL.md": "-> ../x.md", ".store/x.md": "x", "b/SKILL.md": "y", "all": "-> .store"},
			[]string{`all/c SKILL.md ok "x"`, `b SKILL.md ok "y"`}},
		{"the root's manifest is a link", Options{Nested: true},
			map[string]string{"SKILL.md": "-> a/SKILL.md", "a/SKILL.md": "x"},
			[]string{`a SKILL.md ok "x"`}},
		{"R48: a manifest link out of the root", Options{},
			map[string]string{"a/SKILL.md": "-> /etc/passwd"},
			[]string{"a SKILL.md symbolic link leads out of the skills folder"}},
		{"C38 deny: a manifest link", Options{Links: Deny},
			map[string]string{"a/SKILL.md": "-> ../b/SKILL.md", "b/SKILL.md": "x"},
			[]string{"a SKILL.md symbolic links are not followed here", `b SKILL.md ok "x"`}},
		{"C38: a folder link inside the root, to what is found anyway", Options{Nested: true},
			map[string]string{"a/SKILL.md": "x", "b": "-> a"},
			[]string{`a SKILL.md ok "x"`}},
		{"C38: a folder link to what is not found otherwise, twice", Options{Nested: true},
			map[string]string{".store/a/SKILL.md": "x", "b": "-> .store/a", "c": "-> .store/a"},
			[]string{`b SKILL.md ok "x"`}},
		{"a folder link to a group of skills", Options{Nested: true},
			map[string]string{".store/a/SKILL.md": "x", ".store/b/SKILL.md": "y", "all": "-> .store"},
			[]string{`all/a SKILL.md ok "x"`, `all/b SKILL.md ok "y"`}},
		{"security 2.3 #42: a folder link out of the root", Options{Nested: true},
			map[string]string{"a": "-> /etc", "g/b": "-> /etc"},
			[]string{`note 0 a: symbolic link leads out of the skills folder, to "/etc"`, `note 0 g/b: symbolic link leads out of the skills folder, to "/etc"`}},
		{"C38 deny: a folder link", Options{Links: Deny},
			map[string]string{"a/SKILL.md": "x", "b": "-> a"},
			[]string{`a SKILL.md ok "x"`, "note 0 b: symbolic links are not followed here"}},
		{"a link to a file is ignored", Options{Nested: true},
			map[string]string{"README.md": "-> /etc/passwd", "x": "-> .f", ".f": ""},
			nil},
		{"a broken link is reported", Options{Nested: true},
			map[string]string{"a": "-> nowhere", "b/SKILL.md": "x"},
			[]string{`b SKILL.md ok "x"`, "note 0 a: symbolic link leads nowhere"}},
		{"security 2.3 #38: loops", Options{Nested: true},
			map[string]string{"loop": "-> .", "self": "-> self", "g/up": "-> ..", "g/a/SKILL.md": "x"},
			[]string{`g/a SKILL.md ok "x"`, "note 0 g/up: symbolic link leads back to a folder that holds it",
				"note 0 loop: symbolic link leads back to a folder that holds it", "note 0 self: symbolic link cannot be followed: too many links"}},
		{"C72: depth 10 is found, depth 11 is noted", Options{Nested: true},
			map[string]string{"1/2/3/4/5/6/7/8/9/10/SKILL.md": "x", "a/2/3/4/5/6/7/8/9/10/11/SKILL.md": "y"},
			[]string{`1/2/3/4/5/6/7/8/9/10 SKILL.md ok "x"`, "note 1 a/2/3/4/5/6/7/8/9/10/11: not searched, because more than 10 levels deep"}},
		{"C72: what is too deep is counted and named once", Options{Nested: true},
			map[string]string{"1/2/3/4/5/6/7/8/9/10/a/": "", "1/2/3/4/5/6/7/8/9/10/b/x/": "", "1/2/3/4/5/6/7/8/9/10/c/": "", "1/2/3/4/5/6/7/8/9/10/d/": "", "g/2/3/4/5/6/7/8/9/10/e/": ""},
			[]string{"note 1 1/2/3/4/5/6/7/8/9/10/a: not searched, because more than 10 levels deep: 1/2/3/4/5/6/7/8/9/10/a, 1/2/3/4/5/6/7/8/9/10/b, 1/2/3/4/5/6/7/8/9/10/c and 2 more"}},
		{"the number of folders is bounded below the children alone", Options{Nested: true, MaxDirs: 2},
			map[string]string{"a/SKILL.md": "", "b/SKILL.md": "", "c/SKILL.md": "", "g/1/SKILL.md": "", "g/2/SKILL.md": "", "g/3/SKILL.md": ""},
			[]string{`a SKILL.md ok ""`, `b SKILL.md ok ""`, `c SKILL.md ok ""`, `g/1 SKILL.md ok ""`, `g/2 SKILL.md ok ""`,
				"note 1 g/3: not searched, because there are more than 2 folders below the first level"}},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			root := t.TempDir()
			put(t, root, r.files)
			check(t, walked(t, root, r.o, nil), r.want...)
		})
	}
}

// C38: a link into an allowed folder is followed, and one next to that folder is not.
func TestAllowedRoot(t *testing.T) {
	base := t.TempDir()
	put(t, base, map[string]string{"company/a/SKILL.md": "x", "company-private/b/SKILL.md": "y",
		"root/one": "-> ../company/a", "root/all": "-> ../company", "root/no": "-> ../company-private/b"})
	got := walked(t, filepath.Join(base, "root"), Options{Nested: true, Allow: []string{filepath.Join(base, "company")}}, nil)
	check(t, got, `all/a SKILL.md ok "x"`,
		fmt.Sprintf("note 0 no: symbolic link leads out of the skills folder, to %q", filepath.Join(base, "company-private/b")))
}

// security 2.3: links are followed up to a number of them, by path, and one note says where it stops.
func TestLinksAreBounded(t *testing.T) {
	root := t.TempDir()
	put(t, root, map[string]string{"z/SKILL.md": "x"})
	for i := range MaxLinks + 50 {
		if err := os.Symlink("nowhere", filepath.Join(root, fmt.Sprintf("k%04d", i))); err != nil {
			t.Fatal(err)
		}
	}
	put(t, root, map[string]string{"a": "-> z", "zz": "-> z"})
	got := walked(t, root, Options{}, nil)
	followed, stops := 0, ""
	for _, l := range got.lines {
		if strings.HasSuffix(l, "symbolic link leads nowhere") {
			followed++
		} else if strings.HasPrefix(l, "note") {
			stops += l + "; "
		}
	}
	if want := fmt.Sprintf("note %d k%04d: not followed, because there are more than %d symbolic links: k0999, k1000, k1001 and 49 more; ", Bound, MaxLinks-1, MaxLinks); followed != MaxLinks-1 || stops != want {
		t.Errorf("%d links are followed in addition to the first, want %d; %s", followed, MaxLinks-1, stops)
	}
	if got.lines[0] != `z SKILL.md ok "x"` {
		t.Errorf("the skill next to them: %s", got.lines[0])
	}
}

// security 2.2 #29, IX3: the longest names are read, and none is cut.
func TestLongNames(t *testing.T) {
	root := t.TempDir()
	long := strings.Repeat("n", 255)
	put(t, root, map[string]string{long + "/SKILL.md": "x", long + "/" + "unused": ""})
	deep := strings.Repeat(long+"/", 5)
	put(t, root, map[string]string{"g/" + deep + "SKILL.md": "y"})
	check(t, walked(t, root, Options{Nested: true}, nil), "g/"+strings.TrimSuffix(deep, "/")+` SKILL.md ok "y"`, long+` SKILL.md ok "x"`)
}

// IX2: reading goes on until there is enough, over any number of blocks.
func TestEnough(t *testing.T) {
	root := t.TempDir()
	text := strings.Repeat("a", 9000) + "END" + strings.Repeat("b", 50_000)
	put(t, root, map[string]string{"a/SKILL.md": text})
	o := Options{Enough: func(b []byte) bool { return strings.Contains(string(b), "END") }}
	got := walked(t, root, o, nil).lines[0]
	if !strings.Contains(got, "END") || len(got) > 20_000 {
		t.Errorf("read %d bytes, want the first blocks up to END", len(got))
	}
}

// R67: what is known is not read again, and whatever changed is.
func TestKnown(t *testing.T) {
	root := t.TempDir()
	put(t, root, map[string]string{"a/SKILL.md": "one", "b/SKILL.md": "two"})
	known := walked(t, root, Options{}, nil).stamp
	check(t, walked(t, root, Options{}, known), "a SKILL.md ok same", "b SKILL.md ok same")

	p := filepath.Join(root, "a", "SKILL.md")
	info, err := os.Stat(p)
	if err != nil {
		t.Fatal(err)
	}
	put(t, root, map[string]string{"a/SKILL.md": "eno"})
	if err := os.Chtimes(p, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	check(t, walked(t, root, Options{}, known), `a SKILL.md ok "eno"`, "b SKILL.md ok same")
}

// security 2.3 #34: an open folder stays the one it is.
func TestFolderStays(t *testing.T) {
	for _, portable := range []bool{false, true} {
		root := t.TempDir()
		put(t, root, map[string]string{"a/SKILL.md": "old", "b/SKILL.md": "new", "a/f": "old file", "b/f": "new file"})
		r, err := Open(root, &Options{MaxSize: 100, Portable: portable})
		if err != nil {
			t.Fatal(err)
		}
		f, err := r.Folder("a")
		if err != nil {
			t.Fatal(err)
		}
		for _, mv := range [][2]string{{"a", "c"}, {"b", "a"}} {
			if err := os.Rename(filepath.Join(root, mv[0]), filepath.Join(root, mv[1])); err != nil {
				t.Fatal(err)
			}
		}
		text, _, err := f.Manifest(Manifest)
		if string(text) != "old" || err != nil {
			t.Errorf("got %q %v, want the old text", text, err)
		}
		held, err := f.Root()
		if err != nil {
			t.Fatal(err)
		}
		if text, err := held.ReadFile("f"); string(text) != "old file" {
			t.Errorf("got %q %v, want the old file", text, err)
		}
		held.Close()
		f.Close()
		r.Close()
	}
}

// security 2.3 #33, #42: what is swapped for a link between listing and opening leads nowhere.
func TestFolderSwappedForLink(t *testing.T) {
	for _, portable := range []bool{false, true} {
		root, secret := t.TempDir(), t.TempDir()
		put(t, secret, map[string]string{"SKILL.md": "secret"})
		put(t, root, map[string]string{"a": "-> " + secret})
		r, err := Open(root, &Options{MaxSize: 100, Portable: portable})
		if err != nil {
			t.Fatal(err)
		}
		if f, err := r.Folder("a"); !errors.Is(err, ErrLeaves) {
			t.Errorf("got %v, %v, want %v", f, err, ErrLeaves)
		}
		r.Close()
	}
}
