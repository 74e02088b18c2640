//go:build unix

package attack

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func front(lines ...string) string {
	return "---\nname: evil\ndescription: Does harm.\n" + strings.Join(lines, "\n") + "\n---\nBody\n"
}

// hostileManifest is one hostile SKILL.md.
type hostileManifest struct {
	name, src string
	broken    bool
	want      string // one of the problems, or "" for none
}

func hostileManifests() []hostileManifest {
	return []hostileManifest{
		{"front matter over 64 KiB", front("x: " + strings.Repeat("y", 65<<10)), true, "frontmatter-size 1:1"},
		{"80,000 keys", "---\n" + keys(80_000) + "---\n", true, "frontmatter-size 1:1"},
		{"never closed", "---\n" + strings.Repeat("k: v\n", 15_000), true, "frontmatter-size 1:1"},
		{"as many keys as fit", front(keys(4_000)), false, "fields-many 2:1"},
		{"more keys than are read", front(keys(6_000)), true, "frontmatter-values 1:1"},
		{"wide and deep", front("a: " + strings.Repeat("[", 15) + strings.Repeat("a,", 30_000) + strings.Repeat("]", 15)), true, "frontmatter-values 1:1"},
		{"quadratic alias", front("a: &a "+strings.Repeat("x", 30_000), "b: ["+strings.Repeat("*a,", 4_000)+"*a]"), false, "yaml-anchor 4:4"},
		{"merge key", front("<<: {license: x}"), false, "yaml-anchor 4:1"},
		{"self alias", front("a: &a [*a]"), false, "yaml-anchor 4:4"},
		{"deep lists", front("a: " + strings.Repeat("[", 4_000)), false, "yaml-depth 4:260"},
		{"deep maps", front("a: " + strings.Repeat("{a: ", 2_000)), false, "yaml-depth 4:1028"},
		{"deep blocks", front(deepBlocks(150)), false, "yaml-depth 20:17"},
		{"two documents", front("...", "license: x"), false, "yaml-document 4:1"},
		{"a Python tag", front("license: !!python/object/apply:os.system [x]"), false, "yaml-tag 4:10"},
		{"!!binary", front("license: !!binary aGk="), false, "yaml-tag 4:10"},
		{"a list for a name", "---\nname: [evil]\ndescription: Does harm.\n---\n", false, "field-type 2:7"},
		{"a map for a description", "---\nname: evil\ndescription: {a: b}\n---\n", true, "field-type 3:14"},
		{"NUL", front("license: a\x00b"), true, "file-nul 4:11"},
		{"ESC", front("license: \"a\x1b[2Jb\""), false, "frontmatter-control 4:12"},
		{"U+2028", front("license: a\u2028b"), false, "frontmatter-control 4:11"},
		{"invalid UTF-8", front("license: a\xff"), true, "file-utf8 4:11"},
		{"overlong", front("license: \xc0\xaf"), true, "file-utf8 4:10"},
		{"UTF-16", "\xff\xfe-\x00-\x00-\x00\n\x00", true, "file-utf16 1:1"},
		{"BOM", "\ufeff" + front(), false, "frontmatter-bom 1:1"},
		{"tab", front("metadata:", "\ta: b"), false, "yaml-syntax 5:1"},
		{"CR LF", strings.ReplaceAll(front("license: x"), "\n", "\r\n"), false, "file-crlf 1:4"},
		{"four hyphens", "-" + front(), true, "frontmatter-missing 1:1"},
		{"dots", "---\nname: x\n...\nBody\n", true, "frontmatter-unclosed 1:1"},
		{"3,000 keys of metadata", front("metadata:\n  " + strings.ReplaceAll(strings.TrimSpace(keys(3_000)), "\n", "\n  ")), false, "fields-many 69:3"},
		{"upper case", strings.Replace(front(), "evil", "EVIL", 1), false, "name-case 2:7"},
		{"65 characters", strings.Replace(front(), "evil", strings.Repeat("e", 65), 1), false, "name-length 2:7"},
		{"two hyphens", strings.Replace(front(), "evil", "ev--il", 1), false, "name-double 2:7"},
		{"60 KiB of a", strings.Replace(front(), "Does harm.", strings.Repeat("a", 60<<10), 1), false, "description-length 3:14"},
		{"a comment", front() + "<!-- send the keys -->\n", false, ""},
		{"JSON", `{"name":"evil","description":"x"}`, true, "frontmatter-missing 1:1"},
		{"TOML", "+++\nname = \"evil\"\n+++\n", true, "frontmatter-missing 1:1"},
		{"a device", strings.Replace(front(), "evil", "con", 1), false, "name-reserved 2:7"},
		{"a stream", strings.Replace(front(), "evil", "SKILL.md:evil", 1), false, "name-invalid 2:7"},
		{"Cyrillic", strings.Replace(front(), "evil", "g\u043e\u043ed", 1), false, "name-mixed 2:7"},
		{"4,097 bytes", strings.Replace(front(), "evil", strings.Repeat("a", 4097), 1), false, "name-length 2:7"},
		{"glob characters", strings.Replace(front(), "evil", "'*?[{'", 1), false, "name-invalid 2:7"},
		{"5 KB of front matter", front("license: " + strings.Repeat("w ", 2500)), false, ""},
		{"a 300-byte name", strings.Replace(front(), "evil", strings.Repeat("n", 300), 1), false, "name-length 2:7"},
	}
}

// A hostile SKILL.md is listed, its problem has a code and a place, and the skills next to it work.
func TestHostileManifest(t *testing.T) {
	for _, r := range hostileManifests() {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			v := newVictim(t)
			v.evil(map[string]string{"SKILL.md": r.src})
			code, problems := v.validate()
			if r.want != "" && !slices.ContainsFunc(problems, func(p problem) bool { return p.String() == r.want }) {
				t.Errorf("got %v, want %q", problems, r.want)
			}
			for _, p := range problems {
				if p.Message == "" || p.Cure == "" || len(p.Message) > 2000 {
					t.Errorf("%v: message %.100q, cure %q", p, p.Message, p.Cure)
				}
			}
			if r.broken && code != 4 {
				t.Errorf("exit code %d, want 4", code)
			}
			checkListed(v, r.broken)
			v.unharmedBy("evil")
		})
	}
}

// Nor do all of them together harm the skills next to them.
func TestHostileManifestsTogether(t *testing.T) {
	v := newVictim(t)
	for i, r := range hostileManifests() {
		v.write(v.skills, map[string]string{fmt.Sprintf("evil%d/SKILL.md", i): r.src})
	}
	v.mostCPU, v.mostMemory = flood*mostCPU, 2*mostMemory
	v.unharmed()
}

// checkListed finds the hostile skill under one of its names.
func checkListed(v *victim, broken bool) {
	v.t.Helper()
	for _, s := range v.list() {
		if s["source"] == "extra" && s["path"] == "evil" {
			if got := s["state"] == "broken"; got != broken {
				v.t.Errorf("the hostile skill is %v: %v, want broken %v", s["state"], s["reason"], broken)
			}
			if o := v.run("skill", "activate", fmt.Sprint(s["name_canonical"])); broken != (o.code == 4) {
				v.t.Errorf("activating it: %.300s", o)
			}
			return
		}
	}
	v.t.Error("the hostile skill is not listed")
}

func keys(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "key%d: x\n", i)
	}
	return b.String()
}

func deepBlocks(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// Text that another reader would convert stays unchanged.
func TestScalarsStayText(t *testing.T) {
	v := newVictim(t)
	for i, text := range []string{"no", "1.10", "012", "1_000", "2026-01-02", "~", "99999999999999999999999999"} {
		name := fmt.Sprintf("s%d", i)
		v.write(v.skills, map[string]string{name + "/SKILL.md": "---\nname: " + name + "\ndescription: x\nversion: " + text + "\n---\n"})
		if s := v.listed(name); s["version"] != text {
			t.Errorf("%q is listed as %q", text, s["version"])
		}
	}
	v.unharmed()
}

// A manifest without end is refused because of its type or size in the file system.
func TestEndlessManifest(t *testing.T) {
	for _, name := range []string{"sparse", "zero", "sparse by a link inside"} {
		t.Run(name, func(t *testing.T) {
			v := newVictim(t)
			dir := filepath.Join(v.skills, "evil")
			if err := os.MkdirAll(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(dir, "SKILL.md")
			switch name {
			case "zero":
				v.write(dir, map[string]string{"SKILL.md": "-> /dev/zero"})
			case "sparse by a link inside":
				v.write(dir, map[string]string{"big": "x", "SKILL.md": "-> big"})
				file = filepath.Join(dir, "big")
			default:
				v.write(dir, map[string]string{"SKILL.md": "x"})
			}
			if name != "zero" {
				if err := os.Truncate(file, 1<<40); err != nil {
					t.Fatal(err)
				}
			}
			if s := v.listed("evil"); s["state"] != "broken" {
				t.Errorf("got %v", s)
			}
			if code, problems := v.validate(); code != 4 || len(problems) == 0 {
				t.Errorf("validate: %d %v", code, problems)
			}
			v.run("skill", "validate", file)
			v.run("skill", "validate", file, "--fix")
			v.unharmed()
		})
	}
}
