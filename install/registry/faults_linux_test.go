package registry_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/internal/test/fault"
)

// steps are the changes whose every call fails once.
var steps = map[string]func(system) error{
	"register":   func(s system) error { return s.put("new", digest("c")) },
	"update":     func(s system) error { return s.put("one", digest("d")) },
	"unregister": func(s system) error { return s.remove("two") },
}

// security 2.9 #129 and #132: whichever call fails, and however, the registry has its old or its new state, no file is left
// behind, and the next change succeeds. A writer that ignores errors, and one that writes in place, are found.
func TestEveryCallCanFail(t *testing.T) {
	for _, name := range []string{"", "in place", "ignores errors"} {
		t.Run("defect "+name, func(t *testing.T) {
			total := 0
			var wrong []string
			for kind, step := range steps {
				if name != "" && kind != "update" {
					continue
				}
				n, found := fault.Every(func() fault.Trial { return trial(t, name, step) })
				total += n
				wrong = append(wrong, found...)
			}
			t.Logf("%d faults, %d of them with consequences", total, len(wrong))
			if name != "" && len(wrong) == 0 {
				t.Error("the defect was not found")
			}
			if name == "" && (len(wrong) > 0 || total < 100) {
				t.Errorf("%d faults: %q", total, wrong)
			}
		})
	}
}

// inMemory returns an empty folder, in memory if the system has such a place: flushes cost nothing there.
func inMemory(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "registry-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func trial(t *testing.T, name string, step func(system) error) fault.Trial {
	dir := inMemory(t)
	s := systems(dir)[name]
	for _, n := range []string{"one", "two"} {
		if err := s.put(n, digest("a")); err != nil {
			t.Fatal(err)
		}
	}
	before, err := s.state()
	if err != nil {
		t.Fatal(err)
	}
	after := maps.Clone(before)
	model := modelSystem(after)
	step(model)
	return fault.Trial{
		Root: dir,
		Do:   func() error { return step(s) },
		Check: func(err error) string {
			now, lerr := s.state()
			switch {
			case lerr != nil:
				return "unreadable: " + lerr.Error()
			case maps.Equal(now, after) && (err == nil || strings.Contains(err.Error(), "power failure")):
				return ""
			case err != nil && maps.Equal(now, before):
				return ""
			}
			return fmt.Sprintf("error %v with the state %v", err, now)
		},
		Repair: func(error) string {
			if err := s.put("later", digest("e")); err != nil {
				return "the next change fails: " + err.Error()
			}
			return leftover(dir)
		},
	}
}

// leftover names the files of a folder that should not be there.
func leftover(dir string) string {
	list, _ := os.ReadDir(dir)
	for _, f := range list {
		if n := f.Name(); n != "registry.json" && n != "registry.json.lock" {
			return "left behind: " + n
		}
	}
	return ""
}

// modelSystem is a system in memory.
type modelSystem map[string]string

func (m modelSystem) put(name, d string) error          { m[name] = d; return nil }
func (m modelSystem) remove(name string) error          { delete(m, name); return nil }
func (m modelSystem) state() (map[string]string, error) { return m, nil }
func (m modelSystem) folder() string                    { return "" }

// security 2.9 #130: whatever a power failure leaves of a change is the old or the new registry, and the new one once the change
// was reported as done. Writers that do not flush, or write in place, are found.
func TestPowerFailure(t *testing.T) {
	for name, finds := range map[string]bool{"": false, "in place": true, "no flush": true, "no folder flush": true} {
		t.Run("defect "+name, func(t *testing.T) {
			states, bad := 0, 0
			for _, step := range steps {
				tr := trial(t, name, step)
				path := filepath.Join(tr.Root, "registry.json")
				old, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				var calls []fault.Call
				if err := fault.Run(func() { err = tr.Do() }, func(c fault.Call) fault.Fault {
					if strings.HasPrefix(c.Path, tr.Root) {
						calls = append(calls, c)
					}
					return fault.Fault{}
				}); err != nil {
					t.Fatal(err)
				}
				if err != nil {
					t.Fatal(err)
				}
				now, _ := os.ReadFile(path)
				fault.Crashes(fault.Disk{tr.Root: nil, path: old}, calls, func(d fault.Disk, all bool) {
					states++
					if got := string(d[path]); got != string(now) && (all || got != string(old)) {
						bad++
					}
				})
			}
			t.Logf("%d states after a power failure, %d of them bad", states, bad)
			if states < 20 || (bad > 0) != finds {
				t.Errorf("%d of %d states are bad", bad, states)
			}
		})
	}
}
