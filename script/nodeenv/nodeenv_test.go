package nodeenv

import (
	"archive/tar"
	"context"
	"errors"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agent-base/agent-base/internal/test/npmtest"
)

// world is a registry with packages that need each other in two versions, and the three locks of the same dependencies.
func world(t testing.TB) (*registry, map[string]string) {
	r := newRegistry(t)
	a := r.Publish("a@1.2.0", files{"package.json": `{"name":"a","version":"1.2.0","scripts":{"postinstall":"touch ../../ran"}}`, "lib/x.js": "x"})
	b1, b2 := r.Publish("b@1.0.0", nil), r.Publish("b@2.0.0", nil)
	scoped := r.Publish("@s/c@3.0.0", nil)
	here, other := r.Publish("bin-linux@1.0.0", nil), r.Publish("bin-other@1.0.0", nil)
	deps := map[string]string{"a": "^1.0.0", "b": "^1.0.0", "@s/c": "3.x"}
	sum := func(integrity string) string { return "{integrity: " + integrity + "}" }
	return r, map[string]string{
		"package-lock.json": npmtest.Lock(deps, m{
			"node_modules/a":                m{"version": "1.2.0", "resolved": "https://registry.npmjs.org/a/-/a-1.2.0.tgz", "integrity": a, "hasInstallScript": true},
			"node_modules/a/node_modules/b": m{"version": "2.0.0", "integrity": "sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk= " + b2},
			"node_modules/b":                m{"version": "1.0.0", "resolved": "https://registry.npmmirror.com/b/-/b-1.0.0.tgz", "integrity": b1},
			"node_modules/@s/c":             m{"version": "3.0.0", "resolved": r.URL + "/@s/c/-/c-3.0.0.tgz", "integrity": scoped},
			"node_modules/bin-linux":        m{"version": "1.0.0", "integrity": here, "optional": true, "os": []string{"linux"}, "cpu": []string{"x64"}},
			"node_modules/bin-other":        m{"version": "1.0.0", "integrity": other, "optional": true, "os": []string{"!linux"}},
			"node_modules/tool":             m{"version": "1.0.0", "integrity": "none", "dev": true},
		}),
		"bun.lock": `{
  "lockfileVersion": 1, // written by bun
  "workspaces": {"": {"name": "x", "dependencies": {"a": "^1.0.0", "b": "^1.0.0", "@s/c": "3.x",}, "devDependencies": {"tool": "1"},},},
  "packages": {
    "@s/c": ["@s/c@3.0.0", "", {}, "` + scoped + `"],

    "a": ["a@1.2.0", "", { "dependencies": { "b": "^2.0.0" }, "optionalDependencies": { "bin-linux": "1", "bin-other": "1" }, "peerDependencies": { "absent": "1" } }, "` + a + `"],
    "a/b": ["b@2.0.0", "` + r.URL + `/b/-/b-2.0.0.tgz", {}, "` + b2 + `"],
    "b": ["b@1.0.0", "", {}, "` + b1 + `"],
    "bin-linux": ["bin-linux@1.0.0", "", { "os": "linux", "cpu": ["x64", "arm64"] }, "` + here + `"],
    "bin-other": ["bin-other@1.0.0", "", { "os": "!linux" }, "` + other + `"],
    "tool": ["tool@1.0.0", "", {}, "none"],
  }
}`,
		"pnpm-lock.yaml": `lockfileVersion: '9.0'

importers:

  .:
    dependencies:
      '@s/c':
        specifier: 3.x
        version: 3.0.0
      a:
        specifier: ^1.0.0
        version: 1.2.0(b@2.0.0)
      b:
        specifier: ^1.0.0
        version: 1.0.0
    devDependencies:
      tool:
        specifier: '1'
        version: 1.0.0

packages:

  '@s/c@3.0.0':
    resolution: ` + sum(scoped) + `
  a@1.2.0:
    resolution: ` + sum(a) + `
  b@1.0.0:
    resolution: ` + sum(b1) + `
  b@2.0.0:
    resolution: ` + sum(b2) + `
  bin-linux@1.0.0:
    resolution: ` + sum(here) + `
    cpu: [x64]
    os: [linux]
  bin-other@1.0.0:
    resolution: ` + sum(other) + `
    os: [darwin]
  tool@1.0.0:
    resolution: {integrity: none}

snapshots:

  '@s/c@3.0.0': {}
  a@1.2.0(b@2.0.0):
    dependencies:
      b: 2.0.0
    optionalDependencies:
      bin-linux: 1.0.0
      bin-other: 1.0.0
  b@1.0.0: {}
  b@2.0.0: {}
  bin-linux@1.0.0:
    optional: true
  bin-other@1.0.0:
    optional: true
  tool@1.0.0: {}
`,
		"v6/pnpm-lock.yaml": `lockfileVersion: '6.0'

dependencies:
  '@s/c':
    specifier: 3.x
    version: 3.0.0
  a:
    specifier: ^1.0.0
    version: 1.2.0(b@2.0.0)
  b:
    specifier: ^1.0.0
    version: 1.0.0

packages:

  /@s/c@3.0.0:
    resolution: ` + sum(scoped) + `
    dev: false
  /a@1.2.0(b@2.0.0):
    resolution: ` + sum(a) + `
    dependencies:
      b: 2.0.0
    optionalDependencies:
      bin-linux: 1.0.0
      bin-other: 1.0.0
  /b@1.0.0:
    resolution: ` + sum(b1) + `
  /b@2.0.0:
    resolution: ` + sum(b2) + `
  /bin-linux@1.0.0:
    resolution: ` + sum(here) + `
    os: [linux]
  /bin-other@1.0.0:
    resolution: ` + sum(other) + `
    os: [darwin]
    optional: true
`,
	}
}

func dependencies() map[string]string {
	return map[string]string{"a": "^1.0.0", "b": "^1.0.0", "@s/c": "3.x"}
}

// C68: each kind of lock gives the same packages at the same places, from the operator's registry alone; nothing of a
// package runs.
func TestLocks(t *testing.T) {
	r, locks := world(t)
	for name, text := range locks {
		t.Run(name, func(t *testing.T) {
			s := r.store(nil)
			got := prepare(t, s, project(skill(dependencies(), files{filepath.Base(name): text})), nil)
			all := installed(t, got)
			for file, want := range (files{
				"node_modules/a/index.js": `module.exports = "a@1.2.0"`, "node_modules/a/lib/x.js": "x", "node_modules/@s/c/index.js": `module.exports = "@s/c@3.0.0"`,
				"node_modules/b/index.js": `module.exports = "b@1.0.0"`, "node_modules/a/node_modules/b/index.js": `module.exports = "b@2.0.0"`,
				"node_modules/bin-linux/index.js": `module.exports = "bin-linux@1.0.0"`,
			}) {
				if all[file] != want {
					t.Errorf("%s is %q, want %q", file, all[file], want)
				}
			}
			if len(all) != 11 {
				t.Errorf("%d files: %v", len(all), slices.Sorted(maps.Keys(all)))
			}
			want := []string{"@s/c@3.0.0", "a@1.2.0", "b@1.0.0", "b@2.0.0", "bin-linux@1.0.0"}
			if !slices.Equal(got.Packages, want) || !slices.Equal(got.Unbuilt, []string{"a@1.2.0"}) || got.Lock != filepath.Base(name) || !got.Made || !got.Needed {
				t.Errorf("got %+v", got)
			}
			if node, err := exec.LookPath("node"); err == nil {
				script := filepath.Join(got.Folder, skills, "digest", "x", "scripts", "s.js")
				os.MkdirAll(filepath.Dir(script), 0o755)
				os.WriteFile(script, []byte(`console.log(require("a"), require("b"), require("@s/c"), require("a/lib/x.js") && 1)`), 0o644)
				os.WriteFile(filepath.Join(got.Folder, modules, "a", "lib", "x.js"), []byte("module.exports = require('b')"), 0o644)
				out, err := exec.CommandContext(t.Context(), node, script).CombinedOutput()
				if err != nil || string(out) != "a@1.2.0 b@1.0.0 @s/c@3.0.0 1\n" {
					t.Errorf("%s %v", out, err)
				}
			}
		})
	}
}

// C68: an environment is used again without the network, whatever becomes of the rest of the skill, and made again when its
// files or its lock changed.
func TestUsedAgain(t *testing.T) {
	r, locks := world(t)
	s := r.store(nil)
	f := skill(dependencies(), files{"package-lock.json": locks["package-lock.json"]})
	first := prepare(t, s, project(f), nil)
	asked := r.Requests()
	f["scripts/a.js"] += "\n// changed"
	f["package.json"] = strings.Replace(f["package.json"], `"x"`, `"y"`, 1)
	if again := prepare(t, s, project(f), nil); again.Made || again.Folder != first.Folder || r.Requests() != asked {
		t.Errorf("made again: %+v", again)
	}
	os.WriteFile(filepath.Join(first.Folder, modules, "b", "index.js"), []byte("evil"), 0o644)
	mended := prepare(t, s, project(f), nil)
	if !mended.Made || mended.Folder == first.Folder || installed(t, mended)["node_modules/b/index.js"] == "evil" {
		t.Errorf("a changed environment is used: %+v", mended)
	}
	f["package-lock.json"] += " "
	if other := prepare(t, s, project(f), nil); !other.Made || other.Folder == mended.Folder {
		t.Errorf("a changed lock gives the old environment: %+v", other)
	}
}

// C68: what is refused, with the file and what to do.
func TestRefused(t *testing.T) {
	r, _ := world(t)
	one := func(spec string) map[string]string { return map[string]string{"a": spec} }
	sum := npmtest.Integrity([]byte("x"))
	entry := func(change m) string {
		e := m{"version": "1.2.0", "integrity": sum}
		maps.Copy(e, change)
		return npmtest.Lock(one("1"), m{"node_modules/a": e})
	}
	for _, c := range []struct {
		name  string
		files files
		want  []string
	}{
		{"git", skill(one("git+https://example.com/a.git"), nil), []string{"package.json", `"a"`, "git+https://example.com/a.git", "only packages of the registry"}},
		{"repository", skill(one("someone/a"), nil), []string{"someone/a"}},
		{"host", skill(one("github:someone/a#main"), nil), []string{"github:someone/a"}},
		{"file", skill(one("file:../../x"), nil), []string{"file:../../x"}},
		{"link", skill(one("link:x"), nil), []string{"link:x"}},
		{"address", skill(one("https://example.com/a.tgz"), nil), []string{"https://example.com/a.tgz"}},
		{"workspace", skill(one("workspace:*"), nil), []string{"workspace:*"}},
		{"folder", skill(one("./a"), nil), []string{`"./a"`}},
		{"alias of a repository", skill(one("npm:b@github:x/y"), nil), []string{"npm:b@github:x/y"}},
		{"name", skill(map[string]string{"../a": "1"}, nil), []string{"../a", "not the name of a package"}},
		{"override", files{"scripts/a.js": `require("a")`, "package.json": `{"dependencies":{"a":"1"},"overrides":{"b":{"c":"git://x/y"}}}`}, []string{"override", "git://x/y"}},
		{"broken", files{"scripts/a.js": `require("a")`, "package.json": `{"dependencies":["a"]}`}, []string{"package.json cannot be read"}},
		{"no integrity", skill(one("1"), files{"package-lock.json": entry(m{"integrity": ""})}), []string{"package-lock.json", "a@1.2.0", "no integrity"}},
		{"sha1", skill(one("1"), files{"package-lock.json": entry(m{"integrity": "sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk="})}), []string{"sha1", "too weak"}},
		{"no checksum", skill(one("1"), files{"package-lock.json": entry(m{"integrity": "sha512-eA=="})}), []string{"no sha512"}},
		{"git in a lock", skill(one("1"), files{"package-lock.json": entry(m{"resolved": "git+ssh://git@example.com/x.git#1", "integrity": ""})}), []string{"git+ssh"}},
		{"folder in a lock", skill(one("1"), files{"package-lock.json": entry(m{"link": true, "resolved": "../a"})}), []string{"link to a folder"}},
		{"place", skill(one("1"), files{"package-lock.json": npmtest.Lock(one("1"), m{"node_modules/a": m{"version": "1.2.0", "integrity": sum}, "node_modules/../../b": m{"version": "1.0.0", "integrity": sum}})}), []string{"not a package of a registry"}},
		{"twins", skill(one("1"), files{"package-lock.json": npmtest.Lock(one("1"), m{"node_modules/a": m{"version": "1.2.0", "integrity": sum}, "node_modules/A": m{"version": "1.0.0", "integrity": sum}})}), []string{"same folder"}},
		{"version", skill(one("1"), files{"package-lock.json": entry(m{"version": "../1"})}), []string{"../1"}},
		{"other machine", skill(one("1"), files{"package-lock.json": entry(m{"os": []string{"sunos"}})}), []string{"sunos", "not for this machine"}},
		{"old lock", skill(one("1"), files{"package-lock.json": `{"lockfileVersion":1,"dependencies":{}}`}), []string{"too old", "npm install --package-lock-only"}},
		{"other range", skill(one("2"), files{"package-lock.json": entry(nil)}), []string{"package-lock.json does not belong to package.json", `"2" there and "1" in the lock`}},
		{"absent", skill(map[string]string{"a": "1", "b": "1"}, files{"package-lock.json": npmtest.Lock(map[string]string{"a": "1", "b": "1"}, m{"node_modules/a": m{"version": "1.2.0", "integrity": sum}})}), []string{`it has no "b"`}},
		{"no root", skill(one("1"), files{"package-lock.json": `{"lockfileVersion":3,"packages":{}}`}), []string{"no entry for the package itself"}},
		{"broken lock", skill(one("1"), files{"package-lock.json": `{`}), []string{"package-lock.json cannot be read"}},
		{"yarn", skill(one("1"), files{"yarn.lock": `# yarn lockfile v1`}), []string{"yarn.lock cannot be read", "package-lock.json"}},
		{"binary bun", skill(one("1"), files{"bun.lockb": "\x00"}), []string{"bun.lockb", "--save-text-lockfile"}},
		{"bun git", skill(one("1"), files{"bun.lock": `{"lockfileVersion":1,"workspaces":{"":{"dependencies":{"a":"1"}}},"packages":{"a":["a@github:x/y#1",{},"x-y-1"]}}`}), []string{"bun.lock", "not a package of a registry"}},
		{"bun absent", skill(one("1"), files{"bun.lock": `{"lockfileVersion":1,"workspaces":{"":{"dependencies":{"a":"1"}}},"packages":{}}`}), []string{`bun.lock has no "a"`}},
		{"bun patch", skill(one("1"), files{"bun.lock": `{"lockfileVersion":1,"workspaces":{"":{"dependencies":{"a":"1"}}},"patchedDependencies":{"a@1.0.0":"p"}}`}), []string{"patches"}},
		{"bun later", skill(one("1"), files{"bun.lock": `{"lockfileVersion":9}`}), []string{"version 9, which is not known"}},
		{"pnpm old", skill(one("1"), files{"pnpm-lock.yaml": "lockfileVersion: 5.4\n"}), []string{"pnpm-lock.yaml", `"5.4"`}},
		{"pnpm link", skill(one("1"), files{"pnpm-lock.yaml": "lockfileVersion: '9.0'\nimporters:\n  .:\n    dependencies:\n      a: {specifier: '1', version: 'link:../a'}\n"}), []string{"link:../a"}},
		{"pnpm other", skill(one("1"), files{"pnpm-lock.yaml": "lockfileVersion: '9.0'\nimporters:\n  .:\n    dependencies:\n      a: {specifier: '2', version: 2.0.0}\n"}), []string{"does not belong"}},
		{"pnpm alias", skill(one("1"), files{"pnpm-lock.yaml": "lockfileVersion: '9.0'\nx: &x 1\n"}), []string{"cannot be read"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := r.store(func(o *Options) {
				o.Run = func(context.Context, *Command) (*Output, error) {
					t.Error("a program was started")
					return nil, errors.New("no")
				}
			})
			before := r.Requests()
			got, err := s.Prepare(t.Context(), project(c.files), nil)
			failure(t, err, ReasonMetadata, append(c.want, "Script a is not run")...)
			if !got.Needed || r.Requests() != before {
				t.Errorf("something was fetched")
			}
			nothingLeft(t, s)
		})
	}
}

// Of several locks the one of the packageManager is followed, then the order of the formats; one that does not belong to
// the package.json is passed over.
func TestSeveralLocks(t *testing.T) {
	r, locks := world(t)
	manager := func(name string) files {
		f := skill(dependencies(), files{})
		f["package.json"] = strings.Replace(f["package.json"], `{`, `{"packageManager":"`+name+`",`, 1)
		for _, file := range []string{"package-lock.json", "bun.lock", "pnpm-lock.yaml"} {
			f[file] = locks[file]
		}
		return f
	}
	stale := manager("")
	stale["package-lock.json"] = strings.Replace(stale["package-lock.json"], "^1.0.0", "^9", 1)
	for _, c := range []struct {
		files files
		want  string
	}{{manager(""), "package-lock.json"}, {manager("bun@1.3.0"), "bun.lock"}, {manager("pnpm@9.0.0+sha256.x"), "pnpm-lock.yaml"}, {stale, "pnpm-lock.yaml"}} {
		if got := prepare(t, r.store(nil), project(c.files), nil); got.Lock != c.want {
			t.Errorf("followed %s, want %s", got.Lock, c.want)
		}
	}
}

// C68: a file that is not the one of the lock is not unpacked, and a registry that has none is named.
func TestWrongFile(t *testing.T) {
	r := newRegistry(t)
	r.Publish("a@1.2.0", nil)
	deps := map[string]string{"a": "1"}
	lock := func(sum string) files {
		return skill(deps, files{"package-lock.json": npmtest.Lock(deps, m{"node_modules/a": m{"version": "1.2.0", "integrity": sum}})})
	}
	s := r.store(nil)
	_, err := s.Prepare(t.Context(), project(lock(npmtest.Integrity([]byte("another")))), nil)
	failure(t, err, ReasonDependencies, "a@1.2.0", "not the one of the lock", "sha512")
	nothingLeft(t, s)
	r.Clear()
	_, err = s.Prepare(t.Context(), project(lock(npmtest.Integrity(nil))), nil)
	failure(t, err, ReasonDependencies, "answers 404", "/a/-/a-1.2.0.tgz")
	nothingLeft(t, s)
}

// C68: only regular files are written, below the package's own place.
func TestHostilePackages(t *testing.T) {
	file := func(name string) npmtest.Entry {
		return npmtest.Entry{Header: tar.Header{Name: name, Typeflag: tar.TypeReg}, Text: "x"}
	}
	for _, c := range []struct {
		name    string
		entries []npmtest.Entry
		want    string // in the error; "" if it is installed
	}{
		{"up", []npmtest.Entry{file("package/../../evil")}, `"package/../../evil"`},
		{"absolute", []npmtest.Entry{file("/package/evil")}, `"/package/evil"`},
		{"device", []npmtest.Entry{{Header: tar.Header{Name: "package/d", Typeflag: tar.TypeChar}}}, "of kind"},
		{"pipe", []npmtest.Entry{{Header: tar.Header{Name: "package/p", Typeflag: tar.TypeFifo}}}, "of kind"},
		{"deep", []npmtest.Entry{file("package/" + strings.Repeat("d/", 100) + "f")}, "not unpacked"},
		{"link", []npmtest.Entry{{Header: tar.Header{Name: "package/l", Typeflag: tar.TypeSymlink, Linkname: "/etc"}}, file("package/l/evil"), file("package/f")}, ""},
		{"hard link", []npmtest.Entry{{Header: tar.Header{Name: "package/l", Typeflag: tar.TypeLink, Linkname: "/etc/passwd"}}, file("other/f")}, ""},
		{"beside", []npmtest.Entry{file("beside"), file("./package/f")}, ""},
		{"no gzip", nil, "not a package"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRegistry(t)
			b := npmtest.Pack(c.entries...)
			if c.entries == nil {
				b = []byte("text")
			}
			deps := map[string]string{"a": "1"}
			s := r.store(nil)
			lock := npmtest.Lock(deps, m{"node_modules/a": m{"version": "1.2.0", "integrity": r.Put("a@1.2.0", b)}})
			got, err := s.Prepare(t.Context(), project(skill(deps, files{"package-lock.json": lock})), nil)
			if c.want != "" {
				failure(t, err, ReasonDependencies, "a@1.2.0", c.want)
				nothingLeft(t, s)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			for name := range installed(t, got) {
				if info, err := os.Lstat(filepath.Join(got.Folder, name)); err != nil || !info.Mode().IsRegular() {
					t.Errorf("%s: %v %v", name, info, err)
				}
				if name != "node_modules/a/f" && name != "node_modules/a/l/evil" {
					t.Errorf("%s was written", name)
				}
			}
		})
	}
}

// C69: the bytes that are fetched and unpacked, and the time, are bounded.
func TestLimits(t *testing.T) {
	deps := map[string]string{"a": "1"}
	r := newRegistry(t)
	f := func(text string) files {
		sum := r.Publish("a@1.2.0", files{"big": text})
		return skill(deps, files{"package-lock.json": npmtest.Lock(deps, m{"node_modules/a": m{"version": "1.2.0", "integrity": sum}})})
	}
	small := r.store(func(o *Options) { o.MaxBytes = 1 << 20 })
	_, err := small.Prepare(t.Context(), project(f(strings.Repeat("x", 2<<20))), nil)
	failure(t, err, ReasonDependencies, "refused", "unpack to more than is allowed")
	if !errors.Is(err, ErrTooLarge) {
		t.Errorf("%v is not ErrTooLarge", err)
	}
	nothingLeft(t, small)

	tiny := r.store(func(o *Options) { o.MaxBytes = 10 })
	if _, err := tiny.Prepare(t.Context(), project(f("x")), nil); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a download over the limit: %v", err)
	}
	bomb := r.store(nil)
	if _, err := bomb.Prepare(t.Context(), project(f(strings.Repeat("\x00", 70<<20))), nil); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a package that unpacks to a thousand times its size: %v", err)
	}
	nothingLeft(t, bomb)

	slow := r.store(func(o *Options) {
		o.MaxTime = 50 * time.Millisecond
		o.Transport = roundTrip(func(req *http.Request) (*http.Response, error) {
			<-req.Context().Done()
			return nil, req.Context().Err()
		})
	})
	_, err = slow.Prepare(t.Context(), project(f("x")), nil)
	failure(t, err, ReasonDependencies, "took more than 0.05s")
	nothingLeft(t, slow)

	large := r.store(func(o *Options) {
		o.Transport = roundTrip(func(req *http.Request) (*http.Response, error) {
			res, err := http.DefaultTransport.RoundTrip(req)
			if err == nil {
				res.ContentLength = LargeDownload + 1
			}
			return res, err
		})
	})
	_, err = large.Prepare(t.Context(), project(f("x")), nil)
	failure(t, err, ReasonDependencies, "refused", "a large download", "200 MB")
	if !errors.Is(err, ErrLargeDownload) {
		t.Errorf("%v is not ErrLargeDownload", err)
	}
	nothingLeft(t, large)
	var asked []Download
	answer := false
	o := &PrepareOptions{Large: func(_ context.Context, d Download) (bool, error) { asked = append(asked, d); return answer, nil }}
	if _, err := large.Prepare(t.Context(), project(f("x")), o); !errors.Is(err, ErrLargeDownload) {
		t.Errorf("after a no: %v", err)
	}
	answer = true
	if got, err := large.Prepare(t.Context(), project(f("x")), o); err != nil || !got.Made {
		t.Errorf("after a yes: %v", err)
	}
	if len(asked) != 2 || asked[0].Script != "a" || asked[0].Bytes != LargeDownload+1 || !slices.Equal(asked[0].Packages, []string{"a@1.2.0"}) {
		t.Errorf("asked %+v", asked)
	}

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.store(nil).Prepare(ctx, project(f("x")), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// An optional package without facts in the lock is left out if its own package.json says that it is for another system; a
// package that brings others keeps them, and one that the lock puts inside another replaces what that brings.
func TestFactsOfThePackage(t *testing.T) {
	r := newRegistry(t)
	deps := map[string]string{"a": "1"}
	a := r.Publish("a@1.2.0", files{"node_modules/own/index.js": "own", "node_modules/b/index.js": "brought", "bin/run": "#!/bin/sh"})
	b := r.Publish("b@1.0.0", nil)
	other := r.Publish("musl@1.0.0", files{"package.json": `{"libc":["musl"],"os":["linux"]}`})
	lock := npmtest.Lock(deps, m{
		"node_modules/a":                  m{"version": "1.2.0", "integrity": a},
		"node_modules/a/node_modules/b":   m{"version": "1.0.0", "integrity": b},
		"node_modules/a/node_modules/own": m{"version": "1.0.0", "inBundle": true},
		"node_modules/musl":               m{"version": "1.0.0", "integrity": other, "optional": true},
	})
	got := prepare(t, r.store(nil), project(skill(deps, files{"package-lock.json": lock})), nil)
	all := installed(t, got)
	if all["node_modules/a/node_modules/own/index.js"] != "own" || all["node_modules/a/node_modules/b/index.js"] != `module.exports = "b@1.0.0"` {
		t.Errorf("got %v", all)
	}
	if slices.Contains(got.Packages, "musl@1.0.0") || all["node_modules/musl/index.js"] != "" {
		t.Errorf("a package for another system is installed: %v", got.Packages)
	}
}

// Nothing is prepared for a script that imports no package, or whose packages are there.
func TestNeedsNothing(t *testing.T) {
	r := newRegistry(t)
	deps := map[string]string{"a": "git://refused"}
	for name, f := range map[string]files{
		"no package.json":    {"scripts/a.js": `require("a")`},
		"no dependencies":    {"scripts/a.js": `require("a")`, "package.json": `{"type":"module","devDependencies":{"a":"git://x/y"}}`},
		"only Node.js":       skill(deps, files{"scripts/a.js": "import fs from 'node:fs'; import {x} from './x.js'\nimport 'path'", "scripts/x.ts": "export const x = require(`fs/promises`)"}),
		"own node_modules":   skill(deps, files{"node_modules/a/index.js": ""}),
		"outside":            {"scripts/a.js": `require("a")`, "other/package.json": `{"dependencies":{"a":"1"}}`},
		"others of a folder": skill(deps, files{"scripts/a.js": `require("./b")`, "scripts/b.js": "", "scripts/c.js": `require("a")`}),
	} {
		if got, err := r.store(nil).Prepare(t.Context(), project(f), nil); err != nil || got.Needed || got.Folder != "" {
			t.Errorf("%s: %+v %v", name, got, err)
		}
	}
	for name, script := range map[string]string{
		"import": `import x from "a"`, "import of several lines": "import {\n  x,\n} from 'a'", "export": `export * from "a/sub"`, "dynamic": `await import('a')`,
		"side effect": `import "a"`, "computed": `require(name)`, "started": `import {spawn} from "child_process"`, "relative": `import "./deep.js"`,
		"subpath": `import "#a"`, "created": `const r = createRequire(import.meta.url); r("a")`,
	} {
		f := skill(deps, files{"scripts/a.js": script, "scripts/deep.mjs": "", "scripts/deep.js": "require('./deeper')", "scripts/deeper/index.ts": "import 'a'"})
		if _, err := r.store(nil).Prepare(t.Context(), project(f), nil); err == nil {
			t.Errorf("%s: a script that needs packages is taken for one that does not", name)
		}
	}
}

// What nobody used is listed: environments, copies of skills in others, and the remains of preparations.
func TestUnused(t *testing.T) {
	r, locks := world(t)
	s := r.store(nil)
	got := prepare(t, s, project(skill(dependencies(), files{"bun.lock": locks["bun.lock"]})), nil)
	left := filepath.Join(s.folder(), "key-work-1")
	if err := os.MkdirAll(left, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"old", "new"} {
		if _, err := got.Copy(t.Context(), key, sealer(t, nil)); err != nil {
			t.Fatal(err)
		}
	}
	record := filepath.Join(got.Folder, skills, "old.json")
	old := time.Now().Add(-48 * time.Hour)
	os.Chtimes(record, old, old)
	listed := func(since time.Duration) (paths []string) {
		for _, l := range s.Unused(time.Now().Add(since)) {
			paths = append(paths, l.Path)
		}
		return paths
	}
	if paths := listed(-24 * time.Hour); !slices.Equal(paths, []string{left, record}) {
		t.Errorf("got %v", paths)
	}
	if _, err := got.Copy(t.Context(), "old", sealer(t, nil)); err != nil {
		t.Fatal(err)
	}
	if paths := listed(-24 * time.Hour); len(paths) != 1 {
		t.Errorf("a copy in use is listed: %v", paths)
	}
	if all := s.Unused(time.Now().Add(time.Hour)); len(all) != 2 || !slices.Contains(all[0].Parts, got.Folder) {
		t.Errorf("got %v", all)
	}
}

// sealer copies a skill with one script and counts how often.
func sealer(t *testing.T, n *int) func(string) (string, error) {
	return func(folder string) (string, error) {
		if n != nil {
			*n++
		}
		dir := filepath.Join(folder, "digest", "x")
		if err := os.MkdirAll(filepath.Join(dir, "scripts"), 0o755); err != nil {
			t.Fatal(err)
		}
		return dir, os.WriteFile(filepath.Join(dir, "scripts", "a.js"), []byte("text"), 0o444)
	}
}

// A copy has node_modules next to package.json. It is made once, and again when its files changed.
func TestCopy(t *testing.T) {
	r, locks := world(t)
	f := skill(dependencies(), files{})
	f["scripts/package.json"], f["scripts/bun.lock"] = f["package.json"], locks["bun.lock"]
	delete(f, "package.json")
	got := prepare(t, r.store(nil), project(f), nil)
	n := 0
	var dirs []string
	for i := range 3 {
		dir, err := got.Copy(t.Context(), "key", sealer(t, &n))
		if err != nil {
			t.Fatal(err)
		}
		if b, err := os.ReadFile(filepath.Join(dir, "scripts", modules, "a", "lib", "x.js")); err != nil || string(b) != "x" {
			t.Errorf("copy %d: %s %v", i, b, err)
		}
		dirs = append(dirs, dir)
		if i == 1 {
			os.Chmod(filepath.Join(dir, "scripts", "a.js"), 0o644)
			os.WriteFile(filepath.Join(dir, "scripts", "a.js"), []byte("evil"), 0o644)
		}
	}
	if n != 2 || dirs[0] != dirs[1] || dirs[1] == dirs[2] {
		t.Errorf("sealed %d times: %v", n, dirs)
	}
	fault := errors.New("no room")
	if _, err := got.Copy(t.Context(), "other", func(string) (string, error) { return "", fault }); err != fault {
		t.Errorf("got %v", err)
	}
}

// Two that need the same packages fetch them once.
func TestTogether(t *testing.T) {
	r, locks := world(t)
	s := r.store(nil)
	f := skill(dependencies(), files{"bun.lock": locks["bun.lock"]})
	made := make(chan bool, 4)
	for range cap(made) {
		go func() {
			p, err := s.Prepare(t.Context(), project(f), nil)
			if err != nil {
				t.Error(err)
			}
			made <- p.Made
		}()
	}
	n := 0
	for range cap(made) {
		if <-made {
			n++
		}
	}
	if n != 1 || r.Requests() != 5 {
		t.Errorf("made %d times with %d requests", n, r.Requests())
	}
}

func TestNewRefuses(t *testing.T) {
	run := func(context.Context, *Command) (*Output, error) { return nil, nil }
	for i, o := range []*Options{{}, {Run: run}, {Run: run, LookPath: exec.LookPath, Cache: "relative"}} {
		if _, err := New(o); err == nil {
			t.Errorf("options %d are taken", i)
		}
	}
}
