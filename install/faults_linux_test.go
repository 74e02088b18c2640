package install_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/agent-base/agent-base/install"
	"github.com/agent-base/agent-base/install/registry"
	"github.com/agent-base/agent-base/install/source"
	"github.com/agent-base/agent-base/internal/store"
	"github.com/agent-base/agent-base/internal/test/fault"
	"github.com/agent-base/agent-base/skill"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv("INSTALL_TEST_DIR"); dir != "" {
		n, _ := strconv.Atoi(os.Getenv("INSTALL_TEST_NUMBER"))
		if err := depot(dir).loop(n, os.Getenv("INSTALL_TEST_DEFECT") != ""); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// names are the skills that every commit of the place of these tests has.
var names = []string{"one", "two"}

// depot is a folder in which skills are installed, both of one commit at once.
type depot string

func (d depot) registry() *registry.Store {
	return &registry.Store{Path: filepath.Join(string(d), "registry.json"), Wait: time.Minute}
}

func (d depot) store(parallel int) *store.Dir {
	return &store.Dir{Root: string(d), Wait: time.Minute, Parallel: parallel}
}

// open returns an installer, and the place as it is after n commits.
func (d depot) open(ctx context.Context, n, parallel int) (*install.Installer, *install.Place, error) {
	at := &place{commit: strconv.Itoa(n), files: fstest.MapFS{}}
	for _, name := range names {
		at.files[name+"/SKILL.md"] = file(string(skillFile(name).Data) + strings.Repeat(fmt.Sprintf("Line of commit %d.\n", n), 1000))
	}
	in, err := install.NewOver(&install.Options{Registry: d.registry(), Fetchers: map[source.Kind]install.Fetcher{source.Git: at}}, d.store(parallel))
	if err != nil {
		return nil, nil, err
	}
	p, err := in.Open(ctx, source.Ref{Kind: source.Git, URL: "https://example.com/acme/skills.git"}, "")
	return in, p, err
}

// unpack copies all skills of a place to its stage. The place must be closed in any case.
func unpack(ctx context.Context, p *install.Place) (list []install.Approved, err error) {
	for _, c := range p.Skills {
		k, err := p.Unpack(ctx, c, "")
		if err != nil {
			return list, err
		}
		list = append(list, install.Approved{Package: k, Yes: true})
	}
	return list, nil
}

// keep installs what was unpacked. With the defect it installs one skill after the other.
func keep(ctx context.Context, list []install.Approved, defect bool) error {
	if !defect {
		_, err := install.KeepAll(ctx, list...)
		return err
	}
	for _, a := range list {
		if _, err := a.Package.Keep(ctx, true, nil); err != nil {
			return err
		}
	}
	return nil
}

// finish closes everything that is open.
func finish(p *install.Place, list []install.Approved) {
	for _, a := range list {
		a.Package.Close()
	}
	if p != nil {
		p.Close()
	}
}

// add installs the skills of the n-th commit.
func (d depot) add(ctx context.Context, n, parallel int, defect bool) error {
	_, p, err := d.open(ctx, n, parallel)
	var list []install.Approved
	if err == nil {
		list, err = unpack(ctx, p)
	}
	defer func() { finish(p, list) }()
	if err == nil {
		err = keep(ctx, list, defect)
	}
	return err
}

// commit returns the commit whose skills are installed, 0 for none, and what is wrong: skills of several commits, some without
// the others, or other files than those that were installed.
func (d depot) commit(ctx context.Context) (n int, wrong string) {
	set, err := d.registry().Load(ctx)
	if err != nil {
		return 0, err.Error()
	}
	all := set.All()
	for i, e := range all {
		if len(all) != len(names) || e.Name != names[i] || e.CommitSHA != all[0].CommitSHA {
			return 0, fmt.Sprintf("a half: %d skills, %s of commit %s and %s of commit %s", len(all), all[0].Name, all[0].CommitSHA, e.Name, e.CommitSHA)
		}
		if err := store.Verify(ctx, e.InstalledPath, e.Digest); err != nil {
			return 0, "registered, but " + err.Error()
		}
	}
	if len(all) > 0 {
		n, _ = strconv.Atoi(all[0].CommitSHA)
	}
	return n, ""
}

// swept reports what a sweep leaves in addition to what the registry names.
func (d depot) swept(ctx context.Context) string {
	in, err := install.NewOver(&install.Options{Registry: d.registry()}, d.store(1))
	if err == nil {
		_, err = in.Sweep(ctx, nil)
	}
	if err != nil {
		return "sweep: " + err.Error()
	}
	if _, wrong := d.commit(ctx); wrong != "" {
		return wrong
	}
	set, err := d.registry().Load(ctx)
	if err != nil {
		return err.Error()
	}
	wanted := map[string]bool{}
	for _, e := range set.All() {
		wanted[e.InstalledPath] = true
		for _, old := range e.Previous {
			wanted[old.InstalledPath] = true
		}
	}
	for _, path := range d.store(1).Versions() {
		if !wanted[path] {
			return "not swept: " + path
		}
	}
	if left, _ := os.ReadDir(filepath.Join(store.Folder(string(d)), ".stage")); len(left) > 0 {
		return "not swept: " + left[0].Name()
	}
	return ""
}

// newDepot returns a depot with the skills of the first commit, in memory if the system has such a place: flushes cost nothing
// there.
func newDepot(t *testing.T) depot {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "install-")
	if err != nil {
		dir = t.TempDir()
	}
	t.Cleanup(func() {
		exec.Command("chmod", "-R", "u+w", dir).Run()
		os.RemoveAll(dir)
	})
	if err := depot(dir).add(t.Context(), 1, 1, false); err != nil {
		t.Fatal(err)
	}
	return depot(dir)
}

// security 2.9 #132 and #137, R148: whichever call fails while several skills are installed, all of them are there or none, with
// their files, and what is left behind is removed by the next sweep. Installing one after the other is found.
func TestEveryCallCanFail(t *testing.T) {
	for _, defect := range []bool{false, true} {
		found := false
		trial := func() fault.Trial {
			if found && defect {
				return fault.Trial{Do: func() error { return nil }} // that was to be seen
			}
			return someFail(t, defect, &found)
		}
		n, wrong := fault.Every(trial)
		t.Logf("defect %v: %d faults, %d of them found", defect, n, len(wrong))
		if n < 10 || (len(wrong) > 0) != defect {
			t.Errorf("defect %v: %d faults: %q", defect, n, wrong)
		}
	}
}

// someFail installs the skills of a second commit: in the short form what was unpacked already, and of the calls those that
// change something.
func someFail(t *testing.T, defect bool, found *bool) fault.Trial {
	d, ctx := newDepot(t), t.Context()
	out := fault.Trial{Root: string(d), Do: func() error { return d.add(ctx, 2, 1, defect) }}
	closed := func() {}
	if !fault.Full() {
		_, p, err := d.open(ctx, 2, 1)
		if err != nil {
			t.Fatal(err)
		}
		list, err := unpack(ctx, p)
		if err != nil {
			t.Fatal(err)
		}
		out.Do, closed = func() error { return keep(ctx, list, defect) }, func() { finish(p, list) }
		out.Only = changes
	}
	out.Check = func(err error) string {
		closed()
		n, wrong := d.commit(ctx)
		if wrong == "" && err == nil && n != 2 {
			wrong = fmt.Sprintf("no error, but the skills of commit %d", n)
		}
		*found = *found || wrong != ""
		return wrong
	}
	out.Repair = func(error) string {
		defer os.RemoveAll(string(d))
		return d.swept(ctx)
	}
	return out
}

// Whichever call fails while several skills are removed, all of them are installed, with their files, or none is, and a sweep removes
// the rest.
func TestEveryCallOfRemoveCanFail(t *testing.T) {
	n, wrong := fault.Every(func() fault.Trial {
		d, ctx := newDepot(t), t.Context()
		in, err := install.NewOver(&install.Options{Registry: d.registry()}, d.store(1))
		if err != nil {
			t.Fatal(err)
		}
		return fault.Trial{Root: string(d),
			Do:   func() error { _, err := in.RemoveAll(ctx, nil, names...); return err },
			Only: changes,
			Check: func(err error) string {
				n, wrong := d.commit(ctx)
				if wrong == "" && err == nil && n != 0 {
					wrong = "no error, and still installed"
				}
				return wrong
			},
			Repair: func(error) string {
				defer os.RemoveAll(string(d))
				return d.swept(ctx)
			}}
	})
	if t.Logf("%d faults", n); n < 10 || len(wrong) > 0 {
		t.Errorf("%d faults: %q", n, wrong)
	}
}

// changes reports whether a call changes something.
func changes(c fault.Call) bool {
	return c.Create || slices.Contains([]string{"write", "fsync", "mkdirat", "rename", "unlinkat", "fchmod", "fchmodat", "flock"}, c.Name)
}

// loop installs the skills of the n-th commit and of those after it, and prints a line before the first and after each.
func (d depot) loop(n int, defect bool) error {
	fmt.Println("ready")
	for ; ; n++ {
		if err := d.add(context.Background(), n, 0, defect); err != nil {
			return err
		}
		fmt.Println(n)
	}
}

// security 2.9 #129 and #137: a process that is killed at any instant while it installs several skills leaves all of them or
// none, no skill that it reported is lost, and a sweep removes the rest.
func TestKilled(t *testing.T) {
	kills := 25
	if fault.Full() {
		kills = 1000
	}
	if got := killed(t, kills, ""); got != "" {
		t.Error(got)
	}
	if got := killed(t, 10_000, "one after the other"); !strings.HasPrefix(got, "a half") { // the first dozen finds it
		t.Errorf("the defect was not found, but %q", got)
	}
}

func killed(t *testing.T, kills int, defect string) string {
	d := newDepot(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for i := range kills {
		c := exec.CommandContext(t.Context(), self)
		c.Env = append(os.Environ(), "INSTALL_TEST_DIR="+string(d), "INSTALL_TEST_NUMBER="+strconv.Itoa((i+1)*1000), "INSTALL_TEST_DEFECT="+defect)
		c.Stderr = os.Stderr
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewReader(out)
		_, err = lines.ReadString('\n') // it is ready
		told := ""
		if err == nil && rand.N(4) > 0 {
			told, err = lines.ReadString('\n') // it has installed, also on a busy machine
		}
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(rand.N(20 * time.Millisecond))
		c.Process.Kill()
		rest, err := io.ReadAll(lines)
		if err != nil && !errors.Is(err, os.ErrClosed) {
			t.Fatal(err)
		}
		c.Wait()
		n, wrong := d.commit(t.Context())
		if wrong != "" {
			return wrong
		}
		reported := strings.Fields(told + string(rest))
		if len(reported) > 0 {
			if last, _ := strconv.Atoi(reported[len(reported)-1]); n < last {
				return fmt.Sprintf("commit %d was reported, and %d is installed", last, n)
			}
		}
		if i%5 == 4 {
			if got := d.swept(t.Context()); got != "" {
				return got
			}
		}
	}
	return ""
}

// R145: on a disk that is full until a file is deleted, the files of a skill can be removed, and then the skill.
func TestRemoveOnFullDisk(t *testing.T) {
	d := newDepot(t)
	in, p, err := d.open(t.Context(), 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	finish(p, nil)
	full, refused := true, 0
	do := func(f func() error) (err error) {
		watched := fault.Run(func() { err = f() }, func(c fault.Call) fault.Fault {
			switch {
			case !strings.HasPrefix(c.Path, string(d)+"/"):
			case c.Name == "unlinkat" && strings.HasSuffix(c.Path, "/SKILL.md"):
				full = false
			case full && (c.Name == "write" || c.Name == "mkdirat"):
				refused++
				return fault.Fault{Err: syscall.ENOSPC}
			}
			return fault.Fault{}
		})
		if watched != nil {
			t.Fatal(watched)
		}
		return err
	}
	remove := func() error { _, err := in.Remove(t.Context(), "one"); return err }
	if err := do(remove); !errors.Is(err, syscall.ENOSPC) || refused == 0 {
		t.Fatalf("the disk was not full: %v", err)
	}
	if n, wrong := d.commit(t.Context()); n != 1 || wrong != "" {
		t.Errorf("after an error: commit %d, %s", n, wrong)
	}
	full = true
	if err := do(func() error { _, err := in.RemoveFiles(t.Context(), "one"); return errors.Join(err, remove()) }); err != nil {
		t.Error(err)
	}
	set, err := d.registry().Load(t.Context())
	if err != nil || len(set.All()) != 1 {
		t.Fatalf("registry: %v, %v", set, err)
	}
	two := set.All()[0]
	if err := store.Verify(t.Context(), two.InstalledPath, two.Digest); err != nil {
		t.Error(err)
	}
}

// A list that cannot be read names the cure of its own fault only.
func TestSourceUnreadable(t *testing.T) {
	w := newWorld(t)
	w.add("csv")
	cure := func() string {
		t.Helper()
		c, err := skill.Open(t.Context(), &skill.Options{Layers: []skill.Layer{{Name: "plugin", Source: install.Source(w.reg, nil)}}})
		if err != nil || len(c.Problems()) != 1 || c.Problems()[0].Code != "registry-unreadable" {
			t.Fatalf("%v, %v", c.Problems(), err)
		}
		return c.Problems()[0].Cure
	}
	if err := os.Chmod(w.reg.Path, 0o666); err != nil {
		t.Fatal(err)
	}
	if got := cure(); got != "make it a file that only you can change" {
		t.Errorf("others can change it: %q", got)
	}
	w.reg.Kept = away{}
	if got := cure(); got != "" {
		t.Errorf("it is in no file: %q", got)
	}
}

// away is a list that cannot be reached.
type away struct{ registry.Document }

func (away) Load(context.Context) ([]byte, error) { return nil, errors.New("away") }
