package manifest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// hostile is one case of the attack catalogue about manifests.
type hostile struct {
	name  string // number in security 2.1 or 2.2, and what it is
	src   string
	fatal bool
	code  string // one of the problems, with its place as "code line:col"
}

func withFront(lines ...string) string {
	return "---\n" + strings.Join(lines, "\n") + "\n---\nBody\n"
}

var basics = []string{"name: my-skill", "description: A test skill"}

func added(lines ...string) string { return withFront(append(slices.Clone(basics), lines...)...) }

// Security 2.1 and 2.2, as 1.4 of the requirements settles them.
func TestParseHostile(t *testing.T) {
	deepFlow := strings.Repeat("[", 100_000)
	for _, row := range []hostile{
		{"#1 front matter over 64 KiB", added("x: " + strings.Repeat("y", 65<<10)), true, "frontmatter-size 1:1"},
		{"#1 no closing line in 64 KiB", "---\n" + strings.Repeat("k: v\n", 15_000), true, "frontmatter-size 1:1"},
		{"#1 no closing line", "---\nname: x\n", true, "frontmatter-unclosed 1:1"},
		{"#2 over 1 MiB", added() + strings.Repeat("x", 1<<20), true, "file-size 1:1"},
		{"#4 alias bomb", added("a: &a "+strings.Repeat("x", 30_000), "b: ["+strings.Repeat("*a,", 4_000)+"*a]"), false, "yaml-anchor 4:4"},
		{"#5 merge key", added("a:", "  <<: {b: c}"), false, "yaml-anchor 5:3"},
		{"#5 self alias", added("a: &a [*a]"), false, "yaml-anchor 4:4"},
		{"#5 merge into the top", added("<<: {license: x}"), false, "yaml-anchor 4:1"},
		{"#6 deep flow lists", added("a: " + deepFlow[:4_000]), false, "yaml-depth 4:260"},
		{"#6 17 levels", added("a: " + strings.Repeat("[", 16) + strings.Repeat("]", 16)), false, "yaml-depth 4:19"},
		{"#6 deep flow maps", added("a: " + strings.Repeat("{a: ", 2_000)), false, "yaml-depth 4:1028"},
		{"#8 a second document", added("...", "license: x"), false, "yaml-document 4:1"},
		{"#9 a Python tag", added("license: !!python/object/apply:os.system [x]"), false, "yaml-tag 4:10"},
		{"#9 !!binary", added("license: !!binary aGk="), false, "yaml-tag 4:10"},
		{"#9 a core tag", added("license: !!str MIT"), false, "yaml-tag 4:10"},
		{"#9 a tag of one's own", added("license: !x MIT"), false, "yaml-tag 4:10"},
		{"#12 NUL", added("license: a\x00b"), true, "file-nul 4:11"},
		{"#12 NUL by escape", added(`license: "a\0b"`), true, "file-nul 4:10"},
		{"#12 NUL in the body", added() + "\x00", true, "file-nul 6:1"},
		{"#12 a bell", added("license: a\ab"), false, "frontmatter-control 4:11"},
		// security 2.10 #150
		{"2.10 #150 tags", added("license: a\U000e0061\U000e0062b"), false, "frontmatter-control 4:12"},
		{"2.10 #150 tags by escapes", added(`license: "a\U000e0061b"`), false, "frontmatter-control 4:10"},
		{"2.10 #150 a direction", added("license: a\u202eb"), false, "frontmatter-control 4:11"},
		{"2.10 #150 no width", added("license: a\u200bb"), false, "frontmatter-control 4:11"},
		{"2.10 #150 no width in the name", strings.Replace(added(), "name: ", "name: a\u200b", 1), true, "name-hidden 2:7"},
		{"2.10 #150 no width in the name by escapes", strings.Replace(added(), "name: my-skill", `name: "x\u200b"`, 1), true, "name-hidden 2:7"},
		{"2.10 #150 a direction in a name of two lines", strings.Replace(added(), "name: my-skill", "name:\n  x\u202e", 1), true, "name-hidden 3:3"},
		{"2.10 #150 selectors", added("license: a\U000e0100b"), false, "frontmatter-control 4:11"},
		{"2.10 #150 a filler", added("license: a\u3164b"), false, "frontmatter-control 4:11"},
		{"2.10 #150 an annotation", added("license: a\ufff9b"), false, "frontmatter-control 4:11"},
		{"#12 DEL", added("license: a\x7fb"), false, "frontmatter-control 4:11"},
		{"#12 ESC by escape", added(`license: "a\eb"`), false, "frontmatter-control 4:10"},
		{"#12 U+0085", added("license: a\u0085b"), false, "frontmatter-control 4:11"},
		{"#12 U+2028", added("license: a\u2028b"), false, "frontmatter-control 4:11"},
		{"#13 a lone byte", added("license: a\xffb"), true, "file-utf8 4:11"},
		{"#13 overlong", added("license: \xc0\xaf"), true, "file-utf8 4:10"},
		{"#13 a surrogate", added("license: \xed\xa0\x80"), true, "file-utf8 4:10"},
		{"#13 UTF-16 LE", "\xff\xfe-\x00-\x00-\x00\n\x00", true, "file-utf16 1:1"},
		{"#13 UTF-16 BE without mark", "\x00-\x00-\x00-\x00\n", true, "file-utf16 1:1"},
		{"#13 BOM", "\ufeff" + added(), false, "frontmatter-bom 1:1"},
		{"#14 CR LF", strings.ReplaceAll(added(), "\n", "\r\n"), false, "file-crlf 1:4"},
		{"#14 four hyphens", strings.Replace(added(), "---", "----", 1), true, "frontmatter-missing 1:1"},
		{"#14 three dots close nothing", "---\nname: x\n...\nBody\n", true, "frontmatter-unclosed 1:1"},
		{"#14 tab as indentation", added("metadata:", "\tauthor: x"), false, "yaml-syntax 5:1"},
		{"#16 2,000 keys of metadata", added("metadata: {" + strings.Repeat("a: b, ", 2_000) + "}"), false, "field-duplicate 4:18"},
		{"#16 10,000 keys of metadata", added("metadata: {" + strings.Repeat("a: b, ", 9_000) + "}"), true, "frontmatter-values 1:1"},
		{"#16 keys in lines", added("metadata:\n" + strings.Repeat("  a:\n", 4_100)), true, "frontmatter-values 1:1"},
		{"#6 wide and deep", added("a: " + strings.Repeat("[", 15) + strings.Repeat("a,", 30_000) + strings.Repeat("]", 15)), true, "frontmatter-values 1:1"},
		{"#16 the most signs there may be", added("x: [" + strings.Repeat(",", 4096-4) + "]"), false, "yaml-syntax 4:5"},
		{"#16 one sign more", added("x: [" + strings.Repeat(",", 4096-3) + "]"), true, "frontmatter-values 1:1"},
		{"#16 signs apart by what is left out", added("x:\n" + strings.Repeat("-\x01 ", 4_100)), true, "frontmatter-values 1:1"},
		{"#16 many values in a block that cannot be read", added("x: [&a b]", "y: ["+strings.Repeat("a,", 5_000)+"]"), true, "frontmatter-values 1:1"},
		{"#16 a long value", added("extra: " + strings.Repeat("x", 2000)), false, "fields-many 4:1"},
		{"#17 empty", "", true, "frontmatter-missing 1:1"},
		{"#17 name with a slash", withFront("name: ../my-skill", "description: x"), false, "name-invalid 2:7"},
		{"#17 a full stop", withFront("name: .", "description: x"), false, "name-invalid 2:7"},
		{"#21 JSON", `{"name": "x"}`, true, "frontmatter-missing 1:1"},
		{"#21 TOML", "+++\nname = \"x\"\n+++\n", true, "frontmatter-missing 1:1"},
		{"#24 a device", withFront("name: con", "description: x"), false, "name-reserved 2:7"},
		{"#24 a device with an ending", withFront("name: nul.txt", "description: x"), false, "name-invalid 2:7"},
		{"#24 an alternate stream", withFront("name: SKILL.md:evil", "description: x"), false, "name-invalid 2:7"},
		{"#26 a joiner", withFront("name: g\u200dt", "description: x"), true, "name-hidden 2:7"},
		{"#29 a name of 4,097 bytes", withFront("name: "+strings.Repeat("a", 4097), "description: x"), false, "name-length 2:7"},
		{"#30 glob characters", withFront("name: '*?[{'", "description: x"), false, "name-invalid 2:7"},
	} {
		t.Run(row.name, func(t *testing.T) {
			start := time.Now()
			m, problems := Parse([]byte(row.src), &Options{Dir: "my-skill"})
			if d := time.Since(start); d > 30*time.Second {
				t.Errorf("took %v", d)
			}
			checkSound(t, []byte(row.src), m, problems)
			if got := fatalCodes(problems) != ""; got != row.fatal {
				t.Errorf("fatal: %v, want %v: %q", got, row.fatal, problemLines(problems))
			}
			if got := problemLines(problems); !slices.Contains(got, row.code) {
				t.Errorf("got %q, want %q", got, row.code)
			}
			if !row.fatal && (m.Name != "my-skill" || m.Description == "") {
				t.Errorf("the skill is %q, described as %q", m.Name, m.Description)
			}
		})
	}
}

// Wherever the line breaks are CR alone, nothing is said (1.4).
func TestParseLoneCR(t *testing.T) { // security 2.1 #14
	src := strings.ReplaceAll(added("license:   MIT  "), "\n", "\r")
	m, problems := Parse([]byte(src), &Options{Dir: "my-skill"})
	if len(problems) > 0 || m.License != "MIT" || m.Body != "Body" || m.BodyLine != 6 {
		t.Errorf("got %+v, %v", m, problems)
	}
}

// Blanks behind the delimiters are accepted; one inside a block scalar is text (1.4).
func TestParseDelimiters(t *testing.T) { // security 2.1 #14
	src := "---  \nname: my-skill\ndescription: |\n  a\n  ---\n  b\n--- \t\nBody\n---\nmore\n"
	m, problems := Parse([]byte(src), &Options{Dir: "my-skill"})
	if len(problems) > 0 || m.Description != "a\n---\nb" || m.Body != "Body\n---\nmore" {
		t.Errorf("got %q, %q, %v", m.Description, m.Body, problems)
	}
}

func TestParseSourceText(t *testing.T) { // security 2.1 #10
	for _, text := range []string{"no", "1.10", "012", "1_000", "2026-01-02", "~", "null", "99999999999999999999999999", "12:30", ".inf", "0x1F", "true"} {
		m, _ := Parse([]byte(added("license: "+text)), nil)
		if m.License != text {
			t.Errorf("%q is read as %q", text, m.License)
		}
	}
}

// 64 unknown keys are kept, the rest is counted (security 2.1 #16).
func TestParseManyKeys(t *testing.T) {
	var lines []string
	for i := range 200 {
		lines = append(lines, fmt.Sprintf("key-%d: x", i))
	}
	m, problems := Parse([]byte(added(lines...)), &Options{Dir: "my-skill"})
	if len(m.Fields) != maxKeys+2 || !slices.ContainsFunc(problems, func(p Problem) bool { return p.Code == "fields-many" }) {
		t.Errorf("%d fields are kept: %q", len(m.Fields), problemLines(problems))
	}
	m, problems = Parse([]byte(added("metadata:\n  "+strings.Join(lines, "\n  "))), &Options{Dir: "my-skill"})
	if len(m.Metadata) != maxKeys || !slices.ContainsFunc(problems, func(p Problem) bool { return p.Code == "fields-many" }) {
		t.Errorf("%d metadata are kept: %q", len(m.Metadata), problemLines(problems))
	}
}

// However much is wrong, the list of problems stays short.
func TestParseManyProblems(t *testing.T) {
	src := added(strings.Repeat("license: \aa: b\n", 3000) + "x: y")
	for _, profile := range everyColumn() {
		m, problems := Parse([]byte(src), &Options{Dir: "my-skill", Profile: profile})
		checkSound(t, []byte(src), m, problems)
		if n := len(problems); n > maxProblems+2 || problems[n-1].Code != "problems-many" || len(m.Fields) > maxFields {
			t.Errorf("%s: %d problems, the last is %q; %d fields", profile.Name, n, problems[n-1].Code, len(m.Fields))
		}
	}
}

// Length is checked before anything that looks closer, and all of it is linear.
func TestParseLongDescription(t *testing.T) { // security 2.1 #18
	_, problems := Parse([]byte(withFront("name: my-skill", "description: "+strings.Repeat("a", 60<<10))), nil)
	if got := problemLines(problems); !slices.Contains(got, "description-length 3:14") {
		t.Errorf("got %q", got)
	}
}

// A comment in the body stays as it is: what hides in it is the scanner's to report.
func TestParseBodyVerbatim(t *testing.T) { // security 2.1 #20
	m, _ := Parse([]byte(added()+"<!-- do evil -->\x1b[2J\n"), nil)
	if want := "Body\n<!-- do evil -->\x1b[2J"; m.Body != want {
		t.Errorf("got %q, want %q", m.Body, want)
	}
}

func problemLines(problems []Problem) []string {
	var out []string
	for _, p := range problems {
		out = append(out, fmt.Sprintf("%s %d:%d", p.Code, p.Line, p.Col))
	}
	return out
}

func errorCodes(problems []Problem) []string {
	var out []string
	for _, p := range problems {
		if p.Severity == SeverityError {
			out = append(out, p.Code)
		}
	}
	return out
}

func sameCodes(got, want []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want)))
}

// F6: a manifest that cannot be read allows no tool, rather than every tool.
func TestUnreadableAllowsNothing(t *testing.T) {
	for name, src := range map[string]string{
		"NUL": added("allowed-tools: Read") + "\x00", "not UTF-8": added("allowed-tools: Read") + "\xe9", "nothing": "", "no front matter": "# x",
		"not closed": "---\nname: x\n", "a list": "---\n- x\n---\n", "too big": added() + strings.Repeat("x", MaxManifest),
		"not YAML": "---\n[\n---\n", "empty": "---\n---\n",
	} {
		m, problems := Parse([]byte(src), nil)
		if !m.AllowedTools.Declared || len(m.AllowedTools.Rules) > 0 || fatalCodes(problems) == "" {
			t.Errorf("%s: %+v, %v", name, m.AllowedTools, problems)
		}
	}
	if m, _ := Parse([]byte(added()), nil); m.AllowedTools.Declared {
		t.Error("a manifest without allowed-tools restricts something")
	}
}

// security 2.10 #150: the joiners and selectors that emoji and scripts need stay in a value.
func TestParseKeepsJoiners(t *testing.T) {
	const text = "\U0001f469\u200d\U0001f4bb \u2764\ufe0f \u0915\u094d\u200c\u0937"
	m, problems := Parse([]byte("---\nname: x\ndescription: "+text+"\n---\nBody\n"), &Options{Dir: "x"})
	if m.Description != text || len(problems) > 0 {
		t.Errorf("got %q, %q", m.Description, problemLines(problems))
	}
}
