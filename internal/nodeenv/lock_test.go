package nodeenv

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/internal/test/npmtest"
)

// C68: the locks that npm, bun and pnpm wrote for the same package.json have the same packages, but for those of other platforms.
func TestRealLocks(t *testing.T) {
	fsys := os.DirFS("testdata/locks")
	pkg, err := readPackage(fsys, "package.json")
	if err != nil || pkg.check() != nil {
		t.Fatal(err)
	}
	var all [][]string
	for _, f := range lockFormats() {
		text, err := readFile(fsys, f.name, maxLock)
		if err != nil {
			continue
		}
		l, err := f.check(pkg, f.name, text, settings(nil, nil))
		if err != nil {
			t.Fatal(err)
		}
		if f.manager != "pnpm" && !json.Valid(l.text) {
			t.Errorf("%s becomes\n%s", f.name, l.text)
		}
		all = append(all, l.packages)
	}
	if len(all) != 3 || len(all[0]) < 40 {
		t.Fatalf("%d packages in %d locks", len(all[0]), len(all))
	}
	for _, got := range all[1:] {
		for _, id := range got {
			if !slices.Contains(all[0], id) && !strings.HasPrefix(id, "@emnapi/") && !strings.HasPrefix(id, "tslib@") && !strings.HasPrefix(id, "typescript@") { // for development
				t.Errorf("%s is not in npm's lock", id)
			}
		}
	}
}

func TestIntegrity(t *testing.T) {
	s512, s256 := npmtest.Integrity([]byte("x")), "sha256-LCa0a2j/xo/5m0U8HTBBNBNCLXBkg7+g+YpeiGJm564="
	for text, want := range map[string]bool{s512: true, s256: true, "sha1-x " + s256 + " " + s512 + "?x": true, "sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=": false, "": false, "md5-x": false, "sha512-!": false} {
		if err := checkIntegrity(text); (err == nil) != want {
			t.Errorf("%q: %v, want %v", text, err, want)
		}
	}
}

// C68: only the operator's registries are asked, with the credentials that are theirs.
func TestRegistries(t *testing.T) {
	npmrc := `; mine
registry=https://main.example/npm
@s:registry = "https://scoped.example/"
//main.example/npm/:_authToken=${TOKEN}
//scoped.example/:_auth=dTpw
//scoped.example/deep/:username=u
//scoped.example/deep/:_password=cA==
ignore-scripts=false
script-shell=/bin/evil
//other.example/:certfile=x
_authToken=bare
`
	r := settings([]byte(npmrc), []string{"TOKEN=secret"})
	for _, c := range []struct {
		item entry
		want string // "" if it is refused
	}{
		{entry{"a", "1.0.0", "", ""}, "https://main.example/npm/a/-/a-1.0.0.tgz"},
		{entry{"@s/a", "1.0.0", "", ""}, "https://scoped.example/@s/a/-/a-1.0.0.tgz"},
		{entry{"@t/a", "1.0.0", "", ""}, "https://main.example/npm/@t/a/-/a-1.0.0.tgz"},
		{entry{"a", "1.0.0", "https://registry.npmjs.org/a/-/a-1.0.0.tgz", ""}, "https://main.example/npm/a/-/a-1.0.0.tgz"},
		{entry{"a", "1.0.0", "https://mirror.example/a/download/a-1.0.0.tgz", ""}, "https://main.example/npm/a/-/a-1.0.0.tgz"},
		{entry{"a", "1.0.0", "https://main.example/npm/own/path/of/a", ""}, "https://main.example/npm/own/path/of/a"},
		{entry{"a", "1.0.0", "https://main.example/npm/../secret", ""}, ""},
		{entry{"a", "1.0.0", "https://main.example.evil/npm/x.tgz", ""}, ""},
		{entry{"a", "1.0.0", "https://codeload.example/x/a/tar.gz/main", ""}, ""},
		{entry{"a", "1.0.0", "https://evil.example/b-1.0.0.tgz", ""}, ""},
	} {
		got, err := r.address(c.item)
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%+v: %q %v, want %q", c.item, got, err, c.want)
		}
	}
	if lines := strings.Join(r.lines, "\n"); strings.Contains(lines, "script") || strings.Contains(lines, "certfile") || strings.Contains(lines, "bare") || len(r.lines) != 6 {
		t.Errorf("npm gets\n%s", lines)
	}
	env := settings([]byte(npmrc), []string{"npm_config_registry=https://env.example"})
	if got, _ := env.of("a"); got != "https://env.example/" || !slices.Contains(env.lines, "registry=https://env.example") {
		t.Errorf("the environment gives %s, %v", got, env.lines)
	}
	if got, _ := settings(nil, nil).of("@s/a"); got != publicRegistry {
		t.Errorf("without settings: %s", got)
	}
	for _, bad := range []string{"file:///etc", "ftp://x", "//x", "%"} {
		if _, err := settings([]byte("registry="+bad), nil).of("a"); err == nil {
			t.Errorf("the registry %q is taken", bad)
		}
	}
}

func TestPlainJSON(t *testing.T) {
	for in, want := range map[string]string{
		`{"a":[1,2,],}`: `{"a":[1,2]}`, "{\"a\":1, // x, }\n}": `{"a":1}`, `{/* , */"a":"//,}",/**/}`: `{"a":"//,}"}`, `["\",]",]`: `["\",]"]`,
	} {
		var got bytes.Buffer
		if err := json.Compact(&got, plainJSON([]byte(in))); err != nil || got.String() != want {
			t.Errorf("%s: %s %v, want %s", in, got.String(), err, want)
		}
	}
	for _, in := range []string{`"`, `"\`, `/*`, `//`, `/`, `,`, `{"a":,}`} {
		plainJSON([]byte(in)) // ends
	}
}

// fuzzLock checks what every lock that a manager gets must keep, whatever one says.
func fuzzLock(f *testing.F, format lockFormat) {
	f.Helper()
	_, locks := world(f)
	for file, text := range locks {
		if filepath.Base(file) == format.name {
			f.Add([]byte(text))
		}
	}
	foreign := regexp.MustCompile(`git\+|"file:|"https?://([^r]|r[^e])`) // no address but the registry's
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 1<<16 {
			return
		}
		pkg := &packageJSON{Dependencies: dependencies(), file: "package.json"}
		l, err := format.check(pkg, format.name, b, settings(nil, nil))
		if err != nil {
			return
		}
		for _, id := range l.packages {
			name, version := cutVersion(id)
			if !validName(name) || !validVersion(version) {
				t.Errorf("package %q", id)
			}
		}
		for line := range strings.Lines(string(l.text)) {
			if strings.Contains(line, "resolved") && format.manager == "yarn" && foreign.MatchString(line) && !strings.HasPrefix(line, "#") && strings.HasPrefix(line, "  resolved \"") {
				t.Errorf("the manager gets %q", line)
			}
		}
		if format.manager == "npm" {
			var got struct{ Packages map[string]fields }
			if err := json.Unmarshal(l.text, &got); err != nil {
				t.Fatal(err)
			}
			for place, p := range got.Packages {
				if p.is("link") || p.is("dev") || p["resolved"] != nil && place != "" && !strings.HasPrefix(p.text("resolved"), publicRegistry) {
					t.Errorf("npm gets %q: %+v", place, p)
				}
			}
		}
	})
}

func FuzzNPM(f *testing.F)  { fuzzLock(f, lockFormats()[1]) }
func FuzzPNPM(f *testing.F) { fuzzLock(f, lockFormats()[2]) }
func FuzzBun(f *testing.F)  { fuzzLock(f, lockFormats()[3]) }
func FuzzYarn(f *testing.F) { fuzzLock(f, lockFormats()[4]) }

func TestYarnPatterns(t *testing.T) {
	for key, want := range map[string][3]string{
		"a@^1":              {"a", "^1", "a"},
		"@s/a@1.x || 2":     {"@s/a", "1.x || 2", "@s/a"},
		"x@npm:@s/a@^1":     {"x", "npm:@s/a@^1", "@s/a"},
		"x@npm:a":           {"x", "npm:a", "a"},
		"a":                 {"a", "", "a"},
		"":                  {"", "", ""},
		"@":                 {"@", "", "@"},
		"a@https://x/a.tgz": {"a", "https://x/a.tgz", "a"},
	} {
		if name, spec := cutVersion(key); name != want[0] || spec != want[1] || yarnName(key) != want[2] {
			t.Errorf("%q: got %q, %q and %q, want %q", key, name, spec, yarnName(key), want)
		}
	}
	for line, want := range map[string]int{`"a b", c@1, d:`: 3, `"a"`: 1, `x "y z"`: 2, `"`: 1, ``: 0, `,:`: 1} {
		if got := yarnWords(line); len(got) != want {
			t.Errorf("%s: got %q, want %d words", line, got, want)
		}
	}
}
