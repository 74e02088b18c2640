package nodeenv

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/internal/test/npmtest"
)

// resolveAt returns what a name means to the package at a place, as Node.js looks for it.
func resolveAt(p map[string]string, place, name string) string {
	names, ok := placeNames(place)
	if !ok {
		names = nil
	}
	for i := len(names); i >= 0; i-- {
		if key, ok := p[placeOf(append(slices.Clone(names[:i]), name)...)]; ok {
			return key
		}
	}
	return ""
}

// Every package finds what the lock says that it depends on, whatever the graph.
func TestHoist(t *testing.T) {
	placed := 0
	for seed := range uint64(600) {
		r := rand.New(rand.NewPCG(seed, 1))
		g := graph{}
		var keys []string
		for i := range 2 + r.IntN(12) {
			name := string(rune('a' + r.IntN(5)))
			key := fmt.Sprintf("%s@%d.0.0", name, i)
			keys = append(keys, key)
			g[key] = &vertex{item: item{Name: name, Version: key[2:], Integrity: npmtest.Integrity([]byte(key))}}
		}
		some := func() (out []edge) {
			seen := map[string]bool{}
			for range r.IntN(4) {
				key := keys[r.IntN(len(keys))]
				if name := g[key].Name; !seen[name] {
					seen[name] = true
					out = append(out, edge{name, key})
				}
			}
			return out
		}
		for _, key := range keys {
			g[key].deps = some()
		}
		root := some()
		p, err := g.hoist("lock", root)
		if err != nil {
			continue // versions that depend on each other
		}
		placed++
		at := map[string]string{}
		for _, it := range p {
			at[it.Path] = it.Name + "@" + it.Version
		}
		check := func(place string, deps []edge) {
			for _, d := range deps {
				if got := resolveAt(at, place, d.name); got != d.key {
					t.Fatalf("seed %d: at %q %s is %q, want %q: %v", seed, place, d.name, got, d.key, at)
				}
			}
		}
		check("", root)
		for place, key := range at {
			check(place, g[key].deps)
		}
	}
	if placed < 400 {
		t.Errorf("only %d graphs have places", placed)
	}
}

// A lock in which versions depend on each other in turns is refused, not followed without end.
func TestHoistEnds(t *testing.T) {
	g := graph{}
	for _, c := range []struct{ key, name, dep string }{{"a@1.0.0", "b", "b@1.0.0"}, {"b@1.0.0", "a", "a@2.0.0"}, {"a@2.0.0", "b", "b@2.0.0"}, {"b@2.0.0", "a", "a@1.0.0"}} {
		g[c.key] = &vertex{item: item{Name: c.key[:1], Version: c.key[2:], Integrity: npmtest.Integrity(nil)}, deps: []edge{{c.name, c.dep}}}
	}
	if _, err := g.hoist("lock", []edge{{"a", "a@1.0.0"}}); err == nil || !strings.Contains(err.Error(), "cannot be placed") {
		t.Errorf("got %v", err)
	}
}

// C68: the locks that npm, bun and pnpm wrote for the same package.json give the same packages, and each package finds those
// that npm's lock says that it depends on. npm's lock also has two packages that one for another platform needs.
func TestRealLocks(t *testing.T) {
	fsys := os.DirFS("testdata/locks")
	pkg, err := readPackage(fsys, "package.json")
	if err != nil || pkg.check() != nil {
		t.Fatal(err)
	}
	pf := platform{"linux", "x64", "glibc"}
	var lock npmLock
	all := map[string][]string{}
	for _, f := range lockFormats() {
		text, err := readFile(fsys, f.name, maxLock)
		if err != nil {
			continue
		}
		p, err := f.read(pkg, f.name, text, pf)
		if err != nil {
			t.Fatal(err)
		}
		all[f.name] = slices.DeleteFunc(p.packages(), func(id string) bool { return strings.HasPrefix(id, "@emnapi/") || strings.HasPrefix(id, "tslib@") })
		if f.name == "package-lock.json" {
			if err := json.Unmarshal(text, &lock); err != nil {
				t.Fatal(err)
			}
		}
		at, needs := map[string]string{}, map[string]map[string]string{}
		for _, it := range p {
			at[it.Path] = it.Name + "@" + it.Version
		}
		for place, e := range lock.Packages {
			id := cmp.Or(e.Name, placeName(place)) + "@" + e.Version
			needs[id] = map[string]string{}
			for dep := range e.Dependencies {
				needs[id][dep] = resolveAt(npmPlaces(&lock), place, dep)
			}
		}
		for place, id := range at {
			for dep, want := range needs[id] {
				if got := resolveAt(at, place, dep); got != want {
					t.Errorf("%s: at %s %s is %q, want %q", f.name, place, dep, got, want)
				}
			}
		}
	}
	want := all["package-lock.json"]
	if len(want) < 40 || len(all) != 3 {
		t.Errorf("%d packages in %d locks", len(want), len(all))
	}
	for name, got := range all {
		if !slices.Equal(got, want) {
			t.Errorf("%s gives\n%v, want\n%v", name, got, want)
		}
	}
}

func placeName(place string) string {
	names, _ := placeNames(place)
	return names[len(names)-1]
}

func npmPlaces(lock *npmLock) map[string]string {
	out := map[string]string{}
	for place, e := range lock.Packages {
		out[place] = cmp.Or(e.Name, placeName(place)) + "@" + e.Version
	}
	return out
}

func TestPlaces(t *testing.T) {
	for place, want := range map[string]bool{
		"node_modules/a": true, "node_modules/@s/a/node_modules/b": true, "node_modules/JSONStream": true, "node_modules/a.b-c_d": true,
		"a": false, "node_modules": false, "node_modules/": false, "node_modules/a/b": false, "node_modules/../a": false, "node_modules/.bin": false,
		"node_modules/a/node_modules": false, "node_modules/a/../b": false, "/node_modules/a": false, "node_modules/@s": false, "node_modules/a\\b": false,
		"node_modules/node_modules": false, "node_modules/" + strings.Repeat("x", 300): false, strings.Repeat("node_modules/a/", 60) + "node_modules/a": false,
	} {
		if got := validPlace(place); got != want {
			t.Errorf("%q: %v", place, got)
		}
	}
}

func TestPlatform(t *testing.T) {
	p := platform{"linux", "x64", "glibc"}
	for _, c := range []struct {
		os, cpu, libc words
		want          bool
	}{
		{nil, nil, nil, true}, {words{"linux", "darwin"}, words{"x64"}, words{"glibc"}, true}, {words{"darwin"}, nil, nil, false}, {words{"!win32"}, nil, nil, true},
		{words{"!linux"}, nil, nil, false}, {nil, words{"arm64"}, nil, false}, {nil, nil, words{"musl"}, false}, {words{"any"}, nil, nil, true}, {words{"none"}, nil, nil, false},
		{words{"!linux", "linux"}, nil, nil, false},
	} {
		if got := p.fits(c.os, c.cpu, c.libc); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

func TestStrongest(t *testing.T) {
	s512, s256 := npmtest.Integrity([]byte("x")), "sha256-LCa0a2j/xo/5m0U8HTBBNBNCLXBkg7+g+YpeiGJm564="
	for text, want := range map[string]string{s512: "sha512", s256: "sha256", "sha1-x " + s256 + " " + s512 + "?x": "sha512", "sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=": "", "": "", "md5-x": "", "sha512-!": ""} {
		if got, err := strongest(text); got.algorithm != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q %v, want %q", text, got.algorithm, err, want)
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
		item item
		want string // "" if it is refused
	}{
		{item{Name: "a", Version: "1.0.0"}, "https://main.example/npm/a/-/a-1.0.0.tgz"},
		{item{Name: "@s/a", Version: "1.0.0"}, "https://scoped.example/@s/a/-/a-1.0.0.tgz"},
		{item{Name: "@t/a", Version: "1.0.0"}, "https://main.example/npm/@t/a/-/a-1.0.0.tgz"},
		{item{Name: "a", Version: "1.0.0", Resolved: "https://registry.npmjs.org/a/-/a-1.0.0.tgz"}, "https://main.example/npm/a/-/a-1.0.0.tgz"},
		{item{Name: "a", Version: "1.0.0", Resolved: "https://mirror.example/a/download/a-1.0.0.tgz"}, "https://main.example/npm/a/-/a-1.0.0.tgz"},
		{item{Name: "a", Version: "1.0.0", Resolved: "https://main.example/npm/own/path/of/a"}, "https://main.example/npm/own/path/of/a"},
		{item{Name: "a", Version: "1.0.0", Resolved: "https://main.example/npm/../secret"}, ""},
		{item{Name: "a", Version: "1.0.0", Resolved: "https://main.example.evil/npm/x.tgz"}, ""},
		{item{Name: "a", Version: "1.0.0", Resolved: "https://codeload.example/x/a/tar.gz/main"}, ""},
		{item{Name: "a", Version: "1.0.0", Resolved: "https://evil.example/b-1.0.0.tgz"}, ""},
	} {
		got, err := r.address(&c.item)
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%+v: %q %v, want %q", c.item, got, err, c.want)
		}
	}
	for address, want := range map[string]string{
		"https://main.example/npm/a/-/a-1.0.0.tgz": "Bearer secret", "https://main.example/other": "", "https://scoped.example/@s/a": "Basic dTpw",
		"https://scoped.example/deep/a": "Basic dTpw", "https://main.example.evil/npm/a": "", "https://main.example/npmx/a": "",
	} {
		req, _ := http.NewRequest(http.MethodGet, address, nil)
		r.authorise(req)
		if got := req.Header.Get("Authorization"); got != want {
			t.Errorf("%s: %q, want %q", address, got, want)
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

// fuzzLock checks what every plan must keep, whatever a lock says.
func fuzzLock(f *testing.F, name string, read func(*packageJSON, string, []byte, platform) (plan, error)) {
	f.Helper()
	_, locks := world(f)
	for file, text := range locks {
		if filepath.Base(file) == name {
			f.Add([]byte(text))
		}
	}
	from := settings(nil, nil)
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 1<<16 {
			return
		}
		pkg := &packageJSON{Dependencies: dependencies(), file: "package.json"}
		p, err := read(pkg, name, b, platform{"linux", "x64", "glibc"})
		if err != nil {
			return
		}
		for i, it := range p {
			if !filepath.IsLocal(it.Path) || !strings.HasPrefix(it.Path, modules+"/") || i > 0 && p[i-1].Path >= it.Path {
				t.Errorf("place %q after %v", it.Path, p[:i])
			}
			if _, err := strongest(it.Integrity); err != nil {
				t.Errorf("%s: %v", it.Path, err)
			}
			if address, err := from.address(&it); err == nil && !strings.HasPrefix(address, publicRegistry) {
				t.Errorf("%s is fetched from %q", it.Path, address)
			}
		}
		for name := range pkg.Dependencies {
			if !slices.ContainsFunc(p, func(it item) bool { return it.Path == placeOf(name) }) {
				t.Errorf("%s has no place in %v", name, p)
			}
		}
	})
}

func FuzzNPM(f *testing.F)  { fuzzLock(f, "package-lock.json", readNPM) }
func FuzzBun(f *testing.F)  { fuzzLock(f, "bun.lock", readBun) }
func FuzzYarn(f *testing.F) { fuzzLock(f, "yarn.lock", readYarn) }
func FuzzPNPM(f *testing.F) { fuzzLock(f, "pnpm-lock.yaml", readPNPM) }

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
		if p := splitYarn(key); p.name != want[0] || p.spec != want[1] || p.registryName() != want[2] {
			t.Errorf("%q: got %+v and %q, want %q", key, p, p.registryName(), want)
		}
	}
	for line, want := range map[string]int{`"a b", c@1, d:`: 3, `"a"`: 1, `x "y z"`: 2, `"`: 1, ``: 0, `,:`: 1} {
		if got := yarnWords(line); len(got) != want {
			t.Errorf("%s: got %q, want %d words", line, got, want)
		}
	}
}
