package pyenv

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// standIn is a store whose uv is a shell script. It has a command for each of uv's.
func standIn(t *testing.T, lock string, change func(*Options)) *Store {
	t.Helper()
	bin := t.TempDir()
	tree{"uv": `#!/bin/sh
for last; do :; done
case "$1" in
lock) ` + lock + ` ;;
export) printf 'dep==1.0\n' >"$last" ;;
venv) mkdir -p "$last/bin" "$last/lib/python3/site-packages"; ln -s "$4" "$last/bin/python"; echo >"$last/pyvenv.cfg" ;;
pip) mkdir "${4%/bin/python}/lib/python3/site-packages/dep-1.0.dist-info"; echo > "${4%/bin/python}/lib/python3/site-packages/dep.py" ;;
python) ` + "case \"$2\" in install) dir=$6/cpython-3.98.7-none; mkdir -p $dir/bin; cp \"$PYTHON\" $dir/bin/python3;; *) exit 1;; esac" + ` ;;
esac
`}.write(t, bin)
	return store(t, func(o *Options) {
		o.LookPath = look(map[string]string{"uv": filepath.Join(bin, "uv")})
		if change != nil {
			change(o)
		}
	})
}

// lockOf writes a lock with one package of a size.
func lockOf(bytes int64) string {
	return fmt.Sprintf(`cat >stub.py.lock <<EOF
[[package]]
name = "torch"
version = "1.0"
wheels = [{ url = "https://x/torch-1.0-py3-none-any.whl", hash = "%s", size = %d }]
EOF
`, digest, bytes)
}

// C69: a large download is a question, before anything is downloaded.
func TestLargeDownload(t *testing.T) {
	s := standIn(t, lockOf(2_300_000_000), nil)
	_, err := s.Prepare(t.Context(), needsDep(), nil)
	failure(t, err, ReasonDependencies, "Dependencies of script a are a large download, which nobody has allowed (torch: 2.3 GB)")
	if !errors.Is(err, ErrLargeDownload) {
		t.Errorf("got %v, want %v in it", err, ErrLargeDownload)
	}
	if left, _ := filepath.Glob(filepath.Join(s.folder(), "*")); len(left) != 1 || filepath.Ext(left[0]) != ".lock" {
		t.Errorf("got %q", left)
	}
	var asked []string
	answer := false
	o := &PrepareOptions{Large: func(_ context.Context, d Download) (bool, error) {
		asked = append(asked, d.Script+" "+d.String())
		return answer, nil
	}}
	if _, err := s.Prepare(t.Context(), needsDep(), o); !errors.Is(err, ErrLargeDownload) {
		t.Errorf("after a no: %v", err)
	}
	answer = true
	for range 2 {
		if p, err := s.Prepare(t.Context(), needsDep(), o); err != nil || p.Python == "" {
			t.Errorf("after a yes: %v", err)
		}
	}
	if want := []string{"a torch: 2.3 GB", "a torch: 2.3 GB"}; !slices.Equal(asked, want) {
		t.Errorf("asked %q, want %q", asked, want)
	}
	if _, err := standIn(t, lockOf(LargeDownload), nil).Prepare(t.Context(), needsDep(), nil); err != nil {
		t.Errorf("200 MB: %v", err)
	}
	if _, err := standIn(t, lockOf(0), nil).Prepare(t.Context(), needsDep(), nil); err != nil { // F8
		t.Errorf("without sizes: %v", err)
	}
}

func TestDownload(t *testing.T) {
	l := locked{Package: []lockedPackage{
		{Name: "both", Wheels: []lockedWheel{{URL: "https://x/both-1-cp311-cp311-manylinux_2_28_x86_64.whl#sha256=0", Size: 10}, {URL: "https://x/both-1-cp311-cp311-macosx_11_0_arm64.whl", Size: 999},
			{URL: "https://x/both-1-cp312-cp312-manylinux_2_28_x86_64.whl", Size: 12}, {URL: "https://x/both-1-cp312-cp312-manylinux_2_28_aarch64.whl", Size: 888}, {URL: "https://x/both-1-cp312-cp312-win_amd64.whl", Size: 777}}},
		{Name: "pure", Wheels: []lockedWheel{{Path: `..\wheels\pure-1-py3-none-any.whl`, Size: 5}}},
		{Name: "mac", Wheels: []lockedWheel{{URL: "https://x/mac-1-py3-none-macosx_11_0_universal2.whl", Size: 400}}},
	}}
	for system, want := range map[string]int64{"linux/amd64": 17, "darwin/arm64": 1404, "linux/arm64": 893, "windows/amd64": 782} {
		goos, goarch, _ := strings.Cut(system, "/")
		var sum int64
		for _, p := range l.Package {
			var most int64
			for _, w := range p.Wheels {
				if forSystem(w.file(), goos, goarch) {
					most = max(most, w.Size)
				}
			}
			sum += most
		}
		if sum != want {
			t.Errorf("%s: got %d, want %d", system, sum, want)
		}
	}
	for want, d := range map[string]Download{
		"nothing": {}, "a": {Packages: []string{"a"}}, "a and 1 other: 12.3 MB": {Packages: []string{"a", "b"}, Bytes: 12_300_000},
		"a and 2 others: 900 bytes": {Packages: []string{"a", "b", "c"}, Bytes: 900},
	} {
		if got := d.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// C69: preparing has a time.
func TestPreparingEnds(t *testing.T) {
	s := standIn(t, "exec sleep 60", func(o *Options) { o.MaxTime = 300 * time.Millisecond })
	begun := time.Now()
	_, err := s.Prepare(t.Context(), needsDep(), nil)
	failure(t, err, ReasonDependencies, "Dependencies of script a took more than 0.3s to prepare")
	if !errors.Is(err, ErrTooSlow) || time.Since(begun) > 50*time.Second {
		t.Errorf("got %v after %s", err, time.Since(begun))
	}
}

// Versions are chosen for the Python that will run the script, not for all that its file allows.
func TestVersionsAreForThisPython(t *testing.T) {
	s := standIn(t, `cp stub.py "$KEEP"; : >stub.py.lock`, nil)
	keep := filepath.Join(t.TempDir(), "stub")
	run := s.o.Run
	s.o.Run = func(ctx context.Context, c *Command) (*Output, error) {
		c.Env = append(c.Env, "KEEP="+keep)
		return run(ctx, c)
	}
	if _, err := s.Prepare(t.Context(), &Script{Name: "a", Needs: &Needs{RequiresPython: ">=3.3", Dependencies: []string{"dep"}}}, nil); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(keep); err != nil || !strings.Contains(string(b), `# requires-python = "==3.`) {
		t.Errorf("got %q, %v", b, err)
	}
}

// C68: a Python that is not installed is fetched, if that is allowed, and found again without uv.
func TestFetchPython(t *testing.T) {
	bin := t.TempDir()
	tree{"python": "#!/bin/sh\nprintf '%s\\n3.98.7\\n' \"$0\"\n"}.write(t, bin)
	sc := &Script{Name: "a", Needs: &Needs{RequiresPython: ">=3.98"}}
	var installs int
	with := func(o *Options) {
		o.FetchPython = true
		run := o.Run
		o.Run = func(ctx context.Context, c *Command) (*Output, error) {
			if len(c.Args) > 2 && c.Args[2] == "install" {
				installs++
			}
			c.Env = append(c.Env, "PYTHON="+filepath.Join(bin, "python"))
			return run(ctx, c)
		}
	}
	s := standIn(t, "exit 1", with)
	for range 2 {
		p, err := s.Prepare(t.Context(), sc, nil)
		if want := filepath.Join(s.o.Cache, "pythons", "cpython-3.98.7-none", "bin", "python3"); err != nil || p.Python != want {
			t.Fatalf("got %+v, %v, want %s", p, err, want)
		}
	}
	if installs != 1 {
		t.Errorf("fetched %d times", installs)
	}
	_, err := s.Prepare(t.Context(), &Script{Name: "a", Needs: &Needs{RequiresPython: ">=3.99"}}, nil)
	failure(t, err, ReasonPython, "Script a requires Python >=3.99, but ", "uv fetched none that will do")
	_, err = standIn(t, "exit 1", nil).Prepare(t.Context(), sc, nil)
	failure(t, err, ReasonPython, "fetching one is turned off")
}

// C68: a package that is there as a source alone is refused with the cure.
func TestWheelsOnly(t *testing.T) {
	s := standIn(t, "echo 'hint: Wheels are required for `docopt` because building from source is disabled' >&2; exit 1", nil)
	_, err := s.Prepare(t.Context(), needsDep(), nil)
	failure(t, err, ReasonDependencies, "The package docopt has no wheel, and its source is not built, since that runs its code: use another version or package, or allow it")
	var none *NoWheelError
	if !errors.As(err, &none) || none.Package != "docopt" {
		t.Errorf("got %v", err)
	}
}

// C68: a package is built from its source only if the user named it, also when its environment is made again.
func TestBuildIsForOnePackage(t *testing.T) {
	s := standIn(t, ": >stub.py.lock", nil)
	var lines []string
	run := s.o.Run
	s.o.Run = func(ctx context.Context, c *Command) (*Output, error) {
		if len(c.Args) > 1 && (c.Args[1] == "lock" || c.Args[1] == "pip") {
			lines = append(lines, c.Args[1]+" "+strings.Join(c.Args[len(c.Args)-min(6, len(c.Args)-2):], " "))
			if !slices.Contains(c.Env, "UV_NO_BUILD=1") {
				t.Errorf("%q may build everything", c.Args)
			}
		}
		return run(ctx, c)
	}
	p, err := s.Prepare(t.Context(), needsDep(), &PrepareOptions{Build: []string{"dep"}})
	if err != nil || len(lines) != 2 || !strings.HasSuffix(lines[0], " --no-binary-package dep") || !strings.Contains(lines[1], " --no-binary dep ") && !strings.Contains(lines[1], " dep --no-compile") {
		t.Errorf("got %q, %v", lines, err)
	}
	lines = nil
	tree{"planted.pth": ""}.write(t, p.folder)
	if _, err := s.Prepare(t.Context(), needsDep(), nil); err != nil || len(lines) != 1 || !strings.Contains(lines[0], " dep --no-compile") {
		t.Errorf("made again: got %q, %v", lines, err)
	}
}

func TestLacks(t *testing.T) {
	p, err := standIn(t, ": >stub.py.lock", nil).Prepare(t.Context(), needsDep(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Lacks([]string{"dep", "yaml", "google.genai"}); !slices.Equal(got, []string{"yaml", "google.genai"}) {
		t.Errorf("got %q", got)
	}
	if got := (&Prepared{}).Lacks([]string{"dep"}); !slices.Equal(got, []string{"dep"}) {
		t.Errorf("without an environment: %q", got)
	}
}

// Needs that a caller made are checked: they are written into a file that uv reads.
func TestNeedsAreChecked(t *testing.T) {
	for _, n := range []*Needs{
		{Dependencies: []string{"a\"\n# [tool.uv]"}}, {Dependencies: []string{"a @ https://x"}}, {Constraints: []string{"-e ."}}, {RequiresPython: "\"\n"},
	} {
		_, err := standIn(t, "exit 9", nil).Prepare(t.Context(), &Script{Name: "a", Needs: n}, nil)
		failure(t, err, ReasonMetadata, "Script a is not run: ")
	}
}

// What one store has chosen another one installs, also later choices; its own count if they are later still.
func TestChosenElsewhere(t *testing.T) {
	first := standIn(t, lockOf(1), nil)
	made := func(s *Store, o *PrepareOptions) environmentRecord {
		t.Helper()
		if _, err := s.Prepare(t.Context(), needsDep(), o); err != nil {
			t.Fatal(err)
		}
		records, _ := filepath.Glob(filepath.Join(s.folder(), "*.json"))
		if len(records) != 1 {
			t.Fatalf("got %q", records)
		}
		e := environmentOf{job: &job{s: s}, key: strings.TrimSuffix(filepath.Base(records[0]), ".json")}
		return readRecord(e.place())
	}
	var asked []string
	var fails error
	second := standIn(t, "exit 7", func(o *Options) { // it cannot choose
		o.Chosen = func(_ context.Context, key string) ([]byte, error) {
			asked = append(asked, key)
			return first.Chosen(key), fails
		}
	})
	_, err := second.Prepare(t.Context(), needsDep(), nil)
	failure(t, err, ReasonDependencies, "uv lock failed with exit code 7")
	theirs := made(first, nil)
	ours := made(second, nil)
	if ours.choice.Requirements != theirs.choice.Requirements || !ours.Resolved.Equal(theirs.Resolved) {
		t.Errorf("got %+v, want the choice of %+v", ours, theirs)
	}
	if again := made(second, nil); again.Folder != ours.Folder {
		t.Errorf("the same choice makes another environment: %+v", again)
	}
	later := made(first, &PrepareOptions{Upgrade: true})
	if now := made(second, nil); !now.Resolved.Equal(later.Resolved) || now.Folder == ours.Folder {
		t.Errorf("got %+v, want the choice of %+v", now, later)
	}
	fails = errors.New("nobody answers")
	made(second, nil) // it has what it needs
	if err := os.RemoveAll(second.folder()); err != nil {
		t.Fatal(err)
	}
	_, err = second.Prepare(t.Context(), needsDep(), nil)
	failure(t, err, ReasonDependencies, "the versions that were chosen for them do not come: nobody answers")
	wanted, python, _ := strings.Cut(asked[0], " ")
	for _, key := range []string{"", " ", wanted, wanted + " ", " " + python, wanted[:9] + " " + python, wanted + " ==2.7.*", "../" + asked[0]} {
		if got := first.Chosen(key); got != nil {
			t.Errorf("%q: %s", key, got)
		}
	}
}
