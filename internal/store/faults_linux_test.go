package store_test

import (
	"bufio"
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/agent-base/agent-base/install/registry"
	"github.com/agent-base/agent-base/internal/dirhash"
	"github.com/agent-base/agent-base/internal/store"
	"github.com/agent-base/agent-base/internal/test/fault"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv("STORE_TEST_DIR"); dir != "" {
		n, _ := strconv.Atoi(os.Getenv("STORE_TEST_NUMBER"))
		if err := place(dir).loop(n, os.Getenv("STORE_TEST_DEFECT") != ""); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// place is a folder with a store and a registry.
type place string

// store flushes one file after the other: package fault sees one goroutine.
func (p place) store() *store.Dir { return &store.Dir{Root: string(p), Wait: time.Minute, Parallel: 1} }

func (p place) registry() *registry.Store {
	return &registry.Store{Path: filepath.Join(string(p), "registry.json"), Wait: time.Minute}
}

// files are those of every skill here.
func files(text string) map[string]string {
	return map[string]string{"SKILL.md": text, "scripts/run.sh": text + text}
}

// digestOf returns the digest of files(text).
func digestOf(text string) string {
	h := func(s string) string { return fmt.Sprintf("%x", sha(s)) }
	records := h(text) + "  ./SKILL.md\x00" + h(text+text) + "  ./scripts/run.sh\x00"
	return dirhash.Prefix + h(records)
}

// install puts a skill into the store and then into the registry, as an installer does. With the defect it writes the files in
// their place.
func (p place) install(name, text string, defect bool) error {
	ctx := context.Background()
	s, err := p.store().Stage(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	dir := filepath.Join(s.Dir, name)
	path, err := p.store().Path(name, digestOf(text))
	if err != nil {
		return err
	}
	if defect {
		dir = path
	}
	for f, text := range files(text) {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, f)), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, f), []byte(text), 0o600); err != nil {
			return err
		}
	}
	if !defect {
		if path, err = s.Keep(ctx, name, name, digestOf(text)); err != nil {
			return err
		}
	}
	return p.registry().Edit(ctx, func(d *registry.Draft) error {
		if _, ok := d.Set().Get(name); ok {
			return d.Update(name, func(e *registry.Entry) error {
				e.InstalledPath, e.Digest = path, digestOf(text)
				return nil
			})
		}
		return d.Register(registry.Entry{Name: name, InstalledPath: path, Digest: digestOf(text)})
	})
}

// wanted are the folders that the registry names.
func (p place) wanted(ctx context.Context) (func(string) bool, error) {
	set, err := p.registry().Load(ctx)
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, e := range set.All() {
		paths = append(paths, e.InstalledPath)
		for _, old := range e.Previous {
			paths = append(paths, old.InstalledPath)
		}
	}
	return func(path string) bool { return slices.Contains(paths, path) }, nil
}

func (p place) sweep() error {
	_, err := p.store().Sweep(context.Background(), p.wanted, nil)
	return err
}

// wrong reports a version that is not complete, or an entry without one.
func (p place) wrong() string {
	for _, path := range p.store().Versions() {
		sum, err := dirhash.Dir(context.Background(), os.DirFS(path), nil)
		if err != nil || !strings.HasPrefix(sum.Digest, dirhash.Prefix+filepath.Base(filepath.Dir(path))) {
			return fmt.Sprintf("version %s has the content %s: %v", path, sum.Digest, err)
		}
	}
	set, err := p.registry().Load(context.Background())
	if err != nil {
		return err.Error()
	}
	for _, e := range set.All() {
		if err := store.Verify(context.Background(), e.InstalledPath, e.Digest); err != nil {
			return "registered, but " + err.Error()
		}
	}
	return ""
}

// swept reports what a Sweep leaves in addition to what the registry names.
func (p place) swept() string {
	if err := p.sweep(); err != nil {
		return "sweep: " + err.Error()
	}
	if problem := p.wrong(); problem != "" {
		return problem
	}
	keep, err := p.wanted(context.Background())
	if err != nil {
		return err.Error()
	}
	for _, path := range p.store().Versions() {
		if !keep(path) {
			return "not swept: " + path
		}
	}
	left, _ := os.ReadDir(filepath.Join(string(p), ".store", ".stage"))
	if len(left) > 0 {
		return "not swept: " + left[0].Name()
	}
	return ""
}

// inMemory returns a place with one skill, in memory if the system has such a place: flushes cost nothing there.
func inMemory(t *testing.T) place {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "store-")
	if err != nil {
		dir = t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := place(dir).install("old", "old", false); err != nil {
		t.Fatal(err)
	}
	return place(dir)
}

// security 2.9 #137 and #132: whichever call fails, every version is complete, every entry has its version, and what is left
// behind is removed by the next sweep. A writer that writes a version in its place is found.
func TestEveryCallCanFail(t *testing.T) {
	do := map[string]func(place) error{
		"install": func(p place) error { return p.install("new", "new", false) },
		"update":  func(p place) error { return p.install("old", "new", false) },
		"again":   func(p place) error { return p.install("old", "old", false) },
		"remove": func(p place) error {
			e, err := p.registry().Unregister(context.Background(), "old")
			if err == nil {
				_, err = p.store().Remove(context.Background(), e.InstalledPath)
			}
			return err
		},
		"lease": func(p place) error {
			path, err := p.store().Path("old", digestOf("old"))
			if err != nil {
				return err
			}
			release, err := p.store().Lease(context.Background(), path)
			if err == nil {
				release()
			}
			return err
		},
		"defect": func(p place) error { return p.install("new", "new", true) },
	}
	if !fault.Full() {
		delete(do, "install")
		delete(do, "again")
	}
	total := 0
	for name, f := range do {
		n, wrong := fault.Every(func() fault.Trial {
			p := inMemory(t)
			check := func(error) string { return p.wrong() }
			repair := func(error) string {
				defer os.RemoveAll(string(p))
				return p.swept()
			}
			return fault.Trial{Root: string(p), Do: func() error { return f(p) }, Check: check, Repair: repair}
		})
		total += n
		if (len(wrong) > 0) != (name == "defect") {
			t.Errorf("%s: %d faults: %q", name, n, wrong)
		}
	}
	t.Logf("%d faults", total)
}

// security 2.9 #130 and #137: after a power failure every version is complete, and every entry has its version. A writer that
// writes a version in its place, and does not flush it, is found.
func TestPowerFailure(t *testing.T) {
	for _, defect := range []bool{false, true} {
		p := inMemory(t)
		old := fault.Disk{}
		_ = filepath.WalkDir(string(p), func(path string, d fs.DirEntry, err error) error {
			if old[path] = nil; !d.IsDir() {
				old[path], err = os.ReadFile(path)
			}
			return err
		})
		var calls []fault.Call
		var err error
		if watched := fault.Run(func() { err = p.install("new", "new", defect) }, func(c fault.Call) fault.Fault {
			if strings.HasPrefix(c.Path, string(p)) {
				calls = append(calls, c)
			}
			return fault.Fault{}
		}); watched != nil || err != nil {
			t.Fatal(watched, err)
		}
		path, err := p.store().Path("new", digestOf("new"))
		if err != nil {
			t.Fatal(err)
		}
		entries, err := os.ReadFile(p.registry().Path)
		if err != nil {
			t.Fatal(err)
		}
		states, bad := 0, 0
		fault.Crashes(old, calls, func(d fault.Disk, all bool) {
			states++
			_, there := d[path]
			registered := string(d[p.registry().Path]) == string(entries)
			complete := there
			for f, text := range files("new") {
				complete = complete && string(d[filepath.Join(path, f)]) == text
			}
			if (there || registered) && !complete || all && !registered {
				bad++
			}
		})
		t.Logf("defect %v: %d states after a power failure, %d of them bad", defect, states, bad)
		if states < 100 || (bad > 0) != defect {
			t.Errorf("defect %v: %d of %d states are bad", defect, bad, states)
		}
	}
}

// loop installs, updates and removes skills from the n-th change on, and prints a line before the first and after each.
func (p place) loop(n int, defect bool) error {
	fmt.Println("ready")
	for ; ; n++ {
		name := fmt.Sprintf("s%d", n%3)
		var err error
		if _, known := p.get(name); known && n%4 == 3 {
			_, err = p.registry().Unregister(context.Background(), name)
		} else {
			err = p.install(name, strings.Repeat(strconv.Itoa(n), 20_000), defect)
		}
		if err == nil && n%3 == 0 {
			err = p.sweep()
		}
		if err != nil {
			return err
		}
		fmt.Println(n)
	}
}

func (p place) get(name string) (registry.Entry, bool) {
	set, _ := p.registry().Load(context.Background())
	return set.Get(name)
}

// security 2.9 #129 and #137: a process that is killed at any instant between the files and the registry leaves at most what the
// next sweep removes.
func TestKilled(t *testing.T) {
	kills := 40
	if fault.Full() {
		kills = 2000
	}
	if got := killed(t, kills, ""); got != "" {
		t.Error(got)
	}
	if got := killed(t, 20_000, "in place"); got == "" { // the first dozen finds it
		t.Error("the defect was not found")
	}
}

func killed(t *testing.T, kills int, defect string) string {
	p := inMemory(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for i := range kills {
		c := exec.CommandContext(t.Context(), self)
		c.Env = append(os.Environ(), "STORE_TEST_DIR="+string(p), "STORE_TEST_NUMBER="+strconv.Itoa(i*1000), "STORE_TEST_DEFECT="+defect)
		c.Stderr = os.Stderr
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewReader(out)
		lines.ReadString('\n') // it is ready
		if rand.N(4) > 0 {
			lines.ReadString('\n') // it has made a change, also on a busy machine
		}
		time.Sleep(rand.N(10 * time.Millisecond))
		c.Process.Kill()
		c.Wait()
		if got := p.wrong(); got != "" {
			return got
		}
		if i%5 == 4 {
			if got := p.swept(); got != "" {
				return got
			}
		}
	}
	return ""
}
