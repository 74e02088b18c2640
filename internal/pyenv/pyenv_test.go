package pyenv

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/agent-base/agent-base/internal/envstore"
	"github.com/agent-base/agent-base/internal/ondisk"
	"github.com/agent-base/agent-base/internal/test/pythontest"
	"github.com/agent-base/agent-base/internal/test/scratch"
)

// Each function waits for the goroutines that it starts.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// tree is the content of files by slash path; one that begins with "#!" may be executed.
type tree map[string]string

func (tr tree) write(t testing.TB, dir string) {
	t.Helper()
	for name, content := range tr {
		mode := os.FileMode(0o644)
		if strings.HasPrefix(content, "#!") {
			mode = 0o755
		}
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), mode); err != nil {
			t.Fatal(err)
		}
	}
}

// execute runs a command as a plain process.
func execute(ctx context.Context, c *Command) (*Output, error) {
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, c.Path, c.Args[1:]...)
	var stdout, stderr bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = c.Dir, c.Env, &stdout, &stderr, time.Second
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return nil, err
	}
	return &Output{Stdout: stdout.Bytes(), Stderr: stderr.Bytes(), ExitCode: cmd.ProcessState.ExitCode()}, nil
}

// store has an empty cache and the programs of this machine.
func store(t *testing.T, change func(*Options)) *Store {
	t.Helper()
	o := &Options{Run: execute, LookPath: exec.LookPath, Cache: scratch.Dir(t), Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}}
	if change != nil {
		change(o)
	}
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// uvStore has a real uv that takes packages from the folder alone.
func uvStore(t *testing.T, packages string, change func(*Options)) *Store {
	t.Helper()
	uv, err := pythontest.UV()
	if err != nil {
		t.Fatal(err)
	}
	return store(t, func(o *Options) {
		o.Env = append(o.Env, "UV_OFFLINE=1", "UV_FIND_LINKS="+packages)
		o.LookPath = look(map[string]string{"uv": uv})
		if change != nil {
			change(o)
		}
	})
}

// look finds the programs that are named, and others as this machine does.
func look(programs map[string]string) func(string) (string, error) {
	return func(name string) (string, error) {
		if p := programs[name]; p != "" {
			return p, nil
		}
		return exec.LookPath(name)
	}
}

func wheel(t *testing.T, dir, name, version string, files tree) {
	t.Helper()
	if err := pythontest.Wheel(dir, name, version, files); err != nil {
		t.Fatal(err)
	}
}

// needsDep is a script that depends on the package dep.
func needsDep() *Script {
	return &Script{Name: "a", Needs: &Needs{Dependencies: []string{"dep"}}}
}

// failure checks an error's reason and that its message has all parts.
func failure(t *testing.T, err error, reason string, parts ...string) {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) || e.Reason != reason {
		t.Fatalf("got %v, want an *Error with the reason %s", err, reason)
	}
	for _, p := range parts {
		if !strings.Contains(e.Message, p) {
			t.Errorf("got %q, want %q in it", e.Message, p)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	for want, o := range map[string]*Options{
		"Options.Run is missing":                          {LookPath: exec.LookPath, Cache: "/x"},
		"Options.LookPath is missing":                     {Run: execute, Cache: "/x"},
		`Options.Cache must be an absolute path, not "x"`: {Run: execute, LookPath: exec.LookPath, Cache: "x"},
	} {
		if _, err := New(o); err == nil || err.Error() != want {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// security 1.3: what changes the key, and what does not.
func TestKey(t *testing.T) {
	bin := t.TempDir()
	tree{"python": "#!/bin/sh\n", "uv": "#!/bin/sh\n", "other": "#!/bin/sh\n"}.write(t, bin)
	key := func(b Needs, python, uv string, env ...string) string {
		s := &Store{o: Options{Env: env}}
		return environmentKey(&environmentOf{job: &job{s: s, needs: &b}, base: filepath.Join(bin, python), uv: filepath.Join(bin, uv), index: s.indexSettings()})
	}
	one := Needs{Dependencies: []string{"a", "b"}}
	want := key(one, "python", "uv")
	for name, got := range map[string]string{
		"order and repetition":      key(Needs{Dependencies: []string{"b", "a", "b"}}, "python", "uv"),
		"settings that do not pass": key(one, "python", "uv", "UV_LINK_MODE=hardlink", "UV_CONFIG_FILE=/x", "EDITOR=vi"),
	} {
		if got != want {
			t.Errorf("%s: the key changes", name)
		}
	}
	changes := map[string]string{
		"dependency":      key(Needs{Dependencies: []string{"a"}}, "python", "uv"),
		"requires-python": key(Needs{RequiresPython: ">=3.8", Dependencies: []string{"a", "b"}}, "python", "uv"),
		"interpreter":     key(one, "other", "uv"),
		"uv":              key(one, "python", "other"),
		"no uv":           key(one, "python", "none"),
		"index":           key(one, "python", "uv", "UV_DEFAULT_INDEX=https://x.example"),
		"second index":    key(one, "python", "uv", "UV_INDEX=https://x.example"),
		"credentials":     key(one, "python", "uv", "UV_INDEX_PRIV_PASSWORD=y"),
	}
	tree{"python": "#!/bin/sh\n# upgraded\n"}.write(t, bin)
	changes["interpreter upgraded"] = key(one, "python", "uv")
	tree{"uv": "#!/bin/sh\n# upgraded\n"}.write(t, bin)
	changes["uv upgraded"] = key(one, "python", "uv")
	seen := map[string]string{want: "nothing"}
	for name, got := range changes {
		if seen[got] != "" {
			t.Errorf("%s and %s have the same key", name, seen[got])
		}
		seen[got] = name
	}
	if ondisk.Digest("a", "b") == ondisk.Digest("ab", "") || ondisk.Digest("a") == ondisk.Digest("a", "") {
		t.Error("parts run together")
	}
}

// What takes long is reported; what does not is not.
func TestProgress(t *testing.T) {
	packages := t.TempDir()
	wheel(t, packages, "dep", "1.0", tree{"dep.py": ""})
	var mu sync.Mutex
	var told []string
	s := uvStore(t, packages, func(o *Options) {
		o.Progress = func(s string) { mu.Lock(); defer mu.Unlock(); told = append(told, s) }
	})
	s.patience = time.Millisecond
	prepare := func(o *PrepareOptions) *Prepared {
		t.Helper()
		p, err := s.Prepare(t.Context(), needsDep(), o)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	p := prepare(nil)
	if !p.Made || !slices.Equal(p.Packages(), []string{"dep==1.0"}) || len(told) != 2 || told[0] != "preparing the dependencies of a: dep" ||
		!strings.HasPrefix(told[1], "preparing the dependencies of a: dep (1 package, ") { // C69: with the size
		t.Errorf("got %+v, %q", p, told)
	}
	if p := prepare(nil); p.Made || len(told) != 2 {
		t.Errorf("what was prepared is reported: %q", told)
	}
	s.patience = time.Hour
	if p := prepare(&PrepareOptions{Upgrade: true}); !p.Made || len(told) != 2 {
		t.Errorf("got %q", told)
	}
}

// Of packages only names and versions are listed, and at most a thousand.
func TestInstalled(t *testing.T) {
	root := t.TempDir()
	if got := installed(filepath.Join(root, "nowhere")); got != nil {
		t.Errorf("got %q", got)
	}
	many := tree{"lib/python3/site-packages/\x1b[31mred-1.dist-info/METADATA": ""}
	for i := range mostPackages + 1 {
		many[fmt.Sprintf("lib/python3/site-packages/p%d-1.dist-info/METADATA", i)] = ""
	}
	many.write(t, root)
	if got := installed(root); len(got) != mostPackages || strings.Contains(strings.Join(got, " "), "\x1b") {
		t.Errorf("got %d: %q", len(got), got)
	}
}

// R106: uv on PATH is taken first; without it, the module of python3 prints where it is.
func TestRowFindsUV(t *testing.T) {
	dir := t.TempDir()
	make := func(name, text string) string {
		tree{name: "#!/bin/sh\n" + text}.write(t, dir)
		return filepath.Join(dir, name)
	}
	uv, module := make("uv", "exit 0\n"), make("moduleuv", "exit 0\n")
	with := make("with", fmt.Sprintf("case \"$*\" in *find_uv_bin*) echo %s;; *) printf '%%s\\n3.12.0\\n' \"$0\";; esac\n", module))
	without := make("without", "case \"$*\" in *find_uv_bin*) echo no module >&2; exit 1;; *) printf '%s\\n3.12.0\\n' \"$0\";; esac\n")
	for _, tt := range []struct {
		name  string
		found map[string]string
		want  string
	}{
		{"on PATH", map[string]string{"uv": uv, "python3": with}, uv},
		{"as a module", map[string]string{"python3": with}, module},
		{"nowhere", map[string]string{"python3": without}, ""},
		{"no Python either", nil, ""},
	} {
		s := store(t, func(o *Options) {
			o.LookPath = func(name string) (string, error) {
				if p := tt.found[name]; p != "" {
					return p, nil
				}
				return "", exec.ErrNotFound
			}
		})
		got, err := s.uv(t.Context())
		if got != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("%s: %q, %v, want %q", tt.name, got, err, tt.want)
		}
	}
}

// A wheel that unpacks to far more than it is, or to very many files, is stopped, and nothing of it is
// left in uv's cache either.
func TestUnpackingIsCapped(t *testing.T) {
	many := tree{"dep/__init__.py": ""}
	for i := range 300 {
		many[fmt.Sprintf("dep/m%d.py", i)] = ""
	}
	for name, tt := range map[string]struct {
		files tree
		caps  caps
		want  string
	}{
		"one large file":  {tree{"dep/__init__.py": strings.Repeat("#", 24<<20)}, caps{bytes: 16 << 20, every: time.Millisecond}, "the packages unpack to more than 16777216 bytes"},
		"several of them": {tree{"dep/__init__.py": strings.Repeat("#", 10<<20), "dep/b.py": strings.Repeat("#", 10<<20)}, caps{bytes: 16 << 20, every: time.Hour}, "the packages unpack to more than 16777216 bytes"},
		"twice":           {tree{"dep/__init__.py": strings.Repeat("#", 10<<20)}, caps{bytes: 16 << 20, every: time.Hour}, "the packages unpack to more than 16777216 bytes"}, // in the cache and in the environment
		"many files":      {many, caps{files: 200, every: time.Hour}, "the packages have more than 200 files"},
	} {
		t.Run(name, func(t *testing.T) {
			wheels := t.TempDir()
			wheel(t, wheels, "dep", "1.0", tt.files)
			s := uvStore(t, wheels, nil)
			s.caps.every = tt.caps.every
			if tt.caps.bytes > 0 {
				s.caps.bytes = tt.caps.bytes
			}
			if tt.caps.files > 0 {
				s.caps.files = tt.caps.files
			}
			_, err := s.Prepare(t.Context(), needsDep(), nil)
			failure(t, err, ReasonDependencies, tt.want)
			if !errors.Is(err, ErrTooLarge) {
				t.Errorf("got %v, want %v in it", err, ErrTooLarge)
			}
			if left, _ := filepath.Glob(filepath.Join(s.folder(), "*")); len(left) != 1 || filepath.Ext(left[0]) != ".lock" {
				t.Errorf("got %q", left)
			}
			var left int64
			_ = filepath.WalkDir(filepath.Join(s.o.Cache, "uv"), func(_ string, d fs.DirEntry, err error) error {
				if info, infoErr := d.Info(); err == nil && infoErr == nil && info.Mode().IsRegular() {
					left += info.Size()
				}
				return nil
			})
			if left > 1<<20 {
				t.Errorf("%d bytes are left in uv's cache", left)
			}
		})
	}
	c := caps{bytes: 1 << 40}
	if c.allow(1000); c.bytes != 2*freeRatio {
		t.Errorf("got %d", c.bytes)
	}
	c = caps{bytes: 1 << 40}
	if c.allow(10 << 20); c.bytes != 2000<<20 {
		t.Errorf("got %d", c.bytes)
	}
	if c.allow(0); c.bytes != 2000<<20 {
		t.Errorf("got %d", c.bytes)
	}
}

// Unpacking is ended while it goes on: this uv never ends by itself.
func TestUnpackingIsWatched(t *testing.T) {
	bin := t.TempDir()
	tree{"uv": `#!/bin/sh
mkdir -p "$UV_CACHE_DIR/archive-v0/new"
for i in 1 2 3 4 5 6 7 8; do head -c 1000000 /dev/zero > "$UV_CACHE_DIR/archive-v0/new/$i"; done
exec sleep 300
`}.write(t, bin)
	s := store(t, func(o *Options) {
		o.LookPath, o.MaxBytes = look(map[string]string{"uv": filepath.Join(bin, "uv")}), 5_000_000
	})
	s.caps.every = 5 * time.Millisecond
	_, err := s.Prepare(t.Context(), needsDep(), nil)
	failure(t, err, ReasonDependencies, "Dependencies of script a are refused: the packages unpack to more than 5000000 bytes")
	if size := new(SizeError); !errors.As(err, &size) || size.MaxBytes != 5_000_000 {
		t.Errorf("got %#v, want a SizeError", err)
	}
	if left, _ := filepath.Glob(filepath.Join(s.o.Cache, "uv", "*", "archive-v0", "*")); left != nil {
		t.Errorf("left in uv's cache: %q", left)
	}
}

// An environment that scripts run in stays: its record bears the time of its use.
func TestUseIsMarked(t *testing.T) {
	s := store(t, nil)
	tree{"key-1/bin/python": "x"}.write(t, s.folder())
	files, err := envstore.Inventory(filepath.Join(s.folder(), "key-1"))
	if err != nil {
		t.Fatal(err)
	}
	b, _ := json.Marshal(environmentRecord{Folder: "key-1", Files: files})
	tree{"key.json": string(b)}.write(t, s.folder())
	record := filepath.Join(s.folder(), "key.json")
	long := time.Now().Add(-40 * 24 * time.Hour)
	if err := os.Chtimes(record, long, long); err != nil {
		t.Fatal(err)
	}
	since := long.Add(time.Hour)
	if found := s.Unused(since); len(found) != 1 || found[0].Path != record {
		t.Errorf("the control failed: %v", found)
	}
	e := &environmentOf{job: &job{s: s}, key: "key"}
	if wrong := e.look(); wrong != "" {
		t.Fatal(wrong)
	}
	if found := s.Unused(since); len(found) != 0 {
		t.Errorf("unused although it is used: %v", found)
	}
}

// uv gets the operator's certificates, and no credentials from files.
func TestCertificates(t *testing.T) {
	w := &workshop{e: &environmentOf{job: &job{s: &Store{o: Options{Env: []string{"SSL_CERT_FILE=/x"}}}}}}
	if env := w.environment(); env["SSL_CERT_FILE"] != "/x" || env["UV_SYSTEM_CERTS"] != "" || env["NETRC"] != os.DevNull {
		t.Errorf("got %v", env)
	}
}

// UV8, security 1.3: what is installed is what was resolved, by its hash, and no source is built: uv is given both rules
// on its command line, whatever its configuration says.
func TestInstallIsStrict(t *testing.T) {
	packages := t.TempDir()
	wheel(t, packages, "dep", "1.0", tree{"dep.py": ""})
	var mu sync.Mutex
	var given []*Command
	s := uvStore(t, packages, func(o *Options) {
		o.Run = func(ctx context.Context, c *Command) (*Output, error) {
			mu.Lock()
			given = append(given, c)
			mu.Unlock()
			return execute(ctx, c)
		}
	})
	if _, err := s.Prepare(t.Context(), needsDep(), nil); err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(given, func(c *Command) bool { return len(c.Args) > 2 && c.Args[1] == "pip" && c.Args[2] == "sync" })
	if i < 0 {
		t.Fatalf("no package was installed: %v", given)
	}
	line := strings.Join(given[i].Args, " ")
	for _, rule := range []string{" --require-hashes ", " --only-binary :all: ", " --no-compile-bytecode ", " --link-mode copy "} {
		if !strings.Contains(line, rule) {
			t.Errorf("%s lacks %q", line, rule)
		}
	}
	list, err := os.ReadFile(given[i].Args[len(given[i].Args)-1])
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the list of requirements is left: %q, %v", list, err)
	}
	for _, c := range given {
		if env := strings.Join(c.Env, " "); filepath.Base(c.Path) == "uv" && c.Args[1] != "python" && !strings.Contains(env, "UV_NO_BUILD=1") {
			t.Errorf("%q may build: %s", c.Args, env)
		}
	}
}
